// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"

	"github.com/spf13/cobra"

	"github.com/Hexa08/NEF/go/hydra/graphview"
	"github.com/Hexa08/NEF/go/hydra/internal/wholefile"
	"github.com/Hexa08/NEF/internal/safetext"
)

type inspectOptions struct {
	nodes bool
	svg   string
}

func (a *app) inspectCommand() *cobra.Command {
	var o inspectOptions
	cmd := &cobra.Command{
		Use:   "inspect MODEL.nef",
		Short: "Show what a model contains",
		Long:  `Shows inputs, outputs, parameters and ops of a model as they stand in the file, before any optimisation.`,
		Example: `  hydra inspect minilm.nef --nodes
  hydra inspect minilm.nef --svg minilm.svg`,
		Args: exactly("a model file"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.inspect(args[0], o) },
	}
	cmd.Flags().BoolVar(&o.nodes, "nodes", false, "list every node")
	cmd.Flags().StringVar(&o.svg, "svg", "", "draw the graph into this file")
	return cmd
}

func (a *app) inspect(path string, o inspectOptions) error {
	g, err := a.load(path)
	if err != nil {
		return err
	}
	defer g.Close()
	if g.about == nil {
		if g.about, err = describe(g.Graph); err != nil {
			return err
		}
	}
	if o.svg != "" {
		if err := draw(g, o.svg); err != nil {
			return err
		}
	}
	if a.json {
		a.printJSON(g.about.raw)
		return nil
	}
	a.out.Printf("%s  %s\n%s", path, g.about.summary(), g.portLines())
	if o.nodes {
		a.out.Printf("\n%s", safetext.Table(g.about.nodeRows()))
	} else if rows := g.about.opCounts(); len(rows) > 0 {
		a.out.Printf("\n%s", safetext.Table(rows))
	}
	if o.svg != "" {
		a.out.Printf("\ndrawn into %s\n", o.svg)
	}
	return nil
}

func draw(g *model, path string) error {
	var picture bytes.Buffer
	if err := graphview.Draw(&picture, g.about.picture(g.path)); err != nil {
		return err
	}
	return wholefile.Write(path, picture.Bytes())
}
