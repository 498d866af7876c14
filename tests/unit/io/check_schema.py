#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks docs/nef.schema.json: it is a schema, good files fit it, misshapen ones do not.

usage: check_schema.py ROOT [FILE...]     further files that have to fit

Exit status 77 when python3-jsonschema is not installed.
"""
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    sys.exit(77)

GOOD = ["seed_completed.nef", "golden_mlp.nef", "golden_names.nef", "malformed/seed_example.nef",
        "malformed/cycle_two.nef"]
# Faults of form; most others are beyond what a schema can say.
BAD = ["top_level_array", "no_version", "no_format", "no_nodes", "no_tensors", "version_2",
       "version_number", "format_v2", "compiler_cache_unknown", "no_outputs", "nodes_not_array",
       "node_not_object", "node_no_id", "node_no_op", "node_no_output", "node_two_output_keys",
       "node_empty_outputs", "node_inputs_number", "node_output_empty", "node_id_number",
       "node_id_too_long", "inputs_twice", "edge_twice", "edge_unknown_key", "tensor_no_shape",
       "tensor_no_dtype", "tensor_dtype", "tensor_not_object", "dim_negative", "dim_fraction",
       "dim_too_long", "rank_17", "symbol_not_integer", "symbol_name_too_long", "data_base64",
       "data_no_name", "data_unknown_key", "path_absolute", "path_empty"]


def main():
    root = pathlib.Path(sys.argv[1])
    data = root / "tests/data/nef"
    schema = json.loads((root / "docs/nef.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    faults = []
    for path in [data / name for name in GOOD] + [pathlib.Path(p) for p in sys.argv[2:]]:
        for error in validator.iter_errors(json.loads(path.read_text(encoding="utf-8"))):
            faults.append(f"{path.name} does not fit: {error.message[:200]}")
    for name in BAD:
        if validator.is_valid(json.loads((data / f"malformed/{name}.nef").read_text())):
            faults.append(f"{name} fits, but must not")
    print("\n".join(faults) or f"{len(GOOD) + len(sys.argv) - 2} files fit, {len(BAD)} do not")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
