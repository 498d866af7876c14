#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the code of README.md and docs/*.md (but ops.md, which holds signatures).

snippets.py c  CC INCLUDE_DIR LIBRARY [FILE...]   blocks marked ```c
snippets.py go GO [FILE...]                       blocks marked ```go
snippets.py cli HYDRA [FILE...]                   blocks marked ```console
snippets.py self                                  tests this script

A block that holds a main function (C) or a package clause (Go) is a program of its own; any other
is a piece of code that is put into one. What a program prints is compared with the lines behind
"// Output:" at the end of its blocks. In a console block every line that begins with "$ " is a
command ("> " continues it); the lines after it are what it prints, where … stands for any text and
a line of its own for any lines. A command must succeed unless `echo $?` follows and tells.

A comment in front of a block says what a reader need not see:

<!-- snippet: setup        code around the piece, which stands where the line "..." is (else last)
...
-->
<!-- snippet: continue -->        the block goes on where the block before it ended
<!-- snippet: prelude -->         declarations for all later pieces of the file
<!-- snippet: file NAME -->       a file for all later blocks of the file
<!-- snippet: needs PATH -->      runs only where PATH exists; it is there under its last name
<!-- snippet: skip REASON -->     is not run
"""
import dataclasses
import difflib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
SECONDS = 60  # for one program or command


class Bad(Exception):
    """A mistake in a page."""


@dataclasses.dataclass
class Block:
    file: str
    line: int  # of its first line of code
    language: str
    code: str
    marks: dict

    @property
    def where(self):
        return f"{os.path.relpath(self.file, ROOT)}:{self.line}"


MARKS = {"setup", "continue", "prelude", "file", "needs", "skip"}


def read_blocks(file):
    with open(file, encoding="utf-8") as text:
        lines = text.read().split("\n")
    blocks, marks, at = [], {}, 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("<!-- snippet:"):
            begin = at
            while at < len(lines) and not lines[at].endswith("-->"):
                at += 1
            if at == len(lines):
                raise Bad(f"{file}:{begin + 1}: the comment does not end")
            body = "\n".join(lines[begin:at + 1])[len("<!-- snippet:"):-len("-->")]
            name, _, rest = body.strip().partition("\n" if "\n" in body.strip() else " ")
            if name.strip() not in MARKS:
                raise Bad(f"{file}:{begin + 1}: '{name}' is none of {', '.join(sorted(MARKS))}")
            marks[name.strip()] = rest
        elif line.startswith("```") and line != "```":
            begin = at + 1
            at = lines.index("```", begin)
            code = "\n".join(lines[begin:at]) + "\n"
            blocks.append(Block(file, begin + 1, line[3:].strip(), code, marks))
            marks = {}
        elif line.strip() and marks:
            raise Bad(f"{file}:{at + 1}: a snippet comment stands right before its block")
        at += 1
    return blocks


def split_output(code):
    """The code and what it prints, None where it does not say."""
    match = re.search(r"^[ \t]*// Output:(.*)\n((?:[ \t]*//.*\n)*)\s*\Z", code, re.M)
    if not match:
        return code, None
    lines = [re.sub(r"^[ \t]*//[ ]?", "", line) for line in match[2].splitlines()]
    return code[:match.start()], "\n".join([match[1].strip()] + lines).strip("\n") + "\n"


@dataclasses.dataclass
class Program:
    """One or more blocks that are compiled together."""
    blocks: list
    prelude: list
    code: str = ""
    output: str = None

    @property
    def where(self):
        return self.blocks[0].where


def programs(blocks, language, line_mark):
    """Groups blocks into programs; files and skipped blocks are sorted out before."""
    result, prelude = [], []
    for block in blocks:
        if block.language != language:
            continue
        if "prelude" in block.marks:
            prelude.append(block)
            continue
        code, output = split_output(block.code)
        before, after = "", ""
        if "setup" in block.marks:
            before, _, after = ("\n" + block.marks["setup"] + "\n").partition("\n...\n")
        piece = f"{before}\n{line_mark(block)}{code}{after}\n"
        if "continue" in block.marks:
            if not result or result[-1].blocks[0].file != block.file:
                raise Bad(f"{block.where}: nothing to continue")
            result[-1].blocks.append(block)
        else:
            result.append(Program([block], [p for p in prelude if p.file == block.file]))
        program = result[-1]
        program.code += piece
        if output is not None:
            program.output = (program.output or "") + output
    return result


def trimmed(text):
    return [line.rstrip() for line in text.strip("\n").split("\n")]


def differences(program, printed):
    if program.output is None:
        return ""
    want, got = trimmed(program.output), trimmed(printed)
    return "\n".join(difflib.unified_diff(want, got, "the page", "printed", lineterm="", n=1))


class Run:
    """Runs programs in a folder for each page and counts."""

    def __init__(self, folder):
        self.folder = folder
        self.counts = dict(passed=0, failed=0, skipped=0)
        self.env = dict(os.environ, NEF_CACHE_DIR=os.path.join(folder, "cache"),
                        NEF_NUM_THREADS="2")
        self.env.pop("NEF_TRACE_SITES", None)

    def folder_of(self, file):
        path = os.path.join(self.folder, "in-" + os.path.basename(file))
        os.makedirs(path, exist_ok=True)
        return path

    def prepare(self, blocks):
        """Writes files; returns the blocks that are to be run."""
        wanted = []
        for block in blocks:
            need = block.marks.get("needs")
            if "file" in block.marks:
                with open(os.path.join(self.folder_of(block.file), block.marks["file"]), "w",
                          encoding="utf-8") as file:
                    file.write(block.code)
            elif "skip" in block.marks:
                self.skip(block.where, block.marks["skip"] or "no reason given")
            elif need and not os.path.exists(os.path.join(ROOT, need)):
                self.skip(block.where, f"there is no {need}")
            else:
                wanted.append(block)
                link = need and os.path.join(self.folder_of(block.file), os.path.basename(need))
                if link and not os.path.exists(link):
                    os.symlink(os.path.join(ROOT, need), link)
        return wanted

    def skip(self, where, why):
        self.counts["skipped"] += 1
        print(f"skipped {where}: {why}")

    def judge(self, where, complaint):
        self.counts["failed" if complaint else "passed"] += 1
        if complaint:
            print(f"FAILED {where}\n{complaint.rstrip()}\n")

    def execute(self, program, command):
        try:
            done = subprocess.run(command, cwd=self.folder_of(program.blocks[0].file), env=self.env,
                                  capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"still running after {SECONDS} s"
        if done.returncode or done.stderr:
            return f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
        return differences(program, done.stdout)

    def finish(self):
        print(", ".join(f"{n} {what}" for what, n in self.counts.items()))
        if not self.counts["passed"]:
            print("nothing was run")
        return 1 if self.counts["failed"] or not self.counts["passed"] else 0


# ---- C

C_HEADERS = ["nef/nef.h", "inttypes.h", "math.h", "stdio.h", "stdlib.h", "string.h"]
C_LEAKS = """
  nef_counters left = {.struct_size = sizeof left};
  nef_counters_read(&left);
  if (left.live_tensors + left.live_graphs + left.live_programs + left.live_runs) {
    fprintf(stderr, "not released: %d tensors, %d graphs, %d programs, %d runs\\n",
            (int)left.live_tensors, (int)left.live_graphs, (int)left.live_programs,
            (int)left.live_runs);
    return 1;
  }
  return 0;
}
"""


def c_line(block):
    return f'#line {block.line} "{os.path.relpath(block.file, ROOT)}"\n'


def c_source(program):
    if re.search(r"^int main\(", program.code, re.M):
        return program.code
    # Includes inside the piece are for the reader; here they stand first, where they work.
    body = re.sub(r"^#include .*$", "", program.code, flags=re.M)
    head = "".join(f"#include <{header}>\n" for header in C_HEADERS)
    prelude = "".join(c_line(block) + block.code for block in program.prelude)
    return f"{head}{prelude}\nint main(void) {{\n{body}\n{C_LEAKS}"


def test_c(run, blocks, cc, include, library):
    folder = os.path.dirname(os.path.abspath(library))
    for number, program in enumerate(programs(run.prepare(blocks), "c", c_line)):
        source = os.path.join(run.folder, f"{number}.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(c_source(program))
        binary = source[:-2]
        built = subprocess.run(
            [cc, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-function",
             "-I", include, source, library, "-lm", f"-Wl,-rpath,{folder}", "-o", binary]
            + (["-lstdc++", "-lpthread", "-ldl"] if library.endswith(".a") else []),
            capture_output=True, text=True, check=False)
        run.judge(program.where, built.stderr if built.returncode
                  else run.execute(program, [binary]))


# ---- Go

GO_PACKAGES = {name.rsplit("/", 1)[-1]: name for name in [
    "bytes", "context", "embed", "errors", "fmt", "log", "math", "net/http", "os", "path/filepath",
    "slices", "strings", "sync", "time"]} | {"nef": "github.com/Hexa08/NEF"}


def go_line(block):
    return f"//line {os.path.relpath(block.file, ROOT)}:{block.line}\n"


def go_source(program, name):
    code = program.code
    if re.search(r"^package ", code, re.M):
        code = re.sub(r"^package main$", f"package {name}", code, flags=re.M)
        return re.sub(r"^func main\(\)", "func Main()", code, flags=re.M)
    prelude = "".join(go_line(block) + block.code for block in program.prelude)
    used = [path for word, path in GO_PACKAGES.items()
            if re.search(rf"\b{word}\.[A-Z]", code + prelude) or f"//go:{word}" in code]
    imports = "".join(f'import "{path}"\n' for path in sorted(used)).replace(
        f'import "{GO_PACKAGES["nef"]}"', f'import nef "{GO_PACKAGES["nef"]}"')
    if not re.search(r"^func main\(\)", code, re.M):
        code = f"func main() {{\n{code}\n}}\n"
    code = re.sub(r"^func main\(\)", "func Main()", code, flags=re.M)
    return f"package {name}\n{imports}\n{prelude}\n{code}"


def go_driver(count):
    imports = "".join(f'\t"guide/s{n}"\n' for n in range(count))
    mains = ", ".join(f'"s{n}": s{n}.Main' for n in range(count))
    return (f'package main\nimport (\n\t"os"\n{imports})\n'
            f"func main() {{ map[string]func(){{{mains}}}[os.Args[1]]() }}\n")


def test_go(run, blocks, go):
    """One module with a package for each program, so that the library is linked once."""
    todo = programs(run.prepare(blocks), "go", go_line)
    module = os.path.join(run.folder, "module")
    files = {"go.mod": "module guide\ngo 1.24.0\nrequire github.com/Hexa08/NEF v0.0.0\n"
             f"replace github.com/Hexa08/NEF => {ROOT}\n", "main.go": go_driver(len(todo))}
    for number, program in enumerate(todo):
        files[f"s{number}/main.go"] = go_source(program, f"s{number}")
        # For go:embed: what the page's files are at run time is there at build time too.
        page = run.folder_of(program.blocks[0].file)
        for name in os.listdir(page):
            if "//go:embed " + name in program.code:
                with open(os.path.join(page, name), encoding="utf-8") as file:
                    files[f"s{number}/{name}"] = file.read()
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(module, name)), exist_ok=True)
        with open(os.path.join(module, name), "w", encoding="utf-8") as file:
            file.write(text)
    built = subprocess.run([go, "build", "-o", "driver", "."], cwd=module, capture_output=True,
                           text=True, env=dict(run.env, GOFLAGS="-mod=mod", GOWORK="off"),
                           check=False)
    if built.returncode:
        run.judge("go build", built.stdout + built.stderr)
        return
    for number, program in enumerate(todo):
        run.judge(program.where, run.execute(program, [os.path.join(module, "driver"),
                                                       f"s{number}"]))


# ---- the command line

MARK = "==status=="


def transcript(code):
    """A list of (command, lines that it prints)."""
    steps = []
    for line in code.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            steps.append([line[2:], []])
        elif line.startswith("> ") and steps and not steps[-1][1]:
            steps[-1][0] += "\n" + line[2:]
        elif steps:
            steps[-1][1].append(line)
        else:
            raise Bad("a console block begins with a command")
    return steps


def matches(want, got):
    """Whether lines fit lines in which … stands for anything."""
    if not want:
        return not got
    if want[0].strip() == "…":
        return any(matches(want[1:], got[n:]) for n in range(len(got) + 1))
    if not got:
        return False
    pattern = ".*".join(map(re.escape, want[0].rstrip().split("…")))
    return re.fullmatch(pattern, got[0].rstrip()) is not None and matches(want[1:], got[1:])


def console(run, block, hydra):
    """Runs a block in one shell; returns what is wrong."""
    steps = transcript(block.code)
    script = "".join(f"(exit $status)\n{{\n{command}\n}} 2>&1\nstatus=$?\necho; echo {MARK} $status\n"
                     for command, _ in steps)
    env = dict(run.env, PATH=os.path.dirname(hydra) + os.pathsep + os.environ["PATH"])
    try:
        done = subprocess.run(["bash", "-c", "status=0\n" + script], env=env, check=False,
                              cwd=run.folder_of(block.file), capture_output=True, text=True,
                              timeout=SECONDS, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"still running after {SECONDS} s"
    parts = re.split(rf"^{MARK} (\d+)\n", done.stdout, flags=re.M)
    complaint = "" if len(parts) == 2 * len(steps) + 1 else "the shell ended early\n" + done.stderr
    for n, ((command, want), text, status) in enumerate(zip(steps, parts[::2], parts[1::2])):
        got = trimmed(text) if text.strip("\n") else []
        told = n + 1 < len(steps) and steps[n + 1][0] == "echo $?"
        if not matches([line for line in want if line], [line for line in got if line]):
            complaint += f"$ {command}\n" + "\n".join(
                difflib.unified_diff(want, got, "the page", "printed", lineterm="", n=1)) + "\n"
        if status != "0" and not told:
            complaint += f"$ {command}\nexit status {status}\n"
    return complaint


def test_cli(run, blocks, hydra):
    """Also every command of hydra has to be in the guide."""
    hydra = os.path.abspath(hydra)
    for block in run.prepare(blocks):
        if block.language == "console":
            run.judge(block.where, console(run, block, hydra))
    help_text = subprocess.run([hydra, "--help"], capture_output=True, text=True,
                               check=True).stdout
    listed = re.search(r"Available Commands:\n((?:  .*\n)+)", help_text)[1]
    shown = "".join(block.code for block in blocks if block.language == "console")
    missing = [name for name in re.findall(r"^  (\S+)", listed, re.M)
               if name not in ("help", "completion") and f"hydra {name}" not in shown]
    run.judge("all commands", missing and f"no page shows: {', '.join(missing)}")


# ---- this script

def self_test():
    assert split_output("f()\n// Output: 1\n// 2\n") == ("f()\n", "1\n2\n")
    assert split_output("f()\n// Output:\n//  1\n") == ("f()\n", " 1\n")
    assert split_output("f() // Output\n") == ("f() // Output\n", None)
    assert transcript("$ a\n> b\nc\n$ d\n") == [["a\nb", ["c"]], ["d", []]]
    assert matches(["a … c", "…", "z"], ["a b c", "x", "y", "z"]) and matches(["…"], [])
    assert not matches(["a … c"], ["a b d"]) and not matches(["a"], []) and not matches([], ["a"])
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "page.md")
        with open(page, "w", encoding="utf-8") as file:
            file.write("<!-- snippet: setup\na\n...\nc\n-->\n```c\nb\n```\ntext\n"
                       "<!-- snippet: continue -->\n```c\nd\n// Output: e\n```\n"
                       "<!-- snippet: prelude -->\n```c\np\n```\n```go\ng\n```\n```c\nf\n```\n")
        first, second = programs(read_blocks(page), "c", lambda block: f"#{block.line}\n")
        assert first.code.split() == ["a", "#7", "b", "c", "#12", "d"] and first.output == "e\n"
        assert second.code.split() == ["#23", "f"] and second.prelude[0].code == "p\n"
        assert differences(first, "e\n\n") == "" and "+x" in differences(first, "x")
        run = Run(folder)
        for text, good in [("$ echo a b\na …\n", True), ("$ false\n$ echo $?\n1\n", True),
                           ("$ false\n", False), ("$ echo a\nb\n", False),
                           ("$ false\n$ echo $?\n2\n", False), ("$ exit 0\n$ echo b\nb\n", False)]:
            wrong = console(run, Block(page, 1, "console", text, {}), "/bin/true")
            assert (wrong == "") == good, (text, wrong)
        with open(page, "w", encoding="utf-8") as file:
            file.write("<!-- snippet: setpu -->\n```c\n```\n")
        try:
            read_blocks(page)
            raise AssertionError("an unknown mark was taken")
        except Bad:
            pass
    print("ok")
    return 0


def pages(given):
    files = given or [os.path.join(ROOT, "README.md")] + sorted(
        name for name in glob.glob(os.path.join(ROOT, "docs", "*.md")) if not name.endswith("ops.md"))
    return [block for file in files for block in read_blocks(os.path.abspath(file))]


def main(*given):
    kinds = {"c": (test_c, 3), "go": (test_go, 1), "cli": (test_cli, 1)}
    kind, arguments = (given or ("--help",))[0], given[1:]
    if kind == "self":
        return self_test()
    test, count = kinds.get(kind, (None, 0))
    if test is None or len(arguments) < count:
        print(__doc__)
        return 0 if kind in ("-h", "--help") else 2
    needed = {arguments[0]: shutil.which(arguments[0])}
    if kind == "go":
        needed["archive for Go"] = glob.glob(f"{ROOT}/go/native/lib/*/libnef.a")
    for name, found in needed.items():
        if not found:
            print(f"skipped: there is no {name}; ./dev test finds or makes it")
            return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        run = Run(folder)
        test(run, pages(arguments[count:]), *arguments[:count])
        return run.finish()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
