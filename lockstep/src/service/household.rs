//! Whom a limit per address is for.

use core::net::IpAddr;

/// What one customer of a network provider has: an address of version 4, or a /64 network of version 6, as its first address. Limits per address
/// that count a customer's addresses of version 6 apart limit nobody.
#[must_use]
pub fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
        address => address,
    }
}
