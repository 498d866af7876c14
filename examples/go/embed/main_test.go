// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/bert"
)

// model builds the pinned model once, when packaging/dev/model.sh has fetched it.
func model(t *testing.T) (file, folder string) {
	t.Helper()
	folder = filepath.Join("..", "..", "..", "build", "models", "minilm")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("the model is not here: packaging/dev/model.sh fetches it")
	}
	graph, err := bert.Build(folder, bert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer graph.Close()
	file = filepath.Join(t.TempDir(), "minilm.nef")
	if err := graph.Save(file, nef.SaveOptions{Bundle: true}); err != nil {
		t.Fatal(err)
	}
	return file, folder
}

func TestEmbed(t *testing.T) {
	file, folder := model(t)
	texts := []string{"A dog runs across the field.", "A puppy is running in the grass.", "The bank raised its interest rates."}

	var out bytes.Buffer
	if err := run(file, folder, nil, strings.NewReader(strings.Join(texts, "\n")+"\n"), &out, false); err != nil {
		t.Fatal(err)
	}
	var vectors [][]float32
	for lines := json.NewDecoder(&out); lines.More(); {
		var line struct {
			Text      string
			Embedding []float32
		}
		if err := lines.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if line.Text != texts[len(vectors)] || len(line.Embedding) != 384 || math.Abs(dot(line.Embedding, line.Embedding)-1) > 1e-5 {
			t.Errorf("%q: %d numbers of length %v", line.Text, len(line.Embedding), dot(line.Embedding, line.Embedding))
		}
		vectors = append(vectors, line.Embedding)
	}
	if len(vectors) != 3 {
		t.Fatalf("%d embeddings", len(vectors))
	}
	if alike, unlike := dot(vectors[0], vectors[1]), dot(vectors[0], vectors[2]); alike < 0.5 || unlike > 0.2 {
		t.Errorf("dog and puppy are %.2f alike, dog and bank %.2f", alike, unlike)
	}

	out.Reset()
	if err := run(file, folder, texts, nil, &out, true); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(out.String(), "\n"); len(lines) != 5 || !strings.Contains(lines[1], "1.00") || !strings.Contains(lines[3], texts[2]) {
		t.Errorf("similarity:\n%s", out.String())
	}
}

// Goroutines share one program, and padding does not change a text's vector.
func TestEmbedConcurrently(t *testing.T) {
	file, folder := model(t)
	e, err := open(file, folder)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	alone, err := e.embed(t.Context(), []string{"short"})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			got, err := e.embed(t.Context(), []string{"short", strings.Repeat("a longer text ", i+1)})
			if err != nil {
				t.Error(err)
				return
			}
			if similarity := dot(got[0], alone[0]); similarity < 0.99999 {
				t.Errorf("padded to %d words: similarity %v", 3*(i+1), similarity)
			}
		}()
	}
	group.Wait()
}

func TestEmbedErrors(t *testing.T) {
	if err := run("no.nef", t.TempDir(), []string{"x"}, nil, new(bytes.Buffer), false); err == nil || !strings.Contains(err.Error(), "tokenize") {
		t.Errorf("no tokenizer: %v", err)
	}
}
