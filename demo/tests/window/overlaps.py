#!/usr/bin/env python3
"""What lies over something else, or leaves a window of this size, in the newest picture that a log tells of: overlaps.py LOG WIDTH HEIGHT. Silent if
nothing does."""

import json
import sys

# These have others inside. A small map or an inset may be below a card, and takes no click there.
AROUND = ("hint", "menu card", "card", "result", "lobby")
CARDS, BELOW = AROUND[1:], ("map 1", "map 2", "map", "view 2")


def newest(path):
    """Where everything is: name, and left, top, width, height."""
    lines = [line for line in open(path) if '"event":"places"' in line]
    return json.loads(lines[-1])["places"]


def overlap(a, b):
    return a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]


def inside(a, b):
    return a[1] >= b[1] and a[3] <= b[3] and a[2] >= b[2] and a[4] <= b[4]


def misplaced(places, width, height):
    """A sentence about each of these places that lies over another one, or leaves a window of this size."""
    found = []
    # A view is what everything lies over, unless it is the inset.
    views = ("view 1",) if "enlarge" in places else ("view 1", "view 2")
    seen = [(name, x, y, x + w, y + h) for name, (x, y, w, h) in places.items() if name not in views and w > 0 and h > 0]
    cards = [place for place in seen if place[0] in CARDS]
    seen = [place for place in seen if place[0] not in BELOW or not any(overlap(place, card) for card in cards)]
    for n, a in enumerate(seen):
        # A pixel may be lost to rounding.
        if not inside(a, ("window", -1, -1, width + 1, height + 1)):
            found.append(f"'{a[0]}' leaves the window: {list(a[1:])}")
        for b in seen[:n]:
            is_around = a[0] in AROUND and inside(b, a) or b[0] in AROUND and inside(a, b)
            if overlap(a, b) and not is_around:
                found.append(f"'{a[0]}' lies over '{b[0]}'")
    return found


if __name__ == "__main__":
    for sentence in misplaced(newest(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])):
        print(sentence)
