//! The comparison of checksums, turn by turn, and what follows from it.

use crate::session::checksum::Checksums;
use crate::session::common::Common;
use crate::session::config::SessionConfig;
use crate::session::event::Event;
use crate::session::mesh::DropAgreement;
use crate::session::transfer::joiner::Joiner;
use crate::value::ids::{PlayerId, Turn};

/// The comparison of checksums.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    pub(super) checksums: Checksums,
    /// The first turn in which peers differed, once the application has been told.
    pub(super) desync: Option<Turn>,
    /// Players who were reported to send no checksums.
    pub(super) silent: u16,
}

impl Comparison {
    pub(super) fn new(config: &SessionConfig) -> Self {
        let mut checksums =
            Checksums::new(config.players, config.limits.checksum_interval, config.limits.window);
        if let Some(turns) = config.turns {
            checksums.set_last_turn(turns - 1);
        }
        Self { checksums, desync: None, silent: 0 }
    }

    /// Compares the checksums of all turns that are complete.
    pub(super) fn settle(&mut self, common: &mut Common, joiner: &mut Joiner, mesh: &DropAgreement) {
        let ahead = common.config().turns_ahead;
        let (simulates, is_signed) = (!common.setup.is_relay(), common.config().signed);
        loop {
            let streams = &common.streams;
            let expects = |player: PlayerId, turn: u32| {
                let stream = &streams[player.index()];
                stream.end().is_none() && stream.next() <= turn.saturating_add(ahead).saturating_add(1)
            };
            let settled = self.checksums.settle(simulates, expects);
            let Some((turn, desync, silent)) = settled else { return };
            self.report_silent(common, turn, silent);
            let desync = desync.and_then(|desync| desync.without(mesh.ran_another(common, turn.0)));
            let Some(mut desync) = desync else {
                joiner.confirm_by(turn, is_signed);
                continue;
            };
            if self.desync.is_none() && !joiner.is_contradicted_by(&desync, is_signed) {
                desync.signed = is_signed;
                tracing::error!(turn = turn.0, ?desync, "checksums differ");
                self.desync = Some(turn);
                common.emit(Event::Desync(desync));
            }
        }
    }

    /// Reports players who give actions but no checksums.
    fn report_silent(&mut self, common: &mut Common, turn: Turn, silent: u16) {
        let due = turn.0.saturating_add(common.config().turns_ahead).saturating_add(1);
        for player in crate::session::players_in(silent & !self.silent) {
            // A player who had left, or was not back yet, has no entry for it.
            if common.streams[player.index()].is_own(due) {
                self.silent |= 1 << player.0;
                common.emit(Event::ChecksumMissing { player, turn });
            }
        }
    }
}
