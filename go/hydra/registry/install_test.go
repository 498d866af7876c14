// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// kernelTar is a layer with these entries.
func kernelTar(t *testing.T, names ...string) []byte {
	t.Helper()
	var text bytes.Buffer
	w := tar.NewWriter(&text)
	for _, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 6, Mode: 0o600, Format: tar.FormatUSTAR}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("kernel")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// layersOf are the graph and the weights that a push of the model makes.
func layersOf(t *testing.T, model string) (graph, weights []byte) {
	t.Helper()
	files, err := layerFiles(model, t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	for kind, into := range map[string]*[]byte{MediaTypeGraph: &graph, MediaTypeWeights: &weights} {
		if *into, err = os.ReadFile(files[kind]); err != nil {
			t.Fatal(err)
		}
	}
	return graph, weights
}

func listing(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// Whatever turns out to be wrong, and however late: the old model and the cache are as before.
func TestNothingIsInstalledBeforeTheLastCheck(t *testing.T) {
	graph, weights := layersOf(t, saveModel(t, 1, true))
	first, second := strings.Repeat("0a", 16), strings.Repeat("0b", 16)
	good := kernelTar(t, first, second)
	broken := bytes.Replace(graph, []byte("matmul"), []byte("magmul"), 1)
	for _, c := range []struct {
		name           string
		graph, kernels []byte
		change         func(t *testing.T, layers []ocispec.Descriptor, folder, output string)
		want           string
	}{
		{"a kernel with another name", graph, kernelTar(t, first, "evil.so"), nil, "evil.so"},
		{"a kernel that is there twice", graph, kernelTar(t, first, second, first), nil, "twice"},
		{"kernels cut short", graph, good[:1540], nil, "kernels layer"},
		{"kernels with another digest", graph, good, func(t *testing.T, layers []ocispec.Descriptor, folder, output string) {
			layers[2].Digest = layers[0].Digest
		}, "kernels layer"},
		{"a graph that does not load", broken, good, nil, "magmul"},
		{"an output that cannot be written", graph, good, func(t *testing.T, layers []ocispec.Descriptor, folder, output string) {
			if err := os.Remove(output); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(output, "x"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, "m.nef"},
		{"a cache that others can write", graph, good, func(t *testing.T, layers []ocispec.Descriptor, folder, output string) {
			if err := os.Chmod(folder, 0o777); err != nil {
				t.Fatal(err)
			}
		}, "can be written by others"},
	} {
		t.Run(c.name, func(t *testing.T) {
			host, folder, cache := start(t, nil), t.TempDir(), filepath.Join(t.TempDir(), "cache")
			output := filepath.Join(folder, "m.nef")
			if err := os.WriteFile(output, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(cache, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(cache, second), []byte("own"), 0o600); err != nil {
				t.Fatal(err)
			}
			layers := []ocispec.Descriptor{descriptor(MediaTypeGraph, c.graph), descriptor(MediaTypeWeights, weights), descriptor(MediaTypeKernels, c.kernels)}
			if c.change != nil {
				c.change(t, layers, cache, output)
			}
			put(t, host, manifestOf(layers...), c.graph, weights, c.kernels)
			_, err := Pull(t.Context(), host+"/m:v1", output, Options{PlainHTTP: true, KernelCache: cache})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
			if got := listing(t, folder); got != "m.nef" {
				t.Errorf("beside the model: %s", got)
			}
			if text, err := os.ReadFile(output); err == nil && string(text) != "old" {
				t.Errorf("the old model is now %q", text)
			}
			if got := listing(t, cache); got != second {
				t.Errorf("in the cache: %s", got)
			}
		})
	}
	// The same artifact without a fault: the entry that was there stays.
	host, output, cache := start(t, nil), filepath.Join(t.TempDir(), "m.nef"), filepath.Join(t.TempDir(), "a", "cache")
	put(t, host, manifestOf(descriptor(MediaTypeGraph, graph), descriptor(MediaTypeWeights, weights), descriptor(MediaTypeKernels, good)), graph, weights, good)
	if _, err := Pull(t.Context(), host+"/m:v1", output, Options{PlainHTTP: true, KernelCache: cache}); err != nil {
		t.Fatal(err)
	}
	if got := listing(t, cache); got != first+" "+second || runModel(t, output) != 3 {
		t.Errorf("in the cache: %s", got)
	}
	info, err := os.Stat(cache)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the cache has mode %v, %v", info.Mode(), err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(cache, link); err != nil {
		t.Fatal(err)
	}
	refused(t, host+"/m:v1", "symbolic link", Options{PlainHTTP: true, KernelCache: link})
}

// A push takes only what the cache itself would read.
func TestOnlyOwnKernelsArePacked(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	name := func(c string) string { return filepath.Join(from, strings.Repeat(c, 32)) }
	secret := filepath.Join(t.TempDir(), "secret")
	for _, path := range []string{name("1"), secret} {
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{os.Symlink(secret, name("2")), os.Link(secret, name("3")), syscall.Mkfifo(name("4"), 0o600), os.Mkdir(name("5"), 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(name("6"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name("6"), 600<<20); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "k.tar")
	if err := packKernels(from, path); err != nil {
		t.Fatal(err)
	}
	kernels, err := stageKernels(path, to)
	if err != nil {
		t.Fatal(err)
	}
	if err := kernels.install(); err != nil {
		t.Fatal(err)
	}
	kernels.keep()
	kernels.discard()
	if got := listing(t, to); got != strings.Repeat("1", 32) {
		t.Errorf("packed: %s", got)
	}
}
