// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"strings"

	nef "github.com/Hexa08/NEF"
)

// InputNames are the inputs that have no initializer, in the order of the file, with their dtypes;
// 0 for types that NEF does not have.
func (m *Model) InputNames() ([]string, []nef.DType) {
	constants := map[string]bool{}
	for i := range m.proto.graph.initializers {
		constants[m.proto.graph.initializers[i].name] = true
	}
	var names []string
	var types []nef.DType
	for _, in := range m.proto.graph.inputs {
		if !constants[in.name] {
			names = append(names, in.name)
			types = append(types, dtypeOf(in.typ.elem))
		}
	}
	return names, types
}

// InputRank is how many dims an input has; 0 when the file does not say.
func (m *Model) InputRank(name string) int {
	for _, in := range m.proto.graph.inputs {
		if in.name == name {
			return len(in.typ.dims)
		}
	}
	return 0
}

// OutputNames are the outputs in the order of the file, with their dtypes.
func (m *Model) OutputNames() ([]string, []nef.DType) {
	var names []string
	var types []nef.DType
	for _, out := range m.proto.graph.outputs {
		names = append(names, out.name)
		types = append(types, dtypeOf(out.typ.elem))
	}
	return names, types
}

// SizeInputs are the inputs that look as if sizes hang on them: integers and floats of rank 0 or 1
// that an op reads as axes, a shape, a number of repeats and the like. Where a graph cannot be
// compiled because of one, giving it a value in [Options.Inputs] helps.
func (m *Model) SizeInputs() []string {
	var out []string
	for _, in := range m.proto.graph.inputs {
		if in.typ.kind == "tensor" && in.typ.hasShape && len(in.typ.dims) <= 1 && m.readsSize(m.proto.graph.nodes, in.name) {
			out = append(out, in.name)
		}
	}
	return out
}

// sizeInputs are the inputs of ops that set sizes, by their place.
var sizeInputs = map[string][]int{
	"Reshape": {1}, "Expand": {1}, "Tile": {1, 2}, "Slice": {1, 2, 3, 4}, "Pad": {1, 3}, "Squeeze": {1},
	"Unsqueeze": {1}, "ConstantOfShape": {0}, "Range": {0, 1, 2}, "TopK": {1}, "OneHot": {1}, "Resize": {1, 2, 3},
	"Upsample": {1}, "Split": {1}, "SplitToSequence": {1}, "CumSum": {1}, "Trilu": {1}, "ReduceSum": {1}, "ReduceMax": {1}, "ReduceMin": {1},
	"ReduceMean": {1}, "ReduceProd": {1}, "ReduceL1": {1}, "ReduceL2": {1}, "ReduceLogSum": {1},
	"ReduceLogSumExp": {1}, "ReduceSumSquare": {1}, "CenterCropPad": {1}, "Col2Im": {1, 2},
	"MaxUnpool": {2}, "AffineGrid": {1}, "DFT": {1, 2}, "STFT": {1, 3}, "BlackmanWindow": {0}, "HannWindow": {0},
	"HammingWindow": {0}, "MelWeightMatrix": {0, 1, 2, 3, 4}, "Dropout": {1, 2}, "SequenceAt": {1},
	"SequenceInsert": {2}, "SequenceErase": {1}, "NonMaxSuppression": {2, 3, 4}, "CumProd": {1},
}

func (m *Model) readsSize(nodes [][]byte, name string) bool {
	for _, data := range nodes {
		n, err := parseNode(data)
		if err != nil {
			return false
		}
		for _, i := range sizeInputs[n.opType] {
			if i < len(n.inputs) && n.inputs[i] == name {
				return true
			}
		}
	}
	return false
}

// beyondInference are ops that no inference does, or whose results nobody can compare.
var beyondInference = map[string]string{
	"Bernoulli": "random numbers", "RandomNormal": "random numbers", "RandomNormalLike": "random numbers",
	"RandomUniform": "random numbers", "RandomUniformLike": "random numbers", "Multinomial": "random numbers",
}

// NotApplicable says why a published case is beyond what a tensor engine is asked to do; "" when it
// is not: training, the classical models of ai.onnx.ml, strings, floats of 8 bits and fewer,
// integers of 4 bits and fewer, complex numbers, sequences as inputs or outputs, random numbers.
func NotApplicable(path string) string {
	m, err := Open(path)
	if err != nil {
		return ""
	}
	defer m.Close()
	for domain := range m.proto.opsets {
		if strings.HasPrefix(domain, "ai.onnx.") {
			return "domain " + domain
		}
	}
	for _, data := range m.proto.graph.nodes {
		n, err := parseNode(data)
		if err != nil {
			return ""
		}
		if reason := beyondInference[n.opType]; reason != "" {
			return reason
		}
		if n.opType == "Dropout" && len(n.inputs) > 2 && n.inputs[2] != "" && !strings.Contains(path, "zero_ratio") {
			return "training"
		}
	}
	ports := append(append([]valueInfo{}, m.proto.graph.inputs...), m.proto.graph.outputs...)
	for _, v := range ports {
		if v.typ.kind != "tensor" {
			return "sequences, optionals or maps as inputs or outputs"
		}
		if dtypeOf(v.typ.elem) == 0 {
			return "elements of " + elemName(v.typ.elem)
		}
	}
	return ""
}
