//! Join codes: what is pasted into a chat. A browser page reads them, too, so they need no socket.

use core::fmt;
use core::str::FromStr;
use std::net::{IpAddr, SocketAddr};

use data_encoding::{Encoding, Specification};
use sha2::{Digest as _, Sha256};
use twox_hash::XxHash3_64;

/// Everything that a player needs to come to a place of a match: where the server is, its certificate's hash, and the place's secret.
///
/// As text it has digits and capital letters only, 96 to 207 characters, so that no chat takes a part of it for something else and a double click marks all
/// of it. When it is read, small letters are as good, the letters O, I and L are read as the digits that they look like, and spaces and line
/// breaks do not matter.
///
/// ```
/// use testudo_lockstep::service::code::JoinCode;
/// let code = JoinCode::new(&["203.0.113.5:7777".parse()?], [1; 32], [2; 16])?;
/// let text = code.to_string();
/// assert_eq!(text.len(), 96);
/// assert_eq!(text.to_lowercase().parse::<JoinCode>()?, code);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct JoinCode {
    addresses: Vec<SocketAddr>,
    certificate_hash: [u8; 32],
    secret: [u8; 16],
}

/// Why a text is not a join code, or a code cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum JoinCodeError {
    /// There have to be one to four addresses.
    Addresses,
    /// A character that no code has, and its place, counted from 0.
    Character {
        /// The place.
        at: usize,
        /// The character.
        character: char,
    },
    /// A part is missing, or characters have changed.
    Damaged,
    /// The code is of another version.
    Version(u8),
}

/// The form of the text; the first byte.
const VERSION: u8 = 1;

/// Greatest number of addresses in a code.
pub const ADDRESSES_MAX: usize = 4;

/// Bytes at the end that are computed from those before.
const CHECK_BYTES: usize = 4;

/// The longest text that is looked at.
const TEXT_MAX: usize = 1_024;

impl JoinCode {
    /// A code with one to four addresses. IP addresses of version 4 that are written as version 6 become version 4.
    ///
    /// # Errors
    /// [`JoinCodeError::Addresses`].
    pub fn new(
        addresses: &[SocketAddr],
        certificate_hash: [u8; 32],
        secret: [u8; 16],
    ) -> Result<Self, JoinCodeError> {
        if !(1..=ADDRESSES_MAX).contains(&addresses.len()) {
            return Err(JoinCodeError::Addresses);
        }
        let addresses = addresses
            .iter()
            .map(|address| SocketAddr::new(address.ip().to_canonical(), address.port()))
            .collect();
        Ok(Self { addresses, certificate_hash, secret })
    }

    /// The way to a host without a seal: its address, and no certificate and no secret. (`transport::udp::PlainDialer` takes it; it has no use as
    /// a text.)
    #[must_use]
    pub fn unsealed(host: SocketAddr) -> Self {
        Self { addresses: vec![host], certificate_hash: [0; 32], secret: [0; 16] }
    }

    /// Whether it leads to a sealed connection.
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        self.certificate_hash != [0; 32]
    }

    /// Where the server is, the most likely address first.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// SHA-256 of the server's certificate.
    #[must_use]
    pub fn certificate_hash(&self) -> [u8; 32] {
        self.certificate_hash
    }

    /// The secret that opens the place. Whoever has it can take the place.
    #[must_use]
    pub fn secret(&self) -> &[u8; 16] {
        &self.secret
    }

    /// A number that tells this code from others and opens nothing, for names of files and for logs: the first 8 bytes of the SHA-256 of the code.
    #[must_use]
    pub fn mark(&self) -> u64 {
        Sha256::digest(self.to_bytes()).iter().take(8).fold(0, |mark, byte| mark << 8 | u64::from(*byte))
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&self.certificate_hash);
        bytes.extend_from_slice(&self.secret);
        for address in &self.addresses {
            match address.ip() {
                IpAddr::V4(ip) => bytes.extend_from_slice(&[&[4], &ip.octets()[..]].concat()),
                IpAddr::V6(ip) => bytes.extend_from_slice(&[&[6], &ip.octets()[..]].concat()),
            }
            bytes.extend_from_slice(&address.port().to_le_bytes());
        }
        bytes.extend_from_slice(&check(&bytes));
        bytes
    }

    /// None if it is not complete or has something left over.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (certificate_hash, bytes) = bytes.split_first_chunk()?;
        let (secret, mut bytes) = bytes.split_first_chunk()?;
        let mut addresses = Vec::new();
        while let Some((version, rest)) = bytes.split_first() {
            let (ip, rest) = match version {
                4 => rest.split_first_chunk::<4>().map(|(ip, rest)| (IpAddr::from(*ip), rest))?,
                6 => rest.split_first_chunk::<16>().map(|(ip, rest)| (IpAddr::from(*ip), rest))?,
                _ => return None,
            };
            let (port, rest) = rest.split_first_chunk()?;
            addresses.push(SocketAddr::new(ip, u16::from_le_bytes(*port)));
            bytes = rest;
        }
        Self::new(&addresses, *certificate_hash, *secret).ok()
    }
}

/// The low half of the xxh3-64 hash, little-endian. It finds slips of the hand, not attacks: a code that somebody has made up leads nowhere.
fn check(bytes: &[u8]) -> [u8; CHECK_BYTES] {
    (XxHash3_64::oneshot(bytes) as u32).to_le_bytes()
}

/// Base 32 with Crockford's alphabet, which leaves out I, L, O and U.
fn encoding() -> Encoding {
    let mut form = Specification::new();
    form.symbols.push_str("0123456789ABCDEFGHJKMNPQRSTVWXYZ");
    form.translate.from.push_str("abcdefghjkmnpqrstvwxyzoOiIlL");
    form.translate.to.push_str("ABCDEFGHJKMNPQRSTVWXYZ001111");
    form.ignore.push_str(" \t\r\n");
    form.encoding().expect("the form is constant, and a test has made it")
}

impl fmt::Display for JoinCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encoding().encode(&self.to_bytes()))
    }
}

/// Logs do not show the secret.
impl fmt::Debug for JoinCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinCode").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

impl FromStr for JoinCode {
    type Err = JoinCodeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = |character: char| character.is_ascii_alphanumeric() && !matches!(character, 'u' | 'U');
        let stranger = text
            .chars()
            .enumerate()
            .find(|&(_, character)| !known(character) && !character.is_ascii_whitespace());
        if let Some((at, character)) = stranger {
            return Err(JoinCodeError::Character { at, character });
        }
        if text.len() > TEXT_MAX {
            return Err(JoinCodeError::Damaged);
        }
        let bytes = encoding().decode(text.as_bytes()).map_err(|_| JoinCodeError::Damaged)?;
        let (content, sum) = bytes.split_last_chunk::<CHECK_BYTES>().ok_or(JoinCodeError::Damaged)?;
        if check(content) != *sum {
            return Err(JoinCodeError::Damaged);
        }
        match content.split_first() {
            Some((&VERSION, content)) => Self::from_bytes(content).ok_or(JoinCodeError::Damaged),
            Some((&version, _)) => Err(JoinCodeError::Version(version)),
            None => Err(JoinCodeError::Damaged),
        }
    }
}

impl fmt::Display for JoinCodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Addresses => write!(f, "a join code has one to {ADDRESSES_MAX} addresses"),
            Self::Character { at, character } => {
                write!(
                    f,
                    "{character:?} (character {}) is not part of a join code; copy the whole code again",
                    at + 1
                )
            }
            Self::Damaged => write!(f, "the join code is damaged or incomplete; copy the whole code again"),
            Self::Version(version) => {
                write!(
                    f,
                    "the join code has version {version}, this program reads version {VERSION}; use the same release on both machines"
                )
            }
        }
    }
}

impl std::error::Error for JoinCodeError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// As of a later version of this program.
    #[test]
    fn another_form_of_code_is_named() {
        let mut bytes = vec![VERSION + 1, 9, 9, 9];
        bytes.extend_from_slice(&check(&bytes));
        let text = encoding().encode(&bytes);
        assert_eq!(text.parse::<JoinCode>(), Err(JoinCodeError::Version(VERSION + 1)));
    }

    #[test]
    fn errors_say_what_to_do() {
        let code = JoinCode::new(&["[::1]:1".parse().unwrap()], [0; 32], [0; 16]).unwrap();
        assert_eq!(
            format!("{code}!").parse::<JoinCode>().unwrap_err().to_string(),
            "'!' (character 117) is not part of a join code; copy the whole code again"
        );
        let mut newer = code.to_bytes();
        newer[0] = 9;
        newer.truncate(newer.len() - CHECK_BYTES);
        newer.extend_from_slice(&check(&newer));
        assert_eq!(
            encoding().encode(&newer).parse::<JoinCode>().unwrap_err().to_string(),
            "the join code has version 9, this program reads version 1; use the same release on both machines"
        );
        assert_eq!(JoinCode::new(&[], [0; 32], [0; 16]), Err(JoinCodeError::Addresses));
        assert!(!format!("{code:?}").contains("secret"));
    }
}
