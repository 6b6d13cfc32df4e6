//! Signing in: address and password, then the code of a second factor where there is one. Every wrong pair gets the same answer after the same
//! time, whether or not anybody has the address; waits grow with the tries, and a device that the operator has used has its own.

use std::sync::Arc;

use base::error::{Code, Refusal, Result, not_found};
use base::ids::Kind;
use base::input::validate;
use storage::audit_log::{self, AuditEntry};
use storage::operator_sessions::{self, HALF, OperatorSession};
use storage::operators::{self, Operator};
use storage::sign_in_failures;
use zeroize::Zeroizing;

use crate::app::App;
use crate::manage::acting::Target;
use crate::manage::actor::{Actor, ActorKind};
use crate::manage::operators::address::address_key;
use crate::manage::operators::devices;
use crate::manage::operators::passwords::{self, HashingRoom};
use crate::manage::operators::second_factor::{self, FactorProof};
use crate::manage::operators::sessions::{self, NewSession, Session, SessionStart, SignInOrigin};
use crate::manage::operators::tries::{self, TryTurn};

/// Wrong codes after which the password has to be entered again.
const MAX_WRONG_CODES: i64 = 5;
/// Characters of an address that is looked up.
const MAX_EMAIL: usize = 320;

/// Address and password as they were entered.
pub struct Credentials {
    pub email: String,
    pub password: Zeroizing<String>,
    /// The value of the device's cookie.
    pub device: Option<String>,
}

/// The result of a try to sign in.
#[derive(Debug)]
pub enum SignIn {
    Signed(NewSession),
    /// The password is right; the code of the second factor is asked for with this token, which opens no page.
    NeedsCode(String),
    /// Too many tries: nothing was looked at, and the next one may come after so many seconds.
    Wait(u64),
    /// Address, password or code is wrong, or the operator is disabled.
    Wrong,
    /// Too many sign in at this moment.
    Busy,
}

/// Signs in by address and password.
///
/// # Errors
/// `invalid_parameter` for texts that are too long.
pub async fn sign_in(app: &App, form: &Credentials, from: &SignInOrigin) -> Result<SignIn> {
    passwords::check_length(&form.password)?;
    validate::text("email", Some(&form.email), MAX_EMAIL)?;
    let key = address_key(&form.email);
    let found = operators::by_email(app.db.reader(), &key).await?;
    let Some(room) = passwords::room(app) else { return Ok(SignIn::Busy) };
    let subject = subject(app, form, &key, found.as_ref());
    let is_noted = match tries::begin(app, &subject).await? {
        TryTurn::Wait(seconds) => return Ok(SignIn::Wait(seconds)),
        TryTurn::Allowed { is_noted } => is_noted,
    };
    let hash = found.as_ref().and_then(|operator| operator.password_hash.as_deref());
    let is_right = passwords::verify(app, &room, &key, &form.password, hash).await?;
    drop(room);
    let Some(operator) = found else { return Ok(SignIn::Wrong) };
    if !is_right || operator.disabled_at.is_some() {
        if is_noted {
            note_failure(app, &operator, from).await?;
        }
        return Ok(SignIn::Wrong);
    }
    if operator.totp_secret.is_some() {
        return half(app, &operator, subject, from).await;
    }
    let start = sessions::start(app, &operator.id, "password", from);
    complete(app, Completion::new(app, &operator, subject, start, from), None).await
}

/// The subject that the try counts for: the device where this operator has used it, else the address.
fn subject(app: &App, form: &Credentials, key: &str, found: Option<&Operator>) -> String {
    let device = form.device.as_deref().and_then(|cookie| devices::read(&app.keyring, cookie, app.now()));
    match device.filter(|device| found.is_some_and(|operator| operator.id == device.operator_id)) {
        Some(device) => tries::of_device(app, &device),
        None => tries::of_address(app, key),
    }
}

/// The operator as the one who acts in an entry of the audit log.
fn actor(operator: &Operator, from: &SignInOrigin) -> Actor {
    Actor {
        kind: ActorKind::Operator,
        id: operator.id.clone(),
        name: operator.name.clone(),
        ip: Some(from.ip),
        is_admin: operator.is_admin,
        roles: Default::default(),
        fresh_at: 0,
    }
}

/// The entry of an act of an operator who signs in.
pub(crate) fn entry(app: &App, operator: &Operator, act: &str, from: &SignInOrigin) -> AuditEntry {
    let target = Target::installation(operator.id.as_str());
    target.entry(&actor(operator, from), act, app.new_id(Kind::AuditEntry), app.now())
}

/// Notes a failure after which the next try has to wait.
pub(crate) async fn note_failure(app: &App, operator: &Operator, from: &SignInOrigin) -> Result<()> {
    let entry = entry(app, operator, "sign_in_failed", from);
    app.db.write(move |tx| Box::pin(async move { Ok(audit_log::insert(tx, &entry).await?) })).await
}

/// A session that opens no page, and waits for the code of the second factor.
async fn half(app: &App, operator: &Operator, subject: String, from: &SignInOrigin) -> Result<SignIn> {
    let SessionStart { new, mut row } = sessions::start(app, &operator.id, HALF, from);
    row.subject = Some(subject);
    let written: Result<()> =
        app.db.write(move |tx| Box::pin(async move { Ok(sessions::write(tx, &row).await?) })).await;
    written?;
    Ok(SignIn::NeedsCode(new.cookie))
}

/// Everything that the transaction needs in which a session begins.
struct Completion {
    /// The operator as they were when the proof was looked at.
    operator: Operator,
    subject: String,
    start: SessionStart,
    entry: AuditEntry,
}

impl Completion {
    fn new(
        app: &App,
        operator: &Operator,
        subject: String,
        start: SessionStart,
        from: &SignInOrigin,
    ) -> Completion {
        let mut entry = entry(app, operator, "signed_in", from);
        entry.details = serde_json::json!({ "method": start.row.method });
        Completion { operator: operator.clone(), subject, start, entry }
    }
}

/// Begins the session, unless the operator's password, factor or standing changed meanwhile. With a code also its half session ends.
async fn complete(app: &App, completion: Completion, code: Option<(FactorProof, String)>) -> Result<SignIn> {
    let Completion { operator, subject, start: SessionStart { new, row }, entry } = completion;
    let begun: Result<bool> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let Some(locked) = operators::lock(tx, &operator.id).await? else { return Ok(false) };
                let is_same = locked.password_hash == operator.password_hash
                    && locked.totp_secret == operator.totp_secret
                    && locked.disabled_at.is_none();
                if !is_same {
                    return Ok(false);
                }
                if let Some((proof, half_hash)) = &code
                    && !(proof.spend(tx, &operator.id).await?
                        && operator_sessions::remove(tx, half_hash).await?)
                {
                    return Ok(false);
                }
                sessions::write(tx, &row).await?;
                sign_in_failures::remove(tx, &subject).await?;
                audit_log::insert(tx, &entry).await?;
                Ok(true)
            })
        })
        .await;
    Ok(if begun? { SignIn::Signed(new) } else { SignIn::Wrong })
}

/// The half session of a token. None: it leads to none, or the time for the code is over.
async fn half_session(app: &App, token: &str) -> Result<Option<OperatorSession>> {
    let found = operator_sessions::find(app.db.reader(), &sessions::hash_of(app, token)).await?;
    Ok(found.filter(|row| row.is_half() && row.ends_at > app.now()))
}

/// Whether a token of `SignIn::NeedsCode` still takes codes.
pub async fn takes_codes(app: &App, token: &str) -> Result<bool> {
    Ok(half_session(app, token).await?.is_some())
}

/// Completes a sign-in by a code of the second factor, or by a recovery code.
pub async fn enter_code(app: &App, token: &str, code: &str, from: &SignInOrigin) -> Result<SignIn> {
    let Some(half) = half_session(app, token).await? else { return Ok(SignIn::Wrong) };
    let found = operators::find(app.db.reader(), &half.operator_id).await?;
    let Some(operator) = found.filter(|operator| operator.disabled_at.is_none()) else {
        return Ok(SignIn::Wrong);
    };
    let subject = half.subject.clone().unwrap_or_else(|| tries::of_address(app, &operator.email_key));
    let is_noted = match tries::begin(app, &subject).await? {
        TryTurn::Wait(seconds) => return Ok(SignIn::Wait(seconds)),
        TryTurn::Allowed { is_noted } => is_noted,
    };
    let Some(proof) = second_factor::prove(app, &operator, code)? else {
        count_wrong_code(app, &half.hash).await?;
        if is_noted {
            note_failure(app, &operator, from).await?;
        }
        return Ok(SignIn::Wrong);
    };
    let start = sessions::start(app, &operator.id, proof.method(), from);
    let completion = Completion::new(app, &operator, subject, start, from);
    complete(app, completion, Some((proof, half.hash))).await
}

/// Counts a wrong code; after too many the half session ends.
async fn count_wrong_code(app: &App, hash: &str) -> Result<()> {
    let hash = hash.to_owned();
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let wrong = operator_sessions::count_wrong_code(tx, &hash).await?;
                if wrong.is_some_and(|wrong| wrong >= MAX_WRONG_CODES) {
                    operator_sessions::remove(tx, &hash).await?;
                }
                Ok(())
            })
        })
        .await
}

/// A proof of who an operator is, of somebody who is signed in.
#[derive(Clone)]
enum Confirmation {
    Password,
    Factor(FactorProof),
}

/// Proves again who the operator of a session is, by their password or a code. After that the session is fresh; `sessions::renew` gives it
/// another cookie. Returns false when the text is wrong.
///
/// # Errors
/// `rate_limited` after too many tries; `overloaded`; `not_found` when the operator may not sign in any more.
pub async fn confirm(app: &App, session: &Session, password_or_code: &str) -> Result<bool> {
    passwords::check_length(password_or_code)?;
    let found = operators::find(app.db.reader(), &session.operator_id).await?;
    let operator = found.filter(|operator| operator.disabled_at.is_none());
    let operator = Arc::new(operator.ok_or_else(|| not_found("operator"))?);
    // What cannot be looked at does not count as a try.
    let room = match second_factor::is_code(password_or_code) {
        true => None,
        false => Some(passwords::room_or_refuse(app)?),
    };
    let subject = tries::of_confirmation(app, &operator.id);
    if let TryTurn::Wait(seconds) = tries::begin(app, &subject).await? {
        let message = format!("too many tries: wait {seconds} seconds");
        return Err(Refusal::new(Code::RateLimited, message).retry_after_s(seconds).into());
    }
    let checked = check(app, &operator, password_or_code, room.as_ref()).await?;
    drop(room);
    let Some(confirmation) = checked else { return Ok(false) };
    let (session_id, now) = (session.id.clone(), app.now());
    let confirmed: Result<bool> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                if let Confirmation::Factor(proof) = &confirmation
                    && !proof.spend(tx, &operator.id).await?
                {
                    return Ok(false);
                }
                operator_sessions::set_fresh(tx, &session_id, now).await?;
                sign_in_failures::remove(tx, &subject).await?;
                Ok(true)
            })
        })
        .await;
    app.operator_sessions.clear();
    confirmed
}

/// The proof that a text is; without room to hash it, only a code is one.
async fn check(
    app: &App,
    operator: &Operator,
    text: &str,
    room: Option<&HashingRoom>,
) -> Result<Option<Confirmation>> {
    if let Some(proof) = second_factor::prove(app, operator, text)? {
        return Ok(Some(Confirmation::Factor(proof)));
    }
    let Some(room) = room else { return Ok(None) };
    let hash = operator.password_hash.as_deref();
    let is_right = passwords::verify(app, room, &operator.email_key, text, hash).await?;
    Ok(is_right.then_some(Confirmation::Password))
}
