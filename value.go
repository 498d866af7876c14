// SPDX-License-Identifier: Apache-2.0

package nef

// #cgo noescape nefgo_tensor_meta
// #cgo nocallback nefgo_tensor_meta
// #cgo noescape nefgo_execute
// #cgo nocallback nefgo_execute
// #cgo noescape nefgo_tensor_data
// #cgo nocallback nefgo_tensor_data
// #include "cgo.h"
import "C"

import (
	"reflect"
	"strconv"
	"sync/atomic"
	"unsafe"
)

// Value is a tensor that may not have been computed yet. Functions such as [MatMul] and [Gelu]
// make new values and compute nothing; [Value.Execute] computes, and so does whatever needs the
// elements: [Data], [Value.Numpy], [Value.Bytes] and printing.
//
// A function that is given a wrong argument returns a value that carries the error, and so does
// every function that is given such a value: the first error of a chain sticks and comes out of
// [Value.Err], [Value.Execute] or whatever reads the value.
//
// Values may be shared by goroutines; all methods may be called at the same time. A value that
// several of them execute is computed once. Nobody can change a value.
type Value struct {
	h      *handle                // nil when construction failed
	failed error                  // of construction
	late   atomic.Pointer[Error]  // of the last execution
	cached atomic.Pointer[header] // once no dim can change any more
	input  string                 // the name of a placeholder
	open   bool                   // depends on a placeholder: cannot be executed
	param  bool                   // depends on a parameter of a block's body: likewise
	temp   bool                   // made for one call, closed after it
	op     opID                   // what made it; 0 for data
	site   string                 // where, when NEF_TRACE_SITES=1
}

// header is what is known without the elements.
type header struct {
	dtype DType
	shape []int
}

func newValue(ptr uintptr, bytes int64) *Value {
	// In one piece: runs make many of them.
	v := &struct {
		Value
		handle
	}{}
	v.h = &v.handle
	v.own(object{ptr, kindTensor, bytes})
	return &v.Value
}

// unbound reports whether the value cannot be executed, whatever is tried.
func (v *Value) unbound() bool { return v.open || v.param }

func errorValue(err error) *Value { return &Value{failed: err} }

// Err is the error of the value: that of the call that made it, or the one it was passed on, or
// that of the last attempt to compute it.
func (v *Value) Err() error {
	if v == nil {
		return newError(CodeInvalidArgument, "value", "a nil *nef.Value")
	}
	if v.failed != nil {
		return v.failed
	}
	return asError(v.late.Load())
}

// begin starts a call that uses v's tensor, which end ends.
func (v *Value) begin(op string) error {
	if v == nil || v.failed != nil {
		return v.Err()
	}
	if !v.h.acquire() {
		return newError(CodeInvalidArgument, op, "the value is closed")
	}
	return nil
}

func (v *Value) end() { v.h.release() }

func (v *Value) ptr() C.uintptr_t { return C.uintptr_t(v.h.ptr) }

// Close gives back the memory of the value without waiting for Go's collector. Values computed
// from it stay valid. It may be called at any time and more than once; calls that are under way
// finish first.
func (v *Value) Close() {
	if v != nil && v.h != nil {
		v.h.close()
	}
}

// Execute computes the value if that has not been done. The graph behind it is optimised, planned
// and compiled, or found in the cache of programs, and run.
func (v *Value) Execute() error { return Execute(v) }

// Execute computes several values in one program, so that they share what they have in common.
func Execute(values ...*Value) error {
	ptrs := make([]C.uintptr_t, 0, 8)
	for i, v := range values {
		if err := v.begin("execute"); err != nil {
			endAll(values[:i])
			return err
		}
		ptrs = append(ptrs, v.ptr())
	}
	defer endAll(values)
	if len(values) == 0 {
		return nil
	}
	err := fromStatus(C.nefgo_execute(&ptrs[0], C.size_t(len(ptrs))))
	for _, v := range values {
		if !v.unbound() {
			v.late.Store(err)
		}
	}
	return asError(err)
}

func endAll(values []*Value) {
	for _, v := range values {
		v.end()
	}
}

// head returns dtype and shape; the zero header for values with an error.
func (v *Value) head() header {
	if v == nil {
		return header{}
	}
	if h := v.cached.Load(); h != nil {
		return *h
	}
	if v.begin("shape") != nil {
		return header{}
	}
	defer v.end()
	var meta C.nefgo_meta
	C.nefgo_tensor_meta(v.ptr(), &meta)
	h := &header{DType(meta.dtype), make([]int, meta.rank)}
	fixed := true
	for i := range h.shape {
		h.shape[i] = int(meta.shape[i])
		fixed = fixed && h.shape[i] >= 0
	}
	if fixed || v.unbound() {
		v.cached.Store(h)
	}
	return *h
}

// Shape is the size of each dim, -1 for dims that are not known: those that depend on a symbolic
// dim of a placeholder or, before execution, on data. It is nil for a value with an error.
func (v *Value) Shape() []int {
	h := v.head()
	if h.shape == nil {
		return nil
	}
	return append(make([]int, 0, len(h.shape)), h.shape...)
}

// Dims is the size of each dim as text: "384", "batch", "2*sequence".
func (v *Value) Dims() []string {
	h := v.head()
	if h.shape == nil || v.begin("dims") != nil {
		return nil
	}
	defer v.end()
	dims := make([]string, len(h.shape))
	for i, n := range h.shape {
		if n >= 0 {
			dims[i] = strconv.Itoa(n)
		} else if text := C.nefgo_tensor_dim(v.ptr(), C.size_t(i)); text != nil {
			dims[i] = takeString(text)
		} else {
			dims[i] = "?"
		}
	}
	return dims
}

// DType is the type of the elements; 0 for a value with an error.
func (v *Value) DType() DType { return v.head().dtype }

// Rank is the number of dims.
func (v *Value) Rank() int { return len(v.head().shape) }

// view executes the value if need be and calls f with its elements, which are valid during the
// call.
func (v *Value) view(op string, f func(h header, data []byte)) error {
	if err := v.begin(op); err != nil {
		return err
	}
	defer v.end()
	var data unsafe.Pointer
	var size C.size_t
	err := fromStatus(C.nefgo_tensor_data(v.ptr(), &data, &size))
	if !v.unbound() {
		v.late.Store(err)
	}
	if err != nil {
		return err
	}
	h := v.head()
	if !h.fits(int(size)) {
		return newError(CodeInternal, op, "shape %v of %v does not fit %d bytes", h.shape, h.dtype, int(size))
	}
	f(h, unsafe.Slice((*byte)(data), int(size)))
	return nil
}

// fits reports whether the header describes so many bytes.
func (h header) fits(bytes int) bool {
	elements := bytes / max(1, h.dtype.Size())
	return elements*h.dtype.Size() == bytes && checkShape("", h.shape, elements) == nil
}

// Bytes executes the value if need be and returns a copy of its elements, row-major, in the
// machine's byte order.
func (v *Value) Bytes() ([]byte, error) {
	var out []byte
	err := v.view("bytes", func(_ header, data []byte) { out = append([]byte{}, data...) })
	return out, err
}

// Data executes v if need be and returns a copy of its elements, row-major. T must be the Go type
// of v's dtype.
func Data[T Element](v *Value) ([]T, error) {
	if err := v.begin("data"); err != nil {
		return nil, err
	}
	defer v.end()
	if have, want := v.DType(), DTypeOf[T](); have != 0 && have != want {
		return nil, newError(CodeDTypeMismatch, "data", "the value is %v, elements of type %v need %v; nef.Cast converts",
			have, reflect.TypeFor[T](), want)
	}
	var out []T
	err := v.view("data", func(_ header, data []byte) { out = copyElements[T](data) })
	return out, err
}

func copyElements[T Element](data []byte) []T {
	var zero T
	out := make([]T, len(data)/int(unsafe.Sizeof(zero)))
	if len(out) > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&out[0])), len(data)), data)
	}
	return out
}

// Numpy executes the value if need be and returns its elements as one nested slice, such as
// [][]float32 for a matrix; a scalar is a plain float32. It is nil when the value has an error,
// which [Value.Err] tells. The elements are a copy, and the innermost slices lie in one array.
func (v *Value) Numpy() any {
	var out any
	err := v.view("numpy", func(h header, data []byte) { out = nest(h, data) })
	if err != nil {
		return nil
	}
	return out
}

// nest copies data into nested slices.
func nest(h header, data []byte) any {
	element := goTypes[h.dtype]
	count := len(data) / h.dtype.Size()
	flat := reflect.MakeSlice(reflect.SliceOf(element), count, count)
	if count > 0 {
		copy(unsafe.Slice((*byte)(flat.UnsafePointer()), len(data)), data)
	}
	if len(h.shape) == 0 {
		return flat.Index(0).Interface()
	}
	// From the inside out: each round groups what there is by one dim.
	level := flat
	for axis := len(h.shape) - 1; axis > 0; axis-- {
		level = group(level, groupCount(h.shape[:axis], count), h.shape[axis])
	}
	return level.Interface()
}

// maxEmptyGroups is how many slices without elements are made: a value of shape [1<<40 0] is legal,
// and as a nested slice it is one of length 0.
const maxEmptyGroups = 1 << 20

// groupCount is the product of outer dims.
func groupCount(outer []int, elements int) int {
	count := 1
	for _, d := range outer {
		if elements == 0 && d != 0 && count > maxEmptyGroups/d {
			return 0
		}
		count *= d
	}
	return count
}

// group is a slice of count slices of n elements of level each.
func group(level reflect.Value, count, n int) reflect.Value {
	out := reflect.MakeSlice(reflect.SliceOf(level.Type()), count, count)
	for i := range count {
		out.Index(i).Set(level.Slice3(i*n, (i+1)*n, (i+1)*n))
	}
	return out
}
