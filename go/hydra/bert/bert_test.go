// SPDX-License-Identifier: Apache-2.0

package bert_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/bert"
	"github.com/Hexa08/NEF/go/hydra/npy"
	"github.com/Hexa08/NEF/go/hydra/tensorfile"
)

const epsilon = 1e-6

// fixture is a small encoder with random weights, written out as a Hugging Face folder.
type fixture struct {
	layers, hidden, heads, inner, vocab, positions, types int
	activation                                            string
	pooling                                               string // "" leaves modules.json out
	normalize                                             bool
	prefix                                                string
	weights                                               map[string]matrix
}

func newFixture() fixture {
	f := fixture{layers: 2, hidden: 8, heads: 2, inner: 12, vocab: 20, positions: 16, types: 2, activation: "gelu", normalize: true,
		weights: map[string]matrix{}}
	source := rand.New(rand.NewPCG(1, 2))
	add := func(name string, rows, cols int, mean, spread float64) {
		m := newMatrix(rows, cols)
		for i := range m.data {
			// Rounded to float32, which is what the file holds.
			m.data[i] = float64(float32(mean + spread*source.NormFloat64()))
		}
		f.weights[name] = m
	}
	linear := func(name string, out, in int) {
		add(name+".weight", out, in, 0, 0.4)
		add(name+".bias", 1, out, 0, 0.2)
	}
	norm := func(name string) {
		add(name+".weight", 1, f.hidden, 1, 0.2)
		add(name+".bias", 1, f.hidden, 0, 0.2)
	}
	add("embeddings.word_embeddings.weight", f.vocab, f.hidden, 0, 1)
	add("embeddings.position_embeddings.weight", f.positions, f.hidden, 0, 1)
	add("embeddings.token_type_embeddings.weight", f.types, f.hidden, 0, 1)
	norm("embeddings.LayerNorm")
	for i := range f.layers {
		name := layerName(i)
		for _, part := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
			linear(name+part, f.hidden, f.hidden)
		}
		norm(name + "attention.output.LayerNorm")
		linear(name+"intermediate.dense", f.inner, f.hidden)
		linear(name+"output.dense", f.hidden, f.inner)
		norm(name + "output.LayerNorm")
	}
	return f
}

func layerName(i int) string { return fmt.Sprintf("encoder.layer.%d.", i) }

func (f fixture) config() map[string]any {
	return map[string]any{
		"model_type": "bert", "num_hidden_layers": f.layers, "hidden_size": f.hidden, "num_attention_heads": f.heads,
		"intermediate_size": f.inner, "vocab_size": f.vocab, "max_position_embeddings": f.positions, "type_vocab_size": f.types,
		"layer_norm_eps": epsilon, "hidden_act": f.activation, "position_embedding_type": "absolute",
	}
}

func (f fixture) write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	writeJSON(t, filepath.Join(dir, "config.json"), f.config())
	if f.pooling != "" {
		modules := []map[string]any{{"type": "sentence_transformers.models.Transformer", "path": ""},
			{"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}}
		if f.normalize {
			modules = append(modules, map[string]any{"type": "sentence_transformers.models.Normalize", "path": "2_Normalize"})
		}
		writeJSON(t, filepath.Join(dir, "modules.json"), modules)
		writeJSON(t, filepath.Join(dir, "1_Pooling", "config.json"), map[string]any{"word_embedding_dimension": f.hidden, f.pooling: true})
	}
	f.writeWeights(t, filepath.Join(dir, "model.safetensors"))
	return dir
}

func (f fixture) writeWeights(t *testing.T, path string) {
	t.Helper()
	var w tensorfile.Writer
	for _, name := range slices.Sorted(maps.Keys(f.weights)) {
		m := f.weights[name]
		shape := []int{m.rows, m.cols}
		if m.rows == 1 {
			shape = []int{m.cols}
		}
		a := npy.Array{DType: "float32", Shape: shape}
		for _, v := range m.data {
			a.Data = binary.LittleEndian.AppendUint32(a.Data, math.Float32bits(float32(v)))
		}
		if err := w.Add(tensorfile.Reference{File: path, Entry: f.prefix + name}, "", a); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func writeJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// sequences of one batch, of different lengths.
var sequences = [][]int64{{1, 5, 9, 2}, {3}, {19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4}}

func TestBuildComputesBERT(t *testing.T) {
	variants := map[string]func(*fixture){
		"plain":     func(*fixture) {},
		"gelu_new":  func(f *fixture) { f.activation = "gelu_new" },
		"relu":      func(f *fixture) { f.activation = "relu" },
		"silu":      func(f *fixture) { f.activation = "silu" },
		"mean":      func(f *fixture) { f.pooling = "pooling_mode_mean_tokens" },
		"cls":       func(f *fixture) { f.pooling = "pooling_mode_cls_token" },
		"max":       func(f *fixture) { f.pooling, f.normalize = "pooling_mode_max_tokens", false },
		"task head": func(f *fixture) { f.prefix = "bert." },
	}
	for name, change := range variants {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			change(&f)
			checkModel(t, f, bert.Options{})
		})
	}
	t.Run("token types", func(t *testing.T) { checkModel(t, newFixture(), bert.Options{TokenTypes: true}) })
}

// checkModel runs the batch at two paddings and compares each sequence with the reference.
func checkModel(t *testing.T, f fixture, opts bert.Options) {
	t.Helper()
	g, err := bert.Build(f.write(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	p, err := g.Compile(nef.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, batch := range [][][]int64{sequences, sequences[:2], sequences[1:2]} {
		checkBatch(t, f, p, opts, batch)
	}
}

func checkBatch(t *testing.T, f fixture, p *nef.Program, opts bert.Options, batch [][]int64) {
	t.Helper()
	columns := 0
	for _, ids := range batch {
		columns = max(columns, len(ids))
	}
	size := len(batch) * columns
	ids, mask, types := make([]int64, size), make([]int64, size), make([]int64, size)
	for i, sequence := range batch {
		copy(ids[i*columns:], sequence)
		for j := range sequence {
			mask[i*columns+j] = 1
			if opts.TokenTypes {
				types[i*columns+j] = int64(j % f.types)
			}
		}
	}
	shape := []int{len(batch), columns}
	values := nef.Values{"input_ids": nef.Tensor(ids, shape), "attention_mask": nef.Tensor(mask, shape)}
	if opts.TokenTypes {
		values["token_type_ids"] = nef.Tensor(types, shape)
	}
	out, err := p.Run(t.Context(), values)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	hidden, embedding := numbers(t, out["last_hidden_state"]), numbers(t, out["sentence_embedding"])
	for i, sequence := range batch {
		want := f.reference(sequence, types[i*columns:])
		near(t, fmt.Sprintf("hidden state of sequence %d", i), hidden[i*columns*f.hidden:][:len(want.data)], want.data)
		near(t, fmt.Sprintf("embedding of sequence %d", i), embedding[i*f.hidden:][:f.hidden], f.pooled(want))
	}
}

func numbers(t *testing.T, v *nef.Value) []float32 {
	t.Helper()
	data, err := nef.Data[float32](v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func near(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	for i := range want {
		// Negated, so that NaN fails too.
		if !(math.Abs(float64(got[i])-want[i]) <= 2e-5) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

func TestBuildDescribesItsInputs(t *testing.T) {
	g, err := bert.Build(newFixture().write(t), bert.Options{MaxBatch: 4, MaxSequence: 10, TokenTypes: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if got := fmt.Sprint(g.Inputs()); strings.Count(got, "[batch sequence]") != 3 {
		t.Errorf("inputs %s", got)
	}
	p, err := g.Compile(nef.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ids := nef.Tensor(make([]int64, 11), []int{1, 11})
	_, err = p.Run(t.Context(), nef.Values{"input_ids": ids, "attention_mask": ids, "token_type_ids": ids})
	if err == nil || !strings.Contains(err.Error(), "sequence") {
		t.Errorf("11 tokens where 10 are allowed: %v", err)
	}
}

func TestBuildRefuses(t *testing.T) {
	set := func(name string, value any) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			config := newFixture().config()
			config[name] = value
			writeJSON(t, filepath.Join(dir, "config.json"), config)
		}
	}
	weights := func(change func(*fixture)) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			f := newFixture()
			change(&f)
			f.writeWeights(t, filepath.Join(dir, "model.safetensors"))
		}
	}
	modules := func(text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "modules.json"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(name, instead string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			if instead != "" {
				writeJSON(t, filepath.Join(dir, instead), "")
			}
		}
	}
	const transformer = `{"type": "models.Transformer", "path": ""}`
	for want, change := range map[string]func(*testing.T, string){
		`model_type is "gpt2"`:              set("model_type", "gpt2"),
		`hidden_act is "mish"`:              set("hidden_act", "mish"),
		`position_embedding_type is "rel`:   set("position_embedding_type", "relative_key"),
		"is_decoder":                        set("is_decoder", true),
		"quantization_config":               set("quantization_config", map[string]any{"bits": 4}),
		"layer_norm_eps is 0":               set("layer_norm_eps", 0),
		"num_hidden_layers is -1":           set("num_hidden_layers", -1),
		"no multiple of":                    set("num_attention_heads", 3),
		"cannot unmarshal":                  set("hidden_size", "wide"),
		"has shape [20 8], config.json ask": set("vocab_size", 21),
		`no tensor "encoder.layer.2`:        set("num_hidden_layers", 3),
		`no tensor "embeddings.LayerNorm.b`: weights(func(f *fixture) { delete(f.weights, "embeddings.LayerNorm.bias") }),
		"it has no config.json":             remove("config.json", ""),
		"no such file":                      remove("model.safetensors", ""),
		"is a pickle":                       remove("model.safetensors", "pytorch_model.bin"),
		"in several files":                  remove("model.safetensors", "model.safetensors.index.json"),
		`module 1 is "models.Dense"`:        modules(`[` + transformer + `, {"type": "models.Dense", "path": "1"}]`),
		"there is no Pooling":               modules(`[` + transformer + `]`),
		"leaves the folder":                 modules(`[` + transformer + `, {"type": "models.Pooling", "path": "../x"}]`),
	} {
		t.Run(want, func(t *testing.T) {
			dir := newFixture().write(t)
			change(t, dir)
			_, err := bert.Build(dir, bert.Options{})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v", err)
			}
		})
	}
	for _, opts := range []bert.Options{{MaxBatch: -1}, {MaxSequence: 17}} {
		if _, err := bert.Build(newFixture().write(t), opts); err == nil {
			t.Errorf("%+v was accepted", opts)
		}
	}
}
