//! `netbench`: TCP against UDP as a table, as JSON and as a plot.
//! It writes the SVG itself: a plotting library would add packages to the first command, for bars of one table.

use std::fmt::Write as _;
use std::thread;

use serde::Serialize;

use crate::cli::args::NetbenchArgs;
use crate::cli::plot::{PlotFile, Svg};
use crate::cli::{Failed, print_json};
use crate::console::out;
use crate::netbench::{CONDITIONS, Kind, Measured, Row, run};

/// The keys of `--json`.
#[derive(Debug, Serialize)]
struct NetbenchReport {
    conditions: Vec<ConditionReport>,
}

#[derive(Debug, Serialize)]
struct ConditionReport {
    name: &'static str,
    latency_ms: u64,
    /// `rtt` or `one_way`.
    latency_kind: &'static str,
    loss: f64,
    inputs: u32,
    tcp: Measured,
    udp: Measured,
    udp_bytes_per_second: f64,
    optimum_late_fraction: f64,
    kernel_tcp_stalled_fraction: Option<f64>,
    /// The figure of the kernel's TCP, as text.
    kernel_tcp: &'static str,
}

pub(crate) fn netbench(options: &NetbenchArgs, json: bool) -> Result<bool, Failed> {
    let file = options.plot.as_deref().map(PlotFile::create).transpose()?;
    let rows: Vec<Row> = thread::scope(|scope| {
        let (inputs, seed) = (options.inputs, options.seed);
        let runs = CONDITIONS.map(|condition| scope.spawn(move || run(condition, inputs, seed)));
        runs.into_iter().filter_map(|run| run.join().ok()).collect()
    });
    if rows.len() < CONDITIONS.len() {
        return Err(Failed { code: 1, sentence: "a measurement failed".into() });
    }
    file.map(|file| file.write(&svg(&rows))).transpose()?;
    if json {
        let conditions = rows.iter().map(|row| report(row, options.inputs)).collect();
        print_json(&NetbenchReport { conditions });
    } else {
        out!("{}", table(&rows));
    }
    Ok(true)
}

fn report(row: &Row, inputs: u32) -> ConditionReport {
    let condition = row.condition;
    ConditionReport {
        name: condition.name,
        latency_ms: condition.latency_ms,
        latency_kind: match condition.kind {
            Kind::RoundTrip => "rtt",
            Kind::OneWay => "one_way",
        },
        loss: f64::from(condition.loss_ppm) / 1e6,
        inputs,
        tcp: row.tcp,
        udp: row.udp,
        udp_bytes_per_second: row.udp_bytes_per_second,
        optimum_late_fraction: condition.optimum_late(),
        kernel_tcp_stalled_fraction: condition.kernel_stalled,
        kernel_tcp: condition.kernel,
    }
}

fn percent(part: f64) -> String {
    match part * 100.0 {
        0.0 => "0".into(),
        value if value < 0.1 => format!("{value:.3}"),
        value => format!("{value:.1}"),
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "                   picture frozen, % of frames          late inputs, %          hitches/min   delivered, %  UDP\n\
         link               TCP    UDP    Linux TCP              TCP    UDP    optimum   TCP     UDP   TCP    UDP    bytes/s\n",
    );
    for Row { condition, tcp, udp, udp_bytes_per_second } in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:<18} {:<6} {:<6} {:<22} {:<6} {:<6} {:<9.0e} {:<7.1} {:<5.1} {:<6} {:<6} {:.0}",
            condition.name,
            percent(tcp.stalled_fraction),
            percent(udp.stalled_fraction),
            condition.kernel.replace(" % stalled", ""),
            percent(tcp.late_fraction),
            percent(udp.late_fraction),
            condition.optimum_late() * 100.0,
            tcp.hitches_per_minute,
            udp.hitches_per_minute,
            percent(tcp.delivered_fraction),
            percent(udp.delivered_fraction),
            udp_bytes_per_second,
        );
    }
    text.push_str(
        "60 inputs per second, each played 100 ms after its earliest possible arrival. docs/udp-and-tcp.md lists the differences from a kernel's TCP.\n",
    );
    text
}

const WIDTH: f64 = 960.0;
const LEFT: f64 = 250.0;
const RIGHT: f64 = 900.0;
const ROW: f64 = 58.0;
const TOP: f64 = 96.0;
const BAR: f64 = 18.0;

/// One pair of bars per link: the share of frozen pictures.
fn svg(rows: &[Row]) -> String {
    const DARK: &str = "fill=\"#1b2128\"";
    let bottom = TOP + ROW * rows.len() as f64;
    let title = "How much of the time the picture is frozen";
    let subtitle =
        "60 inputs per second over the same bad link, played 100 ms after they could have been there";
    let mut svg = Svg::new((WIDTH, bottom + 52.0), (24.0, 30.0), [title, subtitle]);
    let x = |share: f64| LEFT + (RIGHT - LEFT) * share;
    for (at, color, name) in [(24.0, TCP, "TCP"), (90.0, UDP, "UDP, redundant")] {
        svg.line(&format!("<rect x=\"{at}\" y=\"64\" width=\"14\" height=\"14\" fill=\"{color}\"/>"));
        svg.text((at + 20.0, 76.0), "start", DARK, name);
    }
    let upright = |at: f64, from: f64, to: f64, style: &str| {
        format!("<line x1=\"{at:.1}\" y1=\"{from}\" x2=\"{at:.1}\" y2=\"{to}\" {style}/>")
    };
    let mark = "stroke=\"#1b2128\" stroke-width=\"3\"";
    svg.line(&upright(230.0, 63.0, 79.0, mark));
    svg.text((240.0, 76.0), "start", DARK, "TCP of Linux, measured");
    for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
        svg.line(&upright(x(part), TOP, bottom, "stroke=\"#dde2e7\""));
        svg.text((x(part), bottom + 20.0), "middle", "fill=\"#56616d\"", &format!("{} %", part * 100.0));
    }
    for (number, row) in rows.iter().enumerate() {
        let y = TOP + ROW * number as f64 + 8.0;
        let condition = row.condition;
        let kind = match condition.kind {
            Kind::RoundTrip => "round trip",
            Kind::OneWay => "one way",
        };
        let lost = condition.loss_ppm / 10_000;
        let words = [format!("{} ms {kind}", condition.latency_ms), format!("{lost} % of the packets lost")];
        for (words, down) in words.iter().zip([14.0, 32.0]) {
            svg.text((LEFT - 14.0, y + down), "end", DARK, words);
        }
        for (top, measured, color) in [(y, &row.tcp, TCP), (y + BAR + 3.0, &row.udp, UDP)] {
            let share = measured.stalled_fraction;
            // A share of zero is visible, too.
            let width = (x(share) - LEFT).max(2.0);
            svg.line(&format!(
                "<rect x=\"{LEFT}\" y=\"{top}\" width=\"{width:.1}\" height=\"{BAR}\" fill=\"{color}\"/>"
            ));
            let (at, anchor, fill) = if share > 0.9 {
                (x(share) - 6.0, "end", "fill=\"#ffffff\"")
            } else {
                // Behind the kernel's mark, if that is near.
                let kernel = condition.kernel_stalled.filter(|_| color == TCP).map_or(0.0, x);
                let end = if (-6.0..60.0).contains(&(kernel - x(share))) { kernel } else { x(share) };
                (end.max(LEFT + 2.0) + 6.0, "start", DARK)
            };
            svg.text((at, top + 14.0), anchor, fill, &format!("{} %", percent(share)));
        }
        if let Some(kernel) = condition.kernel_stalled {
            svg.line(&upright(x(kernel), y - 2.0, y + BAR + 2.0, mark));
        }
    }
    svg.finish()
}

const TCP: &str = "#c8443a";
const UDP: &str = "#2f8f5b";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_and_the_table_have_six_rows() {
        let rows: Vec<Row> = CONDITIONS.into_iter().map(|condition| run(condition, 600, 3)).collect();
        let picture = svg(&rows);
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n") && !picture.contains("NaN"));
        assert_eq!(picture.matches(TCP).count(), 7, "six bars and the legend");
        assert_eq!(table(&rows).lines().count(), 9);
    }
}
