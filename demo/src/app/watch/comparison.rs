//! Compares all copies of a match, turn by turn, as far as the slowest client has got.

use testudo_lockstep::Driver;

use crate::app::watch::client::Client;
use crate::app::watch::diagnosis::{Desync, compare};
use crate::game::FaultError;

/// What has been compared so far, and the first difference.
#[derive(Default)]
pub(crate) struct Comparison {
    turns: u32,
    frames: u32,
    desync: Option<Desync>,
    /// Of the last compared turn, by client.
    checksums: Vec<u64>,
}

impl Comparison {
    /// Compares the copies in every turn that all clients have ended since the last call.
    ///
    /// # Errors
    /// A requested fault that was not possible.
    pub(crate) fn advance(&mut self, drivers: &mut [Driver<Client>]) -> Result<(), FaultError> {
        if let Some(error) = drivers.iter().find_map(|driver| driver.simulation().refused()) {
            return Err(error);
        }
        while drivers.iter().all(|driver| driver.simulation().has_record()) {
            let records: Vec<_> =
                drivers.iter_mut().filter_map(|driver| driver.simulation_mut().take_record()).collect();
            if self.desync.is_none() {
                self.desync = drivers.first().and_then(|driver| {
                    compare(&records, self.turns, self.frames, driver.simulation().game())
                });
            }
            self.checksums.clear();
            self.checksums.extend(records.iter().map(|record| record.checksum));
            self.turns += 1;
            self.frames += records.first().map_or(0, |record| record.frames.len() as u32);
        }
        Ok(())
    }

    /// Turns in which all copies have been compared.
    pub(crate) fn turns(&self) -> u32 {
        self.turns
    }

    /// Each client's checksum of the match up to the last turn compared; empty before the first.
    pub(crate) fn checksums(&self) -> &[u64] {
        &self.checksums
    }

    /// The first difference.
    pub(crate) fn desync(&self) -> Option<&Desync> {
        self.desync.as_ref()
    }

    /// The first difference, at the end.
    pub(crate) fn into_desync(self) -> Option<Desync> {
        self.desync
    }
}
