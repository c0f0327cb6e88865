"""A Chromium without a screen, driven through a pipe by its DevTools protocol: fingers, mouse, keys, dropped files, tabs, pictures.

The page tells what happens, one JSON object per line of its console.
"""

import base64
import itertools
import json
import os
import subprocess
import threading
import time

from notes import Failed, Teller

# WebGL by software, without smooth edges, which cost a quarter of what a session does and which no check sees; no traffic of the browser's own.
OPTIONS = [
    "--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--disable-background-networking", "--no-first-run", "--disable-component-update", "--remote-debugging-pipe",
    "--webgl-antialiasing-mode=none", "--autoplay-policy=user-gesture-required",
]

# A slow picture may miss what is over sooner, seconds.
PICTURE = 0.3

# More pictures in a second cost the machine a core, and no check sees them.
FPS_MAX = """
  {
    const request = window.requestAnimationFrame.bind(window);
    let last = 0;
    window.requestAnimationFrame = draw => {
      const wait = time => (time - last < 1000 / 15 ? request(wait) : (last = time, draw(time)));
      return request(wait);
    };
  }
"""

# Counts the sounds that the page starts.
COUNT_SOUNDS = """
  window.soundsStarted = 0;
  const start = AudioBufferSourceNode.prototype.start;
  AudioBufferSourceNode.prototype.start = function (...rest) {
    if (this.buffer && this.buffer.length > 1) window.soundsStarted += 1;
    return start.apply(this, rest);
  };
"""


class Browser(Teller):
    """One page. `folder` holds the profile."""

    def __init__(self, program, folder, size=(1280, 860), options=()):
        to_read, to_write = os.pipe(), os.pipe()

        def attach():
            # Copies first: one of them may have the other's number.
            ends = os.dup(to_read[0]), os.dup(to_write[1])
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        command = [program, *OPTIONS, *options, f"--user-data-dir={folder}", f"--window-size={size[0]},{size[1]}", "about:blank"]
        log = open(os.path.join(os.path.dirname(folder), "browser"), "ab")
        self.process = subprocess.Popen(
            command, close_fds=False, preexec_fn=attach, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        os.close(to_read[0])
        os.close(to_write[1])
        log.close()
        super().__init__()
        self.out, self.answers = os.fdopen(to_read[1], "wb", 0), {}
        self.numbers = itertools.count(1)
        threading.Thread(target=self._listen, args=(os.fdopen(to_write[0], "rb"),), daemon=True).start()
        self._attach(next(t["targetId"] for t in self._send("Target.getTargets")["targetInfos"] if t["type"] == "page"))

    def _attach(self, page):
        self.session, self.page = None, page
        self.session = self._send("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Runtime", "Page"):
            self._send(domain + ".enable")
        self._send("Page.addScriptToEvaluateOnNewDocument", source=COUNT_SOUNDS + FPS_MAX)

    # Tabs.

    def new_tab(self, address="about:blank"):
        """Opens a tab in front of all others. Gives its name."""
        return self._send("Target.createTarget", url=address)["targetId"]

    def front(self, tab):
        self._send("Target.activateTarget", targetId=tab)

    def close_tab(self, tab):
        self._send("Target.closeTarget", targetId=tab)

    def move_to(self, tab):
        """From now on this tab is the page that tells, and that hands touch."""
        self._attach(tab)

    def freeze(self, is_frozen):
        """As a browser does with a tab that nobody has seen for long: nothing runs there."""
        self._send("Page.setWebLifecycleState", state="frozen" if is_frozen else "active")

    def _listen(self, pipe):
        rest = b""
        while True:
            part = os.read(pipe.fileno(), 1 << 16)
            if not part:
                return
            *whole, rest = (rest + part).split(b"\0")
            with self.news:
                for message in map(json.loads, whole):
                    self._take(message)
                self.news.notify_all()

    def _take(self, message):
        if "id" in message:
            self.answers[message["id"]] = message
        elif message["method"] == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(message["params"]["exceptionDetails"])[:600])
        elif message["method"] == "Runtime.consoleAPICalled":
            text = str(message["params"]["args"][0].get("value", "")) if message["params"]["args"] else ""
            if message["params"]["type"] == "error":
                self.errors.append(text)
            try:
                note = json.loads(text[text.index("{"):])
            except ValueError:
                return
            note["at"] = message["params"]["timestamp"]
            self.notes.append(note)

    def _send(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if getattr(self, "session", None) and not method.startswith("Target."):
            message["sessionId"] = self.session
        self.out.write(json.dumps(message).encode() + b"\0")
        with self.news:
            if not self.news.wait_for(lambda: number in self.answers, 60):
                raise Failed(f"no answer to {method}")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise Failed(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, address):
        self._send("Page.navigate", url=address)

    def reload(self):
        """As F5 does. What comes afterwards is told by the page that is loaded now."""
        self.notes.append({"event": "places", "places": {}})
        self._send("Page.reload")

    def value(self, expression):
        """What an expression of the page comes to."""
        result = self._send("Runtime.evaluate", expression=expression, returnByValue=True, userGesture=True)
        if "exceptionDetails" in result:
            raise Failed(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def close(self):
        try:
            self._send("Browser.close")
        except (Failed, OSError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()

    # Hands.

    def touch(self, kind, *points):
        touches = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(points)]
        self._send("Input.dispatchTouchEvent", type=kind, touchPoints=touches)

    def tap(self, point, seconds=0.15):
        self.touch("touchStart", point)
        time.sleep(seconds)
        self.touch("touchEnd")
        time.sleep(PICTURE)

    def swipe(self, *ways):
        """Each finger goes its way, from its first point to its last, in steps."""
        steps = 6
        for n in range(steps + 1):
            at = [(a[0] + (b[0] - a[0]) * n / steps, a[1] + (b[1] - a[1]) * n / steps) for a, b in ways]
            self.touch("touchMove" if n else "touchStart", *at)
            time.sleep(PICTURE / 2)
        self.touch("touchEnd")
        time.sleep(PICTURE)

    def click(self, point, button="left"):
        x, y = point
        self._send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        time.sleep(PICTURE / 2)
        for kind in ("mousePressed", "mouseReleased"):
            self._send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1)
            time.sleep(PICTURE / 2)

    def dash(self, point, away):
        """A click, after which the mouse is elsewhere at once: all of it between two pictures."""
        for kind, (x, y) in (("mouseMoved", point), ("mousePressed", point), ("mouseReleased", point), ("mouseMoved", away)):
            button = "none" if kind == "mouseMoved" else "left"
            self._send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=int(button == "left"))

    def key(self, code, key, number, modifiers=0):
        for kind in ("rawKeyDown", "keyUp"):
            self._send("Input.dispatchKeyEvent", type=kind, code=code, key=key, windowsVirtualKeyCode=number,
                       modifiers=modifiers)
            time.sleep(PICTURE / 2)

    def drop(self, path, point):
        x, y = point
        data = {"items": [], "files": [path], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self._send("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def emulate(self, size, scale, touch):
        self._send("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=scale,
                   mobile=touch)
        self._send("Emulation.setTouchEmulationEnabled", enabled=touch, maxTouchPoints=5)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._send("Page.captureScreenshot", format="png")["data"]))
