//! Passes an order through its own encoding, as a session does.

use crate::testing::OrderFault;
use crate::value::action::Action;
use crate::value::bits::{BitReader, BitWriter};

/// The order as the other players get it.
pub(super) fn send<A: Action>(action: &A) -> Result<A, OrderFault> {
    let mut written = BitWriter::new();
    action.encode(&mut written);
    if let Some(misfit) = written.misfit() {
        return Err(OrderFault::DoesNotFit(misfit));
    }
    let (bits, max) = (written.bit_count(), A::MAX_BITS);
    if bits == 0 {
        return Err(OrderFault::Empty);
    }
    if bits > max {
        return Err(OrderFault::TooLong { bits, max });
    }
    let mut reader = BitReader::with_bit_count(written.bytes(), bits);
    let arrived = A::decode(&mut reader).map_err(OrderFault::Refused)?;
    if reader.bits_left() > 0 {
        return Err(OrderFault::Unread { bits: reader.bits_left() });
    }
    let mut again = BitWriter::new();
    arrived.encode(&mut again);
    let is_same = again.misfit().is_none() && again.bit_count() == bits && again.bytes() == written.bytes();
    if is_same { Ok(arrived) } else { Err(OrderFault::NotCanonical) }
}
