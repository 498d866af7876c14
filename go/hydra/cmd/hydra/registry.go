// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/Hexa08/NEF/go/hydra/registry"
	"github.com/Hexa08/NEF/internal/safetext"
)

const credentialsHelp = `Credentials are those of the docker configuration, as "docker login" leaves them.`

func (a *app) pushCommand() *cobra.Command {
	var o registry.Options
	cmd := &cobra.Command{
		Use:   "push MODEL.nef HOST/NAME:TAG",
		Short: "Push a model to an OCI registry",
		Long: `Pushes a model to an OCI registry: graph, weights and, with --kernels, compiled kernels as
separate layers. Layers that the registry has are not sent again. The same model gives the same
digest. ` + credentialsHelp,
		Example: `  hydra push minilm.nef registry.example/models/minilm:v1`,
		Args:    exactly("a model file", "a reference"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.push(cmd.Context(), args[0], args[1], o)
		},
	}
	cmd.Flags().BoolVar(&o.PlainHTTP, "plain-http", false, "no TLS")
	cmd.Flags().StringVar(&o.KernelCache, "kernels", "", "take the entries of the kernel cache in this folder along")
	return cmd
}

func (a *app) pullCommand() *cobra.Command {
	var o registry.Options
	var output string
	cmd := &cobra.Command{
		Use:   "pull HOST/NAME:TAG -o MODEL.nef",
		Short: "Pull a model from an OCI registry",
		Long: `Pulls a model from an OCI registry, by tag or by digest (NAME@sha256:...). Every layer is
compared with its digest, and the graph is validated, before the file stands at its place.
` + credentialsHelp,
		Example: `  hydra pull registry.example/models/minilm:v1 -o minilm.nef`,
		Args:    exactly("a reference"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.pull(cmd.Context(), args[0], output, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&output, "output", "o", "", "the .nef file to write")
	flags.BoolVar(&o.PlainHTTP, "plain-http", false, "no TLS")
	flags.BoolVar(&o.Loose, "no-bundle", false, "keep large weights in a safetensors file beside the graph")
	flags.StringVar(&o.KernelCache, "kernels", "", "add the artifact's kernels to the kernel cache in this folder; kernels are code")
	flags.Int64Var(&o.MaxBytes, "max-bytes", 0, "most bytes of all layers together (default: 64 GiB)")
	return cmd
}

func (a *app) push(ctx context.Context, model, reference string, o registry.Options) error {
	bar := startProgress(a.err, "pushing "+reference, -1)
	artifact, err := registry.Push(ctx, model, reference, o)
	bar.finish()
	if err != nil {
		return err
	}
	a.printArtifact(artifact, model+"  ->  "+artifact.Reference)
	return nil
}

func (a *app) pull(ctx context.Context, reference, output string, o registry.Options) error {
	if output == "" {
		return usagef("no output file: hydra pull %s -o MODEL.nef", safetext.Shell(reference))
	}
	if !strings.HasSuffix(output, ".nef") {
		return usagef("output file %q: models have the extension .nef", output)
	}
	bar := startProgress(a.err, "pulling "+reference, -1)
	artifact, err := registry.Pull(ctx, reference, output, o)
	bar.finish()
	if err != nil {
		return err
	}
	a.printArtifact(artifact, artifact.Reference+"  ->  "+output)
	return nil
}

func (a *app) printArtifact(artifact *registry.Artifact, title string) {
	if a.json {
		a.printJSON(artifact)
		return
	}
	rows := [][]string{}
	for _, l := range artifact.Layers {
		note := ""
		if l.Kept {
			note = "there already"
		}
		rows = append(rows, []string{" " + l.Name, size(float64(l.Size)), l.Digest, note})
	}
	a.out.Printf("%s\n%s digest %s\n", title, safetext.Table(rows), artifact.Digest)
}
