// SPDX-License-Identifier: Apache-2.0

package nef

// #include "cgo.h"
import "C"

import (
	"fmt"
	"maps"
	"slices"
	"unsafe"
)

// Attrs are attributes of an op by name, for [Call]. A value is an int, int64, float64, float32,
// string, bool, [DType], []int, []int64, []float64 or []float32.
type Attrs map[string]any

// Call makes the node of any op by its name, in snake case or ONNX's spelling, and returns that
// many of its outputs. It is for importers and whoever does not know the op when compiling; the
// functions of this package, such as [MatMul], are the same thing spelt out.
//
// A nil input is an absent optional one. What those functions take as []int, such as axes and
// shapes, are int64 values here, which may depend on placeholders. The attributes are those of the
// op's table in docs/ops.md. Errors are those of the values returned.
func Call(op string, inputs []*Value, attrs Attrs, outputs int) []*Value {
	outs, err := callNamed(op, inputs, attrs, outputs)
	if err != nil {
		outs = make([]*Value, max(1, min(outputs, maxOutputs)))
		for i := range outs {
			outs[i] = errorValue(err)
		}
		return outs
	}
	open := slices.ContainsFunc(inputs, func(in *Value) bool { return in != nil && in.open })
	param := slices.ContainsFunc(inputs, func(in *Value) bool { return in != nil && in.param })
	for _, out := range outs {
		out.open, out.param = open, param
	}
	return outs
}

func callNamed(op string, inputs []*Value, attrs Attrs, outputs int) ([]*Value, error) {
	if skew != nil {
		return nil, skew
	}
	if outputs < 1 || outputs > maxOutputs {
		return nil, newError(CodeInvalidArgument, op, "%d outputs asked for, want 1 to %d", outputs, maxOutputs)
	}
	if len(attrs) > C.NEFGO_MAX_ATTRS {
		return nil, newError(CodeInvalidArgument, op, "%d attributes, more than any op has", len(attrs))
	}
	text, bad := cText("call", op)
	if bad != nil {
		return nil, bad
	}
	var args attrArgs
	defer args.freeNames()
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		if err := args.addNamed(op, name, attrs[name]); err != nil {
			return nil, err
		}
	}
	ptrs := make([]C.uintptr_t, len(inputs), len(inputs)+1) // never empty, so that there is an address
	for i, in := range inputs {
		if in == nil {
			continue
		}
		if err := in.beginInput(op, i); err != nil {
			endInputs(inputs[:i])
			return nil, err
		}
		ptrs[i] = in.ptr()
	}
	defer endInputs(inputs)
	results := make([]C.uintptr_t, outputs)
	st := C.nefgo_op_call(text, unsafe.SliceData(ptrs), C.size_t(len(ptrs)),
		unsafe.SliceData(args.list), C.size_t(len(args.list)), unsafe.SliceData(args.ints),
		unsafe.SliceData(args.floats), (*C.char)(unsafe.Pointer(unsafe.SliceData(args.text))),
		&results[0], C.size_t(outputs))
	if err := fromStatus(st); err != nil {
		return nil, err
	}
	outs := make([]*Value, outputs)
	for i, ptr := range results {
		outs[i] = newValue(uintptr(ptr), 0)
	}
	return outs, nil
}

// addNamed adds an attribute whose name is not one of cNames; freeNames gives the names back.
func (a *attrArgs) addNamed(op, name string, value any) *Error {
	if _, err := cText(op, name); err != nil {
		return err
	}
	out := C.nefgo_attr{}
	switch v := value.(type) {
	case int:
		out._type, out.i = C.int32_t(attrInt), C.int64_t(v)
	case int64:
		out._type, out.i = C.int32_t(attrInt), C.int64_t(v)
	case bool:
		out._type, out.i = C.int32_t(attrInt), C.int64_t(cBool(v))
	case DType:
		out._type, out.i = C.int32_t(attrInt), C.int64_t(v)
	case float64:
		out._type, out.f = C.int32_t(attrFloat), C.double(v)
	case float32:
		out._type, out.f = C.int32_t(attrFloat), C.double(v)
	case string:
		if _, err := cText(op, v); err != nil {
			return err
		}
		out._type, out.at = C.int32_t(attrString), C.size_t(len(a.text))
		a.text = append(append(a.text, v...), 0)
	case []int:
		out._type, out.at, out.count = C.int32_t(attrInts), C.size_t(len(a.ints)), C.size_t(len(v))
		for _, x := range v {
			a.ints = append(a.ints, C.int64_t(x))
		}
	case []int64:
		out._type, out.at, out.count = C.int32_t(attrInts), C.size_t(len(a.ints)), C.size_t(len(v))
		for _, x := range v {
			a.ints = append(a.ints, C.int64_t(x))
		}
	case []float64:
		out._type, out.at, out.count = C.int32_t(attrFloats), C.size_t(len(a.floats)), C.size_t(len(v))
		for _, x := range v {
			a.floats = append(a.floats, C.double(x))
		}
	case []float32:
		out._type, out.at, out.count = C.int32_t(attrFloats), C.size_t(len(a.floats)), C.size_t(len(v))
		for _, x := range v {
			a.floats = append(a.floats, C.double(x))
		}
	default:
		return newError(CodeInvalidArgument, op, "attribute %q is a %s, which no attribute can be", name, fmt.Sprintf("%T", value))
	}
	c := C.CString(name)
	a.names = append(a.names, c)
	out.name = C.uintptr_t(uintptr(unsafe.Pointer(c)))
	a.list = append(a.list, out)
	return nil
}

func (a *attrArgs) freeNames() {
	for _, name := range a.names {
		C.free(unsafe.Pointer(name))
	}
}

// Open reports whether the value depends on a placeholder or on a parameter of a body, so that it
// has no elements before a graph runs. Values that do not can be executed.
func (v *Value) Open() bool { return v != nil && (v.open || v.param) }

// KnownInts are the elements of an Int64 or Int32 scalar or vector that follow from the shapes and
// constants it was made of, whatever the placeholders behind it hold; false where they are not all
// known. Nothing is executed.
func (v *Value) KnownInts() ([]int64, bool) {
	if v.begin("known ints") != nil {
		return nil, false
	}
	defer v.end()
	count := C.nefgo_tensor_known_ints(v.ptr(), nil, 0)
	if count < 0 {
		return nil, false
	}
	list := make([]C.int64_t, count+1)
	C.nefgo_tensor_known_ints(v.ptr(), &list[0], C.size_t(count))
	out := make([]int64, count)
	for i := range out {
		out[i] = int64(list[i])
	}
	return out, true
}
