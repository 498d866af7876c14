# SPDX-License-Identifier: Apache-2.0
"""Reads and checks ops.toml. The keys are described at the top of that file."""

import dataclasses
import re
import tomllib

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
          "float16", "bfloat16", "float32", "float64",
          "float8_e4m3fn", "float8_e5m2"]  # position + 1 is the nef_dtype
FLOAT = DTYPES[9:13]
FLOAT8 = DTYPES[13:]  # stored, moved and converted, never computed with
SINT = ["int8", "int16", "int32", "int64"]
UINT = ["uint8", "uint16", "uint32", "uint64"]
GROUPS = {
    "float": FLOAT, "sint": SINT, "uint": UINT, "int": SINT + UINT, "signed": SINT + FLOAT,
    "number": SINT + UINT + FLOAT, "float8": FLOAT8,
    "plain": ["bool"] + SINT + UINT + FLOAT, "any": DTYPES, "index": ["int32", "int64"],
}
CLASSES = ["elementwise", "reduction", "contraction", "movement", "normalization", "attention",
           "effect", "collective", "control"]
ATTR_TYPES = ["int", "float", "bool", "string", "ints", "floats", "dtype"]
COSTS = ["none", "elements", "elements*4", "elements*8", "elements*16", "inputs", "inputs*8", "matmul",
         "gemm", "conv", "conv_transpose", "pool", "einsum", "attention", "rnn"]
KEYS = {"id": int, "name": str, "snake": str, "aliases": list, "go": str, "class": str, "inputs": list,
        "outputs": list, "types": dict, "attrs": list, "choices": dict, "count": str, "infer": str,
        "flops": str, "commutative": bool, "internal": bool, "sized_by_data": bool, "blocks": int, "doc": str,
        "source": str}
REQUIRED = ["id", "name", "class", "inputs", "outputs", "infer", "flops", "doc", "source"]
NO_TYPE_VAR = 255


class TableError(Exception):
    """A mistake in ops.toml."""


@dataclasses.dataclass
class Port:
    """An input or an output."""
    name: str
    type: str
    dtypes: list
    type_var: int
    optional: bool = False
    variadic: bool = False
    host: str = ""  # "" no, "list", "one" or "tensor"
    in_options: bool = False

    @property
    def mask(self):
        return sum(1 << (DTYPES.index(d) + 1) for d in self.dtypes)


@dataclasses.dataclass
class Attr:
    name: str
    snake: str
    type: str
    slot: int
    required: bool
    default: object  # None when there is none
    positional: bool
    hidden: bool
    zero_is_default: bool
    choices: list


@dataclasses.dataclass
class Op:
    id: int
    name: str
    snake: str
    go: str
    aliases: list
    cls: str
    inputs: list
    outputs: list
    types: dict
    attrs: list
    count: str
    infer: str
    flops: str
    commutative: bool
    internal: bool
    sized_by_data: bool
    blocks: int
    doc: str
    source: str

    @property
    def upper(self):
        return self.snake.upper()

    @property
    def names(self):
        return {self.name, self.snake, *self.aliases}


def snake_case(name):
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def camel_case(snake):
    return "".join(part[:1].upper() + part[1:] for part in snake.split("_"))


def dtypes_of(group, where):
    found = []
    for part in group.split("+"):
        if part in GROUPS:
            found += GROUPS[part]
        elif part in DTYPES:
            found.append(part)
        else:
            raise TableError(f"{where}: unknown dtype or group {part!r}")
    if len(set(found)) != len(found):
        raise TableError(f"{where}: {group!r} names a dtype twice")
    return sorted(found, key=DTYPES.index)


def parse_port(text, types, where, is_input):
    match = re.fullmatch(r"([a-z][a-z0-9_]*):([A-Za-z0-9+]+)((?:![1t]?|[?*^])*)", text)
    if not match:
        raise TableError(f"{where}: cannot read {text!r}, expected name:TYPE with marks ? * ! !1 !t ^")
    name, kind, marks = match.groups()
    seen = re.findall(r"![1t]?|[?*^]", marks)
    if len({m[0] for m in seen}) != len(seen):
        raise TableError(f"{where}: a mark of {text!r} is given twice")
    group = types.get(kind, kind)
    port = Port(name, kind, dtypes_of(group, f"{where}: {text!r}"),
                list(types).index(kind) if kind in types else NO_TYPE_VAR)
    for mark in seen:
        if mark == "?":
            port.optional = True
        elif mark == "*":
            port.variadic = True
        elif not is_input:
            raise TableError(f"{where}: mark {mark!r} is for inputs only, in {text!r}")
        elif mark == "^":
            port.in_options = True
        else:
            port.host = {"!": "list", "!1": "one", "!t": "tensor"}[mark]
    if port.in_options and not port.optional:
        raise TableError(f"{where}: {text!r}: an input in the options must be optional")
    if port.in_options and port.host in ("list", "one"):
        raise TableError(f"{where}: {text!r}: a host list cannot be in the options")
    return port


def parse_default(text, kind, where):
    if text is None:
        return None
    try:
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
        if kind == "bool":
            return {"true": True, "false": False}[text]
        if kind == "dtype":
            return DTYPES.index(text) + 1
        if kind == "string":
            return text
    except (ValueError, KeyError):
        pass
    raise TableError(f"{where}: default {text!r} does not fit type {kind}")


def parse_attr(text, slot, choices, where):
    match = re.fullmatch(r"([a-zA-Z][A-Za-z0-9_]*):([a-z]+)(?:=([^!@~]*?))?([!@~-]*)", text)
    if not match:
        raise TableError(f"{where}: cannot read attribute {text!r}, expected name:type=default with marks ! @ - ~")
    name, kind, default, marks = match.groups()
    where = f"{where}: attribute {name!r}"
    if kind not in ATTR_TYPES:
        raise TableError(f"{where}: unknown type {kind!r}, expected one of {', '.join(ATTR_TYPES)}")
    attr = Attr(name, snake_case(name), kind, slot, "!" in marks, parse_default(default, kind, where),
                "@" in marks, "-" in marks, "~" in marks, choices.get(name, []))
    if attr.required and (attr.default is not None or attr.hidden):
        raise TableError(f"{where}: a required attribute has no default and is not hidden")
    if attr.positional and attr.hidden:
        raise TableError(f"{where}: is both a parameter and hidden")
    if attr.required and not attr.positional:
        raise TableError(f"{where}: a required attribute must be a parameter (@)")
    if attr.positional and not attr.required and attr.default is None and kind != "ints":
        raise TableError(f"{where}: a parameter needs a default or !")
    if attr.choices and kind != "string":
        raise TableError(f"{where}: choices are for strings")
    if attr.choices and attr.default is not None and attr.default not in attr.choices:
        raise TableError(f"{where}: the default {attr.default!r} is not among its choices")
    return attr


def check_unique(items, what, where):
    seen = set()
    for item in items:
        if item in seen:
            raise TableError(f"{where}: {what} {item!r} is given twice")
        seen.add(item)


def check_keys(row, where):
    for key, value in row.items():
        if key not in KEYS:
            raise TableError(f"{where}: unknown key {key!r}")
        if type(value) is not KEYS[key]:
            raise TableError(f"{where}: {key} must be a {KEYS[key].__name__}, got {value!r}")
    for key in REQUIRED:
        if key not in row:
            raise TableError(f"{where}: {key} is missing")


def check_ports(op, where):
    check_unique([p.name for p in op.inputs] + [a.snake for a in op.attrs], "input or attribute name", where)
    check_unique([p.name for p in op.outputs], "output name", where)
    if not op.outputs:
        raise TableError(f"{where}: an op has at least one output")
    optional_seen = False
    for port in op.inputs:
        if port.variadic and (port is not op.inputs[-1] or port.optional and not op.blocks or port.host):
            raise TableError(f"{where}: the variadic input {port.name!r} must be last, required and no host input")
        if optional_seen and not port.optional:
            raise TableError(f"{where}: required input {port.name!r} follows an optional one")
        optional_seen = port.optional
    if op.outputs[0].optional or any(p.variadic for p in op.outputs) and len(op.outputs) > 1:
        raise TableError(f"{where}: the first output is required and a variadic output stands alone")
    used = {p.type for p in op.inputs + op.outputs}
    for name, group in op.types.items():
        if not re.fullmatch(r"[A-Z]", name):
            raise TableError(f"{where}: type name {name!r} must be one capital letter")
        if name not in used:
            raise TableError(f"{where}: type {name!r} is never used")
        dtypes_of(group, where)


def parse_op(row):
    where = f"op {row.get('name', '?')!r} (id {row.get('id', '?')})"
    check_keys(row, where)
    if row["id"] < 1:
        raise TableError(f"{where}: ids start at 1")
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", row["name"]):
        raise TableError(f"{where}: the name must be CamelCase")
    if row["class"] not in CLASSES:
        raise TableError(f"{where}: unknown class {row['class']!r}, expected one of {', '.join(CLASSES)}")
    if row["flops"] not in COSTS:
        raise TableError(f"{where}: unknown flops {row['flops']!r}, expected one of {', '.join(COSTS)}")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", row["infer"]):
        raise TableError(f"{where}: infer must be a snake_case name")
    types = row.get("types", {})
    choices = row.get("choices", {})
    snake = row.get("snake", snake_case(row["name"]))
    if not re.fullmatch(r"[a-z][a-z0-9_]*", snake):
        raise TableError(f"{where}: {snake!r} is no snake_case name")
    for alias in row.get("aliases", []):
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", alias):
            raise TableError(f"{where}: {alias!r} cannot be an alias")
    op = Op(
        id=row["id"], name=row["name"], snake=snake, go=row.get("go", row["name"]),
        aliases=row.get("aliases", []), cls=row["class"],
        inputs=[parse_port(t, types, where, True) for t in row["inputs"]],
        outputs=[parse_port(t, types, where, False) for t in row["outputs"]], types=types,
        attrs=[parse_attr(t, i, choices, where) for i, t in enumerate(row.get("attrs", []))],
        count=row.get("count", ""), infer=row["infer"], flops=row["flops"],
        commutative=row.get("commutative", False), internal=row.get("internal", False),
        sized_by_data=row.get("sized_by_data", False), blocks=row.get("blocks", 0),
        doc=row["doc"], source=row["source"])
    check_ports(op, where)
    for name in choices:
        if name not in [a.name for a in op.attrs]:
            raise TableError(f"{where}: choices for unknown attribute {name!r}")
    if not op.blocks and bool(op.count) != op.outputs[0].variadic or op.count and op.count not in [a.name for a in op.attrs]:
        raise TableError(f"{where}: count names an attribute, for a variadic output only")
    return op


def load(path):
    """All ops by id, checked."""
    with open(path, "rb") as file:
        try:
            document = tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise TableError(str(error)) from error
    if set(document) != {"op"}:
        raise TableError("expected only [[op]] entries")
    ops = [parse_op(row) for row in document["op"]]
    check_unique([op.id for op in ops], "id", "table")
    check_unique([op.go for op in ops], "Go name", "table")
    check_unique([name for op in ops for name in sorted(op.names)], "op name or alias", "table")
    check_unique(["OP_" + op.upper for op in ops] + [f"{op.upper}_{a.snake.upper()}" for op in ops for a in op.attrs],
                 "C constant", "table")
    return sorted(ops, key=lambda op: op.id)
