//! What the whole-system tests share: a running stack as a client sees it.

mod shop;

pub use shop::{Answer, Shop, text, usd};
