// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"

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

// single is input i, which must have one element, as a vector.
func (c *call) single(i int) (*nef.Value, error) {
	v := c.x(i)
	if v.Rank() > 1 {
		return nil, invalid("input %d (%s) has %d dims, want one element", i, c.inputName(i), v.Rank())
	}
	if v.Rank() == 1 && v.Shape()[0] != 1 {
		var err error
		one := nef.Equal(dimOf(v, 0), ints(1))
		if v, err = c.require(v, one, "input %d (%s) must have one element", i, c.inputName(i)); err != nil {
			return nil, err
		}
		// A Reshape would say first that sizes differ.
		v = nef.Gather(v, nef.Scalar(int64(0)), 0)
	}
	return nef.Reshape(v, []int{1}), nil
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
	if cos.Rank() != 2 || sin.Rank() != 2 {
		return nil, invalid("cos_cache has %d dims, sin_cache %d, want 2", cos.Rank(), sin.Rank())
	}
	if ids.Rank() == 1 {
		axis := 1
		if x.Rank() == 4 {
			axis = 2
		}
		if ids, err = c.single(1); err != nil {
			return nil, err
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
	cosines, sines := c.rotations(cos, sin, ids)
	return items(nef.Call("RotaryEmbedding", []*nef.Value{x, cosines, sines}, attrs, 1)[0]), nil
}

// rotationKey is what rotations hang on.
type rotationKey struct {
	scope         *scope
	cos, sin, ids *nef.Value
}

// rotations are the rows of the tables at these positions, [batch, sequence, size / 2]. All layers
// that turn by the same ones look them up once.
func (c *call) rotations(cos, sin, ids *nef.Value) (cosines, sines *nef.Value) {
	b := c.scope.builder
	key := rotationKey{c.scope, cos, sin, ids}
	rows, ok := b.rotations[key]
	if !ok {
		rows = [2]*nef.Value{nef.Gather(cos, ids, 0), nef.Gather(sin, ids, 0)}
		b.rotations[key] = rows
	}
	return rows[0], rows[1]
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
	if mask != nil && mask.Rank() > 0 && mask.Shape()[mask.Rank()-1] != 1 {
		if mask, err = c.columnForEachKey(5, "attention_bias", k); err != nil {
			return nil, err
		}
	}
	if padding := c.x(4); padding != nil {
		if padding.Rank() != 2 {
			return nil, unsupported("MultiHeadAttention with a key_padding_mask of %d dims", padding.Rank())
		}
		if padding, err = c.columnForEachKey(4, "key_padding_mask", k); err != nil {
			return nil, err
		}
		keep := nef.Unsqueeze(nef.Cast(padding, nef.Bool), []int{1, 2})
		if mask != nil {
			mask = nef.Where(keep, mask, scalar(mask.DType(), math.Inf(-1)))
		} else {
			mask = keep
		}
	}
	a.attrs["is_causal"] = causal
	return items(nef.Call("Attention", []*nef.Value{q, k, v, mask, c.x(6), c.x(7)}, a.attrs, max(1, c.wanted()))...), nil
}

// maskKey is what the check of a mask hangs on; dims are text.
type maskKey struct {
	scope     *scope
	mask      *nef.Value
	new, past string
}

// columnForEachKey is input i, a mask, which must have as many columns as there are keys: those of the
// past, if there are any, and k. Layers that share it check it once.
func (c *call) columnForEachKey(i int, name string, k *nef.Value) (*nef.Value, error) {
	mask, past := c.x(i), c.x(6)
	key := maskKey{scope: c.scope, mask: mask, new: dimText(k, 1)}
	keys := dimOf(k, 1)
	if past != nil {
		keys = keys.Add(dimOf(past, 2))
		key.past = dimText(past, 2)
	}
	checked := c.scope.builder.masks
	if v := checked[key]; v != nil {
		return v, nil
	}
	fits := nef.Equal(dimOf(mask, mask.Rank()-1), keys)
	v, err := c.require(mask, fits, "input %d, %s (%s), must have a column for each key, those of the past included", i, name, c.inputName(i))
	if err == nil && !isLate(key.new+key.past) {
		checked[key] = v
	}
	return v, err
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
	scale, err := c.single(2)
	if err != nil {
		return nil, err
	}
	return items(integerToFloat(c.x(0), c.x(1), scale, c.x(3), c.x(4), c.x(5), c.x(6))), nil
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
