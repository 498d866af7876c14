// SPDX-License-Identifier: Apache-2.0

package tensorfile

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/Hexa08/NEF/go/hydra/npy"
)

func TestDecodeJSON(t *testing.T) {
	for _, c := range []struct {
		text, dtype string
		shape       []int
		data        []byte
	}{
		{"7", "int8", []int{}, []byte{7}},
		{"[1, 2, 3]", "uint8", []int{3}, []byte{1, 2, 3}},
		{" [[1], [-2]] ", "int16", []int{2, 1}, []byte{1, 0, 0xfe, 0xff}},
		{"[]", "int8", []int{0}, nil},
		{"[[], []]", "int8", []int{2, 0}, nil},
		{"[true, false, 1]", "bool", []int{3}, []byte{1, 0, 1}},
		{"[1.5]", "float32", []int{1}, []byte{0, 0, 0xc0, 0x3f}},
		{`["NaN", "-Infinity"]`, "float16", []int{2}, []byte{0, 0x7e, 0, 0xfc}},
		{"[1]", "bfloat16", []int{1}, []byte{0x80, 0x3f}},
		{"9223372036854775807", "int64", []int{}, []byte{255, 255, 255, 255, 255, 255, 255, 127}},
		{`{"dtype": "int8", "shape": [2, 1], "data": [1, 2]}`, "int8", []int{2, 1}, []byte{1, 2}},
		{`{"shape": [0, 5], "data": []}`, "int8", []int{0, 5}, nil},
		{`{"data": [[1, 2]]}`, "int8", []int{1, 2}, []byte{1, 2}},
	} {
		got, err := DecodeJSON([]byte(c.text), c.dtype)
		if err != nil || !reflect.DeepEqual(got.Shape, c.shape) || !bytes.Equal(got.Data, c.data) {
			t.Errorf("%s as %s: %v %v, %v; want %v %v", c.text, c.dtype, got.Shape, got.Data, err, c.shape, c.data)
		}
	}
}

func TestDecodeJSONRefuses(t *testing.T) {
	for _, c := range []struct{ text, dtype, want string }{
		{"", "int8", "unexpected EOF"},
		{"[1, 2", "int8", "unexpected EOF"},
		{"[1] 2", "int8", "after the end"},
		{"[[1], [2, 3]]", "int8", "not rectangular"},
		{"[[1], 2]", "int8", "not rectangular"},
		{"[1, [2]]", "int8", "not rectangular"},
		{"[[], [1]]", "int8", "not rectangular"},
		{"[[1], []]", "int8", "not rectangular"},
		{"[[[]], []]", "int8", "not rectangular"},
		{"[[], [[]]]", "int8", "not rectangular"},
		{strings.Repeat("[", 1000000), "int8", "deeper than"},
		{"[1, null]", "int8", "null"},
		{`[{"a": 1}]`, "int8", "an object"},
		{"[128]", "int8", `"128" is no int8`},
		{"[1.5]", "int64", `"1.5" is no int64`},
		{"[-1]", "uint8", `"-1" is no uint8`},
		{"[2]", "bool", `"2" is no bool`},
		{`["x"]`, "float32", `"x" is no float32`},
		{"[1]", "complex64", "complex64"},
		{`{"dtype": "int64", "data": [1]}`, "int32", "holds int64"},
		{`{"shape": [3], "data": [1]}`, "int8", "needs 3 numbers"},
		{`{"shape": [-1], "data": []}`, "int8", "negative"},
		{`{"values": []}`, "int8", "unknown field"},
	} {
		_, err := DecodeJSON([]byte(c.text), c.dtype)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s as %s: error %v, want one with %q", c.text, c.dtype, err, c.want)
		}
	}
}

// everyType has arrays of all element types with values at their ends.
var everyType = []npy.Array{
	{DType: "bool", Shape: []int{2}, Data: []byte{0, 1}},
	{DType: "int8", Shape: []int{2}, Data: []byte{0x80, 0x7f}},
	{DType: "int16", Shape: []int{1}, Data: []byte{0, 0x80}},
	{DType: "int32", Shape: []int{1}, Data: []byte{0, 0, 0, 0x80}},
	{DType: "int64", Shape: []int{1}, Data: []byte{0, 0, 0, 0, 0, 0, 0, 0x80}},
	{DType: "uint8", Shape: []int{1}, Data: []byte{255}},
	{DType: "uint16", Shape: []int{1}, Data: []byte{255, 255}},
	{DType: "uint32", Shape: []int{1}, Data: []byte{255, 255, 255, 255}},
	{DType: "uint64", Shape: []int{1}, Data: []byte{255, 255, 255, 255, 255, 255, 255, 255}},
	{DType: "float16", Shape: []int{3}, Data: []byte{0x01, 0, 0xff, 0x7b, 0, 0x7c}},
	{DType: "bfloat16", Shape: []int{2}, Data: []byte{0x01, 0, 0x80, 0xff}},
	{DType: "float32", Shape: []int{1, 2}, Data: []byte{1, 0, 0, 0, 0xcd, 0xcc, 0xcc, 0x3d}},
	{DType: "float64", Shape: []int{}, Data: []byte{0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f}},
}

func TestEveryTypeAndFileRoundTrips(t *testing.T) {
	dir := t.TempDir()
	for _, kind := range []string{"a.npy", "a.json", "a.safetensors", "a.safetensors#x/y"} {
		for _, want := range everyType {
			ref, err := ParseReference("@" + filepath.Join(dir, kind))
			if err != nil {
				t.Fatal(err)
			}
			var w Writer
			if err := w.Add(ref, "out", want); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := Read(ref, want.DType)
			if err != nil || got.DType != want.DType || !reflect.DeepEqual(got.Shape, want.Shape) || !bytes.Equal(got.Data, want.Data) {
				t.Errorf("%s: %v came back as %v, %v", kind, want, got, err)
			}
		}
	}
}

func TestSeveralTensorsInOneFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "all.safetensors")
	var w Writer
	for _, a := range everyType {
		if err := w.Add(Reference{File: file}, a.DType, a); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Add(Reference{File: file}, "int8", everyType[0]); err == nil {
		t.Error("a name was taken twice")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range everyType {
		got, err := Read(Reference{File: file, Entry: want.DType}, want.DType)
		if err != nil || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("%s: %v, %v", want.DType, got, err)
		}
	}
	if _, err := Read(Reference{File: file}, "int8"); err == nil || !strings.Contains(err.Error(), "13 tensors") {
		t.Errorf("no entry: %v", err)
	}
	if _, err := Read(Reference{File: file, Entry: "none"}, "int8"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a missing entry: %v", err)
	}
}

func TestIntegersConvertWhenTheyFit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.npy")
	write := func(a npy.Array) Reference {
		var w Writer
		if err := w.Add(Reference{File: file}, "", a); err != nil {
			t.Fatal(err)
		}
		return Reference{File: file}
	}
	ref := write(npy.Array{DType: "int32", Shape: []int{2}, Data: []byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}})
	got, err := Read(ref, "int64")
	if want := []byte{1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}; err != nil || !bytes.Equal(got.Data, want) {
		t.Errorf("int32 as int64: %v, %v", got.Data, err)
	}
	for dtype, want := range map[string]string{"uint8": "element 1", "float32": "holds int32"} {
		if _, err := Read(ref, dtype); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("int32 as %s: %v", dtype, err)
		}
	}
}

func TestReferences(t *testing.T) {
	for text, want := range map[string]Reference{
		"[1]":                {Text: "[1]"},
		"@a.npy":             {File: "a.npy"},
		"@a.safetensors#x#y": {File: "a.safetensors", Entry: "x#y"},
	} {
		if got, err := ParseReference(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", " ", "@", "@#x"} {
		if _, err := ParseReference(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
	for _, r := range []Reference{{Text: "[1]"}, {File: "a.txt"}, {File: "a"}, {File: "a.npy", Entry: "x"}} {
		if err := CheckTarget(r); err == nil {
			t.Errorf("%v is a target", r)
		}
	}
	for _, r := range []Reference{{File: "a.txt"}, {File: "a.npy", Entry: "x"}, {File: filepath.Join(t.TempDir(), "none.npy")}} {
		if _, err := Read(r, "int8"); err == nil {
			t.Errorf("%v was read", r)
		}
	}
}

// A failed write leaves neither the target nor a temporary file behind.
func TestWriteIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "a.npy")
	if err := os.Mkdir(target, 0o755); err != nil {
		t.Fatal(err)
	}
	var w Writer
	if err := w.Add(Reference{File: target}, "", everyType[0]); err == nil {
		t.Error("a folder was overwritten")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func FuzzDecodeJSON(f *testing.F) {
	f.Add("[[1, 2], [3, 4]]")
	f.Add(`{"shape": [1], "data": ["NaN"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := DecodeJSON([]byte(text), "float32")
		if err != nil {
			return
		}
		count, err := npy.Count(a.Shape, 4)
		if err != nil || len(a.Data) != 4*count {
			t.Errorf("shape %v with %d bytes", a.Shape, len(a.Data))
		}
	})
}
