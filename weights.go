// SPDX-License-Identifier: Apache-2.0

package nef

// #include "cgo.h"
import "C"

import "slices"

// Weights are the tensors of a safetensors file. They may be used by many goroutines at once.
type Weights struct {
	h     *handle
	names []string
}

// FromSafetensors opens and validates a safetensors file. Its tensors are mapped, not read.
func FromSafetensors(path string) (*Weights, error) {
	if skew != nil {
		return nil, skew
	}
	file, err := cText("safetensors", path)
	if err != nil {
		return nil, err
	}
	var ptr C.uintptr_t
	if err := fromStatus(C.nefgo_weights_open(file, &ptr)).withFile(path); err != nil {
		return nil, err
	}
	w := &Weights{h: newHandle(kindWeights, uintptr(ptr), 0)}
	w.names = make([]string, int(C.nefgo_weights_count(ptr)))
	for i := range w.names {
		w.names[i] = C.GoString(C.nefgo_weights_name(ptr, C.size_t(i)))
	}
	return w, nil
}

// Names are the names of the tensors in the order of the file.
func (w *Weights) Names() []string { return slices.Clone(w.names) }

// Tensor is the tensor of that name. It keeps the mapping alive, also after Close.
func (w *Weights) Tensor(name string) *Value {
	if w == nil || !w.h.acquire() {
		return errorValue(newError(CodeInvalidArgument, "safetensors", "the weights are closed"))
	}
	defer w.h.release()
	text, err := cText("safetensors", name)
	if err != nil {
		return errorValue(err)
	}
	var out C.uintptr_t
	if err := fromStatus(C.nefgo_weights_tensor(C.uintptr_t(w.h.ptr), text, &out)); err != nil {
		return errorValue(err)
	}
	return newValue(uintptr(out), 0)
}

// Close closes the file once no tensor of it is in use. It may be called more than once.
func (w *Weights) Close() {
	if w != nil {
		w.h.close()
	}
}
