// SPDX-License-Identifier: Apache-2.0

// Minilmcheck embeds sentences with a BERT-type model through one compiled program and writes what
// went in and what came out as .npy files, for packaging/checks/minilm_oracle.py to judge.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/bert"
	"github.com/Hexa08/NEF/go/hydra/npy"
	"github.com/Hexa08/NEF/go/hydra/tensorfile"
	"github.com/Hexa08/NEF/go/hydra/tokenize"
)

//go:embed sentences.txt
var sentences string

const maxTokens = 512

func main() {
	model := flag.String("model", "", "Hugging Face folder")
	out := flag.String("out", "", "folder for the .npy files")
	fast := flag.Bool("fast", false, "precision fast")
	flag.Parse()
	options := nef.Options{}
	if *fast {
		options.Precision = nef.Fast
	}
	if err := check(*model, *out, options); err != nil {
		fmt.Fprintln(os.Stderr, "minilmcheck:", err)
		os.Exit(1)
	}
}

func check(dir, out string, options nef.Options) error {
	tokenizer, err := tokenize.Load(dir)
	if err != nil {
		return err
	}
	// Through a file and back: what is judged is the whole way of a model.
	file := filepath.Join(out, "model.nef")
	if err := buildFile(dir, file); err != nil {
		return err
	}
	graph, err := nef.Load(file)
	if err != nil {
		return err
	}
	defer graph.Close()
	before := nef.ReadCounters().ProgramsCompiled
	program, err := graph.Compile(options)
	if err != nil {
		return err
	}
	defer program.Close()
	for i, texts := range batches(allTexts()) {
		batch, err := tokenizer.EncodeBatch(texts, maxTokens)
		if err != nil {
			return err
		}
		if err := embed(program, batch, filepath.Join(out, fmt.Sprintf("batch_%d_", i))); err != nil {
			return fmt.Errorf("batch %d: %w", i, err)
		}
	}
	compiled := nef.ReadCounters().ProgramsCompiled - before
	if err := os.WriteFile(filepath.Join(out, "programs"), fmt.Appendln(nil, compiled), 0o644); err != nil {
		return err
	}
	if compiled != 1 {
		return fmt.Errorf("%d programs were compiled, expected 1 for all batches and lengths", compiled)
	}
	return nil
}

func buildFile(dir, file string) error {
	graph, err := bert.Build(dir, bert.Options{MaxBatch: 8})
	if err != nil {
		return err
	}
	defer graph.Close()
	return graph.Save(file, nef.SaveOptions{Bundle: true})
}

// allTexts is every sentence alone, and 24 longer texts made of several: up to more tokens than the
// model takes, so that the longest are cut at its limit.
func allTexts() []string {
	lines := strings.Split(strings.TrimSpace(sentences), "\n")
	texts := append([]string{}, lines...)
	for i := range 24 {
		var long []string
		for j := range 2 + 3*i/2 {
			long = append(long, lines[(7*i+j)%len(lines)])
		}
		texts = append(texts, strings.Join(long, " "))
	}
	return texts
}

// batches deals the texts out in batches of 1 to 8, short beside long, so that most rows are padded.
func batches(texts []string) [][]string {
	mixed := make([]string, len(texts))
	for i, text := range texts {
		mixed[i*29%len(texts)] = text
	}
	var out [][]string
	for size := 1; len(mixed) > 0; size = size%8 + 1 {
		n := min(size, len(mixed))
		out = append(out, mixed[:n])
		mixed = mixed[n:]
	}
	return out
}

func embed(program *nef.Program, batch tokenize.Batch, prefix string) error {
	shape := []int{batch.Rows, batch.Columns}
	outputs, err := program.Run(context.Background(), nef.Values{
		"input_ids":      nef.Tensor(batch.IDs, shape),
		"attention_mask": nef.Tensor(batch.Mask, shape),
	})
	if err != nil {
		return err
	}
	for name, value := range map[string]*nef.Value{
		"ids":       nef.Tensor(batch.IDs, shape),
		"mask":      nef.Tensor(batch.Mask, shape),
		"embedding": outputs["sentence_embedding"],
		"hidden":    outputs["last_hidden_state"],
	} {
		array, err := tensorfile.FromValue(value)
		if err != nil {
			return err
		}
		var buf bytes.Buffer
		if err := npy.Write(&buf, array); err != nil {
			return err
		}
		if err := os.WriteFile(prefix+name+".npy", buf.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
