"""What a program tells while it runs: one JSON object per line, about orders, selections, positions of widgets, checksums."""

import threading
import time


class Failed(Exception):
    """What was waited for in vain, or did not hold."""


class Teller:
    """Notes in the order in which they came, and complaints."""

    def __init__(self):
        self.notes, self.errors = [], []
        self.news = threading.Condition()

    def count(self, **wanted):
        with self.news:
            return sum(all(note.get(key) == value for key, value in wanted.items()) for note in self.notes)

    def last(self, event):
        with self.news:
            return next((note for note in reversed(self.notes) if note.get("event") == event), None)

    def wait(self, what, test, seconds=60):
        """Until a test of the page's notes holds."""
        end = time.monotonic() + seconds
        while True:
            found = test()
            if found:
                return found
            if time.monotonic() > end:
                raise Failed(f"waited in vain for {what}; errors: {self.errors[-3:]}")
            with self.news:
                self.news.wait(0.2)

    def until(self, what, act, test, seconds=60):
        """Does it again until a note that was not there before passes the test: a slow picture may miss a touch."""
        with self.news:
            before = len(self.notes)
        end = time.monotonic() + seconds

        def seen():
            with self.news:
                return next((note for note in self.notes[before:] if test(note)), None)

        why = None
        while time.monotonic() < end:
            try:
                # A place may be gone in the picture that comes meanwhile.
                act()
                return self.wait(what, seen, 2)
            except Failed as failure:
                why = failure
        raise Failed(f"'{what}' did not happen: {why}; last notes: {[n['event'] for n in self.notes[-8:]]}")

    def settled(self, what, act, test):
        """Does it, until the camera before and the one that has come to rest afterwards pass the test. Gives the latter."""
        for _ in range(4):
            before = self.last("camera")["value"]
            act()
            time.sleep(4)
            now = self.last("camera")["value"]
            if test(before, now):
                return now
        raise Failed(f"not {what}: {before}, then {now}")

    def clashes(self):
        """What the newest picture says of texts that lie over each other."""
        clash = (self.last("clash") or {"value": None})["value"]
        return [clash] if clash else []

    def patiently(self, faults, where):
        """Asks for faults until there are none: a picture may be under way."""
        for _ in range(40):
            found = faults()
            if not found:
                return
            time.sleep(0.5)
        raise Failed(f"{where}: {found}")

    def place(self, name, across=50, down=50):
        """A point of a widget, in percent of its width and height."""
        places = self.last("places")["places"]
        if name not in places:
            raise Failed(f"there is no '{name}' on the page: {sorted(places)}")
        x, y, width, height = places[name]
        return x + width * across / 100, y + height * down / 100
