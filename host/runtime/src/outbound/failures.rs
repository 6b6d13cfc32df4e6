//! Errors of requests to a provider, as the guest gets them.

use std::error::Error;
use std::io;

use hyper_util::client::legacy;

use crate::bindings::http::Err;
use crate::outbound::address::{ProhibitedAddress, UnencryptedCredentials, causes};
use crate::outbound::{CredentialsError, refused};

/// Only refused credentials require that the account is connected again.
pub(super) fn unusable(error: CredentialsError) -> Err {
    match error {
        CredentialsError::Refused(_) => refused("auth-expired", "the connection has no usable credentials"),
        CredentialsError::Unavailable { message, retry_after_ms } => {
            let retry_after_ms = retry_after_ms.map(|ms| u32::try_from(ms).unwrap_or(u32::MAX));
            Err { retry_after_ms, ..refused("unavailable", message) }
        }
    }
}

/// Whether the provider reports that it has not processed the request: it closes the connection, or refuses the stream (RFC 9113
/// section 8.7).
pub(super) fn is_unprocessed(error: &legacy::Error) -> bool {
    causes(error).filter_map(|cause| cause.downcast_ref::<h2::Error>()).any(|error| {
        let is_closing = error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR);
        let is_refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
        error.is_remote() && (is_closing || is_refused)
    })
}

/// A client's error for the guest: short, and the same whatever is behind the address.
pub(super) fn explain(error: &(dyn Error + 'static)) -> Err {
    if causes(error).any(|cause| cause.is::<ProhibitedAddress>()) {
        return refused("denied", "the operator does not allow requests to this host's address");
    }
    if causes(error).any(|cause| cause.is::<UnencryptedCredentials>()) {
        return refused("denied", "credentials are not sent over http to a public address: use https");
    }
    let is_late = |cause: &io::Error| cause.kind() == io::ErrorKind::TimedOut;
    if causes(error).any(|cause| cause.downcast_ref().is_some_and(is_late)) {
        refused("timeout", "the provider did not answer in time")
    } else if error.downcast_ref().is_some_and(legacy::Error::is_connect) {
        refused("connect", "the provider could not be reached")
    } else {
        refused("unavailable", "the provider's answer could not be read")
    }
}
