//! Files that somebody else may have written: they are read up to a limit.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The bytes of a file, at most so many.
///
/// # Errors
/// There is no such file, or it has more bytes. A device may have bytes without end.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}
