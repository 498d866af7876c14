/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/**
 * \file nef/op_ids.h
 * \brief Numbers of the operators and of their attributes.
 *
 * generated from engine/ir/ops.toml, do not edit.
 *
 * Append-only: a number, once released, keeps its meaning. NEF_OP_X is the op; NEF_X_ATTR is the
 * slot of an attribute, counted from 0 within its op.
 */
#ifndef NEF_OP_IDS_H
#define NEF_OP_IDS_H

#include <stdint.h>

/** An operator. 0 is none. */
typedef int32_t nef_op;
enum {
  NEF_OP_INVALID = 0,
  NEF_OP_ABS = 1,
  NEF_OP_ACOS = 2,
  NEF_OP_ACOSH = 3,
  NEF_OP_ADD = 4,
  NEF_OP_AND = 5,
  NEF_OP_ARGMAX = 6,
  NEF_OP_ARGMIN = 7,
  NEF_OP_ASIN = 8,
  NEF_OP_ASINH = 9,
  NEF_OP_ATAN = 10,
  NEF_OP_ATANH = 11,
  NEF_OP_ATTENTION = 12,
  NEF_OP_AVERAGE_POOL = 13,
  NEF_OP_BATCH_NORMALIZATION = 14,
  NEF_OP_BIT_SHIFT = 15,
  NEF_OP_BITWISE_AND = 16,
  NEF_OP_BITWISE_NOT = 17,
  NEF_OP_BITWISE_OR = 18,
  NEF_OP_BITWISE_XOR = 19,
  NEF_OP_CAST = 20,
  NEF_OP_CAST_LIKE = 21,
  NEF_OP_CEIL = 22,
  NEF_OP_CELU = 23,
  NEF_OP_CLIP = 24,
  NEF_OP_CONCAT = 25,
  NEF_OP_CONSTANT_OF_SHAPE = 26,
  NEF_OP_CONV = 27,
  NEF_OP_CONV_TRANSPOSE = 28,
  NEF_OP_COS = 29,
  NEF_OP_COSH = 30,
  NEF_OP_CUMSUM = 31,
  NEF_OP_DEPTH_TO_SPACE = 32,
  NEF_OP_DIV = 33,
  NEF_OP_EINSUM = 34,
  NEF_OP_ELU = 35,
  NEF_OP_EQUAL = 36,
  NEF_OP_ERF = 37,
  NEF_OP_EXP = 38,
  NEF_OP_EXPAND = 39,
  NEF_OP_EYE_LIKE = 40,
  NEF_OP_FLATTEN = 41,
  NEF_OP_FLOOR = 42,
  NEF_OP_GATHER = 43,
  NEF_OP_GATHER_ELEMENTS = 44,
  NEF_OP_GATHER_ND = 45,
  NEF_OP_GELU = 46,
  NEF_OP_GEMM = 47,
  NEF_OP_GLOBAL_AVERAGE_POOL = 48,
  NEF_OP_GLOBAL_MAX_POOL = 49,
  NEF_OP_GREATER = 50,
  NEF_OP_GREATER_OR_EQUAL = 51,
  NEF_OP_GROUP_NORMALIZATION = 52,
  NEF_OP_HARD_SIGMOID = 53,
  NEF_OP_HARD_SWISH = 54,
  NEF_OP_HARDMAX = 55,
  NEF_OP_IDENTITY = 56,
  NEF_OP_INSTANCE_NORMALIZATION = 57,
  NEF_OP_ISINF = 58,
  NEF_OP_ISNAN = 59,
  NEF_OP_LRN = 60,
  NEF_OP_LAYER_NORMALIZATION = 61,
  NEF_OP_LEAKY_RELU = 62,
  NEF_OP_LESS = 63,
  NEF_OP_LESS_OR_EQUAL = 64,
  NEF_OP_LOG = 65,
  NEF_OP_LOG_SOFTMAX = 66,
  NEF_OP_LP_NORMALIZATION = 67,
  NEF_OP_MATMUL = 68,
  NEF_OP_MAX = 69,
  NEF_OP_MAX_POOL = 70,
  NEF_OP_MEAN = 71,
  NEF_OP_MEAN_VARIANCE_NORMALIZATION = 72,
  NEF_OP_MIN = 73,
  NEF_OP_MISH = 74,
  NEF_OP_MOD = 75,
  NEF_OP_MUL = 76,
  NEF_OP_NEG = 77,
  NEF_OP_NONZERO = 78,
  NEF_OP_NOT = 79,
  NEF_OP_ONE_HOT = 80,
  NEF_OP_OR = 81,
  NEF_OP_PRELU = 82,
  NEF_OP_PAD = 83,
  NEF_OP_POW = 84,
  NEF_OP_RMS_NORMALIZATION = 85,
  NEF_OP_RANGE = 86,
  NEF_OP_RECIPROCAL = 87,
  NEF_OP_REDUCE_L1 = 88,
  NEF_OP_REDUCE_L2 = 89,
  NEF_OP_REDUCE_LOG_SUM = 90,
  NEF_OP_REDUCE_LOG_SUM_EXP = 91,
  NEF_OP_REDUCE_MAX = 92,
  NEF_OP_REDUCE_MEAN = 93,
  NEF_OP_REDUCE_MIN = 94,
  NEF_OP_REDUCE_PROD = 95,
  NEF_OP_REDUCE_SUM = 96,
  NEF_OP_REDUCE_SUM_SQUARE = 97,
  NEF_OP_RELU = 98,
  NEF_OP_RESHAPE = 99,
  NEF_OP_RESIZE = 100,
  NEF_OP_REVERSE_SEQUENCE = 101,
  NEF_OP_ROTARY_EMBEDDING = 102,
  NEF_OP_ROUND = 103,
  NEF_OP_SCATTER_ELEMENTS = 104,
  NEF_OP_SCATTER_ND = 105,
  NEF_OP_SELU = 106,
  NEF_OP_SHAPE = 107,
  NEF_OP_SHRINK = 108,
  NEF_OP_SIGMOID = 109,
  NEF_OP_SIGN = 110,
  NEF_OP_SILU = 111,
  NEF_OP_SIN = 112,
  NEF_OP_SINH = 113,
  NEF_OP_SIZE = 114,
  NEF_OP_SLICE = 115,
  NEF_OP_SOFTMAX = 116,
  NEF_OP_SOFTPLUS = 117,
  NEF_OP_SOFTSIGN = 118,
  NEF_OP_SPACE_TO_DEPTH = 119,
  NEF_OP_SPLIT = 120,
  NEF_OP_SQRT = 121,
  NEF_OP_SQUEEZE = 122,
  NEF_OP_SUB = 123,
  NEF_OP_SUM = 124,
  NEF_OP_TAN = 125,
  NEF_OP_TANH = 126,
  NEF_OP_THRESHOLDED_RELU = 127,
  NEF_OP_TILE = 128,
  NEF_OP_TOPK = 129,
  NEF_OP_TRANSPOSE = 130,
  NEF_OP_TRILU = 131,
  NEF_OP_UNSQUEEZE = 132,
  NEF_OP_WHERE = 133,
  NEF_OP_XOR = 134,
  NEF_OP_FUSED_MATMUL = 135, /**< made by the engine only */
  NEF_OP_SHAPE_EXPR = 136, /**< made by the engine only */
  NEF_OP_LSTM = 137,
  NEF_OP_GRU = 138,
  NEF_OP_RNN = 139,
  NEF_OP_QUANTIZE_LINEAR = 140,
  NEF_OP_DEQUANTIZE_LINEAR = 141,
  NEF_OP_DYNAMIC_QUANTIZE_LINEAR = 142,
  NEF_OP_MATMUL_INTEGER = 143,
  NEF_OP_QLINEAR_MATMUL = 144,
  NEF_OP_CONV_INTEGER = 145,
  NEF_OP_QLINEAR_CONV = 146,
  NEF_OP_MATMUL_NBITS = 147,
  NEF_OP_NON_MAX_SUPPRESSION = 148,
  NEF_OP_COMPRESS = 149,
  NEF_OP_UNIQUE = 150,
  NEF_OP_GRID_SAMPLE = 151,
  NEF_OP_AFFINE_GRID = 152,
  NEF_OP_ROI_ALIGN = 153,
  NEF_OP_MAX_ROI_POOL = 154,
  NEF_OP_MAX_UNPOOL = 155,
  NEF_OP_DEFORM_CONV = 156,
  NEF_OP_LP_POOL = 157,
  NEF_OP_COL2IM = 158,
  NEF_OP_CENTER_CROP_PAD = 159,
  NEF_OP_DFT = 160,
  NEF_OP_STFT = 161,
  NEF_OP_MEL_WEIGHT_MATRIX = 162,
  NEF_OP_HANN_WINDOW = 163,
  NEF_OP_HAMMING_WINDOW = 164,
  NEF_OP_BLACKMAN_WINDOW = 165,
  NEF_OP_DET = 166,
  NEF_OP_TENSOR_SCATTER = 167,
  NEF_OP_CUMPROD = 168,
  NEF_OP_BIT_CAST = 169,
  NEF_OP_RANDOM_UNIFORM = 170,
  NEF_OP_RANDOM_NORMAL = 171,
  NEF_OP_BERNOULLI = 172,
  NEF_OP_MULTINOMIAL = 173,
  NEF_OP_LINEAR_ATTENTION = 174,
  NEF_OP_TF_IDF_VECTORIZER = 175,
  NEF_OP_IF = 176,
  NEF_OP_LOOP = 177,
  NEF_OP_SCAN = 178,
  NEF_OP_REQUIRE = 179,
  NEF_OP_COUNT_ = 180 /**< grows with each release: not for switch or storage */
};

/** Attributes of ArgMax. */
enum {
  NEF_ARGMAX_AXIS = 0, /**< int */
  NEF_ARGMAX_KEEPDIMS = 1, /**< bool */
  NEF_ARGMAX_SELECT_LAST_INDEX = 2 /**< bool */
};
/** Attributes of ArgMin. */
enum {
  NEF_ARGMIN_AXIS = 0, /**< int */
  NEF_ARGMIN_KEEPDIMS = 1, /**< bool */
  NEF_ARGMIN_SELECT_LAST_INDEX = 2 /**< bool */
};
/** Attributes of Attention. */
enum {
  NEF_ATTENTION_IS_CAUSAL = 0, /**< bool */
  NEF_ATTENTION_KV_NUM_HEADS = 1, /**< int */
  NEF_ATTENTION_Q_NUM_HEADS = 2, /**< int */
  NEF_ATTENTION_QK_MATMUL_OUTPUT_MODE = 3, /**< int */
  NEF_ATTENTION_SCALE = 4, /**< float */
  NEF_ATTENTION_SOFTCAP = 5, /**< float */
  NEF_ATTENTION_SOFTMAX_PRECISION = 6 /**< dtype */
};
/** Attributes of AveragePool. */
enum {
  NEF_AVERAGE_POOL_AUTO_PAD = 0, /**< string */
  NEF_AVERAGE_POOL_CEIL_MODE = 1, /**< bool */
  NEF_AVERAGE_POOL_COUNT_INCLUDE_PAD = 2, /**< bool */
  NEF_AVERAGE_POOL_DILATIONS = 3, /**< ints */
  NEF_AVERAGE_POOL_KERNEL_SHAPE = 4, /**< ints */
  NEF_AVERAGE_POOL_PADS = 5, /**< ints */
  NEF_AVERAGE_POOL_STRIDES = 6 /**< ints */
};
/** Attributes of BatchNormalization. */
enum {
  NEF_BATCH_NORMALIZATION_EPSILON = 0 /**< float */
};
/** Attributes of BitShift. */
enum {
  NEF_BIT_SHIFT_DIRECTION = 0 /**< string */
};
/** Attributes of Cast. */
enum {
  NEF_CAST_TO = 0, /**< dtype */
  NEF_CAST_SATURATE = 1 /**< bool */
};
/** Attributes of CastLike. */
enum {
  NEF_CAST_LIKE_SATURATE = 0 /**< bool */
};
/** Attributes of Celu. */
enum {
  NEF_CELU_ALPHA = 0 /**< float */
};
/** Attributes of Concat. */
enum {
  NEF_CONCAT_AXIS = 0 /**< int */
};
/** Attributes of Conv. */
enum {
  NEF_CONV_AUTO_PAD = 0, /**< string */
  NEF_CONV_DILATIONS = 1, /**< ints */
  NEF_CONV_GROUP = 2, /**< int */
  NEF_CONV_KERNEL_SHAPE = 3, /**< ints */
  NEF_CONV_PADS = 4, /**< ints */
  NEF_CONV_STRIDES = 5 /**< ints */
};
/** Attributes of ConvTranspose. */
enum {
  NEF_CONV_TRANSPOSE_AUTO_PAD = 0, /**< string */
  NEF_CONV_TRANSPOSE_DILATIONS = 1, /**< ints */
  NEF_CONV_TRANSPOSE_GROUP = 2, /**< int */
  NEF_CONV_TRANSPOSE_KERNEL_SHAPE = 3, /**< ints */
  NEF_CONV_TRANSPOSE_OUTPUT_PADDING = 4, /**< ints */
  NEF_CONV_TRANSPOSE_OUTPUT_SHAPE = 5, /**< ints */
  NEF_CONV_TRANSPOSE_PADS = 6, /**< ints */
  NEF_CONV_TRANSPOSE_STRIDES = 7 /**< ints */
};
/** Attributes of CumSum. */
enum {
  NEF_CUMSUM_EXCLUSIVE = 0, /**< bool */
  NEF_CUMSUM_REVERSE = 1 /**< bool */
};
/** Attributes of DepthToSpace. */
enum {
  NEF_DEPTH_TO_SPACE_BLOCKSIZE = 0, /**< int */
  NEF_DEPTH_TO_SPACE_MODE = 1 /**< string */
};
/** Attributes of Einsum. */
enum {
  NEF_EINSUM_EQUATION = 0 /**< string */
};
/** Attributes of Elu. */
enum {
  NEF_ELU_ALPHA = 0 /**< float */
};
/** Attributes of EyeLike. */
enum {
  NEF_EYE_LIKE_DTYPE = 0, /**< dtype */
  NEF_EYE_LIKE_K = 1 /**< int */
};
/** Attributes of Flatten. */
enum {
  NEF_FLATTEN_AXIS = 0 /**< int */
};
/** Attributes of Gather. */
enum {
  NEF_GATHER_AXIS = 0 /**< int */
};
/** Attributes of GatherElements. */
enum {
  NEF_GATHER_ELEMENTS_AXIS = 0 /**< int */
};
/** Attributes of GatherND. */
enum {
  NEF_GATHER_ND_BATCH_DIMS = 0 /**< int */
};
/** Attributes of Gelu. */
enum {
  NEF_GELU_APPROXIMATE = 0 /**< string */
};
/** Attributes of Gemm. */
enum {
  NEF_GEMM_ALPHA = 0, /**< float */
  NEF_GEMM_BETA = 1, /**< float */
  NEF_GEMM_TRANS_A = 2, /**< bool */
  NEF_GEMM_TRANS_B = 3 /**< bool */
};
/** Attributes of GroupNormalization. */
enum {
  NEF_GROUP_NORMALIZATION_NUM_GROUPS = 0, /**< int */
  NEF_GROUP_NORMALIZATION_EPSILON = 1, /**< float */
  NEF_GROUP_NORMALIZATION_STASH_TYPE = 2 /**< dtype */
};
/** Attributes of HardSigmoid. */
enum {
  NEF_HARD_SIGMOID_ALPHA = 0, /**< float */
  NEF_HARD_SIGMOID_BETA = 1 /**< float */
};
/** Attributes of Hardmax. */
enum {
  NEF_HARDMAX_AXIS = 0 /**< int */
};
/** Attributes of InstanceNormalization. */
enum {
  NEF_INSTANCE_NORMALIZATION_EPSILON = 0 /**< float */
};
/** Attributes of IsInf. */
enum {
  NEF_ISINF_DETECT_NEGATIVE = 0, /**< bool */
  NEF_ISINF_DETECT_POSITIVE = 1 /**< bool */
};
/** Attributes of LRN. */
enum {
  NEF_LRN_SIZE = 0, /**< int */
  NEF_LRN_ALPHA = 1, /**< float */
  NEF_LRN_BETA = 2, /**< float */
  NEF_LRN_BIAS = 3 /**< float */
};
/** Attributes of LayerNormalization. */
enum {
  NEF_LAYER_NORMALIZATION_AXIS = 0, /**< int */
  NEF_LAYER_NORMALIZATION_EPSILON = 1, /**< float */
  NEF_LAYER_NORMALIZATION_STASH_TYPE = 2 /**< dtype */
};
/** Attributes of LeakyRelu. */
enum {
  NEF_LEAKY_RELU_ALPHA = 0 /**< float */
};
/** Attributes of LogSoftmax. */
enum {
  NEF_LOG_SOFTMAX_AXIS = 0 /**< int */
};
/** Attributes of LpNormalization. */
enum {
  NEF_LP_NORMALIZATION_AXIS = 0, /**< int */
  NEF_LP_NORMALIZATION_P = 1 /**< int */
};
/** Attributes of MaxPool. */
enum {
  NEF_MAX_POOL_AUTO_PAD = 0, /**< string */
  NEF_MAX_POOL_CEIL_MODE = 1, /**< bool */
  NEF_MAX_POOL_DILATIONS = 2, /**< ints */
  NEF_MAX_POOL_KERNEL_SHAPE = 3, /**< ints */
  NEF_MAX_POOL_PADS = 4, /**< ints */
  NEF_MAX_POOL_STORAGE_ORDER = 5, /**< int */
  NEF_MAX_POOL_STRIDES = 6 /**< ints */
};
/** Attributes of MeanVarianceNormalization. */
enum {
  NEF_MEAN_VARIANCE_NORMALIZATION_AXES = 0 /**< ints */
};
/** Attributes of Mod. */
enum {
  NEF_MOD_FMOD = 0 /**< bool */
};
/** Attributes of OneHot. */
enum {
  NEF_ONE_HOT_AXIS = 0 /**< int */
};
/** Attributes of Pad. */
enum {
  NEF_PAD_MODE = 0 /**< string */
};
/** Attributes of RMSNormalization. */
enum {
  NEF_RMS_NORMALIZATION_AXIS = 0, /**< int */
  NEF_RMS_NORMALIZATION_EPSILON = 1, /**< float */
  NEF_RMS_NORMALIZATION_STASH_TYPE = 2 /**< dtype */
};
/** Attributes of ReduceL1. */
enum {
  NEF_REDUCE_L1_KEEPDIMS = 0, /**< bool */
  NEF_REDUCE_L1_NOOP_WITH_EMPTY_AXES = 1 /**< bool */
};
/** Attributes of ReduceL2. */
enum {
  NEF_REDUCE_L2_KEEPDIMS = 0, /**< bool */
  NEF_REDUCE_L2_NOOP_WITH_EMPTY_AXES = 1 /**< bool */
};
/** Attributes of ReduceLogSum. */
enum {
  NEF_REDUCE_LOG_SUM_KEEPDIMS = 0, /**< bool */
  NEF_REDUCE_LOG_SUM_NOOP_WITH_EMPTY_AXES = 1 /**< bool */
};
/** Attributes of ReduceLogSumExp. */
enum {
  NEF_REDUCE_LOG_SUM_EXP_KEEPDIMS = 0, /**< bool */
  NEF_REDUCE_LOG_SUM_EXP_NOOP_WITH_EMPTY_AXES = 1 /**< bool */
};
/** Attributes of ReduceMax. */
enum {
  NEF_REDUCE_MAX_KEEPDIMS = 0, /**< bool */
  NEF_REDUCE_MAX_NOOP_WITH_EMPTY_AXES = 1 /**< bool */
};
/** Attributes of ReduceMean. */
enum {
  NEF_REDUCE_MEAN_KEEPDIMS = 0, /**< bool */
  NEF_REDUCE_MEAN_NOOP_WITH_EMPTY_AXES = 1 /**< bool */
};
/** Attributes of ReduceMin. */
enum {
  NEF_REDUCE_MIN_KEEPDIMS = 0, /**< bool */
  NEF_REDUCE_MIN_NOOP_WITH_EMPTY_AXES = 1 /**< bool */
};
/** Attributes of ReduceProd. */
enum {
  NEF_REDUCE_PROD_KEEPDIMS = 0, /**< bool */
  NEF_REDUCE_PROD_NOOP_WITH_EMPTY_AXES = 1 /**< bool */
};
/** Attributes of ReduceSum. */
enum {
  NEF_REDUCE_SUM_KEEPDIMS = 0, /**< bool */
  NEF_REDUCE_SUM_NOOP_WITH_EMPTY_AXES = 1 /**< bool */
};
/** Attributes of ReduceSumSquare. */
enum {
  NEF_REDUCE_SUM_SQUARE_KEEPDIMS = 0, /**< bool */
  NEF_REDUCE_SUM_SQUARE_NOOP_WITH_EMPTY_AXES = 1 /**< bool */
};
/** Attributes of Reshape. */
enum {
  NEF_RESHAPE_ALLOWZERO = 0 /**< bool */
};
/** Attributes of Resize. */
enum {
  NEF_RESIZE_MODE = 0, /**< string */
  NEF_RESIZE_ANTIALIAS = 1, /**< bool */
  NEF_RESIZE_AXES = 2, /**< ints */
  NEF_RESIZE_COORDINATE_TRANSFORMATION_MODE = 3, /**< string */
  NEF_RESIZE_CUBIC_COEFF_A = 4, /**< float */
  NEF_RESIZE_EXCLUDE_OUTSIDE = 5, /**< bool */
  NEF_RESIZE_EXTRAPOLATION_VALUE = 6, /**< float */
  NEF_RESIZE_KEEP_ASPECT_RATIO_POLICY = 7, /**< string */
  NEF_RESIZE_NEAREST_MODE = 8 /**< string */
};
/** Attributes of ReverseSequence. */
enum {
  NEF_REVERSE_SEQUENCE_BATCH_AXIS = 0, /**< int */
  NEF_REVERSE_SEQUENCE_TIME_AXIS = 1 /**< int */
};
/** Attributes of RotaryEmbedding. */
enum {
  NEF_ROTARY_EMBEDDING_INTERLEAVED = 0, /**< bool */
  NEF_ROTARY_EMBEDDING_NUM_HEADS = 1, /**< int */
  NEF_ROTARY_EMBEDDING_ROTARY_EMBEDDING_DIM = 2 /**< int */
};
/** Attributes of ScatterElements. */
enum {
  NEF_SCATTER_ELEMENTS_AXIS = 0, /**< int */
  NEF_SCATTER_ELEMENTS_REDUCTION = 1 /**< string */
};
/** Attributes of ScatterND. */
enum {
  NEF_SCATTER_ND_REDUCTION = 0 /**< string */
};
/** Attributes of Selu. */
enum {
  NEF_SELU_ALPHA = 0, /**< float */
  NEF_SELU_GAMMA = 1 /**< float */
};
/** Attributes of Shape. */
enum {
  NEF_SHAPE_START = 0, /**< int */
  NEF_SHAPE_END = 1 /**< int */
};
/** Attributes of Shrink. */
enum {
  NEF_SHRINK_LAMBD = 0, /**< float */
  NEF_SHRINK_BIAS = 1 /**< float */
};
/** Attributes of Silu. */
enum {
  NEF_SILU_ALPHA = 0 /**< float */
};
/** Attributes of Softmax. */
enum {
  NEF_SOFTMAX_AXIS = 0, /**< int */
  NEF_SOFTMAX_ZERO_MASKED_ROWS = 1 /**< bool */
};
/** Attributes of SpaceToDepth. */
enum {
  NEF_SPACE_TO_DEPTH_BLOCKSIZE = 0, /**< int */
  NEF_SPACE_TO_DEPTH_MODE = 1 /**< string */
};
/** Attributes of Split. */
enum {
  NEF_SPLIT_AXIS = 0, /**< int */
  NEF_SPLIT_NUM_OUTPUTS = 1 /**< int */
};
/** Attributes of ThresholdedRelu. */
enum {
  NEF_THRESHOLDED_RELU_ALPHA = 0 /**< float */
};
/** Attributes of TopK. */
enum {
  NEF_TOPK_AXIS = 0, /**< int */
  NEF_TOPK_LARGEST = 1, /**< bool */
  NEF_TOPK_SORTED = 2 /**< bool */
};
/** Attributes of Transpose. */
enum {
  NEF_TRANSPOSE_PERM = 0 /**< ints */
};
/** Attributes of Trilu. */
enum {
  NEF_TRILU_UPPER = 0 /**< bool */
};
/** Attributes of FusedMatMul. */
enum {
  NEF_FUSED_MATMUL_TRANS_A = 0, /**< int */
  NEF_FUSED_MATMUL_TRANS_B = 1, /**< int */
  NEF_FUSED_MATMUL_ALPHA = 2 /**< float */
};
/** Attributes of LSTM. */
enum {
  NEF_LSTM_ACTIVATION_ALPHA = 0, /**< floats */
  NEF_LSTM_ACTIVATION_BETA = 1, /**< floats */
  NEF_LSTM_ACTIVATIONS = 2, /**< string */
  NEF_LSTM_CLIP = 3, /**< float */
  NEF_LSTM_DIRECTION = 4, /**< string */
  NEF_LSTM_HIDDEN_SIZE = 5, /**< int */
  NEF_LSTM_LAYOUT = 6, /**< int */
  NEF_LSTM_INPUT_FORGET = 7 /**< bool */
};
/** Attributes of GRU. */
enum {
  NEF_GRU_ACTIVATION_ALPHA = 0, /**< floats */
  NEF_GRU_ACTIVATION_BETA = 1, /**< floats */
  NEF_GRU_ACTIVATIONS = 2, /**< string */
  NEF_GRU_CLIP = 3, /**< float */
  NEF_GRU_DIRECTION = 4, /**< string */
  NEF_GRU_HIDDEN_SIZE = 5, /**< int */
  NEF_GRU_LAYOUT = 6, /**< int */
  NEF_GRU_LINEAR_BEFORE_RESET = 7 /**< bool */
};
/** Attributes of RNN. */
enum {
  NEF_RNN_ACTIVATION_ALPHA = 0, /**< floats */
  NEF_RNN_ACTIVATION_BETA = 1, /**< floats */
  NEF_RNN_ACTIVATIONS = 2, /**< string */
  NEF_RNN_CLIP = 3, /**< float */
  NEF_RNN_DIRECTION = 4, /**< string */
  NEF_RNN_HIDDEN_SIZE = 5, /**< int */
  NEF_RNN_LAYOUT = 6 /**< int */
};
/** Attributes of QuantizeLinear. */
enum {
  NEF_QUANTIZE_LINEAR_AXIS = 0, /**< int */
  NEF_QUANTIZE_LINEAR_BLOCK_SIZE = 1, /**< int */
  NEF_QUANTIZE_LINEAR_OUTPUT_DTYPE = 2, /**< dtype */
  NEF_QUANTIZE_LINEAR_PRECISION = 3, /**< dtype */
  NEF_QUANTIZE_LINEAR_SATURATE = 4 /**< bool */
};
/** Attributes of DequantizeLinear. */
enum {
  NEF_DEQUANTIZE_LINEAR_AXIS = 0, /**< int */
  NEF_DEQUANTIZE_LINEAR_BLOCK_SIZE = 1, /**< int */
  NEF_DEQUANTIZE_LINEAR_OUTPUT_DTYPE = 2 /**< dtype */
};
/** Attributes of ConvInteger. */
enum {
  NEF_CONV_INTEGER_AUTO_PAD = 0, /**< string */
  NEF_CONV_INTEGER_DILATIONS = 1, /**< ints */
  NEF_CONV_INTEGER_GROUP = 2, /**< int */
  NEF_CONV_INTEGER_KERNEL_SHAPE = 3, /**< ints */
  NEF_CONV_INTEGER_PADS = 4, /**< ints */
  NEF_CONV_INTEGER_STRIDES = 5 /**< ints */
};
/** Attributes of QLinearConv. */
enum {
  NEF_QLINEAR_CONV_AUTO_PAD = 0, /**< string */
  NEF_QLINEAR_CONV_DILATIONS = 1, /**< ints */
  NEF_QLINEAR_CONV_GROUP = 2, /**< int */
  NEF_QLINEAR_CONV_KERNEL_SHAPE = 3, /**< ints */
  NEF_QLINEAR_CONV_PADS = 4, /**< ints */
  NEF_QLINEAR_CONV_STRIDES = 5 /**< ints */
};
/** Attributes of MatMulNBits. */
enum {
  NEF_MATMUL_NBITS_K = 0, /**< int */
  NEF_MATMUL_NBITS_N = 1, /**< int */
  NEF_MATMUL_NBITS_BITS = 2, /**< int */
  NEF_MATMUL_NBITS_BLOCK_SIZE = 3 /**< int */
};
/** Attributes of NonMaxSuppression. */
enum {
  NEF_NON_MAX_SUPPRESSION_CENTER_POINT_BOX = 0 /**< int */
};
/** Attributes of Compress. */
enum {
  NEF_COMPRESS_AXIS = 0 /**< int */
};
/** Attributes of Unique. */
enum {
  NEF_UNIQUE_AXIS = 0, /**< int */
  NEF_UNIQUE_SORTED = 1 /**< bool */
};
/** Attributes of GridSample. */
enum {
  NEF_GRID_SAMPLE_ALIGN_CORNERS = 0, /**< bool */
  NEF_GRID_SAMPLE_MODE = 1, /**< string */
  NEF_GRID_SAMPLE_PADDING_MODE = 2 /**< string */
};
/** Attributes of AffineGrid. */
enum {
  NEF_AFFINE_GRID_ALIGN_CORNERS = 0 /**< bool */
};
/** Attributes of RoiAlign. */
enum {
  NEF_ROI_ALIGN_COORDINATE_TRANSFORMATION_MODE = 0, /**< string */
  NEF_ROI_ALIGN_MODE = 1, /**< string */
  NEF_ROI_ALIGN_OUTPUT_HEIGHT = 2, /**< int */
  NEF_ROI_ALIGN_OUTPUT_WIDTH = 3, /**< int */
  NEF_ROI_ALIGN_SAMPLING_RATIO = 4, /**< int */
  NEF_ROI_ALIGN_SPATIAL_SCALE = 5 /**< float */
};
/** Attributes of MaxRoiPool. */
enum {
  NEF_MAX_ROI_POOL_POOLED_SHAPE = 0, /**< ints */
  NEF_MAX_ROI_POOL_SPATIAL_SCALE = 1 /**< float */
};
/** Attributes of MaxUnpool. */
enum {
  NEF_MAX_UNPOOL_KERNEL_SHAPE = 0, /**< ints */
  NEF_MAX_UNPOOL_PADS = 1, /**< ints */
  NEF_MAX_UNPOOL_STRIDES = 2 /**< ints */
};
/** Attributes of DeformConv. */
enum {
  NEF_DEFORM_CONV_DILATIONS = 0, /**< ints */
  NEF_DEFORM_CONV_GROUP = 1, /**< int */
  NEF_DEFORM_CONV_KERNEL_SHAPE = 2, /**< ints */
  NEF_DEFORM_CONV_OFFSET_GROUP = 3, /**< int */
  NEF_DEFORM_CONV_PADS = 4, /**< ints */
  NEF_DEFORM_CONV_STRIDES = 5 /**< ints */
};
/** Attributes of LpPool. */
enum {
  NEF_LP_POOL_AUTO_PAD = 0, /**< string */
  NEF_LP_POOL_CEIL_MODE = 1, /**< bool */
  NEF_LP_POOL_DILATIONS = 2, /**< ints */
  NEF_LP_POOL_KERNEL_SHAPE = 3, /**< ints */
  NEF_LP_POOL_PADS = 4, /**< ints */
  NEF_LP_POOL_STRIDES = 5, /**< ints */
  NEF_LP_POOL_P = 6 /**< int */
};
/** Attributes of Col2Im. */
enum {
  NEF_COL2IM_DILATIONS = 0, /**< ints */
  NEF_COL2IM_PADS = 1, /**< ints */
  NEF_COL2IM_STRIDES = 2 /**< ints */
};
/** Attributes of CenterCropPad. */
enum {
  NEF_CENTER_CROP_PAD_AXES = 0 /**< ints */
};
/** Attributes of DFT. */
enum {
  NEF_DFT_INVERSE = 0, /**< bool */
  NEF_DFT_ONESIDED = 1 /**< bool */
};
/** Attributes of STFT. */
enum {
  NEF_STFT_ONESIDED = 0 /**< bool */
};
/** Attributes of MelWeightMatrix. */
enum {
  NEF_MEL_WEIGHT_MATRIX_OUTPUT_DATATYPE = 0 /**< dtype */
};
/** Attributes of HannWindow. */
enum {
  NEF_HANN_WINDOW_OUTPUT_DATATYPE = 0, /**< dtype */
  NEF_HANN_WINDOW_PERIODIC = 1 /**< bool */
};
/** Attributes of HammingWindow. */
enum {
  NEF_HAMMING_WINDOW_OUTPUT_DATATYPE = 0, /**< dtype */
  NEF_HAMMING_WINDOW_PERIODIC = 1 /**< bool */
};
/** Attributes of BlackmanWindow. */
enum {
  NEF_BLACKMAN_WINDOW_OUTPUT_DATATYPE = 0, /**< dtype */
  NEF_BLACKMAN_WINDOW_PERIODIC = 1 /**< bool */
};
/** Attributes of TensorScatter. */
enum {
  NEF_TENSOR_SCATTER_AXIS = 0, /**< int */
  NEF_TENSOR_SCATTER_MODE = 1 /**< string */
};
/** Attributes of CumProd. */
enum {
  NEF_CUMPROD_EXCLUSIVE = 0, /**< bool */
  NEF_CUMPROD_REVERSE = 1 /**< bool */
};
/** Attributes of BitCast. */
enum {
  NEF_BIT_CAST_TO = 0 /**< dtype */
};
/** Attributes of RandomUniform. */
enum {
  NEF_RANDOM_UNIFORM_DTYPE = 0, /**< dtype */
  NEF_RANDOM_UNIFORM_HIGH = 1, /**< float */
  NEF_RANDOM_UNIFORM_LOW = 2, /**< float */
  NEF_RANDOM_UNIFORM_SEED = 3 /**< int */
};
/** Attributes of RandomNormal. */
enum {
  NEF_RANDOM_NORMAL_DTYPE = 0, /**< dtype */
  NEF_RANDOM_NORMAL_MEAN = 1, /**< float */
  NEF_RANDOM_NORMAL_SCALE = 2, /**< float */
  NEF_RANDOM_NORMAL_SEED = 3 /**< int */
};
/** Attributes of Bernoulli. */
enum {
  NEF_BERNOULLI_DTYPE = 0, /**< dtype */
  NEF_BERNOULLI_SEED = 1 /**< int */
};
/** Attributes of Multinomial. */
enum {
  NEF_MULTINOMIAL_DTYPE = 0, /**< dtype */
  NEF_MULTINOMIAL_SAMPLE_SIZE = 1, /**< int */
  NEF_MULTINOMIAL_SEED = 2 /**< int */
};
/** Attributes of LinearAttention. */
enum {
  NEF_LINEAR_ATTENTION_KV_NUM_HEADS = 0, /**< int */
  NEF_LINEAR_ATTENTION_Q_NUM_HEADS = 1, /**< int */
  NEF_LINEAR_ATTENTION_SCALE = 2, /**< float */
  NEF_LINEAR_ATTENTION_UPDATE_RULE = 3 /**< string */
};
/** Attributes of TfIdfVectorizer. */
enum {
  NEF_TF_IDF_VECTORIZER_MAX_GRAM_LENGTH = 0, /**< int */
  NEF_TF_IDF_VECTORIZER_MAX_SKIP_COUNT = 1, /**< int */
  NEF_TF_IDF_VECTORIZER_MIN_GRAM_LENGTH = 2, /**< int */
  NEF_TF_IDF_VECTORIZER_MODE = 3, /**< string */
  NEF_TF_IDF_VECTORIZER_NGRAM_COUNTS = 4, /**< ints */
  NEF_TF_IDF_VECTORIZER_NGRAM_INDEXES = 5, /**< ints */
  NEF_TF_IDF_VECTORIZER_POOL_INT64S = 6, /**< ints */
  NEF_TF_IDF_VECTORIZER_WEIGHTS = 7 /**< floats */
};
/** Attributes of Loop. */
enum {
  NEF_LOOP_CARRIED = 0 /**< int */
};
/** Attributes of Scan. */
enum {
  NEF_SCAN_CARRIED = 0, /**< int */
  NEF_SCAN_NUM_SCAN_INPUTS = 1, /**< int */
  NEF_SCAN_SCAN_INPUT_AXES = 2, /**< ints */
  NEF_SCAN_SCAN_INPUT_DIRECTIONS = 3, /**< ints */
  NEF_SCAN_SCAN_OUTPUT_AXES = 4, /**< ints */
  NEF_SCAN_SCAN_OUTPUT_DIRECTIONS = 5 /**< ints */
};
/** Attributes of Require. */
enum {
  NEF_REQUIRE_MESSAGE = 0 /**< string */
};

#endif /* NEF_OP_IDS_H */
