// SPDX-License-Identifier: Apache-2.0

package nef

// #include "cgo.h"
import "C"

import (
	"reflect"
	"unsafe"
)

// DType is the type of a tensor's elements.
type DType int32

// The dtypes. Their Go element types are those of [Element].
const (
	Bool     DType = C.NEF_BOOL
	Int8     DType = C.NEF_INT8
	Uint8    DType = C.NEF_UINT8
	Int16    DType = C.NEF_INT16
	Uint16   DType = C.NEF_UINT16
	Int32    DType = C.NEF_INT32
	Uint32   DType = C.NEF_UINT32
	Int64    DType = C.NEF_INT64
	Uint64   DType = C.NEF_UINT64
	Float16  DType = C.NEF_FLOAT16  // IEEE 754 binary16, see Half
	BFloat16 DType = C.NEF_BFLOAT16 // the upper half of a float32, see BF16
	Float32  DType = C.NEF_FLOAT32
	Float64  DType = C.NEF_FLOAT64

	// The 8-bit floats are stored, moved and converted: Cast, QuantizeLinear, DequantizeLinear.
	Float8E4M3FN DType = C.NEF_FLOAT8_E4M3FN // no infinity, 448 at most, see E4M3
	Float8E5M2   DType = C.NEF_FLOAT8_E5M2   // 57344 at most, see E5M2
)

// String is the dtype's name in .nef files: "float32"; "invalid" for numbers that are no dtype.
func (t DType) String() string { return C.GoString(C.nef_dtype_name(C.nef_dtype(t))) }

// Size is the number of bytes of an element; 0 for numbers that are no dtype.
func (t DType) Size() int { return int(C.nef_dtype_size(C.nef_dtype(t))) }

// ParseDType is the dtype of that name; false when there is none.
func ParseDType(name string) (DType, bool) {
	text, err := cText("dtype", name)
	if err != nil {
		return 0, false
	}
	t := DType(C.nef_dtype_from_name(text))
	return t, t != 0
}

// Element is a Go type of tensor elements. int and uint are Int64 and Uint64 on 64-bit machines;
// Float16 and BFloat16 are [Half] and [BF16], Float8E4M3FN and Float8E5M2 are [E4M3] and [E5M2].
type Element interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~int |
		~uint8 | uint16 | Half | BF16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64
}

// DTypeOf is the dtype of a Go element type.
func DTypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return Float32
	case int64:
		return Int64
	case Half:
		return Float16
	case BF16:
		return BFloat16
	case E4M3:
		return Float8E4M3FN
	case E5M2:
		return Float8E5M2
	}
	switch kind := reflect.TypeFor[T]().Kind(); kind {
	case reflect.Int:
		return intOfSize(unsafe.Sizeof(zero), Int32, Int64)
	case reflect.Uint:
		return intOfSize(unsafe.Sizeof(zero), Uint32, Uint64)
	default:
		return kindDTypes[kind]
	}
}

func intOfSize(size uintptr, of4, of8 DType) DType {
	if size == 4 {
		return of4
	}
	return of8
}

var kindDTypes = map[reflect.Kind]DType{
	reflect.Bool: Bool, reflect.Int8: Int8, reflect.Int16: Int16, reflect.Int32: Int32,
	reflect.Int64: Int64, reflect.Uint8: Uint8, reflect.Uint16: Uint16, reflect.Uint32: Uint32,
	reflect.Uint64: Uint64, reflect.Float32: Float32, reflect.Float64: Float64,
}

// goTypes are the element types in which values are handed out and printed.
var goTypes = map[DType]reflect.Type{
	Bool: reflect.TypeFor[bool](), Int8: reflect.TypeFor[int8](), Uint8: reflect.TypeFor[uint8](),
	Int16: reflect.TypeFor[int16](), Uint16: reflect.TypeFor[uint16](),
	Int32: reflect.TypeFor[int32](), Uint32: reflect.TypeFor[uint32](),
	Int64: reflect.TypeFor[int64](), Uint64: reflect.TypeFor[uint64](),
	Float16: reflect.TypeFor[Half](), BFloat16: reflect.TypeFor[BF16](),
	Float32: reflect.TypeFor[float32](), Float64: reflect.TypeFor[float64](),
	Float8E4M3FN: reflect.TypeFor[E4M3](), Float8E5M2: reflect.TypeFor[E5M2](),
}
