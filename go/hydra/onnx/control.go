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

// ---- loops that are unrolled

// maxTrips is how many iterations a loop may have to be unrolled.
const maxTrips = 1024

// iterate builds a body once: its inputs by name, and what its outputs stand for.
func (c *call) iterate(body *graphProto, inputs []item) ([]item, error) {
	if len(inputs) > len(body.inputs) {
		return nil, invalid("the body takes %d inputs, %d are given", len(body.inputs), len(inputs))
	}
	s, err := c.scope.child(body)
	if err != nil {
		return nil, err
	}
	for i, it := range inputs {
		s.items[body.inputs[i].name] = it
	}
	return s.outputs(body)
}

// stack puts the parts of an output of a body along a new axis.
func stack(parts []*nef.Value, axis int) *nef.Value {
	fresh := make([]*nef.Value, len(parts))
	for i, v := range parts {
		fresh[i] = nef.Unsqueeze(v, []int{axis})
	}
	return nef.Concat(fresh, axis)
}

// loop is unrolled: the number of iterations must be known when importing.
func loop(c *call) ([]item, error) {
	body, err := c.subgraph("body")
	if err != nil {
		return nil, err
	}
	if len(c.in) < 2 || len(body.outputs) < len(c.in)-1 {
		return nil, invalid("%d inputs for a body of %d outputs", len(c.in), len(body.outputs))
	}
	trips, err := c.trips()
	if err != nil {
		return nil, err
	}
	condition := item{v: nef.Scalar(true)}
	if c.x(1) != nil {
		condition = c.in[1]
	}
	carried := c.in[2:]
	stacked := make([][]*nef.Value, len(body.outputs)-1-len(carried))
	for i := 0; ; i++ {
		on, ok := known[bool](c, condition.v)
		if !ok || len(on) != 1 {
			return nil, unsupported("a Loop whose condition depends on the values of the graph's inputs")
		}
		if !on[0] || i == trips {
			break
		}
		if i == maxTrips {
			return nil, unsupported("a Loop of more than %d iterations", maxTrips)
		}
		outs, err := c.iterate(body, append([]item{{v: nef.Scalar(int64(i))}, condition}, carried...))
		if err != nil {
			return nil, err
		}
		condition, carried = outs[0], outs[1:1+len(carried)]
		for k, out := range outs[1+len(carried):] {
			if out.v == nil {
				return nil, invalid("output %d of the body is no tensor", k)
			}
			stacked[k] = append(stacked[k], out.v)
		}
	}
	outs := append([]item{}, carried...)
	for _, parts := range stacked {
		if len(parts) == 0 {
			return nil, unsupported("a Loop without iterations whose outputs are stacked")
		}
		outs = append(outs, item{v: stack(parts, 0)})
	}
	return outs, nil
}

// trips is the most iterations of a Loop, -1 where the condition alone ends it.
func (c *call) trips() (int, error) {
	if c.x(0) == nil {
		return -1, nil
	}
	data, ok := known[int64](c, c.x(0))
	if !ok || len(data) != 1 {
		return 0, unsupported("a Loop whose number of iterations is not known when importing")
	}
	return int(max(0, min(data[0], maxTrips+1))), nil
}

// scanAttrs are the axes and directions of what goes into and comes out of a Scan.
type scanAttrs struct {
	body                                         *graphProto
	count                                        int
	inAxes, inDirections, outAxes, outDirections []int
}

func (c *call) scanAttrs() (a scanAttrs, err error) {
	if a.body, err = c.subgraph("body"); err != nil {
		return a, err
	}
	if a.count, err = c.int("num_scan_inputs", 0); err != nil {
		return a, err
	}
	for name, to := range map[string]*[]int{
		"scan_input_axes": &a.inAxes, "scan_input_directions": &a.inDirections, "directions": &a.inDirections,
		"scan_output_axes": &a.outAxes, "scan_output_directions": &a.outDirections,
	} {
		list, err := c.ints(name)
		if err != nil {
			return a, err
		}
		if list != nil {
			*to = list
		}
	}
	return a, nil
}

// nth is element i of a list that may be short.
func nth(list []int, i int) int {
	if i < len(list) {
		return list[i]
	}
	return 0
}

// scan is unrolled: the length of what it goes over must be known when importing.
func scan(c *call) ([]item, error) {
	a, err := c.scanAttrs()
	if err != nil {
		return nil, err
	}
	in, err := c.values()
	if err != nil {
		return nil, err
	}
	return c.scanOver(a, in)
}

func (c *call) scanOver(a scanAttrs, in []*nef.Value) ([]item, error) {
	states := len(in) - a.count
	if a.count < 1 || states < 0 || len(a.body.outputs) < states {
		return nil, invalid("%d inputs, num_scan_inputs %d, %d outputs of the body", len(in), a.count, len(a.body.outputs))
	}
	length := -1
	for i, v := range in[states:] {
		if v == nil {
			return nil, invalid("a scan input is missing")
		}
		axis := axisIn(nth(a.inAxes, i), v.Rank())
		if axis < 0 || axis >= v.Rank() {
			return nil, invalid("axis %d of a tensor with %d dims", axis, v.Rank())
		}
		size := v.Shape()[axis]
		if size < 1 || size > maxTrips {
			return nil, unsupported("a Scan over %d elements (-1 is unknown); 1 to %d are supported", size, maxTrips)
		}
		if length >= 0 && size != length {
			return nil, invalid("scan inputs of %d and %d elements", length, size)
		}
		length = size
	}
	carried := items(in[:states]...)
	stacked := make([][]*nef.Value, len(a.body.outputs)-states)
	for i := range length {
		step := append([]item{}, carried...)
		for k, v := range in[states:] {
			at := i
			if nth(a.inDirections, k) != 0 {
				at = length - 1 - i
			}
			step = append(step, item{v: nef.Gather(v, nef.Scalar(int64(at)), nth(a.inAxes, k))})
		}
		outs, err := c.iterate(a.body, step)
		if err != nil {
			return nil, err
		}
		carried = outs[:states]
		for k, out := range outs[states:] {
			if out.v == nil {
				return nil, invalid("output %d of the body is no tensor", k)
			}
			stacked[k] = append(stacked[k], out.v)
		}
	}
	outs := append([]item{}, carried...)
	for k, parts := range stacked {
		if nth(a.outDirections, k) != 0 {
			slices.Reverse(parts)
		}
		outs = append(outs, item{v: stack(parts, nth(a.outAxes, k))})
	}
	return outs, nil
}

// scan8 has a batch as the first axis of everything.
func scan8(c *call) ([]item, error) {
	a, err := c.scanAttrs()
	if err != nil {
		return nil, err
	}
	in, err := c.values()
	if err != nil {
		return nil, err
	}
	if len(in) < 2 || in[0] != nil || in[1] == nil {
		return nil, unsupported("Scan of opset 8 with sequence_lens")
	}
	in = in[1:]
	batch := in[0].Shape()
	if len(batch) == 0 || batch[0] < 1 || batch[0] > maxTrips {
		return nil, unsupported("Scan of opset 8 with a batch that is not known when importing")
	}
	var parts [][]*nef.Value
	for b := range batch[0] {
		one := make([]*nef.Value, len(in))
		for i, v := range in {
			one[i] = nef.Gather(v, nef.Scalar(int64(b)), 0)
		}
		outs, err := c.scanOver(a, one)
		if err != nil {
			return nil, err
		}
		if parts == nil {
			parts = make([][]*nef.Value, len(outs))
		}
		for i, out := range outs {
			parts[i] = append(parts[i], out.v)
		}
	}
	outs := make([]item, len(parts))
	for i := range parts {
		outs[i] = item{v: stack(parts[i], 0)}
	}
	return outs, nil
}
