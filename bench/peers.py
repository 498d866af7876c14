# SPDX-License-Identifier: Apache-2.0
"""gemm_f32, gemv, minilm/exact, minilm/fast and models against ONNX Runtime, on the same weights and inputs.

A case is a pair of files and the inputs of both sides; a family is a function of FAMILIES that yields its cases, and
nothing else needs to know of it. With one thread both sides take turns in one process; with more (row names end in
/tN) each side runs in a process of its own, by turns, as two spinning pools in one process spoil each other.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
from typing import Callable

import numpy as np

SECONDS = 1.0  # of a side
ROUNDS = 3  # of processes
SQUARES = [64, 128, 256, 512, 1024, 2048]
BERT = [(128, 384, 384), (128, 384, 1536), (128, 1536, 384), (512, 768, 3072)]
VECTORS = [(1, 4096, 4096), (1, 4096, 14336), (1, 576, 1536), (8, 4096, 4096)]
MINILM = [(1, 16), (1, 128), (1, 512), (8, 128)]  # batch, tokens


@dataclasses.dataclass
class Case:
    name: str
    files: Callable  # makes them: (path of the ONNX file, path of the .nef file)
    inputs: Callable  # of ONNX Runtime, by name
    ours: dict = dataclasses.field(default_factory=dict)  # names that differ: ours to theirs
    fast: bool = False


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


def product_file(path, m, k, n):
    from onnx import TensorProto, helper, numpy_helper, save
    weights = np.random.default_rng(n).uniform(-1, 1, (k, n)).astype(np.float32)
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "product",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [m, k])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [m, n])],
                              [numpy_helper.from_array(weights, "w")])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def product(files, family, m, k, n):
    shape = f"{m}x{k}x{n}"

    def make():
        model = files.made(f"product-{shape}.onnx", lambda path: product_file(path, m, k, n))
        return model, files.imported(f"product-{shape}.nef", model)

    return Case(f"{family}/{shape}", make,
                lambda: {"x": np.random.default_rng(m).uniform(-1, 1, (m, k)).astype(np.float32)})


def gemm_f32(files):
    for m, k, n in [(s, s, s) for s in SQUARES] + BERT:
        yield product(files, "gemm_f32", m, k, n)


def gemv(files):
    for m, k, n in VECTORS:
        yield product(files, "gemv", m, k, n)


def minilm(files):
    def make():
        import minilm_oracle
        folder = files.build / "models" / "minilm"
        if not folder.exists():
            script = pathlib.Path(__file__).parents[1] / "packaging" / "dev" / "model.sh"
            subprocess.run(["bash", script, "minilm"], check=True, stdout=subprocess.DEVNULL)
        model = files.made("minilm.onnx", lambda path: path.write_bytes(minilm_oracle.onnx_model(folder)[0]))
        return model, files.made("minilm.nef", lambda path: subprocess.run(
            [files.hydra, "build", folder, "-o", path], check=True, stdout=subprocess.DEVNULL))

    for precision in ("exact", "fast"):
        for batch, tokens in MINILM:
            yield Case(f"minilm/{precision}/{batch}x{tokens}", make,
                       lambda shape=(batch, tokens): {"ids": np.random.default_rng(1).integers(1000, 20000, shape),
                                                      "mask": np.ones(shape, np.int64)},
                       {"input_ids": "ids", "attention_mask": "mask"}, precision == "fast")


def models(files):
    try:
        import onnx_models
    except ImportError as e:
        sys.exit(f"peers.py: packaging/checks must be on PYTHONPATH: {e}")
    for model in onnx_models.models():
        path = files.build / "onnx-models" / model.package / model.path
        name = re.sub(r"\W+", "-", model.name).strip("-")

        def make(model=model, path=path, name=name):
            if not path.exists():
                raise FileNotFoundError("fetched by ./dev check onnx-models")
            inputs, known = model.inputs(), peer_inputs(path)
            flags = [f"--fix={n}={int(inputs[n][0])}" for n in model.fix if n in known]
            flags += [f"--dim={dim}={n}" for dim, n in model.dims.items()]
            return path, files.imported(f"{name}.nef", path, *flags)

        yield Case(f"models/{name}", make, lambda model=model: {k: np.asarray(v[0]) for k, v in model.inputs().items()})


FAMILIES = [gemm_f32, gemv, minilm, models]


def peer_inputs(path):
    import onnxruntime
    return {i.name for i in onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).get_inputs()}


class Ours:
    name = "nef"

    def __init__(self, case, files, threads, library):
        import nef_ctypes
        inputs = case.inputs()
        inputs.update({mine: inputs[theirs] for mine, theirs in case.ours.items()})
        os.environ["NEF_NUM_THREADS"] = str(threads)
        self.program = nef_ctypes.Program(nef_ctypes.Library(library), files[1], inputs, case.fast)
        self.run = self.program.run

    def output(self):
        return self.program.output(0)


class Theirs:
    name = "onnxruntime"

    def __init__(self, case, files, threads, _):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(str(files[0]), options, providers=["CPUExecutionProvider"])
        inputs = case.inputs()
        feed = {known.name: inputs[known.name] for known in session.get_inputs()}
        binding = session.io_binding()
        for name, value in feed.items():
            binding.bind_cpu_input(name, value)
        for out in session.get_outputs():
            binding.bind_output(out.name)
        self.run, self.outputs = lambda: session.run_with_iobinding(binding), binding.copy_outputs_to_cpu
        try:
            for _ in range(2):
                self.run()
        except RuntimeError:  # outputs that are bound again must have the stated rank; some files state a wrong one
            self.run = lambda: session.run(None, feed)
            self.outputs = self.run

    def output(self):
        return self.outputs()[0]


def timed(runs, seconds):
    """Samples of each run, in turns."""
    samples = [[] for _ in runs]
    for run in runs:
        run()
    begin = time.perf_counter()
    while len(samples[0]) < 3 or time.perf_counter() - begin < seconds * len(runs):
        for run, times in zip(runs, samples):
            t = time.perf_counter()
            run()
            times.append(time.perf_counter() - t)
    return samples


def difference(ours, theirs):
    a, b = (np.asarray(s.output(), np.float64).ravel() for s in (ours, theirs))
    if a.shape != b.shape:
        return "the outputs differ in shape"
    scale = np.abs(b).max() or 1.0
    return f"difference {np.abs(a - b).max() / scale:.1e} of the largest element"


def spread(mine, others):
    ratios = np.quantile(np.array(others) / np.array(mine), [0.25, 0.75])
    return f"ratio {ratios[0]:.2f} to {ratios[1]:.2f} in half of {len(mine)} turns"


def side_by_side(case, library):
    files = case.files()
    ours, theirs = Ours(case, files, 1, library), Theirs(case, files, 1, library)
    mine, others = timed([ours.run, theirs.run], SECONDS)
    return statistics.median(mine), statistics.median(others), f"{spread(mine, others)}, {difference(ours, theirs)}"


def apart(case, args):
    """Medians of processes that run one side each."""
    results = {Ours: [], Theirs: []}
    for _ in range(ROUNDS):
        for side in results:
            command = [sys.executable, "-B", __file__, "--build", args.build, "--threads", str(args.threads),
                       "--only", f"^{re.escape(case.name)}$", "--side", side.name]
            results[side].append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    mine, others = results[Ours], results[Theirs]
    return statistics.median(mine), statistics.median(others), spread(mine, others)


def one_side(case, args, library):
    side = {s.name: s for s in (Ours, Theirs)}[args.side](case, case.files(), args.threads, library)
    print(statistics.median(timed([side.run], SECONDS)[0]))


def show(row, as_json):
    if as_json:
        print(json.dumps(row), flush=True)
    else:
        print(f"{row['name']:32} {row['value']:12.4g} {row['unit']:4}  {row['peer']} {row['peer_value']:.4g} "
              f"({row['ratio']:.2f}x)  {row['note']}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="", help="rows whose name matches")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--threads", type=int, default=int(os.environ.get("NEF_BENCH_THREADS", "1")))
    parser.add_argument("--side", help="time one side, print its seconds")
    args = parser.parse_args()
    library = str(args.build / "release" / "lib" / "libnef.so.0")
    suffix = "" if args.threads == 1 else f"/t{args.threads}"
    files, failed = Files(args.build), False
    for case in (case for family in FAMILIES for case in family(files)):
        if args.side:
            if re.search(args.only, case.name):
                return one_side(case, args, library)
            continue
        if not re.search(args.only, case.name + suffix):
            continue
        try:
            mine, others, note = side_by_side(case, library) if args.threads == 1 else apart(case, args)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as e:
            print(f"peers.py: {case.name}: {e}", file=sys.stderr)
            failed = True
            continue
        show({"name": case.name + suffix, "value": 1e6 * mine, "unit": "us", "peer": "onnxruntime",
              "peer_value": 1e6 * others, "ratio": round(others / mine, 4), "note": note}, args.json)
    sys.exit(failed)


if __name__ == "__main__":
    main()
