// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	nef "github.com/Hexa08/NEF"
)

// A kernel cache that others can write is left alone, and a run says so once, whatever blocks the
// model has. It is no error.
func TestARefusedKernelCacheIsANote(t *testing.T) {
	a, b := nef.Input("a", nef.Float32, 64, 256), nef.Input("b", nef.Float32, 256, 128)
	c := nef.MatMul(a, b)
	positive := nef.Greater(nef.ReduceSum(c, []int{0, 1}, false), nef.Scalar(float32(0)))
	product := func(x *nef.Value) func() []*nef.Value {
		return func() []*nef.Value { return []*nef.Value{nef.MatMul(x, b)} }
	}
	y := nef.If(positive, product(a.Neg()), product(nef.Relu(a)))[0]
	g, err := nef.NewGraph(nef.Outputs{"y": nef.MatMul(nef.Transpose(y, []int{1, 0}), c)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	model := filepath.Join(t.TempDir(), "m.nef")
	if err := g.Save(model); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(t.TempDir(), "cache")
	t.Setenv("NEF_CACHE_DIR", cache)
	notes := func() int {
		t.Helper()
		p := startHydra(t, nil, "run", model, "--random", "--output", "y=@"+filepath.Join(t.TempDir(), "y.npy"))
		if status := p.end(t, 10*slack); status.ExitStatus() != 0 {
			t.Fatalf("exit %d, %s", status.ExitStatus(), p.err.String())
		}
		return strings.Count(p.out.String(), "note: kernels are not kept on disk: "+cache+" can be written by others")
	}
	if n := notes(); n != 0 {
		t.Errorf("%d notes about a folder of one's own", n)
	}
	before := entries(t, cache)
	if len(before) == 0 {
		t.Fatal("this backend keeps no kernels: the test finds out nothing")
	}
	if err := os.Chmod(cache, 0o777); err != nil {
		t.Fatal(err)
	}
	if n := notes(); n != 1 {
		t.Errorf("%d notes, want one", n)
	}
}

func entries(t *testing.T, folder string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
