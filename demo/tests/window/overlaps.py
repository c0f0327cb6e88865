#!/usr/bin/env python3
"""What lies over something else, or leaves a window of this size, in the newest picture that a log tells of: overlaps.py LOG WIDTH HEIGHT. Silent if
nothing does."""

import json
import sys

# These have others inside.
AROUND = ("hint", "menu card", "card", "result", "lobby")


def newest(path):
    """Where everything is: name, left, top, right, bottom."""
    lines = [line for line in open(path) if '"event":"places"' in line]
    places = json.loads(lines[-1])["places"]
    # A view is what everything lies over, unless it is the inset.
    views = ("view 1",) if "enlarge" in places else ("view 1", "view 2")
    seen = {name: place for name, place in places.items() if name not in views}
    return [(name, x, y, x + w, y + h) for name, (x, y, w, h) in seen.items() if w > 0 and h > 0]


def overlap(a, b):
    return a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]


def inside(a, b):
    return a[1] >= b[1] and a[3] <= b[3] and a[2] >= b[2] and a[4] <= b[4]


def main(path, width, height):
    places = newest(path)
    for name, *place in places:
        # (A pixel may be lost to rounding.)
        if not inside((name, *place), ("window", -1, -1, width + 1, height + 1)):
            print(f"'{name}' leaves the window: {place}")
    for n, a in enumerate(places):
        for b in places[:n]:
            is_around = a[0] in AROUND and inside(b, a) or b[0] in AROUND and inside(a, b)
            if overlap(a, b) and not is_around:
                print(f"'{a[0]}' lies over '{b[0]}'")


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
