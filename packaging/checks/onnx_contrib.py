# SPDX-License-Identifier: Apache-2.0
"""Writes cases of ONNX Runtime's own ops, with what ONNX Runtime computes, in ONNX's form of test data.

usage: onnx_contrib.py FOLDER
"""
import json
import pathlib
import shutil
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

RNG = np.random.default_rng(0)
MS = "com.microsoft"


def rand(*shape):
    return RNG.normal(0, 1, shape).astype(np.float32)


def ints(dtype, low, high, *shape):
    return RNG.integers(low, high, shape).astype(dtype)


def rotary_tables(positions, half):
    angle = np.arange(positions)[:, None] / 10000 ** (np.arange(half) / half)
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def cases():
    """Name, op, inputs (None is absent), number of outputs (names of absent ones are empty), attributes."""
    x = rand(2, 3, 8)
    yield "gelu", "Gelu", [x], 1, {}
    yield "fast_gelu", "FastGelu", [x, rand(8)], 1, {}
    yield "fast_gelu_no_bias", "FastGelu", [x], 1, {}
    yield "bias_gelu", "BiasGelu", [x, rand(8)], 1, {}
    yield "quick_gelu", "QuickGelu", [x], 1, {}
    yield "quick_gelu_alpha", "QuickGelu", [x], 1, {"alpha": 1.0}
    yield "fused_matmul", "FusedMatMul", [rand(2, 3, 4), rand(2, 4, 5)], 1, {"alpha": 0.5}
    yield "fused_matmul_trans", "FusedMatMul", [rand(2, 4, 3), rand(2, 5, 4)], 1, {"transA": 1, "transB": 1}
    norm = [x, rand(2, 3, 8), rand(8), rand(8), rand(8)]
    yield "skip_layer_norm", "SkipLayerNormalization", norm, 1, {"epsilon": 1e-5}
    yield "skip_layer_norm_sum", "SkipLayerNormalization", norm[:4], "1001", {"epsilon": 1e-5}
    yield "skip_layer_norm_no_beta", "SkipLayerNormalization", norm[:3], 1, {}
    yield "skip_simplified", "SkipSimplifiedLayerNormalization", norm[:3], "1001", {"epsilon": 1e-5}
    yield "skip_simplified_bias", "SkipSimplifiedLayerNormalization", norm[:4], 1, {"epsilon": 1e-5}
    cos, sin = rotary_tables(16, 4)
    ids = np.array([[0, 1, 2], [3, 4, 5]], np.int64)
    yield "rotary", "RotaryEmbedding", [rand(2, 3, 16), ids, cos, sin], 1, {}
    yield "rotary_interleaved", "RotaryEmbedding", [rand(2, 3, 16), ids, cos, sin], 1, {"interleaved": 1}
    yield "rotary_offset", "RotaryEmbedding", [rand(2, 3, 16), np.array([5], np.int64), cos, sin], 1, {}
    yield "rotary_4d", "RotaryEmbedding", [rand(2, 2, 3, 8), ids, cos, sin], 1, {}
    for name, block, zero in (("", 16, False), ("_zero", 32, True)):
        k, n, blocks = 64, 5, 64 // block
        b = ints(np.uint8, 0, 256, n, blocks, block // 2)
        scales = np.abs(rand(n * blocks)) * 0.1
        zeros = ints(np.uint8, 0, 256, n * ((blocks + 1) // 2)) if zero else None
        yield "matmul_nbits" + name, "MatMulNBits", [rand(2, 3, k), b, scales, zeros], 1, dict(K=k, N=n, bits=4, block_size=block)
    q, kv = rand(2, 5, 64), [rand(2, 5, 32), rand(2, 5, 32)]
    cos, sin = rotary_tables(16, 8)
    gqa = {"num_heads": 4, "kv_num_heads": 2}
    full = [np.array([4, 4], np.int32), np.array(5, np.int32)]
    yield "gqa_prompt", "GroupQueryAttention", [q, *kv, None, None, *full], 3, gqa
    yield "gqa_rotary", "GroupQueryAttention", [q, *kv, None, None, *full, cos, sin], 3, {**gqa, "do_rotary": 1}
    yield "gqa_packed", "GroupQueryAttention", [rand(2, 5, 128), None, None, None, None, *full], 3, gqa
    yield "gqa_window", "GroupQueryAttention", [q, *kv, None, None, *full], 3, {**gqa, "local_window_size": 2}
    past = [rand(2, 2, 6, 16), rand(2, 2, 6, 16)]
    step = [rand(2, 1, 64), rand(2, 1, 32), rand(2, 1, 32), *past, np.array([6, 6], np.int32), np.array(7, np.int32)]
    yield "gqa_step", "GroupQueryAttention", step, 3, gqa
    yield "gqa_step_rotary", "GroupQueryAttention", [*step, cos, sin], 3, {**gqa, "do_rotary": 1}
    yield "gqa_softcap", "GroupQueryAttention", [q, *kv, None, None, *full], 3, {**gqa, "softcap": 2.0, "scale": 0.3}
    # Behind a row's own past ONNX Runtime gives zeros, NEF what was there.
    lengths = np.array([3, 6], np.int32)
    for name, room in (("grows", 6), ("buffer", 9)):
        ragged = [rand(2, 2, room, 16), rand(2, 2, room, 16)]
        for cache in ragged:
            cache[0, :, 3:] = 0
            cache[1, :, 6:] = 0
        row = [rand(2, 1, 64), rand(2, 1, 32), rand(2, 1, 32), *ragged, lengths, np.array(7, np.int32)]
        yield "gqa_ragged_" + name, "GroupQueryAttention", row, 3, gqa
        rotary = {**gqa, "do_rotary": 1, "rotary_interleaved": 1, "local_window_size": 3}
        yield f"gqa_ragged_{name}_rotary", "GroupQueryAttention", [*row, cos, sin], 3, rotary
    bias = [*full, None, None, None, rand(1, 4, 5, 5)]
    yield "gqa_bias", "GroupQueryAttention", [q, *kv, None, None, *bias], 3, {**gqa, "local_window_size": 3}
    mha = [rand(2, 5, 16), rand(2, 7, 16), rand(2, 7, 16)]
    keep = np.array([[1] * 7, [1] * 4 + [0] * 3], np.int32)
    yield "mha", "MultiHeadAttention", mha, 1, {"num_heads": 2}
    yield "mha_bias", "MultiHeadAttention", [*mha, rand(48)], 1, {"num_heads": 2}
    yield "mha_padding", "MultiHeadAttention", [*mha, None, keep], 1, {"num_heads": 2}
    yield "mha_attention_bias", "MultiHeadAttention", [*mha, None, None, rand(1, 2, 5, 7)], 1, {"num_heads": 2, "scale": 0.2}
    a, b = ints(np.uint8, 0, 256, 3, 8), ints(np.uint8, 0, 256, 8, 5)
    s = [np.array(0.02, np.float32), np.array(0.03, np.float32)]
    z = [np.array(120, np.uint8), np.array(130, np.uint8)]
    yield "matmul_integer_to_float", "MatMulIntegerToFloat", [a, b, *s, *z, rand(5)], 1, {}
    yield "dynamic_quantize_matmul", "DynamicQuantizeMatMul", [rand(3, 8), b, s[1], z[1], rand(5)], 1, {}
    left, right = [a, s[0], z[0]], [ints(np.uint8, 0, 256, 3, 8), s[1], z[1]]
    out = [np.array(0.05, np.float32), np.array(128, np.uint8)]
    yield "qlinear_add", "QLinearAdd", [*left, *right, *out], 1, {}
    yield "qlinear_mul", "QLinearMul", [*left, *right, np.array(0.1, np.float32), out[1]], 1, {}
    yield "qlinear_sigmoid", "QLinearSigmoid", [*left, np.array(1 / 256, np.float32), np.array(0, np.uint8)], 1, {}
    yield "qlinear_leaky_relu", "QLinearLeakyRelu", [*left, *out], 1, {"alpha": 0.1}


def write(name, op, inputs, outputs, attrs, folder):
    flags = "1" * outputs if isinstance(outputs, int) else outputs
    names = ["" if v is None else f"x{i}" for i, v in enumerate(inputs)]
    while names and not names[-1]:
        names.pop()
    outs = [f"y{i}" if f == "1" else "" for i, f in enumerate(flags)]
    given = {n: v for n, v in zip(names, inputs) if n}
    node = helper.make_node(op, names, outs, domain=MS, **attrs)
    # Integers that set sizes or pick keys are constants, as exporters write weights and zero points.
    ports = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in given.items()]
    results = [onnx.ValueInfoProto(name=n) for n in outs if n]
    graph = helper.make_graph([node], name, ports, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(MS, 1)], ir_version=9)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    data = model.SerializeToString()
    session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    got = session.run(None, given)
    for port, value in zip(model.graph.output, got):
        port.CopyFrom(helper.make_tensor_value_info(port.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
    target = folder / ("test_" + name)
    (target / "test_data_set_0").mkdir(parents=True)
    (target / "model.onnx").write_bytes(model.SerializeToString())
    (target / "tolerance.json").write_text(json.dumps({"rtol": 1e-3, "atol": 1e-5}))
    for what, values in (("input", given.values()), ("output", got)):
        for i, value in enumerate(values):
            proto = numpy_helper.from_array(np.ascontiguousarray(value) if value.ndim else value)
            (target / "test_data_set_0" / f"{what}_{i}.pb").write_bytes(proto.SerializeToString())


def main():
    folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    count = 0
    for name, op, inputs, outputs, attrs in cases():
        write(name, op, inputs, outputs, attrs, folder)
        count += 1
    print(f"{count} cases, ONNX Runtime {ort.__version__}, onnx {onnx.__version__}", file=sys.stderr)


if __name__ == "__main__":
    main()
