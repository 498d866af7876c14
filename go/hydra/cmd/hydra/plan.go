// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"

	"github.com/spf13/cobra"
)

func (a *app) planCommand() *cobra.Command {
	var o compileOptions
	cmd := &cobra.Command{
		Use:   "plan MODEL.nef",
		Short: "Show where each part of a model runs, and why",
		Long: `Compiles a model for this machine and shows the plan: one line for each region with its device,
the reason, its work and its kernel, then the memory of a run.`,
		Args: exactly("a model file"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.plan(args[0], o) },
	}
	o.register(cmd.Flags())
	return cmd
}

func (a *app) plan(path string, o compileOptions) error {
	g, err := a.load(path)
	if err != nil {
		return err
	}
	defer g.Close()
	program, _, err := a.compile(g, o)
	if err != nil {
		return err
	}
	defer program.Close()
	plan := program.Plan()
	if a.json {
		a.printJSON(json.RawMessage(plan.JSON()))
		return nil
	}
	a.printf("%v\n", plan)
	return nil
}
