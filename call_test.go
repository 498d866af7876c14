// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	nef "github.com/Hexa08/NEF"
)

func TestCallByName(t *testing.T) {
	x := nef.Tensor([]float32{1, 2, 3, 4, 5, 6}, []int{2, 3})
	shape := nef.Tensor([]int64{3, -1}, []int{2})
	if got := nef.Call("Reshape", []*nef.Value{x, shape}, nil, 1)[0].Shape(); !slices.Equal(got, []int{3, 2}) {
		t.Errorf("reshape gives %v", got)
	}
	for _, perm := range []any{[]int{1, 0}, []int64{1, 0}} {
		if got := nef.Call("transpose", []*nef.Value{x}, nef.Attrs{"perm": perm}, 1)[0].Shape(); !slices.Equal(got, []int{3, 2}) {
			t.Errorf("transpose gives %v", got)
		}
	}
	parts := nef.Call("Split", []*nef.Value{x}, nef.Attrs{"axis": 1, "num_outputs": 3}, 3)
	if got, err := nef.Data[float32](parts[2]); err != nil || !slices.Equal(got, []float32{3, 6}) {
		t.Errorf("the last part is %v, %v", got, err)
	}
	if got := nef.Call("Cast", []*nef.Value{x}, nef.Attrs{"to": nef.Int8}, 1)[0].DType(); got != nef.Int8 {
		t.Errorf("cast gives %v", got)
	}
}

func TestCallErrors(t *testing.T) {
	x := nef.Tensor([]float32{1}, nil)
	for name, c := range map[string]struct {
		got  *nef.Value
		want error
	}{
		"op":      {nef.Call("NoSuchOp", []*nef.Value{x}, nil, 1)[0], nef.ErrUnknownOp},
		"attr":    {nef.Call("Relu", []*nef.Value{x}, nef.Attrs{"beta": 1}, 1)[0], nef.ErrInvalidArgument},
		"type":    {nef.Call("Relu", []*nef.Value{x}, nef.Attrs{"beta": struct{}{}}, 1)[0], nef.ErrInvalidArgument},
		"outputs": {nef.Call("Relu", []*nef.Value{x}, nil, 0)[0], nef.ErrInvalidArgument},
		"input":   {nef.Call("Relu", []*nef.Value{nil}, nil, 1)[0], nef.ErrInvalidArgument},
		"nul":     {nef.Call("Re\x00lu", []*nef.Value{x}, nil, 1)[0], nef.ErrInvalidArgument},
	} {
		if !errors.Is(c.got.Err(), c.want) {
			t.Errorf("%s: %v", name, c.got.Err())
		}
	}
}

func TestFill(t *testing.T) {
	v := nef.Fill(nef.Int16, []int{2, 2}, func(out []byte) error {
		for i := range 4 {
			binary.NativeEndian.PutUint16(out[2*i:], uint16(i+1))
		}
		return nil
	})
	if got, err := nef.Data[int16](v); err != nil || !slices.Equal(got, []int16{1, 2, 3, 4}) {
		t.Errorf("got %v, %v", got, err)
	}
	bad := errors.New("bad")
	if err := nef.Fill(nef.Int16, []int{2}, func([]byte) error { return bad }).Err(); err != bad {
		t.Errorf("the error of fill is %v", err)
	}
	if err := nef.Fill(nef.Int16, []int{1 << 40, 1 << 40}, nil).Err(); !errors.Is(err, nef.ErrLimitExceeded) {
		t.Errorf("a shape that is too large: %v", err)
	}
	if got := nef.Fill(nef.Int16, []int{0, 1 << 62}, func(out []byte) error { return nil }).Shape(); !slices.Equal(got, []int{0, 1 << 62}) {
		t.Errorf("an empty value has shape %v", got)
	}
}

// weightsFile holds 40000 float32 from a byte on that is not aligned.
func weightsFile(t *testing.T) (*os.File, []float32) {
	t.Helper()
	want := make([]float32, 40000)
	for i := range want {
		want[i] = float32(i)
	}
	var data bytes.Buffer
	data.WriteString("abc")
	if err := binary.Write(&data, binary.LittleEndian, want); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "weights")
	if err := os.WriteFile(path, data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f, want
}

// A mapped weight that lies askew computes, saves and loads like any other.
func TestFromFile(t *testing.T) {
	f, want := weightsFile(t)
	w := nef.FromFile(f, 3, nef.Float32, []int{200, 200}, "layer.weight")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := nef.Data[float32](w.Neg()); err != nil || got[777] != -want[777] {
		t.Errorf("negated: %v", err)
	}
	x := nef.Input("x", nef.Float32, 200, 200)
	g, err := nef.NewGraph(nef.Outputs{"y": x.Add(w)})
	if err != nil {
		t.Fatal(err)
	}
	zeros := nef.Tensor(make([]float32, 40000), []int{200, 200})
	check := func(g *nef.Graph) {
		t.Helper()
		p, err := g.Compile()
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Run(context.Background(), nef.Values{"x": zeros})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := nef.Data[float32](out["y"]); err != nil || !slices.Equal(got, want) {
			t.Errorf("wrong sum, %v", err)
		}
	}
	check(g)
	path := filepath.Join(t.TempDir(), "m.nef")
	if err := g.Save(path, nef.SaveOptions{Bundle: true}); err != nil {
		t.Fatal(err)
	}
	check(g)
	loaded, err := nef.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	check(loaded)
	if text, err := os.ReadFile(path); err != nil || !bytes.Contains(text, []byte("layer.weight")) {
		t.Errorf("the name of the weight is lost, %v", err)
	}
}

func TestFromFileErrors(t *testing.T) {
	f, _ := weightsFile(t)
	defer f.Close()
	for offset, shape := range map[int64][]int{4: {40000}, -1: {1}, 1 << 62: {1}, 0: {1 << 60}} {
		if err := nef.FromFile(f, offset, nef.Float32, shape, "").Err(); !errors.Is(err, nef.ErrOutOfRange) && !errors.Is(err, nef.ErrLimitExceeded) {
			t.Errorf("offset %d, shape %v: %v", offset, shape, err)
		}
	}
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := nef.FromFile(dir, 0, nef.Float32, []int{1}, "").Err(); !errors.Is(err, nef.ErrIO) {
		t.Errorf("a folder: %v", err)
	}
}

func TestGraphWithInputs(t *testing.T) {
	a, b := nef.Input("a", nef.Float32, nef.Dim("n")), nef.Input("b", nef.Float32, nef.Dim("n"))
	idle := nef.Input("idle", nef.Int64, 2)
	g, err := nef.NewGraphWithInputs([]*nef.Value{b, idle, a}, nef.Output{Name: "y", Value: a.Sub(b)}, nef.Output{Name: "b", Value: b})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, in := range g.Inputs() {
		names = append(names, in.Name)
	}
	if !slices.Equal(names, []string{"b", "idle", "a"}) {
		t.Errorf("inputs %v", names)
	}
	p, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(context.Background(), nef.Values{
		"a": nef.Tensor([]float32{5}, []int{1}), "b": nef.Tensor([]float32{3}, []int{1}), "idle": nef.Tensor([]int64{0, 0}, []int{2}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if y, err := nef.Data[float32](out["y"]); err != nil || y[0] != 2 {
		t.Errorf("y is %v, %v", y, err)
	}
	if y, err := nef.Data[float32](out["b"]); err != nil || y[0] != 3 {
		t.Errorf("an input that is an output is %v, %v", y, err)
	}
	for _, c := range []struct {
		inputs []*nef.Value
		want   error
	}{
		{[]*nef.Value{a}, nef.ErrUnknownName},
		{[]*nef.Value{a, b, a}, nef.ErrDuplicateName},
		{[]*nef.Value{a, b, nef.Scalar(float32(1))}, nef.ErrInvalidArgument},
		{[]*nef.Value{a, b, nil}, nef.ErrInvalidArgument},
	} {
		if _, err := nef.NewGraphWithInputs(c.inputs, nef.Output{Name: "y", Value: a.Sub(b)}); !errors.Is(err, c.want) {
			t.Errorf("inputs %v: %v", len(c.inputs), err)
		}
	}
}

func TestKnownInts(t *testing.T) {
	x := nef.Input("x", nef.Float32, nef.Dim("n"), 3, 4)
	last := nef.Call("Slice", []*nef.Value{nef.ShapeOf(x), nef.Tensor([]int64{1}, []int{1}), nef.Tensor([]int64{3}, []int{1})}, nef.Attrs{}, 1)[0]
	if got, ok := last.KnownInts(); !ok || !slices.Equal(got, []int64{3, 4}) {
		t.Errorf("the last dims are %v, %v", got, ok)
	}
	for name, v := range map[string]*nef.Value{"a symbol": nef.ShapeOf(x), "floats": x, "an error": nef.Tensor([]int64{1}, []int{2})} {
		if got, ok := v.KnownInts(); ok {
			t.Errorf("%s is known to be %v", name, got)
		}
	}
}
