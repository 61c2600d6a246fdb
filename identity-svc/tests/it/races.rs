//! Calls at once of which one may succeed.

use std::{fmt::Debug, future::Future};

use futures::future::join_all;
use platform::error::Code;
use tonic::{Response, Status};

use crate::harness::code;

/// Calls of one race.
pub(crate) const AT_ONCE: usize = 50;
/// Races of one test.
pub(crate) const ROUNDS: usize = 20;

/// Runs the calls at once, each with its number. Asserts that one succeeds and the others are refused with
/// this code, and returns the response.
pub(crate) async fn one_of_many<T, F>(call: impl FnMut(usize) -> F, refusal: Code) -> T
where
    T: Debug,
    F: Future<Output = Result<Response<T>, Status>>,
{
    let results = join_all((0..AT_ONCE).map(call)).await;
    let (mut won, lost): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    let codes: Vec<_> = lost.into_iter().map(code).collect();
    assert_eq!(codes, [refusal; AT_ONCE - 1]);
    won.remove(0).unwrap().into_inner()
}
