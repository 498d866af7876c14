// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"fmt"
	"math"

	nef "github.com/Hexa08/NEF"
	"google.golang.org/protobuf/encoding/protowire"
)

// parseError is what malformed bytes give.
func parseError(format string, args ...any) error {
	return &nef.Error{Code: nef.CodeParse, Op: "onnx", Msg: fmt.Sprintf(format, args...)}
}

func limitError(format string, args ...any) error {
	return &nef.Error{Code: nef.CodeLimitExceeded, Op: "onnx", Msg: fmt.Sprintf(format, args...)}
}

// field is one field of a protobuf message: number holds varints and fixed words, bytes what is
// length-delimited, as a window of the message.
type field struct {
	num    protowire.Number
	typ    protowire.Type
	number uint64
	bytes  []byte
}

// eachField calls f with the fields of a message in their order. Groups, which ONNX does not use,
// are skipped.
func eachField(what string, msg []byte, f func(x field) error) error {
	for len(msg) > 0 {
		num, typ, n := protowire.ConsumeTag(msg)
		if n < 0 {
			return parseError("%s: %v", what, protowire.ParseError(n))
		}
		msg = msg[n:]
		x := field{num: num, typ: typ}
		switch typ {
		case protowire.VarintType:
			x.number, n = protowire.ConsumeVarint(msg)
		case protowire.Fixed32Type:
			var word uint32
			word, n = protowire.ConsumeFixed32(msg)
			x.number = uint64(word)
		case protowire.Fixed64Type:
			x.number, n = protowire.ConsumeFixed64(msg)
		case protowire.BytesType:
			x.bytes, n = protowire.ConsumeBytes(msg)
		default:
			n = protowire.ConsumeFieldValue(num, typ, msg)
		}
		if n < 0 {
			return parseError("%s: field %d: %v", what, num, protowire.ParseError(n))
		}
		msg = msg[n:]
		if typ == protowire.StartGroupType {
			continue
		}
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// want refuses a field whose wire type is not that of the schema.
func (x field) want(what string, typ protowire.Type) error {
	if x.typ == typ {
		return nil
	}
	return parseError("%s: field %d has wire type %d, want %d", what, x.num, x.typ, typ)
}

// text, message, integer and float read a field of that type into a variable.
func (x field) text(what string, to *string) error {
	if err := x.want(what, protowire.BytesType); err != nil {
		return err
	}
	*to = string(x.bytes)
	return nil
}

func (x field) message(what string, to *[]byte) error {
	if err := x.want(what, protowire.BytesType); err != nil {
		return err
	}
	*to = x.bytes
	return nil
}

func (x field) integer(what string, to *int64) error {
	if err := x.want(what, protowire.VarintType); err != nil {
		return err
	}
	*to = int64(x.number)
	return nil
}

func (x field) float(what string, to *float32) error {
	if err := x.want(what, protowire.Fixed32Type); err != nil {
		return err
	}
	*to = math.Float32frombits(uint32(x.number))
	return nil
}

// integers appends a repeated integer, packed or not.
func (x field) integers(what string, to *[]int64) error {
	if x.typ == protowire.VarintType {
		*to = append(*to, int64(x.number))
		return nil
	}
	if err := x.want(what, protowire.BytesType); err != nil {
		return err
	}
	for b := x.bytes; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return parseError("%s: %v", what, protowire.ParseError(n))
		}
		*to = append(*to, int64(v))
		b = b[n:]
	}
	return nil
}

// floats appends a repeated float, packed or not.
func (x field) floats(what string, to *[]float32) error {
	if x.typ == protowire.Fixed32Type {
		*to = append(*to, math.Float32frombits(uint32(x.number)))
		return nil
	}
	if err := x.want(what, protowire.BytesType); err != nil {
		return err
	}
	if len(x.bytes)%4 != 0 {
		return parseError("%s: %d bytes are no whole number of floats", what, len(x.bytes))
	}
	for b := x.bytes; len(b) > 0; b = b[4:] {
		v, _ := protowire.ConsumeFixed32(b)
		*to = append(*to, math.Float32frombits(v))
	}
	return nil
}
