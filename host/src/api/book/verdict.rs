//! What a service of the operator's says of a form before it is taken: whether it comes from somebody who is welcome. The service gets no
//! address of mail, only its hash.

use std::time::Duration;

use base::error::{Code, Refusal, Result, refuse};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use runtime::Post;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::time::timeout;
use url::Url;

use crate::app::App;
use crate::app::config::VerdictFailure;

/// How long a verdict is waited for.
const DEADLINE: Duration = Duration::from_secs(2);

/// What the service is asked.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerdictRequest {
    /// The IP address of the visitor.
    pub address: String,
    /// The header `User-Agent`; empty where there is none.
    pub user_agent: String,
    /// The public name under which is booked.
    pub slug: String,
    /// Of the invitee's address, see `hash_of`.
    pub email_hash: String,
    /// Tells forms apart: one that is sent twice has the same token.
    pub form_token: String,
}

/// What the service answers. Other fields are for itself.
#[derive(Deserialize)]
struct VerdictAnswer {
    allow: bool,
}

/// SHA-256 in hexadecimal digits of an address without what stands around it, in lower case.
pub fn hash_of(email: &str) -> String {
    hex::encode(Sha256::digest(email.trim().to_lowercase()))
}

/// Asks the service, if the operator has named one.
///
/// # Errors
/// 403 `forbidden` where the form is not welcome; where there is no verdict 503 `provider_unavailable`, if forms are refused then.
pub async fn ask(app: &App, question: &VerdictRequest) -> Result<()> {
    let Some(url) = &app.config.booking_verdict_url else { return Ok(()) };
    match (given(app, url, question).await, app.config.booking_verdict_failure) {
        (Some(true), _) | (None, VerdictFailure::Open) => Ok(()),
        (Some(false), _) => Err(refuse(Code::Forbidden, "this booking was not taken")),
        (None, VerdictFailure::Closed) => {
            let message = "it could not be decided whether this booking is taken; try again shortly";
            Err(Refusal::new(Code::ProviderUnavailable, message).retry_after_s(5).into())
        }
    }
}

/// The verdict; none where the service gives none in time.
async fn given(app: &App, url: &Url, question: &VerdictRequest) -> Option<bool> {
    let json = HeaderValue::from_static("application/json");
    let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, json.clone()), (header::ACCEPT, json)]);
    // It is the operator's own: nothing of a tenant's is sent, and nothing has to be kept apart.
    let post = Post { tenant: "", url, headers, body: Bytes::from(storage::json_text(question)) };
    let fault = match timeout(DEADLINE, app.runtime.post_to_operator(post, DEADLINE)).await {
        Ok(Ok(posted)) if (200..300).contains(&posted.status) => {
            match serde_json::from_slice::<VerdictAnswer>(&posted.snippet) {
                Ok(verdict) => return Some(verdict.allow),
                Err(_) => "the answer is not {\"allow\": true} or {\"allow\": false}".to_owned(),
            }
        }
        Ok(Ok(posted)) => format!("the answer has the status {}", posted.status),
        Ok(Err(e)) => format!("{e:?}"),
        Err(_) => "there was no answer in time".to_owned(),
    };
    let host = url.host_str().unwrap_or_default();
    tracing::warn!(host, fault, "there is no verdict about a form of the booking page");
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_hash() {
        let hash = "cfe00dde46ef942601ffafb9e2825e802858b460e586b8305b344c1eb826357d";
        assert_eq!(hash_of("ada@example.org"), hash);
        assert_eq!(hash_of(" Ada@Example.org"), hash);
    }
}
