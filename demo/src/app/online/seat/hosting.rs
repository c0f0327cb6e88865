//! A host's seat: it listens, and has the others' codes.

use std::net::SocketAddr;

use testudo_lockstep::Identity;
use testudo_lockstep::service::code::ADDRESSES_MAX;
use testudo_lockstep::service::greeting::Secrets;
use testudo_lockstep::service::host::Host;
use testudo_lockstep::service::invitation::Offers;
use testudo_lockstep::transport::sealed::{SealedConfig, SealedHost, SealedServer, reachable};
use testudo_lockstep::transport::udp::UdpTransport;

use crate::app::error::MatchError;
use crate::app::online::agreement::Agreement;
use crate::app::online::codes::Codes;
use crate::app::online::keys;
use crate::app::online::news::News;
use crate::app::online::saves::Save;
use crate::app::online::seat::start::{Start, terms_of};
use crate::app::online::seat::{Seat, SeatOptions};
use crate::app::online::wire::Wire;
use testudo_render::clock::Clock;

/// What a host offers.
pub(crate) struct Hosting {
    pub(crate) agreement: Agreement,
    pub(crate) bind: SocketAddr,
    /// Where others find it besides the addresses of this machine; they come first in codes.
    pub(crate) public: Vec<SocketAddr>,
    pub(crate) is_sealed: bool,
    /// The match goes on from here.
    pub(crate) save: Option<Save>,
}

impl Hosting {
    /// What stands in the codes. Friends in the same house may not reach the router's outer address.
    fn addresses(&self, bound: SocketAddr) -> Vec<SocketAddr> {
        let mut addresses = self.public.clone();
        addresses.extend(reachable(bound));
        addresses.truncate(ADDRESSES_MAX);
        addresses
    }
}

impl Seat {
    /// The host's: player 0, or whoever resumes a match as that player.
    ///
    /// # Errors
    /// Settings out of range, a port that is taken, a replay that cannot be written, a save that cannot be resumed.
    pub(crate) fn host(hosting: &Hosting, options: &SeatOptions) -> Result<Self, MatchError> {
        let agreement = hosting.agreement;
        let host = agreement.host;
        let told = agreement.told().map_err(MatchError::Agreement)?;
        let terms = terms_of(&agreement, u32::MAX).map_err(MatchError::Invitation)?;
        let session_id = keys::random_number()?;
        // Without a seal nobody proves who they are.
        let plain = || told.config().session_id(session_id);
        let config = if hosting.is_sealed { Host::config(&told, session_id) } else { plain() };
        let start = Start {
            terms,
            agreement,
            place: Identity::Player(host),
            is_relayed: false,
            config,
            clock: Clock::start(),
            wire: Wire::None,
            middle: None,
            save: hosting.save.as_ref(),
            codes: None,
        };
        let (mut seat, codes) = if hosting.is_sealed {
            Self::host_sealed(hosting, start, options)?
        } else {
            Self::host_plain(hosting, start, options)?
        };
        seat.show_profile(options, &[]);
        let codes = codes.by_page(options.page.clone());
        seat.news.push_front(News::Listening(codes.clone()));
        seat.codes = Some(codes);
        Ok(seat)
    }

    fn host_sealed(
        hosting: &Hosting,
        start: Start<'_>,
        options: &SeatOptions,
    ) -> Result<(Self, Codes), MatchError> {
        let unbound = |error| MatchError::Bind { address: hosting.bind, error };
        let server = SealedServer::bind(hosting.bind, &SealedConfig::new()).map_err(unbound)?;
        let addresses = hosting.addresses(server.local_address());
        let Agreement { players, host, .. } = start.agreement;
        let told = start.agreement.told().map_err(MatchError::Agreement)?;
        let mut failed = None;
        let secrets = Secrets::draw(players, || {
            keys::random().unwrap_or_else(|error| {
                failed = Some(error);
                [0; 16]
            })
        });
        // Without randomness there are no secrets.
        if let Some(error) = failed {
            return Err(error);
        }
        let mut seat = Self::begin(start, options)?;
        let sealed = SealedHost::new(server, &addresses, seat.driver.session_mut(), told, secrets);
        let sealed = sealed.map_err(|error| unbound(std::io::Error::other(error.to_string())))?;
        let codes = Codes::sealed(sealed.codes(), host, players);
        seat.wire = Wire::Host(Box::new(sealed));
        Ok((seat, codes))
    }

    fn host_plain(
        hosting: &Hosting,
        start: Start<'_>,
        options: &SeatOptions,
    ) -> Result<(Self, Codes), MatchError> {
        let unbound = |error| MatchError::Bind { address: hosting.bind, error };
        let udp = UdpTransport::bind(hosting.bind).map_err(unbound)?;
        let bound = hosting.addresses(udp.local_address().map_err(MatchError::Socket)?);
        let address = bound.first().copied().unwrap_or(hosting.bind);
        let Agreement { players, host, .. } = start.agreement;
        let told = start.agreement.told().map_err(MatchError::Agreement)?;
        let mut seat = Self::begin(start, options)?;
        let offers = Offers::new(seat.session(), told);
        seat.wire = Wire::Plain(Box::new(udp), Box::new(offers));
        Ok((seat, Codes::plain(address, players, host)))
    }
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::{Duration, Pace};

    use super::*;
    use crate::app::Terms;
    use testudo_battle::Setup;

    /// This much real time is a failure, not a slow machine.
    const PATIENCE: Duration = Duration::from_secs(120);

    fn alone() -> Seat {
        let terms = Terms { setup: Setup { players: 2, units: 5, seed: 3, map: None }, turns: 1_000 };
        let agreement = Agreement::new(&terms, Pace::Adaptive, true);
        let bind = SocketAddr::from(([127, 0, 0, 1], 0));
        let hosting = Hosting { agreement, bind, public: Vec::new(), is_sealed: true, save: None };
        Seat::host(&hosting, &SeatOptions::default()).unwrap()
    }

    fn lose_socket(seat: &Seat) {
        let Wire::Host(host) = &seat.wire else { panic!("a sealed host") };
        host.server().lose_socket();
        let clock = Clock::start();
        while host.server().check().is_ok() {
            assert!(clock.elapsed() < PATIENCE);
            host.server().wait(Duration::from_millis(10));
        }
    }

    /// Whoever looked at the result of a match read that the network had failed.
    #[test]
    fn a_lost_socket_ends_a_match_but_not_one_that_is_over() {
        let mut seat = alone();
        seat.step().unwrap();
        lose_socket(&seat);
        assert!(matches!(seat.step(), Err(MatchError::Socket(_))));

        let mut seat = alone();
        seat.leave();
        let clock = Clock::start();
        while !seat.is_over() {
            assert!(clock.elapsed() < PATIENCE);
            seat.step().unwrap();
        }
        lose_socket(&seat);
        seat.step().unwrap();
    }
}
