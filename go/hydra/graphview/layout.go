// SPDX-License-Identifier: Apache-2.0

// Package graphview draws a graph as an SVG picture: inputs on top, every node below what it uses.
package graphview

import (
	"fmt"
	"slices"
	"sort"
)

// MaxNodes is the most nodes Draw accepts: larger pictures help nobody.
const MaxNodes = 5000

// Graph is what is drawn.
type Graph struct {
	Title string
	Nodes []Node
}

// Node is one box. Inputs are indices of other nodes; cycles are refused.
type Node struct {
	Label  string // first line
	Detail string // second line, may be empty
	Kind   Kind
	Inputs []Edge
}

// Edge leads from a node; its text, such as the shape, may be empty.
type Edge struct {
	From int
	Text string
}

// Kind decides a node's look.
type Kind int

// The kinds.
const (
	Op Kind = iota
	Input
	Output
)

const (
	charWidth  = 7.2
	rowHeight  = 74
	boxHeight  = 38
	gap        = 26
	margin     = 24
	titleSpace = 40
	lane       = 14 // width kept for an edge that passes a row
)

// slot is a node, or a place where an edge passes a row.
type slot struct {
	node   int // -1 for a passing edge
	row    int
	width  float64
	x      float64 // centre
	up     []int   // slots above that lead here
	down   []int
	source int // node the passing edge comes from
}

type layout struct {
	slots []slot
	rows  [][]int
	width float64
}

// arrange puts nodes in rows by longest path, orders rows to keep edges short, and sets x.
func arrange(g Graph) (*layout, error) {
	rank, err := ranks(g)
	if err != nil {
		return nil, err
	}
	l := &layout{slots: make([]slot, 0, 2*len(g.Nodes))}
	for i, n := range g.Nodes {
		text := max(len([]rune(n.Label)), len([]rune(n.Detail)))
		l.add(slot{node: i, row: rank[i], width: float64(text)*charWidth + 24})
	}
	l.route(g, rank)
	l.order()
	l.place()
	return l, nil
}

func (l *layout) add(s slot) int {
	for len(l.rows) <= s.row {
		l.rows = append(l.rows, nil)
	}
	l.slots = append(l.slots, s)
	l.rows[s.row] = append(l.rows[s.row], len(l.slots)-1)
	return len(l.slots) - 1
}

// ranks is Kahn's algorithm: a node's row is one below its lowest input. Ops without inputs go as
// low as they can.
func ranks(g Graph) ([]int, error) {
	waiting := make([]int, len(g.Nodes))
	users := make([][]int, len(g.Nodes))
	for i, n := range g.Nodes {
		for _, e := range n.Inputs {
			if e.From < 0 || e.From >= len(g.Nodes) {
				return nil, fmt.Errorf("graphview: node %d uses node %d of %d", i, e.From, len(g.Nodes))
			}
			waiting[i]++
			users[e.From] = append(users[e.From], i)
		}
	}
	rank := make([]int, len(g.Nodes))
	var ready []int
	for i := range g.Nodes {
		if waiting[i] == 0 {
			ready = append(ready, i)
		}
	}
	var order []int
	for len(ready) > 0 {
		i := ready[0]
		ready = ready[1:]
		order = append(order, i)
		for _, u := range users[i] {
			rank[u] = max(rank[u], rank[i]+1)
			if waiting[u]--; waiting[u] == 0 {
				ready = append(ready, u)
			}
		}
	}
	if len(order) < len(g.Nodes) {
		return nil, fmt.Errorf("graphview: the graph has a cycle")
	}
	sink(g, order, users, rank)
	return rank, nil
}

// sink moves ops that depend on no input, such as the transpose of a weight, down to their first
// user: on top they would make a long row with long edges.
func sink(g Graph, order []int, users [][]int, rank []int) {
	floating := make([]bool, len(g.Nodes))
	for _, i := range order {
		floating[i] = g.Nodes[i].Kind == Op
		for _, e := range g.Nodes[i].Inputs {
			floating[i] = floating[i] && floating[e.From]
		}
	}
	for _, i := range slices.Backward(order) {
		if !floating[i] || len(users[i]) == 0 {
			continue
		}
		first := rank[users[i][0]]
		for _, u := range users[i] {
			first = min(first, rank[u])
		}
		rank[i] = first - 1
	}
}

// route connects slots, with one passing slot per row that an edge crosses. Edges from the same
// node share theirs.
func (l *layout) route(g Graph, rank []int) {
	passing := map[[2]int]int{} // source node, row -> slot
	for to, n := range g.Nodes {
		for _, e := range n.Inputs {
			above := e.From
			for row := rank[e.From] + 1; row < rank[to]; row++ {
				key := [2]int{e.From, row}
				at, ok := passing[key]
				if !ok {
					at = l.add(slot{node: -1, row: row, width: lane, source: e.From})
					passing[key] = at
					l.link(above, at)
				}
				above = at
			}
			l.link(above, to)
		}
	}
}

func (l *layout) link(from, to int) {
	l.slots[from].down = append(l.slots[from].down, to)
	l.slots[to].up = append(l.slots[to].up, from)
}

// order sweeps down and up a few times, sorting each row by the mean place of its neighbours.
func (l *layout) order() {
	place := make([]float64, len(l.slots))
	number := func(row []int) {
		for i, s := range row {
			place[s] = float64(i) / float64(len(row))
		}
	}
	for _, row := range l.rows {
		number(row)
	}
	arrange := func(row []int, neighbours func(int) []int) {
		key := make(map[int]float64, len(row))
		for _, s := range row {
			key[s] = place[s]
			if near := neighbours(s); len(near) > 0 {
				sum := 0.0
				for _, n := range near {
					sum += place[n]
				}
				key[s] = sum / float64(len(near))
			}
		}
		sort.SliceStable(row, func(i, j int) bool { return key[row[i]] < key[row[j]] })
		number(row)
	}
	for range 4 {
		for _, row := range l.rows {
			arrange(row, func(s int) []int { return l.slots[s].up })
		}
		for r := len(l.rows) - 1; r >= 0; r-- {
			arrange(l.rows[r], func(s int) []int { return l.slots[s].down })
		}
	}
}

// place centres every row, then pulls slots towards the mean of their neighbours as far as the row
// allows.
func (l *layout) place() {
	for _, row := range l.rows {
		x := 0.0
		for _, s := range row {
			l.slots[s].x = x + l.slots[s].width/2
			x += l.slots[s].width + gap
		}
		for _, s := range row {
			l.slots[s].x -= x / 2
		}
	}
	for range 6 {
		for r := range l.rows {
			l.pull(l.rows[r], func(s int) []int { return l.slots[s].up })
		}
		for r := len(l.rows) - 1; r >= 0; r-- {
			l.pull(l.rows[r], func(s int) []int { return l.slots[s].down })
		}
	}
	left, right := 0.0, 0.0
	for _, s := range l.slots {
		left, right = min(left, s.x-s.width/2), max(right, s.x+s.width/2)
	}
	for i := range l.slots {
		l.slots[i].x += margin - left
	}
	l.width = right - left + 2*margin
}

func (l *layout) pull(row []int, neighbours func(int) []int) {
	want := make([]float64, len(row))
	for i, s := range row {
		want[i] = l.slots[s].x
		if near := neighbours(s); len(near) > 0 {
			want[i] = 0
			for _, n := range near {
				want[i] += l.slots[n].x / float64(len(near))
			}
		}
	}
	// Left to right gives the leftmost places without overlap, right to left the rightmost; their
	// mean is free of overlap too.
	low, high := make([]float64, len(row)), make([]float64, len(row))
	apart := func(i int) float64 { return (l.slots[row[i]].width+l.slots[row[i+1]].width)/2 + gap }
	for i := range row {
		low[i] = want[i]
		if i > 0 {
			low[i] = max(want[i], low[i-1]+apart(i-1))
		}
	}
	for i := len(row) - 1; i >= 0; i-- {
		high[i] = want[i]
		if i+1 < len(row) {
			high[i] = min(want[i], high[i+1]-apart(i))
		}
	}
	for i, s := range row {
		l.slots[s].x = (low[i] + high[i]) / 2
	}
}
