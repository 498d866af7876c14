// SPDX-License-Identifier: Apache-2.0

// Onnxcheck imports the cases of a folder as ONNX publishes them, one folder each with model.onnx
// and test_data_set_N, runs them and compares the outputs. It prints what did not pass, with the
// reason, and the figure last.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/onnx"
)

func main() {
	device := flag.String("device", "cpu", "where to run: cpu or reference")
	only := flag.String("only", "", "regular expression of the cases to look at")
	least := flag.Float64("least", 1, "the least share of applicable cases that must pass")
	verbose := flag.Bool("v", false, "list the cases that do not apply too")
	flag.Parse()
	filter, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	t := tally{device: *device, filter: filter, verbose: *verbose, skipped: map[string]int{}}
	for _, dir := range flag.Args() {
		if err := t.folder(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if !t.report(*least) {
		os.Exit(1)
	}
}

type tally struct {
	device  string
	filter  *regexp.Regexp
	verbose bool

	passed, failed, total int
	baked                 int // passed with inputs given when importing
	skipped               map[string]int
}

func (t *tally) folder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(path, "model.onnx")); err != nil || !t.filter.MatchString(e.Name()) {
			continue
		}
		t.total++
		if reason := notApplicable(e.Name(), path); reason != "" {
			t.skipped[reason]++
			if t.verbose {
				fmt.Printf("  skip %s: %s\n", e.Name(), reason)
			}
			continue
		}
		baked, err := runCase(path, t.device)
		switch {
		case err != nil:
			t.failed++
			fmt.Printf("  FAIL %s: %v\n", e.Name(), oneLine(err))
		case baked:
			t.baked++
			t.passed++
		default:
			t.passed++
		}
	}
	return nil
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

func (t *tally) report(least float64) bool {
	reasons := make([]string, 0, len(t.skipped))
	for reason := range t.skipped {
		reasons = append(reasons, reason)
	}
	sort.Strings(reasons)
	for _, reason := range reasons {
		fmt.Printf("  not applicable, %d: %s\n", t.skipped[reason], reason)
	}
	fmt.Printf("%d cases, device %s; %d of the passed ones with inputs that set sizes given at import\n", t.total, t.device, t.baked)
	applicable := t.passed + t.failed
	fmt.Printf("passed/applicable %d/%d\n", t.passed, applicable)
	return applicable > 0 && float64(t.passed) >= least*float64(applicable)
}

// otherRules are published results that follow another rule than docs/numerics.md.
var otherRules = map[string]string{
	"test_cast_FLOAT_to_BFLOAT16":              "bfloat16 truncated instead of rounded",
	"test_castlike_FLOAT_to_BFLOAT16":          "bfloat16 truncated instead of rounded",
	"test_castlike_FLOAT_to_BFLOAT16_expanded": "bfloat16 truncated instead of rounded",
	"test_castlike_BFLOAT16_to_FLOAT":          "the published input has another shape than the model says",
	"test_castlike_BFLOAT16_to_FLOAT_expanded": "the published input has another shape than the model says",
}

func notApplicable(name, dir string) string {
	if reason := otherRules[name]; reason != "" {
		return reason
	}
	return onnx.NotApplicable(filepath.Join(dir, "model.onnx"))
}

func runCase(dir, device string) (baked bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	m, err := onnx.Open(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return false, err
	}
	defer m.Close()
	sets, err := filepath.Glob(filepath.Join(dir, "test_data_set_*"))
	if err != nil || len(sets) == 0 {
		return false, errors.Join(err, errors.New("no test data"))
	}
	slices.Sort(sets)
	for _, set := range sets {
		b, err := runSet(m, set, device)
		if err != nil {
			return baked, err
		}
		baked = baked || b
	}
	return baked, nil
}

func runSet(m *onnx.Model, set, device string) (bool, error) {
	inNames, inTypes := m.InputNames()
	outNames, outTypes := m.OutputNames()
	limits, err := readLimits(filepath.Dir(set))
	if err != nil {
		return false, err
	}
	inputs, err := readSet(set, "input_", inNames, inTypes)
	if err != nil {
		return false, err
	}
	want, err := readSet(set, "output_", outNames, outTypes)
	if err != nil {
		return false, err
	}
	got, err := run(m, inputs, nil, device)
	baked := false
	if err != nil {
		// Sizes that an input sets must be known when importing: give those inputs then.
		fixed := nef.Values{}
		for _, name := range m.SizeInputs() {
			if v := inputs[name]; v != nil {
				fixed[name] = v
			}
		}
		for name, v := range inputs {
			if len(fixed) == 0 && maySize(v) {
				fixed[name] = v
			}
		}
		if len(fixed) == 0 {
			return false, err
		}
		baked = true
		if got, err = run(m, inputs, fixed, device); err != nil {
			// Or all that may set one.
			for name, v := range inputs {
				if maySize(v) {
					fixed[name] = v
				}
			}
			if got, err = run(m, inputs, fixed, device); err != nil {
				return baked, err
			}
		}
	}
	for _, name := range outNames {
		if err := limits.compare(got[name], want[name]); err != nil {
			return baked, fmt.Errorf("output %q: %w", name, err)
		}
	}
	return baked, nil
}

// maySize reports whether sizes may hang on a value: integers in a list, or any number.
func maySize(v *nef.Value) bool {
	return v.Rank() == 0 || v.Rank() == 1 && (v.DType() == nef.Int64 || v.DType() == nef.Int32)
}

func run(m *onnx.Model, inputs, fixed nef.Values, device string) (nef.Values, error) {
	g, err := m.Graph(onnx.Options{Inputs: fixed})
	if err != nil {
		return nil, err
	}
	defer g.Close()
	p, err := g.Compile(nef.Options{Device: device})
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	defer p.Close()
	given := nef.Values{}
	for _, in := range g.Inputs() {
		given[in.Name] = inputs[in.Name]
	}
	return p.Run(context.Background(), given)
}

func readSet(set, prefix string, names []string, types []nef.DType) (nef.Values, error) {
	out := nef.Values{}
	for i, name := range names {
		data, err := os.ReadFile(filepath.Join(set, fmt.Sprintf("%s%d.pb", prefix, i)))
		if errors.Is(err, os.ErrNotExist) {
			break // inputs with a default
		}
		if err != nil {
			return nil, err
		}
		v, err := onnx.ReadTensor(data)
		if err != nil {
			return nil, err
		}
		// NumPy has no bfloat16: the files hold its bits as uint16.
		if types[i] == nef.BFloat16 && v.DType() == nef.Uint16 {
			bits, err := v.Bytes()
			if err != nil {
				return nil, err
			}
			v = nef.FromBytes(nef.BFloat16, v.Shape(), bits)
		}
		out[name] = v
	}
	return out, nil
}
