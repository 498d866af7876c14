// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	nef "github.com/Hexa08/NEF"
)

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
	condition, ok := known[bool](c, c.x(0))
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

// branches leaves the choice to the run. Where nothing in the branches can fail and both give the
// same types, both are computed and the right one is selected, which needs no control flow.
func (c *call) branches(yes, no *graphProto) ([]item, error) {
	open := unsupported("an If whose condition is not known when importing; if it depends on a size, fix that " +
		"(hydra import --dim), and if on an input that never changes, give it its value (hydra import --fix)")
	var sides [2][]item
	for i, g := range []*graphProto{yes, no} {
		if !total(g) {
			return nil, open
		}
		s, err := c.scope.child(g)
		if err != nil {
			return nil, err
		}
		if sides[i], err = s.outputs(g); err != nil {
			return nil, err
		}
	}
	if len(sides[0]) != len(sides[1]) {
		return nil, invalid("the branches have %d and %d outputs", len(sides[0]), len(sides[1]))
	}
	condition := c.x(0)
	if condition.Rank() > 0 {
		condition = nef.Reshape(condition, []int{})
	}
	outs := make([]item, len(sides[0]))
	for i := range outs {
		a, b := sides[0][i].v, sides[1][i].v
		if a == nil || b == nil || a.DType() != b.DType() || !slices.Equal(a.Dims(), b.Dims()) {
			return nil, open
		}
		outs[i] = item{v: nef.Where(condition, a, b)}
	}
	return outs, nil
}

// totalOps give a result for all elements of inputs of the right types and shapes.
var totalOps = map[string]bool{
	"Abs": true, "Add": true, "BatchNormalization": true, "Cast": true, "Clip": true, "Concat": true, "Constant": true,
	"Conv": true, "Div": true, "Equal": true, "Erf": true, "Exp": true, "Flatten": true, "Gemm": true, "Greater": true,
	"GreaterOrEqual": true, "Identity": true, "LayerNormalization": true, "LeakyRelu": true, "Less": true,
	"LessOrEqual": true, "Log": true, "MatMul": true, "Max": true, "Min": true, "Mul": true, "Neg": true, "Not": true,
	"Pow": true, "ReduceMax": true, "ReduceMean": true, "ReduceSum": true, "Relu": true, "Sigmoid": true, "Softmax": true,
	"Sqrt": true, "Sub": true, "Tanh": true, "Transpose": true, "Where": true,
}

// total reports whether every node of a graph is of totalOps.
func total(g *graphProto) bool {
	return !slices.ContainsFunc(g.nodes, func(data []byte) bool {
		n, err := parseNode(data)
		return err != nil || n.domain != "" || !totalOps[n.opType]
	})
}
