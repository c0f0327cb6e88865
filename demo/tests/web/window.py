"""The program in a window on a virtual screen of its own, with a synthetic mouse; it tells what happens in a file."""

import json
import os
import subprocess
import threading
import time

from notes import Failed, Teller

# A slow picture may miss what is over sooner, seconds.
PICTURE = 0.2


class Window(Teller):
    """A program that plays. `folder` is for its files, `arguments` are its command."""

    def __init__(self, program, folder, arguments, size=(3840, 2160)):
        super().__init__()
        os.makedirs(folder)
        to_read, to_write = os.pipe()
        self.screen = subprocess.Popen(
            ["Xvfb", "-displayfd", str(to_write), "-noreset", "-screen", "0", f"{size[0]}x{size[1]}x24", "+extension", "GLX"],
            pass_fds=[to_write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_write)
        with os.fdopen(to_read) as number:
            self.display = ":" + number.readline().strip()
        # Pictures are drawn by the program's own thread, ten in a second: see stage.sh in the folder of windows.
        environment = dict(os.environ, DISPLAY=self.display, LIBGL_ALWAYS_SOFTWARE="1", LP_NUM_THREADS="0", PULSE_SERVER="unix:/nobody")
        environment["XDG_STATE_HOME"] = folder
        self.folder, self.lines = folder, []
        self.process = subprocess.Popen(
            [program, *arguments, "--log-orders", "log", "--fps-max", "10"], cwd=folder, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self._hear, daemon=True).start()
        threading.Thread(target=self._follow, daemon=True).start()

    def _hear(self):
        for line in self.process.stderr:
            with self.news:
                self.lines.append(line.rstrip("\n"))
                self.news.notify_all()

    def _follow(self):
        path = os.path.join(self.folder, "log")
        while not os.path.exists(path):
            time.sleep(0.05)
        with open(path) as log:
            rest = ""
            while True:
                rest += log.readline()
                if not rest.endswith("\n"):
                    time.sleep(0.05)
                    continue
                with self.news:
                    self.notes.append(json.loads(rest))
                    self.news.notify_all()
                rest = ""

    def line(self, beginning, seconds=60):
        """What follows the beginning of a line on the terminal."""
        def found():
            with self.news:
                return next((line[len(beginning):] for line in self.lines if line.startswith(beginning)), None)
        try:
            return self.wait(f"'{beginning}'", found, seconds)
        except Failed:
            raise Failed(f"the program does not say '{beginning}': {self.lines[-5:]}") from None

    def _hand(self, *words):
        subprocess.run(["xdotool", *map(str, words)], env=dict(os.environ, DISPLAY=self.display), check=True)

    def resize(self, size):
        self.wait("the first picture", lambda: self.last("places"))
        self._hand("search", "--name", "Testudo", "windowsize", *size)
        self.wait("the new size", lambda: self.last("places")["places"]["view 1"][2] == size[0])

    def click(self, point, button="left"):
        number = {"left": 1, "right": 3}[button]
        self._hand("mousemove", int(point[0]), int(point[1]))
        time.sleep(PICTURE / 2)
        self._hand("mousedown", number)
        time.sleep(PICTURE)
        self._hand("mouseup", number)
        time.sleep(PICTURE / 2)

    def key(self, name):
        self._hand("keydown", name)
        time.sleep(PICTURE)
        self._hand("keyup", name)

    def picture(self, name):
        """Saves what is to be seen. Gives the file."""
        with self.news:
            before = sum(note["event"] == "picture" for note in self.notes)
        self.until("a picture", lambda: self.key("F12"), lambda note: note.get("event") == "picture")
        path = os.path.join(self.folder, f"{name}.png")
        os.rename(os.path.join(self.folder, f"testudo-{before + 1}.png"), path)
        return path

    def end(self):
        for process in (self.process, self.screen):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
