//! Orders under races, crashes and random use, on a running stack. `load` runs these programs at full
//! length, and `e2e` a short form of each.

pub mod checks;
mod client;
pub mod kills;
pub mod races;
mod shop;
pub mod walk;
