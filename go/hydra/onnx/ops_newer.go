// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"

	nef "github.com/Hexa08/NEF"
)

// attention adds the windows of opset 25 to the mask.
func attention(c *call) ([]item, error) {
	if err := c.need(3); err != nil {
		return nil, err
	}
	left, err := c.int("left_window_size", -1)
	if err != nil {
		return nil, err
	}
	right, err := c.int("right_window_size", -1)
	if err != nil {
		return nil, err
	}
	in, err := c.values()
	if err != nil {
		return nil, err
	}
	if left >= 0 || right >= 0 {
		for len(in) < 7 {
			in = append(in, nil)
		}
		in[3] = c.windowMask(in, left, right)
	}
	return c.emit("Attention", in...)
}

// windowMask is the mask of an Attention joined with one that is true near each query's position.
func (c *call) windowMask(in []*nef.Value, left, right int) *nef.Value {
	q, k, mask, past, valid := in[0], in[1], in[3], in[4], in[6]
	axis := q.Rank() - 2
	queries, keys, offset := dimOf(q, axis), dimOf(k, axis), ints(0)
	if past != nil {
		offset = dimOf(past, 2)
		keys = keys.Add(offset)
	}
	one, zero := nef.Scalar(int64(1)), nef.Scalar(int64(0))
	if valid != nil {
		offset = nef.Unsqueeze(valid.Sub(queries), []int{1, 2}) // [batch 1 1]
	}
	at := nef.Unsqueeze(nef.Range(zero, nef.Reshape(queries, []int{}), one), []int{1}).Add(offset)
	key := nef.Range(zero, nef.Reshape(keys, []int{}), one)
	near := nef.Scalar(true)
	if left >= 0 {
		near = nef.And(near, nef.GreaterOrEqual(key, at.Sub(nef.Scalar(int64(left)))))
	}
	if right >= 0 {
		near = nef.And(near, nef.LessOrEqual(key, at.Add(nef.Scalar(int64(right)))))
	}
	if valid != nil {
		near = nef.Unsqueeze(near, []int{1})
	}
	if mask == nil {
		return near
	}
	mask, there := spreadLast(mask, keys, key)
	if there != nil {
		near = nef.And(near, there)
	}
	if mask.DType() == nef.Bool {
		return nef.And(mask, near)
	}
	return nef.Where(near, mask, scalar(mask.DType(), math.Inf(-1)))
}

// spreadLast is a mask with a column for each key, and which of them it has: one column stands for
// all keys, what a shorter mask lacks is masked. The last is nil where it has all.
func spreadLast(mask, keys, key *nef.Value) (spread, there *nef.Value) {
	last := mask.Rank() - 1
	if last < 0 || mask.Shape()[last] == 1 {
		return mask, nil
	}
	columns := dimOf(mask, last)
	if missing, ok := keys.Sub(columns).KnownInts(); ok && len(missing) == 1 && missing[0] == 0 {
		return mask, nil
	}
	one := nef.Scalar(int64(1))
	there = nef.Or(nef.Less(key, columns), nef.Equal(columns, one))
	return nef.Gather(mask, nef.Min(key, columns.Sub(one)), last), there
}

// unsigned are the unsigned dtypes of the signed ones.
var unsigned = map[nef.DType]nef.DType{
	nef.Int8: nef.Uint8, nef.Int16: nef.Uint16, nef.Int32: nef.Uint32, nef.Int64: nef.Uint64,
}

// bitShift of signed integers, since opset 28, is that of their bits; to the right the sign stays.
func bitShift(c *call) ([]item, error) {
	if err := c.need(2); err != nil {
		return nil, err
	}
	x, y := c.x(0), c.x(1)
	dtype := x.DType()
	bare, signed := unsigned[dtype]
	if !signed {
		return c.emit("BitShift", x, y)
	}
	direction, err := c.string("direction", "")
	if err != nil {
		return nil, err
	}
	zero := scalar(dtype, 0)
	negative := nef.Less(x, zero)
	shift := func(x *nef.Value) *nef.Value {
		return nef.Cast(nef.BitShift(nef.Cast(x, bare), nef.Cast(y, bare), direction), dtype)
	}
	if direction != "RIGHT" {
		// A negative shift is one by more bits than there are.
		return items(nef.Where(nef.Less(y, zero), zero, shift(x))), nil
	}
	bits := nef.Where(negative, nef.BitwiseNot(x), x)
	shifted := nef.Where(nef.Less(y, zero), zero, shift(bits))
	return items(nef.Where(negative, nef.BitwiseNot(shifted), shifted)), nil
}

// mod of floats without fmod, since opset 28, has the sign of the divisor.
func mod(c *call) ([]item, error) {
	if err := c.need(2); err != nil {
		return nil, err
	}
	a, b := c.x(0), c.x(1)
	fmod, err := c.int("fmod", 0)
	if err != nil {
		return nil, err
	}
	switch a.DType() {
	case nef.Float16, nef.BFloat16, nef.Float32, nef.Float64:
	default:
		return items(nef.Mod(a, b, fmod != 0)), nil
	}
	rest := nef.Mod(a, b, true)
	if fmod != 0 {
		return items(rest), nil
	}
	zero := scalar(a.DType(), 0)
	wrong := nef.Xor(nef.Less(rest, zero), nef.Less(b, zero))
	moved := nef.And(wrong, nef.Not(nef.Equal(rest, zero)))
	return items(nef.Where(moved, rest.Add(b), rest)), nil
}

// spaceToDepth has the order CRD since opset 28.
func spaceToDepth(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	mode, err := c.string("mode", "DCR")
	if err != nil {
		return nil, err
	}
	if mode == "DCR" {
		return c.emit("SpaceToDepth", c.x(0))
	}
	size, err := c.int("blocksize", 0)
	if err != nil {
		return nil, err
	}
	if mode != "CRD" || size < 1 {
		return nil, invalid("mode is %q, blocksize %d", mode, size)
	}
	x := c.x(0)
	if x.Rank() != 4 {
		return nil, invalid("a tensor of %d dims, want 4", x.Rank())
	}
	b := ints(size)
	rows, columns := dimOf(x, 2).Div(b), dimOf(x, 3).Div(b)
	cut := reshape(x, nef.Concat([]*nef.Value{dimOf(x, 0), dimOf(x, 1), rows, b, columns, b}, 0))
	turned := nef.Transpose(cut, []int{0, 1, 3, 5, 2, 4})
	return items(reshape(turned, nef.Concat([]*nef.Value{dimOf(x, 0), dimOf(x, 1).Mul(ints(size * size)), rows, columns}, 0))), nil
}

// gridSample has other names for its modes before opset 20.
func gridSample(c *call) ([]item, error) {
	if err := c.need(2); err != nil {
		return nil, err
	}
	mode, err := c.string("mode", "linear")
	if err != nil {
		return nil, err
	}
	if name, old := map[string]string{"bilinear": "linear", "bicubic": "cubic"}[mode]; old {
		mode = name
	}
	attrs, err := c.takeAttrs()
	if err != nil {
		return nil, err
	}
	attrs["mode"] = mode
	return items(nef.Call("GridSample", []*nef.Value{c.x(0), c.x(1)}, attrs, 1)...), nil
}

// dft17 has its axis as an attribute.
func dft17(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	axis, err := c.int("axis", 1)
	if err != nil {
		return nil, err
	}
	return c.emit("DFT", c.x(0), c.x(1), nef.Scalar(int64(axis)))
}

// roiAlign10 places its samples without the shift of half a pixel, which newer versions do by default.
func roiAlign10(c *call) ([]item, error) {
	in, err := c.values()
	if err != nil {
		return nil, err
	}
	attrs, err := c.takeAttrs()
	if err != nil {
		return nil, err
	}
	attrs["coordinate_transformation_mode"] = "output_half_pixel"
	return items(nef.Call("RoiAlign", in, attrs, 1)...), nil
}

// ---- random numbers

// seed is an integer: the bits of the float that a node may have, else a number of its own, so that
// two nodes do not draw the same.
func (c *call) seed() (int, error) {
	a, err := c.attr("seed", attrFloat)
	if err != nil {
		return 0, err
	}
	if a == nil {
		return c.scope.builder.built, nil
	}
	return int(math.Float32bits(a.f)), nil
}

func (c *call) emitSeeded(op string, in ...*nef.Value) ([]item, error) {
	seed, err := c.seed()
	if err != nil {
		return nil, err
	}
	attrs, err := c.takeAttrs()
	if err != nil {
		return nil, err
	}
	attrs["seed"] = seed
	return items(nef.Call(op, in, attrs, 1)...), nil
}

func seeded(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	return c.emitSeeded(c.node.opType, c.x(0))
}

func randomOfShape(op string) handler {
	return func(c *call) ([]item, error) {
		shape, err := c.ints("shape")
		if err != nil {
			return nil, err
		}
		return c.emitSeeded(op, ints(shape...))
	}
}

// randomLike draws as many numbers as its input has, of its dtype unless the node says another.
func randomLike(op string) handler {
	return func(c *call) ([]item, error) {
		if err := c.need(1); err != nil {
			return nil, err
		}
		typed := c.has("dtype")
		outs, err := c.emitSeeded(op, nef.ShapeOf(c.x(0)))
		if err == nil && !typed {
			outs[0].v = nef.Cast(outs[0].v, c.x(0).DType())
		}
		return outs, err
	}
}
