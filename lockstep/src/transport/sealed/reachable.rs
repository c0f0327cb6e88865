//! The address at which others reach this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// The one or two addresses by which others reach a socket that is bound to this one, the most likely one first: what
/// [`SealedHost::new`](super::SealedHost::new) takes. A socket that listens on all addresses of the machine is reached by those that lead outside; without a
/// network it is that of loopback. Behind a router these are addresses of the house: whoever is outside needs the router's.
#[must_use]
pub fn reachable(bound: SocketAddr) -> Vec<SocketAddr> {
    let outside4 = || outside((Ipv4Addr::UNSPECIFIED, 0).into(), (Ipv4Addr::new(192, 0, 2, 1), 9).into());
    let outside6 = || {
        let documents = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
        outside((Ipv6Addr::UNSPECIFIED, 0).into(), (documents, 9).into())
    };
    let found: Vec<IpAddr> = match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => outside4().into_iter().collect(),
        IpAddr::V6(ip) if ip.is_unspecified() => outside4().into_iter().chain(outside6()).collect(),
        ip => vec![ip],
    };
    let loopback =
        if bound.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { IpAddr::from(Ipv6Addr::LOCALHOST) };
    let found = if found.is_empty() { vec![loopback] } else { found };
    found.into_iter().map(|ip| SocketAddr::new(ip, bound.port())).collect()
}

/// The local address that leads to a far one. Connecting a UDP socket sends nothing; it only chooses the local address. The far ones are
/// reserved for documents.
fn outside(any: SocketAddr, far: SocketAddr) -> Option<IpAddr> {
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(far).ok()?;
    socket.local_addr().ok().map(|address| address.ip())
}
