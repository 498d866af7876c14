// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Hexa08/NEF"
)

// inChild runs the test once more in a process of its own: what it does to the process stays
// there. It is true in that process.
func inChild(t *testing.T) bool {
	t.Helper()
	if os.Getenv("NEF_TEST_CHILD") == t.Name() {
		return true
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), "NEF_TEST_CHILD="+t.Name())
	out, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// plugin compiles one of the fault-injecting backends.
func plugin(t *testing.T, name string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name+".so")
	cc := exec.Command("cc", "-std=gnu11", "-shared", "-fPIC", "-fvisibility=hidden", "-Icapi/include",
		filepath.Join("tests", "plugins", name+".c"), "-o", out, "-lm")
	if text, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

func deviceOf(t *testing.T, backend string) nef.Device {
	t.Helper()
	devices, err := nef.Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		if d.Backend == backend {
			return d
		}
	}
	t.Fatalf("no %s among %v", backend, devices)
	return nef.Device{}
}

func TestBackendsThatCannotBeUsed(t *testing.T) {
	if !inChild(t) {
		return
	}
	wantError(t, nef.LoadBackend(plugin(t, "fault_abi")), nef.ErrABIMismatch, "99")
	wantError(t, nef.LoadBackend(plugin(t, "fault_no_symbol")), nef.ErrABIMismatch, "nef_backend_entry")
	wantError(t, nef.LoadBackend(plugin(t, "fault_probe")), nef.ErrBackendUnavailable, "driver 1.2 is older than 3.4")
	if d := deviceOf(t, "probe"); d.Available || !strings.Contains(d.Reason, "driver 1.2") {
		t.Errorf("%+v", d)
	}
}

// Whatever a device fails at, the result is right and the events say what happened; strict
// programs fail instead.
func TestFallbacks(t *testing.T) {
	if !inChild(t) {
		return
	}
	g := feedForward(t)
	want := infer(t, compile(t, g), 32)
	if err := nef.LoadBackend(plugin(t, "fault_backend")); err != nil {
		t.Fatal(err)
	}
	if d := deviceOf(t, "fault"); !d.Available || d.Kind != nef.GPU {
		t.Errorf("%+v", d)
	}
	for _, c := range []struct {
		name, variable, value string
		strict                error
		words                 []string
	}{
		// First, as what has been compiled stays in the cache.
		{"compile", "NEF_FAULT_COMPILE", "gelu", nef.ErrFallbackForbidden, []string{"compile"}},
		{"memory", "NEF_FAULT_MEMORY", "6000", nef.ErrDeviceOutOfMemory, []string{"memory"}},
		{name: "nothing wrong"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.variable != "" {
				t.Setenv(c.variable, c.value)
			}
			p := compile(t, g, nef.Options{Device: "gpu"})
			defer p.Close()
			if got := infer(t, p, 32); !near(got, want, 1e-4) {
				t.Errorf("%v, want %v", got, want)
			}
			// The plugin has no ArgMax: that node is elsewhere, and says so each time.
			events := slices.DeleteFunc(p.Events(), func(e nef.Event) bool {
				return strings.Contains(e.What, "is not where it was asked to be")
			})
			if (len(events) > 0) != (c.variable != "") {
				t.Fatalf("events %v", events)
			}
			for _, word := range c.words {
				if text := events[0].String(); !strings.Contains(text, word) {
					t.Errorf("event %q does not hold %q", text, word)
				}
			}
			if c.strict == nil {
				return
			}
			strict, err := g.Compile(nef.Options{Device: "gpu", Strict: true})
			if err == nil {
				_, err = strict.Run(t.Context(), nef.Values{"x": weight(32, 8)})
			}
			if !errors.Is(err, c.strict) && !errors.Is(err, nef.ErrFallbackForbidden) {
				t.Errorf("strict: %v, want %v", err, c.strict)
			}
		})
	}
}
