// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"strings"

	nef "github.com/Hexa08/NEF"
	"github.com/spf13/cobra"

	"github.com/Hexa08/NEF/internal/safetext"
)

type planOptions struct {
	runOptions
	noRun bool
}

func (a *app) planCommand() *cobra.Command {
	o := planOptions{runOptions: runOptions{random: true}}
	cmd := &cobra.Command{
		Use:   "plan MODEL.nef",
		Short: "Show where each part of a model runs, and why",
		Long: `Compiles a model for this machine and shows the plan: one line for each region with its device,
the reason, its work at the largest sizes of the symbolic dims, its kernel, then the memory of a run.

Memory depends on the actual sizes: the model is run once on made-up inputs, with the
sizes of --dim or small ones. --no-run leaves that out.`,
		Args: exactly("a model file"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.plan(cmd.Context(), args[0], o) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.dims, "dim", nil, "size of a symbolic dim, as NAME=N")
	flags.BoolVar(&o.noRun, "no-run", false, "plan only, without the memory of a run")
	o.compile.register(flags)
	return cmd
}

func (a *app) plan(ctx context.Context, path string, o planOptions) error {
	g, err := a.load(path)
	if err != nil {
		return err
	}
	defer g.Close()
	program, _, err := a.compile(ctx, g, o.compile)
	if err != nil {
		return err
	}
	defer program.Close()
	note := "   (memory is planned when a run begins)"
	if !o.noRun {
		if note, err = a.planMemory(ctx, g, program, o); err != nil {
			return err
		}
	}
	plan := program.Plan()
	if a.json {
		a.printJSON(json.RawMessage(plan.JSON()))
		return nil
	}
	a.out.Printf("%s%s\n", safetext.Lines(plan.String()), note)
	return nil
}

// planMemory runs the program once, which settles the memory plan for these sizes, and tells which
// they are. That made-up inputs may not suit a model is no fault of the plan.
func (a *app) planMemory(ctx context.Context, g *model, program *nef.Program, o planOptions) (string, error) {
	values, err := g.readInputs(o.runOptions)
	if err != nil {
		return "", err
	}
	defer values.Close()
	outputs, err := program.Run(ctx, values)
	if ctx.Err() != nil {
		return "", err
	}
	if err != nil {
		return "   (memory unknown, no made-up input would do: " + strings.TrimPrefix(err.Error(), "nef: ") + ")", nil
	}
	outputs.Close()
	return "   (for " + describeShapes(g, values) + ")", nil
}
