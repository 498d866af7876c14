// SPDX-License-Identifier: Apache-2.0

package bert

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Hexa08/NEF/go/hydra/internal/regular"
)

// Config is what config.json and the sentence-transformers files beside it say about an encoder.
type Config struct {
	Layers       int
	Hidden       int
	Heads        int
	Intermediate int
	Vocabulary   int
	Positions    int // most tokens of one sequence
	TokenTypes   int
	Epsilon      float64
	Activation   string // gelu, gelu_tanh, relu or silu
	Pooling      string // mean, cls or max
	Normalize    bool   // the embedding has length 1
}

// configFile spells config.json out; pointers tell an absent field from a zero.
type configFile struct {
	ModelType        string   `json:"model_type"`
	Layers           int      `json:"num_hidden_layers"`
	Hidden           int      `json:"hidden_size"`
	Heads            int      `json:"num_attention_heads"`
	Intermediate     int      `json:"intermediate_size"`
	Vocabulary       int      `json:"vocab_size"`
	Positions        int      `json:"max_position_embeddings"`
	TokenTypes       int      `json:"type_vocab_size"`
	Epsilon          *float64 `json:"layer_norm_eps"`
	Activation       string   `json:"hidden_act"`
	PositionKind     string   `json:"position_embedding_type"`
	IsDecoder        bool     `json:"is_decoder"`
	CrossAttention   bool     `json:"add_cross_attention"`
	QuantizationInfo any      `json:"quantization_config"`
}

var activations = map[string]string{
	"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu_fast": "gelu_tanh",
	"relu": "relu", "silu": "silu", "swish": "silu",
}

// ReadConfig reads and checks the configuration files of a Hugging Face folder.
func ReadConfig(dir string) (Config, error) {
	path := filepath.Join(dir, "config.json")
	f := configFile{PositionKind: "absolute"}
	if err := readJSON(path, &f); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return Config{}, fmt.Errorf("%s is no Hugging Face model folder: it has no config.json", dir)
		}
		return Config{}, err
	}
	c, err := f.check()
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	c.Pooling, c.Normalize, err = readModules(dir, c.Hidden)
	return c, err
}

func (f configFile) check() (Config, error) {
	activation, known := activations[f.Activation]
	epsilon := 1e-12
	if f.Epsilon != nil {
		epsilon = *f.Epsilon
	}
	switch {
	case f.ModelType != "bert":
		return Config{}, fmt.Errorf("model_type is %q: only bert is supported", f.ModelType)
	case !known:
		return Config{}, fmt.Errorf("hidden_act is %q: gelu, gelu_new, relu and silu are supported", f.Activation)
	case f.PositionKind != "absolute":
		return Config{}, fmt.Errorf("position_embedding_type is %q: only absolute is supported", f.PositionKind)
	case f.IsDecoder || f.CrossAttention:
		return Config{}, errors.New("is_decoder or add_cross_attention is set: only encoders are supported")
	case f.QuantizationInfo != nil:
		return Config{}, errors.New("quantization_config is set: only float32, float16 and bfloat16 weights are supported")
	case !(epsilon > 0 && epsilon < 1):
		return Config{}, fmt.Errorf("layer_norm_eps is %v, expected a number between 0 and 1", epsilon)
	}
	for _, n := range []struct {
		name       string
		value, max int
	}{
		{"num_hidden_layers", f.Layers, 1000}, {"hidden_size", f.Hidden, 1 << 20}, {"num_attention_heads", f.Heads, 1 << 16},
		{"intermediate_size", f.Intermediate, 1 << 22}, {"vocab_size", f.Vocabulary, 1 << 26},
		{"max_position_embeddings", f.Positions, 1 << 22}, {"type_vocab_size", f.TokenTypes, 1 << 10},
	} {
		if n.value < 1 || n.value > n.max {
			return Config{}, fmt.Errorf("%s is %d, expected 1 to %d", n.name, n.value, n.max)
		}
	}
	if f.Hidden%f.Heads != 0 {
		return Config{}, fmt.Errorf("hidden_size %d is no multiple of num_attention_heads %d", f.Hidden, f.Heads)
	}
	return Config{Layers: f.Layers, Hidden: f.Hidden, Heads: f.Heads, Intermediate: f.Intermediate, Vocabulary: f.Vocabulary,
		Positions: f.Positions, TokenTypes: f.TokenTypes, Epsilon: epsilon, Activation: activation}, nil
}

type moduleFile struct {
	Path string `json:"path"`
	Type string `json:"type"`
}

// readModules reads what sentence-transformers does after the encoder. A plain BERT folder has no
// modules.json: mean pooling and unit length are what most encoders are used with.
func readModules(dir string, hidden int) (pooling string, normalize bool, err error) {
	path := filepath.Join(dir, "modules.json")
	var modules []moduleFile
	if err := readJSON(path, &modules); errors.Is(err, fs.ErrNotExist) {
		return "mean", true, nil
	} else if err != nil {
		return "", false, err
	}
	for i, m := range modules {
		kind := m.Type[strings.LastIndexByte(m.Type, '.')+1:]
		switch {
		case kind == "Transformer" && i == 0:
		case kind == "Pooling" && i == 1:
			pooling, err = readPooling(dir, m.Path, hidden)
		case kind == "Normalize" && i == 2:
			normalize = true
		default:
			err = fmt.Errorf("%s: module %d is %q: only Transformer, Pooling and Normalize, in this order, are supported", path, i, m.Type)
		}
		if err != nil {
			return "", false, err
		}
	}
	if pooling == "" {
		return "", false, fmt.Errorf("%s: there is no Pooling module", path)
	}
	return pooling, normalize, nil
}

func readPooling(dir, sub string, hidden int) (string, error) {
	if !filepath.IsLocal(sub) {
		return "", fmt.Errorf("%s: module path %q leaves the folder", filepath.Join(dir, "modules.json"), sub)
	}
	path := filepath.Join(dir, sub, "config.json")
	var fields map[string]any
	if err := readJSON(path, &fields); err != nil {
		return "", err
	}
	if width, ok := fields["word_embedding_dimension"].(float64); ok && int(width) != hidden {
		return "", fmt.Errorf("%s: word_embedding_dimension is %v, the encoder's hidden_size %d", path, width, hidden)
	}
	modes := []string{}
	for name, value := range fields {
		if mode, ok := strings.CutPrefix(name, "pooling_mode_"); ok && value == true {
			modes = append(modes, mode)
		}
	}
	slices.Sort(modes)
	known := map[string]string{"mean_tokens": "mean", "cls_token": "cls", "max_tokens": "max"}
	if len(modes) != 1 || known[modes[0]] == "" {
		return "", fmt.Errorf("%s: pooling modes %q: exactly one of mean_tokens, cls_token and max_tokens is supported", path, modes)
	}
	return known[modes[0]], nil
}

// readJSON reads at most 16 MiB: configuration files are small.
func readJSON(path string, into any) error {
	data, err := regular.ReadFile(path, 16<<20)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
