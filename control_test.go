// SPDX-License-Identifier: Apache-2.0

package nef_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Hexa08/NEF"
)

func wantElements[T nef.Element](t *testing.T, v *nef.Value, shape []int, want ...T) {
	t.Helper()
	got, err := nef.Data[T](v)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(v.Shape(), shape) || !slices.Equal(got, want) {
		t.Errorf("%v of shape %v, want %v of %v", got, v.Shape(), want, shape)
	}
}

// unknown is a condition that nothing knows before it is computed.
func unknown(b bool) *nef.Value {
	x := float32(-1)
	if b {
		x = 1
	}
	return nef.Greater(nef.Relu(nef.Scalar(x)), nef.Scalar(float32(0)))
}

func branches(cond, x *nef.Value) []*nef.Value {
	twice := x.Add(x)
	return nef.If(cond, func() []*nef.Value {
		return []*nef.Value{twice.Mul(x), nef.Concat([]*nef.Value{x, x}, 0)}
	}, func() []*nef.Value {
		return []*nef.Value{x.Neg(), twice}
	})
}

func TestConditionOfAnyRankWithOneElement(t *testing.T) {
	x := nef.Tensor([]float32{1, 2, 3}, []int{3})
	out := branches(nef.Greater(nef.Relu(nef.Tensor([]float32{1}, []int{1, 1})), nef.Scalar(float32(0))), x)
	wantElements[float32](t, out[0], []int{3}, 2, 8, 18)
	two := nef.Greater(nef.Relu(nef.Tensor([]float32{1, 1}, []int{1, 2})), nef.Scalar(float32(0)))
	if err := branches(two, x)[0].Err(); !errors.Is(err, nef.ErrShapeMismatch) {
		t.Errorf("a condition of two elements: %v", err)
	}
}

func TestPlanListsBlocks(t *testing.T) {
	x := nef.Input("x", nef.Float32, 3)
	g, err := nef.NewGraph(nef.Outputs{"y": branches(nef.Greater(x.ReduceSum([]int{0}, false), nef.Scalar(float32(0))), x)[0]})
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	plan := p.Plan()
	at := slices.IndexFunc(plan.Regions, func(r nef.Region) bool { return r.Ops == "if" })
	if at < 0 || len(plan.Regions[at].Blocks) != 2 {
		t.Fatalf("plan %+v", plan.Regions)
	}
	if want := fmt.Sprintf("%d.1.0", at); !strings.Contains(plan.String(), want) {
		t.Errorf("no line %s in\n%v", want, plan)
	}
}

func TestIf(t *testing.T) {
	x := nef.Tensor([]float32{1, 2, 3}, []int{3})
	for _, known := range []bool{false, true} {
		cond := func(b bool) *nef.Value {
			if known {
				return nef.Scalar(b)
			}
			return unknown(b)
		}
		out := branches(cond(true), x)
		wantElements[float32](t, out[0], []int{3}, 2, 8, 18)
		wantElements[float32](t, out[1], []int{6}, 1, 2, 3, 1, 2, 3)
		out = branches(cond(false), x)
		wantElements[float32](t, out[0], []int{3}, -1, -2, -3)
		wantElements[float32](t, out[1], []int{3}, 2, 4, 6)
	}
}

// The branch that is not taken is not computed: its index would be out of range.
func TestIfComputesOneBranch(t *testing.T) {
	x := nef.Tensor([]float32{1, 2}, []int{2})
	far := nef.Relu(nef.Tensor([]float32{7}, []int{1})).Cast(nef.Int64)
	out := nef.If(unknown(false), func() []*nef.Value {
		return []*nef.Value{nef.Gather(x, far.Add(nef.Scalar(int64(1))), 0)}
	}, func() []*nef.Value {
		return []*nef.Value{nef.Gather(x, far.Sub(nef.Scalar(int64(6))), 0)}
	})
	wantElements[float32](t, out[0], []int{1}, 2)
}

func TestIfInAGraph(t *testing.T) {
	x := nef.Input("x", nef.Float32, nef.Dim("n"))
	limit := nef.Input("limit", nef.Float32)
	sum := x.ReduceSum([]int{0}, false)
	out := branches(nef.Greater(sum, limit), x)
	g, err := nef.NewGraph(nef.Outputs{"a": out[0], "b": out[1].Add(nef.Scalar(float32(1)))})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*nef.Program{compile(t, g), compile(t, savedAndLoaded(t, g)), compile(t, g, nef.Options{Device: "reference"})} {
		for _, c := range []struct {
			limit float32
			b     []float32
		}{{2, []float32{2, 3, 2, 3}}, {5, []float32{3, 5}}} {
			got, err := p.Run(t.Context(), nef.Values{"x": nef.Tensor([]float32{1, 2}, []int{2}), "limit": nef.Scalar(c.limit)})
			if err != nil {
				t.Fatal(err)
			}
			wantElements(t, got["b"], []int{len(c.b)}, c.b...)
		}
	}
}

func savedAndLoaded(t *testing.T, g *nef.Graph) *nef.Graph {
	t.Helper()
	file := filepath.Join(t.TempDir(), "graph.nef")
	if err := g.Save(file); err != nil {
		t.Fatal(err)
	}
	loaded, err := nef.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func TestLoop(t *testing.T) {
	step := nef.Tensor([]float32{1, 10}, []int{2})
	values, stacked := nef.Loop(nef.Scalar(int64(3)), nil, []*nef.Value{nef.Tensor([]float32{0, 0}, []int{2})},
		func(i, _ *nef.Value, carried []*nef.Value) (*nef.Value, []*nef.Value, []*nef.Value) {
			next := carried[0].Add(step)
			return nil, []*nef.Value{next}, []*nef.Value{i, next}
		})
	wantElements[float32](t, values[0], []int{2}, 3, 30)
	wantElements[int64](t, stacked[0], []int{3}, 0, 1, 2)
	wantElements[float32](t, stacked[1], []int{3, 2}, 1, 10, 2, 20, 3, 30)
}

// Doubles until the value is past a limit; the condition alone ends it.
func TestLoopWithACondition(t *testing.T) {
	for start, want := range map[int64]int64{1: 128, 99: 198, 100: 100, 1000: 1000} {
		first := nef.Scalar(start)
		limit := nef.Scalar(int64(100))
		values, _ := nef.Loop(nil, nef.Less(first, limit), []*nef.Value{first},
			func(_, _ *nef.Value, carried []*nef.Value) (*nef.Value, []*nef.Value, []*nef.Value) {
				next := carried[0].Mul(nef.Scalar(int64(2)))
				return nef.Less(next, limit), []*nef.Value{next}, nil
			})
		wantElements(t, values[0], []int{}, want)
	}
}

// A carried value that grows, and a loop that does not run.
func TestLoopWhoseValuesGrow(t *testing.T) {
	for _, n := range []int64{0, 1, 4} {
		trips := nef.Input("trips", nef.Int64)
		values, stacked := nef.Loop(trips, nil, []*nef.Value{nef.Tensor([]int64{7}, []int{1})},
			func(i, _ *nef.Value, carried []*nef.Value) (*nef.Value, []*nef.Value, []*nef.Value) {
				return nil, []*nef.Value{nef.Concat([]*nef.Value{carried[0], nef.Reshape(i, []int{1})}, 0)}, []*nef.Value{i.Add(i)}
			})
		g, err := nef.NewGraph(nef.Outputs{"all": values[0].Add(nef.Scalar(int64(1))), "twice": stacked[0]})
		if err != nil {
			t.Fatal(err)
		}
		got, err := compile(t, savedAndLoaded(t, g)).Run(t.Context(), nef.Values{"trips": nef.Scalar(n)})
		if err != nil {
			t.Fatal(err)
		}
		all, twice := []int64{8}, []int64{}
		for i := range n {
			all, twice = append(all, i+1), append(twice, 2*i)
		}
		wantElements(t, got["all"], []int{len(all)}, all...)
		wantElements(t, got["twice"], []int{int(n)}, twice...)
	}
}

func TestScan(t *testing.T) {
	x := nef.Tensor([]float32{1, 2, 3, 4, 5, 6}, []int{3, 2})
	sums := func(o nef.ScanOptions, width int) (*nef.Value, *nef.Value) {
		zero := nef.Tensor(make([]float32, width), []int{width})
		last, all := nef.Scan([]*nef.Value{zero}, []*nef.Value{x}, func(carried, slices []*nef.Value) ([]*nef.Value, []*nef.Value) {
			sum := carried[0].Add(slices[0])
			return []*nef.Value{sum}, []*nef.Value{sum}
		}, o)
		return last[0], all[0]
	}
	last, all := sums(nef.ScanOptions{}, 2)
	wantElements[float32](t, last, []int{2}, 9, 12)
	wantElements[float32](t, all, []int{3, 2}, 1, 2, 4, 6, 9, 12)
	_, all = sums(nef.ScanOptions{InputBackwards: []bool{true}}, 2)
	wantElements[float32](t, all, []int{3, 2}, 5, 6, 8, 10, 9, 12)
	_, all = sums(nef.ScanOptions{OutputBackwards: []bool{true}}, 2)
	wantElements[float32](t, all, []int{3, 2}, 9, 12, 4, 6, 1, 2)
	last, all = sums(nef.ScanOptions{InputAxes: []int{-1}, OutputAxes: []int{1}}, 3)
	wantElements[float32](t, last, []int{3}, 3, 7, 11)
	wantElements[float32](t, all, []int{3, 2}, 1, 3, 3, 7, 5, 11)
}

// Blocks within blocks, with values from every scope outside.
func TestNestedBlocks(t *testing.T) {
	x := nef.Input("x", nef.Float32, nef.Dim("n"))
	scale := x.ReduceMax([]int{0}, true)
	values, _ := nef.Loop(nef.Scalar(int64(4)), nil, []*nef.Value{x},
		func(i, _ *nef.Value, carried []*nef.Value) (*nef.Value, []*nef.Value, []*nef.Value) {
			shifted := carried[0].Add(scale)
			even := nef.Equal(nef.Mod(i, nef.Scalar(int64(2)), false), nef.Scalar(int64(0)))
			next := nef.If(even, func() []*nef.Value {
				inner, _ := nef.Loop(i, nil, []*nef.Value{shifted},
					func(_, _ *nef.Value, c []*nef.Value) (*nef.Value, []*nef.Value, []*nef.Value) {
						return nil, []*nef.Value{c[0].Add(carried[0])}, nil
					})
				return inner
			}, func() []*nef.Value { return []*nef.Value{shifted.Neg()} })
			return nil, next, nil
		})
	g, err := nef.NewGraph(nef.Outputs{"y": values[0]})
	if err != nil {
		t.Fatal(err)
	}
	want := func(x []float32) []float32 {
		top := slices.Max(x)
		out := slices.Clone(x)
		for i := range 4 {
			for k, v := range out {
				next := v + top
				if i%2 == 0 {
					next += float32(i) * v
				} else {
					next = -next
				}
				out[k] = next
			}
		}
		return out
	}
	for _, p := range []*nef.Program{compile(t, g), compile(t, savedAndLoaded(t, g))} {
		for _, data := range [][]float32{{1, 2, 3}, {5}, {-1, 4}} {
			got, err := p.Run(t.Context(), nef.Values{"x": nef.Tensor(data, []int{len(data)})})
			if err != nil {
				t.Fatal(err)
			}
			wantElements(t, got["y"], []int{len(data)}, want(data)...)
		}
	}
}

func TestBlockErrors(t *testing.T) {
	x := nef.Tensor([]float32{1, 2}, []int{2})
	one := func(v *nef.Value) func() []*nef.Value { return func() []*nef.Value { return []*nef.Value{v} } }
	cond := unknown(true)
	wantError(t, nef.If(cond, one(x), one(x.Cast(nef.Int64)))[0].Err(), nef.ErrDTypeMismatch, "branch")
	wantError(t, nef.If(cond, one(x), one(nef.Reshape(x, []int{2, 1})))[0].Err(), nef.ErrShapeMismatch, "ranks")
	wantError(t, nef.If(x, one(x), one(x))[0].Err(), nef.ErrDTypeMismatch, "condition")
	wantError(t, nef.If(cond, one(x), func() []*nef.Value { return nil })[0].Err(), nef.ErrInvalidArgument, "results")
	wantError(t, nef.If(nil, one(x), one(x))[0].Err(), nef.ErrInvalidArgument, "nil")
	bad := nef.MatMul(x, nef.Tensor([]float32{1}, []int{1}))
	wantError(t, nef.If(cond, one(bad), one(x))[0].Err(), nef.ErrShapeMismatch)

	var leaked *nef.Value
	values, _ := nef.Loop(nef.Scalar(int64(1)), nil, []*nef.Value{x},
		func(i, _ *nef.Value, carried []*nef.Value) (*nef.Value, []*nef.Value, []*nef.Value) {
			leaked = carried[0]
			return nil, []*nef.Value{carried[0].Cast(nef.Float64)}, nil
		})
	wantError(t, values[0].Err(), nef.ErrDTypeMismatch, "carried value 0")
	wantError(t, leaked.Exp().Execute(), nef.ErrInvalidArgument, "parameter of a block")
	values, _ = nef.Loop(nef.Scalar(int64(1)), nil, []*nef.Value{x},
		func(i, _ *nef.Value, carried []*nef.Value) (*nef.Value, []*nef.Value, []*nef.Value) {
			return nil, nil, []*nef.Value{i}
		})
	if len(values) != 0 {
		t.Errorf("%d values", len(values))
	}
}

// An endless loop ends when its context does.
func TestCancelledLoop(t *testing.T) {
	x := nef.Input("x", nef.Float32, 4)
	values, _ := nef.Loop(nil, nil, []*nef.Value{x},
		func(_, _ *nef.Value, carried []*nef.Value) (*nef.Value, []*nef.Value, []*nef.Value) {
			return nil, []*nef.Value{carried[0].Neg()}, nil
		})
	g, err := nef.NewGraph(nef.Outputs{"y": values[0]})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = compile(t, g).Run(ctx, nef.Values{"x": weight(4)})
	if !errors.Is(err, nef.ErrCancelled) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// A block may give back what it was handed, or what it only takes from outside.
func TestBlocksThatPassValuesOn(t *testing.T) {
	x := nef.Input("x", nef.Float32, nef.Dim("n"))
	trips := nef.Input("trips", nef.Int64)
	weight := nef.Tensor([]float32{10, 20}, []int{2})
	last, stacked := nef.Loop(trips, nil, []*nef.Value{nef.Scalar(int64(-1)), weight},
		func(i, on *nef.Value, carried []*nef.Value) (*nef.Value, []*nef.Value, []*nef.Value) {
			return on, []*nef.Value{i, carried[1]}, []*nef.Value{carried[1], x, i, on}
		})
	more := nef.Greater(x.ReduceSum([]int{0}, false), nef.Scalar(float32(0)))
	nested := nef.If(more, func() []*nef.Value {
		return nef.If(nef.Greater(x.ReduceMax([]int{0}, false), nef.Scalar(float32(2))), func() []*nef.Value {
			return []*nef.Value{weight}
		}, func() []*nef.Value {
			return []*nef.Value{x}
		})
	}, func() []*nef.Value {
		return []*nef.Value{nef.Tensor([]float32{7, 8, 9}, []int{3})}
	})
	g, err := nef.NewGraph(nef.Outputs{
		"last": last[0], "weight": last[1], "weights": stacked[0], "xs": stacked[1], "counts": stacked[2], "ons": stacked[3],
		"nested": nested[0],
	})
	if err != nil {
		t.Fatal(err)
	}
	run := func(p *nef.Program, trips int64, x ...float32) nef.Values {
		t.Helper()
		got, err := p.Run(t.Context(), nef.Values{"x": nef.Tensor(x, []int{len(x)}), "trips": nef.Scalar(trips)})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, passes := range [][]string{nil, {"fold"}, {"blocks"}, {"cse"}, {"dead"}, {"fuse"}, {"canonicalise"}} {
		p := compile(t, g, nef.Options{DisabledPasses: passes})
		got := run(p, 2, 1, 3)
		wantElements[int64](t, got["last"], nil, 1)
		wantElements[float32](t, got["weight"], []int{2}, 10, 20)
		wantElements[float32](t, got["weights"], []int{2, 2}, 10, 20, 10, 20)
		wantElements[float32](t, got["xs"], []int{2, 2}, 1, 3, 1, 3)
		wantElements[int64](t, got["counts"], []int{2}, 0, 1)
		wantElements(t, got["ons"], []int{2}, true, true)
		wantElements[float32](t, got["nested"], []int{2}, 10, 20)
		wantElements[float32](t, run(p, 0, 1)["nested"], []int{1}, 1)
		none := run(p, 0, -1, -2)
		wantElements[float32](t, none["nested"], []int{3}, 7, 8, 9)
		wantElements[int64](t, none["last"], nil, -1)
		wantElements[float32](t, none["xs"], []int{0, 2})
	}
}
