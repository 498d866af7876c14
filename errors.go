// SPDX-License-Identifier: Apache-2.0

package nef

// #include "cgo.h"
import "C"

import (
	"fmt"
	"os"
	"strings"

	"github.com/Hexa08/NEF/internal/safetext"
)

// Code says what kind of thing went wrong.
type Code int32

// The codes of an [Error].
const (
	CodeInvalidArgument    Code = C.NEF_INVALID_ARGUMENT
	CodeShapeMismatch      Code = C.NEF_SHAPE_MISMATCH
	CodeDTypeMismatch      Code = C.NEF_DTYPE_MISMATCH
	CodeOutOfRange         Code = C.NEF_OUT_OF_RANGE
	CodeUnknownOp          Code = C.NEF_UNKNOWN_OP
	CodeUnsupported        Code = C.NEF_UNSUPPORTED
	CodeGraphCycle         Code = C.NEF_GRAPH_CYCLE
	CodeUnknownName        Code = C.NEF_UNKNOWN_NAME
	CodeDuplicateName      Code = C.NEF_DUPLICATE_NAME
	CodeParse              Code = C.NEF_PARSE
	CodeLimitExceeded      Code = C.NEF_LIMIT_EXCEEDED
	CodeUnsafePath         Code = C.NEF_UNSAFE_PATH
	CodeIO                 Code = C.NEF_IO
	CodeOutOfMemory        Code = C.NEF_OUT_OF_MEMORY
	CodeDeviceOutOfMemory  Code = C.NEF_DEVICE_OUT_OF_MEMORY
	CodeCompileFailed      Code = C.NEF_COMPILE_FAILED
	CodeBackendUnavailable Code = C.NEF_BACKEND_UNAVAILABLE
	CodeABIMismatch        Code = C.NEF_ABI_MISMATCH
	CodeCancelled          Code = C.NEF_CANCELLED
	CodeDeviceLost         Code = C.NEF_DEVICE_LOST
	CodeFallbackForbidden  Code = C.NEF_FALLBACK_FORBIDDEN
	CodeInternal           Code = C.NEF_INTERNAL
)

// String is the stable spelling of the code: "shape_mismatch".
func (c Code) String() string { return C.GoString(C.nef_code_name(C.nef_code(c))) }

// Every error of this package is an *Error and matches exactly one of these with [errors.Is].
var (
	// ErrInvalidArgument: a value that no call accepts, such as a closed value or a bad axis.
	ErrInvalidArgument error = sentinel(CodeInvalidArgument)
	// ErrShapeMismatch: shapes that do not fit each other, the op or the data.
	ErrShapeMismatch error = sentinel(CodeShapeMismatch)
	// ErrDTypeMismatch: dtypes that do not fit each other, the op or the Go type asked for.
	ErrDTypeMismatch error = sentinel(CodeDTypeMismatch)
	// ErrOutOfRange: an index or dim outside its bounds.
	ErrOutOfRange error = sentinel(CodeOutOfRange)
	// ErrUnknownOp: a file uses an op that this version does not know.
	ErrUnknownOp error = sentinel(CodeUnknownOp)
	// ErrUnsupported: understood, but not done by this version or device.
	ErrUnsupported error = sentinel(CodeUnsupported)
	// ErrGraphCycle: a graph that is not acyclic.
	ErrGraphCycle error = sentinel(CodeGraphCycle)
	// ErrUnknownName: a tensor, node, input or output name that is not there.
	ErrUnknownName error = sentinel(CodeUnknownName)
	// ErrDuplicateName: a name or JSON key that is defined twice.
	ErrDuplicateName error = sentinel(CodeDuplicateName)
	// ErrParse: bytes that are not the format they claim to be.
	ErrParse error = sentinel(CodeParse)
	// ErrLimitExceeded: a size, depth or count over a documented limit.
	ErrLimitExceeded error = sentinel(CodeLimitExceeded)
	// ErrUnsafePath: a file reference that leaves its folder.
	ErrUnsafePath error = sentinel(CodeUnsafePath)
	// ErrIO: the operating system refused to open, read, write or map a file.
	ErrIO error = sentinel(CodeIO)
	// ErrOutOfMemory: host memory is short.
	ErrOutOfMemory error = sentinel(CodeOutOfMemory)
	// ErrDeviceOutOfMemory: device memory, or the budget given for it, is short.
	ErrDeviceOutOfMemory error = sentinel(CodeDeviceOutOfMemory)
	// ErrCompileFailed: a backend could not compile a region.
	ErrCompileFailed error = sentinel(CodeCompileFailed)
	// ErrBackendUnavailable: a backend is absent; the message says why.
	ErrBackendUnavailable error = sentinel(CodeBackendUnavailable)
	// ErrABIMismatch: a library or plugin of another ABI version.
	ErrABIMismatch error = sentinel(CodeABIMismatch)
	// ErrCancelled: the run was cancelled. The error also matches the context's own.
	ErrCancelled error = sentinel(CodeCancelled)
	// ErrDeviceLost: a device stopped answering.
	ErrDeviceLost error = sentinel(CodeDeviceLost)
	// ErrFallbackForbidden: [Options].Strict forbade the fallback that was needed.
	ErrFallbackForbidden error = sentinel(CodeFallbackForbidden)
	// ErrInternal: a bug in NEF; please report it.
	ErrInternal error = sentinel(CodeInternal)
)

type sentinel Code

func (s sentinel) Error() string { return "nef: " + strings.ReplaceAll(Code(s).String(), "_", " ") }

// Error is what every failing call of this package returns.
type Error struct {
	Code Code
	Op   string // the op or stage that failed: "matmul", "load"
	Msg  string // what, where, expected, got, how to fix

	cause error
}

// Error is one line of printable text: names of a model that stand in Msg are escaped.
func (e *Error) Error() string {
	if e.Op == "" {
		return "nef: " + safetext.Escape(e.Msg)
	}
	return "nef: " + safetext.Escape(e.Op) + ": " + safetext.Escape(e.Msg)
}

// Is reports whether target is the sentinel of e's code.
func (e *Error) Is(target error) bool {
	s, ok := target.(sentinel)
	return ok && Code(s) == e.Code
}

// Unwrap is the error behind this one, if it is not NEF's own: that of a context or a file system.
func (e *Error) Unwrap() error { return e.cause }

func newError(code Code, op, format string, args ...any) *Error {
	return &Error{Code: code, Op: op, Msg: fmt.Sprintf(format, args...)}
}

// fromStatus takes over a status; nil is success.
func fromStatus(st *C.nef_status) *Error {
	if st == nil {
		return nil
	}
	e := &Error{
		Code: Code(C.nef_status_code(st)),
		Op:   C.GoString(C.nef_status_op(st)),
		Msg:  C.GoString(C.nef_status_message(st)),
	}
	C.nef_status_release(st)
	return e
}

// withFile adds what the file system says about a file that the library could not open, so that
// errors match those of package fs.
func (e *Error) withFile(path string) *Error {
	if e != nil && e.Code == CodeIO {
		_, e.cause = os.Stat(path)
	}
	return e
}

// asError keeps a nil *Error from becoming an error that is not nil.
func asError(e *Error) error {
	if e == nil {
		return nil
	}
	return e
}

// takeString takes over a string of the library.
func takeString(s *C.char) string {
	text := C.GoString(s)
	C.nef_string_free(s)
	return text
}
