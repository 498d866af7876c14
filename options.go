// SPDX-License-Identifier: Apache-2.0

package nef

// #include "cgo.h"
import "C"

import (
	"math"
	"strings"
)

// Precision says how exact contractions are.
type Precision int32

const (
	// Exact keeps float32 in float32. It is the default.
	Exact Precision = C.NEF_PRECISION_EXACT
	// Fast allows bfloat16 products with float32 sums in contractions of float32, and takes
	// subnormal numbers as zero. The CPU makes use of it where it has AMX or AVX512_BF16 and multiplies
	// exactly elsewhere; the plan names the kernels.
	Fast Precision = C.NEF_PRECISION_FAST
)

// Options are the options of [Graph.Compile]. The zero value is the default.
type Options struct {
	Precision Precision
	// Threads is the most threads that a run uses; 0 means all of the process's pool.
	Threads int
	// MemoryBudget is the most bytes that a run may hold at one time; 0 means no limit. On the host
	// these are its arena, outputs, results of blocks, and constants that compiling computed, which
	// may take a quarter of it; on each other device its arena. Weights do not count.
	MemoryBudget int64
	// Device is where everything should go: "cpu", "gpu", "reference", "cuda:1". Empty leaves it to
	// the planner, which is meant for all but tests.
	Device string
	// Strict forbids fallbacks: what would be one is an error.
	Strict bool
	// ParallelBranches is the most branches that run side by side; 0 means one after the other.
	ParallelBranches int
	// DisabledPasses are passes of the optimiser to leave out.
	DisabledPasses []string
	// BatchSymbol is the dim along which a run may be split when device memory is short; empty
	// means the one named "batch", if there is one.
	BatchSymbol string
}

// compileArgs are options as nefgo_graph_compile takes them.
type compileArgs struct {
	given                 C.nefgo_compile
	device, passes, batch *C.char
}

func (o Options) args() (a compileArgs, err *Error) {
	if o.MemoryBudget < 0 {
		return a, newError(CodeInvalidArgument, "compile", "MemoryBudget is %d, want 0 or more bytes", o.MemoryBudget)
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"Threads", o.Threads}, {"ParallelBranches", o.ParallelBranches}} {
		if n.value < 0 || n.value > math.MaxInt32 {
			return a, newError(CodeInvalidArgument, "compile", "%s is %d, want 0 or more", n.name, n.value)
		}
	}
	a.given = C.nefgo_compile{
		memory_budget:     C.uint64_t(o.MemoryBudget),
		precision:         C.nef_precision(o.Precision),
		threads:           C.int32_t(o.Threads),
		strict:            cBool(o.Strict),
		parallel_branches: C.int32_t(o.ParallelBranches),
	}
	for _, t := range []struct {
		to   **C.char
		text string
	}{{&a.device, o.Device}, {&a.passes, strings.Join(o.DisabledPasses, ",")}, {&a.batch, o.BatchSymbol}} {
		if *t.to, err = cText("compile", t.text); err != nil {
			return a, err
		}
	}
	return a, nil
}
