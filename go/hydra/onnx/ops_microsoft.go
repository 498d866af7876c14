// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	nef "github.com/Hexa08/NEF"
)

// microsoftOps are the ops that ONNX Runtime's tools put into models, lowered to NEF's.
func microsoftOps() map[string][]variant {
	return map[string][]variant{
		"BiasGelu":                         always(gelu("none")),
		"DequantizeLinear":                 {{since: 1, build: direct}},
		"DynamicQuantizeMatMul":            {{since: 1, build: dynamicQuantizeMatMul}},
		"DynamicQuantizeLSTM":              {{since: 1, build: dynamicQuantizeLSTM}},
		"FastGelu":                         always(gelu("tanh")),
		"FusedMatMul":                      always(fusedMatMul),
		"Gelu":                             always(gelu("none")),
		"GroupQueryAttention":              always(groupQueryAttention),
		"MatMulNBits":                      {{since: 1, build: matMulNBits}},
		"MatMulIntegerToFloat":             {{since: 1, build: matMulIntegerToFloat}},
		"MultiHeadAttention":               always(multiHeadAttention),
		"QLinearAdd":                       {{since: 1, build: qlinearBinary("Add")}},
		"QLinearAveragePool":               {{since: 1, build: qlinearUnary("AveragePool")}},
		"QLinearGlobalAveragePool":         {{since: 1, build: qlinearUnary("GlobalAveragePool")}},
		"QLinearLeakyRelu":                 {{since: 1, build: qlinearUnary("LeakyRelu")}},
		"QLinearMul":                       {{since: 1, build: qlinearBinary("Mul")}},
		"QLinearSigmoid":                   {{since: 1, build: qlinearUnary("Sigmoid")}},
		"QuantizeLinear":                   {{since: 1, build: direct}},
		"QuickGelu":                        always(quickGelu),
		"RotaryEmbedding":                  always(rotaryEmbedding),
		"SimplifiedLayerNormalization":     always(simplifiedLayerNormalization),
		"SkipLayerNormalization":           always(skipLayerNormalization),
		"SkipSimplifiedLayerNormalization": always(skipSimplifiedLayerNormalization),
	}
}

// gelu is Gelu of the sum of the inputs.
func gelu(approximate string) handler {
	return func(c *call) ([]item, error) {
		if err := c.need(1); err != nil {
			return nil, err
		}
		x := c.x(0)
		if bias := c.x(1); bias != nil {
			x = x.Add(bias)
		}
		return items(nef.Gelu(x, nef.GeluOptions{Approximate: approximate})), nil
	}
}

func quickGelu(c *call) ([]item, error) {
	if err := c.need(1); err != nil {
		return nil, err
	}
	alpha, err := c.float("alpha", 1.702)
	if err != nil {
		return nil, err
	}
	return items(nef.Call("Silu", []*nef.Value{c.x(0)}, nef.Attrs{"alpha": alpha}, 1)[0]), nil
}

// swapLast transposes the last two axes.
func swapLast(v *nef.Value) *nef.Value {
	perm := make([]int, v.Rank())
	for i := range perm {
		perm[i] = i
	}
	if n := len(perm); n > 1 {
		perm[n-1], perm[n-2] = n-2, n-1
	}
	return nef.Transpose(v, perm)
}

func fusedMatMul(c *call) ([]item, error) {
	if err := c.need(2); err != nil {
		return nil, err
	}
	in := []*nef.Value{c.x(0), c.x(1)}
	for i, side := range []string{"A", "B"} {
		transpose, err := c.int("trans"+side, 0)
		if err != nil {
			return nil, err
		}
		batch, err := c.int("transBatch"+side, 0)
		if err != nil {
			return nil, err
		}
		if batch != 0 {
			return nil, unsupported("FusedMatMul with transBatch%s", side)
		}
		if transpose != 0 {
			in[i] = swapLast(in[i])
		}
	}
	alpha, err := c.float("alpha", 1)
	if err != nil {
		return nil, err
	}
	y := nef.MatMul(in[0], in[1])
	if alpha != 1 {
		y = y.Mul(scalar(y.DType(), alpha))
	}
	return items(y), nil
}

// skipSum is what the Skip norms normalise: input + skip + bias.
func (c *call) skipSum(bias *nef.Value) *nef.Value {
	sum := c.x(0).Add(c.x(1))
	if bias != nil {
		sum = sum.Add(bias)
	}
	return sum
}

func skipLayerNormalization(c *call) ([]item, error) {
	if err := c.need(3); err != nil {
		return nil, err
	}
	epsilon, err := c.float("epsilon", 1e-12)
	if err != nil {
		return nil, err
	}
	sum := c.skipSum(c.x(4))
	in := []*nef.Value{sum, c.x(2), c.x(3)}
	outs := items(nef.Call("LayerNormalization", in, nef.Attrs{"axis": -1, "epsilon": epsilon}, min(max(c.wanted(), 1), 3))...)
	if c.wanted() < 4 {
		return outs, nil
	}
	return append(outs, item{v: sum}), nil
}

func skipSimplifiedLayerNormalization(c *call) ([]item, error) {
	if err := c.need(3); err != nil {
		return nil, err
	}
	epsilon, err := c.float("epsilon", 1e-12)
	if err != nil {
		return nil, err
	}
	sum := c.skipSum(c.x(3))
	if c.has("epsilon") && epsilon <= 0 {
		return nil, invalid("epsilon is %v", epsilon)
	}
	y := nef.RMSNormalization(sum, c.x(2), -1, epsilon)
	for i := 1; i < min(c.wanted(), 3); i++ {
		if c.node.outputs[i] != "" {
			return nil, unsupported("SkipSimplifiedLayerNormalization with its output %d, which is for training", i)
		}
	}
	return []item{{v: y}, {}, {}, {v: sum}}, nil
}

func simplifiedLayerNormalization(c *call) ([]item, error) {
	if err := c.need(2); err != nil {
		return nil, err
	}
	if c.wanted() > 1 {
		return nil, unsupported("SimplifiedLayerNormalization with its second output, which is for training")
	}
	return c.emit("RMSNormalization", c.x(0), c.x(1))
}

// positions are start[b] + 0, 1, ... for each of the sequence's elements: [batch, sequence]. Start
// is [batch, 1] or [1].
func positions(start, batch, sequence *nef.Value) *nef.Value {
	steps := nef.Range(nef.Scalar(int64(0)), nef.Reshape(sequence, []int{}), nef.Scalar(int64(1)))
	return expand(nef.Cast(start, nef.Int64).Add(steps), nef.Concat([]*nef.Value{batch, sequence}, 0))
}

// rotaryEmbedding has its position ids before the tables, and they may be one offset for all.
func rotaryEmbedding(c *call) ([]item, error) {
	if err := c.need(4); err != nil {
		return nil, err
	}
	scale, err := c.float("scale", 1)
	if err != nil {
		return nil, err
	}
	packed, err := c.int("is_packed_batching", 0)
	if err != nil {
		return nil, err
	}
	if scale != 1 || packed != 0 {
		return nil, unsupported("RotaryEmbedding with scale or packed batches")
	}
	heads, err := c.int("num_heads", 0)
	if err != nil {
		return nil, err
	}
	x, ids, cos, sin := c.x(0), c.x(1), c.x(2), c.x(3)
	if ids.Rank() == 1 {
		axis := 1
		if x.Rank() == 4 {
			axis = 2
		}
		ids = positions(ids, dimOf(x, 0), dimOf(x, axis))
	}
	attrs, err := c.takeAttrs()
	if err != nil {
		return nil, err
	}
	if x.Rank() == 3 {
		if heads == 0 {
			hidden, half := x.Shape()[2], cos.Shape()[1]
			if hidden < 1 || half < 1 {
				return nil, unsupported("RotaryEmbedding without num_heads of a tensor whose last dim is not known")
			}
			heads = hidden / (2 * half)
		}
		attrs["num_heads"] = heads
	}
	return items(nef.Call("RotaryEmbedding", []*nef.Value{x, cos, sin, ids}, attrs, 1)[0]), nil
}

// attentionAttrs are those that GroupQueryAttention and MultiHeadAttention share.
type attentionAttrs struct {
	heads, kvHeads int
	attrs          nef.Attrs
}

func (c *call) attentionAttrs() (a attentionAttrs, err error) {
	if a.heads, err = c.int("num_heads", 0); err != nil {
		return a, err
	}
	if a.kvHeads, err = c.int("kv_num_heads", a.heads); err != nil {
		return a, err
	}
	if a.heads < 1 || a.kvHeads < 1 || a.heads%a.kvHeads != 0 {
		return a, invalid("num_heads is %d, kv_num_heads %d", a.heads, a.kvHeads)
	}
	a.attrs = nef.Attrs{"q_num_heads": a.heads, "kv_num_heads": a.kvHeads}
	for _, name := range []string{"scale", "softcap"} {
		x, err := c.float(name, 0)
		if err != nil {
			return a, err
		}
		if x != 0 {
			a.attrs[name] = x
		}
	}
	return a, nil
}

// zeroInts fails when an attribute that is not supported asks for something.
func (c *call) zeroInts(names ...string) error {
	for _, name := range names {
		x, err := c.int(name, 0)
		if err != nil {
			return err
		}
		if x != 0 {
			return unsupported("%s = %d", name, x)
		}
	}
	return nil
}

// absent fails when one of these inputs is there.
func (c *call) absent(inputs ...int) error {
	for _, i := range inputs {
		if c.x(i) != nil {
			return unsupported("input %d of %s", i, opLabel(c.node))
		}
	}
	return nil
}

// groupQueryAttention takes what is new after what is past, which holds where all sequences of the
// batch have the same past, or none; a prompt may be padded on the right.
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
	if err := c.zeroInts("smooth_softmax", "qk_output"); err != nil {
		return nil, err
	}
	a, err := c.attentionAttrs()
	if err != nil {
		return nil, err
	}
	q, k, v := c.x(0), c.x(1), c.x(2)
	if k == nil {
		if q, k, v, err = unpackHeads(q, a); err != nil {
			return nil, err
		}
	}
	batch, sequence := dimOf(q, 0), dimOf(q, 1)
	last := nef.Unsqueeze(nef.Cast(nef.Reshape(c.x(5), []int{-1}), nef.Int64), []int{1}) // [batch 1]
	if q, k, err = c.rotate(q, k, a, last, batch, sequence); err != nil {
		return nil, err
	}
	mask, err := c.keyMask(last, sequence, k)
	if err != nil {
		return nil, err
	}
	if bias := c.x(10); bias != nil {
		mask = nef.Where(mask, bias, scalar(bias.DType(), -1e9))
	}
	a.attrs["is_causal"] = 1
	in := []*nef.Value{q, k, v, mask, c.x(3), c.x(4)}
	return items(nef.Call("Attention", in, a.attrs, max(1, c.wanted()))...), nil
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
func (c *call) rotate(q, k *nef.Value, a attentionAttrs, last, batch, sequence *nef.Value) (*nef.Value, *nef.Value, error) {
	rotary, err := c.int("do_rotary", 0)
	if err != nil {
		return nil, nil, err
	}
	interleaved, err := c.int("rotary_interleaved", 0)
	if err != nil || rotary == 0 {
		return q, k, err
	}
	cos, sin := c.x(7), c.x(8)
	if cos == nil || sin == nil {
		return nil, nil, invalid("do_rotary without the tables cos_cache and sin_cache")
	}
	ids := c.x(9)
	if ids == nil {
		// A padded prompt is longer than its sequence: it begins at 0.
		start := nef.Max(last.Add(nef.Scalar(int64(1))).Sub(sequence), nef.Scalar(int64(0)))
		ids = positions(start, batch, sequence)
	}
	turn := func(x *nef.Value, heads int) *nef.Value {
		return nef.Call("RotaryEmbedding", []*nef.Value{x, cos, sin, ids}, nef.Attrs{"num_heads": heads, "interleaved": interleaved}, 1)[0]
	}
	return turn(q, a.heads), turn(k, a.kvHeads), nil
}

// keyMask is true where a key is part of its sequence and of the query's window: [batch 1 S T].
func (c *call) keyMask(last, sequence, k *nef.Value) (*nef.Value, error) {
	window, err := c.int("local_window_size", -1)
	if err != nil {
		return nil, err
	}
	past := ints(0)
	if p := c.x(3); p != nil {
		past = dimOf(p, 2)
	}
	total := past.Add(dimOf(k, 1))
	one, zero := nef.Scalar(int64(1)), nef.Scalar(int64(0))
	keys := nef.Range(zero, nef.Reshape(total, []int{}), one)
	mask := nef.LessOrEqual(keys, last) // [batch T]
	mask = nef.Unsqueeze(mask, []int{1, 2})
	if window > 0 {
		queries := nef.Unsqueeze(nef.Range(zero, nef.Reshape(sequence, []int{}), one).Add(past), []int{1})
		near := nef.Greater(keys, queries.Sub(nef.Scalar(int64(window))))
		mask = nef.And(mask, nef.Unsqueeze(near, []int{0, 1}))
	}
	return mask, nil
}

// multiHeadAttention takes queries, keys and values of [batch, sequence, heads * size].
func multiHeadAttention(c *call) ([]item, error) {
	if err := c.need(3); err != nil {
		return nil, err
	}
	if err := c.absent(8, 9); err != nil {
		return nil, err
	}
	c.ignore("mask_filter_value")
	a, err := c.attentionAttrs()
	if err != nil {
		return nil, err
	}
	causal, err := c.int("unidirectional", 0)
	if err != nil {
		return nil, err
	}
	q, k, v := c.x(0), c.x(1), c.x(2)
	for i, x := range []*nef.Value{q, k, v} {
		if x.Rank() != 3 {
			return nil, unsupported("MultiHeadAttention with input %d of %d dims", i, x.Rank())
		}
	}
	if bias := c.x(3); bias != nil {
		hidden := q.Shape()[2]
		wide := v.Shape()[2]
		if hidden < 1 || wide < 1 {
			return nil, unsupported("MultiHeadAttention with a bias and widths that are not known")
		}
		parts := nef.Split(bias, []int{hidden, hidden, wide}, 0, 0)
		q, k, v = q.Add(parts[0]), k.Add(parts[1]), v.Add(parts[2])
	}
	mask := c.x(5)
	if padding := c.x(4); padding != nil {
		if padding.Rank() != 2 {
			return nil, unsupported("MultiHeadAttention with a key_padding_mask of %d dims", padding.Rank())
		}
		keep := nef.Unsqueeze(nef.Cast(padding, nef.Bool), []int{1, 2})
		if mask != nil {
			mask = nef.Where(keep, mask, scalar(mask.DType(), -1e9))
		} else {
			mask = keep
		}
	}
	a.attrs["is_causal"] = causal
	return items(nef.Call("Attention", []*nef.Value{q, k, v, mask, c.x(6), c.x(7)}, a.attrs, max(1, c.wanted()))...), nil
}

// matMulNBits takes weights of 2, 4 or 8 bits in blocks.
func matMulNBits(c *call) ([]item, error) {
	if err := c.need(3); err != nil {
		return nil, err
	}
	c.ignore("accuracy_level", "weight_prepacked")
	if err := c.absent(4); err != nil {
		return nil, err
	}
	attrs := nef.Attrs{}
	for name, to := range map[string]string{"K": "k", "N": "n", "bits": "bits", "block_size": "block_size"} {
		x, err := c.int(name, 4)
		if err != nil {
			return nil, err
		}
		if name != "bits" && !c.has(name) {
			return nil, invalid("attribute %q is missing", name)
		}
		attrs[to] = x
	}
	return items(nef.Call("MatMulNBits", []*nef.Value{c.x(0), c.x(1), c.x(2), c.x(3), c.x(5)}, attrs, 1)...), nil
}

// ---- quantised

// integerToFloat is MatMulInteger with its result scaled, and a bias added: inputs a, b, the scales
// of both, their zero points, the bias.
func integerToFloat(a, b, aScale, bScale, aZero, bZero, bias *nef.Value) *nef.Value {
	y := nef.Call("MatMulInteger", []*nef.Value{a, b, aZero, bZero}, nil, 1)[0]
	y = nef.Cast(y, aScale.DType()).Mul(aScale.Mul(bScale))
	if bias != nil {
		y = y.Add(bias)
	}
	return y
}

func matMulIntegerToFloat(c *call) ([]item, error) {
	if err := c.need(4); err != nil {
		return nil, err
	}
	return items(integerToFloat(c.x(0), c.x(1), c.x(2), c.x(3), c.x(4), c.x(5), c.x(6))), nil
}

func dynamicQuantizeMatMul(c *call) ([]item, error) {
	if err := c.need(3); err != nil {
		return nil, err
	}
	q := nef.Call("DynamicQuantizeLinear", []*nef.Value{c.x(0)}, nil, 3)
	return items(integerToFloat(q[0], c.x(1), q[1], c.x(2), q[2], c.x(3), c.x(4))), nil
}

func dequantized(x, scale, zero *nef.Value) *nef.Value {
	return nef.Call("DequantizeLinear", []*nef.Value{x, scale, zero}, nil, 1)[0]
}

func quantized(x, scale, zero *nef.Value) []item {
	return items(nef.Call("QuantizeLinear", []*nef.Value{x, scale, zero}, nil, 1)...)
}

// qlinearBinary dequantises two inputs, computes, and quantises.
func qlinearBinary(op string) handler {
	return func(c *call) ([]item, error) {
		if err := c.need(2); err != nil {
			return nil, err
		}
		if c.x(3) == nil || c.x(4) == nil || c.x(6) == nil {
			return nil, invalid("an input is missing")
		}
		a, b := dequantized(c.x(0), c.x(1), c.x(2)), dequantized(c.x(3), c.x(4), c.x(5))
		return quantized(nef.Call(op, []*nef.Value{a, b}, nil, 1)[0], c.x(6), c.x(7)), nil
	}
}

// qlinearUnary dequantises one input, computes with the node's attributes, and quantises.
func qlinearUnary(op string) handler {
	return func(c *call) ([]item, error) {
		if err := c.need(2); err != nil {
			return nil, err
		}
		if c.x(3) == nil {
			return nil, invalid("input 3 is missing")
		}
		if err := c.zeroInts("channels_last"); err != nil {
			return nil, err
		}
		outs, err := c.emit(op, dequantized(c.x(0), c.x(1), c.x(2)))
		if err != nil {
			return nil, err
		}
		return quantized(outs[0].v, c.x(3), c.x(4)), nil
	}
}

// dynamicQuantizeLSTM is an LSTM with weights of 8 bits, which lie [directions, input, 4 * hidden].
// They are used exactly; what comes in is not rounded to 8 bits.
func dynamicQuantizeLSTM(c *call) ([]item, error) {
	if err := c.need(3); err != nil {
		return nil, err
	}
	for i := 8; i < 12; i++ {
		if c.x(i) == nil {
			return nil, invalid("input %d is missing", i)
		}
	}
	weights := func(w, scale, zero *nef.Value) *nef.Value {
		axes := []int{1, 2}
		if scale.Rank() == 2 {
			axes = []int{1}
		}
		centred := nef.Cast(w, scale.DType()).Sub(nef.Unsqueeze(nef.Cast(zero, scale.DType()), axes))
		return nef.Transpose(centred.Mul(nef.Unsqueeze(scale, axes)), []int{0, 2, 1})
	}
	attrs, err := c.takeAttrs()
	if err != nil {
		return nil, err
	}
	w, r := weights(c.x(1), c.x(8), c.x(9)), weights(c.x(2), c.x(10), c.x(11))
	in := []*nef.Value{c.x(0), w, r, c.x(3), c.x(4), c.x(5), c.x(6), c.x(7)}
	return items(nef.Call("LSTM", in, attrs, 3)...), nil
}
