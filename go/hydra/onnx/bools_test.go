// SPDX-License-Identifier: Apache-2.0

package onnx_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	nef "github.com/Hexa08/NEF"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/Hexa08/NEF/go/hydra/onnx"
)

// andModel is y = And(w, q), z = Cast(w) for w of n bools.
func andModel(w message, n int) []byte {
	return model(13, graph{
		nodes: []message{
			node("And", list("w", "q"), list("y")),
			node("Cast", list("w"), list("z"), attrInt("to", 1)),
		},
		initializers: []message{w},
		inputs:       []message{value("q", 9, n)},
		outputs:      []message{value("y", 9, n), value("z", 1, n)},
	})
}

func checkBools(t *testing.T, g *nef.Graph, n int, want func(i int) bool) {
	t.Helper()
	p, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, err := p.Run(t.Context(), nef.Values{"q": nef.Tensor(slices.Repeat([]bool{true}, n), []int{n})})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := out["y"].Bytes()
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := nef.Data[float32](out["z"])
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		on := byte(0)
		if want(i) {
			on = 1
		}
		if raw[i] != on || numbers[i] != float32(on) {
			t.Fatalf("element %d: And %d, Cast %v; want %d", i, raw[i], numbers[i], on)
		}
	}
}

// Whatever field and file the elements of a bool tensor come from, what is not 0 is true; and what
// is imported can be saved and loaded.
func TestBoolsThatAreNotOne(t *testing.T) {
	odd := []byte{0, 2, 1, 255, 128}
	large := slices.Repeat(odd, 1<<15) // enough to be mapped
	external := func(name, file string, n int) message {
		entry := func(key, value string) message { return message{}.text(1, key).text(2, value) }
		return tensor(name, 9, []int64{int64(n)}).varint(14, 1).bytes(13, entry("location", file))
	}
	var packed []byte
	for _, x := range []int64{0, 2, 256, -1, 1 << 30} {
		packed = protowire.AppendVarint(packed, uint64(x))
	}
	for name, c := range map[string]struct {
		w      message
		n      int
		beside []byte
	}{
		"raw_data":          {tensor("w", 9, []int64{5}).bytes(9, odd), 5, nil},
		"raw_data, mapped":  {tensor("w", 9, []int64{int64(len(large))}).bytes(9, large), len(large), nil},
		"int32_data":        {tensor("w", 9, []int64{5}).bytes(5, packed), 5, nil},
		"int32_data, loose": {tensor("w", 9, []int64{5}).varint(5, 0).varint(5, 2).varint(5, 256).varint(5, -1).varint(5, 1<<30), 5, nil},
		"external":          {external("w", "w.bin", 5), 5, odd},
		"external, mapped":  {external("w", "w.bin", len(large)), len(large), large},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, andModel(c.w, c.n))
			if c.beside != nil {
				if err := os.WriteFile(filepath.Join(filepath.Dir(path), "w.bin"), c.beside, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			g, err := onnx.Import(path)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			on := func(i int) bool { return i%5 != 0 }
			checkBools(t, g, c.n, on)
			for _, bundle := range []bool{true, false} {
				saved := filepath.Join(t.TempDir(), "m.nef")
				if err := g.Save(saved, nef.SaveOptions{Bundle: bundle}); err != nil {
					t.Fatal(err)
				}
				back, err := nef.Load(saved)
				if err != nil {
					t.Fatal(err)
				}
				checkBools(t, back, c.n, on)
				back.Close()
			}
		})
	}
}

// A typed field is wider than what it holds: numbers beyond the dtype are no elements of it.
func TestTypedFieldsOutOfRange(t *testing.T) {
	for name, c := range map[string]struct {
		elem int64
		good []int64
		bad  []int64
	}{
		"int8":     {3, []int64{-128, 127}, []int64{-129, 128, 300}},
		"uint8":    {2, []int64{0, 255}, []int64{-1, 256}},
		"int16":    {5, []int64{-1 << 15, 1<<15 - 1}, []int64{1 << 15}},
		"uint16":   {4, []int64{0, 1<<16 - 1}, []int64{-1, 1 << 16}},
		"float16":  {10, []int64{0x7c01}, []int64{-1, 1 << 16}},
		"bfloat16": {16, []int64{0x7f81}, []int64{1 << 16}},
		"float8":   {17, []int64{255}, []int64{256, -1}},
	} {
		import1 := func(x int64) error {
			return graphOf(model(19, graph{
				nodes:        []message{node("Identity", list("w"), list("y"))},
				initializers: []message{tensor("w", c.elem, []int64{1}).varint(5, x)},
				outputs:      []message{value("y", c.elem, 1)},
			}))
		}
		for _, x := range c.good {
			if err := import1(x); err != nil {
				t.Errorf("%s %d: %v", name, x, err)
			}
		}
		for _, x := range c.bad {
			err := import1(x)
			if !errors.Is(err, nef.ErrParse) || !strings.Contains(err.Error(), `"w"`) {
				t.Errorf("%s %d: %v", name, x, err)
			}
		}
	}
}

// The file of the report: w is 02 00 01 FF, y = Cast(w) + x, z = Cast(And(w, q)).
func TestBoolBytesFile(t *testing.T) {
	data, err := os.ReadFile("testdata/bool_bytes.onnx")
	if err != nil {
		t.Fatal(err)
	}
	all := nef.Tensor([]bool{true, true, true, true}, []int{4})
	out := run(t, data, nef.Values{"x": nef.Tensor(make([]float32, 4), []int{4}), "q": all})
	wantFloats(t, out["y"], 1, 0, 1, 1)
	wantFloats(t, out["z"], 1, 0, 1, 1)
}
