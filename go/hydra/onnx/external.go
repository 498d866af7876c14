// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	nef "github.com/Hexa08/NEF"
)

// externalFiles opens the files in which a model keeps weights beside it, under the rules of
// ONNX's note on the security of external data: only regular files within the model's folder,
// named by relative paths without "..", and no links on the way or in the end. os.Root resolves
// every step beneath the folder's descriptor, so that nothing can be exchanged in between.
type externalFiles struct {
	dir     string
	trusted bool // links are allowed
	root    *os.Root
	open    map[string]*os.File
}

func newExternalFiles(dir, trusted string) *externalFiles {
	if trusted != "" {
		return &externalFiles{dir: trusted, trusted: true}
	}
	return &externalFiles{dir: dir}
}

func (e *externalFiles) close() {
	if e == nil {
		return
	}
	for _, f := range e.open {
		_ = f.Close() // it was only read
	}
	if e.root != nil {
		_ = e.root.Close()
	}
}

func unsafePath(location, why string) error {
	return &nef.Error{Code: nef.CodeUnsafePath, Op: "onnx", Msg: fmt.Sprintf("external data %q %s", location, why)}
}

// checkLocation refuses what no path of an honest model looks like.
func checkLocation(location string) error {
	if location == "" {
		return unsafePath(location, "has no location")
	}
	if strings.ContainsRune(location, 0) || strings.ContainsRune(location, '\\') {
		return unsafePath(location, "holds a NUL byte or a backslash")
	}
	if filepath.IsAbs(location) {
		return unsafePath(location, "is an absolute path")
	}
	for _, part := range strings.Split(location, "/") {
		if part == ".." {
			return unsafePath(location, "leaves the model's folder")
		}
	}
	return nil
}

// file is the open file at that location.
func (e *externalFiles) file(location string) (*os.File, error) {
	if e == nil {
		return nil, unsafePath(location, "lies in another file, which a model given as bytes cannot have")
	}
	if err := checkLocation(location); err != nil {
		return nil, err
	}
	if f := e.open[location]; f != nil {
		return f, nil
	}
	f, err := e.openFile(location)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = unsafePath(location, "is no regular file")
	}
	if err == nil && !e.trusted && hardLinks(info) > 1 {
		err = unsafePath(location, "has several hard links, so it may be a file of somebody else; "+
			"give its folder as data root if you trust it")
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	if e.open == nil {
		e.open = map[string]*os.File{}
	}
	e.open[location] = f
	return f, nil
}

func (e *externalFiles) openFile(location string) (*os.File, error) {
	if e.trusted {
		// O_NONBLOCK: a pipe is refused by what it is, without waiting for its writer.
		return os.OpenFile(filepath.Join(e.dir, filepath.FromSlash(location)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	if e.root == nil {
		root, err := os.OpenRoot(e.dir)
		if err != nil {
			return nil, err
		}
		e.root = root
	}
	// Root follows links that stay inside; here none is allowed at all.
	parts := strings.Split(filepath.Clean(location), "/")
	for i := range parts {
		info, err := e.root.Lstat(filepath.Join(parts[:i+1]...))
		if err != nil {
			return nil, err
		}
		if info.Mode()&os.ModeSymlink != 0 {
			return nil, unsafePath(location, "goes over a symbolic link; give its folder as data root if you trust it")
		}
	}
	return openNoFollow(e.root, filepath.Clean(location))
}

// externalRange is where a tensor's bytes lie, as its external_data says.
func (t *tensorProto) externalRange(bytes int) (location string, offset int64, err error) {
	for key, value := range t.external {
		var n int64
		switch key {
		case "location":
			location = value
			continue
		case "checksum":
			continue // of the whole file, SHA-1: says nothing about safety
		case "offset", "length":
			n, err = strconv.ParseInt(value, 10, 64)
			if err != nil || n < 0 {
				return "", 0, parseError("external_data has %s %q, want a number of bytes", key, value)
			}
		default:
			return "", 0, parseError("external_data has the key %q, which ONNX does not know", key)
		}
		if key == "offset" {
			offset = n
		} else if n != int64(bytes) {
			return "", 0, parseError("external_data has length %d, the shape needs %d bytes", n, bytes)
		}
	}
	return location, offset, checkLocation(location)
}

// externalValue is a constant in another file, mapped.
func (m *Model) externalValue(t *tensorProto, shape []int, dtype nef.DType, bytes int) (*nef.Value, error) {
	if t.hasRaw || t.typed != 0 {
		return nil, parseError("there is data both in the model and in another file")
	}
	location, offset, err := t.externalRange(bytes)
	if err != nil {
		return nil, err
	}
	f, err := m.external.file(location)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if offset > info.Size() || int64(bytes) > info.Size()-offset {
		return nil, &nef.Error{Code: nef.CodeOutOfRange, Op: "onnx", Msg: fmt.Sprintf(
			"external data %q: bytes %d to %d + %d are asked for, the file has %d", location, offset, offset, bytes, info.Size())}
	}
	if bytes >= mapBytes {
		return nef.FromFile(f, offset, dtype, shape, weightName(t.name)), nil
	}
	return nef.Fill(dtype, shape, func(out []byte) error {
		_, err := f.ReadAt(out, offset)
		return err
	}), nil
}
