// SPDX-License-Identifier: Apache-2.0

package onnx

// function is the local function that a node calls, if there is one.
func (m *Model) function(n *nodeProto) *functionProto {
	if len(m.proto.functions) == 0 {
		return nil
	}
	if f := m.proto.functions[functionKey{n.domain, n.opType, n.overload}]; f != nil {
		// An op that NEF has itself is taken from NEF: it has a kernel for it.
		if n.domain == "" && findVariant("", n.opType, m.proto.opsets[""]) != nil {
			return nil
		}
		return f
	}
	return nil
}

// inline builds a function's body in place of the call.
func (c *call) inline(f *functionProto) ([]item, error) {
	depth := c.scope.depth + 1
	if depth > maxDepth {
		return nil, limitError("functions call each other more than %d deep; they must not be recursive", maxDepth)
	}
	if len(c.in) > len(f.inputs) {
		return nil, invalid("the function takes %d inputs, %d are given", len(f.inputs), len(c.in))
	}
	s := &scope{items: map[string]item{}, opsets: f.opsets, attrs: map[string]*attribute{}, depth: depth, builder: c.scope.builder}
	for i, name := range f.inputs {
		var it item
		if i < len(c.in) {
			it = c.in[i]
		}
		if name != "" {
			s.items[name] = it
		}
	}
	for i := range f.defaults {
		s.attrs[f.defaults[i].name] = &f.defaults[i]
	}
	for _, name := range f.attributes {
		if a := c.attrs[name]; a != nil {
			s.attrs[name] = a
		}
	}
	for name, a := range c.attrs {
		s.attrs[name] = a
	}
	if err := s.build(f.nodes, nil); err != nil {
		return nil, err
	}
	outs := make([]item, 0, len(f.outputs))
	for _, name := range f.outputs {
		it, err := s.lookup(name)
		if err != nil {
			return nil, err
		}
		outs = append(outs, it)
	}
	return outs, nil
}
