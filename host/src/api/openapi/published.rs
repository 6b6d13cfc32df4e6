//! `/openapi.json` and `/openapi/clients.json`, and documents that are published as they are: each is printed and compressed once, on first
//! use, and has an etag.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use service::app::App;
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;
use tower::{ServiceExt, service_fn};
use tower_http::CompressionLevel;
use tower_http::compression::Compression;

use crate::api::openapi::{Flavour, print};
use crate::api::operations::Operations;

/// Largest compressed document in bytes; a document has well under 1 MiB before it is compressed.
const MAX_COMPRESSED_BYTES: usize = 16 << 20;

/// `/openapi.json` and `/openapi/clients.json`, which need no key.
pub fn routes(operations: &Operations, app: &App) -> Router<App> {
    let address = app.config.public_address();
    let document = |flavour| document_route(operations.clone(), address.clone(), flavour);
    Router::new()
        .route("/openapi.json", document(Flavour::Contract))
        .route("/openapi/clients.json", document(Flavour::Clients))
}

fn document_route(operations: Operations, address: String, flavour: Flavour) -> MethodRouter<App> {
    let printed = Arc::new(OnceCell::new());
    get(move |headers: HeaderMap| async move {
        // Printed on first use: that takes many times the document's size, and most servers are never asked.
        let publish = || {
            let text = print(operations.iter(), &address, flavour).to_string();
            PublishedDocument::new(text, "application/json")
        };
        let document: &PublishedDocument = printed.get_or_init(publish).await;
        let mut response = document.response(&headers);
        // Pages of every site may read it.
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        response
    })
}

/// A document that is the same for all, in both encodings.
pub struct PublishedDocument {
    media_type: &'static str,
    plain: EncodedDocument,
    gzip: Option<EncodedDocument>,
}

/// The bytes of a document in one encoding, and their strong etag.
struct EncodedDocument {
    bytes: Bytes,
    etag: String,
}

impl PublishedDocument {
    /// Compresses a text.
    pub async fn new(text: String, media_type: &'static str) -> PublishedDocument {
        let hash = hex::encode(Sha256::digest(text.as_bytes()));
        let plain = EncodedDocument { bytes: Bytes::from(text), etag: format!("\"{hash}\"") };
        let compressed = compress(plain.bytes.clone()).await;
        // A strong etag names the bytes as they are sent (RFC 9110, section 8.8.3.3).
        let gzip = compressed.map(|bytes| EncodedDocument { bytes, etag: format!("\"{hash}-gzip\"") });
        PublishedDocument { media_type, plain, gzip }
    }

    /// The document in the encoding that the client takes; 304 if the client has it already.
    pub fn response(&self, asked: &HeaderMap) -> Response {
        let gzip = self.gzip.as_ref().filter(|_| takes_gzip(asked));
        let document = gzip.unwrap_or(&self.plain);
        let mut response = match document.is_known(asked) {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => Response::new(Body::from(document.bytes.clone())),
        };
        let is_sent = response.status() == StatusCode::OK;
        let headers = response.headers_mut();
        let mut set = |name, text: &'static str| headers.insert(name, HeaderValue::from_static(text));
        // A new version of the program has a new document at the same address.
        set(header::CACHE_CONTROL, "no-cache");
        set(header::VARY, "accept-encoding");
        if is_sent {
            set(header::CONTENT_TYPE, self.media_type);
        }
        if is_sent && gzip.is_some() {
            set(header::CONTENT_ENCODING, "gzip");
        }
        if let Ok(etag) = HeaderValue::try_from(document.etag.as_str()) {
            headers.insert(header::ETAG, etag);
        }
        response
    }
}

impl EncodedDocument {
    /// Whether the client has the document in this encoding (RFC 9110, section 13.1.2). In another one does not count: a cache that serves
    /// several clients would give it to one that cannot decode it.
    fn is_known(&self, asked: &HeaderMap) -> bool {
        let mut tags = list(asked, header::IF_NONE_MATCH);
        tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == self.etag)
    }
}

/// The entries of a header that is a list.
fn list(headers: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = &str> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// Whether the client takes gzip (RFC 9110, section 12.5.3).
fn takes_gzip(headers: &HeaderMap) -> bool {
    list(headers, header::ACCEPT_ENCODING).any(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|coding| coding.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
        is_gzip && weight.is_none_or(|weight| weight > 0.0)
    })
}

/// Compresses a text as the layer does that compresses pages; none if that fails.
async fn compress(text: Bytes) -> Option<Bytes> {
    let plain = service_fn(move |_: Request<Body>| {
        ready(Ok::<_, Infallible>(Response::new(Body::from(text.clone()))))
    });
    let request = Request::builder().header(header::ACCEPT_ENCODING, "gzip").body(Body::empty()).ok()?;
    let compression = Compression::new(plain).quality(CompressionLevel::Best);
    let response = compression.oneshot(request).await.ok()?;
    to_bytes(Body::new(response.into_body()), MAX_COMPRESSED_BYTES).await.ok()
}

#[cfg(test)]
mod tests {
    use super::{HeaderMap, HeaderValue, PublishedDocument, StatusCode, header, takes_gzip};

    fn asked(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn a_client_takes_gzip_that_says_so() {
        for (text, takes) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0, br", false),
            ("br", false),
            ("", false),
        ] {
            assert_eq!(takes_gzip(&asked(header::ACCEPT_ENCODING, text)), takes, "{text:?}");
        }
    }

    #[tokio::test]
    async fn each_encoding_has_an_etag_of_its_own() {
        let document = PublishedDocument::new("{}".repeat(1_000), "application/json").await;
        let plain = document.response(&HeaderMap::new());
        let gzip = document.response(&asked(header::ACCEPT_ENCODING, "gzip"));
        assert_eq!(gzip.headers()[header::CONTENT_ENCODING], "gzip");
        assert!(!plain.headers().contains_key(header::CONTENT_ENCODING));
        assert_ne!(plain.headers()[header::ETAG], gzip.headers()[header::ETAG]);
        for (etag, encoding, other) in [
            (&plain.headers()[header::ETAG], "identity", "gzip"),
            (&gzip.headers()[header::ETAG], "gzip", "identity"),
        ] {
            let mut known = asked(header::IF_NONE_MATCH, &format!("\"other\", W/{}", etag.to_str().unwrap()));
            known.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(encoding));
            let answer = document.response(&known);
            assert_eq!(answer.status(), StatusCode::NOT_MODIFIED);
            assert_eq!(&answer.headers()[header::ETAG], etag);
            known.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(other));
            assert_eq!(document.response(&known).status(), StatusCode::OK, "{other}");
        }
        let other = document.response(&asked(header::IF_NONE_MATCH, "\"other\""));
        assert_eq!(other.status(), StatusCode::OK);
    }
}
