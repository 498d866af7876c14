// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"strings"

	nef "github.com/Hexa08/NEF"
)

// gqa is a GroupQueryAttention being built. The keys and values of each row of the batch lie at
// their positions in the sequence: new ones are written behind the row's own past, and a query sees
// those up to its own position.
type gqa struct {
	c *call
	attentionAttrs
	q, k, v  *nef.Value // [batch, sequence, heads * size]
	pastK    *nef.Value // [batch, kv heads, past, size], nil without a past
	pastV    *nef.Value
	sequence *nef.Value // [1]
	total    *nef.Value // [1], the longest row; nil when the node does not say
	start    *nef.Value // [batch], the position of each row's first new token; nil for 0
	window   int
}

func groupQueryAttention(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	if err := c.absent(11, 12, 13); err != nil {
		return nil, err
	}
	if c.x(5) == nil {
		return nil, invalid("input 5, seqlens_k, is missing")
	}
	if err := c.zeroInts("smooth_softmax", "qk_output", "kv_cache_bit_width"); err != nil {
		return nil, err
	}
	if err := c.noneStrings("k_quant_type", "v_quant_type"); err != nil {
		return nil, err
	}
	g, err := c.newGQA()
	if err != nil {
		return nil, err
	}
	if err := g.rotate(); err != nil {
		return nil, err
	}
	if g.pastK == nil {
		return g.prompt(), nil
	}
	return g.withPast()
}

// noneStrings fails when an attribute that is not supported asks for something.
func (c *call) noneStrings(names ...string) error {
	for _, name := range names {
		x, err := c.string(name, "NONE")
		if err != nil {
			return err
		}
		if x != "NONE" {
			return unsupported("%s = %q", name, x)
		}
	}
	return nil
}

func (c *call) newGQA() (*gqa, error) {
	a, err := c.attentionAttrs()
	if err != nil {
		return nil, err
	}
	g := &gqa{c: c, attentionAttrs: a, q: c.x(0), k: c.x(1), v: c.x(2), pastK: c.x(3), pastV: c.x(4)}
	g.attrs["is_causal"] = 1
	if g.window, err = c.int("local_window_size", -1); err != nil {
		return nil, err
	}
	if g.window == 0 || g.window < -1 {
		return nil, invalid("local_window_size is %d, want -1 or a size", g.window)
	}
	if g.q.Rank() != 3 {
		return nil, invalid("input 0 has %d dims, want 3", g.q.Rank())
	}
	if (g.k == nil) != (g.v == nil) {
		return nil, invalid("key and value go together")
	}
	if (g.pastK == nil) != (g.pastV == nil) {
		return nil, invalid("past_key and past_value go together")
	}
	if g.k == nil {
		if g.q, g.k, g.v, err = unpackHeads(g.q, a); err != nil {
			return nil, err
		}
	}
	if g.k.Rank() != 3 || g.v.Rank() != 3 {
		return nil, invalid("key has %d dims, value %d, want 3", g.k.Rank(), g.v.Rank())
	}
	if bias := c.x(10); bias != nil && bias.Rank() != 4 {
		return nil, invalid("input 10, attention_bias, has %d dims, want 4", bias.Rank())
	}
	if p := g.pastK; p != nil && (p.Rank() != 4 || g.pastV.Rank() != 4) {
		return nil, invalid("past_key has %d dims, past_value %d, want 4", p.Rank(), g.pastV.Rank())
	}
	if p := g.pastK; p != nil && p.Shape()[2] == 0 {
		g.pastK, g.pastV = nil, nil
	}
	return g, g.placeRows()
}

// placeRows finds where the new tokens of each row begin. A row of seqlens_k + 1 tokens ends with the
// new ones; one that is shorter than they are begins with them, and the rest of them is padding.
func (g *gqa) placeRows() error {
	c := g.c
	one, zero := nef.Scalar(int64(1)), nef.Scalar(int64(0))
	last := nef.Cast(nef.Reshape(c.x(5), []int{-1}), nef.Int64)
	g.sequence = dimOf(g.q, 1)
	most := g.sequence
	if g.pastK != nil {
		most = most.Add(dimOf(g.pastK, 2))
	}
	if total := c.x(6); total != nil {
		g.total = nef.Reshape(nef.Cast(total, nef.Int64), []int{1})
		most = nef.Min(most, g.total)
	}
	fits := nef.And(nef.GreaterOrEqual(last, zero), nef.Less(last, most))
	// What is small and read by all that follows has the checks; without a past nothing reads the
	// lengths.
	checked := &last
	if g.pastK == nil {
		checked = &g.v
	}
	var err error
	if *checked, err = c.require(*checked, fits, "input 5, seqlens_k (%s), must be at least 0 and less than total_sequence_length and than the lengths of past_key and query together, in every row", c.inputName(5)); err != nil {
		return err
	}
	if bias := c.x(10); bias != nil && g.total != nil {
		fits = nef.Equal(dimOf(bias, 3), g.total)
		if *checked, err = c.require(*checked, fits, "input 10, attention_bias (%s), must have total_sequence_length columns", c.inputName(10)); err != nil {
			return err
		}
	}
	if g.pastK != nil {
		g.start = nef.Max(last.Add(one).Sub(g.sequence), zero)
	}
	return nil
}

// unpackHeads splits queries, keys and values that lie behind each other in the last axis.
func unpackHeads(x *nef.Value, a attentionAttrs) (q, k, v *nef.Value, err error) {
	width := x.Shape()[x.Rank()-1]
	all := a.heads + 2*a.kvHeads
	if width < 1 || width%all != 0 {
		return nil, nil, nil, invalid("packed queries, keys and values have width %d, want a multiple of %d heads", width, all)
	}
	size := width / all
	parts := nef.Split(x, []int{a.heads * size, a.kvHeads * size, a.kvHeads * size}, x.Rank()-1, 0)
	return parts[0], parts[1], parts[2], nil
}

// rotate applies the rotary embedding to queries and keys if the node asks for it.
func (g *gqa) rotate() error {
	c := g.c
	rotary, err := c.int("do_rotary", 0)
	if err != nil {
		return err
	}
	interleaved, err := c.int("rotary_interleaved", 0)
	if err != nil || rotary == 0 {
		return err
	}
	cos, sin := c.x(7), c.x(8)
	if cos == nil || sin == nil {
		return invalid("do_rotary without the tables cos_cache and sin_cache")
	}
	if cos.Rank() != 2 {
		return invalid("cos_cache has %d dims, want 2", cos.Rank())
	}
	ids := c.x(9)
	if ids == nil {
		start := ints(0)
		if g.start != nil {
			start = nef.Unsqueeze(g.start, []int{1})
		}
		ids = positions(start, dimOf(g.q, 0), g.sequence)
	}
	attrs := nef.Attrs{"interleaved": interleaved}
	if width, half := g.q.Shape()[2], cos.Shape()[1]; width > 0 && half > 0 && 2*half < width/g.heads {
		attrs["rotary_embedding_dim"] = 2 * half
	}
	turn := func(x *nef.Value, heads int) *nef.Value {
		attrs["num_heads"] = heads
		return nef.Call("RotaryEmbedding", []*nef.Value{x, cos, sin, ids}, attrs, 1)[0]
	}
	g.q, g.k = turn(g.q, g.heads), turn(g.k, g.kvHeads)
	return nil
}

// prompt is attention without a past: all rows begin at 0.
func (g *gqa) prompt() []item {
	mask := g.mask(g.sequence, ints(0))
	in := []*nef.Value{g.q, g.k, g.v, mask}
	return items(nef.Call("Attention", in, g.attrs, max(1, g.c.wanted()))...)
}

// withPast writes what is new into the cache and attends to that. Rows that are shorter than the
// new tokens see padding only where the query is padding itself.
func (g *gqa) withPast() ([]item, error) {
	keys, presentK := g.write(g.pastK, g.k)
	values, presentV := g.write(g.pastV, g.v)
	start := nef.Unsqueeze(g.start, []int{1, 2, 3})
	mask := g.mask(dimOf(keys, 2), start)
	lengths := g.start.Add(g.sequence)
	in := []*nef.Value{g.q, keys, values, mask, nil, nil, lengths}
	y := nef.Call("Attention", in, g.attrs, 1)[0]
	return items(y, presentK, presentV), nil
}

// write puts x at each row's positions behind the past: what attention reads, and what comes out,
// which is as long as the longer one of the past and the longest row.
func (g *gqa) write(past, x *nef.Value) (cache, present *nef.Value) {
	x = nef.Transpose(nef.Reshape(x, []int{0, 0, g.kvHeads, -1}), []int{0, 2, 1, 3})
	length := dimOf(past, 2)
	grow := g.sequence
	if g.total != nil {
		grow = nef.Max(nef.Max(g.total, g.sequence).Sub(length), ints(0))
	}
	room := padRows(past, grow)
	late := g.total != nil && strings.Contains(room.Dims()[2], "?")
	if late {
		// How long the longest row is follows from no size. Attention has room for all rows anyway, so
		// that only the present has a size that is found in the run.
		room = padRows(past, g.sequence)
	}
	cache = nef.TensorScatter(room, x, g.start, "linear")
	if late {
		return cache, padRows(cache, grow.Sub(g.sequence))
	}
	return cache, cache
}

// padRows adds rows of zeros to a cache, or takes some away.
func padRows(cache, count *nef.Value) *nef.Value {
	if known, ok := count.KnownInts(); ok && known[0] == 0 {
		return cache
	}
	pads := nef.Concat([]*nef.Value{ints(0), count}, 0)
	return nef.Call("Pad", []*nef.Value{cache, pads, scalar(cache.DType(), 0), ints(2)}, nil, 1)[0]
}

// padColumns gives a bias a column for each key; those that it lacks belong to no row.
func padColumns(bias, keys *nef.Value) *nef.Value {
	missing := keys.Sub(dimOf(bias, 3))
	if known, ok := missing.KnownInts(); ok && known[0] == 0 {
		return bias
	}
	pads := nef.Concat([]*nef.Value{ints(0), missing}, 0)
	return nef.Call("Pad", []*nef.Value{bias, pads, scalar(bias.DType(), 0), ints(3)}, nil, 1)[0]
}

// mask has what hides keys besides their order: the window in front of each query, and the bias,
// whose columns are positions. Start is [batch, 1, 1, 1] or [1].
func (g *gqa) mask(keys, start *nef.Value) *nef.Value {
	mask := g.c.x(10)
	if mask != nil {
		mask = padColumns(mask, keys)
	}
	if g.window < 0 {
		return mask
	}
	one, zero := nef.Scalar(int64(1)), nef.Scalar(int64(0))
	key := nef.Range(zero, nef.Reshape(keys, []int{}), one)
	query := nef.Unsqueeze(nef.Range(zero, nef.Reshape(g.sequence, []int{}), one), []int{1}).Add(start)
	near := nef.Greater(key, query.Sub(nef.Scalar(int64(g.window))))
	if mask == nil {
		return near
	}
	return nef.Where(near, mask, scalar(mask.DType(), math.Inf(-1)))
}
