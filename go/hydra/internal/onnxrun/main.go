// SPDX-License-Identifier: Apache-2.0

// Onnxrun imports ONNX models and runs them on given inputs, for packaging/checks/onnx_models.py to
// judge. It is told what to do by one folder for each model:
//
//	job.json          {"model": path, "steps": n, "feedback": {output: input}, "fix": {...}, "dims": {...}}
//	in/NAME.npy       the inputs of all steps, stacked; of those fed back only the first
//	out/NAME.npy      written: the outputs of all steps, stacked
//	result.json       written: nodes, seconds, milliseconds, differences without each pass
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/npy"
	"github.com/Hexa08/NEF/go/hydra/onnx"
)

func main() {
	passes := flag.String("passes", "", "also compare with each of these passes left out, separated by commas")
	device := flag.String("device", "", "where to run")
	flag.Parse()
	failed := false
	for _, dir := range flag.Args() {
		if err := work(dir, *device, *passes); err != nil {
			fmt.Fprintf(os.Stderr, "onnxrun: %s: %v\n", filepath.Base(dir), err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

type job struct {
	Model    string                 `json:"model"`
	Steps    int                    `json:"steps"`
	Feedback map[string]string      `json:"feedback"`
	Fix      []string               `json:"fix"` // inputs that become constants
	Dims     map[string]onnx.Bounds `json:"dims"`
	dir      string
	inputs   map[string]npy.Array
	Names    map[string]string `json:"names"`
}

type result struct {
	ONNXNodes     int                `json:"onnx_nodes"`
	Nodes         int                `json:"nodes"`
	ImportSeconds float64            `json:"import_seconds"`
	Milliseconds  float64            `json:"milliseconds"`
	Events        int                `json:"events"`
	Passes        map[string]float64 `json:"passes,omitempty"` // greatest difference, relative to the largest element
}

func work(dir, device, passes string) error {
	j, err := readJob(dir)
	if err != nil {
		return err
	}
	var r result
	g, err := j.load(&r)
	if err != nil {
		return err
	}
	defer g.Close()
	outs, err := j.run(g, nef.Options{Device: device}, &r)
	if err != nil {
		return err
	}
	for name, a := range outs {
		var data bytes.Buffer
		if err := npy.Write(&data, a); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "out", j.file(name)+".npy"), data.Bytes(), 0o666); err != nil {
			return err
		}
	}
	if passes != "" {
		if err := j.comparePasses(g, device, strings.Split(passes, ","), outs, &r); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "result.json"), text, 0o666)
}

func readJob(dir string) (*job, error) {
	j := &job{dir: dir, inputs: map[string]npy.Array{}}
	text, err := os.ReadFile(filepath.Join(dir, "job.json"))
	if err != nil {
		return nil, err
	}
	return j, json.Unmarshal(text, j)
}

// file is the name of a tensor as a file.
func (j *job) file(name string) string {
	if file := j.Names[name]; file != "" {
		return file
	}
	return name
}

func (j *job) input(name string) (npy.Array, error) {
	if a, ok := j.inputs[name]; ok {
		return a, nil
	}
	data, err := os.ReadFile(filepath.Join(j.dir, "in", j.file(name)+".npy"))
	if err != nil {
		return npy.Array{}, err
	}
	a, err := npy.Decode(data)
	j.inputs[name] = a
	return a, err
}

// at is the input of one step.
func (j *job) at(name string, step int) (*nef.Value, error) {
	a, err := j.input(name)
	if err != nil {
		return nil, err
	}
	dtype, ok := nef.ParseDType(a.DType)
	if !ok || len(a.Shape) == 0 || a.Shape[0] <= step {
		return nil, fmt.Errorf("input %q has dtype %s and shape %v: no step %d", name, a.DType, a.Shape, step)
	}
	size := len(a.Data) / a.Shape[0]
	v := nef.FromBytes(dtype, a.Shape[1:], a.Data[step*size:(step+1)*size])
	return v, v.Err()
}

// load imports through a file and back: what is judged is the whole way of a model.
func (j *job) load(r *result) (*nef.Graph, error) {
	begin := time.Now()
	m, err := onnx.Open(j.Model)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	r.ONNXNodes = m.Info().Nodes
	o := onnx.Options{Dims: j.Dims, Inputs: map[string]*nef.Value{}}
	for _, name := range j.Fix {
		if o.Inputs[name], err = j.at(name, 0); err != nil {
			return nil, err
		}
	}
	g, err := m.Graph(o)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	path := filepath.Join(j.dir, "model.nef")
	if err := g.Save(path, nef.SaveOptions{Bundle: true}); err != nil {
		return nil, err
	}
	loaded, err := nef.Load(path)
	if err != nil {
		return nil, err
	}
	r.ImportSeconds = time.Since(begin).Seconds()
	r.Nodes = loaded.NodeCount()
	return loaded, nil
}

// run runs all steps; r, if not nil, gets the median time of one.
func (j *job) run(g *nef.Graph, o nef.Options, r *result) (map[string]npy.Array, error) {
	p, err := g.Compile(o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	state := nef.Values{}
	outs := map[string]npy.Array{}
	var times []float64
	for step := range j.Steps {
		inputs := nef.Values{}
		for _, in := range g.Inputs() {
			if v := state[in.Name]; v != nil {
				inputs[in.Name] = v
			} else if inputs[in.Name], err = j.at(in.Name, step); err != nil {
				return nil, err
			}
		}
		begin := time.Now()
		got, err := p.Run(context.Background(), inputs)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", step, err)
		}
		times = append(times, float64(time.Since(begin).Microseconds())/1000)
		for name, v := range got {
			if input := j.Feedback[name]; input != "" {
				state[input] = v
			}
			if err := appendStep(outs, name, v, step); err != nil {
				return nil, err
			}
		}
	}
	for len(times) < 10 && r != nil {
		inputs := nef.Values{}
		for _, in := range g.Inputs() {
			if inputs[in.Name], err = j.at(in.Name, 0); err != nil {
				return nil, err
			}
		}
		begin := time.Now()
		if _, err := p.Run(context.Background(), inputs); err != nil {
			return nil, err
		}
		times = append(times, float64(time.Since(begin).Microseconds())/1000)
	}
	if r != nil {
		slices.Sort(times)
		r.Milliseconds = times[len(times)/2]
		r.Events = len(p.Events())
	}
	return outs, nil
}

func appendStep(outs map[string]npy.Array, name string, v *nef.Value, step int) error {
	data, err := v.Bytes()
	if err != nil {
		return err
	}
	a := outs[name]
	if step == 0 {
		a = npy.Array{DType: v.DType().String(), Shape: append([]int{0}, v.Shape()...)}
	}
	if !slices.Equal(a.Shape[1:], v.Shape()) {
		return fmt.Errorf("output %q changes its shape from %v to %v", name, a.Shape[1:], v.Shape())
	}
	a.Shape[0]++
	a.Data = append(a.Data, data...)
	outs[name] = a
	return nil
}

// comparePasses runs without each pass and measures how far the outputs move.
func (j *job) comparePasses(g *nef.Graph, device string, passes []string, base map[string]npy.Array, r *result) error {
	r.Passes = map[string]float64{}
	steps := j.Steps
	j.Steps = min(steps, 20)
	defer func() { j.Steps = steps }()
	for _, pass := range passes {
		outs, err := j.run(g, nef.Options{Device: device, DisabledPasses: strings.Split(pass, "+")}, nil)
		if err != nil {
			return fmt.Errorf("without %s: %w", pass, err)
		}
		for name, a := range outs {
			d, err := difference(a, base[name])
			if err != nil {
				return fmt.Errorf("without %s: output %q: %w", pass, name, err)
			}
			r.Passes[pass] = max(r.Passes[pass], d)
		}
	}
	return nil
}

// difference is the greatest one, relative to the largest element; b may have more steps.
func difference(a, b npy.Array) (float64, error) {
	if a.DType != b.DType || len(a.Data) > len(b.Data) {
		return 0, errors.New("another type or shape")
	}
	dtype, _ := nef.ParseDType(a.DType)
	n := len(a.Data) / dtype.Size()
	x, err := nef.Data[float64](nef.Cast(nef.FromBytes(dtype, []int{n}, a.Data), nef.Float64))
	if err != nil {
		return 0, err
	}
	y, err := nef.Data[float64](nef.Cast(nef.FromBytes(dtype, []int{n}, b.Data[:len(a.Data)]), nef.Float64))
	if err != nil {
		return 0, err
	}
	largest, most := 0.0, 0.0
	for i := range x {
		largest = max(largest, math.Abs(y[i]))
		if d := math.Abs(x[i] - y[i]); x[i] != y[i] && !(math.IsNaN(x[i]) && math.IsNaN(y[i])) {
			most = max(most, d)
		}
	}
	if most == 0 {
		return 0, nil
	}
	return most / largest, nil
}
