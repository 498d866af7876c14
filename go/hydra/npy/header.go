// SPDX-License-Identifier: Apache-2.0

package npy

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

type header struct {
	descr   string
	fortran bool
	shape   []int
}

// parseHeader reads the Python literal that a .npy file begins with: a dictionary with exactly the
// keys descr, fortran_order and shape.
func parseHeader(text string) (header, error) {
	var h header
	p := &literal{rest: strings.TrimRight(text, " \n\x00")}
	seen := map[string]bool{}
	p.expect("{")
	for p.err == nil && !p.accept("}") {
		key := p.str()
		p.expect(":")
		if p.err == nil && seen[key] {
			p.fail("key %q stands twice", key)
		}
		seen[key] = true
		switch key {
		case "descr":
			h.descr = p.str()
		case "fortran_order":
			h.fortran = p.boolean()
		case "shape":
			h.shape = p.tuple()
		default:
			p.fail("unknown key %q", key)
		}
		if !p.accept(",") {
			p.expect("}")
			break
		}
	}
	if p.err == nil && p.rest != "" {
		p.fail("text after the dictionary")
	}
	if p.err == nil && len(seen) != 3 {
		p.err = errors.New("npy: header: expected the keys descr, fortran_order and shape")
	}
	return h, p.err
}

// literal is a cursor over the few Python literals a header may hold; the first error sticks.
type literal struct {
	rest string
	err  error
}

func (p *literal) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("npy: header: "+format, args...)
		p.rest = ""
	}
}

func (p *literal) accept(token string) bool {
	p.rest = strings.TrimLeft(p.rest, " ")
	if p.err != nil || !strings.HasPrefix(p.rest, token) {
		return false
	}
	p.rest = strings.TrimLeft(p.rest[len(token):], " ")
	return true
}

func (p *literal) expect(token string) {
	if !p.accept(token) {
		p.fail("expected %q before %q", token, shorten(p.rest))
	}
}

func (p *literal) str() string {
	for _, quote := range []string{"'", `"`} {
		if !p.accept(quote) {
			continue
		}
		text, rest, ok := strings.Cut(p.rest, quote)
		if !ok || strings.ContainsRune(text, '\\') {
			break
		}
		p.rest = strings.TrimLeft(rest, " ")
		return text
	}
	if p.accept("[") {
		p.fail("structured element types are not supported")
	}
	p.fail("expected a string at %q", shorten(p.rest))
	return ""
}

func (p *literal) boolean() bool {
	if p.accept("True") {
		return true
	}
	if !p.accept("False") {
		p.fail("expected True or False at %q", shorten(p.rest))
	}
	return false
}

func (p *literal) tuple() []int {
	dims := []int{}
	p.expect("(")
	for p.err == nil && !p.accept(")") {
		dims = append(dims, p.integer())
		if len(dims) > maxRank {
			p.fail("more than %d dimensions", maxRank)
		}
		if !p.accept(",") {
			p.expect(")")
			break
		}
	}
	return dims
}

func (p *literal) integer() int {
	n, digits := 0, 0
	for digits < len(p.rest) && '0' <= p.rest[digits] && p.rest[digits] <= '9' {
		d := int(p.rest[digits] - '0')
		if n > (math.MaxInt-d)/10 {
			p.fail("a dimension is too large")
			return 0
		}
		n = 10*n + d
		digits++
	}
	if digits == 0 {
		p.fail("expected a dimension at %q", shorten(p.rest))
		return 0
	}
	p.rest = p.rest[digits:]
	return n
}

func shorten(s string) string { return s[:min(len(s), 24)] }
