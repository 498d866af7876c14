#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes THIRD_PARTY_NOTICES.md from the licence files of what is linked in.

Needs the fetched sources in build/deps and, for hydra, a Go that has its modules.
"""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = """# Third-party notices

NEF itself is under the Apache License 2.0 (file LICENSE). What it links in is listed here with its
licence. Made by `packaging/notices.py` from the licence files of the pinned sources.
"""


def pins():
    rows = (ROOT / "packaging/deps.lock").read_text().splitlines()
    return {row.split()[0]: row.split()[1] for row in rows if row and not row.startswith("#")}


def quoted(text):
    return "```text\n" + "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n```\n"


def hydra_modules():
    """(path, version, folder) of every module in the hydra command, sorted."""
    if not (ROOT / "go/hydra/cmd/hydra").is_dir():
        return []
    form = "{{with .Module}}{{.Path}} {{.Version}} {{.Dir}}{{end}}"
    output = subprocess.run(["go", "list", "-deps", "-f", form, "./cmd/hydra"], check=True,
                            cwd=ROOT / "go/hydra", capture_output=True, text=True).stdout
    rows = {tuple(line.split(" ", 2)) for line in output.splitlines() if line.strip()}
    return sorted(row for row in rows if not row[0].startswith("github.com/Hexa08/NEF"))


def module_licence(folder):
    files = sorted(f for f in pathlib.Path(folder).iterdir()
                   if re.match(r"(licen[cs]e|copying|notice)", f.name, re.IGNORECASE) and f.is_file())
    if not files:
        raise SystemExit(f"{folder}: expected a licence file, found none")
    parts = []
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        # The Apache text itself is in LICENSE; notices and short licences are given in full.
        if "Apache License" in text and "TERMS AND CONDITIONS" in text:
            parts.append("Apache License 2.0, text in LICENSE.\n")
        else:
            parts.append(quoted(text))
    return "\n".join(parts)


def main():
    versions = pins()
    out = [HEADER, "## In libnef.a and libnef.so\n", f"### Highway (Debian source {versions['highway']})\n",
           "Apache License 2.0 or BSD 3-Clause at the user's choice; used under the latter.\n",
           quoted((ROOT / "build/deps/highway/LICENSE-BSD3").read_text()),
           f"### cJSON (Debian source {versions['cjson']})\n", "MIT.\n",
           quoted((ROOT / "build/deps/cjson/LICENSE").read_text())]
    modules = hydra_modules()
    if modules:
        out.append("## In the hydra command\n\nThe Go standard library is under its own BSD licence.\n")
    for path, version, folder in modules:
        out += [f"### {path} {version}\n", module_licence(folder)]
    (ROOT / "THIRD_PARTY_NOTICES.md").write_text("\n".join(out))


if __name__ == "__main__":
    main()
