// SPDX-License-Identifier: Apache-2.0

package tokenize

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"github.com/sugarme/tokenizer/model"
	"github.com/sugarme/tokenizer/model/wordpiece"

	"github.com/Hexa08/NEF/go/hydra/internal/regular"
)

// maxFileSize bounds what is read into memory: the largest vocabularies in use are some 20 MB.
const maxFileSize = 128 << 20

// Load reads dir/tokenizer.json or, where that is missing, dir/vocab.txt with tokenizer_config.json.
func Load(dir string) (*Tokenizer, error) {
	config, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "tokenizer.json")
	data, err := readFile(path)
	var spec *tokenizerFile
	switch {
	case err == nil:
		spec = new(tokenizerFile)
		if err := json.Unmarshal(data, spec); err != nil {
			return nil, fmt.Errorf("tokenize: %s: %w", path, err)
		}
	case errors.Is(err, fs.ErrNotExist):
		path = filepath.Join(dir, "vocab.txt")
		if spec, err = specFromVocab(path, config); err != nil {
			return nil, err
		}
	default:
		return nil, err
	}
	t, err := spec.build()
	if err != nil {
		return nil, fmt.Errorf("tokenize: %s: %w", path, err)
	}
	t.maxTokens = config.limit()
	return t, nil
}

type configFile struct {
	DoLowerCase  *bool           `json:"do_lower_case"`
	StripAccents *bool           `json:"strip_accents"`
	ChineseChars *bool           `json:"tokenize_chinese_chars"`
	ModelMax     json.RawMessage `json:"model_max_length"`
}

// limit is model_max_length where it is a sane integer: many files carry 1e30 for "none".
func (c configFile) limit() int {
	var n int
	if json.Unmarshal(c.ModelMax, &n) != nil || n < 0 || n > 1<<30 {
		return 0
	}
	return n
}

func readConfig(dir string) (configFile, error) {
	var config configFile
	path := filepath.Join(dir, "tokenizer_config.json")
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return config, nil
	}
	if err != nil {
		return config, err
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return config, fmt.Errorf("tokenize: %s: %w", path, err)
	}
	return config, nil
}

func readFile(path string) ([]byte, error) {
	data, err := regular.ReadFile(path, maxFileSize)
	if err != nil {
		return nil, fmt.Errorf("tokenize: %w", err)
	}
	return data, nil
}

// tokenizerFile is the part of tokenizer.json that decides the ids of a BERT-type model.
type tokenizerFile struct {
	AddedTokens []addedSpec `json:"added_tokens"`
	Normalizer  *struct {
		Type         string `json:"type"`
		CleanText    bool   `json:"clean_text"`
		ChineseChars bool   `json:"handle_chinese_chars"`
		StripAccents *bool  `json:"strip_accents"`
		Lowercase    bool   `json:"lowercase"`
	} `json:"normalizer"`
	PreTokenizer struct {
		Type string `json:"type"`
	} `json:"pre_tokenizer"`
	PostProcessor postProcessor `json:"post_processor"`
	Model         struct {
		Type    string         `json:"type"`
		Unknown string         `json:"unk_token"`
		Prefix  string         `json:"continuing_subword_prefix"`
		MaxRune int            `json:"max_input_chars_per_word"`
		Vocab   map[string]int `json:"vocab"`
	} `json:"model"`
}

type addedSpec struct {
	ID         int64  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
}

type postProcessor struct {
	Type          string              `json:"type"`
	Single        []map[string]idItem `json:"single"`
	SpecialTokens map[string]struct {
		IDs []int64 `json:"ids"`
	} `json:"special_tokens"`
	CLS [2]any `json:"cls"`
	SEP [2]any `json:"sep"`
}

type idItem struct {
	ID string `json:"id"`
}

func (f *tokenizerFile) build() (*Tokenizer, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	t := &Tokenizer{normalizer: bertNormalizer{
		cleanText:    f.Normalizer.CleanText,
		chineseChars: f.Normalizer.ChineseChars,
		lowercase:    f.Normalizer.Lowercase,
		stripAccents: f.Normalizer.Lowercase,
	}}
	if f.Normalizer.StripAccents != nil {
		t.normalizer.stripAccents = *f.Normalizer.StripAccents
	}
	vocab := model.Vocab(f.Model.Vocab)
	t.model = wordpiece.NewWordPieceBuilder().Vocab(&vocab).UnkToken(f.Model.Unknown).
		ContinuingSubwordPrefix(f.Model.Prefix).MaxInputCharsPerWord(f.Model.MaxRune).Build()
	for _, a := range f.AddedTokens {
		t.added = append(t.added, addedToken{a.Content, a.ID})
		if a.Content == "[PAD]" {
			t.pad = a.ID
		}
	}
	for _, a := range t.added {
		t.addedFirst[a.content[0]] = true
	}
	sort.SliceStable(t.added, func(i, j int) bool { return len(t.added[i].content) > len(t.added[j].content) })
	var err error
	t.prefix, t.suffix, err = f.PostProcessor.around()
	return t, err
}

func (f *tokenizerFile) check() error {
	if f.Model.Type != "WordPiece" {
		return fmt.Errorf("model.type is %q: only WordPiece is supported", f.Model.Type)
	}
	if f.Normalizer == nil || f.Normalizer.Type != "BertNormalizer" {
		return errors.New("normalizer: only BertNormalizer is supported")
	}
	if f.PreTokenizer.Type != "BertPreTokenizer" {
		return fmt.Errorf("pre_tokenizer.type is %q: only BertPreTokenizer is supported", f.PreTokenizer.Type)
	}
	if f.Model.MaxRune < 1 || f.Model.MaxRune > 1000 {
		return fmt.Errorf("model.max_input_chars_per_word is %d, not in 1 to 1000", f.Model.MaxRune)
	}
	if _, ok := f.Model.Vocab[f.Model.Unknown]; !ok {
		return fmt.Errorf("model.unk_token %q is not in model.vocab", f.Model.Unknown)
	}
	for word, id := range f.Model.Vocab {
		if id < 0 {
			return fmt.Errorf("model.vocab: %q has the negative id %d", word, id)
		}
	}
	for _, a := range f.AddedTokens {
		if a.Content == "" {
			return errors.New("added_tokens: a token without content")
		}
		if a.SingleWord || a.LStrip || a.RStrip || a.Normalized {
			return fmt.Errorf("added_tokens: %q uses single_word, lstrip, rstrip or normalized, which are not supported", a.Content)
		}
	}
	return nil
}

// around returns the special tokens before and after a single text.
func (p postProcessor) around() (prefix, suffix []int64, err error) {
	switch p.Type {
	case "BertProcessing":
		cls, okCLS := p.CLS[1].(float64)
		sep, okSEP := p.SEP[1].(float64)
		if !okCLS || !okSEP {
			return nil, nil, errors.New("post_processor: cls and sep must be [token, id]")
		}
		return []int64{int64(cls)}, []int64{int64(sep)}, nil
	case "TemplateProcessing":
		return p.template()
	}
	return nil, nil, fmt.Errorf("post_processor.type is %q: only BertProcessing and TemplateProcessing are supported", p.Type)
}

func (p postProcessor) template() (prefix, suffix []int64, err error) {
	seen := 0
	for _, item := range p.Single {
		if _, ok := item["Sequence"]; ok {
			seen++
			continue
		}
		token, ok := p.SpecialTokens[item["SpecialToken"].ID]
		if !ok {
			return nil, nil, fmt.Errorf("post_processor.single names %q, which special_tokens lacks", item["SpecialToken"].ID)
		}
		if seen == 0 {
			prefix = append(prefix, token.IDs...)
		} else {
			suffix = append(suffix, token.IDs...)
		}
	}
	if seen != 1 {
		return nil, nil, fmt.Errorf("post_processor.single holds %d sequences, expected 1", seen)
	}
	return prefix, suffix, nil
}

// specFromVocab describes a tokenizer whose folder has only BERT's original vocab.txt.
func specFromVocab(path string, config configFile) (*tokenizerFile, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	spec := new(tokenizerFile)
	spec.Model.Type, spec.Model.Unknown, spec.Model.Prefix, spec.Model.MaxRune = "WordPiece", "[UNK]", "##", 100
	spec.Model.Vocab = make(map[string]int)
	lines := bufio.NewScanner(strings.NewReader(string(data)))
	for n := 0; lines.Scan(); n++ {
		spec.Model.Vocab[lines.Text()] = n
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("tokenize: %s: %w", path, err)
	}
	on := func(flag *bool) bool { return flag == nil || *flag }
	fill := fmt.Sprintf(`{"normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": %t, "lowercase": %t},
		"pre_tokenizer": {"type": "BertPreTokenizer"}}`, on(config.ChineseChars), on(config.DoLowerCase))
	if err := json.Unmarshal([]byte(fill), spec); err != nil {
		return nil, err
	}
	spec.Normalizer.StripAccents = config.StripAccents
	return spec, spec.addSpecials()
}

func (f *tokenizerFile) addSpecials() error {
	for _, content := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} {
		id, ok := f.Model.Vocab[content]
		if !ok {
			return fmt.Errorf("tokenize: vocab.txt lacks the special token %q", content)
		}
		f.AddedTokens = append(f.AddedTokens, addedSpec{ID: int64(id), Content: content})
	}
	f.PostProcessor.Type = "BertProcessing"
	f.PostProcessor.CLS[1] = float64(f.Model.Vocab["[CLS]"])
	f.PostProcessor.SEP[1] = float64(f.Model.Vocab["[SEP]"])
	return nil
}
