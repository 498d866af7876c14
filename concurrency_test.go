// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/Hexa08/NEF"
)

// onAll runs f on 16 goroutines.
func onAll(f func(worker int)) {
	var group sync.WaitGroup
	for worker := range 16 {
		group.Add(1)
		go func() {
			defer group.Done()
			f(worker)
		}()
	}
	group.Wait()
}

func TestGoroutinesShareOneProgram(t *testing.T) {
	p := compile(t, feedForward(t))
	defer p.Close()
	want := map[int][]float32{}
	for batch := 1; batch <= 16; batch++ {
		want[batch] = infer(t, p, batch)
	}
	onAll(func(worker int) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if worker%2 == 0 {
			ctx = context.Background()
		}
		for i := range 25 {
			batch := (worker+i)%16 + 1
			out, err := p.Run(ctx, nef.Values{"x": weight(batch, 8)})
			if err != nil {
				t.Error(err)
				return
			}
			if y, err := nef.Data[float32](out["y"]); err != nil || !near(y, want[batch], 1e-5) {
				t.Errorf("batch %d: %v, %v", batch, y, err)
			}
			if i%2 == 0 {
				out.Close()
			}
		}
	})
}

func TestGoroutinesShareOneValue(t *testing.T) {
	for range 20 {
		x := matrix(4, 4)
		y := nef.Softmax(x.MatMul(x), -1)
		want, err := nef.Data[float32](nef.Softmax(x.MatMul(x), -1))
		if err != nil {
			t.Fatal(err)
		}
		onAll(func(worker int) {
			switch worker % 4 {
			case 0:
				if err := y.Execute(); err != nil {
					t.Error(err)
				}
			case 1:
				_ = y.String()
			case 2:
				z := y.Add(nef.Scalar(float32(worker)))
				if z.Numpy() == nil {
					t.Error(z.Err())
				}
				z.Close()
			}
			if got, err := nef.Data[float32](y); err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// Close waits for calls that are under way, or they fail as closed; nothing crashes.
func TestCloseDuringUse(t *testing.T) {
	g := feedForward(t)
	for range 30 {
		p := compile(t, g)
		x := weight(3, 8)
		onAll(func(worker int) {
			if worker == 0 {
				p.Close()
				x.Close()
				return
			}
			out, err := p.Run(context.Background(), nef.Values{"x": x})
			if err != nil {
				wantError(t, err, nef.ErrInvalidArgument, "closed")
				return
			}
			if y := out["y"]; y.Numpy() == nil {
				t.Error(y.Err())
			}
			out.Close()
		})
	}
}

// settled waits until no more objects are alive than before.
func settled(t *testing.T, before nef.Counters) {
	t.Helper()
	var now nef.Counters
	for range 200 {
		runtime.GC()
		now = nef.ReadCounters()
		if now.LiveTensors <= before.LiveTensors && now.LiveGraphs <= before.LiveGraphs && now.LivePrograms <= before.LivePrograms &&
			now.LiveRuns <= before.LiveRuns && now.LiveStatuses <= before.LiveStatuses {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("alive %+v\nbefore %+v", now, before)
}

// baseline waits until the garbage of earlier tests is gone.
func baseline() nef.Counters {
	last := nef.ReadCounters()
	for same := 0; same < 3; {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		now := nef.ReadCounters()
		if same++; now.LiveTensors != last.LiveTensors || now.LiveRuns != last.LiveRuns || now.LivePrograms != last.LivePrograms {
			same = 0
		}
		last = now
	}
	return last
}

// useAll makes one of everything, well and badly.
func useAll(t *testing.T, closing bool) {
	g := feedForward(t)
	p := compile(t, g)
	x := weight(2, 8)
	out, err := p.Run(t.Context(), nef.Values{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Start(context.Background(), nef.Values{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	more, err := r.Wait()
	if err != nil {
		t.Fatal(err)
	}
	sum := nef.ReduceSum(out["y"], []int{0, 1}, false)
	if sum.Numpy() == nil || nef.MatMul(x, x).Err() == nil {
		t.Fatal(sum.Err())
	}
	if _, err := p.Run(t.Context(), nil); err == nil {
		t.Fatal("ran without inputs")
	}
	if !closing {
		return
	}
	for _, v := range []interface{ Close() }{g, p, x, out, r, more, sum} {
		v.Close()
	}
}

func TestNothingLeaks(t *testing.T) {
	useAll(t, true)
	before, goroutines := baseline(), runtime.NumGoroutine()
	for range 20 {
		useAll(t, true)
	}
	settled(t, before)
	if now := runtime.NumGoroutine(); now > goroutines {
		t.Errorf("%d goroutines, %d before", now, goroutines)
	}
	for range 20 {
		useAll(t, false)
	}
	settled(t, before)
}

// Closed at once, not when the collector comes: what feedForward makes inside is garbage, but what
// is closed here is not waited for.
func TestCloseIsImmediate(t *testing.T) {
	before := nef.ReadCounters().LiveTensors
	for range 100 {
		v := weight(100)
		w := v.Exp()
		if err := w.Execute(); err != nil {
			t.Fatal(err)
		}
		v.Close()
		w.Close()
	}
	if live := nef.ReadCounters().LiveTensors; live > before {
		t.Errorf("%d tensors alive, %d before", live, before)
	}
}

// Large values that nobody closes are collected although Go sees only their small handles.
func TestForgottenMemory(t *testing.T) {
	const size, count = 16 << 20, 64
	before := baseline().LiveTensors
	data := make([]byte, size)
	for range count {
		if err := nef.FromBytes(nef.Uint8, []int{size}, data).Err(); err != nil {
			t.Fatal(err)
		}
	}
	var live uint64
	for range 500 {
		if live = nef.ReadCounters().LiveTensors - before; live <= count/2 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d of %d values of %d bytes are still alive", live, count, size)
}

// An abandoned run must not wait for its context to end before it is collected.
func TestAbandonedRuns(t *testing.T) {
	p := compile(t, feedForward(t))
	defer p.Close()
	before := baseline()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range 10 {
		if _, err := p.Start(ctx, nef.Values{"x": weight(2, 8)}); err != nil {
			t.Fatal(err)
		}
	}
	settled(t, before)
}
