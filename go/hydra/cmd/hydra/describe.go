// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/graphview"
)

// description is a graph as the library describes it to tools.
type description struct {
	Inputs    []valueText `json:"inputs"`
	Outputs   []valueText `json:"outputs"`
	Constants []valueText `json:"constants"`
	Nodes     []nodeText  `json:"nodes"`

	raw json.RawMessage
}

type valueText struct {
	Name  string   `json:"name"`
	Value string   `json:"value"`
	DType string   `json:"dtype"`
	Shape []string `json:"shape"`
	Bytes float64  `json:"bytes"`
}

type nodeText struct {
	Op      string                     `json:"op"`
	Name    string                     `json:"name"`
	Inputs  []string                   `json:"inputs"`
	Outputs []valueText                `json:"outputs"`
	Attrs   map[string]json.RawMessage `json:"attrs"`
	Device  string                     `json:"preferred_device"`
	Blocks  []*description             `json:"blocks"` // of an if, loop or scan
}

func describe(g *nef.Graph) (*description, error) {
	text, err := g.Describe()
	if err != nil {
		return nil, err
	}
	d := &description{raw: json.RawMessage(text)}
	if err := json.Unmarshal(d.raw, d); err != nil {
		return nil, fmt.Errorf("the library's description of the graph cannot be read: %w", err)
	}
	return d, nil
}

func (v valueText) shape() string { return "[" + strings.Join(v.Shape, " ") + "]" }

func (v valueText) typed() string { return v.DType + " " + v.shape() }

// elements is how many a constant has.
func (v valueText) elements() float64 {
	n := 1.0
	for _, d := range v.Shape {
		size, err := strconv.ParseFloat(d, 64)
		if err != nil {
			return math.NaN()
		}
		n *= size
	}
	return n
}

// walk visits the graph and, within it, the blocks of its nodes.
func (d *description) walk(visit func(*description)) {
	visit(d)
	for _, n := range d.Nodes {
		for _, block := range n.Blocks {
			block.walk(visit)
		}
	}
}

// summary is "103 nodes, 22.7 M parameters, 86.6 MiB", with those of blocks.
func (d *description) summary() string {
	nodes, parameters, bytes := 0, 0.0, 0.0
	d.walk(func(d *description) {
		nodes += len(d.Nodes)
		for _, c := range d.Constants {
			parameters += c.elements()
			bytes += c.Bytes
		}
	})
	return fmt.Sprintf("%s, %s parameters, %s", plural(nodes, "node"), count(parameters), size(bytes))
}

// opCounts lists the ops by how often they are used.
func (d *description) opCounts() [][]string {
	counts := map[string]int{}
	d.walk(func(d *description) {
		for _, n := range d.Nodes {
			counts[n.Op]++
		}
	})
	ops := make([]string, 0, len(counts))
	for op := range counts {
		ops = append(ops, op)
	}
	slices.SortFunc(ops, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	rows := [][]string{}
	for _, op := range ops {
		rows = append(rows, []string{" " + op, fmt.Sprint(counts[op])})
	}
	return rows
}

// nodeRows is one line for each node; blocks follow their node, indented.
func (d *description) nodeRows() [][]string { return d.indentedRows(" ") }

func (d *description) indentedRows(indent string) [][]string {
	rows := [][]string{}
	for i, n := range d.Nodes {
		name := n.Name
		if name == "" {
			name = fmt.Sprint("node ", i)
		}
		outputs := []string{}
		for _, o := range n.Outputs {
			outputs = append(outputs, o.Value+" "+o.typed())
		}
		call := n.Op + "(" + strings.Join(n.Inputs, ", ") + ")" + n.attrText()
		rows = append(rows, []string{indent + name, call, "-> " + strings.Join(outputs, ", ")})
		for k, block := range n.Blocks {
			rows = append(rows, []string{indent + fmt.Sprintf("  block %d", k), block.signature(), ""})
			rows = append(rows, block.indentedRows(indent+"    ")...)
		}
	}
	return rows
}

// signature is "(v0 float32 [n]) -> v3": what a block takes and gives.
func (d *description) signature() string {
	inputs, outputs := []string{}, []string{}
	for _, in := range d.Inputs {
		inputs = append(inputs, in.Value+" "+in.typed())
	}
	for _, out := range d.Outputs {
		outputs = append(outputs, out.Value)
	}
	return "(" + strings.Join(inputs, ", ") + ") -> " + strings.Join(outputs, ", ")
}

func (n nodeText) attrText() string {
	if len(n.Attrs) == 0 {
		return ""
	}
	names := make([]string, 0, len(n.Attrs))
	for name := range n.Attrs {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] += "=" + string(n.Attrs[name])
	}
	return " {" + strings.Join(names, ", ") + "}"
}

// picture is the graph for drawing: constants stand in the boxes of the nodes that use them.
func (d *description) picture(title string) graphview.Graph {
	g := graphview.Graph{Title: title}
	makers := map[string]graphview.Edge{}
	constants := map[string]valueText{}
	for _, c := range d.Constants {
		constants[c.Value] = c
	}
	for _, in := range d.Inputs {
		makers[in.Value] = graphview.Edge{From: len(g.Nodes), Text: in.shape()}
		g.Nodes = append(g.Nodes, graphview.Node{Label: in.Name, Detail: in.DType, Kind: graphview.Input})
	}
	for _, n := range d.Nodes {
		node := graphview.Node{Label: n.Op}
		details := []string{}
		for _, name := range n.Inputs {
			if c, ok := constants[name]; ok {
				details = append(details, c.shape())
			} else if edge, ok := makers[name]; ok {
				node.Inputs = append(node.Inputs, edge)
			}
		}
		node.Detail = strings.Join(details, " ")
		for _, o := range n.Outputs {
			makers[o.Value] = graphview.Edge{From: len(g.Nodes), Text: o.shape()}
		}
		g.Nodes = append(g.Nodes, node)
	}
	for _, out := range d.Outputs {
		node := graphview.Node{Label: out.Name, Detail: out.DType, Kind: graphview.Output}
		if edge, ok := makers[out.Value]; ok {
			node.Inputs = []graphview.Edge{edge}
		}
		g.Nodes = append(g.Nodes, node)
	}
	return g
}
