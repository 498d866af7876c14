// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"io/fs"
	"os"
	"syscall"
)

// hardLinks is how many names a file has.
func hardLinks(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// openNoFollow opens a file beneath root that must not be a link by now. O_NONBLOCK: a FIFO must
// not hang the caller before it is refused.
func openNoFollow(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
