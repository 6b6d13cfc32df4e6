//! Requests of `trigger` to the API: JSON there, and JSON back.

use std::time::Duration;

use anyhow::{Context, Result};
use base::clock::Entropy;
use bytes::Bytes;
use http::Method;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use runtime::{OperatorClient, PostError};
use serde_json::Value;
use url::Url;

use crate::cli::answer_failure::FailedAnswer;
use crate::cli::refusal::failure;
use crate::cli::server_options::{self, ServerAccess};

/// Time limit for the head of an answer, and for its body: some operations wait for a provider.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Most bytes of an answer.
const MAX_ANSWER_BYTES: usize = 16 << 20;
/// Most pages of a list that are read, and the items of a page.
const MAX_PAGES: usize = 50;
const PAGE_ITEMS: &str = "200";

/// A server, with the key for it.
pub struct ApiSession {
    client: OperatorClient,
    server: Url,
    authorization: HeaderValue,
}

impl ApiSession {
    pub fn new(access: &ServerAccess) -> Result<ApiSession> {
        let authorization = server_options::authorization(access.key()?)?;
        Ok(ApiSession { client: access.client.clone(), server: access.server.clone(), authorization })
    }

    /// Returns the answer to a GET request.
    ///
    /// # Errors
    /// As a command whose request was refused.
    pub async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value> {
        let mut url = server_options::url_of(&self.server, path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.exchange(Method::GET, &url, Bytes::new()).await
    }

    /// Returns the answer to a POST request.
    ///
    /// # Errors
    /// As `get`.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let url = server_options::url_of(&self.server, path);
        self.exchange(Method::POST, &url, Bytes::from(serde_json::to_vec(body)?)).await
    }

    /// Returns the items of a list, of at most 50 pages.
    ///
    /// # Errors
    /// As `get`.
    pub async fn list(&self, path: &str, query: &[(&str, &str)]) -> Result<Vec<Value>> {
        let (mut items, mut cursor) = (Vec::new(), None::<String>);
        for _ in 0..MAX_PAGES {
            let mut of_page = query.to_vec();
            of_page.push(("limit", PAGE_ITEMS));
            if let Some(cursor) = &cursor {
                of_page.push(("cursor", cursor.as_str()));
            }
            let mut page = self.get(path, &of_page).await?;
            if let Some(Value::Array(data)) = page.get_mut("data").map(Value::take) {
                items.extend(data);
            }
            match page["next_cursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        Ok(items)
    }

    async fn exchange(&self, method: Method, url: &Url, body: Bytes) -> Result<Value> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.authorization.clone());
        headers.insert(USER_AGENT, HeaderValue::from_static(server_options::USER_AGENT));
        if method == Method::POST {
            let key = format!("cli-{}", hex::encode(Entropy::system().bytes::<16>()));
            let key = HeaderValue::try_from(key).context("hexadecimal digits are text")?;
            headers.insert(HeaderName::from_static("idempotency-key"), key);
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let no_answer = |error: PostError| server_options::no_answer(&self.server, &error);
        let answer = self.client.send(method, url, headers, body, TIMEOUT).await.map_err(no_answer)?;
        let (status, headers) = (answer.status, answer.headers.clone());
        let body = answer.whole(MAX_ANSWER_BYTES, TIMEOUT).await;
        if !matches!(status, 200..=299) {
            // An error whose body does not arrive still has its status.
            let body = body.unwrap_or_default();
            return Err(FailedAnswer { server: &self.server, status, headers: &headers, body: &body }.error());
        }
        serde_json::from_slice(&body.map_err(no_answer)?).map_err(|_| {
            failure("the answer of the server is not JSON", "check that --server names a Switchboard server")
        })
    }
}
