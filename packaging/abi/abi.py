#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C ABI against its baseline: abi.py cut | check   (./dev check abi sets up what it needs)

A baseline is packaging/abi/v<version>/:
  symbols.txt  exported names
  layout.h     static assertions: offsets of all fields, enumerators, handed-out numbers
  nef.abi      libabigail's description of functions and types
  include/     the headers, and tests/, test programs, as they were

check builds the library of the tree with debug information of its C API, and holds it against the
newest baseline. It also proves that the tools see: an added function passes, and the baseline's
test programs run against that library; a moved field, a changed parameter and a removed function
are found.
"""
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/release"
HERE = ROOT / "packaging/abi"
INCLUDE = ROOT / "capi/include"
TESTS = ["check.h", "api.c", "run.c"]
HEADERS = ["types.h", "nef.h", "ops.h", "op_ids.h", "backend.h"]


def run(command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          check=False, **more)
    return done.returncode, done.stdout + done.stderr


def must(command, **more):
    code, text = run(command, **more)
    if code:
        raise SystemExit(f"{shlex.join(map(str, command))}\nexit status {code}\n{text}")
    return text


def version():
    return re.search(r"^project\(nef VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]


def baseline():
    found = [path for path in HERE.glob("v*") if path.is_dir()]
    if not found:
        raise SystemExit("there is no baseline: ./dev check abi --cut makes one")
    return max(found, key=lambda path: [int(n) for n in path.name[1:].split(".")])


# ---- libraries

@dataclasses.dataclass
class Variant:
    """The library, built from headers that may be changed, with more source and another map.

    With `base` only the units of capi/ that are named are compiled, the rest is the base's.
    """
    folder: pathlib.Path
    name: str
    headers: dict = dataclasses.field(default_factory=dict)  # name -> [(from, to)]
    source: str = ""
    hidden: str = ""
    base: "Variant" = None
    units: tuple = ()

    def __post_init__(self):
        self.root = self.folder / self.name
        self.include = self.root / "include"
        self.library = self.root / "libnef.so.0"
        shutil.copytree(INCLUDE, self.include)
        for name, changes in self.headers.items():
            path = self.include / "nef" / name
            text = path.read_text()
            for before, after in changes:
                if before not in text:
                    raise SystemExit(f"{name} has no '{before}' to change")
                text = text.replace(before, after, 1)
            path.write_text(text)

    def build(self):
        objects = (BUILD / "objects.txt").read_text().split()
        rest = [name for name in objects if "/nef_capi.dir/" not in name]
        made = [self.unit(command) for command in capi_commands()]
        if self.source:
            made.append(self.compile(capi_commands()[0], self.source))
        text = (ROOT / "capi/nef.map").read_text()
        if self.hidden:
            text = text.replace("local:", f"local:\n    {self.hidden};").replace("nef_*;", exported_but(self.hidden))
        (self.root / "nef.map").write_text(text)
        must(["c++", "-shared", "-o", self.library, *made, *rest, "-Wl,-soname,libnef.so.0",
              f"-Wl,--version-script={self.root}/nef.map", "-lpthread", "-ldl", "-lm"], cwd=BUILD)
        (self.root / "libnef.so").symlink_to("libnef.so.0")
        return self

    def unit(self, command):
        stem = pathlib.Path(command["file"]).stem
        if self.base and stem not in self.units:
            return self.base.root / (stem + ".o")
        return self.compile(command)

    def compile(self, command, text=""):
        """A unit of capi/ as the build compiles it, with the variant's headers and types kept."""
        source = command["file"]
        words = shlex.split(command["command"])
        words = words[1:] if words[0].endswith("ccache") else words
        target = self.root / (pathlib.Path(source).stem + ".o")
        if text:
            source, target = self.root / "added.cc", self.root / "added.o"
            source.write_text(text)
        skip, out = False, []
        for word in words:
            if not skip and word not in ("-o", "-c") and word != command["file"]:
                out.append(word)
            skip = word == "-o"
        launch = [shutil.which("ccache")] if shutil.which("ccache") and not self.headers else []
        must([*launch, out[0], f"-I{self.include}", *out[1:], "-O1", "-g", "-c", source, "-o", target], cwd=BUILD)
        return target


def capi_commands():
    rows = json.loads((BUILD / "compile_commands.json").read_text())
    rows = [row for row in rows if row["file"].startswith(str(ROOT / "capi"))]
    return sorted(rows, key=lambda row: row["file"])


def users_of(name):
    return tuple(path.stem for path in (ROOT / "capi").glob("*.cc") if name in path.read_text())


def exported_but(name):
    return "".join(f"{symbol}; " for symbol in symbols(BUILD / "lib/libnef.so") if symbol != name)


def symbols(library):
    rows = must(["nm", "-D", "--defined-only", library]).splitlines()
    return sorted({row.split()[-1].split("@")[0] for row in rows} - {"NEF_0"})


def describe(variant, target):
    """Only what the headers name: the rest of a handle is nobody's business."""
    must(["abidw", "--headers-dir", variant.include, "--drop-private-types", "--exported-interfaces-only",
          "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--out-file", target, variant.library])


# ---- layout

def fields():
    """(struct, field) of every public struct, in order."""
    for name in HEADERS:
        text = re.sub(r"/\*.*?\*/", "", (INCLUDE / "nef" / name).read_text(), flags=re.S)
        for body, struct in re.findall(r"typedef struct \w+ \{(.*?)\n\} (\w+);", text, re.S):
            for member in body.split(";"):
                pointer = re.search(r"\(\*(\w+)\)\(", member)
                names = [pointer[1]] if pointer else re.findall(r"(\w+)(?:\[\w+\])?\s*(?:,|$)", member.strip())
                yield from ((struct, field) for field in names)


def enumerators():
    for name in HEADERS:
        text = re.sub(r"/\*.*?\*/", "", (INCLUDE / "nef" / name).read_text(), flags=re.S)
        for body in re.findall(r"\benum(?: \w+)? \{(.*?)\}", text, re.S):
            yield from re.findall(r"\b(NEF_\w+)\s*=", body)


def layout():
    """Text of layout.h, from a program that prints the numbers."""
    pairs, names = list(fields()), list(enumerators())
    lines = [f'  printf("offset {s} {f} %zu\\n", offsetof({s}, {f}));' for s, f in pairs]
    lines += [f'  printf("size {s} %zu\\n", sizeof({s}));' for s in dict.fromkeys(s for s, _ in pairs)]
    lines += [f'  printf("value {n} %lld\\n", (long long){n});' for n in names]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "layout.c"
        program.write_text("#include <nef/backend.h>\n#include <nef/nef.h>\n#include <stdio.h>\n"
                           "int main(void) {\n" + "\n".join(lines) + "\n}\n")
        must(["cc", "-I", INCLUDE, program, "-o", program.with_suffix("")])
        rows = must([program.with_suffix("")]).splitlines()
    out = ["/* SPDX-License-Identifier: Apache-2.0 */", "/* clang-format off */",
           "/* Made by packaging/abi/abi.py: where fields lie on 64-bit systems, and what names stand for.",
           " * Structs may grow at their end; nothing else may change. */",
           "#include <nef/backend.h>", "#include <nef/nef.h>", ""]
    for row in rows:
        kind, *words = row.split()
        if kind == "value" and words[0].endswith("_COUNT_"):
            kind = "count"
        out.append({"offset": "_Static_assert(offsetof({0}, {1}) == {2}, \"{0}.{1} moved\");",
                    "size": "_Static_assert(sizeof({0}) >= {1}, \"{0} shrank\");",
                    "count": "_Static_assert({0} >= {1}, \"{0} shrank\");",
                    "value": "_Static_assert({0} == {1}, \"{0} changed\");"}[kind].format(*words))
    return "\n".join(out) + "\n"


def cut(folder):
    target = HERE / f"v{version()}"
    variant = Variant(folder, "now").build()
    if target.exists():
        shutil.rmtree(target)
    (target / "tests").mkdir(parents=True)
    (target / "symbols.txt").write_text("\n".join(symbols(variant.library)) + "\n")
    (target / "layout.h").write_text(layout())
    shutil.copytree(INCLUDE / "nef", target / "include/nef")
    for name in TESTS:
        shutil.copy(ROOT / "tests/capi" / name, target / "tests" / name)
    describe(variant, target / "nef.abi")
    print(f"cut {target.relative_to(ROOT)}: {len(symbols(variant.library))} functions, "
          f"{layout().count('_Static_assert')} assertions")


# ---- check

class Check:
    def __init__(self, folder):
        self.folder, self.base, self.faults, self.count = folder, baseline(), 0, 0

    def expect(self, what, good, text=""):
        self.count += 1
        self.faults += not good
        print(f"{'ok' if good else 'FAILED':7}{what}", flush=True)
        if not good and text:
            print("\n".join("       " + line for line in text.strip().splitlines()[:40]))

    def differences(self, old, new):
        """What abidiff finds beyond additions: new functions, fields at the end of a struct."""
        code, text = run(["abidiff", "--suppressions", HERE / "growth.suppr", "--no-show-locs", old, new])
        if code & 3:
            raise SystemExit(f"abidiff failed: {text}")
        counts = re.search(r"Functions changes summary: (\d+) Removed, (\d+) Changed", text)
        bad = code & 8 or (counts and (int(counts[1]) or int(counts[2])))
        return text if bad else ""

    def layout(self, include):
        code, text = run(["cc", "-std=c11", "-fsyntax-only", "-I", include, self.base / "layout.h"])
        return text if code else ""

    def missing(self, library):
        gone = set((self.base / "symbols.txt").read_text().split()) - set(symbols(library))
        return "\n".join(sorted(gone))

    def old_tests(self, library):
        """The baseline's test programs, built against its headers, on another library."""
        for name in TESTS[1:]:
            program = self.folder / name[:-2]
            must(["cc", "-std=gnu11", "-O1", "-I", self.base / "include", self.base / "tests" / name,
                  library, "-lm", "-lpthread", "-o", program])
            code, text = run([program], cwd=self.folder, timeout=300,
                             env=dict(os.environ, LD_LIBRARY_PATH=str(library.parent)))
            self.expect(f"{self.base.name}'s test program {name} runs on {library.parent.name}", code == 0, text)

    def compare(self, variant):
        """Whether a library keeps what the baseline promised."""
        dump = variant.root / "nef.abi"
        describe(variant, dump)
        return {"symbols": self.missing(variant.library), "layout": self.layout(variant.include),
                "abidiff": self.differences(self.base / "nef.abi", dump)}

    def run(self):
        now = Variant(self.folder, "now").build()
        for what, text in self.compare(now).items():
            self.expect(f"this tree against {self.base.name}: {what}", not text, text)
        self.expect("abidiff of a library and itself is silent",
                    not self.differences(now.root / "nef.abi", now.root / "nef.abi"))
        self.old_tests(now.library)

        added = "nef_check_added"
        major, minor, patch = version().split(".")
        after = f"{major}.{minor}.{int(patch) + 1}"
        abi = int(re.search(r"NEF_ABI_VERSION (\d+)u", (INCLUDE / "nef/nef.h").read_text())[1])
        following = Variant(self.folder, "next", {"nef.h": [
            ("NEF_API const char* nef_version(void);",
             f"NEF_API const char* nef_version(void);\nNEF_API int32_t {added}(const nef_tensor* tensor);"),
            (f'"{version()}"', f'"{after}"'), (f"NEF_ABI_VERSION {abi}u", f"NEF_ABI_VERSION {abi + 1}u")]},
            f"#include <nef/nef.h>\nint32_t {added}(const nef_tensor* tensor) {{ return tensor != nullptr; }}\n",
            base=now, units=("status",)).build()
        for what, text in self.compare(following).items():
            self.expect(f"with one function more: {what}", not text, text)
        self.expect("the function is there", added in symbols(following.library))
        self.old_tests(following.library)

        moved = Variant(self.folder, "moved", {"nef.h": [
            ("  int32_t threads; ", "  int64_t inserted;\n  int32_t threads; ")]},
            base=now, units=users_of("nef_compile_options")).build()
        found = self.compare(moved)
        self.expect("a field in the middle of a struct is found by abidiff", bool(found["abidiff"]))
        self.expect("and by the layout", "nef_compile_options.threads moved" in found["layout"], found["layout"])
        gone = Variant(self.folder, "gone", hidden="nef_lazy_events", base=now).build()
        found = self.compare(gone)
        self.expect("a removed function is found by abidiff", "nef_lazy_events" in found["abidiff"], found["abidiff"])
        self.expect("and by the list", found["symbols"] == "nef_lazy_events", found["symbols"])
        print(f"{self.count - self.faults} of {self.count} expectations hold; baseline {self.base.name} with "
              f"{len((self.base / 'symbols.txt').read_text().split())} functions, library with {len(symbols(now.library))}")
        return 1 if self.faults else 0


def main(what="--help"):
    if what not in ("cut", "check"):
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        if what == "cut":
            return cut(pathlib.Path(folder))
        return Check(pathlib.Path(folder)).run()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
