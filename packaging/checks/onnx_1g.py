# SPDX-License-Identifier: Apache-2.0
"""Makes ONNX models of 1 GB, imports them with hydra, and judges the peak of resident memory.

usage: onnx_1g.py HYDRA FOLDER
"""
import os
import pathlib
import resource
import struct
import subprocess
import sys

LAYERS = 16
SIDE = 4096  # a weight is SIDE x SIDE floats: 64 MiB
BYTES = SIDE * SIDE * 4


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def head(field, length):
    return varint(field << 3 | 2) + varint(length)


def data(field, payload):
    payload = payload.encode() if isinstance(payload, str) else payload
    return head(field, len(payload)) + payload


def layer_weights(i):
    """Rows of different numbers, so that nothing can be left out."""
    row = struct.pack("<f", 1e-4 * (i + 1)) * SIDE
    return [row] * SIDE


def node(op, inputs, output):
    return data(1, b"".join(data(1, x) for x in inputs) + data(2, output) + data(3, output) + data(4, op))


def value(name):
    shape = b"".join(data(1, x) for x in (data(2, "batch"), number(1, SIDE)))
    return data(1, name) + data(2, data(1, number(1, 1) + data(2, shape)))


def external(i):
    pairs = {"location": "weights.bin", "offset": str(i * BYTES), "length": str(BYTES)}
    return number(14, 1) + b"".join(data(13, data(1, k) + data(2, v)) for k, v in pairs.items())


def write(folder, inside):
    """The graph is x times w0 times w1 ...; weights lie in the file or beside it."""
    start = [number(1, SIDE) + number(1, SIDE) + number(2, 1) + data(8, f"w{i}") for i in range(LAYERS)]
    nodes = b"".join(node("MatMul", [f"x{i}", f"w{i}"], f"x{i + 1}") for i in range(LAYERS))
    ports = data(11, value("x0")) + data(12, value(f"x{LAYERS}"))
    tails = [head(9, BYTES) if inside else external(i) for i in range(LAYERS)]
    sizes = [len(s) + len(t) + (BYTES if inside else 0) for s, t in zip(start, tails)]
    length = len(nodes) + len(ports) + sum(len(head(5, n)) + n for n in sizes)
    path = folder / "model.onnx"
    with open(path, "wb") as out, open(folder / "weights.bin", "wb") as beside:
        out.write(number(1, 8) + data(8, number(2, 13)) + head(7, length) + nodes)
        for i in range(LAYERS):
            out.write(head(5, sizes[i]) + start[i] + tails[i])
            (out if inside else beside).writelines(layer_weights(i))
        out.write(ports)
    return path


def main():
    hydra, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    limit = (1.2 * BYTES + 200e6) / 1e6
    fine = True
    for inside in (True, False):
        path = write(folder, inside)
        total = sum(f.stat().st_size for f in folder.glob("*") if f.suffix in (".onnx", ".bin"))
        # One child at a time: the peak is that of all children so far.
        subprocess.run([hydra, "import", str(path), "-o", str(folder / "model.nef")], check=True)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
        size = (folder / "model.nef").stat().st_size
        where = "in the model" if inside else "in another file"
        print(f"{total / 1e6:.0f} MB with weights {where} -> {size / 1e6:.0f} MB: peak {peak:.0f} MB")
        fine = fine and peak <= limit and size >= LAYERS * BYTES
        for f in folder.iterdir():
            os.unlink(f)
    print(f"peak {peak:.0f} MB of {limit:.0f} MB allowed")
    sys.exit(not fine)


if __name__ == "__main__":
    main()
