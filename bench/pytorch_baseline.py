#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch makes of the GPU benchmarks, timed as they are: steps queued back to back.

usage: pytorch_baseline.py [--only REGEX]

Prints one JSON object per row. A row `torch/NAME/HOW` stands beside NEF's row NAME.
"""

import argparse
import json
import re
import statistics
import time

import torch
import torch.nn.functional as F

BF16, F32 = torch.bfloat16, torch.float32


def seconds(step, rounds=6, repeats=20):
    """Median seconds of one step among steps that are queued back to back."""
    for _ in range(3):
        step()
    samples = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(repeats):
            step()
        torch.cuda.synchronize()
        samples.append((time.perf_counter() - begin) / repeats)
    return statistics.median(samples)


class Report:
    def __init__(self, only):
        self.only = re.compile(only)

    def wants(self, name):
        return self.only.search(name) is not None

    def row(self, name, how, value, unit, note=""):
        row = {"name": f"torch/{name}/{how}", "value": value, "unit": unit, "note": note}
        print(json.dumps(row), flush=True)


def replayed(step):
    """The step as a CUDA graph."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


class DecodeLayer(torch.nn.Module):
    d, ff, heads, kv, size, context = 4096, 14336, 32, 8, 128, 1024

    def __init__(self, batch):
        super().__init__()
        d, kv = self.d, self.kv * self.size
        self.qkv = torch.nn.Linear(d, d + 2 * kv, bias=False)
        self.o = torch.nn.Linear(d, d, bias=False)
        self.gate_up = torch.nn.Linear(d, 2 * self.ff, bias=False)
        self.down = torch.nn.Linear(self.ff, d, bias=False)
        self.n1 = torch.nn.Parameter(1 + 0.2 * torch.randn(d))
        self.n2 = torch.nn.Parameter(1 + 0.2 * torch.randn(d))
        self.register_buffer("k", torch.randn(batch, self.kv, self.context, self.size))
        self.register_buffer("v", torch.randn(batch, self.kv, self.context, self.size))

    def forward(self, x):
        b = x.shape[0]
        qkv = self.qkv(F.rms_norm(x, (self.d,), self.n1))
        q = qkv[..., : self.d].view(b, 1, self.heads, self.size).transpose(1, 2)
        a = F.scaled_dot_product_attention(q, self.k, self.v, enable_gqa=True)
        x = x + self.o(a.transpose(1, 2).reshape(b, 1, self.d))
        g = self.gate_up(F.rms_norm(x, (self.d,), self.n2))
        return x + self.down(F.silu(g[..., : self.ff]) * g[..., self.ff :])


def decode(report):
    for batch in (1, 4, 16):
        name = f"gpu_decode/bf16/batch{batch}"
        if not report.wants(name):
            continue
        torch.set_default_dtype(BF16)
        stack = torch.nn.Sequential(*[DecodeLayer(batch) for _ in range(16)]).eval()
        x = torch.randn(batch, 1, DecodeLayer.d)
        step = lambda: stack(x)
        if batch == 1:
            report.row(name, "eager", 1e3 * seconds(step), "ms")
        report.row(name, "graph", 1e3 * seconds(replayed(step)), "ms")
        compiled = torch.compile(stack, mode="reduce-overhead")
        report.row(name, "compile", 1e3 * seconds(lambda: compiled(x)), "ms")
        torch.set_default_dtype(F32)
        torch._dynamo.reset()
        del stack, compiled, step
        torch.cuda.empty_cache()


def memory_rows(report):
    def row(name, tensors, step, how="eager"):
        if not report.wants(name):
            return
        made = step()
        count = sum(t.numel() * t.element_size() for t in tensors) + made.numel() * made.element_size()
        report.row(name, how, count / seconds(step) * 1e-9, "GB/s")

    if report.wants("gpu/gelu(a*b+c)*d+e/2^26"):
        chain = [torch.rand(1 << 26) for _ in range(5)]
        compiled = torch.compile(lambda a, b, c, d, e: F.gelu(a * b + c) * d + e)
        row("gpu/gelu(a*b+c)*d+e/2^26", chain, lambda: compiled(*chain), "compile")
    for dtype, short in ((F32, "f32"), (BF16, "bf16")):
        x, v = torch.randn(65536, 1024, dtype=dtype), torch.randn(1024, dtype=dtype)
        row(f"gpu/add_bias/65536x1024/{short}", (x, v), lambda: x + v)
        row(f"gpu/softmax/65536x1024/{short}", (x,), lambda: torch.softmax(x, -1))
        row(f"gpu/layer_norm/65536x1024/{short}", (x, v, v), lambda: F.layer_norm(x, (1024,), v, v))
    m = torch.randn(8192, 8192)
    row("gpu/transpose/8192x8192/f32", (m,), lambda: m.t().contiguous())
    big = torch.randn(1 << 28)
    row("gpu/reduce_sum/2^28/f32", (big,), lambda: big.sum())


def products(report):
    for n, dtype, short in ((1024, BF16, "bf16"), (4096, BF16, "bf16"), (8192, BF16, "bf16"), (4096, F32, "f32")):
        a, b, bias = (torch.randn(n, n, dtype=dtype), torch.randn(n, n, dtype=dtype), torch.randn(n, dtype=dtype))
        steps = {
            f"gpu/matmul/{n}/{short}": lambda: a @ b,
            f"gpu/matmul_bias/{n}/{short}": lambda: a @ b + bias,
            f"gpu/matmul_bias_gelu/{n}/{short}": lambda: F.gelu(a @ b + bias, approximate="tanh"),
        }
        for name, step in steps.items():
            if report.wants(name):
                report.row(name, "eager", 2 * n**3 / seconds(step) * 1e-12, "TFLOP/s")


def attention(report):
    for length in (1024, 4096):
        name = f"gpu/attention/causal/32x{length}x128/bf16"
        if not report.wants(name):
            continue
        q, k, v = (torch.randn(1, 32, length, 128, dtype=BF16) for _ in range(3))
        step = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)
        report.row(name, "sdpa", 2 * 32 * length**2 * 128 / seconds(step) * 1e-12, "TFLOP/s")


class EncoderLayer(torch.nn.Module):
    """Post-norm, as in BERT."""

    def __init__(self, d, heads):
        super().__init__()
        self.d, self.heads = d, heads
        self.q, self.k, self.v, self.o = (torch.nn.Linear(d, d) for _ in range(4))
        self.up, self.down = torch.nn.Linear(d, 4 * d), torch.nn.Linear(4 * d, d)
        self.n1, self.n2 = torch.nn.LayerNorm(d), torch.nn.LayerNorm(d)

    def forward(self, x):
        b, s, _ = x.shape
        q, k, v = (f(x).view(b, s, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, s, self.d)
        x = self.n1(x + self.o(a))
        return self.n2(x + self.down(F.gelu(self.up(x))))


def encoders(report):
    for layers, d, heads in ((6, 384, 12), (12, 768, 12)):
        for dtype, short in ((F32, "f32"), (BF16, "bf16")):
            name = f"gpu_encoder/{layers}x{d}/32x128/{short}"
            if not report.wants(name):
                continue
            torch.set_default_dtype(dtype)
            stack = torch.nn.Sequential(*[EncoderLayer(d, heads) for _ in range(layers)]).eval()
            table, words = torch.randn(30000, d), torch.randint(0, 30000, (32, 128))
            whole = lambda: stack(F.embedding(words, table)).mean(1)
            report.row(name, "eager", 1e3 * seconds(whole), "ms")
            report.row(name, "compile", 1e3 * seconds(torch.compile(whole, mode="reduce-overhead")), "ms")
            torch.set_default_dtype(F32)
            torch._dynamo.reset()


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", default="")
    report = Report(arguments.parse_args().only)
    torch.set_default_device("cuda")
    torch.manual_seed(1)
    with torch.inference_mode():
        x = torch.empty(1 << 30, dtype=torch.uint8).random_()
        y = torch.empty_like(x)
        rate = 2 * (1 << 30) / seconds(lambda: y.copy_(x)) * 1e-9
        report.row("gpu/copy", "copy_", rate, "GB/s", torch.cuda.get_device_name())
        del x, y
        for part in (memory_rows, products, attention, encoders, decode):
            part(report)


if __name__ == "__main__":
    main()
