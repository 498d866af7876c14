// SPDX-License-Identifier: Apache-2.0

package nef

// #cgo noescape nefgo_body_parameter
// #cgo nocallback nefgo_body_parameter
// #cgo noescape nefgo_if
// #cgo nocallback nefgo_if
// #cgo noescape nefgo_loop
// #cgo nocallback nefgo_loop
// #cgo noescape nefgo_scan
// #cgo nocallback nefgo_scan
// #include "cgo.h"
import "C"

import "unsafe"

// If is the values of one of two branches, by a condition of one element. Both functions are called
// once, right away, and make the values of their branch; only the branch that the condition chooses
// is computed. Values from outside may be used in a branch as they are. Both branches return as
// many values, of the same dtypes and ranks; sizes may differ. If the condition is known already,
// the result is that branch's values.
func If(cond *Value, then, otherwise func() []*Value) []*Value {
	c := control{op: opIf}
	defer c.done()
	c.begin()
	thenMark, thenValues := c.mark, then()
	c.begin()
	elseMark, elseValues := c.mark, otherwise()
	outs := len(thenValues)
	condition := c.input(cond)
	results := c.list(append(append(make([]*Value, 0, outs+len(elseValues)), thenValues...), elseValues...))
	return c.make(outs, func(out *C.uintptr_t) *C.nef_status {
		return C.nefgo_if(condition, thenMark, elseMark, unsafe.SliceData(results), C.size_t(outs), C.size_t(len(elseValues)), out)
	}, []*Value{cond})
}

// LoopBody makes one iteration of a [Loop]: from its number (int64) and condition (bool), both
// scalars, and the carried values it makes the next condition, the next carried values, and values
// to be stacked. A nil condition means to go on.
type LoopBody func(iteration, cond *Value, carried []*Value) (next *Value, values, stacked []*Value)

// Loop runs body while the condition holds, at most trips times (an int64 of one element); nil
// means no such limit. It returns the last carried values, and those that every iteration gave to
// be stacked, along a new first axis. The function is called once, right away. Carried values keep
// dtype and rank; their sizes may change from one iteration to the next, and are then not known in
// the body. Values from outside may be used in it as they are.
func Loop(trips, cond *Value, initial []*Value, body LoopBody) (values, stacked []*Value) {
	c := control{op: opLoop}
	defer c.done()
	c.begin()
	params := make([]*Value, 0, 2+len(initial))
	params = append(params, c.parameter(nil, Int64, -1), c.parameter(nil, Bool, -1))
	for _, v := range initial {
		params = append(params, c.parameter(v, 0, -1))
	}
	next, carried, parts := body(params[0], params[1], params[2:])
	if next == nil {
		next = params[1]
	}
	results := append(append([]*Value{next}, carried...), parts...)
	c.count("body returns", len(carried), len(initial), "carried values")
	outs := len(carried) + len(parts)
	t, k := c.optional(trips), c.optional(cond)
	first, all := c.list(initial), c.list(append(append([]*Value{}, params...), results...))
	made := c.make(outs, func(out *C.uintptr_t) *C.nef_status {
		return C.nefgo_loop(t, k, unsafe.SliceData(first), C.size_t(len(initial)), c.mark,
			unsafe.SliceData(all), C.size_t(len(params)), C.size_t(len(results)), out)
	}, append([]*Value{trips, cond}, initial...))
	return made[:min(len(carried), len(made))], made[min(len(carried), len(made)):]
}

// ScanOptions are the options of [Scan]: for each input, or each stacked value, its axis and
// whether it is walked from the end. What a list leaves out is axis 0, from the start.
type ScanOptions struct {
	InputAxes       []int
	InputBackwards  []bool
	OutputAxes      []int
	OutputBackwards []bool
}

// Scan runs body for each slice of the inputs, all of which are as long along their axes. The body
// makes the next carried values, and values to be stacked, from the carried ones and a slice of
// each input, which lacks that axis. It returns the last carried values and the stacks. The
// function is called once, right away. At most one options struct is meant; the last one counts.
func Scan(initial, inputs []*Value, body func(carried, slices []*Value) (values, stacked []*Value), opts ...ScanOptions) (values, stacked []*Value) {
	o := lastOption(opts)
	c := control{op: opScan}
	defer c.done()
	c.begin()
	var params []*Value
	for _, v := range initial {
		params = append(params, c.parameter(v, 0, -1))
	}
	for i, v := range inputs {
		axis := at(o.InputAxes, i)
		if axis < 0 && v.Err() == nil {
			axis += v.Rank()
		}
		if axis < 0 || v.Err() == nil && axis >= v.Rank() {
			c.fail(newError(CodeInvalidArgument, "scan", "axis %d of input %d, which has %d dims", at(o.InputAxes, i), i, v.Rank()))
			axis = -1
		}
		params = append(params, c.parameter(v, 0, axis))
	}
	carried, parts := body(params[:len(initial)], params[len(initial):])
	c.count("body returns", len(carried), len(initial), "carried values")
	results := append(append([]*Value{}, carried...), parts...)
	var axes []C.int64_t
	add := func(n int, list []int, backwards []bool) {
		for i := range n {
			axes = append(axes, C.int64_t(at(list, i)))
		}
		for i := range n {
			axes = append(axes, C.int64_t(cBool(at(backwards, i))))
		}
	}
	add(len(inputs), o.InputAxes, o.InputBackwards)
	add(len(parts), o.OutputAxes, o.OutputBackwards)
	axes = append(axes, 0) // never empty, so that there is an address
	given := append(append([]*Value{}, initial...), inputs...)
	first, all := c.list(given), c.list(append(append([]*Value{}, params...), results...))
	made := c.make(len(results), func(out *C.uintptr_t) *C.nef_status {
		return C.nefgo_scan(unsafe.SliceData(first), C.size_t(len(initial)), C.size_t(len(inputs)), &axes[0],
			C.size_t(len(parts)), c.mark, unsafe.SliceData(all), C.size_t(len(params)), C.size_t(len(results)), out)
	}, given)
	return made[:min(len(carried), len(made))], made[min(len(carried), len(made)):]
}

// at is list[i], or the zero value behind its end.
func at[T any](list []T, i int) T {
	var zero T
	if i < len(list) {
		return list[i]
	}
	return zero
}

// control is a node with blocks that is being made: it keeps the first error, and the inputs alive.
type control struct {
	op   opID
	mark C.uint32_t
	err  error
	held []*Value // begun; ended by done
}

func (c *control) begin() {
	if skew != nil {
		c.fail(skew)
		return
	}
	c.mark = C.nefgo_body_begin()
}

func (c *control) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// count notes a wrong number of values.
func (c *control) count(what string, have, want int, of string) {
	if have != want {
		c.fail(newError(CodeInvalidArgument, opNames[c.op], "the %s %d %s, there are %d", what, have, of, want))
	}
}

// input is a value's tensor, which stays alive until done; 0 if the value has an error.
func (c *control) input(v *Value) C.uintptr_t {
	if v == nil {
		c.fail(newError(CodeInvalidArgument, opNames[c.op], "a value is nil"))
		return 0
	}
	if err := v.Err(); err != nil {
		c.fail(err)
		return 0
	}
	if err := v.begin(opNames[c.op]); err != nil {
		c.fail(err)
		return 0
	}
	c.held = append(c.held, v)
	return v.ptr()
}

func (c *control) optional(v *Value) C.uintptr_t {
	if v == nil {
		return 0
	}
	return c.input(v)
}

// list is never empty, so that there is an address.
func (c *control) list(values []*Value) []C.uintptr_t {
	out := make([]C.uintptr_t, 0, len(values)+1)
	for _, v := range values {
		out = append(out, c.input(v))
	}
	return append(out, 0)[:len(values)]
}

// parameter is a value of the body that is like v, or a scalar of the dtype.
func (c *control) parameter(v *Value, dtype DType, axis int) *Value {
	var like C.uintptr_t
	if dtype == 0 {
		like = c.input(v)
	}
	if c.err != nil {
		return errorValue(c.err)
	}
	var out C.uintptr_t
	if err := fromStatus(C.nefgo_body_parameter(like, C.int64_t(axis), C.nef_dtype(dtype), &out)); err != nil {
		c.fail(err)
		return errorValue(err)
	}
	p := newValue(uintptr(out), 0)
	p.param = true
	return p
}

// make calls the library unless there is an error, and returns n values: all with the error if
// there is one, and at least one then.
func (c *control) make(n int, call func(out *C.uintptr_t) *C.nef_status, inputs []*Value) []*Value {
	if n == 0 {
		c.fail(newError(CodeInvalidArgument, opNames[c.op], "the body gives no values"))
	}
	ptrs := make([]C.uintptr_t, n+1)
	if c.err == nil {
		if err := fromStatus(call(&ptrs[0])); err != nil {
			c.fail(err)
		}
	}
	outs := make([]*Value, max(n, 1))
	for i := range outs {
		if c.err != nil {
			outs[i] = errorValue(c.err)
			continue
		}
		outs[i] = newValue(uintptr(ptrs[i]), 0)
	}
	site, open, param := callSite(), false, false
	for _, v := range c.held {
		open = open || v.open
	}
	for _, v := range inputs {
		param = param || v != nil && v.param
	}
	for _, out := range outs {
		out.op, out.site, out.open, out.param = c.op, site, open, param
	}
	return outs
}

func (c *control) done() {
	endInputs(c.held)
}
