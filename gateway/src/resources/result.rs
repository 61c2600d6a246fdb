//! Turns the gRPC responses of the services into HTTP responses, written once for all handlers.

use std::future::Future;

use proto::common::v1::PageInfo;
use tonic::{Response, Status};

use crate::{
    error::Problem,
    extract::ServiceResponse,
    respond::{Data, List, NoContent},
};

/// A single resource or a problem.
pub(crate) type DataResult<T> = Result<Data<T>, Problem>;
/// A list or a problem.
pub(crate) type ListResult<T> = Result<List<T>, Problem>;
/// 204 or a problem.
pub(crate) type EmptyResult = Result<NoContent, Problem>;

/// A resource with a path of its own.
pub(crate) trait Located {
    /// Returns the path, such as `/orders/0192…`.
    fn location(&self) -> String;
}

/// A resource of a service that has a version.
pub(crate) trait Versioned {
    /// Returns the version, which every change raises.
    fn version(&self) -> i64;
}

/// Returns 200 with the resource of the response and its version.
pub(crate) async fn versioned<A, R: Versioned, T: From<R>>(
    call: impl Future<Output = Result<Response<A>, Status>>,
    resource: impl FnOnce(A) -> Option<R>,
) -> DataResult<T> {
    let resource = self::resource(call, resource).await?;
    let version = resource.version();
    Ok(Data::new(resource.into()).with_version(version))
}

/// Returns 200 with the resource of the response.
pub(crate) async fn data<A, R, T: From<R>>(
    call: impl Future<Output = Result<Response<A>, Status>>,
    resource: impl FnOnce(A) -> Option<R>,
) -> DataResult<T> {
    let response = ServiceResponse::from(call.await?);
    let replayed = response.replayed;
    Ok(Data::new(response.resource(resource)?.into()).replayed(replayed))
}

/// Returns 201 with the resource of the response and its location.
pub(crate) async fn created<A, R, T: From<R> + Located>(
    call: impl Future<Output = Result<Response<A>, Status>>,
    resource: impl FnOnce(A) -> Option<R>,
) -> DataResult<T> {
    let response = ServiceResponse::from(call.await?);
    let replayed = response.replayed;
    let resource: T = response.resource(resource)?.into();
    let location = resource.location();
    Ok(Data::created(resource, location).replayed(replayed))
}

/// Returns the resource of the response by itself.
pub(crate) async fn resource<A, R>(
    call: impl Future<Output = Result<Response<A>, Status>>,
    resource: impl FnOnce(A) -> Option<R>,
) -> Result<R, Problem> {
    ServiceResponse::from(call.await?).resource(resource)
}

/// Returns one page of a list.
pub(crate) async fn list<A, R, T: From<R>>(
    call: impl Future<Output = Result<Response<A>, Status>>,
    rows_and_page: impl FnOnce(A) -> (Vec<R>, Option<PageInfo>),
) -> ListResult<T> {
    let (rows, page) = rows_and_page(call.await?.into_inner());
    Ok(List::page(rows, page))
}

/// Returns a list that has no pages.
pub(crate) async fn whole_list<A, R, T: From<R>>(
    call: impl Future<Output = Result<Response<A>, Status>>,
    rows: impl FnOnce(A) -> Vec<R>,
) -> ListResult<T> {
    Ok(List::whole(rows(call.await?.into_inner())))
}

/// Returns 204.
pub(crate) async fn empty<A>(
    call: impl Future<Output = Result<Response<A>, Status>>,
) -> EmptyResult {
    Ok(NoContent {
        replayed: ServiceResponse::from(call.await?).replayed,
    })
}
