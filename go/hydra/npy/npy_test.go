// SPDX-License-Identifier: Apache-2.0

package npy

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
)

// file makes a .npy file the way NumPy lays it out.
func file(version byte, dict string, data []byte) []byte {
	out := append([]byte(magic), version, 0)
	if version == 1 {
		out = binary.LittleEndian.AppendUint16(out, uint16(len(dict)))
	} else {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(dict)))
	}
	return append(append(out, dict...), data...)
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name string
		file []byte
		want Array
	}{
		{"version 1", file(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }   \n", []byte{1, 0, 2, 0}),
			Array{"int16", []int{2}, []byte{1, 0, 2, 0}}},
		{"version 2, other key order, no trailing comma", file(2, `{"shape": (1, 2), "descr": "|u1", "fortran_order": False}`, []byte{7, 8}),
			Array{"uint8", []int{1, 2}, []byte{7, 8}}},
		{"version 3, scalar", file(3, "{'descr': '|b1', 'fortran_order': False, 'shape': ()}", []byte{1}),
			Array{"bool", []int{}, []byte{1}}},
		{"big-endian", file(1, "{'descr': '>u4', 'fortran_order': False, 'shape': (1,), }", []byte{0, 0, 1, 2}),
			Array{"uint32", []int{1}, []byte{2, 1, 0, 0}}},
		{"Fortran order", file(1, "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", []byte{1, 4, 2, 5, 3, 6}),
			Array{"int8", []int{2, 3}, []byte{1, 2, 3, 4, 5, 6}}},
		{"Fortran order, three axes", file(1, "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 1, 2), }", []byte{1, 3, 2, 4}),
			Array{"int8", []int{2, 1, 2}, []byte{1, 2, 3, 4}}},
		{"empty", file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 0), }", []byte{}),
			Array{"float64", []int{3, 0}, []byte{}}},
		{"bfloat16", file(1, "{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }", []byte{0x80, 0x3f}),
			Array{"bfloat16", []int{1}, []byte{0x80, 0x3f}}},
	} {
		got, err := Decode(c.file)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	dict := func(descr, fortran, shape string) string {
		return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }"
	}
	good := file(1, dict("'<f4'", "False", "(2,)"), make([]byte, 8))
	if _, err := Decode(good); err != nil {
		t.Fatalf("the base case: %v", err)
	}
	for _, c := range []struct {
		file []byte
		want string
	}{
		{nil, "does not begin"},
		{[]byte("PK\x03\x04 a zip file"), "does not begin"},
		{good[:9], "does not begin"},
		{good[:40], "ends inside its header"},
		{file(9, dict("'<f4'", "False", "()"), nil), "version 9.0"},
		{append([]byte(magic), 2, 0, 0xff, 0xff, 0xff, 0xff, 0, 0), "at most"},
		{good[:len(good)-1], "the file has 7"},
		{append(bytes.Clone(good), 0), "the file has 9"},
		{file(1, dict("'<c8'", "False", "()"), make([]byte, 8)), `element type "<c8"`},
		{file(1, dict("'|O'", "False", "()"), make([]byte, 8)), `element type "|O"`},
		{file(1, dict("[('a', '<f4')]", "False", "()"), nil), "structured"},
		{file(1, dict("'<f4'", "0", "()"), nil), "True or False"},
		{file(1, dict("'<f4'", "False", "(-1,)"), nil), "a dimension"},
		{file(1, dict("'<f4'", "False", "(99999999999999999999,)"), nil), "too large"},
		{file(1, dict("'<f4'", "False", "(4294967296, 4294967296)"), nil), "too many elements"},
		{file(1, dict("'<f4'", "False", "("+strings.Repeat("1, ", 65)+")"), nil), "more than 64"},
		{file(1, "{'descr': '<f4', 'shape': ()}", nil), "expected the keys"},
		{file(1, "{'descr': '<f4', 'descr': '<f4', 'shape': ()}", nil), "twice"},
		{file(1, "{'descr': '<f4', 'other': ()}", nil), `unknown key "other"`},
		{file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", make([]byte, 4)), "after the dictionary"},
		{file(1, "", nil), `expected "{"`},
		{file(1, "{'descr': '<f4", nil), "expected a string"},
		{file(1, dict("'|b1'", "False", "(2,)"), []byte{1, 2}), "a bool is 0 or 1"},
	} {
		_, err := Decode(c.file)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.file, err, c.want)
		}
	}
}

func TestRoundTripOfEveryType(t *testing.T) {
	for _, f := range formats {
		for _, shape := range [][]int{{}, {3}, {2, 3}, {0}, {1, 1, 1, 2}} {
			count, err := Count(shape, f.size)
			if err != nil {
				t.Fatal(err)
			}
			a := Array{f.dtype, shape, bytes.Repeat([]byte{1}, count*f.size)}
			var buf bytes.Buffer
			if err := Write(&buf, a); err != nil {
				t.Fatal(err)
			}
			if start := buf.Len() - len(a.Data); start%alignment != 0 {
				t.Errorf("%s %v: data starts at %d", f.dtype, shape, start)
			}
			got, err := Decode(buf.Bytes())
			if err != nil || got.DType != a.DType || !reflect.DeepEqual(got.Shape, a.Shape) || !bytes.Equal(got.Data, a.Data) {
				t.Errorf("%s %v came back as %v, %v", f.dtype, shape, got, err)
			}
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, a := range []Array{
		{"complex64", nil, nil},
		{"float32", []int{2}, make([]byte, 7)},
		{"float32", []int{-1}, nil},
		{"int8", make([]int, 65), nil},
	} {
		if err := Write(new(bytes.Buffer), a); err == nil {
			t.Errorf("%v was written", a)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(file(1, "{'descr': '>f4', 'fortran_order': True, 'shape': (1, 2), }", make([]byte, 8)))
	f.Add(file(2, "{'descr': '|V2', 'fortran_order': False, 'shape': (), }", make([]byte, 2)))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Decode(data)
		if err != nil {
			return
		}
		var buf bytes.Buffer
		if err := Write(&buf, a); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
	})
}
