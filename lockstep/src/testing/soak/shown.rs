//! What players show of themselves, and was still on its way when a short match ended.

use crate::session::AnySession;
use crate::session::config::Topology;
use crate::testing::soak::plan::Plan;
use crate::value::ids::{PeerId, PlayerId};
use crate::value::time::Duration;

/// A profile is sent again until it is acknowledged, at the latest after two seconds, and no more when the session is over. A match that goes on from a save
/// may last a second: then two or three copies are all, and a bad network loses them. In eight times the longest wait it hardly ever loses all of them.
const TIME_TO_SHOW: Duration = Duration::from_secs(16);

/// Players whose profiles may be unknown at a node after a match that lasted this long, because whoever had to pass them on still sent them; bit n for
/// player n.
pub(super) fn on_their_way<'a>(
    plan: &Plan,
    node: u32,
    lasted: Duration,
    session: impl Fn(u32) -> &'a AnySession,
) -> u16 {
    let sends = |from: u32, to: u32, player: u8| {
        from != to && session(from).sends_profile(PeerId(to), PlayerId(player))
    };
    let centre = plan.centre();
    let is_on_its_way = |player: &u8| match plan.topology {
        Topology::Mesh => sends((*player).into(), node, *player),
        Topology::Host | Topology::Relay => {
            sends((*player).into(), centre, *player) || sends(centre, node, *player)
        }
    };
    if lasted >= TIME_TO_SHOW {
        return 0;
    }
    (0..plan.players).filter(is_on_its_way).fold(0, |set, player| set | 1 << player)
}
