// SPDX-License-Identifier: Apache-2.0

package tokenize

import (
	"sort"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// bertNormalizer cleans, decomposes and lower-cases text the way BERT checkpoints were trained. The
// tables it reads come from testdata/gen.py, so the result does not depend on Go's Unicode version.
type bertNormalizer struct {
	cleanText    bool
	chineseChars bool
	stripAccents bool
	lowercase    bool
}

type caseRange struct {
	lo, hi rune
	stride rune
	delta  rune
}

// words calls yield for each word and each punctuation mark of the normalised text, in order, until
// yield returns false. Invalid UTF-8 counts as U+FFFD, one per byte.
func (n bertNormalizer) words(text string, yield func(word string) bool) {
	start := -1
	normal := n.normalize(text)
	flush := func(end int) bool {
		begin := start
		start = -1
		return begin < 0 || yield(normal[begin:end])
	}
	for i, r := range normal {
		switch {
		case isSpace(r):
			if !flush(i) {
				return
			}
		case isPunctuation(r):
			if !flush(i) || !yield(normal[i:i+utf8.RuneLen(r)]) {
				return
			}
		case start < 0:
			start = i
		}
	}
	flush(len(normal))
}

func (n bertNormalizer) normalize(text string) string {
	runes := n.clean(text)
	if n.stripAccents {
		runes = stripMarks(decompose(runes))
	}
	out := make([]byte, 0, len(runes)+len(runes)/4)
	for _, r := range runes {
		if !n.lowercase {
			out = utf8.AppendRune(out, r)
			continue
		}
		if r == 'İ' { // the one code point whose lower case is two
			out = append(out, "i\u0307"...)
			continue
		}
		out = utf8.AppendRune(out, lower(r))
	}
	return string(out)
}

func (n bertNormalizer) clean(text string) []rune {
	runes := make([]rune, 0, len(text)+8)
	for _, r := range text {
		if n.cleanText {
			if isRemoved(r) {
				continue
			}
			if isBlank(r) {
				r = ' '
			}
		}
		if n.chineseChars && r >= 0x3400 && unicode.Is(ideograph, r) {
			runes = append(runes, ' ', r, ' ')
			continue
		}
		runes = append(runes, r)
	}
	return runes
}

// decompose is canonical decomposition without x/text's limit of 30 marks in a row: hostile text
// goes past it, and the result has to match all the same.
func decompose(in []rune) []rune {
	out := make([]rune, 0, len(in)+len(in)/8)
	var buf [utf8.UTFMax]byte
	for _, r := range in {
		if r < 0xC0 || !unicode.Is(composed, r) {
			out = append(out, r)
			continue
		}
		// Hangul syllables are not in the tables of x/text: String handles them.
		size := utf8.EncodeRune(buf[:], r)
		out = append(out, []rune(norm.NFD.String(string(buf[:size])))...)
	}
	for i := 0; i < len(out); {
		if class(out[i]) == 0 {
			i++
			continue
		}
		end := i + 1
		for end < len(out) && class(out[end]) != 0 {
			end++
		}
		if run := out[i:end]; len(run) > 1 {
			sort.SliceStable(run, func(a, b int) bool { return class(run[a]) < class(run[b]) })
		}
		i = end
	}
	return out
}

// class is the canonical combining class, zero for marks younger than the tables.
func class(r rune) uint8 {
	if r < 0x300 || !unicode.Is(mark, r) && !unicode.Is(reordered, r) {
		return 0
	}
	var buf [utf8.UTFMax]byte
	return norm.NFD.Properties(buf[:utf8.EncodeRune(buf[:], r)]).CCC()
}

func stripMarks(in []rune) []rune {
	out := in[:0]
	for _, r := range in {
		if r < 0x300 || !unicode.Is(mark, r) {
			out = append(out, r)
		}
	}
	return out
}

func lower(r rune) rune {
	if r < 0x80 {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}
	i := sort.Search(len(lowerRanges), func(i int) bool { return lowerRanges[i].hi >= r })
	if i == len(lowerRanges) {
		return r
	}
	c := lowerRanges[i]
	if r < c.lo || (r-c.lo)%c.stride != 0 {
		return r
	}
	return r + c.delta
}

func isRemoved(r rune) bool {
	if 0x20 <= r && r < 0x7F {
		return false
	}
	return unicode.Is(removed, r)
}

func isBlank(r rune) bool {
	return r <= ' ' || r >= 0x80 && unicode.Is(blank, r)
}

func isSpace(r rune) bool {
	if 0x20 < r && r < 0x80 {
		return false
	}
	return unicode.Is(space, r)
}

func isPunctuation(r rune) bool {
	return unicode.Is(punctuation, r)
}
