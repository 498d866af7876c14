// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/Hexa08/NEF"
)

// usage is what a process holds.
type usage struct{ rss, threads, files int }

func measure(t *testing.T) usage {
	t.Helper()
	runtime.GC()
	runtime.GC()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc here: ", err)
	}
	var u usage
	for _, line := range strings.Split(string(text), "\n") {
		key, value, _ := strings.Cut(line, ":")
		number, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		switch key {
		case "VmRSS":
			u.rss = number
		case "Threads":
			u.threads = number
		}
	}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	u.files = len(files)
	return u
}

// Load, compile, run and close, again and again: memory, threads and files stay as they are.
// NEF_CYCLES says how often; "./dev check cycles" does it 1,000 times.
func TestCycles(t *testing.T) {
	cycles, _ := strconv.Atoi(os.Getenv("NEF_CYCLES"))
	cycles = max(cycles, 100)
	path := filepath.Join(t.TempDir(), "m.nef")
	if err := feedForward(t).Save(path); err != nil {
		t.Fatal(err)
	}
	cycle := func() {
		g, err := nef.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		p := compile(t, g)
		defer p.Close()
		x := weight(4, 8)
		defer x.Close()
		out, err := p.Run(t.Context(), nef.Values{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		out.Close()
	}
	// The allocators and the Go runtime reach their working size first.
	for range min(cycles, 1000) {
		cycle()
	}
	before := measure(t)
	for range cycles {
		cycle()
	}
	after := measure(t)
	t.Logf("%d cycles: RSS %d -> %d kB, threads %d -> %d, files %d -> %d", cycles, before.rss, after.rss,
		before.threads, after.threads, before.files, after.files)
	// 5 %, and 2 MB for what the collector keeps back.
	if after.rss > before.rss+before.rss/20+2048 {
		t.Errorf("RSS grew from %d to %d kB", before.rss, after.rss)
	}
	if after.threads > before.threads+1 || after.files > before.files {
		t.Errorf("threads %d -> %d, files %d -> %d", before.threads, after.threads, before.files, after.files)
	}
}
