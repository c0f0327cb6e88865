//! Whom the limits let in, and whom they keep out.

use std::time::{Duration, Instant};

use super::*;

impl Ticket {
    fn accept(&mut self, plays: bool) -> bool {
        self.limits.accept(self.number, plays, Instant::now())
    }
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn limits(config: SealedConfig) -> Arc<ConnectionLimits> {
    Arc::new(ConnectionLimits::new(&config))
}

fn ticket(limits: &Arc<ConnectionLimits>, from: IpAddr, now: Instant) -> Option<Ticket> {
    match limits.admit(from, now) {
        Admission::Granted(ticket) => Some(ticket),
        Admission::Later | Admission::Full => None,
    }
}

fn granted(limits: &Arc<ConnectionLimits>, from: IpAddr, now: Instant) -> Ticket {
    match limits.admit(from, now) {
        Admission::Granted(ticket) => ticket,
        other => panic!("{from}: {other:?}"),
    }
}

#[test]
fn connections_are_limited() {
    let now = Instant::now();
    let limits = limits(SealedConfig::new().connections_max(28).connections_per_address_max(18));
    let mut tickets = Vec::new();
    for _ in 0..PENDING_PER_ADDRESS_MAX {
        tickets.push(granted(&limits, address("10.0.0.1"), now));
    }
    assert!(matches!(limits.admit(address("::ffff:10.0.0.1"), now), Admission::Later));
    assert!(tickets.iter_mut().all(|ticket| ticket.accept(true)));
    for _ in 0..2 {
        let mut ticket = granted(&limits, address("10.0.0.1"), now);
        assert!(ticket.accept(true));
        tickets.push(ticket);
    }
    assert!(!granted(&limits, address("10.0.0.1"), now).accept(true), "18 of one address");
    let mut late = granted(&limits, address("10.0.0.3"), now);
    for host in 0..10 {
        let mut ticket = granted(&limits, address(&format!("fd00::{host:x}")), now);
        assert!(ticket.accept(true));
        tickets.push(ticket);
    }
    assert!(matches!(limits.admit(address("10.0.0.2"), now), Admission::Full), "28 in all");
    assert!(!late.accept(true), "28 in all");
    assert_eq!(limits.size(), (28, 0));
    tickets.clear();
    assert_eq!(limits.size(), (0, 0));
}

/// Fifteen more than the limit, who came at once, were accepted.
#[test]
fn who_waits_to_be_accepted_counts_for_the_address() {
    let now = Instant::now();
    let limits = limits(SealedConfig::new().connections_per_address_max(3));
    let mut tickets: Vec<Ticket> = (0..3).map(|_| granted(&limits, address("10.0.0.1"), now)).collect();
    assert!(matches!(limits.admit(address("10.0.0.1"), now), Admission::Later));
    assert!(tickets.iter_mut().all(|ticket| ticket.accept(true)));
    assert!(!granted(&limits, address("10.0.0.1"), now).accept(true));
    tickets.pop();
    granted(&limits, address("10.0.0.1"), now);
}

/// Forty addresses filled a server with connections that never greeted, and a player who had crashed was told that it was full.
#[test]
fn strangers_leave_a_place_to_an_address_that_has_none() {
    let now = Instant::now();
    let limits = limits(SealedConfig::new());
    let mut strangers = Vec::new();
    // 160 per second.
    for stranger in 0..40_u8 {
        let now = now + Duration::from_millis(100) * stranger.into();
        for _ in 0..PENDING_PER_ADDRESS_MAX {
            match limits.admit(IpAddr::from([10, 0, 1, stranger]), now) {
                Admission::Granted(ticket) => strangers.push(ticket),
                Admission::Later => {}
                Admission::Full => panic!("nobody is accepted"),
            }
        }
    }
    assert_eq!(limits.size().1, PENDING_MAX as u32);
    let mut player = granted(&limits, address("10.0.2.1"), now + Duration::from_secs(4));
    assert_eq!(limits.size().1, PENDING_MAX as u32, "a stranger has gone");
    assert!(player.accept(true));
    drop(strangers);
    assert_eq!(limits.size(), (1, 0));
}

/// 600 handshakes per second from one address took half a core.
#[test]
fn handshakes_of_one_address_are_limited_and_others_are_not() {
    let start = Instant::now();
    let limits = limits(SealedConfig::new().connections_per_address_max(8).handshakes_per_address(20));
    let mut taken = [0, 0];
    for attempt in 0..6_000 {
        let now = start + Duration::from_micros(1_666) * attempt;
        for (taken, from) in taken.iter_mut().zip(["10.0.0.1", "10.0.0.2"]) {
            *taken += u32::from(matches!(limits.admit(address(from), now), Admission::Granted(_)));
        }
    }
    // 16 at once and 20 per second, for 10 s.
    assert!((214..=217).contains(&taken[0]), "{taken:?}");
    assert_eq!(taken[0], taken[1]);
}

/// Sixty networks of version 6, which one home has, took a third of the thread for every match's packets, and 256 of them all of it.
#[test]
fn handshakes_of_all_strangers_have_one_limit() {
    for networks in [60, 200, 400_u16] {
        let start = Instant::now();
        let limits = limits(SealedConfig::new());
        let of = |network: u16| IpAddr::from([0x2001, 0xdb8, 0, network, 0, 0, 0, 1]);
        let (home, former) = (of(10_000), of(10_001));
        let (mut here, mut gone) = (granted(&limits, home, start), granted(&limits, former, start));
        assert!(here.accept(true) && gone.accept(true));
        drop(gone);
        let is_granted = |from, now| matches!(limits.admit(from, now), Admission::Granted(_));
        let (mut strangers, mut members, mut guests, mut worst) = (0, 0, Vec::new(), 0);
        for step in 0..1_000_u16 {
            let now = start + Duration::from_millis(10) * step.into();
            // Each asks a hundred times per second.
            strangers += (0..networks).filter(|network| is_granted(of(*network), now)).count();
            if step % 10 == 9 {
                members += [home, former].into_iter().filter(|from| is_granted(*from, now)).count();
                guests.push(step);
            }
            // They ask again after .3 s.
            guests.retain(|since| {
                let is_in = (step - since).is_multiple_of(30) && is_granted(of(20_000 + since), now);
                worst = worst.max(step - since);
                strangers += usize::from(is_in);
                !is_in
            });
        }
        assert_eq!(members, 200, "whoever plays comes back, beside {networks}");
        assert!((2_000..=256 + 10 * 256).contains(&strangers), "{strangers} of {networks}");
        assert!(worst <= 60 || networks > 256, "somebody asked for {worst} steps beside {networks}");
    }
}

/// A code to watch is public. 16 networks that had watched once kept all strangers out, and were answered as often as they liked.
#[test]
fn whoever_has_only_watched_is_a_stranger() {
    for plays in [false, true] {
        let start = Instant::now();
        let limits = limits(SealedConfig::new());
        for host in 0..16 {
            let mut ticket = granted(&limits, address(&format!("10.0.0.{host}")), start);
            assert!(ticket.accept(plays));
        }
        let now = start + Duration::from_secs(60);
        let open: Vec<Ticket> = (0..PENDING_MAX)
            .filter_map(|number| ticket(&limits, address(&format!("10.0.0.{}", number % 16)), now))
            .collect();
        let stranger = ticket(&limits, address("10.0.1.1"), now);
        assert_eq!(stranger.is_none(), plays, "{} are open", open.len());
    }
}

/// 256 networks with one open handshake each, and no code, kept out whoever came back. A school whose players came back lost its places to strangers.
#[test]
fn handshakes_of_strangers_that_stay_open_keep_nobody_out_who_plays() {
    let of = |network: u16| IpAddr::from([0x2001, 0xdb8, 0, network, 0, 0, 0, 1]);
    for strangers in [240, 256, 300] {
        let start = Instant::now();
        let limits = limits(SealedConfig::new());
        let (school, home) = (of(10_000), of(10_001));
        let mut before: Vec<Ticket> = [school, home].map(|from| granted(&limits, from, start)).into();
        assert!(before.iter_mut().all(|ticket| ticket.accept(true)));
        before.truncate(1);
        let now = start + Duration::from_secs(2);
        let mut open: Vec<Ticket> =
            (0..strangers).filter_map(|from| ticket(&limits, of(from), now)).collect();
        assert!(limits.size().1 >= 240);
        let mut back: Vec<Ticket> =
            (0..PENDING_PER_ADDRESS_MAX).map(|_| granted(&limits, school, now)).collect();
        back.push(granted(&limits, home, now));
        // Others come, each from a network of its own.
        for step in 0..100 {
            let now = now + Duration::from_secs(1) + Duration::from_millis(100) * u32::from(step);
            open.extend(ticket(&limits, of(20_000 + step), now));
        }
        assert_eq!(limits.size().1, PENDING_MAX as u32);
        assert!(back.iter_mut().all(|ticket| ticket.accept(true)), "beside {strangers}");
    }
}

#[test]
fn addresses_are_forgotten() {
    for is_accepted in [false, true] {
        let start = Instant::now();
        let limits = limits(SealedConfig::new());
        for network in 0..3 * ADDRESSES_MAX as u32 {
            let address = IpAddr::V6((0xfd00 << 112 | u128::from(network) << 64).into());
            let mut ticket = granted(&limits, address, start + Duration::from_millis(4) * network);
            assert!(!is_accepted || ticket.accept(true));
        }
        assert!(limits.counts().by_address.len() <= ADDRESSES_MAX);
    }
}

/// A watcher's address was forgotten while it was here. When it and whoever came there afterwards had left, the address had fewer than no connections, and
/// was full for ever.
#[test]
fn whoever_watches_is_not_forgotten() {
    for plays in [false, true] {
        let start = Instant::now();
        let limits = limits(SealedConfig::new());
        let home = address("10.0.0.1");
        let mut watcher = granted(&limits, home, start);
        assert!(watcher.accept(false));
        let mut now = start;
        for network in 0..3 * ADDRESSES_MAX as u32 {
            now = start + Duration::from_millis(4) * network;
            granted(&limits, IpAddr::V6((0xfd00 << 112 | u128::from(network) << 64).into()), now);
        }
        let mut other = granted(&limits, home, now + Duration::from_secs(1));
        assert!(other.accept(plays));
        let counted = || limits.counts().by_address.get(&home).map(|here| here.accepted);
        assert_eq!(counted(), Some(2));
        drop(watcher);
        drop(other);
        assert_eq!(counted(), Some(0));
        granted(&limits, home, now + Duration::from_secs(2));
    }
}

/// A player's former connection, which was dead and not yet silent for long enough, filled the server or the address, and the player was told that it was full.
#[test]
fn whoever_comes_back_finds_the_room_of_the_former_connection() {
    let now = Instant::now();
    let few = SealedConfig::new().connections_max(2);
    for (config, other) in
        [(few, "10.0.0.2"), (SealedConfig::new().connections_per_address_max(2), "10.0.0.1")]
    {
        let limits = limits(config);
        let home = address("10.0.0.1");
        let mut here = [home, address(other)].map(|from| granted(&limits, from, now));
        assert!(here.iter_mut().all(|ticket| ticket.accept(true)));
        let (mut back, mut too_many) = (granted(&limits, home, now), granted(&limits, home, now));
        assert!(!too_many.accept(true));
        let [former, _other] = here;
        drop(former);
        assert!(back.accept(true));
    }
}

/// Whoever watches had the room of a player who was away for a moment.
#[test]
fn whoever_watches_does_not_take_the_room_of_a_player_who_has_left() {
    let mut now = Instant::now();
    let limits = limits(SealedConfig::new().connections_per_address_max(3));
    let school = address("10.0.0.1");
    let mut come = |plays| {
        now += Duration::from_secs(1);
        let mut ticket = granted(&limits, school, now);
        ticket.accept(plays).then_some(ticket)
    };
    let (first, _second, watcher) = (come(true), come(true), come(false));
    assert!(watcher.is_some() && come(true).is_none() && come(false).is_none());
    drop(first);
    assert!(come(false).is_none(), "it may be on the way back");
    let back = come(true);
    assert!(back.is_some());
    drop(watcher);
    drop(back);
    let watcher = come(false);
    assert!(watcher.is_some() && come(false).is_none() && come(true).is_some());
}

/// A place was taken from a connection elsewhere, though there was no room where its player called from: nobody had it then.
#[test]
fn a_former_connection_has_room_at_its_own_address_only() {
    let now = Instant::now();
    let limits = limits(SealedConfig::new().connections_max(4).connections_per_address_max(2));
    let [home, school] = [address("10.0.0.1"), address("10.0.0.2")];
    let mut here = [home, home, school, school].map(|from| granted(&limits, from, now));
    assert!(here.iter_mut().all(|ticket| ticket.accept(true)));
    let again = granted(&limits, home, now);
    let has_room = |former: usize| limits.has_room(again.number, true, Some(here[former].number), now);
    assert_eq!([0, 1, 2, 3].map(has_room), [true, true, false, false]);
    assert!(!limits.has_room(again.number, true, None, now));
    limits.free(here[2].number, now);
    assert!(!limits.has_room(again.number, true, None, now), "two of one address");
    limits.free(here[0].number, now);
    assert!(limits.has_room(again.number, true, None, now));
}

/// While one player stayed, the rooms of all who had ever played at once were kept from those who watch.
#[test]
fn the_room_of_a_player_who_has_left_is_kept_for_ten_minutes() {
    let start = Instant::now();
    let limits = limits(SealedConfig::new().connections_per_address_max(3));
    let school = address("10.0.0.1");
    let mut here = [(); 3].map(|()| granted(&limits, school, start));
    assert!(here.iter_mut().all(|ticket| limits.accept(ticket.number, true, start)));
    here[1..].iter().for_each(|ticket| limits.free(ticket.number, start));
    let watcher = granted(&limits, school, start);
    let has_room =
        |seconds: u64| limits.has_room(watcher.number, false, None, start + Duration::from_secs(seconds));
    assert_eq!([1, 599, 601].map(has_room), [false, false, true]);
}
