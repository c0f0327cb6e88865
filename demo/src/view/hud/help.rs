//! The help: what mouse and keys do, or fingers.

use macroquad::math::{Rect, vec2};

use crate::view::widgets::ui::Ui;
use testudo_render::paint::palette::{BACKDROP, LINE, PANEL, TEXT, TEXT_DIM, army, faded};
use testudo_render::paint::pen::{LARGE, SMALL};
use testudo_render::paint::screen;

/// The help of a window.
pub(crate) struct Help {
    title: &'static str,
    lead: [&'static str; 2],
    /// Two columns of at most ten lines each; and those for whoever has no mouse.
    lines: Lines,
    fingers: Lines,
}

/// Key or gesture, and its effect.
type Lines = [&'static [(&'static str, &'static str)]; 2];

/// Script name of what closes the help: all of the picture.
pub(crate) const CLOSE: &str = "close help";

/// A battle with fingers.
const FINGERS: Lines = [
    &[
        ("tap, drag a box", "select units"),
        ("tap twice", "select its kind"),
        ("badges", "tap: that group; twice: look there"),
        ("hold", "just go there, or attack an enemy"),
        ("nobody selected", "hold: recruits gather there"),
    ],
    &[
        ("Attack, then tap", "attack on the way to there"),
        ("small map", "tap: look there; hold: go there"),
        ("two fingers", "move the picture"),
        ("pinch", "zoom"),
    ],
];

/// What an army is told, and what is drawn of the physics, in every battle.
const ORDERS: &[(&str, &str)] = &[
    ("click, drag a box", "select units"),
    ("double click, Ctrl A", "select its kind, everybody"),
    ("shift", "add or remove; queue an order"),
    ("right click", "just go there, or attack an enemy"),
    ("nobody selected", "right click: recruits gather there"),
    ("right drag", "line up, front to its left"),
    ("A or P, then click", "attack, or patrol, to there"),
    ("S, H", "stop, hold ground"),
    ("Ctrl 1-9 or G 1-9", "make a group; 1-9 selects it"),
    ("minimap", "left: look there; right: go there"),
];
const LAYERS: (&str, &str) = ("F2 to F7", "what the physics sees");

/// Help for the match side by side.
pub(crate) const SKIRMISH: Help = Help {
    title: "Two simulated computers, one battle",
    lead: [
        "Bring down the enemy's keep, or its whole army with all recruits that are still to come: then the keep falls by itself. Guards hit hardest after a run, archers shoot over water.",
        "Two simulated computers in this window each compute the whole battle; only orders travel between them, and both compare checksums. testudo host plays between real ones.",
    ],
    lines: [
        ORDERS,
        &[
            ("arrows, edges", "move the camera"),
            ("middle drag, wheel", "move, zoom"),
            ("Home", "show both armies"),
            ("Tab, F9, F10", "two views, text size, menu"),
            ("V", "prediction: own orders at once"),
            ("Space, N", "pause, one frame"),
            ("- and +, M", "slower, faster, sound off or on"),
            LAYERS,
            // A page leaves these to the browser.
            #[cfg(not(target_arch = "wasm32"))]
            ("F12, Ctrl Q", "save a picture, quit"),
        ],
    ],
    fingers: FINGERS,
};

/// Help for the cubes.
pub(crate) const CUBES: Help = Help {
    title: "One scene twice, six keys in between",
    lead: [
        "You play on the left. On the right a second simulation in this window computes the same scene about two seconds later, from your keys alone. Every frame's checksum is compared.",
        "F shows the same in f32. There the right side also takes its contacts in another order in every frame, as other machines or threads would: sums of floats depend on it.",
    ],
    lines: [
        &[
            ("arrows", "push your cube"),
            ("Space", "lift it and blow the others away"),
            ("Z", "gather the others and roll them along"),
            ("wheel, Home", "zoom, show the whole field"),
        ],
        &[
            ("P or Esc", "pause"),
            ("N", "one frame"),
            ("F", "the same in f32: it drifts apart"),
            ("A", "let an autopilot play"),
            ("R", "start again"),
            // A page leaves these to the browser.
            #[cfg(not(target_arch = "wasm32"))]
            ("F12, Ctrl Q", "save a picture, quit"),
        ],
    ],
    fingers: [
        &[("hold an arrow", "push your cube"), ("hold Space, Z", "lift it and blow, gather")],
        &[("You play", "tap: let an autopilot play"), ("Shown", "tap: the same in f32, or fixed point")],
    ],
};

/// Help for a network match.
pub(crate) const NETWORK: Help = Help {
    title: "One of several computers, one battle",
    lead: [
        "Bring down the enemy's keep, or its whole army with all recruits that are still to come: then the keep falls by itself. Guards hit hardest after a run, archers shoot over water.",
        "Every computer simulates the whole battle; only orders travel. Each runs in the same turn everywhere, and all compare checksums.",
    ],
    lines: [
        ORDERS,
        &[
            ("arrows, edges", "move the camera"),
            ("middle drag, wheel", "move, zoom"),
            ("Home", "show all armies"),
            ("Space", "pause, for everybody"),
            ("V", "prediction: own orders at once"),
            ("Network, then out", "vote a player out"),
            ("M, F9", "sound off or on, text size"),
            LAYERS,
            #[cfg(not(target_arch = "wasm32"))]
            ("F12, Ctrl Q", "save a picture, leave: it asks first"),
            #[cfg(target_arch = "wasm32")]
            ("close the tab", "leave: a bot plays on for you"),
        ],
    ],
    fingers: FINGERS,
};

/// Help for a replay.
pub(crate) const REPLAY: Help = Help {
    title: "A match played again",
    lead: [
        "Only orders were recorded. The battle is simulated again and compared with the recorded checksums.",
        "The strip below is green where they are equal. The curves above it are the units alive, the bars the kills.",
    ],
    lines: [
        &[
            ("Space", "play, pause"),
            ("N, B", "one frame on, one frame back"),
            ("left, right", "5 seconds back or on"),
            ("Home, End", "to the start, to the end"),
            ("click, drag below", "to any frame"),
            ("X", "to the first difference"),
            ("- and +, M", "slower, faster, sound off or on"),
            ("1-9", "follow a player, orders included"),
            ("0 or Esc", "follow nobody"),
        ],
        &[
            ("W A S D, edges", "move the camera"),
            ("middle drag, wheel", "move, zoom"),
            ("minimap", "click: look there"),
            ("C", "show all armies"),
            LAYERS,
            // A page leaves these to the browser.
            #[cfg(not(target_arch = "wasm32"))]
            ("F12, Ctrl Q", "save a picture, quit"),
        ],
    ],
    fingers: [
        &[("tap, drag below", "to any frame"), ("two fingers", "move the picture")],
        &[("small map", "tap: look there"), ("pinch", "zoom")],
    ],
};

/// Heights of a line of the lead, and of what stands below the lines, pixels.
const LEAD: f32 = 18.0;
const BELOW: f32 = 32.0;

/// Covers the views with the help. True: a click or a tap closes it, wherever that is.
pub(crate) fn draw(ui: &mut Ui, around: Rect, help: &Help) -> bool {
    ui.pen.fill(around, faded(BACKDROP, 0.6));
    let (lines, closes) = match ui.is_touched {
        true => (help.fingers, "A tap closes this"),
        false => (help.lines, "F1, Esc or a click closes this"),
    };
    let width = 860.0_f32.min(around.w - 20.0);
    // On narrow screens the letters are smaller, and the columns stand one below the other.
    let (size, keys, line): (f32, f32, f32) = match width {
        700.0.. => (SMALL, 132.0, 25.0),
        560.0.. => (11.0, 112.0, 25.0),
        _ => (12.0, 126.0, 19.0),
    };
    let is_stacked = width < 560.0;
    let [left, right] = lines.map(<[_]>::len);
    let rows = if is_stacked { left + right } else { left.max(right) };
    let lead = help.lead.join(" ");
    let told = ui.pen.lines(&lead, width - 48.0, SMALL).len();
    // On a phone that lies on its side, lines are closer, or the last one would leave the screen.
    let (top, room) = ((76.0 + told as f32 * LEAD).max(132.0), screen::size().y - 8.0);
    let line = line.min((room - top - BELOW) / rows as f32);
    let height = top + rows as f32 * line + BELOW;
    let y = (around.y + (around.h - height) / 2.0).clamp(4.0, (room - height).max(4.0));
    let card = Rect::new((around.w - width) / 2.0, y, width, height);
    ui.card("help card", card, PANEL, (2.0, LINE));
    let pen = &ui.pen;
    pen.strong(help.title, card.x + 24.0, card.y + 36.0, LARGE, TEXT);
    pen.wrapped(&lead, Rect::new(card.x + 24.0, card.y + 62.0, width - 48.0, LEAD), SMALL, TEXT_DIM);
    let top = card.y + top;
    let mut at = vec2(card.x + 24.0, top);
    for lines in lines {
        for (key, what) in lines {
            pen.strong(key, at.x, at.y, size, army(0));
            pen.text(what, at.x + keys, at.y, size, TEXT);
            at.y += line;
        }
        if !is_stacked {
            at = vec2(at.x + width / 2.0, top);
        }
    }
    pen.text(closes, card.x + 24.0, card.bottom() - 10.0, SMALL, TEXT_DIM);
    ui.area(CLOSE, Rect { x: 0.0, y: 0.0, w: screen::size().x, h: screen::size().y })
}
