"""Draws growth curves as SVG pictures: logarithmic axes, one line per contender."""

from collections.abc import Mapping, Sequence
from html import escape
from math import floor, log10
from typing import NamedTuple

from bench.rounds import Curve

WIDTH, HEIGHT = 800, 360
LEFT, RIGHT, TOP, BOTTOM = 76, 260, 44, 52
# Colours that differ in brightness, too; each line also has its own dashes.
COLOURS = ("#0b5fa5", "#c2500a", "#4d4d4d", "#7a2a8c", "#16794f")
DASHES = ("", "7 4", "2 3", "9 3 2 3", "1 4")
FONT = 'font-family="sans-serif" font-size="12" fill="#222"'
STEPS_MAX = 7  # labels of an axis


class Axis(NamedTuple):
    """A logarithmic axis from a value to a value, at two positions of the picture."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        share = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return round(self.start + share * (self.end - self.start), 1)

    def list_steps(self) -> list[float]:
        """Round numbers on the axis, a few of them."""
        exponents = range(floor(log10(self.low)), floor(log10(self.high)) + 1)
        for digits in (range(1, 10), (1, 2, 5), (1, 3), (1,)):
            steps = [digit * 10.0**exponent for exponent in exponents for digit in digits]
            steps = [step for step in steps if self.low <= step <= self.high]
            if len(steps) <= STEPS_MAX:
                break
        return steps


def build_axis(values: Sequence[float], start: float, end: float) -> Axis:
    """An axis with a little room at both ends."""
    return Axis(min(values) / 1.4, max(values) * 1.4, start, end)


def format_number(value: float) -> str:
    if value >= 1_000_000:
        return f"{value / 1_000_000:g} million"
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def draw_curve(curve: Curve, labels: Mapping[str, str]) -> str:
    """The background makes the picture readable on light and dark pages.

    `labels` are the names of the contenders in the picture.
    """
    all_points = [point for points in curve.points.values() for point in points]
    x_axis = build_axis([x for x, _ in all_points], LEFT, WIDTH - RIGHT)
    y_axis = build_axis([y for _, y in all_points], HEIGHT - BOTTOM, TOP)
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {FONT}>',
        f"<title>{escape(curve.title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#fff"/>',
        _text(LEFT, 24, curve.title, 'font-size="14" font-weight="bold"'),
        *_draw_axes(curve, x_axis, y_axis),
    ]
    for number, (name, points) in enumerate(curve.points.items()):
        parts += _draw_line(
            number, labels[name], [(x_axis.place(x), y_axis.place(y)) for x, y in points]
        )
    return "\n".join([*parts, "</svg>", ""])


def _draw_axes(curve: Curve, x_axis: Axis, y_axis: Axis) -> list[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = []
    for step in _measured_sizes(curve):
        x = x_axis.place(step)
        parts.append(_line((x, TOP), (x, bottom), "#e4e4e4"))
        parts.append(_text(x, bottom + 17, format_number(step), 'text-anchor="middle"'))
    for step in y_axis.list_steps():
        y = y_axis.place(step)
        parts.append(_line((LEFT, y), (right, y), "#e4e4e4"))
        parts.append(_text(LEFT - 8, y + 4, format_number(step), 'text-anchor="end"'))
    middle_x, middle_y = (LEFT + right) / 2, (TOP + bottom) / 2
    return [
        *parts,
        _line((LEFT, bottom), (right, bottom), "#555"),
        _line((LEFT, TOP), (LEFT, bottom), "#555"),
        _text(middle_x, HEIGHT - 12, curve.x_label, 'text-anchor="middle"'),
        _text(
            14,
            middle_y,
            curve.y_label,
            f'text-anchor="middle" transform="rotate(-90 14 {middle_y:g})"',
        ),
    ]


def _measured_sizes(curve: Curve) -> list[float]:
    return sorted({x for points in curve.points.values() for x, _ in points})


def _draw_line(number: int, label: str, places: Sequence[tuple[float, float]]) -> list[str]:
    colour = COLOURS[number % len(COLOURS)]
    dashes = DASHES[number % len(DASHES)]
    style = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes or "none"}"'
    key_y, key_x = TOP + 10 + 22 * number, WIDTH - RIGHT + 14
    joined = " ".join(f"{x:g},{y:g}" for x, y in places)
    return [
        f'<polyline points="{joined}" {style}/>',
        *(f'<circle cx="{x:g}" cy="{y:g}" r="3.5" fill="{colour}"/>' for x, y in places),
        f'<polyline points="{key_x},{key_y} {key_x + 28},{key_y}" {style}/>',
        _text(key_x + 34, key_y + 4, label, ""),
    ]


def _line(start: tuple[float, float], end: tuple[float, float], colour: str) -> str:
    (x1, y1), (x2, y2) = start, end
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{colour}"/>'


def _text(x: float, y: float, text: str, attributes: str) -> str:
    space = " " if attributes else ""
    return f'<text x="{x:g}" y="{y:g}"{space}{attributes}>{escape(text)}</text>'
