//! The receipt as a PDF, of A4 pages. Its fonts are in it, so that it looks the same everywhere.

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use platform::error::Failure;
use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{PDF, view::View};
use crate::error::Problem;

mod document;
mod flow;
mod layout;
mod lines;
mod shape;

/// Files that are rendered at once. The others wait, so that there is time for the other requests.
static RENDERED: Semaphore = Semaphore::const_new(2);

/// Responds with the file. One of 200 long lines takes 50 ms, which the other tasks of a thread cannot wait.
pub(super) async fn respond(view: View) -> Result<Response, Problem> {
    let disposition = disposition(&view.number);
    let permit = RENDERED.acquire().await.map_err(Failure::internal)?;
    let file = spawn_blocking(move || {
        // Also of a request that is given up meanwhile.
        let _permit = permit;
        document::write(&view, layout::pages(&view))
    });
    let file = file.await.map_err(Failure::internal)?;
    let file = file.map_err(Failure::internal)?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(PDF)),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    Ok((headers, file).into_response())
}

/// Names the file. What could end the name, or lead to another folder, is left out of it.
fn disposition(number: &str) -> HeaderValue {
    let is_safe = |character: &char| character.is_ascii_alphanumeric() || *character == '-';
    let number: String = number.chars().filter(is_safe).collect();
    let disposition = format!("inline; filename=\"receipt-{number}.pdf\"");
    HeaderValue::from_str(&disposition).expect("ASCII")
}

#[cfg(test)]
mod tests;
