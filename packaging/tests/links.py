#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks whether links between pages lead somewhere: links.py [FILE...], else all pages."""
import glob
import os
import re
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FENCED = re.compile(r"^```.*?^```", re.M | re.S)
NOT_PROSE = re.compile(r"^```.*?^```|<!--.*?-->|`[^`\n]*`", re.M | re.S)


def read(file):
    with open(file, encoding="utf-8") as page:
        return page.read()


def anchors(text):
    """What the headings of a page are called in links."""
    titles = re.findall(r"^#+ (.*)$", FENCED.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken(file):
    """Links of a page that lead nowhere; those to the web are not followed."""
    for target in re.findall(r"\]\(([^)\s]+)\)", NOT_PROSE.sub("", read(file))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(file), path)) if path else file
        if not os.path.exists(path):
            yield f"{target}: there is no such file"
        elif anchor and path.endswith(".md") and anchor not in anchors(read(path)):
            yield f"{target}: there is no such heading"


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "page.md")
        for text, count in [("# Two *words*\n[a](#two-words) [b](page.md) `[c](d)`\n", 0),
                            ("# One\n[a](#three) [b](gone.md) [c](page.md#two)\n", 3)]:
            with open(page, "w", encoding="utf-8") as file:
                file.write(text)
            assert len(list(broken(page))) == count, text


def main(files):
    self_test()
    files = files or sorted(glob.glob(f"{ROOT}/*.md") + glob.glob(f"{ROOT}/docs/*.md"))
    bad = [f"{os.path.relpath(file, ROOT)}: {complaint}" for file in files
           for complaint in broken(os.path.abspath(file))]
    print("\n".join(bad + [f"{len(files)} pages, {len(bad)} broken links"]))
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
