# SPDX-License-Identifier: Apache-2.0
"""Generates docs/ops.md, the reference of the operators."""

import gen_ops_c
import gen_ops_go
from gen_ops_engine import NOTE
from gen_ops_model import CLASSES

INTRO = """\
# Operators

Every operator of NEF, by class. Names and meaning follow ONNX (opset 23 and newer) and NumPy. In a
`.nef` file an operator goes by the name in the heading, its ONNX name or one of the aliases; its
inputs come in the order given here, a missing one as an empty name.

- *host* inputs are small integer tensors that shapes depend on. In C they are given as a pointer and a
  count (NULL: absent), in Go as `[]int` (nil: absent), single integers as they are.
- `?` marks what may be absent, `*` a list of one or more. Inputs and outputs with the same type letter have
  the same dtype.
- Attributes without a default are absent unless given; *required* ones must be given. Attributes that
  are not parameters of the C and Go function are in its options struct; those marked *files only* can
  be given in files alone.
- *rule* names the shape rule in `engine/ir` (`infer_<rule>`), *cost* the formula of the planner.
- What happens at the edges (NaN, overflow, division by zero) is in [numerics](numerics.md)
  where a line below does not say it.
"""


def cell(text):
    return text.replace("|", "\\|")


def port_text(port):
    marks = ("?" if port.optional else "") + ("*" if port.variadic else "")
    kind = f"{port.type}: " if port.type_var != 255 else ""
    host = ", host" if port.host else ""
    return f"`{port.name}`{marks} ({kind}{gen_ops_c.dtype_list(port)}{host})"


def attr_text(attr):
    text = f"`{attr.name}` ({attr.type}"
    if attr.required:
        text += ", required"
    if attr.default is not None:
        text += f", default {gen_ops_c.default_text(attr) if attr.type != 'bool' else str(attr.default).lower()}"
    if attr.choices:
        text += "; " + ", ".join(attr.choices)
    if attr.hidden:
        text += "; files only"
    return text + ")"


def c_signature(op):
    return gen_ops_c.call_text(op, "nef_status* ", ";")


def section(op):
    rows = [("inputs", "<br>".join(map(port_text, op.inputs))), ("outputs", "<br>".join(map(port_text, op.outputs)))]
    if op.attrs:
        rows.append(("attributes", "<br>".join(map(attr_text, op.attrs))))
    others = sorted(op.names - {op.snake})
    rows.append(("also", ", ".join(f"`{n}`" for n in others)))
    rows.append(("rule, cost", f"{op.infer}, {op.flops.replace('*', ' x ')}"))
    rows.append(("source", op.source))
    lines = [f"### {op.snake}", "", op.doc.replace("<", "&lt;").replace("*", "\\*"), "", f"| id | {op.id} |", "|---|---|"]
    lines += [f"| {name} | {cell(text)} |" for name, text in rows if text]
    if op.blocks:
        return lines + ["", f"C: `nef_{op.snake}` of nef.h. Go: `nef.{op.go}`.", ""]
    return lines + ["", "```c", c_signature(op), "```", "```go", gen_ops_go.signature(op), "```", ""]


def reference(ops):
    ops = [op for op in ops if not op.internal]
    lines = [f"<!-- {NOTE} -->", INTRO]
    present = [c for c in CLASSES if any(op.cls == c for op in ops)]
    for cls in present:
        names = [op.snake for op in ops if op.cls == cls]
        lines.append(f"**{cls.capitalize()}** ({len(names)}): " + ", ".join(f"[{n}](#{n})" for n in names) + "\n")
    for cls in present:
        lines += [f"## {cls.capitalize()}", ""]
        for op in ops:
            if op.cls == cls:
                lines += section(op)
    return "\n".join(lines).rstrip("\n") + "\n"
