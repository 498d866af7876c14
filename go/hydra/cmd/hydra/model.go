// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	nef "github.com/Hexa08/NEF"
	"github.com/spf13/pflag"

	"github.com/Hexa08/NEF/internal/safetext"
)

// model is a loaded graph with what the commands ask about it.
type model struct {
	*nef.Graph
	path    string
	about   *description // nil for graphs of more than maxDescribed nodes
	inputs  []port
	outputs []port
}

// maxDescribed is up to how many nodes a graph is described before it is asked for: the text of a
// million nodes takes longer than loading them.
const maxDescribed = 20000

// port is an input or output.
type port struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Dims  []dim  `json:"dims"`
}

// dim is a number, a symbol, or an expression of symbols.
type dim struct {
	Text string `json:"dim"`
	Size int    `json:"size"` // -1 when symbolic
	Min  int    `json:"min"`
	Max  int    `json:"max,omitempty"` // absent: no bound
}

func (a *app) load(path string) (*model, error) {
	bar := startProgress(a.err, "loading "+filepath.Base(path), -1)
	defer bar.finish()
	g, err := nef.Load(path)
	if err != nil {
		return nil, err
	}
	m := &model{Graph: g, path: path, inputs: ports(g.Inputs()), outputs: ports(g.Outputs())}
	if g.NodeCount() > maxDescribed {
		return m, nil
	}
	if m.about, err = describe(g); err != nil {
		g.Close()
		return nil, err
	}
	return m, nil
}

func ports(infos []nef.TensorInfo) []port {
	out := make([]port, 0, len(infos))
	for _, info := range infos {
		p := port{Name: info.Name, DType: info.DType.String(), Dims: []dim{}}
		for i, text := range info.Dims {
			d := dim{Text: text, Size: info.Shape[i], Min: info.Min[i], Max: info.Max[i]}
			if d.Max == math.MaxInt {
				d.Max = 0
			}
			p.Dims = append(p.Dims, d)
		}
		out = append(out, p)
	}
	return out
}

// isSymbol tells a plain name from an expression such as "2*sequence".
func (d dim) isSymbol() bool {
	if d.Size >= 0 || !strings.HasPrefix(d.Text, "`") {
		return d.Size < 0 && !strings.ContainsAny(d.Text, "+-*/() ?")
	}
	// A name that is no plain word stands in backquotes, its own ones doubled.
	rest := strings.ReplaceAll(d.Text[1:], "``", "")
	return strings.IndexByte(rest, '`') == len(rest)-1
}

// name is that of a symbol, as it stands in the model.
func (d dim) name() string {
	if !strings.HasPrefix(d.Text, "`") {
		return d.Text
	}
	return strings.ReplaceAll(d.Text[1:len(d.Text)-1], "``", "`")
}

// smallSize is a size for made-up inputs: 1 for a batch, else a few, within the bounds.
func (d dim) smallSize() int {
	n := 16
	if d.Text == "batch" {
		n = 1
	}
	if d.Max > 0 {
		n = min(n, d.Max)
	}
	return max(n, d.Min)
}

func (p port) shape() string {
	texts := make([]string, len(p.Dims))
	for i, d := range p.Dims {
		texts[i] = d.Text
	}
	return "[" + strings.Join(texts, " ") + "]"
}

// bounds is ", batch 1 to 64, sequence 1 to 512" for the symbols that have an upper bound.
func (p port) bounds() string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, d := range p.Dims {
		if !d.isSymbol() || seen[d.Text] || d.Max == 0 {
			continue
		}
		seen[d.Text] = true
		fmt.Fprintf(&b, ", %s %d to %d", d.Text, d.Min, d.Max)
	}
	return b.String()
}

func find(ports []port, name string) *port {
	for i := range ports {
		if ports[i].Name == name {
			return &ports[i]
		}
	}
	return nil
}

// names lists names, as "a, b and c".
func names(ports []port) string {
	list := make([]string, len(ports))
	for i, p := range ports {
		list[i] = p.Name
	}
	if len(list) == 0 {
		return "none"
	}
	last := len(list) - 1
	if last == 0 {
		return list[0]
	}
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

func (g *model) summary() string {
	if g.about == nil {
		return plural(g.NodeCount(), "node")
	}
	return g.about.summary()
}

// portLines describes inputs and outputs, one a line.
func (g *model) portLines() safetext.Text {
	var rows [][]string
	for _, side := range []struct {
		what  string
		ports []port
	}{{"input", g.inputs}, {"output", g.outputs}} {
		for _, p := range side.ports {
			rows = append(rows, []string{" " + side.what, p.Name, p.DType, p.shape() + p.bounds()})
		}
	}
	return safetext.Table(rows)
}

// parseDims reads --dim NAME=N flags.
func (g *model) parseDims(flags []string) (map[string]int, error) {
	sizes := map[string]int{}
	for _, flag := range flags {
		name, text, ok := cutLast(flag)
		var n int
		if _, err := fmt.Sscanf(text, "%d", &n); !ok || err != nil || n < 0 || fmt.Sprint(n) != text {
			return nil, usagef("--dim %q: expected NAME=N", flag)
		}
		d := g.symbol(name)
		if d == nil {
			return nil, usagef("--dim %s: no input of %s has that symbolic dim", flag, g.path)
		}
		if n < d.Min || d.Max > 0 && n > d.Max {
			return nil, usagef("--dim %s: %s is %d at least%s", flag, name, d.Min, upTo(d.Max))
		}
		sizes[d.Text] = n
	}
	return sizes, nil
}

func upTo(limit int) string {
	if limit == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d at most", limit)
}

func (g *model) symbol(name string) *dim {
	for _, p := range g.inputs {
		for i := range p.Dims {
			if p.Dims[i].isSymbol() && p.Dims[i].name() == name {
				return &p.Dims[i]
			}
		}
	}
	return nil
}

// describeShapes is "input_ids int64 [1 16], attention_mask int64 [1 16]".
func describeShapes(g *model, values nef.Values) string {
	var texts []string
	for _, p := range g.inputs {
		texts = append(texts, fmt.Sprintf("%s %s %v", p.Name, p.DType, values[p.Name].Shape()))
	}
	return strings.Join(texts, ", ")
}

// compileOptions are the flags of all commands that compile.
type compileOptions struct {
	fast    bool
	threads int
	budget  int64
	strict  bool
	device  string
}

func (o *compileOptions) register(flags *pflag.FlagSet) {
	flags.BoolVar(&o.fast, "fast", false, "allow bfloat16 products with float32 sums where the device has them")
	flags.IntVar(&o.threads, "threads", 0, "most threads of a run (0: all)")
	flags.Int64Var(&o.budget, "memory-budget", 0, "most bytes of working memory of a run (0: no limit)")
	flags.BoolVar(&o.strict, "strict", false, "fail instead of falling back")
	flags.StringVar(&o.device, "device", "", "put everything there (default: the planner decides)")
}

func (o compileOptions) options() nef.Options {
	options := nef.Options{Threads: o.threads, MemoryBudget: o.budget, Strict: o.strict, Device: o.device}
	if o.fast {
		options.Precision = nef.Fast
	}
	return options
}

func (a *app) compile(ctx context.Context, g *model, o compileOptions) (*nef.Program, time.Duration, error) {
	bar := startProgress(a.err, "compiling "+filepath.Base(g.path), -1)
	defer bar.finish()
	begin := time.Now()
	program, err := g.CompileContext(ctx, o.options())
	return program, time.Since(begin), err
}

// onHost is where the plan puts what needs no kernel, such as shape arithmetic.
const onHost = "host"

// planDevices are the devices that a program uses, in order of first use, with what they are.
func planDevices(program *nef.Program) []string {
	about := map[string]string{}
	if devices, err := nef.Devices(); err == nil {
		for _, d := range devices {
			about[d.Name] = d.Description
		}
	}
	var used []string
	for _, region := range program.Plan().Regions {
		text := region.Device
		if about[text] != "" {
			text += " (" + about[text] + ")"
		}
		if region.Device != onHost && !slices.Contains(used, text) {
			used = append(used, text)
		}
	}
	return used
}
