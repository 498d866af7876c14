// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/Hexa08/NEF"
)

// The whole ladder of fallbacks, through a plugin that fails when the environment tells it to;
// see tests/plugins/fault.h.

// dense is relu(x @ w) for 1 to 64 rows of 8.
func dense(t *testing.T) *nef.Graph {
	t.Helper()
	x := nef.Input("x", nef.Float32, nef.DimRange("batch", 1, 64), 8)
	g, err := nef.NewGraph(nef.Outputs{"y": nef.Relu(nef.MatMul(x, weight(8, 4)))})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func runDense(t *testing.T, p *nef.Program, rows int) ([]float32, error) {
	t.Helper()
	out, err := p.Run(t.Context(), nef.Values{"x": weight(rows, 8)})
	if err != nil {
		return nil, err
	}
	defer out.Close()
	y, err := nef.Data[float32](out["y"])
	return slices.Clone(y), err
}

// wantRight runs a program and its twin on the CPU.
func wantRight(t *testing.T, g *nef.Graph, p *nef.Program, rows int) {
	t.Helper()
	cpu := compile(t, g, nef.Options{Device: "cpu"})
	defer cpu.Close()
	want, err := runDense(t, cpu, rows)
	if err != nil {
		t.Fatal(err)
	}
	got, err := runDense(t, p, rows)
	if err != nil || !near(got, want, 1e-4) {
		t.Fatalf("error %v, got %v, want %v", err, got, want)
	}
}

// wantEvents checks one word of each event, and that there are no others.
func wantEvents(t *testing.T, p *nef.Program, words ...string) {
	t.Helper()
	events := p.Events()
	if len(events) != len(words) {
		t.Fatalf("events %v, want %q", events, words)
	}
	for i, word := range words {
		if !strings.Contains(events[i].String(), word) {
			t.Errorf("event %d is %q, want one with %q", i, events[i], word)
		}
	}
}

func TestOutOfMemory(t *testing.T) {
	if !inChild(t) {
		return
	}
	if err := nef.LoadBackend(plugin(t, "fault_backend")); err != nil {
		t.Fatal(err)
	}
	g := dense(t)
	onDevice := func(t *testing.T, o nef.Options) *nef.Program {
		t.Helper()
		o.Device = "fault"
		p := compile(t, g, o)
		t.Cleanup(p.Close)
		return p
	}

	// First: the plugin fills its cache once.
	t.Run("eviction is enough", func(t *testing.T) {
		p := onDevice(t, nef.Options{})
		t.Setenv("NEF_FAULT_CACHE", "3000")
		t.Setenv("NEF_FAULT_MEMORY", "5000")
		wantRight(t, g, p, 64)
		wantEvents(t, p, "evicting caches")
	})
	t.Run("evicts, splits, moves", func(t *testing.T) {
		p := onDevice(t, nef.Options{})
		wantRight(t, g, p, 3)
		wantEvents(t, p)
		// The weights take 128 bytes, a row up to 64, scratch and rounding some more.
		t.Setenv("NEF_FAULT_MEMORY", "1600")
		wantRight(t, g, p, 64)
		wantEvents(t, p, "evicting caches", "smaller batches")
		t.Setenv("NEF_FAULT_MEMORY", "129")
		wantRight(t, g, p, 64)
		wantEvents(t, p, "evicting caches", "smaller batches", "evicting caches", "-> cpu")
		wantRight(t, g, p, 3)
		wantEvents(t, p, "evicting caches", "smaller batches", "evicting caches", "-> cpu")
	})
	t.Run("another program's arena is enough", func(t *testing.T) {
		other := onDevice(t, nef.Options{})
		wantRight(t, g, other, 64)
		p := onDevice(t, nef.Options{})
		t.Setenv("NEF_FAULT_MEMORY", "5000")
		wantRight(t, g, p, 64)
		wantEvents(t, p, "evicting caches")
		wantEvents(t, other)
	})
	t.Run("budget", func(t *testing.T) {
		// The output of 64 rows takes half of it.
		p := onDevice(t, nef.Options{MemoryBudget: 2048})
		wantRight(t, g, p, 64)
		wantEvents(t, p, "memory budget is 2048", "smaller batches")
	})
	t.Run("strict", func(t *testing.T) {
		p := onDevice(t, nef.Options{Strict: true})
		t.Setenv("NEF_FAULT_MEMORY", "129")
		_, err := runDense(t, p, 64)
		wantError(t, err, nef.ErrFallbackForbidden, "device memory is short", "strict")
		wantEvents(t, p)
	})
}

func TestDeviceLost(t *testing.T) {
	if !inChild(t) {
		return
	}
	if err := nef.LoadBackend(plugin(t, "fault_backend")); err != nil {
		t.Fatal(err)
	}
	g := dense(t)
	strict := compile(t, g, nef.Options{Device: "fault", Strict: true})
	defer strict.Close()
	p := compile(t, g, nef.Options{Device: "fault"})
	defer p.Close()
	wantRight(t, g, p, 5)
	t.Setenv("NEF_FAULT_LOST", "1")
	_, err := runDense(t, strict, 5)
	wantError(t, err, nef.ErrFallbackForbidden, "fell off the bus")
	wantRight(t, g, p, 5)
	wantRight(t, g, p, 6)
	wantEvents(t, p, "device lost")
}

func TestWeightsWithoutRoom(t *testing.T) {
	if !inChild(t) {
		return
	}
	if err := nef.LoadBackend(plugin(t, "fault_backend")); err != nil {
		t.Fatal(err)
	}
	g := dense(t)
	t.Setenv("NEF_FAULT_PREPARE", "matmul")
	err := second(g.Compile(nef.Options{Device: "fault", Strict: true}))
	wantError(t, err, nef.ErrFallbackForbidden, "no room for the weights")
	p := compile(t, g, nef.Options{Device: "fault"})
	defer p.Close()
	wantEvents(t, p, "evicting caches", "fault:0 -> cpu:0")
	wantRight(t, g, p, 7)
}
