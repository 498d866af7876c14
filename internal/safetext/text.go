// SPDX-License-Identifier: Apache-2.0

package safetext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text is printable, apart from line breaks that the program itself has made. It comes from the
// functions of this package only.
type Text struct{ text string }

func (t Text) String() string { return t.text }

// Append is both, one behind the other.
func (t Text) Append(more Text) Text { return Text{t.text + more.text} }

// constant is what no text of a stranger can become: only constants convert to it by themselves.
type constant string

// Sprintf is fmt.Sprintf that escapes each argument unless it is a [Text].
func Sprintf(format constant, args ...any) Text {
	safe := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case Text:
			safe[i] = arg.text
		case bool, int, int64, uint64, float64:
			safe[i] = arg
		default:
			safe[i] = escaped{arg}
		}
	}
	return Text{fmt.Sprintf(string(format), safe...)}
}

// escaped formats as its value does, then escapes.
type escaped struct{ value any }

func (e escaped) Format(f fmt.State, verb rune) {
	fmt.Fprint(f, Escape(fmt.Sprintf(fmt.FormatString(f, verb), e.value)))
}

// Lines takes text that is laid out in lines by code which escapes what it puts in them, such as
// the String method of a plan or of a tensor. Everything but the line breaks is escaped again.
func Lines(text string) Text { return Text{escape(text, "\n")} }

// Table aligns columns with two spaces between; the last column keeps its length. Cells are
// escaped, so that none of them begins a line.
func Table(rows [][]string) Text {
	var widths []int
	cells := make([][]string, len(rows))
	for i, row := range rows {
		for k, cell := range row {
			cell = Escape(cell)
			cells[i] = append(cells[i], cell)
			if k == len(widths) {
				widths = append(widths, 0)
			}
			widths[k] = max(widths[k], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range cells {
		line := ""
		for k, cell := range row {
			line += cell
			if k < len(row)-1 {
				line += strings.Repeat(" ", widths[k]-utf8.RuneCountInString(cell)+2)
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return Text{b.String()}
}
