// SPDX-License-Identifier: Apache-2.0

package onnx

// subgraph is an attribute that holds a graph.
func (c *call) subgraph(name string) (*graphProto, error) {
	a, err := c.attr(name, attrGraph)
	if err != nil {
		return nil, err
	}
	if a == nil || a.graph == nil {
		return nil, invalid("attribute %q, a graph, is missing", name)
	}
	if c.scope.depth >= maxDepth {
		return nil, limitError("graphs nest more than %d deep", maxDepth)
	}
	return parseGraph(a.graph)
}

// child is the scope of a graph within this one: it sees all names around it.
func (s *scope) child(g *graphProto) (*scope, error) {
	inner := &scope{parent: s, items: map[string]item{}, opsets: s.opsets, depth: s.depth + 1, builder: s.builder}
	return inner, inner.addInitializers(g)
}

// ifOp builds the branch that the condition chooses in place of the node where the condition is
// known when importing.
func ifOp(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	yes, err := c.subgraph("then_branch")
	if err != nil {
		return nil, err
	}
	no, err := c.subgraph("else_branch")
	if err != nil {
		return nil, err
	}
	condition, ok := known[bool](c.x(0))
	if !ok || len(condition) != 1 {
		return c.branches(yes, no)
	}
	chosen := no
	if condition[0] {
		chosen = yes
	}
	s, err := c.scope.child(chosen)
	if err != nil {
		return nil, err
	}
	return s.outputs(chosen)
}

// outputs builds a graph's nodes and returns what its outputs stand for.
func (s *scope) outputs(g *graphProto) ([]item, error) {
	if err := s.build(g.nodes, nil); err != nil {
		return nil, err
	}
	outs := make([]item, 0, len(g.outputs))
	for _, out := range g.outputs {
		it, err := s.lookup(out.name)
		if err != nil {
			return nil, err
		}
		outs = append(outs, it)
	}
	return outs, nil
}

// branches leaves the choice to the run.
func (c *call) branches(yes, no *graphProto) ([]item, error) {
	return nil, unsupported("an If whose condition depends on the values of the graph's inputs, not only on their " +
		"sizes; if it depends on an input that never changes, give it its value (hydra import --fix)")
}
