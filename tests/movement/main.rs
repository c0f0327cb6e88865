//! Movement of units: paths against brute force, crowds, saved and restored matches, golden scenes.

mod alone;
mod asks;
mod battle;
mod budget;
mod changes;
mod crowds;
mod driven;
mod formations;
mod golden;
mod handled;
mod input;
mod lone;
mod maps;
mod mirror;
mod operated;
mod paths;
mod planned;
mod pursue;
mod rates;
mod scene;
mod sectors;
mod state;
mod trades;
mod truths;
