//! The failure of a step, and what to do about it.

use base::error::Code;
use serde::Serialize;
use service::connections::{refusal, throttle};

/// A failure for the report.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepFailure {
    /// The code that a user of the API gets.
    pub code: &'static str,
    /// The code of the call, as in logs.
    pub cause: &'static str,
    pub message: String,
    /// The provider's HTTP status, if the connector reports one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    pub help: String,
}

impl StepFailure {
    pub fn new(e: &runtime::Error) -> StepFailure {
        StepFailure {
            code: refusal::code(e).as_str(),
            cause: e.code.as_str(),
            message: without_addresses(&e.message),
            provider_status: e.provider_status,
            retry_after_ms: e.retry_after_ms,
            help: remedy(e),
        }
    }
}

/// The message without words that may be an email address.
fn without_addresses(message: &str) -> String {
    let word = |word: &str| {
        let is_address =
            word.contains('@') || word.contains("://") || word.to_ascii_lowercase().contains("%40");
        if is_address { "(address)".to_owned() } else { word.to_owned() }
    };
    message.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// The remedy for the operator.
fn remedy(e: &runtime::Error) -> String {
    let fixed = match refusal::code(e) {
        Code::ReauthRequired => {
            "run it again in a minute, since a running server renews tokens; if it fails again, connect the account again"
        }
        Code::ScopeNotGranted => "connect the account again and consent to the scopes that are missing",
        Code::AdminBlocked => {
            "have an administrator of the account's organization allow the application at the provider"
        }
        Code::ProviderRateLimited if throttle::is_held(e) => return wait(e, "nothing was sent"),
        Code::ProviderRateLimited => return wait(e, "the provider limits requests"),
        Code::ProviderRejected if e.provider_status.is_none() => {
            "check [[hosts]] of connector.toml, and --egress-allow for servers in private networks"
        }
        Code::ProviderRejected => {
            "check at the provider that the API is switched on for the application, and that the account may use it"
        }
        Code::ProviderUnavailable | Code::ProviderTimeout => {
            "check that the provider can be reached from this machine, and run it again"
        }
        Code::NotFound => "run it again: the record may be gone since the list was read",
        Code::CapabilityNotSupported => {
            "do nothing if the provider cannot do it: the step `capabilities` shows what it can"
        }
        Code::SyncResetRequired => {
            "report it to the connector's author: the provider does not know its own cursor"
        }
        Code::Overloaded => "run it again when this machine is less busy",
        _ if e.code == runtime::Code::Host => "run `switchboard doctor` with the same settings",
        _ => "report it to the connector's author, or install another version of the connector",
    };
    fixed.to_owned()
}

fn wait(e: &runtime::Error, why: &str) -> String {
    let seconds = e.retry_after_ms.map_or(30, |ms| ms.div_ceil(1_000).max(1));
    format!("wait {seconds} s and run it again: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_no_address() {
        let message = "no calendar ada@example.com at /v1/ada%40example.com here";
        assert_eq!(without_addresses(message), "no calendar (address) at (address) here");
    }

    #[test]
    fn a_limit_says_how_long_to_wait() {
        let mut e = runtime::Error::new(runtime::Code::RateLimited, "");
        e.retry_after_ms = Some(1_500);
        let failure = StepFailure::new(&e);
        assert_eq!(failure.code, "provider_rate_limited");
        assert_eq!(failure.help, "wait 2 s and run it again: the provider limits requests");
    }
}
