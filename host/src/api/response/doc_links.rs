//! The links of errors to the documentation of their codes, below the public address of the service.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use base::error::Code;

tokio::task_local! {
    /// The public address of the service, without a slash at the end.
    static ADDRESS: Arc<str>;
}

/// Runs a request whose errors link to the pages of this public address.
pub async fn with_links(State(address): State<Arc<str>>, request: Request, next: Next) -> Response {
    ADDRESS.scope(address, next.run(request)).await
}

/// Runs work whose errors link to the pages of this public address.
pub fn linking_to<T>(address: &Arc<str>, work: impl FnOnce() -> T) -> T {
    ADDRESS.sync_scope(Arc::clone(address), work)
}

/// Gives work that runs in a task of its own the links of the request that starts it.
pub fn with_same_links<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let address = ADDRESS.try_with(Arc::clone).ok();
    async move {
        match address {
            Some(address) => ADDRESS.scope(address, work).await,
            None => work.await,
        }
    }
}

/// The address of the page of a code; without a host outside of a request.
pub fn error_page(code: Code) -> String {
    let path = format!("/docs/errors/{}", code.as_str());
    ADDRESS.try_with(|address| format!("{address}{path}")).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_spawned_task_has_the_links_of_its_request() {
        assert_eq!(error_page(Code::NotFound), "/docs/errors/not_found");
        let page = ADDRESS.scope("https://api.example.com".into(), async {
            let work = with_same_links(async { error_page(Code::NotFound) });
            tokio::spawn(work).await.expect("the task ends")
        });
        assert_eq!(page.await, "https://api.example.com/docs/errors/not_found");
    }
}
