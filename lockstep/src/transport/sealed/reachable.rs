//! The address at which others reach this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Where the routes outside lead: to an address that is reserved for documents, and to a public one that answers for private networks (RFC 7534). Servers
/// often have a route to nowhere for the first one, as no packet of the internet comes from there.
const FAR4: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V4(Ipv4Addr::new(192, 175, 48, 1))];
const FAR6: [IpAddr; 2] = [
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 1)),
];

/// The one or two addresses by which others reach a socket that is bound to this one, the most likely one first: what
/// [`SealedHost::new`](super::SealedHost::new) takes. A socket that listens on all addresses of the machine is reached by those that lead outside. Without a
/// route to the internet it is that of loopback, also where there is a local network: name the machine's address in it then. Behind a router these are
/// addresses of the house: whoever is outside needs the router's.
#[must_use]
pub fn reachable(bound: SocketAddr) -> Vec<SocketAddr> {
    let outside4 = || outside(Ipv4Addr::UNSPECIFIED.into(), FAR4);
    let outside6 = || outside(Ipv6Addr::UNSPECIFIED.into(), FAR6);
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

/// The local address that leads to the first far one with a route. Connecting a UDP socket sends nothing; it only chooses the local address.
fn outside(any: IpAddr, far: [IpAddr; 2]) -> Option<IpAddr> {
    far.into_iter().find_map(|far| {
        let socket = UdpSocket::bind((any, 0)).ok()?;
        socket.connect((far, 9)).ok()?;
        socket.local_addr().ok().map(|address| address.ip())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes led guests to themselves.
    #[test]
    fn a_route_to_nowhere_for_addresses_of_documents_hides_no_network() {
        // No socket of version 4 has a route to an address of version 6.
        let far = [FAR6[0], Ipv4Addr::LOCALHOST.into()];
        assert_eq!(outside(Ipv4Addr::UNSPECIFIED.into(), far), Some(Ipv4Addr::LOCALHOST.into()));
        assert_eq!(outside(Ipv4Addr::UNSPECIFIED.into(), FAR6), None);
    }
}
