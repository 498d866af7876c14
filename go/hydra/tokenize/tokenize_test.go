// SPDX-License-Identifier: Apache-2.0

package tokenize

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func readJSON(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// Every code point, alone, under the normaliser of uncased BERT.
func TestNormalizeEveryCodePoint(t *testing.T) {
	var want map[string]string
	readJSON(t, "codepoints.json", &want)
	n := bertNormalizer{cleanText: true, chineseChars: true, stripAccents: true, lowercase: true}
	for block := rune(0); block < 0x110; block++ {
		var all []string
		for r := block << 12; r < (block+1)<<12; r++ {
			if 0xD800 <= r && r < 0xE000 {
				continue
			}
			all = append(all, n.normalize(string(r)))
		}
		if len(all) == 0 {
			continue
		}
		sum := sha256.Sum256([]byte(strings.Join(all, "\x00")))
		name := fmt.Sprintf("%03x", block)
		if got := hex.EncodeToString(sum[:])[:12]; got != want[name] {
			t.Errorf("block U+%s000: hash %s, want %s", name, got, want[name])
		}
	}
}

type smallGolden struct {
	Texts []string `json:"texts"`
	Runs  []struct {
		Normalizer json.RawMessage `json:"normalizer"`
		Vocab      []string        `json:"vocab"`
		Limit      int             `json:"limit"`
		IDs        [][]int64       `json:"ids"`
	} `json:"runs"`
}

// smallDir writes a folder with a vocabulary in which every character of the golden texts has an
// id of its own, so that no difference hides behind [UNK].
func smallDir(t testing.TB, vocab []string, normalizer json.RawMessage) string {
	t.Helper()
	ids := make(map[string]int, len(vocab))
	for i, word := range vocab {
		ids[word] = i
	}
	added := []addedSpec{}
	for i, content := range vocab[:5] {
		added = append(added, addedSpec{ID: int64(i), Content: content})
	}
	spec := map[string]any{
		"added_tokens":   added,
		"normalizer":     normalizer,
		"pre_tokenizer":  map[string]string{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{"type": "BertProcessing", "cls": []any{"[CLS]", 2}, "sep": []any{"[SEP]", 3}},
		"model": map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
			"max_input_chars_per_word": 100, "vocab": ids},
	}
	data, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func loadSmall(t testing.TB) *Tokenizer {
	t.Helper()
	var golden smallGolden
	readJSON(t, "small.json", &golden)
	tok, err := Load(smallDir(t, golden.Runs[0].Vocab, golden.Runs[0].Normalizer))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestIDsEqualHuggingFace(t *testing.T) {
	var golden smallGolden
	readJSON(t, "small.json", &golden)
	for _, run := range golden.Runs {
		tok, err := Load(smallDir(t, run.Vocab, run.Normalizer))
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range golden.Texts {
			compare(t, tok, text, run.Limit, run.IDs[i])
		}
	}
}

func compare(t *testing.T, tok *Tokenizer, text string, limit int, want []int64) {
	t.Helper()
	got, err := tok.Encode(text, limit)
	if err != nil {
		t.Fatalf("%+q: %v", text, err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+q (limit %d):\n got %v\nwant %v", text, limit, got, want)
	}
}

// modelDir is the folder of the pinned model, when packaging/dev/model.sh has fetched it.
func modelDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("NEF_MODEL_DIR")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "build", "models", "minilm")
	}
	if _, err := os.Stat(filepath.Join(dir, "tokenizer.json")); err != nil {
		t.Skip("the model is not here: packaging/dev/model.sh fetches it")
	}
	return dir
}

func TestModelIDsEqualHuggingFace(t *testing.T) {
	dir := modelDir(t)
	var golden map[string][]struct {
		Text string  `json:"text"`
		IDs  []int64 `json:"ids"`
	}
	readJSON(t, "model.json", &golden)
	tok, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, cases := range golden {
		limit, err := strconv.Atoi(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			compare(t, tok, c.Text, limit, c.IDs)
		}
	}
}

// vocab.txt alone describes the same tokenizer as tokenizer.json.
func TestVocabFileGivesTheSameIDs(t *testing.T) {
	dir := modelDir(t)
	full, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	bare := t.TempDir()
	for _, name := range []string{"vocab.txt", "tokenizer_config.json"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(bare, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tok, err := Load(bare)
	if err != nil {
		t.Fatal(err)
	}
	if tok.MaxTokens() != 512 {
		t.Errorf("MaxTokens() = %d, want 512", tok.MaxTokens())
	}
	var golden smallGolden
	readJSON(t, "small.json", &golden)
	for _, text := range golden.Texts {
		want, err := full.Encode(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, tok, text, 64, want)
	}
}

func TestInvalidUTF8IsDropped(t *testing.T) {
	tok := loadSmall(t)
	want, err := tok.Encode("hello world", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"hel\xfflo world", "hello\xc0\x80 world", "hello world\xe4\xb8", "\xed\xa0\x80hello world"} {
		compare(t, tok, text, 0, want)
	}
}

func TestTruncationEqualsThePrefix(t *testing.T) {
	tok := loadSmall(t)
	texts := []string{strings.Repeat("hello [SEP]\u00e9 world, ", 400), strings.Repeat("x", 4000), strings.Repeat("[SEP]", 900)}
	for _, text := range texts {
		all, err := tok.Encode(text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for limit := 2; limit < 200; limit += 13 {
			want := all
			if len(all) > limit {
				want = append(slices.Clone(all[:limit-1]), all[len(all)-1])
			}
			compare(t, tok, text, limit, want)
		}
	}
}

func TestLimitBelowSpecialTokens(t *testing.T) {
	tok := loadSmall(t)
	for _, limit := range []int{-1, 1} {
		if _, err := tok.Encode("hello", limit); err == nil {
			t.Errorf("limit %d was accepted", limit)
		}
	}
}

func TestEncodeBatchPadsOnTheRight(t *testing.T) {
	tok := loadSmall(t)
	batch, err := tok.EncodeBatch([]string{"hello", "hello world world", ""}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if batch.Rows != 3 || batch.Columns < 5 || len(batch.IDs) != 3*batch.Columns || len(batch.Mask) != len(batch.IDs) {
		t.Fatalf("batch of %d x %d, %d ids, %d mask", batch.Rows, batch.Columns, len(batch.IDs), len(batch.Mask))
	}
	for row, text := range []string{"hello", "hello world world", ""} {
		ids, err := tok.Encode(text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for col := range batch.Columns {
			i := row*batch.Columns + col
			switch {
			case col < len(ids) && (batch.IDs[i] != ids[col] || batch.Mask[i] != 1):
				t.Errorf("row %d column %d: id %d mask %d, want %d and 1", row, col, batch.IDs[i], batch.Mask[i], ids[col])
			case col >= len(ids) && (batch.IDs[i] != 0 || batch.Mask[i] != 0):
				t.Errorf("row %d column %d is not padding", row, col)
			}
		}
	}
	if _, err := tok.EncodeBatch(nil, 0); err == nil {
		t.Error("an empty batch was accepted")
	}
}

// A text of megabytes cut to the model's limit costs no more than its beginning.
func TestLongTextIsNotReadToItsEnd(t *testing.T) {
	tok := loadSmall(t)
	text := strings.Repeat("hello world ", 8<<20)
	begin := time.Now()
	ids, err := tok.Encode(text, 512)
	if err != nil || len(ids) != 512 {
		t.Fatalf("%d ids, %v", len(ids), err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestLoadRefuses(t *testing.T) {
	good := `{"added_tokens": [], "normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"},
		"post_processor": {"type": "BertProcessing", "cls": ["c", 0], "sep": ["s", 0]},
		"model": {"type": "WordPiece", "unk_token": "u", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": {"u": 0}}}`
	write := func(text string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	if _, err := Load(write(good)); err != nil {
		t.Fatalf("the base case does not load: %v", err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"WordPiece"`, `"BPE"`, "only WordPiece"},
		{`"BertNormalizer"`, `"NFKC"`, "only BertNormalizer"},
		{`"BertPreTokenizer"`, `"Metaspace"`, "only BertPreTokenizer"},
		{`"BertProcessing"`, `"Roberta"`, "post_processor.type"},
		{`["c", 0]`, `["c"]`, "cls and sep"},
		{`"vocab": {"u": 0}`, `"vocab": {"v": 0}`, "unk_token"},
		{`"vocab": {"u": 0}`, `"vocab": {"u": -1}`, "negative id"},
		{`: 100`, `: 0`, "max_input_chars_per_word"},
		{`"added_tokens": []`, `"added_tokens": [{"content": "x", "lstrip": true}]`, "lstrip"},
		{`"added_tokens": []`, `"added_tokens": [{"content": ""}]`, "without content"},
		{good, `{`, "unexpected end"},
	} {
		_, err := Load(write(strings.Replace(good, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s -> %s: error %v, want one with %q", c.old, c.new, err, c.want)
		}
	}
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "vocab.txt") {
		t.Errorf("an empty folder: %v", err)
	}
}

func FuzzEncode(f *testing.F) {
	tok := loadSmall(f)
	f.Add("hello w\u00f6rld [SEP] \u4f60\u597d", 12)
	f.Add("\xff\x00\u0301", 2)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = 2 + limit&511
		ids, err := tok.Encode(text, limit)
		if err != nil || len(ids) < 2 || len(ids) > limit {
			t.Errorf("%d ids at limit %d: %v", len(ids), limit, err)
		}
	})
}
