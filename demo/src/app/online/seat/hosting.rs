//! A host's seat: it listens, and has the others' codes.

use std::net::SocketAddr;

use testudo_lockstep::Identity;
use testudo_lockstep::transport::sealed::{SealedConfig, SealedServer};
use testudo_lockstep::transport::udp::UdpTransport;

use crate::app::error::MatchError;
use crate::app::online::address::{ADDRESSES_MAX, reachable};
use crate::app::online::agreement::{Agreement, WATCHERS_MAX};
use crate::app::online::codes::Codes;
use crate::app::online::greeting::{Secret, Welcome};
use crate::app::online::invitation::Offers;
use crate::app::online::keys;
use crate::app::online::news::News;
use crate::app::online::places::Places;
use crate::app::online::saves::Save;
use crate::app::online::seat::start::{Start, terms_of};
use crate::app::online::seat::{Seat, SeatOptions};
use crate::app::online::server::Server;
use crate::app::online::wire::Wire;

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
        let bind = hosting.bind;
        let save = hosting.save.as_ref().map(Save::to_bytes);
        let bytes = save.as_ref().map_or(0, |save| u32::try_from(save.len()).unwrap_or(u32::MAX));
        let agreement = Agreement { save: bytes, ..hosting.agreement };
        let session_id = keys::random_number()?;
        let host = agreement.host;
        let place = Identity::Player(host);
        let welcome = Welcome { place, is_relayed: false, session_id, agreement };
        let unbound = |error| MatchError::Bind { address: bind, error };
        let (wire, codes) = if hosting.is_sealed {
            let sealed = SealedServer::bind(bind, &SealedConfig::new()).map_err(unbound)?;
            let secrets =
                (0..agreement.players).map(|_| keys::random()).collect::<Result<Vec<Secret>, _>>()?;
            let (watch, referee) = (keys::random()?, keys::random()?);
            let addresses = hosting.addresses(sealed.local_address());
            let codes =
                Codes::sealed(&addresses, sealed.certificate_hash(), &secrets, host, (watch, referee));
            let codes = codes.map_err(|error| unbound(std::io::Error::other(error.to_string())))?;
            // One place is here.
            let places: Vec<Option<Secret>> = secrets
                .into_iter()
                .enumerate()
                .map(|(player, secret)| (player != host.index()).then_some(secret))
                .collect();
            let watchers = WATCHERS_MAX as usize;
            let places = Places::new(&places, watch, watchers, referee);
            (Wire::Server(Box::new(Server::new(sealed, places, welcome))), codes)
        } else {
            let udp = UdpTransport::bind(bind).map_err(unbound)?;
            let bound = hosting.addresses(udp.local_address().map_err(MatchError::Socket)?);
            let address = bound.first().copied().unwrap_or(bind);
            (Wire::Plain(Box::new(udp)), Codes::plain(address, agreement.players, host))
        };
        let terms = terms_of(&agreement, u32::MAX).map_err(MatchError::Invitation)?;
        let start = Start { terms, welcome, wire, middle: None, secret: None, save: hosting.save.as_ref() };
        let mut seat = Self::begin(start, options)?;
        if !hosting.is_sealed {
            seat.offers = Some(Offers::new(agreement, session_id));
        }
        seat.resumed = save;
        let codes = codes.by_page(options.page.clone());
        seat.news.push_front(News::Listening(codes.clone()));
        seat.codes = Some(codes);
        Ok(seat)
    }
}
