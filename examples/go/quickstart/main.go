// SPDX-License-Identifier: Apache-2.0

// Quickstart multiplies two matrices.
package main

import (
	"fmt"

	"github.com/Hexa08/NEF"
)

func main() {
	a := nef.Tensor([]float32{1, 2, 3, 4}, []int{2, 2})
	b := nef.Tensor([]float32{5, 6, 7, 8}, []int{2, 2})
	c := nef.MatMul(a, b)
	c.Execute()
	fmt.Println(c.Numpy())
}
