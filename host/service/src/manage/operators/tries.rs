//! Tries to prove who one is: each is counted before it is looked at, in the database, so that many at once on many hosts are no more than they
//! are. From the sixth on the next one has to wait, longer each time. What nobody owns is counted like all the rest.

use base::error::Result;
use storage::operator_identities::OperatorIdentity;
use storage::sign_in_failures::{self, SignInTries};

use crate::app::App;
use crate::manage::operators::devices::KnownDevice;

/// Tries without a wait.
const FREE_TRIES: i64 = 5;
/// The longest wait, seconds.
const MAX_WAIT_S: i64 = 900;

/// The standing of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryTurn {
    /// It counts, and may be looked at. `is_noted`: a failure is one for the audit log, because the next try has to wait.
    Allowed { is_noted: bool },
    /// It does not count, and must not be looked at: come back after so many seconds.
    Wait(u64),
}

/// The subject of tries for an address from devices that nobody knows.
pub fn of_address(app: &App, email_key: &str) -> String {
    subject(app, "address", email_key)
}

/// The subject of tries from a known device.
pub fn of_device(app: &App, device: &KnownDevice) -> String {
    subject(app, "device", &format!("{}/{}", device.operator_id, device.id))
}

/// The subject of tries after a link for a new password, which nobody else can keep waiting.
pub fn of_link(app: &App, link_id: &str) -> String {
    subject(app, "link", link_id)
}

/// The subject of tries of an operator who is signed in and has to prove it again.
pub fn of_confirmation(app: &App, operator_id: &str) -> String {
    subject(app, "confirmation", operator_id)
}

/// The subject of sign-ins by an identity at the OpenID provider.
pub fn of_identity(app: &App, identity: &OperatorIdentity) -> String {
    subject(app, "identity", &format!("{} {}", identity.issuer, identity.subject))
}

/// The subject of a return from the OpenID provider, which counts once.
pub fn of_return(app: &App, seed: &str) -> String {
    subject(app, "return", seed)
}

/// An HMAC: the database keeps no list of addresses that somebody tried.
fn subject(app: &App, kind: &str, name: &str) -> String {
    app.keyring.purpose("sign-in-tries").tag(format!("{kind}/{name}").as_bytes())
}

/// Counts a try of the subject.
pub async fn begin(app: &App, subject: &str) -> Result<TryTurn> {
    let (subject, now) = (subject.to_owned(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let before = sign_in_failures::lock(tx, &subject, now).await?;
                if before.wait_until > now {
                    return Ok(TryTurn::Wait(seconds(before.wait_until - now)));
                }
                let tries = before.tries.saturating_add(1);
                let wait_until = now + 1_000 * wait_s(tries);
                sign_in_failures::set(tx, &subject, SignInTries { tries, wait_until }).await?;
                Ok(TryTurn::Allowed { is_noted: wait_until > now })
            })
        })
        .await
}

/// Uses up a subject that may be tried once. Returns false when it was used before, on whichever host.
pub async fn use_up(app: &App, subject: &str) -> Result<bool> {
    let (subject, now) = (subject.to_owned(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let before = sign_in_failures::lock(tx, &subject, now).await?;
                if before.tries > 0 {
                    return Ok(false);
                }
                let used = SignInTries { tries: 1, wait_until: now };
                sign_in_failures::set(tx, &subject, used).await?;
                Ok(true)
            })
        })
        .await
}

/// Seconds to wait after so many tries without success.
fn wait_s(tries: i64) -> i64 {
    match tries - FREE_TRIES {
        ..=0 => 0,
        over => {
            1_i64.checked_shl(u32::try_from(over.min(10)).unwrap_or(10)).unwrap_or(MAX_WAIT_S).min(MAX_WAIT_S)
        }
    }
}

/// Milliseconds as whole seconds, at least 1.
fn seconds(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or(0).div_ceil(1_000).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_from_the_sixth_try_on() {
        let waits: Vec<i64> = (1..=16).map(wait_s).collect();
        assert_eq!(waits, [0, 0, 0, 0, 0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
        assert_eq!(wait_s(i64::MAX), 900);
    }

    #[test]
    fn a_wait_is_told_in_whole_seconds() {
        assert_eq!([1, 1_000, 1_001, 900_000].map(seconds), [1, 1, 2, 900]);
    }
}
