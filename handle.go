// SPDX-License-Identifier: Apache-2.0

package nef

// #cgo linux,amd64,!nef_system CFLAGS: -I${SRCDIR}/go/native/lib/linux_amd64/include
// #cgo linux,arm64,!nef_system CFLAGS: -I${SRCDIR}/go/native/lib/linux_arm64/include
// #cgo nef_system pkg-config: nef
// #cgo nocallback nefgo_release
// #include "cgo.h"
import "C"

import (
	"runtime"
	"sync/atomic"
)

type objectKind int32

const (
	kindTensor  objectKind = C.NEFGO_TENSOR
	kindGraph   objectKind = C.NEFGO_GRAPH
	kindProgram objectKind = C.NEFGO_PROGRAM
	kindRun     objectKind = C.NEFGO_RUN
	kindWeights objectKind = C.NEFGO_WEIGHTS
)

// States of a handle: calls under way are counted below handleClosed.
const (
	handleClosed = int64(1) << 62
	handleFreed  = int64(1) << 61
)

// object is a reference that the library gave us: a pointer to C, never to Go.
type object struct {
	ptr   uintptr
	kind  objectKind
	bytes int64 // of native memory that this reference is known to hold
}

// free gives the reference back.
func (o object) free() {
	C.nefgo_release(C.int32_t(o.kind), C.uintptr_t(o.ptr))
	nativeFreed(o.bytes)
}

// handle owns one object. It is released by close, once the last call that uses it has returned,
// or by a cleanup when nothing refers to the handle any more.
type handle struct {
	object
	state   atomic.Int64
	cleanup runtime.Cleanup
}

func newHandle(kind objectKind, ptr uintptr, bytes int64) *handle {
	h := new(handle)
	h.own(object{ptr, kind, bytes})
	return h
}

// own takes over a reference.
func (h *handle) own(o object) {
	h.object = o
	nativeHeld(o.bytes)
	h.cleanup = runtime.AddCleanup(h, object.free, o)
}

// acquire begins a call that uses the object; false means that it is closed. Every acquire that
// returned true is followed by a release.
func (h *handle) acquire() bool {
	if h.state.Add(1)&handleClosed == 0 {
		return true
	}
	h.release()
	return false
}

func (h *handle) release() {
	if h.state.Add(-1) == handleClosed {
		h.freeOnce()
	}
}

func (h *handle) close() {
	if h.state.Or(handleClosed) == 0 {
		h.freeOnce()
	}
	runtime.KeepAlive(h)
}

// freeOnce frees unless a late acquire, which sees the handle closed, comes between: then its
// release does it.
func (h *handle) freeOnce() {
	if !h.state.CompareAndSwap(handleClosed, handleClosed|handleFreed) {
		return
	}
	h.cleanup.Stop()
	h.free()
	runtime.KeepAlive(h)
}
