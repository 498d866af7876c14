// SPDX-License-Identifier: Apache-2.0

package safetext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf8"
)

// Printer is the one way of a command to a terminal. It may be used by several goroutines.
type Printer struct {
	mu sync.Mutex
	w  io.Writer
}

// NewPrinter prints to w.
func NewPrinter(w io.Writer) *Printer { return &Printer{w: w} }

// Printf prints as [Sprintf] formats. That nobody reads any more is no error of a command.
func (p *Printer) Printf(format constant, args ...any) { p.print(Sprintf(format, args...).text) }

// Print prints a text.
func (p *Printer) Print(t Text) { p.print(t.text) }

func (p *Printer) print(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.w, text)
}

// Write serves libraries that print lines of their own, such as the help of a command: all but
// line breaks and tabs is escaped.
func (p *Printer) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := io.WriteString(p.w, escape(string(text), "\n\t")); err != nil {
		return 0, err
	}
	return len(text), nil
}

// JSON prints v. What is not printable stands in it as JSON's own escapes.
func (p *Printer) JSON(v any, indent string) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", indent)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	p.print(escapeJSON(text.Bytes()))
	return nil
}

// escapeJSON escapes within strings, where alone such runes can be: JSON takes the controls below
// the space as escapes only.
func escapeJSON(text []byte) string {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r < 0x7f || r != utf8.RuneError && Printable(r):
			out = append(out, text[:size]...)
		case r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			high, low := (r-0x10000)>>10|0xd800, (r-0x10000)&0x3ff|0xdc00
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
		text = text[size:]
	}
	return string(out)
}

// File is the file that is printed to, if it is one, for what draws on a terminal.
func (p *Printer) File() (*os.File, bool) {
	f, ok := p.w.(*os.File)
	return f, ok
}
