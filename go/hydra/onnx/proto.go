// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"bytes"
	"fmt"
	"strconv"
)

// The messages of ONNX as far as an import needs them. Nodes and tensors stay bytes of the file
// until they are asked for, so that a model's size in memory does not follow its file's.

type modelProto struct {
	irVersion       int64
	producer        string
	producerVersion string
	graph           *graphProto
	opsets          map[string]int64
	functions       map[functionKey]*functionProto
}

type functionKey struct{ domain, name, overload string }

type graphProto struct {
	name         string
	nodes        [][]byte
	initializers []tensorProto
	inputs       []valueInfo
	outputs      []valueInfo
}

type functionProto struct {
	key        functionKey
	inputs     []string
	outputs    []string
	attributes []string    // without default
	defaults   []attribute // with default
	opsets     map[string]int64
	nodes      [][]byte
}

type nodeProto struct {
	name, opType, domain, overload string
	inputs, outputs                []string
	attributes                     []attribute
}

// label is how errors call a node.
func (n *nodeProto) label() string {
	if n.name != "" {
		return strconv.Quote(n.name)
	}
	for _, out := range n.outputs {
		if out != "" {
			return "of output " + strconv.Quote(out)
		}
	}
	return "without a name"
}

type attrType int64

const (
	attrFloat   attrType = 1
	attrInt     attrType = 2
	attrString  attrType = 3
	attrTensor  attrType = 4
	attrGraph   attrType = 5
	attrFloats  attrType = 6
	attrInts    attrType = 7
	attrStrings attrType = 8
	attrTensors attrType = 9
	attrGraphs  attrType = 10
	attrSparse  attrType = 11
	attrType_   attrType = 13
)

func (t attrType) String() string {
	names := map[attrType]string{
		attrFloat: "a float", attrInt: "an int", attrString: "a string", attrTensor: "a tensor",
		attrGraph: "a graph", attrFloats: "floats", attrInts: "ints", attrStrings: "strings",
		attrTensors: "tensors", attrGraphs: "graphs", attrSparse: "a sparse tensor", attrType_: "a type",
	}
	if name, ok := names[t]; ok {
		return name
	}
	return fmt.Sprintf("of type %d", int64(t))
}

type attribute struct {
	name    string
	typ     attrType
	ref     string // name of the function's attribute that stands here
	f       float32
	i       int64
	s       string
	tensor  *tensorProto
	graph   []byte
	sparse  []byte
	floats  []float32
	ints    []int64
	strings []string
}

type valueInfo struct {
	name string
	typ  typeProto
}

// typeProto is a tensor's type; other types have only a kind.
type typeProto struct {
	kind     string // "tensor", "sequence", "optional", "map", "sparse tensor", "" if there is none
	elem     int64
	hasShape bool
	dims     []dimProto
}

// dimProto is a number, a name, or neither: then it is unknown and equal to nothing.
type dimProto struct {
	known bool
	value int64
	param string
}

func parseModel(data []byte) (*modelProto, error) {
	m := &modelProto{opsets: map[string]int64{}, functions: map[functionKey]*functionProto{}}
	err := eachField("model", data, func(x field) error {
		var msg []byte
		switch x.num {
		case 1:
			return x.integer("ir_version", &m.irVersion)
		case 2:
			return x.text("producer_name", &m.producer)
		case 3:
			return x.text("producer_version", &m.producerVersion)
		case 7:
			if err := x.message("graph", &msg); err != nil {
				return err
			}
			if m.graph != nil {
				return parseError("model: there are two graphs")
			}
			var err error
			m.graph, err = parseGraph(msg)
			return err
		case 8:
			return x.opset("model", m.opsets)
		case 25:
			if err := x.message("function", &msg); err != nil {
				return err
			}
			f, err := parseFunction(msg)
			if err != nil {
				return err
			}
			if m.functions[f.key] != nil {
				return parseError("model: there are two functions %s.%s", f.key.domain, f.key.name)
			}
			m.functions[f.key] = f
		}
		return nil
	})
	if kind := otherFormat(data); kind != "" && (err != nil || m.graph == nil) {
		return nil, parseError("this is %s, not an ONNX model", kind)
	}
	if err != nil {
		return nil, err
	}
	if m.graph == nil {
		return nil, parseError("there is no graph: this is not an ONNX model, or it is empty")
	}
	return m, nil
}

// otherFormat names what is often taken for an ONNX model by mistake; "" for anything else.
func otherFormat(data []byte) string {
	starts := func(magic string) bool { return bytes.HasPrefix(data, []byte(magic)) }
	switch {
	case starts("version https://git-lfs"):
		return "a Git LFS pointer whose file was not fetched (git lfs pull)"
	case starts("PK\x03\x04"):
		return "a zip archive, as PyTorch and Keras write (export it as ONNX first)"
	case starts("GGUF"):
		return "a GGUF file of weights"
	case starts("{"):
		return "JSON (a .nef file needs no import)"
	case starts("<"):
		return "a page of HTML or XML, such as a failed download leaves"
	case len(data) > 9 && data[8] == '{' && data[9] == '"':
		return "a safetensors file of weights"
	case len(data) > 8 && string(data[4:8]) == "TFL3":
		return "a TensorFlow Lite model"
	}
	return ""
}

func (x field) opset(what string, to map[string]int64) error {
	var msg []byte
	if err := x.message("opset_import", &msg); err != nil {
		return err
	}
	var domain string
	var version int64
	err := eachField("opset_import", msg, func(x field) error {
		switch x.num {
		case 1:
			return x.text("domain", &domain)
		case 2:
			return x.integer("version", &version)
		}
		return nil
	})
	if err != nil {
		return err
	}
	domain = canonicalDomain(domain)
	if have, ok := to[domain]; ok && have != version {
		return parseError("%s: domain %q is imported with versions %d and %d", what, domain, have, version)
	}
	to[domain] = version
	return nil
}

// canonicalDomain is "" for ONNX's own operators.
func canonicalDomain(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

func parseGraph(data []byte) (*graphProto, error) {
	g := &graphProto{}
	err := eachField("graph", data, func(x field) error {
		var msg []byte
		switch x.num {
		case 1:
			if err := x.message("node", &msg); err != nil {
				return err
			}
			g.nodes = append(g.nodes, msg)
		case 2:
			return x.text("graph name", &g.name)
		case 5:
			if err := x.message("initializer", &msg); err != nil {
				return err
			}
			t, err := parseTensor(msg)
			if err != nil {
				return err
			}
			g.initializers = append(g.initializers, *t)
		case 11:
			return x.valueInfo("input", &g.inputs)
		case 12:
			return x.valueInfo("output", &g.outputs)
		case 15:
			if err := x.message("sparse_initializer", &msg); err != nil {
				return err
			}
			t, err := parseSparse(msg)
			if err != nil {
				return err
			}
			g.initializers = append(g.initializers, *t)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

func (x field) valueInfo(what string, to *[]valueInfo) error {
	var msg []byte
	if err := x.message(what, &msg); err != nil {
		return err
	}
	var v valueInfo
	err := eachField(what, msg, func(x field) error {
		switch x.num {
		case 1:
			return x.text(what, &v.name)
		case 2:
			var typ []byte
			if err := x.message(what, &typ); err != nil {
				return err
			}
			var err error
			v.typ, err = parseType(typ)
			return err
		}
		return nil
	})
	*to = append(*to, v)
	return err
}

func parseType(data []byte) (typeProto, error) {
	var t typeProto
	err := eachField("type", data, func(x field) error {
		var msg []byte
		switch x.num {
		case 1:
			t.kind = "tensor"
			if err := x.message("tensor type", &msg); err != nil {
				return err
			}
			return eachField("tensor type", msg, t.tensorField)
		case 4:
			t.kind = "sequence"
		case 5:
			t.kind = "map"
		case 8:
			t.kind = "sparse tensor"
		case 9:
			t.kind = "optional"
		}
		return nil
	})
	return t, err
}

func (t *typeProto) tensorField(x field) error {
	switch x.num {
	case 1:
		return x.integer("elem_type", &t.elem)
	case 2:
		var msg []byte
		if err := x.message("shape", &msg); err != nil {
			return err
		}
		t.hasShape = true
		return eachField("shape", msg, func(x field) error {
			if x.num != 1 {
				return nil
			}
			var dim []byte
			if err := x.message("dim", &dim); err != nil {
				return err
			}
			var d dimProto
			err := eachField("dim", dim, func(x field) error {
				switch x.num {
				case 1:
					d.known = true
					return x.integer("dim_value", &d.value)
				case 2:
					return x.text("dim_param", &d.param)
				}
				return nil
			})
			if len(t.dims) > maxRank {
				return limitError("a shape has more than %d dims", maxRank)
			}
			t.dims = append(t.dims, d)
			return err
		})
	}
	return nil
}

func parseFunction(data []byte) (*functionProto, error) {
	f := &functionProto{opsets: map[string]int64{}}
	err := eachField("function", data, func(x field) error {
		var s string
		var msg []byte
		switch x.num {
		case 1:
			return x.text("function name", &f.key.name)
		case 4, 5, 6:
			if err := x.text("function", &s); err != nil {
				return err
			}
			switch x.num {
			case 4:
				f.inputs = append(f.inputs, s)
			case 5:
				f.outputs = append(f.outputs, s)
			case 6:
				f.attributes = append(f.attributes, s)
			}
		case 7:
			if err := x.message("node", &msg); err != nil {
				return err
			}
			f.nodes = append(f.nodes, msg)
		case 9:
			return x.opset("function", f.opsets)
		case 10:
			err := x.text("function domain", &f.key.domain)
			f.key.domain = canonicalDomain(f.key.domain)
			return err
		case 11:
			if err := x.message("attribute", &msg); err != nil {
				return err
			}
			a, err := parseAttribute(msg)
			if err != nil {
				return err
			}
			f.defaults = append(f.defaults, *a)
		case 13:
			return x.text("overload", &f.key.overload)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func parseNode(data []byte) (*nodeProto, error) {
	n := &nodeProto{}
	err := eachField("node", data, func(x field) error {
		var s string
		switch x.num {
		case 1, 2:
			if err := x.text("node", &s); err != nil {
				return err
			}
			if x.num == 1 {
				n.inputs = append(n.inputs, s)
			} else {
				n.outputs = append(n.outputs, s)
			}
		case 3:
			return x.text("node name", &n.name)
		case 4:
			return x.text("op_type", &n.opType)
		case 5:
			var msg []byte
			if err := x.message("attribute", &msg); err != nil {
				return err
			}
			a, err := parseAttribute(msg)
			if err != nil {
				return err
			}
			n.attributes = append(n.attributes, *a)
		case 7:
			err := x.text("domain", &n.domain)
			n.domain = canonicalDomain(n.domain)
			return err
		case 8:
			return x.text("overload", &n.overload)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n.opType == "" {
		return nil, parseError("node %s has no op_type", n.label())
	}
	return n, nil
}

func parseAttribute(data []byte) (*attribute, error) {
	a := &attribute{}
	var seen attrType
	err := eachField("attribute", data, func(x field) error {
		var msg []byte
		switch x.num {
		case 1:
			return x.text("attribute name", &a.name)
		case 2:
			seen = attrFloat
			return x.float("attribute", &a.f)
		case 3:
			seen = attrInt
			return x.integer("attribute", &a.i)
		case 4:
			seen = attrString
			return x.text("attribute", &a.s)
		case 5:
			seen = attrTensor
			if err := x.message("attribute", &msg); err != nil {
				return err
			}
			var err error
			a.tensor, err = parseTensor(msg)
			return err
		case 6:
			seen = attrGraph
			return x.message("attribute", &a.graph)
		case 7:
			seen = attrFloats
			return x.floats("attribute", &a.floats)
		case 8:
			seen = attrInts
			return x.integers("attribute", &a.ints)
		case 9:
			seen = attrStrings
			var s string
			err := x.text("attribute", &s)
			a.strings = append(a.strings, s)
			return err
		case 10:
			seen = attrTensors
		case 11:
			seen = attrGraphs
		case 14:
			seen = attrType_
		case 20:
			var typ int64
			err := x.integer("attribute type", &typ)
			a.typ = attrType(typ)
			return err
		case 21:
			return x.text("ref_attr_name", &a.ref)
		case 22:
			seen = attrSparse
			return x.message("attribute", &a.sparse)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if a.name == "" {
		return nil, parseError("an attribute has no name")
	}
	// Old exporters leave the type out.
	if a.typ == 0 {
		a.typ = seen
	}
	return a, nil
}
