// SPDX-License-Identifier: Apache-2.0

// Package bert builds NEF graphs from BERT-type encoders: a Hugging Face folder in (config.json,
// model.safetensors, the sentence-transformers files), a graph out.
//
// Inputs are input_ids and attention_mask, int64 [batch, sequence]; with [Options].TokenTypes also
// token_type_ids. Outputs are last_hidden_state [batch, sequence, hidden] and sentence_embedding
// [batch, hidden]. Padded positions (mask 0) change nothing.
package bert

import (
	"fmt"

	nef "github.com/Hexa08/NEF"
)

// Options for [Build]; the zero value is right for most uses.
type Options struct {
	MaxBatch    int  // most sequences of one run, 64 when zero
	MaxSequence int  // most tokens of one sequence, the model's own limit when zero
	TokenTypes  bool // adds the input token_type_ids; without it every token has type 0
}

// Build reads the model in dir. The graph maps the weights, so the files must stay while it lives.
func Build(dir string, opts Options) (*nef.Graph, error) {
	config, err := ReadConfig(dir)
	if err != nil {
		return nil, err
	}
	if opts.MaxBatch == 0 {
		opts.MaxBatch = 64
	}
	if opts.MaxSequence == 0 {
		opts.MaxSequence = config.Positions
	}
	if opts.MaxBatch < 1 || opts.MaxSequence < 1 || opts.MaxSequence > config.Positions {
		return nil, fmt.Errorf("%s: batch bound %d and sequence bound %d: expected at least 1, and at most %d positions",
			dir, opts.MaxBatch, opts.MaxSequence, config.Positions)
	}
	weights, err := readParameters(dir, config)
	if err != nil {
		return nil, err
	}
	return build(config, weights, opts)
}

func build(c Config, p parameters, opts Options) (*nef.Graph, error) {
	batch, sequence := nef.DimRange("batch", 1, opts.MaxBatch), nef.DimRange("sequence", 1, opts.MaxSequence)
	ids := nef.Input("input_ids", nef.Int64, batch, sequence)
	mask := nef.Input("attention_mask", nef.Int64, batch, sequence)
	types := nef.Scalar(int64(0))
	if opts.TokenTypes {
		types = nef.Input("token_type_ids", nef.Int64, batch, sequence)
	}
	hidden := embed(c, p, ids, types)
	keep := nef.Unsqueeze(nef.Cast(mask, nef.Bool), []int{1, 2}) // [batch, 1, 1, sequence]
	for _, layer := range p.layers {
		hidden = encode(c, layer, hidden, keep)
	}
	embedding := pool(c, hidden, nef.Unsqueeze(mask, []int{-1}))
	return nef.NewGraph(nef.Outputs{"last_hidden_state": hidden, "sentence_embedding": embedding})
}

func embed(c Config, p parameters, ids, types *nef.Value) *nef.Value {
	length := nef.Squeeze(nef.ShapeOf(ids, nef.ShapeOfOptions{Start: 1}), []int{0})
	index := nef.Range(nef.Scalar(int64(0)), length, nef.Scalar(int64(1)))
	sum := nef.Gather(p.words, ids, 0).Add(nef.Gather(p.types, types, 0)).Add(nef.Gather(p.positions, index, 0))
	return p.norm.norm(c, sum)
}

func encode(c Config, p layerParameters, x, keep *nef.Value) *nef.Value {
	q, k, v := p.query.linear(x), p.key.linear(x), p.value.linear(x)
	attended := nef.Attention(q, k, v, keep, nef.AttentionOptions{QNumHeads: c.Heads, KvNumHeads: c.Heads})
	x = p.attentionNorm.norm(c, p.projection.linear(attended).Add(x))
	inner := activate(c, p.inner.linear(x))
	return p.outputNorm.norm(c, p.outer.linear(inner).Add(x))
}

func (p affine) linear(x *nef.Value) *nef.Value { return nef.Linear(x, p.weight, p.bias) }

func (p affine) norm(c Config, x *nef.Value) *nef.Value {
	return nef.LayerNormalization(x, p.weight, p.bias, -1, c.Epsilon)
}

func activate(c Config, x *nef.Value) *nef.Value {
	switch c.Activation {
	case "gelu":
		return nef.Gelu(x)
	case "gelu_tanh":
		return nef.Gelu(x, nef.GeluOptions{Approximate: "tanh"})
	case "silu":
		return nef.Silu(x)
	}
	return nef.Relu(x)
}

// pool turns the tokens of a sequence into one vector, over those whose mask [batch, sequence, 1]
// is not 0.
func pool(c Config, hidden, mask *nef.Value) *nef.Value {
	var pooled *nef.Value
	switch c.Pooling {
	case "cls":
		pooled = nef.Squeeze(nef.Slice(hidden, []int{0}, []int{1}, []int{1}, nil), []int{1})
	case "max":
		kept := nef.Where(nef.Cast(mask, nef.Bool), hidden, nef.Scalar(float32(-1e9)))
		pooled = nef.ReduceMax(kept, []int{1}, false)
	default:
		weight := nef.Cast(mask, nef.Float32)
		total := nef.ReduceSum(hidden.Mul(weight), []int{1}, false)
		pooled = total.Div(atLeast(nef.ReduceSum(weight, []int{1}, false), 1e-9))
	}
	if !c.Normalize {
		return pooled
	}
	return pooled.Div(atLeast(nef.ReduceL2(pooled, []int{-1}, true), 1e-12))
}

// atLeast keeps a divisor off zero.
func atLeast(x *nef.Value, low float32) *nef.Value { return nef.Clip(x, nef.Scalar(low), nil) }
