//! Returns that belong to no authorization, or to one that has ended: an administrator's, and those with a wrong address.

use base::error::{Code, invalid, refuse};

use crate::connections::authorization::{CallbackOutcome, CallbackParams, PageReason};

/// Returns what an administrator's return reports, who was on the page of `OAuthProvider::admin_consent_url`. It has `admin_consent`, or an
/// error without a `state`, never a code, and belongs to no authorization.
pub fn administrators_return(params: &CallbackParams) -> Option<PageReason> {
    let has = |value: &Option<String>| value.as_deref().is_some_and(|value| !value.is_empty());
    if has(&params.code) {
        return None;
    }
    match (has(&params.admin_consent), has(&params.error)) {
        (true, false) => Some(PageReason::AdminApproved),
        (true, true) => Some(PageReason::AdminRefused),
        (false, true) if !has(&params.state) => Some(PageReason::AdminRefused),
        (false, _) => None,
    }
}

/// Returns the response to a return without an authorization here.
pub fn elsewhere(reason: PageReason, wants_json: bool) -> CallbackOutcome {
    if !wants_json {
        return CallbackOutcome::Page(reason);
    }
    let message = match reason {
        PageReason::Malformed => "state is required: the one with which the provider sent the user back",
        PageReason::AdminApproved | PageReason::AdminRefused => {
            "this is the return of an administrator, which belongs to no authorization"
        }
        _ => "state belongs to no authorization of this provider and application",
    };
    CallbackOutcome::Refused(invalid(Code::InvalidParameter, "state", message))
}

/// Returns the response to a return whose authorization has ended, or is being processed.
pub fn already_used(wants_json: bool) -> CallbackOutcome {
    match wants_json {
        false => CallbackOutcome::Page(PageReason::AlreadyUsed),
        true => {
            let message = "this authorization was used already, and its outcome is told once; start another";
            CallbackOutcome::Refused(refuse(Code::InvalidState, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_administrators_return_is_no_sign_in() {
        let text = |value: &str| (!value.is_empty()).then(|| value.to_owned());
        for (admin_consent, error, state, code, wanted) in [
            ("True", "", "", "", Some(PageReason::AdminApproved)),
            ("True", "", "own", "", Some(PageReason::AdminApproved)),
            ("True", "consent_required", "", "", Some(PageReason::AdminRefused)),
            ("", "permission_denied", "", "", Some(PageReason::AdminRefused)),
            ("", "access_denied", "st_1", "", None),
            ("True", "", "st_1", "c", None),
            ("", "", "", "c", None),
            ("", "", "", "", None),
        ] {
            let params = CallbackParams {
                admin_consent: text(admin_consent),
                error: text(error),
                state: text(state),
                code: text(code),
                ..CallbackParams::default()
            };
            assert_eq!(administrators_return(&params), wanted, "{admin_consent} {error} {state} {code}");
        }
    }

    #[test]
    fn a_backend_is_told_the_field_and_a_browser_a_reason() {
        let CallbackOutcome::Page(reason) = elsewhere(PageReason::WrongProvider, false) else {
            panic!("no page")
        };
        assert_eq!(reason, PageReason::WrongProvider);
        let CallbackOutcome::Refused(error) = elsewhere(PageReason::UnknownLink, true) else {
            panic!("no error")
        };
        assert_eq!(error.code(), Some(Code::InvalidParameter));
        let CallbackOutcome::Refused(error) = already_used(true) else { panic!("no error") };
        assert_eq!(error.code(), Some(Code::InvalidState));
    }
}
