# SPDX-License-Identifier: Apache-2.0
"""Bar charts of benchmark rows, as SVG that takes its colours from the page.

The file holds the rows that ./dev bench --json prints, one JSON object a line, each with a key
"plot" that names its chart; a row without a value and with a "note" describes that chart. Rows with
"draw": "ratio" show how much faster NEF is than its peer, others the two times.
"""
import html
import json

WIDTH, LEFT, RIGHT, ROW = 760, 250, 160, 26


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def bar(y, share, kind, label, clear=0.0):
    """A bar with its label behind it, and behind the share `clear`."""
    full = WIDTH - LEFT - RIGHT
    width = max(1.0, share * full)
    return (f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{width:.1f}" height="{ROW // 2 - 2}" rx="2"/>'
            f'<text class="soft" x="{LEFT + max(width, clear * full) + 6:.1f}" y="{y + 10}">{html.escape(label)}</text>')


def ratios(rows):
    """A bar for each ratio and a line where both are equally fast."""
    most = max(1.2, max(row["ratio"] for row in rows))
    parts = [f'<text x="0" y="{ROW * i + 15}">{html.escape(row["name"])}</text>'
             + bar(ROW * i + 5, row["ratio"] / most, "bar" if row["ratio"] >= 1 else "peer",
                   f'{row["ratio"]:.2f} x {row["peer"]}', 1 / most)
             for i, row in enumerate(rows)]
    one, height = LEFT + (WIDTH - LEFT - RIGHT) / most, ROW * len(rows)
    return parts + [f'<line class="one" x1="{one:.1f}" y1="0" x2="{one:.1f}" y2="{height}"/>'], height


def times(rows):
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
    return parts, y


def drawing(title, rows, opening="<svg", style=""):
    as_ratio = rows[0].get("draw") == "ratio"
    parts, height = (ratios if as_ratio else times)(rows)
    said = ", ".join(f'{row["name"]} ' + (f'{row["ratio"]:.2f}' if as_ratio else f'{number(row["value"])} {row["unit"]}') for row in rows)
    return (f'{opening} viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(f"{title}: {said}")}">'
            f'{style}{"".join(parts)}</svg>')


def charts(path):
    """(title, notes, rows) of each chart."""
    rows = read(path)
    for title in dict.fromkeys(row["plot"] for row in rows):
        own = [row for row in rows if row["plot"] == title]
        yield title, [row["note"] for row in own if "value" not in row], [row for row in own if "value" in row]


def plot(title, notes, rows):
    return (f"<figure>{drawing(title, rows)}"
            f"<figcaption>{html.escape(' '.join(notes))}</figcaption></figure>")


def all_plots(path):
    return "\n\n".join(f"## {title}\n\n" + plot(title, notes, rows) for title, notes, rows in charts(path))


# Of a drawing that stands alone: the page it is shown in does not reach into it.
STYLE = ("<style>text{font:12px sans-serif;fill:#1d2430}.soft{fill:#5a6475}.bar{fill:#0f766e}.peer{fill:#9aa5b5}"
         ".one{stroke:#5a6475}@media(prefers-color-scheme:dark){text{fill:#e3e8ef}.soft{fill:#9aa5b5}.bar{fill:#4fc3b5}"
         ".peer{fill:#66718a}}</style>")


def write_files(path, folder):
    """A file of each chart of ratios, named by its family."""
    folder.mkdir(exist_ok=True)
    for title, _, rows in charts(path):
        if rows[0].get("draw") == "ratio":
            svg = drawing(title, rows, '<svg xmlns="http://www.w3.org/2000/svg"', STYLE)
            (folder / f'{title.replace("/", "-")}.svg').write_text(svg + "\n", encoding="utf-8")
