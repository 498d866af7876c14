// SPDX-License-Identifier: Apache-2.0

// Code generated from engine/ir/ops.toml; DO NOT EDIT.

package nef

// opID numbers an operator, as in nef/op_ids.h.
type opID int32

// The kinds of an attr: which of its fields holds the value. The numbers are NEF_ATTR_*.
const (
	attrInt uint8 = iota + 1
	attrFloat
	attrString
	attrInts
	attrFloats
)

func intAttr(slot, v int) attr { return attr{slot: slot, kind: attrInt, i: int64(v)} }

func floatAttr(slot int, v float64) attr { return attr{slot: slot, kind: attrFloat, f: v} }

func stringAttr(slot int, v string) attr { return attr{slot: slot, kind: attrString, s: v} }

func dtypeAttr(slot int, v DType) attr { return attr{slot: slot, kind: attrInt, i: int64(v)} }

func boolAttr(slot int, v bool) attr {
	a := attr{slot: slot, kind: attrInt}
	if v {
		a.i = 1
	}
	return a
}

func intsAttr(slot int, v []int) attr {
	a := attr{slot: slot, kind: attrInts, ints: make([]int64, len(v))}
	for i, x := range v {
		a.ints[i] = int64(x)
	}
	return a
}

func floatsAttr(slot int, v []float64) attr { return attr{slot: slot, kind: attrFloats, floats: v} }

// hostList is a list that must be there: nil is the empty one.
func hostList(v []int) *Value {
	if v == nil {
		v = []int{}
	}
	return hostInts(v)
}

func lastOption[T any](opts []T) T {
	var o T
	if len(opts) > 0 {
		o = opts[len(opts)-1]
	}
	return o
}

// Ptr returns a pointer to a copy of v, for the option fields whose zero value means something.
func Ptr[T any](v T) *T { return &v }

const (
	opAbs                       opID = 1
	opAcos                      opID = 2
	opAcosh                     opID = 3
	opAdd                       opID = 4
	opAnd                       opID = 5
	opArgMax                    opID = 6
	opArgMin                    opID = 7
	opAsin                      opID = 8
	opAsinh                     opID = 9
	opAtan                      opID = 10
	opAtanh                     opID = 11
	opAttention                 opID = 12
	opAveragePool               opID = 13
	opBatchNormalization        opID = 14
	opBitShift                  opID = 15
	opBitwiseAnd                opID = 16
	opBitwiseNot                opID = 17
	opBitwiseOr                 opID = 18
	opBitwiseXor                opID = 19
	opCast                      opID = 20
	opCastLike                  opID = 21
	opCeil                      opID = 22
	opCelu                      opID = 23
	opClip                      opID = 24
	opConcat                    opID = 25
	opConstantOfShape           opID = 26
	opConv                      opID = 27
	opConvTranspose             opID = 28
	opCos                       opID = 29
	opCosh                      opID = 30
	opCumSum                    opID = 31
	opDepthToSpace              opID = 32
	opDiv                       opID = 33
	opEinsum                    opID = 34
	opElu                       opID = 35
	opEqual                     opID = 36
	opErf                       opID = 37
	opExp                       opID = 38
	opExpand                    opID = 39
	opEyeLike                   opID = 40
	opFlatten                   opID = 41
	opFloor                     opID = 42
	opGather                    opID = 43
	opGatherElements            opID = 44
	opGatherND                  opID = 45
	opGelu                      opID = 46
	opGemm                      opID = 47
	opGlobalAveragePool         opID = 48
	opGlobalMaxPool             opID = 49
	opGreater                   opID = 50
	opGreaterOrEqual            opID = 51
	opGroupNormalization        opID = 52
	opHardSigmoid               opID = 53
	opHardSwish                 opID = 54
	opHardmax                   opID = 55
	opIdentity                  opID = 56
	opInstanceNormalization     opID = 57
	opIsInf                     opID = 58
	opIsNaN                     opID = 59
	opLRN                       opID = 60
	opLayerNormalization        opID = 61
	opLeakyRelu                 opID = 62
	opLess                      opID = 63
	opLessOrEqual               opID = 64
	opLog                       opID = 65
	opLogSoftmax                opID = 66
	opLpNormalization           opID = 67
	opMatMul                    opID = 68
	opMax                       opID = 69
	opMaxPool                   opID = 70
	opMean                      opID = 71
	opMeanVarianceNormalization opID = 72
	opMin                       opID = 73
	opMish                      opID = 74
	opMod                       opID = 75
	opMul                       opID = 76
	opNeg                       opID = 77
	opNonZero                   opID = 78
	opNot                       opID = 79
	opOneHot                    opID = 80
	opOr                        opID = 81
	opPRelu                     opID = 82
	opPad                       opID = 83
	opPow                       opID = 84
	opRMSNormalization          opID = 85
	opRange                     opID = 86
	opReciprocal                opID = 87
	opReduceL1                  opID = 88
	opReduceL2                  opID = 89
	opReduceLogSum              opID = 90
	opReduceLogSumExp           opID = 91
	opReduceMax                 opID = 92
	opReduceMean                opID = 93
	opReduceMin                 opID = 94
	opReduceProd                opID = 95
	opReduceSum                 opID = 96
	opReduceSumSquare           opID = 97
	opRelu                      opID = 98
	opReshape                   opID = 99
	opResize                    opID = 100
	opReverseSequence           opID = 101
	opRotaryEmbedding           opID = 102
	opRound                     opID = 103
	opScatterElements           opID = 104
	opScatterND                 opID = 105
	opSelu                      opID = 106
	opShapeOf                   opID = 107
	opShrink                    opID = 108
	opSigmoid                   opID = 109
	opSign                      opID = 110
	opSilu                      opID = 111
	opSin                       opID = 112
	opSinh                      opID = 113
	opSizeOf                    opID = 114
	opSlice                     opID = 115
	opSoftmax                   opID = 116
	opSoftplus                  opID = 117
	opSoftsign                  opID = 118
	opSpaceToDepth              opID = 119
	opSplit                     opID = 120
	opSqrt                      opID = 121
	opSqueeze                   opID = 122
	opSub                       opID = 123
	opSum                       opID = 124
	opTan                       opID = 125
	opTanh                      opID = 126
	opThresholdedRelu           opID = 127
	opTile                      opID = 128
	opTopK                      opID = 129
	opTranspose                 opID = 130
	opTrilu                     opID = 131
	opUnsqueeze                 opID = 132
	opWhere                     opID = 133
	opXor                       opID = 134
	opLSTM                      opID = 137
	opGRU                       opID = 138
	opRNN                       opID = 139
	opQuantizeLinear            opID = 140
	opDequantizeLinear          opID = 141
	opDynamicQuantizeLinear     opID = 142
	opMatMulInteger             opID = 143
	opQLinearMatMul             opID = 144
	opConvInteger               opID = 145
	opQLinearConv               opID = 146
	opMatMulNBits               opID = 147
	opNonMaxSuppression         opID = 148
	opCompress                  opID = 149
	opUnique                    opID = 150
	opGridSample                opID = 151
	opAffineGrid                opID = 152
	opRoiAlign                  opID = 153
	opMaxRoiPool                opID = 154
	opMaxUnpool                 opID = 155
	opDeformConv                opID = 156
	opLpPool                    opID = 157
	opCol2Im                    opID = 158
	opCenterCropPad             opID = 159
	opDFT                       opID = 160
	opSTFT                      opID = 161
	opMelWeightMatrix           opID = 162
	opHannWindow                opID = 163
	opHammingWindow             opID = 164
	opBlackmanWindow            opID = 165
	opDet                       opID = 166
	opTensorScatter             opID = 167
	opCumProd                   opID = 168
	opBitCast                   opID = 169
	opRandomUniform             opID = 170
	opRandomNormal              opID = 171
	opBernoulli                 opID = 172
	opMultinomial               opID = 173
	opLinearAttention           opID = 174
	opTfIdfVectorizer           opID = 175
	opIf                        opID = 176
	opLoop                      opID = 177
	opScan                      opID = 178
	opRequire                   opID = 179
)

// opNames are the names by op id, as nef_op_call takes them.
var opNames = [...]string{
	opAbs:                       "abs",
	opAcos:                      "acos",
	opAcosh:                     "acosh",
	opAdd:                       "add",
	opAnd:                       "and",
	opArgMax:                    "argmax",
	opArgMin:                    "argmin",
	opAsin:                      "asin",
	opAsinh:                     "asinh",
	opAtan:                      "atan",
	opAtanh:                     "atanh",
	opAttention:                 "attention",
	opAveragePool:               "average_pool",
	opBatchNormalization:        "batch_normalization",
	opBitShift:                  "bit_shift",
	opBitwiseAnd:                "bitwise_and",
	opBitwiseNot:                "bitwise_not",
	opBitwiseOr:                 "bitwise_or",
	opBitwiseXor:                "bitwise_xor",
	opCast:                      "cast",
	opCastLike:                  "cast_like",
	opCeil:                      "ceil",
	opCelu:                      "celu",
	opClip:                      "clip",
	opConcat:                    "concat",
	opConstantOfShape:           "constant_of_shape",
	opConv:                      "conv",
	opConvTranspose:             "conv_transpose",
	opCos:                       "cos",
	opCosh:                      "cosh",
	opCumSum:                    "cumsum",
	opDepthToSpace:              "depth_to_space",
	opDiv:                       "div",
	opEinsum:                    "einsum",
	opElu:                       "elu",
	opEqual:                     "equal",
	opErf:                       "erf",
	opExp:                       "exp",
	opExpand:                    "expand",
	opEyeLike:                   "eye_like",
	opFlatten:                   "flatten",
	opFloor:                     "floor",
	opGather:                    "gather",
	opGatherElements:            "gather_elements",
	opGatherND:                  "gather_nd",
	opGelu:                      "gelu",
	opGemm:                      "gemm",
	opGlobalAveragePool:         "global_average_pool",
	opGlobalMaxPool:             "global_max_pool",
	opGreater:                   "greater",
	opGreaterOrEqual:            "greater_or_equal",
	opGroupNormalization:        "group_normalization",
	opHardSigmoid:               "hard_sigmoid",
	opHardSwish:                 "hard_swish",
	opHardmax:                   "hardmax",
	opIdentity:                  "identity",
	opInstanceNormalization:     "instance_normalization",
	opIsInf:                     "isinf",
	opIsNaN:                     "isnan",
	opLRN:                       "lrn",
	opLayerNormalization:        "layer_normalization",
	opLeakyRelu:                 "leaky_relu",
	opLess:                      "less",
	opLessOrEqual:               "less_or_equal",
	opLog:                       "log",
	opLogSoftmax:                "log_softmax",
	opLpNormalization:           "lp_normalization",
	opMatMul:                    "matmul",
	opMax:                       "max",
	opMaxPool:                   "max_pool",
	opMean:                      "mean",
	opMeanVarianceNormalization: "mean_variance_normalization",
	opMin:                       "min",
	opMish:                      "mish",
	opMod:                       "mod",
	opMul:                       "mul",
	opNeg:                       "neg",
	opNonZero:                   "nonzero",
	opNot:                       "not",
	opOneHot:                    "one_hot",
	opOr:                        "or",
	opPRelu:                     "prelu",
	opPad:                       "pad",
	opPow:                       "pow",
	opRMSNormalization:          "rms_normalization",
	opRange:                     "range",
	opReciprocal:                "reciprocal",
	opReduceL1:                  "reduce_l1",
	opReduceL2:                  "reduce_l2",
	opReduceLogSum:              "reduce_log_sum",
	opReduceLogSumExp:           "reduce_log_sum_exp",
	opReduceMax:                 "reduce_max",
	opReduceMean:                "reduce_mean",
	opReduceMin:                 "reduce_min",
	opReduceProd:                "reduce_prod",
	opReduceSum:                 "reduce_sum",
	opReduceSumSquare:           "reduce_sum_square",
	opRelu:                      "relu",
	opReshape:                   "reshape",
	opResize:                    "resize",
	opReverseSequence:           "reverse_sequence",
	opRotaryEmbedding:           "rotary_embedding",
	opRound:                     "round",
	opScatterElements:           "scatter_elements",
	opScatterND:                 "scatter_nd",
	opSelu:                      "selu",
	opShapeOf:                   "shape",
	opShrink:                    "shrink",
	opSigmoid:                   "sigmoid",
	opSign:                      "sign",
	opSilu:                      "silu",
	opSin:                       "sin",
	opSinh:                      "sinh",
	opSizeOf:                    "size",
	opSlice:                     "slice",
	opSoftmax:                   "softmax",
	opSoftplus:                  "softplus",
	opSoftsign:                  "softsign",
	opSpaceToDepth:              "space_to_depth",
	opSplit:                     "split",
	opSqrt:                      "sqrt",
	opSqueeze:                   "squeeze",
	opSub:                       "sub",
	opSum:                       "sum",
	opTan:                       "tan",
	opTanh:                      "tanh",
	opThresholdedRelu:           "thresholded_relu",
	opTile:                      "tile",
	opTopK:                      "topk",
	opTranspose:                 "transpose",
	opTrilu:                     "trilu",
	opUnsqueeze:                 "unsqueeze",
	opWhere:                     "where",
	opXor:                       "xor",
	opLSTM:                      "lstm",
	opGRU:                       "gru",
	opRNN:                       "rnn",
	opQuantizeLinear:            "quantize_linear",
	opDequantizeLinear:          "dequantize_linear",
	opDynamicQuantizeLinear:     "dynamic_quantize_linear",
	opMatMulInteger:             "matmul_integer",
	opQLinearMatMul:             "qlinear_matmul",
	opConvInteger:               "conv_integer",
	opQLinearConv:               "qlinear_conv",
	opMatMulNBits:               "matmul_nbits",
	opNonMaxSuppression:         "non_max_suppression",
	opCompress:                  "compress",
	opUnique:                    "unique",
	opGridSample:                "grid_sample",
	opAffineGrid:                "affine_grid",
	opRoiAlign:                  "roi_align",
	opMaxRoiPool:                "max_roi_pool",
	opMaxUnpool:                 "max_unpool",
	opDeformConv:                "deform_conv",
	opLpPool:                    "lp_pool",
	opCol2Im:                    "col2im",
	opCenterCropPad:             "center_crop_pad",
	opDFT:                       "dft",
	opSTFT:                      "stft",
	opMelWeightMatrix:           "mel_weight_matrix",
	opHannWindow:                "hann_window",
	opHammingWindow:             "hamming_window",
	opBlackmanWindow:            "blackman_window",
	opDet:                       "det",
	opTensorScatter:             "tensor_scatter",
	opCumProd:                   "cumprod",
	opBitCast:                   "bit_cast",
	opRandomUniform:             "random_uniform",
	opRandomNormal:              "random_normal",
	opBernoulli:                 "bernoulli",
	opMultinomial:               "multinomial",
	opLinearAttention:           "linear_attention",
	opTfIdfVectorizer:           "tf_idf_vectorizer",
	opIf:                        "if",
	opLoop:                      "loop",
	opScan:                      "scan",
	opRequire:                   "require",
}

// attrNames are the names of attributes by op id and slot.
var attrNames = [...][]string{
	opArgMax:                    {"axis", "keepdims", "select_last_index"},
	opArgMin:                    {"axis", "keepdims", "select_last_index"},
	opAttention:                 {"is_causal", "kv_num_heads", "q_num_heads", "qk_matmul_output_mode", "scale", "softcap", "softmax_precision"},
	opAveragePool:               {"auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads", "strides"},
	opBatchNormalization:        {"epsilon"},
	opBitShift:                  {"direction"},
	opCast:                      {"to", "saturate"},
	opCastLike:                  {"saturate"},
	opCelu:                      {"alpha"},
	opConcat:                    {"axis"},
	opConv:                      {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"},
	opConvTranspose:             {"auto_pad", "dilations", "group", "kernel_shape", "output_padding", "output_shape", "pads", "strides"},
	opCumSum:                    {"exclusive", "reverse"},
	opDepthToSpace:              {"blocksize", "mode"},
	opEinsum:                    {"equation"},
	opElu:                       {"alpha"},
	opEyeLike:                   {"dtype", "k"},
	opFlatten:                   {"axis"},
	opGather:                    {"axis"},
	opGatherElements:            {"axis"},
	opGatherND:                  {"batch_dims"},
	opGelu:                      {"approximate"},
	opGemm:                      {"alpha", "beta", "transA", "transB"},
	opGroupNormalization:        {"num_groups", "epsilon", "stash_type"},
	opHardSigmoid:               {"alpha", "beta"},
	opHardmax:                   {"axis"},
	opInstanceNormalization:     {"epsilon"},
	opIsInf:                     {"detect_negative", "detect_positive"},
	opLRN:                       {"size", "alpha", "beta", "bias"},
	opLayerNormalization:        {"axis", "epsilon", "stash_type"},
	opLeakyRelu:                 {"alpha"},
	opLogSoftmax:                {"axis"},
	opLpNormalization:           {"axis", "p"},
	opMaxPool:                   {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides"},
	opMeanVarianceNormalization: {"axes"},
	opMod:                       {"fmod"},
	opOneHot:                    {"axis"},
	opPad:                       {"mode"},
	opRMSNormalization:          {"axis", "epsilon", "stash_type"},
	opReduceL1:                  {"keepdims", "noop_with_empty_axes"},
	opReduceL2:                  {"keepdims", "noop_with_empty_axes"},
	opReduceLogSum:              {"keepdims", "noop_with_empty_axes"},
	opReduceLogSumExp:           {"keepdims", "noop_with_empty_axes"},
	opReduceMax:                 {"keepdims", "noop_with_empty_axes"},
	opReduceMean:                {"keepdims", "noop_with_empty_axes"},
	opReduceMin:                 {"keepdims", "noop_with_empty_axes"},
	opReduceProd:                {"keepdims", "noop_with_empty_axes"},
	opReduceSum:                 {"keepdims", "noop_with_empty_axes"},
	opReduceSumSquare:           {"keepdims", "noop_with_empty_axes"},
	opReshape:                   {"allowzero"},
	opResize:                    {"mode", "antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value", "keep_aspect_ratio_policy", "nearest_mode"},
	opReverseSequence:           {"batch_axis", "time_axis"},
	opRotaryEmbedding:           {"interleaved", "num_heads", "rotary_embedding_dim"},
	opScatterElements:           {"axis", "reduction"},
	opScatterND:                 {"reduction"},
	opSelu:                      {"alpha", "gamma"},
	opShapeOf:                   {"start", "end"},
	opShrink:                    {"lambd", "bias"},
	opSilu:                      {"alpha"},
	opSoftmax:                   {"axis", "zero_masked_rows"},
	opSpaceToDepth:              {"blocksize", "mode"},
	opSplit:                     {"axis", "num_outputs"},
	opThresholdedRelu:           {"alpha"},
	opTopK:                      {"axis", "largest", "sorted"},
	opTranspose:                 {"perm"},
	opTrilu:                     {"upper"},
	opLSTM:                      {"activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "layout", "input_forget"},
	opGRU:                       {"activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "layout", "linear_before_reset"},
	opRNN:                       {"activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "layout"},
	opQuantizeLinear:            {"axis", "block_size", "output_dtype", "precision", "saturate"},
	opDequantizeLinear:          {"axis", "block_size", "output_dtype"},
	opConvInteger:               {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"},
	opQLinearConv:               {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"},
	opMatMulNBits:               {"k", "n", "bits", "block_size"},
	opNonMaxSuppression:         {"center_point_box"},
	opCompress:                  {"axis"},
	opUnique:                    {"axis", "sorted"},
	opGridSample:                {"align_corners", "mode", "padding_mode"},
	opAffineGrid:                {"align_corners"},
	opRoiAlign:                  {"coordinate_transformation_mode", "mode", "output_height", "output_width", "sampling_ratio", "spatial_scale"},
	opMaxRoiPool:                {"pooled_shape", "spatial_scale"},
	opMaxUnpool:                 {"kernel_shape", "pads", "strides"},
	opDeformConv:                {"dilations", "group", "kernel_shape", "offset_group", "pads", "strides"},
	opLpPool:                    {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides", "p"},
	opCol2Im:                    {"dilations", "pads", "strides"},
	opCenterCropPad:             {"axes"},
	opDFT:                       {"inverse", "onesided"},
	opSTFT:                      {"onesided"},
	opMelWeightMatrix:           {"output_datatype"},
	opHannWindow:                {"output_datatype", "periodic"},
	opHammingWindow:             {"output_datatype", "periodic"},
	opBlackmanWindow:            {"output_datatype", "periodic"},
	opTensorScatter:             {"axis", "mode"},
	opCumProd:                   {"exclusive", "reverse"},
	opBitCast:                   {"to"},
	opRandomUniform:             {"dtype", "high", "low", "seed"},
	opRandomNormal:              {"dtype", "mean", "scale", "seed"},
	opBernoulli:                 {"dtype", "seed"},
	opMultinomial:               {"dtype", "sample_size", "seed"},
	opLinearAttention:           {"kv_num_heads", "q_num_heads", "scale", "update_rule"},
	opTfIdfVectorizer:           {"max_gram_length", "max_skip_count", "min_gram_length", "mode", "ngram_counts", "ngram_indexes", "pool_int64s", "weights"},
	opRequire:                   {"message"},
}

// inputNames are the names of inputs by op id, for messages; of a variadic input there is one.
var inputNames = [...][]string{
	opAbs:                       {"input"},
	opAcos:                      {"input"},
	opAcosh:                     {"input"},
	opAdd:                       {"a", "b"},
	opAnd:                       {"a", "b"},
	opArgMax:                    {"input"},
	opArgMin:                    {"input"},
	opAsin:                      {"input"},
	opAsinh:                     {"input"},
	opAtan:                      {"input"},
	opAtanh:                     {"input"},
	opAttention:                 {"q", "k", "v", "attnMask", "pastKey", "pastValue", "nonpadKvSeqlen"},
	opAveragePool:               {"x"},
	opBatchNormalization:        {"x", "scale", "bias", "mean", "variance"},
	opBitShift:                  {"x", "y"},
	opBitwiseAnd:                {"a", "b"},
	opBitwiseNot:                {"input"},
	opBitwiseOr:                 {"a", "b"},
	opBitwiseXor:                {"a", "b"},
	opCast:                      {"input"},
	opCastLike:                  {"input", "target"},
	opCeil:                      {"input"},
	opCelu:                      {"input"},
	opClip:                      {"input", "min", "max"},
	opConcat:                    {"inputs"},
	opConstantOfShape:           {"shape", "value"},
	opConv:                      {"x", "w", "b"},
	opConvTranspose:             {"x", "w", "b"},
	opCos:                       {"input"},
	opCosh:                      {"input"},
	opCumSum:                    {"input", "axis"},
	opDepthToSpace:              {"input"},
	opDiv:                       {"a", "b"},
	opEinsum:                    {"inputs"},
	opElu:                       {"input"},
	opEqual:                     {"a", "b"},
	opErf:                       {"input"},
	opExp:                       {"input"},
	opExpand:                    {"input", "shape"},
	opEyeLike:                   {"input"},
	opFlatten:                   {"input"},
	opFloor:                     {"input"},
	opGather:                    {"data", "indices"},
	opGatherElements:            {"data", "indices"},
	opGatherND:                  {"data", "indices"},
	opGelu:                      {"input"},
	opGemm:                      {"a", "b", "c"},
	opGlobalAveragePool:         {"x"},
	opGlobalMaxPool:             {"x"},
	opGreater:                   {"a", "b"},
	opGreaterOrEqual:            {"a", "b"},
	opGroupNormalization:        {"x", "scale", "bias"},
	opHardSigmoid:               {"input"},
	opHardSwish:                 {"input"},
	opHardmax:                   {"input"},
	opIdentity:                  {"input"},
	opInstanceNormalization:     {"x", "scale", "bias"},
	opIsInf:                     {"input"},
	opIsNaN:                     {"input"},
	opLRN:                       {"x"},
	opLayerNormalization:        {"x", "scale", "bias"},
	opLeakyRelu:                 {"input"},
	opLess:                      {"a", "b"},
	opLessOrEqual:               {"a", "b"},
	opLog:                       {"input"},
	opLogSoftmax:                {"input"},
	opLpNormalization:           {"input"},
	opMatMul:                    {"a", "b"},
	opMax:                       {"inputs"},
	opMaxPool:                   {"x"},
	opMean:                      {"inputs"},
	opMeanVarianceNormalization: {"x"},
	opMin:                       {"inputs"},
	opMish:                      {"input"},
	opMod:                       {"a", "b"},
	opMul:                       {"a", "b"},
	opNeg:                       {"input"},
	opNonZero:                   {"input"},
	opNot:                       {"input"},
	opOneHot:                    {"indices", "depth", "values"},
	opOr:                        {"a", "b"},
	opPRelu:                     {"x", "slope"},
	opPad:                       {"data", "pads", "constantValue", "axes"},
	opPow:                       {"a", "b"},
	opRMSNormalization:          {"x", "scale"},
	opRange:                     {"start", "limit", "delta"},
	opReciprocal:                {"input"},
	opReduceL1:                  {"data", "axes"},
	opReduceL2:                  {"data", "axes"},
	opReduceLogSum:              {"data", "axes"},
	opReduceLogSumExp:           {"data", "axes"},
	opReduceMax:                 {"data", "axes"},
	opReduceMean:                {"data", "axes"},
	opReduceMin:                 {"data", "axes"},
	opReduceProd:                {"data", "axes"},
	opReduceSum:                 {"data", "axes"},
	opReduceSumSquare:           {"data", "axes"},
	opRelu:                      {"input"},
	opReshape:                   {"data", "shape"},
	opResize:                    {"x", "roi", "scales", "sizes"},
	opReverseSequence:           {"input", "sequenceLens"},
	opRotaryEmbedding:           {"x", "cosCache", "sinCache", "positionIds"},
	opRound:                     {"input"},
	opScatterElements:           {"data", "indices", "updates"},
	opScatterND:                 {"data", "indices", "updates"},
	opSelu:                      {"input"},
	opShapeOf:                   {"data"},
	opShrink:                    {"input"},
	opSigmoid:                   {"input"},
	opSign:                      {"input"},
	opSilu:                      {"input"},
	opSin:                       {"input"},
	opSinh:                      {"input"},
	opSizeOf:                    {"data"},
	opSlice:                     {"data", "starts", "ends", "axes", "steps"},
	opSoftmax:                   {"input"},
	opSoftplus:                  {"input"},
	opSoftsign:                  {"input"},
	opSpaceToDepth:              {"input"},
	opSplit:                     {"input", "split"},
	opSqrt:                      {"input"},
	opSqueeze:                   {"data", "axes"},
	opSub:                       {"a", "b"},
	opSum:                       {"inputs"},
	opTan:                       {"input"},
	opTanh:                      {"input"},
	opThresholdedRelu:           {"input"},
	opTile:                      {"input", "repeats"},
	opTopK:                      {"x", "k"},
	opTranspose:                 {"data"},
	opTrilu:                     {"input", "k"},
	opUnsqueeze:                 {"data", "axes"},
	opWhere:                     {"condition", "x", "y"},
	opXor:                       {"a", "b"},
	opLSTM:                      {"x", "w", "r", "b", "sequenceLens", "initialH", "initialC", "p"},
	opGRU:                       {"x", "w", "r", "b", "sequenceLens", "initialH"},
	opRNN:                       {"x", "w", "r", "b", "sequenceLens", "initialH"},
	opQuantizeLinear:            {"x", "yScale", "yZeroPoint"},
	opDequantizeLinear:          {"x", "xScale", "xZeroPoint"},
	opDynamicQuantizeLinear:     {"x"},
	opMatMulInteger:             {"a", "b", "aZeroPoint", "bZeroPoint"},
	opQLinearMatMul:             {"a", "aScale", "aZeroPoint", "b", "bScale", "bZeroPoint", "yScale", "yZeroPoint"},
	opConvInteger:               {"x", "w", "xZeroPoint", "wZeroPoint"},
	opQLinearConv:               {"x", "xScale", "xZeroPoint", "w", "wScale", "wZeroPoint", "yScale", "yZeroPoint", "b"},
	opMatMulNBits:               {"a", "b", "scales", "zeroPoints", "bias"},
	opNonMaxSuppression:         {"boxes", "scores", "maxOutputBoxesPerClass", "iouThreshold", "scoreThreshold"},
	opCompress:                  {"input", "condition"},
	opUnique:                    {"x"},
	opGridSample:                {"x", "grid"},
	opAffineGrid:                {"theta", "size"},
	opRoiAlign:                  {"x", "rois", "batchIndices"},
	opMaxRoiPool:                {"x", "rois"},
	opMaxUnpool:                 {"x", "i", "outputShape"},
	opDeformConv:                {"x", "w", "offset", "b", "mask"},
	opLpPool:                    {"x"},
	opCol2Im:                    {"input", "imageShape", "blockShape"},
	opCenterCropPad:             {"inputData", "shape"},
	opDFT:                       {"input", "dftLength", "axis"},
	opSTFT:                      {"signal", "frameStep", "window", "frameLength"},
	opMelWeightMatrix:           {"numMelBins", "dftLength", "sampleRate", "lowerEdgeHertz", "upperEdgeHertz"},
	opHannWindow:                {"size"},
	opHammingWindow:             {"size"},
	opBlackmanWindow:            {"size"},
	opDet:                       {"x"},
	opTensorScatter:             {"pastCache", "update", "writeIndices"},
	opCumProd:                   {"input", "axis"},
	opBitCast:                   {"input"},
	opRandomUniform:             {"shape"},
	opRandomNormal:              {"shape"},
	opBernoulli:                 {"input"},
	opMultinomial:               {"input"},
	opLinearAttention:           {"query", "key", "value", "pastState", "decay", "beta"},
	opTfIdfVectorizer:           {"x"},
	opIf:                        {"condition", "captures"},
	opLoop:                      {"tripCount", "condition", "values"},
	opScan:                      {"values"},
	opRequire:                   {"data", "condition"},
}

// Attribute slots.
const (
	attrArgMaxAxis                           = 0
	attrArgMaxKeepdims                       = 1
	attrArgMaxSelectLastIndex                = 2
	attrArgMinAxis                           = 0
	attrArgMinKeepdims                       = 1
	attrArgMinSelectLastIndex                = 2
	attrAttentionIsCausal                    = 0
	attrAttentionKvNumHeads                  = 1
	attrAttentionQNumHeads                   = 2
	attrAttentionQkMatmulOutputMode          = 3
	attrAttentionScale                       = 4
	attrAttentionSoftcap                     = 5
	attrAttentionSoftmaxPrecision            = 6
	attrAveragePoolAutoPad                   = 0
	attrAveragePoolCeilMode                  = 1
	attrAveragePoolCountIncludePad           = 2
	attrAveragePoolDilations                 = 3
	attrAveragePoolKernelShape               = 4
	attrAveragePoolPads                      = 5
	attrAveragePoolStrides                   = 6
	attrBatchNormalizationEpsilon            = 0
	attrBitShiftDirection                    = 0
	attrCastTo                               = 0
	attrCeluAlpha                            = 0
	attrConcatAxis                           = 0
	attrConvAutoPad                          = 0
	attrConvDilations                        = 1
	attrConvGroup                            = 2
	attrConvKernelShape                      = 3
	attrConvPads                             = 4
	attrConvStrides                          = 5
	attrConvTransposeAutoPad                 = 0
	attrConvTransposeDilations               = 1
	attrConvTransposeGroup                   = 2
	attrConvTransposeKernelShape             = 3
	attrConvTransposeOutputPadding           = 4
	attrConvTransposeOutputShape             = 5
	attrConvTransposePads                    = 6
	attrConvTransposeStrides                 = 7
	attrCumSumExclusive                      = 0
	attrCumSumReverse                        = 1
	attrDepthToSpaceBlocksize                = 0
	attrDepthToSpaceMode                     = 1
	attrEinsumEquation                       = 0
	attrEluAlpha                             = 0
	attrEyeLikeDtype                         = 0
	attrEyeLikeK                             = 1
	attrFlattenAxis                          = 0
	attrGatherAxis                           = 0
	attrGatherElementsAxis                   = 0
	attrGatherNDBatchDims                    = 0
	attrGeluApproximate                      = 0
	attrGemmAlpha                            = 0
	attrGemmBeta                             = 1
	attrGemmTransA                           = 2
	attrGemmTransB                           = 3
	attrGroupNormalizationNumGroups          = 0
	attrGroupNormalizationEpsilon            = 1
	attrHardSigmoidAlpha                     = 0
	attrHardSigmoidBeta                      = 1
	attrHardmaxAxis                          = 0
	attrInstanceNormalizationEpsilon         = 0
	attrIsInfDetectNegative                  = 0
	attrIsInfDetectPositive                  = 1
	attrLRNSize                              = 0
	attrLRNAlpha                             = 1
	attrLRNBeta                              = 2
	attrLRNBias                              = 3
	attrLayerNormalizationAxis               = 0
	attrLayerNormalizationEpsilon            = 1
	attrLeakyReluAlpha                       = 0
	attrLogSoftmaxAxis                       = 0
	attrLpNormalizationAxis                  = 0
	attrLpNormalizationP                     = 1
	attrMaxPoolAutoPad                       = 0
	attrMaxPoolCeilMode                      = 1
	attrMaxPoolDilations                     = 2
	attrMaxPoolKernelShape                   = 3
	attrMaxPoolPads                          = 4
	attrMaxPoolStorageOrder                  = 5
	attrMaxPoolStrides                       = 6
	attrMeanVarianceNormalizationAxes        = 0
	attrModFmod                              = 0
	attrOneHotAxis                           = 0
	attrPadMode                              = 0
	attrRMSNormalizationAxis                 = 0
	attrRMSNormalizationEpsilon              = 1
	attrReduceL1Keepdims                     = 0
	attrReduceL2Keepdims                     = 0
	attrReduceLogSumKeepdims                 = 0
	attrReduceLogSumExpKeepdims              = 0
	attrReduceMaxKeepdims                    = 0
	attrReduceMeanKeepdims                   = 0
	attrReduceMinKeepdims                    = 0
	attrReduceProdKeepdims                   = 0
	attrReduceSumKeepdims                    = 0
	attrReduceSumSquareKeepdims              = 0
	attrReshapeAllowzero                     = 0
	attrResizeMode                           = 0
	attrResizeAntialias                      = 1
	attrResizeAxes                           = 2
	attrResizeCoordinateTransformationMode   = 3
	attrResizeCubicCoeffA                    = 4
	attrResizeExcludeOutside                 = 5
	attrResizeExtrapolationValue             = 6
	attrResizeKeepAspectRatioPolicy          = 7
	attrResizeNearestMode                    = 8
	attrReverseSequenceBatchAxis             = 0
	attrReverseSequenceTimeAxis              = 1
	attrRotaryEmbeddingInterleaved           = 0
	attrRotaryEmbeddingNumHeads              = 1
	attrRotaryEmbeddingRotaryEmbeddingDim    = 2
	attrScatterElementsAxis                  = 0
	attrScatterElementsReduction             = 1
	attrScatterNDReduction                   = 0
	attrSeluAlpha                            = 0
	attrSeluGamma                            = 1
	attrShapeOfStart                         = 0
	attrShapeOfEnd                           = 1
	attrShrinkLambd                          = 0
	attrShrinkBias                           = 1
	attrSiluAlpha                            = 0
	attrSoftmaxAxis                          = 0
	attrSpaceToDepthBlocksize                = 0
	attrSpaceToDepthMode                     = 1
	attrSplitAxis                            = 0
	attrSplitNumOutputs                      = 1
	attrThresholdedReluAlpha                 = 0
	attrTopKAxis                             = 0
	attrTopKLargest                          = 1
	attrTransposePerm                        = 0
	attrTriluUpper                           = 0
	attrLSTMActivationAlpha                  = 0
	attrLSTMActivationBeta                   = 1
	attrLSTMActivations                      = 2
	attrLSTMClip                             = 3
	attrLSTMDirection                        = 4
	attrLSTMHiddenSize                       = 5
	attrLSTMLayout                           = 6
	attrLSTMInputForget                      = 7
	attrGRUActivationAlpha                   = 0
	attrGRUActivationBeta                    = 1
	attrGRUActivations                       = 2
	attrGRUClip                              = 3
	attrGRUDirection                         = 4
	attrGRUHiddenSize                        = 5
	attrGRULayout                            = 6
	attrGRULinearBeforeReset                 = 7
	attrRNNActivationAlpha                   = 0
	attrRNNActivationBeta                    = 1
	attrRNNActivations                       = 2
	attrRNNClip                              = 3
	attrRNNDirection                         = 4
	attrRNNHiddenSize                        = 5
	attrRNNLayout                            = 6
	attrQuantizeLinearAxis                   = 0
	attrQuantizeLinearBlockSize              = 1
	attrQuantizeLinearOutputDtype            = 2
	attrQuantizeLinearPrecision              = 3
	attrQuantizeLinearSaturate               = 4
	attrDequantizeLinearAxis                 = 0
	attrDequantizeLinearBlockSize            = 1
	attrDequantizeLinearOutputDtype          = 2
	attrConvIntegerAutoPad                   = 0
	attrConvIntegerDilations                 = 1
	attrConvIntegerGroup                     = 2
	attrConvIntegerKernelShape               = 3
	attrConvIntegerPads                      = 4
	attrConvIntegerStrides                   = 5
	attrQLinearConvAutoPad                   = 0
	attrQLinearConvDilations                 = 1
	attrQLinearConvGroup                     = 2
	attrQLinearConvKernelShape               = 3
	attrQLinearConvPads                      = 4
	attrQLinearConvStrides                   = 5
	attrMatMulNBitsK                         = 0
	attrMatMulNBitsN                         = 1
	attrMatMulNBitsBits                      = 2
	attrMatMulNBitsBlockSize                 = 3
	attrNonMaxSuppressionCenterPointBox      = 0
	attrCompressAxis                         = 0
	attrUniqueAxis                           = 0
	attrUniqueSorted                         = 1
	attrGridSampleAlignCorners               = 0
	attrGridSampleMode                       = 1
	attrGridSamplePaddingMode                = 2
	attrAffineGridAlignCorners               = 0
	attrRoiAlignCoordinateTransformationMode = 0
	attrRoiAlignMode                         = 1
	attrRoiAlignOutputHeight                 = 2
	attrRoiAlignOutputWidth                  = 3
	attrRoiAlignSamplingRatio                = 4
	attrRoiAlignSpatialScale                 = 5
	attrMaxRoiPoolPooledShape                = 0
	attrMaxRoiPoolSpatialScale               = 1
	attrMaxUnpoolKernelShape                 = 0
	attrMaxUnpoolPads                        = 1
	attrMaxUnpoolStrides                     = 2
	attrDeformConvDilations                  = 0
	attrDeformConvGroup                      = 1
	attrDeformConvKernelShape                = 2
	attrDeformConvOffsetGroup                = 3
	attrDeformConvPads                       = 4
	attrDeformConvStrides                    = 5
	attrLpPoolAutoPad                        = 0
	attrLpPoolCeilMode                       = 1
	attrLpPoolDilations                      = 2
	attrLpPoolKernelShape                    = 3
	attrLpPoolPads                           = 4
	attrLpPoolStrides                        = 5
	attrLpPoolP                              = 6
	attrCol2ImDilations                      = 0
	attrCol2ImPads                           = 1
	attrCol2ImStrides                        = 2
	attrCenterCropPadAxes                    = 0
	attrDFTInverse                           = 0
	attrDFTOnesided                          = 1
	attrSTFTOnesided                         = 0
	attrMelWeightMatrixOutputDatatype        = 0
	attrHannWindowOutputDatatype             = 0
	attrHannWindowPeriodic                   = 1
	attrHammingWindowOutputDatatype          = 0
	attrHammingWindowPeriodic                = 1
	attrBlackmanWindowOutputDatatype         = 0
	attrBlackmanWindowPeriodic               = 1
	attrTensorScatterAxis                    = 0
	attrTensorScatterMode                    = 1
	attrCumProdExclusive                     = 0
	attrCumProdReverse                       = 1
	attrBitCastTo                            = 0
	attrRandomUniformDtype                   = 0
	attrRandomUniformHigh                    = 1
	attrRandomUniformLow                     = 2
	attrRandomUniformSeed                    = 3
	attrRandomNormalDtype                    = 0
	attrRandomNormalMean                     = 1
	attrRandomNormalScale                    = 2
	attrRandomNormalSeed                     = 3
	attrBernoulliDtype                       = 0
	attrBernoulliSeed                        = 1
	attrMultinomialDtype                     = 0
	attrMultinomialSampleSize                = 1
	attrMultinomialSeed                      = 2
	attrLinearAttentionKvNumHeads            = 0
	attrLinearAttentionQNumHeads             = 1
	attrLinearAttentionScale                 = 2
	attrLinearAttentionUpdateRule            = 3
	attrTfIdfVectorizerMaxGramLength         = 0
	attrTfIdfVectorizerMaxSkipCount          = 1
	attrTfIdfVectorizerMinGramLength         = 2
	attrTfIdfVectorizerMode                  = 3
	attrTfIdfVectorizerNgramCounts           = 4
	attrTfIdfVectorizerNgramIndexes          = 5
	attrTfIdfVectorizerPoolInt64s            = 6
	attrTfIdfVectorizerWeights               = 7
	attrRequireMessage                       = 0
)

// Abs: Absolute value. The most negative signed integer wraps to itself.
func Abs(input *Value) *Value {
	return apply(opAbs, []*Value{input}, nil, 1)[0]
}

// Abs is the function [Abs] with v as its first input.
func (v *Value) Abs() *Value {
	return Abs(v)
}

// Acos: Arc cosine in radians; NaN outside [-1, 1].
func Acos(input *Value) *Value {
	return apply(opAcos, []*Value{input}, nil, 1)[0]
}

// Acos is the function [Acos] with v as its first input.
func (v *Value) Acos() *Value {
	return Acos(v)
}

// Acosh: Inverse hyperbolic cosine; NaN below 1.
func Acosh(input *Value) *Value {
	return apply(opAcosh, []*Value{input}, nil, 1)[0]
}

// Acosh is the function [Acosh] with v as its first input.
func (v *Value) Acosh() *Value {
	return Acosh(v)
}

// Add: Sum of both inputs, broadcast as in NumPy. Integers wrap.
func Add(a, b *Value) *Value {
	return apply(opAdd, []*Value{a, b}, nil, 1)[0]
}

// Add is the function [Add] with v as its first input.
func (v *Value) Add(b *Value) *Value {
	return Add(v, b)
}

// And: Logical and, broadcast as in NumPy.
func And(a, b *Value) *Value {
	return apply(opAnd, []*Value{a, b}, nil, 1)[0]
}

// And is the function [And] with v as its first input.
func (v *Value) And(b *Value) *Value {
	return And(v, b)
}

// ArgMaxOptions holds the options of [ArgMax]. The zero value is the default.
type ArgMaxOptions struct {
	SelectLastIndex bool
}

// ArgMax: Index of the largest element along axis. The first NaN wins over any number; of equal
// values the first one, or the last one with SelectLastIndex. The axis must not have size 0.
// keepdims leaves it with size 1. At most one options struct is meant; the last one counts.
func ArgMax(input *Value, axis int, keepdims bool, opts ...ArgMaxOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrArgMaxAxis, axis), boolAttr(attrArgMaxKeepdims, keepdims)}
	if o.SelectLastIndex {
		attrs = append(attrs, boolAttr(attrArgMaxSelectLastIndex, o.SelectLastIndex))
	}
	return apply(opArgMax, []*Value{input}, attrs, 1)[0]
}

// ArgMax is the function [ArgMax] with v as its first input.
func (v *Value) ArgMax(axis int, keepdims bool, opts ...ArgMaxOptions) *Value {
	return ArgMax(v, axis, keepdims, opts...)
}

// ArgMinOptions holds the options of [ArgMin]. The zero value is the default.
type ArgMinOptions struct {
	SelectLastIndex bool
}

// ArgMin: Index of the smallest element along axis. The first NaN wins over any number; of equal
// values the first one, or the last one with SelectLastIndex. The axis must not have size 0.
// keepdims leaves it with size 1. At most one options struct is meant; the last one counts.
func ArgMin(input *Value, axis int, keepdims bool, opts ...ArgMinOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrArgMinAxis, axis), boolAttr(attrArgMinKeepdims, keepdims)}
	if o.SelectLastIndex {
		attrs = append(attrs, boolAttr(attrArgMinSelectLastIndex, o.SelectLastIndex))
	}
	return apply(opArgMin, []*Value{input}, attrs, 1)[0]
}

// ArgMin is the function [ArgMin] with v as its first input.
func (v *Value) ArgMin(axis int, keepdims bool, opts ...ArgMinOptions) *Value {
	return ArgMin(v, axis, keepdims, opts...)
}

// Asin: Arc sine in radians; NaN outside [-1, 1].
func Asin(input *Value) *Value {
	return apply(opAsin, []*Value{input}, nil, 1)[0]
}

// Asin is the function [Asin] with v as its first input.
func (v *Value) Asin() *Value {
	return Asin(v)
}

// Asinh: Inverse hyperbolic sine.
func Asinh(input *Value) *Value {
	return apply(opAsinh, []*Value{input}, nil, 1)[0]
}

// Asinh is the function [Asinh] with v as its first input.
func (v *Value) Asinh() *Value {
	return Asinh(v)
}

// Atan: Arc tangent in radians.
func Atan(input *Value) *Value {
	return apply(opAtan, []*Value{input}, nil, 1)[0]
}

// Atan is the function [Atan] with v as its first input.
func (v *Value) Atan() *Value {
	return Atan(v)
}

// Atanh: Inverse hyperbolic tangent; +-inf at +-1, NaN beyond.
func Atanh(input *Value) *Value {
	return apply(opAtanh, []*Value{input}, nil, 1)[0]
}

// Atanh is the function [Atanh] with v as its first input.
func (v *Value) Atanh() *Value {
	return Atanh(v)
}

// AttentionOptions holds the options of [Attention]. The zero value is the default.
type AttentionOptions struct {
	// PastKey: may be nil.
	PastKey *Value
	// PastValue: may be nil.
	PastValue *Value
	// NonpadKvSeqlen: may be nil.
	NonpadKvSeqlen *Value
	IsCausal       bool
	// KvNumHeads: zero means absent.
	KvNumHeads int
	// QNumHeads: zero means absent.
	QNumHeads          int
	QkMatmulOutputMode int
	// Scale: zero means absent.
	Scale   float64
	Softcap float64
	// SoftmaxPrecision: zero means absent.
	SoftmaxPrecision DType
}

// Attention: softmax(q k^T * scale + mask) v. Inputs are [batch, heads, sequence, head size], or
// [batch, sequence, heads * head size] with QNumHeads and KvNumHeads set; q may have the one form,
// k and v the other. Fewer key heads than query heads means grouped queries. scale is 1/sqrt(head
// size) when absent; softcap > 0 replaces a score s by softcap * tanh(s / softcap). A bool mask
// keeps where true, any other is added; keys beyond a shorter mask are masked; IsCausal hides later
// positions. A row with everything masked gives 0. PastKey and PastValue are put before k and v,
// and come out as present_key and present_value; NonpadKvSeqlen [batch] is the number of valid
// keys. Absent inputs are nil. At most one options struct is meant; the last one counts.
func Attention(q, k, v, attnMask *Value, opts ...AttentionOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.IsCausal {
		attrs = append(attrs, boolAttr(attrAttentionIsCausal, o.IsCausal))
	}
	if o.KvNumHeads != 0 {
		attrs = append(attrs, intAttr(attrAttentionKvNumHeads, o.KvNumHeads))
	}
	if o.QNumHeads != 0 {
		attrs = append(attrs, intAttr(attrAttentionQNumHeads, o.QNumHeads))
	}
	if o.QkMatmulOutputMode != 0 {
		attrs = append(attrs, intAttr(attrAttentionQkMatmulOutputMode, o.QkMatmulOutputMode))
	}
	if o.Scale != 0 {
		attrs = append(attrs, floatAttr(attrAttentionScale, o.Scale))
	}
	if o.Softcap != 0 {
		attrs = append(attrs, floatAttr(attrAttentionSoftcap, o.Softcap))
	}
	if o.SoftmaxPrecision != 0 {
		attrs = append(attrs, dtypeAttr(attrAttentionSoftmaxPrecision, o.SoftmaxPrecision))
	}
	return apply(opAttention, []*Value{q, k, v, attnMask, o.PastKey, o.PastValue, o.NonpadKvSeqlen}, attrs, 1)[0]
}

// Attention is the function [Attention] with q as its first input.
func (q *Value) Attention(k, v, attnMask *Value, opts ...AttentionOptions) *Value {
	return Attention(q, k, v, attnMask, opts...)
}

// AveragePoolOptions holds the options of [AveragePool]. The zero value is the default.
type AveragePoolOptions struct {
	// AutoPad: "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"; empty means "NOTSET".
	AutoPad         string
	CeilMode        bool
	CountIncludePad bool
	// Dilations: nil means absent.
	Dilations []int
	// Pads: nil means absent.
	Pads []int
	// Strides: nil means absent.
	Strides []int
}

// AveragePool: Mean over a sliding window of x [N, C, D1, ...]. pads is [begin..., end...], default
// 0; strides and dilations default to 1. Padding counts in the mean only with CountIncludePad. At
// most one options struct is meant; the last one counts.
func AveragePool(x *Value, kernelShape []int, opts ...AveragePoolOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if kernelShape != nil {
		attrs = append(attrs, intsAttr(attrAveragePoolKernelShape, kernelShape))
	}
	if o.AutoPad != "" {
		attrs = append(attrs, stringAttr(attrAveragePoolAutoPad, o.AutoPad))
	}
	if o.CeilMode {
		attrs = append(attrs, boolAttr(attrAveragePoolCeilMode, o.CeilMode))
	}
	if o.CountIncludePad {
		attrs = append(attrs, boolAttr(attrAveragePoolCountIncludePad, o.CountIncludePad))
	}
	if o.Dilations != nil {
		attrs = append(attrs, intsAttr(attrAveragePoolDilations, o.Dilations))
	}
	if o.Pads != nil {
		attrs = append(attrs, intsAttr(attrAveragePoolPads, o.Pads))
	}
	if o.Strides != nil {
		attrs = append(attrs, intsAttr(attrAveragePoolStrides, o.Strides))
	}
	return apply(opAveragePool, []*Value{x}, attrs, 1)[0]
}

// AveragePool is the function [AveragePool] with v as its first input.
func (v *Value) AveragePool(kernelShape []int, opts ...AveragePoolOptions) *Value {
	return AveragePool(v, kernelShape, opts...)
}

// BatchNormalization: (x - mean) / sqrt(variance + epsilon) * scale + bias per channel of x [N, C,
// ...], with the stored statistics [C] (inference only).
func BatchNormalization(x, scale, bias, mean, variance *Value, epsilon float64) *Value {
	return apply(opBatchNormalization, []*Value{x, scale, bias, mean, variance}, []attr{floatAttr(attrBatchNormalizationEpsilon, epsilon)}, 1)[0]
}

// BatchNormalization is the function [BatchNormalization] with v as its first input.
func (v *Value) BatchNormalization(scale, bias, mean, variance *Value, epsilon float64) *Value {
	return BatchNormalization(v, scale, bias, mean, variance, epsilon)
}

// BitShift: x shifted by y bits, broadcast as in NumPy. A shift by the width of the type or more,
// or by a negative number, gives 0; signed integers keep their sign to the right: -1 for a negative
// one.
func BitShift(x, y *Value, direction string) *Value {
	return apply(opBitShift, []*Value{x, y}, []attr{stringAttr(attrBitShiftDirection, direction)}, 1)[0]
}

// BitShift is the function [BitShift] with v as its first input.
func (v *Value) BitShift(y *Value, direction string) *Value {
	return BitShift(v, y, direction)
}

// BitwiseAnd: Bit by bit and, broadcast as in NumPy.
func BitwiseAnd(a, b *Value) *Value {
	return apply(opBitwiseAnd, []*Value{a, b}, nil, 1)[0]
}

// BitwiseAnd is the function [BitwiseAnd] with v as its first input.
func (v *Value) BitwiseAnd(b *Value) *Value {
	return BitwiseAnd(v, b)
}

// BitwiseNot: Every bit inverted.
func BitwiseNot(input *Value) *Value {
	return apply(opBitwiseNot, []*Value{input}, nil, 1)[0]
}

// BitwiseNot is the function [BitwiseNot] with v as its first input.
func (v *Value) BitwiseNot() *Value {
	return BitwiseNot(v)
}

// BitwiseOr: Bit by bit or, broadcast as in NumPy.
func BitwiseOr(a, b *Value) *Value {
	return apply(opBitwiseOr, []*Value{a, b}, nil, 1)[0]
}

// BitwiseOr is the function [BitwiseOr] with v as its first input.
func (v *Value) BitwiseOr(b *Value) *Value {
	return BitwiseOr(v, b)
}

// BitwiseXor: Bit by bit exclusive or, broadcast as in NumPy.
func BitwiseXor(a, b *Value) *Value {
	return apply(opBitwiseXor, []*Value{a, b}, nil, 1)[0]
}

// BitwiseXor is the function [BitwiseXor] with v as its first input.
func (v *Value) BitwiseXor(b *Value) *Value {
	return BitwiseXor(v, b)
}

// Cast: The input converted to dtype `to`. Float to integer truncates towards zero, saturates, and
// turns NaN into 0; integer to narrower integer wraps; to bool is `!= 0`; to a narrower float
// rounds to nearest even. To float8, what lies beyond the largest number becomes that number with
// its sign, or with saturate off infinity (float8_e5m2) or NaN (float8_e4m3fn).
func Cast(input *Value, to DType) *Value {
	return apply(opCast, []*Value{input}, []attr{dtypeAttr(attrCastTo, to)}, 1)[0]
}

// Cast is the function [Cast] with v as its first input.
func (v *Value) Cast(to DType) *Value {
	return Cast(v, to)
}

// CastLike: The input converted to the dtype of target, whose values are not read. Same rules as
// Cast.
func CastLike(input, target *Value) *Value {
	return apply(opCastLike, []*Value{input, target}, nil, 1)[0]
}

// CastLike is the function [CastLike] with v as its first input.
func (v *Value) CastLike(target *Value) *Value {
	return CastLike(v, target)
}

// Ceil: Smallest whole number not below the input.
func Ceil(input *Value) *Value {
	return apply(opCeil, []*Value{input}, nil, 1)[0]
}

// Ceil is the function [Ceil] with v as its first input.
func (v *Value) Ceil() *Value {
	return Ceil(v)
}

// Celu: max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).
func Celu(input *Value, alpha float64) *Value {
	return apply(opCelu, []*Value{input}, []attr{floatAttr(attrCeluAlpha, alpha)}, 1)[0]
}

// Celu is the function [Celu] with v as its first input.
func (v *Value) Celu(alpha float64) *Value {
	return Celu(v, alpha)
}

// Clip: min(max(x, min), max) with scalar bounds; an absent bound does not bind. NaN stays NaN;
// where min > max the result is max. Absent inputs are nil.
func Clip(input, min, max *Value) *Value {
	return apply(opClip, []*Value{input, min, max}, nil, 1)[0]
}

// Clip is the function [Clip] with v as its first input.
func (v *Value) Clip(min, max *Value) *Value {
	return Clip(v, min, max)
}

// Concat: The inputs one after the other along axis; all other dims must be equal. A negative axis
// counts from the end.
func Concat(inputs []*Value, axis int) *Value {
	return apply(opConcat, inputs, []attr{intAttr(attrConcatAxis, axis)}, 1)[0]
}

// ConstantOfShape: A tensor of the given shape filled with value, a one-element tensor that also
// sets the dtype; float32 0 when absent. (ONNX gives value as an attribute.) Absent inputs are nil.
func ConstantOfShape(shape []int, value *Value) *Value {
	return apply(opConstantOfShape, []*Value{hostList(shape), value}, nil, 1)[0]
}

// ConvOptions holds the options of [Conv]. The zero value is the default.
type ConvOptions struct {
	// AutoPad: "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"; empty means "NOTSET".
	AutoPad string
	// Dilations: nil means absent.
	Dilations []int
	// Group: zero means 1.
	Group int
	// KernelShape: nil means absent.
	KernelShape []int
	// Pads: nil means absent.
	Pads []int
	// Strides: nil means absent.
	Strides []int
}

// Conv: Convolution (cross-correlation) of x [N, C, D1, ...] with w [M, C / group, k1, ...] plus
// bias b [M]. pads is [begin..., end...], default 0; strides and dilations default to 1;
// KernelShape, when given, must agree with w. Absent inputs are nil. At most one options struct is
// meant; the last one counts.
func Conv(x, w, b *Value, opts ...ConvOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.AutoPad != "" {
		attrs = append(attrs, stringAttr(attrConvAutoPad, o.AutoPad))
	}
	if o.Dilations != nil {
		attrs = append(attrs, intsAttr(attrConvDilations, o.Dilations))
	}
	if o.Group != 0 {
		attrs = append(attrs, intAttr(attrConvGroup, o.Group))
	}
	if o.KernelShape != nil {
		attrs = append(attrs, intsAttr(attrConvKernelShape, o.KernelShape))
	}
	if o.Pads != nil {
		attrs = append(attrs, intsAttr(attrConvPads, o.Pads))
	}
	if o.Strides != nil {
		attrs = append(attrs, intsAttr(attrConvStrides, o.Strides))
	}
	return apply(opConv, []*Value{x, w, b}, attrs, 1)[0]
}

// Conv is the function [Conv] with v as its first input.
func (v *Value) Conv(w, b *Value, opts ...ConvOptions) *Value {
	return Conv(v, w, b, opts...)
}

// ConvTransposeOptions holds the options of [ConvTranspose]. The zero value is the default.
type ConvTransposeOptions struct {
	// AutoPad: "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"; empty means "NOTSET".
	AutoPad string
	// Dilations: nil means absent.
	Dilations []int
	// Group: zero means 1.
	Group int
	// KernelShape: nil means absent.
	KernelShape []int
	// OutputPadding: nil means absent.
	OutputPadding []int
	// OutputShape: nil means absent.
	OutputShape []int
	// Pads: nil means absent.
	Pads []int
	// Strides: nil means absent.
	Strides []int
}

// ConvTranspose: Transposed convolution of x [N, C, D1, ...] with w [C, M / group, k1, ...] plus
// bias b [M]. A spatial dim of the result is stride * (D - 1) + OutputPadding + (k - 1) * dilation
// + 1 - pads, or is set by OutputShape, which then sets pads. Absent inputs are nil. At most one
// options struct is meant; the last one counts.
func ConvTranspose(x, w, b *Value, opts ...ConvTransposeOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.AutoPad != "" {
		attrs = append(attrs, stringAttr(attrConvTransposeAutoPad, o.AutoPad))
	}
	if o.Dilations != nil {
		attrs = append(attrs, intsAttr(attrConvTransposeDilations, o.Dilations))
	}
	if o.Group != 0 {
		attrs = append(attrs, intAttr(attrConvTransposeGroup, o.Group))
	}
	if o.KernelShape != nil {
		attrs = append(attrs, intsAttr(attrConvTransposeKernelShape, o.KernelShape))
	}
	if o.OutputPadding != nil {
		attrs = append(attrs, intsAttr(attrConvTransposeOutputPadding, o.OutputPadding))
	}
	if o.OutputShape != nil {
		attrs = append(attrs, intsAttr(attrConvTransposeOutputShape, o.OutputShape))
	}
	if o.Pads != nil {
		attrs = append(attrs, intsAttr(attrConvTransposePads, o.Pads))
	}
	if o.Strides != nil {
		attrs = append(attrs, intsAttr(attrConvTransposeStrides, o.Strides))
	}
	return apply(opConvTranspose, []*Value{x, w, b}, attrs, 1)[0]
}

// ConvTranspose is the function [ConvTranspose] with v as its first input.
func (v *Value) ConvTranspose(w, b *Value, opts ...ConvTransposeOptions) *Value {
	return ConvTranspose(v, w, b, opts...)
}

// Cos: Cosine of radians.
func Cos(input *Value) *Value {
	return apply(opCos, []*Value{input}, nil, 1)[0]
}

// Cos is the function [Cos] with v as its first input.
func (v *Value) Cos() *Value {
	return Cos(v)
}

// Cosh: Hyperbolic cosine.
func Cosh(input *Value) *Value {
	return apply(opCosh, []*Value{input}, nil, 1)[0]
}

// Cosh is the function [Cosh] with v as its first input.
func (v *Value) Cosh() *Value {
	return Cosh(v)
}

// CumSumOptions holds the options of [CumSum]. The zero value is the default.
type CumSumOptions struct {
	Exclusive bool
	Reverse   bool
}

// CumSum: Running sum along axis; exclusive leaves the element itself out, reverse runs from the
// end. At most one options struct is meant; the last one counts.
func CumSum(input *Value, axis int, opts ...CumSumOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Exclusive {
		attrs = append(attrs, boolAttr(attrCumSumExclusive, o.Exclusive))
	}
	if o.Reverse {
		attrs = append(attrs, boolAttr(attrCumSumReverse, o.Reverse))
	}
	return apply(opCumSum, []*Value{input, hostInts([]int{axis})}, attrs, 1)[0]
}

// CumSum is the function [CumSum] with v as its first input.
func (v *Value) CumSum(axis int, opts ...CumSumOptions) *Value {
	return CumSum(v, axis, opts...)
}

// DepthToSpaceOptions holds the options of [DepthToSpace]. The zero value is the default.
type DepthToSpaceOptions struct {
	// Mode: "DCR", "CRD"; empty means "DCR".
	Mode string
}

// DepthToSpace: [N, C, H, W] -> [N, C / b^2, H * b, W * b]: channels become b x b blocks. Mode DCR
// takes the block index from the outer part of C, CRD from the inner part. At most one options
// struct is meant; the last one counts.
func DepthToSpace(input *Value, blocksize int, opts ...DepthToSpaceOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrDepthToSpaceBlocksize, blocksize)}
	if o.Mode != "" {
		attrs = append(attrs, stringAttr(attrDepthToSpaceMode, o.Mode))
	}
	return apply(opDepthToSpace, []*Value{input}, attrs, 1)[0]
}

// DepthToSpace is the function [DepthToSpace] with v as its first input.
func (v *Value) DepthToSpace(blocksize int, opts ...DepthToSpaceOptions) *Value {
	return DepthToSpace(v, blocksize, opts...)
}

// Div: a / b, broadcast as in NumPy. Integers truncate towards zero; x / 0 is 0 and the most
// negative integer / -1 wraps.
func Div(a, b *Value) *Value {
	return apply(opDiv, []*Value{a, b}, nil, 1)[0]
}

// Div is the function [Div] with v as its first input.
func (v *Value) Div(b *Value) *Value {
	return Div(v, b)
}

// Einsum: Sum of products in Einstein notation, such as "bij,bjk->bik"; `...` stands for broadcast
// dims. Without `->` the output has the labels that occur once, in alphabetical order.
func Einsum(inputs []*Value, equation string) *Value {
	return apply(opEinsum, inputs, []attr{stringAttr(attrEinsumEquation, equation)}, 1)[0]
}

// Elu: x for x >= 0, else alpha * (exp(x) - 1).
func Elu(input *Value, alpha float64) *Value {
	return apply(opElu, []*Value{input}, []attr{floatAttr(attrEluAlpha, alpha)}, 1)[0]
}

// Elu is the function [Elu] with v as its first input.
func (v *Value) Elu(alpha float64) *Value {
	return Elu(v, alpha)
}

// Equal: a == b, broadcast as in NumPy. NaN equals nothing.
func Equal(a, b *Value) *Value {
	return apply(opEqual, []*Value{a, b}, nil, 1)[0]
}

// Equal is the function [Equal] with v as its first input.
func (v *Value) Equal(b *Value) *Value {
	return Equal(v, b)
}

// Erf: Error function.
func Erf(input *Value) *Value {
	return apply(opErf, []*Value{input}, nil, 1)[0]
}

// Erf is the function [Erf] with v as its first input.
func (v *Value) Erf() *Value {
	return Erf(v)
}

// Exp: e to the power of the input.
func Exp(input *Value) *Value {
	return apply(opExp, []*Value{input}, nil, 1)[0]
}

// Exp is the function [Exp] with v as its first input.
func (v *Value) Exp() *Value {
	return Exp(v)
}

// Expand: The input broadcast against shape, in both directions as in NumPy: a 1 in shape keeps the
// input's dim.
func Expand(input *Value, shape []int) *Value {
	return apply(opExpand, []*Value{input, hostList(shape)}, nil, 1)[0]
}

// Expand is the function [Expand] with v as its first input.
func (v *Value) Expand(shape []int) *Value {
	return Expand(v, shape)
}

// EyeLikeOptions holds the options of [EyeLike]. The zero value is the default.
type EyeLikeOptions struct {
	// Dtype: zero means absent.
	Dtype DType
}

// EyeLike: A matrix shaped like the 2-D input with ones on diagonal k (k > 0 above the main one)
// and zeros elsewhere; dtype defaults to the input's. At most one options struct is meant; the last
// one counts.
func EyeLike(input *Value, k int, opts ...EyeLikeOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrEyeLikeK, k)}
	if o.Dtype != 0 {
		attrs = append(attrs, dtypeAttr(attrEyeLikeDtype, o.Dtype))
	}
	return apply(opEyeLike, []*Value{input}, attrs, 1)[0]
}

// EyeLike is the function [EyeLike] with v as its first input.
func (v *Value) EyeLike(k int, opts ...EyeLikeOptions) *Value {
	return EyeLike(v, k, opts...)
}

// Flatten: Reshape to a matrix: the dims before axis make the rows, the others the columns.
func Flatten(input *Value, axis int) *Value {
	return apply(opFlatten, []*Value{input}, []attr{intAttr(attrFlattenAxis, axis)}, 1)[0]
}

// Flatten is the function [Flatten] with v as its first input.
func (v *Value) Flatten(axis int) *Value {
	return Flatten(v, axis)
}

// Floor: Largest whole number not above the input.
func Floor(input *Value) *Value {
	return apply(opFloor, []*Value{input}, nil, 1)[0]
}

// Floor is the function [Floor] with v as its first input.
func (v *Value) Floor() *Value {
	return Floor(v)
}

// Gather: Slices of data picked by indices along axis; the shape of indices replaces that axis.
// Negative indices count from the end; one out of range is an error when the run reaches it.
func Gather(data, indices *Value, axis int) *Value {
	return apply(opGather, []*Value{data, indices}, []attr{intAttr(attrGatherAxis, axis)}, 1)[0]
}

// Gather is the function [Gather] with v as its first input.
func (v *Value) Gather(indices *Value, axis int) *Value {
	return Gather(v, indices, axis)
}

// GatherElements: output[i][j] = data[indices[i][j]][j] for axis 0 (and so on): one element per
// index, output shaped like indices, which has the rank of data. Negative indices count from the
// end; one out of range is an error.
func GatherElements(data, indices *Value, axis int) *Value {
	return apply(opGatherElements, []*Value{data, indices}, []attr{intAttr(attrGatherElementsAxis, axis)}, 1)[0]
}

// GatherElements is the function [GatherElements] with v as its first input.
func (v *Value) GatherElements(indices *Value, axis int) *Value {
	return GatherElements(v, indices, axis)
}

// GatherND: Slices of data addressed by index tuples, the last axis of indices; the first batchDims
// axes of both are walked together. Negative indices count from the end; one out of range is an
// error.
func GatherND(data, indices *Value, batchDims int) *Value {
	return apply(opGatherND, []*Value{data, indices}, []attr{intAttr(attrGatherNDBatchDims, batchDims)}, 1)[0]
}

// GatherND is the function [GatherND] with v as its first input.
func (v *Value) GatherND(indices *Value, batchDims int) *Value {
	return GatherND(v, indices, batchDims)
}

// GeluOptions holds the options of [Gelu]. The zero value is the default.
type GeluOptions struct {
	// Approximate: "none", "tanh"; empty means "none".
	Approximate string
}

// Gelu: x / 2 * (1 + erf(x / sqrt(2))); with approximate = "tanh", x / 2 * (1 + tanh(sqrt(2 / pi) *
// (x + 0.044715 x^3))). At most one options struct is meant; the last one counts.
func Gelu(input *Value, opts ...GeluOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Approximate != "" {
		attrs = append(attrs, stringAttr(attrGeluApproximate, o.Approximate))
	}
	return apply(opGelu, []*Value{input}, attrs, 1)[0]
}

// Gelu is the function [Gelu] with v as its first input.
func (v *Value) Gelu(opts ...GeluOptions) *Value {
	return Gelu(v, opts...)
}

// GemmOptions holds the options of [Gemm]. The zero value is the default.
type GemmOptions struct {
	// Alpha: nil means 1.
	Alpha *float64
	// Beta: nil means 1.
	Beta   *float64
	TransA bool
	TransB bool
}

// Gemm: alpha * a' b' + beta * c for matrices, where ' transposes if TransA or TransB is set; c
// broadcasts to the result [M, N]. Absent inputs are nil. At most one options struct is meant; the
// last one counts.
func Gemm(a, b, c *Value, opts ...GemmOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Alpha != nil {
		attrs = append(attrs, floatAttr(attrGemmAlpha, *o.Alpha))
	}
	if o.Beta != nil {
		attrs = append(attrs, floatAttr(attrGemmBeta, *o.Beta))
	}
	if o.TransA {
		attrs = append(attrs, boolAttr(attrGemmTransA, o.TransA))
	}
	if o.TransB {
		attrs = append(attrs, boolAttr(attrGemmTransB, o.TransB))
	}
	return apply(opGemm, []*Value{a, b, c}, attrs, 1)[0]
}

// Gemm is the function [Gemm] with v as its first input.
func (v *Value) Gemm(b, c *Value, opts ...GemmOptions) *Value {
	return Gemm(v, b, c, opts...)
}

// GlobalAveragePool: Mean over all spatial axes of x [N, C, D1, ...], which stay with size 1.
func GlobalAveragePool(x *Value) *Value {
	return apply(opGlobalAveragePool, []*Value{x}, nil, 1)[0]
}

// GlobalAveragePool is the function [GlobalAveragePool] with v as its first input.
func (v *Value) GlobalAveragePool() *Value {
	return GlobalAveragePool(v)
}

// GlobalMaxPool: Largest element over all spatial axes of x [N, C, D1, ...], which stay with size
// 1. NaN propagates.
func GlobalMaxPool(x *Value) *Value {
	return apply(opGlobalMaxPool, []*Value{x}, nil, 1)[0]
}

// GlobalMaxPool is the function [GlobalMaxPool] with v as its first input.
func (v *Value) GlobalMaxPool() *Value {
	return GlobalMaxPool(v)
}

// Greater: a > b, broadcast as in NumPy; false where either is NaN.
func Greater(a, b *Value) *Value {
	return apply(opGreater, []*Value{a, b}, nil, 1)[0]
}

// Greater is the function [Greater] with v as its first input.
func (v *Value) Greater(b *Value) *Value {
	return Greater(v, b)
}

// GreaterOrEqual: a >= b, broadcast as in NumPy; false where either is NaN.
func GreaterOrEqual(a, b *Value) *Value {
	return apply(opGreaterOrEqual, []*Value{a, b}, nil, 1)[0]
}

// GreaterOrEqual is the function [GreaterOrEqual] with v as its first input.
func (v *Value) GreaterOrEqual(b *Value) *Value {
	return GreaterOrEqual(v, b)
}

// GroupNormalization: x [N, C, ...] normalised to mean 0 and variance 1 over each of numGroups
// groups of channels, then scaled and shifted per channel by scale and bias [C].
func GroupNormalization(x, scale, bias *Value, numGroups int, epsilon float64) *Value {
	return apply(opGroupNormalization, []*Value{x, scale, bias}, []attr{intAttr(attrGroupNormalizationNumGroups, numGroups), floatAttr(attrGroupNormalizationEpsilon, epsilon)}, 1)[0]
}

// GroupNormalization is the function [GroupNormalization] with v as its first input.
func (v *Value) GroupNormalization(scale, bias *Value, numGroups int, epsilon float64) *Value {
	return GroupNormalization(v, scale, bias, numGroups, epsilon)
}

// HardSigmoid: max(0, min(1, alpha * x + beta)).
func HardSigmoid(input *Value, alpha, beta float64) *Value {
	return apply(opHardSigmoid, []*Value{input}, []attr{floatAttr(attrHardSigmoidAlpha, alpha), floatAttr(attrHardSigmoidBeta, beta)}, 1)[0]
}

// HardSigmoid is the function [HardSigmoid] with v as its first input.
func (v *Value) HardSigmoid(alpha, beta float64) *Value {
	return HardSigmoid(v, alpha, beta)
}

// HardSwish: x * max(0, min(1, x / 6 + 0.5)).
func HardSwish(input *Value) *Value {
	return apply(opHardSwish, []*Value{input}, nil, 1)[0]
}

// HardSwish is the function [HardSwish] with v as its first input.
func (v *Value) HardSwish() *Value {
	return HardSwish(v)
}

// Hardmax: 1 at the first largest element along axis, 0 elsewhere.
func Hardmax(input *Value, axis int) *Value {
	return apply(opHardmax, []*Value{input}, []attr{intAttr(attrHardmaxAxis, axis)}, 1)[0]
}

// Hardmax is the function [Hardmax] with v as its first input.
func (v *Value) Hardmax(axis int) *Value {
	return Hardmax(v, axis)
}

// Identity: The input unchanged.
func Identity(input *Value) *Value {
	return apply(opIdentity, []*Value{input}, nil, 1)[0]
}

// Identity is the function [Identity] with v as its first input.
func (v *Value) Identity() *Value {
	return Identity(v)
}

// InstanceNormalization: x [N, C, D1, ...] normalised to mean 0 and variance 1 over the spatial
// axes of each channel, then scaled and shifted by scale and bias [C].
func InstanceNormalization(x, scale, bias *Value, epsilon float64) *Value {
	return apply(opInstanceNormalization, []*Value{x, scale, bias}, []attr{floatAttr(attrInstanceNormalizationEpsilon, epsilon)}, 1)[0]
}

// InstanceNormalization is the function [InstanceNormalization] with v as its first input.
func (v *Value) InstanceNormalization(scale, bias *Value, epsilon float64) *Value {
	return InstanceNormalization(v, scale, bias, epsilon)
}

// IsInfOptions holds the options of [IsInf]. The zero value is the default.
type IsInfOptions struct {
	// DetectNegative: nil means true.
	DetectNegative *bool
	// DetectPositive: nil means true.
	DetectPositive *bool
}

// IsInf: True where the input is infinite, of the signs asked for. At most one options struct is
// meant; the last one counts.
func IsInf(input *Value, opts ...IsInfOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.DetectNegative != nil {
		attrs = append(attrs, boolAttr(attrIsInfDetectNegative, *o.DetectNegative))
	}
	if o.DetectPositive != nil {
		attrs = append(attrs, boolAttr(attrIsInfDetectPositive, *o.DetectPositive))
	}
	return apply(opIsInf, []*Value{input}, attrs, 1)[0]
}

// IsInf is the function [IsInf] with v as its first input.
func (v *Value) IsInf(opts ...IsInfOptions) *Value {
	return IsInf(v, opts...)
}

// IsNaN: True where the input is NaN.
func IsNaN(input *Value) *Value {
	return apply(opIsNaN, []*Value{input}, nil, 1)[0]
}

// IsNaN is the function [IsNaN] with v as its first input.
func (v *Value) IsNaN() *Value {
	return IsNaN(v)
}

// LRNOptions holds the options of [LRN]. The zero value is the default.
type LRNOptions struct {
	// Alpha: nil means 0.0001.
	Alpha *float64
	// Beta: nil means 0.75.
	Beta *float64
	// Bias: nil means 1.
	Bias *float64
}

// LRN: x / (bias + alpha / size * s)^beta, where s is the sum of squares over `size` neighbouring
// channels of x [N, C, ...]. At most one options struct is meant; the last one counts.
func LRN(x *Value, size int, opts ...LRNOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrLRNSize, size)}
	if o.Alpha != nil {
		attrs = append(attrs, floatAttr(attrLRNAlpha, *o.Alpha))
	}
	if o.Beta != nil {
		attrs = append(attrs, floatAttr(attrLRNBeta, *o.Beta))
	}
	if o.Bias != nil {
		attrs = append(attrs, floatAttr(attrLRNBias, *o.Bias))
	}
	return apply(opLRN, []*Value{x}, attrs, 1)[0]
}

// LRN is the function [LRN] with v as its first input.
func (v *Value) LRN(size int, opts ...LRNOptions) *Value {
	return LRN(v, size, opts...)
}

// LayerNormalization: x normalised to mean 0 and variance 1 over the axes from axis to the last,
// then times scale plus bias, which broadcast to those axes. mean and inv_std_dev have these axes
// with size 1. Absent inputs are nil.
func LayerNormalization(x, scale, bias *Value, axis int, epsilon float64) *Value {
	return apply(opLayerNormalization, []*Value{x, scale, bias}, []attr{intAttr(attrLayerNormalizationAxis, axis), floatAttr(attrLayerNormalizationEpsilon, epsilon)}, 1)[0]
}

// LayerNormalization is the function [LayerNormalization] with v as its first input.
func (v *Value) LayerNormalization(scale, bias *Value, axis int, epsilon float64) *Value {
	return LayerNormalization(v, scale, bias, axis, epsilon)
}

// LeakyRelu: x for x >= 0, else alpha * x.
func LeakyRelu(input *Value, alpha float64) *Value {
	return apply(opLeakyRelu, []*Value{input}, []attr{floatAttr(attrLeakyReluAlpha, alpha)}, 1)[0]
}

// LeakyRelu is the function [LeakyRelu] with v as its first input.
func (v *Value) LeakyRelu(alpha float64) *Value {
	return LeakyRelu(v, alpha)
}

// Less: a < b, broadcast as in NumPy; false where either is NaN.
func Less(a, b *Value) *Value {
	return apply(opLess, []*Value{a, b}, nil, 1)[0]
}

// Less is the function [Less] with v as its first input.
func (v *Value) Less(b *Value) *Value {
	return Less(v, b)
}

// LessOrEqual: a <= b, broadcast as in NumPy; false where either is NaN.
func LessOrEqual(a, b *Value) *Value {
	return apply(opLessOrEqual, []*Value{a, b}, nil, 1)[0]
}

// LessOrEqual is the function [LessOrEqual] with v as its first input.
func (v *Value) LessOrEqual(b *Value) *Value {
	return LessOrEqual(v, b)
}

// Log: Natural logarithm; -inf at 0, NaN below.
func Log(input *Value) *Value {
	return apply(opLog, []*Value{input}, nil, 1)[0]
}

// Log is the function [Log] with v as its first input.
func (v *Value) Log() *Value {
	return Log(v)
}

// LogSoftmax: x - max - log(sum(exp(x - max))) along axis.
func LogSoftmax(input *Value, axis int) *Value {
	return apply(opLogSoftmax, []*Value{input}, []attr{intAttr(attrLogSoftmaxAxis, axis)}, 1)[0]
}

// LogSoftmax is the function [LogSoftmax] with v as its first input.
func (v *Value) LogSoftmax(axis int) *Value {
	return LogSoftmax(v, axis)
}

// LpNormalization: The input divided by its p-norm (p is 1 or 2) along axis; 0 where the norm is 0.
func LpNormalization(input *Value, axis, p int) *Value {
	return apply(opLpNormalization, []*Value{input}, []attr{intAttr(attrLpNormalizationAxis, axis), intAttr(attrLpNormalizationP, p)}, 1)[0]
}

// LpNormalization is the function [LpNormalization] with v as its first input.
func (v *Value) LpNormalization(axis, p int) *Value {
	return LpNormalization(v, axis, p)
}

// MatMul: Matrix product as numpy.matmul: [..., M, K] x [..., K, N] -> [..., M, N] with the leading
// dims broadcast; a vector on the left counts as one row, on the right as one column, and that dim
// is dropped. float16 and bfloat16 accumulate in float32; integers wrap.
func MatMul(a, b *Value) *Value {
	return apply(opMatMul, []*Value{a, b}, nil, 1)[0]
}

// MatMul is the function [MatMul] with v as its first input.
func (v *Value) MatMul(b *Value) *Value {
	return MatMul(v, b)
}

// Max: Largest of the inputs element by element, broadcast as in NumPy. NaN propagates.
func Max(inputs ...*Value) *Value {
	return apply(opMax, inputs, nil, 1)[0]
}

// MaxPoolOptions holds the options of [MaxPool]. The zero value is the default.
type MaxPoolOptions struct {
	// AutoPad: "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"; empty means "NOTSET".
	AutoPad  string
	CeilMode bool
	// Dilations: nil means absent.
	Dilations []int
	// Pads: nil means absent.
	Pads         []int
	StorageOrder int
	// Strides: nil means absent.
	Strides []int
}

// MaxPool: Largest element in a sliding window over x [N, C, D1, ...]; padding never wins, NaN
// propagates. pads is [begin..., end...], default 0; strides and dilations default to 1. indices
// are flat positions in x, with the last two spatial axes swapped where StorageOrder is 1. At most
// one options struct is meant; the last one counts.
func MaxPool(x *Value, kernelShape []int, opts ...MaxPoolOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if kernelShape != nil {
		attrs = append(attrs, intsAttr(attrMaxPoolKernelShape, kernelShape))
	}
	if o.AutoPad != "" {
		attrs = append(attrs, stringAttr(attrMaxPoolAutoPad, o.AutoPad))
	}
	if o.CeilMode {
		attrs = append(attrs, boolAttr(attrMaxPoolCeilMode, o.CeilMode))
	}
	if o.Dilations != nil {
		attrs = append(attrs, intsAttr(attrMaxPoolDilations, o.Dilations))
	}
	if o.Pads != nil {
		attrs = append(attrs, intsAttr(attrMaxPoolPads, o.Pads))
	}
	if o.StorageOrder != 0 {
		attrs = append(attrs, intAttr(attrMaxPoolStorageOrder, o.StorageOrder))
	}
	if o.Strides != nil {
		attrs = append(attrs, intsAttr(attrMaxPoolStrides, o.Strides))
	}
	return apply(opMaxPool, []*Value{x}, attrs, 1)[0]
}

// MaxPool is the function [MaxPool] with v as its first input.
func (v *Value) MaxPool(kernelShape []int, opts ...MaxPoolOptions) *Value {
	return MaxPool(v, kernelShape, opts...)
}

// Mean: Mean of the inputs element by element, broadcast as in NumPy.
func Mean(inputs ...*Value) *Value {
	return apply(opMean, inputs, nil, 1)[0]
}

// MeanVarianceNormalization: (x - mean) / (standard deviation + 1e-9) over axes, which default to
// [0, 2, 3].
func MeanVarianceNormalization(x *Value, axes []int) *Value {
	attrs := []attr{}
	if axes != nil {
		attrs = append(attrs, intsAttr(attrMeanVarianceNormalizationAxes, axes))
	}
	return apply(opMeanVarianceNormalization, []*Value{x}, attrs, 1)[0]
}

// MeanVarianceNormalization is the function [MeanVarianceNormalization] with v as its first input.
func (v *Value) MeanVarianceNormalization(axes []int) *Value {
	return MeanVarianceNormalization(v, axes)
}

// Min: Smallest of the inputs element by element, broadcast as in NumPy. NaN propagates.
func Min(inputs ...*Value) *Value {
	return apply(opMin, inputs, nil, 1)[0]
}

// Mish: x * tanh(log(1 + exp(x))).
func Mish(input *Value) *Value {
	return apply(opMish, []*Value{input}, nil, 1)[0]
}

// Mish is the function [Mish] with v as its first input.
func (v *Value) Mish() *Value {
	return Mish(v)
}

// Mod: Remainder of a / b, broadcast as in NumPy. The sign follows b, or a with fmod (the C
// function). An integer x mod 0 is 0.
func Mod(a, b *Value, fmod bool) *Value {
	return apply(opMod, []*Value{a, b}, []attr{boolAttr(attrModFmod, fmod)}, 1)[0]
}

// Mod is the function [Mod] with v as its first input.
func (v *Value) Mod(b *Value, fmod bool) *Value {
	return Mod(v, b, fmod)
}

// Mul: Product of both inputs, broadcast as in NumPy. Integers wrap.
func Mul(a, b *Value) *Value {
	return apply(opMul, []*Value{a, b}, nil, 1)[0]
}

// Mul is the function [Mul] with v as its first input.
func (v *Value) Mul(b *Value) *Value {
	return Mul(v, b)
}

// Neg: The input with the other sign. The most negative integer wraps to itself.
func Neg(input *Value) *Value {
	return apply(opNeg, []*Value{input}, nil, 1)[0]
}

// Neg is the function [Neg] with v as its first input.
func (v *Value) Neg() *Value {
	return Neg(v)
}

// NonZero: Indices of the elements that are not 0, in row-major order, as [rank, count]; count
// depends on the data.
func NonZero(input *Value) *Value {
	return apply(opNonZero, []*Value{input}, nil, 1)[0]
}

// NonZero is the function [NonZero] with v as its first input.
func (v *Value) NonZero() *Value {
	return NonZero(v)
}

// Not: Logical not.
func Not(input *Value) *Value {
	return apply(opNot, []*Value{input}, nil, 1)[0]
}

// Not is the function [Not] with v as its first input.
func (v *Value) Not() *Value {
	return Not(v)
}

// OneHot: values is [off, on]: a new axis of size depth holds `on` at the index and `off`
// elsewhere. Negative indices count from the end; an index out of range gives `off` only.
func OneHot(indices *Value, depth int, values *Value, axis int) *Value {
	return apply(opOneHot, []*Value{indices, hostInts([]int{depth}), values}, []attr{intAttr(attrOneHotAxis, axis)}, 1)[0]
}

// OneHot is the function [OneHot] with v as its first input.
func (v *Value) OneHot(depth int, values *Value, axis int) *Value {
	return OneHot(v, depth, values, axis)
}

// Or: Logical or, broadcast as in NumPy.
func Or(a, b *Value) *Value {
	return apply(opOr, []*Value{a, b}, nil, 1)[0]
}

// Or is the function [Or] with v as its first input.
func (v *Value) Or(b *Value) *Value {
	return Or(v, b)
}

// PRelu: x for x >= 0, else slope * x; slope broadcasts to the shape of x.
func PRelu(x, slope *Value) *Value {
	return apply(opPRelu, []*Value{x, slope}, nil, 1)[0]
}

// PRelu is the function [PRelu] with v as its first input.
func (v *Value) PRelu(slope *Value) *Value {
	return PRelu(v, slope)
}

// PadOptions holds the options of [Pad]. The zero value is the default.
type PadOptions struct {
	// Mode: "constant", "reflect", "edge", "wrap"; empty means "constant".
	Mode string
}

// Pad: data with elements added around it: pads is [begin..., end...] for the given axes (all by
// default), negative values crop. constantValue, a scalar, defaults to 0; reflect mirrors without
// the edge, edge repeats it, wrap continues from the other side. Absent inputs are nil. At most one
// options struct is meant; the last one counts.
func Pad(data *Value, pads []int, constantValue *Value, axes []int, opts ...PadOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Mode != "" {
		attrs = append(attrs, stringAttr(attrPadMode, o.Mode))
	}
	return apply(opPad, []*Value{data, hostList(pads), constantValue, hostInts(axes)}, attrs, 1)[0]
}

// Pad is the function [Pad] with v as its first input.
func (v *Value) Pad(pads []int, constantValue *Value, axes []int, opts ...PadOptions) *Value {
	return Pad(v, pads, constantValue, axes, opts...)
}

// Pow: a to the power of b, broadcast as in NumPy, in the dtype of a. Integer powers wrap; a
// negative integer exponent gives 0 unless a is 1 or -1.
func Pow(a, b *Value) *Value {
	return apply(opPow, []*Value{a, b}, nil, 1)[0]
}

// Pow is the function [Pow] with v as its first input.
func (v *Value) Pow(b *Value) *Value {
	return Pow(v, b)
}

// RMSNormalization: x / sqrt(mean(x^2) + epsilon) * scale over the axes from axis to the last;
// scale broadcasts to x. The result has the dtype of scale.
func RMSNormalization(x, scale *Value, axis int, epsilon float64) *Value {
	return apply(opRMSNormalization, []*Value{x, scale}, []attr{intAttr(attrRMSNormalizationAxis, axis), floatAttr(attrRMSNormalizationEpsilon, epsilon)}, 1)[0]
}

// RMSNormalization is the function [RMSNormalization] with v as its first input.
func (v *Value) RMSNormalization(scale *Value, axis int, epsilon float64) *Value {
	return RMSNormalization(v, scale, axis, epsilon)
}

// Range: start, start + delta, ... below limit (above it for a negative delta); all three are
// scalars. The size is max(0, ceil((limit - start) / delta)); delta 0 is an error.
func Range(start, limit, delta *Value) *Value {
	return apply(opRange, []*Value{start, limit, delta}, nil, 1)[0]
}

// Reciprocal: 1 / x.
func Reciprocal(input *Value) *Value {
	return apply(opReciprocal, []*Value{input}, nil, 1)[0]
}

// Reciprocal is the function [Reciprocal] with v as its first input.
func (v *Value) Reciprocal() *Value {
	return Reciprocal(v)
}

// ReduceL1: Sum of absolute values, over axes, or over all of them when axes is absent or empty.
// keepdims leaves the reduced axes with size 1. Over nothing the result is 0. Absent inputs are
// nil.
func ReduceL1(data *Value, axes []int, keepdims bool) *Value {
	return apply(opReduceL1, []*Value{data, hostInts(axes)}, []attr{boolAttr(attrReduceL1Keepdims, keepdims)}, 1)[0]
}

// ReduceL1 is the function [ReduceL1] with v as its first input.
func (v *Value) ReduceL1(axes []int, keepdims bool) *Value {
	return ReduceL1(v, axes, keepdims)
}

// ReduceL2: Square root of the sum of squares, over axes, or over all of them when axes is absent
// or empty. keepdims leaves the reduced axes with size 1. Over nothing the result is 0. Absent
// inputs are nil.
func ReduceL2(data *Value, axes []int, keepdims bool) *Value {
	return apply(opReduceL2, []*Value{data, hostInts(axes)}, []attr{boolAttr(attrReduceL2Keepdims, keepdims)}, 1)[0]
}

// ReduceL2 is the function [ReduceL2] with v as its first input.
func (v *Value) ReduceL2(axes []int, keepdims bool) *Value {
	return ReduceL2(v, axes, keepdims)
}

// ReduceLogSum: Natural logarithm of the sum, over axes, or over all of them when axes is absent or
// empty. keepdims leaves the reduced axes with size 1. Over nothing the result is -inf. Absent
// inputs are nil.
func ReduceLogSum(data *Value, axes []int, keepdims bool) *Value {
	return apply(opReduceLogSum, []*Value{data, hostInts(axes)}, []attr{boolAttr(attrReduceLogSumKeepdims, keepdims)}, 1)[0]
}

// ReduceLogSum is the function [ReduceLogSum] with v as its first input.
func (v *Value) ReduceLogSum(axes []int, keepdims bool) *Value {
	return ReduceLogSum(v, axes, keepdims)
}

// ReduceLogSumExp: Logarithm of the sum of exponentials, shifted by the largest element so that it
// does not overflow, over axes, or over all of them when axes is absent or empty. keepdims leaves
// the reduced axes with size 1. Over nothing the result is -inf. Absent inputs are nil.
func ReduceLogSumExp(data *Value, axes []int, keepdims bool) *Value {
	return apply(opReduceLogSumExp, []*Value{data, hostInts(axes)}, []attr{boolAttr(attrReduceLogSumExpKeepdims, keepdims)}, 1)[0]
}

// ReduceLogSumExp is the function [ReduceLogSumExp] with v as its first input.
func (v *Value) ReduceLogSumExp(axes []int, keepdims bool) *Value {
	return ReduceLogSumExp(v, axes, keepdims)
}

// ReduceMax: Largest element; NaN propagates, over axes, or over all of them when axes is absent or
// empty. keepdims leaves the reduced axes with size 1. Over nothing the result is the lowest value
// of the dtype (-inf for floats). Absent inputs are nil.
func ReduceMax(data *Value, axes []int, keepdims bool) *Value {
	return apply(opReduceMax, []*Value{data, hostInts(axes)}, []attr{boolAttr(attrReduceMaxKeepdims, keepdims)}, 1)[0]
}

// ReduceMax is the function [ReduceMax] with v as its first input.
func (v *Value) ReduceMax(axes []int, keepdims bool) *Value {
	return ReduceMax(v, axes, keepdims)
}

// ReduceMean: Mean; integers truncate, over axes, or over all of them when axes is absent or empty.
// keepdims leaves the reduced axes with size 1. Over nothing the result is NaN (0 for integers).
// Absent inputs are nil.
func ReduceMean(data *Value, axes []int, keepdims bool) *Value {
	return apply(opReduceMean, []*Value{data, hostInts(axes)}, []attr{boolAttr(attrReduceMeanKeepdims, keepdims)}, 1)[0]
}

// ReduceMean is the function [ReduceMean] with v as its first input.
func (v *Value) ReduceMean(axes []int, keepdims bool) *Value {
	return ReduceMean(v, axes, keepdims)
}

// ReduceMin: Smallest element; NaN propagates, over axes, or over all of them when axes is absent
// or empty. keepdims leaves the reduced axes with size 1. Over nothing the result is the highest
// value of the dtype (inf for floats). Absent inputs are nil.
func ReduceMin(data *Value, axes []int, keepdims bool) *Value {
	return apply(opReduceMin, []*Value{data, hostInts(axes)}, []attr{boolAttr(attrReduceMinKeepdims, keepdims)}, 1)[0]
}

// ReduceMin is the function [ReduceMin] with v as its first input.
func (v *Value) ReduceMin(axes []int, keepdims bool) *Value {
	return ReduceMin(v, axes, keepdims)
}

// ReduceProd: Product, over axes, or over all of them when axes is absent or empty. keepdims leaves
// the reduced axes with size 1. Over nothing the result is 1. Absent inputs are nil.
func ReduceProd(data *Value, axes []int, keepdims bool) *Value {
	return apply(opReduceProd, []*Value{data, hostInts(axes)}, []attr{boolAttr(attrReduceProdKeepdims, keepdims)}, 1)[0]
}

// ReduceProd is the function [ReduceProd] with v as its first input.
func (v *Value) ReduceProd(axes []int, keepdims bool) *Value {
	return ReduceProd(v, axes, keepdims)
}

// ReduceSum: Sum, over axes, or over all of them when axes is absent or empty. keepdims leaves the
// reduced axes with size 1. Over nothing the result is 0. Absent inputs are nil.
func ReduceSum(data *Value, axes []int, keepdims bool) *Value {
	return apply(opReduceSum, []*Value{data, hostInts(axes)}, []attr{boolAttr(attrReduceSumKeepdims, keepdims)}, 1)[0]
}

// ReduceSum is the function [ReduceSum] with v as its first input.
func (v *Value) ReduceSum(axes []int, keepdims bool) *Value {
	return ReduceSum(v, axes, keepdims)
}

// ReduceSumSquare: Sum of squares, over axes, or over all of them when axes is absent or empty.
// keepdims leaves the reduced axes with size 1. Over nothing the result is 0. Absent inputs are
// nil.
func ReduceSumSquare(data *Value, axes []int, keepdims bool) *Value {
	return apply(opReduceSumSquare, []*Value{data, hostInts(axes)}, []attr{boolAttr(attrReduceSumSquareKeepdims, keepdims)}, 1)[0]
}

// ReduceSumSquare is the function [ReduceSumSquare] with v as its first input.
func (v *Value) ReduceSumSquare(axes []int, keepdims bool) *Value {
	return ReduceSumSquare(v, axes, keepdims)
}

// Relu: max(0, x). NaN propagates.
func Relu(input *Value) *Value {
	return apply(opRelu, []*Value{input}, nil, 1)[0]
}

// Relu is the function [Relu] with v as its first input.
func (v *Value) Relu() *Value {
	return Relu(v)
}

// ReshapeOptions holds the options of [Reshape]. The zero value is the default.
type ReshapeOptions struct {
	Allowzero bool
}

// Reshape: The same elements with another shape. One dim may be -1 and is worked out; 0 copies the
// dim of data at that place, or means size 0 with allowzero. At most one options struct is meant;
// the last one counts.
func Reshape(data *Value, shape []int, opts ...ReshapeOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Allowzero {
		attrs = append(attrs, boolAttr(attrReshapeAllowzero, o.Allowzero))
	}
	return apply(opReshape, []*Value{data, hostList(shape)}, attrs, 1)[0]
}

// Reshape is the function [Reshape] with v as its first input.
func (v *Value) Reshape(shape []int, opts ...ReshapeOptions) *Value {
	return Reshape(v, shape, opts...)
}

// ResizeOptions holds the options of [Resize]. The zero value is the default.
type ResizeOptions struct {
	// Roi: may be nil.
	Roi       *Value
	Antialias bool
	// Axes: nil means absent.
	Axes []int
	// CoordinateTransformationMode: "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
	// "align_corners", "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"; empty means
	// "half_pixel".
	CoordinateTransformationMode string
	// CubicCoeffA: nil means -0.75.
	CubicCoeffA        *float64
	ExcludeOutside     bool
	ExtrapolationValue float64
	// KeepAspectRatioPolicy: "stretch", "not_larger", "not_smaller"; empty means "stretch".
	KeepAspectRatioPolicy string
	// NearestMode: "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"; empty means
	// "round_prefer_floor".
	NearestMode string
}

// Resize: x sampled on another grid; exactly one of scales (a float32 factor per axis) and sizes is
// given, for the axes in axes (all by default). roi is read only by tf_crop_and_resize.
// tf_half_pixel_for_nn is of opset 11 only: half_pixel without its last half. Absent inputs are
// nil. At most one options struct is meant; the last one counts.
func Resize(x, scales *Value, sizes []int, mode string, opts ...ResizeOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{stringAttr(attrResizeMode, mode)}
	if o.Antialias {
		attrs = append(attrs, boolAttr(attrResizeAntialias, o.Antialias))
	}
	if o.Axes != nil {
		attrs = append(attrs, intsAttr(attrResizeAxes, o.Axes))
	}
	if o.CoordinateTransformationMode != "" {
		attrs = append(attrs, stringAttr(attrResizeCoordinateTransformationMode, o.CoordinateTransformationMode))
	}
	if o.CubicCoeffA != nil {
		attrs = append(attrs, floatAttr(attrResizeCubicCoeffA, *o.CubicCoeffA))
	}
	if o.ExcludeOutside {
		attrs = append(attrs, boolAttr(attrResizeExcludeOutside, o.ExcludeOutside))
	}
	if o.ExtrapolationValue != 0 {
		attrs = append(attrs, floatAttr(attrResizeExtrapolationValue, o.ExtrapolationValue))
	}
	if o.KeepAspectRatioPolicy != "" {
		attrs = append(attrs, stringAttr(attrResizeKeepAspectRatioPolicy, o.KeepAspectRatioPolicy))
	}
	if o.NearestMode != "" {
		attrs = append(attrs, stringAttr(attrResizeNearestMode, o.NearestMode))
	}
	return apply(opResize, []*Value{x, o.Roi, scales, hostInts(sizes)}, attrs, 1)[0]
}

// Resize is the function [Resize] with v as its first input.
func (v *Value) Resize(scales *Value, sizes []int, mode string, opts ...ResizeOptions) *Value {
	return Resize(v, scales, sizes, mode, opts...)
}

// ReverseSequence: The first sequenceLens[b] elements along timeAxis reversed for each batch b, the
// rest unchanged. The two axes are 0 and 1 in either order.
func ReverseSequence(input, sequenceLens *Value, batchAxis, timeAxis int) *Value {
	return apply(opReverseSequence, []*Value{input, sequenceLens}, []attr{intAttr(attrReverseSequenceBatchAxis, batchAxis), intAttr(attrReverseSequenceTimeAxis, timeAxis)}, 1)[0]
}

// ReverseSequence is the function [ReverseSequence] with v as its first input.
func (v *Value) ReverseSequence(sequenceLens *Value, batchAxis, timeAxis int) *Value {
	return ReverseSequence(v, sequenceLens, batchAxis, timeAxis)
}

// RotaryEmbeddingOptions holds the options of [RotaryEmbedding]. The zero value is the default.
type RotaryEmbeddingOptions struct {
	Interleaved        bool
	NumHeads           int
	RotaryEmbeddingDim int
}

// RotaryEmbedding: Pairs of elements of x [batch, heads, sequence, head size] (or [batch, sequence,
// hidden] with NumHeads) rotated by the angles in cosCache and sinCache: [max position, rotary / 2]
// looked up by positionIds [batch, sequence], or [batch, sequence, rotary / 2] without them. Pairs
// are (i, i + rotary / 2), or neighbours when interleaved; only the first RotaryEmbeddingDim
// elements turn, all when it is 0. Absent inputs are nil. At most one options struct is meant; the
// last one counts.
func RotaryEmbedding(x, cosCache, sinCache, positionIds *Value, opts ...RotaryEmbeddingOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Interleaved {
		attrs = append(attrs, boolAttr(attrRotaryEmbeddingInterleaved, o.Interleaved))
	}
	if o.NumHeads != 0 {
		attrs = append(attrs, intAttr(attrRotaryEmbeddingNumHeads, o.NumHeads))
	}
	if o.RotaryEmbeddingDim != 0 {
		attrs = append(attrs, intAttr(attrRotaryEmbeddingRotaryEmbeddingDim, o.RotaryEmbeddingDim))
	}
	return apply(opRotaryEmbedding, []*Value{x, cosCache, sinCache, positionIds}, attrs, 1)[0]
}

// RotaryEmbedding is the function [RotaryEmbedding] with v as its first input.
func (v *Value) RotaryEmbedding(cosCache, sinCache, positionIds *Value, opts ...RotaryEmbeddingOptions) *Value {
	return RotaryEmbedding(v, cosCache, sinCache, positionIds, opts...)
}

// Round: Nearest whole number, halves to even.
func Round(input *Value) *Value {
	return apply(opRound, []*Value{input}, nil, 1)[0]
}

// Round is the function [Round] with v as its first input.
func (v *Value) Round() *Value {
	return Round(v)
}

// ScatterElementsOptions holds the options of [ScatterElements]. The zero value is the default.
type ScatterElementsOptions struct {
	// Reduction: "none", "add", "mul", "max", "min"; empty means "none".
	Reduction string
}

// ScatterElements: A copy of data where output[indices[i][j]][j] = updates[i][j] for axis 0 (and so
// on), combined with the old value by reduction. With none, of equal indices the last update in
// row-major order stays. Negative indices count from the end; one out of range is an error. At most
// one options struct is meant; the last one counts.
func ScatterElements(data, indices, updates *Value, axis int, opts ...ScatterElementsOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrScatterElementsAxis, axis)}
	if o.Reduction != "" {
		attrs = append(attrs, stringAttr(attrScatterElementsReduction, o.Reduction))
	}
	return apply(opScatterElements, []*Value{data, indices, updates}, attrs, 1)[0]
}

// ScatterElements is the function [ScatterElements] with v as its first input.
func (v *Value) ScatterElements(indices, updates *Value, axis int, opts ...ScatterElementsOptions) *Value {
	return ScatterElements(v, indices, updates, axis, opts...)
}

// ScatterNDOptions holds the options of [ScatterND]. The zero value is the default.
type ScatterNDOptions struct {
	// Reduction: "none", "add", "mul", "max", "min"; empty means "none".
	Reduction string
}

// ScatterND: A copy of data with the slices addressed by the index tuples (last axis of indices)
// replaced by updates, or combined by reduction. With none, of equal indices the last update in
// row-major order stays. Negative indices count from the end; one out of range is an error. At most
// one options struct is meant; the last one counts.
func ScatterND(data, indices, updates *Value, opts ...ScatterNDOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Reduction != "" {
		attrs = append(attrs, stringAttr(attrScatterNDReduction, o.Reduction))
	}
	return apply(opScatterND, []*Value{data, indices, updates}, attrs, 1)[0]
}

// ScatterND is the function [ScatterND] with v as its first input.
func (v *Value) ScatterND(indices, updates *Value, opts ...ScatterNDOptions) *Value {
	return ScatterND(v, indices, updates, opts...)
}

// SeluOptions holds the options of [Selu]. The zero value is the default.
type SeluOptions struct {
	// Alpha: nil means 1.67326.
	Alpha *float64
	// Gamma: nil means 1.0507.
	Gamma *float64
}

// Selu: gamma * x for x > 0, else gamma * alpha * (exp(x) - 1). At most one options struct is
// meant; the last one counts.
func Selu(input *Value, opts ...SeluOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Alpha != nil {
		attrs = append(attrs, floatAttr(attrSeluAlpha, *o.Alpha))
	}
	if o.Gamma != nil {
		attrs = append(attrs, floatAttr(attrSeluGamma, *o.Gamma))
	}
	return apply(opSelu, []*Value{input}, attrs, 1)[0]
}

// Selu is the function [Selu] with v as its first input.
func (v *Value) Selu(opts ...SeluOptions) *Value {
	return Selu(v, opts...)
}

// ShapeOfOptions holds the options of [ShapeOf]. The zero value is the default.
type ShapeOfOptions struct {
	Start int
	// End: nil means absent.
	End *int
}

// ShapeOf: The dims of data from start up to, not including, end (the rank when absent) as a
// vector. Negative values count from the end, both are clamped. At most one options struct is
// meant; the last one counts.
func ShapeOf(data *Value, opts ...ShapeOfOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Start != 0 {
		attrs = append(attrs, intAttr(attrShapeOfStart, o.Start))
	}
	if o.End != nil {
		attrs = append(attrs, intAttr(attrShapeOfEnd, *o.End))
	}
	return apply(opShapeOf, []*Value{data}, attrs, 1)[0]
}

// ShapeOf is the function [ShapeOf] with v as its first input.
func (v *Value) ShapeOf(opts ...ShapeOfOptions) *Value {
	return ShapeOf(v, opts...)
}

// Shrink: x + bias for x < -lambd, x - bias for x > lambd, else 0.
func Shrink(input *Value, lambd, bias float64) *Value {
	return apply(opShrink, []*Value{input}, []attr{floatAttr(attrShrinkLambd, lambd), floatAttr(attrShrinkBias, bias)}, 1)[0]
}

// Shrink is the function [Shrink] with v as its first input.
func (v *Value) Shrink(lambd, bias float64) *Value {
	return Shrink(v, lambd, bias)
}

// Sigmoid: 1 / (1 + exp(-x)).
func Sigmoid(input *Value) *Value {
	return apply(opSigmoid, []*Value{input}, nil, 1)[0]
}

// Sigmoid is the function [Sigmoid] with v as its first input.
func (v *Value) Sigmoid() *Value {
	return Sigmoid(v)
}

// Sign: -1, 0 or 1; NaN stays NaN.
func Sign(input *Value) *Value {
	return apply(opSign, []*Value{input}, nil, 1)[0]
}

// Sign is the function [Sign] with v as its first input.
func (v *Value) Sign() *Value {
	return Sign(v)
}

// SiluOptions holds the options of [Silu]. The zero value is the default.
type SiluOptions struct {
	// Alpha: nil means 1.
	Alpha *float64
}

// Silu: x * sigmoid(alpha * x). ONNX calls it Swish. At most one options struct is meant; the last
// one counts.
func Silu(input *Value, opts ...SiluOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Alpha != nil {
		attrs = append(attrs, floatAttr(attrSiluAlpha, *o.Alpha))
	}
	return apply(opSilu, []*Value{input}, attrs, 1)[0]
}

// Silu is the function [Silu] with v as its first input.
func (v *Value) Silu(opts ...SiluOptions) *Value {
	return Silu(v, opts...)
}

// Sin: Sine of radians.
func Sin(input *Value) *Value {
	return apply(opSin, []*Value{input}, nil, 1)[0]
}

// Sin is the function [Sin] with v as its first input.
func (v *Value) Sin() *Value {
	return Sin(v)
}

// Sinh: Hyperbolic sine.
func Sinh(input *Value) *Value {
	return apply(opSinh, []*Value{input}, nil, 1)[0]
}

// Sinh is the function [Sinh] with v as its first input.
func (v *Value) Sinh() *Value {
	return Sinh(v)
}

// SizeOf: The number of elements of data as a scalar.
func SizeOf(data *Value) *Value {
	return apply(opSizeOf, []*Value{data}, nil, 1)[0]
}

// SizeOf is the function [SizeOf] with v as its first input.
func (v *Value) SizeOf() *Value {
	return SizeOf(v)
}

// Slice: data[start:end:step] per axis as in Python: negative positions count from the end, all are
// clamped, a step may be negative but not 0. axes defaults to the first ones in order, steps to 1.
// Absent inputs are nil.
func Slice(data *Value, starts, ends, axes, steps []int) *Value {
	return apply(opSlice, []*Value{data, hostList(starts), hostList(ends), hostInts(axes), hostInts(steps)}, nil, 1)[0]
}

// Slice is the function [Slice] with v as its first input.
func (v *Value) Slice(starts, ends, axes, steps []int) *Value {
	return Slice(v, starts, ends, axes, steps)
}

// Softmax: exp(x - max) / sum(exp(x - max)) along axis. A row of -inf only gives NaN, or 0 with
// zero_masked_rows (files only).
func Softmax(input *Value, axis int) *Value {
	return apply(opSoftmax, []*Value{input}, []attr{intAttr(attrSoftmaxAxis, axis)}, 1)[0]
}

// Softmax is the function [Softmax] with v as its first input.
func (v *Value) Softmax(axis int) *Value {
	return Softmax(v, axis)
}

// Softplus: log(1 + exp(x)), without overflow for large x.
func Softplus(input *Value) *Value {
	return apply(opSoftplus, []*Value{input}, nil, 1)[0]
}

// Softplus is the function [Softplus] with v as its first input.
func (v *Value) Softplus() *Value {
	return Softplus(v)
}

// Softsign: x / (1 + |x|).
func Softsign(input *Value) *Value {
	return apply(opSoftsign, []*Value{input}, nil, 1)[0]
}

// Softsign is the function [Softsign] with v as its first input.
func (v *Value) Softsign() *Value {
	return Softsign(v)
}

// SpaceToDepthOptions holds the options of [SpaceToDepth]. The zero value is the default.
type SpaceToDepthOptions struct {
	// Mode: "DCR", "CRD"; empty means "DCR".
	Mode string
}

// SpaceToDepth: [N, C, H, W] -> [N, C * b^2, H / b, W / b]: b x b blocks become channels, the block
// index outermost in mode DCR, innermost in CRD. H and W must be multiples of b. At most one
// options struct is meant; the last one counts.
func SpaceToDepth(input *Value, blocksize int, opts ...SpaceToDepthOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrSpaceToDepthBlocksize, blocksize)}
	if o.Mode != "" {
		attrs = append(attrs, stringAttr(attrSpaceToDepthMode, o.Mode))
	}
	return apply(opSpaceToDepth, []*Value{input}, attrs, 1)[0]
}

// SpaceToDepth is the function [SpaceToDepth] with v as its first input.
func (v *Value) SpaceToDepth(blocksize int, opts ...SpaceToDepthOptions) *Value {
	return SpaceToDepth(v, blocksize, opts...)
}

// Split: The input cut along axis into pieces of the sizes in split; without it into numOutputs
// pieces of equal size, the last one smaller when it does not divide evenly. Absent inputs are nil.
// numOutputs is read only when split is nil.
func Split(input *Value, split []int, axis, numOutputs int) []*Value {
	attrs := []attr{intAttr(attrSplitAxis, axis)}
	n := len(split)
	if split == nil {
		n = numOutputs
		attrs = append(attrs, intAttr(attrSplitNumOutputs, n))
	}
	return apply(opSplit, []*Value{input, hostInts(split)}, attrs, n)
}

// Split is the function [Split] with v as its first input.
func (v *Value) Split(split []int, axis, numOutputs int) []*Value {
	return Split(v, split, axis, numOutputs)
}

// Sqrt: Square root; NaN below 0.
func Sqrt(input *Value) *Value {
	return apply(opSqrt, []*Value{input}, nil, 1)[0]
}

// Sqrt is the function [Sqrt] with v as its first input.
func (v *Value) Sqrt() *Value {
	return Sqrt(v)
}

// Squeeze: data without the axes given, which must have size 1; without axes, all dims of size 1
// go. Absent inputs are nil.
func Squeeze(data *Value, axes []int) *Value {
	return apply(opSqueeze, []*Value{data, hostInts(axes)}, nil, 1)[0]
}

// Squeeze is the function [Squeeze] with v as its first input.
func (v *Value) Squeeze(axes []int) *Value {
	return Squeeze(v, axes)
}

// Sub: a - b, broadcast as in NumPy. Integers wrap.
func Sub(a, b *Value) *Value {
	return apply(opSub, []*Value{a, b}, nil, 1)[0]
}

// Sub is the function [Sub] with v as its first input.
func (v *Value) Sub(b *Value) *Value {
	return Sub(v, b)
}

// Sum: Sum of the inputs element by element, broadcast as in NumPy. Integers wrap.
func Sum(inputs ...*Value) *Value {
	return apply(opSum, inputs, nil, 1)[0]
}

// Tan: Tangent of radians.
func Tan(input *Value) *Value {
	return apply(opTan, []*Value{input}, nil, 1)[0]
}

// Tan is the function [Tan] with v as its first input.
func (v *Value) Tan() *Value {
	return Tan(v)
}

// Tanh: Hyperbolic tangent.
func Tanh(input *Value) *Value {
	return apply(opTanh, []*Value{input}, nil, 1)[0]
}

// Tanh is the function [Tanh] with v as its first input.
func (v *Value) Tanh() *Value {
	return Tanh(v)
}

// ThresholdedRelu: x for x > alpha, else 0. NaN gives 0.
func ThresholdedRelu(input *Value, alpha float64) *Value {
	return apply(opThresholdedRelu, []*Value{input}, []attr{floatAttr(attrThresholdedReluAlpha, alpha)}, 1)[0]
}

// ThresholdedRelu is the function [ThresholdedRelu] with v as its first input.
func (v *Value) ThresholdedRelu(alpha float64) *Value {
	return ThresholdedRelu(v, alpha)
}

// Tile: The input repeated repeats[i] times along each axis i.
func Tile(input *Value, repeats []int) *Value {
	return apply(opTile, []*Value{input, hostList(repeats)}, nil, 1)[0]
}

// Tile is the function [Tile] with v as its first input.
func (v *Value) Tile(repeats []int) *Value {
	return Tile(v, repeats)
}

// TopK: The k largest (or smallest) elements along axis in order, and their indices. Of equal
// values the lower index comes first; NaN counts as larger than any number. k must be between 0 and
// the size of the axis.
func TopK(x *Value, k, axis int, largest bool) (values, indices *Value) {
	out := apply(opTopK, []*Value{x, hostInts([]int{k})}, []attr{intAttr(attrTopKAxis, axis), boolAttr(attrTopKLargest, largest)}, 2)
	return out[0], out[1]
}

// TopK is the function [TopK] with v as its first input.
func (v *Value) TopK(k, axis int, largest bool) (values, indices *Value) {
	return TopK(v, k, axis, largest)
}

// Transpose: Axes reordered: output axis i is input axis perm[i]. Without perm the order is
// reversed.
func Transpose(data *Value, perm []int) *Value {
	attrs := []attr{}
	if perm != nil {
		attrs = append(attrs, intsAttr(attrTransposePerm, perm))
	}
	return apply(opTranspose, []*Value{data}, attrs, 1)[0]
}

// Transpose is the function [Transpose] with v as its first input.
func (v *Value) Transpose(perm []int) *Value {
	return Transpose(v, perm)
}

// Trilu: The upper (or lower) triangle of the last two axes, diagonal k included, zeros elsewhere.
// k > 0 is above the main diagonal; absent means 0.
func Trilu(input *Value, k int, upper bool) *Value {
	return apply(opTrilu, []*Value{input, hostInts([]int{k})}, []attr{boolAttr(attrTriluUpper, upper)}, 1)[0]
}

// Trilu is the function [Trilu] with v as its first input.
func (v *Value) Trilu(k int, upper bool) *Value {
	return Trilu(v, k, upper)
}

// Unsqueeze: New axes of size 1 at the given positions of the result; no position twice.
func Unsqueeze(data *Value, axes []int) *Value {
	return apply(opUnsqueeze, []*Value{data, hostList(axes)}, nil, 1)[0]
}

// Unsqueeze is the function [Unsqueeze] with v as its first input.
func (v *Value) Unsqueeze(axes []int) *Value {
	return Unsqueeze(v, axes)
}

// Where: x where condition is true, else y; all three broadcast as in NumPy.
func Where(condition, x, y *Value) *Value {
	return apply(opWhere, []*Value{condition, x, y}, nil, 1)[0]
}

// Where is the function [Where] with v as its first input.
func (v *Value) Where(x, y *Value) *Value {
	return Where(v, x, y)
}

// Xor: Logical exclusive or, broadcast as in NumPy.
func Xor(a, b *Value) *Value {
	return apply(opXor, []*Value{a, b}, nil, 1)[0]
}

// Xor is the function [Xor] with v as its first input.
func (v *Value) Xor(b *Value) *Value {
	return Xor(v, b)
}

// LSTMOptions holds the options of [LSTM]. The zero value is the default.
type LSTMOptions struct {
	// SequenceLens: may be nil.
	SequenceLens *Value
	// InitialH: may be nil.
	InitialH *Value
	// InitialC: may be nil.
	InitialC *Value
	// P: may be nil.
	P *Value
	// ActivationAlpha: nil means absent.
	ActivationAlpha []float64
	// ActivationBeta: nil means absent.
	ActivationBeta []float64
	// Activations: zero means absent.
	Activations string
	// Clip: zero means absent.
	Clip float64
	// HiddenSize: zero means absent.
	HiddenSize  int
	Layout      int
	InputForget bool
}

// LSTM: Long short-term memory over x [sequence, batch, input] (layout 1: [batch, sequence,
// input]), one or two directions. w [directions, 4 * hidden, input] and r [directions, 4 * hidden,
// hidden] hold the gates i, o, f, c; b [directions, 8 * hidden] their two biases, p [directions, 3
// * hidden] peepholes of i, o, f. y is [sequence, directions, batch, hidden] (layout 1: [batch,
// sequence, directions, hidden]), y_h and y_c the last states [directions, batch, hidden] (layout
// 1: batch first). Steps from SequenceLens[b] on give 0 in y. activations: names f, g, h of each
// direction separated by commas, Sigmoid,Tanh,Tanh when absent. clip limits what goes into
// activations. Absent inputs are nil. At most one options struct is meant; the last one counts.
func LSTM(x, w, r, b *Value, direction string, opts ...LSTMOptions) (y, yH, yC *Value) {
	o := lastOption(opts)
	attrs := []attr{stringAttr(attrLSTMDirection, direction)}
	if o.ActivationAlpha != nil {
		attrs = append(attrs, floatsAttr(attrLSTMActivationAlpha, o.ActivationAlpha))
	}
	if o.ActivationBeta != nil {
		attrs = append(attrs, floatsAttr(attrLSTMActivationBeta, o.ActivationBeta))
	}
	if o.Activations != "" {
		attrs = append(attrs, stringAttr(attrLSTMActivations, o.Activations))
	}
	if o.Clip != 0 {
		attrs = append(attrs, floatAttr(attrLSTMClip, o.Clip))
	}
	if o.HiddenSize != 0 {
		attrs = append(attrs, intAttr(attrLSTMHiddenSize, o.HiddenSize))
	}
	if o.Layout != 0 {
		attrs = append(attrs, intAttr(attrLSTMLayout, o.Layout))
	}
	if o.InputForget {
		attrs = append(attrs, boolAttr(attrLSTMInputForget, o.InputForget))
	}
	out := apply(opLSTM, []*Value{x, w, r, b, o.SequenceLens, o.InitialH, o.InitialC, o.P}, attrs, 3)
	return out[0], out[1], out[2]
}

// LSTM is the function [LSTM] with v as its first input.
func (v *Value) LSTM(w, r, b *Value, direction string, opts ...LSTMOptions) (y, yH, yC *Value) {
	return LSTM(v, w, r, b, direction, opts...)
}

// GRUOptions holds the options of [GRU]. The zero value is the default.
type GRUOptions struct {
	// SequenceLens: may be nil.
	SequenceLens *Value
	// InitialH: may be nil.
	InitialH *Value
	// ActivationAlpha: nil means absent.
	ActivationAlpha []float64
	// ActivationBeta: nil means absent.
	ActivationBeta []float64
	// Activations: zero means absent.
	Activations string
	// Clip: zero means absent.
	Clip float64
	// HiddenSize: zero means absent.
	HiddenSize        int
	Layout            int
	LinearBeforeReset bool
}

// GRU: Gated recurrent unit, shapes as in LSTM with 3 gates z, r, h: w [directions, 3 * hidden,
// input], r [directions, 3 * hidden, hidden], b [directions, 6 * hidden]. LinearBeforeReset applies
// the reset gate behind the product with r instead of before it. activations: f, g of each
// direction separated by commas, Sigmoid,Tanh when absent. Absent inputs are nil. At most one
// options struct is meant; the last one counts.
func GRU(x, w, r, b *Value, direction string, opts ...GRUOptions) (y, yH *Value) {
	o := lastOption(opts)
	attrs := []attr{stringAttr(attrGRUDirection, direction)}
	if o.ActivationAlpha != nil {
		attrs = append(attrs, floatsAttr(attrGRUActivationAlpha, o.ActivationAlpha))
	}
	if o.ActivationBeta != nil {
		attrs = append(attrs, floatsAttr(attrGRUActivationBeta, o.ActivationBeta))
	}
	if o.Activations != "" {
		attrs = append(attrs, stringAttr(attrGRUActivations, o.Activations))
	}
	if o.Clip != 0 {
		attrs = append(attrs, floatAttr(attrGRUClip, o.Clip))
	}
	if o.HiddenSize != 0 {
		attrs = append(attrs, intAttr(attrGRUHiddenSize, o.HiddenSize))
	}
	if o.Layout != 0 {
		attrs = append(attrs, intAttr(attrGRULayout, o.Layout))
	}
	if o.LinearBeforeReset {
		attrs = append(attrs, boolAttr(attrGRULinearBeforeReset, o.LinearBeforeReset))
	}
	out := apply(opGRU, []*Value{x, w, r, b, o.SequenceLens, o.InitialH}, attrs, 2)
	return out[0], out[1]
}

// GRU is the function [GRU] with v as its first input.
func (v *Value) GRU(w, r, b *Value, direction string, opts ...GRUOptions) (y, yH *Value) {
	return GRU(v, w, r, b, direction, opts...)
}

// RNNOptions holds the options of [RNN]. The zero value is the default.
type RNNOptions struct {
	// SequenceLens: may be nil.
	SequenceLens *Value
	// InitialH: may be nil.
	InitialH *Value
	// ActivationAlpha: nil means absent.
	ActivationAlpha []float64
	// ActivationBeta: nil means absent.
	ActivationBeta []float64
	// Activations: zero means absent.
	Activations string
	// Clip: zero means absent.
	Clip float64
	// HiddenSize: zero means absent.
	HiddenSize int
	Layout     int
}

// RNN: Simple recurrent layer h = f(x w' + h r' + b), shapes as in LSTM with one gate: b is
// [directions, 2 * hidden]. activations: f of each direction separated by commas, Tanh when absent.
// Absent inputs are nil. At most one options struct is meant; the last one counts.
func RNN(x, w, r, b *Value, direction string, opts ...RNNOptions) (y, yH *Value) {
	o := lastOption(opts)
	attrs := []attr{stringAttr(attrRNNDirection, direction)}
	if o.ActivationAlpha != nil {
		attrs = append(attrs, floatsAttr(attrRNNActivationAlpha, o.ActivationAlpha))
	}
	if o.ActivationBeta != nil {
		attrs = append(attrs, floatsAttr(attrRNNActivationBeta, o.ActivationBeta))
	}
	if o.Activations != "" {
		attrs = append(attrs, stringAttr(attrRNNActivations, o.Activations))
	}
	if o.Clip != 0 {
		attrs = append(attrs, floatAttr(attrRNNClip, o.Clip))
	}
	if o.HiddenSize != 0 {
		attrs = append(attrs, intAttr(attrRNNHiddenSize, o.HiddenSize))
	}
	if o.Layout != 0 {
		attrs = append(attrs, intAttr(attrRNNLayout, o.Layout))
	}
	out := apply(opRNN, []*Value{x, w, r, b, o.SequenceLens, o.InitialH}, attrs, 2)
	return out[0], out[1]
}

// RNN is the function [RNN] with v as its first input.
func (v *Value) RNN(w, r, b *Value, direction string, opts ...RNNOptions) (y, yH *Value) {
	return RNN(v, w, r, b, direction, opts...)
}

// QuantizeLinearOptions holds the options of [QuantizeLinear]. The zero value is the default.
type QuantizeLinearOptions struct {
	BlockSize int
	// OutputDtype: zero means absent.
	OutputDtype DType
	// Precision: zero means absent.
	Precision DType
	// Saturate: nil means true.
	Saturate *bool
}

// QuantizeLinear: saturate(round(x / yScale) + yZeroPoint), halves to even. yScale is a scalar (or
// one element), a vector along axis, or with BlockSize of x's shape but for ceil(size / BlockSize)
// along axis; yZeroPoint has its shape. The result has the dtype of yZeroPoint, else OutputDtype,
// else uint8. The quotient is rounded to the dtype precision, by default that of yScale (float32
// for int32). NaN becomes the zero point. To float8 it is x / yScale + yZeroPoint as Cast converts
// it, saturate included. Absent inputs are nil. At most one options struct is meant; the last one
// counts.
func QuantizeLinear(x, yScale, yZeroPoint *Value, axis int, opts ...QuantizeLinearOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrQuantizeLinearAxis, axis)}
	if o.BlockSize != 0 {
		attrs = append(attrs, intAttr(attrQuantizeLinearBlockSize, o.BlockSize))
	}
	if o.OutputDtype != 0 {
		attrs = append(attrs, dtypeAttr(attrQuantizeLinearOutputDtype, o.OutputDtype))
	}
	if o.Precision != 0 {
		attrs = append(attrs, dtypeAttr(attrQuantizeLinearPrecision, o.Precision))
	}
	if o.Saturate != nil {
		attrs = append(attrs, boolAttr(attrQuantizeLinearSaturate, *o.Saturate))
	}
	return apply(opQuantizeLinear, []*Value{x, yScale, yZeroPoint}, attrs, 1)[0]
}

// QuantizeLinear is the function [QuantizeLinear] with v as its first input.
func (v *Value) QuantizeLinear(yScale, yZeroPoint *Value, axis int, opts ...QuantizeLinearOptions) *Value {
	return QuantizeLinear(v, yScale, yZeroPoint, axis, opts...)
}

// DequantizeLinearOptions holds the options of [DequantizeLinear]. The zero value is the default.
type DequantizeLinearOptions struct {
	BlockSize int
	// OutputDtype: zero means absent.
	OutputDtype DType
}

// DequantizeLinear: (x - xZeroPoint) * xScale, with scales as in QuantizeLinear. The result has the
// dtype OutputDtype, by default that of xScale. Absent inputs are nil. At most one options struct
// is meant; the last one counts.
func DequantizeLinear(x, xScale, xZeroPoint *Value, axis int, opts ...DequantizeLinearOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrDequantizeLinearAxis, axis)}
	if o.BlockSize != 0 {
		attrs = append(attrs, intAttr(attrDequantizeLinearBlockSize, o.BlockSize))
	}
	if o.OutputDtype != 0 {
		attrs = append(attrs, dtypeAttr(attrDequantizeLinearOutputDtype, o.OutputDtype))
	}
	return apply(opDequantizeLinear, []*Value{x, xScale, xZeroPoint}, attrs, 1)[0]
}

// DequantizeLinear is the function [DequantizeLinear] with v as its first input.
func (v *Value) DequantizeLinear(xScale, xZeroPoint *Value, axis int, opts ...DequantizeLinearOptions) *Value {
	return DequantizeLinear(v, xScale, xZeroPoint, axis, opts...)
}

// DynamicQuantizeLinear: x as uint8 with the scale and zero point that its own range, widened to
// hold 0, calls for: y_scale = (max - min) / 255. Where x holds nothing but 0, or nothing at all,
// the scale is 1 (ONNX divides 0 by 0).
func DynamicQuantizeLinear(x *Value) (y, yScale, yZeroPoint *Value) {
	out := apply(opDynamicQuantizeLinear, []*Value{x}, nil, 3)
	return out[0], out[1], out[2]
}

// DynamicQuantizeLinear is the function [DynamicQuantizeLinear] with v as its first input.
func (v *Value) DynamicQuantizeLinear() (y, yScale, yZeroPoint *Value) {
	return DynamicQuantizeLinear(v)
}

// MatMulInteger: (a - aZeroPoint) (b - bZeroPoint) as MatMul, in int32 that wraps. aZeroPoint is a
// scalar or one per row of a, bZeroPoint a scalar or one per column of b. Absent inputs are nil.
func MatMulInteger(a, b, aZeroPoint, bZeroPoint *Value) *Value {
	return apply(opMatMulInteger, []*Value{a, b, aZeroPoint, bZeroPoint}, nil, 1)[0]
}

// MatMulInteger is the function [MatMulInteger] with v as its first input.
func (v *Value) MatMulInteger(b, aZeroPoint, bZeroPoint *Value) *Value {
	return MatMulInteger(v, b, aZeroPoint, bZeroPoint)
}

// QLinearMatMul: MatMul of quantised tensors: the sum of (a - aZeroPoint) (b - bZeroPoint) times
// aScale * bScale / yScale, rounded half to even, plus yZeroPoint, saturated. What belongs to a may
// be one per row, what belongs to b one per column, what belongs to y is a scalar.
func QLinearMatMul(a, aScale, aZeroPoint, b, bScale, bZeroPoint, yScale, yZeroPoint *Value) *Value {
	return apply(opQLinearMatMul, []*Value{a, aScale, aZeroPoint, b, bScale, bZeroPoint, yScale, yZeroPoint}, nil, 1)[0]
}

// QLinearMatMul is the function [QLinearMatMul] with v as its first input.
func (v *Value) QLinearMatMul(aScale, aZeroPoint, b, bScale, bZeroPoint, yScale, yZeroPoint *Value) *Value {
	return QLinearMatMul(v, aScale, aZeroPoint, b, bScale, bZeroPoint, yScale, yZeroPoint)
}

// ConvIntegerOptions holds the options of [ConvInteger]. The zero value is the default.
type ConvIntegerOptions struct {
	// AutoPad: "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"; empty means "NOTSET".
	AutoPad string
	// Dilations: nil means absent.
	Dilations []int
	// Group: zero means 1.
	Group int
	// KernelShape: nil means absent.
	KernelShape []int
	// Pads: nil means absent.
	Pads []int
	// Strides: nil means absent.
	Strides []int
}

// ConvInteger: Conv of x - xZeroPoint and w - wZeroPoint in int32 that wraps; padding is
// xZeroPoint. xZeroPoint is a scalar, wZeroPoint a scalar or one per output channel. Absent inputs
// are nil. At most one options struct is meant; the last one counts.
func ConvInteger(x, w, xZeroPoint, wZeroPoint *Value, opts ...ConvIntegerOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.AutoPad != "" {
		attrs = append(attrs, stringAttr(attrConvIntegerAutoPad, o.AutoPad))
	}
	if o.Dilations != nil {
		attrs = append(attrs, intsAttr(attrConvIntegerDilations, o.Dilations))
	}
	if o.Group != 0 {
		attrs = append(attrs, intAttr(attrConvIntegerGroup, o.Group))
	}
	if o.KernelShape != nil {
		attrs = append(attrs, intsAttr(attrConvIntegerKernelShape, o.KernelShape))
	}
	if o.Pads != nil {
		attrs = append(attrs, intsAttr(attrConvIntegerPads, o.Pads))
	}
	if o.Strides != nil {
		attrs = append(attrs, intsAttr(attrConvIntegerStrides, o.Strides))
	}
	return apply(opConvInteger, []*Value{x, w, xZeroPoint, wZeroPoint}, attrs, 1)[0]
}

// ConvInteger is the function [ConvInteger] with v as its first input.
func (v *Value) ConvInteger(w, xZeroPoint, wZeroPoint *Value, opts ...ConvIntegerOptions) *Value {
	return ConvInteger(v, w, xZeroPoint, wZeroPoint, opts...)
}

// QLinearConvOptions holds the options of [QLinearConv]. The zero value is the default.
type QLinearConvOptions struct {
	// AutoPad: "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"; empty means "NOTSET".
	AutoPad string
	// Dilations: nil means absent.
	Dilations []int
	// Group: zero means 1.
	Group int
	// KernelShape: nil means absent.
	KernelShape []int
	// Pads: nil means absent.
	Pads []int
	// Strides: nil means absent.
	Strides []int
}

// QLinearConv: Conv of quantised tensors: the sum of (x - xZeroPoint) (w - wZeroPoint) and b, times
// xScale * wScale / yScale, rounded half to even, plus yZeroPoint, saturated. Padding is
// xZeroPoint. What belongs to w is a scalar or one per output channel, the rest are scalars. Absent
// inputs are nil. At most one options struct is meant; the last one counts.
func QLinearConv(x, xScale, xZeroPoint, w, wScale, wZeroPoint, yScale, yZeroPoint, b *Value, opts ...QLinearConvOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.AutoPad != "" {
		attrs = append(attrs, stringAttr(attrQLinearConvAutoPad, o.AutoPad))
	}
	if o.Dilations != nil {
		attrs = append(attrs, intsAttr(attrQLinearConvDilations, o.Dilations))
	}
	if o.Group != 0 {
		attrs = append(attrs, intAttr(attrQLinearConvGroup, o.Group))
	}
	if o.KernelShape != nil {
		attrs = append(attrs, intsAttr(attrQLinearConvKernelShape, o.KernelShape))
	}
	if o.Pads != nil {
		attrs = append(attrs, intsAttr(attrQLinearConvPads, o.Pads))
	}
	if o.Strides != nil {
		attrs = append(attrs, intsAttr(attrQLinearConvStrides, o.Strides))
	}
	return apply(opQLinearConv, []*Value{x, xScale, xZeroPoint, w, wScale, wZeroPoint, yScale, yZeroPoint, b}, attrs, 1)[0]
}

// QLinearConv is the function [QLinearConv] with v as its first input.
func (v *Value) QLinearConv(xScale, xZeroPoint, w, wScale, wZeroPoint, yScale, yZeroPoint, b *Value, opts ...QLinearConvOptions) *Value {
	return QLinearConv(v, xScale, xZeroPoint, w, wScale, wZeroPoint, yScale, yZeroPoint, b, opts...)
}

// MatMulNBits: a [..., k] times the transpose of b, a matrix [n, k] of unsigned integers of 2, 4 or
// 8 bits in blocks along k: b is [n, blocks, blockSize * bits / 8], the lowest bits first, scales
// one per block [n * blocks] or [n, blocks], and a weight (q - zero point) * scale. zeroPoints are
// floats like scales, or packed like b, each row padded to bytes: [n, ceil(blocks * bits / 8)] or
// flat; 2^(bits - 1) when absent. With b of a float8 (bits is 8) a weight is q * scale, and there
// are no zero points. Absent inputs are nil.
func MatMulNBits(a, b, scales, zeroPoints, bias *Value, k, n, bits, blockSize int) *Value {
	return apply(opMatMulNBits, []*Value{a, b, scales, zeroPoints, bias}, []attr{intAttr(attrMatMulNBitsK, k), intAttr(attrMatMulNBitsN, n), intAttr(attrMatMulNBitsBits, bits), intAttr(attrMatMulNBitsBlockSize, blockSize)}, 1)[0]
}

// MatMulNBits is the function [MatMulNBits] with v as its first input.
func (v *Value) MatMulNBits(b, scales, zeroPoints, bias *Value, k, n, bits, blockSize int) *Value {
	return MatMulNBits(v, b, scales, zeroPoints, bias, k, n, bits, blockSize)
}

// NonMaxSuppressionOptions holds the options of [NonMaxSuppression]. The zero value is the default.
type NonMaxSuppressionOptions struct {
	// IouThreshold: may be nil.
	IouThreshold *Value
	// ScoreThreshold: may be nil.
	ScoreThreshold *Value
	CenterPointBox int
}

// NonMaxSuppression: Boxes that are kept: rows [batch, class, box] of the result [n, 3], per batch
// and class in the order of falling scores (equal scores: the lower box first). boxes [batches,
// boxes, 4] are two opposite corners y1, x1, y2, x2, or with CenterPointBox 1 x, y, width, height;
// scores [batches, classes, boxes]. A box is dropped when its score is not above ScoreThreshold (if
// given), or when the intersection over union with a kept one is above IouThreshold (0 when
// absent). At most maxOutputBoxesPerClass are kept, none when it is absent or 0. n depends on the
// data. At most one options struct is meant; the last one counts.
func NonMaxSuppression(boxes, scores *Value, maxOutputBoxesPerClass int, opts ...NonMaxSuppressionOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.CenterPointBox != 0 {
		attrs = append(attrs, intAttr(attrNonMaxSuppressionCenterPointBox, o.CenterPointBox))
	}
	return apply(opNonMaxSuppression, []*Value{boxes, scores, hostInts([]int{maxOutputBoxesPerClass}), o.IouThreshold, o.ScoreThreshold}, attrs, 1)[0]
}

// NonMaxSuppression is the function [NonMaxSuppression] with v as its first input.
func (v *Value) NonMaxSuppression(scores *Value, maxOutputBoxesPerClass int, opts ...NonMaxSuppressionOptions) *Value {
	return NonMaxSuppression(v, scores, maxOutputBoxesPerClass, opts...)
}

// CompressOptions holds the options of [Compress]. The zero value is the default.
type CompressOptions struct {
	// Axis: nil means absent.
	Axis *int
}

// Compress: The slices of input along axis where the vector condition is true; without axis,
// elements of the flattened input. A shorter condition leaves out the rest; it must not be longer.
// The size depends on the data. At most one options struct is meant; the last one counts.
func Compress(input, condition *Value, opts ...CompressOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Axis != nil {
		attrs = append(attrs, intAttr(attrCompressAxis, *o.Axis))
	}
	return apply(opCompress, []*Value{input, condition}, attrs, 1)[0]
}

// Compress is the function [Compress] with v as its first input.
func (v *Value) Compress(condition *Value, opts ...CompressOptions) *Value {
	return Compress(v, condition, opts...)
}

// UniqueOptions holds the options of [Unique]. The zero value is the default.
type UniqueOptions struct {
	// Axis: nil means absent.
	Axis *int
}

// Unique: The distinct elements of x (flattened), or the distinct slices along axis, in ascending
// order or in that of their first occurrence; where each stands first, which one each element or
// slice of x is, and how often each occurs. NaN equals NaN and sorts last. The sizes depend on the
// data. At most one options struct is meant; the last one counts.
func Unique(x *Value, sorted bool, opts ...UniqueOptions) (y, indices, inverseIndices, counts *Value) {
	o := lastOption(opts)
	attrs := []attr{boolAttr(attrUniqueSorted, sorted)}
	if o.Axis != nil {
		attrs = append(attrs, intAttr(attrUniqueAxis, *o.Axis))
	}
	out := apply(opUnique, []*Value{x}, attrs, 4)
	return out[0], out[1], out[2], out[3]
}

// Unique is the function [Unique] with v as its first input.
func (v *Value) Unique(sorted bool, opts ...UniqueOptions) (y, indices, inverseIndices, counts *Value) {
	return Unique(v, sorted, opts...)
}

// GridSampleOptions holds the options of [GridSample]. The zero value is the default.
type GridSampleOptions struct {
	AlignCorners bool
	// PaddingMode: "zeros", "border", "reflection"; empty means "zeros".
	PaddingMode string
}

// GridSample: x [N, C, D1, ..., Dr] sampled at the positions in grid [N, O1, ..., Or, r], whose
// last axis gives the coordinates from the last spatial axis to the first, -1 and 1 being the
// borders: the centres of the outermost elements with AlignCorners, else their outer edges. Ties of
// mode nearest go to the even element. At most one options struct is meant; the last one counts.
func GridSample(x, grid *Value, mode string, opts ...GridSampleOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{stringAttr(attrGridSampleMode, mode)}
	if o.AlignCorners {
		attrs = append(attrs, boolAttr(attrGridSampleAlignCorners, o.AlignCorners))
	}
	if o.PaddingMode != "" {
		attrs = append(attrs, stringAttr(attrGridSamplePaddingMode, o.PaddingMode))
	}
	return apply(opGridSample, []*Value{x, grid}, attrs, 1)[0]
}

// GridSample is the function [GridSample] with v as its first input.
func (v *Value) GridSample(grid *Value, mode string, opts ...GridSampleOptions) *Value {
	return GridSample(v, grid, mode, opts...)
}

// AffineGrid: The grid for GridSample that samples an image of the given size [N, C, H, W] (or [N,
// C, D, H, W]) along the affine maps theta [N, 2, 3] (or [N, 3, 4]).
func AffineGrid(theta *Value, size []int, alignCorners bool) *Value {
	return apply(opAffineGrid, []*Value{theta, hostList(size)}, []attr{boolAttr(attrAffineGridAlignCorners, alignCorners)}, 1)[0]
}

// AffineGrid is the function [AffineGrid] with v as its first input.
func (v *Value) AffineGrid(size []int, alignCorners bool) *Value {
	return AffineGrid(v, size, alignCorners)
}

// RoiAlignOptions holds the options of [RoiAlign]. The zero value is the default.
type RoiAlignOptions struct {
	// CoordinateTransformationMode: "half_pixel", "output_half_pixel"; empty means "half_pixel".
	CoordinateTransformationMode string
	SamplingRatio                int
}

// RoiAlign: Regions rois [R, 4] (x1, y1, x2, y2, times spatialScale) of the images x[batchIndices]
// cut into outputHeight x outputWidth bins, each the mean of bilinear samples, or (max) the largest
// of their weighted corners: SamplingRatio^2 of them, or as many as the bin has pixels when it is
// 0. The result is [R, C, outputHeight, outputWidth]. At most one options struct is meant; the last
// one counts.
func RoiAlign(x, rois, batchIndices *Value, mode string, outputHeight, outputWidth int, spatialScale float64, opts ...RoiAlignOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{stringAttr(attrRoiAlignMode, mode), intAttr(attrRoiAlignOutputHeight, outputHeight), intAttr(attrRoiAlignOutputWidth, outputWidth), floatAttr(attrRoiAlignSpatialScale, spatialScale)}
	if o.CoordinateTransformationMode != "" {
		attrs = append(attrs, stringAttr(attrRoiAlignCoordinateTransformationMode, o.CoordinateTransformationMode))
	}
	if o.SamplingRatio != 0 {
		attrs = append(attrs, intAttr(attrRoiAlignSamplingRatio, o.SamplingRatio))
	}
	return apply(opRoiAlign, []*Value{x, rois, batchIndices}, attrs, 1)[0]
}

// RoiAlign is the function [RoiAlign] with v as its first input.
func (v *Value) RoiAlign(rois, batchIndices *Value, mode string, outputHeight, outputWidth int, spatialScale float64, opts ...RoiAlignOptions) *Value {
	return RoiAlign(v, rois, batchIndices, mode, outputHeight, outputWidth, spatialScale, opts...)
}

// MaxRoiPool: Maximum over the bins of regions rois [R, 5] (batch, x1, y1, x2, y2, times
// spatialScale, rounded) of x [N, C, H, W]: [R, C, pooled height, pooled width]. An empty bin gives
// 0.
func MaxRoiPool(x, rois *Value, pooledShape []int, spatialScale float64) *Value {
	attrs := []attr{floatAttr(attrMaxRoiPoolSpatialScale, spatialScale)}
	if pooledShape != nil {
		attrs = append(attrs, intsAttr(attrMaxRoiPoolPooledShape, pooledShape))
	}
	return apply(opMaxRoiPool, []*Value{x, rois}, attrs, 1)[0]
}

// MaxRoiPool is the function [MaxRoiPool] with v as its first input.
func (v *Value) MaxRoiPool(rois *Value, pooledShape []int, spatialScale float64) *Value {
	return MaxRoiPool(v, rois, pooledShape, spatialScale)
}

// MaxUnpoolOptions holds the options of [MaxUnpool]. The zero value is the default.
type MaxUnpoolOptions struct {
	// Pads: nil means absent.
	Pads []int
	// Strides: nil means absent.
	Strides []int
}

// MaxUnpool: Zeros with the elements of x [N, C, D1, ...] put at the places i, which MaxPool gave.
// The places count within the tensor that kernelShape, strides and pads call for; outputShape, when
// given, is larger and keeps their coordinates. Absent inputs are nil. At most one options struct
// is meant; the last one counts.
func MaxUnpool(x, i *Value, outputShape, kernelShape []int, opts ...MaxUnpoolOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if kernelShape != nil {
		attrs = append(attrs, intsAttr(attrMaxUnpoolKernelShape, kernelShape))
	}
	if o.Pads != nil {
		attrs = append(attrs, intsAttr(attrMaxUnpoolPads, o.Pads))
	}
	if o.Strides != nil {
		attrs = append(attrs, intsAttr(attrMaxUnpoolStrides, o.Strides))
	}
	return apply(opMaxUnpool, []*Value{x, i, hostInts(outputShape)}, attrs, 1)[0]
}

// MaxUnpool is the function [MaxUnpool] with v as its first input.
func (v *Value) MaxUnpool(i *Value, outputShape, kernelShape []int, opts ...MaxUnpoolOptions) *Value {
	return MaxUnpool(v, i, outputShape, kernelShape, opts...)
}

// DeformConvOptions holds the options of [DeformConv]. The zero value is the default.
type DeformConvOptions struct {
	// Dilations: nil means absent.
	Dilations []int
	// Group: zero means 1.
	Group int
	// KernelShape: nil means absent.
	KernelShape []int
	// OffsetGroup: zero means 1.
	OffsetGroup int
	// Pads: nil means absent.
	Pads []int
	// Strides: nil means absent.
	Strides []int
}

// DeformConv: Convolution whose kernel positions move by offset [N, OffsetGroup * kernel size * r,
// O1, ..., Or] and weigh by mask [N, OffsetGroup * kernel size, O1, ..., Or], r being the number of
// spatial axes; samples are linear, outside the input 0. Absent inputs are nil. At most one options
// struct is meant; the last one counts.
func DeformConv(x, w, offset, b, mask *Value, opts ...DeformConvOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Dilations != nil {
		attrs = append(attrs, intsAttr(attrDeformConvDilations, o.Dilations))
	}
	if o.Group != 0 {
		attrs = append(attrs, intAttr(attrDeformConvGroup, o.Group))
	}
	if o.KernelShape != nil {
		attrs = append(attrs, intsAttr(attrDeformConvKernelShape, o.KernelShape))
	}
	if o.OffsetGroup != 0 {
		attrs = append(attrs, intAttr(attrDeformConvOffsetGroup, o.OffsetGroup))
	}
	if o.Pads != nil {
		attrs = append(attrs, intsAttr(attrDeformConvPads, o.Pads))
	}
	if o.Strides != nil {
		attrs = append(attrs, intsAttr(attrDeformConvStrides, o.Strides))
	}
	return apply(opDeformConv, []*Value{x, w, offset, b, mask}, attrs, 1)[0]
}

// DeformConv is the function [DeformConv] with v as its first input.
func (v *Value) DeformConv(w, offset, b, mask *Value, opts ...DeformConvOptions) *Value {
	return DeformConv(v, w, offset, b, mask, opts...)
}

// LpPoolOptions holds the options of [LpPool]. The zero value is the default.
type LpPoolOptions struct {
	// AutoPad: "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"; empty means "NOTSET".
	AutoPad  string
	CeilMode bool
	// Dilations: nil means absent.
	Dilations []int
	// Pads: nil means absent.
	Pads []int
	// Strides: nil means absent.
	Strides []int
}

// LpPool: The p-norm over a sliding window of x [N, C, D1, ...]; padding counts as 0. At most one
// options struct is meant; the last one counts.
func LpPool(x *Value, kernelShape []int, p int, opts ...LpPoolOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrLpPoolP, p)}
	if kernelShape != nil {
		attrs = append(attrs, intsAttr(attrLpPoolKernelShape, kernelShape))
	}
	if o.AutoPad != "" {
		attrs = append(attrs, stringAttr(attrLpPoolAutoPad, o.AutoPad))
	}
	if o.CeilMode {
		attrs = append(attrs, boolAttr(attrLpPoolCeilMode, o.CeilMode))
	}
	if o.Dilations != nil {
		attrs = append(attrs, intsAttr(attrLpPoolDilations, o.Dilations))
	}
	if o.Pads != nil {
		attrs = append(attrs, intsAttr(attrLpPoolPads, o.Pads))
	}
	if o.Strides != nil {
		attrs = append(attrs, intsAttr(attrLpPoolStrides, o.Strides))
	}
	return apply(opLpPool, []*Value{x}, attrs, 1)[0]
}

// LpPool is the function [LpPool] with v as its first input.
func (v *Value) LpPool(kernelShape []int, p int, opts ...LpPoolOptions) *Value {
	return LpPool(v, kernelShape, p, opts...)
}

// Col2ImOptions holds the options of [Col2Im]. The zero value is the default.
type Col2ImOptions struct {
	// Dilations: nil means absent.
	Dilations []int
	// Pads: nil means absent.
	Pads []int
	// Strides: nil means absent.
	Strides []int
}

// Col2Im: Blocks [N, C * block size, blocks] put back into images [N, C, imageShape...]; where
// blocks overlap their elements add up. At most one options struct is meant; the last one counts.
func Col2Im(input *Value, imageShape, blockShape []int, opts ...Col2ImOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Dilations != nil {
		attrs = append(attrs, intsAttr(attrCol2ImDilations, o.Dilations))
	}
	if o.Pads != nil {
		attrs = append(attrs, intsAttr(attrCol2ImPads, o.Pads))
	}
	if o.Strides != nil {
		attrs = append(attrs, intsAttr(attrCol2ImStrides, o.Strides))
	}
	return apply(opCol2Im, []*Value{input, hostList(imageShape), hostList(blockShape)}, attrs, 1)[0]
}

// Col2Im is the function [Col2Im] with v as its first input.
func (v *Value) Col2Im(imageShape, blockShape []int, opts ...Col2ImOptions) *Value {
	return Col2Im(v, imageShape, blockShape, opts...)
}

// CenterCropPadOptions holds the options of [CenterCropPad]. The zero value is the default.
type CenterCropPadOptions struct {
	// Axes: nil means absent.
	Axes []int
}

// CenterCropPad: inputData cut or padded with zeros around its centre to the sizes in shape, along
// axes (all by default). The odd element comes off or goes on at the end. At most one options
// struct is meant; the last one counts.
func CenterCropPad(inputData *Value, shape []int, opts ...CenterCropPadOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Axes != nil {
		attrs = append(attrs, intsAttr(attrCenterCropPadAxes, o.Axes))
	}
	return apply(opCenterCropPad, []*Value{inputData, hostList(shape)}, attrs, 1)[0]
}

// CenterCropPad is the function [CenterCropPad] with v as its first input.
func (v *Value) CenterCropPad(shape []int, opts ...CenterCropPadOptions) *Value {
	return CenterCropPad(v, shape, opts...)
}

// DFTOptions holds the options of [DFT]. The zero value is the default.
type DFTOptions struct {
	Inverse  bool
	Onesided bool
}

// DFT: Discrete Fourier transform along axis (the last but one when absent) of input [..., 1]
// (real) or [..., 2] (real and imaginary part), cut or padded with zeros to dftLength. inverse
// divides by the length. onesided keeps the first length / 2 + 1 values of a real input; with
// inverse it takes those and gives the real signal [..., 1]. At most one options struct is meant;
// the last one counts.
func DFT(input *Value, dftLength, axis int, opts ...DFTOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Inverse {
		attrs = append(attrs, boolAttr(attrDFTInverse, o.Inverse))
	}
	if o.Onesided {
		attrs = append(attrs, boolAttr(attrDFTOnesided, o.Onesided))
	}
	return apply(opDFT, []*Value{input, hostInts([]int{dftLength}), hostInts([]int{axis})}, attrs, 1)[0]
}

// DFT is the function [DFT] with v as its first input.
func (v *Value) DFT(dftLength, axis int, opts ...DFTOptions) *Value {
	return DFT(v, dftLength, axis, opts...)
}

// STFT: Fourier transforms of frames of signal [batch, length, 1 or 2], frameStep apart and
// frameLength long (default: as window, or the whole signal), each multiplied by window: [batch,
// frames, bins, 2]. onesided keeps the first length / 2 + 1 bins of a real signal. Absent inputs
// are nil.
func STFT(signal *Value, frameStep int, window *Value, frameLength int, onesided bool) *Value {
	return apply(opSTFT, []*Value{signal, hostInts([]int{frameStep}), window, hostInts([]int{frameLength})}, []attr{boolAttr(attrSTFTOnesided, onesided)}, 1)[0]
}

// STFT is the function [STFT] with v as its first input.
func (v *Value) STFT(frameStep int, window *Value, frameLength int, onesided bool) *Value {
	return STFT(v, frameStep, window, frameLength, onesided)
}

// MelWeightMatrix: The matrix [dftLength / 2 + 1, numMelBins] that turns a spectrum into mel bands:
// triangles with peak 1 between lowerEdgeHertz and upperEdgeHertz, evenly spaced on the mel scale
// 2595 * log10(1 + f / 700).
func MelWeightMatrix(numMelBins, dftLength, sampleRate int, lowerEdgeHertz, upperEdgeHertz *Value, outputDatatype DType) *Value {
	return apply(opMelWeightMatrix, []*Value{hostInts([]int{numMelBins}), hostInts([]int{dftLength}), hostInts([]int{sampleRate}), lowerEdgeHertz, upperEdgeHertz}, []attr{dtypeAttr(attrMelWeightMatrixOutputDatatype, outputDatatype)}, 1)[0]
}

// HannWindow: 0.5 - 0.5 * cos(2 pi i / n) for i below size, n being size, or size - 1 when not
// periodic.
func HannWindow(size int, outputDatatype DType, periodic bool) *Value {
	return apply(opHannWindow, []*Value{hostInts([]int{size})}, []attr{dtypeAttr(attrHannWindowOutputDatatype, outputDatatype), boolAttr(attrHannWindowPeriodic, periodic)}, 1)[0]
}

// HammingWindow: 25 / 46 - 21 / 46 * cos(2 pi i / n) for i below size, n being size, or size - 1
// when not periodic.
func HammingWindow(size int, outputDatatype DType, periodic bool) *Value {
	return apply(opHammingWindow, []*Value{hostInts([]int{size})}, []attr{dtypeAttr(attrHammingWindowOutputDatatype, outputDatatype), boolAttr(attrHammingWindowPeriodic, periodic)}, 1)[0]
}

// BlackmanWindow: 0.42 - 0.5 * cos(2 pi i / n) + 0.08 * cos(4 pi i / n) for i below size, n being
// size, or size - 1 when not periodic.
func BlackmanWindow(size int, outputDatatype DType, periodic bool) *Value {
	return apply(opBlackmanWindow, []*Value{hostInts([]int{size})}, []attr{dtypeAttr(attrBlackmanWindowOutputDatatype, outputDatatype), boolAttr(attrBlackmanWindowPeriodic, periodic)}, 1)[0]
}

// Det: The determinant of each square matrix in the last two axes of x; 1 for an empty matrix.
func Det(x *Value) *Value {
	return apply(opDet, []*Value{x}, nil, 1)[0]
}

// Det is the function [Det] with v as its first input.
func (v *Value) Det() *Value {
	return Det(v)
}

// TensorScatterOptions holds the options of [TensorScatter]. The zero value is the default.
type TensorScatterOptions struct {
	// Axis: nil means -2.
	Axis *int
}

// TensorScatter: pastCache [batch, ...] with update written along axis from writeIndices[batch] on
// (0 when absent). Positions wrap around in mode circular; in mode linear one beyond the cache is
// an error. Absent inputs are nil. At most one options struct is meant; the last one counts.
func TensorScatter(pastCache, update, writeIndices *Value, mode string, opts ...TensorScatterOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{stringAttr(attrTensorScatterMode, mode)}
	if o.Axis != nil {
		attrs = append(attrs, intAttr(attrTensorScatterAxis, *o.Axis))
	}
	return apply(opTensorScatter, []*Value{pastCache, update, writeIndices}, attrs, 1)[0]
}

// TensorScatter is the function [TensorScatter] with v as its first input.
func (v *Value) TensorScatter(update, writeIndices *Value, mode string, opts ...TensorScatterOptions) *Value {
	return TensorScatter(v, update, writeIndices, mode, opts...)
}

// CumProdOptions holds the options of [CumProd]. The zero value is the default.
type CumProdOptions struct {
	Exclusive bool
	Reverse   bool
}

// CumProd: Running product along axis; exclusive leaves the element itself out, reverse runs from
// the end. At most one options struct is meant; the last one counts.
func CumProd(input *Value, axis int, opts ...CumProdOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{}
	if o.Exclusive {
		attrs = append(attrs, boolAttr(attrCumProdExclusive, o.Exclusive))
	}
	if o.Reverse {
		attrs = append(attrs, boolAttr(attrCumProdReverse, o.Reverse))
	}
	return apply(opCumProd, []*Value{input, hostInts([]int{axis})}, attrs, 1)[0]
}

// CumProd is the function [CumProd] with v as its first input.
func (v *Value) CumProd(axis int, opts ...CumProdOptions) *Value {
	return CumProd(v, axis, opts...)
}

// BitCast: The bytes of the input read as another dtype of the same size.
func BitCast(input *Value, to DType) *Value {
	return apply(opBitCast, []*Value{input}, []attr{dtypeAttr(attrBitCastTo, to)}, 1)[0]
}

// BitCast is the function [BitCast] with v as its first input.
func (v *Value) BitCast(to DType) *Value {
	return BitCast(v, to)
}

// RandomUniformOptions holds the options of [RandomUniform]. The zero value is the default.
type RandomUniformOptions struct {
	// Dtype: zero means float32.
	Dtype DType
	// High: nil means 1.
	High *float64
	Low  float64
}

// RandomUniform: Numbers between low and high, evenly spread. The same seed gives the same numbers,
// on every run, thread count and backend. At most one options struct is meant; the last one counts.
func RandomUniform(shape []int, seed int, opts ...RandomUniformOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrRandomUniformSeed, seed)}
	if o.Dtype != 0 {
		attrs = append(attrs, dtypeAttr(attrRandomUniformDtype, o.Dtype))
	}
	if o.High != nil {
		attrs = append(attrs, floatAttr(attrRandomUniformHigh, *o.High))
	}
	if o.Low != 0 {
		attrs = append(attrs, floatAttr(attrRandomUniformLow, o.Low))
	}
	return apply(opRandomUniform, []*Value{hostList(shape)}, attrs, 1)[0]
}

// RandomNormalOptions holds the options of [RandomNormal]. The zero value is the default.
type RandomNormalOptions struct {
	// Dtype: zero means float32.
	Dtype DType
	Mean  float64
	// Scale: nil means 1.
	Scale *float64
}

// RandomNormal: Normally distributed numbers with the given mean and standard deviation. The same
// seed gives the same numbers, on every run, thread count and backend. At most one options struct
// is meant; the last one counts.
func RandomNormal(shape []int, seed int, opts ...RandomNormalOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrRandomNormalSeed, seed)}
	if o.Dtype != 0 {
		attrs = append(attrs, dtypeAttr(attrRandomNormalDtype, o.Dtype))
	}
	if o.Mean != 0 {
		attrs = append(attrs, floatAttr(attrRandomNormalMean, o.Mean))
	}
	if o.Scale != nil {
		attrs = append(attrs, floatAttr(attrRandomNormalScale, *o.Scale))
	}
	return apply(opRandomNormal, []*Value{hostList(shape)}, attrs, 1)[0]
}

// BernoulliOptions holds the options of [Bernoulli]. The zero value is the default.
type BernoulliOptions struct {
	// Dtype: zero means absent.
	Dtype DType
}

// Bernoulli: 1 with the probability that input gives, else 0, as dtype (that of input when absent).
// The same seed gives the same numbers. At most one options struct is meant; the last one counts.
func Bernoulli(input *Value, seed int, opts ...BernoulliOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrBernoulliSeed, seed)}
	if o.Dtype != 0 {
		attrs = append(attrs, dtypeAttr(attrBernoulliDtype, o.Dtype))
	}
	return apply(opBernoulli, []*Value{input}, attrs, 1)[0]
}

// Bernoulli is the function [Bernoulli] with v as its first input.
func (v *Value) Bernoulli(seed int, opts ...BernoulliOptions) *Value {
	return Bernoulli(v, seed, opts...)
}

// MultinomialOptions holds the options of [Multinomial]. The zero value is the default.
type MultinomialOptions struct {
	// Dtype: zero means int32.
	Dtype DType
}

// Multinomial: sampleSize classes drawn for each row of input [batch, classes], unnormalised
// log-probabilities: [batch, sampleSize]. The same seed gives the same numbers. A row without a
// class of positive probability is an error. At most one options struct is meant; the last one
// counts.
func Multinomial(input *Value, sampleSize, seed int, opts ...MultinomialOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrMultinomialSampleSize, sampleSize), intAttr(attrMultinomialSeed, seed)}
	if o.Dtype != 0 {
		attrs = append(attrs, dtypeAttr(attrMultinomialDtype, o.Dtype))
	}
	return apply(opMultinomial, []*Value{input}, attrs, 1)[0]
}

// Multinomial is the function [Multinomial] with v as its first input.
func (v *Value) Multinomial(sampleSize, seed int, opts ...MultinomialOptions) *Value {
	return Multinomial(v, sampleSize, seed, opts...)
}

// LinearAttentionOptions holds the options of [LinearAttention]. The zero value is the default.
type LinearAttentionOptions struct {
	// PastState: may be nil.
	PastState *Value
	// Decay: may be nil.
	Decay *Value
	// Beta: may be nil.
	Beta  *Value
	Scale float64
}

// LinearAttention: Attention through a state S [batch, kv heads, key size, value size] that each
// step changes: S = exp(decay) S (gated rules), then S += k v, where the delta rules take beta (v -
// S k) for v; the output is scale * q S. query [batch, steps, q heads * key size], key and value
// alike with kv heads; decay [batch, steps, kv heads] or [.., kv heads * key size], beta [batch,
// steps, kv heads] or [.., 1]. scale 0 means 1 / sqrt(key size). At most one options struct is
// meant; the last one counts.
func LinearAttention(query, key, value *Value, kvNumHeads, qNumHeads int, updateRule string, opts ...LinearAttentionOptions) (output, presentState *Value) {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrLinearAttentionKvNumHeads, kvNumHeads), intAttr(attrLinearAttentionQNumHeads, qNumHeads), stringAttr(attrLinearAttentionUpdateRule, updateRule)}
	if o.Scale != 0 {
		attrs = append(attrs, floatAttr(attrLinearAttentionScale, o.Scale))
	}
	out := apply(opLinearAttention, []*Value{query, key, value, o.PastState, o.Decay, o.Beta}, attrs, 2)
	return out[0], out[1]
}

// LinearAttention is the function [LinearAttention] with v as its first input.
func (v *Value) LinearAttention(key, value *Value, kvNumHeads, qNumHeads int, updateRule string, opts ...LinearAttentionOptions) (output, presentState *Value) {
	return LinearAttention(v, key, value, kvNumHeads, qNumHeads, updateRule, opts...)
}

// TfIdfVectorizerOptions holds the options of [TfIdfVectorizer]. The zero value is the default.
type TfIdfVectorizerOptions struct {
	// Weights: nil means absent.
	Weights []float64
}

// TfIdfVectorizer: Counts of the n-grams of poolInt64s in each row of x [C] or [N, C]: element
// ngramIndexes[i] of a row of the result is how often n-gram i occurs (TF), its weight if it does
// (IDF), or both multiplied (TFIDF). Up to maxSkipCount elements may be left out between those of
// an n-gram. ngramCounts says where the n-grams of each length start in the pool. Of numbers only.
// At most one options struct is meant; the last one counts.
func TfIdfVectorizer(x *Value, maxGramLength, maxSkipCount, minGramLength int, mode string, ngramCounts, ngramIndexes, poolInt64s []int, opts ...TfIdfVectorizerOptions) *Value {
	o := lastOption(opts)
	attrs := []attr{intAttr(attrTfIdfVectorizerMaxGramLength, maxGramLength), intAttr(attrTfIdfVectorizerMaxSkipCount, maxSkipCount), intAttr(attrTfIdfVectorizerMinGramLength, minGramLength), stringAttr(attrTfIdfVectorizerMode, mode)}
	if ngramCounts != nil {
		attrs = append(attrs, intsAttr(attrTfIdfVectorizerNgramCounts, ngramCounts))
	}
	if ngramIndexes != nil {
		attrs = append(attrs, intsAttr(attrTfIdfVectorizerNgramIndexes, ngramIndexes))
	}
	if poolInt64s != nil {
		attrs = append(attrs, intsAttr(attrTfIdfVectorizerPoolInt64s, poolInt64s))
	}
	if o.Weights != nil {
		attrs = append(attrs, floatsAttr(attrTfIdfVectorizerWeights, o.Weights))
	}
	return apply(opTfIdfVectorizer, []*Value{x}, attrs, 1)[0]
}

// TfIdfVectorizer is the function [TfIdfVectorizer] with v as its first input.
func (v *Value) TfIdfVectorizer(maxGramLength, maxSkipCount, minGramLength int, mode string, ngramCounts, ngramIndexes, poolInt64s []int, opts ...TfIdfVectorizerOptions) *Value {
	return TfIdfVectorizer(v, maxGramLength, maxSkipCount, minGramLength, mode, ngramCounts, ngramIndexes, poolInt64s, opts...)
}

// Require: data unchanged. The run fails with NEF_OUT_OF_RANGE and the message when an element of
// condition, of any shape, is false. Nobody checks what nobody needs: use the output in the place
// of data.
func Require(data, condition *Value, message string) *Value {
	return apply(opRequire, []*Value{data, condition}, []attr{stringAttr(attrRequireMessage, message)}, 1)[0]
}

// Require is the function [Require] with v as its first input.
func (v *Value) Require(condition *Value, message string) *Value {
	return Require(v, condition, message)
}
