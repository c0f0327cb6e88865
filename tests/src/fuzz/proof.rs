//! The decoders of proofs and rosters.

use testudo_lockstep::{Opening, PlayerId, PlayerKey, Proof, Roster, Seat, Statement, Turn};

use super::first;

fn roster() -> Roster {
    let seat = |number: u8| {
        Some(Seat { key: PlayerKey::from_secret([number; 32]).public().to_bytes(), salt: u64::from(number) })
    };
    Roster::new(7, &[seat(1), None, seat(2)]).expect("keys")
}

/// Any bytes are an error or a proof that writes the same bytes, and proves nothing that its authors have not signed. The same for a roster.
pub fn proof(bytes: &[u8]) {
    let Some((choice, body)) = first(bytes) else { return };
    if choice % 2 == 1 {
        if let Ok(roster) = Roster::from_bytes(body) {
            assert_eq!(roster.to_bytes(), body);
            assert!(roster.players() <= 16);
        }
        return;
    }
    let Ok(proof) = Proof::from_bytes(body) else { return };
    assert_eq!(proof.to_bytes(), body);
    let roster = roster();
    let is_signed = [&proof.first, &proof.second].iter().all(|statement| statement.is_signed(&roster));
    assert!(is_signed || proof.verify(&roster).is_err());
}

/// A proof of each kind, and a roster.
pub(super) fn proof_seeds() -> Vec<Vec<u8>> {
    let roster = roster();
    let statement = |author: u8, all: u8| {
        let mut statement = Statement {
            author: PlayerId(author),
            turn: Turn(9),
            live: 5,
            own: [author; 8],
            all: [all; 12],
            checksum: 77,
            agreed: [6; 8],
            since: None,
            signature: [0; 64],
        };
        statement.sign(&roster, &PlayerKey::from_secret([author / 2 + 1; 32]));
        statement
    };
    let proof = |first, second, opening| Proof { first, second, opening }.to_bytes();
    let opening = Opening::new(vec![[1; 16], [2; 16], [3; 16]]);
    [
        (0, proof(statement(0, 1), statement(0, 2), None)),
        (0, proof(statement(0, 1), statement(2, 2), opening)),
        (1, roster.to_bytes()),
    ]
    .into_iter()
    .map(|(choice, bytes)| [&[choice][..], &bytes].concat())
    .collect()
}
