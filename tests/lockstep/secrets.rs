//! What is kept and given away, a replay or a save, holds nothing by which somebody could play as another.

use std::collections::BTreeSet;

use crate::replays::header;
use crate::toy::{Toy, bot, give, latency, network};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use testudo_lockstep::replay::{Ending, Recorded};

use testudo_lockstep::{
    Driver, Duration, Identity, Instant, PeerId, PlayerId, PlayerKey, Session, SessionConfig, Turn,
    VirtualMatch,
};

/// Bytes of a secret that nothing else has by accident.
const PART: usize = 6;

/// Every part of every secret.
#[derive(Default)]
struct Secrets(BTreeSet<[u8; PART]>);

impl Secrets {
    fn draw<const N: usize>(&mut self, random: &mut Pcg32) -> [u8; N] {
        let mut secret = [0; N];
        random.fill_bytes(&mut secret);
        self.0.extend(secret.windows(PART).filter_map(|part| part.first_chunk().copied()));
        secret
    }

    /// Whether a part of a secret is in these bytes, at any bit: much is packed.
    fn are_in(&self, bytes: &[u8]) -> bool {
        (0..8).any(|shift| {
            let pairs = bytes.windows(2);
            let shifted = pairs.map(|pair| (u16::from_le_bytes([pair[0], pair[1]]) >> shift) as u8);
            let shifted: Vec<u8> = shifted.chain(bytes.last().copied()).collect();
            shifted.windows(PART).any(|part| part.first_chunk().is_some_and(|part| self.0.contains(part)))
        })
    }
}

#[test]
fn no_secret_is_in_a_replay_or_a_save() {
    let (mut secrets, mut random) = (Secrets::default(), Pcg32::seed_from_u64(48));
    let config = SessionConfig::new(3).simulated().turns(80).signed().late_joins(Duration::from_secs(5));
    let drivers = (0..3_u8).map(|player| {
        // The key, and what a join code's token becomes at a host: the secret of the place.
        let config = config
            .clone()
            .entropy(secrets.draw(&mut random))
            .place_secret(secrets.draw(&mut random))
            .player_key(PlayerKey::from_secret(secrets.draw(&mut random)));
        let identity = Identity::Player(PlayerId(player));
        let mut session = Session::new(config, identity, Instant::ZERO).unwrap();
        if player > 0 {
            session.connect(PeerId(0));
        }
        Driver::new(Recorded::new(Toy::default(), &header()), session)
    });
    let drivers = drivers.collect();
    let net = network(1, latency(40));
    let mut game = VirtualMatch::new(drivers, net);
    let over = game.run(Instant::from_millis(600_000), |peer, turn, _, session| {
        if peer == 0 && turn == Turn(30) {
            session.save();
        }
        give(session, &bot(1, turn.0, peer as u8).unwrap_or(crate::toy::Order::Shout(turn.0)));
    });
    assert!(over);
    for driver in game.drivers_mut() {
        driver.simulation_mut().finish(Ending::Over);
        let mut replay = driver.simulation_mut().take_bytes();
        let mut save = driver.session_mut().take_saved().expect("everybody has a save").to_bytes();
        assert!(replay.len() > 1_000 && save.len() > 100, "{} {}", replay.len(), save.len());
        assert!(!secrets.are_in(&replay) && !secrets.are_in(&save));
        // It would have been found.
        for (bytes, shift) in [(&mut replay, 0), (&mut save, 3)] {
            let part = secrets.0.iter().nth(20).unwrap();
            let mut eight = [0; 8];
            eight[..PART].copy_from_slice(part);
            let planted = (u64::from_le_bytes(eight) << shift).to_le_bytes();
            bytes[50..58].copy_from_slice(&planted);
            assert!(secrets.are_in(bytes));
        }
    }
}
