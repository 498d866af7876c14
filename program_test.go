// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Hexa08/NEF"
)

func TestOneProgramForAllBatches(t *testing.T) {
	g := feedForward(t)
	before := nef.ReadCounters().ProgramsCompiled
	p := compile(t, g)
	defer p.Close()
	whole := infer(t, p, 64)
	for _, batch := range []int{1, 2, 3, 17, 64} {
		// Rows do not depend on each other.
		if got := infer(t, p, batch); !near(got, whole[:len(got)], 1e-5) {
			t.Errorf("batch %d differs from the rows of batch 64", batch)
		}
	}
	if n := nef.ReadCounters().ProgramsCompiled - before; n != 1 {
		t.Errorf("%d programs compiled, want 1", n)
	}
}

func near(a, b []float32, tolerance float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return x-y <= tolerance && y-x <= tolerance })
}

func TestRunChecksInputs(t *testing.T) {
	p := compile(t, feedForward(t))
	defer p.Close()
	x := weight(2, 8)
	for _, ctx := range []context.Context{context.Background(), t.Context()} {
		run := func(values nef.Values) error { return second(p.Run(ctx, values)) }
		wantError(t, run(nil), nef.ErrUnknownName, `"x"`, "missing", "float32 [batch 8]")
		wantError(t, run(nef.Values{"x": nil}), nef.ErrInvalidArgument, `"x"`, "nil")
		wantError(t, run(nef.Values{"x": x, "z": x}), nef.ErrUnknownName, `"z"`, "x float32")
		wantError(t, run(nef.Values{"x": weight(2, 9)}), nef.ErrShapeMismatch, "x", "9")
		wantError(t, run(nef.Values{"x": weight(65, 8)}), nef.ErrOutOfRange, "65", "64")
		wantError(t, run(nef.Values{"x": x.Cast(nef.Float64)}), nef.ErrDTypeMismatch, "x", "float64")
		bad := nef.Tensor([]float32{1}, []int{2})
		if err := run(nef.Values{"x": bad}); err != bad.Err() {
			t.Errorf("an input with an error: %v", err)
		}
		if err := run(nef.Values{"x": x.Add(x)}); err != nil {
			t.Errorf("a lazy input: %v", err)
		}
		wantError(t, run(nef.Values{"x": nef.Input("x", nef.Float32, 2, 8)}), nef.ErrInvalidArgument)
	}
	var none context.Context
	if _, err := p.Run(none, nef.Values{"x": x}); err != nil {
		t.Errorf("with a nil context: %v", err)
	}
}

func TestOptions(t *testing.T) {
	g := feedForward(t)
	want := infer(t, compile(t, g), 5)
	for name, o := range map[string]nef.Options{
		"fast":      {Precision: nef.Fast, Threads: 1},
		"reference": {Device: "reference", Strict: true},
		"plain":     {DisabledPasses: []string{"fold", "fuse"}},
		"parallel":  {ParallelBranches: 4, Threads: 2, MemoryBudget: 1 << 30, BatchSymbol: "batch"},
	} {
		if got := infer(t, compile(t, g, o), 5); !near(got, want, 0.1) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, c := range []struct {
		o     nef.Options
		words []string
	}{
		{nef.Options{MemoryBudget: -1}, []string{"MemoryBudget"}},
		{nef.Options{Threads: -1}, []string{"Threads"}},
		{nef.Options{ParallelBranches: 1 << 40}, []string{"ParallelBranches"}},
		{nef.Options{Precision: 7}, []string{"7"}},
		{nef.Options{Device: "cpu\x00"}, []string{"NUL"}},
		{nef.Options{DisabledPasses: []string{"nonsense"}}, []string{"nonsense"}},
	} {
		wantError(t, second(g.Compile(c.o)), nef.ErrInvalidArgument, c.words...)
	}
	if _, err := g.Compile(nef.Options{Device: "abacus"}); err == nil || !strings.Contains(err.Error(), "abacus") {
		t.Errorf("device abacus: %v", err)
	}
}

func TestPlanAndEvents(t *testing.T) {
	p := compile(t, feedForward(t))
	defer p.Close()
	if table := p.Plan().String(); !strings.Contains(table, "known after the first run") {
		t.Errorf("before the first run:\n%s", table)
	}
	infer(t, p, 2)
	plan := p.Plan()
	if len(plan.Regions) == 0 || plan.ArenaBytes == 0 || plan.SourceNodes == 0 || !json.Valid([]byte(plan.JSON())) {
		t.Fatalf("plan %s", plan.JSON())
	}
	for _, r := range plan.Regions {
		if r.Ops == "" || r.Device == "" || r.Why == "" {
			t.Errorf("region %+v", r)
		}
	}
	table := plan.String()
	for _, want := range []string{"region", "device", "why", "FLOPs", "kernel", plan.Regions[0].Ops, "arena ", "transfers 0"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if lines := strings.Count(table, "\n"); lines != len(plan.Regions)+1 {
		t.Errorf("%d lines for %d regions:\n%s", lines+1, len(plan.Regions), table)
	}
	if fmt.Sprint(p.Inputs(), p.Outputs()) != "[x float32 [batch 8]] [best int64 [batch] y float32 [batch 4]]" {
		t.Errorf("inputs %v, outputs %v", p.Inputs(), p.Outputs())
	}
	if events := p.Events(); len(events) != 0 {
		t.Errorf("events %v", events)
	}
}

// slowProgram takes seconds if nobody stops it.
func slowProgram(t testing.TB) (*nef.Program, nef.Values) {
	t.Helper()
	const n, steps = 512, 400
	x := nef.Input("x", nef.Float32, n, n)
	y := x
	for range steps {
		y = nef.MatMul(y, x)
	}
	g, err := nef.NewGraph(nef.Outputs{"y": y})
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, g), nef.Values{"x": weight(n, n)}
}

func TestCancel(t *testing.T) {
	p, in := slowProgram(t)
	defer p.Close()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	err := second(p.Run(done, in))
	wantError(t, err, nef.ErrCancelled, "before")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not context.Canceled", err)
	}
	for name, run := range map[string]func(ctx context.Context) error{
		"Run": func(ctx context.Context) error { return second(p.Run(ctx, in)) },
		"RunTrace": func(ctx context.Context) error {
			_, _, err := p.RunTrace(ctx, in)
			return err
		},
		"Start": func(ctx context.Context) error {
			r, err := p.Start(ctx, in)
			if err != nil {
				return err
			}
			defer r.Close()
			return second(r.Wait())
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		begin := time.Now()
		err := run(ctx)
		cancel()
		wantError(t, err, nef.ErrCancelled)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v is not the context's error", name, err)
		}
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("%s stopped after %v", name, took)
		}
	}
	r, err := p.Start(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if r.Done() {
		t.Error("done at once")
	}
	r.Cancel()
	err = second(r.Wait())
	wantError(t, err, nef.ErrCancelled)
	if errors.Is(err, context.Canceled) || !r.Done() {
		t.Errorf("cancelled by hand: %v, done %v", err, r.Done())
	}
	r.Cancel()
	r.Close()
	wantError(t, second(r.Output("y")), nef.ErrCancelled)
}

func TestAsync(t *testing.T) {
	p := compile(t, feedForward(t))
	defer p.Close()
	want := infer(t, p, 2)
	r, err := p.Start(t.Context(), nef.Values{"x": weight(2, 8)})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			y, err := r.Output("y")
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := nef.Data[float32](y); err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, %v", got, err)
			}
		}()
	}
	group.Wait()
	wantError(t, second(r.Output("z")), nef.ErrUnknownName, "z", "best")
	out, err := r.Wait()
	r.Close()
	r.Close()
	if err != nil || out["y"].Numpy() == nil || !r.Done() {
		t.Errorf("outputs of a closed run: %v, %v", out["y"].Err(), err)
	}
	abandoned, err := p.Start(t.Context(), nef.Values{"x": weight(2, 8)})
	if err != nil {
		t.Fatal(err)
	}
	abandoned.Close()
	wantError(t, second(abandoned.Wait()), nef.ErrInvalidArgument, "closed")
	wantError(t, second(p.Start(t.Context(), nil)), nef.ErrUnknownName)
}

func TestTrace(t *testing.T) {
	p := compile(t, feedForward(t))
	defer p.Close()
	out, trace, err := p.RunTrace(t.Context(), nef.Values{"x": weight(2, 8)})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var timeline struct {
		Events []struct {
			Name string  `json:"name"`
			Ph   string  `json:"ph"`
			Ts   float64 `json:"ts"`
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(trace, &timeline); err != nil || len(timeline.Events) == 0 {
		t.Errorf("trace %s: %v", trace, err)
	}
}

func TestDevices(t *testing.T) {
	devices, err := nef.Devices()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, d := range devices {
		found = found || d.Backend == "cpu" && d.Available && d.Kind == nef.CPU && strings.Contains(d.String(), "cpu")
		if !d.Available && (d.Reason == "" || !strings.Contains(d.String(), "not found")) {
			t.Errorf("%+v is absent without a reason", d)
		}
	}
	if !found {
		t.Errorf("no cpu among %v", devices)
	}
	if nef.Version() == "" || nef.LibraryStamp() == "" || nef.GPU.String() != "gpu" {
		t.Errorf("version %q, stamp %q", nef.Version(), nef.LibraryStamp())
	}
}

// A compile that has a lot to compute ahead of runs ends soon after its context.
func TestCompileContext(t *testing.T) {
	h := nef.Input("x", nef.Float32, 64, 64)
	for range 3000 {
		h = h.ReduceSum([]int{1}, true).Add(nef.Scalar(float32(1)))
	}
	g, err := nef.NewGraph(nef.Outputs{"y": h})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.CompileContext(done); !errors.Is(err, nef.ErrCancelled) || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	stopped := 0
	for i := range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*200*time.Microsecond)
		p, err := g.CompileContext(ctx)
		cancel()
		switch {
		case err == nil:
			p.Close()
		case errors.Is(err, nef.ErrCancelled) && errors.Is(err, context.DeadlineExceeded):
			stopped++
		default:
			t.Fatal(err)
		}
	}
	if stopped == 0 {
		t.Error("no compile was stopped")
	}
	p, err := g.CompileContext(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
}
