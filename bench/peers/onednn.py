# SPDX-License-Identifier: Apache-2.0
"""As much of oneDNN's C API as a product of matrices needs, by ctypes. The enums are those of oneDNN 3."""
import ctypes

DTYPES = {"float16": 1, "bfloat16": 2, "float32": 3, "int32": 4, "int8": 5, "uint8": 6}
ANY, ROW_MAJOR = 1, 3  # layouts
SRC, DST, WEIGHTS = 1, 17, 33  # arguments
FROM, TO = 1, 17
QUERY_WEIGHTS = 131
CPU, BF16_MATH = 1, 1


class Arg(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_int), ("memory", ctypes.c_void_p)]


class Product:
    """c = a b of row-major arrays given by their addresses; b is brought into the library's own layout once."""

    def __init__(self, m, k, n, a, b, c, fast=False):
        self.lib = ctypes.CDLL("libdnnl.so.3.6")
        self.lib.dnnl_primitive_desc_query_md.restype = ctypes.c_void_p
        self.engine = self.made("engine_create", CPU, ctypes.c_size_t(0))
        self.stream = self.made("stream_create", self.engine, 1)
        attr = self.made("primitive_attr_create")
        if fast:
            self.check("primitive_attr_set_fpmath_mode", attr, BF16_MATH)
        layouts = [self.layout(d, a[1], ROW_MAJOR) for d in [(m, k)]] + [
            self.layout((k, n), b[1], ANY), self.layout((m, n), c[1], ROW_MAJOR)]
        what = self.made("matmul_primitive_desc_create", self.engine, layouts[0], layouts[1], None, layouts[2], attr)
        own = ctypes.c_void_p(self.lib.dnnl_primitive_desc_query_md(what, QUERY_WEIGHTS, 0))
        given = self.layout((k, n), b[1], ROW_MAJOR)
        weights = self.memory(own, ctypes.c_void_p(-1 & (2**64 - 1)))
        reorder = self.made("reorder_primitive_desc_create", given, self.engine, own, self.engine, None)
        self.run(self.made("primitive_create", reorder), self.args((FROM, self.memory(given, b[0])), (TO, weights)))
        self.primitive = self.made("primitive_create", what)
        self.arguments = self.args((SRC, self.memory(layouts[0], a[0])), (WEIGHTS, weights),
                                   (DST, self.memory(layouts[2], c[0])))

    def check(self, name, *args):
        status = getattr(self.lib, "dnnl_" + name)(*args)
        if status:
            raise RuntimeError(f"dnnl_{name}: status {status}")

    def made(self, name, *args):
        out = ctypes.c_void_p()
        self.check(name, ctypes.byref(out), *args)
        return out

    def layout(self, dims, dtype, tag):
        return self.made("memory_desc_create_with_tag", len(dims), (ctypes.c_int64 * len(dims))(*dims), DTYPES[dtype], tag)

    def memory(self, layout, address):
        return self.made("memory_create", layout, self.engine, address)

    @staticmethod
    def args(*pairs):
        return (Arg * len(pairs))(*[Arg(arg, memory.value) for arg, memory in pairs])

    def run(self, primitive, args):
        self.check("primitive_execute", primitive, self.stream, len(args), args)
        self.check("stream_wait", self.stream)
