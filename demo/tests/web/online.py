"""A person at a window and a person at a page play one match through a relay. Called by online.sh.

    online.py BROWSER PROGRAM PAGE WORK [PICTURES]

The page is hidden, frozen, closed and opened again. Neither player is a bot, but while one is away. All checksums that both note have to be
equal.
"""

import os
import re
import subprocess
import sys
import threading

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "window"))
from browser import Browser
from notes import Failed
from overlaps import misplaced
from window import Window

CHROMIUM, PROGRAM, PAGE, WORK = sys.argv[1:5]
PICTURES = sys.argv[5] if len(sys.argv) > 5 else None
# What the engines say of themselves is shown after a failure.
os.environ.setdefault("TESTUDO_LOG", "testudo_lockstep=info")

# Drawing by software costs more than the match. Pictures for a document are larger.
SMALL, LARGE = (640, 430), (1280, 860)
# What some browsers leave of a small window below their own bars.
LOWEST = (600, 250)
# Phones, held sideways and upright: no two are equally wide.
PHONES = [(640, 360), (667, 375), (740, 360), (844, 390), (360, 640), (390, 844)]
# The match goes on until all is checked, and has so many turns then.
PLAYED = 300
# What a return may take on a slow machine, seconds: half a minute until a bot plays on, and a state that goes out picture by picture.
RETURN = 200
# What a slow machine may take to see that somebody is gone, which a quick one sees after eight seconds.
GONE = 120
UNITS = 40

OPEN = []


def say(text):
    print(f"web: {text}", flush=True)


def check(holds, text):
    if not holds:
        raise Failed(text)


class Relay:
    """A relay that serves the page."""

    def __init__(self):
        command = [PROGRAM, "relay", "--bind", "127.0.0.1:0", "--web", "127.0.0.1:0", "--web-root", PAGE]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = [self.process.stderr.readline() for _ in range(3)]
        try:
            self.code, self.page, self.opens = (
                re.fullmatch(form, line.strip())[1]
                for form, line in zip(["relay at (.*)", "page at (.*)", "page that opens a room: (.*)"], said))
        except TypeError:
            raise Failed(f"the relay says {said}") from None
        self.lines = []
        threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True).start()

    def end(self):
        self.process.kill()
        self.process.wait()


class Bot:
    """The program without a window comes by a code, and a bot plays there."""

    def __init__(self, code):
        join = [PROGRAM, "join", code, "--bot", "--headless", "--no-replay"]
        environment = dict(os.environ, XDG_STATE_HOME=os.path.join(WORK, "guest"))
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        self.process = subprocess.Popen(join, env=environment, **quiet)

    def end(self):
        self.process.kill()
        self.process.wait()


def begin(thing):
    OPEN.append(thing)
    return thing


def window(name, *arguments):
    return begin(Window(PROGRAM, os.path.join(WORK, name), [*arguments, "--name", name, "--no-replay"]))


def page(name, size=SMALL):
    browser = Browser(CHROMIUM, os.path.join(WORK, name), size)
    browser.end, browser.folder = browser.close, os.path.join(WORK, name)
    return begin(browser)


def latest(teller, player):
    """The turn of a player's latest order that has run; before the first one, -1."""
    with teller.news:
        return max((note["turn"] for note in teller.notes if note.get("event") == "ran" and note["player"] == player), default=-1)


def orders(person, player, other):
    """A person orders all units somewhere, until that has run at the other's, too."""
    after = max(latest(person, player), latest(other, player))
    person.wait("the battle", lambda: "choose all" in person.last("places")["places"])
    person.until("a selection", lambda: person.click(person.place("choose all")),
                 lambda note: note.get("event") == "selection" and note["units"] > 0)
    given = [0]

    def walk():
        given[0] += 7
        person.click(person.place("view 1", 35 + given[0] % 30, 60), "right")
    person.until("an order", walk, lambda note: note.get("event") == "order")
    seen = lambda: latest(other, player) > after
    # Slow pictures skip turns, and the order may have run in one of them: it is given again.
    for _ in range(12):
        try:
            return other.wait(f"an order of player {player}", seen, 10)
        except Failed:
            walk()
    other.wait(f"an order of player {player}", seen, 10)


def turns(teller):
    return (teller.last("checksum") or {"turns": 0})["turns"]


def checksums(teller):
    with teller.news:
        return {note["turns"]: note["value"] for note in teller.notes if note.get("event") == "checksum"}


def compare(here, there):
    ours, theirs = checksums(here), checksums(there)
    common = sorted(set(ours) & set(theirs))
    wrong = [turn for turn in common if ours[turn] != theirs[turn]]
    check(not wrong, f"checksums differ from turn {wrong[:1]} on")
    return common


def deeds(teller, after, before):
    """What ran in these turns."""
    with teller.news:
        ran = [note for note in teller.notes if note.get("event") == "ran" and after < note["turn"] < before]
    return sorted({(note["turn"], note["player"], note["command"]) for note in ran})


def returns(host, guest, link, tab):
    """The page is frozen, then closed and opened again. It comes back by state. Says after which turn."""
    say("frozen by the browser, the page is stood in for by a bot, and comes back by state")
    guest.freeze(True)
    host.wait("the others' going on", lambda: host.last("gone"), GONE)
    guest.freeze(False)
    # This sets the page apart from those that are seen.
    guest.new_tab()
    guest.front(tab)
    host.wait("the return", lambda: host.count(event="back", value=1) == 1, RETURN)
    orders(guest, 1, host)

    say("closed and opened again with the same code, it has its place again")
    again = guest.new_tab()
    guest.close_tab(tab)
    host.wait("the others' going on", lambda: host.count(event="gone", value=1) == 2, GONE)
    guest.move_to(again)
    guest.notes.append({"event": "places", "places": {}})
    known = guest.count(event="checksum")
    guest.open(link)
    host.wait("the return", lambda: host.count(event="back", value=1) == 2, RETURN)
    # Whoever has come back tells of turns that it has played itself. What the bot ordered before, it got with the state.
    guest.wait("a checksum of its own", lambda: guest.count(event="checksum") > known, RETURN)
    returned = turns(guest)
    orders(guest, 1, host)
    orders(host, 0, guest)
    return returned


def play():
    relay = begin(Relay())
    host = window("Ada", "host", "--relay", relay.code, "--page", relay.page, "--units", str(UNITS), "--seed", "7")
    link = host.line("link 2: ")
    check(link.startswith(relay.page + "#"), f"not a link to the page: {link}")
    guest = page("Bob")
    guest.open(link)
    host.resize(SMALL)
    guest.wait("the first picture", lambda: guest.last("places"), 150)
    first = guest.last("places")["at"] - guest.value("performance.timeOrigin")
    say(f"the first picture came after {first / 1e3:.1f} s")
    for person in (host, guest):
        person.wait("the first turn", lambda: person.last("started"), 150)

    say("orders of both run at both")
    orders(guest, 1, host)
    orders(host, 0, guest)

    say("hidden, the page goes on, and nobody waits for it")
    before, tab = turns(host), guest.page
    cover = guest.new_tab()
    guest.wait("a hidden page", lambda: (guest.last("hidden") or {}).get("value") is True)
    # A page that stood still would hold the match after two turns. A busy machine plays fewer than 50 in 10 s, and a quick one 100.
    host.wait("turns while the page is hidden", lambda: turns(host) - before >= 50, 120)
    check(host.last("gone") is None, "the hidden page was taken for lost")
    guest.close_tab(cover)
    guest.front(tab)
    guest.wait("a visible page", lambda: guest.last("hidden")["value"] is False)
    orders(guest, 1, host)
    say(f"... {turns(host) - before} turns meanwhile; {len(compare(host, guest))} checksums equal")

    returned = returns(host, guest, link, tab)
    # What is compared has the last order in it: a busy machine may end with the turn of that order, and miss it.
    wanted = max(PLAYED, 1 + max(latest(person, player) for person in (host, guest) for player in (0, 1)))
    # Slow pictures skip turns, so the same turn has to be in the notes of both.
    host.wait("more turns", lambda: max(set(checksums(host)) & set(checksums(guest)), default=0) >= wanted, 300)
    common = compare(host, guest)
    # What ran is told at the end of a picture, and a checksum before it: all is told where there is the checksum of a later picture.
    for person in (host, guest):
        person.wait("a later picture", lambda: turns(person) > common[-1], 60)
    ran = [deeds(person, returned, common[-1]) for person in (host, guest)]
    check(ran[0] == ran[1] and len(ran[0]) >= 2, f"orders ran in other turns: {ran}")
    check(host.last("differs") is None and guest.last("differs") is None, "somebody was told of a difference")
    check(not guest.errors, f"the page complained: {guest.errors}")
    say(f"... {common[-1]} turns; {len(common)} checksums in the notes of both, all equal")


def shows(person, wanted, pressed):
    """Presses one place until another one is there. (What is slow to come is not pressed away again.)"""
    there = lambda name: name in person.last("places")["places"]
    for _ in range(20):
        if there(pressed):
            person.click(person.place(pressed))
        try:
            return person.wait(f"'{wanted}'", lambda: there(wanted), 6)
        except Failed:
            pass
    raise Failed(f"'{pressed}' does not lead to '{wanted}'")


def lobby(person, size):
    """In a page of this size nothing of the lobby lies over anything else. (The QR code lay over "I am ready".)"""
    told = lambda: person.last("places")["places"]
    person.wait(f"a lobby {size[0]} wide", lambda: "lobby" in told() and told()["view 1"][2] == size[0])
    person.patiently(lambda: misplaced(told(), *size) + person.clashes(), f"a lobby in a page of {size}")


def from_a_page():
    say("a page opens a room, and the program comes to it")
    relay = begin(Relay())
    host = page("Cleo")
    host.open(relay.opens.replace("#", "?units=20&seed=3&turns=60#"))
    code = host.wait("codes", lambda: host.last("codes"), 150)["value"][0]
    host.wait("its QR code", lambda: "qr" in host.last("places")["places"])
    check("copy own" in host.last("places")["places"], "the lobby does not give the code for coming back")
    for size in PHONES:
        host.emulate(size, 1, False)
        lobby(host, size)
    host.emulate(SMALL, 1, False)
    lobby(host, SMALL)
    shows(host, "qr large", "qr")
    shows(host, "qr", "qr large")
    lobby(host, SMALL)
    say("loaded again, it is in the same room, and still has the others' links")
    reloaded(host, code)
    guest = begin(Bot(code))
    host.wait("compared turns", lambda: turns(host) >= 10, 150)
    guest.end()
    check(host.last("differs") is None, "the page was told of a difference")
    host.wait("the last turn", lambda: host.last("end"), 150)
    step = lambda: host.value("document.getElementById('step')?.textContent") or ""
    host.key("KeyQ", "q", 81, modifiers=2)
    host.wait("a sentence about the end", lambda: "match is over" in step())
    check("#open=" in host.value("location.href"), "loaded again, it would not open another room")
    opener_returns(host, relay)
    host.close()
    relay.end()


def reloaded(host, code):
    """The page that has opened a room is loaded again: it is where it was, and its lobby has this code for the next player."""
    known = host.count(event="codes")
    host.reload()
    host.wait("codes after the reload", lambda: host.count(event="codes") > known, 150)
    check(host.last("codes")["value"][0] == code, "the reload has opened another room")


def opener_returns(host, relay):
    say("loaded again during a match, the page that has opened the room comes back to its place")
    known = host.count(event="codes")
    host.open(relay.opens.replace("#", "?units=20&seed=3&name=Cleo#"))
    host.wait("another room", lambda: host.count(event="codes") > known, 150)
    code, played = host.last("codes")["value"][0], host.count(event="checksum")
    guest = begin(Bot(code))
    host.wait("compared turns", lambda: host.count(event="checksum") >= played + 3, 150)
    before = turns(host)
    reloaded(host, code)
    host.wait("turns after the return", lambda: turns(host) >= before + 20, RETURN)
    check(host.last("differs") is None, "the page was told of a difference")
    guest.end()


def while_it_flows(person, take):
    """A picture while nobody is waited for. (On a busy machine all four showed whom they waited for.)"""
    for _ in range(60):
        person.wait("the others", lambda: not (person.last("waits") or {"value": False})["value"], 120)
        before = person.count(event="waits")
        picture = take()
        if person.count(event="waits") == before:
            return picture
    raise Failed("somebody was waited for in every picture")


def four():
    """Two windows and two pages in one match, and a picture of each."""
    say("two windows and two pages in one match")
    relay = begin(Relay())
    host = window("Dora", "host", "--relay", relay.code, "--page", relay.page, "--players", "4", "--units", "60", "--seed", "5")
    links = [host.line(f"link {place}: ") for place in (2, 3, 4)]
    second = window("Emil", "join", links[0].split("#")[1])
    pages = [page("Finn", LARGE), page("Gus", LARGE)]
    for tab, link in zip(pages, links[1:]):
        tab.open(link.replace("#", f"?name={os.path.basename(tab.folder)}#"))
    people = [host, second, *pages]
    for person in people:
        person.wait("the first turn", lambda: person.last("started"), 200)
    for number, person in enumerate(people):
        orders(person, number, people[number - 1])
    for person in people:
        person.wait("turns", lambda: turns(person) >= 20, 200)
    for number, person in enumerate(people):
        name = os.path.join(PICTURES, f"four-{number}.png")
        if number < 2:
            os.replace(while_it_flows(person, lambda: person.picture("four")), name)
        else:
            while_it_flows(person, lambda: person.picture(name))
    for person in people[1:]:
        check(len(compare(host, person)) >= 3, "too few checksums")


def refusals():
    say("a damaged code, a room that is too large, and a code that opens nothing are told in one sentence each")
    relay = begin(Relay())
    lost = page("Eve")
    step = lambda: lost.value("document.getElementById('step')?.textContent") or ""
    lost.open(relay.page + "#" + relay.code[:-3])
    lost.wait("a sentence about the code", lambda: "code" in step())
    lost.open("about:blank")
    # A room of as many units as no page plays has fewer of them. A lobby of sixteen needs a larger page.
    lost.emulate(LARGE, 1, False)
    lost.open(relay.opens.replace("#", "?players=16&units=5000&turns=0#"))
    codes = lost.wait("a room", lambda: lost.last("codes"), 150)["value"]
    said = lost.value("document.getElementById('verdict').textContent")
    check("turns is a number from 1 to 1000000" in said, f"a room for no turn is not refused: {said}")
    check("each of 16 players may have 1250" in said and len(codes) == 15, f"a room for 80,000 units is not refused: {said}")
    lost.open("about:blank")
    lost.open(relay.page + "#" + relay.code)
    lost.wait("a refusal", lambda: "opens no place" in ((lost.last("error") or {}).get("value") or ""), 150)
    # Its second sentence is long. How high the page is in a window depends on the browser.
    told = lambda: lost.last("places")["places"]
    for size in (LOWEST, PHONES[1], SMALL):
        lost.emulate(size, 1, False)
        lost.wait(f"its card in {size}", lambda: "card" in told() and told()["view 1"][2] == size[0])
        lost.patiently(lambda: misplaced(told(), *size) + lost.clashes(), f"a refusal in {size}")
    lost.close()
    relay.end()


try:
    refusals()
    if PICTURES:
        four()
    else:
        from_a_page()
        play()
except Failed as failure:
    for thing in OPEN:
        for note in getattr(thing, "notes", [])[-12:]:
            say(f"   {type(thing).__name__}: {str(note)[:160]}")
        for line in getattr(thing, "lines", [])[-12:]:
            say(f"   {type(thing).__name__}: {line.rstrip()[:200]}")
    say(f"FAILED: {failure}")
    sys.exit(1)
finally:
    for thing in reversed(OPEN):
        thing.end()
