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
	q, k, v      *nef.Value // [batch, sequence, heads * size]
	pastK, pastV *nef.Value // [batch, kv heads, past, size], nil without a past
	window       int
	rows         *gqaRows
}

// gqaRows is where the tokens of each row lie. Layers share it: what they read of it is there once.
type gqaRows struct {
	sequence *nef.Value // [1]
	total    *nef.Value // [1], the longest row; nil when the node does not say
	start    *nef.Value // [batch], the position of each row's first new token; nil for 0
	ends     *nef.Value // [batch], start + sequence
	grow     *nef.Value // [1], rows by which the present is longer than the past
	checks   []check    // without a past; else start has them
	ids      *nef.Value // [batch, sequence], positions of the new tokens
	near     map[nearKey]*nef.Value
}

type check struct {
	holds *nef.Value
	rule  string
	input int
}

// gqaKey is what the rows hang on; dims are text, in which equal ones are equal.
type gqaKey struct {
	scope          *scope
	lens, total    *nef.Value
	bias           *nef.Value
	sequence, past string
	key, value     string
}

type nearKey struct {
	window int
	keys   string
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
	if g.q.Rank() != 3 || g.k.Rank() != 3 || g.v.Rank() != 3 {
		return nil, invalid("queries have %d dims, keys %d, values %d, want 3", g.q.Rank(), g.k.Rank(), g.v.Rank())
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

// placeRows finds where the tokens of each row lie, once for all layers that agree about it.
func (g *gqa) placeRows() error {
	c, b := g.c, g.c.scope.builder
	key := gqaKey{scope: c.scope, lens: c.x(5), total: c.x(6), bias: c.x(10), sequence: dimText(g.q, 1), key: dimText(g.k, 1), value: dimText(g.v, 1)}
	if g.pastK != nil {
		key.past = dimText(g.pastK, 2)
	}
	g.rows = b.gqaRows[key]
	if g.rows == nil {
		var err error
		if g.rows, err = g.newRows(); err != nil {
			return err
		}
	}
	if !isLate(key.sequence + key.past + key.key + key.value) {
		b.gqaRows[key] = g.rows
	}
	for _, check := range g.rows.checks {
		var err error
		if g.v, err = c.require(g.v, check.holds, check.rule, c.inputName(check.input)); err != nil {
			return err
		}
	}
	return nil
}

// newRows finds where the new tokens of each row begin. A row of seqlens_k + 1 tokens ends with the
// new ones; one that is shorter than they are begins with them, and the rest of them is padding.
func (g *gqa) newRows() (*gqaRows, error) {
	c := g.c
	one, zero := nef.Scalar(int64(1)), nef.Scalar(int64(0))
	last := nef.Cast(nef.Reshape(c.x(5), []int{-1}), nef.Int64)
	r := &gqaRows{sequence: dimOf(g.q, 1), near: map[nearKey]*nef.Value{}}
	most := r.sequence
	if g.pastK != nil {
		most = most.Add(dimOf(g.pastK, 2))
	}
	if total := c.x(6); total != nil {
		r.total = nef.Reshape(nef.Cast(total, nef.Int64), []int{1})
		most = nef.Min(most, r.total)
	}
	checks := []check{{
		nef.And(nef.GreaterOrEqual(last, zero), nef.Less(last, most)),
		"input 5, seqlens_k (%s), must be at least 0 and less than total_sequence_length and than the lengths of past_key and query together, in every row", 5,
	}}
	for i, x := range []*nef.Value{1: c.x(1), 2: c.x(2)} {
		if x != nil {
			checks = append(checks, check{nef.Equal(dimOf(x, 1), r.sequence), "an input of new keys or values (%s) must be as long as query", i})
		}
	}
	if bias := c.x(10); bias != nil && r.total != nil {
		checks = append(checks, check{nef.Equal(dimOf(bias, 3), r.total), "input 10, attention_bias (%s), must have total_sequence_length columns", 10})
	}
	if g.pastK == nil {
		// Nothing reads the lengths: the values have the checks.
		r.checks = checks
		r.ids = positions(ints(0), dimOf(g.q, 0), r.sequence)
		return r, nil
	}
	for _, check := range checks {
		var err error
		if last, err = c.require(last, check.holds, check.rule, c.inputName(check.input)); err != nil {
			return nil, err
		}
	}
	r.start = nef.Max(last.Add(one).Sub(r.sequence), zero)
	r.ends = r.start.Add(r.sequence)
	r.ids = positions(nef.Unsqueeze(r.start, []int{1}), dimOf(g.q, 0), r.sequence)
	r.grow = r.sequence
	if r.total != nil {
		r.grow = nef.Max(nef.Max(r.total, r.sequence).Sub(dimOf(g.pastK, 2)), ints(0))
	}
	return r, nil
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
	if cos.Rank() != 2 || sin.Rank() != 2 {
		return invalid("cos_cache has %d dims, sin_cache %d, want 2", cos.Rank(), sin.Rank())
	}
	ids := c.x(9)
	if ids == nil {
		ids = g.rows.ids
	}
	cosines, sines := c.rotations(cos, sin, ids)
	attrs := nef.Attrs{"interleaved": interleaved}
	if width, half := g.q.Shape()[2], cos.Shape()[1]; width > 0 && half > 0 && 2*half < width/g.heads {
		attrs["rotary_embedding_dim"] = 2 * half
	}
	turn := func(x *nef.Value, heads int) *nef.Value {
		attrs["num_heads"] = heads
		return nef.Call("RotaryEmbedding", []*nef.Value{x, cosines, sines}, attrs, 1)[0]
	}
	g.q, g.k = turn(g.q, g.heads), turn(g.k, g.kvHeads)
	return nil
}

// prompt is attention without a past: all rows begin at 0.
func (g *gqa) prompt() []item {
	in := []*nef.Value{g.q, g.k, g.v, g.mask(g.k, 1)}
	return items(nef.Call("Attention", in, g.attrs, max(1, g.c.wanted()))...)
}

// withPast writes what is new into the cache and attends to that. Rows that are shorter than the
// new tokens see padding only where the query is padding itself.
func (g *gqa) withPast() ([]item, error) {
	keys, presentK := g.write(g.pastK, g.k)
	values, presentV := g.write(g.pastV, g.v)
	in := []*nef.Value{g.q, keys, values, g.mask(keys, 2), nil, nil, g.rows.ends}
	y := nef.Call("Attention", in, g.attrs, 1)[0]
	return items(y, presentK, presentV), nil
}

// write puts x at each row's positions behind the past: what attention reads, and what comes out,
// which is as long as the longer one of the past and the longest row.
func (g *gqa) write(past, x *nef.Value) (cache, present *nef.Value) {
	size := -1
	if shape := x.Shape(); len(shape) == 3 && shape[2] > 0 {
		size = shape[2] / g.kvHeads
	}
	if dimText(x, 1) == "1" {
		x = nef.Reshape(x, []int{0, g.kvHeads, 1, size}) // nothing to move
	} else {
		x = nef.Transpose(nef.Reshape(x, []int{0, 0, g.kvHeads, size}), []int{0, 2, 1, 3})
	}
	room := pad(past, g.rows.grow, 2)
	late := isLate(dimText(room, 2))
	if late {
		// How long the longest row is follows from no size. Attention has room for all rows anyway, so
		// that only the present has a size that is found in the run.
		room = pad(past, g.rows.sequence, 2)
	}
	cache = nef.TensorScatter(room, x, g.rows.start, "linear")
	if late {
		return cache, pad(cache, g.rows.grow.Sub(g.rows.sequence), 2)
	}
	return cache, cache
}

// dimText is a dim as text, "?" where there is none: the value has an error, which comes out of the node.
func dimText(v *nef.Value, axis int) string {
	if dims := v.Dims(); axis < len(dims) {
		return dims[axis]
	}
	return "?"
}

// isLate reports whether a dim is found in the run: such ones have no names.
func isLate(dim string) bool { return strings.Contains(dim, "?") }

// pad adds zeros at the end of an axis, or takes some of it away.
func pad(x, count *nef.Value, axis int) *nef.Value {
	if known, ok := count.KnownInts(); ok && len(known) == 1 && known[0] == 0 {
		return x
	}
	pads := nef.Concat([]*nef.Value{ints(0), count}, 0)
	return nef.Call("Pad", []*nef.Value{x, pads, scalar(x.DType(), 0), ints(axis)}, nil, 1)[0]
}

// mask has what hides keys besides their order: the window in front of each query, and the bias,
// whose columns are positions. Axis is that of the keys' positions.
func (g *gqa) mask(keys *nef.Value, axis int) *nef.Value {
	bias := g.c.x(10)
	if bias != nil {
		// A column that it lacks belongs to no row.
		bias = pad(bias, dimOf(keys, axis).Sub(dimOf(bias, 3)), 3)
	}
	if g.window < 0 {
		return bias
	}
	key := nearKey{g.window, dimText(keys, axis)}
	near := g.rows.near[key]
	if near == nil {
		near = g.nearby(dimOf(keys, axis))
	}
	if !isLate(key.keys) {
		g.rows.near[key] = near
	}
	if bias == nil {
		return near
	}
	return nef.Where(near, bias, scalar(bias.DType(), math.Inf(-1)))
}

// nearby is true where a key lies in the window in front of the query: [sequence, keys], for each row
// of the batch if there is a past.
func (g *gqa) nearby(keys *nef.Value) *nef.Value {
	one, zero := nef.Scalar(int64(1)), nef.Scalar(int64(0))
	key := nef.Range(zero, nef.Reshape(keys, []int{}), one)
	query := nef.Unsqueeze(nef.Range(zero, nef.Reshape(g.rows.sequence, []int{}), one), []int{1})
	if g.rows.start != nil {
		query = query.Add(nef.Unsqueeze(g.rows.start, []int{1, 2, 3}))
	}
	return nef.Greater(key, query.Sub(nef.Scalar(int64(g.window))))
}
