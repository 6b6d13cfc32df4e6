//! Converts a connector's error into the error of the API.

use base::error::{Code, Error, ProviderAnswer, Refusal};
use runtime::{self, Code as Cause};
use sandbox_provider::guide;

use crate::app::SANDBOX;

/// Returns the public code of a failed call.
pub fn code(e: &runtime::Error) -> Code {
    match e.code {
        Cause::AuthExpired => Code::ReauthRequired,
        Cause::Forbidden | Cause::Invalid => find_named_code(e).unwrap_or(Code::ProviderRejected),
        Cause::NotFound => Code::NotFound,
        Cause::Conflict => find_named_code(e).unwrap_or(Code::StaleEtag),
        Cause::AlreadyExists => Code::AlreadyExists,
        Cause::RateLimited => Code::ProviderRateLimited,
        Cause::CursorExpired => Code::SyncResetRequired,
        Cause::Unsupported | Cause::UnsupportedSurface => Code::CapabilityNotSupported,
        Cause::Unavailable => Code::ProviderUnavailable,
        Cause::Timeout | Cause::Deadline => Code::ProviderTimeout,
        Cause::Busy => Code::Overloaded,
        _ => Code::ConnectorError,
    }
}

/// Returns the API error for a failed call.
pub fn from_runtime_error(provider: &str, e: &runtime::Error) -> Error {
    let code = code(e);
    let mut refusal = Refusal::new(code, e.message.clone());
    refusal.retry_after_s = e.retry_after_ms.map(|ms| ms.div_ceil(1000).max(1));
    if refusal.retry_after_s.is_none() && matches!(code, Code::ProviderRateLimited | Code::Overloaded) {
        refusal.retry_after_s = Some(if code == Code::Overloaded { 1 } else { 30 });
    }
    if e.provider_status.is_some() {
        let answer = ProviderAnswer {
            name: provider.to_owned(),
            status: e.provider_status,
            code: None,
            message: None,
        };
        refusal.provider = Some(answer);
    }
    if let Some(field) = unsupported_field(e) {
        refusal = refusal.param(field);
    }
    refusal.into()
}

/// Returns the field that the provider cannot store (`detail.field`).
fn unsupported_field(e: &runtime::Error) -> Option<String> {
    if e.code != Cause::Unsupported {
        return None;
    }
    let detail: serde_json::Value = serde_json::from_str(&e.author.detail).ok()?;
    Some(detail.get("field")?.as_str()?.to_owned())
}

/// Returns the code of the public catalogue that a failure's detail names, for example that the account is no attendee, or that the time
/// zone is unknown.
fn find_named_code(e: &runtime::Error) -> Option<Code> {
    [
        Code::NotAnAttendee,
        Code::OrganizerCannotRsvp,
        Code::InvalidTimeZone,
        Code::InvalidRecurrence,
        Code::NotEmpty,
        Code::InvalidState,
        Code::ScopeNotGranted,
        Code::AdminBlocked,
    ]
    .into_iter()
    .find(|code| e.author.detail.contains(code.as_str()))
}

/// Returns the API error for a failed check. While connecting, refused credentials are the request's fault and no state of a connection.
pub fn of_check(provider: &str, e: &runtime::Error) -> Error {
    match (e.code, from_runtime_error(provider, e)) {
        // No provider was asked: the manifest or the operator forbids the host.
        (Cause::Forbidden, Error::Refused(r)) if e.provider_status.is_none() => {
            Refusal { code: Code::ProviderRejected, ..*r }.param("settings").into()
        }
        // One of several servers refused; the connector reports which.
        (Cause::AuthExpired, Error::Refused(r)) if e.author.detail.contains("\"leg\"") => {
            Refusal { code: Code::ProviderRejected, ..*r }.param("credentials").into()
        }
        (Cause::AuthExpired, Error::Refused(r)) => {
            let message = match provider {
                SANDBOX => format!("the sandbox refuses these credentials: {}", guide::sign_in_hint()),
                _ => "the provider refuses these credentials".to_owned(),
            };
            Refusal { code: Code::ProviderRejected, message, ..*r }.param("credentials").into()
        }
        // Valid credentials that do not suffice: the connector reports what is missing. Its message was truncated and sanitized on receipt.
        (Cause::Forbidden, Error::Refused(r)) => {
            let message = format!("the provider refuses these credentials: {}", r.message);
            Refusal { code: Code::ProviderRejected, message, ..*r }.param("credentials").into()
        }
        (Cause::NotFound, Error::Refused(r)) => {
            let message = format!("the provider has no such account or service there: {}", r.message);
            Refusal { code: Code::ProviderRejected, message, ..*r }.param("settings").into()
        }
        (_, error) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_that_do_not_suffice_are_refused_with_the_reason() {
        let failure = |code| runtime::Error {
            message: "the API is not enabled".to_owned(),
            provider_status: Some(403),
            ..runtime::Error::new(code, "")
        };
        for (code, message) in [
            (Cause::Forbidden, "the provider refuses these credentials: the API is not enabled"),
            (Cause::AuthExpired, "the provider refuses these credentials"),
        ] {
            let Error::Refused(refusal) = of_check("p", &failure(code)) else { panic!("{code:?}") };
            assert_eq!((refusal.code, refusal.message.as_str()), (Code::ProviderRejected, message));
            assert_eq!(refusal.param.as_deref(), Some("credentials"));
        }
    }
}
