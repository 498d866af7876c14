# SPDX-License-Identifier: Apache-2.0
"""As much of the C API as benchmarks need, by ctypes."""
import ctypes

import numpy as np

# bfloat16 goes in and out as its bits.
DTYPES = {"bfloat16": np.uint16, "bool": np.bool_, "int8": np.int8, "uint8": np.uint8, "int32": np.int32, "int64": np.int64,
          "float16": np.float16, "float32": np.float32, "float64": np.float64}


class CompileOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("precision", ctypes.c_int32), ("threads", ctypes.c_int32),
                ("memory_budget", ctypes.c_uint64), ("device", ctypes.c_char_p), ("strict", ctypes.c_int32),
                ("parallel_branches", ctypes.c_int32), ("disabled_passes", ctypes.c_char_p),
                ("batch_symbol", ctypes.c_char_p)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("dtype", ctypes.c_int32),
                ("rank", ctypes.c_uint32), ("dims", ctypes.c_void_p), ("dim_names", ctypes.c_void_p),
                ("dim_min", ctypes.c_void_p), ("dim_max", ctypes.c_void_p)]


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        for name in ("nef_status_message", "nef_dtype_name"):
            getattr(self.lib, name).restype = ctypes.c_char_p
        for name in ("nef_graph_load", "nef_graph_compile", "nef_program_run", "nef_tensor_create", "nef_tensor_read",
                     "nef_graph_input"):
            getattr(self.lib, name).restype = ctypes.c_void_p
        for name in ("nef_graph_input_count", "nef_graph_output_count", "nef_tensor_rank", "nef_tensor_shape"):
            getattr(self.lib, name).restype = ctypes.c_size_t

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.nef_status_message(ctypes.c_void_p(status)).decode())


class Program:
    """A compiled file with its inputs set; whoever runs it puts the outputs into `results`."""

    def __init__(self, library, path, inputs, fast):
        self.nef, lib = library, library.lib
        graph, self.program = ctypes.c_void_p(), ctypes.c_void_p()
        self.nef.check(lib.nef_graph_load(str(path).encode(), None, ctypes.byref(graph)))
        options = CompileOptions()
        lib.nef_compile_options_init(ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options)))
        options.precision = int(fast)
        options.device = b"cpu"  # the peers run there, whatever else there is
        self.nef.check(lib.nef_graph_compile(graph, ctypes.byref(options), ctypes.byref(self.program)))
        self.inputs = (ctypes.c_void_p * max(1, lib.nef_graph_input_count(graph)))()
        self.count = lib.nef_graph_input_count(graph)
        for i in range(self.count):
            info = TensorInfo(ctypes.sizeof(TensorInfo))
            self.nef.check(lib.nef_graph_input(graph, ctypes.c_size_t(i), ctypes.byref(info)))
            self.inputs[i] = self.tensor(info.dtype, inputs[info.name.decode()])
        self.results = (ctypes.c_void_p * lib.nef_graph_output_count(graph))()

    def tensor(self, dtype, array):
        array = np.ascontiguousarray(array)
        name = self.nef.lib.nef_dtype_name(ctypes.c_int32(dtype)).decode()
        if name == "bfloat16":
            array = array.view(np.uint16)
        if array.dtype != DTYPES[name]:
            raise TypeError(f"an input is {array.dtype}, the graph wants {name}")
        out, shape = ctypes.c_void_p(), (ctypes.c_int64 * max(1, array.ndim))(*array.shape)
        self.nef.check(self.nef.lib.nef_tensor_create(ctypes.c_int32(dtype), ctypes.c_size_t(array.ndim), shape,
                                                      array.ctypes.data_as(ctypes.c_void_p), ctypes.byref(out)))
        return out.value

    def output(self, index):
        lib, result = self.nef.lib, ctypes.c_void_p(self.results[index])
        shape = (ctypes.c_int64 * 8)()
        rank = lib.nef_tensor_shape(result, shape, ctypes.c_size_t(8))
        name = lib.nef_dtype_name(ctypes.c_int32(lib.nef_tensor_dtype(result))).decode()
        out = np.empty(shape[:rank], DTYPES[name])
        self.nef.check(lib.nef_tensor_read(result, out.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(out.nbytes)))
        return (out.astype(np.uint32) << 16).view(np.float32) if name == "bfloat16" else out
