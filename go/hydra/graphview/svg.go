// SPDX-License-Identifier: Apache-2.0

package graphview

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/Hexa08/NEF/internal/safetext"
)

const style = `
  text { font: 12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1c2430; }
  .title { font-size: 16px; font-weight: bold; }
  .label { text-anchor: middle; font-weight: bold; }
  .detail { text-anchor: middle; fill: #5a6675; font-size: 11px; }
  .op { fill: #eef3fb; stroke: #6b87b5; }
  .input { fill: #e9f6ec; stroke: #5c9c6e; }
  .output { fill: #fdf1e3; stroke: #c98a3a; }
  .edge { fill: none; stroke: #9aa5b4; stroke-width: 1.3; }
  .shape { text-anchor: middle; fill: #77828f; font-size: 10px; paint-order: stroke; stroke: #fff; stroke-width: 3px; }
`

var kindClass = [...]string{Op: "op", Input: "input", Output: "output"}

// Draw writes g as a self-contained SVG document.
func Draw(w io.Writer, g Graph) error {
	if len(g.Nodes) > MaxNodes {
		return fmt.Errorf("graphview: %d nodes, a picture of more than %d helps nobody", len(g.Nodes), MaxNodes)
	}
	l, err := arrange(g)
	if err != nil {
		return err
	}
	width := max(l.width, float64(len(g.Title))*10+2*margin)
	height := float64(len(l.rows))*rowHeight + titleSpace + margin
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n", width, height, width, height)
	fmt.Fprintf(out, "<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", style)
	fmt.Fprintf(out, "<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", margin, margin+6, escape(g.Title))
	l.edges(out)
	l.boxes(out, g)
	l.texts(out, g)
	out.WriteString("</svg>\n")
	return out.Flush()
}

func (l *layout) top(s int) float64 {
	return float64(l.slots[s].row)*rowHeight + titleSpace + margin/2
}

func (l *layout) bottom(s int) float64 {
	if l.slots[s].node < 0 {
		return l.top(s)
	}
	return l.top(s) + boxHeight
}

func (l *layout) edges(out *bufio.Writer) {
	for from := range l.slots {
		for _, to := range l.slots[from].down {
			a, b := l.slots[from], l.slots[to]
			y0, y1 := l.bottom(from), l.top(to)
			middle := (y0 + y1) / 2
			fmt.Fprintf(out, "<path class=\"edge\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"/>\n", a.x, y0, a.x, middle, b.x, middle, b.x, y1)
		}
	}
}

func (l *layout) boxes(out *bufio.Writer, g Graph) {
	for i, s := range l.slots {
		if s.node < 0 {
			continue
		}
		n := g.Nodes[s.node]
		y := l.top(i)
		fmt.Fprintf(out, "<g><rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"6\"/>", kindClass[n.Kind], s.x-s.width/2, y, s.width, boxHeight)
		if n.Detail == "" {
			fmt.Fprintf(out, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">%s</text></g>\n", s.x, y+23, escape(n.Label))
			continue
		}
		fmt.Fprintf(out, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">%s</text>", s.x, y+16, escape(n.Label))
		fmt.Fprintf(out, "<text class=\"detail\" x=\"%.1f\" y=\"%.1f\">%s</text></g>\n", s.x, y+31, escape(n.Detail))
	}
}

// texts writes each source's shape once, under its box.
func (l *layout) texts(out *bufio.Writer, g Graph) {
	written := map[int]bool{}
	for _, n := range g.Nodes {
		for _, e := range n.Inputs {
			if e.Text == "" || written[e.From] {
				continue
			}
			written[e.From] = true
			fmt.Fprintf(out, "<text class=\"shape\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", l.slots[e.From].x, l.bottom(e.From)+13, escape(e.Text))
		}
	}
}

func escape(text string) string {
	var b strings.Builder
	// A strings.Builder never fails.
	_ = xml.EscapeText(&b, []byte(safetext.Escape(text)))
	return b.String()
}
