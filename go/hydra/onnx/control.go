// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"errors"
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

// branches leaves the choice to the run.
func (c *call) branches(yes, no *graphProto) ([]item, error) {
	var fault error
	side := func(g *graphProto) func() []*nef.Value {
		return func() []*nef.Value {
			s, err := c.scope.child(g)
			if err != nil {
				fault = errors.Join(fault, err)
				return nil
			}
			outs, err := s.outputs(g)
			values, bad := tensors(outs)
			fault = errors.Join(fault, err, bad)
			return values
		}
	}
	outs := nef.If(c.x(0), side(yes), side(no))
	if fault != nil {
		return nil, fault
	}
	return items(outs...), nil
}

// tensors are the tensors of items; it fails when one is something else.
func tensors(list []item) ([]*nef.Value, error) {
	out := make([]*nef.Value, len(list))
	for i, it := range list {
		if it.v == nil {
			return nil, unsupported("value %d of a body is a sequence or nothing", i)
		}
		out[i] = it.v
	}
	return out, nil
}

// ---- loops

// maxTrips is how many iterations a loop may have to be unrolled; others stay loops.
const maxTrips = 16

// maxUnrolled is how many one over sequences may have, which must be unrolled.
const maxUnrolled = 1024

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

// loop is unrolled where it is short and nothing in it depends on the graph's inputs but tensors,
// which sequences need; else it stays a loop.
func loop(c *call) ([]item, error) {
	sequences := slices.ContainsFunc(c.in, func(it item) bool { return it.seq != nil })
	trips, fixed := known[int64](c, c.x(0))
	condition, on := known[bool](c, c.x(1))
	short := fixed && len(trips) == 1 && trips[0] > 0 && trips[0] <= maxTrips
	settled := c.x(1) == nil || on && len(condition) == 1 && condition[0]
	body, err := c.subgraph("body")
	if err != nil {
		return nil, err
	}
	if sequences || short && settled && constantCondition(body) {
		return c.unrolled(body)
	}
	return c.looped(body)
}

// constantCondition reports whether a body passes its condition on, or gives a constant one.
func constantCondition(body *graphProto) bool {
	if len(body.outputs) == 0 || len(body.inputs) < 2 {
		return false
	}
	name := body.outputs[0].name
	for i := len(body.nodes) - 1; i >= 0; i-- {
		n, err := parseNode(body.nodes[i])
		if err != nil || len(n.outputs) != 1 || n.outputs[0] != name {
			continue
		}
		if n.opType != "Identity" || len(n.inputs) != 1 {
			return n.opType == "Constant"
		}
		name = n.inputs[0]
	}
	return name == body.inputs[1].name
}

// looped leaves the loop to the run.
func (c *call) looped(body *graphProto) ([]item, error) {
	if len(c.in) < 2 || len(body.outputs) < len(c.in)-1 {
		return nil, invalid("%d inputs for a body of %d outputs", len(c.in), len(body.outputs))
	}
	initial, err := tensors(c.in[2:])
	if err != nil {
		return nil, err
	}
	var fault error
	carried, stacked := nef.Loop(c.x(0), c.x(1), initial, func(i, on *nef.Value, values []*nef.Value) (*nef.Value, []*nef.Value, []*nef.Value) {
		outs, err := c.iterate(body, append(items(i, on), items(values...)...))
		list, bad := tensors(outs)
		if fault = errors.Join(err, bad); fault != nil {
			return nil, nil, nil
		}
		return list[0], list[1 : 1+len(values)], list[1+len(values):]
	})
	if fault != nil {
		return nil, fault
	}
	return items(append(carried, stacked...)...), nil
}

// unrolled builds the body once for each iteration.
func (c *call) unrolled(body *graphProto) ([]item, error) {
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
		if i == maxUnrolled {
			return nil, unsupported("a Loop over sequences of more than %d iterations", maxUnrolled)
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
	return int(max(0, min(data[0], maxUnrolled+1))), nil
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

// scan is unrolled where what it goes over is short, else it stays a loop.
func scan(c *call) ([]item, error) {
	a, err := c.scanAttrs()
	if err != nil {
		return nil, err
	}
	in, err := c.values()
	if err != nil {
		return nil, err
	}
	if states := len(in) - a.count; a.count > 0 && states >= 0 && len(a.body.outputs) >= states && !a.short(in[states:]) {
		return c.scanned(a, in[:states], in[states:])
	}
	return c.scanOver(a, in)
}

// short reports whether what a Scan goes over has a length known to be small.
func (a scanAttrs) short(inputs []*nef.Value) bool {
	for i, v := range inputs {
		if v == nil {
			return true // an error, which scanOver finds
		}
		axis := axisIn(nth(a.inAxes, i), v.Rank())
		if axis >= 0 && axis < v.Rank() && (v.Shape()[axis] < 1 || v.Shape()[axis] > maxTrips) {
			return false
		}
	}
	return true
}

// scanned leaves the loop to the run.
func (c *call) scanned(a scanAttrs, initial, inputs []*nef.Value) ([]item, error) {
	backwards := func(list []int) []bool {
		out := make([]bool, len(list))
		for i, x := range list {
			out[i] = x != 0
		}
		return out
	}
	var fault error
	carried, stacked := nef.Scan(initial, inputs, func(values, parts []*nef.Value) ([]*nef.Value, []*nef.Value) {
		outs, err := c.iterate(a.body, append(items(values...), items(parts...)...))
		list, bad := tensors(outs)
		if fault = errors.Join(err, bad); fault != nil {
			return nil, nil
		}
		return list[:len(values)], list[len(values):]
	}, nef.ScanOptions{
		InputAxes: a.inAxes, InputBackwards: backwards(a.inDirections), OutputAxes: a.outAxes, OutputBackwards: backwards(a.outDirections),
	})
	if fault != nil {
		return nil, fault
	}
	return items(append(carried, stacked...)...), nil
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
