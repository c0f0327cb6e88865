//! The simulated network's conditions: sliders, presets, and the transport.

use macroquad::math::Rect;
use testudo_lockstep::Duration;
use testudo_lockstep::simnet::{LinkConfig, Transport};

use crate::view::widgets::ui::{Scale, Ui};

/// Delay of a packet that later ones overtake.
const REORDER_HOLD: Duration = Duration::from_millis(100);

/// Labels of the sliders, in the order of the values: milliseconds twice, then percent.
const NAMES: [&str; 5] = ["latency", "jitter", "loss", "duplicates", "reorder"];

/// The switch: script name, label.
const TRANSPORTS: [(&str, &str, Transport); 2] =
    [("udp", "UDP", Transport::Udp), ("tcp", "TCP", Transport::Tcp)];

/// The sliders and presets of a window.
pub(crate) struct Conditions {
    /// Ends of the sliders.
    max: [f32; 5],
    /// Script name, label, values.
    presets: [(&'static str, &'static str, [f32; 5]); 3],
}

/// Between players, who wait for each other.
pub(crate) const PLAYERS: Conditions = Conditions {
    max: [500.0, 300.0, 60.0, 50.0, 50.0],
    presets: [
        ("perfect", "Perfect", [0.0; 5]),
        ("ordinary", "Ordinary", [60.0, 15.0, 2.0, 0.0, 0.0]),
        ("terrible", "Terrible", [150.0, 60.0, 20.0, 5.0, 10.0]),
    ],
};

/// To a watcher.
pub(crate) const WATCHER: Conditions = Conditions {
    max: [4_000.0, 1_000.0, 60.0, 50.0, 50.0],
    presets: [
        ("perfect", "Perfect", [0.0; 5]),
        ("articles", "Far away", [1_900.0, 0.0, 25.0, 0.0, 0.0]),
        ("terrible", "Terrible", [2_500.0, 400.0, 50.0, 5.0, 10.0]),
    ],
};

/// Draws buttons and sliders; the new settings if the person has changed them.
pub(crate) fn draw(ui: &mut Ui, rect: Rect, link: LinkConfig, conditions: &Conditions) -> Option<LinkConfig> {
    let mut values = values_of(&link);
    let (mut changed, mut transport) = (false, link.transport);
    let switch = Rect::new(rect.x, rect.y - 2.0, 88.0, 24.0);
    let transports = TRANSPORTS.iter().map(|(name, text, offered)| (*name, *text, *offered == transport));
    if let Some(n) = ui.row(switch, 0.0, transports) {
        (transport, changed) = (TRANSPORTS[n].2, TRANSPORTS[n].2 != transport);
    }
    // Narrow columns have narrower presets: they must not lie over the switch.
    let width = (rect.w - 96.0).min(252.0);
    let presets = Rect { x: rect.right() - width, w: width, ..switch };
    let buttons = conditions.presets.iter().map(|(name, text, preset)| (*name, *text, *preset == values));
    if let Some(n) = ui.row(presets, 6.0, buttons) {
        (values, changed) = (conditions.presets[n].2, true);
    }
    for (n, name) in NAMES.into_iter().enumerate() {
        let line = Rect::new(rect.x, rect.y + 32.0 + n as f32 * 31.0, rect.w, 28.0);
        let scale = Scale { max: conditions.max[n], unit: if n < 2 { "ms" } else { "%" } };
        changed |= ui.slider(name, line, &mut values[n], &scale);
    }
    changed.then(|| link_of(values, link.transport(transport)))
}

fn values_of(link: &LinkConfig) -> [f32; 5] {
    let [latency, jitter] = [link.latency, link.jitter].map(|time| time.as_millis() as f32);
    let parts = [link.loss_ppm, link.duplicate_ppm, link.reorder_ppm];
    let [loss, duplicates, reorder] = parts.map(|ppm| (ppm / 10_000) as f32);
    [latency, jitter, loss, duplicates, reorder]
}

fn link_of(values: [f32; 5], link: LinkConfig) -> LinkConfig {
    let [latency, jitter, loss, duplicates, reorder] = values.map(|value| value as u32);
    link.latency(Duration::from_millis(latency.into()))
        .jitter(Duration::from_millis(jitter.into()))
        .loss_ppm(loss * 10_000)
        .duplicate_ppm(duplicates * 10_000)
        .reorder_ppm(reorder * 10_000)
        .reorder_hold(REORDER_HOLD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_survive_the_way_to_the_network_and_back() {
        for conditions in [PLAYERS, WATCHER] {
            for (name, _, values) in conditions.presets {
                assert_eq!(values_of(&link_of(values, LinkConfig::new())), values, "{name}");
                assert!(values.iter().zip(conditions.max).all(|(value, max)| *value <= max), "{name}");
            }
        }
    }
}
