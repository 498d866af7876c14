# SPDX-License-Identifier: Apache-2.0
"""Reads the rows of benchmark programs, one JSON object a line, and prints them as they come; then, of each family that
has a peer, the geometric mean and the worst of its ratios. A family is what stands before the first slash of a row's
name, with the number of threads behind the last one.

--publish puts the families that were measured in place of their old rows in docs/figures.jsonl and draws each into
docs/plots/.
"""
import argparse
import datetime
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "packaging" / "docs"))


def family(row):
    threads = re.search(r"/(t\d+)$", row["name"])
    return row["name"].split("/")[0] + ("/" + threads[1] if threads else "")


def line(row):
    out = f"{row['name']:32} {row['value']:12.4g} {row['unit']:4}"
    if row.get("peer"):
        out += f"  {row['peer']} {row['peer_value']:.4g} ({row['ratio']:.2f}x)"
    return f"{out}  {row.get('note', '')}".rstrip()


def families(rows):
    """(name, rows with a peer) of each family, in the order in which they came."""
    out = {}
    for row in rows:
        if row.get("peer") and row.get("ratio"):
            out.setdefault(family(row), []).append(row)
    return out.items()


def summary(rows):
    table = [f"{'family':16} {'rows':>4} {'geomean':>8} {'worst':>6}"]
    for name, own in families(rows):
        mean = math.exp(sum(math.log(row["ratio"]) for row in own) / len(own))
        worst = min(own, key=lambda row: row["ratio"])
        table.append(f"{name:16} {len(own):4} {mean:8.2f} {worst['ratio']:6.2f}  {worst['name']}")
    return table if len(table) > 1 else []


def processor():
    for text in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if text.startswith("model name"):
            return text.partition(":")[2].strip()
    return "a CPU without a name"


def publish(rows):
    import plots
    path = ROOT / "docs" / "figures.jsonl"
    fresh = []
    for name, own in families(rows):
        said = (f"Peer's time by NEF's; above 1 NEF is faster. The peer is the fastest of those that can. {processor()}, "
                f"{datetime.date.today()}: ./dev bench --only '^{name.split('/')[0]}/'.")
        fresh.append({"plot": name, "note": said})
        fresh += [{"plot": name, **{key: row[key] for key in ("name", "value", "unit", "peer", "peer_value", "ratio")},
                   "draw": "ratio"} for row in own]
    titles = {row["plot"] for row in fresh}
    kept = [row for row in plots.read(path) if row["plot"] not in titles]
    path.write_text("".join(json.dumps(row) + "\n" for row in kept + fresh), encoding="utf-8")
    plots.write_files(path, ROOT / "docs" / "plots")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--publish", action="store_true")
    args = parser.parse_args()
    rows = []
    for text in sys.stdin:
        try:
            rows.append(json.loads(text))
        except json.JSONDecodeError:
            print(text, end="", flush=True)  # what a program says beside its rows
            continue
        print(text.rstrip() if args.json else line(rows[-1]), flush=True)
    if not args.json:
        print("\n".join([""] + summary(rows)))
    if args.publish:
        publish(rows)


if __name__ == "__main__":
    main()
