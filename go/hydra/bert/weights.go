// SPDX-License-Identifier: Apache-2.0

package bert

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	nef "github.com/Hexa08/NEF"
)

// parameters holds every weight of an encoder, in float32.
type parameters struct {
	words, positions, types *nef.Value
	norm                    affine
	layers                  []layerParameters
}

type layerParameters struct {
	query, key, value, projection, inner, outer affine
	attentionNorm, outputNorm                   affine
}

// affine is the weight and bias of a linear layer or of a norm.
type affine struct{ weight, bias *nef.Value }

func readParameters(dir string, c Config) (parameters, error) {
	file, err := openCheckpoint(dir)
	if err != nil {
		return parameters{}, err
	}
	defer file.weights.Close()
	p := parameters{
		words:     file.get("embeddings.word_embeddings.weight", c.Vocabulary, c.Hidden),
		positions: file.get("embeddings.position_embeddings.weight", c.Positions, c.Hidden),
		types:     file.get("embeddings.token_type_embeddings.weight", c.TokenTypes, c.Hidden),
		norm:      file.norm("embeddings.LayerNorm", c.Hidden),
	}
	for i := range c.Layers {
		name := fmt.Sprintf("encoder.layer.%d.", i)
		p.layers = append(p.layers, layerParameters{
			query:         file.linear(name+"attention.self.query", c.Hidden, c.Hidden),
			key:           file.linear(name+"attention.self.key", c.Hidden, c.Hidden),
			value:         file.linear(name+"attention.self.value", c.Hidden, c.Hidden),
			projection:    file.linear(name+"attention.output.dense", c.Hidden, c.Hidden),
			attentionNorm: file.norm(name+"attention.output.LayerNorm", c.Hidden),
			inner:         file.linear(name+"intermediate.dense", c.Intermediate, c.Hidden),
			outer:         file.linear(name+"output.dense", c.Hidden, c.Intermediate),
			outputNorm:    file.norm(name+"output.LayerNorm", c.Hidden),
		})
	}
	return p, file.err
}

// checkpoint finds weights by their Hugging Face names and checks their shapes. The first error
// sticks, so that readParameters reads without interruptions.
type checkpoint struct {
	path    string
	prefix  string
	weights *nef.Weights
	names   map[string]bool
	err     error
}

func openCheckpoint(dir string) (*checkpoint, error) {
	path := filepath.Join(dir, "model.safetensors")
	if _, err := os.Stat(path); err != nil {
		return nil, missingWeights(dir, path, err)
	}
	weights, err := nef.FromSafetensors(path)
	if err != nil {
		return nil, err
	}
	c := &checkpoint{path: path, weights: weights, names: map[string]bool{}}
	for _, name := range weights.Names() {
		c.names[name] = true
		// A checkpoint saved with a task head keeps the encoder under "bert.".
		if strings.HasPrefix(name, "bert.embeddings.") {
			c.prefix = "bert."
		}
	}
	return c, nil
}

func missingWeights(dir, path string, err error) error {
	for _, other := range []struct{ name, advice string }{
		{"model.safetensors.index.json", "the weights are in several files: only a single model.safetensors is supported"},
		{"pytorch_model.bin", "pytorch_model.bin is a pickle, which can run code and is not read: save the model as safetensors"},
		{"tf_model.h5", "TensorFlow weights are not read: save the model as safetensors"},
	} {
		if _, found := os.Stat(filepath.Join(dir, other.name)); found == nil {
			return fmt.Errorf("%s: no model.safetensors: %s", dir, other.advice)
		}
	}
	return fmt.Errorf("%s: %w", path, errors.Unwrap(err))
}

// linear has its weight as [out, in].
func (c *checkpoint) linear(name string, out, in int) affine {
	return affine{c.get(name+".weight", out, in), c.get(name+".bias", out)}
}

func (c *checkpoint) norm(name string, size int) affine {
	return affine{c.get(name+".weight", size), c.get(name+".bias", size)}
}

// get returns a weight in float32, nil after an error.
func (c *checkpoint) get(name string, shape ...int) *nef.Value {
	if c.err != nil {
		return nil
	}
	full := c.prefix + name
	if !c.names[full] {
		c.err = fmt.Errorf("%s: there is no tensor %q, which config.json asks for", c.path, full)
		return nil
	}
	v := c.weights.Tensor(full)
	if c.err = v.Err(); c.err != nil {
		return nil
	}
	if got := v.Shape(); !slices.Equal(got, shape) {
		c.err = fmt.Errorf("%s: tensor %q has shape %v, config.json asks for %v", c.path, full, got, shape)
		return nil
	}
	switch v.DType() {
	case nef.Float32:
		return v
	case nef.Float16, nef.BFloat16:
		return nef.Cast(v, nef.Float32)
	}
	c.err = fmt.Errorf("%s: tensor %q is %v: float32, float16 and bfloat16 are supported", c.path, full, v.DType())
	return nil
}
