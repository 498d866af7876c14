// SPDX-License-Identifier: Apache-2.0

// Package tokenize turns text into the token ids of BERT-type models. It reads the tokenizer files
// of a Hugging Face folder and gives the same ids as the `tokenizers` library, on any text.
//
// The WordPiece search is github.com/sugarme/tokenizer's. Its normaliser differs from the original
// (no decomposition before accents are stripped, white space kept, private-use characters kept), so
// normalising and splitting are done here.
package tokenize

import (
	"fmt"
	"strings"

	"github.com/sugarme/tokenizer/model/wordpiece"
)

// Tokenizer is immutable after Load and safe for concurrent use.
type Tokenizer struct {
	normalizer bertNormalizer
	model      wordpiece.WordPiece
	added      []addedToken // longest content first
	addedFirst [256]bool    // first bytes of their contents
	prefix     []int64
	suffix     []int64
	pad        int64
	maxTokens  int
}

type addedToken struct {
	content string
	id      int64
}

// Batch holds token ids and mask, row-major [Rows, Columns], padded on the right.
type Batch struct {
	IDs     []int64
	Mask    []int64
	Rows    int
	Columns int
}

// MaxTokens is the model's own limit (special tokens included), 0 when its files name none.
func (t *Tokenizer) MaxTokens() int { return t.maxTokens }

// Encode returns the ids of text with the model's special tokens around it. With limit > 0 the text
// is cut so that at most limit ids remain; a limit below the number of special tokens is refused.
//
// As in the original, a special token written out in the text ("[SEP]") becomes that token.
func (t *Tokenizer) Encode(text string, limit int) ([]int64, error) {
	special := len(t.prefix) + len(t.suffix)
	if limit < 0 || limit > 0 && limit < special {
		return nil, fmt.Errorf("tokenize: limit %d is below the model's %d special tokens", limit, special)
	}
	room := -1
	if limit > 0 {
		room = limit - special
	}
	ids := append(make([]int64, 0, 16), t.prefix...)
	ids, err := t.encodeText(ids, text, room)
	if err != nil {
		return nil, err
	}
	return append(ids, t.suffix...), nil
}

// EncodeBatch encodes several texts and pads them to the longest.
func (t *Tokenizer) EncodeBatch(texts []string, limit int) (Batch, error) {
	if len(texts) == 0 {
		return Batch{}, fmt.Errorf("tokenize: no text to encode")
	}
	rows := make([][]int64, len(texts))
	columns := 0
	for i, text := range texts {
		ids, err := t.Encode(text, limit)
		if err != nil {
			return Batch{}, err
		}
		rows[i] = ids
		columns = max(columns, len(ids))
	}
	b := Batch{Rows: len(rows), Columns: columns}
	b.IDs = make([]int64, 0, b.Rows*columns)
	b.Mask = make([]int64, b.Rows*columns)
	for i, row := range rows {
		b.IDs = append(b.IDs, row...)
		for range columns - len(row) {
			b.IDs = append(b.IDs, t.pad)
		}
		for j := range row {
			b.Mask[i*columns+j] = 1
		}
	}
	return b, nil
}

// encodeText appends at most room ids (any number when room is negative). It stops reading once
// the room is used up: a long text costs no more than its kept part.
func (t *Tokenizer) encodeText(ids []int64, text string, room int) ([]int64, error) {
	start := len(ids)
	full := func() bool { return room >= 0 && len(ids)-start >= room }
	for text != "" && !full() {
		at, token := t.nextAdded(text)
		plain := text
		if token != nil {
			plain, text = text[:at], text[at+len(token.content):]
		} else {
			text = ""
		}
		var err error
		for plain != "" && !full() && err == nil {
			var piece string
			piece, plain = cut(plain, room)
			t.normalizer.words(piece, func(word string) bool {
				ids, err = t.appendWord(ids, word)
				return err == nil && !full()
			})
		}
		if err != nil {
			return nil, err
		}
		if token != nil && !full() {
			ids = append(ids, token.id)
		}
	}
	if full() {
		ids = ids[:start+room]
	}
	return ids, nil
}

// cut splits off a piece that ends at ASCII white space, where neither normalisation nor splitting
// looks across, so that truncated texts are not normalised to their end.
func cut(text string, room int) (piece, rest string) {
	size := 16 * room
	if room < 0 || len(text) <= size {
		return text, ""
	}
	at := strings.IndexAny(text[size:], " \n\t")
	if at < 0 {
		return text, ""
	}
	return text[:size+at], text[size+at:]
}

func (t *Tokenizer) appendWord(ids []int64, word string) ([]int64, error) {
	tokens, err := t.model.Tokenize(word)
	if err != nil {
		return nil, fmt.Errorf("tokenize: %w", err)
	}
	for _, token := range tokens {
		ids = append(ids, int64(token.Id))
	}
	return ids, nil
}

// nextAdded finds the first special token in text; at one place the longest wins.
func (t *Tokenizer) nextAdded(text string) (int, *addedToken) {
	for at := 0; at < len(text); at++ {
		if !t.addedFirst[text[at]] {
			continue
		}
		for i := range t.added {
			if strings.HasPrefix(text[at:], t.added[i].content) {
				return at, &t.added[i]
			}
		}
	}
	return len(text), nil
}
