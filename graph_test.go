// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/Hexa08/NEF"
)

// feedForward is a small model with weights, a symbolic batch and two outputs.
func feedForward(t testing.TB) *nef.Graph {
	t.Helper()
	x := nef.Input("x", nef.Float32, nef.DimRange("batch", 1, 64), 8)
	hidden := nef.Gelu(nef.Linear(x, weight(32, 8), weight(32)))
	y := nef.Linear(hidden, weight(4, 32), weight(4))
	g, err := nef.NewGraph(nef.Outputs{"y": y, "best": nef.ArgMax(y, -1, false)})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func weight(shape ...int) *nef.Value {
	n := 1
	for _, d := range shape {
		n *= d
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(math.Sin(float64(i)))
	}
	return nef.Tensor(data, shape)
}

func compile(t testing.TB, g *nef.Graph, opts ...nef.Options) *nef.Program {
	t.Helper()
	p, err := g.Compile(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// infer is the output y of feedForward for a batch.
func infer(t testing.TB, p *nef.Program, batch int) []float32 {
	t.Helper()
	out, err := p.Run(t.Context(), nef.Values{"x": weight(batch, 8)})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	y, err := nef.Data[float32](out["y"])
	if err != nil || len(y) != batch*4 || !slices.Equal(out["best"].Shape(), []int{batch}) {
		t.Fatalf("y has %d elements, best shape %v, error %v", len(y), out["best"].Shape(), err)
	}
	return y
}

func TestGraphInfo(t *testing.T) {
	g := feedForward(t)
	defer g.Close()
	want := nef.TensorInfo{Name: "x", DType: nef.Float32, Shape: []int{-1, 8}, Dims: []string{"batch", "8"}, Min: []int{1, 8}, Max: []int{64, 8}}
	if got := fmt.Sprintf("%#v", g.Inputs()); got != fmt.Sprintf("%#v", []nef.TensorInfo{want}) {
		t.Errorf("inputs %s", got)
	}
	if got := fmt.Sprint(g.Outputs()); got != "[best int64 [batch] y float32 [batch 4]]" {
		t.Errorf("outputs %s", got)
	}
	if g.NodeCount() < 6 {
		t.Errorf("%d nodes", g.NodeCount())
	}
	text, err := g.Describe()
	if err != nil || !json.Valid([]byte(text)) {
		t.Errorf("description %q, %v", text, err)
	}
	x := nef.Input("x", nef.Float32, nef.Dim("n"))
	open, err := nef.NewGraph(nef.Outputs{"y": nef.Relu(x)})
	if err != nil {
		t.Fatal(err)
	}
	if got := open.Inputs()[0]; got.Min[0] != 0 || got.Max[0] != math.MaxInt {
		t.Errorf("bounds of a dim without bounds: %d to %d", got.Min[0], got.Max[0])
	}
}

func TestOutputOrder(t *testing.T) {
	x := nef.Input("x", nef.Float32, 2)
	a, b := nef.Relu(x), nef.Exp(x)
	sorted, err := nef.NewGraph(nef.Outputs{"b": b, "a": a})
	if err != nil {
		t.Fatal(err)
	}
	given, err := nef.NewOrderedGraph(nef.Output{Name: "b", Value: b}, nef.Output{Name: "a", Value: a})
	if err != nil {
		t.Fatal(err)
	}
	if sorted.Outputs()[0].Name != "a" || given.Outputs()[0].Name != "b" {
		t.Errorf("%v and %v", sorted.Outputs(), given.Outputs())
	}
}

func TestErrorsOfCapture(t *testing.T) {
	x := nef.Input("x", nef.Float32, 2)
	wantError(t, second(nef.NewGraph(nil)), nef.ErrInvalidArgument)
	wantError(t, second(nef.NewGraph(nef.Outputs{"y": nil})), nef.ErrInvalidArgument, "y", "nil")
	wantError(t, second(nef.NewGraph(nef.Outputs{"a\x00b": x})), nef.ErrInvalidArgument, "NUL")
	wantError(t, second(nef.NewGraph(nef.Outputs{"y": x.Add(nef.Input("x", nef.Float32, 2))})), nef.ErrDuplicateName, "x")
	relu := nef.Output{Name: "y", Value: nef.Relu(x)}
	wantError(t, second(nef.NewOrderedGraph(relu, relu)), nef.ErrDuplicateName, "y")
}

func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	g := feedForward(t)
	defer g.Close()
	want := infer(t, compile(t, g), 3)
	for _, bundle := range []bool{false, true} {
		t.Run(fmt.Sprintf("bundle=%v", bundle), func(t *testing.T) {
			path := filepath.Join(dir, fmt.Sprintf("%v.nef", bundle))
			if err := g.Save(path, nef.SaveOptions{Bundle: bundle}); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for name, load := range map[string]func() (*nef.Graph, error){
				"Load":      func() (*nef.Graph, error) { return nef.Load(path) },
				"LoadBytes": func() (*nef.Graph, error) { return nef.LoadBytes(data, nef.LoadOptions{DataRoot: dir}) },
				"LoadFS": func() (*nef.Graph, error) {
					files := fstest.MapFS{"models/m.nef": {Data: data}}
					return nef.LoadFS(files, "models/m.nef", nef.LoadOptions{DataRoot: dir})
				},
			} {
				loaded, err := load()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if got := infer(t, compile(t, loaded), 3); !slices.Equal(got, want) {
					t.Errorf("%s: %v, want %v", name, got, want)
				}
				again := filepath.Join(dir, "again.nef")
				if err := loaded.Save(again, nef.SaveOptions{Bundle: bundle}); err != nil {
					t.Fatalf("%s: saving again: %v", name, err)
				}
				if bundle {
					if twice, _ := os.ReadFile(again); !bytes.Equal(data, twice) {
						t.Errorf("%s: saved again, the file differs", name)
					}
				}
				loaded.Close()
			}
		})
	}
	wantError(t, g.Save(filepath.Join(dir, "none", "x.nef")), nef.ErrIO, "none")
	wantError(t, g.Save("a\x00b"), nef.ErrInvalidArgument, "NUL")
}

func TestWeights(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.safetensors")
	header := `{"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"I64","shape":[],"data_offsets":[8,16]}}`
	header += strings.Repeat(" ", 7-(len(header)+7)%8)
	file := append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header...)
	file = append(file, 0, 0, 128, 63, 0, 0, 0, 64, 7, 0, 0, 0, 0, 0, 0, 0)
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := nef.FromSafetensors(path)
	if err != nil {
		t.Fatal(err)
	}
	names := w.Names()
	slices.Sort(names)
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("names %q", names)
	}
	a, b := w.Tensor("a"), w.Tensor("b")
	wantError(t, w.Tensor("c").Err(), nef.ErrUnknownName, "c")
	wantError(t, w.Tensor("\x00").Err(), nef.ErrInvalidArgument, "NUL")
	w.Close()
	w.Close()
	wantError(t, w.Tensor("a").Err(), nef.ErrInvalidArgument, "closed")
	if got := fmt.Sprint(a.Numpy(), b.Numpy()); got != "7 [1 2]" {
		t.Errorf("after closing the file: %s (%v)", got, a.Err())
	}
	if err := os.WriteFile(path, file[:len(file)-1], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := nef.FromSafetensors(path); err == nil {
		t.Error("a truncated file was opened")
	}
}
