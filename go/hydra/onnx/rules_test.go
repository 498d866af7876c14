// SPDX-License-Identifier: Apache-2.0

package onnx_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/onnx"
)

// The rules of docs/onnx.md that hold under a condition which only a run knows: a model of each, inputs
// that meet the condition and inputs that do not.
type rule struct {
	name  string
	model message
	good  nef.Values
	want  []float32 // of output y, nil where only the run counts
	bad   nef.Values
	says  []string // in the error
	code  nef.Code
}

func vec64(xs ...int64) *nef.Value { return nef.Tensor(xs, []int{len(xs)}) }

func vec32(xs ...int32) *nef.Value { return nef.Tensor(xs, []int{len(xs)}) }

func matrix(rows int, xs ...float32) *nef.Value {
	return nef.Tensor(xs, []int{rows, len(xs) / rows})
}

// cube has the shape [1, rows, ...].
func cube(rows int, xs ...float32) *nef.Value {
	return nef.Tensor(xs, []int{1, rows, len(xs) / rows})
}

// microsoftNode is a model of one node of com.microsoft.
func microsoftNode(op string, inputs []string, ports []message, attrs ...message) message {
	return model(17, graph{
		nodes:   []message{domainNode("com.microsoft", op, inputs, list("y"), attrs...)},
		inputs:  ports,
		outputs: []message{value("y", 1)},
	})
}

func gqaRule(name string, bad nef.Values, says ...string) rule {
	ports := []message{
		value("q", 1, "b", "s", 2), value("k", 1, "b", "sk", 2), value("v", 1, "b", "sv", 2),
		value("pk", 1, "b", 1, "p", 2), value("pv", 1, "b", 1, "p", 2), value("lens", 6, "b"), value("longest", 6),
		value("bias", 1, 1, 1, "s", "columns"),
	}
	inputs := list("q", "k", "v", "pk", "pv", "lens", "longest", "", "", "", "bias")
	good := nef.Values{
		"q": cube(1, 0, 0), "k": cube(1, 0, 0), "v": cube(1, 9, 9), "pk": nef.Tensor(make([]float32, 4), []int{1, 1, 2, 2}),
		"pv": nef.Tensor([]float32{3, 3, 5, 5}, []int{1, 1, 2, 2}), "lens": vec32(1), "longest": nef.Scalar(int32(3)),
		"bias": nef.Tensor(make([]float32, 3), []int{1, 1, 1, 3}),
	}
	return rule{
		name:  "GroupQueryAttention " + name,
		model: microsoftNode("GroupQueryAttention", inputs, ports, attrInt("num_heads", 1), attrInt("kv_num_heads", 1)),
		good:  good, want: []float32{6, 6}, bad: bad, says: append(says, "com.microsoft.GroupQueryAttention"),
	}
}

// splitting is a model with a list of sizes for a dim that is open.
func splitting() message {
	return model(17, graph{
		nodes: []message{
			node("SplitToSequence", list("x", "sizes"), list("s"), attrInt("axis", 0)),
			node("ConcatFromSequence", list("s"), list("y"), attrInt("axis", 0)),
		},
		initializers: []message{int64s("sizes", []int64{2}, 2, 1)},
		inputs:       []message{value("x", 1, "n")},
		outputs:      []message{value("y", 1)},
	})
}

func rules() []rule {
	big := int64(1)<<24 + 1
	return []rule{
		gqaRule("past", nef.Values{"lens": vec32(3), "longest": nef.Scalar(int32(8)), "bias": nef.Tensor(make([]float32, 8), []int{1, 1, 1, 8})}, `seqlens_k ("lens")`),
		gqaRule("total", nef.Values{"lens": vec32(2), "longest": nef.Scalar(int32(2)), "bias": nef.Tensor(make([]float32, 2), []int{1, 1, 1, 2})}, `seqlens_k ("lens")`),
		gqaRule("negative", nef.Values{"lens": vec32(-1)}, `seqlens_k ("lens")`),
		gqaRule("key", nef.Values{"k": cube(2, 0, 0, 0, 0)}, `new keys or values ("k")`),
		gqaRule("value", nef.Values{"v": cube(2, 0, 0, 0, 0)}, `new keys or values ("v")`),
		gqaRule("bias", nef.Values{"bias": nef.Tensor(make([]float32, 2), []int{1, 1, 1, 2})}, `attention_bias ("bias")`),
		{
			name: "GroupQueryAttention without a past",
			model: microsoftNode("GroupQueryAttention", list("q", "q", "q", "", "", "lens", "longest"),
				[]message{value("q", 1, "b", "s", 2), value("lens", 6, "b"), value("longest", 6)}, attrInt("num_heads", 1), attrInt("kv_num_heads", 1)),
			good: nef.Values{"q": cube(1, 4, 4), "lens": vec32(0), "longest": nef.Scalar(int32(1))}, want: []float32{4, 4},
			bad: nef.Values{"lens": vec32(1), "longest": nef.Scalar(int32(2))}, says: list(`seqlens_k ("lens")`),
		},
		{
			name: "MultiHeadAttention padding",
			model: microsoftNode("MultiHeadAttention", list("q", "q", "q", "", "padding", "", "pk", "pk"),
				[]message{value("q", 1, "b", "s", 2), value("padding", 6, "b", "columns"), value("pk", 1, "b", 1, "p", 2)}, attrInt("num_heads", 1)),
			good: nef.Values{"q": cube(1, 0, 0), "padding": nef.Tensor([]int32{1, 1}, []int{1, 2}), "pk": nef.Tensor([]float32{2, 2}, []int{1, 1, 1, 2})},
			want: []float32{1, 1}, bad: nef.Values{"padding": nef.Tensor([]int32{1}, []int{1, 1})}, says: list("com.microsoft.MultiHeadAttention", `key_padding_mask ("padding")`),
		},
		{
			name: "MultiHeadAttention bias",
			model: microsoftNode("MultiHeadAttention", list("q", "q", "q", "", "", "bias", "pk", "pk"),
				[]message{value("q", 1, "b", "s", 2), value("bias", 1, 1, 1, "s", "columns"), value("pk", 1, "b", 1, "p", 2)}, attrInt("num_heads", 1)),
			good: nef.Values{"q": cube(1, 0, 0), "bias": nef.Tensor([]float32{0, 0}, []int{1, 1, 1, 2}), "pk": nef.Tensor([]float32{2, 2}, []int{1, 1, 1, 2})},
			want: []float32{1, 1}, bad: nef.Values{"bias": nef.Tensor([]float32{0}, []int{1, 1, 1, 1})}, says: list(`attention_bias ("bias")`),
		},
		{
			name: "RotaryEmbedding offset",
			model: microsoftNode("RotaryEmbedding", list("x", "offset", "cos", "sin"),
				[]message{value("x", 1, "b", "s", 2), value("offset", 7, "n"), value("cos", 1, 4, 1), value("sin", 1, 4, 1)}, attrInt("num_heads", 1)),
			good: nef.Values{"x": cube(2, 1, 0, 1, 0), "offset": vec64(1), "cos": matrix(4, 1, 2, 3, 4), "sin": matrix(4, 0, 0, 0, 0)},
			want: []float32{2, 0, 3, 0}, bad: nef.Values{"offset": vec64(0, 1)}, says: list("com.microsoft.RotaryEmbedding", `input 1 ("offset")`),
		},
		{
			name: "MatMulIntegerToFloat scale",
			model: microsoftNode("MatMulIntegerToFloat", list("a", "b", "sa", "sb"),
				[]message{value("a", 2, 1, 2), value("b", 2, 2, 2), value("sa", 1, "n"), value("sb", 1, 2)}),
			good: nef.Values{"a": nef.Tensor([]uint8{1, 2}, []int{1, 2}), "b": nef.Tensor([]uint8{1, 0, 0, 1}, []int{2, 2}), "sa": vector(2), "sb": vector(1, 3)},
			want: []float32{2, 12}, bad: nef.Values{"sa": vector(2, 2)}, says: list(`input 2 ("sa")`),
		},
		{
			name: "CausalConvWithState",
			model: model(27, graph{
				nodes:        []message{node("CausalConvWithState", list("x", "w", "", "state"), list("y"))},
				initializers: []message{floats("w", []int64{1, 1, 2}, 1, 10)},
				inputs:       []message{value("x", 1, 1, 1, "n"), value("state", 1, 1, 1, "m")},
				outputs:      []message{value("y", 1)},
			}),
			good: nef.Values{"x": cube(1, 1, 2), "state": cube(1, 3)}, want: []float32{13, 21},
			bad: nef.Values{"state": cube(1, 3, 3)}, says: list("CausalConvWithState", `past_state ("state")`),
		},
		{
			name: "NegativeLogLikelihoodLoss",
			model: model(13, graph{
				nodes:   []message{node("NegativeLogLikelihoodLoss", list("x", "target"), list("y"), attrInt("ignore_index", -7))},
				inputs:  []message{value("x", 1, "n", 2), value("target", 7, "n")},
				outputs: []message{value("y", 1)},
			}),
			good: nef.Values{"x": matrix(2, -3, -5, float32(math.Inf(-1)), 0), "target": vec64(1, -7)}, want: []float32{5},
			bad: nef.Values{"target": vec64(-1, 0)}, says: list("NegativeLogLikelihoodLoss", `target ("target")`),
		},
		{
			name: "Range",
			model: model(13, graph{
				nodes: []message{
					node("Cast", list("from"), list("a"), attrInt("to", 1)), node("Cast", list("to"), list("b"), attrInt("to", 1)),
					node("Range", list("a", "b", "one"), list("y")),
				},
				initializers: []message{floats("one", nil, 1)},
				inputs:       []message{value("from", 7), value("to", 7)},
				outputs:      []message{value("y", 1)},
			}),
			good: nef.Values{"from": nef.Scalar(int64(3)), "to": nef.Scalar(int64(5))}, want: []float32{3, 4},
			bad: nef.Values{"from": nef.Scalar(big), "to": nef.Scalar(big + 2)}, says: list("Range", "start, limit and delta"),
		},
		{
			name: "SplitToSequence", model: splitting(), good: nef.Values{"x": vector(1, 2, 3)}, want: []float32{1, 2, 3},
			bad: nef.Values{"x": vector(1, 2, 3, 4)}, says: list("3", "4"), code: nef.CodeShapeMismatch,
		},
		{
			name: "SpaceToDepth",
			model: model(28, graph{
				nodes:   []message{node("SpaceToDepth", list("x"), list("y"), attrInt("blocksize", 2), attrText("mode", "CRD"))},
				inputs:  []message{value("x", 1, 1, 1, "h", 2)},
				outputs: []message{value("y", 1)},
			}),
			good: nef.Values{"x": nef.Tensor([]float32{1, 2, 3, 4}, []int{1, 1, 2, 2})}, want: []float32{1, 2, 3, 4},
			bad: nef.Values{"x": nef.Tensor(make([]float32, 6), []int{1, 1, 3, 2})}, code: nef.CodeShapeMismatch,
		},
	}
}

func attrText(name, x string) message { return message{}.text(1, name).text(4, x).varint(20, 3) }

// with are values with some in the place of others.
func with(values, others nef.Values) nef.Values {
	out := nef.Values{}
	for name, v := range values {
		out[name] = v
	}
	for name, v := range others {
		out[name] = v
	}
	return out
}

func TestRulesUnderConditions(t *testing.T) {
	for _, device := range gqaDevices() {
		for _, r := range rules() {
			t.Run(r.name+" "+device, func(t *testing.T) {
				needDevice(t, device)
				g, err := onnx.Import(write(t, r.model))
				if err != nil {
					t.Fatal(err)
				}
				p, err := g.Compile(nef.Options{Device: device})
				if err != nil {
					t.Fatal(err)
				}
				out, err := p.Run(context.Background(), r.good)
				if err != nil {
					t.Fatal(err)
				}
				wantFloats(t, out["y"], r.want...)
				_, err = p.Run(context.Background(), with(r.good, r.bad))
				code := r.code
				if code == 0 {
					code = nef.CodeOutOfRange
				}
				var e *nef.Error
				if !errors.As(err, &e) || e.Code != code {
					t.Fatalf("got %v, want code %v", err, code)
				}
				for _, want := range r.says {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%q is not in %v", want, err)
					}
				}
				// The program is as good as before.
				if out, err = p.Run(context.Background(), r.good); err != nil {
					t.Fatal(err)
				}
				wantFloats(t, out["y"], r.want...)
			})
		}
	}
}

// Sizes and values that are known leave no check, and those that are wrong do not import.
func TestConditionsThatAreKnown(t *testing.T) {
	lens := func(n int32) nef.Values {
		return nef.Values{"lens": vec32(n), "longest": nef.Scalar(int32(3))}
	}
	m := gqaRule("", nil).model
	dims := map[string]onnx.Bounds{"b": {1, 1}, "s": {1, 1}, "sk": {1, 1}, "sv": {1, 1}, "p": {2, 2}, "columns": {3, 3}}
	g, err := onnx.Import(write(t, m), onnx.Options{Dims: dims, Inputs: lens(1)})
	if err != nil {
		t.Fatal(err)
	}
	if n := checksOf(t, g); n != 0 {
		t.Errorf("%d checks are left", n)
	}
	// Without a past the values have the check, which are not known.
	prompt := microsoftNode("GroupQueryAttention", list("q", "q", "q", "", "", "lens", "longest"),
		[]message{value("q", 1, 1, 3, 2), value("lens", 6, 1), value("longest", 6)}, attrInt("num_heads", 1), attrInt("kv_num_heads", 1))
	for lengths, want := range map[*nef.Values]int{{}: 1, {"lens": vec32(1), "longest": nef.Scalar(int32(3))}: 0} {
		g, err := onnx.Import(write(t, prompt), onnx.Options{Inputs: *lengths})
		if err != nil {
			t.Fatal(err)
		}
		if n := checksOf(t, g); n != want {
			t.Errorf("%d checks of the lengths %v, want %d", n, *lengths, want)
		}
	}
	_, err = onnx.Import(write(t, m), onnx.Options{Dims: dims, Inputs: lens(3)})
	if !errors.Is(err, nef.ErrOutOfRange) || !strings.Contains(err.Error(), "seqlens_k") {
		t.Errorf("got %v", err)
	}
}

// Layers that read the same lengths have one check between them.
func TestOneCheckForAllLayers(t *testing.T) {
	layer := func(q, y string) message {
		return domainNode("com.microsoft", "GroupQueryAttention", list(q, "k", "v", "pk", "pv", "lens", "longest"), list(y, y+"_k", y+"_v"),
			attrInt("num_heads", 1), attrInt("kv_num_heads", 1))
	}
	m := model(17, graph{
		nodes: []message{layer("q", "a"), layer("a", "y")},
		inputs: []message{
			value("q", 1, "b", "s", 2), value("k", 1, "b", "s", 2), value("v", 1, "b", "s", 2),
			value("pk", 1, "b", 1, "p", 2), value("pv", 1, "b", 1, "p", 2), value("lens", 6, "b"), value("longest", 6),
		},
		outputs: []message{value("y", 1), value("a_k", 1), value("y_v", 1)},
	})
	g, err := onnx.Import(write(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if n := checksOf(t, g); n != 1 {
		t.Errorf("%d checks", n)
	}
}

// checksOf is how many checks a run of the graph has.
func checksOf(t *testing.T, g *nef.Graph) int {
	t.Helper()
	p, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	checks := 0
	for _, r := range p.Plan().Regions {
		checks += strings.Count(r.Ops, "require")
	}
	return checks
}

// A mask that is open is one column for all keys, or has a column for each, or lacks some.
func TestMaskWithAWindow(t *testing.T) {
	m := model(25, graph{
		nodes: []message{node("Attention", list("q", "k", "k", "mask"), list("y"), attrInt("left_window_size", 9),
			attrInt("q_num_heads", 1), attrInt("kv_num_heads", 1))},
		inputs:  []message{value("q", 1, 1, "s", 1), value("k", 1, 1, "t", 1), value("mask", 9, 1, "columns")},
		outputs: []message{value("y", 1)},
	})
	p := compile(t, m)
	for _, c := range []struct {
		mask []bool
		want float32
	}{{[]bool{true}, 2}, {[]bool{true, true, true}, 2}, {[]bool{false, true, true}, 2.5}, {[]bool{true, true}, 1.5}, {[]bool{false}, 0}} {
		out, err := p.Run(context.Background(), nef.Values{
			"q": cube(1, 0), "k": cube(3, 1, 2, 3), "mask": nef.Tensor(c.mask, []int{1, len(c.mask)}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := data(t, out["y"]); !slices.Equal(got, []float32{c.want}) {
			t.Errorf("mask %v: got %v, want %v", c.mask, got, c.want)
		}
	}
}

func compile(t *testing.T, m message) *nef.Program {
	t.Helper()
	g, err := onnx.Import(write(t, m))
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The same for masks.
func TestOneCheckForAllMasks(t *testing.T) {
	layer := func(q, y string) message {
		return domainNode("com.microsoft", "MultiHeadAttention", list(q, "q", "q", "", "padding", "bias", "pk", "pk"), list(y), attrInt("num_heads", 1))
	}
	g, err := onnx.Import(write(t, model(17, graph{
		nodes: []message{layer("q", "a"), layer("a", "y")},
		inputs: []message{
			value("q", 1, "b", "s", 2), value("padding", 6, "b", "columns"), value("bias", 1, 1, 1, "s", "columns"), value("pk", 1, "b", 1, "p", 2),
		},
		outputs: []message{value("y", 1)},
	})))
	if err != nil {
		t.Fatal(err)
	}
	if n := checksOf(t, g); n != 2 {
		t.Errorf("%d checks", n)
	}
}
