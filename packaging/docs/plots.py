# SPDX-License-Identifier: Apache-2.0
"""Bar charts of benchmark rows, as SVG that takes its colours from the page.

The file holds the rows that ./dev bench --json prints, one JSON object a line, each with a key
"plot" that names its chart; a row without a value and with a "note" describes that chart.
"""
import html
import json

WIDTH, LEFT, RIGHT, ROW = 740, 260, 110, 26


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def bar(y, share, kind, label):
    width = max(1.0, share * (WIDTH - LEFT - RIGHT))
    return (f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{width:.1f}" height="{ROW // 2 - 2}" rx="2"/>'
            f'<text class="soft" x="{LEFT + width + 6:.1f}" y="{y + 10}">{html.escape(label)}</text>')


def plot(title, rows):
    notes = [row["note"] for row in rows if "value" not in row]
    rows = [row for row in rows if "value" in row]
    unit = rows[0]["unit"]
    most = max(max(row["value"], row.get("peer_value") or 0) for row in rows)
    parts, y = [], 4
    for row in rows:
        parts.append(f'<text x="0" y="{y + 11}">{html.escape(row["name"])}</text>')
        parts.append(bar(y, row["value"] / most, "bar", f'{number(row["value"])} {unit}'))
        if row.get("peer_value"):
            y += ROW // 2
            parts.append(bar(y, row["peer_value"] / most, "peer", f'{number(row["peer_value"])} {unit} {row["peer"]}'))
        y += ROW
    said = html.escape(f"{title}: " + ", ".join(f'{row["name"]} {number(row["value"])} {unit}' for row in rows))
    return (f'<figure><svg viewBox="0 0 {WIDTH} {y}" role="img" aria-label="{said}">{"".join(parts)}</svg>'
            f"<figcaption>{html.escape(' '.join(notes))}</figcaption></figure>")


def all_plots(path):
    rows = read(path)
    titles = dict.fromkeys(row["plot"] for row in rows)
    return "\n\n".join(f"## {title}\n\n" + plot(title, [row for row in rows if row["plot"] == title])
                       for title in titles)
