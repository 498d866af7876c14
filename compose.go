// SPDX-License-Identifier: Apache-2.0

package nef

// Linear is x times the transpose of w, plus b: the layer as checkpoints hold it, with w of shape
// [out in] and b of shape [out]. b may be nil.
func Linear(x, w, b *Value) *Value {
	if w != nil && w.Err() == nil && w.Rank() != 2 {
		return errorValue(newError(CodeShapeMismatch, "linear", "w has shape %v, want [out in]", w.Dims()))
	}
	y := MatMul(x, Transpose(w, []int{1, 0}))
	if b == nil {
		return y
	}
	return Add(y, b)
}

// Linear is the function [Linear] with v as its first input.
func (v *Value) Linear(w, b *Value) *Value { return Linear(v, w, b) }
