//! Contacts in batches of eight, solved by impulses.

pub(crate) mod batches;
pub(crate) mod bodies;
pub(crate) mod bounce;
pub(crate) mod colors;
pub(crate) mod contact_place;
pub(crate) mod deep;
pub(crate) mod friction;
pub(crate) mod notes;
pub(crate) mod push;
pub(crate) mod room;
pub(crate) mod run;
pub(crate) mod settling;
pub(crate) mod soft;
pub(crate) mod solver;
pub(crate) mod spring;
pub(crate) mod step_contacts;
pub(crate) mod stiff;
pub(crate) mod sub_steps;
pub(crate) mod walls;
pub(crate) mod wedged;
