//! What the session reports, and what becomes of it.

use testudo_lockstep::{Event, Identity, Turn};

use crate::app::online::agreement::Agreement;
use crate::app::online::news::News;
use crate::app::online::remote::Search;
use crate::app::online::saves::Save;
use crate::app::online::seat::Seat;

impl Seat {
    pub(super) fn take_events(&mut self) {
        while let Some(event) = self.driver.session_mut().poll_event() {
            match event {
                Event::Started => {
                    self.began = Some(self.clock.now());
                    self.news.push_back(News::Started);
                }
                Event::Connected { peer, identity } => {
                    self.links.retain(|(link, _)| *link != peer);
                    self.links.push((peer, identity));
                    self.came(identity);
                }
                Event::StateProgress { received, total } => {
                    let percent = u64::from(received) * 100 / u64::from(total.max(1));
                    self.news.push_back(News::State { percent: percent as u8 });
                }
                Event::Joined { turn } => {
                    self.began = Some(self.clock.now());
                    self.news.push_back(News::CameIn { turn: turn.0 });
                }
                Event::CaughtUp { turn } => self.news.push_back(News::CaughtUp { turn: turn.0 }),
                Event::PlayerReturned { player, .. } => {
                    self.back += 1;
                    self.away &= !(1 << player.0);
                    self.offers.iter_mut().for_each(|offers| offers.set_connected(player, true));
                    self.news.push_back(News::Back(player));
                }
                Event::Desync(desync) if self.divergence.is_none() => {
                    self.divergence = Some((desync.turn.0, desync.outlier()));
                    self.driver.simulation_mut().note_divergence(desync.turn.0);
                    self.look_for_the_number();
                    self.news.push_back(News::Differs(desync.turn.0));
                    self.difference = Some(desync);
                }
                Event::WaitingFor { turn, players, .. } => {
                    self.waiting = Some((turn, players.clone()));
                    self.news.push_back(News::WaitingFor(players));
                }
                Event::WaitingOver { .. } => self.waiting = None,
                Event::Paused { player, paused, .. } => self.news.push_back(News::Paused { player, paused }),
                Event::PlayerGone { player, reason, .. } => {
                    self.lost += 1;
                    self.away |= 1 << player.0;
                    self.offers.iter_mut().for_each(|offers| offers.set_connected(player, false));
                    let is_taken_over = self.driver.session().config().is_played_on(reason);
                    self.news.push_back(News::Gone { player, reason, is_taken_over });
                }
                Event::SpectatorGone(_) => self.news.push_back(News::WatcherGone),
                Event::Roster(roster) => self.news.push_back(News::Fingerprint(roster.fingerprint())),
                Event::Contradiction(found) => self.news.push_back(News::Liars(found.suspects.clone())),
                Event::Saved { turn } => self.keep_save(turn),
                _ => {}
            }
        }
    }

    fn came(&mut self, identity: Identity) {
        self.roll.hurry(self.clock.now());
        match identity {
            Identity::Player(player) => {
                self.offers.iter_mut().for_each(|offers| offers.set_connected(player, true));
                self.news.push_back(News::Joined(player));
            }
            Identity::Spectator => self.news.push_back(News::Watcher),
            Identity::Relay => {}
        }
    }

    /// The states of the last frames are kept as they are now; a guest asks the host about them.
    fn look_for_the_number(&mut self) {
        let client = self.driver.simulation();
        let (inquiry, deeds) = (client.inquiry(), client.deeds());
        match (self.middle, inquiry) {
            // A relay has no state.
            (Some(_), _) if self.is_relayed => {}
            (Some(host), Some(inquiry)) => {
                self.search = Some(Search::begin(host, self.session_id, inquiry, deeds));
            }
            (_, inquiry) => self.inquiry = inquiry,
        }
    }

    /// A save is complete: it replaces the one before.
    fn keep_save(&mut self, turn: Turn) {
        let Some(saved) = self.driver.session_mut().take_saved() else { return };
        let Some(state) = self.driver.simulation().state_before(turn.0) else { return };
        // Whoever resumes it plays on as who it was.
        let agreement = Agreement { host: self.player(), ..self.agreement };
        let save = Save { agreement, state: state.to_vec(), saved };
        if let Some(path) = &self.save_path
            && save.store(path).is_ok()
        {
            self.saved = Some(turn.0);
        }
    }
}
