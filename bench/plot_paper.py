# SPDX-License-Identifier: Apache-2.0
"""Pictures of what bench/compare paper counted: curves over R or T, on logarithmic scales."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 120, 44, 48
INK, GRID = "#333333", "#dddddd"
COLOURS = {"heap": "#9a9a9a", "bottom-up": "#4a4a4a", "quickheap": "#2c6fbb",
           "tournament": "#b5781d", "filtered": "#2a8f5b", "ahead": "#c0392b", "exact": "#8a5fb0"}
LABEL_GAP = 15
# By part: what is under the axis, how many of x, what is above it, how much of y.
AXES = {
    "comparisons": ("R", "r", "comparisons to extract a key and insert one",
                    lambda line: line["extract_comparisons"] + line["insert_comparisons"]),
    "blocks": ("R", "r", "blocks read and written for each key that leaves and comes back",
               lambda line: (line["block_reads_a_cycle"] + line["block_writes_a_cycle"])
               / line["r"]),
    "queues": ("T", "queues", "balance of extraction: mean over maximum of comparisons a cycle",
               lambda line: line["extract_efficiency"]),
    "time": ("T", "threads", "microseconds a cycle", lambda line: line["wall_us_a_cycle"]),
}


def ticks(low, high):
    """1, 2 and 5 times powers of ten, as far as they enclose both; few of them."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if high / low < 200 else (1,)
    found = [digit * 10.0 ** power for power in powers for digit in digits]
    first = max((tick for tick in found if tick <= low * 1.001), default=found[0])
    last = min((tick for tick in found if tick >= high * 0.999), default=found[-1])
    return [tick for tick in found if first <= tick <= last]


def draw(lines, title=None):
    """The SVG of one case."""
    lines = [line for line in lines if "error" not in line]
    under, x_name, above, value = AXES[lines[0]["case"].split(",")[0]]
    curves = {}
    for line in lines:
        curves.setdefault(line["engine"], {}).setdefault(line[x_name], value(line))
    x_values = sorted({x for curve in curves.values() for x in curve})
    y_values = [y for curve in curves.values() for y in curve.values()]
    y_ticks = ticks(min(y_values), max(y_values))

    def x_of(x):
        span = math.log(x_values[-1] / x_values[0]) or 1
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(x / x_values[0]) / span

    def y_of(y):
        span = math.log(y_ticks[-1] / y_ticks[0]) or 1
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log(y / y_ticks[0]) / span

    def text(x, y, words, anchor="start", extra=""):
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(words)}</text>'

    parts = [text(LEFT, 18, title or f'Queues of the paper: {lines[0]["case"]}',
                  extra=' font-weight="bold"'), text(LEFT, 34, above),
             text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, under, "middle")]
    for tick in y_ticks:
        parts += [f'<line x1="{LEFT}" y1="{y_of(tick):.1f}" x2="{WIDTH - RIGHT}" '
                  f'y2="{y_of(tick):.1f}" stroke="{GRID}"/>',
                  text(LEFT - 8, y_of(tick) + 4, f"{tick:g}", "end")]
    parts += [text(x_of(x), HEIGHT - BOTTOM + 20, f"{x:,}", "middle") for x in x_values]
    place = TOP - LABEL_GAP
    for name, curve in sorted(curves.items(), key=lambda item: y_of(item[1][max(item[1])])):
        points = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in sorted(curve.items()))
        colour = COLOURS.get(name, INK)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" '
                     'stroke-width="2"/>')
        place = max(place + LABEL_GAP, y_of(curve[max(curve)]) + 4)
        parts.append(text(WIDTH - RIGHT + 8, place, name, extra=f' fill="{colour}"'))
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12" '
            f'fill="{INK}">')
    paper = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    return "\n".join([head, paper, *parts, "</svg>", ""])
