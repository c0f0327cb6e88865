//! What a client's pictures show over a whole battle, also ahead of what is confirmed.

use std::collections::{BTreeMap, BTreeSet};

use testudo_battle::Setup;
use testudo_battle::bots::Level;
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{Duration, Pace};
use testudo_render::battle::effects::Effects;
use testudo_render::battle::shown::Shown;
use testudo_render::paint::camera::vector;
use testudo_render::sound::Cue;
use testudo_tests::cases::{cases, share};

use crate::app::{Pilot, ReplayFile, Skirmish, SkirmishSpec, Terms};

const PICTURE: Duration = Duration::from_micros(16_667);

fn battle(seed: u64) -> Skirmish {
    let link = LinkConfig::new().latency(Duration::from_millis(100)).loss_ppm(20_000);
    let terms = Terms { setup: Setup { players: 2, units: 60, seed, map: None }, turns: 1_000 };
    let mut skirmish = Skirmish::new(SkirmishSpec {
        terms,
        link,
        pace: Pace::Adaptive,
        pilots: vec![Pilot::Bot(Level::Hard); 2],
        replay: ReplayFile::None,
    })
    .unwrap();
    skirmish.set_prediction(0, true);
    skirmish
}

fn shown(skirmish: &Skirmish) -> Shown<'_> {
    Shown::new(skirmish.copy(0).game(), skirmish.foresight(0), skirmish.alpha(0))
}

/// Looks at 3,000 pictures of each of these battles; true: it is the first one.
fn watch(seeds: impl IntoIterator<Item = u32>, mut look: impl FnMut(bool, &Skirmish)) {
    for seed in seeds {
        let mut skirmish = battle(seed.into());
        for picture in 0..3_000 {
            skirmish.advance(PICTURE, Duration::from_secs(60)).unwrap();
            skirmish.foresee(PICTURE);
            look(picture == 0, &skirmish);
        }
    }
}

/// Otherwise a unit whose death is predicted would go back to its confirmed place, by up to nine tenths of a unit, and die there again.
#[test]
fn who_dies_in_the_prediction_stays_where_it_was_drawn() {
    let (mut waited, mut farthest, mut behind) = (0, 0.0_f32, 0.0_f32);
    let mut before = BTreeMap::new();
    watch(cases(0..4), |_, skirmish| {
        let shown = shown(skirmish);
        let mut drawn = BTreeMap::new();
        for look in shown.unit_looks() {
            let at = shown.position(look.body).unwrap();
            drawn.insert(look.number, at);
            if shown.is_doomed(look.body) {
                let moved = before.get(&look.number).map_or(0.0, |last| at.distance(*last));
                let truth = vector(shown.truth.world().body(look.body).unwrap().position());
                waited += 1;
                (farthest, behind) = (farthest.max(moved), behind.max(at.distance(truth)));
            }
        }
        before = drawn;
    });
    assert!(waited > share(100) as u32 && behind > 0.5, "{waited}, {behind}");
    assert!(farthest < 0.01, "{farthest}");
}

/// Also if a correction revokes it, and it is struck a little later.
#[test]
fn a_blow_is_seen_once() {
    let (mut blows, mut wounds, mut revoked, mut effects) = (0, 0, 0, Effects::default());
    let mut least = BTreeMap::new();
    watch(cases(0..4), |is_first, skirmish| {
        if is_first {
            (effects, least) = Default::default();
        }
        let shown = shown(skirmish);
        // Whoever has fewer hit points than it ever had in this life has been wounded.
        for look in shown.unit_looks() {
            let before = least.entry(look.body).or_insert(look.hit_points);
            wounds += usize::from(look.hit_points < *before);
            revoked += usize::from(look.hit_points > *before);
            *before = look.hit_points.min(*before);
        }
        effects.observe(shown, skirmish.frame(0), 0.017, 0.017);
        let events = effects.take_events();
        blows += events.iter().filter(|event| event.cue == Cue::Blow && !event.is_siege).count();
    });
    assert!(
        blows > share(1_000) as usize && revoked > share(100) as usize,
        "{blows}, {revoked}: not interesting"
    );
    assert!(blows <= wounds, "{blows}, {wounds}");
}

/// A predicted recruit that did not come fell, with a corpse; and one that came before the death of who had its number was confirmed kept that
/// silent.
#[test]
fn who_falls_has_lived_and_died() {
    let (mut falls, mut deaths, mut effects, mut living) = (0, 0, Effects::default(), BTreeSet::new());
    watch(cases(0..4), |is_first, skirmish| {
        if is_first {
            (effects, living) = Default::default();
        }
        let shown = shown(skirmish);
        effects.observe(shown, skirmish.frame(0), 0.017, 0.017);
        falls += effects.take_events().iter().filter(|event| event.cue == Cue::Fall).count();
        let now: BTreeSet<_> = shown.truth.unit_looks().map(|look| look.body).collect();
        deaths += living.difference(&now).count();
        living = now;
        assert_eq!(falls, deaths);
    });
    assert!(deaths > share(100) as usize, "{deaths}: not interesting");
}

#[test]
fn a_shot_is_heard_in_the_picture_in_which_its_arrow_leaves() {
    let (mut effects, mut heard, mut flights) = (Effects::default(), 0, BTreeMap::new());
    watch(1..2, |_, skirmish| {
        let shown = Shown::plain(skirmish.copy(0).game(), skirmish.alpha(0));
        effects.observe(shown, skirmish.frame(0), 0.017, 0.017);
        let now: BTreeMap<u32, f32> =
            (0..120).filter_map(|number| Some((number, effects.flight(number)?))).collect();
        let is_new = |(number, flown): &(&u32, &f32)| flights.get(*number).is_none_or(|f| f > *flown);
        let released = now.iter().filter(is_new).count();
        let events = effects.take_events();
        assert_eq!(events.iter().filter(|event| event.cue == Cue::Arrow).count(), released);
        heard += released;
        flights = now;
    });
    assert!(heard > 100, "{heard}");
}

/// Who came late, or back, was shown the first formation until the state was there, and then saw and heard everybody fall who had died before.
#[test]
fn who_comes_in_the_middle_sees_nobody_fall_who_died_before() {
    let (mut effects, mut later, first) = (Effects::default(), battle(0), battle(0));
    while later.copy(0).game().unit_looks().count() > 100 {
        later.advance(PICTURE, Duration::from_secs(60)).unwrap();
    }
    let mut heard = |skirmish: &Skirmish| {
        effects.observe(Shown::plain(skirmish.copy(0).game(), 0), skirmish.frame(0), 0.017, 0.017);
        let mut heard = effects.take_events();
        heard.retain(|event| matches!(event.cue, Cue::Fall | Cue::Crash));
        heard
    };
    assert!(later.frame(0) > 100);
    // And once more: the connection is made again, and the copy begins anew.
    for skirmish in [&first, &later, &first, &later] {
        assert_eq!(heard(skirmish), [], "frame {}", skirmish.frame(0));
    }
    let mut falls = 0;
    while falls == 0 {
        later.advance(PICTURE, Duration::from_secs(60)).unwrap();
        falls += heard(&later).len();
    }
}
