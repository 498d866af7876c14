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
	"sync/atomic"
	"syscall"

	"github.com/Hexa08/NEF/go/hydra/internal/regular"
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
		if !kernelName.MatchString(entry.Name()) {
			continue // a temporary file of a writer, or not ours
		}
		if err := packKernel(w, filepath.Join(folder, entry.Name())); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}

// packKernel takes an entry along if it is one of the cache's own: a regular file of this user with
// one name. Others are left where they are, as the cache itself does not read them.
func packKernel(w *tar.Writer, path string) error {
	f, err := regular.OpenFlags(path, syscall.O_NOFOLLOW)
	if err != nil {
		return nil // a link, a pipe, or dropped by the cache meanwhile
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != os.Geteuid() || st.Nlink > 1 || info.Size() > maxKernel {
		return nil
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: filepath.Base(path), Size: info.Size(), Mode: 0o600, Format: tar.FormatUSTAR}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.CopyN(w, f, info.Size())
	return err
}

// stagedKernels are entries that lie in a kernel cache under the names of its temporary files,
// which no reader takes for entries, and which the cache removes in the end.
type stagedKernels struct {
	temps map[string]string // by the entry's path
	added []string
	kept  bool
}

// stageKernels unpacks a tar file. It is not larger than its layer, so neither is what comes out.
func stageKernels(path, folder string) (*stagedKernels, error) {
	k := &stagedKernels{temps: map[string]string{}}
	err := k.stage(path, folder)
	if err != nil {
		k.discard()
	}
	return k, err
}

func (k *stagedKernels) stage(path, folder string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := ownFolder(folder); err != nil {
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
		final := filepath.Join(folder, header.Name)
		if k.temps[final] != "" {
			return fmt.Errorf("entry %s is there twice", header.Name)
		}
		temp := fmt.Sprintf("%s.tmp%d.%d", final, os.Getpid(), stageCount.Add(1))
		if err := writeKernel(r, header.Size, temp); err != nil {
			return err
		}
		k.temps[final] = temp
	}
}

// stageCount makes the names of this process different from each other.
var stageCount atomic.Int64

func writeKernel(r io.Reader, size int64, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, r, size)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}

// install gives the entries their names. One that is there already stays, and so does a link.
func (k *stagedKernels) install() error {
	for final, temp := range k.temps {
		if _, err := os.Lstat(final); err == nil {
			continue
		}
		if err := os.Rename(temp, final); err != nil {
			return err
		}
		k.added = append(k.added, final)
	}
	return nil
}

// keep says that what was installed stays.
func (k *stagedKernels) keep() { k.kept = true }

// discard takes back whatever is not to stay.
func (k *stagedKernels) discard() {
	for _, temp := range k.temps {
		os.Remove(temp)
	}
	if k.kept {
		return
	}
	for _, final := range k.added {
		os.Remove(final)
	}
}

// ownFolder makes the folder of a kernel cache where it is missing. Kernels are code: as the cache
// itself does, it refuses a folder that is a link, somebody else's, or open for others to write.
func ownFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	st, _ := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link; name its target", folder)
	case st != nil && int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to another user", folder)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s can be written by others; chmod go-w puts that right", folder)
	}
	return nil
}
