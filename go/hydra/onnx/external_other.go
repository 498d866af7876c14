// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package onnx

import (
	"io/fs"
	"os"
)

func hardLinks(fs.FileInfo) uint64 { return 1 }

func openNoFollow(root *os.Root, name string) (*os.File, error) { return root.Open(name) }
