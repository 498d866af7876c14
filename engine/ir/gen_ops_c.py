# SPDX-License-Identifier: Apache-2.0
"""Generates the public C declarations of the ops and their stubs."""

import textwrap

from gen_ops_engine import NOTE, float_literal, quoted
from gen_ops_model import DTYPES, GROUPS

C_SCALARS = {"int": "int64_t", "float": "double", "bool": "int32_t", "dtype": "nef_dtype",
             "string": "const char*"}
C_ELEMENTS = {"ints": "int64_t", "floats": "double"}
ERRORS = ["NEF_INVALID_ARGUMENT", "NEF_SHAPE_MISMATCH", "NEF_DTYPE_MISMATCH", "NEF_OUT_OF_MEMORY"]


def public(ops):
    """Ops with generated entries: those with blocks have hand-written ones."""
    return [op for op in ops if not op.internal and not op.blocks]


def option_attrs(op):
    return [a for a in op.attrs if not a.positional and not a.hidden and a.name != op.count]


def option_inputs(op):
    return [p for p in op.inputs if p.in_options]


def has_options(op):
    return bool(option_attrs(op) or option_inputs(op))


def options_type(op):
    return f"nef_{op.snake}_options"


def input_params(port):
    if port.variadic:
        return [f"const nef_tensor* const* {port.name}", f"size_t n_{port.name}"]
    if port.host == "list":
        return [f"const int64_t* {port.name}", f"size_t n_{port.name}"]
    if port.host == "one":
        return [f"int64_t {port.name}"]
    return [f"const nef_tensor* {port.name}"]


def attr_params(attr):
    if attr.type in C_ELEMENTS:
        return [f"const {C_ELEMENTS[attr.type]}* {attr.snake}", f"size_t n_{attr.snake}"]
    return [f"{C_SCALARS[attr.type]} {attr.snake}"]


def output_params(port):
    if port.variadic:
        return [f"nef_tensor** out_{port.name}", f"size_t n_{port.name}"]
    return [f"nef_tensor** out_{port.name}"]


def params(op):
    out = [p for port in op.inputs if not port.in_options for p in input_params(port)]
    out += [p for attr in op.attrs if attr.positional for p in attr_params(attr)]
    if has_options(op):
        out.append(f"const {options_type(op)}* options")
    return out + [p for port in op.outputs for p in output_params(port)]


def call_text(op, prefix, end):
    """The declaration or definition head, wrapped at 100 columns."""
    head = f"{prefix}nef_{op.snake}("
    text = head + ", ".join(params(op)) + ")" + end
    if len(text) <= 100:
        return text
    body = textwrap.wrap(", ".join(p.replace(" ", "\0") for p in params(op)), 93,
                         break_long_words=False, break_on_hyphens=False)
    return head + "\n    " + "\n    ".join(body).replace("\0", " ") + ")" + end


def signature(op):
    return f"nef_status* nef_{op.snake}(" + ", ".join(params(op)) + ")"


def dtype_list(port):
    names = port.dtypes
    if names == GROUPS["any"]:
        return "any dtype"
    if names == GROUPS["plain"]:
        return "any dtype but float8"
    if names == sorted(GROUPS["number"], key=DTYPES.index):
        return "any dtype but bool and float8"
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def describe_input(port):
    if port.variadic:
        return f"one tensor or more, all of one dtype: {dtype_list(port)}"
    if port.host == "list":
        return "integers; NULL means absent" if port.optional else "integers; NULL only when there are none"
    if port.host == "one":
        return "an integer"
    text = f"{dtype_list(port)}"
    return text + "; NULL means absent" if port.optional else text


def describe_attr(attr):
    kind = {"bool": "0 or 1", "dtype": "a dtype", "string": "text", "int": "an integer", "float": "a number",
            "ints": "integers", "floats": "numbers"}[attr.type]
    if attr.choices:
        kind = ", ".join(attr.choices)
    if attr.default is not None and attr.type not in C_ELEMENTS:
        return f"{kind}; usually {default_text(attr)}"
    if attr.type in C_ELEMENTS and not attr.required:
        return f"{kind}; NULL means absent"
    return kind


def default_text(attr):
    if attr.type == "bool":
        return "1" if attr.default else "0"
    if attr.type == "dtype":
        return DTYPES[attr.default - 1]
    return f"{attr.default:g}" if attr.type == "float" and abs(attr.default) < 1e6 else str(attr.default)


def comment(lines, indent=""):
    out = [indent + "/**"]
    for line in lines:
        hang = "    " if line.startswith("\\param") else ""
        wrapped = textwrap.wrap(line, 95 - len(indent), subsequent_indent=hang, break_long_words=False,
                                break_on_hyphens=False) or [""]
        out += [(indent + " * " + part).rstrip() for part in wrapped]
    return out + [indent + " */"]


def doc_comment(op):
    text = op.doc.replace("*/", "* /")
    lines = [f"\\brief {op.name}: {text}", ""]
    lines += [f"\\param {p.name} {describe_input(p)}" for p in op.inputs if not p.in_options]
    lines += [f"\\param {a.snake} {describe_attr(a)}" for a in op.attrs if a.positional]
    if has_options(op):
        lines.append("\\param options NULL for the defaults")
    for port in op.outputs:
        if port.variadic:
            lines.append(f"\\param[out] out_{port.name} room for n_{port.name} handles: {output_dtype(op, port)}")
        else:
            null = "; may be NULL" if port.optional else ""
            lines.append(f"\\param[out] out_{port.name} {output_dtype(op, port)}{null}")
    lines.append(f"\\return NULL, or a status: {', '.join(ERRORS[:-1])} or {ERRORS[-1]}.")
    lines.append("Safe to call from any thread. The caller releases what it is given with nef_tensor_release.")
    return comment(lines)


def output_dtype(op, port):
    for source in op.inputs:
        if source.type == port.type and port.type_var != 255 and source.host != "list":
            return f"the dtype of {source.name}"
    return dtype_list(port)


def option_fields(op):
    fields = []
    for port in option_inputs(op):
        fields.append((f"const nef_tensor* {port.name};", f"{dtype_list(port)}; NULL means absent"))
    for a in option_attrs(op):
        if a.type in C_ELEMENTS:
            fields.append((f"const {C_ELEMENTS[a.type]}* {a.snake};", "NULL means absent"))
            fields.append((f"size_t n_{a.snake};", ""))
        elif a.type == "dtype":
            fields.append((f"nef_dtype {a.snake};", "0 means absent" if a.default is None else option_note(a)))
            fields.append((f"int32_t reserved_{a.snake};", "must be 0"))
        elif a.type == "string":
            fields.append((f"const char* {a.snake};", option_note(a)))
        else:
            fields.append((("double " if a.type == "float" else "int64_t ") + f"{a.snake};", option_note(a)))
            if a.default is None:
                fields.append((f"int64_t has_{a.snake};", f"1 when {a.snake} is given; default 0"))
    return fields


def option_note(attr):
    parts = []
    if attr.choices:
        parts.append(", ".join(attr.choices))
    elif attr.type == "bool":
        parts.append("0 or 1")
    if attr.default is not None:
        parts.append(f"default {default_text(attr)}")
    elif attr.type != "string":
        parts.append(f"read only with has_{attr.snake}")
    else:
        parts.append("NULL means absent")
    return "; ".join(parts)


def options_struct(op):
    name = options_type(op)
    lines = [f"/** Options of nef_{op.snake}; fill with {name}_init first. */",
             f"typedef struct {name} {{", "  size_t struct_size; /**< set by _init */"]
    for field, note in option_fields(op):
        line = f"  {field}" + (f" /**< {note} */" if note else "")
        if len(line) > 100:
            lines += comment([note], "  ")
            line = f"  {field}"
        lines.append(line)
    lines += [f"}} {name};", f"/** Sets every option to its default. NULL is a no-op. */"]
    init = f"NEF_API void {name}_init({name}* options, size_t struct_size);"
    if len(init) > 100:
        init = f"NEF_API void {name}_init({name}* options,\n    size_t struct_size);"
    return lines + [init, ""]


HEADER_PROSE = [
    "The operators, one function each: part of <nef/nef.h>, which includes this file.",
    "",
    "generated from engine/ir/ops.toml, do not edit.",
    "",
    "Every function makes a node and computes nothing: tensors are lazy, see nef_execute. "
    "Shapes and dtypes are checked at once, so a mistake is reported by the call that made it.",
    "",
    "Common to all: inputs are borrowed and never consumed; each out-parameter receives a new handle "
    "that the caller releases with nef_tensor_release, and NULL when the call fails. Negative axes "
    "count from the end. A list is a pointer and a count and is copied. An options struct is filled "
    "by its _init function, called with sizeof the struct; NULL stands for all defaults. Every "
    "function is safe to call from any thread, also with the same inputs in several threads at once.",
    "",
    "The functions return NULL, or a status that the caller releases with nef_status_release: "
    "NEF_INVALID_ARGUMENT for a NULL or a value out of its range, NEF_SHAPE_MISMATCH and "
    "NEF_DTYPE_MISMATCH for inputs that do not fit, NEF_OUT_OF_MEMORY.",
]


def header(ops):
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", "/* clang-format off */"]
    lines += comment(["\\file nef/ops.h", *HEADER_PROSE])
    lines += ["#ifndef NEF_OPS_H", "#define NEF_OPS_H", "", "#include <nef/types.h>", "",
              "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for op in public(ops):
        if has_options(op):
            lines += options_struct(op)
        lines += doc_comment(op)
        lines += [call_text(op, "NEF_API NEF_NODISCARD nef_status* ", ";"), ""]
    lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif /* NEF_OPS_H */", ""]
    return "\n".join(lines)


def slot(op, attr):
    return f"NEF_{op.upper}_{attr.snake.upper()}"


def init_function(op):
    name = options_type(op)
    lines = [f"void {name}_init({name}* options, size_t struct_size) {{", f"  {name} defaults = {{}};"]
    for a in option_attrs(op):
        if a.default is None or a.type in C_ELEMENTS:
            continue
        value = {"string": quoted, "float": float_literal}.get(a.type, lambda v: str(int(v)))(a.default)
        if value not in ("0", "0.0"):
            lines.append(f"  defaults.{a.snake} = {value};")
    return lines + ["  init_options(options, struct_size, defaults);", "}", ""]


def when(condition, statement, indent):
    line = f"{indent}if ({condition}) {statement}"
    return [line] if len(line) <= 100 else [f"{indent}if ({condition}) {{", f"{indent}  {statement}", indent + "}"]


def set_attr(op, attr, value, indent="  "):
    """Statements that record one attribute; absent ones are left out."""
    if attr.type in C_ELEMENTS:
        count = value.replace(attr.snake, "n_" + attr.snake)
        return when(f"{value} != nullptr", f"call.attr_{attr.type}({slot(op, attr)}, {value}, {count});", indent)
    value_text = f"{value} != 0" if attr.type == "bool" else value
    setter = {"float": "attr_float", "string": "attr_string"}.get(attr.type, "attr_int")
    statement = f"call.{setter}({slot(op, attr)}, {value_text});"
    if attr.type == "string":
        given = f"{value} != nullptr"
    elif attr.positional or attr.default is not None:
        return [indent + statement]
    elif attr.type == "dtype":
        given = f"{value} != NEF_DTYPE_INVALID"
    else:
        given = f"{value.replace(attr.snake, 'has_' + attr.snake)} != 0"
    return when(given, statement, indent)


def set_input(port):
    if port.variadic:
        return [f"  add_inputs(call, {port.name}, n_{port.name});"]
    if port.host == "list":
        present = f"{port.name} != nullptr" if port.optional else "true"
        return [f"  call.host_ints({port.name}, n_{port.name}, {present});"]
    if port.host == "one":
        return [f"  call.host_int({port.name});"]
    return [f"  call.input({'given.' if port.in_options else ''}{port.name});"]


def stub(op):
    lines = [call_text(op, "nef_status* ", " {"), f"  OpCall call(NEF_OP_{op.upper});"]
    if has_options(op):
        name = options_type(op)
        unused = [f"given.reserved_{a.snake} == 0" for a in option_attrs(op) if a.type == "dtype"]
        valid = " && ".join(["read_options(options, &given)", *unused])
        lines += [f"  {name} given;", f"  {name}_init(&given, sizeof given);", f"  call.options({valid});"]
    for port in op.inputs:
        lines += set_input(port)
    for attr in op.attrs:
        if attr.positional:
            lines += set_attr(op, attr, attr.snake)
        elif attr.name == op.count:
            splits = [p for p in op.inputs if p.host == "list"][0]
            lines.append(f"  if ({splits.name} == nullptr) call.attr_int({slot(op, attr)}, "
                         f"static_cast<int64_t>(n_{op.outputs[0].name}));")
        elif not attr.hidden:
            lines += set_attr(op, attr, f"given.{attr.snake}")
    first = op.outputs[0]
    if first.variadic:
        return lines + [f"  return call.call_variadic(out_{first.name}, n_{first.name});", "}", ""]
    outs = ", ".join(f"out_{p.name}" for p in op.outputs)
    lines += [f"  nef_tensor** const outs[] = {{{outs}}};", f"  return call.call(outs, {len(op.outputs)});", "}", ""]
    return lines


STUB_HEAD = f"""\
// SPDX-License-Identifier: Apache-2.0
// {NOTE}.
// clang-format off
#include <nef/op_ids.h>
#include <nef/ops.h>

#include <cstring>

#include "capi/op_call.h"

using nef::capi::OpCall;

namespace {{

// An options struct of another version may be shorter (its caller knows fewer fields) or longer.
constexpr size_t kMaxOptionsSize = 4096;

template <class T>
void init_options(T* options, size_t struct_size, T defaults) {{
  if (options == nullptr || struct_size < sizeof(size_t) || struct_size > kMaxOptionsSize) return;
  defaults.struct_size = struct_size;
  std::memset(static_cast<void*>(options), 0, struct_size);
  std::memcpy(options, &defaults, struct_size < sizeof(T) ? struct_size : sizeof(T));
}}

// Copies the caller's fields over the defaults in *given. False when the struct was not
// initialised, or asks for something this version does not know.
template <class T>
bool read_options(const T* options, T* given) {{
  if (options == nullptr) return true;
  const size_t size = options->struct_size;
  if (size < sizeof(size_t) || size > kMaxOptionsSize) return false;
  const unsigned char* bytes = reinterpret_cast<const unsigned char*>(options);
  for (size_t i = sizeof(T); i < size; ++i) {{
    if (bytes[i] != 0) return false;
  }}
  std::memcpy(given, options, size < sizeof(T) ? size : sizeof(T));
  return true;
}}

void add_inputs(OpCall& call, const nef_tensor* const* list, size_t n) {{
  if (list == nullptr && n != 0) return call.input(nullptr);
  for (size_t i = 0; i < n; ++i) call.input(list[i]);
}}

}}  // namespace
"""


def stubs(ops):
    lines = [STUB_HEAD]
    for op in public(ops):
        if has_options(op):
            lines += init_function(op)
        lines += stub(op)
    return "\n".join(lines).rstrip("\n") + "\n"
