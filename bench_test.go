// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"context"
	"testing"

	"github.com/Hexa08/NEF"
)

func oneNode(b *testing.B) (*nef.Program, nef.Values) {
	x := nef.Input("x", nef.Float32, 16)
	g, err := nef.NewGraph(nef.Outputs{"y": nef.Relu(x)})
	if err != nil {
		b.Fatal(err)
	}
	return compile(b, g), nef.Values{"x": weight(16)}
}

func benchmarkRun(b *testing.B, ctx context.Context, closing bool) {
	p, in := oneNode(b)
	defer p.Close()
	b.ReportAllocs()
	for b.Loop() {
		out, err := p.Run(ctx, in)
		if err != nil {
			b.Fatal(err)
		}
		if closing {
			out.Close()
		}
	}
}

// The cost of a call: one node on 16 floats, outputs closed by the caller.
func BenchmarkRunOneNode(b *testing.B) { benchmarkRun(b, context.Background(), true) }

// The same with outputs left to the collector.
func BenchmarkRunOneNodeCollected(b *testing.B) { benchmarkRun(b, context.Background(), false) }

// The same with a context that could be cancelled.
func BenchmarkRunOneNodeCancellable(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	benchmarkRun(b, ctx, true)
}

func BenchmarkApply(b *testing.B) {
	x := weight(16)
	b.ReportAllocs()
	for b.Loop() {
		nef.Softmax(x, -1).Close()
	}
}

// A run of 24 launches on a GPU, replayed as one: nothing of it is large.
func BenchmarkRunOnGPU(b *testing.B) {
	x := nef.Input("x", nef.Float32, 16)
	y := x
	for range 12 {
		y = nef.Softmax(nef.ReduceSum(y, []int{0}, true).Add(x), -1)
	}
	g, err := nef.NewGraph(nef.Outputs{"y": y})
	if err != nil {
		b.Fatal(err)
	}
	p, err := g.Compile(nef.Options{Device: "gpu", Strict: true})
	if err != nil {
		b.Skip(err)
	}
	defer p.Close()
	in := nef.Values{"x": weight(16)}
	for b.Loop() {
		out, err := p.Run(context.Background(), in)
		if err != nil {
			b.Fatal(err)
		}
		out.Close()
	}
}
