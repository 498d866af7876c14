# SPDX-License-Identifier: Apache-2.0
"""Generates ops_gen.go, the operators of package nef."""

import re
import textwrap

from gen_ops_c import default_text, has_options, option_attrs, option_inputs, public
from gen_ops_engine import NOTE, quoted
from gen_ops_model import camel_case

RESERVED = {"break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for",
            "func", "go", "goto", "if", "import", "interface", "map", "package", "range", "return", "select",
            "struct", "switch", "type", "var", "len", "append", "int", "string", "bool", "nil"}
# What *Value has by other means; a method of that name would clash.
ACCESSORS = {"Shape", "DType", "Err", "String", "Close", "Execute", "Numpy", "Size", "Rank", "Format", "Data"}
GO_TYPES = {"int": "int", "float": "float64", "bool": "bool", "string": "string", "ints": "[]int",
            "floats": "[]float64", "dtype": "DType"}


def local(name):
    camel = camel_case(name)
    text = camel[:1].lower() + camel[1:]
    return text + "_" if text in RESERVED else text


def options_name(op):
    return op.go + "Options"


def is_pointer(attr):
    """Whether a Go zero value cannot stand for the default."""
    if attr.type not in ("int", "float", "bool") or attr.zero_is_default:
        return False
    return attr.default is None or bool(attr.default)


def go_params(op):
    """Pairs of name and type; the options, if any, last."""
    out = []
    for port in op.inputs:
        if port.in_options:
            continue
        kind = {"list": "[]int", "one": "int"}.get(port.host, "*Value")
        if port.variadic:
            kind = "[]*Value" if any(a.positional for a in op.attrs) else "...*Value"
        out.append((local(port.name), kind))
    out += [(local(a.snake), GO_TYPES[a.type]) for a in op.attrs if a.positional]
    if op.count:
        out.append((local(op.count), "int"))
    if has_options(op):
        out.append(("opts", f"...{options_name(op)}"))
    return out


def joined(params):
    """Go's short form: a run of one type is written once."""
    parts = []
    for i, (name, kind) in enumerate(params):
        same = i + 1 < len(params) and params[i + 1][1] == kind and not kind.startswith("...")
        parts.append(name if same else f"{name} {kind}")
    return ", ".join(parts)


def results(op):
    required = [p for p in op.outputs if not p.optional]
    if op.outputs[0].variadic:
        return "[]*Value"
    if len(required) == 1:
        return "*Value"
    return "(" + ", ".join(local(p.name) for p in required) + " *Value)"


def signature(op):
    return f"func {op.go}({joined(go_params(op))}) {results(op)}"


def receiver(op):
    names = [name for name, _ in go_params(op)]
    return names[0] if "v" in names[1:] else "v"


def method_signature(op):
    return f"func ({receiver(op)} *Value) {op.go}({joined(go_params(op)[1:])}) {results(op)}"


def has_method(op):
    first = op.inputs[0]
    return not (first.variadic or first.optional or first.host) and op.go not in ACCESSORS


def comment(text):
    return [f"// {line}" for line in textwrap.wrap(text, 97, break_long_words=False, break_on_hyphens=False)]


def input_value(port):
    name = f"o.{camel_case(port.name)}" if port.in_options else local(port.name)
    if port.host == "list":
        return f"hostInts({name})" if port.optional else f"hostList({name})"
    return f"hostInts([]int{{{name}}})" if port.host == "one" else name


def attr_constant(op, attr):
    return "attr" + op.go + camel_case(attr.snake)


def attr_call(op, attr, value):
    return f"{attr.type}Attr({attr_constant(op, attr)}, {value})"


def option_statement(op, attr):
    """Adds an option to attrs when it is given."""
    field = f"o.{camel_case(attr.snake)}"
    if is_pointer(attr):
        given, value = f"{field} != nil", "*" + field
    elif attr.type == "bool":
        given, value = field, field
    elif attr.type == "string":
        given, value = f'{field} != ""', field
    elif attr.type in ("ints", "floats"):
        given, value = f"{field} != nil", field
    else:
        given, value = f"{field} != 0", field
    return [f"\tif {given} {{", f"\t\tattrs = append(attrs, {attr_call(op, attr, value)})", "\t}"]


def body(op):
    lines = []
    if has_options(op):
        lines.append("\to := lastOption(opts)")
    fixed = [attr_call(op, a, local(a.snake)) for a in op.attrs if a.positional and a.type not in ("ints", "floats")]
    lists = [a for a in op.attrs if a.positional and a.type in ("ints", "floats")]
    grows = lists or option_attrs(op) or op.count
    attrs = "nil"
    if grows:
        lines.append(f"\tattrs := []attr{{{', '.join(fixed)}}}")
        attrs = "attrs"
    elif fixed:
        attrs = f"[]attr{{{', '.join(fixed)}}}"
    for a in lists:
        lines += [f"\tif {local(a.snake)} != nil {{", f"\t\tattrs = append(attrs, {attr_call(op, a, local(a.snake))})", "\t}"]
    for a in option_attrs(op):
        lines += option_statement(op, a)
    values = [input_value(p) for p in op.inputs]
    inputs = values[0] if op.inputs[0].variadic else "[]*Value{" + ", ".join(values) + "}"
    required = [p for p in op.outputs if not p.optional]
    if op.count:
        sizes = local([p for p in op.inputs if p.host == "list"][0].name)
        count = [a for a in op.attrs if a.name == op.count][0]
        lines += [f"\tn := len({sizes})", f"\tif {sizes} == nil {{", f"\t\tn = {local(op.count)}",
                  f"\t\tattrs = append(attrs, {attr_call(op, count, 'n')})", "\t}",
                  f"\treturn apply(op{op.go}, {inputs}, {attrs}, n)"]
    elif len(required) == 1:
        lines.append(f"\treturn apply(op{op.go}, {inputs}, {attrs}, 1)[0]")
    else:
        lines.append(f"\tout := apply(op{op.go}, {inputs}, {attrs}, {len(required)})")
        lines.append("\treturn " + ", ".join(f"out[{i}]" for i in range(len(required))))
    return lines


def option_note(attr):
    parts = []
    if attr.choices:
        parts.append(", ".join(quoted(c) for c in attr.choices))
    if attr.default is None:
        parts.append("nil means absent" if attr.type in ("ints", "floats") or is_pointer(attr) else "zero means absent")
    elif attr.default or attr.type == "string":
        empty = {"string": "empty", "ints": "nil"}.get(attr.type, "nil" if is_pointer(attr) else "zero")
        value = quoted(attr.default) if attr.type == "string" else default_text(attr)
        if attr.type == "bool":
            value = "true"
        parts.append(f"{empty} means {value}")
    return "; ".join(parts)


def options_struct(op):
    lines = [f"// {options_name(op)} holds the options of [{op.go}]. The zero value is the default.",
             f"type {options_name(op)} struct {{"]
    fields = [(camel_case(p.name), "*Value", "may be nil") for p in option_inputs(op)]
    fields += [(camel_case(a.snake), ("*" if is_pointer(a) else "") + GO_TYPES[a.type], option_note(a))
               for a in option_attrs(op)]
    for name, kind, note in fields:
        if note:
            lines += ["\t" + line for line in comment(f"{name}: {note}.")]
        lines.append(f"\t{name} {kind}")
    return lines + ["}", ""]


def go_doc(op):
    """The text with the names that Go spells otherwise."""
    names = {p.name: camel_case(p.name) if p.in_options else local(p.name) for p in op.inputs}
    names |= {a.name: local(a.snake) if a.positional or a.name == op.count else camel_case(a.snake)
              for a in op.attrs if not a.hidden}
    text = op.doc
    for old, new in names.items():
        if "_" in old or old != old.lower():
            text = re.sub(rf"\b{old}\b", new, text)
    return text


def function(op):
    extra = ""
    if any(p.optional and not p.in_options and p.host not in ("one",) for p in op.inputs):
        extra += " Absent inputs are nil."
    if op.count:
        extra += f" {local(op.count)} is read only when {local(op.inputs[1].name)} is nil."
    if has_options(op):
        extra += " At most one options struct is meant; the last one counts."
    lines = comment(f"{op.go}: {go_doc(op)}{extra}")
    return lines + [signature(op) + " {", *body(op), "}", ""]


def method(op):
    args = [receiver(op)] + [name + ("..." if kind.startswith("...") else "") for name, kind in go_params(op)[1:]]
    return [f"// {op.go} is the function [{op.go}] with {receiver(op)} as its first input.",
            f"{method_signature(op)} {{", f"\treturn {op.go}({', '.join(args)})", "}", ""]


HELPERS = """\
// opID numbers an operator, as in nef/op_ids.h.
type opID int32

// The kinds of an attr: which of its fields holds the value. The numbers are NEF_ATTR_*.
const (
	attrInt uint8 = iota + 1
	attrFloat
	attrString
	attrInts
	attrFloats
)

func intAttr(slot, v int) attr { return attr{slot: slot, kind: attrInt, i: int64(v)} }

func floatAttr(slot int, v float64) attr { return attr{slot: slot, kind: attrFloat, f: v} }

func stringAttr(slot int, v string) attr { return attr{slot: slot, kind: attrString, s: v} }

func dtypeAttr(slot int, v DType) attr { return attr{slot: slot, kind: attrInt, i: int64(v)} }

func boolAttr(slot int, v bool) attr {
	a := attr{slot: slot, kind: attrInt}
	if v {
		a.i = 1
	}
	return a
}

func intsAttr(slot int, v []int) attr {
	a := attr{slot: slot, kind: attrInts, ints: make([]int64, len(v))}
	for i, x := range v {
		a.ints[i] = int64(x)
	}
	return a
}
"""
FLOATS_HELPER = """\
func floatsAttr(slot int, v []float64) attr { return attr{slot: slot, kind: attrFloats, floats: v} }
"""
MORE_HELPERS = """\
// hostList is a list that must be there: nil is the empty one.
func hostList(v []int) *Value {
	if v == nil {
		v = []int{}
	}
	return hostInts(v)
}

func lastOption[T any](opts []T) T {
	var o T
	if len(opts) > 0 {
		o = opts[len(opts)-1]
	}
	return o
}

// Ptr returns a pointer to a copy of v, for the option fields whose zero value means something.
func Ptr[T any](v T) *T { return &v }
"""


def package(ops):
    named = [op for op in ops if not op.internal]  # ops with blocks have hand-written functions
    ops = public(ops)
    lines = ["// SPDX-License-Identifier: Apache-2.0", "",
             f"// Code {NOTE.replace(', do not edit', '; DO NOT EDIT.')}", "", "package nef", "", HELPERS]
    if any(a.type == "floats" for op in ops for a in op.attrs):
        lines.append(FLOATS_HELPER)
    lines += [MORE_HELPERS, "const ("]
    lines += [f"\top{op.go} opID = {op.id}" for op in named]
    lines += [")", "", "// opNames are the names by op id, as nef_op_call takes them.", "var opNames = [...]string{"]
    lines += [f"\top{op.go}: {quoted(op.snake)}," for op in named]
    lines += ["}", "", "// attrNames are the names of attributes by op id and slot.", "var attrNames = [...][]string{"]
    lines += [f"\top{op.go}: {{{', '.join(quoted(a.name) for a in op.attrs)}}}," for op in ops if op.attrs]
    lines += ["}", "", "// inputNames are the names of inputs by op id, for messages; of a variadic input there is one.",
              "var inputNames = [...][]string{"]
    lines += [f"\top{op.go}: {{{', '.join(quoted(local(p.name)) for p in op.inputs)}}}," for op in named]
    lines += ["}", "", "// Attribute slots.", "const ("]
    lines += [f"\t{attr_constant(op, a)} = {a.slot}" for op in ops for a in op.attrs if not a.hidden]
    lines += [")", ""]
    for op in ops:
        if has_options(op):
            lines += options_struct(op)
        lines += function(op)
        if has_method(op):
            lines += method(op)
    return align("\n".join(lines).rstrip("\n") + "\n")


def align(text):
    """Puts columns where gofmt wants them: constants and struct fields in runs of plain lines."""
    out, run = [], []

    def flush():
        if run:
            rows = [r.strip().split(" ", 1) for r in run]
            width = max(len(name) for name, _ in rows)
            typed = [rest.split(" = ", 1) for _, rest in rows]
            column = max(len(t[0]) for t in typed)
            for (name, rest), parts in zip(rows, typed):
                if rest.startswith("= "):
                    out.append(f"\t{name.ljust(width)} {rest}")
                elif len(parts) == 2:
                    out.append(f"\t{name.ljust(width)} {parts[0].ljust(column)} = {parts[1]}")
                else:
                    out.append(f"\t{name.ljust(width)} {rest}")
        run.clear()

    inside = False
    for line in text.split("\n"):
        if line.endswith("const (") or line.startswith("var ") and line.endswith("{") or line.startswith("type ") and line.endswith("struct {"):
            inside = True
            out.append(line)
            continue
        if inside and line in (")", "}"):
            flush()
            inside = False
        if inside and line.startswith("\t") and not line.startswith("\t//") and " " in line and "iota" not in line:
            run.append(line)
            continue
        flush()
        out.append(line)
    return "\n".join(out)
