//! Copies of the battle that run ahead: made often, so what cannot differ is not copied.

use testudo_lockstep::predict::Predict;

use crate::Game;

impl Clone for Game {
    fn clone(&self) -> Self {
        Self {
            setup: self.setup,
            field: self.field.clone(),
            world: self.world.clone(),
            frame: self.frame,
            dice: self.dice.clone(),
            clock: self.clock,
            now_ms: self.now_ms,
            armies: self.armies.clone(),
            teams: self.teams,
            buildings: self.buildings.clone(),
            crowd: self.crowd.clone(),
            units: self.units.clone(),
            running_ms: self.running_ms.clone(),
            before: self.before,
            checksum: self.checksum,
            is_checksum_old: self.is_checksum_old,
            is_predicted: self.is_predicted,
            stand_in: self.stand_in,
            scratch: self.scratch.clone(),
        }
    }

    /// A copy of a state of the same match costs little more than its bodies and units: the field is the same, and the crowd keeps what has not
    /// changed.
    fn clone_from(&mut self, source: &Self) {
        if self.setup != source.setup {
            *self = source.clone();
            return;
        }
        let Self { setup: _, field: _, world, frame, dice, clock, now_ms, armies, teams, buildings, .. } =
            source;
        self.world.clone_from(world);
        (self.frame, self.clock, self.now_ms, self.teams) = (*frame, *clock, *now_ms, *teams);
        self.dice.clone_from(dice);
        self.armies.clone_from(armies);
        self.buildings.clone_from(buildings);
        let Self { crowd, units, running_ms, before, checksum, is_checksum_old, .. } = source;
        let Self { is_predicted, stand_in, .. } = source;
        self.crowd.clone_from(crowd);
        self.units.clone_from(units);
        self.running_ms.clone_from(running_ms);
        (self.before, self.checksum, self.is_checksum_old) = (*before, *checksum, *is_checksum_old);
        (self.is_predicted, self.stand_in) = (*is_predicted, *stand_in);
    }
}

impl Predict for Game {
    /// Hashing takes a good part of a frame, and nobody asks a prediction for its checksum.
    fn begin_prediction(&mut self) {
        self.is_predicted = true;
    }
}
