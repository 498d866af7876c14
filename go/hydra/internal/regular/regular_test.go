// SPDX-License-Identifier: Apache-2.0

package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestOnlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(syscall.Mkfifo(at("pipe"), 0o600), os.Symlink(at("pipe"), at("link")), os.Symlink(at("file"), at("good"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		at("file"): "", at("good"): "", at("pipe"): "a pipe", at("link"): "a pipe", dir: "a folder", "/dev/zero": "a device", at("none"): "no such file",
	} {
		done := make(chan error, 1)
		go func() {
			text, err := ReadFile(path, 4)
			if err == nil && string(text) != "text" {
				err = errors.New("got " + string(text))
			}
			done <- err
		}()
		select {
		case err := <-done:
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", path, err, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: waits", path)
		}
	}
	if _, err := ReadFile(at("file"), 3); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("over the limit: %v", err)
	}
	if _, err := OpenFlags(at("good"), syscall.O_NOFOLLOW); err == nil {
		t.Error("a link was followed")
	}
	if _, err := Open(at("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}
