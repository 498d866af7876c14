// SPDX-License-Identifier: Apache-2.0

// Package tensorfile reads and writes tensors as the hydra command takes them: @file.npy,
// @file.json, @file.safetensors#name, or JSON written out.
package tensorfile

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/Hexa08/NEF/go/hydra/internal/regular"
	"github.com/Hexa08/NEF/go/hydra/internal/wholefile"
	"github.com/Hexa08/NEF/go/hydra/npy"
)

// maxFile is the most bytes of a file that is read into memory.
const maxFile = 64 << 30

// Reference names a tensor: inline JSON text, or one in a file.
type Reference struct {
	Text  string // inline JSON, when File is empty
	File  string
	Entry string // the part after '#', for files that hold several tensors
}

// ParseReference reads what stands after NAME= on the command line.
func ParseReference(text string) (Reference, error) {
	if !strings.HasPrefix(text, "@") {
		if strings.TrimSpace(text) == "" {
			return Reference{}, errors.New("no value: give JSON such as [[1, 2]], or @file")
		}
		return Reference{Text: text}, nil
	}
	file, entry, _ := strings.Cut(text[1:], "#")
	if file == "" {
		return Reference{}, errors.New("no file name after @")
	}
	return Reference{File: file, Entry: entry}, nil
}

func (r Reference) String() string {
	switch {
	case r.File == "":
		return r.Text
	case r.Entry == "":
		return r.File
	}
	return r.File + "#" + r.Entry
}

// kind is the format, by the file's extension.
func (r Reference) kind() string {
	if r.File == "" {
		return ".json"
	}
	return strings.ToLower(filepath.Ext(r.File))
}

func (r Reference) unknownKind() error {
	return fmt.Errorf("%s: unknown kind of file %q: .npy, .json and .safetensors are known", r.File, r.kind())
}

// Read loads a tensor as dtype, the type the model asks for. JSON has no types of its own; of other
// files only integers are converted, when every value fits.
func Read(r Reference, dtype string) (npy.Array, error) {
	if r.Entry != "" && r.kind() != ".safetensors" {
		return npy.Array{}, fmt.Errorf("%s: only .safetensors files hold named tensors", r)
	}
	switch r.kind() {
	case ".json":
		return readJSON(r, dtype)
	case ".npy":
		data, err := regular.ReadFile(r.File, maxFile)
		if err != nil {
			return npy.Array{}, err
		}
		a, err := npy.Decode(data)
		if err != nil {
			return npy.Array{}, fmt.Errorf("%s: %w", r, err)
		}
		return convert(r, a, dtype)
	case ".safetensors":
		a, err := readSafetensors(r)
		if err != nil {
			return npy.Array{}, err
		}
		return convert(r, a, dtype)
	}
	return npy.Array{}, r.unknownKind()
}

func readJSON(r Reference, dtype string) (npy.Array, error) {
	text := []byte(r.Text)
	if r.File != "" {
		var err error
		if text, err = regular.ReadFile(r.File, maxFile); err != nil {
			return npy.Array{}, err
		}
	}
	a, err := DecodeJSON(text, dtype)
	if err != nil && r.File != "" {
		err = fmt.Errorf("%s: %w", r.File, err)
	}
	return a, err
}

// convert changes integers to dtype where no value is lost.
func convert(r Reference, a npy.Array, dtype string) (npy.Array, error) {
	if a.DType == dtype {
		return a, nil
	}
	if !isInteger(a.DType) || !isInteger(dtype) {
		return npy.Array{}, fmt.Errorf("%s holds %s, the model wants %s", r, a.DType, dtype)
	}
	size := npy.ItemSize(a.DType)
	out := make([]byte, 0, len(a.Data)/size*npy.ItemSize(dtype))
	for i := 0; i < len(a.Data); i += size {
		text := elementText(a.DType, a.Data[i:i+size])
		var err error
		if out, err = AppendElement(out, dtype, text); err != nil {
			return npy.Array{}, fmt.Errorf("%s holds %s, the model wants %s: element %d: %w", r, a.DType, dtype, i/size, err)
		}
	}
	return npy.Array{DType: dtype, Shape: a.Shape, Data: out}, nil
}

func isInteger(dtype string) bool {
	return strings.HasPrefix(dtype, "int") || strings.HasPrefix(dtype, "uint")
}

// Writer collects outputs, so that several tensors can go into one safetensors file.
type Writer struct {
	bundles map[string][]named
	order   []string
}

type named struct {
	name  string
	array npy.Array
}

// CheckTarget tells whether an output can be written to r, before any work is done for it.
func CheckTarget(r Reference) error {
	switch {
	case r.File == "":
		return fmt.Errorf("%q is no file: outputs are written as NAME=@file", r.Text)
	case r.kind() == ".safetensors":
		return nil
	case r.Entry != "":
		return fmt.Errorf("%s: only .safetensors files hold named tensors", r)
	case r.kind() != ".npy" && r.kind() != ".json":
		return r.unknownKind()
	}
	return nil
}

// Add writes a to r. Tensors of a safetensors file, named after the entry or else after the output,
// wait for Close.
func (w *Writer) Add(r Reference, output string, a npy.Array) error {
	if err := CheckTarget(r); err != nil {
		return err
	}
	var buf bytes.Buffer
	switch r.kind() {
	case ".npy":
		if err := npy.Write(&buf, a); err != nil {
			return err
		}
	case ".json":
		if err := EncodeJSON(&buf, a); err != nil {
			return err
		}
	default:
		name := r.Entry
		if name == "" {
			name = output
		}
		return w.addNamed(r.File, name, a)
	}
	return wholefile.Write(r.File, buf.Bytes())
}

func (w *Writer) addNamed(file, name string, a npy.Array) error {
	if w.bundles == nil {
		w.bundles = map[string][]named{}
	}
	if _, ok := w.bundles[file]; !ok {
		w.order = append(w.order, file)
	}
	for _, other := range w.bundles[file] {
		if other.name == name {
			return fmt.Errorf("%s: two outputs under the name %q", file, name)
		}
	}
	w.bundles[file] = append(w.bundles[file], named{name, a})
	return nil
}

// Close writes the safetensors files.
func (w *Writer) Close() error {
	for _, file := range w.order {
		data, err := encodeSafetensors(w.bundles[file])
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := wholefile.Write(file, data); err != nil {
			return err
		}
	}
	return nil
}
