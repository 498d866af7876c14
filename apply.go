// SPDX-License-Identifier: Apache-2.0

package nef

// #cgo noescape nefgo_op_call
// #cgo nocallback nefgo_op_call
// #include "cgo.h"
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// attr is one attribute of an op call; kind tells which field holds the value.
type attr struct {
	slot   int
	kind   uint8
	i      int64
	f      float64
	s      string
	ints   []int64
	floats []float64
}

// maxOutputs bounds what is set aside for the outputs of one call before the library checks it.
const maxOutputs = 1 << 16

// apply makes the node of an op and returns its outputs: nOut of them, or one if nOut is no
// possible number, all with the error if there is one.
func apply(op opID, inputs []*Value, attrs []attr, nOut int) []*Value {
	site := callSite()
	outs, err := call(op, inputs, attrs, nOut)
	if err != nil {
		err = explain(err, op, inputs, site)
		outs = make([]*Value, max(1, min(nOut, maxOutputs)))
		for i := range outs {
			outs[i] = errorValue(err)
		}
	}
	open, param := false, false
	for _, in := range inputs {
		open = open || in != nil && in.open
		param = param || in != nil && in.param
		if in != nil && in.temp {
			in.Close()
		}
	}
	for _, out := range outs {
		out.op, out.site, out.open, out.param = op, site, open, param
	}
	return outs
}

// call is the error of an input, or what the library says.
func call(op opID, inputs []*Value, attrs []attr, nOut int) ([]*Value, error) {
	if skew != nil {
		return nil, skew
	}
	if nOut < 1 || nOut > maxOutputs {
		return nil, newError(CodeInvalidArgument, opNames[op], "%d outputs asked for, want 1 to %d", nOut, maxOutputs)
	}
	ptrs := make([]C.uintptr_t, 1, 8) // never empty, so that there is an address
	ptrs = ptrs[:0]
	for i, in := range inputs {
		if in == nil {
			ptrs = append(ptrs, 0)
			continue
		}
		if err := in.beginInput(opNames[op], i); err != nil {
			endInputs(inputs[:i])
			return nil, err
		}
		ptrs = append(ptrs, in.ptr())
	}
	defer endInputs(inputs)
	var args attrArgs
	if err := args.add(op, attrs); err != nil {
		return nil, err
	}
	results := make([]C.uintptr_t, nOut)
	st := C.nefgo_op_call(cNames().op(op), unsafe.SliceData(ptrs), C.size_t(len(ptrs)),
		unsafe.SliceData(args.list), C.size_t(len(args.list)), unsafe.SliceData(args.ints),
		unsafe.SliceData(args.floats), (*C.char)(unsafe.Pointer(unsafe.SliceData(args.text))),
		&results[0], C.size_t(nOut))
	if err := fromStatus(st); err != nil {
		return nil, err
	}
	outs := make([]*Value, nOut)
	for i, ptr := range results {
		outs[i] = newValue(uintptr(ptr), 0)
	}
	return outs, nil
}

// beginInput is begin, but what an input could not be computed from counts too.
func (v *Value) beginInput(op string, index int) error {
	if err := v.Err(); err != nil {
		return err
	}
	if !v.h.acquire() {
		return newError(CodeInvalidArgument, op, "input %d is closed", index)
	}
	return nil
}

func endInputs(inputs []*Value) {
	for _, in := range inputs {
		if in != nil {
			in.end()
		}
	}
}

// attrArgs are attributes as nefgo_op_call takes them.
type attrArgs struct {
	list   []C.nefgo_attr
	ints   []C.int64_t
	floats []C.double
	text   []byte
	names  []*C.char // owned, of Call
}

func (a *attrArgs) add(op opID, attrs []attr) *Error {
	if len(attrs) > C.NEFGO_MAX_ATTRS {
		return newError(CodeInternal, opNames[op], "%d attributes", len(attrs))
	}
	for _, in := range attrs {
		out := C.nefgo_attr{name: cNames().attr(op, in.slot), _type: C.int32_t(in.kind), i: C.int64_t(in.i), f: C.double(in.f)}
		switch in.kind {
		case attrString:
			if _, err := cText(opNames[op], in.s); err != nil {
				return err
			}
			out.at = C.size_t(len(a.text))
			a.text = append(append(a.text, in.s...), 0)
		case attrInts:
			out.at, out.count = C.size_t(len(a.ints)), C.size_t(len(in.ints))
			for _, x := range in.ints {
				a.ints = append(a.ints, C.int64_t(x))
			}
		case attrFloats:
			out.at, out.count = C.size_t(len(a.floats)), C.size_t(len(in.floats))
			for _, x := range in.floats {
				a.floats = append(a.floats, C.double(x))
			}
		}
		a.list = append(a.list, out)
	}
	return nil
}

// nameTable holds the names of ops and attributes as C texts, made once and kept.
type nameTable struct {
	ops   []*C.char
	attrs [][]C.uintptr_t
}

func (t *nameTable) op(id opID) *C.char { return t.ops[id] }

func (t *nameTable) attr(id opID, slot int) C.uintptr_t { return t.attrs[id][slot] }

var cNames = sync.OnceValue(func() *nameTable {
	t := &nameTable{make([]*C.char, len(opNames)), make([][]C.uintptr_t, len(opNames))}
	for id, name := range opNames {
		t.ops[id] = C.CString(name)
	}
	for id, names := range attrNames {
		for _, name := range names {
			t.attrs[id] = append(t.attrs[id], C.uintptr_t(uintptr(unsafe.Pointer(C.CString(name)))))
		}
	}
	return t
})

// hostInts is a list of integers for an op that reads it while the graph is built; nil is an
// absent one.
func hostInts(v []int) *Value {
	if v == nil {
		return nil
	}
	data := make([]int64, len(v))
	for i, x := range v {
		data[i] = int64(x)
	}
	t := Tensor(data, []int{len(data)})
	t.temp = true
	return t
}

// ---- where an error comes from

var traceSites = os.Getenv("NEF_TRACE_SITES") == "1"

// explain adds to an error of the library which ops the inputs come from. An error that an input
// brought along has been explained where it arose.
func explain(err error, op opID, inputs []*Value, site string) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	for _, in := range inputs {
		if in != nil && in.Err() != nil {
			return err
		}
	}
	msg := e.Msg
	for i, in := range inputs {
		if in == nil || in.op == 0 || i >= len(inputNames[op]) {
			continue
		}
		msg += fmt.Sprintf("; %s is output of %q%s", inputNames[op][i], opNames[in.op], in.site)
	}
	if site != "" {
		msg += fmt.Sprintf("; %s was called%s", opNames[op], site)
	}
	return &Error{Code: e.Code, Op: e.Op, Msg: msg, cause: e.cause}
}

// callSite is " at file.go:41", the caller's first line outside of this package.
func callSite() string {
	if !traceSites {
		return ""
	}
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "github.com/Hexa08/NEF.") {
			return fmt.Sprintf(" at %s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return ""
		}
	}
}
