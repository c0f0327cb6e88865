"""Plays on the page with fingers, mouse and keys, and checks what the page tells. Called by session.sh.

    session.py BROWSER ADDRESS WORK REPLAY [PICTURES]
"""

import os
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "window"))
from browser import Browser
from notes import Failed
from overlaps import misplaced

# What is looked at for clashes has the size of a usual window. Elsewhere drawing by software would cost more than the match.
LARGE, SMALL = (1280, 860), (640, 430)
PROGRAM, ADDRESS, WORK, REPLAY = sys.argv[1:5]
# What stands in the middle of a page that cannot go on.
STEP = "document.getElementById('step')?.textContent"
PICTURES = sys.argv[5] if len(sys.argv) > 5 else None


def say(text):
    print(f"web: {text}", flush=True)


def check(holds, text):
    if not holds:
        raise Failed(text)


def started(name, options=(), size=SMALL):
    return Browser(PROGRAM, os.path.join(WORK, name), size, options)


def calm(browser, where):
    clash = browser.last("clash")
    check(clash is None or clash["value"] is None, f"{where}: {clash}")


def settled_in(browser, size):
    """In a page of this size nothing lies over anything else, once the picture has followed."""
    told = lambda: browser.last("places")["places"]
    browser.wait(f"a page {size[0]} wide", lambda: abs(told()["view 1"][2] - size[0]) <= 1)
    browser.patiently(lambda: misplaced(told(), *size) + browser.clashes(), f"a page of {size}")


def keep(browser, name):
    if PICTURES:
        browser.picture(os.path.join(PICTURES, f"{name}.png"))


def with_mouse():
    browser = started("mouse", size=LARGE)
    browser.open(ADDRESS + "/?seed=7&units=60&map=lakes&loss=20&latency_ms=80")
    browser.wait("the first picture", lambda: browser.last("places"), 150)
    first = browser.last("places")["at"] - browser.value("performance.timeOrigin")
    say(f"the first picture came after {first / 1e3:.1f} s")
    told = browser.wait("the match", lambda: browser.last("match"))["value"]
    check(told == {"seed": 7, "units": 60, "map": "The lakes", "loss_ppm": 200000, "latency_ms": 80}, f"not as the address says: {told}")

    say("the browser keeps its menu to itself; F12 and other keys stop nothing")
    prevented = "!glcanvas.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true }))"
    check(browser.value(prevented), "a right click opens the browser's menu")
    browser.key("F12", "F12", 123)
    browser.until("help", lambda: browser.key("F1", "F1", 112), lambda note: note.get("event") == "help" and note["value"])
    calm(browser, "help")
    browser.until("no help", lambda: browser.key("F1", "F1", 112), lambda note: note.get("event") == "help" and not note["value"])

    say("an order is heard, and after M it is not")
    selected = lambda note: note.get("event") == "selection" and note["units"] > 0
    browser.until("a selection", lambda: browser.click(browser.place("choose all")), selected)
    walk = lambda: browser.click(browser.place("view 1", 40, 60), "right")
    # Somebody may stand there by now, and the walk is an attack.
    ordered = lambda note: note.get("event") == "order"
    browser.until("a walk", walk, ordered)
    browser.wait("a sound", lambda: browser.value("window.soundsStarted") > 0)
    browser.until("muted", lambda: browser.key("KeyM", "m", 77), lambda note: note.get("event") == "muted" and note["value"])
    before = browser.value("window.soundsStarted")
    browser.until("a walk", walk, ordered)
    check(browser.value("window.soundsStarted") == before, "something was heard although the sound is off")

    say("Prediction, by button and by key: the own order moves units ahead of the match, and nothing stops")
    switched = lambda value: lambda note: note.get("event") == "prediction" and note["value"] == [0, value]
    browser.until("prediction", lambda: browser.click(browser.place("prediction 1")), switched(1))
    time.sleep(1)
    for n in range(3):
        browser.until("a walk", lambda: browser.click(browser.place("view 1", 30 + 10 * n, 60), "right"), ordered)
        time.sleep(1)
    keep(browser, "prediction")
    calm(browser, "prediction")
    browser.until("no prediction", lambda: browser.key("KeyV", "v", 86), switched(0))
    foreseen = browser.wait("how it came out", lambda: browser.last("foreseen"))
    check(foreseen["corrections"] > 0 and foreseen["turns_right"] > 0, f"nothing was predicted: {foreseen}")

    say("the machine's clock is set back, and the battle goes on")
    browser.value("Date.now = () => 0")
    before = browser.last("order")["turn"]
    later = lambda note: ordered(note) and note["turn"] > before + 10
    browser.until("a later turn", lambda: browser.click(browser.place("view 1", 40, 60), "right"), later)

    say("Cmd V pastes a code")
    browser.until("the menu", lambda: browser.key("F10", "F10", 121), lambda note: note.get("event") == "menu" and note["value"])
    browser.wait("its other page", lambda: "friends" in browser.last("places")["places"])
    browser.click(browser.place("friends"))
    browser.wait("its other page", lambda: "join match" in browser.last("places")["places"])
    browser.value("""{
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', 'nonsense');
      dispatchEvent(new ClipboardEvent('paste', { clipboardData }));
    }""")
    browser.key("KeyV", "v", 86, modifiers=4)
    refused = lambda note: note.get("event") == "refused"
    why = browser.until("a refusal", lambda: browser.click(browser.place("join match")), refused)["value"]
    check("damaged" in why, f"it was not pasted: {why}")
    browser.until("no menu", lambda: browser.key("Escape", "Escape", 27), lambda note: note.get("event") == "menu" and not note["value"])

    say("a button says what it does while the mouse is over it")
    browser.click(browser.place("choose all"))
    browser.wait("a tooltip", lambda: "tooltip" in browser.last("places")["places"])

    say("a click counts where it was made, though the mouse is elsewhere in the next picture")
    before = browser.count(event="speed_percent")
    for name in ["faster", "slower"] * 3:
        browser.dash(browser.place(name), browser.place("view 1"))
    browser.wait("six changes of the speed", lambda: browser.count(event="speed_percent") == before + 6)

    say("a page that moves to finer pixels stays as large as it is, and is drawn with all of them")
    browser.emulate(LARGE, 1, False)
    browser.wait("the whole page", lambda: browser.last("places")["places"]["view 1"][3] > 650)
    before = browser.last("places")["places"]
    browser.emulate(LARGE, 2, False)
    browser.wait("twice the pixels", lambda: browser.value("glcanvas.width == 2 * glcanvas.clientWidth"))
    time.sleep(2)
    after = browser.last("places")["places"]
    for name in ("view 1", "menu", "unfold", "choose all"):
        check(max(abs(a - b) for a, b in zip(before[name], after[name])) <= 2, f"{name} was at {before[name]}, and is at {after[name]}")
    browser.until("a selection", lambda: browser.click(browser.place("choose all")), selected)
    calm(browser, "finer pixels")
    keep(browser, "finer")
    browser.emulate(LARGE, 1, False)
    browser.wait("the pixels of before", lambda: browser.value("glcanvas.width == glcanvas.clientWidth"))
    # No check of what lies over what follows.
    browser.emulate(SMALL, 1, False)
    browser.wait("the small page", lambda: browser.last("places")["places"]["view 1"][2] <= SMALL[0])

    say("G and a digit name a group: Ctrl and a digit belong to the browser")
    def group():
        browser.key("KeyG", "g", 71)
        browser.key("Digit5", "5", 53)
    browser.until("a group", group, lambda note: note.get("event") == "order" and note["command"] == "assign")
    keep(browser, "mouse")

    say("a damaged replay is refused, a whole one plays")
    damaged = os.path.join(WORK, "damaged.replay")
    with open(REPLAY, "rb") as whole, open(damaged, "wb") as half:
        half.write(whole.read()[:40])
    middle = browser.place("view 1")
    browser.until("refusal", lambda: browser.drop(damaged, middle), lambda note: note.get("event") == "refused")
    browser.until("a replay", lambda: browser.drop(REPLAY, middle), lambda note: note.get("event") == "dropped" and note["value"] == "replay")
    browser.wait("the replay's window", lambda: "play" in browser.last("places")["places"])
    browser.wait("its comparison", lambda: browser.last("checked"))
    check(browser.last("checked")["divergent_turn"] is None, f"{browser.last('checked')}")
    keep(browser, "replay")
    copied = lambda note: note.get("event") == "link"
    link = browser.until("a link", lambda: browser.click(browser.place("share")), copied)["value"]
    check(link.startswith(ADDRESS + "/#battle="), f"no link to this page: {link}")
    check(browser.value("clipboardOpen") is True, "the link was not copied")
    say("a page that may not copy knows that")
    browser.value("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    browser.until("a link", lambda: browser.click(browser.place("share")), copied)
    check(browser.value("clipboardOpen") is False, "the page takes the link for copied")
    keep(browser, "copied")
    check(not browser.errors, f"the page complained: {browser.errors}")
    browser.close()
    return link


def with_fingers():
    browser = started("fingers")
    browser.emulate((412, 800), 2, True)
    browser.open(ADDRESS + "/?units=60&seed=3")
    browser.wait("the first picture", lambda: browser.last("places"), 150)
    check(browser.value("glcanvas.width") == 2 * browser.value("glcanvas.clientWidth"), "twice the pixels are not used")
    rows = browser.value("document.getElementById('about').clientHeight")
    check(rows < 45, f"the line below the battle has too many rows: {rows} pixels")
    view = browser.last("places")["places"]["view 1"]
    check(view[2] <= 412, f"sizes are not those of the page: {view}")
    calm(browser, "portrait")
    keep(browser, "portrait")

    say("a tap on the menu offers maps and bots; another battle begins")
    menu = lambda note: note.get("event") == "menu" and note["value"]
    browser.until("the menu", lambda: browser.tap(browser.place("menu")), menu)
    browser.wait("its buttons", lambda: "start" in browser.last("places")["places"])
    calm(browser, "menu")
    keep(browser, "menu")
    # In a page of 640x360 there is little room for its rows.
    for size in [(640, 360), (844, 390), (360, 640)]:
        browser.emulate(size, 2, True)
        settled_in(browser, size)
    browser.emulate((412, 800), 2, True)
    settled_in(browser, (412, 800))
    def another():
        browser.tap(browser.place("bot easy"))
        browser.tap(browser.place("map pass"))
        browser.tap(browser.place("start"))
    browser.until("another battle", another, lambda note: note.get("event") == "match" and note["value"]["map"] == "The pass")
    browser.emulate((900, 500), 2, True)
    browser.wait("the wide view", lambda: browser.last("places")["places"]["view 1"][2] > 800)

    say("one finger draws a box")
    box = lambda: browser.swipe((browser.place("view 1", 3, 8), browser.place("view 1", 47, 60)))
    browser.until("a selection", box, lambda note: note.get("event") == "selection" and note["units"] > 10)
    say("a tap is a click")
    browser.until("all", lambda: browser.tap(browser.place("choose all")), lambda note: note.get("event") == "selection" and note["units"] == 60)

    # The mouse of the window library stays where the finger was.
    time.sleep(1)
    check("tooltip" not in browser.last("places")["places"], "the tooltip of a tapped button stays")

    say("a tap opens the help, and a tap anywhere closes it")
    shows_help = lambda value: lambda note: note.get("event") == "help" and note["value"] is value
    browser.until("help", lambda: browser.tap(browser.place("help")), shows_help(True))
    keep(browser, "help")
    calm(browser, "help")
    browser.until("no help", lambda: browser.tap(browser.place("view 1")), shows_help(False))

    say("a finger held still sends them there")
    def held():
        # Otherwise a finger that is not held long enough for slow pictures would be a click, and select nobody.
        browser.tap(browser.place("choose all"))
        browser.tap(browser.place("view 1", 45, 70), 3)
    browser.until("a walk", held, lambda note: note.get("event") == "order" and note["units"] > 0)
    browser.until("a selection", lambda: browser.tap(browser.place("choose all")), lambda note: note.get("event") == "selection")
    def attack():
        browser.tap(browser.place("choose all"))
        browser.tap(browser.place("attack"))
        browser.tap(browser.place("view 1", 60, 45))
    browser.until("an attack", attack, lambda note: note.get("event") == "order" and note["command"] in ("attack", "strike"))
    # The same tap must not be a second click, which would let go of everybody.
    time.sleep(3)
    check(browser.last("selection")["units"] == 60, f"after an attack: {browser.last('selection')}")

    say("two fingers apart zoom in, side by side they move the picture")
    browser.wait("a camera at rest", lambda: browser.last("camera"))
    middle, first = browser.place("view 1"), browser.last("camera")["value"]
    held = browser.settled("closer", lambda: browser.swipe(
        (browser.place("view 1", 45, 50), browser.place("view 1", 30, 50)),
        (browser.place("view 1", 55, 50), browser.place("view 1", 70, 50))),
        lambda before, now: now[2] > 1.5 * before[2])
    check(max(abs(a - b) for a, b in zip(held[:2], first[:2])) < 3, f"what was between the fingers at {middle} is elsewhere now: {held}")
    browser.settled("moved", lambda: browser.swipe(
        (browser.place("view 1", 40, 60), browser.place("view 1", 60, 60)),
        (browser.place("view 1", 50, 60), browser.place("view 1", 70, 60))),
        lambda before, now: now[0] < before[0] - 1 and abs(now[2] / before[2] - 1) < 0.1)
    keep(browser, "touch")
    check(not browser.errors, f"the page complained: {browser.errors}")

    say("after a panic one sentence says so")
    browser.value("console.error('panicked at a place that is none')")
    check("has stopped" in browser.value(STEP), "the page does not say that the program has stopped")
    browser.close()


def with_a_link(link):
    browser = started("link")
    browser.open(link)
    browser.wait("the match of the link", lambda: browser.last("checked"), 150)
    check(browser.last("checked")["divergent_turn"] is None, f"the link leads to another match: {browser.last('checked')}")
    check(browser.last("checked")["turns"] > 10, f"{browser.last('checked')}")
    keep(browser, "link")
    browser.close()
    browser = started("cut")
    browser.open(link[:-20])
    browser.wait("a sentence about the link", lambda: "copy the whole link" in (browser.value(STEP) or ""), 150)
    browser.close()


def with_a_wrong_address():
    browser = started("wrong")
    browser.open(ADDRESS + "/?map=moon&units=abc&seed=4&loss=400&colour=red")
    told = browser.wait("the match", lambda: browser.last("match"), 150)["value"]
    check(told == {"seed": 4, "units": 200, "map": "The ford", "loss_ppm": 20000, "latency_ms": 60}, f"not the usual match: {told}")
    said = browser.value("document.getElementById('verdict').textContent")
    check(all(name in said for name in ("map is one of", "units is a number", "loss is a number", "no setting colour")), f"the page says only: {said}")
    check("seed" not in said, f"the page refuses a good seed: {said}")
    browser.close()


def without_webgl():
    browser = started("flat", ["--disable-3d-apis"])
    browser.open(ADDRESS + "/")
    told = lambda: "WebGL" in (browser.value(STEP) or "")
    browser.wait("a sentence about WebGL", told)
    browser.close()


try:
    link = with_mouse()
    say("the link that a replay copies plays it in another browser; a part of it is refused with a sentence")
    with_a_link(link)
    with_fingers()
    say("what cannot be meant in an address is named, and the usual battle begins")
    with_a_wrong_address()
    say("without WebGL one sentence says so")
    without_webgl()
except Failed as failure:
    say(f"FAILED: {failure}")
    sys.exit(1)
