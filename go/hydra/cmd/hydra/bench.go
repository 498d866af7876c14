// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
)

type benchOptions struct {
	runOptions
	warmup int
	time   time.Duration
}

func (a *app) benchCommand() *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench MODEL.nef",
		Short: "Time a model on made-up or given inputs",
		Long: `Times a model: warms up, then runs until --time has passed and at least --runs times.
Inputs that are not given are made up, as by hydra run --random.`,
		Example: `  hydra bench minilm.nef --dim batch=8 --dim sequence=128`,
		Args:    exactly("a model file"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.bench(cmd.Context(), args[0], o) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.inputs, "input", "i", nil, "an input, as NAME=VALUE")
	flags.StringArrayVar(&o.dims, "dim", nil, "size of a symbolic dim, as NAME=N")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of made-up inputs")
	flags.IntVar(&o.runs, "runs", 10, "fewest timed runs")
	flags.IntVar(&o.warmup, "warmup", 3, "runs before the timed ones")
	flags.DurationVar(&o.time, "time", 2*time.Second, "shortest time to measure for")
	o.compile.register(flags)
	return cmd
}

// benchRow is one row as every benchmark of NEF prints it.
type benchRow struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Note  string  `json:"note"`
}

func (a *app) bench(ctx context.Context, path string, o benchOptions) error {
	if o.runs < 1 || o.warmup < 0 || o.time < 0 {
		return usagef("--runs must be at least 1, --warmup and --time at least 0")
	}
	o.random = true
	g, err := a.load(path)
	if err != nil {
		return err
	}
	defer g.Close()
	values, err := g.readInputs(o.runOptions)
	if err != nil {
		return err
	}
	defer values.Close()
	shapes := describeShapes(g, values)
	program, compiled, err := a.compile(ctx, g, o.compile)
	if err != nil {
		return err
	}
	defer program.Close()
	if o.warmup > 0 {
		outputs, _, err := a.runTimes(ctx, program, values, o.warmup)
		if err != nil {
			return err
		}
		outputs.Close()
	}
	var times []time.Duration
	bar := startProgress(a.err, "timing", -1)
	defer bar.finish()
	for begin := time.Now(); len(times) < o.runs || time.Since(begin) < o.time; {
		start := time.Now()
		outputs, err := program.Run(ctx, values)
		if err != nil {
			return err
		}
		times = append(times, time.Since(start))
		outputs.Close()
	}
	a.printBench(filepath.Base(path), g, compiled, times, shapes)
	return nil
}

func (a *app) printBench(name string, g *model, compiled time.Duration, times []time.Duration, shapes string) {
	slices.Sort(times)
	at := func(q float64) time.Duration { return times[int(q*float64(len(times)-1))] }
	if a.json {
		rows := []benchRow{}
		for _, r := range []struct {
			name  string
			value time.Duration
		}{{"median", at(0.5)}, {"p10", at(0.1)}, {"p90", at(0.9)}, {"min", times[0]}, {"compile", compiled}} {
			rows = append(rows, benchRow{name + "/" + r.name, r.value.Seconds() * 1e3, "ms", shapes})
		}
		a.printJSON(rows)
		return
	}
	a.out.Printf("%s  %s, compiled in %s\n%s\n", name, g.summary(), millis(compiled), shapes)
	a.out.Printf("%s: median %s, 10th to 90th percentile %s to %s, best %s\n", plural(len(times), "run"), millis(at(0.5)), millis(at(0.1)), millis(at(0.9)), millis(times[0]))
}
