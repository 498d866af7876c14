// SPDX-License-Identifier: Apache-2.0

package temporary

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for range 3 {
		path, remove, err := Folder(dir, ".x-")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "f"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
		if len(paths) == 1 {
			remove()
		}
	}
	if _, err := os.Stat(paths[0]); err == nil {
		t.Error("the first is still there")
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("%v are there, want two", left)
	}
	RemoveAll()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
	if _, _, err := Folder(filepath.Join(dir, "none"), "x"); err == nil {
		t.Error("no error for a folder that cannot be")
	}
}
