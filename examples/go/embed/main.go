// SPDX-License-Identifier: Apache-2.0

// Embed turns texts into vectors with a sentence encoder that hydra build made.
//
//	embed --model minilm.nef "A text." "Another one."
//	embed --model minilm.nef --similarity <lines.txt
//
// Texts are the arguments, or else the lines of standard input. Each gives a line of JSON with its
// embedding; --similarity prints how similar each pair is instead (1 is the same direction).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/tokenize"
)

const batchSize = 32

func main() {
	model := flag.String("model", "minilm.nef", "the model, made by hydra build")
	tokenizer := flag.String("tokenizer", "", "folder with the tokenizer's files (default: the model's path without .nef)")
	similarity := flag.Bool("similarity", false, "print the similarity of each pair")
	flag.Parse()
	if *tokenizer == "" {
		*tokenizer = strings.TrimSuffix(*model, ".nef")
	}
	if err := run(*model, *tokenizer, flag.Args(), os.Stdin, os.Stdout, *similarity); err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

func run(model, tokenizer string, texts []string, in io.Reader, out io.Writer, similarity bool) error {
	if len(texts) == 0 {
		var err error
		if texts, err = readLines(in); err != nil {
			return err
		}
	}
	embedder, err := open(model, tokenizer)
	if err != nil {
		return err
	}
	defer embedder.close()
	vectors, err := embedder.embed(context.Background(), texts)
	if err != nil {
		return err
	}
	if similarity {
		return printSimilarity(out, texts, vectors)
	}
	return printVectors(out, texts, vectors)
}

func readLines(in io.Reader) ([]string, error) {
	var texts []string
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		texts = append(texts, lines.Text())
	}
	return texts, lines.Err()
}

// embedder is safe for concurrent use: a program may run many times at once.
type embedder struct {
	tokenizer *tokenize.Tokenizer
	program   *nef.Program
}

func open(model, tokenizer string) (*embedder, error) {
	tok, err := tokenize.Load(tokenizer)
	if err != nil {
		return nil, err
	}
	graph, err := nef.Load(model)
	if err != nil {
		return nil, err
	}
	defer graph.Close()
	program, err := graph.Compile(nef.Options{})
	if err != nil {
		return nil, err
	}
	return &embedder{tok, program}, nil
}

func (e *embedder) close() { e.program.Close() }

func (e *embedder) embed(ctx context.Context, texts []string) ([][]float32, error) {
	var vectors [][]float32
	for len(texts) > 0 {
		n := min(batchSize, len(texts))
		batch, err := e.embedBatch(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, batch...)
		texts = texts[n:]
	}
	return vectors, nil
}

func (e *embedder) embedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	batch, err := e.tokenizer.EncodeBatch(texts, e.tokenizer.MaxTokens())
	if err != nil {
		return nil, err
	}
	shape := []int{batch.Rows, batch.Columns}
	out, err := e.program.Run(ctx, nef.Values{
		"input_ids":      nef.Tensor(batch.IDs, shape),
		"attention_mask": nef.Tensor(batch.Mask, shape),
	})
	if err != nil {
		return nil, err
	}
	defer out.Close()
	flat, err := nef.Data[float32](out["sentence_embedding"])
	if err != nil {
		return nil, err
	}
	width := len(flat) / len(texts)
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = flat[i*width : (i+1)*width]
	}
	return vectors, nil
}

func printVectors(out io.Writer, texts []string, vectors [][]float32) error {
	lines := json.NewEncoder(out)
	for i, vector := range vectors {
		if err := lines.Encode(struct {
			Text      string    `json:"text"`
			Embedding []float32 `json:"embedding"`
		}{texts[i], vector}); err != nil {
			return err
		}
	}
	return nil
}

// printSimilarity prints the dot product of each pair: embeddings have length 1, so it is the cosine.
func printSimilarity(out io.Writer, texts []string, vectors [][]float32) error {
	w := bufio.NewWriter(out)
	for i := range vectors {
		fmt.Fprintf(w, "%6d", i+1)
	}
	fmt.Fprintln(w)
	for i, a := range vectors {
		for _, b := range vectors {
			fmt.Fprintf(w, "%6.2f", dot(a, b))
		}
		fmt.Fprintf(w, "  %d %s\n", i+1, texts[i])
	}
	return w.Flush()
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
