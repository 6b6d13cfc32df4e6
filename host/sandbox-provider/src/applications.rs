//! `/sandbox/apps/{application}/…`: the paths of `/sandbox/…`, for the requests of one application of the host. Faults that are planned there hit
//! these requests alone; everything else is the same, and the accounts are those of all applications. The name of an application is a secret of the
//! host, so that nobody else plans faults for it.

use axum::Router;
use axum::extract::{Path, Request};
use axum::http::Uri;
use axum::http::uri::PathAndQuery;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// The application of the host that a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostApplication(String);

impl HostApplication {
    /// The key of the faults that are planned for the application's requests to an account. No address of an account has a space.
    pub fn fault_key(&self, mail: &str) -> String {
        format!("{mail} {}", self.0)
    }
}

/// The routes of the provider, and the same below the path of each application.
pub fn with_applications(provider: Router) -> Router {
    let of_application = Router::new().fallback_service(provider.clone()).layer(from_fn(forward));
    provider.nest_service("/sandbox/apps/{application}", of_application)
}

/// Passes a request on to its path without the application, with the application beside it.
async fn forward(Path(application): Path<String>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let rest = parts.uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let Ok(uri) = Uri::try_from(format!("/sandbox{rest}")) else {
        return Problem::bad_request("the path cannot be read").into_response();
    };
    // A new request: the parameters of the outer path are no parameters of the inner one.
    let mut inner = Request::new(body);
    *inner.method_mut() = parts.method;
    *inner.uri_mut() = uri;
    *inner.headers_mut() = parts.headers;
    inner.extensions_mut().insert(HostApplication(application));
    next.run(inner).await
}
