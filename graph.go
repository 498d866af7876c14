// SPDX-License-Identifier: Apache-2.0

package nef

// #cgo noescape nefgo_graph_capture
// #cgo nocallback nefgo_graph_capture
// #cgo noescape nefgo_graph_load
// #cgo nocallback nefgo_graph_load
// #cgo noescape nefgo_graph_load_bytes
// #cgo nocallback nefgo_graph_load_bytes
// #cgo noescape nefgo_graph_save
// #cgo nocallback nefgo_graph_save
// #cgo noescape nefgo_graph_compile
// #cgo nocallback nefgo_graph_compile
// #include "cgo.h"
import "C"

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/Hexa08/NEF/internal/safetext"
)

// Graph is a closed, validated piece with named inputs and outputs. It never changes and may be
// used by many goroutines at once.
type Graph struct {
	h       *handle
	inputs  []TensorInfo
	outputs []TensorInfo
	nodes   int
}

// Outputs are the outputs of a graph by name.
type Outputs map[string]*Value

// Output is one output of a graph.
type Output struct {
	Name  string
	Value *Value
}

// NewGraph captures what the outputs depend on. The placeholders among it become the graph's
// inputs in the order in which they are met, values with data become constants. The outputs are
// ordered by name; [NewOrderedGraph] takes an order.
func NewGraph(outputs Outputs) (*Graph, error) {
	list := make([]Output, 0, len(outputs))
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		list = append(list, Output{name, outputs[name]})
	}
	return NewOrderedGraph(list...)
}

// NewOrderedGraph is [NewGraph] with the outputs in the given order.
func NewOrderedGraph(outputs ...Output) (*Graph, error) { return capture(nil, outputs) }

// NewGraphWithInputs is [NewOrderedGraph] with the inputs given too: placeholders made by [Input],
// in the graph's order, whether an output depends on them or not. It fails with [ErrUnknownName]
// when an output depends on another placeholder.
func NewGraphWithInputs(inputs []*Value, outputs ...Output) (*Graph, error) {
	ins := make([]C.uintptr_t, 0, len(inputs)+1)
	for i, in := range inputs {
		if err := in.begin("graph"); err != nil {
			endAll(inputs[:i])
			return nil, err
		}
		ins = append(ins, in.ptr())
	}
	defer endAll(inputs)
	return capture(append(ins, 0), outputs)
}

// capture takes the inputs, followed by a 0, or nil for those that are met.
func capture(inputs []C.uintptr_t, outputs []Output) (*Graph, error) {
	if skew != nil {
		return nil, skew
	}
	var names []byte
	ptrs := make([]C.uintptr_t, 0, len(outputs)+1)
	for i, out := range outputs {
		err := asError(checkOutput(out))
		if err == nil {
			err = out.Value.begin("graph")
		}
		if err != nil {
			endOutputs(outputs[:i])
			return nil, err
		}
		names = append(append(names, out.Name...), 0)
		ptrs = append(ptrs, out.Value.ptr())
	}
	defer endOutputs(outputs)
	names, ptrs = append(names, 0), append(ptrs, 0)
	var graph C.uintptr_t
	st := C.nefgo_graph_capture(unsafe.SliceData(inputs), C.size_t(max(len(inputs)-1, 0)), &ptrs[0],
		(*C.char)(unsafe.Pointer(&names[0])), C.size_t(len(outputs)), &graph)
	return newGraph(graph, fromStatus(st))
}

func checkOutput(out Output) *Error {
	if out.Value == nil {
		return newError(CodeInvalidArgument, "graph", "output %q is nil", out.Name)
	}
	_, err := cText("graph", out.Name)
	return err
}

func endOutputs(outputs []Output) {
	for _, out := range outputs {
		out.Value.end()
	}
}

func newGraph(ptr C.uintptr_t, err *Error) (*Graph, error) {
	if err != nil {
		return nil, err
	}
	g := &Graph{h: newHandle(kindGraph, uintptr(ptr), 0)}
	var inputs, outputs C.size_t
	g.nodes = int(C.nefgo_graph_counts(ptr, &inputs, &outputs))
	if g.inputs, err = readInfos(ptr, false, int(inputs)); err == nil {
		g.outputs, err = readInfos(ptr, true, int(outputs))
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// LoadOptions are the options of [Load].
type LoadOptions struct {
	// DataRoot is a folder in which weight files may lie, also behind symbolic links. Empty means
	// the folder of the .nef file itself, without symbolic links.
	DataRoot string
}

// Load reads and validates a .nef file, JSON or bundle. Weights are mapped, not read. At most one
// options struct is meant; the last one counts.
func Load(path string, opts ...LoadOptions) (*Graph, error) {
	if skew != nil {
		return nil, skew
	}
	file, err := cText("load", path)
	if err != nil {
		return nil, err
	}
	root, err := dataRoot(opts)
	if err != nil {
		return nil, err
	}
	var graph C.uintptr_t
	st := C.nefgo_graph_load(file, root, &graph)
	return newGraph(graph, fromStatus(st).withFile(path))
}

// LoadBytes is [Load] for the contents of a file, which are copied. Without a DataRoot it refuses
// weights in other files.
func LoadBytes(data []byte, opts ...LoadOptions) (*Graph, error) {
	if skew != nil {
		return nil, skew
	}
	root, err := dataRoot(opts)
	if err != nil {
		return nil, err
	}
	none := [1]byte{}
	at := &none[0]
	if len(data) > 0 {
		at = &data[0]
	}
	var graph C.uintptr_t
	st := C.nefgo_graph_load_bytes(unsafe.Pointer(at), C.size_t(len(data)), root, &graph)
	return newGraph(graph, fromStatus(st))
}

// LoadFS is [Load] for a file system such as an [embed.FS]. A bundle holds its weights itself; a
// .nef file whose weights lie in other files needs a DataRoot on disk.
func LoadFS(fsys fs.FS, name string, opts ...LoadOptions) (*Graph, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, &Error{Code: CodeIO, Op: "load", Msg: err.Error(), cause: err}
	}
	return LoadBytes(data, opts...)
}

// dataRoot is nil when there is none.
func dataRoot(opts []LoadOptions) (*C.char, *Error) {
	o := lastOption(opts)
	if o.DataRoot == "" {
		return nil, nil
	}
	return cText("load", o.DataRoot)
}

// SaveOptions are the options of [Graph.Save].
type SaveOptions struct {
	// Bundle puts the weights into the .nef file. Otherwise it is JSON, and weights that are not
	// small go into a safetensors file beside it.
	Bundle bool
}

// Save writes a .nef file: all of it or nothing. The same graph gives the same bytes. At most one
// options struct is meant; the last one counts.
func (g *Graph) Save(path string, opts ...SaveOptions) error {
	if err := g.begin("save"); err != nil {
		return err
	}
	defer g.h.release()
	file, err := cText("save", path)
	if err != nil {
		return err
	}
	return asError(fromStatus(C.nefgo_graph_save(C.uintptr_t(g.h.ptr), file, cBool(lastOption(opts).Bundle))))
}

func cBool(b bool) C.int32_t {
	if b {
		return 1
	}
	return 0
}

func (g *Graph) begin(op string) error {
	if g == nil {
		return newError(CodeInvalidArgument, op, "a nil *nef.Graph")
	}
	if !g.h.acquire() {
		return newError(CodeInvalidArgument, op, "the graph is closed")
	}
	return nil
}

// Close gives back the memory of the graph without waiting for Go's collector. Programs compiled
// from it stay valid. It may be called at any time and more than once.
func (g *Graph) Close() {
	if g != nil {
		g.h.close()
	}
}

// Inputs are the inputs in the graph's order.
func (g *Graph) Inputs() []TensorInfo { return slices.Clone(g.inputs) }

// Outputs are the outputs in the graph's order.
func (g *Graph) Outputs() []TensorInfo { return slices.Clone(g.outputs) }

// NodeCount is the number of nodes.
func (g *Graph) NodeCount() int { return g.nodes }

// Describe is the graph as JSON for tools: nodes, inputs, types, but no weights.
func (g *Graph) Describe() (string, error) {
	if err := g.begin("describe"); err != nil {
		return "", err
	}
	defer g.h.release()
	var text *C.char
	if err := fromStatus(C.nefgo_graph_describe(C.uintptr_t(g.h.ptr), &text)); err != nil {
		return "", err
	}
	return takeString(text), nil
}

// String is one line: "graph of 103 nodes".
func (g *Graph) String() string {
	if g == nil {
		return "<nil>"
	}
	return fmt.Sprintf("graph of %d nodes, %v -> %v", g.nodes, g.inputs, g.outputs)
}

// TensorInfo is what an input or output of a graph looks like. The slices have one element for
// each dim.
type TensorInfo struct {
	Name  string
	DType DType
	Shape []int    // -1 for symbolic dims
	Dims  []string // as text: "batch", "384"
	Min   []int    // least size
	Max   []int    // greatest size, math.MaxInt if there is no bound
}

// String is "input_ids int64 [batch sequence]", in printable text.
func (t TensorInfo) String() string {
	return safetext.Escape(fmt.Sprintf("%s %v [%s]", t.Name, t.DType, strings.Join(t.Dims, " ")))
}

func readInfos(graph C.uintptr_t, output bool, count int) ([]TensorInfo, *Error) {
	infos := make([]TensorInfo, count)
	var info C.nef_tensor_info
	for i := range infos {
		if err := fromStatus(C.nefgo_graph_info(graph, cBool(output), C.size_t(i), &info)); err != nil {
			return nil, err
		}
		infos[i] = tensorInfo(&info)
	}
	return infos, nil
}

func tensorInfo(info *C.nef_tensor_info) TensorInfo {
	rank := int(info.rank)
	t := TensorInfo{
		Name:  C.GoString(info.name),
		DType: DType(info.dtype),
		Shape: goInts(info.dims, rank),
		Dims:  make([]string, rank),
		Min:   goInts(info.dim_min, rank),
		Max:   goInts(info.dim_max, rank),
	}
	for i, name := range unsafe.Slice(info.dim_names, rank) {
		t.Dims[i] = C.GoString(name)
	}
	return t
}

func goInts(list *C.int64_t, n int) []int {
	out := make([]int, n)
	for i, x := range unsafe.Slice(list, n) {
		out[i] = int(min(int64(x), math.MaxInt))
	}
	return out
}
