//! The verdict of the operator's own service on a booking form before it is accepted. The service gets only the hash of the email address.

use std::time::Duration;

use base::error::{Code, Refusal, Result, refuse};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use runtime::Post;
use serde::{Deserialize, Serialize};
use service::app::App;
use service::app::config::VerdictFailure;
use sha2::{Digest, Sha256};
use url::Url;

/// Time limit of a verdict.
const DEADLINE: Duration = Duration::from_secs(2);
/// Bytes of a response that are read.
const MAX_ANSWER_BYTES: usize = 16 << 10;

/// The request to the service.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerdictRequest {
    /// The IP address of the visitor.
    pub address: String,
    /// The header `User-Agent`; empty if absent.
    pub user_agent: String,
    /// The slug of the booking link.
    pub slug: String,
    /// The hash of the invitee's address, see `hash_of`.
    pub email_hash: String,
    /// Identifies the form: a form that is sent twice has the same token both times.
    pub form_token: String,
}

/// The service's response. Other fields are ignored.
#[derive(Deserialize)]
struct VerdictAnswer {
    allow: bool,
}

/// Returns the SHA-256 of a case-folded address in hexadecimal: the same for all its spellings.
pub fn hash_of(email: &str) -> String {
    hex::encode(Sha256::digest(::mail::address::folded(email)))
}

/// The decision on a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FormVerdict {
    Taken,
    Refused,
    /// The service gave no verdict: the operator's setting decides.
    Unknown,
}

/// Asks the service, if one is configured.
///
/// # Errors
/// 403 `forbidden` if the form is refused; 503 `provider_unavailable` if there is no verdict and the setting then refuses forms.
pub async fn ask(app: &App, question: &VerdictRequest) -> Result<()> {
    let Some(url) = &app.config.booking_verdict_url else { return Ok(()) };
    match (evaluate_form(app, url, question).await, app.config.booking_verdict_failure) {
        (FormVerdict::Taken, _) | (FormVerdict::Unknown, VerdictFailure::Open) => Ok(()),
        (FormVerdict::Refused, _) => Err(refuse(Code::Forbidden, "this booking was not accepted")),
        (FormVerdict::Unknown, VerdictFailure::Closed) => {
            let message = "the booking cannot be checked at the moment; try again shortly";
            Err(Refusal::new(Code::ProviderUnavailable, message).retry_after_s(5).into())
        }
    }
}

/// The verdict in an answer, and the fault of an answer without one. `is_whole`: `body` is complete.
// Contract silent: which answers count as none. An answer that is not understood is no consent: a page of a proxy that asks for a login, a
// path that does not exist, a text that is too long. With a status of 5xx the service, or a proxy before it, says that it cannot answer,
// which is silence (RFC 9110 section 15.6), as Envoy's `ext_authz` takes it with `failure_mode_allow`.
fn verdict_of(status: u16, body: &[u8], is_whole: bool) -> (FormVerdict, Option<String>) {
    match status {
        200..300 if !is_whole && body.len() < MAX_ANSWER_BYTES => {
            (FormVerdict::Unknown, Some("the answer broke off, or did not arrive in time".to_owned()))
        }
        200..300 => match serde_json::from_slice::<VerdictAnswer>(body) {
            // serde would also read a list of one value.
            Ok(VerdictAnswer { allow: true }) if is_whole && body.trim_ascii_start().starts_with(b"{") => {
                (FormVerdict::Taken, None)
            }
            Ok(VerdictAnswer { allow: false }) if is_whole => (FormVerdict::Refused, None),
            Ok(_) | Err(_) => {
                let fault = "the answer is not {\"allow\": true} or {\"allow\": false} within 16 KiB";
                (FormVerdict::Refused, Some(fault.to_owned()))
            }
        },
        500..600 => (FormVerdict::Unknown, Some(format!("the answer has the status {status}"))),
        _ => (FormVerdict::Refused, Some(format!("the answer has the status {status}"))),
    }
}

/// The verdict on a form.
async fn evaluate_form(app: &App, url: &Url, question: &VerdictRequest) -> FormVerdict {
    let json = HeaderValue::from_static("application/json");
    let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, json.clone()), (header::ACCEPT, json)]);
    // The operator's own service gets no tenant data, so no isolation is needed.
    let post = Post { tenant: "", url, headers, body: Bytes::from(storage::json_text(question)) };
    let (verdict, fault) = match app.runtime.post_to_operator(post, DEADLINE).await {
        Ok(posted) => verdict_of(posted.status, &posted.snippet, posted.is_whole),
        Err(e) => (FormVerdict::Unknown, Some(format!("{e:?}"))),
    };
    if let Some(fault) = fault {
        let host = url.host_str().unwrap_or_default();
        tracing::warn!(host, fault, ?verdict, "the verdict service gave no verdict on a booking form");
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_consent_is_consent_and_only_silence_is_silence() {
        let of = |status, body: &str| verdict_of(status, body.as_bytes(), true).0;
        let long = |allow: bool| format!("{{\"why\": \"{}\", \"allow\": {allow}}}", "x".repeat(10_000));
        let (yes, no) = (long(true), long(false));
        for body in ["{\"allow\": true}", yes.as_str()] {
            assert_eq!((of(200, body), of(201, body)), (FormVerdict::Taken, FormVerdict::Taken));
            for status in [101, 302, 400, 401, 403, 404, 429, 600] {
                assert_eq!(of(status, body), FormVerdict::Refused, "{status}");
            }
            for status in [500, 502, 503, 504, 599] {
                assert_eq!(of(status, body), FormVerdict::Unknown, "{status}");
            }
        }
        for body in [
            no.as_str(),
            "",
            "yes",
            "true",
            "{}",
            "[]",
            "[true]",
            "{\"allow\": \"true\"}",
            "{\"allow\": 1}",
            "{\"allow\": null}",
            "{\"allow\": true",
            "<html>{\"allow\": true}</html>",
            "{\"allow\": true, \"allow\": false}",
        ] {
            assert_eq!(of(200, body), FormVerdict::Refused, "{body}");
        }
        let part = |status, body: &str| verdict_of(status, body.as_bytes(), false).0;
        for body in ["", "{\"allow\": true}", "{\"allow\": false}"] {
            assert_eq!(
                (part(200, body), part(403, body)),
                (FormVerdict::Unknown, FormVerdict::Refused),
                "{body}"
            );
        }
        let mut long = format!("{{\"allow\": true}}{}", " ".repeat(MAX_ANSWER_BYTES));
        long.truncate(MAX_ANSWER_BYTES);
        assert_eq!(part(200, &long), FormVerdict::Refused);
    }

    #[test]
    fn an_address_has_one_hash() {
        let hash = "cfe00dde46ef942601ffafb9e2825e802858b460e586b8305b344c1eb826357d";
        assert_eq!(hash_of("ada@example.org"), hash);
        for email in
            [" Ada@Example.org", "ada@example\u{ff0e}org", "\u{ff41}da@EXAMPLE.ORG", "\"ada\"@example.org"]
        {
            assert_eq!(hash_of(email), hash, "{email}");
        }
    }
}
