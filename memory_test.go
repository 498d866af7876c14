// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Hexa08/NEF"
)

const (
	// The graph, the program, stacks of threads, and what allocators and the Go runtime hold.
	memoryBesidesPlan = 8 << 20
	// Constants on the way to others, while compiling.
	memoryOnTheWay = 24 << 20
)

// anonymous is the memory of this process that no file backs, in bytes. Mapped weights are not in it.
func anonymous(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc here: ", err)
	}
	_, rest, ok := strings.Cut(string(text), "RssAnon:")
	if !ok {
		t.Skip("the kernel does not tell RssAnon")
	}
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kilobytes, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// peakOf runs f and returns the most anonymous memory seen meanwhile.
func peakOf(t *testing.T, f func()) int64 {
	t.Helper()
	var sampler sync.WaitGroup
	done := make(chan struct{})
	peak := anonymous(t)
	sampler.Add(1)
	go func() {
		defer sampler.Done()
		for {
			peak = max(peak, anonymous(t))
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(done)
	sampler.Wait()
	return max(peak, anonymous(t))
}

// layers is a model whose weights (packed), values (arena) and computed constants (a convolution that is
// scaled and shifted, weights of bytes that become floats on two steps) are all large.
func layers(t *testing.T) string {
	t.Helper()
	x := nef.Input("x", nef.Float32, nef.DimRange("batch", 1, 4096), 256)
	for range 4 {
		hidden := nef.Gelu(nef.Linear(x, weight(1024, 256), weight(1024)))
		x = nef.Add(x, nef.Linear(hidden, weight(256, 1024), weight(256)))
	}
	image := nef.Input("image", nef.Float32, 1, 512, 4, 4)
	z := nef.Conv(image, weight(512, 512, 3, 3), nil, nef.ConvOptions{Pads: []int{1, 1, 1, 1}})
	z = nef.BatchNormalization(z, weight(512), weight(512), weight(512), nef.Exp(weight(512)), 1e-5)
	row := nef.Input("row", nef.Float32, 1, 1024)
	bytes := nef.Tensor(slices.Repeat([]int8{1, -2, 3, 4}, 1024*512), []int{1024, 2048})
	row = nef.MatMul(row, nef.Mul(nef.Cast(bytes, nef.Float32), weight(1024, 1)))
	g, err := nef.NewGraph(nef.Outputs{"y": x, "z": z, "row": row})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	path := filepath.Join(t.TempDir(), "layers.nef")
	if err := g.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// ones makes an input of ones, of whole numbers or of floats.
func ones(in nef.TensorInfo, sizes map[string]int) *nef.Value {
	shape := make([]int, len(in.Shape))
	count := 1
	for i, d := range in.Shape {
		if d < 0 {
			d = sizes[in.Dims[i]]
		}
		shape[i] = d
		count *= d
	}
	if in.DType == nef.Int64 {
		return nef.Tensor(slices.Repeat([]int64{1}, count), shape)
	}
	return nef.Tensor(slices.Repeat([]float32{1}, count), shape)
}

// sizesOf reads "batch=8,sequence=128"; a model whose sizes are all known needs none.
func sizesOf(t *testing.T, text string) map[string]int {
	t.Helper()
	sizes := map[string]int{}
	if text == "" {
		return sizes
	}
	for _, field := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(field, "=")
		size, err := strconv.Atoi(value)
		if err != nil {
			t.Fatalf("%q is no size", field)
		}
		sizes[name] = size
	}
	return sizes
}

// Runs take the memory that the plan tells: the arena, packed weights, computed constants, and what comes in
// and goes out. Compiling takes little more than what it leaves.
// NEF_MEMORY_MODEL names a model instead of a small one; "./dev check memory" does it with larger ones.
func TestMemory(t *testing.T) {
	path, text := os.Getenv("NEF_MEMORY_MODEL"), os.Getenv("NEF_MEMORY_SIZES")
	if path == "" {
		// In a fresh process: this one would find again the memory that it made the model in.
		child := exec.Command(os.Args[0], "-test.run=^TestMemory$", "-test.v")
		child.Env = append(os.Environ(), "NEF_MEMORY_MODEL="+layers(t), "NEF_MEMORY_SIZES=batch=2048")
		out, err := child.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
		return
	}
	sizes := sizesOf(t, text)
	debug.FreeOSMemory()
	before := anonymous(t)

	var p *nef.Program
	compiling := peakOf(t, func() {
		g, err := nef.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		p = compile(t, g, nef.Options{Device: "cpu"})
	}) - before
	defer p.Close()
	in := nef.Values{}
	defer in.Close()
	var values int64
	for _, info := range p.Inputs() {
		in[info.Name] = ones(info, sizes)
		values += bytesOf(in[info.Name])
	}
	debug.FreeOSMemory() // what the inputs were made from
	running := peakOf(t, func() {
		for run := range 3 {
			out, err := p.Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if run == 0 {
				for _, value := range out {
					values += bytesOf(value)
				}
			}
			out.Close()
		}
	}) - before
	plan := p.Plan()
	kept := plan.PackedBytes + plan.ComputedBytes
	t.Logf("%s %s: runs %.1f MiB, compiling at most %.1f; arena %.1f, packed weights %.1f, computed constants %.1f, "+
		"inputs and outputs %.1f MiB", filepath.Base(path), text, mebibytes(running), mebibytes(compiling),
		mebibytes(plan.ArenaBytes), mebibytes(plan.PackedBytes), mebibytes(plan.ComputedBytes), mebibytes(values))
	if told := plan.ArenaBytes + kept + values; running > told+memoryBesidesPlan {
		t.Errorf("runs take %.1f MiB more than the plan tells", mebibytes(running-told))
	}
	if compiling > kept+memoryOnTheWay {
		t.Errorf("compiling takes %.1f MiB more than it leaves", mebibytes(compiling-kept))
	}
}

func bytesOf(v *nef.Value) int64 {
	count := v.DType().Size()
	for _, d := range v.Shape() {
		count *= d
	}
	return int64(count)
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }
