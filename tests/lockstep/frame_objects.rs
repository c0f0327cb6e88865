//! Objects that live for some frames: their order, their removal, their state.

use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_lockstep::{FrameObject, FrameObjectId, FrameObjects};

#[derive(Clone, Default, PartialEq, Debug)]
struct Follower {
    name: u8,
    frames: u32,
}

impl FrameObject<Vec<u8>> for Follower {
    fn frame(&mut self, log: &mut Vec<u8>, frames_per_second: u32) -> bool {
        assert_eq!(frames_per_second, 20);
        log.push(self.name);
        self.frames -= 1;
        self.frames == 0
    }
}

impl State for Follower {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.number("name", &mut self.name)?;
        v.number("frames", &mut self.frames)
    }
}

fn followers() -> FrameObjects<Follower> {
    let mut followers = FrameObjects::new();
    for (name, frames) in [(0, 3), (1, 1), (2, 2), (3, 1), (4, 3)] {
        followers.add(Follower { name, frames });
    }
    followers
}

#[test]
fn removal_keeps_the_order() {
    let (mut followers, mut log) = (followers(), Vec::new());
    for _ in 0..3 {
        followers.run(&mut log, 20);
        log.push(9);
    }
    assert_eq!(log, [0, 1, 2, 3, 4, 9, 0, 2, 4, 9, 0, 4, 9]);
    assert!(followers.is_empty());
}

#[test]
fn one_can_be_removed_before_it_finishes() {
    let (mut followers, mut log) = (followers(), Vec::new());
    let third = FrameObjectId::from_number(2);
    assert_eq!(followers.remove(third), Some(Follower { name: 2, frames: 2 }));
    assert_eq!((followers.remove(third), followers.get(third)), (None, None));
    followers.run(&mut log, 20);
    assert_eq!(log, [0, 1, 3, 4]);
    assert_eq!(followers.add(Follower::default()).number(), 5, "numbers are not used again");
}

#[test]
fn any_removals_keep_the_order() {
    let (mut objects, mut model) = (FrameObjects::new(), Vec::new());
    let (mut draw, mut bytes) = (1_u32, Vec::new());
    for step in 0..3_000 {
        draw = draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // More and more of them, then fewer and fewer.
        if (draw >> 16) % 100 < [70, 25][step / 500 % 2] {
            let object = Follower { name: step as u8, frames: 2 };
            model.push((objects.add(object.clone()), object));
        } else if !model.is_empty() {
            let (id, object) = model.remove(draw as usize / 256 % model.len());
            assert_eq!((objects.remove(id), objects.get(id)), (Some(object), None), "step {step}");
            assert_eq!(objects.remove(id), None);
        }
        assert!(objects.iter().eq(model.iter().map(|(id, object)| (*id, object))), "step {step}");
        assert_eq!((objects.len() as usize, objects.is_empty()), (model.len(), model.is_empty()));
        if step % 100 == 0 {
            let mut other = FrameObjects::new();
            bytes.clear();
            state::save(&mut objects.clone(), &mut bytes);
            state::load(&mut other, &bytes).unwrap();
            assert_eq!(other, objects, "step {step}");
        }
    }
}

#[test]
fn they_are_state() {
    let mut whole = followers();
    whole.remove(FrameObjectId::from_number(1));
    let mut bytes = Vec::new();
    state::save(&mut whole, &mut bytes);
    for mut other in [FrameObjects::new(), followers()] {
        state::load(&mut other, &bytes).unwrap();
        assert_eq!(other, whole);
        assert_eq!(state::first_difference(&mut other, &mut whole), None);
    }
    let mut leaves = Vec::new();
    state::leaves(&mut whole, &mut |leaf| leaves.push(leaf));
    let before = state::digest(&mut whole);
    for leaf in leaves {
        let mut broken = whole.clone();
        // Most ids and counts are refused or make other objects; every accepted change shows in the hash.
        for bit in (0..leaf.bits).filter(|bit| *bit < 12) {
            if state::flip_bit(&mut broken, &leaf, bit).is_ok() {
                assert_ne!(state::digest(&mut broken), before, "bit {bit} of {leaf:?}");
            } else {
                // An object was gone, or there was one more.
                assert_eq!(broken, whole, "bit {bit} of {leaf:?} was refused");
            }
            broken = whole.clone();
        }
    }
    // Untrusted bytes: the same id twice.
    let twice = bytes.iter().position(|byte| *byte == 2).unwrap();
    bytes[twice] = 0;
    assert_eq!(
        state::load(&mut FrameObjects::<Follower>::new(), &bytes),
        Err(StateError::Part { what: "two frame objects have the same id" })
    );
}
