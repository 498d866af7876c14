// SPDX-License-Identifier: Apache-2.0

package bert_test

import "math"

// matrix is row-major, in float64: the reference computes with plain loops and nothing else.
type matrix struct {
	rows, cols int
	data       []float64
}

func newMatrix(rows, cols int) matrix { return matrix{rows, cols, make([]float64, rows*cols)} }

func (m matrix) at(i, j int) *float64    { return &m.data[i*m.cols+j] }
func (m matrix) row(i int) []float64     { return m.data[i*m.cols : (i+1)*m.cols] }
func (f fixture) get(name string) matrix { return f.weights[name] }

// reference is what BERT computes for one sequence without padding: the hidden states.
func (f fixture) reference(ids, types []int64) matrix {
	x := newMatrix(len(ids), f.hidden)
	for i, id := range ids {
		for j := range f.hidden {
			*x.at(i, j) = *f.get("embeddings.word_embeddings.weight").at(int(id), j) +
				*f.get("embeddings.position_embeddings.weight").at(i, j) +
				*f.get("embeddings.token_type_embeddings.weight").at(int(types[i]), j)
		}
	}
	x = f.norm("embeddings.LayerNorm", x)
	for layer := range f.layers {
		x = f.layer(layerName(layer), x)
	}
	return x
}

func (f fixture) layer(name string, x matrix) matrix {
	q, k, v := f.linear(name+"attention.self.query", x), f.linear(name+"attention.self.key", x), f.linear(name+"attention.self.value", x)
	mixed := newMatrix(x.rows, f.hidden)
	size := f.hidden / f.heads
	for head := range f.heads {
		for i := range x.rows {
			scores := make([]float64, x.rows)
			sum := 0.0
			for j := range x.rows {
				for d := head * size; d < (head+1)*size; d++ {
					scores[j] += *q.at(i, d) * *k.at(j, d)
				}
				scores[j] = math.Exp(scores[j] / math.Sqrt(float64(size)))
				sum += scores[j]
			}
			for j := range x.rows {
				for d := head * size; d < (head+1)*size; d++ {
					*mixed.at(i, d) += scores[j] / sum * *v.at(j, d)
				}
			}
		}
	}
	x = f.norm(name+"attention.output.LayerNorm", plus(f.linear(name+"attention.output.dense", mixed), x))
	inner := f.linear(name+"intermediate.dense", x)
	for i, y := range inner.data {
		inner.data[i] = activations[f.activation](y)
	}
	return f.norm(name+"output.LayerNorm", plus(f.linear(name+"output.dense", inner), x))
}

var activations = map[string]func(float64) float64{
	"gelu": func(x float64) float64 { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) },
	"gelu_new": func(x float64) float64 {
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	},
	"relu": func(x float64) float64 { return max(x, 0) },
	"silu": func(x float64) float64 { return x / (1 + math.Exp(-x)) },
}

func (f fixture) linear(name string, x matrix) matrix {
	w, b := f.get(name+".weight"), f.get(name+".bias")
	out := newMatrix(x.rows, w.rows)
	for i := range x.rows {
		for o := range w.rows {
			sum := b.data[o]
			for j := range w.cols {
				sum += *x.at(i, j) * *w.at(o, j)
			}
			*out.at(i, o) = sum
		}
	}
	return out
}

func (f fixture) norm(name string, x matrix) matrix {
	scale, bias := f.get(name+".weight"), f.get(name+".bias")
	out := newMatrix(x.rows, x.cols)
	for i := range x.rows {
		mean, variance := 0.0, 0.0
		for _, v := range x.row(i) {
			mean += v / float64(x.cols)
		}
		for _, v := range x.row(i) {
			variance += (v - mean) * (v - mean) / float64(x.cols)
		}
		for j, v := range x.row(i) {
			*out.at(i, j) = (v-mean)/math.Sqrt(variance+epsilon)*scale.data[j] + bias.data[j]
		}
	}
	return out
}

func plus(a, b matrix) matrix {
	for i := range a.data {
		a.data[i] += b.data[i]
	}
	return a
}

// pooled is the sentence embedding of unpadded hidden states.
func (f fixture) pooled(hidden matrix) []float64 {
	out := make([]float64, hidden.cols)
	for j := range out {
		switch f.pooling {
		case "pooling_mode_cls_token":
			out[j] = *hidden.at(0, j)
		case "pooling_mode_max_tokens":
			out[j] = math.Inf(-1)
			for i := range hidden.rows {
				out[j] = max(out[j], *hidden.at(i, j))
			}
		default:
			for i := range hidden.rows {
				out[j] += *hidden.at(i, j) / float64(hidden.rows)
			}
		}
	}
	if !f.normalize {
		return out
	}
	length := 0.0
	for _, v := range out {
		length += v * v
	}
	for j := range out {
		out[j] /= math.Sqrt(length)
	}
	return out
}
