// SPDX-License-Identifier: Apache-2.0

package nef

// #cgo noescape nefgo_tensor_create
// #cgo nocallback nefgo_tensor_create
// #cgo noescape nefgo_tensor_input
// #cgo nocallback nefgo_tensor_input
// #include "cgo.h"
import "C"

import (
	"fmt"
	"math"
	"unsafe"
)

const maxRank = C.NEFGO_MAX_RANK

// Tensor is a value with the given elements, in row-major order, and shape. The elements are
// copied. A nil shape is a scalar's; otherwise as many elements are needed as the shape holds.
func Tensor[T Element](data []T, shape []int) *Value {
	var bytes unsafe.Pointer
	if len(data) > 0 {
		bytes = unsafe.Pointer(&data[0])
	}
	return createTensor("tensor", DTypeOf[T](), shape, len(data), bytes)
}

// Scalar is a value of rank 0.
func Scalar[T Element](x T) *Value {
	return createTensor("scalar", DTypeOf[T](), nil, 1, unsafe.Pointer(&x))
}

// FromBytes is a value whose elements are given as bytes in the machine's order (little-endian on
// all machines that NEF supports). The bytes are copied.
func FromBytes(dtype DType, shape []int, data []byte) *Value {
	size := dtype.Size()
	if size == 0 {
		return errorValue(newError(CodeInvalidArgument, "from bytes", "%d is no dtype", int32(dtype)))
	}
	if len(data)%size != 0 {
		return errorValue(newError(CodeShapeMismatch, "from bytes", "%d bytes are no whole number of %v elements", len(data), dtype))
	}
	var bytes unsafe.Pointer
	if len(data) > 0 {
		bytes = unsafe.Pointer(&data[0])
	}
	return createTensor("from bytes", dtype, shape, len(data)/size, bytes)
}

func createTensor(op string, dtype DType, shape []int, elements int, data unsafe.Pointer) *Value {
	if skew != nil {
		return errorValue(skew)
	}
	var dims [maxRank]C.int64_t
	if err := checkShape(op, shape, elements); err != nil {
		return errorValue(err)
	}
	for i, n := range shape {
		dims[i] = C.int64_t(n)
	}
	var none [1]uint64 // an address for no elements
	if data == nil {
		data = unsafe.Pointer(&none)
	}
	var out C.uintptr_t
	st := C.nefgo_tensor_create(C.nef_dtype(dtype), C.size_t(len(shape)), &dims[0], data, &out)
	if err := fromStatus(st); err != nil {
		return errorValue(err)
	}
	return newValue(uintptr(out), int64(elements)*int64(dtype.Size()))
}

// checkShape says what is wrong with a shape for that many elements.
func checkShape(op string, shape []int, elements int) *Error {
	if len(shape) > maxRank {
		return newError(CodeLimitExceeded, op, "rank %d is over the limit of %d", len(shape), maxRank)
	}
	need, empty := 1, false
	for i, n := range shape {
		if n < 0 {
			return newError(CodeInvalidArgument, op, "dim %d of shape %v is negative", i, shape)
		}
		empty = empty || n == 0
	}
	for _, n := range shape {
		if empty {
			need = 0
			break
		}
		if need > math.MaxInt/n {
			return newError(CodeLimitExceeded, op, "shape %v has more elements than fit in memory", shape)
		}
		need *= n
	}
	if need != elements {
		return newError(CodeShapeMismatch, op, "shape %v needs %d elements, got %d", shape, need, elements)
	}
	return nil
}

// Dimension is a symbolic dim of an [Input], made by [Dim] or [DimRange].
type Dimension struct {
	name     string
	min, max int
	bounded  bool
}

// Dim is a named dim of any size. The same name in several inputs means the same size.
func Dim(name string) Dimension { return Dimension{name: name} }

// DimRange is a named dim of min to max, both included.
func DimRange(name string, min, max int) Dimension { return Dimension{name, min, max, true} }

// String is the dim's name with its bounds, if it has any.
func (d Dimension) String() string {
	if !d.bounded {
		return d.name
	}
	return fmt.Sprintf("%s(%d..%d)", d.name, d.min, d.max)
}

// Input is a placeholder: a named input of the graph that [NewGraph] captures. A dim is an int or
// a [Dimension].
func Input(name string, dtype DType, dims ...any) *Value {
	if skew != nil {
		return errorValue(skew)
	}
	var spec inputSpec
	if err := spec.add(name, dims); err != nil {
		return errorValue(err)
	}
	text, err := cText("input", name)
	if err != nil {
		return errorValue(err)
	}
	var out C.uintptr_t
	st := C.nefgo_tensor_input(text, C.nef_dtype(dtype), C.size_t(len(dims)), &spec.value[0], &spec.min[0],
		&spec.max[0], &spec.nameAt[0], (*C.char)(unsafe.Pointer(&spec.names[0])), &out)
	if err := fromStatus(st); err != nil {
		return errorValue(err)
	}
	v := newValue(uintptr(out), 0)
	v.input, v.open = name, true
	return v
}

// inputSpec holds the dims of an input as nefgo_tensor_input takes them.
type inputSpec struct {
	value, min, max, nameAt [maxRank]C.int64_t
	names                   []byte
}

func (s *inputSpec) add(input string, dims []any) *Error {
	if len(dims) > maxRank {
		return newError(CodeLimitExceeded, "input", "input %q has rank %d, over the limit of %d", input, len(dims), maxRank)
	}
	s.names = []byte{0}
	for i, dim := range dims {
		s.nameAt[i] = -1
		switch d := dim.(type) {
		case int:
			s.value[i] = C.int64_t(d)
		case Dimension:
			if err := s.addSymbol(input, i, d); err != nil {
				return err
			}
		default:
			return newError(CodeInvalidArgument, "input", "dim %d of input %q is a %T; a dim is an int, nef.Dim or nef.DimRange", i, input, dim)
		}
	}
	return nil
}

func (s *inputSpec) addSymbol(input string, i int, d Dimension) *Error {
	if d.name == "" {
		return newError(CodeInvalidArgument, "input", "dim %d of input %q is a nef.Dim without a name", i, input)
	}
	if d.bounded && (d.min < 0 || d.max < max(d.min, 1)) {
		return newError(CodeInvalidArgument, "input", "dim %d of input %q, %q, is bounded by %d and %d; want 0 <= min <= max, max >= 1",
			i, input, d.name, d.min, d.max)
	}
	if _, err := cText("input", d.name); err != nil {
		return err
	}
	s.nameAt[i] = C.int64_t(len(s.names))
	s.names = append(append(s.names, d.name...), 0)
	s.min[i], s.max[i] = C.int64_t(d.min), C.int64_t(d.max)
	return nil
}
