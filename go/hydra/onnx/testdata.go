// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"fmt"

	nef "github.com/Hexa08/NEF"
)

// ReadTensor is the value of a serialised TensorProto, the form in which ONNX keeps test data.
func ReadTensor(data []byte) (*nef.Value, error) {
	t, err := parseTensor(data)
	if err != nil {
		return nil, err
	}
	m := &Model{}
	v, err := m.value(t)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", t.name, err)
	}
	return v, nil
}
