//! What a debug renderer is told.

use testudo_physics::{
    Aabb, BodyDef, BodyRef, DebugDraw, DebugDrawOptions, Fx, POSITION_MAX, Shape, TouchingContact, Vec2,
    World, WorldDef,
};

use crate::build::restored;

#[derive(Default)]
struct Count {
    shapes: u32,
    boxes: u32,
    velocities: u32,
    points: Vec<(Vec2, Vec2)>,
    in_cells: u32,
    cells: Vec<Aabb>,
}

impl DebugDraw for Count {
    fn shape(&mut self, _: BodyRef<'_>, _: Shape, _: Vec2) {
        self.shapes += 1;
    }
    fn aabb(&mut self, _: BodyRef<'_>, _: Aabb) {
        self.boxes += 1;
    }
    fn tree_cell(&mut self, quadrant: Aabb, _: u32, bodies: u32) {
        self.in_cells += bodies;
        self.cells.push(quadrant);
    }
    fn contact(&mut self, _: TouchingContact, point: Vec2, normal: Vec2) {
        self.points.push((point, normal));
    }
    fn velocity(&mut self, _: BodyRef<'_>, _: Vec2, velocity: Vec2) {
        assert_ne!(velocity, Vec2::ZERO);
        self.velocities += 1;
    }
}

#[test]
fn everything_is_drawn_once() {
    let mut world = World::new(WorldDef::new()).unwrap();
    let ball = BodyDef::dynamic(Shape::circle(Fx::ONE / 2));
    for i in 0..100 {
        world.create_body(&ball.position(Vec2::from_ints(i % 10, i / 10))).unwrap();
    }
    let away = BodyDef::dynamic(Shape::circle(Fx::ONE / 2)).velocity(Vec2::from_ints(1, 0));
    world.create_body(&away.position(Vec2::from_ints(90, 0))).unwrap();
    world.step(20).unwrap();
    let mut count = Count::default();
    let all = DebugDrawOptions::new().aabbs(true).tree_cells(true);
    world.debug_draw(&mut count, all);
    assert_eq!((count.shapes, count.boxes, count.in_cells), (101, 101, 101));
    assert!(count.velocities >= 1 && count.points.len() > 50);
    let before = count.cells.len();
    count.cells.sort_by_key(|cell| (cell.min.x, cell.min.y));
    count.cells.dedup();
    assert_eq!(count.cells.len(), before, "no quadrant is a leaf twice");
}

/// Until its next step a loaded world had no trees, and each query looked at all its bodies: a crowd among 3,000 houses was loaded in 2.6 s.
#[test]
fn a_loaded_world_has_its_bodies_in_trees() {
    let mut world = World::new(WorldDef::new()).unwrap();
    let (ball, house) = (Shape::circle(Fx::ONE / 2), Shape::rect(Fx::ONE, Fx::ONE));
    for i in 0..100 {
        let place = Vec2::from_ints(i % 10 * 4, i / 10 * 4);
        world.create_body(&BodyDef::static_body(house).position(place)).unwrap();
        let def = BodyDef::dynamic(ball).position(place + Vec2::from_ints(2, 2));
        world.create_body(&def.velocity(Vec2::from_ints(i % 2, 0))).unwrap();
    }
    (0..20).for_each(|_| world.step(20).unwrap());
    let bodies_in_trees = |world: &World| {
        let mut count = Count::default();
        world.debug_draw(&mut count, DebugDrawOptions::new().tree_cells(true));
        count.in_cells
    };
    assert_eq!(bodies_in_trees(&world), 200);
    assert_eq!(bodies_in_trees(&restored(&world)), 200);
}

#[test]
fn contacts_lie_between_the_surfaces() {
    let (disc, square) = (Shape::circle(Fx::ONE), Shape::rect(Fx::ONE, Fx::ONE));
    for (a, b) in [(disc, disc), (square, disc), (disc, square), (square, square)] {
        let mut world = World::new(WorldDef::new()).unwrap();
        world.create_body(&BodyDef::static_body(a)).unwrap();
        let def = BodyDef::dynamic(b).position(Vec2::from_ints(3, 0)).velocity(Vec2::from_ints(-8, 0));
        world.create_body(&def).unwrap();
        for _ in 0..8 {
            world.step(20).unwrap();
        }
        let mut count = Count::default();
        world.debug_draw(&mut count, DebugDrawOptions::new());
        let [(point, normal)] = count.points[..] else { panic!("{a:?} {b:?}: {:?}", count.points) };
        assert_eq!(normal, Vec2::from_ints(1, 0));
        let near = |c: Fx, to: Fx| (c - to).abs() < Fx::ONE / 64;
        assert!(near(point.x, Fx::ONE) && near(point.y, Fx::ZERO), "{a:?} {b:?}: {point:?}");
    }
}

/// Two bodies whose contact is drawn were further apart than the kernels compute with: a panic.
#[test]
fn a_contact_of_bodies_that_were_moved_apart_since_is_not_drawn() {
    let most = POSITION_MAX.to_num::<i32>();
    for [from, to] in [[[-most, 0], [most, 0]], [[-9_000, -9_000], [9_000, 9_000]]] {
        let at = |[x, y]: [i32; 2]| Vec2::from_ints(x, y);
        let mut world = World::new(WorldDef::new()).unwrap();
        let disc = BodyDef::dynamic(Shape::circle(Fx::ONE)).position(at(from));
        let other = world.create_body(&disc).unwrap();
        world.create_body(&disc).unwrap();
        world.step(20).unwrap();
        world.set_position(other, at(to)).unwrap();
        let mut count = Count::default();
        world.debug_draw(&mut count, DebugDrawOptions::new());
        assert_eq!((count.points, count.shapes), (vec![], 2), "{from:?} {to:?}");
    }
}

#[test]
fn bodies_that_left_are_in_no_cell() {
    let mut world = World::new(WorldDef::new()).unwrap();
    let wall = BodyDef::static_body(Shape::circle(Fx::ONE));
    let ids = [0, 50, 100].map(|x| world.create_body(&wall.position(Vec2::from_ints(x, 0))).unwrap());
    world.step(20).unwrap();
    world.remove_body(ids[1]).unwrap();
    let mut count = Count::default();
    world.debug_draw(&mut count, DebugDrawOptions::new().tree_cells(true));
    assert_eq!((count.shapes, count.in_cells), (2, 2));
}
