// SPDX-License-Identifier: Apache-2.0

// Package npy reads and writes NumPy's .npy files, versions 1 to 3. It is strict (what it does not
// know it refuses, by name) and reads no more memory than the file has bytes.
package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Array is a dense row-major tensor in little-endian bytes. DType is a NumPy name such as "float32".
type Array struct {
	DType string
	Shape []int
	Data  []byte
}

const (
	magic     = "\x93NUMPY"
	maxHeader = 1 << 20
	maxRank   = 64
	alignment = 64
)

type format struct {
	dtype string
	code  string // without byte order
	size  int
}

// formats has every element type an Array may have. NumPy knows no bfloat16 and no 8-bit floats: its
// ml_dtypes extension stores a bfloat16 as a two-byte void, a float8_e4m3fn as a one-byte void and a
// float8_e5m2 as f1, and so does this package.
var formats = []format{
	{"bool", "b1", 1}, {"int8", "i1", 1}, {"int16", "i2", 2}, {"int32", "i4", 4}, {"int64", "i8", 8},
	{"uint8", "u1", 1}, {"uint16", "u2", 2}, {"uint32", "u4", 4}, {"uint64", "u8", 8},
	{"float16", "f2", 2}, {"float32", "f4", 4}, {"float64", "f8", 8}, {"bfloat16", "V2", 2},
	{"float8_e4m3fn", "V1", 1}, {"float8_e5m2", "f1", 1},
}

// ItemSize is the number of bytes of one element, 0 for an unknown type.
func ItemSize(dtype string) int {
	for _, f := range formats {
		if f.dtype == dtype {
			return f.size
		}
	}
	return 0
}

// Count multiplies the dimensions out. It fails on a negative one and on overflow.
func Count(shape []int, itemSize int) (int, error) {
	count := 1
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("npy: shape %v has a negative dimension", shape)
		}
		if d != 0 && count > math.MaxInt/d {
			return 0, fmt.Errorf("npy: shape %v has too many elements", shape)
		}
		count *= d
	}
	if count > math.MaxInt/itemSize {
		return 0, fmt.Errorf("npy: shape %v has too many bytes", shape)
	}
	return count, nil
}

// Decode reads one array from the whole content of a file. Big-endian data is swapped and Fortran
// order transposed; data after the array is an error. Row-major little-endian data is not copied.
func Decode(file []byte) (Array, error) {
	head, data, err := splitHeader(file)
	if err != nil {
		return Array{}, err
	}
	h, err := parseHeader(head)
	if err != nil {
		return Array{}, err
	}
	f, swap, err := formatOf(h.descr)
	if err != nil {
		return Array{}, err
	}
	count, err := Count(h.shape, f.size)
	if err != nil {
		return Array{}, err
	}
	if len(data) != count*f.size {
		return Array{}, fmt.Errorf("npy: %v of %s needs %d bytes of data, the file has %d", h.shape, f.dtype, count*f.size, len(data))
	}
	if swap {
		data = swapped(data, f.size)
	}
	if h.fortran && len(h.shape) > 1 {
		data = rowMajor(data, h.shape, f.size)
	}
	if f.dtype == "bool" {
		if i := bytes.IndexFunc(data, func(r rune) bool { return r > 1 }); i >= 0 {
			return Array{}, fmt.Errorf("npy: element %d is %d, a bool is 0 or 1", i, data[i])
		}
	}
	return Array{DType: f.dtype, Shape: h.shape, Data: data}, nil
}

// Write writes a as a version 1.0 file.
func Write(w io.Writer, a Array) error {
	f, err := check(a)
	if err != nil {
		return err
	}
	order := "<"
	if f.size == 1 {
		order = "|"
	}
	dims := make([]string, len(a.Shape))
	for i, d := range a.Shape {
		dims[i] = fmt.Sprint(d)
	}
	shape := "(" + strings.Join(dims, ", ") + ")"
	if len(dims) == 1 {
		shape = "(" + dims[0] + ",)"
	}
	dict := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': %s, }", order, f.code, shape)
	// The data starts at a multiple of 64 bytes, and a newline ends the header.
	pad := alignment - (len(magic)+4+len(dict)+1)%alignment
	dict += strings.Repeat(" ", pad%alignment) + "\n"
	head := append([]byte(magic), 1, 0)
	head = binary.LittleEndian.AppendUint16(head, uint16(len(dict)))
	if _, err := w.Write(append(head, dict...)); err != nil {
		return err
	}
	_, err = w.Write(a.Data)
	return err
}

func check(a Array) (format, error) {
	if len(a.Shape) > maxRank {
		return format{}, fmt.Errorf("npy: %d dimensions, at most %d are possible", len(a.Shape), maxRank)
	}
	for _, f := range formats {
		if f.dtype != a.DType {
			continue
		}
		count, err := Count(a.Shape, f.size)
		if err == nil && len(a.Data) != count*f.size {
			err = fmt.Errorf("npy: %v of %s needs %d bytes, got %d", a.Shape, a.DType, count*f.size, len(a.Data))
		}
		return f, err
	}
	return format{}, fmt.Errorf("npy: cannot store element type %q", a.DType)
}

func splitHeader(file []byte) (head string, data []byte, err error) {
	if len(file) < 10 || string(file[:6]) != magic {
		return "", nil, errors.New("npy: not a .npy file: it does not begin with \\x93NUMPY")
	}
	start, size := 10, int(binary.LittleEndian.Uint16(file[8:]))
	switch file[6] {
	case 1:
	case 2, 3:
		if len(file) < 12 {
			return "", nil, errors.New("npy: the file ends inside its header")
		}
		start, size = 12, int(binary.LittleEndian.Uint32(file[8:]))
	default:
		return "", nil, fmt.Errorf("npy: format version %d.%d is unknown, expected 1, 2 or 3", file[6], file[7])
	}
	if size > maxHeader {
		return "", nil, fmt.Errorf("npy: a header of %d bytes, at most %d are accepted", size, maxHeader)
	}
	if size > len(file)-start {
		return "", nil, errors.New("npy: the file ends inside its header")
	}
	return string(file[start : start+size]), file[start+size:], nil
}

func formatOf(descr string) (f format, swap bool, err error) {
	if len(descr) > 1 {
		order, code := descr[0], descr[1:]
		for _, f := range formats {
			if f.code == code && strings.IndexByte("<>|=", order) >= 0 {
				return f, order == '>' && f.size > 1, nil
			}
		}
	}
	return format{}, false, fmt.Errorf("npy: element type %q is not supported (bool, int, uint, float, bfloat16 as V2, float8_e4m3fn as V1 and float8_e5m2 as f1 are)", descr)
}

func swapped(data []byte, size int) []byte {
	out := make([]byte, len(data))
	for i := 0; i < len(data); i += size {
		for j := range size {
			out[i+j] = data[i+size-1-j]
		}
	}
	return out
}

// rowMajor copies column-major data into row-major order.
func rowMajor(data []byte, shape []int, size int) []byte {
	out := make([]byte, len(data))
	index := make([]int, len(shape))
	strides := make([]int, len(shape))
	stride := size
	for i, d := range shape {
		strides[i] = stride
		stride *= d
	}
	from := 0
	for to := 0; to < len(out); to += size {
		copy(out[to:to+size], data[from:from+size])
		for axis := len(shape) - 1; axis >= 0; axis-- {
			index[axis]++
			from += strides[axis]
			if index[axis] < shape[axis] {
				break
			}
			from -= strides[axis] * shape[axis]
			index[axis] = 0
		}
	}
	return out
}
