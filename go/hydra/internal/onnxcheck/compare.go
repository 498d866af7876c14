// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	nef "github.com/Hexa08/NEF"
)

// tolerance is how far floats may be away; dtype and shape must be exact.
type tolerance struct {
	Relative float64 `json:"rtol"`
	Absolute float64 `json:"atol"`
}

// twoUnits are two units in the last place of a bfloat16.
const twoUnits = 1.0 / 64

// readLimits is the measure of a case, if it has one of its own, or ONNX's.
func readLimits(dir string) (tolerance, error) {
	t := tolerance{1e-3, 1e-7}
	text, err := os.ReadFile(filepath.Join(dir, "tolerance.json"))
	if errors.Is(err, os.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(text, &t)
}

func (t tolerance) compare(got, want *nef.Value) error {
	if got == nil || want == nil {
		return errors.New("is missing")
	}
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		return fmt.Errorf("%v %v instead of %v %v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	switch want.DType() {
	case nef.Float16, nef.BFloat16, nef.Float32, nef.Float64, nef.Float8E4M3FN, nef.Float8E5M2:
		return t.compareFloats(got, want)
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

func (t tolerance) compareFloats(got, want *nef.Value) error {
	if want.DType() == nef.BFloat16 {
		t.Relative = max(t.Relative, twoUnits) // as in ONNX's own runner
	}
	a, err := nef.Data[float64](nef.Cast(got, nef.Float64))
	if err != nil {
		return err
	}
	b, err := nef.Data[float64](nef.Cast(want, nef.Float64))
	if err != nil {
		return err
	}
	for i := range b {
		if a[i] == b[i] || math.IsNaN(a[i]) && math.IsNaN(b[i]) || math.Abs(a[i]-b[i]) <= t.Absolute+t.Relative*math.Abs(b[i]) {
			continue
		}
		return fmt.Errorf("element %d: %v instead of %v", i, a[i], b[i])
	}
	return nil
}
