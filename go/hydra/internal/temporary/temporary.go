// SPDX-License-Identifier: Apache-2.0

// Package temporary makes folders that go also when the process is ended in the middle of work.
package temporary

import (
	"os"
	"sync"
)

var (
	mu   sync.Mutex
	made = map[string]bool{}
)

// Folder is os.MkdirTemp with a function that removes the folder and all in it.
func Folder(dir, pattern string) (path string, remove func(), err error) {
	mu.Lock()
	defer mu.Unlock()
	path, err = os.MkdirTemp(dir, pattern)
	if err != nil {
		return "", nil, err
	}
	made[path] = true
	return path, func() {
		mu.Lock()
		defer mu.Unlock()
		delete(made, path)
		os.RemoveAll(path)
	}, nil
}

// RemoveAll removes what is left of all folders; the process ends next.
func RemoveAll() {
	mu.Lock()
	defer mu.Unlock()
	for path := range made {
		os.RemoveAll(path)
	}
}
