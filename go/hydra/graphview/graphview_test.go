// SPDX-License-Identifier: Apache-2.0

package graphview

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func diamond() Graph {
	return Graph{Title: "a < b & \"c\"", Nodes: []Node{
		{Label: "x", Detail: "float32", Kind: Input},
		{Label: "relu", Inputs: []Edge{{0, "[2 3]"}}},
		{Label: "<gelu>", Inputs: []Edge{{1, ""}}},
		{Label: "add", Inputs: []Edge{{2, ""}, {0, ""}}},
		{Label: "y", Kind: Output, Inputs: []Edge{{3, ""}}},
	}}
}

func TestDrawIsWellFormed(t *testing.T) {
	var buf bytes.Buffer
	if err := Draw(&buf, diamond()); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(buf.Bytes()))
	boxes, texts := 0, ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "g" {
				boxes++
			}
		case xml.CharData:
			texts += string(e) + "|"
		}
	}
	if boxes != 5 {
		t.Errorf("%d boxes, want 5", boxes)
	}
	for _, want := range []string{"a < b & \"c\"", "<gelu>", "[2 3]"} {
		if !strings.Contains(texts, want) {
			t.Errorf("no text %q", want)
		}
	}
}

func TestArrangeKeepsOrderAndDistance(t *testing.T) {
	g := Graph{}
	// A wide graph with long edges: each node uses the one before and one far above.
	for i := range 120 {
		n := Node{Label: fmt.Sprint("node ", i)}
		if i > 0 {
			n.Inputs = append(n.Inputs, Edge{From: i / 2})
		}
		if i > 40 {
			n.Inputs = append(n.Inputs, Edge{From: i - 40})
		}
		g.Nodes = append(g.Nodes, n)
	}
	g.Nodes[1].Inputs = []Edge{{From: 0}}
	l, err := arrange(g)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range g.Nodes {
		for _, e := range n.Inputs {
			if l.slots[e.From].row >= l.slots[i].row {
				t.Errorf("node %d is not below node %d", i, e.From)
			}
		}
	}
	for r, row := range l.rows {
		for i := 1; i < len(row); i++ {
			a, b := l.slots[row[i-1]], l.slots[row[i]]
			if b.x-b.width/2 < a.x+a.width/2 {
				t.Errorf("row %d: slots %d and %d overlap", r, i-1, i)
			}
		}
	}
}

func TestDrawRefuses(t *testing.T) {
	cycle := diamond()
	cycle.Nodes[1].Inputs = []Edge{{From: 2}}
	dangling := diamond()
	dangling.Nodes[1].Inputs = []Edge{{From: 9}}
	huge := Graph{Nodes: make([]Node, MaxNodes+1)}
	for want, g := range map[string]Graph{"cycle": cycle, "node 9": dangling, "5001 nodes": huge} {
		if err := Draw(io.Discard, g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
