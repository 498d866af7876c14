// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"encoding/binary"
	"math"
	"slices"

	nef "github.com/Hexa08/NEF"
)

// ---- pieces that handlers are made of

func ints(v ...int) *nef.Value {
	data := make([]int64, len(v))
	for i, x := range v {
		data[i] = int64(x)
	}
	return nef.Tensor(data, []int{len(data)})
}

// scalar is a constant of rank 0 of any dtype.
func scalar(dtype nef.DType, x float64) *nef.Value {
	out := make([]byte, 8)
	switch dtype {
	case nef.Float32:
		binary.LittleEndian.PutUint32(out, math.Float32bits(float32(x)))
	case nef.Float64:
		binary.LittleEndian.PutUint64(out, math.Float64bits(x))
	case nef.Float16:
		binary.LittleEndian.PutUint16(out, uint16(nef.ToHalf(float32(x))))
	case nef.BFloat16:
		binary.LittleEndian.PutUint16(out, uint16(nef.ToBF16(float32(x))))
	case nef.Float8E4M3FN:
		out[0] = byte(nef.ToE4M3(float32(x)))
	case nef.Float8E5M2:
		out[0] = byte(nef.ToE5M2(float32(x)))
	default:
		binary.LittleEndian.PutUint64(out, uint64(int64(x)))
	}
	return nef.FromBytes(dtype, nil, out[:dtype.Size()])
}

// dimOf is dim i of v as a vector of one element.
func dimOf(v *nef.Value, i int) *nef.Value {
	end := i + 1
	return nef.ShapeOf(v, nef.ShapeOfOptions{Start: i, End: &end})
}

// reshape takes a shape that may depend on the graph's inputs.
func reshape(v, shape *nef.Value) *nef.Value {
	return nef.Call("Reshape", []*nef.Value{v, shape}, nil, 1)[0]
}

func expand(v, shape *nef.Value) *nef.Value {
	return nef.Call("Expand", []*nef.Value{v, shape}, nil, 1)[0]
}

// axisIn turns an axis that counts from the end into one that counts from 0.
func axisIn(axis, rank int) int {
	if axis < 0 {
		return axis + rank
	}
	return axis
}

// attrToInput makes input i of an attribute of ints, where older versions have it.
func (c *call) attrToInput(name string, inputs []*nef.Value, i int) ([]*nef.Value, error) {
	v, err := c.ints(name)
	if err != nil || v == nil {
		return inputs, err
	}
	for len(inputs) <= i {
		inputs = append(inputs, nil)
	}
	if inputs[i] != nil {
		return nil, invalid("%s is given both as an attribute and as input %d", name, i)
	}
	inputs[i] = ints(v...)
	return inputs, nil
}

// ---- elementwise

// oldBroadcast is the arithmetic of opset 6 and older: b is broadcast only when asked for, along
// the axis given.
func oldBroadcast(c *call) ([]item, error) {
	if err := c.need(2); err != nil {
		return nil, err
	}
	c.ignore("consumed_inputs")
	a, b := c.x(0), c.x(1)
	broadcast, err := c.int("broadcast", 0)
	if err != nil {
		return nil, err
	}
	axis, err := c.int("axis", a.Rank()-b.Rank())
	if err != nil {
		return nil, err
	}
	if trailing := a.Rank() - axisIn(axis, a.Rank()) - b.Rank(); broadcast != 0 && trailing > 0 {
		axes := make([]int, trailing)
		for i := range axes {
			axes[i] = b.Rank() + i
		}
		b = nef.Unsqueeze(b, axes)
	}
	return c.emit(c.node.opType, a, b)
}

// clipAttrs is Clip with its bounds as attributes.
func clipAttrs(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	c.ignore("consumed_inputs")
	in := []*nef.Value{c.x(0), nil, nil}
	for i, name := range []string{"min", "max"} {
		a, err := c.attr(name, attrFloat)
		if err != nil {
			return nil, err
		}
		if a != nil {
			in[i+1] = scalar(c.x(0).DType(), float64(a.f))
		}
	}
	return c.emit("Clip", in...)
}

// channelPRelu is PRelu of opset 6: a slope for each channel.
func channelPRelu(c *call) ([]item, error) {
	if err := c.need(2); err != nil {
		return nil, err
	}
	c.ignore("consumed_inputs")
	x, slope := c.x(0), c.x(1)
	if slope.Rank() == 1 && x.Rank() > 2 {
		axes := make([]int, x.Rank()-2)
		for i := range axes {
			axes[i] = i + 1
		}
		slope = nef.Unsqueeze(slope, axes)
	}
	return c.emit("PRelu", x, slope)
}

func cast(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	c.ignore("round_mode") // of float8e8m0
	outs, err := c.emit("Cast", c.x(0))
	if from := c.x(0).DType(); err == nil && (from == nef.Int64 || from == nef.Int32) {
		c.scope.builder.wholes[outs[0].v] = c.x(0)
	}
	return outs, err
}

// rangeOp counts in integers where floats are whole numbers: exporters cast sizes to floats for a
// grid of positions, and sizes are followed as integers only.
func rangeOp(c *call) ([]item, error) {
	if err := c.need(3); err != nil {
		return nil, err
	}
	in := []*nef.Value{c.x(0), c.x(1), c.x(2)}
	dtype := in[0].DType()
	if dtype == nef.Float16 || dtype == nef.BFloat16 {
		return c.halfRange(in, dtype)
	}
	if dtype != nef.Float32 && dtype != nef.Float64 || !in[0].Open() && !in[1].Open() && !in[2].Open() {
		return c.emit("Range", in...)
	}
	whole := make([]*nef.Value, len(in))
	for i, v := range in {
		if whole[i] = c.whole(v); whole[i] == nil {
			return c.emit("Range", in...)
		}
	}
	// Larger whole numbers are rounded when they become floats.
	most := int64(1) << 24
	if dtype == nef.Float64 {
		most = 1 << 53
	}
	exact := nef.Scalar(true)
	for _, v := range whole {
		exact = nef.And(exact, nef.LessOrEqual(nef.Abs(v), nef.Scalar(most)))
	}
	y := nef.Cast(nef.Range(whole[0], whole[1], whole[2]), dtype)
	y, err := c.require(y, exact, "start, limit and delta, whole numbers as %v, must lie within %d of 0", dtype, most)
	return items(y), err
}

// halfRange counts in float32, in which sizes are followed, and rounds once.
func (c *call) halfRange(in []*nef.Value, dtype nef.DType) ([]item, error) {
	for i, v := range in {
		in[i] = nef.Cast(v, nef.Float32)
		if data, ok := known[float32](c, in[i]); ok {
			in[i] = nef.Tensor(data, in[i].Shape())
		}
	}
	return items(nef.Cast(nef.Range(in[0], in[1], in[2]), dtype)), nil
}

// whole is a float scalar as the int64 it was made of; nil when it was made of something else.
func (c *call) whole(v *nef.Value) *nef.Value {
	if from := c.scope.builder.wholes[v]; from != nil {
		return nef.Cast(from, nef.Int64)
	}
	data, ok := known[float64](c, nef.Cast(v, nef.Float64))
	if !ok || len(data) != 1 || data[0] != math.Trunc(data[0]) || math.Abs(data[0]) > 1<<24 {
		return nil
	}
	return nef.Scalar(int64(data[0]))
}

func castTarget(n *nodeProto) string {
	for i := range n.attributes {
		if a := &n.attributes[i]; a.name == "to" && a.typ == attrInt && dtypeOf(a.i) == 0 {
			return "to " + elemName(a.i)
		}
	}
	return ""
}

func identity(c *call) ([]item, error) {
	if len(c.in) == 1 && c.in[0].seq != nil {
		return c.in, nil
	}
	if err := c.need(1); err != nil {
		return nil, err
	}
	return c.emit("Identity", c.x(0))
}

// dropout does nothing when a model is run, and keeps everything.
func dropout(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	c.ignore("ratio", "seed", "is_test", "consumed_inputs")
	if training := c.x(2); training != nil {
		on, ok := known[bool](c, training)
		if !ok || len(on) != 1 || on[0] {
			ratio, fixed := known[float32](c, c.x(1))
			if c.x(1) == nil || !fixed || len(ratio) != 1 || ratio[0] != 0 {
				return nil, unsupported("Dropout in training mode draws random numbers; export the model for inference")
			}
		}
	}
	x := c.x(0)
	outs := items(nef.Identity(x))
	if c.wanted() > 1 {
		mask := nef.Scalar(true)
		if c.version < 10 {
			mask = scalar(x.DType(), 1)
		}
		outs = append(outs, item{v: expand(mask, nef.ShapeOf(x))})
	}
	return outs, nil
}

// ---- constants

func constant(c *call) ([]item, error) {
	if len(c.attrs) != 1 {
		return nil, invalid("a Constant has one attribute, this one has %d", len(c.attrs))
	}
	for name, a := range c.attrs {
		c.used[name] = true
		switch name {
		case "value":
			if a.tensor == nil {
				break
			}
			v, err := c.scope.builder.m.value(a.tensor)
			return items(v), err
		case "sparse_value":
			t, err := parseSparse(a.sparse)
			if err != nil {
				return nil, err
			}
			v, err := c.scope.builder.m.value(t)
			return items(v), err
		case "value_float":
			return items(nef.Scalar(a.f)), nil
		case "value_floats":
			return items(nef.Tensor(a.floats, []int{len(a.floats)})), nil
		case "value_int":
			return items(nef.Scalar(a.i)), nil
		case "value_ints":
			return items(nef.Tensor(a.ints, []int{len(a.ints)})), nil
		}
		return nil, unsupported("a Constant with the attribute %q, %v", name, a.typ)
	}
	return nil, nil
}

func constantOfShape(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	a, err := c.attr("value", attrTensor)
	if err != nil {
		return nil, err
	}
	in := []*nef.Value{c.x(0)}
	if a != nil && a.tensor != nil {
		v, err := c.scope.builder.m.value(a.tensor)
		if err != nil {
			return nil, err
		}
		in = append(in, v)
	}
	return c.emit("ConstantOfShape", in...)
}

func oneHot(c *call) ([]item, error) {
	if err := c.need(3); err != nil {
		return nil, err
	}
	depth := c.x(1)
	if depth.DType() != nef.Int64 && depth.DType() != nef.Int32 {
		depth = c.toInt64(depth)
	}
	if depth.Rank() == 1 {
		depth = nef.Reshape(depth, []int{})
	}
	return c.emit("OneHot", c.x(0), depth, c.x(2))
}

// toInt64 is the value as int64, as a constant where it is one: shapes may depend on it.
func (c *call) toInt64(v *nef.Value) *nef.Value {
	cast := nef.Cast(v, nef.Int64)
	if c.scope.builder.heavy[v] {
		c.scope.builder.heavy[cast] = true
	}
	if data, ok := known[int64](c, cast); ok {
		return nef.Tensor(data, v.Shape())
	}
	return cast
}

// ---- normalizations and pooling

// flatSoftmax is the softmax of opset 12 and older, over all axes from axis on.
func flatSoftmax(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	x := c.x(0)
	axis, err := c.int("axis", 1)
	if err != nil {
		return nil, err
	}
	rank := x.Rank()
	if axis < -rank || axis > rank {
		return nil, invalid("axis %d of a tensor with %d dims", axis, rank)
	}
	axis = axisIn(axis, rank)
	if axis == rank-1 {
		return items(nef.Call(c.node.opType, []*nef.Value{x}, nef.Attrs{"axis": -1}, 1)[0]), nil
	}
	flat := nef.Call(c.node.opType, []*nef.Value{nef.Flatten(x, axis)}, nef.Attrs{"axis": -1}, 1)[0]
	return items(reshape(flat, nef.ShapeOf(x))), nil
}

func averagePool(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	return c.emit("AveragePool", c.x(0))
}

func batchNormalization(c *call) ([]item, error) {
	if err := c.need(5); err != nil {
		return nil, err
	}
	c.ignore("is_test", "consumed_inputs")
	momentum, err := c.float("momentum", 0.9)
	if err != nil {
		return nil, err
	}
	epsilon, err := c.float("epsilon", 1e-5)
	if err != nil {
		return nil, err
	}
	spatial, err := c.int("spatial", 1)
	if err != nil {
		return nil, err
	}
	training, err := c.int("training_mode", 0)
	if err != nil {
		return nil, err
	}
	x, scale, bias, mean, variance := c.x(0), c.x(1), c.x(2), c.x(3), c.x(4)
	switch {
	case training != 0:
		return batchStatistics(x, scale, bias, mean, variance, epsilon, momentum), nil
	case spatial == 0:
		eps := scalar(variance.DType(), epsilon)
		return items(x.Sub(mean).Div(nef.Sqrt(variance.Add(eps))).Mul(scale).Add(bias)), nil
	case c.wanted() > 1:
		return nil, unsupported("BatchNormalization with outputs for training; export the model for inference")
	}
	return items(nef.BatchNormalization(x, scale, bias, mean, variance, epsilon)), nil
}

// batchStatistics normalises with the statistics of the batch and updates the running ones.
func batchStatistics(x, scale, bias, mean, variance *nef.Value, epsilon, momentum float64) []item {
	axes := []int{0}
	for i := 2; i < x.Rank(); i++ {
		axes = append(axes, i)
	}
	centre := nef.ReduceMean(x, axes, true)
	spread := nef.ReduceMean(nef.Mul(x.Sub(centre), x.Sub(centre)), axes, false)
	flat := nef.ReduceMean(x, axes, false)
	running := func(old, now *nef.Value) *nef.Value {
		now = nef.Cast(now, old.DType())
		return old.Mul(scalar(old.DType(), momentum)).Add(now.Mul(scalar(old.DType(), 1-momentum)))
	}
	y := nef.BatchNormalization(x, scale, bias, nef.Cast(flat, mean.DType()), nef.Cast(spread, variance.DType()), epsilon)
	return items(y, running(mean, flat), running(variance, spread))
}

// groupNormalization18 is GroupNormalization with a scale for each group instead of each channel.
func groupNormalization18(c *call) ([]item, error) {
	if err := c.need(3); err != nil {
		return nil, err
	}
	groups, err := c.int("num_groups", 0)
	if err != nil {
		return nil, err
	}
	if groups < 1 {
		return nil, invalid("num_groups is %d", groups)
	}
	epsilon, err := c.float("epsilon", 1e-5)
	if err != nil {
		return nil, err
	}
	x := c.x(0)
	channels := dimOf(x, 1)
	perChannel := func(v *nef.Value) *nef.Value {
		shape := nef.Concat([]*nef.Value{ints(groups), channels.Div(ints(groups))}, 0)
		return reshape(expand(nef.Unsqueeze(v, []int{1}), shape), channels)
	}
	return items(nef.GroupNormalization(x, perChannel(c.x(1)), perChannel(c.x(2)), groups, epsilon)), nil
}

// ---- attributes that became inputs

// axesInput takes the axes of reductions, Squeeze and Unsqueeze from either place.
func axesInput(c *call) ([]item, error) {
	in, err := c.values()
	if err != nil {
		return nil, err
	}
	if in, err = c.attrToInput("axes", in, 1); err != nil {
		return nil, err
	}
	return c.emit(c.node.opType, in...)
}

func reshapeAttr(c *call) ([]item, error) {
	c.ignore("consumed_inputs")
	in, err := c.attrToInput("shape", []*nef.Value{c.x(0)}, 1)
	if err != nil {
		return nil, err
	}
	return c.emit("Reshape", in...)
}

func padAttrs(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	name := "pads"
	if c.has("paddings") {
		name = "paddings"
	}
	in, err := c.attrToInput(name, []*nef.Value{c.x(0)}, 1)
	if err != nil {
		return nil, err
	}
	value, err := c.float("value", 0)
	if err != nil {
		return nil, err
	}
	return c.emit("Pad", append(in, scalar(c.x(0).DType(), value))...)
}

func sliceAttrs(c *call) ([]item, error) {
	in := []*nef.Value{c.x(0)}
	var err error
	for i, name := range []string{"starts", "ends", "axes"} {
		if in, err = c.attrToInput(name, in, i+1); err != nil {
			return nil, err
		}
	}
	return c.emit("Slice", in...)
}

func split(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	in, err := c.values()
	if err != nil {
		return nil, err
	}
	if in, err = c.attrToInput("split", in, 1); err != nil {
		return nil, err
	}
	attrs, err := c.takeAttrs()
	if err != nil {
		return nil, err
	}
	if len(in) < 2 || in[1] == nil {
		attrs["num_outputs"] = len(c.node.outputs)
	}
	return items(nef.Call("Split", in, attrs, len(c.node.outputs))...), nil
}

func topKAttr(c *call) ([]item, error) {
	k, err := c.int("k", 0)
	if err != nil {
		return nil, err
	}
	return c.emit("TopK", c.x(0), ints(k))
}

// tile1 repeats along one axis.
func tile1(c *call) ([]item, error) {
	if err := c.need(3); err != nil {
		return nil, err
	}
	tiles, axis := c.toInt64(c.x(1)), c.toInt64(c.x(2))
	at, ok := known[int64](c, axis)
	if !ok || len(at) != 1 || at[0] < 0 || int(at[0]) >= c.x(0).Rank() {
		return nil, unsupported("Tile along an axis that is not known when importing")
	}
	parts := slices.Repeat([]*nef.Value{ints(1)}, c.x(0).Rank())
	parts[at[0]] = nef.Reshape(tiles, []int{1})
	return c.emit("Tile", c.x(0), nef.Concat(parts, 0))
}

// ---- resizing

// resize10 is Resize and Upsample before they could be told where pixels lie.
func resize10(c *call) ([]item, error) {
	if err := c.need(2); err != nil {
		return nil, err
	}
	return c.resizeOld(c.x(1))
}

func upsample7(c *call) ([]item, error) {
	a, err := c.attr("scales", attrFloats)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, invalid("Upsample has no scales")
	}
	return c.resizeOld(nef.Tensor(a.floats, []int{len(a.floats)}))
}

func (c *call) resizeOld(scales *nef.Value) ([]item, error) {
	mode, err := c.string("mode", "nearest")
	if err != nil {
		return nil, err
	}
	if mode == "bilinear" {
		mode = "linear"
	}
	attrs := nef.Attrs{"mode": mode, "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
	return items(nef.Call("Resize", []*nef.Value{c.x(0), nil, scales}, attrs, 1)[0]), nil
}

// resize leaves out inputs of no elements: before opset 13 they stood for absent ones.
func resize(c *call) ([]item, error) {
	in, err := c.values()
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(in); i++ {
		if in[i] != nil && slices.Equal(in[i].Shape(), []int{0}) {
			in[i] = nil
		}
	}
	return c.emit("Resize", in...)
}

// ---- newer composites

// globalLpPool is the p-norm over all spatial axes.
func globalLpPool(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	p, err := c.int("p", 2)
	if err != nil {
		return nil, err
	}
	x := c.x(0)
	var axes []int
	for i := 2; i < x.Rank(); i++ {
		axes = append(axes, i)
	}
	switch {
	case len(axes) == 0:
		return nil, invalid("a tensor of %d dims has no spatial axis", x.Rank())
	case p == 1:
		return items(nef.ReduceL1(x, axes, true)), nil
	case p == 2:
		return items(nef.ReduceL2(x, axes, true)), nil
	case p < 1:
		return nil, invalid("p is %d", p)
	}
	sum := nef.ReduceSum(nef.Pow(nef.Abs(x), scalar(x.DType(), float64(p))), axes, true)
	return items(nef.Pow(sum, scalar(x.DType(), 1/float64(p)))), nil
}

// swiGLU is Silu of the first input times the second.
func swiGLU(c *call) ([]item, error) {
	if err := c.need(2); err != nil {
		return nil, err
	}
	outs, err := c.emit("Silu", c.x(0))
	if err != nil {
		return nil, err
	}
	return items(outs[0].v.Mul(c.x(1))), nil
}

// causalConvWithState is a depthwise convolution that sees what came before.
func causalConvWithState(c *call) ([]item, error) {
	if err := c.need(2); err != nil {
		return nil, err
	}
	activation, err := c.string("activation", "none")
	if err != nil {
		return nil, err
	}
	x, w := c.x(0), c.x(1)
	shape := w.Shape()
	if len(shape) != 3 || shape[0] < 1 || shape[2] < 1 {
		return nil, unsupported("CausalConvWithState with a weight of shape %v", w.Dims())
	}
	channels, kernel := shape[0], shape[2]
	past := c.x(3)
	if past == nil {
		size := nef.Concat([]*nef.Value{dimOf(x, 0), dimOf(x, 1), ints(kernel - 1)}, 0)
		past = expand(scalar(x.DType(), 0), size)
	} else {
		if past.Rank() != 3 {
			return nil, invalid("past_state has %d dims, want 3", past.Rank())
		}
		fits := nef.Equal(dimOf(past, 2), ints(kernel-1))
		var err error
		if past, err = c.require(past, fits, "input 3, past_state (%s), must have %d steps", c.inputName(3), kernel-1); err != nil {
			return nil, err
		}
	}
	all := nef.Concat([]*nef.Value{past, x}, 2)
	y := nef.Conv(all, w, c.x(2), nef.ConvOptions{Group: channels})
	switch activation {
	case "none":
	case "silu", "swish":
		y = nef.Silu(y)
	default:
		return nil, unsupported("CausalConvWithState with activation %q", activation)
	}
	state := nef.Slice(all, []int{1 - kernel}, []int{math.MaxInt}, []int{2}, nil)
	if kernel == 1 {
		state = past
	}
	return items(y, state), nil
}
