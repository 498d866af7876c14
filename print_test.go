// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/Hexa08/NEF"
)

func sequence(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(i)
	}
	return out
}

func TestPrinting(t *testing.T) {
	x := nef.Input("x", nef.Float32, nef.Dim("batch"), 3)
	for _, c := range []struct {
		name  string
		value *nef.Value
		want  string
	}{
		{"scalar", nef.Scalar(float32(2.5)), "float32 [] 2.5"},
		{"vector", nef.Tensor([]int64{1, -20, 3}, []int{3}), "int64 [3]\n[  1 -20   3]"},
		{"bools", nef.Tensor([]bool{true, false}, []int{2}), "bool [2]\n[ true false]"},
		{"unsigned", nef.Tensor([]uint64{math.MaxUint64}, []int{1}), "uint64 [1]\n[18446744073709551615]"},
		{"signed bytes", nef.Tensor([]int8{-128, 127}, []int{2}), "int8 [2]\n[-128  127]"},
		{"digits of the finest", nef.Tensor([]float32{1, 2.5, 3.25}, []int{3}), "float32 [3]\n[1.00 2.50 3.25]"},
		{"not finite", nef.Tensor([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 1}, []int{4}), "float64 [4]\n[ NaN  Inf -Inf    1]"},
		{"large", nef.Tensor([]float32{1e10, 1}, []int{2}), "float32 [2]\n[1e+10 1e+00]"},
		{"small", nef.Tensor([]float64{1.5e-7, -1}, []int{2}), "float64 [2]\n[ 1.5e-07 -1.0e+00]"},
		{"whole numbers", nef.Tensor([]float32{1, 10000}, []int{2}), "float32 [2]\n[    1 10000]"},
		{"float16", nef.Tensor([]nef.Half{nef.ToHalf(0.5), nef.ToHalf(1)}, []int{2}), "float16 [2]\n[0.5 1.0]"},
		{"bfloat16", nef.Tensor([]nef.BF16{nef.ToBF16(-0.5)}, []int{1, 1}), "bfloat16 [1 1]\n[[-0.5]]"},
		{"cube", nef.Tensor(sequence(8), []int{2, 2, 2}), "float32 [2 2 2]\n[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"},
		{"empty", nef.Tensor([]float32{}, []int{0}), "float32 [0]\n[]"},
		{"no columns", nef.Tensor([]float32{}, []int{2, 0}), "float32 [2 0]\n[]"},
		{"no rows", nef.Tensor([]float32{}, []int{0, 2}), "float32 [0 2]\n[]"},
		{"abbreviated", nef.Tensor(sequence(2000), []int{2000}), "float32 [2000]\n[   0    1    2 … 1997 1998 1999]"},
		{"abbreviated both ways", nef.Tensor(sequence(10000), []int{100, 100}), `float32 [100 100]
[[   0    1    2 …   97   98   99]
 [ 100  101  102 …  197  198  199]
 [ 200  201  202 …  297  298  299]
 …
 [9700 9701 9702 … 9797 9798 9799]
 [9800 9801 9802 … 9897 9898 9899]
 [9900 9901 9902 … 9997 9998 9999]]`},
		{"long row", nef.Tensor(sequence(30), []int{30}), `float32 [30]
[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25
 26 27 28 29]`},
		{"lazy", matrix(1, 2).Add(nef.Scalar(float32(1))), "float32 [1 2]\n[[1 2]]"},
		{"placeholder", x, `input "x" float32 [batch 3]`},
		{"of a placeholder", nef.Relu(x), "relu of graph inputs, float32 [batch 3]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fmt.Sprint(c.value); got != c.want {
				t.Errorf("prints\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	third := nef.Tensor([]float32{1.0 / 3}, []int{1})
	for format, want := range map[string]string{
		"%v": "float32 [1]\n[0.33333334]", "%.3v": "float32 [1]\n[0.333]", "%.0s": "float32 [1]\n[0]", "%d": "%!d(*nef.Value)",
	} {
		if got := fmt.Sprintf(format, third); got != want {
			t.Errorf("%s prints %q, want %q", format, got, want)
		}
	}
	var none *nef.Value
	if got := fmt.Sprint(none); !strings.Contains(got, "nil") {
		t.Errorf("nil prints %q", got)
	}
}
