// SPDX-License-Identifier: Apache-2.0

package onnx_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/onnx"
)

func list(names ...string) []string { return names }

// write puts a model into a file.
func write(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func run(t *testing.T, data []byte, inputs nef.Values, opts ...onnx.Options) nef.Values {
	t.Helper()
	g, err := onnx.Import(write(t, data), opts...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(context.Background(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wantFloats(t *testing.T, v *nef.Value, want ...float32) {
	t.Helper()
	if got, err := nef.Data[float32](v); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, want %v, %v", got, want, err)
	}
}

func vector(xs ...float32) *nef.Value { return nef.Tensor(xs, []int{len(xs)}) }

func TestImport(t *testing.T) {
	m := model(13, graph{
		nodes:        []message{node("Add", list("x", "w"), list("s")), node("Relu", list("s"), list("y"))},
		initializers: []message{floats("w", []int64{2}, 1, -5)},
		inputs:       []message{value("x", 1, "n", 2)},
		outputs:      []message{value("y", 1, "n", 2)},
	})
	out := run(t, m, nef.Values{"x": nef.Tensor([]float32{1, 2, 3, 4}, []int{2, 2})})
	wantFloats(t, out["y"], 2, 0, 4, 0)
}

// Before IR version 4 an initializer had to be an input too.
func TestInitializersAreNoInputs(t *testing.T) {
	m := model(7, graph{
		nodes:        []message{node("Mul", list("x", "w"), list("y"))},
		initializers: []message{floats("w", []int64{1}, 3)},
		inputs:       []message{value("x", 1, 1), value("w", 1, 1)},
		outputs:      []message{value("y", 1, 1)},
	})
	wantFloats(t, run(t, m, nef.Values{"x": vector(2)})["y"], 6)
}

// An input that is an output, a constant that is one, the same value twice, an input without use.
func TestUnusualOutputs(t *testing.T) {
	m := model(13, graph{
		nodes:        []message{node("Neg", list("x"), list("y")), node("Identity", list("y"), list("z"))},
		initializers: []message{floats("w", []int64{1}, 3)},
		inputs:       []message{value("x", 1, 1), value("idle", 1, 4)},
		outputs:      []message{value("z", 1, 1), value("x", 1, 1), value("w", 1, 1), value("y", 1, 1)},
	})
	out := run(t, m, nef.Values{"x": vector(2), "idle": vector(0, 0, 0, 0)})
	for name, want := range map[string]float32{"x": 2, "y": -2, "z": -2, "w": 3} {
		wantFloats(t, out[name], want)
	}
}

// Names may hold any text, and dims without a name are equal to nothing.
func TestNamesAndDims(t *testing.T) {
	name := `{"1": "a", "é": 'b'}`
	path := write(t, model(13, graph{
		nodes:   []message{node("Neg", list("x"), list(name))},
		inputs:  []message{value("x", 1, nil, nil, "?", "?", -1, "batch size")},
		outputs: []message{value(name, 1)},
	}))
	g, err := onnx.Import(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Outputs()[0].Name; got != name {
		t.Errorf("the output is named %q", got)
	}
	file := filepath.Join(t.TempDir(), "m.nef")
	if err := g.Save(file); err != nil {
		t.Fatal(err)
	}
	if g, err = nef.Load(file); err != nil {
		t.Fatal(err)
	}
	dims := g.Inputs()[0].Dims
	seen := map[string]bool{}
	for _, d := range dims {
		if seen[d] {
			t.Errorf("two dims are %q of %q", d, dims)
		}
		seen[d] = true
	}
	if g.Outputs()[0].Name != name {
		t.Errorf("after loading the output is named %q", g.Outputs()[0].Name)
	}
}

func TestBounds(t *testing.T) {
	path := write(t, model(13, graph{
		nodes:   []message{node("Neg", list("x"), list("y"))},
		inputs:  []message{value("x", 1, "n", nil, 3)},
		outputs: []message{value("y", 1)},
	}))
	g, err := onnx.Import(path, onnx.Options{Dims: map[string]onnx.Bounds{"n": {1, 8}, "x.1": {5, 5}}})
	if err != nil {
		t.Fatal(err)
	}
	in := g.Inputs()[0]
	if !slices.Equal(in.Shape, []int{-1, 5, 3}) || in.Min[0] != 1 || in.Max[0] != 8 {
		t.Errorf("the input is %v, from %v to %v", in, in.Min, in.Max)
	}
	for name, bounds := range map[string]onnx.Bounds{"m": {1, 2}, "x.2": {4, 4}} {
		if _, err := onnx.Import(path, onnx.Options{Dims: map[string]onnx.Bounds{name: bounds}}); err == nil {
			t.Errorf("bounds of %s were accepted", name)
		}
	}
}

// A value for an input removes it, and what depends on it alone is known.
func TestGivenInputs(t *testing.T) {
	branch := func(op string) message {
		return graph{nodes: []message{node(op, list("x"), list("r_"+op))}, outputs: []message{value("r_"+op, 1)}}.message()
	}
	m := model(16, graph{
		nodes: []message{
			node("Equal", list("rate", "want"), list("c")),
			node("If", list("c"), list("y"), attrGraph("then_branch", branch("Neg")), attrGraph("else_branch", branch("NonZero"))),
		},
		initializers: []message{int64s("want", nil, 16000)},
		inputs:       []message{value("x", 1, 2), value("rate", 7)},
		outputs:      []message{value("y", 1, 2)},
	})
	fixed := onnx.Options{Inputs: nef.Values{"rate": nef.Scalar(int64(16000))}}
	wantFloats(t, run(t, m, nef.Values{"x": vector(1, -2)}, fixed)["y"], -1, 2)
	for name, v := range map[string]*nef.Value{"rate": nef.Scalar(float32(1)), "nobody": nef.Scalar(int64(1))} {
		if _, err := onnx.Import(write(t, m), onnx.Options{Inputs: nef.Values{name: v}}); err == nil {
			t.Errorf("a wrong value for %s was accepted", name)
		}
	}
}

// A condition on sizes is known when importing; branches of other ranks do not matter then.
func TestIfOnShape(t *testing.T) {
	squeeze := graph{
		nodes:        []message{node("Squeeze", list("x", "axes"), list("s"))},
		initializers: []message{int64s("axes", []int64{1}, 1)}, outputs: []message{value("s", 1)},
	}.message()
	keep := graph{nodes: []message{node("Identity", list("x"), list("k"))}, outputs: []message{value("k", 1)}}.message()
	m := model(16, graph{
		nodes: []message{
			node("Shape", list("x"), list("shape")),
			node("Gather", list("shape", "one"), list("d")),
			node("Equal", list("d", "one"), list("c")),
			node("If", list("c"), list("y"), attrGraph("then_branch", squeeze), attrGraph("else_branch", keep)),
		},
		initializers: []message{int64s("one", nil, 1)},
		inputs:       []message{value("x", 1, "n", 1, 2)},
		outputs:      []message{value("y", 1)},
	})
	out := run(t, m, nef.Values{"x": nef.Tensor([]float32{1, 2}, []int{1, 1, 2})})
	if got := out["y"].Shape(); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("shape %v", got)
	}
}

// Functions are inlined, their attributes passed on, and may not call themselves for ever.
func TestFunctions(t *testing.T) {
	scale := message{}.text(1, "Double").text(4, "a").text(5, "b").text(6, "axis").text(10, "my.ops").
		bytes(9, message{}.varint(2, 13)).
		bytes(7, node("Concat", list("a", "a"), list("b"), attrRef("axis", "axis", 2)))
	m := model(13, graph{
		nodes:   []message{domainNode("my.ops", "Double", list("x"), list("y"), attrInt("axis", 1)), domainNode("my.ops", "Double", list("y"), list("z"), attrInt("axis", 0))},
		inputs:  []message{value("x", 1, 1, 1)},
		outputs: []message{value("z", 1)},
	}, scale)
	out := run(t, m, nef.Values{"x": nef.Tensor([]float32{7}, []int{1, 1})})
	if got := out["z"].Shape(); !slices.Equal(got, []int{2, 2}) {
		t.Errorf("shape %v", got)
	}
	endless := message{}.text(1, "F").text(4, "a").text(5, "b").text(10, "my.ops").
		bytes(7, domainNode("my.ops", "F", list("a"), list("b")))
	m = model(13, graph{
		nodes: []message{domainNode("my.ops", "F", list("x"), list("y"))}, inputs: []message{value("x", 1, 1)}, outputs: []message{value("y", 1)},
	}, endless)
	if _, err := onnx.Import(write(t, m)); !errors.Is(err, nef.ErrLimitExceeded) {
		t.Errorf("a function that calls itself: %v", err)
	}
}

// Everything that is not supported is in one report.
func TestUnsupported(t *testing.T) {
	m := model(13, graph{
		nodes: []message{
			node("StringNormalizer", list("x"), list("a")), node("StringNormalizer", list("x"), list("b")),
			domainNode("acme", "Magic", list("x"), list("c")), node("Cast", list("x"), list("d"), attrInt("to", 18)),
			node("Relu", list("x"), list("y")),
		},
		inputs: []message{value("x", 1, 1)}, outputs: []message{value("y", 1)},
	})
	_, err := onnx.Import(write(t, m))
	var report *onnx.UnsupportedError
	if !errors.As(err, &report) || !errors.Is(err, nef.ErrUnsupported) {
		t.Fatalf("got %v", err)
	}
	if len(report.Ops) != 3 {
		t.Fatalf("got %+v", report.Ops)
	}
	magic, cast, text := report.Ops[1], report.Ops[0], report.Ops[2]
	if report.Ops[0].Domain == "acme" {
		magic, cast = report.Ops[0], report.Ops[1]
	}
	if magic.Op != "Magic" || cast.Reason != "to float8e4m3fnuz" || text.Count != 2 || text.Nodes[1] != `"StringNormalizer of b"` {
		t.Errorf("got %+v", report.Ops)
	}
	for _, want := range []string{"acme Magic", "float8e4m3fnuz", "2 times"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

// A wrong node is named.
func TestNodeError(t *testing.T) {
	m := model(13, graph{
		nodes:  []message{node("MatMul", list("x", "x"), list("y"))},
		inputs: []message{value("x", 1, 2, 3)}, outputs: []message{value("y", 1)},
	})
	_, err := onnx.Import(write(t, m))
	var e *onnx.NodeError
	if !errors.As(err, &e) || e.Node != `"MatMul of y"` || e.Op != "MatMul" || !errors.Is(err, nef.ErrShapeMismatch) {
		t.Errorf("got %v", err)
	}
}
