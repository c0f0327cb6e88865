use super::*;
use crate::cases::cases;

/// Pairs of bodies that overlap (touching does not count), by a sweep along x.
fn overlaps(bodies: &[BodySpec]) -> Vec<(BodySpec, BodySpec)> {
    // Left, right, low, high, and the body.
    let mut boxes: Vec<([i32; 4], &BodySpec)> = Vec::with_capacity(bodies.len());
    for body in bodies {
        let ([x, y], [half_x, half_y]) = (body.position, body.form.half_extents());
        boxes.push(([x - half_x, x + half_x, y - half_y, y + half_y], body));
    }
    boxes.sort_by_key(|([left, ..], _)| *left);
    let mut found = Vec::new();
    for (place, ([_, right, low, high], a)) in boxes.iter().enumerate() {
        for ([left, _, other_low, other_high], b) in &boxes[place + 1..] {
            if left >= right {
                break;
            }
            if other_low < high && low < other_high && overlap(a, b) {
                found.push((**a, **b));
            }
        }
    }
    found
}

fn overlap(a: &BodySpec, b: &BodySpec) -> bool {
    let apart = [0, 1].map(|axis| i64::from((a.position[axis] - b.position[axis]).abs()));
    match (a.form, b.form) {
        (Form::Disc { radius: ra }, Form::Disc { radius: rb }) => {
            apart[0].pow(2) + apart[1].pow(2) < i64::from(ra + rb).pow(2)
        }
        // Bounding boxes are enough: the scenes keep discs out of the boxes' corners too.
        (a, b) => {
            let reach = [0, 1].map(|axis| i64::from(a.half_extents()[axis] + b.half_extents()[axis]));
            apart[0] < reach[0] && apart[1] < reach[1]
        }
    }
}

fn movable(scene: &Scene) -> usize {
    scene.bodies.iter().filter(|body| body.movable).count()
}

#[test]
fn nothing_overlaps_at_the_start() {
    for count in [50, 200, 1_000, 10_000].into_iter().chain(cases([50_000, 100_000])) {
        assert_eq!(overlaps(&crowd(count).bodies), [], "crowd of {count}");
    }
    for count in [1, 10, 1_000, 10_000] {
        assert_eq!(overlaps(&gather(count).bodies), [], "gather of {count}");
        assert_eq!(overlaps(&bounce(count).bodies), [], "bounce of {count}");
    }
    assert_eq!(overlaps(&idle(50_000).bodies), [], "idle");
}

#[test]
fn the_overlap_check_finds_overlaps() {
    let mut bodies = crowd(1_000).bodies;
    let (wall, unit) = (bodies[0], *bodies.last().expect("crowd has bodies"));
    bodies.push(disc(wall.position, [0, 0]));
    bodies.push(disc([unit.position[0] + ONE - 1, unit.position[1]], [0, 0]));
    let found = overlaps(&bodies);
    assert!(found.iter().any(|(a, b)| *a == wall || *b == wall), "disc in a box not found");
    assert!(found.iter().any(|(a, b)| *a == unit || *b == unit), "disc on a disc not found");
}

#[test]
fn scenes_hold_as_many_bodies_as_asked() {
    for count in [50, 999, 1_000, 10_000] {
        let scene = crowd(count);
        assert_eq!(movable(&scene), count as usize);
        assert_eq!(scene.bodies.len() - movable(&scene), count as usize / 50);
        assert_eq!(movable(&gather(count)), count as usize);
        assert_eq!(movable(&bounce(count)), count as usize);
        assert_eq!(scene.bodies.iter().filter(|body| body.velocity[0] > 0).count(), count as usize / 2);
    }
    let scene = idle(50_000);
    assert_eq!(scene.bodies.iter().filter(|body| body.velocity != [0, 0]).count(), 500);
}

#[test]
fn idle_movers_touch_nobody_on_their_way() {
    let scene = idle(50_000);
    let frames = scene.settle_steps + scene.steps;
    let mut bodies = scene.bodies;
    for body in &mut bodies {
        // The way of a mover as a box, and the sleepers as boxes: margins included.
        let travel = body.velocity[0] / scene.frames_per_second as i32 * frames as i32 / 2;
        body.position[0] += travel;
        body.form = Form::Box { half_extents: [UNIT_RADIUS + travel, UNIT_RADIUS] };
    }
    let met = overlaps(&bodies);
    assert!(met.iter().all(|(a, b)| a.velocity == b.velocity && a.velocity != [0, 0]), "{:?}", met.first());
}

#[test]
fn bounce_fills_a_tenth_of_its_square() {
    let scene = bounce(10_000);
    let side = i64::from(scene.field[1][0] - scene.field[0][0]) / i64::from(ONE);
    let covered = 5_000.0 * (1.0 + std::f64::consts::FRAC_PI_4);
    let fill = covered / (side * side) as f64;
    assert!((0.099..0.101).contains(&fill), "{fill}");
}

#[test]
fn newcomers_stay_out_of_boxes_and_victims_in_range() {
    let scene = churn(1_000);
    let mut churn = Churn::new(&scene);
    for _ in 0..5_000 {
        let unit = churn.newcomer();
        assert!(scene.bodies.iter().filter(|body| !body.movable).all(|wall| !overlap(wall, &unit)));
        assert!(churn.victim(1_000) < 1_000);
        assert_eq!(churn.victim(1), 0);
    }
}

#[test]
fn rays_have_the_length_they_should() {
    let queries = queries(&crowd(1_000), 1_000);
    for [_, [x, y]] in queries.rays {
        let length = (i64::from(x).pow(2) + i64::from(y).pow(2)).isqrt();
        assert!((length - i64::from(50 * ONE)).abs() < 4 * i64::from(ONE) / 1_000, "{length}");
    }
}

#[test]
fn steering_points_inwards_at_the_set_speed() {
    for position in [[ONE, 0], [0, -300 * ONE], [12_345_678, -7_654_321], [-ONE, ONE]] {
        let velocity = steer_to_origin(position);
        let speed = (i64::from(velocity[0]).pow(2) + i64::from(velocity[1]).pow(2)).isqrt();
        assert!((speed - i64::from(UNIT_SPEED)).abs() <= 8, "{position:?}: {speed}");
        let dot =
            i64::from(velocity[0]) * i64::from(position[0]) + i64::from(velocity[1]) * i64::from(position[1]);
        assert!(dot < 0, "{position:?} is driven outwards");
    }
    assert_eq!(steer_to_origin([0, 0]), [0, 0]);
}

#[test]
fn the_generator_is_pinned() {
    let mut generator = Generator::new(1);
    let first: Vec<u32> = (0..4).map(|_| generator.next_u32()).collect();
    assert_eq!(first, [1_412_771_199, 1_791_099_446, 124_312_908, 1_968_572_995]);
}
