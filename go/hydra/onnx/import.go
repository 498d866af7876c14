// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	nef "github.com/Hexa08/NEF"
)

// Options are the options of [Model.Graph].
type Options struct {
	// Dims fixes or bounds symbolic dims by name. A dim of an input that the file leaves unnamed is
	// called by the input and the axis, "images.0", and so may every other dim of an input.
	Dims map[string]Bounds
	// Inputs gives inputs a value: they become constants and are no inputs of the graph any more.
	Inputs map[string]*nef.Value
	// Progress, if not nil, is called as nodes are built, with how many of them are done.
	Progress func(done, total int)
}

// Bounds are the sizes that a dim may have: Min to Max, both included; equal ones fix it.
type Bounds struct{ Min, Max int }

// Import opens an ONNX file and makes a graph of it: [Open], [Model.Check] and [Model.Graph].
// At most one options struct is meant; the last one counts.
func Import(path string, opts ...Options) (*nef.Graph, error) {
	m, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	return m.Graph(opts...)
}

const (
	// maxDepth bounds how deep functions and subgraphs nest.
	maxDepth = 64
	// maxGrowth and minNodes bound what inlined functions can blow a model up to.
	maxGrowth = 64
	minNodes  = 50_000
)

// mostNodes is how many nodes may be built of this file.
func (m *Model) mostNodes() int {
	nodes := len(m.proto.graph.nodes)
	for _, f := range m.proto.functions {
		nodes += len(f.nodes)
	}
	return minNodes + maxGrowth*nodes
}

// item is what a name stands for: a tensor, or a sequence of tensors, which exists only while the
// model is imported.
type item struct {
	v   *nef.Value
	seq *sequence
}

type sequence struct{ items []*nef.Value }

// scope holds the names of a graph or function body. Subgraphs see those of the graphs around them.
type scope struct {
	parent  *scope
	items   map[string]item
	lazy    map[string]*tensorProto // initializers, made when they are first used
	opsets  map[string]int64
	attrs   map[string]*attribute // of the function call
	depth   int
	builder *builder
}

type builder struct {
	m       *Model
	o       Options
	inputs  []*nef.Value
	built   int                 // nodes
	most    int                 // nodes that may be built
	held    int                 // elements of all sequences
	symbols map[string]bool     // used in Dims
	heavy   map[*nef.Value]bool // constants that are not computed while importing
	// wholes are the integers of which floats were made.
	wholes  map[*nef.Value]*nef.Value
	gqaRows map[gqaKey]*gqaRows
	// rotations are rows of the tables of rotary embeddings.
	rotations map[rotationKey][2]*nef.Value
	masks     map[maskKey]*nef.Value // that were checked
}

// Graph builds the model's graph. It fails with an [*UnsupportedError] before any work when an op
// is not supported, and with a [*NodeError] when a node is wrong. Large weights stay in their
// files: the graph maps them, and [nef.Graph.Save] streams them. At most one options struct is
// meant; the last one counts.
func (m *Model) Graph(opts ...Options) (g *nef.Graph, err error) {
	var o Options
	if len(opts) > 0 {
		o = opts[len(opts)-1]
	}
	err = guardFaults(func() error {
		if err := m.Check(); err != nil {
			return err
		}
		b := &builder{
			m: m, o: o, most: m.mostNodes(), symbols: map[string]bool{}, heavy: map[*nef.Value]bool{}, wholes: map[*nef.Value]*nef.Value{},
			gqaRows: map[gqaKey]*gqaRows{}, rotations: map[rotationKey][2]*nef.Value{}, masks: map[maskKey]*nef.Value{},
		}
		g, err = b.graph()
		return err
	})
	return g, err
}

func (b *builder) graph() (*nef.Graph, error) {
	p := b.m.proto.graph
	s := &scope{items: map[string]item{}, opsets: b.m.proto.opsets, builder: b}
	if err := s.addInitializers(p); err != nil {
		return nil, err
	}
	if err := b.addInputs(s, p); err != nil {
		return nil, err
	}
	if err := s.build(p.nodes, b.o.Progress); err != nil {
		return nil, err
	}
	outputs := make([]nef.Output, 0, len(p.outputs))
	for _, out := range p.outputs {
		v, err := s.tensor(out.name)
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", out.name, err)
		}
		outputs = append(outputs, nef.Output{Name: out.name, Value: v})
	}
	if len(outputs) == 0 {
		return nil, invalid("the model has no outputs")
	}
	return nef.NewGraphWithInputs(b.inputs, outputs...)
}

func (s *scope) addInitializers(p *graphProto) error {
	s.lazy = make(map[string]*tensorProto, len(p.initializers))
	for i := range p.initializers {
		t := &p.initializers[i]
		if t.name == "" {
			return parseError("an initializer has no name")
		}
		if s.lazy[t.name] != nil {
			return &nef.Error{Code: nef.CodeDuplicateName, Op: "onnx", Msg: fmt.Sprintf("there are two initializers %q", t.name)}
		}
		s.lazy[t.name] = t
	}
	return nil
}

// addInputs makes the placeholders. Inputs that have an initializer are constants: before IR
// version 4 every initializer had to be an input too.
func (b *builder) addInputs(s *scope, p *graphProto) error {
	given := 0
	for _, in := range p.inputs {
		if in.name == "" {
			return parseError("an input has no name")
		}
		if s.has(in.name) {
			return &nef.Error{Code: nef.CodeDuplicateName, Op: "onnx", Msg: fmt.Sprintf("there are two inputs %q", in.name)}
		}
		if v := b.o.Inputs[in.name]; v != nil {
			given++
			if err := checkGiven(in, v); err != nil {
				return err
			}
			s.items[in.name] = item{v: v}
			continue
		}
		if s.lazy[in.name] != nil {
			continue
		}
		v, err := b.placeholder(in)
		if err != nil {
			return err
		}
		b.inputs = append(b.inputs, v)
		s.items[in.name] = item{v: v}
	}
	if given != len(b.o.Inputs) {
		for name := range b.o.Inputs {
			if !s.has(name) {
				return &nef.Error{Code: nef.CodeUnknownName, Op: "onnx", Msg: fmt.Sprintf("a value was given for input %q, which the model does not have", name)}
			}
		}
	}
	for name := range b.o.Dims {
		if !b.symbols[name] {
			return &nef.Error{Code: nef.CodeUnknownName, Op: "onnx", Msg: fmt.Sprintf("bounds were given for dim %q, which no input has", name)}
		}
	}
	return nil
}

// checkGiven compares a given value with the type of its input.
func checkGiven(in valueInfo, v *nef.Value) error {
	if err := v.Err(); err != nil {
		return err
	}
	if want := dtypeOf(in.typ.elem); want != v.DType() {
		return &nef.Error{Code: nef.CodeDTypeMismatch, Op: "onnx", Msg: fmt.Sprintf("input %q is %s, the value given for it is %v", in.name, elemName(in.typ.elem), v.DType())}
	}
	if in.typ.hasShape && len(in.typ.dims) != v.Rank() {
		return &nef.Error{Code: nef.CodeShapeMismatch, Op: "onnx", Msg: fmt.Sprintf("input %q has %d dims, the value given for it has shape %v", in.name, len(in.typ.dims), v.Shape())}
	}
	return nil
}

func (b *builder) placeholder(in valueInfo) (*nef.Value, error) {
	dtype := dtypeOf(in.typ.elem)
	if in.typ.kind != "tensor" || dtype == 0 {
		what := in.typ.kind
		if what == "tensor" {
			what = "tensor of " + elemName(in.typ.elem)
		}
		return nil, unsupported("input %q is a %s", in.name, what)
	}
	if !in.typ.hasShape {
		return nil, unsupported("input %q has no shape in the file, not even a rank: give it a value, or export the model with shapes", in.name)
	}
	dims := make([]any, len(in.typ.dims))
	for i, d := range in.typ.dims {
		var err error
		if dims[i], err = b.dim(in.name, i, d); err != nil {
			return nil, err
		}
	}
	v := nef.Input(in.name, dtype, dims...)
	return v, v.Err()
}

// dim is a dim of an input as nef.Input takes it.
func (b *builder) dim(input string, axis int, d dimProto) (any, error) {
	place := input + "." + strconv.Itoa(axis)
	name := d.param
	// Some exporters write "?" for a dim without a name; two of those are not the same size.
	if !strings.ContainsFunc(name, unicode.IsLetter) {
		name = place
	}
	for _, key := range []string{place, name} {
		bounds, ok := b.o.Dims[key]
		if !ok {
			continue
		}
		b.symbols[key] = true
		if d.known && d.value >= 0 && (bounds.Min != int(d.value) || bounds.Max != bounds.Min) {
			return nil, invalid("dim %d of input %q is %d in the file; only dims that vary can be bounded", axis, input, d.value)
		}
		if bounds.Min == bounds.Max {
			return bounds.Min, nil
		}
		return nef.DimRange(symbolName(name), bounds.Min, bounds.Max), nil
	}
	// Some exporters write -1 for a dim that varies.
	if d.known && d.value >= 0 {
		return int(d.value), nil
	}
	return nef.Dim(symbolName(name)), nil
}

// symbolName is a dim's name as the engine takes it: any text without control characters.
func symbolName(name string) string {
	out := []rune(name)
	for i, c := range out {
		if c < ' ' || c == 0x7f || c == 0xFFFD {
			out[i] = '_'
		}
	}
	return string(out)
}

func (s *scope) has(name string) bool {
	_, ok := s.items[name]
	return ok
}

// lookup finds what a name stands for, here or in a graph around.
func (s *scope) lookup(name string) (item, error) {
	for at := s; at != nil; at = at.parent {
		if it, ok := at.items[name]; ok {
			return it, nil
		}
		if t := at.lazy[name]; t != nil {
			v, err := s.builder.m.value(t)
			if err != nil {
				return item{}, err
			}
			at.items[name] = item{v: v}
			return at.items[name], nil
		}
	}
	return item{}, &nef.Error{Code: nef.CodeUnknownName, Op: "onnx", Msg: fmt.Sprintf("%q is made by no earlier node and is no input; nodes must stand in the order of their dependencies", name)}
}

// tensor is a name's tensor.
func (s *scope) tensor(name string) (*nef.Value, error) {
	it, err := s.lookup(name)
	if err == nil && it.v == nil {
		err = unsupported("%q is a sequence or an empty optional, not a tensor", name)
	}
	return it.v, err
}

// build builds nodes in their order.
func (s *scope) build(nodes [][]byte, progress func(done, total int)) error {
	for i, data := range nodes {
		n, err := parseNode(data)
		if err != nil {
			return err
		}
		if err := s.buildNode(n); err != nil {
			var inner *NodeError
			if errors.As(err, &inner) {
				return err
			}
			return &NodeError{n.label(), opLabel(n), err}
		}
		if progress != nil {
			progress(i+1, len(nodes))
		}
	}
	return nil
}

func opLabel(n *nodeProto) string {
	if n.domain == "" {
		return n.opType
	}
	return n.domain + "." + n.opType
}

func (s *scope) buildNode(n *nodeProto) error {
	b := s.builder
	if b.built++; b.built > b.most {
		return limitError("the model has more than %d nodes with its functions inlined", b.most)
	}
	c, err := s.newCall(n)
	if err != nil {
		return err
	}
	outs, err := c.run()
	if err != nil {
		return err
	}
	c.weigh(outs)
	if len(outs) < c.wanted() {
		return unsupported("output %q, the %d. one of %s, is not supported", n.outputs[len(outs)], len(outs)+1, opLabel(n))
	}
	for i, name := range n.outputs {
		if name == "" {
			continue
		}
		if i < len(outs) && outs[i].v != nil {
			if err := outs[i].v.Err(); err != nil {
				return err
			}
		}
		if s.has(name) || s.lazy[name] != nil {
			return &nef.Error{Code: nef.CodeDuplicateName, Op: "onnx", Msg: fmt.Sprintf("%q is defined twice", name)}
		}
		s.items[name] = settled(outs[i])
	}
	return nil
}

// settled is a constant where integers depend on an input of the graph only through sizes that are
// fixed: what hangs on them, such as the condition of an If, is then known too.
func settled(it item) item {
	if it.v == nil || !it.v.Open() || it.v.Rank() > 1 {
		return it
	}
	known, ok := it.v.KnownInts()
	if !ok {
		return it
	}
	if it.v.DType() == nef.Int32 {
		data := make([]int32, len(known))
		for i, x := range known {
			data[i] = int32(x)
		}
		return item{v: nef.Tensor(data, it.v.Shape())}
	}
	if it.v.DType() != nef.Int64 {
		return it
	}
	return item{v: nef.Tensor(known, it.v.Shape())}
}

// version is the opset version that rules here for a domain.
func (s *scope) version(domain string) int64 {
	if v, ok := s.opsets[domain]; ok {
		return v
	}
	return 1
}
