// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	nef "github.com/Hexa08/NEF"
)

// Sequences exist while a model is imported: their length and the positions in them must be known
// then. What is left in the graph are the tensors.

func sequenceOps() map[string][]variant {
	return map[string][]variant{
		"ConcatFromSequence": always(concatFromSequence),
		"Optional":           always(optional),
		"OptionalGetElement": always(identity),
		"OptionalHasElement": always(optionalHasElement),
		"SequenceAt":         always(sequenceAt),
		"SequenceConstruct":  always(sequenceConstruct),
		"SequenceEmpty":      always(ignoring(func(c *call) ([]item, error) { return c.sequenceOf() }, "dtype")),
		"SequenceErase":      always(sequenceErase),
		"SequenceInsert":     always(sequenceInsert),
		"SequenceLength":     always(sequenceLength),
		"SplitToSequence":    always(splitToSequence),
	}
}

// maxHeld bounds what all sequences hold together: each insertion makes a new one.
const maxHeld = 1 << 20

func (c *call) sequenceOf(values ...*nef.Value) ([]item, error) {
	b := c.scope.builder
	if b.held += len(values); b.held > maxHeld {
		return nil, limitError("the sequences of the model hold more than %d tensors", maxHeld)
	}
	return []item{{seq: &sequence{values}}}, nil
}

// sequence is input 0, which must be one.
func (c *call) sequence() ([]*nef.Value, error) {
	if len(c.in) == 0 || c.in[0].seq == nil {
		return nil, invalid("input 0 is not a sequence")
	}
	return c.in[0].seq.items, nil
}

// position is input i as a place in a sequence of n items; absent means the one given.
func (c *call) position(i, n, absent int) (int, error) {
	v := c.x(i)
	if v == nil {
		return absent, nil
	}
	data, ok := known[int64](c, c.toInt64(v))
	if !ok || len(data) != 1 {
		return 0, unsupported("a position in a sequence that is not known when importing")
	}
	at := int(data[0])
	if at < 0 {
		at += n
	}
	if at < 0 || at > n {
		return 0, &nef.Error{Code: nef.CodeOutOfRange, Op: "onnx", Msg: "position outside of the sequence"}
	}
	return at, nil
}

func sequenceConstruct(c *call) ([]item, error) {
	values, err := c.values()
	if err != nil {
		return nil, err
	}
	return c.sequenceOf(values...)
}

func sequenceInsert(c *call) ([]item, error) {
	seq, err := c.sequence()
	if err != nil {
		return nil, err
	}
	if c.x(1) == nil {
		return nil, invalid("input 1 is missing")
	}
	at, err := c.position(2, len(seq), len(seq))
	if err != nil {
		return nil, err
	}
	return c.sequenceOf(slices.Insert(slices.Clone(seq), at, c.x(1))...)
}

func sequenceErase(c *call) ([]item, error) {
	seq, at, err := c.element(len(c.in) < 2)
	if err != nil {
		return nil, err
	}
	return c.sequenceOf(slices.Delete(slices.Clone(seq), at, at+1)...)
}

func sequenceAt(c *call) ([]item, error) {
	seq, at, err := c.element(false)
	if err != nil {
		return nil, err
	}
	return items(seq[at]), nil
}

// element is the sequence, and input 1 as the place of one of its items.
func (c *call) element(last bool) ([]*nef.Value, int, error) {
	seq, err := c.sequence()
	if err != nil {
		return nil, 0, err
	}
	absent := len(seq)
	if last {
		absent--
	}
	at, err := c.position(1, len(seq), absent)
	if err == nil && (at < 0 || at >= len(seq)) {
		err = &nef.Error{Code: nef.CodeOutOfRange, Op: "onnx", Msg: "position outside of the sequence"}
	}
	return seq, at, err
}

func sequenceLength(c *call) ([]item, error) {
	seq, err := c.sequence()
	if err != nil {
		return nil, err
	}
	return items(nef.Scalar(int64(len(seq)))), nil
}

func concatFromSequence(c *call) ([]item, error) {
	seq, err := c.sequence()
	if err != nil {
		return nil, err
	}
	axis, err := c.int("axis", 0)
	if err != nil {
		return nil, err
	}
	fresh, err := c.int("new_axis", 0)
	if err != nil {
		return nil, err
	}
	if fresh != 0 {
		for i, v := range seq {
			if i == 0 {
				seq = slices.Clone(seq)
			}
			seq[i] = nef.Unsqueeze(v, []int{axis})
		}
	}
	return items(nef.Concat(seq, axis)), nil
}

func splitToSequence(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	axis, err := c.int("axis", 0)
	if err != nil {
		return nil, err
	}
	keep, err := c.int("keepdims", 1)
	if err != nil {
		return nil, err
	}
	x := c.x(0)
	sizes, err := c.splitSizes(x, axis)
	if err != nil {
		return nil, err
	}
	parts := nef.Split(x, sizes, axis, len(sizes))
	if c.x(1) == nil && keep == 0 {
		for i := range parts {
			parts[i] = nef.Squeeze(parts[i], []int{axis})
		}
	}
	return c.sequenceOf(parts...)
}

// splitSizes are the pieces that a split gives: a list, one size for all, or 1 when it is absent.
func (c *call) splitSizes(x *nef.Value, axis int) ([]int, error) {
	size := int64(1)
	if split := c.x(1); split != nil {
		data, ok := known[int64](c, c.toInt64(split))
		if !ok {
			return nil, unsupported("SplitToSequence with sizes that are not known when importing")
		}
		if split.Rank() == 1 {
			sizes := make([]int, len(data))
			for i, n := range data {
				sizes[i] = int(n)
			}
			return sizes, nil
		}
		if len(data) != 1 {
			return nil, invalid("input 1 has shape %v, want a scalar or a vector", split.Shape())
		}
		size = data[0]
	}
	shape := x.Shape()
	if axis = axisIn(axis, len(shape)); axis < 0 || axis >= len(shape) || shape[axis] < 0 || size < 1 {
		return nil, unsupported("SplitToSequence along an axis whose size is not known when importing")
	}
	const most = 1 << 16
	if int64(shape[axis])/size > most {
		return nil, limitError("SplitToSequence into more than %d pieces", most)
	}
	var sizes []int
	for left := shape[axis]; left > 0; left -= int(size) {
		sizes = append(sizes, min(left, int(size)))
	}
	return sizes, nil
}

func optional(c *call) ([]item, error) {
	c.ignore("type")
	if len(c.in) == 0 {
		return []item{{}}, nil
	}
	return c.in[:1], nil
}

func optionalHasElement(c *call) ([]item, error) {
	there := len(c.in) > 0 && (c.in[0].v != nil || c.in[0].seq != nil)
	return items(nef.Scalar(there)), nil
}
