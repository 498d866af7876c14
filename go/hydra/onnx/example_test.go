// SPDX-License-Identifier: Apache-2.0

package onnx_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/onnx"
)

// exampleFile is y = relu(x + w) for x of [batch 2].
func exampleFile() string {
	dir, err := os.MkdirTemp("", "onnx")
	if err != nil {
		log.Fatal(err)
	}
	data := model(13, graph{
		nodes:        []message{node("Add", list("x", "w"), list("s")), node("Relu", list("s"), list("y"))},
		initializers: []message{floats("w", []int64{2}, 1, -5)},
		inputs:       []message{value("x", 1, "batch", 2)},
		outputs:      []message{value("y", 1, "batch", 2)},
	})
	path := filepath.Join(dir, "model.onnx")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		log.Fatal(err)
	}
	return path
}

func ExampleImport() {
	path := exampleFile()
	defer os.RemoveAll(filepath.Dir(path))

	g, err := onnx.Import(path, onnx.Options{Dims: map[string]onnx.Bounds{"batch": {Min: 1, Max: 8}}})
	var report *onnx.UnsupportedError
	if errors.As(err, &report) {
		log.Fatal(report) // every op that is not supported, with its nodes
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g)

	p, err := g.Compile()
	if err != nil {
		log.Fatal(err)
	}
	out, err := p.Run(context.Background(), nef.Values{"x": nef.Tensor([]float32{1, 2, 3, 9}, []int{2, 2})})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out["y"].Numpy())
	// Output:
	// graph of 2 nodes, [x float32 [batch 2]] -> [y float32 [batch 2]]
	// [[2 0] [4 4]]
}
