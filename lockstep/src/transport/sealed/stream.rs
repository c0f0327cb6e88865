//! The one stream of a connection: the client's greeting until its end, then the server's decision, one byte, and answer until its end.

use quinn::SendStream;

pub(crate) const REFUSED: u8 = 0;
pub(crate) const ACCEPTED: u8 = 1;

/// Why a server closes a connection: the error code of the closing.
pub(crate) const CLOSED: u32 = 0;
/// Another connection has its place.
pub(crate) const CLOSED_DISPLACED: u32 = 1;
/// As many are accepted as may be.
pub(crate) const CLOSED_FULL: u32 = 2;

/// Writes bytes and ends the stream, without waiting until they have arrived.
pub(crate) async fn write_all(stream: &mut SendStream, parts: &[&[u8]]) -> Option<()> {
    for part in parts {
        stream.write_all(part).await.ok()?;
    }
    stream.finish().ok()
}
