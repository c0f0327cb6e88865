//! What mouse and keys do.

use macroquad::math::Rect;
use macroquad::shapes::{draw_rectangle, draw_rectangle_lines};

use crate::view::paint::palette::{BACKDROP, LINE, PANEL, TEXT, TEXT_DIM, army, faded};
use crate::view::paint::pen::{LARGE, Pen, SIZE, SMALL};

/// What a window says about itself.
pub(crate) struct Help {
    title: &'static str,
    lead: [&'static str; 2],
    /// Key or gesture, and what it does: two columns, of nine lines each at most.
    lines: [&'static [(&'static str, &'static str)]; 2],
}

/// Of the match side by side.
pub(crate) const SKIRMISH: Help = Help {
    title: "Two computers, one battle",
    lead: [
        "Left and right are two players' clients. Each simulates the whole battle by itself; between them go only orders,",
        "by UDP or TCP over a network that you can make as bad as you like below. After every turn both compare checksums.",
    ],
    lines: [
        &[
            ("click, drag a box", "choose units"),
            ("shift", "add to the choice, or take back"),
            ("Ctrl A", "choose the whole army"),
            ("right click", "go there; on an enemy: attack; with nobody chosen: recruits gather there"),
            ("A, then click", "go there and attack on the way"),
            ("P, then click", "patrol between here and there"),
            ("S", "stop"),
            ("Ctrl 1-9, 1-9", "name a group, choose it"),
            ("minimap", "click: look there; right click: go there"),
        ],
        &[
            ("arrows, edges", "move the picture"),
            ("middle drag, wheel", "move, zoom"),
            ("Home", "see both armies"),
            ("Space", "pause"),
            ("N", "one frame"),
            ("- and +", "slower, faster"),
            ("F2 F3 F4", "quadtree cells, boxes, contacts"),
            ("F5 F6 F7", "velocities, sleepers, routes"),
            ("F12, Ctrl Q", "save a picture, quit"),
        ],
    ],
};

/// Of the cubes.
pub(crate) const CUBES: Help = Help {
    title: "One scene twice, six keys in between",
    lead: [
        "On the left you play. On the right the same scene runs about two seconds later, on another machine that gets only your",
        "keys, by UDP or TCP, over a network that you can make as bad as you like below. All frames are compared by checksums.",
    ],
    lines: [
        &[
            ("arrows", "push your cube"),
            ("Space", "lifts it and blows the others away"),
            ("Z", "gathers the others and rolls them along"),
            ("wheel, Home", "nearer or further, the whole field"),
        ],
        &[
            ("P or Esc", "pause"),
            ("N", "one frame"),
            ("F", "the same in f32: it drifts apart"),
            ("A", "an autopilot plays"),
            ("R", "again from the start"),
            ("F12, Ctrl Q", "save a picture, quit"),
        ],
    ],
};

/// Of a match over a real network.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) const NETWORK: Help = Help {
    title: "One of several computers, one battle",
    lead: [
        "Everybody's computer simulates the whole battle by itself; between them go only orders, which run at the same turn",
        "everywhere, a few hundred milliseconds after they were given. After every turn all compare checksums.",
    ],
    lines: [
        SKIRMISH.lines[0],
        &[
            ("arrows, edges", "move the picture"),
            ("middle drag, wheel", "move, zoom"),
            ("Home", "see all armies"),
            ("Space", "pause, for everybody"),
            ("F2 F3 F4", "quadtree cells, boxes, contacts"),
            ("F5 F6 F7", "velocities, sleepers, routes"),
            ("F12", "save a picture"),
            ("Ctrl Q", "leave: a bot plays on for you"),
        ],
    ],
};

/// Of a replay.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) const REPLAY: Help = Help {
    title: "A match played again",
    lead: [
        "Nothing but orders was recorded: what you see is simulated again, and its checksum compared with that of every turn.",
        "The strip below is green as far as both are equal. Bars above it: how much was ordered.",
    ],
    lines: [
        &[
            ("Space", "play, pause"),
            ("N, B", "one frame on, one frame back"),
            ("left, right", "5 seconds back, 5 on"),
            ("Home, End", "to the start, to the end"),
            ("click, drag below", "to any frame"),
            ("X", "to the first difference"),
            ("- and +", "slower, faster"),
            ("1-9", "follow a player, orders included"),
            ("0 or Esc", "follow nobody"),
        ],
        &[
            ("W A S D, edges", "move the picture"),
            ("middle drag, wheel", "move, zoom"),
            ("minimap", "click: look there"),
            ("C", "see all armies"),
            ("F2 F3 F4", "quadtree cells, boxes, contacts"),
            ("F5 F6 F7", "velocities, sleepers, routes"),
            ("F12, Ctrl Q", "save a picture, quit"),
        ],
    ],
};

/// Covers the views with the list.
pub(crate) fn draw(pen: &Pen, screen: Rect, help: &Help) {
    draw_rectangle(screen.x, screen.y, screen.w, screen.h, faded(BACKDROP, 0.6));
    let (width, height) = (860.0_f32.min(screen.w - 20.0), 392.0);
    let card =
        Rect::new((screen.w - width) / 2.0, (screen.y + (screen.h - height) / 2.0).max(8.0), width, height);
    draw_rectangle(card.x, card.y, card.w, card.h, PANEL);
    draw_rectangle_lines(card.x, card.y, card.w, card.h, 2.0, LINE);
    pen.strong(help.title, card.x + 24.0, card.y + 36.0, LARGE, TEXT);
    for (n, line) in help.lead.into_iter().enumerate() {
        pen.text(line, card.x + 24.0, card.y + 62.0 + n as f32 * 20.0, SIZE, TEXT_DIM);
    }
    for (column, lines) in help.lines.into_iter().enumerate() {
        let x = card.x + 24.0 + column as f32 * (width / 2.0);
        for (n, (key, what)) in lines.iter().enumerate() {
            let y = card.y + 124.0 + n as f32 * 25.0;
            pen.strong(key, x, y, SIZE, army(0));
            pen.text(what, x + 146.0, y, SIZE, TEXT);
        }
    }
    pen.text("F1 or Esc closes this", card.x + 24.0, card.y + height - 18.0, SMALL, TEXT_DIM);
}
