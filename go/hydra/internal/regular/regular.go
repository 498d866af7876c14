// SPDX-License-Identifier: Apache-2.0

// Package regular opens regular files and nothing else.
//
// A folder from a stranger may hold a pipe, a device or a folder where a file is expected. Opening
// or reading one can wait for ever or never end.
package regular

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Open opens a regular file for reading. It does not wait for anything.
func Open(path string) (*os.File, error) { return OpenFlags(path, 0) }

// OpenFlags is [Open] with more flags, such as O_NOFOLLOW.
func OpenFlags(path string, flags int) (*os.File, error) {
	// O_NONBLOCK: opening a pipe would wait for its writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is %s: expected a regular file", kind(info.Mode()))}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// ReadFile reads a regular file of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer
	if info.Size() <= limit {
		data.Grow(int(info.Size()) + bytes.MinRead)
		if _, err := data.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
			return nil, err
		}
	}
	if info.Size() > limit || int64(data.Len()) > limit {
		return nil, fmt.Errorf("%s: larger than %d MiB", path, limit>>20)
	}
	return data.Bytes(), nil
}
