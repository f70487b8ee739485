# SPDX-License-Identifier: Apache-2.0
"""A picture of the benchmark: one bar for each model and thread count, as an SVG that browsers and editors show."""

import math
from html import escape

BAR, GAP, LEFT, WIDTH, TOP = 14, 10, 190, 480, 46
COLOURS = ("#b5482a", "#d99a6c", "#7a8fa6", "#4c6176")
INK, FAINT = "#333333", "#bbbbbb"


def text(x: float, y: float, words: str, anchor: str = "start", colour: str = INK, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{weight}>{escape(words)}</text>'
    )


def ratios(rows: list[dict]) -> str:
    """How many times faster than onnxruntime, on a logarithmic scale around 1."""
    rows = [row for row in rows if "ratio" in row]
    top = max([2.0, *(row["ratio"] for row in rows)])
    bottom = min([0.5, *(row["ratio"] for row in rows)])
    span = math.log(top / bottom)

    def place(ratio: float) -> float:
        return LEFT + WIDTH * math.log(ratio / bottom) / span

    threads = sorted({row["threads"] for row in rows})
    parts = [text(LEFT, 18, "Times faster than onnxruntime", bold=True)]
    for k, count in enumerate(threads):
        x = LEFT + 240 + 100 * k
        parts.append(f'<rect x="{x}" y="9" width="10" height="10" fill="{COLOURS[k % len(COLOURS)]}"/>')
        parts.append(text(x + 15, 18, f"{count} thread{'s' if count > 1 else ''}"))
    y, models = TOP, list(dict.fromkeys(row["model"] for row in rows))
    for model in models:
        of_model = [row for row in rows if row["model"] == model]
        parts.append(text(LEFT - 8, y + BAR * len(of_model) / 2 + 4, model, "end"))
        for row in of_model:
            start, end = sorted((place(1.0), place(row["ratio"])))
            colour = COLOURS[threads.index(row["threads"]) % len(COLOURS)]
            parts.append(
                f'<rect x="{start:.1f}" y="{y}" width="{max(end - start, 1):.1f}" height="{BAR - 2}" '
                f'fill="{colour}"/>'
            )
            faster = row["ratio"] >= 1
            parts.append(
                text(
                    end + 4 if faster else start - 4,
                    y + 10,
                    f"{row['ratio']:.2f}x",
                    "start" if faster else "end",
                )
            )
            y += BAR
        y += GAP
    for tick in (0.25, 0.5, 1, 2, 4, 8, 16):
        if bottom <= tick <= top:
            x, colour = place(tick), INK if tick == 1 else FAINT
            parts.insert(0, f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{y}" stroke="{colour}"/>')
            parts.append(text(x, TOP - 12, f"{tick:g}x", "middle", FAINT if tick != 1 else INK))
    size = f'width="{LEFT + WIDTH + 70}" height="{y + 10}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">\n'
        f'<rect {size} fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )
