// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	nef "github.com/Hexa08/NEF"
	"github.com/spf13/cobra"

	"github.com/Hexa08/NEF/go/hydra/tensorfile"
	"github.com/Hexa08/NEF/internal/safetext"
)

type runOptions struct {
	inputs  []string
	outputs []string
	random  bool
	seed    uint64
	dims    []string
	runs    int
	compile compileOptions
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run MODEL.nef [--input NAME=VALUE]... [--output NAME=@FILE]...",
		Short: "Run a model on inputs from files, the command line or at random",
		Long: `Runs a model once, or --runs times on the same inputs.

A VALUE is @file.npy, @file.json, @file.safetensors#name, or JSON such as [[1, 2], [3, 4]].
Outputs without a file are printed. Without any input the command prints the flags this model needs.

--random fills the inputs that are not given: floats uniform in [-1, 1), integers in [0, 10),
inputs named *mask with ones. Symbolic dims take the size of a given input, of --dim, or a small one.`,
		Example: `  hydra run minilm.nef --input input_ids=@ids.npy --input attention_mask=@mask.npy --output sentence_embedding=@emb.npy
  hydra run minilm.nef --random --dim batch=4 --dim sequence=128 --runs 20`,
		Args: exactly("a model file"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), args[0], o) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.inputs, "input", "i", nil, "an input, as NAME=VALUE")
	flags.StringArrayVarP(&o.outputs, "output", "o", nil, "where an output goes, as NAME=@FILE (.npy, .json, .safetensors)")
	flags.BoolVar(&o.random, "random", false, "fill the inputs that are not given")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of --random")
	flags.StringArrayVar(&o.dims, "dim", nil, "size of a symbolic dim for --random, as NAME=N")
	flags.IntVar(&o.runs, "runs", 1, "how many times to run")
	o.compile.register(flags)
	return cmd
}

func (a *app) run(ctx context.Context, path string, o runOptions) error {
	if o.runs < 1 {
		return usagef("--runs is %d, expected at least 1", o.runs)
	}
	g, err := a.load(path)
	if err != nil {
		return err
	}
	defer g.Close()
	if len(o.inputs) == 0 && !o.random && len(g.inputs) > 0 {
		a.printNeeds(g)
		return usageError{errShown}
	}
	targets, err := parseOutputs(g, o.outputs)
	if err != nil {
		return err
	}
	values, err := g.readInputs(o)
	if err != nil {
		return err
	}
	defer values.Close()
	program, compiled, err := a.compile(ctx, g, o.compile)
	if err != nil {
		return err
	}
	defer program.Close()
	outputs, times, err := a.runTimes(ctx, program, values, o.runs)
	if err != nil {
		return err
	}
	defer outputs.Close()
	return a.printRun(g, program, outputs, targets, compiled, times)
}

func (a *app) runTimes(ctx context.Context, program *nef.Program, values nef.Values, runs int) (nef.Values, []time.Duration, error) {
	bar := startProgress(a.err, "running", runs)
	defer bar.finish()
	times := make([]time.Duration, 0, min(runs, 1<<20))
	var outputs nef.Values
	for range runs {
		outputs.Close()
		begin := time.Now()
		var err error
		if outputs, err = program.Run(ctx, values); err != nil {
			return nil, nil, err
		}
		times = append(times, time.Since(begin))
		bar.step()
	}
	return outputs, times, nil
}

// parseOutputs maps output names to the files they go to.
func parseOutputs(g *model, flags []string) (map[string]tensorfile.Reference, error) {
	targets := map[string]tensorfile.Reference{}
	for _, flag := range flags {
		name, ref, err := splitFlag("--output", flag, g.outputs)
		if err != nil {
			return nil, err
		}
		if find(g.outputs, name) == nil {
			return nil, usagef("%s has no output %q, it has %s", g.path, name, names(g.outputs))
		}
		if _, twice := targets[name]; twice {
			return nil, usagef("--output %s is given twice", name)
		}
		if err := tensorfile.CheckTarget(ref); err != nil {
			return nil, usagef("--output %s: %w", name, err)
		}
		targets[name] = ref
	}
	return targets, nil
}

func splitFlag(flag, text string, ports []port) (string, tensorfile.Reference, error) {
	name, value, ok := cutName(text, ports)
	if !ok {
		return "", tensorfile.Reference{}, usagef("%s %q: expected NAME=VALUE", flag, text)
	}
	ref, err := tensorfile.ParseReference(value)
	if err != nil {
		return "", tensorfile.Reference{}, usagef("%s %s: %w", flag, name, err)
	}
	return name, ref, nil
}

// cutName splits NAME=VALUE. A name may hold '=' itself, so those of the model are tried first.
func cutName(text string, ports []port) (name, value string, ok bool) {
	for _, p := range ports {
		if rest, found := strings.CutPrefix(text, p.Name+"="); found && len(p.Name) >= len(name) {
			name, value, ok = p.Name, rest, true
		}
	}
	if ok {
		return name, value, true
	}
	name, value, ok = strings.Cut(text, "=")
	return name, value, ok && name != ""
}

// readInputs loads the given inputs and, with --random, makes up the rest.
func (g *model) readInputs(o runOptions) (nef.Values, error) {
	sizes, err := g.parseDims(o.dims)
	if err != nil {
		return nil, err
	}
	values := nef.Values{}
	for _, flag := range o.inputs {
		if err := g.readInput(values, sizes, flag); err != nil {
			values.Close()
			return nil, err
		}
	}
	var missing []port
	for _, p := range g.inputs {
		if values[p.Name] == nil {
			missing = append(missing, p)
		}
	}
	if len(missing) > 0 && !o.random {
		values.Close()
		err := usagef("%s misses %s", g.path, names(missing))
		return nil, textError{err, safetext.Sprintf("%s:\n  hydra run %s ...%s\n  or --random to make them up",
			err, safetext.Shell(g.path), inputFlags(missing))}
	}
	if err := randomValues(values, missing, sizes, o.seed); err != nil {
		values.Close()
		return nil, err
	}
	return values, nil
}

func (g *model) readInput(values nef.Values, sizes map[string]int, flag string) error {
	name, ref, err := splitFlag("--input", flag, g.inputs)
	if err != nil {
		return err
	}
	p := find(g.inputs, name)
	if p == nil {
		return usagef("%s has no input %q, it has %s", g.path, name, names(g.inputs))
	}
	if values[name] != nil {
		return usagef("--input %s is given twice", name)
	}
	array, err := tensorfile.Read(ref, p.DType)
	if err != nil {
		return fmt.Errorf("--input %s: %w", name, err)
	}
	if values[name], err = tensorfile.ToValue(array); err != nil {
		return fmt.Errorf("--input %s: %w", name, err)
	}
	// Later random inputs take their symbolic dims from this one.
	for i, d := range p.Dims {
		if _, set := sizes[d.Text]; d.Size < 0 && !set && i < len(array.Shape) {
			sizes[d.Text] = array.Shape[i]
		}
	}
	return nil
}

// printNeeds tells what to type for this model.
func (a *app) printNeeds(g *model) {
	if a.json {
		flags := []string{}
		for _, p := range g.inputs {
			flags = append(flags, "--input", inputFlag(p))
		}
		a.printJSON(map[string]any{"model": g.path, "inputs": g.inputs, "outputs": g.outputs, "flags": flags})
		return
	}
	a.out.Printf("%s needs %s:\n\n%s", g.path, plural(len(g.inputs), "input"), portTable(g.inputs))
	a.out.Printf("\nEach is given by a flag:\n\n  hydra run %s%s\n", safetext.Shell(g.path), inputFlags(g.inputs))
	a.out.Printf("\n  (.npy, .json, .safetensors#name, or JSON in place of @file)\n")
	a.out.Printf("\nor made-up values:\n\n  hydra run %s --random%s\n", safetext.Shell(g.path), dimFlags(g.inputs))
	a.out.Printf("\nIt gives (add --output NAME=@FILE to keep one):\n\n%s", portTable(g.outputs))
}

// portTable tells what inputs or outputs are.
func portTable(ports []port) safetext.Text {
	var rows [][]string
	for _, p := range ports {
		rows = append(rows, []string{"  " + p.Name, p.DType + " " + p.shape() + p.bounds()})
	}
	return safetext.Table(rows)
}

// inputFlags are flags with a file for each input, a line each, which continue a command. Nothing
// may stand behind the backslash that ends a line.
func inputFlags(ports []port) safetext.Text {
	var flags safetext.Text
	for _, p := range ports {
		flags = flags.Append(safetext.Sprintf(" \\\n    --input %s", safetext.Shell(inputFlag(p))))
	}
	return flags
}

func inputFlag(p port) string { return p.Name + "=@" + fileName(p.Name) + ".npy" }

// dimFlags names every symbol once, with a size that fits.
func dimFlags(ports []port) string {
	var b strings.Builder
	sizes := map[string]int{}
	for _, p := range ports {
		for _, d := range p.Dims {
			if _, known := sizes[d.Text]; d.Size < 0 && !known && d.isSymbol() {
				sizes[d.Text] = d.smallSize()
				b.WriteString(" --dim " + safetext.Shell(fmt.Sprintf("%s=%d", d.name(), sizes[d.Text])))
			}
		}
	}
	return b.String()
}

// fileName makes a name out of one that may hold anything.
func fileName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if strings.ContainsRune("/\\ \"'#", r) || !safetext.Printable(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	return strings.TrimLeft(clean, ".-")
}

type runReport struct {
	Model   string         `json:"model"`
	Devices []string       `json:"devices"`
	Compile float64        `json:"compile_ms"`
	Runs    int            `json:"runs"`
	Median  float64        `json:"median_ms"`
	Outputs []outputReport `json:"outputs"`
	Events  []nef.Event    `json:"events"`
}

type outputReport struct {
	Name  string          `json:"name"`
	DType string          `json:"dtype"`
	Shape []int           `json:"shape"`
	File  string          `json:"file,omitempty"`
	Data  json.RawMessage `json:"data,omitempty"` // flat, in row-major order
}

func (a *app) printRun(g *model, program *nef.Program, outputs nef.Values, targets map[string]tensorfile.Reference, compiled time.Duration, times []time.Duration) error {
	report := runReport{Model: g.path, Devices: planDevices(program), Compile: compiled.Seconds() * 1e3, Runs: len(times),
		Median: median(times).Seconds() * 1e3, Outputs: []outputReport{}, Events: program.Events()}
	var files tensorfile.Writer
	var texts safetext.Text
	for _, p := range g.outputs {
		value := outputs[p.Name]
		if value == nil {
			return errors.New("the run gave no output " + p.Name)
		}
		row := outputReport{Name: p.Name, DType: value.DType().String(), Shape: value.Shape()}
		target, keep := targets[p.Name]
		switch {
		case keep:
			array, err := tensorfile.FromValue(value)
			if err != nil {
				return err
			}
			if err := files.Add(target, p.Name, array); err != nil {
				return err
			}
			row.File = target.String()
			texts = texts.Append(safetext.Sprintf("%s  %s %v  -> %s\n", row.Name, row.DType, row.Shape, row.File))
		case a.json:
			array, err := tensorfile.FromValue(value)
			if err != nil {
				return err
			}
			if row.Data, err = tensorfile.DataJSON(array); err != nil {
				return err
			}
		default:
			texts = texts.Append(safetext.Sprintf("%s  %s\n", row.Name, safetext.Lines(value.String())))
		}
		if err := value.Err(); err != nil {
			return err
		}
		report.Outputs = append(report.Outputs, row)
	}
	if err := files.Close(); err != nil {
		return err
	}
	if a.json {
		a.printLine(report)
		return nil
	}
	a.out.Printf("%s  %s, compiled in %s\n", g.path, g.summary(), millis(compiled))
	a.out.Printf("%s   %s, median %s\n", strings.Join(report.Devices, ", "), plural(len(times), "run"), millis(median(times)))
	a.out.Print(texts)
	for _, event := range report.Events {
		a.out.Printf("note: %v\n", event)
	}
	return nil
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}
