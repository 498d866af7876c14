// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	nef "github.com/Hexa08/NEF"
	"github.com/spf13/cobra"

	"github.com/Hexa08/NEF/go/hydra/bert"
	"github.com/Hexa08/NEF/internal/safetext"
)

type buildOptions struct {
	bert.Options
	output string
	loose  bool
}

func (a *app) buildCommand() *cobra.Command {
	var o buildOptions
	cmd := &cobra.Command{
		Use:   "build DIR -o MODEL.nef",
		Short: "Build a model from a Hugging Face folder",
		Long: `Builds a .nef file from a Hugging Face folder with config.json and model.safetensors.
BERT-type encoders are supported, also with the sentence-transformers files beside them.`,
		Example: `  hydra build ./all-MiniLM-L6-v2 -o minilm.nef`,
		Args:    exactly("a folder"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.build(args[0], o) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.output, "output", "o", "", "the .nef file to write")
	flags.IntVar(&o.MaxBatch, "max-batch", 64, "most sequences of one run")
	flags.IntVar(&o.MaxSequence, "max-sequence", 0, "most tokens of a sequence (default: the model's own limit)")
	flags.BoolVar(&o.TokenTypes, "token-types", false, "add the input token_type_ids")
	flags.BoolVar(&o.loose, "no-bundle", false, "keep large weights in a safetensors file beside the graph")
	return cmd
}

func (a *app) build(dir string, o buildOptions) error {
	if o.output == "" {
		return usagef("no output file: hydra build %s -o MODEL.nef", safetext.Shell(dir))
	}
	if !strings.HasSuffix(o.output, ".nef") {
		return usagef("output file %q: models have the extension .nef", o.output)
	}
	bar := startProgress(a.err, "building "+filepath.Base(o.output), -1)
	err := buildFile(dir, o)
	bar.finish()
	if err != nil {
		return err
	}
	g, err := a.load(o.output)
	if err != nil {
		return err
	}
	defer g.Close()
	if a.json {
		a.printJSON(map[string]any{"model": o.output, "inputs": g.inputs, "outputs": g.outputs})
		return nil
	}
	a.out.Printf("%s  %s\n%s", o.output, g.summary(), g.portLines())
	return nil
}

func buildFile(dir string, o buildOptions) error {
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is a file: expected a folder with config.json and model.safetensors", dir)
	}
	g, err := bert.Build(dir, o.Options)
	if err != nil {
		return err
	}
	defer g.Close()
	return g.Save(o.output, nef.SaveOptions{Bundle: !o.loose})
}
