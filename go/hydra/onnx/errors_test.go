// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"errors"
	"strings"
	"testing"

	"github.com/Hexa08/NEF/internal/safetext"
)

// Names of a model stand in errors as printable text, and begin no line.
func TestNamesInErrorsArePrintable(t *testing.T) {
	evil := "x\x1b]0;pwned\a\nhydra: verified\r\u202e\u009b2J"
	list := &UnsupportedError{Ops: []UnsupportedOp{
		{Domain: evil, Op: evil, Opset: 1, Reason: evil, Count: 4, Nodes: []string{evil, evil, evil, evil}},
		{Domain: "ai.onnx", Op: evil, Count: 1, Nodes: []string{evil}},
	}}
	if text := list.Error(); strings.Count(text, "\n") != 2 || safetext.Lines(text).String() != text || strings.Contains(text, "\nhydra") {
		t.Errorf("%q", text)
	}
	for _, err := range []error{
		&NodeError{Node: evil, Op: evil, Err: errors.New(evil)}, invalid("%s", evil), unsupported("%s", evil), parseError("%s", evil), limitError("%s", evil), unsafePath(evil, evil),
	} {
		if text := err.Error(); safetext.Escape(text) != text {
			t.Errorf("%T: %q", err, text)
		}
	}
}
