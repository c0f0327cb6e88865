//! Crowds: what callers do wrong.

use super::*;

/// No handle.
const C: *mut TestudoCrowd = null_mut();

pub(super) fn without_a_handle(buffer: *mut TestudoBuffer) -> Vec<Call> {
    let mut other = C;
    let mut def = std::mem::MaybeUninit::<TestudoCrowdDef>::uninit();
    let mut state = std::mem::MaybeUninit::uninit();
    let mut point = ORIGIN;
    let counts = calls! { -TESTUDO_NULL;
        testudo_crowd_first_difference(C, C, null_mut());
        testudo_crowd_remove(C, W, 0);
        testudo_crowd_events(C, null_mut(), 0);
        testudo_crowd_is_open(C, &ORIGIN, 0);
        testudo_crowd_nearest_open(C, &ORIGIN, 0, &mut point);
        testudo_crowd_find_path(C, &PATH, 0, 1, null_mut(), 0);
        testudo_crowd_draw_ground(C, 0, null_mut(), 0);
        testudo_crowd_draw_flow(C, 0, null_mut(), 0);
        testudo_crowd_draw_units(C, null_mut(), 0);
    };
    let values = calls! { 0; testudo_crowd_checksum(C); };
    let statuses = calls! { TESTUDO_NULL;
        testudo_crowd_new(def.as_ptr(), null_mut());
        testudo_crowd_new(null(), &mut other);
        testudo_crowd_def_default(null(), def.as_mut_ptr());
        testudo_crowd_def_default(&AREA, null_mut());
        testudo_crowd_clone(C, &mut other);
        testudo_crowd_step(C, W, 20);
        testudo_crowd_save(C, buffer);
        testudo_crowd_load(C, W, null(), 0);
        testudo_crowd_survey(C, W);
        testudo_crowd_survey_area(C, W, &AREA);
        testudo_crowd_set_cost(C, W, &AREA, 1);
        testudo_crowd_add(C, W, 0, 1, 1);
        testudo_crowd_unit_state(C, 0, state.as_mut_ptr());
        testudo_move_order_go(0, 0, null_mut());
        testudo_crowd_order(C, W, null(), 0, null());
        testudo_crowd_send(C, 0, &ORIGIN, &ORIGIN);
        testudo_crowd_pursue(C, W, 0, 1, 0);
        testudo_crowd_stop(C, W, null(), 0);
        testudo_crowd_stop(C, W, null(), 1);
    };
    [counts, values, statuses].concat()
}

/// A world with a crowd, which free themselves.
struct Field {
    world: World,
    crowd: *mut TestudoCrowd,
}

impl Field {
    /// Not surveyed yet.
    fn new() -> Self {
        // SAFETY: a place of `filled`.
        Self { world: World::new(), crowd: filled(|out| unsafe { testudo_crowd_new(&def(), out) }) }
    }

    fn unit(&self) -> TestudoBody {
        let unit = self.world.disc();
        // SAFETY: both live.
        let added = unsafe { testudo_crowd_add(self.crowd, self.world.0, unit, TESTUDO_ONE, TESTUDO_ONE) };
        assert_eq!(added, TESTUDO_OK, "{}", words());
        unit
    }

    fn survey(&self) {
        // SAFETY: both live.
        assert_eq!(unsafe { testudo_crowd_survey(self.crowd, self.world.0) }, TESTUDO_OK);
    }

    fn checksum(&self) -> u64 {
        // SAFETY: it lives.
        unsafe { testudo_crowd_checksum(self.crowd) }
    }
}

impl Drop for Field {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe { testudo_crowd_free(self.crowd) }
    }
}

/// Units of radius 1 on 32 x 32 units.
fn def() -> TestudoCrowdDef {
    let corner = 16 * TESTUDO_ONE;
    let area =
        TestudoBox { min: TestudoVec2 { x: -corner, y: -corner }, max: TestudoVec2 { x: corner, y: corner } };
    // SAFETY: a place of this function, and one of `filled`.
    let mut def: TestudoCrowdDef = filled(|out| unsafe { testudo_crowd_def_default(&area, out) });
    def.sizes[0] = TESTUDO_ONE;
    def
}

fn go() -> TestudoMoveOrder {
    TestudoMoveOrder { goal: ORIGIN, formation: 0, files: 0, facing: 0, together: 0 }
}

#[test]
fn a_crowd_refuses_what_no_crowd_can_be() {
    let with = |change: fn(&mut TestudoCrowdDef)| {
        let (mut def, mut made) = (def(), std::ptr::dangling_mut());
        change(&mut def);
        // SAFETY: places of this function.
        let got = unsafe { testudo_crowd_new(&def, &mut made) };
        assert!(made.is_null(), "NULL for a crowd that was not made");
        (got, words())
    };
    type Change = fn(&mut TestudoCrowdDef);
    let changes: [(Change, &str); 6] = [
        (|def| def.size_count = 5, "size_count must be 1..=4, not 5"),
        (|def| def.size_count = 0, "a ground has 1 to 4 ascending radii"),
        (|def| def.cell = 3, "a cell must be a power of two"),
        (|def| def.area.min.x = i64::MIN, "the area of a ground must not be empty"),
        (|def| def.fields_max = 0, "must be 1 to 1024, not 0"),
        (|def| def.cells_per_frame = 0, "at least one cell per frame"),
    ];
    for (change, expected) in changes {
        let (got, said) = with(change);
        assert!(got == TESTUDO_OUT_OF_RANGE && said.contains(expected), "{got}: {said}");
    }
}

#[test]
fn an_order_that_is_refused_moves_nobody() {
    let field = Field::new();
    let (c, w, unit, other) = (field.crowd, field.world.0, field.unit(), field.world.disc());
    let units = [unit, other];
    let order = |count, order: &TestudoMoveOrder| {
        // SAFETY: both live; there are two bodies.
        unsafe { testudo_crowd_order(c, w, units.as_ptr(), count, order) }
    };
    assert_eq!((order(1, &go()), words().contains("never surveyed")), (TESTUDO_REFUSED, true), "{}", words());
    field.survey();
    let before = field.checksum();
    assert_eq!(order(2, &go()), TESTUDO_STALE, "{}", words());
    assert_eq!(order(u32::MAX, &go()), TESTUDO_OUT_OF_RANGE);
    assert_eq!(words(), "units: at most 1048576 are allowed, not 4294967295");
    assert_eq!(order(1, &TestudoMoveOrder { formation: 2, ..go() }), TESTUDO_OUT_OF_RANGE);
    assert_eq!(words(), "formation must be 0..=1, not 2");
    assert_eq!(
        order(1, &TestudoMoveOrder { formation: TESTUDO_FORMATION_ROWS, ..go() }),
        TESTUDO_OUT_OF_RANGE
    );
    let far = TestudoVec2 { x: i64::MAX, y: 0 };
    assert_eq!(order(1, &TestudoMoveOrder { goal: far, ..go() }), TESTUDO_OUT_OF_RANGE);
    let mut state = std::mem::MaybeUninit::uninit();
    let mut open = ORIGIN;
    // SAFETY: both live; places of this function.
    unsafe {
        assert_eq!(testudo_crowd_order(c, w, null(), 1, &go()), TESTUDO_NULL);
        assert_eq!(testudo_crowd_order(c, w, units.as_ptr(), 1, null()), TESTUDO_NULL);
        assert_eq!(testudo_crowd_order(c, null(), units.as_ptr(), 1, &go()), TESTUDO_NULL);
        assert_eq!(testudo_crowd_pursue(c, w, unit, unit, 0), TESTUDO_REFUSED);
        assert_eq!(testudo_crowd_pursue(c, w, unit, 77, 0), TESTUDO_STALE);
        assert_eq!(testudo_crowd_pursue(c, w, unit, other, -1), TESTUDO_OUT_OF_RANGE);
        assert_eq!(testudo_crowd_stop(c, w, units.as_ptr(), 2), TESTUDO_STALE);
        assert_eq!(testudo_crowd_send(c, other, &ORIGIN, &ORIGIN), TESTUDO_STALE);
        assert_eq!(testudo_crowd_send(c, unit, null(), &ORIGIN), TESTUDO_NULL);
        assert_eq!(testudo_crowd_add(c, w, 77, 1, 1), TESTUDO_STALE);
        assert_eq!(testudo_crowd_add(c, w, other, 0, 1), TESTUDO_OUT_OF_RANGE);
        assert_eq!(testudo_crowd_unit_state(c, other, state.as_mut_ptr()), TESTUDO_STALE);
        assert_eq!(testudo_crowd_unit_state(c, unit, null_mut()), TESTUDO_NULL);
        assert_eq!(testudo_crowd_set_cost(c, w, &AREA, 16), TESTUDO_OUT_OF_RANGE);
        assert_eq!(testudo_crowd_set_cost(c, w, &AREA, u32::MAX), TESTUDO_OUT_OF_RANGE);
        assert_eq!(testudo_crowd_step(c, w, 0), TESTUDO_OUT_OF_RANGE);
        assert_eq!(testudo_crowd_is_open(c, &ORIGIN, 2 * TESTUDO_ONE), -TESTUDO_OUT_OF_RANGE);
        assert_eq!(testudo_crowd_nearest_open(c, &far, TESTUDO_ONE, &mut open), 1);
        let ends = TestudoSegment { from: ORIGIN, to: far };
        assert_eq!(testudo_crowd_find_path(c, &ends, TESTUDO_ONE, 1, null_mut(), 0), -TESTUDO_FULL);
        assert_eq!(testudo_crowd_find_path(c, &ends, TESTUDO_ONE, 2_000, null_mut(), 1), -TESTUDO_NULL);
        assert!(testudo_crowd_find_path(c, &ends, TESTUDO_ONE, 2_000, null_mut(), 0) >= 2);
    }
    assert_eq!(field.checksum(), before);
    assert_eq!(order(1, &go()), TESTUDO_OK);
    assert_ne!(field.checksum(), before);
}

#[test]
fn a_damaged_crowd_changes_nothing() {
    let field = Field::new();
    field.survey();
    let units = [field.unit(), field.unit()];
    let (c, w, buffer) = (field.crowd, field.world.0, testudo_buffer_new());
    // SAFETY: all live; the bytes are copied at once.
    let saved = unsafe {
        assert_eq!(testudo_crowd_order(c, w, units.as_ptr(), 2, &go()), TESTUDO_OK);
        assert_eq!(testudo_crowd_save(c, buffer), TESTUDO_OK);
        let saved = bytes_of(buffer);
        assert_eq!(testudo_crowd_stop(c, w, units.as_ptr(), 2), TESTUDO_OK);
        saved
    };
    let before = field.checksum();
    // SAFETY: both live; data and length are those of a vector.
    let load = |bytes: &[u8]| unsafe { testudo_crowd_load(c, w, bytes.as_ptr(), bytes.len()) };
    for length in (0..saved.len()).step_by(13) {
        assert!(
            [TESTUDO_DAMAGED, TESTUDO_VERSION].contains(&load(&saved[..length])),
            "{length}: {}",
            words()
        );
    }
    assert_eq!(load(&[9, 9, 9, 9, 9]), TESTUDO_VERSION);
    assert_eq!(field.checksum(), before);
    let mut copy = null_mut();
    // SAFETY: all live; a place of this function.
    unsafe {
        assert_eq!(testudo_crowd_clone(c, &mut copy), TESTUDO_OK);
        assert_eq!(testudo_crowd_first_difference(c, copy, buffer), 0);
        assert_eq!(load(&saved), TESTUDO_OK);
        assert_eq!(testudo_crowd_first_difference(c, copy, buffer), 1);
        let said = CStr::from_ptr(testudo_buffer_data(buffer).cast()).to_str().expect("UTF-8");
        assert!(said.starts_with("crowd: ") && said.contains(" here, "), "{said}");
        testudo_crowd_free(copy);
        testudo_buffer_free(buffer);
    }
    assert_ne!(field.checksum(), before);
}
