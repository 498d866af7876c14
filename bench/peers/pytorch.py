# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the cases of cases.py, in a process of its own and perhaps another Python: sides.PyTorch starts it.

Once it is ready it says so; for each line N of its input it computes N times and prints CPU and wall seconds, for a
line that is a path it saves the last result there.
"""
import argparse
import json
import pathlib
import re
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

import cases


def tensor(array):
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def weights_of(case):
    from onnx import load, numpy_helper
    return {w.name: tensor(np.array(numpy_helper.to_array(w))) for w in load(case.files()[0]).graph.initializer}


def product(case, inputs, args):
    w = weights_of(case)["w"]
    return lambda: inputs["x"] @ w


def chain(case, inputs, args):
    a, b, c, d, e = (inputs[name] for name in "abcde")
    return lambda: F.gelu(a * b + c) * d + e


def norms(case, inputs, args):
    x, what = inputs["x"], case.name.split("/")[1]
    if what.startswith("softmax"):
        return lambda: torch.softmax(x, -1)
    if what.startswith("layernorm"):
        w = weights_of(case)
        return lambda: F.layer_norm(x, x.shape[-1:], w["g"], w["b"])
    size = int(what.split("x")[-1])

    def attention():
        q, k, v = (inputs[name].unflatten(-1, (-1, size)).transpose(1, 2) for name in "xkv")
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)

    return attention


def minilm(case, inputs, args):
    import minilm_oracle
    case.files()
    folder, dtype = args.build / "models" / "minilm", getattr(torch, args.dtype)
    config = json.loads((folder / "config.json").read_text())
    w = {name: torch.from_numpy(np.array(v)).to(dtype)
         for name, v in minilm_oracle.read_safetensors(folder / "model.safetensors").items()}
    heads, eps = config["num_attention_heads"], config["layer_norm_eps"]
    ids, mask = inputs["ids"], inputs["mask"]

    def linear(name, x):
        return F.linear(x, w[name + ".weight"], w[name + ".bias"])

    def norm(name, x):
        return F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], eps)

    def encoder():
        keep = mask.bool()[:, None, None, :]
        x = F.embedding(ids, w["embeddings.word_embeddings.weight"]) + w["embeddings.token_type_embeddings.weight"][0] \
            + w["embeddings.position_embeddings.weight"][:ids.shape[1]]
        x = norm("embeddings.LayerNorm", x)
        for i in range(config["num_hidden_layers"]):
            name = f"encoder.layer.{i}."
            q, k, v = (linear(name + "attention.self." + part, x).unflatten(-1, (heads, -1)).transpose(1, 2)
                       for part in ("query", "key", "value"))
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=keep).transpose(1, 2).flatten(2)
            x = norm(name + "attention.output.LayerNorm", linear(name + "attention.output.dense", mixed) + x)
            inner = F.gelu(linear(name + "intermediate.dense", x))
            x = norm(name + "output.LayerNorm", linear(name + "output.dense", inner) + x)
        return x

    return encoder


STEPS = {"gemm_f32": product, "gemv": product, "chain": chain, "norms": norms, "minilm": minilm}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--dtype", default="float32")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    case = next(case for family in cases.FAMILIES if family is not cases.models
                for case in family(cases.Files(args.build)) if case.name == args.name)
    inputs = {name: tensor(value) for name, value in case.inputs().items()}
    with torch.inference_mode():
        step = STEPS[case.name.split("/")[0]](case, inputs, args)
        out = step()
        print("ready", flush=True)
        for line in sys.stdin:
            line = line.strip()
            if not re.fullmatch(r"\d+", line):
                np.save(line, out.float().numpy())
                print("saved", flush=True)
                continue
            cpu, wall = time.process_time(), time.perf_counter()
            for _ in range(int(line)):
                out = step()
            print(time.process_time() - cpu, time.perf_counter() - wall, flush=True)


if __name__ == "__main__":
    main()
