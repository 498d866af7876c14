# SPDX-License-Identifier: Apache-2.0
"""The programs that are measured, each on one case: run(times) computes, output() gives the last result. seconds(times,
clock) are those of a side that computes in another process."""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

NATIVE = None


def native(build):
    global NATIVE
    if NATIVE is None:
        NATIVE = ctypes.CDLL(str(build / "bench" / "native.so"))
        NATIVE.repeat_nef.restype = ctypes.c_void_p
    return NATIVE


def function(of):
    return ctypes.cast(of, ctypes.c_void_p)


def address(array):
    return ctypes.c_void_p(array.ctypes.data)


def aligned(array):
    """A copy on the edge of a page, as the memory of the others is aligned too."""
    raw = np.empty(array.nbytes + 4096, np.uint8)
    out = raw[-raw.ctypes.data % 4096:][:array.nbytes].view(array.dtype).reshape(array.shape)
    out[...] = array
    return out


class Nef:
    name = "nef"

    def __init__(self, case, build, threads):
        import nef_ctypes
        files, inputs = case.files(), case.inputs()
        inputs.update({mine: inputs[theirs] for mine, theirs in case.ours.items()})
        os.environ["NEF_NUM_THREADS"] = str(threads)
        library = nef_ctypes.Library(str(build / "release" / "lib" / "libnef.so.0"))
        self.native = native(build)
        begin = time.perf_counter()
        self.program = nef_ctypes.Program(library, files[1], inputs, case.fast)
        if case.cold:
            self.run(1)
            self.first = time.perf_counter() - begin

    def run(self, times):
        lib, p = self.program.nef.lib, self.program
        self.program.nef.check(self.native.repeat_nef(
            function(lib.nef_program_run), function(lib.nef_tensor_release), p.program, p.inputs, ctypes.c_size_t(p.count),
            p.results, ctypes.c_size_t(len(p.results)), ctypes.c_long(times)))

    def output(self):
        return self.program.output(0)


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self, case, build, threads):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = threads
        file, inputs = str(case.files()[0]), case.inputs()
        begin = time.perf_counter()
        session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        feed = {known.name: inputs[known.name] for known in session.get_inputs()}
        if case.cold:
            session.run(None, feed)
            self.first = time.perf_counter() - begin
        binding = session.io_binding()
        for name, value in feed.items():
            binding.bind_cpu_input(name, value)
        for out in session.get_outputs():
            binding.bind_output(out.name)
        self.once, self.outputs = lambda: session.run_with_iobinding(binding), binding.copy_outputs_to_cpu
        try:
            for _ in range(2):
                self.once()
        except RuntimeError:  # outputs that are bound again must have the stated rank; some files state a wrong one
            self.once = lambda: session.run(None, feed)
            self.outputs = self.once

    def run(self, times):
        for _ in range(times):
            self.once()

    def output(self):
        return self.outputs()[0]


class Matrices:
    """The operands of a case that is a product."""

    def __init__(self, case):
        from onnx import load, numpy_helper
        self.m, self.k, self.n = case.product[:3]
        self.a = aligned(case.inputs()["x"])
        self.b = aligned(numpy_helper.to_array(load(case.files()[0]).graph.initializer[0]))
        self.dtypes = case.product[3:]
        self.c = aligned(np.zeros((self.m, self.n), {"float32": np.float32, "int32": np.int32}.get(self.dtypes[2], np.uint16)))


class OneDnn(Matrices):
    name = "onednn"

    def __init__(self, case, build, threads):
        os.environ["OMP_NUM_THREADS"] = str(threads)
        import onednn
        super().__init__(case)
        operands = [(address(x), dtype) for x, dtype in zip((self.a, self.b, self.c), self.dtypes)]
        self.product = onednn.Product(self.m, self.k, self.n, *operands, case.fast)
        self.native = native(build)

    def run(self, times):
        p, lib = self.product, self.product.lib
        status = self.native.repeat_onednn(function(lib.dnnl_primitive_execute), function(lib.dnnl_stream_wait), p.primitive,
                                           p.stream, len(p.arguments), p.arguments, ctypes.c_long(times))
        if status:
            raise RuntimeError(f"oneDNN: status {status}")

    def output(self):
        if self.c.dtype == np.uint16:
            return (self.c.astype(np.uint32) << 16).view(np.float32)
        return self.c


class OpenBlas(Matrices):
    name = "openblas"

    def __init__(self, case, build, threads):
        os.environ["OPENBLAS_NUM_THREADS"] = str(threads)
        import scipy_openblas32
        super().__init__(case)
        self.lib = ctypes.CDLL(str(pathlib.Path(scipy_openblas32.get_lib_dir()) / "libscipy_openblas.so"))
        self.native = native(build)

    def run(self, times):
        self.native.repeat_sgemm(function(self.lib.scipy_cblas_sgemm), self.m, self.n, self.k, address(self.a), address(self.b),
                                 address(self.c), ctypes.c_long(times))

    def output(self):
        return self.c


class PyTorch:
    """In a process of its own, of the Python that NEF_TORCH_PYTHON names: the package is too large to fetch for this."""
    name, dtype = "pytorch", "float32"

    def __init__(self, case, build, threads):
        command = [os.environ["NEF_TORCH_PYTHON"], "-B", str(pathlib.Path(__file__).with_name("pytorch.py")), "--build", build,
                   "--name", case.name, "--threads", str(threads), "--dtype", self.dtype]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.read()

    def read(self):
        line = self.child.stdout.readline()
        if not line:
            raise RuntimeError("PyTorch's process ended")
        return line.split()

    def ask(self, what):
        print(what, file=self.child.stdin, flush=True)
        return self.read()

    def seconds(self, times, clock):
        cpu, wall = self.ask(times)
        return float(cpu if clock is time.process_time else wall)

    def run(self, times):
        self.ask(times)

    def output(self):
        with tempfile.TemporaryDirectory() as folder:
            self.ask(f"{folder}/output.npy")
            return np.load(f"{folder}/output.npy")


class PyTorchBfloat16(PyTorch):
    name, dtype = "pytorch-bf16", "bfloat16"


class Memory:
    """How fast the bytes of a case's limit are read, or copied (half of them read, half written)."""

    def __init__(self, case, build, _):
        self.kind, size = case.limit
        self.name = self.kind
        size = size // (1 if self.kind == "read" else 2) // 1024 * 1024
        self.buffers = [aligned(np.ones(size, np.uint8)) for _ in range(1 if self.kind == "read" else 2)]
        self.size, self.native = ctypes.c_size_t(size), native(build)

    def run(self, times):
        call = self.native.read_memory if self.kind == "read" else self.native.copy_memory
        call(*[address(b) for b in self.buffers], self.size, ctypes.c_long(times))


SIDES = {side.name: side for side in (Nef, OnnxRuntime, OneDnn, OpenBlas, PyTorch, PyTorchBfloat16)}
SIDES["limit"] = Memory
