// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/Hexa08/NEF/internal/safetext"
)

// Check looks for whatever cannot be imported, and returns all of it at once as an
// [*UnsupportedError]. It builds nothing.
func (m *Model) Check() error {
	c := checker{m: m, found: map[problem]*UnsupportedOp{}, functions: map[functionKey]bool{}}
	if err := c.graph(m.proto.graph, m.proto.opsets, 0); err != nil {
		return err
	}
	if len(c.found) == 0 {
		return nil
	}
	e := &UnsupportedError{}
	for _, op := range c.found {
		e.Ops = append(e.Ops, *op)
	}
	slices.SortFunc(e.Ops, func(a, b UnsupportedOp) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Reason, b.Reason))
	})
	return e
}

// problem is what nodes are counted by.
type problem struct{ domain, op, reason string }

type checker struct {
	m         *Model
	found     map[problem]*UnsupportedOp
	functions map[functionKey]bool // looked at
}

func (c *checker) graph(g *graphProto, opsets map[string]int64, depth int) error {
	for i := range g.initializers {
		t := &g.initializers[i]
		if dtypeOf(t.dataType) == 0 && t.dataType != 0 {
			c.add("", "initializer", opsets, "elements of "+elemName(t.dataType), t.name)
		}
	}
	return c.nodes(g.nodes, opsets, depth)
}

func (c *checker) nodes(nodes [][]byte, opsets map[string]int64, depth int) error {
	if depth > maxDepth {
		return limitError("graphs nest more than %d deep", maxDepth)
	}
	for _, data := range nodes {
		n, err := parseNode(data)
		if err != nil {
			return err
		}
		if err := c.node(n, opsets, depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) node(n *nodeProto, opsets map[string]int64, depth int) error {
	if f := c.m.function(n); f != nil {
		if c.functions[f.key] {
			return nil
		}
		c.functions[f.key] = true
		return c.nodes(f.nodes, f.opsets, depth+1)
	}
	version, ok := opsets[n.domain]
	if !ok {
		version = 1
	}
	v := findVariant(n.domain, n.opType, version)
	if v == nil {
		c.add(n.domain, n.opType, opsets, "", n.label())
	} else if v.check != nil {
		if reason := v.check(n); reason != "" {
			c.add(n.domain, n.opType, opsets, reason, n.label())
		}
	}
	for i := range n.attributes {
		a := &n.attributes[i]
		if a.typ == attrTensor && a.tensor != nil && dtypeOf(a.tensor.dataType) == 0 {
			c.add(n.domain, n.opType, opsets, "elements of "+elemName(a.tensor.dataType), n.label())
		}
		if a.graph == nil {
			continue
		}
		g, err := parseGraph(a.graph)
		if err != nil {
			return fmt.Errorf("attribute %q of node %s: %w", a.name, safetext.Escape(n.label()), err)
		}
		if err := c.graph(g, opsets, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) add(domain, op string, opsets map[string]int64, reason, node string) {
	key := problem{domain, op, reason}
	found := c.found[key]
	if found == nil {
		found = &UnsupportedOp{Domain: domain, Op: op, Opset: opsets[domain], Reason: reason}
		if domain == "" {
			found.Domain = "ai.onnx"
		}
		c.found[key] = found
	}
	found.Count++
	found.Nodes = append(found.Nodes, node)
}
