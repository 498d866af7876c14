// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/Hexa08/NEF/go/hydra/internal/wholefile"
	"github.com/Hexa08/NEF/internal/safetext"
)

type traceOptions struct {
	runOptions
	output string
}

func (a *app) traceCommand() *cobra.Command {
	o := traceOptions{runOptions: runOptions{random: true}}
	cmd := &cobra.Command{
		Use:   "trace MODEL.nef -o TRACE.json",
		Short: "Record the timeline of a run",
		Long: `Runs a model twice and writes the timeline of the second run, in the JSON that Perfetto and Chrome open.
Inputs that are not given are made up, as by hydra run --random.`,
		Args: exactly("a model file"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.trace(cmd.Context(), args[0], o) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.output, "output", "o", "", "the file to write")
	flags.StringArrayVarP(&o.inputs, "input", "i", nil, "an input, as NAME=VALUE")
	flags.StringArrayVar(&o.dims, "dim", nil, "size of a symbolic dim, as NAME=N")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of made-up inputs")
	o.compile.register(flags)
	return cmd
}

func (a *app) trace(ctx context.Context, path string, o traceOptions) error {
	if o.output == "" {
		return usagef("no output file: hydra trace %s -o TRACE.json", safetext.Shell(path))
	}
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
	program, _, err := a.compile(ctx, g, o.compile)
	if err != nil {
		return err
	}
	defer program.Close()
	warm, _, err := a.runTimes(ctx, program, values, 1)
	if err != nil {
		return err
	}
	warm.Close()
	outputs, timeline, err := program.RunTrace(ctx, values)
	if err != nil {
		return err
	}
	outputs.Close()
	if err := wholefile.Write(o.output, timeline); err != nil {
		return err
	}
	if a.json {
		a.printJSON(map[string]string{"trace": o.output})
		return nil
	}
	a.out.Printf("%s  the timeline of a run with %s\n", o.output, describeShapes(g, values))
	return nil
}
