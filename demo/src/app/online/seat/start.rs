//! How a seat comes about; what a host adds stands in `hosting`.

use std::path::PathBuf;

use testudo_lockstep::{Driver, Duration, Identity, PeerId, PlayerId, Session, SessionConfig, Turn};

use crate::app::error::{InvitationError, MatchError};
use crate::app::online::agreement::{Agreement, AgreementError};
use crate::app::online::codes::Codes;
use crate::app::online::keys;
use crate::app::online::news::News;
use crate::app::online::profile::Profile;
use crate::app::online::saves::Save;
use crate::app::online::seat::attendance::Attendance;
use crate::app::online::seat::evidence::Evidence;
use crate::app::online::seat::lineup::Shown;
use crate::app::online::seat::saving::{self, Saving};
use crate::app::online::seat::span::Span;
use crate::app::online::seat::{CHECKSUMS_MAX, LOBBY, Seat, SeatOptions};
use crate::app::online::wire::Wire;
use crate::app::terms::Terms;
use crate::app::watch::game_copy::{Fault, GameCopy};
use crate::app::watch::recording::{Recording, ReplayFile};
use crate::app::watch::telemetry::Telemetry;
use testudo_battle::{Game, Teams};
use testudo_render::clock::Clock;

/// What every seat starts from.
pub(crate) struct Start<'a> {
    pub(crate) terms: Terms,
    pub(crate) agreement: Agreement,
    pub(crate) place: Identity,
    pub(crate) is_relayed: bool,
    /// What was agreed on; the rest is added here.
    pub(crate) config: SessionConfig,
    pub(crate) clock: Clock,
    pub(crate) wire: Wire,
    pub(crate) middle: Option<PeerId>,
    pub(crate) save: Option<&'a Save>,
    /// Of a room that this seat has just opened at a relay.
    pub(crate) codes: Option<Codes>,
}

impl Seat {
    /// A guest's. `former`: its seat before the connection was lost, whose replay stays as it is; another one begins.
    ///
    /// # Errors
    /// Settings out of range, a replay that cannot be written.
    pub(crate) fn guest(
        start: Start<'_>,
        options: &SeatOptions,
        former: Option<&Self>,
    ) -> Result<Self, MatchError> {
        let Some(former) = former else {
            let mut seat = Self::begin(start, options)?;
            seat.show_profile(options, &[]);
            return Ok(seat);
        };
        let options = SeatOptions { replay: options.replay.later(), pilot: former.pilot, ..options.clone() };
        let mut seat = Self::begin(start, &options)?;
        (seat.saving, seat.attendance) = (former.saving.clone(), former.attendance.clone());
        seat.codes = former.codes.clone();
        seat.show_profile(&options, former.session().profile(former.player()));
        Ok(seat)
    }

    /// This player has opened the room before, and was told these codes then.
    pub(crate) fn keep_codes(&mut self, codes: Option<&Codes>) {
        if let (None, Some(codes)) = (&self.codes, codes) {
            self.codes = Some(codes.clone());
            self.news.push_back(News::Listening(codes.clone()));
        }
    }

    pub(super) fn begin(start: Start<'_>, options: &SeatOptions) -> Result<Self, MatchError> {
        let Start { terms, agreement, place, is_relayed, config, clock, wire, middle, save, codes } = start;
        let config = completed(config, place, is_relayed, middle.is_none(), save)?;
        let mut session = Session::new(config, place, clock.now())?;
        middle.into_iter().for_each(|middle| session.connect(middle));
        let player = session.player();
        let fault = options.fault.map(|fault| Fault { player: player.map_or(0, |player| player.0), ..fault });
        let mut copy = GameCopy::new(Game::new(terms.setup)?, fault, false);
        if !is_relayed {
            // For questions of another copy; a relay has none.
            copy.keep_moments();
        }
        if save.is_some_and(|save| !save.load_into(&mut copy)) {
            let what = "its state is not the one that was saved".into();
            return Err(MatchError::Invitation(InvitationError::Save { what }));
        }
        let resumed_at = save.map(|save| save.saved.turn());
        let path = record(&mut copy, &terms, &options.replay, resumed_at)?;
        // Whoever resumes a match plays on as the same player, and a watcher is none.
        let saving = Saving::at(path.filter(|_| player.is_some()));
        let mut seat = Self {
            terms,
            agreement,
            place,
            pilot: options.pilot,
            wire,
            driver: Driver::new(copy, session),
            middle,
            is_relayed,
            evidence: Evidence::default(),
            news: std::collections::VecDeque::new(),
            told_frame: 0,
            checksums: std::collections::VecDeque::with_capacity(CHECKSUMS_MAX),
            telemetry: Telemetry::new(clock.now()),
            clock,
            codes,
            shown: Shown::default(),
            refused: None,
            attendance: Attendance::default(),
            saving,
            span: Span::default(),
        };
        seat.news.extend(seat.codes.clone().map(News::Listening));
        seat.news.push_back(News::Seated { terms, player: player.map(|player| player.0) });
        Ok(seat)
    }

    /// What the others see of this player: what they saw `before` its connection was lost, if that is known. The host's profile has the teams of all
    /// who do not choose.
    pub(super) fn show_profile(&mut self, options: &SeatOptions, before: &[u8]) {
        let Identity::Player(own) = self.place else { return };
        let name = options.name.clone();
        if before.is_empty() && own == PlayerId(0) && self.is_relayed && self.codes.is_none() {
            // Another program has opened the room, and its plan would be replaced.
            self.shown.comes_back_as = Some(name);
            return;
        }
        let plan = if own == PlayerId(0) { options.teams } else { Teams::default() };
        let profile = Profile { team: None, name, plan }.to_bytes();
        let profile = if before.is_empty() { &profile } else { before };
        // The match has not begun, and nothing has been said yet.
        let shown = self.driver.session_mut().set_profile(own, profile);
        debug_assert!(shown.is_ok(), "{shown:?}");
        self.shown.plan = Profile::of(self.session(), own).plan;
    }

    /// A profile has changed. If it is that of the opener who has come back, all of it stays but the name.
    pub(super) fn note_profile(&mut self, player: PlayerId) {
        if self.place != Identity::Player(player) {
            return;
        }
        let Some(name) = self.shown.comes_back_as.take() else { return };
        let before = Profile::of(self.session(), player);
        self.shown.plan = before.plan;
        if !name.as_str().is_empty() {
            let profile = Profile { name, ..before };
            // It may have begun meanwhile.
            let _ = self.driver.session_mut().set_profile(player, &profile.to_bytes());
        }
    }
}

/// The terms of a match that has at most this many units, all players together: some 300 bytes each.
///
/// # Errors
/// Too many units, or content that this program does not have.
pub(crate) fn terms_of(agreement: &Agreement, units_max: u32) -> Result<Terms, InvitationError> {
    // In range, so this is 1,600,000 at most.
    let units = u32::from(agreement.players) * agreement.units;
    if units > units_max {
        return Err(InvitationError::TooLarge { units, units_max });
    }
    agreement.terms().map_err(|error| match error {
        AgreementError::UnknownMap => InvitationError::Map,
        AgreementError::OtherContent => InvitationError::Content,
    })
}

/// Time that a watcher has for joining at a relay, which may delay what watchers get by up to ten minutes.
const DELAYED_JOIN: Duration = Duration::from_secs(660);

/// The settings with what is this peer's own choice.
pub(crate) fn completed(
    config: SessionConfig,
    place: Identity,
    is_relayed: bool,
    hosts: bool,
    save: Option<&Save>,
) -> Result<SessionConfig, MatchError> {
    let session_id = config.session_id;
    let mut config = Agreement::limited(config).entropy(keys::random()?);
    if let Identity::Player(player) = place {
        config = config.player_key(keys::own()?.player_key(session_id, player));
    }
    if hosts {
        config = config.lobby_timeout(LOBBY);
    }
    if cfg!(target_arch = "wasm32") {
        // Browsers send by their own judgement, so a state of some size takes long.
        config = config.gives_state_last();
    }
    if is_relayed && place == Identity::Watcher {
        config = config.join_timeout(DELAYED_JOIN);
    }
    if let Some(save) = save {
        config = config.resume(save.saved.clone());
    }
    Ok(config)
}

/// Begins a replay if one is wanted. Returns where saves are kept: next to it.
fn record(
    copy: &mut GameCopy,
    terms: &Terms,
    file: &ReplayFile,
    resumed_at: Option<Turn>,
) -> Result<Option<PathBuf>, MatchError> {
    let recording = match (Recording::wanted(file, terms), file) {
        // A folder that cannot be written is no reason not to play.
        (Err(_), ReplayFile::In(_) | ReplayFile::Beside(_)) => None,
        (recording, _) => recording?,
    };
    let path = recording.as_ref().and_then(Recording::path).map(saving::beside);
    if let Some(recording) = recording {
        copy.record_from(recording, resumed_at);
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::Pace;

    use super::*;
    use testudo_battle::Setup;

    /// A few bytes must not cost a guest 477 MB.
    #[test]
    fn an_invitation_to_more_units_than_the_guest_grants_is_not_accepted() {
        let agreement = |players, units| {
            let setup = Setup { players, units, seed: 1, map: None };
            Agreement::new(&Terms { setup, turns: 100 }, Pace::Fixed, true)
        };
        assert!(terms_of(&agreement(4, 25_000), 100_000).is_ok());
        for (players, units) in [(4, 25_001), (16, 100_000), (2, 100_000)] {
            let refused = terms_of(&agreement(players, units), 100_000);
            let Err(InvitationError::TooLarge { units: told, units_max: 100_000 }) = refused else {
                panic!("{refused:?}")
            };
            assert_eq!(told, u32::from(players) * units);
        }
    }
}
