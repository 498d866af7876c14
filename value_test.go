// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/Hexa08/NEF"
)

// checkRoundTrip sends elements through a tensor and an op, and back in every form.
func checkRoundTrip[T nef.Element](t *testing.T, dtype nef.DType, data ...T) {
	t.Run(dtype.String(), func(t *testing.T) {
		v := nef.Tensor(data, []int{len(data)})
		same := nef.Reshape(v, []int{len(data)})
		for _, v := range []*nef.Value{v, same} {
			if v.DType() != dtype {
				t.Fatalf("dtype %v, error %v", v.DType(), v.Err())
			}
			got, err := nef.Data[T](v)
			if err != nil || !slices.Equal(got, data) {
				t.Errorf("Data: %v, %v; want %v", got, err, data)
			}
			if got := v.Numpy(); fmt.Sprint(got) != fmt.Sprint(data) {
				t.Errorf("Numpy: %v, want %v", got, data)
			}
			bytes, err := v.Bytes()
			if err != nil || len(bytes) != len(data)*dtype.Size() {
				t.Fatalf("Bytes: %d of them, %v", len(bytes), err)
			}
			again, err := nef.Data[T](nef.FromBytes(dtype, v.Shape(), bytes))
			if err != nil || !slices.Equal(again, data) {
				t.Errorf("FromBytes: %v, %v; want %v", again, err, data)
			}
		}
		scalar, err := nef.Data[T](nef.Scalar(data[0]))
		if err != nil || !slices.Equal(scalar, data[:1]) {
			t.Errorf("Scalar: %v, %v", scalar, err)
		}
		parsed, ok := nef.ParseDType(dtype.String())
		if !ok || parsed != dtype || nef.DTypeOf[T]() != dtype {
			t.Errorf("dtype by name %v, by type %v", parsed, nef.DTypeOf[T]())
		}
	})
}

type celsius float32

func TestDTypes(t *testing.T) {
	checkRoundTrip(t, nef.Bool, true, false, true)
	checkRoundTrip(t, nef.Int8, int8(math.MinInt8), 0, math.MaxInt8)
	checkRoundTrip(t, nef.Uint8, uint8(0), 1, math.MaxUint8)
	checkRoundTrip(t, nef.Int16, int16(math.MinInt16), 0, math.MaxInt16)
	checkRoundTrip(t, nef.Uint16, uint16(0), 1, math.MaxUint16)
	checkRoundTrip(t, nef.Int32, int32(math.MinInt32), 0, math.MaxInt32)
	checkRoundTrip(t, nef.Uint32, uint32(0), 1, math.MaxUint32)
	checkRoundTrip(t, nef.Int64, int64(math.MinInt64), 0, math.MaxInt64)
	checkRoundTrip(t, nef.Uint64, uint64(0), 1, math.MaxUint64)
	checkRoundTrip(t, nef.Int64, math.MinInt, 0, math.MaxInt)
	checkRoundTrip(t, nef.Uint64, uint(0), 1, math.MaxUint)
	checkRoundTrip(t, nef.Float16, nef.ToHalf(1.5), nef.ToHalf(-2), nef.ToHalf(65504))
	checkRoundTrip(t, nef.BFloat16, nef.ToBF16(1.5), nef.ToBF16(-2), nef.ToBF16(1e30))
	checkRoundTrip(t, nef.Float32, float32(math.MaxFloat32), -1.25, math.SmallestNonzeroFloat32)
	checkRoundTrip(t, nef.Float64, math.MaxFloat64, -1.25, math.SmallestNonzeroFloat64)
	checkRoundTrip(t, nef.Float32, celsius(36.6), -273.15)
	if _, ok := nef.ParseDType("float33"); ok {
		t.Error("float33 is a dtype")
	}
	if _, ok := nef.ParseDType("float32\x00"); ok {
		t.Error("a name with NUL is a dtype")
	}
}

func TestDataOfOtherType(t *testing.T) {
	_, err := nef.Data[float64](matrix(2, 2))
	wantError(t, err, nef.ErrDTypeMismatch, "float32", "float64", "nef.Cast")
	y, err := nef.Data[float64](matrix(1, 2).Cast(nef.Float64))
	if err != nil || !slices.Equal(y, []float64{0, 1}) {
		t.Errorf("after Cast: %v, %v", y, err)
	}
}

func TestInputIsCopied(t *testing.T) {
	data, shape := []float32{1, 2}, []int{2}
	v := nef.Tensor(data, shape)
	data[0], shape[0] = 9, 9
	got, err := nef.Data[float32](v)
	if err != nil || !slices.Equal(got, []float32{1, 2}) {
		t.Fatalf("%v, %v", got, err)
	}
	got[1], v.Shape()[0] = 9, 9
	if again, _ := nef.Data[float32](v); !slices.Equal(again, []float32{1, 2}) || v.Shape()[0] != 2 {
		t.Errorf("%v, shape %v after writing to what was returned", again, v.Shape())
	}
}

func TestNumpy(t *testing.T) {
	counted := make([]int32, 24)
	for i := range counted {
		counted[i] = int32(i)
	}
	for _, c := range []struct {
		value *nef.Value
		want  any
	}{
		{nef.Scalar(2.5), 2.5},
		{nef.Scalar(true), true},
		{nef.Tensor([]int64{1, 2}, []int{2}), []int64{1, 2}},
		{nef.Tensor([]int64{}, []int{0}), []int64{}},
		{nef.Tensor([]uint8{1, 2}, []int{2, 1}), [][]uint8{{1}, {2}}},
		{nef.Tensor([]float32{}, []int{2, 0}), [][]float32{{}, {}}},
		{nef.Tensor([]float32{}, []int{0, 2}), [][]float32{}},
		{nef.Tensor([]float32(nil), []int{1 << 40, 0, 3}), [][][]float32{}},
		{nef.Tensor(counted, []int{2, 3, 4}), [][][]int32{
			{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}, {{12, 13, 14, 15}, {16, 17, 18, 19}, {20, 21, 22, 23}},
		}},
	} {
		if got := c.value.Numpy(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("shape %v: %#v, want %#v (error %v)", c.value.Shape(), got, c.want, c.value.Err())
		}
	}
}

// What one row has behind its end belongs to the next row.
func TestNumpyRowsAreCapped(t *testing.T) {
	rows := matrix(2, 2).Numpy().([][]float32)
	_ = append(rows[0], 99)
	if rows[1][0] != 2 {
		t.Error("appending to a row wrote into the next one")
	}
}

func TestShapes(t *testing.T) {
	x := nef.Input("x", nef.Float32, nef.Dim("batch"), nef.DimRange("n", 1, 8), 3)
	for _, c := range []struct {
		value *nef.Value
		shape []int
		dims  []string
	}{
		{nef.Scalar(1), []int{}, []string{}},
		{matrix(2, 3).MatMul(matrix(3, 4)), []int{2, 4}, []string{"2", "4"}},
		{x, []int{-1, -1, 3}, []string{"batch", "n", "3"}},
		{nef.Concat([]*nef.Value{x, x}, 1), []int{-1, -1, 3}, []string{"batch", "2*n", "3"}},
	} {
		if got := c.value.Shape(); !slices.Equal(got, c.shape) {
			t.Errorf("shape %v, want %v (error %v)", got, c.shape, c.value.Err())
		}
		if got := c.value.Dims(); !slices.Equal(got, c.dims) {
			t.Errorf("dims %q, want %q", got, c.dims)
		}
		if c.value.Rank() != len(c.shape) {
			t.Errorf("rank %d of shape %v", c.value.Rank(), c.shape)
		}
	}
	wantError(t, x.Execute(), nef.ErrInvalidArgument, "x")
	if x.Err() != nil {
		t.Errorf("trying to execute a placeholder spoiled it: %v", x.Err())
	}
}

// A size that depends on data is known once the value is computed.
func TestDataDependentShape(t *testing.T) {
	v := nef.NonZero(nef.Tensor([]float32{0, 7, 0, 9}, []int{4}))
	if !slices.Equal(v.Shape(), []int{1, -1}) {
		t.Errorf("shape %v", v.Shape())
	}
	if err := v.Execute(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(v.Shape(), []int{1, 2}) {
		t.Errorf("shape %v", v.Shape())
	}
	if got, err := nef.Data[int64](v); err != nil || !slices.Equal(got, []int64{1, 3}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestExecuteSeveral(t *testing.T) {
	x := matrix(2, 2)
	a, b := x.Exp(), x.Exp().Neg()
	if err := nef.Execute(a, b); err != nil {
		t.Fatal(err)
	}
	if err := nef.Execute(); err != nil {
		t.Errorf("of no values: %v", err)
	}
	left, _ := nef.Data[float32](a)
	right, _ := nef.Data[float32](b)
	for i := range left {
		if left[i] != -right[i] {
			t.Fatalf("%v and %v", left, right)
		}
	}
}

func TestSeveralOutputs(t *testing.T) {
	parts := nef.Split(nef.Tensor([]int64{1, 2, 3}, []int{3}), []int{1, 2}, 0, 0)
	if got := fmt.Sprint(parts[0].Numpy(), parts[1].Numpy()); got != "[1] [2 3]" {
		t.Errorf("split: %s (%v)", got, parts[0].Err())
	}
	values, indices := nef.TopK(nef.Tensor([]float32{3, 1, 2}, []int{3}), 2, 0, true)
	if got := fmt.Sprint(values.Numpy(), indices.Numpy()); got != "[3 2] [0 2]" {
		t.Errorf("topk: %s (%v)", got, values.Err())
	}
	values.Close()
	if got := fmt.Sprint(indices.Numpy()); got != "[0 2]" {
		t.Errorf("one output after closing the other: %s", got)
	}
	bad := nef.Split(matrix(2, 2), []int{5, 5}, 0, 0)
	if len(bad) != 2 || bad[0].Err() == nil || bad[1].Err() != bad[0].Err() {
		t.Errorf("a failed split of two: %v", bad)
	}
}

// An empty list is not an absent one.
func TestEmptyAndAbsentLists(t *testing.T) {
	x := matrix(2, 2)
	if got := nef.ReduceSum(x, nil, false).Numpy(); !reflect.DeepEqual(got, float32(6)) {
		t.Errorf("sum over all axes: %v", got)
	}
	if got := nef.Transpose(x, nil).Numpy(); !reflect.DeepEqual(got, [][]float32{{0, 2}, {1, 3}}) {
		t.Errorf("transpose: %v", got)
	}
	if got := nef.Reshape(nef.Tensor([]float32{5}, []int{1, 1}), nil).Numpy(); !reflect.DeepEqual(got, float32(5)) {
		t.Errorf("reshape to a scalar: %v", got)
	}
}

func TestLinear(t *testing.T) {
	x := nef.Tensor([]float32{1, 2}, []int{1, 2})
	w := nef.Tensor([]float32{1, 0, 0, 1, 1, 1}, []int{3, 2})
	b := nef.Tensor([]float32{10, 20, 30}, []int{3})
	if got := fmt.Sprint(x.Linear(w, b).Numpy(), nef.Linear(x, w, nil).Numpy()); got != "[[11 22 33]] [[1 2 3]]" {
		t.Error(got)
	}
}
