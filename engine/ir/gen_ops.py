#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates everything that lists operators from engine/ir/ops.toml.

    python3 engine/ir/gen_ops.py           write the generated files
    python3 engine/ir/gen_ops.py --check   write nothing; exit 1 and say what differs
"""

import difflib
import pathlib
import sys

import gen_ops_c
import gen_ops_docs
import gen_ops_engine
import gen_ops_go
import gen_ops_model

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "engine/ir/ops.toml"
OUTPUTS = {
    "capi/include/nef/op_ids.h": gen_ops_engine.op_ids,
    "engine/ir/ops_gen.h": gen_ops_engine.table_header,
    "engine/ir/ops_gen.cc": gen_ops_engine.table,
    "capi/include/nef/ops.h": gen_ops_c.header,
    "capi/ops_gen.cc": gen_ops_c.stubs,
    "ops_gen.go": gen_ops_go.package,
    "docs/ops.md": gen_ops_docs.reference,
}


def differs(path, text):
    """Prints how the file at path differs from text; False when it does not."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    if old == text:
        return False
    name = str(path.relative_to(ROOT))
    diff = list(difflib.unified_diff(old.splitlines(), text.splitlines(), name, "generated", "", "", 1, ""))
    print("\n".join(diff[:40]))
    if len(diff) > 40:
        print(f"... {len(diff) - 40} more lines in {name}")
    return True


def main(argv):
    if argv not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        ops = gen_ops_model.load(SOURCE)
    except gen_ops_model.TableError as error:
        print(f"{SOURCE.relative_to(ROOT)}: {error}", file=sys.stderr)
        return 1
    texts = {ROOT / name: generate(ops) for name, generate in OUTPUTS.items()}
    if argv == ["--check"]:
        stale = [path for path, text in texts.items() if differs(path, text)]
        if stale:
            print("run: python3 engine/ir/gen_ops.py", file=sys.stderr)
        return 1 if stale else 0
    for path, text in texts.items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
