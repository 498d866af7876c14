# SPDX-License-Identifier: Apache-2.0
"""Times the rows of cases.py beside other programs, on the same weights and inputs.

A first pass finds the fastest peer of a row, a second one measures NEF against it. With one thread the sides take turns
in one process, and CPU time counts, of all its threads, so that what others do on this machine does not; with more (row
names end in /tN) each runs in a process of its own, by turns, as two spinning pools in one process spoil each other. So
do rows of the first result of a process.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import numpy as np

import cases
import sides

SECONDS = 0.7  # of a side in the second pass
FIRST_SECONDS = 0.15
SAMPLE = 0.5e-3  # shorter runs are repeated this long
MOST = 1024  # times
ROUNDS = 3  # of processes


def seconds(side, times, clock):
    if hasattr(side, "seconds"):
        return side.seconds(times, clock)
    begin = clock()
    side.run(times)
    return clock() - begin


def repeats(side, clock):
    """Runs of a sample: so many that what a call costs beside them does not count."""
    side.run(1)
    times = 1
    while times < MOST and seconds(side, times, clock) < SAMPLE:
        times *= 2
    return times


def timed(parts, limit, clock):
    """Samples of each side, in turns, for `limit` seconds apiece."""
    times, samples, spent = [repeats(part, clock) for part in parts], [[] for _ in parts], 0
    while len(samples[0]) < 3 or spent < limit * len(parts):
        for part, n, own in zip(parts, times, samples):
            t = seconds(part, n, clock)
            own.append(t / n)
            spent += t
    return samples


def difference(ours, theirs):
    a, b = (np.asarray(s.output(), np.float64).ravel() for s in (ours, theirs))
    if a.shape != b.shape:
        return "the outputs differ in shape"
    scale = np.abs(b).max() or 1.0
    return f"difference {np.abs(a - b).max() / scale:.1e} of the largest element"


def result(case, samples, peer, known, notes, typical=statistics.median):
    """The row of samples of NEF, of its peer, and of the limit where there is one."""
    mine, other = (typical(s) for s in samples[:2])
    low, high = np.quantile(np.array(samples[1]) / np.array(samples[0]), [0.25, 0.75])
    row = {"name": case.name, "value": 1e6 * mine, "unit": "us", "peer": peer, "peer_value": 1e6 * other,
           "ratio": round(other / mine, 4), "spread": [round(low, 3), round(high, 3)]}
    notes = [f"half of {len(samples[0])} turns {low:.2f} to {high:.2f}"] + notes
    if len(samples) > 2:
        limit = typical(samples[2])
        row["limit"], row["of_limit"] = case.limit[0], round(limit / mine, 4)
        notes.append(f"{100 * limit / mine:.0f} % of the {case.limit[0]} rate of {1e-9 * case.limit[1] / limit:.1f} GB/s")
    others = ", ".join(f"{name} {1e6 * t:.4g}" for name, t in known.items() if name != peer)
    row["note"] = "; ".join(notes + ([others] if others else []))
    return row


def measured(names):
    """Those of the sides that this machine has."""
    return [name for name in names if not name.startswith("pytorch") or "NEF_TORCH_PYTHON" in os.environ]


def side_by_side(case, build):
    ours = sides.Nef(case, build, 1)
    others = [sides.SIDES[name](case, build, 1) for name in measured(case.peers + case.shown)]
    first = timed([ours] + others, FIRST_SECONDS, time.process_time)[1:]
    known = {other.name: statistics.median(samples) for other, samples in zip(others, first)}
    best = min((other for other in others if other.name in case.peers), key=lambda other: known[other.name])
    parts = [ours, best] + ([sides.Memory(case, build, 1)] if case.limit else [])
    samples = timed(parts, SECONDS, time.process_time)
    return result(case, samples, best.name, known, [difference(ours, best)])


def apart(case, args):
    """Medians of processes that run one side each, of which the best stands for a side: now and then the threads of a
    process are kept apart by the others of this machine."""
    def median(side, seconds):
        command = [os.environ["NEF_PEERS_PYTHON"], "-B", __file__, "--build", args.build, "--threads", str(args.threads),
                   "--only", f"^{re.escape(case.name)}$", "--side", side, "--seconds", str(seconds)]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    known = {name: median(name, FIRST_SECONDS) for name in measured(case.peers + case.shown)}
    best = min(measured(case.peers), key=known.get)
    parts = ["nef", best] + (["limit"] if case.limit else [])
    samples = [[] for _ in parts]
    for _ in range(ROUNDS):
        for part, own in zip(parts, samples):
            own.append(median(part, SECONDS))
    return result(case, samples, best, known, [], min)


def one_side(case, args):
    side = sides.SIDES[args.side](case, args.build, args.threads)
    print(side.first if case.cold else statistics.median(timed([side], args.seconds, time.perf_counter)[0]))


def show(row, as_json):
    if as_json:
        print(json.dumps(row), flush=True)
    else:
        print(f"{row['name']:32} {row['value']:12.4g} {row['unit']:4}  {row['peer']} {row['peer_value']:.4g} "
              f"({row['ratio']:.2f}x)  {row['note']}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="", help="rows whose name matches")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--threads", type=int, default=int(os.environ.get("NEF_BENCH_THREADS", "1")))
    parser.add_argument("--side", help="time one side, print its seconds")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    args = parser.parse_args()
    suffix = "" if args.threads == 1 else f"/t{args.threads}"
    files, failed = cases.Files(args.build), False
    for case in (case for family in cases.FAMILIES if family is not cases.models or cases.wanted_models(args.only)
                 for case in family(files)):
        if args.side:
            if re.search(args.only, case.name):
                return one_side(case, args)
            continue
        if not re.search(args.only, case.name + suffix):
            continue
        try:
            alone = args.threads > 1 or case.cold
            row = apart(case, args) if alone else side_by_side(case, args.build)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as e:
            print(f"peers.py: {case.name}: {e}", file=sys.stderr)
            failed = True
            continue
        row["name"] += suffix
        show(row, args.json)
    sys.exit(failed)


if __name__ == "__main__":
    main()
