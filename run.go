// SPDX-License-Identifier: Apache-2.0

package nef

// #include "cgo.h"
import "C"

import (
	"context"
	"runtime"
	"sync"
	"weak"
)

// Run is an execution of a program that was started with [Program.Start]. All methods may be
// called at the same time.
type Run struct {
	h       *handle
	program *Program
	ctx     context.Context
	watch   watch
	once    sync.Once
	outputs Values
	err     error
}

// Start starts the program on a thread of the library and returns at once. When ctx is cancelled
// the run is. [Run.Wait] gives the outputs.
func (p *Program) Start(ctx context.Context, inputs Values) (*Run, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	r, err := p.newRun(ctx, inputs, false)
	if err != nil {
		return nil, err
	}
	r.watch.beginWeak(ctx, r.h)
	if err := fromStatus(C.nefgo_run_start(C.uintptr_t(r.h.ptr))); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// newRun sets up a run. Its watch has to be begun.
func (p *Program) newRun(ctx context.Context, inputs Values, trace bool) (*Run, error) {
	if err := p.begin("run"); err != nil {
		return nil, err
	}
	defer p.h.release()
	if ctx.Err() != nil {
		return nil, cancelled(ctx, "run", "the context was done before the run began")
	}
	ins, err := p.acquireInputs(make([]C.uintptr_t, 0, 8), inputs)
	if err != nil {
		return nil, err
	}
	defer p.releaseInputs(inputs, len(p.inputs))
	var ptr C.uintptr_t
	st := C.nefgo_run_prepare(C.uintptr_t(p.h.ptr), &ins[:1][0], C.size_t(len(p.inputs)), cBool(trace), &ptr)
	if err := fromStatus(st); err != nil {
		return nil, err
	}
	return &Run{h: newHandle(kindRun, uintptr(ptr), 0), program: p, ctx: ctx}, nil
}

// watch cancels a run when a context is done.
type watch struct {
	stop  func() bool   // false when the cancel has begun
	fired chan struct{} // closed when it is over
	once  sync.Once
}

func (w *watch) begin(ctx context.Context, cancel func()) {
	fired := make(chan struct{})
	w.fired = fired
	w.stop = context.AfterFunc(ctx, func() {
		cancel()
		close(fired)
	})
}

// beginWeak is begin for a run that may be forgotten: neither the run nor what is kept in the
// context for it may wait for the other to end.
func (w *watch) beginWeak(ctx context.Context, run *handle) {
	ref := weak.Make(run)
	w.begin(ctx, func() {
		if h := ref.Value(); h != nil {
			cancelRun(h)
		}
	})
	runtime.AddCleanup(run, func(stop func() bool) { stop() }, w.stop)
}

func cancelRun(h *handle) {
	if h.acquire() {
		C.nefgo_run_cancel(C.uintptr_t(h.ptr))
		h.release()
	}
}

// end waits for a cancel that is under way.
func (w *watch) end() {
	w.once.Do(func() {
		if !w.stop() {
			<-w.fired
		}
	})
}

// finish takes over what came out.
func (r *Run) finish(err *Error) {
	r.watch.end()
	if err == nil {
		outs := make([]C.uintptr_t, len(r.program.outputs)+1)
		var bytes C.int64_t
		st := C.nefgo_run_outputs(C.uintptr_t(r.h.ptr), &outs[0], C.size_t(len(r.program.outputs)), &bytes)
		if err = fromStatus(st); err == nil {
			r.outputs = r.program.named(outs, int64(bytes))
			return
		}
	}
	if err.Code == CodeCancelled && r.ctx.Err() != nil {
		err = cancelled(r.ctx, "run", err.Msg)
	}
	r.err = err
}

func cancelled(ctx context.Context, op, msg string) *Error {
	return &Error{Code: CodeCancelled, Op: op, Msg: msg + ": " + context.Cause(ctx).Error(), cause: ctx.Err()}
}

// Wait blocks until the run is done and returns its outputs, the same ones at every call.
func (r *Run) Wait() (Values, error) {
	r.once.Do(func() {
		if !r.h.acquire() {
			r.err = newError(CodeInvalidArgument, "run", "the run is closed")
			return
		}
		defer r.h.release()
		r.finish(fromStatus(C.nefgo_run_wait(C.uintptr_t(r.h.ptr))))
	})
	return r.outputs, r.err
}

// Output waits for the run and returns one output.
func (r *Run) Output(name string) (*Value, error) {
	outputs, err := r.Wait()
	if err != nil {
		return nil, err
	}
	v, ok := outputs[name]
	if !ok {
		return nil, newError(CodeUnknownName, "run", "there is no output %q; the outputs are %s", name, infoNames(r.program.outputs))
	}
	return v, nil
}

// Cancel asks the run to stop before its next step; [Run.Wait] then returns [ErrCancelled]. It
// does not block and does nothing to a run that is done.
func (r *Run) Cancel() {
	cancelRun(r.h)
}

// Done reports whether the run is done, well or not.
func (r *Run) Done() bool {
	if !r.h.acquire() {
		return true
	}
	defer r.h.release()
	return C.nefgo_run_done(C.uintptr_t(r.h.ptr)) != 0
}

// Close cancels the run if it is not done and gives back its memory. Outputs that [Run.Wait]
// returned stay valid. It may be called more than once.
func (r *Run) Close() {
	if r != nil {
		r.Cancel()
		r.watch.end()
		r.h.close()
	}
}
