// SPDX-License-Identifier: Apache-2.0

package onnx_test

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// A small writer of ONNX messages, so that tests say what bytes they mean.

type message []byte

func (m message) varint(num protowire.Number, x int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, num, protowire.VarintType), uint64(x))
}

func (m message) bytes(num protowire.Number, x []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, num, protowire.BytesType), x)
}

func (m message) text(num protowire.Number, x string) message { return m.bytes(num, []byte(x)) }

func attrInt(name string, x int64) message {
	return message{}.text(1, name).varint(3, x).varint(20, 2)
}

func attrInts(name string, xs ...int64) message {
	m := message{}.text(1, name).varint(20, 7)
	for _, x := range xs {
		m = m.varint(8, x)
	}
	return m
}

func attrGraph(name string, g message) message {
	return message{}.text(1, name).bytes(6, g).varint(20, 5)
}

func attrRef(name, ref string, typ int64) message {
	return message{}.text(1, name).text(21, ref).varint(20, typ)
}

func node(op string, inputs, outputs []string, attrs ...message) message {
	return domainNode("", op, inputs, outputs, attrs...)
}

func domainNode(domain, op string, inputs, outputs []string, attrs ...message) message {
	var m message
	for _, in := range inputs {
		m = m.text(1, in)
	}
	for _, out := range outputs {
		m = m.text(2, out)
	}
	m = m.text(3, op+" of "+outputs[0]).text(4, op)
	for _, a := range attrs {
		m = m.bytes(5, a)
	}
	if domain != "" {
		m = m.text(7, domain)
	}
	return m
}

// floats is a float tensor as raw data.
func floats(name string, dims []int64, xs ...float32) message {
	raw := make([]byte, 0, 4*len(xs))
	for _, x := range xs {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return tensor(name, 1, dims).bytes(9, raw)
}

// int64s is an int64 tensor in its typed field.
func int64s(name string, dims []int64, xs ...int64) message {
	var packed []byte
	for _, x := range xs {
		packed = protowire.AppendVarint(packed, uint64(x))
	}
	return tensor(name, 7, dims).bytes(7, packed)
}

func tensor(name string, dataType int64, dims []int64) message {
	var m message
	for _, d := range dims {
		m = m.varint(1, d)
	}
	return m.varint(2, dataType).text(8, name)
}

// value is an input or output; a dim is an int, a string for a name, or nil for nothing.
func value(name string, elem int64, dims ...any) message {
	var shape message
	for _, d := range dims {
		var dim message
		switch x := d.(type) {
		case int:
			dim = dim.varint(1, int64(x))
		case string:
			dim = dim.text(2, x)
		}
		shape = shape.bytes(1, dim)
	}
	return message{}.text(1, name).bytes(2, message{}.bytes(1, message{}.varint(1, elem).bytes(2, shape)))
}

type graph struct{ nodes, initializers, inputs, outputs []message }

func (g graph) message() message {
	m := message{}.text(2, "g")
	for num, list := range map[protowire.Number][]message{1: g.nodes, 5: g.initializers, 11: g.inputs, 12: g.outputs} {
		for _, x := range list {
			m = m.bytes(num, x)
		}
	}
	return m
}

// model is a file of that opset.
func model(opset int64, g graph, functions ...message) message {
	m := message{}.varint(1, 8).text(2, "test").bytes(7, g.message()).bytes(8, message{}.varint(2, opset))
	for _, f := range functions {
		m = m.bytes(25, f)
	}
	return m
}
