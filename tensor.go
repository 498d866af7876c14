// SPDX-License-Identifier: Apache-2.0

package nef

// #cgo noescape nefgo_tensor_create
// #cgo nocallback nefgo_tensor_create
// #cgo nocallback nefgo_tensor_map
// #cgo nocallback nefgo_tensor_adopt
// #cgo noescape nefgo_tensor_input
// #cgo nocallback nefgo_tensor_input
// #include "cgo.h"
import "C"

import (
	"fmt"
	"math"
	"os"
	"unsafe"

	"github.com/Hexa08/NEF/internal/safetext"
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
// all machines that NEF supports). The bytes are copied; of a bool all but 0 are true.
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

// Fill is a value whose elements fill writes: it gets memory of the value's size, row-major, in the
// machine's byte order, which holds anything, and must write all of it. It is called once, before
// Fill returns, and must not keep the slice. Unlike with [FromBytes] the elements are in memory
// once. An error of fill becomes the value's.
func Fill(dtype DType, shape []int, fill func(data []byte) error) *Value {
	if skew != nil {
		return errorValue(skew)
	}
	dims, bytes, err := sizeOf("fill", dtype, shape)
	if err != nil {
		return errorValue(err)
	}
	data := C.nefgo_data_alloc(C.size_t(bytes))
	if data == nil {
		return errorValue(newError(CodeOutOfMemory, "fill", "cannot allocate %d bytes", bytes))
	}
	if err := fill(unsafe.Slice((*byte)(data), bytes)); err != nil {
		C.free(data)
		return errorValue(err)
	}
	var out C.uintptr_t
	st := C.nefgo_tensor_adopt(C.nef_dtype(dtype), C.size_t(len(shape)), &dims[0], data, C.size_t(bytes), &out)
	if err := fromStatus(st); err != nil {
		return errorValue(err)
	}
	return newValue(uintptr(out), int64(bytes))
}

// FromFile is a value over a range of a regular file: its elements, row-major and little-endian,
// begin at offset. They are mapped, not read, so that [Graph.Save] writes weights of any size with
// little memory. The file may be closed at once, but must not be cut short while the value, or
// anything made from it, is in use. A saved graph calls the tensor name, if it is not empty.
func FromFile(f *os.File, offset int64, dtype DType, shape []int, name string) *Value {
	if skew != nil {
		return errorValue(skew)
	}
	dims, _, err := sizeOf("from file", dtype, shape)
	if err == nil && offset < 0 {
		err = newError(CodeOutOfRange, "from file", "offset %d is negative", offset)
	}
	var text *C.char
	if err == nil {
		text, err = cText("from file", name)
	}
	if err != nil {
		return errorValue(err)
	}
	var out C.uintptr_t
	st := C.nefgo_tensor_map(C.nef_dtype(dtype), C.size_t(len(shape)), &dims[0], C.int32_t(f.Fd()),
		C.uint64_t(offset), text, &out)
	if err := fromStatus(st); err != nil {
		return errorValue(err)
	}
	return newValue(uintptr(out), 0)
}

// sizeOf is a shape as C takes it, and how many bytes it needs.
func sizeOf(op string, dtype DType, shape []int) (dims [maxRank]C.int64_t, bytes int, err *Error) {
	size := dtype.Size()
	if size == 0 {
		return dims, 0, newError(CodeInvalidArgument, op, "%d is no dtype", int32(dtype))
	}
	elements, empty := 1, false
	for _, n := range shape {
		empty = empty || n == 0
	}
	for _, n := range shape {
		if n > 0 && elements <= math.MaxInt/size/n {
			elements *= n
		} else if !empty {
			elements = -1 // wrong in any case; checkShape says why
		}
	}
	if empty {
		elements = 0
	}
	if err := checkShape(op, shape, elements); err != nil {
		return dims, 0, err
	}
	for i, n := range shape {
		dims[i] = C.int64_t(n)
	}
	return dims, elements * size, nil
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
		return safetext.Escape(d.name)
	}
	return safetext.Escape(fmt.Sprintf("%s(%d..%d)", d.name, d.min, d.max))
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
