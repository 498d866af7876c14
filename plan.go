// SPDX-License-Identifier: Apache-2.0

package nef

// #include "cgo.h"
import "C"

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Hexa08/NEF/internal/safetext"
)

// Plan is what the planner made of a program.
type Plan struct {
	Regions     []Region `json:"regions"`
	SourceNodes int      `json:"source_nodes"` // of the graph as it was captured or loaded
	Nodes       int      `json:"nodes"`        // after optimisation
	Transfers   int      `json:"transfers"`    // copies between devices in a run
	PackedBytes int64    `json:"packed_bytes"` // of weights in the layout of their kernels
	// Of constants that were computed from others while compiling; those of the graph itself are not in it.
	ComputedBytes int64 `json:"computed_bytes"`

	// The memory of a run, for the sizes of the last one; zero before the first.
	Arenas      []Arena `json:"arenas"`
	ArenaBytes  int64   `json:"arena_bytes"`
	SumOfValues int64   `json:"sum_of_values"` // what it would be if values did not share it

	text string
	err  error
}

// Region is a piece of the graph that is one kernel.
type Region struct {
	Ops    string  `json:"ops"`  // "matmul+add+gelu"
	Node   string  `json:"node"` // the one whose output it is
	Type   string  `json:"type"` // of that output
	Device string  `json:"device"`
	Why    string  `json:"why"` // it went there
	FLOPs  float64 `json:"flops"`
	Bytes  float64 `json:"bytes"`
	Kernel string  `json:"kernel"`
	// Of an if, loop or scan: the plan of each of its blocks.
	Blocks [][]Region `json:"blocks,omitempty"`
}

// Arena is the memory of a run on one device.
type Arena struct {
	Device      string `json:"device"`
	Bytes       int64  `json:"bytes"`
	SumOfValues int64  `json:"sum_of_values"`
}

// Plan tells where each node goes and why. The plan of a closed program is empty and prints as
// the error.
func (p *Program) Plan() *Plan {
	text, err := p.json("plan", func(ptr C.uintptr_t, out **C.char) *C.nef_status { return C.nefgo_program_plan(ptr, out) })
	plan := &Plan{text: text, err: err}
	if err == nil {
		if err := json.Unmarshal([]byte(text), plan); err != nil {
			plan.err = &Error{Code: CodeInternal, Op: "plan", Msg: err.Error(), cause: err}
		}
	}
	return plan
}

func (p *Program) json(op string, read func(ptr C.uintptr_t, out **C.char) *C.nef_status) (string, error) {
	if err := p.begin(op); err != nil {
		return "", err
	}
	defer p.h.release()
	var text *C.char
	if err := fromStatus(read(C.uintptr_t(p.h.ptr), &text)); err != nil {
		return "", err
	}
	return takeString(text), nil
}

// JSON is the plan as the library wrote it.
func (p *Plan) JSON() string { return p.text }

// Event is a fallback: something could not be done as planned and was done otherwise.
type Event struct {
	What string `json:"what"`
	Why  string `json:"why"`
	From string `json:"from"`
	To   string `json:"to"`
}

// String is one line of printable text.
func (e Event) String() string {
	text := e.What + ": " + e.Why
	switch {
	case e.From == "" && e.To == "":
	case e.From == "":
		text += " (-> " + e.To + ")"
	default:
		text += " (" + e.From + " -> " + e.To + ")"
	}
	return safetext.Escape(text)
}

// Events are the fallbacks so far, oldest first. There are none in a closed program.
func (p *Program) Events() []Event {
	text, err := p.json("events", func(ptr C.uintptr_t, out **C.char) *C.nef_status { return C.nefgo_program_events(ptr, out) })
	if err != nil {
		return nil
	}
	return parseEvents(text)
}

// LazyEvents are the fallbacks of Execute and of reading values, which have no program to ask:
// the last 1,000 of the process, oldest first.
func LazyEvents() []Event {
	if skew != nil {
		return nil
	}
	var text *C.char
	if err := fromStatus(C.nefgo_lazy_events(&text)); err != nil {
		return nil
	}
	return parseEvents(takeString(text))
}

func parseEvents(text string) []Event {
	var events []Event
	if err := json.Unmarshal([]byte(text), &events); err != nil {
		return []Event{{What: "events cannot be read", Why: err.Error()}}
	}
	return events
}

// regionRows has a line for each region; those of a block follow their node, indented, and are
// numbered within it: "3.1.0" is the first of block 1 of region 3.
func regionRows(regions []Region, number, indent string) [][]string {
	var rows [][]string
	for i, r := range regions {
		at := number + fmt.Sprint(i)
		rows = append(rows, []string{at, indent + r.Ops, r.Device, r.Why, quantity(r.FLOPs), quantity(r.Bytes), r.Kernel})
		for k, block := range r.Blocks {
			rows = append(rows, regionRows(block, fmt.Sprintf("%s.%d.", at, k), indent+"  ")...)
		}
	}
	return rows
}

// String is a table with one line for each region, and what memory a run takes.
func (p *Plan) String() string {
	if p.err != nil {
		return p.err.Error()
	}
	rows := [][]string{{"", "region", "device", "why", "FLOPs", "bytes", "kernel"}}
	rows = append(rows, regionRows(p.Regions, "", "")...)
	var out strings.Builder
	out.WriteString(safetext.Table(rows).String())
	if len(p.Arenas) == 0 {
		out.WriteString("arena known after the first run")
	} else {
		fmt.Fprintf(&out, "arena %sB (sum of values %sB)", quantity(float64(p.ArenaBytes)), quantity(float64(p.SumOfValues)))
	}
	fmt.Fprintf(&out, "   packed weights %sB   computed constants %sB   transfers %d", quantity(float64(p.PackedBytes)),
		quantity(float64(p.ComputedBytes)), p.Transfers)
	return out.String()
}

// quantity is a number with a metric prefix: "1.2 M".
func quantity(x float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if x >= unit.size {
			return fmt.Sprintf("%.1f %s", x/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.0f ", x)
}
