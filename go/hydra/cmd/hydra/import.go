// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	nef "github.com/Hexa08/NEF"
	"github.com/spf13/cobra"

	"github.com/Hexa08/NEF/go/hydra/onnx"
	"github.com/Hexa08/NEF/go/hydra/tensorfile"
	"github.com/Hexa08/NEF/internal/safetext"
)

type importOptions struct {
	output   string
	dims     []string
	fix      []string
	dataRoot string
	loose    bool
}

func (a *app) importCommand() *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import MODEL.onnx -o MODEL.nef",
		Short: "Make a NEF model of an ONNX file",
		Long: `Makes a .nef file of an ONNX model, as PyTorch, Keras, scikit-learn and model zoos export them.

Everything that cannot be imported is reported at once, before any work is done. Weights are
streamed from file to file, so that a model may be larger than memory. The output is written
whole or not at all.

Sizes that the file leaves open stay open: one program then serves all of them. Naming bounds
lets the planner do better, and fixing a size lets it know everything. A dim is called by its
name in the file, or by its input and place:

  --dim batch=1..8        from 1 to 8
  --dim sequence=128      exactly 128
  --dim images.0=1        dim 0 of the input "images"

An input that never changes can be given its value once and for all; what hangs on it alone is
then computed when compiling. The value is written as for hydra run:

  --fix sr=16000          JSON, such as a number or [[1, 2]]
  --fix mask=@mask.npy    a file

Weights that lie in files beside the model must be plain files in its folder. For a cache that is
made of symbolic links, name the folder that you trust with --data-root.`,
		Example: `  hydra import model.onnx -o model.nef
  hydra import det.onnx -o det.nef --dim x.0=1 --dim x.2=32..960 --dim x.3=32..960
  hydra import model.onnx -o model.nef --json`,
		Args: exactly("an ONNX file"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.importModel(args[0], o) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.output, "output", "o", "", "the .nef file to write")
	flags.StringArrayVar(&o.dims, "dim", nil, "fix or bound a size: NAME=N or NAME=MIN..MAX")
	flags.StringArrayVar(&o.fix, "fix", nil, "give an input its value: NAME=JSON or NAME=@FILE")
	flags.StringVar(&o.dataRoot, "data-root", "", "a trusted folder for weight files, symbolic links allowed")
	flags.BoolVar(&o.loose, "no-bundle", false, "keep large weights in a safetensors file beside the graph")
	return cmd
}

func (a *app) importModel(path string, o importOptions) error {
	if o.output == "" {
		return usagef("no output file: hydra import %s -o MODEL.nef", safetext.Shell(path))
	}
	if !strings.HasSuffix(o.output, ".nef") {
		return usagef("output file %q: models have the extension .nef", o.output)
	}
	info, err := a.importFile(path, o)
	if err != nil {
		return a.importError(path, err)
	}
	g, err := a.load(o.output)
	if err != nil {
		return err
	}
	defer g.Close()
	if a.json {
		a.printJSON(map[string]any{"model": o.output, "source": info, "inputs": g.inputs, "outputs": g.outputs})
		return nil
	}
	a.out.Printf("%s  %s, from %d ONNX nodes\n%s", o.output, g.summary(), info.Nodes, g.portLines())
	return nil
}

func (a *app) importFile(path string, o importOptions) (onnx.Info, error) {
	m, err := onnx.Open(path, onnx.OpenOptions{DataRoot: o.dataRoot})
	if err != nil {
		return onnx.Info{}, err
	}
	defer m.Close()
	options, err := graphOptions(m, o)
	if err != nil {
		return onnx.Info{}, err
	}
	info := m.Info()
	bar := startProgress(a.err, "importing "+filepath.Base(path), info.Nodes)
	defer bar.finish()
	options.Progress = func(done, total int) { bar.step() }
	g, err := m.Graph(options)
	if err != nil {
		return info, err
	}
	defer g.Close()
	return info, g.Save(o.output, nef.SaveOptions{Bundle: !o.loose})
}

// importError is the report of what is not supported, as data with --json.
func (a *app) importError(path string, err error) error {
	var list *onnx.UnsupportedError
	if !errors.As(err, &list) {
		if strings.HasPrefix(err.Error(), path) {
			return err
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	if !a.json {
		return textError{err, safetext.Sprintf("%s: %s", path, safetext.Lines(list.Error()))}
	}
	a.printJSON(map[string]any{"error": map[string]any{
		"code": nef.CodeUnsupported.String(), "message": err.Error(), "unsupported": list.Ops,
	}})
	return errShown
}

func graphOptions(m *onnx.Model, o importOptions) (onnx.Options, error) {
	out := onnx.Options{Dims: map[string]onnx.Bounds{}, Inputs: map[string]*nef.Value{}}
	for _, text := range o.dims {
		name, bounds, err := parseDim(text)
		if err != nil {
			return out, err
		}
		out.Dims[name] = bounds
	}
	names, types := m.InputNames()
	for _, text := range o.fix {
		name, value, ok := cutLast(text)
		if !ok {
			return out, usagef("--fix %q: want NAME=JSON or NAME=@FILE", text)
		}
		for i := range names {
			if names[i] != name {
				continue
			}
			v, err := fixedValue(types[i], m.InputRank(name), value)
			if err != nil {
				return out, usagef("--fix %q: %w", text, err)
			}
			out.Inputs[name] = v
		}
		if out.Inputs[name] == nil {
			return out, usagef("--fix %q: there is no input %q; the inputs are %s", text, name, strings.Join(names, ", "))
		}
	}
	return out, nil
}

// cutLast cuts at the last "=": names may hold one.
func cutLast(text string) (name, value string, ok bool) {
	at := strings.LastIndexByte(text, '=')
	if at < 1 {
		return "", "", false
	}
	return text[:at], text[at+1:], true
}

func parseDim(text string) (string, onnx.Bounds, error) {
	bad := usagef("--dim %q: want NAME=N or NAME=MIN..MAX", text)
	name, value, ok := cutLast(text)
	if !ok {
		return "", onnx.Bounds{}, bad
	}
	low, high, ranged := strings.Cut(value, "..")
	if !ranged {
		high = low
	}
	lo, err1 := strconv.Atoi(low)
	hi, err2 := strconv.Atoi(high)
	if err1 != nil || err2 != nil || lo < 0 || hi < lo {
		return "", onnx.Bounds{}, bad
	}
	return name, onnx.Bounds{Min: lo, Max: hi}, nil
}

// fixedValue is a tensor written as for hydra run; a single number fits an input of any rank.
func fixedValue(dtype nef.DType, rank int, text string) (*nef.Value, error) {
	ref, err := tensorfile.ParseReference(text)
	if err != nil {
		return nil, err
	}
	array, err := tensorfile.Read(ref, dtype.String())
	if err != nil {
		return nil, err
	}
	shape := array.Shape
	if len(shape) == 0 {
		shape = slices.Repeat([]int{1}, rank)
	}
	v := nef.FromBytes(dtype, shape, array.Data)
	return v, v.Err()
}
