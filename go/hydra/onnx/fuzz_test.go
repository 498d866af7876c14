// SPDX-License-Identifier: Apache-2.0

package onnx_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Go memory that importing may take: four times the file, and what a few hundred nodes cost.
const (
	memoryFactor = 4
	memoryBase   = 16 << 20
)

// FuzzImport imports whatever bytes: nothing may crash, hang or take memory without bound.
func FuzzImport(f *testing.F) {
	f.Add([]byte(small(floats("w", []int64{2}, 1, 2))))
	f.Add([]byte(small(int64s("w", []int64{1, 2}, 3, 4))))
	f.Add([]byte(small(external("location", "w", "offset", "0"))))
	branch := graph{nodes: []message{node("Neg", list("x"), list("r"))}, outputs: []message{value("r", 1)}}.message()
	f.Add([]byte(model(16, graph{
		nodes: []message{
			node("Shape", list("x"), list("s")), node("ReduceSum", list("s"), list("n")), node("Greater", list("n", "n"), list("c")),
			node("If", list("c"), list("y"), attrGraph("then_branch", branch), attrGraph("else_branch", branch)),
		},
		inputs: []message{value("x", 1, 2, 3)}, outputs: []message{value("y", 1)},
	})))
	f.Add([]byte(model(12, graph{
		nodes: []message{
			node("SequenceConstruct", list("x", "x"), list("s")), node("SequenceInsert", list("s", "x"), list("t")),
			node("ConcatFromSequence", list("t"), list("y"), attrInt("axis", 0)), node("Softmax", list("y"), list("z")),
			node("Split", list("z"), list("a", "b"), attrInt("axis", 0)), node("Reshape", list("a", "w"), list("c")),
		},
		initializers: []message{int64s("w", []int64{1}, -1)},
		inputs:       []message{value("x", 1, "n", 4)}, outputs: []message{value("c", 1), value("b", 1)},
	})))
	for i := range 12 {
		m, _ := newGQACase(i).model()
		f.Add(m)
	}
	for _, r := range rules() {
		f.Add([]byte(r.model))
	}
	for _, set := range []string{"node", "simple"} {
		paths, err := filepath.Glob("/usr/share/libonnx-testdata/data/" + set + "/*/model.onnx")
		if err != nil {
			f.Fatal(err)
		}
		for i, path := range paths {
			if data, err := os.ReadFile(path); err == nil && i%3 == 0 && len(data) < 4096 {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = graphOf(data)
		runtime.ReadMemStats(&after)
		if took, most := after.TotalAlloc-before.TotalAlloc, uint64(memoryFactor*len(data)+memoryBase); took > most {
			t.Errorf("importing %d bytes took %d bytes of memory, at most %d are allowed", len(data), took, most)
		}
	})
}
