// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/Hexa08/NEF"
)

func Example() {
	a := nef.Tensor([]float32{1, 2, 3, 4}, []int{2, 2})
	b := nef.Tensor([]float32{5, 6, 7, 8}, []int{2, 2})
	c := nef.MatMul(a, b)
	c.Execute()
	fmt.Println(c.Numpy())
	// Output: [[19 22] [43 50]]
}

// Nothing runs before the value is printed.
func Example_lazy() {
	a := nef.Tensor([]float32{1, 2, 3, 4}, []int{2, 2})
	b := nef.Tensor([]float32{5, 6, 7, 8}, []int{2, 2})
	c := nef.MatMul(a, b).Add(nef.Scalar(float32(1)))
	fmt.Println(c)
	if err := c.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// float32 [2 2]
	// [[20 23]
	//  [44 51]]
}

func ExampleData() {
	x := nef.Tensor([]float64{-1, 0, 2}, []int{3})
	y, err := nef.Data[float64](nef.Relu(x))
	fmt.Println(y, err)
	// Output: [0 0 2] <nil>
}

// The first error of a chain comes out at its end.
func ExampleValue_Err() {
	a := nef.Tensor([]float32{1, 2, 3, 4, 5, 6}, []int{2, 3})
	b := nef.Tensor([]float32{1, 2, 3, 4}, []int{2, 2})
	y := nef.Softmax(nef.MatMul(a, b), -1).Exp()
	var e *nef.Error
	fmt.Println(errors.As(y.Err(), &e), errors.Is(y.Err(), nef.ErrShapeMismatch), e.Op)
	// Output: true true matmul
}

func ExampleNewGraph() {
	x := nef.Input("x", nef.Float32, nef.Dim("batch"), 2)
	w := nef.Tensor([]float32{1, 0, 0, 1, 1, 1}, []int{3, 2})
	b := nef.Tensor([]float32{0, 0, 10}, []int{3})
	g, err := nef.NewGraph(nef.Outputs{"y": nef.Relu(nef.Linear(x, w, b))})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	fmt.Println(g.Inputs(), g.Outputs())
	// Output: [x float32 [batch 2]] [y float32 [batch 3]]
}

// One program serves every size of a symbolic dim.
func ExampleProgram_Run() {
	x := nef.Input("x", nef.Float32, nef.Dim("batch"), 2)
	g, err := nef.NewGraph(nef.Outputs{"sum": nef.ReduceSum(x, []int{1}, false)})
	if err != nil {
		log.Fatal(err)
	}
	p, err := g.Compile(nef.Options{Precision: nef.Fast})
	if err != nil {
		log.Fatal(err)
	}
	for _, rows := range [][]float32{{1, 2}, {1, 2, 3, 4, 5, 6}} {
		out, err := p.Run(context.Background(), nef.Values{"x": nef.Tensor(rows, []int{len(rows) / 2, 2})})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(out["sum"].Numpy())
	}
	// Output:
	// [3]
	// [3 7 11]
}

func ExampleGraph_Save() {
	dir, err := os.MkdirTemp("", "nef")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	x := nef.Input("x", nef.Float32, 3)
	g, err := nef.NewGraph(nef.Outputs{"y": x.Mul(nef.Scalar(float32(2)))})
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "double.nef")
	if err := g.Save(path, nef.SaveOptions{Bundle: true}); err != nil {
		log.Fatal(err)
	}
	loaded, err := nef.Load(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(loaded.NodeCount(), loaded.Inputs())
	// Output: 1 [x float32 [3]]
}

func ExampleToHalf() {
	v := nef.Tensor([]nef.Half{nef.ToHalf(1.5), nef.ToHalf(-2)}, []int{2})
	fmt.Println(v.DType(), v.Add(v).Numpy())
	// Output: float16 [3 -4]
}
