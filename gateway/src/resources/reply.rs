//! From a service's answer to the response, written once for all handlers.

use std::future::Future;

use proto::common::v1::PageInfo;
use tonic::{Response, Status};

use crate::{
    error::Problem,
    extract::Answer,
    respond::{Data, List, NoContent},
};

/// A single resource or a problem.
pub type One<T> = Result<Data<T>, Problem>;
/// A page or a problem.
pub type Many<T> = Result<List<T>, Problem>;
/// 204 or a problem.
pub type Nothing = Result<NoContent, Problem>;

/// A resource that can be read again.
pub trait Located {
    /// Its path, such as `/orders/0192…`.
    fn location(&self) -> String;
}

/// 200 with the resource that `pick` takes from the answer.
pub async fn one<A, R, T: From<R>>(
    call: impl Future<Output = Result<Response<A>, Status>>,
    pick: impl FnOnce(A) -> Option<R>,
) -> One<T> {
    let answer = Answer::from(call.await?);
    let replayed = answer.replayed;
    Ok(Data::new(answer.resource(pick)?.into()).replayed(replayed))
}

/// 201 with the resource that `pick` takes from the answer, and its location.
pub async fn created<A, R, T: From<R> + Located>(
    call: impl Future<Output = Result<Response<A>, Status>>,
    pick: impl FnOnce(A) -> Option<R>,
) -> One<T> {
    let answer = Answer::from(call.await?);
    let replayed = answer.replayed;
    let resource: T = answer.resource(pick)?.into();
    let location = resource.location();
    Ok(Data::created(resource, location).replayed(replayed))
}

/// A page of the rows that `split` takes from the answer.
pub async fn many<A, R, T: From<R>>(
    call: impl Future<Output = Result<Response<A>, Status>>,
    split: impl FnOnce(A) -> (Vec<R>, Option<PageInfo>),
) -> Many<T> {
    let (rows, page) = split(call.await?.into_inner());
    Ok(List::page(rows, page))
}

/// 204.
pub async fn nothing<A>(call: impl Future<Output = Result<Response<A>, Status>>) -> Nothing {
    Ok(NoContent {
        replayed: Answer::from(call.await?).replayed,
    })
}
