# SPDX-License-Identifier: Apache-2.0
"""Generates op_ids.h and the engine's table."""

from gen_ops_model import COSTS, camel_case

NOTE = "generated from engine/ir/ops.toml, do not edit"
CPP_TYPES = {"int": "Int", "float": "Float", "bool": "Bool", "string": "String", "ints": "Ints",
             "floats": "Floats", "dtype": "DType"}


def flag(value):
    return "true" if value else "false"


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def float_literal(value):
    return repr(float(value))


def op_ids(ops):
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        "/* clang-format off */",
        "/**",
        " * \\file nef/op_ids.h",
        " * \\brief Numbers of the operators and of their attributes.",
        " *",
        f" * {NOTE}.",
        " *",
        " * Append-only: a number, once released, keeps its meaning. NEF_OP_X is the op; NEF_X_ATTR is the",
        " * slot of an attribute, counted from 0 within its op.",
        " */",
        "#ifndef NEF_OP_IDS_H",
        "#define NEF_OP_IDS_H",
        "",
        "#include <stdint.h>",
        "",
        "/** An operator. 0 is none. */",
        "typedef int32_t nef_op;",
        "enum {",
        "  NEF_OP_INVALID = 0,",
    ]
    for op in ops:
        comment = " /**< made by the engine only */" if op.internal else ""
        lines.append(f"  NEF_OP_{op.upper} = {op.id},{comment}")
    lines += [f"  NEF_OP_COUNT_ = {ops[-1].id + 1} /**< grows with each release: not for switch or storage */", "};", ""]
    for op in ops:
        if not op.attrs:
            continue
        lines.append(f"/** Attributes of {op.name}. */")
        lines.append("enum {")
        for attr in op.attrs:
            comma = "," if attr.slot + 1 < len(op.attrs) else ""
            lines.append(f"  NEF_{op.upper}_{attr.snake.upper()} = {attr.slot}{comma} /**< {attr.type} */")
        lines.append("};")
    lines += ["", "#endif /* NEF_OP_IDS_H */", ""]
    return "\n".join(lines)


def infer_rule(op):
    return "k" + camel_case(op.infer)


def cost(name):
    return "k" + camel_case(name.replace("*", "_x"))


def table_header(ops):
    rules = sorted({infer_rule(op) for op in ops})
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        f"// {NOTE}.",
        "// clang-format off",
        "#pragma once",
        "",
        "#include <nef/op_ids.h>",
        "",
        "#include <cstdint>",
        "#include <string_view>",
        "",
        "namespace nef::ir {",
        "",
        "// How the shapes of the outputs follow from the inputs.",
        "enum class InferRule : uint8_t {",
        *[f"  {rule}," for rule in rules],
        "};",
        "",
        "// How to estimate the work of a node. kElementsX8 is 8 operations per output element, kInputs one",
        "// per element of the first input; kNone moves data at most.",
        "enum class Cost : uint8_t {",
        *[f"  {cost(name)}," for name in COSTS],
        "};",
        "",
        "// The strings a string attribute takes, separated by '|'; null when any string may be legal.",
        "const char* attr_choices(nef_op op, unsigned slot);",
        "// Whether value is one of them (true when there are none).",
        "bool attr_choice_valid(nef_op op, unsigned slot, std::string_view value);",
        "",
        "}  // namespace nef::ir",
        "",
    ]
    return "\n".join(lines)


def port_arrays(op):
    lines = []
    if op.inputs:
        lines.append(f"constexpr InputSpec k{op.name}Inputs[] = {{")
        for p in op.inputs:
            lines.append(f"    {{{quoted(p.name)}, {p.mask:#06x}, {p.type_var}, {flag(p.optional)}, "
                         f"{flag(p.variadic)}, {flag(p.host)}}},")
        lines.append("};")
    lines.append(f"constexpr OutputSpec k{op.name}Outputs[] = {{")
    for p in op.outputs:
        lines.append(f"    {{{quoted(p.name)}, {p.mask:#06x}, {p.type_var}, {flag(p.optional)}, {flag(p.variadic)}}},")
    lines.append("};")
    return lines


def attr_array(op):
    if not op.attrs:
        return []
    lines = [f"constexpr AttrSpec k{op.name}Attrs[] = {{"]
    for a in op.attrs:
        given = a.default is not None
        as_int = int(a.default) if given and a.type in ("int", "bool", "dtype") else 0
        as_float = a.default if given and a.type == "float" else 0
        as_string = quoted(a.default) if given and a.type == "string" else "nullptr"
        lines.append(f"    {{{quoted(a.name)}, AttrType::{CPP_TYPES[a.type]}, {flag(a.required)}, {flag(given)}, "
                     f"{as_int}, {float_literal(as_float)}, {as_string}}},")
    lines.append("};")
    return lines


def table_row(op):
    return [
        f"    {{NEF_OP_{op.upper}, {quoted(op.name)}, {quoted(op.snake)},",
        f"     OpClass::{camel_case(op.cls)}, InferRule::{infer_rule(op)}, Cost::{cost(op.flops)},",
        f"     {flag(op.commutative)}, {flag(op.internal)}, {flag(op.sized_by_data)}, {op.blocks}, {len(op.inputs)}, {len(op.outputs)}, {len(op.attrs)}, "
        + (f"k{op.name}Inputs" if op.inputs else "nullptr") + f", k{op.name}Outputs, "
        + (f"k{op.name}Attrs" if op.attrs else "nullptr") + "},",
    ]


EMPTY_ROW = [
    "    {NEF_OP_INVALID, nullptr, nullptr, OpClass::Elementwise, InferRule::kSame, Cost::kNone,",
    "     false, false, false, 0, 0, 0, 0, nullptr, nullptr, nullptr},",
]


def table(ops):
    by_id = {op.id: op for op in ops}
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        f"// {NOTE}.",
        "// clang-format off",
        '#include "engine/ir/ops_gen.h"',
        "",
        '#include "engine/ir/ops.h"',
        "",
        "namespace nef::ir {",
        "namespace {",
        "",
        *[line for op in ops for line in port_arrays(op) + attr_array(op)],
        "",
        "struct AttrChoices {",
        "  nef_op op;",
        "  unsigned slot;",
        "  const char* values;",
        "};",
        "constexpr AttrChoices kAttrChoices[] = {",
        *[f"    {{NEF_OP_{op.upper}, NEF_{op.upper}_{a.snake.upper()},\n     {quoted('|'.join(a.choices))}}},"
          for op in ops for a in op.attrs if a.choices],
        "};",
        "",
        "}  // namespace",
        "",
        "const OpSpec kOpTable[] = {",
    ]
    for number in range(ops[-1].id + 1):
        lines += table_row(by_id[number]) if number in by_id else EMPTY_ROW
    names = sorted((name, op) for op in ops for name in op.names)
    lines += [
        "};",
        "const unsigned kOpTableSize = NEF_OP_COUNT_;",
        "static_assert(sizeof(kOpTable) / sizeof(kOpTable[0]) == NEF_OP_COUNT_);",
        "",
        "const OpAlias kOpAliases[] = {",
        *[f"    {{{quoted(name)}, NEF_OP_{op.upper}}}," for name, op in names],
        "};",
        "const unsigned kOpAliasCount = sizeof(kOpAliases) / sizeof(kOpAliases[0]);",
        "",
        "const char* attr_choices(nef_op op, unsigned slot) {",
        "  for (const AttrChoices& c : kAttrChoices) {",
        "    if (c.op == op && c.slot == slot) return c.values;",
        "  }",
        "  return nullptr;",
        "}",
        "",
        "bool attr_choice_valid(nef_op op, unsigned slot, std::string_view value) {",
        "  const char* values = attr_choices(op, slot);",
        "  if (values == nullptr) return true;",
        "  for (std::string_view rest = values;;) {",
        "    const size_t end = rest.find('|');",
        "    if (rest.substr(0, end) == value) return true;",
        "    if (end == std::string_view::npos) return false;",
        "    rest.remove_prefix(end + 1);",
        "  }",
        "}",
        "",
        "}  // namespace nef::ir",
        "",
    ]
    return "\n".join(lines)
