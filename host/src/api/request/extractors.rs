//! Extractors for handlers: the caller's rights (`RequestContext`), the attempt at a write (`IdempotentAttempt`), both of a write
//! (`WriteContext`), and the query string.

use axum::extract::{FromRequestParts, Query};
use base::error::{Code, Result, invalid, refuse};
use base::input::errors::holds_nul;
use http::header;
use http::request::Parts;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use service::app::App;
use service::app::freshness::ReadTrace;
use service::app::stored_response::IdempotentAttempt;
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;
use url::form_urlencoded;

use crate::api::access::api_key::Caller;
use crate::api::request::query;
use crate::api::response::error::ApiError;
use crate::web::request_id::RequestId;

/// The parameter of a read that forces a request to the provider.
const FRESH: &str = "fresh";

/// A value of the service that a handler takes: the rights of the caller, the attempt at a write, or both.
pub struct Extract<T>(pub T);

impl<S: Send + Sync> FromRequestParts<S> for Extract<RequestContext> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let key = caller(parts)?.key.clone();
        let request_id = parts.extensions.get::<RequestId>().map(|r| r.0.clone()).unwrap_or_default();
        let reading = parts.extensions.get::<ReadTrace>().cloned().unwrap_or_default();
        let cache_control =
            parts.headers.get(header::CACHE_CONTROL).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let mut context = RequestContext::for_key(key, request_id);
        context.no_cache = cache_control.to_ascii_lowercase().contains("no-cache") || wants_fresh(parts)?;
        context.reading = reading;
        Ok(Extract(context))
    }
}

/// Whether a read has `fresh=true`, which has the meaning of `Cache-Control: no-cache`.
fn wants_fresh(parts: &Parts) -> Result<bool> {
    let query = parts.uri.query().unwrap_or_default();
    if !parts.method.is_safe() || !query.contains(FRESH) {
        return Ok(false);
    }
    let mut given = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == FRESH);
    match given.next().as_ref().map(|(_, value)| &**value) {
        None | Some("" | "false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(invalid(Code::InvalidParameter, FRESH, format!("{FRESH} must be true or false"))),
    }
}

fn caller(parts: &Parts) -> Result<&Caller> {
    let found = parts.extensions.get::<Caller>();
    Ok(found.ok_or_else(|| anyhow::anyhow!("the key layer did not run before the handler"))?)
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(caller(parts)?.clone())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Extract<IdempotentAttempt> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let found = parts.extensions.get::<IdempotentAttempt>().cloned();
        let attempt =
            found.ok_or_else(|| anyhow::anyhow!("the idempotency layer did not run before the handler"))?;
        Ok(Extract(attempt))
    }
}

impl FromRequestParts<App> for Extract<WriteContext> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let Extract(request) = Extract::<RequestContext>::from_request_parts(parts, app).await?;
        let Extract(attempt) = Extract::<IdempotentAttempt>::from_request_parts(parts, app).await?;
        Ok(Extract(WriteContext { app: app.clone(), request, attempt }))
    }
}

/// The ids in the path. An invalid one (no UTF-8, or with U+0000) is `not_found`.
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let holds_nul = parts.uri.path().contains("%00");
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(ids)) if !holds_nul => Ok(Path(ids)),
            _ => Err(ApiError(refuse(Code::NotFound, "there is nothing with this id"))),
        }
    }
}

/// The query string, with snake_case names; camelCase is accepted too. A repeated parameter is an error.
pub struct Params(IndexMap<String, String>);

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri)
            .map_err(|_| invalid(Code::InvalidRequest, "query", "the query string cannot be read"))?;
        let mut map = IndexMap::new();
        for (name, value) in pairs.0 {
            let name = snake(&name);
            if value.contains('\0') {
                return Err(ApiError(holds_nul(&name)));
            }
            if map.insert(name.clone(), value).is_some() {
                return Err(ApiError(invalid(
                    Code::InvalidParameter,
                    name.clone(),
                    format!("{name} is given twice"),
                )));
            }
        }
        Ok(Params(map))
    }
}

/// The snake_case spelling of a name.
pub fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

impl Params {
    /// The parameters as a struct, whose fields have their snake_case names. Other parameters are ignored, and empty ones count as absent.
    ///
    /// # Errors
    /// `invalid_parameter` or `missing_field`, with the name of the parameter.
    pub fn read<Q: DeserializeOwned + JsonSchema + 'static>(&self) -> Result<Q> {
        query::read(&self.0)
    }

    /// A parameter; an empty one counts as absent.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|v| !v.is_empty())
    }

    /// Whether `include=providerData` was asked for.
    pub fn with_provider_data(&self) -> bool {
        self.get("include").is_some_and(|v| v.split(',').any(|p| p.trim() == "providerData"))
    }
}
