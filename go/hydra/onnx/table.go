// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"maps"

	nef "github.com/Hexa08/NEF"
)

// variant is how an op is built from a version of its domain on.
type variant struct {
	since int64
	build handler
	// check says why a node cannot be imported, from the node alone; "" when it can.
	check func(n *nodeProto) string
}

const microsoft = "com.microsoft"

// opTable is the one list of what the importer knows: by domain and op type, the variants in
// ascending order of the version they begin with.
var opTable map[string]map[string][]variant

func init() {
	opTable = map[string]map[string][]variant{
		"":        standardOps(),
		microsoft: microsoftOps(),
	}
}

// findVariant is how an op of a domain's version is built; nil when it is not known.
func findVariant(domain, op string, version int64) *variant {
	variants := opTable[domain][op]
	for i := len(variants) - 1; i >= 0; i-- {
		if v := &variants[i]; v.since <= version {
			return v
		}
	}
	return nil
}

func always(h handler) []variant { return []variant{{since: 1, build: h}} }

// direct are ops that NEF has under the same name, with the same inputs and attributes.
func direct(c *call) ([]item, error) {
	inputs, err := c.values()
	if err != nil {
		return nil, err
	}
	return c.emit(c.node.opType, inputs...)
}

// directOps are those for which direct serves every version.
var directOps = []string{
	"Abs", "Acos", "Acosh", "AffineGrid", "And", "ArgMax", "ArgMin", "Asin", "Asinh", "Atan", "Atanh",
	"BitCast", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "BlackmanWindow", "Ceil", "Celu",
	"CenterCropPad", "Col2Im", "Compress", "Concat", "Conv", "ConvInteger", "ConvTranspose", "Cos",
	"Cosh", "CumProd", "CumSum", "DeformConv", "DepthToSpace", "DequantizeLinear", "Det", "Einsum", "Elu",
	"Erf", "Exp", "Expand", "EyeLike", "Flatten", "Floor", "Gather", "GatherElements", "GatherND", "Gelu",
	"GlobalAveragePool", "GlobalMaxPool", "HammingWindow", "HannWindow", "HardSigmoid", "HardSwish",
	"InstanceNormalization", "IsInf", "IsNaN", "LRN", "LayerNormalization", "LeakyRelu", "Log",
	"LpNormalization", "LpPool", "MatMul", "MatMulInteger", "MaxPool", "MaxRoiPool", "MaxUnpool",
	"MeanVarianceNormalization", "MelWeightMatrix", "Mish", "Neg", "NonMaxSuppression", "NonZero", "Not",
	"Or", "QLinearConv", "QLinearMatMul", "RMSNormalization", "Reciprocal", "Relu", "ReverseSequence",
	"RotaryEmbedding", "Round", "STFT", "ScatterElements", "ScatterND", "Selu", "Shape", "Shrink",
	"Sigmoid", "Sign", "Sin", "Sinh", "Size", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh",
	"TensorScatter", "TfIdfVectorizer", "ThresholdedRelu", "Transpose", "Trilu", "Where", "Xor",
}

// allOutputs is direct for ops that always have all their outputs.
func allOutputs(count int) handler {
	return func(c *call) ([]item, error) {
		inputs, err := c.values()
		if err != nil {
			return nil, err
		}
		c.ignore("output_sequence") // of opsets before 7
		attrs, err := c.takeAttrs()
		if err != nil {
			return nil, err
		}
		return items(nef.Call(c.node.opType, inputs, attrs, count)...), nil
	}
}

// ignoring builds an op as h does, with attributes left out that change nothing.
func ignoring(h handler, names ...string) handler {
	return func(c *call) ([]item, error) {
		c.ignore(names...)
		return h(c)
	}
}

func standardOps() map[string][]variant {
	ops := map[string][]variant{}
	for _, op := range directOps {
		ops[op] = always(direct)
	}
	for _, op := range []string{"Add", "Sub", "Mul", "Div", "Pow", "Equal", "Less", "Greater", "And", "Or", "Xor"} {
		ops[op] = []variant{{since: 1, build: oldBroadcast}, {since: 7, build: direct}}
	}
	for _, op := range []string{"LessOrEqual", "GreaterOrEqual"} {
		ops[op] = always(direct)
	}
	for _, op := range []string{"Max", "Min", "Sum", "Mean"} {
		ops[op] = always(ignoring(direct, "consumed_inputs"))
	}
	for _, op := range []string{
		"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
		"ReduceProd", "ReduceSum", "ReduceSumSquare",
	} {
		ops[op] = always(axesInput)
	}
	for _, op := range []string{"Softmax", "LogSoftmax", "Hardmax"} {
		ops[op] = []variant{{since: 1, build: flatSoftmax}, {since: 13, build: direct}}
	}
	for op, variants := range map[string][]variant{
		"AveragePool":        always(averagePool),
		"BatchNormalization": always(batchNormalization),
		"Cast":               {{since: 6, build: cast, check: castTarget}},
		"CastLike":           always(ignoring(direct, "round_mode")),
		"Clip":               {{since: 1, build: clipAttrs}, {since: 11, build: direct}},
		"Constant":           always(constant),
		"ConstantOfShape":    always(constantOfShape),
		"Dropout":            always(dropout),
		"Gemm":               {{since: 1, build: ignoring(direct, "broadcast")}},
		"GroupNormalization": {{since: 18, build: groupNormalization18}, {since: 21, build: direct}},
		"Identity":           always(identity),
		"OneHot":             always(oneHot),
		"PRelu":              {{since: 1, build: channelPRelu}, {since: 7, build: direct}},
		"Pad":                {{since: 1, build: padAttrs}, {since: 11, build: direct}},
		"Reshape":            {{since: 1, build: reshapeAttr}, {since: 5, build: direct}},
		"Scatter":            {{since: 9, build: renamed("ScatterElements")}},
		"Slice":              {{since: 1, build: sliceAttrs}, {since: 10, build: direct}},
		"Split":              always(split),
		"Squeeze":            {{since: 1, build: axesInput}, {since: 13, build: direct}},
		"Swish":              {{since: 24, build: renamed("Silu")}},
		"Tile":               {{since: 1, build: tile1}, {since: 6, build: direct}},
		"TopK":               {{since: 1, build: topKAttr}, {since: 10, build: direct}},
		"Unsqueeze":          {{since: 1, build: axesInput}, {since: 13, build: direct}},
		"Upsample":           {{since: 7, build: upsample7}, {since: 9, build: resize10}},
	} {
		ops[op] = variants
	}
	for op, outputs := range map[string]int{
		"LSTM": 3, "GRU": 2, "RNN": 2, "DynamicQuantizeLinear": 3, "Unique": 4, "LinearAttention": 2,
	} {
		ops[op] = always(allOutputs(outputs))
	}
	maps.Copy(ops, sequenceOps())
	ops["NegativeLogLikelihoodLoss"] = always(negativeLogLikelihood)
	ops["SoftmaxCrossEntropyLoss"] = always(softmaxCrossEntropy)
	ops["Attention"] = always(attention)
	ops["BitShift"] = always(bitShift)
	ops["DFT"] = []variant{{since: 17, build: dft17}, {since: 20, build: direct}}
	ops["RoiAlign"] = []variant{{since: 10, build: roiAlign10}, {since: 16, build: direct}}
	for _, op := range []string{"Bernoulli", "Multinomial"} {
		ops[op] = always(seeded)
	}
	for _, op := range []string{"RandomUniform", "RandomNormal"} {
		ops[op] = always(randomOfShape(op))
		ops[op+"Like"] = always(randomLike(op))
	}
	ops["GridSample"] = []variant{{since: 16, build: gridSample}}
	ops["If"] = always(ifOp)
	ops["Loop"] = always(loop)
	ops["Mod"] = always(mod)
	ops["Scan"] = []variant{{since: 8, build: scan8}, {since: 9, build: scan}}
	ops["SpaceToDepth"] = always(spaceToDepth)
	ops["Range"] = always(ignoring(rangeOp, "stash_type"))
	ops["GlobalLpPool"] = always(globalLpPool)
	ops["QuantizeLinear"] = []variant{{since: 10, build: direct}}
	ops["Resize"] = []variant{{since: 10, build: resize10}, {since: 11, build: resize}}
	ops["CausalConvWithState"] = always(causalConvWithState)
	ops["SwiGLU"] = always(swiGLU)
	// ONNX Runtime's tools write this one into ONNX's own domain.
	ops["SimplifiedLayerNormalization"] = always(simplifiedLayerNormalization)
	return ops
}

// renamed builds an op that NEF has under another name.
func renamed(op string) handler {
	return func(c *call) ([]item, error) {
		inputs, err := c.values()
		if err != nil {
			return nil, err
		}
		return c.emit(op, inputs...)
	}
}
