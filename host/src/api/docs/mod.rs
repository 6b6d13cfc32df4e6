//! The documentation at `/docs`: getting started, guides, the reference of operations, error codes, search, and all of it as Markdown.
//! Pages are rendered from the API's document and from Markdown files, are readable without JavaScript, and load nothing from elsewhere.

pub mod assets;
pub mod bounds;
pub mod errors;
pub mod fields;
pub mod frame;
pub mod guides;
pub mod markdown;
pub mod markup;
pub mod operation;
pub mod reference;
pub mod remedies;
pub mod samples;
pub mod schema;
pub mod search;
pub mod site;
pub mod start;

use std::future::ready;
use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use service::app::App;
use tokio::sync::OnceCell;

use crate::api::docs::reference::ApiReference;
use crate::api::docs::site::DocsSite;
use crate::api::openapi::published::PublishedDocument;
use crate::api::openapi::{Flavour, print};
use crate::api::operations::Operations;

/// The content security policy: no foreign or inline content, and no framing, because users type a key into the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The parts of the documentation that are made when they are first requested.
struct LazySite {
    operations: Operations,
    /// The public address of the service.
    address: String,
    site: OnceCell<DocsSite>,
    style: OnceCell<PublishedDocument>,
    script: OnceCell<PublishedDocument>,
}

/// `/docs` with everything below it, `/llms.txt` and `/llms-full.txt`, without a key.
pub fn routes(operations: &Operations, app: &App) -> Router<App> {
    let site = Arc::new(LazySite {
        operations: operations.clone(),
        address: app.config.public_address(),
        site: OnceCell::new(),
        style: OnceCell::new(),
        script: OnceCell::new(),
    });
    let below = site.clone();
    let below = move |Path(path): Path<String>, headers: HeaderMap| async move {
        below.response(&format!("docs/{}", path.trim_end_matches('/')), &headers).await
    };
    Router::new()
        .route("/docs", file(&site, "docs"))
        .route("/docs/", file(&site, "docs"))
        .route("/docs.md", file(&site, "docs.md"))
        .route("/docs/{*path}", get(below))
        .route("/llms.txt", file(&site, "llms.txt"))
        .route("/llms-full.txt", file(&site, "llms-full.txt"))
}

/// The route of one file.
fn file(site: &Arc<LazySite>, address: &'static str) -> MethodRouter<App> {
    let site = site.clone();
    get(move |headers: HeaderMap| async move { site.response(address, &headers).await })
}

impl LazySite {
    /// The file at an address, or the page that says that there is none.
    async fn response(&self, address: &str, asked: &HeaderMap) -> Response {
        if let Some(asset) = self.asset(address).await {
            let kept = HeaderValue::from_static("public, max-age=31536000, immutable");
            return with_headers(asset.response(asked), kept);
        }
        let site = self.site.get_or_init(|| ready(self.build())).await;
        // A new version of the program has new pages at the same address.
        let kept = HeaderValue::from_static("no-cache");
        match site.file(address).await {
            Some(file) => with_headers(file.response(asked), kept),
            None => {
                let page = site.missing().await.response(&HeaderMap::new());
                (StatusCode::NOT_FOUND, with_headers(page, kept)).into_response()
            }
        }
    }

    /// The style or the script of this version; none at another address.
    async fn asset(&self, address: &str) -> Option<&PublishedDocument> {
        let style = || PublishedDocument::new(assets::STYLE.to_owned(), "text/css; charset=utf-8");
        let script = || PublishedDocument::new(assets::SCRIPT.clone(), "text/javascript; charset=utf-8");
        let is_at = |path: &str| path.strip_prefix('/') == Some(address);
        if is_at(assets::style_path()) {
            return Some(self.style.get_or_init(style).await);
        }
        if is_at(assets::script_path()) {
            return Some(self.script.get_or_init(script).await);
        }
        None
    }

    fn build(&self) -> DocsSite {
        let document = print(self.operations.iter(), &self.address, Flavour::Clients);
        DocsSite::new(ApiReference::read(&document, &self.address))
    }
}

/// A response with the headers of every file.
fn with_headers(mut response: Response, kept: HeaderValue) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, kept);
    let opener = HeaderName::from_static("cross-origin-opener-policy");
    headers.insert(opener, HeaderValue::from_static("same-origin"));
    response
}
