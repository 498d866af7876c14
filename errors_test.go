// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/Hexa08/NEF"
)

// wantError checks code and the words that the message must hold.
func wantError(t *testing.T, err, code error, words ...string) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Fatalf("error %v, want one that is %q", err, code)
	}
	var e *nef.Error
	if !errors.As(err, &e) || e.Msg == "" || e.Op == "" {
		t.Fatalf("error %#v, want a *nef.Error with op and message", err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("message %q does not hold %q", err, word)
		}
	}
}

func matrix(rows, columns int) *nef.Value {
	data := make([]float32, rows*columns)
	for i := range data {
		data[i] = float32(i)
	}
	return nef.Tensor(data, []int{rows, columns})
}

func TestErrorsOfConstruction(t *testing.T) {
	for _, c := range []struct {
		name  string
		value *nef.Value
		code  error
		words []string
	}{
		{"count", nef.Tensor([]float32{1, 2, 3}, []int{2, 2}), nef.ErrShapeMismatch, []string{"[2 2]", "4", "3"}},
		{"scalar of two", nef.Tensor([]float32{1, 2}, nil), nef.ErrShapeMismatch, []string{"[]", "2"}},
		{"negative", nef.Tensor([]float32{1}, []int{-1}), nef.ErrInvalidArgument, []string{"-1"}},
		{"huge", nef.Tensor([]float32{1}, []int{1 << 62, 1 << 62}), nef.ErrLimitExceeded, []string{"4611686018427387904"}},
		{"rank", nef.Tensor([]float32{1}, make([]int, 17)), nef.ErrLimitExceeded, []string{"17", "16"}},
		{"dtype", nef.FromBytes(99, []int{1}, []byte{1}), nef.ErrInvalidArgument, []string{"99"}},
		{"half an element", nef.FromBytes(nef.Float32, []int{1}, []byte{1, 2, 3}), nef.ErrShapeMismatch, []string{"3", "float32"}},
		{"input name", nef.Input("a\x00b", nef.Float32, 1), nef.ErrInvalidArgument, []string{"NUL"}},
		{"input dtype", nef.Input("x", 0, 1), nef.ErrInvalidArgument, nil},
		{"input dim", nef.Input("x", nef.Float32, "batch"), nef.ErrInvalidArgument, []string{"nef.Dim", "string"}},
		{"dim without name", nef.Input("x", nef.Float32, nef.Dim("")), nef.ErrInvalidArgument, []string{"name"}},
		{"dim bounds", nef.Input("x", nef.Float32, nef.DimRange("n", 5, 4)), nef.ErrInvalidArgument, []string{"5", "4"}},
		{"no upper bound", nef.Input("x", nef.Float32, nef.DimRange("n", 0, 0)), nef.ErrInvalidArgument, []string{"0"}},
		{"negative dim", nef.Input("x", nef.Float32, nef.DimRange("n", -1, 4)), nef.ErrInvalidArgument, []string{"-1"}},
		{"input rank", nef.Input("x", nef.Float32, make([]any, 17)...), nef.ErrLimitExceeded, []string{"17"}},
		{"split", nef.Split(matrix(2, 2), nil, 0, 0)[0], nef.ErrInvalidArgument, []string{"0 outputs"}},
		{"split far", nef.Split(matrix(2, 2), nil, 0, 1<<40)[0], nef.ErrInvalidArgument, []string{"outputs"}},
		{"string attribute", nef.Einsum([]*nef.Value{matrix(2, 2)}, "ij->\x00ji"), nef.ErrInvalidArgument, []string{"NUL"}},
		{"missing input", nef.MatMul(matrix(2, 2), nil), nef.ErrInvalidArgument, []string{"matmul", "b"}},
		{"no inputs", nef.Max(), nef.ErrInvalidArgument, []string{"max"}},
		{"linear", nef.Linear(matrix(2, 2), nef.Scalar(float32(1)), nil), nef.ErrShapeMismatch, []string{"[out in]"}},
		{"dtypes", nef.Add(matrix(2, 2), nef.Scalar(int64(1))), nef.ErrDTypeMismatch, []string{"float32", "int64"}},
		{"axis", nef.Softmax(matrix(2, 2), 2), nef.ErrInvalidArgument, []string{"softmax", "2"}},
	} {
		t.Run(c.name, func(t *testing.T) { wantError(t, c.value.Err(), c.code, c.words...) })
	}
}

// The message that experience asks for: what, got, expected, and what the operands are.
func TestErrorNamesOperands(t *testing.T) {
	x := nef.Gelu(matrix(2, 3))
	err := nef.MatMul(x, matrix(2, 2)).Err()
	wantError(t, err, nef.ErrShapeMismatch, "nef: matmul: ", "[2 3]", "[2 2]", "3", "2", `; a is output of "gelu"`)
	if strings.Contains(err.Error(), ".go:") {
		t.Errorf("%q names a line although NEF_TRACE_SITES is not set", err)
	}
}

// The environment is read when the program starts, so this test starts itself.
func TestErrorNamesLines(t *testing.T) {
	if os.Getenv("NEF_TRACE_SITES") == "1" {
		x := nef.Gelu(matrix(2, 3))
		os.Stdout.WriteString(x.MatMul(matrix(2, 2)).Err().Error())
		os.Exit(0)
	}
	self := exec.Command(os.Args[0], "-test.run=^TestErrorNamesLines$")
	self.Env = append(os.Environ(), "NEF_TRACE_SITES=1")
	out, err := self.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`a is output of "gelu" at errors_test.go:`, "matmul was called at errors_test.go:"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("message %q does not hold %q", out, want)
		}
	}
}

func TestFirstErrorSticks(t *testing.T) {
	bad := nef.Tensor([]float32{1}, []int{2})
	first := bad.Err()
	chain := nef.Softmax(nef.MatMul(bad, bad).Add(nef.Scalar(int8(1))), 7)
	for i, err := range []error{
		chain.Err(), chain.Execute(), nef.Execute(matrix(1, 1), chain), second(nef.Data[float32](chain)), second(chain.Bytes()),
		second(nef.NewGraph(nef.Outputs{"y": chain})),
	} {
		if err != first {
			t.Errorf("case %d: %v, want the first error %v", i, err, first)
		}
	}
	if chain.Numpy() != nil || chain.Shape() != nil || chain.Dims() != nil || chain.DType() != 0 || chain.Rank() != 0 {
		t.Error("a value with an error has contents")
	}
	if got := chain.String(); got != first.Error() {
		t.Errorf("prints %q, want %q", got, first)
	}
	chain.Close()
}

func second[T any](_ T, err error) error { return err }

// A failure while computing sticks too; before it the value is fine.
func TestExecutionErrorSticks(t *testing.T) {
	y := nef.Gather(matrix(2, 2), nef.Tensor([]int64{5}, []int{1}), 0)
	if y.Err() != nil {
		t.Skip("refused before execution: ", y.Err())
	}
	if y.Numpy() != nil {
		t.Fatal("index 5 of 2 gave elements")
	}
	wantError(t, y.Err(), nef.ErrOutOfRange, "5")
	wantError(t, nef.Exp(y).Err(), nef.ErrOutOfRange)
}

func TestNilAndClosed(t *testing.T) {
	var none *nef.Value
	wantError(t, none.Err(), nef.ErrInvalidArgument, "nil")
	wantError(t, none.Execute(), nef.ErrInvalidArgument, "nil")
	none.Close()
	v := matrix(2, 2)
	w := nef.Exp(v)
	v.Close()
	v.Close()
	wantError(t, v.Execute(), nef.ErrInvalidArgument, "closed")
	wantError(t, nef.Exp(v).Err(), nef.ErrInvalidArgument, "closed")
	wantError(t, second(nef.Data[float32](v)), nef.ErrInvalidArgument, "closed")
	if err := w.Execute(); err != nil {
		t.Errorf("what was made from a closed value: %v", err)
	}
	g, err := nef.NewGraph(nef.Outputs{"y": w})
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	g.Close()
	g.Close()
	wantError(t, second(g.Compile()), nef.ErrInvalidArgument, "closed")
	wantError(t, g.Save(filepath.Join(t.TempDir(), "x.nef")), nef.ErrInvalidArgument, "closed")
	wantError(t, second(g.Describe()), nef.ErrInvalidArgument, "closed")
	if _, err := p.Run(t.Context(), nil); err != nil {
		t.Errorf("a program of a closed graph: %v", err)
	}
	p.Close()
	p.Close()
	wantError(t, second(p.Run(t.Context(), nil)), nef.ErrInvalidArgument, "closed")
	if text := p.Plan().String(); !strings.Contains(text, "closed") {
		t.Errorf("plan of a closed program: %q", text)
	}
}

func TestSentinels(t *testing.T) {
	all := []error{
		nef.ErrInvalidArgument, nef.ErrShapeMismatch, nef.ErrDTypeMismatch, nef.ErrOutOfRange, nef.ErrUnknownOp,
		nef.ErrUnsupported, nef.ErrGraphCycle, nef.ErrUnknownName, nef.ErrDuplicateName, nef.ErrParse,
		nef.ErrLimitExceeded, nef.ErrUnsafePath, nef.ErrIO, nef.ErrOutOfMemory, nef.ErrDeviceOutOfMemory,
		nef.ErrCompileFailed, nef.ErrBackendUnavailable, nef.ErrABIMismatch, nef.ErrCancelled, nef.ErrDeviceLost,
		nef.ErrFallbackForbidden, nef.ErrInternal,
	}
	for i, sentinel := range all {
		e := &nef.Error{Code: nef.Code(i + 1), Op: "op", Msg: "msg"}
		for j, other := range all {
			if errors.Is(e, other) != (i == j) {
				t.Errorf("code %v and %v: %v", e.Code, other, i != j)
			}
		}
		if e.Code.String() == "unknown" || sentinel.Error() == "nef: unknown" {
			t.Errorf("code %d has no name", i+1)
		}
	}
	if name := nef.Code(len(all) + 1).String(); name != "unknown" {
		t.Errorf("there is a code %q without a sentinel", name)
	}
}

func TestErrorsOfLoading(t *testing.T) {
	dir := t.TempDir()
	for name, err := range map[string]error{
		"none.nef":         second(nef.Load(filepath.Join(dir, "none.nef"))),
		"none.safetensors": second(nef.FromSafetensors(filepath.Join(dir, "none.safetensors"))),
		"none.fs":          second(nef.LoadFS(fstest.MapFS{}, "none.fs")),
	} {
		wantError(t, err, nef.ErrIO, name)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is not fs.ErrNotExist", err)
		}
	}
	if err := second(nef.Load(dir)); !errors.Is(err, nef.ErrIO) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("loading a folder: %v", err)
	}
	wantError(t, second(nef.Load("a\x00b")), nef.ErrInvalidArgument, "NUL")
	wantError(t, second(nef.LoadBytes(nil)), nef.ErrParse)
	wantError(t, second(nef.LoadBytes([]byte("{"))), nef.ErrParse)
	wantError(t, second(nef.LoadBytes([]byte("{}"), nef.LoadOptions{DataRoot: "\x00"})), nef.ErrInvalidArgument, "NUL")
	wantError(t, nef.LoadBackend(filepath.Join(dir, "none.so")), nef.ErrBackendUnavailable, "none.so")
}

const brokenExample = `{
  "version": "1.0", "nef_format": "graph-v1",
  "graph": {
    "nodes": [{"id": "node_0", "op": "matmul", "inputs": ["tensor_a", "tensor_b"], "output": "tensor_c", "preferred_device": "gpu"}],
    "edges": [{"from": "node_0", "to": "node_1"}]
  },
  "tensors": {"tensor_a": {"shape": [1024, 4096], "dtype": "float16"}},
  "target": "auto", "compiler_cache": "embedded"
}`

const cycleExample = `{
  "version": "1.0", "nef_format": "graph-v1",
  "graph": {
    "nodes": [
      {"id": "first", "op": "add", "inputs": ["x", "b"], "output": "a"},
      {"id": "second", "op": "relu", "inputs": ["a"], "output": "b"}
    ],
    "inputs": ["x"], "outputs": ["b"]
  },
  "tensors": {"x": {"shape": [2], "dtype": "float32"}, "b": {"shape": [2], "dtype": "float32"}}
}`

func TestErrorsOfFiles(t *testing.T) {
	wantError(t, second(nef.LoadBytes([]byte(brokenExample))), nef.ErrUnknownName, "load")
	wantError(t, second(nef.LoadBytes([]byte(cycleExample))), nef.ErrGraphCycle, "first", "second")
}
