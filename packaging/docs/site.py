#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the documentation as static pages: site.py FOLDER

Pages are README.md, docs/*.md, the reference of the C headers and of the Go packages (needs go),
and the measured figures. Links between pages become links of the site; one that leads nowhere is
an error. Needs the Python packages markdown and pygments.
"""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import markdown

import cdoc
import plots

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORGE = "https://github.com/Hexa08/NEF/blob/main/"
GO_PACKAGES = {"go-nef": (".", "github.com/Hexa08/NEF"),
               "go-registry": ("go/hydra/registry", "github.com/Hexa08/NEF/go/hydra/registry"),
               "go-tokenize": ("go/hydra/tokenize", "github.com/Hexa08/NEF/go/hydra/tokenize"),
               "go-bert": ("go/hydra/bert", "github.com/Hexa08/NEF/go/hydra/bert")}
HEADERS = {"c-nef": "nef.h", "c-ops": "ops.h", "c-types": "types.h", "c-backend": "backend.h"}
MENU = [
    ("Start", ["index", "pages"]),
    ("Guides", ["guide-go", "guide-c", "guide-cli", "onnx"]),
    ("Reference", ["c-nef", "c-ops", "c-types", *GO_PACKAGES, "ops", "ops-onnx", "hydra", "nef-format", "environment"]),
    ("How it behaves", ["numerics", "backends", "gpu", "figures", "abi"]),
    ("Working on NEF", ["architecture", "extending", "c-backend", "releasing", "status"]),
]
SHORT = {"index": "NEF", "c-nef": "C: nef.h", "c-ops": "C: ops.h", "c-types": "C: types.h",
         "c-backend": "C: backend.h", "go-nef": "Go: nef", "go-registry": "Go: registry",
         "go-tokenize": "Go: tokenize", "go-bert": "Go: bert", "ops": "Operators", "hydra": "hydra",
         "numerics": "Numerics", "nef-format": "The .nef format", "environment": "Environment"}


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def sources():
    """Markdown of every page by its name."""
    pages = {"index": read("README.md"), "pages": read("docs/README.md")}
    for path in sorted((ROOT / "docs").glob("*.md")):
        if path.stem != "README":
            pages[path.stem] = path.read_text(encoding="utf-8")
    texts = {page: read(f"capi/include/nef/{name}") for page, name in HEADERS.items()}
    for page, text in texts.items():
        pages[page] = cdoc.page(f"nef/{HEADERS[page]}", text)
    for page, (folder, path) in GO_PACKAGES.items():
        pages[page] = subprocess.run(["go", "run", "packaging/docs/godoc.go", folder, path], check=True,
                                     cwd=ROOT, capture_output=True, text=True).stdout
    if "figures" in pages:
        pages["figures"] = pages["figures"].replace("<!-- plots -->", plots.all_plots(ROOT / "docs/figures.jsonl"))
    return pages


def title_of(name, text):
    return SHORT.get(name) or re.search(r"^# (.*)$", text, re.M)[1].replace("`", "")


class Site:
    def __init__(self, folder):
        self.folder, self.pages, self.faults = pathlib.Path(folder), sources(), []
        listed = [name for _, names in MENU for name in names]
        self.listed = [name for name in listed if name in self.pages]
        for name in self.pages:
            if name not in listed:
                self.faults.append(f"page {name} stands in no menu")

    def target(self, page, link):
        """Where a link of a page leads on the site."""
        if re.match(r"[a-z]+:|#", link):
            return link
        base = "." if page == "index" else "docs"
        path, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(base, path))
        suffix = "#" + anchor if anchor else ""
        if path in ("README.md", "docs/README.md"):
            return ("index" if path == "README.md" else "pages") + ".html" + suffix
        stem = pathlib.Path(path).stem
        if path == f"docs/{stem}.md" and stem in self.pages:
            return f"{stem}.html{suffix}"
        if path == "docs/nef.schema.json":
            return "nef.schema.json"
        if not (ROOT / path).exists():
            self.faults.append(f"{page}: {link} leads nowhere")
        return FORGE + path + suffix

    def menu(self, current):
        out = []
        for group, names in MENU:
            items = "".join(
                f'<li><a href="{name}.html"{" aria-current=page" if name == current else ""}>'
                f"{html.escape(title_of(name, self.pages[name]))}</a></li>"
                for name in names if name in self.pages)
            out.append(f"<h2>{group}</h2><ul>{items}</ul>")
        return "".join(out)

    def body(self, page):
        text = re.sub(r"<!--.*?-->", "", self.pages[page], flags=re.S)
        converter = markdown.Markdown(extensions=["tables", "fenced_code", "codehilite", "toc", "attr_list", "md_in_html"],
                                      extension_configs={"codehilite": {"guess_lang": False},
                                                         "toc": {"slugify": slug, "permalink": False}})
        body = converter.convert(text)
        body = re.sub(r'href="([^"]*)"', lambda m: f'href="{html.escape(self.target(page, html.unescape(m[1])))}"', body)
        body = body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
        return body, converter.toc_tokens

    def contents(self, tokens):
        top = tokens[0]["children"] if len(tokens) == 1 else tokens
        if len(top) < 3 or len(top) > 60:
            return ""
        items = "".join(f'<li><a href="#{t["id"]}">{t["name"]}</a></li>' for t in top)
        state = " open" if len(top) <= 20 else ""
        return f'<nav class="toc"><details{state}><summary>On this page</summary><ul>{items}</ul></details></nav>'

    def write(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        template = (ROOT / "packaging/docs/page.html").read_text(encoding="utf-8")
        anchors, links = {}, []
        for page in self.listed:
            body, tokens = self.body(page)
            anchors[page] = set(re.findall(r'\bid="([^"]+)"', body))
            links += [(page, link) for link in re.findall(r'href="([^"]*)"', body)]
            parts = {"title": html.escape(title_of(page, self.pages[page])), "menu": self.menu(page),
                     "body": body.replace("</h1>", "</h1>" + self.contents(tokens), 1)}
            text = re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m[1]], template)
            (self.folder / f"{page}.html").write_text(text, encoding="utf-8")
        for page, link in links:
            file, _, anchor = html.unescape(link).partition("#")
            at = file.removesuffix(".html") or page
            if at in anchors and anchor and anchor not in anchors[at]:
                self.faults.append(f"{page}: {link}: there is no such heading")
        for name in ("site.css",):
            shutil.copy(ROOT / "packaging/docs" / name, self.folder / name)
        shutil.copy(ROOT / "docs/nef.schema.json", self.folder)
        (self.folder / "pages.json").write_text(json.dumps(self.listed))
        return len(links)


def slug(text, separator):
    """As the forge makes anchors of headings."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)


def main(folder):
    site = Site(folder)
    links = site.write()
    for fault in site.faults:
        print("site: " + fault, file=sys.stderr)
    print(f"{len(site.listed)} pages, {links} links, {len(site.faults)} faults, in {folder}")
    return 1 if site.faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
