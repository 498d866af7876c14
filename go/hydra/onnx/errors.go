// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"errors"
	"fmt"
	"strings"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/internal/safetext"
)

// UnsupportedOp is an op of a model that cannot be imported.
type UnsupportedOp struct {
	Domain string   `json:"domain"` // "ai.onnx" for ONNX's own
	Op     string   `json:"op"`
	Opset  int64    `json:"opset"`            // version of the domain that the model uses
	Reason string   `json:"reason,omitempty"` // empty when the op is not known at all
	Count  int      `json:"count"`
	Nodes  []string `json:"nodes"` // names of the nodes, in the order of the file
}

// UnsupportedError lists all that stands in the way of importing a model. It is found out before
// anything is built, and matches [nef.ErrUnsupported] with errors.Is.
type UnsupportedError struct {
	Ops []UnsupportedOp `json:"unsupported"`
}

const shownNodes = 3

// Error has a line for each op. Names are escaped, so that none of them begins a line.
func (e *UnsupportedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d ops of this model are not supported:", len(e.Ops))
	for _, op := range e.Ops {
		fmt.Fprintf(&b, "\n  %s %s, opset %d, %d times", safetext.Escape(op.Domain), safetext.Escape(op.Op), op.Opset, op.Count)
		if op.Reason != "" {
			fmt.Fprintf(&b, ": %s", safetext.Escape(op.Reason))
		}
		shown := op.Nodes[:min(len(op.Nodes), shownNodes)]
		fmt.Fprintf(&b, " (%s", safetext.Escape(strings.Join(shown, ", ")))
		if len(op.Nodes) > len(shown) {
			b.WriteString(", ...")
		}
		b.WriteString(")")
	}
	return b.String()
}

// Is reports whether target is [nef.ErrUnsupported].
func (e *UnsupportedError) Is(target error) bool { return target == nef.ErrUnsupported }

// NodeError is a node that does not make sense in its place: a wrong shape, a missing input. The
// error behind it is a [nef.Error].
type NodeError struct {
	Node string // its name, or that of its first output
	Op   string
	Err  error
}

func (e *NodeError) Error() string {
	text := strings.TrimPrefix(e.Err.Error(), "nef: ")
	return safetext.Escape(fmt.Sprintf("node %s (%s): %s", e.Node, e.Op, text))
}

func (e *NodeError) Unwrap() error { return e.Err }

// invalid is a model that breaks a rule of ONNX.
func invalid(format string, args ...any) error {
	return &nef.Error{Code: nef.CodeInvalidArgument, Op: "onnx", Msg: fmt.Sprintf(format, args...)}
}

// unsupported is what is understood and not done.
func unsupported(format string, args ...any) error {
	return &nef.Error{Code: nef.CodeUnsupported, Op: "onnx", Msg: fmt.Sprintf(format, args...)}
}

// codeOf is the code of NEF's error behind err, or that of a node that is invalid.
func codeOf(err error) nef.Code {
	var e *nef.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return nef.CodeInvalidArgument
}
