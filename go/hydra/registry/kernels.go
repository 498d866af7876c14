// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// kernelName is how the kernel cache calls its entries. Nothing else is packed or unpacked.
var kernelName = regexp.MustCompile(`^[0-9a-f]{32}$`)

const (
	maxKernel      = 65 << 20 // one entry: 64 MiB of the cache's own limit, and its header
	maxKernelCount = 1 << 16
)

// packKernels writes the entries of a kernel cache into a tar file; the same entries give the same
// bytes. A folder that is not there is an empty cache.
func packKernels(folder, path string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := tar.NewWriter(f)
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !kernelName.MatchString(entry.Name()) {
			continue // a temporary file of a writer, or not ours
		}
		data, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue // the cache dropped it meanwhile
		}
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: entry.Name(), Size: int64(len(data)), Mode: 0o600, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}

// unpackKernels adds the entries of a tar file to a kernel cache. The tar file is not larger than
// its layer, so neither is what comes out.
func unpackKernels(path, folder string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	r := tar.NewReader(f)
	for count := 0; ; count++ {
		header, err := r.Next()
		if err == io.EOF {
			return nil
		}
		switch {
		case err != nil:
			return err
		case count == maxKernelCount:
			return fmt.Errorf("more than %d entries", maxKernelCount)
		case header.Typeflag != tar.TypeReg || !kernelName.MatchString(header.Name):
			return fmt.Errorf("entry %d is called %q: expected a plain file named by 32 hexadecimal digits", count, header.Name)
		case header.Size > maxKernel:
			return fmt.Errorf("entry %s has %d bytes, over the limit of %d", header.Name, header.Size, int64(maxKernel))
		}
		if err := addKernel(r, header.Size, filepath.Join(folder, header.Name)); err != nil {
			return err
		}
	}
}

// addKernel keeps an entry that is there already, and never follows a link.
func addKernel(r io.Reader, size int64, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".pull-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = io.CopyN(f, r, size)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
