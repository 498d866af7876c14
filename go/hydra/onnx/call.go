// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	nef "github.com/Hexa08/NEF"
)

// handler builds one node and returns its outputs, as many as it can or as are wanted.
type handler func(c *call) ([]item, error)

// call is a node being built.
type call struct {
	scope   *scope
	node    *nodeProto
	version int64
	in      []item
	attrs   map[string]*attribute
	used    map[string]bool
}

// newCall looks up the inputs and resolves attributes that refer to those of a function.
func (s *scope) newCall(n *nodeProto) (*call, error) {
	c := &call{scope: s, node: n, version: s.version(n.domain), attrs: map[string]*attribute{}, used: map[string]bool{}}
	c.in = make([]item, len(n.inputs))
	for i, name := range n.inputs {
		if name == "" {
			continue
		}
		it, err := s.lookup(name)
		if err != nil {
			return nil, err
		}
		c.in[i] = it
	}
	c.computeSizes()
	for i := range n.attributes {
		a := &n.attributes[i]
		if c.attrs[a.name] != nil {
			return nil, invalid("attribute %q is given twice", a.name)
		}
		if a.ref != "" {
			outer := s.functionAttr(a.ref)
			if outer == nil {
				continue
			}
			a = outer.named(a.name)
		}
		c.attrs[a.name] = a
	}
	return c, nil
}

// computeSizes computes inputs that sizes hang on, where they can be: the engine reads them while
// the graph is built.
func (c *call) computeSizes() {
	for _, i := range sizeInputs[c.node.opType] {
		if v := c.x(i); v != nil && !v.Open() && !c.scope.builder.heavy[v] && !large(v) {
			_ = v.Execute() // an error comes out of the op
		}
	}
}

func (s *scope) functionAttr(name string) *attribute {
	for at := s; at != nil; at = at.parent {
		if a := at.attrs[name]; a != nil {
			return a
		}
	}
	return nil
}

func (a *attribute) named(name string) *attribute {
	out := *a
	out.name = name
	return &out
}

// run finds the handler and calls it.
func (c *call) run() ([]item, error) {
	if f := c.scope.builder.m.function(c.node); f != nil {
		return c.inline(f)
	}
	v := findVariant(c.node.domain, c.node.opType, c.version)
	if v == nil {
		return nil, unsupported("%s of opset %d is not supported", opLabel(c.node), c.version)
	}
	outs, err := v.build(c)
	if err != nil {
		return nil, err
	}
	for name := range c.attrs {
		if !c.used[name] {
			return nil, unsupported("attribute %q is not known to %s of opset %d", name, opLabel(c.node), c.version)
		}
	}
	return outs, nil
}

// wanted is how many outputs, from the first one, somebody named.
func (c *call) wanted() int {
	for i := len(c.node.outputs); i > 0; i-- {
		if c.node.outputs[i-1] != "" {
			return i
		}
	}
	return 0
}

// x is input i, or nil where it is absent.
func (c *call) x(i int) *nef.Value {
	if i >= len(c.in) {
		return nil
	}
	return c.in[i].v
}

// values are all inputs; it fails when one is a sequence.
func (c *call) values() ([]*nef.Value, error) {
	out := make([]*nef.Value, len(c.in))
	for i, it := range c.in {
		if it.seq != nil {
			return nil, unsupported("input %d is a sequence", i)
		}
		out[i] = it.v
	}
	return out, nil
}

// need checks that the first n inputs are there and tensors.
func (c *call) need(n int) error {
	for i := range n {
		if c.x(i) == nil {
			return invalid("input %d is missing", i)
		}
	}
	return nil
}

func (c *call) attr(name string, typ attrType) (*attribute, error) {
	a := c.attrs[name]
	c.used[name] = true
	if a != nil && a.typ != typ {
		return nil, invalid("attribute %q is %v, want %v", name, a.typ, typ)
	}
	return a, nil
}

func (c *call) has(name string) bool { return c.attrs[name] != nil }

// ignore marks attributes that change nothing here.
func (c *call) ignore(names ...string) {
	for _, name := range names {
		c.used[name] = true
	}
}

func (c *call) int(name string, otherwise int) (int, error) {
	a, err := c.attr(name, attrInt)
	if a == nil {
		return otherwise, err
	}
	return int(a.i), nil
}

func (c *call) float(name string, otherwise float64) (float64, error) {
	a, err := c.attr(name, attrFloat)
	if a == nil {
		return otherwise, err
	}
	return float64(a.f), nil
}

func (c *call) string(name, otherwise string) (string, error) {
	a, err := c.attr(name, attrString)
	if a == nil {
		return otherwise, err
	}
	return a.s, nil
}

// ints is nil when the attribute is absent.
func (c *call) ints(name string) ([]int, error) {
	a, err := c.attr(name, attrInts)
	if a == nil {
		return nil, err
	}
	out := make([]int, len(a.ints))
	for i, x := range a.ints {
		out[i] = int(x)
	}
	return out, nil
}

// dtypeAttrs are attributes that hold an element type.
var dtypeAttrs = []string{"to", "dtype", "stash_type", "softmax_precision", "output_dtype", "output_datatype"}

// takeAttrs are the attributes that nobody has asked for yet, as nef.Call takes them.
func (c *call) takeAttrs() (nef.Attrs, error) {
	out := nef.Attrs{}
	for name, a := range c.attrs {
		if c.used[name] {
			continue
		}
		c.used[name] = true
		switch a.typ {
		case attrFloat:
			out[name] = float64(a.f)
		case attrInt:
			out[name] = a.i
			if slices.Contains(dtypeAttrs, name) {
				if a.i == 0 {
					delete(out, name)
					continue
				}
				dtype := dtypeOf(a.i)
				if dtype == 0 {
					return nil, unsupported("attribute %q is %s, elements that are not supported", name, elemName(a.i))
				}
				out[name] = dtype
			}
		case attrString:
			out[name] = a.s
		case attrStrings:
			out[name] = strings.Join(a.strings, ",")
		case attrInts:
			out[name] = append([]int64{}, a.ints...)
		case attrFloats:
			out[name] = append([]float32{}, a.floats...)
		default:
			return nil, unsupported("attribute %q is %v", name, a.typ)
		}
	}
	return out, nil
}

// emit builds an op of NEF's table with the attributes that are left.
func (c *call) emit(op string, inputs ...*nef.Value) ([]item, error) {
	attrs, err := c.takeAttrs()
	if err != nil {
		return nil, err
	}
	return items(nef.Call(op, inputs, attrs, max(1, c.wanted()))...), nil
}

// items wraps tensors.
func items(values ...*nef.Value) []item {
	out := make([]item, len(values))
	for i, v := range values {
		out[i] = item{v: v}
	}
	return out
}

// maxKnown is how many elements a value may have that is computed while importing, and whatever it
// is computed from: a small file must not cost much.
const maxKnown = 1 << 16

// known is the value of an input whose elements do not depend on the graph's inputs.
func known[T nef.Element](c *call, v *nef.Value) ([]T, bool) {
	if v == nil || v.Open() || c.scope.builder.heavy[v] || large(v) {
		return nil, false
	}
	data, err := nef.Data[T](v)
	return data, err == nil
}

// large reports whether a value has more than maxKnown elements.
func large(v *nef.Value) bool {
	elements := 1
	for _, n := range v.Shape() {
		if n < 0 || n > maxKnown {
			return true
		}
		if elements *= max(n, 1); elements > maxKnown {
			return true
		}
	}
	return false
}

// weigh marks outputs that are too much work to compute while importing.
func (c *call) weigh(outs []item) {
	b := c.scope.builder
	heavy := false
	for _, in := range c.in {
		heavy = heavy || in.v != nil && b.heavy[in.v]
	}
	for _, out := range outs {
		if out.v != nil && out.v.Err() == nil && !out.v.Open() && (heavy || large(out.v)) {
			b.heavy[out.v] = true
		}
	}
}

// require is x behind a check of the run: where the condition, which only a run knows, is not true
// everywhere, the run fails and names the op and what it wants. Nothing is left of a condition that
// is known.
func (c *call) require(x, condition *nef.Value, rule string, args ...any) (*nef.Value, error) {
	text := opLabel(c.node) + ": " + fmt.Sprintf(rule, args...)
	holds, ok := nef.Cast(condition, nef.Int64).KnownInts()
	if !ok {
		holds, ok = known[int64](c, nef.Cast(condition, nef.Int64))
	}
	if ok {
		if slices.Contains(holds, 0) {
			return nil, &nef.Error{Code: nef.CodeOutOfRange, Op: "onnx", Msg: text}
		}
		return x, nil
	}
	return nef.Require(x, condition, text), nil
}

// inputName is how the file calls an input, for messages.
func (c *call) inputName(i int) string {
	name := c.node.inputs[i]
	if len(name) > maxShownName {
		name = name[:maxShownName] + "..."
	}
	return strconv.Quote(name)
}

// maxShownName is how much of a name a message shows.
const maxShownName = 64
