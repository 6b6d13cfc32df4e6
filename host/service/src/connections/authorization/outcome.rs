//! The outcome of a user's return, a connection or one of a few errors, and the response for a browser or a backend.

use base::error::{Code, Error, Refusal};
use model::connection::{AuthorizationResult, ConnectionStatus};
use runtime::ErrorClass;
use serde_json::{Value, json};
use url::form_urlencoded::Serializer;

/// The response to a user's return. It can hold a code, so that it has no `Debug`.
pub enum CallbackOutcome {
    /// The address to redirect the browser to: the client's registered address with the outcome in its query.
    Redirect(String),
    /// There is no address to redirect to: a page shows the reason.
    Page(PageReason),
    Json(AuthorizationResult),
    /// Replaces `Json` if there is no connection.
    Refused(Error),
}

/// The reason why a browser's return has no address to redirect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageReason {
    /// No authorization has this `state`.
    UnknownLink,
    /// The authorization has ended; its outcome is not shown again.
    AlreadyUsed,
    /// A parameter is missing, repeated or too long.
    Malformed,
    /// The `state` belongs to another provider than the path.
    WrongProvider,
    /// This host has failed.
    Unavailable,
    /// An administrator has approved the client for an organization: no user comes back.
    AdminApproved,
    /// A return with an error and without an authorization: an administrator has not approved the client.
    AdminRefused,
}

/// The reason why a return creates no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The user or the provider refused.
    AccessDenied,
    AdminBlocked,
    /// The return is for another account than the connection's.
    AccountMismatch,
    /// None of the requested scopes was granted.
    ScopeMissing,
    ExpiredState,
    /// The return cannot be trusted.
    InvalidRequest,
    /// The registration or the provider's response is wrong.
    ServerError,
    TemporarilyUnavailable,
}

impl Failure {
    /// Returns `error` of the redirect: a code of RFC 6749, section 4.1.2.1, or our own.
    pub fn as_str(self) -> &'static str {
        match self {
            Failure::AccessDenied => "access_denied",
            Failure::AdminBlocked => "admin_blocked",
            Failure::AccountMismatch => "account_mismatch",
            Failure::ScopeMissing => "scope_missing",
            Failure::ExpiredState => "expired_state",
            Failure::InvalidRequest => "invalid_request",
            Failure::ServerError => "server_error",
            Failure::TemporarilyUnavailable => "temporarily_unavailable",
        }
    }

    /// Returns `error_description`, in our own words: none of the provider's text is shown.
    pub fn description(self) -> &'static str {
        match self {
            Failure::AccessDenied => "the user or the provider refused the authorization",
            Failure::AdminBlocked => {
                "an administrator of the user's organization has to allow the application first"
            }
            Failure::AccountMismatch => "another account came back than the one of this connection",
            Failure::ScopeMissing => "none of the requested scopes was granted",
            Failure::ExpiredState => "the authorization was not finished within ten minutes; start it again",
            Failure::InvalidRequest => "the provider's answer cannot be trusted or contradicts itself",
            Failure::ServerError => {
                "the provider's answer or the application's registration at the provider is wrong"
            }
            Failure::TemporarilyUnavailable => "the provider could not be reached; start again later",
        }
    }

    /// Returns the failure for an error class of the provider.
    pub fn of_class(class: ErrorClass) -> Failure {
        match class {
            ErrorClass::Denied | ErrorClass::Reauthorize | ErrorClass::ConsentMissing => {
                Failure::AccessDenied
            }
            ErrorClass::AdminBlocked => Failure::AdminBlocked,
            ErrorClass::Operator => Failure::ServerError,
            ErrorClass::Retry => Failure::TemporarilyUnavailable,
        }
    }

    /// Returns the failure as an error of the API. `admin_consent_url`: the page where an administrator grants consent.
    fn refusal(self, admin_consent_url: Option<&str>) -> Refusal {
        let code = match self {
            Failure::AccessDenied => Code::AccessDenied,
            Failure::AdminBlocked => Code::AdminBlocked,
            Failure::AccountMismatch => Code::AccountMismatch,
            Failure::ScopeMissing => Code::ScopeMissing,
            Failure::ExpiredState => Code::ExpiredState,
            Failure::InvalidRequest => Code::InvalidRequest,
            Failure::ServerError => Code::ProviderError,
            Failure::TemporarilyUnavailable => Code::ProviderUnavailable,
        };
        Refusal::new(code, self.text(admin_consent_url))
    }

    fn text(self, admin_consent_url: Option<&str>) -> String {
        match (self, admin_consent_url) {
            (Failure::AdminBlocked, Some(url)) => format!("{}: {url}", self.description()),
            _ => self.description().to_owned(),
        }
    }
}

/// How an authorization ended.
#[derive(Clone)]
pub enum AuthorizationOutcome {
    Connected {
        connection_id: String,
        missing_scopes: Vec<String>,
        /// The code that the client exchanges, if it requested one: until then the connection is pending.
        code: Option<String>,
    },
    Failed {
        failure: Failure,
        admin_consent_url: Option<String>,
    },
}

impl From<Failure> for AuthorizationOutcome {
    fn from(failure: Failure) -> Self {
        AuthorizationOutcome::Failed { failure, admin_consent_url: None }
    }
}

impl AuthorizationOutcome {
    /// Returns the value of `authorizations.outcome`, without the code.
    pub fn stored(&self) -> Value {
        match self {
            AuthorizationOutcome::Connected { connection_id, missing_scopes, code } => {
                let status = status(code.as_deref());
                json!({ "connectionId": connection_id, "status": status, "missingScopes": missing_scopes })
            }
            AuthorizationOutcome::Failed { failure, .. } => json!({ "error": failure.as_str() }),
        }
    }

    /// Returns the response to the user's return. `state` is the client's own.
    pub fn into_callback(
        self,
        redirect_uri: &str,
        state: Option<String>,
        wants_json: bool,
    ) -> CallbackOutcome {
        if !wants_json {
            return CallbackOutcome::Redirect(self.redirect(redirect_uri, state.as_deref()));
        }
        match self {
            AuthorizationOutcome::Connected { connection_id, missing_scopes, code } => {
                let status = status(code.as_deref());
                CallbackOutcome::Json(AuthorizationResult {
                    connection_id,
                    status,
                    missing_scopes,
                    state,
                    code,
                })
            }
            AuthorizationOutcome::Failed { failure, admin_consent_url } => {
                CallbackOutcome::Refused(failure.refusal(admin_consent_url.as_deref()).into())
            }
        }
    }

    /// Returns the registered address, byte for byte, with parameters added after its own (RFC 6749, section 4.1.2).
    fn redirect(&self, redirect_uri: &str, state: Option<&str>) -> String {
        let mut query = Serializer::new(String::new());
        match self {
            AuthorizationOutcome::Connected { connection_id, code, .. } => {
                let status = if code.is_some() { "pending" } else { "active" };
                query.append_pair("connection_id", connection_id).append_pair("status", status);
            }
            AuthorizationOutcome::Failed { failure, admin_consent_url } => {
                let text = failure.text(admin_consent_url.as_deref());
                query.append_pair("error", failure.as_str()).append_pair("error_description", &text);
            }
        }
        if let Some(state) = state {
            query.append_pair("state", state);
        }
        if let AuthorizationOutcome::Connected { code: Some(code), .. } = self {
            query.append_pair("code", code);
        }
        let separator = match redirect_uri.contains('?') {
            true if redirect_uri.ends_with(['?', '&']) => "",
            true => "&",
            false => "?",
        };
        format!("{redirect_uri}{separator}{}", query.finish())
    }
}

/// Returns the status of the connection: with a code it exists only after the exchange.
fn status(code: Option<&str>) -> ConnectionStatus {
    match code {
        Some(_) => ConnectionStatus::Pending,
        None => ConnectionStatus::Active,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connected(code: Option<&str>) -> AuthorizationOutcome {
        AuthorizationOutcome::Connected {
            connection_id: "conn_1".into(),
            missing_scopes: vec!["email.send".into()],
            code: code.map(str::to_owned),
        }
    }

    #[test]
    fn a_redirect_adds_to_the_registered_address() {
        for (registered, start) in [
            ("https://app.test/cb", "https://app.test/cb?"),
            ("https://app.test/cb?x=1", "https://app.test/cb?x=1&"),
            ("https://app.test/cb?", "https://app.test/cb?"),
            ("com.example.app:/cb", "com.example.app:/cb?"),
        ] {
            let CallbackOutcome::Redirect(url) = connected(None).into_callback(registered, None, false)
            else {
                panic!("no redirect")
            };
            assert_eq!(url, format!("{start}connection_id=conn_1&status=active"));
        }
    }

    #[test]
    fn state_and_texts_are_encoded() {
        let state = Some("a b&error=x".to_owned());
        let CallbackOutcome::Redirect(url) =
            connected(Some("uc_ac_1")).into_callback("https://app.test/cb", state.clone(), false)
        else {
            panic!("no redirect")
        };
        assert!(url.ends_with("&status=pending&state=a+b%26error%3Dx&code=uc_ac_1"), "{url}");
        assert_eq!(connected(Some("uc_ac_1")).stored()["status"], "pending");
        assert_eq!(connected(None).stored()["status"], "active");
        let failed = AuthorizationOutcome::Failed {
            failure: Failure::AdminBlocked,
            admin_consent_url: Some("https://login.test/x?y".into()),
        };
        assert_eq!(failed.stored(), json!({ "error": "admin_blocked" }));
        let CallbackOutcome::Redirect(url) = failed.into_callback("https://app.test/cb", None, false) else {
            panic!("no redirect")
        };
        assert!(url.contains("error=admin_blocked&error_description=an+administrator"), "{url}");
        assert!(url.ends_with("%3A+https%3A%2F%2Flogin.test%2Fx%3Fy"), "{url}");
    }

    #[test]
    fn a_backend_gets_the_result_or_an_error() {
        let CallbackOutcome::Json(result) = connected(None).into_callback("https://app.test/cb", None, true)
        else {
            panic!("no JSON")
        };
        assert_eq!((result.missing_scopes, result.code), (vec!["email.send".to_owned()], None));
        let ending = AuthorizationOutcome::from(Failure::ExpiredState);
        let CallbackOutcome::Refused(error) = ending.into_callback("https://app.test/cb", None, true) else {
            panic!("no error")
        };
        assert_eq!(error.code(), Some(Code::ExpiredState));
    }
}
