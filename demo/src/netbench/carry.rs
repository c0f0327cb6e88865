//! Carries inputs over a simulated link, by TCP and by a session over UDP.

use testudo_lockstep::simnet::{LinkConfig, SimNet, Transport};
use testudo_lockstep::{
    Driver, Duration, FrameRate, Identity, Instant, PeerId, PlayerId, Playout, PlayoutMode, Session,
    SessionConfig, Simulation, VirtualMatch,
};

use crate::netbench::measure::Trip;
use crate::netbench::{DELAY, RATE};
use testudo_cubes::{Autopilot, Input};

/// Number of unconfirmed inputs that the session keeps: two seconds there, two back, and losses on the way.
const WINDOW: u32 = 512;

/// Longer than any handshake over these links takes.
const PATIENCE: Duration = Duration::from_secs(600);

/// [`RATE`] for the watcher's playout buffer.
const FRAME_RATE: FrameRate = match FrameRate::per_second(RATE) {
    Ok(rate) => rate,
    Err(_) => panic!("there is no such rate"),
};

/// One message per input: its number and six keys. The connection is there before the first one.
pub(super) fn tcp(link: LinkConfig, inputs: u32, seed: u64) -> Vec<Trip> {
    let mut net = SimNet::new(seed);
    net.set_default(link.transport(Transport::Tcp));
    let mut now = Instant::ZERO;
    net.send(now, 0, 1, b"connect");
    while let Some(at) = net.next_delivery() {
        now = at;
        if net.receive(now).is_some() {
            break;
        }
    }
    // The acknowledgement of the first message gets time, too.
    let start = now + Duration::from_secs(10);
    let mut keys = Autopilot::new(seed);
    let mut trips: Vec<Trip> = Vec::new();
    let receive = |net: &mut SimNet, trips: &mut Vec<Trip>, until: Instant| {
        while let Some(at) = net.next_delivery().filter(|at| *at <= until) {
            while let Some(message) = net.receive(at) {
                let number = message.bytes.first_chunk().map(|four| u32::from_le_bytes(*four));
                if let Some(trip) = number.and_then(|number| trips.get_mut(number as usize)) {
                    trip.usable = Some(at);
                }
                net.recycle(message.bytes);
            }
        }
    };
    for number in 0..inputs {
        let sent = start + Duration::from_micros((u64::from(number) * 1_000_000).div_ceil(u64::from(RATE)));
        receive(&mut net, &mut trips, sent);
        trips.push(Trip { sent, usable: None });
        let [a, b, c, d] = number.to_le_bytes();
        net.send(sent, 0, 1, &[a, b, c, d, keys.press().bits()]);
    }
    let end = trips.last().map_or(start, |trip| trip.sent) + link.latency + DELAY;
    receive(&mut net, &mut trips, end);
    trips
}

/// A session of one player in input mode, and a watcher. Also returns the bytes that the player sent.
pub(super) fn udp(link: LinkConfig, inputs: u32, seed: u64) -> (Vec<Trip>, u64) {
    let config = SessionConfig::input(1, RATE)
        .simulated()
        .turns(inputs)
        .turns_ahead(0)
        .window(WINDOW)
        .session_id(seed)
        .watchers_min(1)
        .connect_timeout(PATIENCE)
        .silence_timeout(PATIENCE)
        .linger(link.latency.times(4) + Duration::from_secs(2));
    let now = Instant::ZERO;
    let identities = [Identity::Player(PlayerId(0)), Identity::Watcher];
    let [Ok(player), Ok(mut watcher)] = identities.map(|who| Session::new(config.clone(), who, now)) else {
        // The settings are constants, except for the number of inputs, which the command line limits.
        return (Vec::new(), 0);
    };
    watcher.connect(PeerId(0));
    let playout = Playout::new(PlayoutMode::Fixed(DELAY), FRAME_RATE);
    let drivers = vec![Driver::new(Keys, player), Driver::new(Keys, watcher).with_playout(playout)];
    let mut net = SimNet::new(seed);
    net.set_default(link);
    let mut game = VirtualMatch::new(drivers, net);
    let mut keys = Autopilot::new(seed);
    let (mut trips, mut usable, mut bytes) = (Vec::<Trip>::new(), 0, (None, 0));
    while !game.is_over() && usable < inputs {
        let (now, mut began) = (game.now(), false);
        game.step(&mut |peer, _, _: &Keys, session: &mut Session<Input>| {
            if peer == 0 {
                began = true;
                let taken = session.submit(&keys.press());
                debug_assert!(taken.is_ok(), "{taken:?}");
            }
        });
        let [player, watcher] = game.drivers() else { break };
        if began {
            trips.push(Trip { sent: now, usable: None });
            let sent = player.session().stats().bytes_sent;
            bytes = (bytes.0.or(Some(sent)), sent);
        }
        // Inputs that were played, and those that are ready to be played.
        let here = watcher.frame().0 + watcher.session().turns_ready();
        while usable < here.min(trips.len() as u32) {
            trips[usable as usize].usable = Some(now);
            usable += 1;
        }
    }
    (trips, bytes.1 - bytes.0.unwrap_or(0))
}

/// A simulation that does nothing with its keys.
struct Keys;

impl Simulation for Keys {
    type Action = Input;

    fn apply(&mut self, _: PlayerId, _: &Input) {}

    fn step(&mut self, _: u32) {}

    fn checksum(&mut self) -> u64 {
        0
    }
}
