// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	nef "github.com/Hexa08/NEF"
)

// ONNX's own measure; dtype and shape must be exact.
const (
	relative = 1e-3
	absolute = 1e-7
)

func compare(got, want *nef.Value) error {
	if got == nil || want == nil {
		return errors.New("is missing")
	}
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		return fmt.Errorf("%v %v instead of %v %v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	switch want.DType() {
	case nef.Float16, nef.BFloat16, nef.Float32, nef.Float64:
		return compareFloats(got, want)
	}
	a, err := got.Bytes()
	if err != nil {
		return err
	}
	b, err := want.Bytes()
	if err != nil {
		return err
	}
	size := want.DType().Size()
	for i := 0; i < len(b); i += size {
		if !slices.Equal(a[i:i+size], b[i:i+size]) {
			return fmt.Errorf("element %d: bytes %v instead of %v", i/size, a[i:i+size], b[i:i+size])
		}
	}
	return nil
}

func compareFloats(got, want *nef.Value) error {
	a, err := nef.Data[float64](nef.Cast(got, nef.Float64))
	if err != nil {
		return err
	}
	b, err := nef.Data[float64](nef.Cast(want, nef.Float64))
	if err != nil {
		return err
	}
	for i := range b {
		if a[i] == b[i] || math.IsNaN(a[i]) && math.IsNaN(b[i]) || math.Abs(a[i]-b[i]) <= absolute+relative*math.Abs(b[i]) {
			continue
		}
		return fmt.Errorf("element %d: %v instead of %v", i, a[i], b[i])
	}
	return nil
}
