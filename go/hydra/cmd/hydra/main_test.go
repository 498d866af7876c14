// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	nef "github.com/Hexa08/NEF"

	"github.com/Hexa08/NEF/go/hydra/npy"
)

// hydra runs the command as typed and returns what it printed.
func hydra(t *testing.T, args ...string) (out, errOut string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = newApp(&stdout, &stderr).execute(t.Context(), args)
	return stdout.String(), stderr.String(), code
}

// mustHydra fails the test when the command does.
func mustHydra(t *testing.T, args ...string) string {
	t.Helper()
	out, errOut, code := hydra(t, args...)
	if code != 0 || errOut != "" {
		t.Fatalf("hydra %v: exit %d\n%s%s", args, code, out, errOut)
	}
	return out
}

// linearModel saves y = relu(x w + b), z = x + 1 with x float32 [batch 2].
func linearModel(t *testing.T) string {
	t.Helper()
	x := nef.Input("x", nef.Float32, nef.DimRange("batch", 1, 8), 2)
	w := nef.Tensor([]float32{1, 2, 3, 4, 5, 6}, []int{2, 3})
	b := nef.Tensor([]float32{0, -100, 0}, []int{3})
	y := nef.Relu(nef.Add(nef.MatMul(x, w), b))
	g, err := nef.NewGraph(nef.Outputs{"y": y, "z": nef.Add(x, nef.Scalar(float32(1)))})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	path := filepath.Join(t.TempDir(), "linear.nef")
	if err := g.Save(path, nef.SaveOptions{Bundle: true}); err != nil {
		t.Fatal(err)
	}
	return path
}

func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
}

func TestRunPrintsWhatAModelNeeds(t *testing.T) {
	model := linearModel(t)
	out, errOut, code := hydra(t, "run", model)
	if code != exitUsage || errOut != "" {
		t.Errorf("exit %d, %q", code, errOut)
	}
	wantText(t, out, "needs 1 input", "--input x=@x.npy", "float32 [batch 2], batch 1 to 8", "--random --dim batch=1", "y", "[batch 3]")

	out, _, code = hydra(t, "run", model, "--json")
	var needs struct {
		Inputs []port
		Flags  []string
	}
	if err := json.Unmarshal([]byte(out), &needs); err != nil || code != exitUsage {
		t.Fatalf("exit %d, %v:\n%s", code, err, out)
	}
	if want := []string{"--input", "x=@x.npy"}; !reflect.DeepEqual(needs.Flags, want) || needs.Inputs[0].Dims[0].Max != 8 {
		t.Errorf("%+v", needs)
	}
}

func TestRunWithFiles(t *testing.T) {
	model, dir := linearModel(t), t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	var buf bytes.Buffer
	if err := npy.Write(&buf, npy.Array{DType: "float32", Shape: []int{1, 2}, Data: []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file("x.npy"), buf.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	out := mustHydra(t, "run", model, "--input", "x=@"+file("x.npy"), "--output", "y=@"+file("y.json"), "--output", "z=@"+file("z.safetensors"))
	wantText(t, out, "linear.nef", "4 nodes", "1 run, median", "y  float32 [1 3]  -> "+file("y.json"))
	data, err := os.ReadFile(file("y.json"))
	if err != nil || string(data) != "{\"dtype\": \"float32\", \"shape\": [1, 3], \"data\": [9, 0, 15]}\n" {
		t.Errorf("y is %s, %v", data, err)
	}
	// What was written can be read back.
	out = mustHydra(t, "run", model, "--input", "x=@"+file("z.safetensors")+"#z", "--runs", "3")
	wantText(t, out, "3 runs", "z  float32 [1 2]", "[[3 4]]")
}

func TestRunWithInlineJSON(t *testing.T) {
	out := mustHydra(t, "run", linearModel(t), "--input", `x=[[1, 2], [0, "NaN"]]`, "--json")
	var report struct {
		Devices []string
		Outputs []struct {
			Name  string
			Shape []int
			Data  []any
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if len(report.Devices) == 0 || len(report.Outputs) != 2 || !reflect.DeepEqual(report.Outputs[1].Data, []any{2.0, 3.0, 1.0, "NaN"}) {
		t.Errorf("%+v", report)
	}
}

func TestRunRandomIsRepeatable(t *testing.T) {
	model := linearModel(t)
	data := func(seed string) string {
		file := filepath.Join(t.TempDir(), "z.npy")
		mustHydra(t, "run", model, "--random", "--dim", "batch=5", "--seed", seed, "--output", "z=@"+file)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a, err := npy.Decode(data)
		if err != nil || !reflect.DeepEqual(a.Shape, []int{5, 2}) {
			t.Fatalf("%v, %v", a.Shape, err)
		}
		return string(a.Data)
	}
	if data("1") != data("1") || data("1") == data("2") {
		t.Error("the seed does not decide the inputs")
	}
}

func TestMistakesAreNamed(t *testing.T) {
	model := linearModel(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"fly"}, exitUsage, `no command "fly"`},
		{[]string{"run"}, exitUsage, "needs a model file"},
		{[]string{"run", model, "extra"}, exitUsage, `takes no argument "extra"`},
		{[]string{"run", model, "--fly"}, exitUsage, "unknown flag: --fly"},
		{[]string{"run", "none.nef"}, exitFailed, "none.nef"},
		{[]string{"run", model, "--input", "x"}, exitUsage, "expected NAME=VALUE"},
		{[]string{"run", model, "--input", "x="}, exitUsage, "no value"},
		{[]string{"run", model, "--input", "q=[1]"}, exitUsage, `no input "q", it has x`},
		{[]string{"run", model, "--input", "x=[1]", "--input", "x=[1]"}, exitUsage, "given twice"},
		{[]string{"run", model, "--input", "x=[[1"}, exitFailed, "not a JSON list"},
		{[]string{"run", model, "--input", "x=@none.npy"}, exitFailed, "none.npy"},
		{[]string{"run", model, "--input", "x=[[1, 2, 3]]"}, exitFailed, "x"},
		{[]string{"run", model, "--random", "--output", "q=@q.npy"}, exitUsage, `no output "q", it has y and z`},
		{[]string{"run", model, "--random", "--output", "y=@y.txt"}, exitUsage, "unknown kind of file"},
		{[]string{"run", model, "--random", "--output", "y=[1]"}, exitUsage, "is no file"},
		{[]string{"run", model, "--random", "--dim", "batch"}, exitUsage, "expected NAME=N"},
		{[]string{"run", model, "--random", "--dim", "rows=1"}, exitUsage, "no input of"},
		{[]string{"run", model, "--random", "--dim", "batch=9"}, exitUsage, "8 at most"},
		{[]string{"run", model, "--random", "--runs", "0"}, exitUsage, "--runs is 0"},
		{[]string{"build", t.TempDir()}, exitUsage, "no output file"},
		{[]string{"build", t.TempDir(), "-o", "x.onnx"}, exitUsage, "extension .nef"},
		{[]string{"build", t.TempDir(), "-o", filepath.Join(t.TempDir(), "x.nef")}, exitFailed, "config.json"},
		{[]string{"inspect", model, "--svg", filepath.Join(t.TempDir(), "no", "x.svg")}, exitFailed, "no such file"},
		{[]string{"bench", model, "--runs", "0"}, exitUsage, "at least 1"},
		{[]string{"devices", "--backend", "none.so"}, exitFailed, "none.so"},
	} {
		out, errOut, code := hydra(t, c.args...)
		if code != c.code || out != "" || !strings.HasPrefix(errOut, "hydra: ") || !strings.Contains(errOut, c.want) {
			t.Errorf("hydra %v: exit %d, %q, %q; want exit %d and %q", c.args, code, out, errOut, c.code, c.want)
		}
	}
}

func TestNamesMayHoldAnything(t *testing.T) {
	ports := []port{{Name: "a"}, {Name: "a=b"}, {Name: "=@"}}
	for text, want := range map[string][2]string{
		"a=1": {"a", "1"}, "a=b=@f.npy": {"a=b", "@f.npy"}, "=@=[1]": {"=@", "[1]"}, "a=[\"=@\"]": {"a", "[\"=@\"]"}, "q=2": {"q", "2"},
	} {
		if name, value, ok := cutName(text, ports); !ok || name != want[0] || value != want[1] {
			t.Errorf("%s: %q, %q, %v", text, name, value, ok)
		}
	}
}

func TestErrorsAsJSON(t *testing.T) {
	out, errOut, code := hydra(t, "run", "none.nef", "--json")
	var report struct {
		Error struct{ Code, Op, Message string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || errOut != "" || code != exitFailed {
		t.Fatalf("exit %d, %v: %q %q", code, err, out, errOut)
	}
	if report.Error.Code != "io" || !strings.Contains(report.Error.Message, "none.nef") {
		t.Errorf("%+v", report.Error)
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errOut bytes.Buffer
	if code := newApp(&out, &errOut).execute(ctx, []string{"run", linearModel(t), "--random"}); code != exitInterrupted || errOut.String() != "hydra: interrupted\n" {
		t.Errorf("exit %d, %q", code, errOut.String())
	}
}

// Compiling hears of it too: nothing is run here.
func TestInterruptWhileCompiling(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errOut bytes.Buffer
	if code := newApp(&out, &errOut).execute(ctx, []string{"plan", linearModel(t), "--no-run"}); code != exitInterrupted || errOut.String() != "hydra: interrupted\n" {
		t.Errorf("exit %d, %q", code, errOut.String())
	}
}

func TestInspect(t *testing.T) {
	model := linearModel(t)
	wantText(t, mustHydra(t, "inspect", model), "4 nodes, 10 parameters", "input   x  float32  [batch 2], batch 1 to 8", "matmul")
	wantText(t, mustHydra(t, "inspect", model, "--nodes"), "relu(", "-> ", "float32 [batch 3]")
	svg := filepath.Join(t.TempDir(), "m.svg")
	wantText(t, mustHydra(t, "inspect", model, "--svg", svg), "drawn into")
	picture, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, string(picture), "<svg", "matmul", "[2 3]", ">z<")
	var about description
	if err := json.Unmarshal([]byte(mustHydra(t, "inspect", model, "--json")), &about); err != nil || len(about.Nodes) != 4 {
		t.Errorf("%d nodes, %v", len(about.Nodes), err)
	}
}

func TestInspectOfManyNodes(t *testing.T) {
	v := nef.Input("x", nef.Float32, 1)
	for range maxDescribed + 1 {
		v = nef.Relu(v)
	}
	g, err := nef.NewGraph(nef.Outputs{"y": v})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	path := filepath.Join(t.TempDir(), "deep.nef")
	if err := g.Save(path); err != nil {
		t.Fatal(err)
	}
	wantText(t, mustHydra(t, "run", path, "--random"), "20001 nodes, compiled", "y  float32 [1]")
	wantText(t, mustHydra(t, "inspect", path), "20001 nodes, 0 parameters", "relu  20001")
	_, errOut, code := hydra(t, "inspect", path, "--svg", filepath.Join(t.TempDir(), "x.svg"))
	if code != exitFailed || !strings.Contains(errOut, "20003 nodes") {
		t.Errorf("exit %d, %q", code, errOut)
	}
}

func TestPlan(t *testing.T) {
	model := linearModel(t)
	wantText(t, mustHydra(t, "plan", model), "region", "why", "FLOPs", "kernel", "cpu", "arena", "sum of values", "transfers 0")
	var plan nef.Plan
	if err := json.Unmarshal([]byte(mustHydra(t, "plan", model, "--json")), &plan); err != nil || len(plan.Regions) == 0 {
		t.Fatalf("%+v, %v", plan, err)
	}
	for _, r := range plan.Regions {
		if r.Why == "" || r.Device == "" || r.Kernel == "" || r.Ops == "" {
			t.Errorf("region %+v", r)
		}
	}
	wantText(t, mustHydra(t, "plan", model, "--device", "reference"), "reference")
}

func TestDevices(t *testing.T) {
	wantText(t, mustHydra(t, "devices"), "cpu:0", "ok")
	var devices []deviceReport
	if err := json.Unmarshal([]byte(mustHydra(t, "devices", "--json", "--measure")), &devices); err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		if !d.Available && d.Reason == "" {
			t.Errorf("%s is absent without a reason", d.Name)
		}
		if d.Available && (d.Costs == nil || d.Costs.How == "") {
			t.Errorf("%s: what it costs is %+v", d.Name, d.Costs)
		}
	}
}

func TestBench(t *testing.T) {
	model := linearModel(t)
	wantText(t, mustHydra(t, "bench", model, "--time", "1ms", "--dim", "batch=3"), "x float32 [3 2]", "median", "percentile")
	var rows []benchRow
	if err := json.Unmarshal([]byte(mustHydra(t, "bench", model, "--time", "1ms", "--json")), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 5 || rows[0].Name != "linear.nef/median" || rows[0].Value <= 0 || rows[0].Unit != "ms" {
		t.Errorf("%+v", rows)
	}
}

func TestTrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.json")
	wantText(t, mustHydra(t, "trace", linearModel(t), "-o", file), "x float32 [1 2]")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var timeline struct {
		TraceEvents []map[string]any `json:"traceEvents"`
	}
	if err := json.Unmarshal(data, &timeline); err != nil || len(timeline.TraceEvents) == 0 {
		t.Errorf("%d events, %v:\n%.400s", len(timeline.TraceEvents), err, data)
	}
}

func TestVersion(t *testing.T) {
	wantText(t, mustHydra(t, "version"), "engine "+nef.Version())
	wantText(t, mustHydra(t, "version", "--json"), `"engine": "`+nef.Version()+`"`)
}

func TestHelp(t *testing.T) {
	wantText(t, mustHydra(t), "Available Commands", "hydra run minilm.nef")
	for _, name := range []string{"run", "build", "inspect", "plan", "devices", "bench", "trace", "version"} {
		wantText(t, mustHydra(t, name, "--help"), "Usage:", "hydra "+name, "--json")
	}
}
