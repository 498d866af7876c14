// SPDX-License-Identifier: Apache-2.0

package nef

// #cgo noescape nefgo_program_run
// #cgo nocallback nefgo_program_run
// #cgo noescape nefgo_run_prepare
// #cgo nocallback nefgo_run_prepare
// #cgo noescape nefgo_run_outputs
// #cgo nocallback nefgo_run_outputs
// #include "cgo.h"
import "C"

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Values are inputs or outputs of a program by name.
type Values map[string]*Value

// Close closes all values.
func (vs Values) Close() {
	for _, v := range vs {
		v.Close()
	}
}

// Program is a graph optimised, planned and compiled for the devices at hand. It never changes
// and may be run by many goroutines at once; every run has outputs of its own.
type Program struct {
	h       *handle
	inputs  []TensorInfo
	outputs []TensorInfo
}

// Compile optimises, plans and compiles the graph. One program serves all sizes of the symbolic
// dims within their bounds. At most one options struct is meant; the last one counts.
func (g *Graph) Compile(opts ...Options) (*Program, error) {
	return g.compile(0, opts)
}

// CompileContext is [Graph.Compile] that stops soon after ctx is done. The error matches both
// [ErrCancelled] and that of the context.
func (g *Graph) CompileContext(ctx context.Context, opts ...Options) (*Program, error) {
	if ctx == nil || ctx.Done() == nil {
		return g.compile(0, opts)
	}
	if ctx.Err() != nil {
		return nil, cancelled(ctx, "compile", "the context was done before the compile began")
	}
	var cancel C.uintptr_t
	if err := fromStatus(C.nefgo_cancel_create(&cancel)); err != nil {
		return nil, err
	}
	defer C.nefgo_cancel_release(cancel)
	var w watch
	w.begin(ctx, func() { C.nefgo_cancel_request(cancel) })
	defer w.end() // before the release
	p, err := g.compile(cancel, opts)
	if e := (*Error)(nil); errors.As(err, &e) && e.Code == CodeCancelled {
		return nil, cancelled(ctx, "compile", e.Msg)
	}
	return p, err
}

func (g *Graph) compile(cancel C.uintptr_t, opts []Options) (*Program, error) {
	if err := g.begin("compile"); err != nil {
		return nil, err
	}
	defer g.h.release()
	args, err := lastOption(opts).args()
	if err != nil {
		return nil, err
	}
	var program C.uintptr_t
	st := C.nefgo_graph_compile(C.uintptr_t(g.h.ptr), &args.given, args.device, args.passes, args.batch, cancel, &program)
	if err := fromStatus(st); err != nil {
		return nil, err
	}
	return &Program{newHandle(kindProgram, uintptr(program), 0), g.inputs, g.outputs}, nil
}

// Close gives back the memory of the program without waiting for Go's collector. It may be called
// at any time and more than once; runs that are under way finish first.
func (p *Program) Close() {
	if p != nil {
		p.h.close()
	}
}

// Inputs are the inputs of the program's graph, in its order.
func (p *Program) Inputs() []TensorInfo { return slices.Clone(p.inputs) }

// Outputs are the outputs of the program's graph, in its order.
func (p *Program) Outputs() []TensorInfo { return slices.Clone(p.outputs) }

func (p *Program) begin(op string) error {
	if p == nil {
		return newError(CodeInvalidArgument, op, "a nil *nef.Program")
	}
	if !p.h.acquire() {
		return newError(CodeInvalidArgument, op, "the program is closed")
	}
	return nil
}

// Run runs the program on this goroutine and the library's threads. All inputs must be given;
// lazy ones are executed first. When ctx is cancelled the run stops before its next step, and the
// error matches both [ErrCancelled] and that of the context.
func (p *Program) Run(ctx context.Context, inputs Values) (Values, error) {
	if ctx != nil && ctx.Done() != nil {
		return p.runCancellable(ctx, inputs)
	}
	if err := p.begin("run"); err != nil {
		return nil, err
	}
	defer p.h.release()
	ins, outs := make([]C.uintptr_t, 0, 8), make([]C.uintptr_t, 1, 8)
	ins, err := p.acquireInputs(ins, inputs)
	if err != nil {
		return nil, err
	}
	defer p.releaseInputs(inputs, len(p.inputs))
	if n := len(p.outputs); n > cap(outs) {
		outs = make([]C.uintptr_t, n)
	} else {
		outs = outs[:max(n, 1)]
	}
	var bytes C.int64_t
	st := C.nefgo_program_run(C.uintptr_t(p.h.ptr), &ins[:1][0], C.size_t(len(p.inputs)), &outs[0], C.size_t(len(p.outputs)), &bytes)
	if err := fromStatus(st); err != nil {
		return nil, err
	}
	return p.named(outs, int64(bytes)), nil
}

// acquireInputs appends the inputs in the program's order; releaseInputs ends their use.
func (p *Program) acquireInputs(ptrs []C.uintptr_t, inputs Values) ([]C.uintptr_t, error) {
	for i := range p.inputs {
		name := p.inputs[i].Name
		v, given := inputs[name]
		err := p.beginInput(name, v, given)
		if err != nil {
			p.releaseInputs(inputs, i)
			return nil, err
		}
		ptrs = append(ptrs, v.ptr())
	}
	if len(inputs) != len(p.inputs) {
		p.releaseInputs(inputs, len(p.inputs))
		return nil, p.unknownInput(inputs)
	}
	return ptrs, nil
}

func (p *Program) beginInput(name string, v *Value, given bool) error {
	if v != nil {
		return v.begin("run")
	}
	if given {
		return newError(CodeInvalidArgument, "run", "input %q is nil", name)
	}
	return newError(CodeUnknownName, "run", "input %q is missing; the inputs are %s", name, infoNames(p.inputs))
}

func (p *Program) releaseInputs(inputs Values, n int) {
	for i := range n {
		inputs[p.inputs[i].Name].end()
	}
}

func (p *Program) unknownInput(inputs Values) error {
	for name := range inputs {
		if infoIndex(p.inputs, name) < 0 {
			return newError(CodeUnknownName, "run", "there is no input %q; the inputs are %s", name, infoNames(p.inputs))
		}
	}
	return newError(CodeDuplicateName, "run", "two inputs of the graph have the same name")
}

func infoIndex(infos []TensorInfo, name string) int {
	for i := range infos {
		if infos[i].Name == name {
			return i
		}
	}
	return -1
}

func infoNames(infos []TensorInfo) string {
	var b strings.Builder
	for i, info := range infos {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(info.String())
	}
	if len(infos) == 0 {
		return "none"
	}
	return b.String()
}

// named takes over the outputs of a run, which hold that many bytes together.
func (p *Program) named(outs []C.uintptr_t, bytes int64) Values {
	values := make(Values, len(p.outputs))
	for i := range p.outputs {
		values[p.outputs[i].Name] = newValue(uintptr(outs[i]), bytes/int64(len(p.outputs)))
	}
	return values
}

func (p *Program) runCancellable(ctx context.Context, inputs Values) (Values, error) {
	r, err := p.newRun(ctx, inputs, false)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.execute()
	return r.outputs, r.err
}

// execute runs on this goroutine, watching over the context.
func (r *Run) execute() {
	r.watch.begin(r.ctx, func() { cancelRun(r.h) })
	r.finish(fromStatus(C.nefgo_run_execute(C.uintptr_t(r.h.ptr))))
}

// RunTrace is Run with a timeline, in the JSON of Chrome's trace_event, which Perfetto opens.
func (p *Program) RunTrace(ctx context.Context, inputs Values) (Values, []byte, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	r, err := p.newRun(ctx, inputs, true)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	r.execute()
	if r.err != nil {
		return nil, nil, r.err
	}
	var text *C.char
	if err := fromStatus(C.nefgo_run_trace(C.uintptr_t(r.h.ptr), &text)); err != nil {
		r.outputs.Close()
		return nil, nil, err
	}
	return r.outputs, []byte(takeString(text)), nil
}
