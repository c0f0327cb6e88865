//! What callers do wrong gets a status and words, and changes nothing.

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use testudo::*;

#[path = "refusals/crowds.rs"]
mod crowds;
mod toy;
mod tried;

use toy::{bytes_of, filled, words};
use tried::{Call, assert_tried, calls};

const ORIGIN: TestudoVec2 = TestudoVec2 { x: 0, y: 0 };
const PATH: TestudoSegment = TestudoSegment { from: ORIGIN, to: ORIGIN };
const AREA: TestudoBox = TestudoBox { min: ORIGIN, max: ORIGIN };

fn disc() -> TestudoShape {
    // SAFETY: a place of `filled`.
    filled(|out| unsafe { testudo_circle(TESTUDO_ONE, out) })
}

fn body_def(kind: u32) -> TestudoBodyDef {
    // SAFETY: a place of `filled`.
    filled(|out| unsafe { testudo_body_def_default(kind, &disc(), out) })
}

/// A world that frees itself.
struct World(*mut TestudoWorld);

impl World {
    fn new() -> Self {
        // SAFETY: a place of `filled`.
        Self(filled(|out| unsafe { testudo_world_new(null(), out) }))
    }

    fn disc(&self) -> TestudoBody {
        // SAFETY: the world lives; a definition and a place of `filled`.
        filled(|out| unsafe { testudo_world_create_body(self.0, &body_def(TESTUDO_DYNAMIC), out) })
    }

    fn checksum(&self) -> u64 {
        // SAFETY: the world lives.
        unsafe { testudo_world_checksum(self.0) }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe { testudo_world_free(self.0) }
    }
}

/// No handle.
const W: *mut TestudoWorld = null_mut();

fn setters_without_a_world() -> Vec<Call> {
    let material = TestudoMaterial { restitution: 0, friction: 0, ground_friction: 0, damping: 0 };
    calls! { TESTUDO_NULL;
        testudo_world_set_position(W, 0, 0, 0);
        testudo_world_set_velocity(W, 0, 0, 0);
        testudo_world_apply_impulse(W, 0, 0, 0);
        testudo_world_apply_force(W, 0, 0, 0);
        testudo_world_move_kinematic(W, 0, 0, 0, 60);
        testudo_world_set_mass(W, 0, 0);
        testudo_world_set_damping(W, 0, 0);
        testudo_world_set_max_speed(W, 0, 0);
        testudo_world_set_material(W, 0, &material);
        testudo_world_set_filter(W, 0, 0, 0);
        testudo_world_set_shape(W, 0, &disc());
        testudo_world_set_kind(W, 0, 0);
        testudo_world_set_dominance(W, 0, 0);
        testudo_world_set_user(W, 0, 0);
        testudo_world_set_sensor(W, 0, 0);
        testudo_world_set_enabled(W, 0, 0);
        testudo_world_set_can_sleep(W, 0, 0);
        testudo_world_set_locked_axes(W, 0, 0, 0);
        testudo_world_wake_body(W, 0);
        testudo_world_sleep_body(W, 0);
        testudo_world_set_pair_ignored(W, 0, 0, 0);
    }
}

fn statuses_without_a_handle(buffer: *mut TestudoBuffer) -> Vec<Call> {
    let mut other = W;
    let (mut point, mut area, mut number, mut bits) = (ORIGIN, AREA, 0_i64, 0_u64);
    let mut state = std::mem::MaybeUninit::uninit();
    let corners = [ORIGIN; 3];
    calls! { TESTUDO_NULL;
        testudo_world_new(null(), null_mut());
        testudo_world_clone(W, &mut other);
        testudo_world_step(W, 60);
        testudo_world_gravity(W, &mut point);
        testudo_world_bounds(W, &mut area);
        testudo_world_set_gravity(W, 0, 0);
        testudo_world_set_bounds(W, &area);
        testudo_world_save(W, buffer);
        testudo_world_load(W, null(), 0);
        testudo_world_restore(W, null(), 0);
        testudo_world_from_bytes(null(), 0, null_mut());
        testudo_world_validate(W);
        testudo_world_flip_bit(W, 0, TESTUDO_FIELD_USER, 0);
        testudo_world_def_default(null_mut());
        testudo_circle(0, null_mut());
        testudo_rect(0, 0, null_mut());
        testudo_body_def_default(TESTUDO_STATIC, null(), null_mut());
        testudo_world_create_body(W, &body_def(TESTUDO_STATIC), null_mut());
        testudo_world_remove_body(W, 0);
        testudo_world_body_state(W, 0, state.as_mut_ptr());
        testudo_world_position(W, 0, &mut point);
        testudo_world_velocity(W, 0, &mut point);
        testudo_world_user(W, 0, &mut bits);
        testudo_world_distance(W, 0, &point, &mut number);
        testudo_terrain_def_default(null_mut());
        testudo_world_create_polygon(W, null(), corners.as_ptr(), 3, null_mut());
        testudo_world_list_contact_hits(W, 1);
        testudo_world_list_stayed_contacts(W, 1);
        testudo_query_filter_default(null_mut());
        testudo_random_new(0, 0, null_mut());
        testudo_normalize(null_mut());
        testudo_clamp_length(null_mut(), 0);
        testudo_rotate(null_mut(), 0);
        testudo_buffer_clear(null_mut());
        testudo_visit_object(null_mut(), c"a".as_ptr(), 0);
        testudo_visit_number(null_mut(), c"a".as_ptr(), 0);
        testudo_visit_world(null_mut(), W);
        testudo_visit_crowd(null_mut(), null());
        testudo_buffer_append(null_mut(), null(), 0);
        testudo_buffer_append(buffer, null(), 1);
        testudo_buffer_resize(null_mut(), 0);
    }
}

fn counts_without_a_world() -> Vec<Call> {
    let corners = [ORIGIN; 3];
    calls! { -TESTUDO_NULL;
        testudo_world_first_difference(W, W, null_mut());
        testudo_world_has_body(W, 0);
        testudo_world_is_pair_ignored(W, 0, 0);
        testudo_world_create_chain(W, null(), corners.as_ptr(), 3, null_mut(), 0);
        testudo_world_terrain_points(W, 0, null_mut(), 0);
        testudo_world_bodies(W, null_mut(), 0);
        testudo_world_positions(W, null_mut(), 0);
        testudo_world_interpolated(W, 0, null_mut(), 0);
        testudo_world_moved_bodies(W, null_mut(), 0);
        testudo_world_ignored_pairs(W, null_mut(), 0);
        testudo_world_events(W, 0, null_mut(), 0);
        testudo_world_contact_hits(W, null_mut(), 0);
        testudo_world_contacts(W, null_mut(), 0);
        testudo_world_contacts_of(W, 0, null_mut(), 0);
        testudo_world_query_area(W, &AREA, null(), null_mut(), 0);
        testudo_world_query_area_exact(W, &AREA, null(), null_mut(), 0);
        testudo_world_query_point(W, &ORIGIN, null(), null_mut(), 0);
        testudo_world_query_shape(W, &disc(), &ORIGIN, null(), null_mut(), 0);
        testudo_world_nearest(W, &ORIGIN, 0, null(), null_mut(), 0);
        testudo_world_ray_cast(W, &PATH, null(), null_mut());
        testudo_world_ray_cast_all(W, &PATH, null(), null_mut(), 0);
        testudo_world_sweep(W, &disc(), &PATH, null(), null_mut());
        testudo_world_sweep_all(W, &disc(), &PATH, null(), null_mut(), 0);
    }
}

fn values_without_a_handle() -> Vec<Call> {
    calls! { 0;
        testudo_world_frame(W);
        testudo_world_checksum(W);
        testudo_world_body_count(W);
        testudo_random_next_u32(null_mut());
        testudo_random_next_u64(null_mut());
        testudo_random_below(null_mut(), 6);
        testudo_random_range(null_mut(), 1, 6);
        testudo_world_random_next_u32(W);
        testudo_world_random_below(W, 6);
        testudo_hash(null(), 1);
        testudo_buffer_data(null_mut());
        testudo_buffer_length(null());
    }
}

#[test]
fn null_is_refused_by_every_function() {
    let buffer = testudo_buffer_new();
    let all = [
        setters_without_a_world(),
        statuses_without_a_handle(buffer),
        counts_without_a_world(),
        values_without_a_handle(),
        crowds::without_a_handle(buffer),
    ]
    .concat();
    assert!(words().ends_with(" is NULL"), "{}", words());
    // SAFETY: NULL is allowed, and the buffer is used no more.
    unsafe {
        testudo_world_free(W);
        testudo_crowd_free(null_mut());
        testudo_buffer_free(null_mut());
        testudo_buffer_free(buffer);
        assert_eq!(CStr::from_ptr(testudo_world_instruction_set(W)), c"");
    }
    // Nothing is left out.
    let without_pointers =
        ["testudo_error", "testudo_status_name", "_version", "_new", "_free", "_instruction_set"];
    let numbers =
        ["mul", "mul_nearest", "div", "sqrt", "isqrt", "length", "sin", "cos", "atan2", "turn_toward"];
    assert_tried(&all, &SOURCES, |name| {
        without_pointers.iter().any(|end| name.ends_with(end))
            || numbers.iter().any(|number| name == format!("testudo_{number}"))
    });
}

/// What of this package needs no match.
const SOURCES: [&str; 21] = [
    include_str!("../src/body.rs"),
    include_str!("../src/body_def.rs"),
    include_str!("../src/buffer.rs"),
    include_str!("../src/crowd/def.rs"),
    include_str!("../src/crowd/draw.rs"),
    include_str!("../src/crowd/ground.rs"),
    include_str!("../src/crowd/mod.rs"),
    include_str!("../src/crowd/orders.rs"),
    include_str!("../src/crowd/units.rs"),
    include_str!("../src/draw.rs"),
    include_str!("../src/failure.rs"),
    include_str!("../src/lists.rs"),
    include_str!("../src/number.rs"),
    include_str!("../src/query.rs"),
    include_str!("../src/random.rs"),
    include_str!("../src/setters.rs"),
    include_str!("../src/terrain.rs"),
    include_str!("../src/version.rs"),
    include_str!("../src/visit.rs"),
    include_str!("../src/world.rs"),
    include_str!("../src/world_def.rs"),
];

/// Whoever did not look at the status called with whatever its own variable held.
#[test]
fn a_handle_that_is_not_made_is_null() {
    // SAFETY: a place of `filled`.
    let def = TestudoWorldDef { edge: 9, ..filled(|out| unsafe { testudo_world_def_default(out) }) };
    let (mut first, mut second, mut third) =
        (std::ptr::dangling_mut(), std::ptr::dangling_mut(), std::ptr::dangling_mut());
    // SAFETY: places of this function, filled in before they are read.
    unsafe {
        assert_eq!(testudo_world_new(&def, &mut first), TESTUDO_OUT_OF_RANGE);
        assert_eq!(testudo_world_clone(W, &mut second), TESTUDO_NULL);
        assert_eq!(testudo_world_from_bytes(null(), 0, &mut third), TESTUDO_DAMAGED);
    }
    assert!(first.is_null() && second.is_null() && third.is_null());
}

#[test]
fn null_beside_a_world_is_refused() {
    let world = World::new();
    let (w, body) = (world.0, world.disc());
    let before = world.checksum();
    let points = [ORIGIN; 2];
    // SAFETY: the world lives; no count is greater than what is there.
    let all = unsafe {
        [
            (testudo_world_clone(w, null_mut()), "out"),
            (testudo_world_gravity(w, null_mut()), "out"),
            (testudo_world_set_bounds(w, null()), "bounds"),
            (testudo_world_save(w, null_mut()), "buffer"),
            (testudo_world_load(w, null(), 1), "data"),
            (testudo_world_create_body(w, null(), null_mut()), "def"),
            (testudo_world_body_state(w, body, null_mut()), "out"),
            (testudo_world_set_material(w, body, null()), "material"),
            (testudo_world_set_shape(w, body, null()), "shape"),
            (testudo_world_create_polygon(w, null(), null(), 3, null_mut()), "points"),
            (-testudo_world_create_chain(w, null(), points.as_ptr(), 2, null_mut(), 1), "out"),
            (-testudo_world_bodies(w, null_mut(), 1), "out"),
            (-testudo_world_query_area(w, null(), null(), null_mut(), 0), "area"),
            (-testudo_world_ray_cast(w, &PATH, null(), null_mut()), "out"),
            (-testudo_world_first_difference(w, null(), null_mut()), "world"),
        ]
    };
    for (at, (got, name)) in all.iter().enumerate() {
        assert_eq!(*got, TESTUDO_NULL, "call {at}: {name}");
    }
    assert_eq!(words(), "world is NULL");
    assert_eq!(world.checksum(), before);
}

#[test]
fn numbers_that_name_nothing_are_refused() {
    let world = World::new();
    let (w, body) = (world.0, world.disc());
    let before = world.checksum();
    let refused = |got: i32, expected: &str| {
        assert_eq!((got, words().as_str()), (TESTUDO_OUT_OF_RANGE, expected));
    };
    let odd_shape = TestudoShape { kind: 2, ..disc() };
    let with = |change: fn(&mut TestudoBodyDef)| {
        let mut def = body_def(TESTUDO_DYNAMIC);
        change(&mut def);
        // SAFETY: the world lives.
        unsafe { testudo_world_create_body(w, &def, null_mut()) }
    };
    let world_with = |change: fn(&mut TestudoWorldDef)| {
        // SAFETY: a place of `filled`.
        let (mut def, mut made) = (filled(|out| unsafe { testudo_world_def_default(out) }), null_mut());
        change(&mut def);
        // SAFETY: places of this function.
        let got = unsafe { testudo_world_new(&def, &mut made) };
        assert!(made.is_null());
        got
    };
    refused(with(|def| def.kind = 3), "kind must be 0..=2, not 3");
    refused(with(|def| def.shape.kind = u32::MAX), "shape must be 0..=1, not 4294967295");
    refused(with(|def| def.mass = 0), "mass must be 0.0039..=16384, not 0");
    // One that a rule has computed was no limit at all, and in Rust the former one stayed.
    refused(with(|def| def.max_speed = -TESTUDO_ONE), "max_speed must be 0..=1024, not -1");
    refused(with(|def| def.position.x = i64::MIN), "position must be -16384..=16384, not -140737488355328");
    refused(world_with(|def| def.edge = 2), "edge must be 0..=1, not 2");
    refused(world_with(|def| def.simd = 4), "simd must be 0..=3, not 4");
    refused(world_with(|def| def.iterations = 0), "world setting `iterations` must be 1..=64, not 0");
    // SAFETY: the world lives; no count is greater than what is there.
    unsafe {
        refused(testudo_body_def_default(3, &disc(), null_mut()), "kind must be 0..=2, not 3");
        refused(testudo_world_set_kind(w, body, 9), "kind must be 0..=2, not 9");
        refused(testudo_world_set_shape(w, body, &odd_shape), "shape must be 0..=1, not 2");
        for speed in [-2, -TESTUDO_ONE, i64::MIN] {
            assert_eq!(testudo_world_set_max_speed(w, body, speed), TESTUDO_OUT_OF_RANGE, "{speed}");
        }
        assert_eq!(testudo_world_set_max_speed(w, body, TESTUDO_NO_LIMIT), TESTUDO_OK);
        refused(testudo_world_set_dominance(w, body, 128), "dominance must be -128..=127, not 128");
        refused(-testudo_world_events(w, 5, null_mut(), 0), "list must be 0..=4, not 5");
        refused(testudo_world_flip_bit(w, body, 5, 0), "field must be 0..=4, not 5");
        refused(
            -testudo_world_query_shape(w, &odd_shape, &ORIGIN, null(), null_mut(), 0),
            "shape must be 0..=1, not 2",
        );
        // Far more than there are; nothing is read.
        let many = testudo_world_create_polygon(w, null(), &ORIGIN, u32::MAX, null_mut());
        refused(many, "points: at most 8 are allowed, not 4294967295");
        assert_eq!(testudo_world_flip_bit(w, body, TESTUDO_FIELD_USER, 64), TESTUDO_OUT_OF_RANGE);
        assert_eq!(testudo_world_step(w, 0), TESTUDO_OUT_OF_RANGE);
        assert_eq!(testudo_world_step(w, 1_001), TESTUDO_OUT_OF_RANGE);
        let far = TestudoSegment { from: ORIGIN, to: TestudoVec2 { x: i64::MAX, y: i64::MIN } };
        assert_eq!(testudo_world_ray_cast(w, &far, null(), null_mut()), -TESTUDO_OUT_OF_RANGE);
        assert_eq!(CStr::from_ptr(testudo_status_name(TESTUDO_OUT_OF_RANGE)), c"TESTUDO_OUT_OF_RANGE");
        assert_eq!(CStr::from_ptr(testudo_status_name(-1)), c"unknown");
    }
    assert_eq!(world.checksum(), before);
}

#[test]
fn a_stale_body_is_refused_by_name() {
    let world = World::new();
    let (w, body, other) = (world.0, world.disc(), world.disc());
    let mut point = ORIGIN;
    // SAFETY: the world lives; places of this function.
    unsafe {
        assert_eq!(testudo_world_set_pair_ignored(w, body, body, 1), TESTUDO_REFUSED);
        assert_eq!(testudo_world_remove_body(w, body), TESTUDO_OK);
        assert_eq!((testudo_world_has_body(w, body), testudo_world_has_body(w, other)), (0, 1));
        assert_eq!(testudo_world_remove_body(w, body), TESTUDO_STALE);
        assert_eq!(words(), "body 0.0 is not in this world (any more)");
        assert_eq!(testudo_world_position(w, body, &mut point), TESTUDO_STALE);
        assert_eq!(testudo_world_set_velocity(w, body, 0, 0), TESTUDO_STALE);
        assert_eq!(testudo_world_set_pair_ignored(w, body, other, 1), TESTUDO_STALE);
        assert_eq!(testudo_world_flip_bit(w, body, TESTUDO_FIELD_USER, 0), TESTUDO_STALE);
        assert_eq!(testudo_world_terrain_points(w, body, null_mut(), 0), -TESTUDO_STALE);
        for any in [TESTUDO_NO_BODY, u64::MAX - 1, 1 << 32, 77] {
            assert_eq!(testudo_world_wake_body(w, any), TESTUDO_STALE);
        }
        // The slot is used again, the handle is not.
        let third = world.disc();
        assert_eq!((third as u32, third == body), (body as u32, false));
    }
}

#[test]
fn lists_write_what_there_is_room_for() {
    let world = World::new();
    let bodies = [world.disc(), world.disc(), world.disc()];
    let mut out = [7_u64; 4];
    let near_all = TestudoBox { min: TestudoVec2 { x: -1, y: -1 }, max: TestudoVec2 { x: 1, y: 1 } };
    // SAFETY: the world lives; capacities are those of `out`.
    unsafe {
        assert_eq!(testudo_world_bodies(world.0, null_mut(), 0), 3);
        assert_eq!(testudo_world_bodies(world.0, out.as_mut_ptr(), 0), 3);
        assert_eq!(out, [7; 4]);
        assert_eq!(testudo_world_bodies(world.0, out.as_mut_ptr(), 2), 3);
        assert_eq!(out, [bodies[0], bodies[1], 7, 7]);
        assert_eq!(testudo_world_query_area(world.0, &near_all, null(), out.as_mut_ptr(), 4), 3);
        assert_eq!(out, [bodies[0], bodies[1], bodies[2], 7]);
        assert_eq!(testudo_world_nearest(world.0, &ORIGIN, 0, null(), null_mut(), 0), 0);
        let mut near = [TestudoNear { body: 7, distance: 7 }; 2];
        assert_eq!(testudo_world_nearest(world.0, &ORIGIN, 0, null(), near.as_mut_ptr(), 2), 2);
        assert_eq!(near.map(|near| (near.body, near.distance)), [(bodies[0], 0), (bodies[1], 0)]);
    }
}

/// JavaScript puts structures at any multiple of one byte.
#[test]
fn nothing_needs_alignment() {
    let world = World::new();
    let body = world.disc();
    let mut bytes = vec![0_u8; 1 + size_of::<TestudoBodyState>()];
    let place = bytes.as_mut_ptr().wrapping_add(1);
    // SAFETY: the world lives; there is room for a state or a definition.
    unsafe {
        assert_eq!(testudo_world_body_state(world.0, body, place.cast()), TESTUDO_OK);
        let state = place.cast::<TestudoBodyState>().read_unaligned();
        assert_eq!((state.mass, state.awake, state.kind), (TESTUDO_ONE, 1, TESTUDO_DYNAMIC));
        place.cast::<TestudoBodyDef>().write_unaligned(body_def(TESTUDO_STATIC));
        assert_eq!(testudo_world_create_body(world.0, place.cast(), null_mut()), TESTUDO_OK);
        assert_eq!(testudo_world_bodies(world.0, place.cast(), 2), 2);
        assert_eq!(place.cast::<u64>().read_unaligned(), body);
    }
}

#[test]
fn damaged_bytes_change_nothing() {
    let world = World::new();
    world.disc();
    let (w, buffer) = (world.0, testudo_buffer_new());
    // SAFETY: world and buffer live; the bytes are copied at once.
    let saved = unsafe {
        assert_eq!(testudo_world_save(w, buffer), TESTUDO_OK);
        let saved = bytes_of(buffer);
        testudo_buffer_free(buffer);
        saved
    };
    world.disc();
    let before = world.checksum();
    // SAFETY: the world lives; data and length are those of a vector.
    let load = |bytes: &[u8]| unsafe { testudo_world_load(w, bytes.as_ptr(), bytes.len()) };
    // SAFETY: as above.
    let make = |bytes: &[u8], out: &mut *mut TestudoWorld| unsafe {
        testudo_world_from_bytes(bytes.as_ptr(), bytes.len(), out)
    };
    for at in 0..saved.len() {
        let mut damaged = saved.clone();
        damaged[at] ^= 1 << (at % 8);
        let mut made = null_mut();
        for got in [load(&damaged), load(&saved[..at]), make(&damaged, &mut made)] {
            assert!([TESTUDO_DAMAGED, TESTUDO_VERSION].contains(&got), "byte {at}: {got}");
            assert!(made.is_null() && world.checksum() == before, "byte {at}");
        }
    }
    assert_eq!(load(&saved), TESTUDO_OK);
    assert_ne!(world.checksum(), before);
    // SAFETY: the world lives; nothing is read.
    let too_long = unsafe { testudo_world_load(w, saved.as_ptr(), usize::MAX) };
    assert_eq!(too_long, TESTUDO_OUT_OF_RANGE);
}

#[test]
fn a_buffer_takes_no_length_that_memory_has_not() {
    let buffer = testudo_buffer_new();
    // SAFETY: the buffer lives; the bytes are those of a string.
    unsafe {
        assert_eq!(testudo_buffer_append(buffer, b"abc".as_ptr(), 3), TESTUDO_OK);
        for length in [usize::MAX, isize::MAX as usize + 1, isize::MAX as usize] {
            assert_eq!(testudo_buffer_resize(buffer, length), TESTUDO_OUT_OF_RANGE);
        }
        assert_eq!(testudo_buffer_resize(buffer, 5), TESTUDO_OK);
        testudo_buffer_data(buffer).add(4).write(b'e');
        assert_eq!(bytes_of(buffer), b"abc\0e");
        assert_eq!(testudo_buffer_clear(buffer), TESTUDO_OK);
        assert_eq!(testudo_buffer_length(buffer), 0);
        testudo_buffer_free(buffer);
    }
}
