#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts test results.

tally.py ctest JUNIT_XML STATUS LOG   prints "passed failed skipped", failures go to stderr
tally.py go    JSON_LINES STATUS LOG  the same for `go test -json`
tally.py total COUNTS                 sums such lines, prints the closing line, exits 1 on failure

A runner whose exit status is not zero always counts as at least one failure, so that a crash of
the runner cannot pass for success.
"""
import json
import os
import sys
import xml.etree.ElementTree as ElementTree


def complain(name, text):
    print(f"FAILED {name}\n{text.rstrip()}\n", file=sys.stderr)


def finish(counts, status, log):
    if status and not counts["failed"]:
        counts["failed"] = 1
        complain(f"the runner itself (exit status {status})", tail(log))
    print(counts["passed"], counts["failed"], counts["skipped"])


def tail(path, lines=40):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return "".join(file.readlines()[-lines:])


def ctest(path, status, log):
    counts = dict(passed=0, failed=0, skipped=0)
    if not os.path.exists(path):
        return finish(counts, status or 1, log)
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        result = case.get("status")
        if result == "run":
            counts["passed"] += 1
        elif result in ("notrun", "disabled") and case.find("skipped") is not None \
                and "Unable to find" not in (case.find("skipped").get("message") or "") \
                and not case.get("name", "").endswith("_NOT_BUILT"):
            counts["skipped"] += 1
        else:
            counts["failed"] += 1
            complain(case.get("name"), case.findtext("system-out") or result)
    return finish(counts, status, log)


def go(path, status, log):
    counts = dict(passed=0, failed=0, skipped=0)
    outcome, output, parents, builds = {}, {}, set(), {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                event = json.loads(line)
            except json.JSONDecodeError:
                output.setdefault(("", ""), []).append(line)
                continue
            key = (event.get("Package") or event.get("ImportPath", ""), event.get("Test", ""))
            if event["Action"] in ("output", "build-output"):
                output.setdefault(key, []).append(event["Output"])
            if event["Action"] in ("pass", "fail", "skip"):
                outcome[key] = event["Action"]
                builds[key[0]] = event.get("FailedBuild")
                if "/" in key[1]:
                    parents.add((key[0], key[1].rsplit("/", 1)[0]))
    failed_packages = {package for (package, test), result in outcome.items()
                       if result == "fail" and test}
    for (package, test), result in outcome.items():
        # Only leaves count; a package counts when it failed without naming a test (build error,
        # crash), a parent when it failed though its children passed.
        if not test:
            if result == "fail" and package not in failed_packages:
                counts["failed"] += 1
                text = "".join("".join(lines) for (p, _), lines in output.items()
                               if p and p in (package, builds[package]))
                complain(package, text + tail(log))
            continue
        if (package, test) in parents and result != "fail":
            continue
        if result == "fail" and any(r == "fail" and p == package and t.startswith(test + "/")
                                    for (p, t), r in outcome.items()):
            continue
        counts[{"pass": "passed", "fail": "failed", "skip": "skipped"}[result]] += 1
        if result == "fail":
            complain(f"{package} {test}", "".join(output.get((package, test), [])))
    return finish(counts, status, log)


def total(path):
    with open(path, encoding="utf-8") as file:
        rows = [list(map(int, line.split())) for line in file]
    passed, failed, skipped = (sum(column) for column in zip(*rows))
    if not passed + failed + skipped:
        print("no test matches", file=sys.stderr)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed + failed + skipped else 0


if __name__ == "__main__":
    kind, arguments = sys.argv[1], sys.argv[2:]
    if kind == "total":
        sys.exit(total(*arguments))
    {"ctest": ctest, "go": go}[kind](arguments[0], int(arguments[1]), arguments[2])
