// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	nef "github.com/Hexa08/NEF"
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	maxRank = 16
	// mapBytes is the size from which weights are mapped instead of copied.
	mapBytes = 64 << 10
)

// tensorProto is a TensorProto. Its payload stays bytes of the file.
type tensorProto struct {
	name     string
	dims     []int64
	dataType int64
	raw      []byte
	hasRaw   bool
	packed   [][]byte // payloads of the typed field, in order
	loose    []uint64 // the same where a writer did not pack
	typed    protowire.Number
	external map[string]string
	isExtern bool
	strings  bool
	sparse   *sparseProto
}

// sparseProto are the elements of a sparse tensor that are not 0.
type sparseProto struct{ values, indices *tensorProto }

// The fields of a TensorProto that hold elements.
const (
	floatData  = protowire.Number(4)
	int32Data  = protowire.Number(5)
	int64Data  = protowire.Number(7)
	doubleData = protowire.Number(10)
	uint64Data = protowire.Number(11)
)

func parseTensor(data []byte) (*tensorProto, error) {
	t := &tensorProto{}
	err := eachField("tensor", data, func(x field) error {
		switch x.num {
		case 1:
			if len(t.dims)+len(x.bytes) > 10*maxRank {
				return limitError("a tensor has more than %d dims", maxRank)
			}
			return x.integers("dims", &t.dims)
		case 2:
			return x.integer("data_type", &t.dataType)
		case 3:
			return parseError("a tensor is in segments, which no writer makes")
		case floatData, int32Data, int64Data, doubleData, uint64Data:
			return t.addTyped(x)
		case 6:
			t.strings = true
		case 8:
			return x.text("tensor name", &t.name)
		case 9:
			t.hasRaw = true
			return x.message("raw_data", &t.raw)
		case 13:
			return t.addExternal(x)
		case 14:
			t.isExtern = x.number == 1
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(t.dims) > maxRank {
		return nil, limitError("tensor %q has %d dims, at most %d are supported", t.name, len(t.dims), maxRank)
	}
	return t, nil
}

func (t *tensorProto) addTyped(x field) error {
	if t.typed != 0 && t.typed != x.num {
		return parseError("tensor %q has data of two types", t.name)
	}
	t.typed = x.num
	if x.typ == protowire.BytesType {
		t.packed = append(t.packed, x.bytes)
		return nil
	}
	if len(t.packed) > 0 {
		return parseError("tensor %q has packed and other data", t.name)
	}
	t.loose = append(t.loose, x.number)
	return nil
}

func (t *tensorProto) addExternal(x field) error {
	var msg []byte
	if err := x.message("external_data", &msg); err != nil {
		return err
	}
	var key, value string
	err := eachField("external_data", msg, func(x field) error {
		switch x.num {
		case 1:
			return x.text("key", &key)
		case 2:
			return x.text("value", &value)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if t.external == nil {
		t.external = map[string]string{}
	}
	if _, twice := t.external[key]; twice {
		return parseError("tensor %q: external_data has the key %q twice", t.name, key)
	}
	t.external[key] = value
	return nil
}

func parseSparse(data []byte) (*tensorProto, error) {
	out := &tensorProto{sparse: &sparseProto{}}
	err := eachField("sparse tensor", data, func(x field) error {
		var msg []byte
		if x.num == 3 {
			return x.integers("dims", &out.dims)
		}
		if x.num != 1 && x.num != 2 {
			return nil
		}
		if err := x.message("sparse tensor", &msg); err != nil {
			return err
		}
		t, err := parseTensor(msg)
		if x.num == 1 {
			out.sparse.values = t
		} else {
			out.sparse.indices = t
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if out.sparse.values == nil || out.sparse.indices == nil || len(out.dims) > maxRank {
		return nil, parseError("a sparse tensor lacks values or indices, or has more than %d dims", maxRank)
	}
	out.name, out.dataType = out.sparse.values.name, out.sparse.values.dataType
	return out, nil
}

// elemType is what NEF has for an ONNX element type.
type elemType struct {
	name  string
	dtype nef.DType // 0 if NEF has none
	typed protowire.Number
}

// elemTypes are the members of TensorProto.DataType by their number.
var elemTypes = map[int64]elemType{
	1: {"float", nef.Float32, floatData}, 2: {"uint8", nef.Uint8, int32Data}, 3: {"int8", nef.Int8, int32Data},
	4: {"uint16", nef.Uint16, int32Data}, 5: {"int16", nef.Int16, int32Data}, 6: {"int32", nef.Int32, int32Data},
	7: {"int64", nef.Int64, int64Data}, 8: {"string", 0, 0}, 9: {"bool", nef.Bool, int32Data},
	10: {"float16", nef.Float16, int32Data}, 11: {"double", nef.Float64, doubleData},
	12: {"uint32", nef.Uint32, uint64Data}, 13: {"uint64", nef.Uint64, uint64Data},
	14: {"complex64", 0, 0}, 15: {"complex128", 0, 0}, 16: {"bfloat16", nef.BFloat16, int32Data},
	17: {"float8e4m3fn", nef.Float8E4M3FN, int32Data}, 18: {"float8e4m3fnuz", 0, 0}, 19: {"float8e5m2", nef.Float8E5M2, int32Data}, 20: {"float8e5m2fnuz", 0, 0},
	21: {"uint4", 0, 0}, 22: {"int4", 0, 0}, 23: {"float4e2m1", 0, 0}, 24: {"float8e8m0", 0, 0},
	25: {"uint2", 0, 0}, 26: {"int2", 0, 0},
}

// elemName is the name of an element type, or its number.
func elemName(t int64) string {
	if e, ok := elemTypes[t]; ok {
		return e.name
	}
	return "type " + strconv.FormatInt(t, 10)
}

// dtypeOf is NEF's dtype for an ONNX element type; 0 if there is none.
func dtypeOf(t int64) nef.DType { return elemTypes[t].dtype }

// shape checks the dims and returns them with the number of elements.
func (t *tensorProto) shape() ([]int, int, error) {
	shape := make([]int, len(t.dims))
	elements := 1
	for i, d := range t.dims {
		if d < 0 || d > math.MaxInt/2 {
			return nil, 0, parseError("tensor %q: dim %d is %d", t.name, i, d)
		}
		shape[i] = int(d)
		if d == 0 {
			elements = 0
		}
	}
	for _, d := range shape {
		if elements != 0 && elements > math.MaxInt/16/d {
			return nil, 0, parseError("tensor %q: shape %v has more elements than fit in memory", t.name, shape)
		}
		elements *= d
	}
	return shape, elements, nil
}

// value is the tensor as a constant. Large ones are mapped from their file.
func (m *Model) value(t *tensorProto) (*nef.Value, error) {
	v, err := m.tensorValue(t)
	if err == nil {
		err = v.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", t.name, err)
	}
	return v, nil
}

func (m *Model) tensorValue(t *tensorProto) (*nef.Value, error) {
	shape, elements, err := t.shape()
	if err != nil {
		return nil, err
	}
	dtype := dtypeOf(t.dataType)
	if dtype == 0 || t.strings {
		return nil, &nef.Error{Code: nef.CodeUnsupported, Op: "onnx", Msg: "elements of " + elemName(t.dataType) + " are not supported"}
	}
	bytes := elements * dtype.Size()
	switch {
	case t.sparse != nil:
		return m.sparseValue(t, shape, elements, dtype)
	case t.isExtern:
		return m.externalValue(t, shape, dtype, bytes)
	case t.hasRaw:
		if len(t.raw) != bytes {
			return nil, parseError("shape %v of %v needs %d bytes of raw_data, there are %d", shape, dtype, bytes, len(t.raw))
		}
		return m.bytesValue(t.name, t.raw, shape, dtype), nil
	}
	return m.typedValue(t, shape, elements, dtype)
}

// bytesValue is a constant over little-endian elements that lie in the model's file.
func (m *Model) bytesValue(name string, data []byte, shape []int, dtype nef.DType) *nef.Value {
	if offset, ok := m.offsetOf(data); ok && len(data) >= mapBytes {
		return nef.FromFile(m.file, offset, dtype, shape, weightName(name))
	}
	return nef.FromBytes(dtype, shape, data)
}

// weightName is a tensor's name where a .nef file can use it.
func weightName(name string) string {
	for _, c := range name {
		if c == 0 || c == 0xFFFD {
			return ""
		}
	}
	return name
}

// typedValue decodes the typed fields, which old writers use.
func (m *Model) typedValue(t *tensorProto, shape []int, elements int, dtype nef.DType) (*nef.Value, error) {
	want := elemTypes[t.dataType].typed
	if t.typed != 0 && t.typed != want {
		return nil, parseError("elements of %s are in field %d, want %d", elemName(t.dataType), t.typed, want)
	}
	if len(t.packed) == 1 && (want == floatData || want == doubleData) {
		if len(t.packed[0]) != elements*dtype.Size() {
			return nil, parseError("shape %v needs %d elements, there are %d bytes", shape, elements, len(t.packed[0]))
		}
		return m.bytesValue(t.name, t.packed[0], shape, dtype), nil
	}
	// Each element takes a byte at least: what is not there is not allocated.
	have := len(t.loose)
	for _, p := range t.packed {
		have += len(p)
	}
	if elements > have {
		return nil, parseError("shape %v needs %d elements, there are %d bytes of them", shape, elements, have)
	}
	v := nef.Fill(dtype, shape, func(out []byte) error { return t.decode(out, elements, dtype) })
	return v, v.Err()
}

// decode writes the elements of the typed field.
func (t *tensorProto) decode(out []byte, elements int, dtype nef.DType) error {
	size := dtype.Size()
	n := 0
	add := func(x uint64) error {
		if n == elements {
			return parseError("there are more elements than the shape's %d", elements)
		}
		x, ok := element(dtype, x)
		if !ok {
			return parseError("element %d is %d, which is no %v", n, int64(x), dtype)
		}
		putElement(out[n*size:], size, x)
		n++
		return nil
	}
	for _, x := range t.loose {
		if err := add(x); err != nil {
			return err
		}
	}
	for _, b := range t.packed {
		for len(b) > 0 {
			x, used := t.consume(b)
			if used < 0 {
				return parseError("%v", protowire.ParseError(used))
			}
			if err := add(x); err != nil {
				return err
			}
			b = b[used:]
		}
	}
	if n != elements {
		return parseError("the shape needs %d elements, there are %d", elements, n)
	}
	return nil
}

// consume reads one element of a packed field.
func (t *tensorProto) consume(b []byte) (uint64, int) {
	switch t.typed {
	case floatData:
		x, n := protowire.ConsumeFixed32(b)
		return uint64(x), n
	case doubleData:
		return protowire.ConsumeFixed64(b)
	}
	return protowire.ConsumeVarint(b)
}

// element is a number of a typed field as the bits of dtype. The fields are wider than most dtypes
// that stand in them; protobuf cuts int32_data to 32 bits.
func element(dtype nef.DType, x uint64) (uint64, bool) {
	n := int64(int32(x))
	switch dtype {
	case nef.Bool:
		if n != 0 {
			return 1, true
		}
		return 0, true
	case nef.Int8:
		return uint64(n), n == int64(int8(n))
	case nef.Int16:
		return uint64(n), n == int64(int16(n))
	case nef.Uint8, nef.Float8E4M3FN, nef.Float8E5M2:
		return uint64(n), n == int64(uint8(n))
	case nef.Uint16, nef.Float16, nef.BFloat16:
		return uint64(n), n == int64(uint16(n))
	case nef.Uint32:
		return x, x <= math.MaxUint32
	}
	return x, true
}

func putElement(out []byte, size int, x uint64) {
	switch size {
	case 1:
		out[0] = byte(x)
	case 2:
		binary.LittleEndian.PutUint16(out, uint16(x))
	case 4:
		binary.LittleEndian.PutUint32(out, uint32(x))
	default:
		binary.LittleEndian.PutUint64(out, x)
	}
}

// sparseValue is a sparse tensor with its zeros: a few elements scattered over a fill, which the
// engine makes when it compiles, so that a small file stays a small model.
func (m *Model) sparseValue(t *tensorProto, shape []int, elements int, dtype nef.DType) (*nef.Value, error) {
	values, err := m.tensorValue(t.sparse.values)
	if err != nil {
		return nil, err
	}
	indices, err := m.tensorValue(t.sparse.indices)
	if err != nil {
		return nil, err
	}
	zero := nef.FromBytes(dtype, nil, make([]byte, dtype.Size()))
	flat := nef.ConstantOfShape([]int{elements}, zero)
	if indices.Rank() == 1 {
		return nef.Reshape(nef.ScatterElements(flat, indices, values, 0), shape), nil
	}
	full := nef.ConstantOfShape(shape, zero)
	return nef.ScatterND(full, indices, values), nil
}
