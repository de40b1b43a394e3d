"""Lines and points on linear or logarithmic axes, as SVG."""

import math
from html import escape

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 16, 48
# Told apart also by people who cannot tell red from green (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933", "#882255", "#44aa99")


class Axis:
    def __init__(self, values, is_logarithmic, pixels):
        low, high = min(values), max(values)
        self.is_logarithmic, self.pixels = is_logarithmic, pixels
        if is_logarithmic:
            self.low, self.high = math.floor(math.log10(low)), math.ceil(math.log10(high))
            self.high = max(self.high, self.low + 1)
        else:
            self.low, self.high = min(0.0, low), high if high > low else low + 1

    def at(self, value):
        value = math.log10(value) if self.is_logarithmic else value
        start, end = self.pixels
        return start + (end - start) * (value - self.low) / (self.high - self.low)

    def ticks(self):
        if self.is_logarithmic:
            return [10.0**power for power in range(self.low, self.high + 1)]
        step = 10 ** math.floor(math.log10((self.high - self.low) / 5))
        step *= next(factor for factor in (1, 2, 5, 10) if (self.high - self.low) / (step * factor) <= 6)
        first = math.ceil(self.low / step)
        return [index * step for index in range(first, int(self.high / step) + 1)]


def number(value):
    if value == 0:
        return "0"
    if abs(value) >= 1e4 or abs(value) < 1e-2:
        power = math.floor(math.log10(abs(value)))
        factor = value / 10**power
        return f"1e{power}" if abs(factor - 1) < 1e-9 else f"{factor:.3g}e{power}"
    return f"{value:.6g}"


def figure(title, x_name, y_name, series, logarithmic=(False, False), has_lines=True):
    """The text of a figure; None where there is nothing to draw. `series` are names with lists of points."""
    def drawn(point):
        return all(value > 0 or not is_log for value, is_log in zip(point, logarithmic))

    series = [(name, [point for point in points if drawn(point)]) for name, points in series]
    series = [(name, points) for name, points in series if points]
    if not series:
        return None
    every = [point for _, points in series for point in points]
    x = Axis([point[0] for point in every], logarithmic[0], (LEFT, WIDTH - RIGHT))
    y = Axis([point[1] for point in every], logarithmic[1], (HEIGHT - BOTTOM, TOP))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'font-family="sans-serif" font-size="11" role="img"><title>{escape(title)}</title>',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']

    def text(at_x, at_y, what, more=""):
        out.append(f'<text x="{at_x:.1f}" y="{at_y:.1f}" {more}>{escape(what)}</text>')

    def line(from_x, from_y, to_x, to_y, colour):
        out.append(f'<path d="M{from_x:.1f} {from_y:.1f}L{to_x:.1f} {to_y:.1f}" stroke="{colour}"/>')

    for tick in x.ticks():
        line(x.at(tick), TOP, x.at(tick), HEIGHT - BOTTOM, "#ddd")
        text(x.at(tick), HEIGHT - BOTTOM + 15, number(tick), 'text-anchor="middle"')
    for tick in y.ticks():
        line(LEFT, y.at(tick), WIDTH - RIGHT, y.at(tick), "#ddd")
        text(LEFT - 6, y.at(tick) + 4, number(tick), 'text-anchor="end"')
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_name, 'text-anchor="middle"')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    text(16, middle, y_name, f'text-anchor="middle" transform="rotate(-90 16 {middle})"')
    for index, (name, points) in enumerate(series):
        colour = COLOURS[index % len(COLOURS)]
        places = [(x.at(a), y.at(b)) for a, b in points]
        if has_lines and len(places) > 1:
            path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
            out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        if len(places) <= 40:
            out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.6" fill="{colour}"/>' for a, b in places]
        beside = TOP + 10 + 16 * index
        out.append(f'<circle cx="{WIDTH - RIGHT + 14}" cy="{beside - 4}" r="4" fill="{colour}"/>')
        text(WIDTH - RIGHT + 24, beside, name)
    return "\n".join(out) + "\n</svg>\n"
