// SPDX-License-Identifier: Apache-2.0

package nef

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/Hexa08/NEF/internal/safetext"
)

// How values are printed.
const (
	printAll   = 1000 // values with more elements are abbreviated
	printEdge  = 3    // to so many at each end of a dim
	printWidth = 80   // columns
	printPlain = 8    // most digits after the point
)

// String executes the value if need be and shows dtype, shape and elements, laid out as NumPy
// does. Of large values only the corners are shown. A value that depends on an [Input] is shown
// without elements, one with an error as the error.
func (v *Value) String() string { return v.text(printPlain) }

// Format is String for the verbs v and s. A precision limits the digits after the point: %.3v.
func (v *Value) Format(s fmt.State, verb rune) {
	digits, given := s.Precision()
	if !given {
		digits = printPlain
	}
	if verb != 'v' && verb != 's' {
		fmt.Fprintf(s, "%%!%c(*nef.Value)", verb)
		return
	}
	_, _ = s.Write([]byte(v.text(digits)))
}

func (v *Value) text(digits int) string {
	if err := v.Err(); err != nil {
		return err.Error()
	}
	if v.unbound() {
		return v.openText()
	}
	var text string
	err := v.view("print", func(h header, data []byte) {
		p := printer{header: h, data: data, abbreviate: len(data)/h.dtype.Size() > printAll}
		text = p.print(digits)
	})
	if err != nil {
		return err.Error()
	}
	return text
}

func (v *Value) openText() string {
	if v.param {
		return safetext.Escape(fmt.Sprintf("value of a block's body, %v %v", v.DType(), v.Dims()))
	}
	if v.op == 0 {
		return safetext.Escape(fmt.Sprintf("input %q %v %v", v.input, v.DType(), v.Dims()))
	}
	return safetext.Escape(fmt.Sprintf("%s of graph inputs, %v %v", opNames[v.op], v.DType(), v.Dims()))
}

// printer lays out the elements of one value.
type printer struct {
	header
	data       []byte
	abbreviate bool
	cell       func(i int) string
	width      int
	out        strings.Builder
}

func (p *printer) print(digits int) string {
	fmt.Fprintf(&p.out, "%v %v", p.dtype, p.shape)
	p.chooseCells(digits)
	if len(p.shape) == 0 {
		p.out.WriteString(" " + p.cell(0))
		return p.out.String()
	}
	p.out.WriteByte('\n')
	p.axis(0, 0)
	return p.out.String()
}

// steps calls f for the indices of an axis that are shown, -1 for those left out.
func (p *printer) steps(axis int, f func(i int)) {
	n := p.shape[axis]
	for i := 0; i < n; i++ {
		if p.abbreviate && n > 2*printEdge+1 && i == printEdge {
			f(-1)
			i = n - printEdge
		}
		f(i)
	}
}

// axis prints what lies behind the first axis dims, beginning at element at.
func (p *printer) axis(axis, at int) {
	p.out.WriteByte('[')
	if axis == len(p.shape)-1 {
		p.row(axis, at)
	} else {
		p.blocks(axis, at)
	}
	p.out.WriteByte(']')
}

// blocks prints lower axes, one below the other, with blank lines between matrices and more.
func (p *printer) blocks(axis, at int) {
	stride := 1
	for _, n := range p.shape[axis+1:] {
		stride *= n
	}
	if stride == 0 {
		return
	}
	gap := strings.Repeat("\n", len(p.shape)-1-axis) + strings.Repeat(" ", axis+1)
	first := true
	p.steps(axis, func(i int) {
		if !first {
			p.out.WriteString(gap)
		}
		first = false
		if i < 0 {
			p.out.WriteString("…")
			return
		}
		p.axis(axis+1, at+i*stride)
	})
}

// row prints one row and breaks it where the line is full.
func (p *printer) row(axis, at int) {
	indent := axis + 1
	column := indent
	p.steps(axis, func(i int) {
		text := "…"
		if i >= 0 {
			text = p.cell(at + i)
		}
		pad := max(0, p.width-len([]rune(text)))
		if i < 0 {
			pad = 0
		}
		switch {
		case column == indent:
		case column+1+pad+len(text) > printWidth:
			p.out.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			p.out.WriteByte(' ')
			column++
		}
		p.out.WriteString(strings.Repeat(" ", pad) + text)
		column += pad + len(text)
	})
}

// shown calls f for every element that is printed.
func (p *printer) shown(axis, at int, f func(i int)) {
	if axis == len(p.shape) {
		f(at)
		return
	}
	stride := 1
	for _, n := range p.shape[axis+1:] {
		stride *= n
	}
	if stride == 0 {
		return
	}
	p.steps(axis, func(i int) {
		if i >= 0 {
			p.shown(axis+1, at+i*stride, f)
		}
	})
}

// chooseCells decides how an element is spelt, the same way for all of them.
func (p *printer) chooseCells(digits int) {
	switch p.dtype {
	case Float16, BFloat16, Float32, Float64, Float8E4M3FN, Float8E5M2:
		p.cell = p.floatCells(digits)
	default:
		p.cell = p.integer
	}
	p.shown(0, 0, func(i int) { p.width = max(p.width, len(p.cell(i))) })
}

// floatCells is fixed point unless the numbers shown are too large, small or different for that.
// All get as many digits as the one that needs most.
func (p *printer) floatCells(digits int) func(i int) string {
	largest, smallest := 0.0, math.Inf(1)
	p.shown(0, 0, func(i int) {
		if x := math.Abs(p.float(i)); x != 0 && !math.IsInf(x, 0) && !math.IsNaN(x) {
			largest, smallest = max(largest, x), min(smallest, x)
		}
	})
	verb := byte('f')
	if largest >= 1e8 || largest > 0 && (smallest < 1e-4 || largest/smallest > 1000) && !p.wholeBelow(1e8) {
		verb = 'e'
	}
	need := 0
	p.shown(0, 0, func(i int) { need = max(need, fractionDigits(p.float(i), verb, p.bits())) })
	need = min(need, digits)
	return func(i int) string { return floatText(p.float(i), verb, need, p.bits()) }
}

// wholeBelow: whole numbers need no digits after the point, however different they are.
func (p *printer) wholeBelow(limit float64) bool {
	whole := true
	p.shown(0, 0, func(i int) {
		if x := p.float(i); !math.IsInf(x, 0) && !math.IsNaN(x) {
			whole = whole && x == math.Trunc(x) && math.Abs(x) < limit
		}
	})
	return whole
}

// fractionDigits is how many digits after the point the shortest exact spelling has.
func fractionDigits(x float64, verb byte, bits int) int {
	text := strconv.FormatFloat(x, verb, -1, bits)
	if end := strings.IndexByte(text, 'e'); end >= 0 {
		text = text[:end]
	}
	point := strings.IndexByte(text, '.')
	if point < 0 {
		return 0
	}
	return len(text) - point - 1
}

func floatText(x float64, verb byte, digits, bits int) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "Inf"
	case math.IsInf(x, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(x, verb, digits, bits)
}

// bits is the precision in which the shortest spelling is sought.
func (p *printer) bits() int {
	if p.dtype == Float64 {
		return 64
	}
	return 32
}

// word is the bits of element i.
func (p *printer) word(i int) uint64 {
	size := p.dtype.Size()
	at := p.data[i*size:]
	switch size {
	case 1:
		return uint64(at[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(at))
	case 4:
		return uint64(binary.NativeEndian.Uint32(at))
	}
	return binary.NativeEndian.Uint64(at)
}

func (p *printer) float(i int) float64 {
	switch p.dtype {
	case Float16:
		return float64(Half(p.word(i)).Float32())
	case BFloat16:
		return float64(BF16(p.word(i)).Float32())
	case Float8E4M3FN:
		return float64(E4M3(p.word(i)).Float32())
	case Float8E5M2:
		return float64(E5M2(p.word(i)).Float32())
	case Float32:
		return float64(math.Float32frombits(uint32(p.word(i))))
	}
	return math.Float64frombits(p.word(i))
}

func (p *printer) integer(i int) string {
	switch p.dtype {
	case Bool:
		return strconv.FormatBool(p.word(i) != 0)
	case Uint8, Uint16, Uint32, Uint64:
		return strconv.FormatUint(p.word(i), 10)
	}
	unused := 64 - 8*p.dtype.Size()
	return strconv.FormatInt(int64(p.word(i)<<unused)>>unused, 10)
}
