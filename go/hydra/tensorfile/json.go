// SPDX-License-Identifier: Apache-2.0

package tensorfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/Hexa08/NEF/go/hydra/npy"
	"github.com/Hexa08/NEF/internal/safetext"
)

const maxRank = 16

// DecodeJSON reads nested lists of numbers (or one number), or an object with the keys dtype, shape
// and data as EncodeJSON writes it. Lists must be rectangular.
func DecodeJSON(text []byte, dtype string) (npy.Array, error) {
	if npy.ItemSize(dtype) == 0 {
		return npy.Array{}, fmt.Errorf("tensors of type %q cannot be read", dtype)
	}
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		return decodeObject(text, dtype)
	}
	p := listParser{dtype: dtype, decoder: json.NewDecoder(bytes.NewReader(text))}
	return p.parse()
}

func decodeObject(text []byte, dtype string) (npy.Array, error) {
	var object struct {
		DType string          `json:"dtype"`
		Shape []int           `json:"shape"`
		Data  json.RawMessage `json:"data"`
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&object); err != nil {
		return npy.Array{}, fmt.Errorf("expected {\"dtype\", \"shape\", \"data\"}: %w", err)
	}
	if object.DType != "" && object.DType != dtype {
		return npy.Array{}, fmt.Errorf("holds %s, the model wants %s", safetext.Escape(object.DType), dtype)
	}
	p := listParser{dtype: dtype, decoder: json.NewDecoder(bytes.NewReader(object.Data))}
	a, err := p.parse()
	if err != nil || object.Shape == nil {
		return a, err
	}
	size := npy.ItemSize(dtype)
	count, err := npy.Count(object.Shape, size)
	if err != nil {
		return npy.Array{}, err
	}
	if count*size != len(a.Data) {
		return npy.Array{}, fmt.Errorf("shape %v needs %d numbers, data has %d", object.Shape, count, len(a.Data)/size)
	}
	a.Shape = object.Shape
	return a, nil
}

// listParser walks nested lists token by token: no recursion, no intermediate tree.
type listParser struct {
	dtype   string
	decoder *json.Decoder
	data    []byte
	shape   []int // dims known so far: a list's length is known when it closes
	counts  []int // elements seen in each open list
	leaf    int   // depth of the numbers, -1 before the first
}

func (p *listParser) parse() (npy.Array, error) {
	p.decoder.UseNumber()
	p.leaf = -1
	for {
		token, err := p.decoder.Token()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return npy.Array{}, fmt.Errorf("not a JSON list of numbers: %w", err)
		}
		if err := p.take(token); err != nil {
			return npy.Array{}, err
		}
		if len(p.counts) == 0 {
			break
		}
	}
	if _, err := p.decoder.Token(); !errors.Is(err, io.EOF) {
		return npy.Array{}, errors.New("text after the end of the list")
	}
	if p.shape == nil {
		p.shape = []int{}
	}
	return npy.Array{DType: p.dtype, Shape: p.shape, Data: p.data}, nil
}

func (p *listParser) take(token json.Token) error {
	switch t := token.(type) {
	case json.Delim:
		switch t {
		case '[':
			return p.open()
		case ']':
			return p.close()
		}
		return errors.New("an object inside a list of numbers")
	case json.Number:
		return p.number(t.String())
	case bool:
		return p.number(strconv.FormatBool(t))
	case string:
		return p.number(t)
	}
	return errors.New("null is no number")
}

func (p *listParser) open() error {
	if len(p.counts) == maxRank || p.leaf == len(p.counts) {
		return p.ragged()
	}
	if n := len(p.counts); n > 0 {
		p.counts[n-1]++
	}
	p.counts = append(p.counts, 0)
	if len(p.shape) < len(p.counts) {
		p.shape = append(p.shape, -1)
	}
	return nil
}

func (p *listParser) close() error {
	depth := len(p.counts) - 1
	count := p.counts[depth]
	p.counts = p.counts[:depth]
	if p.shape[depth] < 0 {
		p.shape[depth] = count
	}
	// An empty list ends its row's depth: nothing deeper may follow beside it.
	if count == 0 && p.leaf < 0 {
		p.leaf = depth + 1
	}
	if p.shape[depth] != count || len(p.shape) > p.leaf {
		return p.ragged()
	}
	return nil
}

func (p *listParser) number(text string) (err error) {
	depth := len(p.counts)
	if p.leaf < 0 {
		p.leaf = depth
	}
	if p.leaf != depth {
		return p.ragged()
	}
	if depth > 0 {
		p.counts[depth-1]++
	}
	if p.data, err = AppendElement(p.data, p.dtype, text); err != nil {
		return fmt.Errorf("element %d: %w", len(p.data)/npy.ItemSize(p.dtype), err)
	}
	return nil
}

func (p *listParser) ragged() error {
	return fmt.Errorf("the lists are not rectangular or deeper than %d", maxRank)
}

// EncodeJSON writes {"dtype", "shape", "data"} with the data flat, in row-major order.
func EncodeJSON(w io.Writer, a npy.Array) error {
	data, err := DataJSON(a)
	if err != nil {
		return err
	}
	dims := make([]string, len(a.Shape))
	for i, d := range a.Shape {
		dims[i] = strconv.Itoa(d)
	}
	_, err = fmt.Fprintf(w, "{\"dtype\": %q, \"shape\": [%s], \"data\": %s}\n", a.DType,
		strings.Join(dims, ", "), data)
	return err
}

// DataJSON is the elements as one flat JSON list, in row-major order. Numbers that JSON lacks are
// the strings "NaN", "Infinity" and "-Infinity".
func DataJSON(a npy.Array) (json.RawMessage, error) {
	size := npy.ItemSize(a.DType)
	if size == 0 {
		return nil, fmt.Errorf("tensors of type %q cannot be written", a.DType)
	}
	out := []byte{'['}
	for i := 0; i < len(a.Data); i += size {
		if i > 0 {
			out = append(out, ", "...)
		}
		text := elementText(a.DType, a.Data[i:i+size])
		if text == "NaN" || text == "Infinity" || text == "-Infinity" {
			text = strconv.Quote(text)
		}
		out = append(out, text...)
	}
	return append(out, ']'), nil
}
