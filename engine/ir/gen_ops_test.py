#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mistakes in ops.toml are refused with a message that names the op and the fault."""

import pathlib
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import gen_ops
import gen_ops_model

GOOD = """
[[op]]
id = 3
name = "MadeUp"
aliases = ["made"]
class = "elementwise"
inputs = ["a:T", "axes:int64!?"]
outputs = ["y:T"]
types = { T = "float+int32" }
attrs = ["mode:string=fast", "axis:int!@", "alpha:float=0.5"]
choices = { mode = ["fast", "slow"] }
infer = "same"
flops = "elements"
doc = "Nothing."
source = "NEF"
"""


def load(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "ops.toml"
        path.write_text(text, encoding="utf-8")
        return gen_ops_model.load(path)


class Table(unittest.TestCase):
    def refuse(self, old, new, message, text=GOOD):
        self.assertIn(old, text)
        with self.assertRaisesRegex(gen_ops_model.TableError, message):
            load(text.replace(old, new, 1))

    def test_good(self):
        op, = load(GOOD)
        self.assertEqual((op.snake, op.names), ("made_up", {"MadeUp", "made_up", "made"}))
        self.assertEqual([p.host for p in op.inputs], ["", "list"])
        self.assertEqual(op.inputs[0].dtypes, ["int32", "float16", "bfloat16", "float32", "float64"])
        self.assertEqual(op.inputs[0].mask, 1 << 6 | 15 << 10)
        self.assertEqual((op.inputs[0].type_var, op.inputs[1].type_var), (0, gen_ops_model.NO_TYPE_VAR))
        self.assertEqual([a.default for a in op.attrs], ["fast", None, 0.5])

    def test_keys(self):
        self.refuse('doc = "Nothing."', "", "'MadeUp'.*doc is missing")
        self.refuse('doc = "Nothing."', 'docs = "Nothing."', "unknown key 'docs'")
        self.refuse("id = 3", 'id = "3"', "id must be a int")
        self.refuse("id = 3", "id = true", "id must be a int")
        self.refuse("id = 3", "id = 0", "ids start at 1")
        self.refuse("[[op]]", "x = 1\n[[op]]", "only")
        self.refuse("id = 3", "id = ", "Invalid value")

    def test_names(self):
        self.refuse('"MadeUp"', '"made up"', "CamelCase")
        self.refuse('["made"]', '["made it"]', "cannot be an alias")
        self.refuse('class = "elementwise"', 'class = "magic"', "unknown class 'magic'")
        self.refuse('infer = "same"', 'infer = "Same!"', "infer")
        self.refuse('flops = "elements"', 'flops = "many"', "unknown flops 'many'")

    def test_uniqueness(self):
        second = GOOD.replace("MadeUp", "Other").replace('"made"', '"other_made"')
        self.refuse("id = 3", "id = 3", "id 3 is given twice", GOOD + second)
        second = second.replace("id = 3", "id = 4")
        self.assertEqual(len(load(GOOD + second)), 2)
        self.refuse('"made"', '"other"', "'other' is given twice", GOOD + second)

    def test_ports(self):
        self.refuse('"a:T"', '"a:Q"', "unknown dtype or group 'Q'")
        self.refuse("float+int32", "float+float32", "names a dtype twice")
        self.refuse('"a:T"', '"a T"', "cannot read 'a T'")
        self.refuse('"a:T"', '"a:T??"', "given twice")
        self.refuse('"a:T"', '"a:T?", "b:T"', "'b' follows an optional one")
        self.refuse('"a:T"', '"a:T*"', "must be last")
        self.refuse('"a:T"', '"axes:T"', "'axes' is given twice")
        self.refuse('"y:T"', '"y:T!"', "for inputs only")
        self.refuse('"y:T"', '"y:T?"', "first output is required")
        self.refuse('"y:T"', '"y:T*"', "count")
        self.refuse("T = ", 'U = "int", T = ', "type 'U' is never used")

    def test_attributes(self):
        self.refuse("axis:int!@", "axis:number!@", "unknown type 'number'")
        self.refuse("axis:int!@", "axis:int!", "must be a parameter")
        self.refuse("axis:int!@", "axis:int@", "needs a default")
        self.refuse("axis:int!@", "axis:int=1!@", "no default")
        self.refuse("axis:int!@", "axis:int=x@", "'x' does not fit")
        self.refuse("axis:int!@", "alpha:int!@", "'alpha' is given twice")
        self.refuse("mode:string=fast", "mode:string=quick", "'quick' is not among")
        self.refuse("{ mode =", "{ mood =", "unknown attribute 'mood'")


class Outputs(unittest.TestCase):
    def test_same_table_same_bytes(self):
        ops = gen_ops_model.load(gen_ops.SOURCE)
        again = gen_ops_model.load(gen_ops.SOURCE)
        for generate in gen_ops.OUTPUTS.values():
            self.assertEqual(generate(ops), generate(again))

    def test_internal_ops_have_no_public_entry(self):
        ops = gen_ops_model.load(gen_ops.SOURCE)
        internal = [op for op in ops if op.internal]
        self.assertTrue(internal)
        for name in ("capi/include/nef/ops.h", "capi/ops_gen.cc", "ops_gen.go", "docs/ops.md"):
            text = gen_ops.OUTPUTS[name](ops)
            for op in internal:
                self.assertIsNone(re.search(rf"\b(nef_{op.snake}|{op.go})\b", text), f"{op.name} in {name}")


if __name__ == "__main__":
    unittest.main()
