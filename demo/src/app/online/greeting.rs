//! The first message of a client on its connection, and the answer to it. The connection is sealed, so nobody else reads the secrets in them.
//!
//! Both are at most `GREETING_BYTES_MAX` long. All numbers are little-endian. Every greeting begins with the protocol version, in every
//! version.

use testudo_lockstep::{Identity, PLAYERS_MAX, PROTOCOL_VERSION, PlayerId};

use crate::app::online::agreement::{AGREEMENT_BYTES, Agreement};
use crate::app::online::name::{NAME_BYTES_MAX, Name};

/// Bytes of a secret.
pub(crate) const SECRET_BYTES: usize = 16;

/// What opens a place: 128 random bits.
pub(crate) type Secret = [u8; SECRET_BYTES];

pub(crate) use testudo_lockstep::transport::places::Pass;

/// A watcher's place on the wire. Players have their number.
const WATCHER: u8 = 255;

/// What a client wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Greeting {
    /// Kind 0: to come to the place that the secret opens.
    Come { pass: Pass, name: Name },
    /// Kind 1: to open a room at a relay, and to play in it as player 0.
    Open { pass: Pass, agreement: Agreement, name: Name },
}

/// Why a greeting cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GreetingError {
    /// The client speaks this protocol version.
    Version(u16),
    /// Not a greeting.
    Malformed,
}

/// What a client is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// Kind 0: the place is open.
    Come(Welcome),
    /// Kind 1: the room is open.
    Opened(Opened),
    /// Kind 2: the server speaks this protocol version.
    Version(u16),
    /// Kind 3: there are as many watchers as there may be.
    Full,
    /// Kind 4: the secret opens no place here.
    WrongSecret,
    /// Kind 5: the relay has as many rooms as it may have.
    TooManyRooms,
    /// Kind 6: the server is about to end, and takes nobody any more.
    GoingAway,
    /// Kind 7: the match is over.
    Over,
    /// Kind 8: the greeting was not understood.
    Malformed,
    /// Kind 9: the host has removed this player.
    Removed,
    /// Kind 10: too many have come to this match in a short time.
    Later,
    /// Kind 11: another program plays at this place.
    OtherProgram,
}

/// A place in a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Welcome {
    /// A player or a watcher.
    pub(crate) place: Identity,
    /// The middle of the star is a relay, not player 0.
    pub(crate) is_relayed: bool,
    pub(crate) session_id: u64,
    pub(crate) agreement: Agreement,
}

/// A room that was opened at a relay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Opened {
    /// The place of the client that opened it.
    pub(crate) welcome: Welcome,
    /// The secrets of all players, in order.
    pub(crate) players: Vec<Secret>,
    pub(crate) watchers: Secret,
    /// Of a place to watch from that is for one, a referee.
    pub(crate) referee: Secret,
}

impl Greeting {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = PROTOCOL_VERSION.to_le_bytes().to_vec();
        match self {
            Self::Come { pass, name } => {
                bytes.push(0);
                put_pass(&mut bytes, pass);
                put_name(&mut bytes, name);
            }
            Self::Open { pass, agreement, name } => {
                bytes.push(1);
                put_pass(&mut bytes, pass);
                bytes.extend_from_slice(&agreement.to_bytes());
                put_name(&mut bytes, name);
            }
        }
        bytes
    }

    /// Reads a greeting. Total: any bytes give a greeting or an error.
    ///
    /// # Errors
    /// Another version, or not what [`Greeting::to_bytes`] writes.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, GreetingError> {
        let mut reader = Reader(bytes);
        let version = reader.number().ok_or(GreetingError::Malformed)?;
        if version != PROTOCOL_VERSION {
            return Err(GreetingError::Version(version));
        }
        reader.greeting().filter(|_| reader.0.is_empty()).ok_or(GreetingError::Malformed)
    }
}

impl Answer {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Come(welcome) => {
                let mut bytes = vec![0];
                put_welcome(&mut bytes, welcome);
                bytes
            }
            Self::Opened(opened) => {
                let mut bytes = vec![1];
                put_welcome(&mut bytes, &opened.welcome);
                bytes.extend_from_slice(&opened.watchers);
                bytes.extend_from_slice(&opened.referee);
                opened.players.iter().for_each(|secret| bytes.extend_from_slice(secret));
                bytes
            }
            Self::Version(version) => [&[2][..], &version.to_le_bytes()].concat(),
            Self::Full => vec![3],
            Self::WrongSecret => vec![4],
            Self::TooManyRooms => vec![5],
            Self::GoingAway => vec![6],
            Self::Over => vec![7],
            Self::Malformed => vec![8],
            Self::Removed => vec![9],
            Self::Later => vec![10],
            Self::OtherProgram => vec![11],
        }
    }

    /// Reads an answer. Total: any bytes give an answer or none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let answer = reader.answer()?;
        reader.0.is_empty().then_some(answer)
    }
}

fn put_pass(bytes: &mut Vec<u8>, pass: &Pass) {
    bytes.extend_from_slice(&pass.secret);
    bytes.extend_from_slice(&pass.token);
}

fn put_name(bytes: &mut Vec<u8>, name: &Name) {
    bytes.push(name.as_str().len() as u8);
    bytes.extend_from_slice(name.as_str().as_bytes());
}

fn put_welcome(bytes: &mut Vec<u8>, welcome: &Welcome) {
    bytes.push(match welcome.place {
        Identity::Player(player) => player.0,
        Identity::Watcher | Identity::Relay => WATCHER,
    });
    bytes.push(u8::from(welcome.is_relayed));
    bytes.extend_from_slice(&welcome.session_id.to_le_bytes());
    bytes.extend_from_slice(&welcome.agreement.to_bytes());
}

/// The bytes that are still to be read.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, left) = self.0.split_first_chunk()?;
        self.0 = left;
        Some(*taken)
    }

    fn number(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    fn agreement(&mut self) -> Option<Agreement> {
        Agreement::from_bytes(&self.take::<AGREEMENT_BYTES>()?)
    }

    fn pass(&mut self) -> Option<Pass> {
        Some(Pass { secret: self.take()?, token: self.take()? })
    }

    fn name(&mut self) -> Option<Name> {
        let [length] = self.take()?;
        let length = usize::from(length);
        let (name, left) = self.0.split_at_checked(length).filter(|_| length <= NAME_BYTES_MAX)?;
        self.0 = left;
        Name::read(name)
    }

    fn greeting(&mut self) -> Option<Greeting> {
        match self.take()? {
            [0] => Some(Greeting::Come { pass: self.pass()?, name: self.name()? }),
            [1] => {
                Some(Greeting::Open { pass: self.pass()?, agreement: self.agreement()?, name: self.name()? })
            }
            _ => None,
        }
    }

    fn answer(&mut self) -> Option<Answer> {
        Some(match self.take()? {
            [0] => Answer::Come(self.welcome()?),
            [1] => {
                let (welcome, watchers, referee) = (self.welcome()?, self.take()?, self.take()?);
                let players = (0..welcome.agreement.players).map(|_| self.take());
                let players = players.collect::<Option<Vec<Secret>>>()?;
                Answer::Opened(Opened { welcome, players, watchers, referee })
            }
            [2] => Answer::Version(self.number()?),
            [3] => Answer::Full,
            [4] => Answer::WrongSecret,
            [5] => Answer::TooManyRooms,
            [6] => Answer::GoingAway,
            [7] => Answer::Over,
            [8] => Answer::Malformed,
            [9] => Answer::Removed,
            [10] => Answer::Later,
            [11] => Answer::OtherProgram,
            _ => return None,
        })
    }

    fn welcome(&mut self) -> Option<Welcome> {
        let [place] = self.take()?;
        let is_relayed = match self.take()? {
            [0] => false,
            [1] => true,
            _ => return None,
        };
        let session_id = u64::from_le_bytes(self.take()?);
        let agreement = self.agreement()?;
        let place = match place {
            WATCHER => Identity::Watcher,
            player if player < agreement.players.min(PLAYERS_MAX) => Identity::Player(PlayerId(player)),
            _ => return None,
        };
        Some(Welcome { place, is_relayed, session_id, agreement })
    }
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::Pace;

    use super::*;
    use crate::game::Dice;

    /// What the transport accepts.
    const GREETING_BYTES_MAX: usize = 1_024;

    fn agreement() -> Agreement {
        Agreement {
            players: 3,
            host: PlayerId(2),
            pace: Pace::Adaptive,
            bots: false,
            any_speed: false,
            units: 0x0001_0203,
            turns: 0x0004_0506,
            seed: 0x0708_090a_0b0c_0d0e,
            map: 0x1112_1314_1516_1718,
            content: 0x2122_2324_2526_2728,
            save: 0x3d3e_3f40,
        }
    }

    fn welcome() -> Welcome {
        let place = Identity::Player(PlayerId(2));
        Welcome { place, is_relayed: true, session_id: 0x3132_3334_3536_3738, agreement: agreement() }
    }

    fn greetings() -> [Greeting; 2] {
        let name = Name::cleaned("Ädä");
        [
            Greeting::Come { pass: Pass { secret: [0xaa; 16], token: [0xcc; 16] }, name: name.clone() },
            Greeting::Open { pass: Pass::from(&[0xbb; 16]), agreement: agreement(), name },
        ]
    }

    fn answers() -> Vec<Answer> {
        let opened = Opened {
            welcome: welcome(),
            players: vec![[1; 16], [2; 16], [3; 16]],
            watchers: [4; 16],
            referee: [5; 16],
        };
        vec![
            Answer::Come(welcome()),
            Answer::Opened(opened),
            Answer::Version(0x0102),
            Answer::Full,
            Answer::WrongSecret,
            Answer::TooManyRooms,
            Answer::GoingAway,
            Answer::Over,
            Answer::Malformed,
            Answer::Removed,
            Answer::Later,
            Answer::OtherProgram,
        ]
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Other versions of the program must read them.
    #[test]
    fn every_byte_is_where_it_was() {
        let pass = "aa".repeat(16) + &"cc".repeat(16);
        let [come, open] = greetings().map(|greeting| hex(&greeting.to_bytes()));
        assert_eq!(come, format!("060000{pass}05c38464c3a4"));
        let agreement = "030b0302010006050400".to_owned()
            + "0e0d0c0b0a090807"
            + "1817161514131211"
            + "2827262524232221"
            + "403f3e3d";
        assert_eq!(open, format!("060001{}{}{agreement}05c38464c3a4", "bb".repeat(16), "00".repeat(16)));
        let welcome = format!("02013837363534333231{agreement}");
        let expected = [
            format!("00{welcome}"),
            format!(
                "01{welcome}{}{}{}{}{}",
                "04".repeat(16),
                "05".repeat(16),
                "01".repeat(16),
                "02".repeat(16),
                "03".repeat(16)
            ),
            "020201".into(),
            "03".into(),
            "04".into(),
            "05".into(),
            "06".into(),
            "07".into(),
            "08".into(),
            "09".into(),
            "0a".into(),
            "0b".into(),
        ];
        let written: Vec<String> = answers().iter().map(|answer| hex(&answer.to_bytes())).collect();
        assert_eq!(written, expected);
    }

    #[test]
    fn what_is_written_is_read_and_fits() {
        for greeting in greetings() {
            assert_eq!(Greeting::read(&greeting.to_bytes()), Ok(greeting));
        }
        for answer in answers() {
            assert_eq!(Answer::read(&answer.to_bytes()), Some(answer));
        }
        let most = Agreement { players: PLAYERS_MAX, ..agreement() };
        let welcome = Welcome { place: Identity::Watcher, agreement: most, ..welcome() };
        let players = vec![[1; 16]; usize::from(PLAYERS_MAX)];
        let largest = Answer::Opened(Opened { welcome, players, watchers: [4; 16], referee: [5; 16] });
        assert!(largest.to_bytes().len() <= GREETING_BYTES_MAX);
        assert_eq!(Answer::read(&largest.to_bytes()), Some(largest));
    }

    #[test]
    fn another_version_is_told_from_nonsense() {
        let mut bytes = greetings()[0].to_bytes();
        bytes[0] ^= 1;
        assert_eq!(Greeting::read(&bytes), Err(GreetingError::Version(PROTOCOL_VERSION ^ 1)));
        assert_eq!(Greeting::read(&bytes[..2]), Err(GreetingError::Version(PROTOCOL_VERSION ^ 1)));
        assert_eq!(Greeting::read(&bytes[..1]), Err(GreetingError::Malformed));
    }

    /// Cut, changed, lengthened, and random bytes: each gives nothing, or something that is written as exactly these bytes.
    #[test]
    fn whatever_arrives_is_read_or_refused() {
        let seed = 0x5eed_0001;
        let mut dice = Dice::new(seed);
        let sound: Vec<Vec<u8>> = greetings()
            .iter()
            .map(Greeting::to_bytes)
            .chain(answers().iter().map(Answer::to_bytes))
            .collect();
        let mut read = 0;
        for round in 0..20_000 {
            let mut below = |end: usize| dice.between(0, end as i32 - 1) as usize;
            let mut bytes = sound[below(sound.len())].clone();
            match below(4) {
                0 => bytes.truncate(below(bytes.len() + 1)),
                1 => bytes.push(below(256) as u8),
                2 => bytes = (0..below(80)).map(|_| below(256) as u8).collect(),
                _ => {}
            }
            for _ in 0..below(4) {
                let at = below(bytes.len() + 1);
                bytes.get_mut(at).into_iter().for_each(|byte| *byte = below(256) as u8);
            }
            if let Ok(greeting) = Greeting::read(&bytes) {
                assert_eq!(greeting.to_bytes(), bytes, "seed {seed}, round {round}");
                read += 1;
            }
            if let Some(answer) = Answer::read(&bytes) {
                assert_eq!(answer.to_bytes(), bytes, "seed {seed}, round {round}");
                read += 1;
            }
        }
        assert!(read > 1_000, "{read}: the test reaches the inside");
    }
}
