# SPDX-License-Identifier: Apache-2.0
"""Writes the node cases that the installed onnx package makes, in the form in which it used to ship them.

usage: onnx_cases.py FOLDER
"""
import json
import pathlib
import shutil
import sys
import warnings

import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases


def proto(value, info):
    if isinstance(value, TensorProto):
        return value
    kind = info.type.WhichOneof("value")
    makers = {
        "map_type": numpy_helper.from_dict, "sequence_type": numpy_helper.from_list,
        "optional_type": numpy_helper.from_optional, "tensor_type": numpy_helper.from_array,
    }
    return makers[kind](value, info.name)


def write(case, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    (folder / "tolerance.json").write_text(json.dumps({"rtol": case.rtol, "atol": case.atol}))
    for i, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{i}"
        data.mkdir()
        for what, values, infos in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
            for j, (value, info) in enumerate(zip(values, infos)):
                (data / f"{what}_{j}.pb").write_bytes(proto(value, info).SerializeToString())


def main():
    folder = pathlib.Path(sys.argv[1])
    warnings.simplefilter("ignore")
    cases = collect_testcases()
    for case in cases:
        write(case, folder / case.name)
    print(f"{len(cases)} cases of onnx {onnx.__version__}", file=sys.stderr)


if __name__ == "__main__":
    main()
