// SPDX-License-Identifier: Apache-2.0

// Package safetext keeps text of strangers from doing anything to a terminal or a shell.
//
// Names in a model, messages of a server and words of a file may hold escape sequences, line breaks
// and marks that turn the direction of what follows. [Escape] makes them visible, [Shell] quotes a
// word for a command line, and a [Printer] takes nothing but [Text], which has been escaped.
package safetext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// blank is a letter without ink.
const blank = '\u2800'

// Printable tells whether a rune shows as itself. Controls, line breaks, marks of format and
// direction, spaces other than the plain one, fillers and variation selectors do not.
func Printable(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= ' ' && r != 0x7f
	}
	return unicode.IsPrint(r) && r != blank &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Escape writes what is not printable as \x1b, \u202e or \U000e0001, and so each byte that is not
// UTF-8. The result is one line; text that was escaped stays as it is.
func Escape(text string) string { return escape(text, "") }

// escape leaves the runes in keep alone.
func escape(text, keep string) string {
	plain := func(r rune, size int) bool {
		return (r != utf8.RuneError || size > 1) && (Printable(r) || strings.ContainsRune(keep, r))
	}
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !plain(r, size) {
			break
		}
		at += size
	}
	if at == len(text) {
		return text
	}
	var b strings.Builder
	b.WriteString(text[:at])
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case plain(r, size):
			b.WriteString(text[at : at+size])
		case size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[at])
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		at += size
	}
	return b.String()
}

// bare are the bytes that mean nothing to a shell.
const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-"

// Shell quotes a word so that bash takes it as it is, also where a person pastes it: nothing in it
// is expanded, run or looked up in the history, and it is printable.
func Shell(word string) string {
	simple := word != ""
	quoted := true // plain quotes will do
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRuneInString(word[i:])
		simple = simple && size == 1 && strings.IndexByte(bare, word[i]) >= 0
		quoted = quoted && r != '\'' && r != '!' && (r != utf8.RuneError || size > 1) && Printable(r)
		i += size
	}
	switch {
	case simple:
		return word
	case quoted:
		return "'" + word + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRuneInString(word[i:])
		switch {
		case r == '\'' || r == '!' || r == '\\' || r == utf8.RuneError && size == 1 || !Printable(r):
			for _, c := range []byte(word[i : i+size]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteString(word[i : i+size])
		}
		i += size
	}
	b.WriteString("'")
	return b.String()
}
