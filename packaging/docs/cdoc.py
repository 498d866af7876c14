# SPDX-License-Identifier: Apache-2.0
"""The reference of a C header as Markdown: its comments and declarations, in its own order."""
import re

TOKEN = re.compile(
    r"/\* ==== (?P<section>.*?) =+ \*/"
    r"|/\* ---- (?P<part>.*?) -+ \*/"
    r"|/\*\*(?P<doc>(?!<).*?)\*/"
    r"|(?P<code>^(?:NEF_API|typedef|enum|static inline|#define NEF_[A-Z_]+ ).*?$)", re.M | re.S)


def clean(doc):
    return "\n".join(re.sub(r"^\s*\* ?", "", line) for line in doc.strip().splitlines()).strip()


def declaration(text, at):
    """From `at` to the end of the declaration that begins there."""
    if text.startswith("#define", at):
        return text[at:text.index("\n", at)]
    depth = 0
    for n in range(at, len(text)):
        depth += (text[n] in "({") - (text[n] in ")}")
        if depth == 0 and (text[n] == ";" or text[n] == "}" and text.startswith("static", at)):
            return text[at:n + 1]
    raise ValueError("a declaration does not end: " + text[at:at + 60])


def name_of(code):
    for pattern in (r"#define (\w+)", r"^\} (\w+);", r"typedef .*?\(\*(\w+)\)", r"(\w+)\s*\(", r"typedef .* (\w+);"):
        match = re.search(pattern, code, re.M)
        if match:
            return match[1]
    return ""


def prose(doc, known):
    """Comment text as Markdown, with links to what the header declares."""
    doc = re.sub(r"\\(file) .*\n?", "", doc).replace("\\brief ", "")
    out, rows = [], []
    for line in doc.split("\n"):
        tag = re.match(r"\\(param|return)(\[out\])?\s*(.*)", line)
        if tag and tag[1] == "param":
            word, _, rest = tag[3].partition(" ")
            rows.append([f"`{word}`" + (" (out)" if tag[2] else ""), rest.strip()])
        elif tag:
            rows.append(["returns", tag[3]])
        elif rows and line.startswith(" ") or rows and line and not line[0].isupper():
            rows[-1][1] += " " + line.strip()
        else:
            out.append(line)
    # A list needs an empty line before it.
    text = re.sub(r"(?m)^(?!\s*- )(.+)\n(?=\s*- )", r"\1\n\n", "\n".join(out).strip())
    if rows:
        cell = lambda words: " ".join(words.split()).replace("|", "\\|")
        text += "\n\n| | |\n|---|---|\n" + "\n".join(f"| {a} | {cell(b)} |" for a, b in rows)
    link = lambda match: f"[`{match[1]}`](#{match[1]})" if match[1] in known else f"`{match[1]}`"
    # Words that are code already stay as they are.
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else
                   re.sub(r"(?:::)?\b(nef_[a-z0-9_]+|NEF_[A-Z0-9_]+)\b(?:\(\))?", link, part) for part in parts)


def entries(text):
    """(kind, text) of sections, comments and declarations."""
    at = 0
    while match := TOKEN.search(text, at):
        at = match.end()
        kind = match.lastgroup
        if kind != "code":
            yield kind, match[kind]
            continue
        code = declaration(text, match.start())
        at = match.start() + len(code)
        yield kind, code


def page(name, text, extra=()):
    """Markdown of one header; `extra` are names of other headers that may be spoken of."""
    body = text[text.index("#ifndef"):]
    head = re.search(r"/\*\*(.*?)\*/", text[:text.index("#ifndef")], re.S)
    rows = list(entries(body))
    known = {name_of(code) for kind, code in rows if kind == "code"} | set(extra)
    out = [f"# {name}\n", prose(clean(head[1]), known) if head else ""]
    doc = None
    for kind, piece in rows:
        if kind in ("section", "part"):
            out.append(f"## {piece[0].upper()}{piece[1:]}")
            doc = None
        elif kind == "doc":
            doc = clean(piece)
        else:
            if piece.startswith("#define NEF_API") or piece.startswith("#define NEF_NODISCARD"):
                continue
            word = name_of(piece)
            if piece.startswith("#define") and not doc:
                # One block for neighbours, such as the parts of a version.
                anchor = f'<a id="{word}"></a>'
                if out[-1].startswith("```c\n#define"):
                    out[-1] = out[-1].replace("\n```", f"\n{piece}\n```")
                    out[-2] += anchor
                else:
                    out += [anchor, f"```c\n{piece}\n```"]
                continue
            title = word or "enumeration"
            out.append(f"### {title} {{ id=\"{word}\" }}" if word else "")
            shown = re.sub(r"\bNEF_(API|NODISCARD) ", "", piece)
            out.append(f"```c\n{shown}\n```")
            if doc:
                out.append(prose(doc, known))
            doc = None
    return "\n\n".join(part for part in out if part) + "\n"
