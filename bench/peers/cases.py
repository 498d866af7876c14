# SPDX-License-Identifier: Apache-2.0
"""What is measured beside other programs: a family is a function of FAMILIES that yields its cases, and nothing else
needs to know of it. As a program: is there a row that matches a regular expression?"""
import dataclasses
import math
import pathlib
import re
import subprocess
import sys
from typing import Callable

SQUARES = [64, 128, 256, 512, 1024, 2048]
BERT = [(128, 384, 384), (128, 384, 1536), (128, 1536, 384), (512, 768, 3072)]
PRODUCTS = [(s, s, s) for s in SQUARES] + BERT
VECTORS = [(1, 4096, 4096), (1, 4096, 14336), (1, 576, 1536), (8, 4096, 4096)]
MINILM = [(1, 16), (1, 128), (1, 512), (8, 128)]  # batch, tokens
BLOCK = 32  # weights that share a scale, of int4
CHAIN = 16 * 1024 * 1024
FLOATS = ("onnxruntime", "onednn", "openblas", "pytorch")  # peers of a float32 product
BOTH = ("onnxruntime", "pytorch")


@dataclasses.dataclass
class Case:
    name: str
    files: Callable  # makes them: (path of the ONNX file, path of the .nef file)
    inputs: Callable  # of the ONNX file, by name
    ours: dict = dataclasses.field(default_factory=dict)  # names that differ: ours to theirs
    fast: bool = False
    peers: tuple = ("onnxruntime",)
    product: tuple = ()  # m, k, n and the dtypes of a, b, c: what the libraries of matrices need
    limit: tuple = ()  # "read" or "copy", and the bytes that a run must move
    cold: bool = False  # loading, compiling and the first run, in a process of its own
    shown: tuple = ()  # peers of the first pass only, as they do something else


class Files:
    """Files made once, in build/bench."""

    def __init__(self, build):
        self.build, self.folder = build, build / "bench"
        self.hydra = build / "bin" / "hydra"

    def made(self, name, make):
        path = self.folder / name
        if not path.exists():
            part = path.with_name("part-" + name)
            make(part)
            part.rename(path)
        return path

    def imported(self, name, model, *flags):
        def run(path):
            subprocess.run([self.hydra, "import", model, "-o", path, *flags], check=True, stdout=subprocess.DEVNULL)

        # A newer importer may make another graph.
        (self.folder / name).unlink(missing_ok=True)
        return self.made(name, run)

    def graph(self, name, build):
        """A file of one small graph; `build` gives its nodes, inputs and outputs (name, dtype, shape), and weights."""
        from onnx import TensorProto, helper, save

        def write(path):
            nodes, inputs, outputs, weights = build()
            infos = [[helper.make_tensor_value_info(n, getattr(TensorProto, d), s) for n, d, s in part]
                     for part in (inputs, outputs)]
            sets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
            save(helper.make_model(helper.make_graph(nodes, "bench", *infos, weights), opset_imports=sets, ir_version=10), path)

        model = self.made(f"{name}.onnx", write)
        return model, self.imported(f"{name}.nef", model)


def numbers(shape, dtype="float32", seed=0):
    import ml_dtypes
    import numpy as np
    rng = np.random.default_rng(seed)
    if dtype in ("int8", "uint8"):
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    values = rng.uniform(-1, 1, shape).astype(np.float32)
    return values.astype(ml_dtypes.bfloat16) if dtype == "bfloat16" else values.astype(dtype)


def weight(name, array):
    from onnx import numpy_helper
    return numpy_helper.from_array(array, name)


def node(op, inputs, outputs, domain="", **attributes):
    from onnx import helper
    return helper.make_node(op, inputs, outputs, domain=domain, **attributes)


ONNX_DTYPES = {"float32": "FLOAT", "float16": "FLOAT16", "bfloat16": "BFLOAT16", "int8": "INT8", "uint8": "UINT8",
               "int32": "INT32"}


def product(files, name, m, k, n, a="float32", b="float32", c="float32", fast=False, peers=("onnxruntime",), limit=()):
    def build():
        op = "MatMulInteger" if c == "int32" else "MatMul"
        return ([node(op, ["x", "w"], ["y"])], [("x", ONNX_DTYPES[a], [m, k])], [("y", ONNX_DTYPES[c], [m, n])],
                [weight("w", numbers((k, n), b, n))])

    return Case(name, lambda: files.graph(f"product-{a}-{b}-{m}x{k}x{n}", build), lambda: {"x": numbers((m, k), a, m)},
                {}, fast, peers, (m, k, n, a, b, c), limit)


def gemm_f32(files):
    for m, k, n in PRODUCTS:
        yield product(files, f"gemm_f32/{m}x{k}x{n}", m, k, n, peers=FLOATS)


def gemm_bf16(files):
    """bf16 tensors, and float32 ones with precision fast beside the same liberty of oneDNN."""
    for m, k, n in PRODUCTS:
        yield product(files, f"gemm_bf16/{m}x{k}x{n}", m, k, n, "bfloat16", "bfloat16", "bfloat16", peers=("onednn",))
    for m, k, n in PRODUCTS:
        yield product(files, f"gemm_fast/{m}x{k}x{n}", m, k, n, fast=True, peers=("onednn",))


def gemm_f16(files):
    """Shapes of products, then rows that are bound by reading the weights. oneDNN wants AVX512_FP16 for them."""
    for m, k, n in PRODUCTS + VECTORS:
        yield product(files, f"gemm_f16/{m}x{k}x{n}", m, k, n, *["float16"] * 3, limit=("read", 2 * k * n) if m <= 8 else ())


def gemm_int8(files):
    for a in ("uint8", "int8"):
        for m, k, n in PRODUCTS:
            yield product(files, f"gemm_int8/{a[0]}8s8-{m}x{k}x{n}", m, k, n, a, "int8", "int32",
                          peers=("onnxruntime", "onednn"))


def nbits(files, name, m, k, n, level, fast):
    """int4 weights in blocks with a float32 scale; `level` 4 lets ONNX Runtime round activations to 8 bits."""
    def build():
        import numpy as np
        rng = np.random.default_rng(n)
        blocks = k // BLOCK
        weights = [weight("w", rng.integers(0, 256, (n, blocks, BLOCK // 2), np.uint8)),
                   weight("s", rng.uniform(0.005, 0.02, n * blocks).astype(np.float32))]
        return ([node("MatMulNBits", ["x", "w", "s"], ["y"], "com.microsoft", K=k, N=n, bits=4, block_size=BLOCK,
                      accuracy_level=level)], [("x", "FLOAT", [m, k])], [("y", "FLOAT", [m, n])], weights)

    return Case(name, lambda: files.graph(f"nbits{level}-{m}x{k}x{n}", build), lambda: {"x": numbers((m, k), seed=m)}, {}, fast,
                limit=("read", k * n // 2 + k * n // BLOCK * 4))


def gemv(files):
    for m, k, n in VECTORS:
        shape = f"{m}x{k}x{n}"
        yield product(files, f"gemv/f32-{shape}", m, k, n, peers=FLOATS, limit=("read", 4 * k * n))
        yield product(files, f"gemv/bf16-{shape}", m, k, n, *["bfloat16"] * 3, peers=("onednn", "pytorch"), limit=("read", 2 * k * n))
        yield product(files, f"gemv/int8-{shape}", m, k, n, "uint8", "int8", "int32", peers=("onnxruntime", "onednn"),
                      limit=("read", k * n))
        yield nbits(files, f"gemv/int4-{shape}", m, k, n, 0, False)
        yield nbits(files, f"gemv/int4fast-{shape}", m, k, n, 4, True)


def chain(files):
    """gelu(a * b + c) * d + e, each of them large."""
    def build():
        dims = [CHAIN]
        return ([node("Mul", ["a", "b"], ["ab"]), node("Add", ["ab", "c"], ["abc"]),
                 node("Gelu", ["abc"], ["g"], "com.microsoft"), node("Mul", ["g", "d"], ["gd"]), node("Add", ["gd", "e"], ["y"])],
                [(name, "FLOAT", dims) for name in "abcde"], [("y", "FLOAT", dims)], [])

    yield Case("chain/gelu-16m", lambda: files.graph("chain", build),
               lambda: {name: numbers(CHAIN, seed=i) for i, name in enumerate("abcde")}, peers=BOTH, limit=("copy", 6 * 4 * CHAIN))


def norms(files):
    def case(name, nodes, shapes, weights=()):
        def build():
            return (nodes(), [(n, "FLOAT", s) for n, s in shapes.items()], [("y", "FLOAT", shapes["x"])],
                    [weight(n, numbers(s, seed=i)) for i, (n, s) in enumerate(weights)])

        return Case(f"norms/{name}", lambda: files.graph(name, build),
                    lambda: {n: numbers(s, seed=i) for i, (n, s) in enumerate(shapes.items())}, peers=BOTH)

    for rows, cols in ((1536, 128), (512, 1024), (64, 32000)):
        yield case(f"softmax-{rows}x{cols}", lambda: [node("Softmax", ["x"], ["y"], axis=-1)], {"x": [rows, cols]})
    for rows, cols in ((128, 384), (512, 768), (2048, 4096)):
        yield case(f"layernorm-{rows}x{cols}", lambda: [node("LayerNormalization", ["x", "g", "b"], ["y"], axis=-1)],
                   {"x": [rows, cols]}, [("g", [cols]), ("b", [cols])])
    for length in (128, 512, 1024, 2048, 4096):
        for head in (64, 128):
            heads = 768 // head if length <= 1024 else 2
            yield case(f"attention-{length}x{heads}x{head}",
                       lambda heads=heads: [node("MultiHeadAttention", ["x", "k", "v"], ["y"], "com.microsoft", num_heads=heads)],
                       {name: [1, length, heads * head] for name in "xkv"})


def moves(files):
    """Ops bound by memory: what they read and write, over the copy rate beside it."""
    def case(name, nodes, x, y, extra=()):
        def build():
            return nodes(), [("x", "FLOAT", x)], [("y", "FLOAT", y)], [weight(n, a()) for n, a in extra]

        return Case(f"moves/{name}", lambda: files.graph(f"moves-{name}", build), lambda: {"x": numbers(x)},
                    limit=("copy", 4 * (math.prod(x) + math.prod(y))))

    for name, x, perm in (("heads-8x512x12x64", [8, 512, 12, 64], [0, 2, 1, 3]), ("matrix-2048x2048", [2048, 2048], [1, 0]),
                          ("channels-8x64x112x112", [8, 64, 112, 112], [0, 2, 3, 1])):
        yield case(f"transpose-{name}", lambda perm=perm: [node("Transpose", ["x"], ["y"], perm=perm)], x, [x[i] for i in perm])
    for name, x, axes in (("rows-4096x4096", [4096, 4096], [1]), ("columns-4096x4096", [4096, 4096], [0]),
                          ("middle-64x256x1024", [64, 256, 1024], [1]), ("image-8x256x56x56", [8, 256, 56, 56], [2, 3])):
        y = [n for i, n in enumerate(x) if i not in axes]
        yield case(f"sum-{name}", lambda: [node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)], x, y,
                   [("axes", lambda axes=axes: integers(axes))])
    for rows in (128, 4096):
        yield embedding(files, rows)
    for name, x in (("1x64x112x112", [1, 64, 112, 112]), ("8x64x112x112", [8, 64, 112, 112])):
        half = [(n - 3) // 2 + 1 for n in x[2:]]
        yield case(f"maxpool-{name}", lambda: [node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2])], x,
                   x[:2] + half)


def integers(values):
    import numpy as np
    return np.asarray(values, np.int64)


def embedding(files, rows):
    words, width = 30522, 384

    def build():
        return ([node("Gather", ["table", "x"], ["y"])], [("x", "INT64", [rows])], [("y", "FLOAT", [rows, width])],
                [weight("table", numbers([words, width]))])

    def inputs():
        import numpy as np
        return {"x": np.random.default_rng(2).integers(0, words, rows)}

    return Case(f"moves/embedding-{rows}x{width}", lambda: files.graph(f"moves-embedding-{rows}", build), inputs,
                limit=("copy", 8 * rows * width))


def minilm_files(files):
    def make():
        import minilm_oracle
        folder = files.build / "models" / "minilm"
        if not folder.exists():
            script = pathlib.Path(__file__).parents[2] / "packaging" / "dev" / "model.sh"
            subprocess.run(["bash", script, "minilm"], check=True, stdout=subprocess.DEVNULL)
        model = files.made("minilm.onnx", lambda path: path.write_bytes(minilm_oracle.onnx_model(folder)[0]))
        return model, files.made("minilm.nef", lambda path: subprocess.run(
            [files.hydra, "build", folder, "-o", path], check=True, stdout=subprocess.DEVNULL))

    return make


def minilm_case(files, name, shape, **more):
    def inputs():
        import numpy as np
        return {"ids": np.random.default_rng(1).integers(1000, 20000, shape), "mask": np.ones(shape, np.int64)}

    return Case(f"{name}/{shape[0]}x{shape[1]}", minilm_files(files), inputs,
                {"input_ids": "ids", "attention_mask": "mask"}, **more)


def minilm(files):
    for precision in ("exact", "fast"):
        for shape in MINILM:
            fast = precision == "fast"
            yield minilm_case(files, f"minilm/{precision}", shape, fast=fast, peers=BOTH, shown=("pytorch-bf16",) if fast else ())


def cold(files):
    yield minilm_case(files, "cold/minilm", (1, 128), cold=True)


def models(files):
    import numpy as np

    import onnx_models
    for model in onnx_models.models():
        path = files.build / "onnx-models" / model.package / model.path
        name = re.sub(r"\W+", "-", model.name).strip("-")

        def make(model=model, path=path, name=name):
            if not path.exists():
                raise FileNotFoundError("fetched by ./dev check onnx-models")
            inputs, known = model.inputs(), input_names(path)
            flags = [f"--fix={n}={int(inputs[n][0])}" for n in model.fix if n in known]
            flags += [f"--dim={dim}={n}" for dim, n in model.dims.items()]
            return path, files.imported(f"{name}.nef", path, *flags)

        yield Case(f"models/{name}", make, lambda model=model: {k: np.asarray(v[0]) for k, v in model.inputs().items()})


def input_names(path):
    import onnxruntime
    return {i.name for i in onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).get_inputs()}


FAMILIES = [gemm_f32, gemm_bf16, gemm_f16, gemm_int8, gemv, chain, norms, moves, minilm, cold, models]


def wanted_models(pattern):
    """Which models there are is known only with the packages that the others do not need."""
    return pattern == "" or "models" in pattern


def wanted(pattern):
    names = [case.name for family in FAMILIES if family is not models for case in family(None)]
    return wanted_models(pattern) or any(re.search(pattern, name + suffix) for name in names for suffix in ("", "/t2"))


if __name__ == "__main__":
    sys.exit(0 if wanted(sys.argv[1]) else 1)
