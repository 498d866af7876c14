#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares embeddings that NEF computed with two oracles on the same weights.

    minilm_oracle.py MODEL_DIR RUN_DIR [--onnxruntime] [--fast]

RUN_DIR holds what the Go program of this check wrote: batch_N_{ids,mask,embedding,hidden}.npy.
The first oracle is this file: the encoder in NumPy with float64 throughout, one sentence at a time
and without padding, so that padding itself is checked too. With --onnxruntime the same encoder is
also written as an ONNX graph and run there. Prints the worst figures; exits 1 above the bars.
"""
import argparse
import json
import math
import pathlib
import struct
import sys

import numpy as np

MIN_COSINE = 0.99999
MAX_ABS = 1e-4
FAST_BARS = 0.9999, 1e-2  # products of bfloat16


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    out = {}
    for name, t in json.loads(data[8:8 + size]).items():
        if name == "__metadata__" or t["dtype"] != "F32":
            continue
        begin, end = t["data_offsets"]
        out[name] = np.frombuffer(data[8 + size + begin:8 + size + end], "<f4").reshape(t["shape"])
    return out


class Erf:
    """erf of arrays in float64: exact values on a grid, three terms of Taylor's series between."""

    STEP = 1 / 2048

    def __init__(self):
        self.table = np.array([math.erf(i * self.STEP) for i in range(int(6.5 / self.STEP))])

    def __call__(self, x):
        a = np.minimum(np.abs(x), 6.4)
        i = np.rint(a / self.STEP).astype(np.int64)
        x0 = i * self.STEP
        d = a - x0
        slope = 2 / math.sqrt(math.pi) * np.exp(-x0 * x0)
        return np.sign(x) * (self.table[i] + slope * d * (1 - d * (x0 - d * (2 * x0 * x0 - 1) / 3)))


class Encoder:
    """BERT as its paper describes it, in float64."""

    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = {k: v.astype(np.float64) for k, v in read_safetensors(folder / "model.safetensors").items()}
        self.erf = Erf()

    def linear(self, name, x):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, name, x):
        centred = x - x.mean(-1, keepdims=True)
        scale = np.sqrt((centred ** 2).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        return centred / scale * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def heads(self, x):
        return x.reshape(len(x), self.config["num_attention_heads"], -1).transpose(1, 0, 2)

    def hidden(self, ids):
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.token_type_embeddings.weight"][0] \
            + w["embeddings.position_embeddings.weight"][:len(ids)]
        x = self.norm("embeddings.LayerNorm", x)
        for i in range(self.config["num_hidden_layers"]):
            name = f"encoder.layer.{i}."
            q, k, v = (self.heads(self.linear(name + "attention.self." + part, x)) for part in ("query", "key", "value"))
            scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = (scores / scores.sum(-1, keepdims=True)) @ v
            mixed = mixed.transpose(1, 0, 2).reshape(len(ids), -1)
            x = self.norm(name + "attention.output.LayerNorm", self.linear(name + "attention.output.dense", mixed) + x)
            inner = self.linear(name + "intermediate.dense", x)
            inner = inner / 2 * (1 + self.erf(inner / math.sqrt(2)))
            x = self.norm(name + "output.LayerNorm", self.linear(name + "output.dense", inner) + x)
        return x


def embedding(hidden):
    mean = hidden.mean(0)
    return mean / np.linalg.norm(mean)


def onnx_model(folder):
    """The same encoder as an ONNX graph of plain operators, on padded batches: its bytes, its output."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    config = json.loads((folder / "config.json").read_text())
    weights = read_safetensors(folder / "model.safetensors")
    nodes, inits = [], []

    def const(name, value):
        inits.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def op(kind, *inputs, **attrs):
        out = f"v{len(nodes)}"
        nodes.append(helper.make_node(kind, list(inputs), [out], **attrs))
        return out

    def linear(name, x):
        return op("Add", op("MatMul", x, const(name + ".weight", weights[name + ".weight"].T)), const(name + ".bias", weights[name + ".bias"]))

    def norm(name, x):
        return op("LayerNormalization", x, const(name + ".weight", weights[name + ".weight"]), const(name + ".bias", weights[name + ".bias"]),
                  axis=-1, epsilon=config["layer_norm_eps"])

    heads, size = config["num_attention_heads"], config["hidden_size"] // config["num_attention_heads"]
    split, merge = const("split", np.array([0, 0, heads, size])), const("merge", np.array([0, 0, heads * size]))
    one, low = const("one", np.float32(1)), const("low", np.float32(-1e30))
    words = op("Gather", const("words", weights["embeddings.word_embeddings.weight"]), "ids")
    length = op("Shape", "ids", start=1, end=2)
    positions = op("Slice", const("positions", weights["embeddings.position_embeddings.weight"]), const("zero", np.array([0])), length)
    x = op("Add", op("Add", words, positions), const("type", weights["embeddings.token_type_embeddings.weight"][0]))
    x = norm("embeddings.LayerNorm", x)
    mask = op("Cast", op("Unsqueeze", "mask", const("axes", np.array([1, 2]))), to=TensorProto.FLOAT)
    bias = op("Mul", op("Sub", one, mask), low)
    for i in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{i}."
        part = lambda p, perm: op("Transpose", op("Reshape", linear(name + "attention.self." + p, x), split), perm=perm)
        q, k, v = part("query", [0, 2, 1, 3]), part("key", [0, 2, 3, 1]), part("value", [0, 2, 1, 3])
        scores = op("Mul", op("MatMul", q, k), const(name + "scale", np.float32(1 / math.sqrt(size))))
        mixed = op("MatMul", op("Softmax", op("Add", scores, bias), axis=-1), v)
        mixed = op("Reshape", op("Transpose", mixed, perm=[0, 2, 1, 3]), merge)
        x = norm(name + "attention.output.LayerNorm", op("Add", linear(name + "attention.output.dense", mixed), x))
        inner = linear(name + "intermediate.dense", x)
        half = op("Mul", inner, const(name + "half", np.float32(0.5)))
        erf = op("Erf", op("Mul", inner, const(name + "root", np.float32(1 / math.sqrt(2)))))
        inner = op("Mul", half, op("Add", erf, one))
        x = norm(name + "output.LayerNorm", op("Add", linear(name + "output.dense", inner), x))
    value = lambda name, kind: helper.make_tensor_value_info(name, kind, ["batch", "sequence"])
    out = helper.make_tensor_value_info(x, TensorProto.FLOAT, ["batch", "sequence", heads * size])
    graph = helper.make_graph(nodes, "encoder", [value("ids", TensorProto.INT64), value("mask", TensorProto.INT64)], [out], inits)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString(), x


def onnx_session(folder):
    import onnxruntime
    model, output = onnx_model(folder)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # NumPy wants the cores too
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]), output


class Worst:
    def __init__(self, name, bars):
        self.bars = bars
        self.name, self.cosine, self.abs, self.hidden, self.count = name, 1.0, 0.0, 0.0, 0

    def add(self, got, want, got_hidden, want_hidden):
        got = got.astype(np.float64)
        cosine = got @ want / (np.linalg.norm(got) * np.linalg.norm(want))
        # NaN compares false with everything: it must count as the worst of all.
        self.cosine = min(self.cosine, cosine if cosine == cosine else -1.0)
        self.abs = self.worse(self.abs, np.abs(got - want).max())
        self.hidden = self.worse(self.hidden, np.abs(got_hidden - want_hidden).max())
        self.count += 1

    @staticmethod
    def worse(a, b):
        return float(b) if b != b or b > a else a

    def report(self):
        print(f"against {self.name}: {self.count} sentences, worst cosine {self.cosine:.9f}, worst max-abs {self.abs:.3g} "
              f"(last_hidden_state {self.hidden:.3g})")
        return self.count >= 64 and self.cosine >= self.bars[0] and self.abs <= self.bars[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("run", type=pathlib.Path)
    parser.add_argument("--onnxruntime", action="store_true", help="compare with ONNX Runtime as well")
    parser.add_argument("--fast", action="store_true", help="the bars of precision fast")
    args = parser.parse_args()
    bars = FAST_BARS if args.fast else (MIN_COSINE, MAX_ABS)

    encoder = Encoder(args.model)
    session, output = onnx_session(args.model) if args.onnxruntime else (None, None)
    exact, ort = Worst("NumPy float64", bars), Worst("ONNX Runtime", bars)
    lengths, sizes = [], set()
    for index in range(sum(1 for _ in args.run.glob("batch_*_ids.npy"))):
        ids, mask, got, hidden = (np.load(args.run / f"batch_{index}_{part}.npy") for part in ("ids", "mask", "embedding", "hidden"))
        sizes.add(len(ids))
        theirs = session.run([output], {"ids": ids, "mask": mask})[0] if session else None
        for row in range(len(ids)):
            n = int(mask[row].sum())
            lengths.append(n)
            want = encoder.hidden(ids[row, :n])
            exact.add(got[row], embedding(want), hidden[row, :n], want)
            if session:
                ort.add(got[row], embedding(theirs[row, :n].astype(np.float64)), hidden[row, :n], theirs[row, :n])
    if not lengths:
        sys.exit(f"{args.run} holds no batch")
    print(f"{len(lengths)} sentences of {min(lengths)} to {max(lengths)} tokens, in batches of {min(sizes)} to {max(sizes)}")
    good = exact.report()
    if session:
        good = ort.report() and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
