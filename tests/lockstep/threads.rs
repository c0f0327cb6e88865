//! The public types that a game keeps go to other threads and are shared by them: a resource of an engine must. `tests/sealed/` has those of the sealed
//! transport.

use testudo_lockstep::predict::{Corrections, EarlyEvents, Glide, PictureBudget, Predictor};
use testudo_lockstep::replay::{Recorded, Recorder, Replay, ReplayPlayer, ReplayViewer, Timetable};
use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::guest::Arrival;
use testudo_lockstep::service::host::Host;
use testudo_lockstep::service::places::Places;
use testudo_lockstep::service::relay::rooms::Rooms;
use testudo_lockstep::service::save_file::SaveFile;
use testudo_lockstep::simnet::SimNet;
use testudo_lockstep::state::Recent;
use testudo_lockstep::state::inquiry::{Inquiry, Moments};
use testudo_lockstep::testing::Heavy;
use testudo_lockstep::transport::memory::MemoryHub;
use testudo_lockstep::{
    AnyAction, Driver, Event, FrameObjects, PlayerKey, Playout, Proof, Roster, SavedMatch, Search, Session,
    SessionConfig, VirtualMatch,
};
use testudo_movement::{Crowd, Flows, Ground};
use testudo_physics::{BodyDef, World, WorldDef};

use crate::toy::{Order, Toy};

pub(crate) fn is_promised<T: Send + Sync>() {}

#[test]
fn public_types_that_a_game_keeps_are_send_and_sync() {
    is_promised::<(World, WorldDef, BodyDef)>();
    is_promised::<(Crowd, Flows, Ground)>();
    is_promised::<(Session<Order>, Session<AnyAction>, SessionConfig, SavedMatch, Event)>();
    is_promised::<(Driver<Toy>, Playout, VirtualMatch<Toy>, SimNet)>();
    is_promised::<(Recorded<Toy>, Recorder, Replay, ReplayPlayer<Toy>, ReplayViewer<Toy>, Timetable)>();
    is_promised::<(Recent, Inquiry<Toy>, Moments, Search<Toy>, FrameObjects<Toy>)>();
    is_promised::<(MemoryHub, Agreement, Places, Host, Rooms, SaveFile)>();
    is_promised::<(Arrival, Heavy<Toy>)>();
    is_promised::<(Predictor<Toy>, PictureBudget, Glide, Corrections, EarlyEvents<u32>)>();
    is_promised::<(PlayerKey, Roster, Proof)>();
}
