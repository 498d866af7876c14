#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a folder of the house includes one to its right.

ir <- build <- optimize <- plan <- compile <- runtime <- context <- capi, with io beside build.
The engine includes no backend, only <nef/backend.h> and what that includes; a backend includes
only those, its own folder and what backends/ shares.
"""
import pathlib
import re
import sys

ORDER = ["ir", "build", "optimize", "plan", "compile", "runtime", "context"]
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
SUFFIXES = {".h", ".cc", ".c", ".inc", ".hpp"}


def allowed_rooms(room):
    """Engine rooms that `room` may include: itself and all to its left."""
    if room == "io":
        return {"ir", "build", "io"}
    rooms = set(ORDER[: ORDER.index(room) + 1])
    # io stands beside build, so everything right of build may use it.
    return rooms | {"io"} if ORDER.index(room) > ORDER.index("build") else rooms


def complaint(path, header):
    """Why the file at `path` (relative parts) may not include `header`, or None."""
    parts, target = path.parts, header.split("/")
    if parts[0] == "engine":
        if target[0] in ("backends", "capi"):
            return f"engine/ must not include {target[0]}/"
        if header == "nef/nef.h":
            return "engine/ must not include the public API header"
        if target[0] != "engine" or len(target) < 3:
            return None
        if parts[1] not in ORDER + ["io"]:
            return f"unknown engine folder '{parts[1]}'"
        if target[1] not in allowed_rooms(parts[1]):
            return f"engine/{parts[1]} must not include engine/{target[1]}"
    elif parts[0] == "backends":
        if target[0] in ("engine", "capi"):
            return f"a backend must not include {target[0]}/"
        if header == "nef/nef.h":
            return "a backend speaks only <nef/backend.h>"
        # backends/<own>/... and files right under or shared below backends/ are fine.
        # The GPU backends are drivers under the kernels of backends/gpu.
        own = (parts[1], "shared", "gpu") if parts[1] in ("cuda", "rocm") else (parts[1], "shared")
        if target[0] == "backends" and len(target) > 2 and target[1] not in own:
            return f"backends/{parts[1]} must not include backends/{target[1]}"
    elif parts[:2] == ("capi", "include"):
        if target[0] in ("engine", "backends"):
            return "a public header must not include internals"
    return None


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    files = faults = 0
    for top in ("engine", "backends", "capi"):
        for source in sorted((root / top).rglob("*")):
            if source.suffix not in SUFFIXES:
                continue
            files += 1
            path = source.relative_to(root)
            for header in INCLUDE.findall(source.read_text(encoding="utf-8")):
                why = complaint(path, header)
                if why:
                    faults += 1
                    print(f"{path}: #include \"{header}\": {why}")
    print(f"{files} files looked at, {faults} includes against the order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
