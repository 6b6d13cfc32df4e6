//! The uses of an identity at the OpenID provider: signing in, accepting an invitation, proving again who one is; and how an operator gets one and
//! gives it up. A matching email address alone neither makes an operator nor signs one in.

use base::error::{Code, Error, Result, not_found, refuse};
use storage::audit_log::AuditEntry;
use storage::operator_identities::{self, OperatorIdentity};
use storage::operator_links;
use storage::operator_sessions;
use storage::operators::{self, Operator};
use storage::{audit_log, sign_in_failures};

use crate::app::App;
use crate::manage::actor::Actor;
use crate::manage::operators::acceptance::{self, NewOperator};
use crate::manage::operators::address::address_key;
use crate::manage::operators::links::{self, LinkKind};
use crate::manage::operators::oidc::authorization::OidcProof;
use crate::manage::operators::oidc::{LEEWAY_MS, OidcFault};
use crate::manage::operators::sessions::{self, NewSession, Session, SessionStart, SignInOrigin};
use crate::manage::operators::tries::{self, TryTurn};
use crate::manage::operators::{account, sign_in};

/// The proof that a session by the provider begins with.
const METHOD: &str = "oidc";

/// The ways in which an operator can sign in.
#[derive(Clone, Debug)]
pub struct WaysIn {
    pub identity: Option<OperatorIdentity>,
    pub has_password: bool,
}

/// The ways in which the operator of a session can sign in.
///
/// # Errors
/// `not_found` when they may not sign in any more.
pub async fn ways_in(app: &App, session: &Session) -> Result<WaysIn> {
    let operator = account::load_own(app, session).await?;
    let identity = operator_identities::find(app.db.reader(), &operator.id).await?;
    Ok(WaysIn { identity, has_password: operator.password_hash.is_some() })
}

/// A session of an operator that the provider vouches for. It is fresh as long as their proof to the provider is.
fn start(app: &App, operator_id: &str, proof: &OidcProof, from: &SignInOrigin) -> SessionStart {
    let SessionStart { new, mut row } = sessions::start(app, operator_id, METHOD, from);
    row.fresh_at = proof.claims.proved_at().unwrap_or(0).min(row.created_at);
    SessionStart { new, row }
}

/// The entry of a session that begins.
fn signed_in(app: &App, operator: &Operator, from: &SignInOrigin) -> AuditEntry {
    let mut entry = sign_in::entry(app, operator, "signed_in", from);
    entry.details = serde_json::json!({ "method": METHOD });
    entry
}

/// Signs in by an identity. There is no second factor beside it: that is the provider's.
///
/// # Errors
/// Database errors.
pub async fn sign_in(
    app: &App,
    proof: &OidcProof,
    from: &SignInOrigin,
) -> Result<Result<NewSession, OidcFault>> {
    let subject = tries::of_identity(app, &proof.identity);
    let is_noted = match tries::begin(app, &subject).await? {
        TryTurn::Wait(seconds) => return Ok(Err(OidcFault::Wait(seconds))),
        TryTurn::Allowed { is_noted } => is_noted,
    };
    let found = operator_identities::find_operator(app.db.reader(), &proof.identity).await?;
    let Some(operator) = found else { return Ok(Err(OidcFault::Unknown)) };
    if operator.disabled_at.is_some() {
        if is_noted {
            sign_in::note_failure(app, &operator, from).await?;
        }
        return Ok(Err(OidcFault::Unknown));
    }
    let SessionStart { new, row } = start(app, &operator.id, proof, from);
    let (entry, identity) = (signed_in(app, &operator, from), proof.identity.clone());
    let begun: Result<bool> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let locked = operators::lock(tx, &operator.id).await?;
                let has_it = operator_identities::find(&mut *tx, &operator.id).await? == Some(identity);
                if !has_it || locked.is_none_or(|operator| operator.disabled_at.is_some()) {
                    return Ok(false);
                }
                sessions::write(tx, &row).await?;
                sign_in_failures::remove(tx, &subject).await?;
                audit_log::insert(tx, &entry).await?;
                Ok(true)
            })
        })
        .await;
    Ok(if begun? { Ok(new) } else { Err(OidcFault::Unknown) })
}

fn taken_error() -> Error {
    refuse(Code::InvalidState, "another operator has the identity, or this one has another identity")
}

/// Accepts an invitation by an identity, in place of a password: the provider has to have verified the address that is invited.
///
/// # Errors
/// Database errors.
pub async fn join(
    app: &App,
    token: &str,
    proof: &OidcProof,
    language: &str,
    from: &SignInOrigin,
) -> Result<Result<NewSession, OidcFault>> {
    let found = links::open_row(app, token).await?;
    let Some(link) = found.filter(|link| link.kind == LinkKind::Invite.as_str()) else {
        return Ok(Err(OidcFault::Gone));
    };
    let verified = proof.claims.verified_email().map(address_key);
    let email = link.email.clone().filter(|_| verified.is_some() && verified == link.email_key);
    let Some(email) = email else { return Ok(Err(OidcFault::OtherAddress)) };
    let operator = new_operator(app, proof, email, language);
    let SessionStart { new, row } = start(app, &operator.id, proof, from);
    let entry = acceptance::entry(app, &operator, "operator_joined", from);
    let (hash, identity, now) = (link.hash, proof.identity.clone(), app.now());
    let joined: Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                operators::lock_all(tx).await?;
                let taken_link = operator_links::take(tx, &hash).await?.filter(|link| link.expires_at > now);
                let link = taken_link.ok_or_else(|| not_found("link"))?;
                acceptance::still_given(tx, &link).await?;
                let id = operator.id.clone();
                acceptance::write_operator(tx, operator, &link).await?;
                if !operator_identities::insert(tx, &id, &identity, now).await? {
                    return Err(taken_error());
                }
                sessions::write(tx, &row).await?;
                Ok(audit_log::insert(tx, &entry).await?)
            })
        })
        .await;
    app.operator_sessions.clear();
    match joined {
        Ok(()) => Ok(Ok(new)),
        Err(e) => fault_of(e),
    }
}

/// The operator of an invitation, without a password. Their name is that at the provider, if it is one.
fn new_operator(app: &App, proof: &OidcProof, email: String, language: &str) -> Operator {
    let at_provider = proof.claims.name().filter(|name| acceptance::check_name(name).is_ok());
    let of_address = email.rsplit_once('@').map_or(email.as_str(), |(name, _)| name);
    let new = NewOperator {
        email: None,
        name: at_provider.unwrap_or(of_address).to_owned(),
        password: zeroize::Zeroizing::new(String::new()),
        language: Some(language.to_owned()),
    };
    acceptance::operator(app, &new, email, None)
}

/// The fault that an error of a transaction stands for.
fn fault_of<T>(error: Error) -> Result<Result<T, OidcFault>> {
    match error.code() {
        Some(Code::NotFound) => Ok(Err(OidcFault::Gone)),
        Some(Code::AlreadyExists) => Ok(Err(OidcFault::KnownAddress)),
        Some(Code::InvalidState) => Ok(Err(OidcFault::Taken)),
        _ => Err(error),
    }
}

/// Gives the operator of a session this identity. The form with which they left for the provider asked for a fresh session.
///
/// # Errors
/// `not_found` when they may not sign in any more.
pub async fn connect(
    app: &App,
    actor: &Actor,
    session: &Session,
    proof: &OidcProof,
) -> Result<Result<(), OidcFault>> {
    let mut entry = account::entry(app, actor, session, "identity_connected");
    entry.details = serde_json::json!({ "issuer": proof.identity.issuer });
    let (id, identity, now) = (session.operator_id.clone(), proof.identity.clone(), app.now());
    let connected: Result<bool> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                operators::lock_all(tx).await?;
                account::own_locked(tx, &id).await?;
                if !operator_identities::insert(tx, &id, &identity, now).await? {
                    return Ok(false);
                }
                audit_log::insert(tx, &entry).await?;
                Ok(true)
            })
        })
        .await;
    app.operator_sessions.clear();
    Ok(if connected? { Ok(()) } else { Err(OidcFault::Taken) })
}

/// Takes the identity of the operator of a session away, and ends their other sessions.
///
/// # Errors
/// `reauthentication_required`; `not_found` without an identity; `invalid_state` without a password: it is the last way in.
pub async fn disconnect(app: &App, actor: &Actor, session: &Session) -> Result<()> {
    actor.check_fresh(app.now())?;
    let entry = account::entry(app, actor, session, "identity_disconnected");
    let (id, session_id, now) = (session.operator_id.clone(), session.id.clone(), app.now());
    let removed: Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let operator = account::own_locked(tx, &id).await?;
                if operator.password_hash.is_none() {
                    return Err(refuse(Code::InvalidState, "it is the last way in: set a password first"));
                }
                if !operator_identities::remove(tx, &id, now).await? {
                    return Err(not_found("identity"));
                }
                sessions::end_all(tx, &id, Some(&session_id), now).await?;
                Ok(audit_log::insert(tx, &entry).await?)
            })
        })
        .await;
    app.operator_sessions.clear();
    removed
}

/// Proves again who the operator of a session is. After that the session is fresh; `sessions::renew` gives it another cookie.
///
/// # Errors
/// `not_found` when they may not sign in any more.
pub async fn confirm(app: &App, session: &Session, proof: &OidcProof) -> Result<Result<(), OidcFault>> {
    let ways_in = ways_in(app, session).await?;
    if ways_in.identity.as_ref() != Some(&proof.identity) {
        return Ok(Err(OidcFault::OtherPerson));
    }
    // A provider may ignore `max_age`, and vouch for a sign-in of long ago.
    let proved_at = proof.claims.proved_at();
    if proved_at.is_none_or(|at| at.saturating_add(LEEWAY_MS) < proof.left_at) {
        return Ok(Err(OidcFault::NotFresh));
    }
    let (session_id, now) = (session.id.clone(), app.now());
    let confirmed: Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move { Ok(operator_sessions::set_fresh(tx, &session_id, now).await?) })
        })
        .await;
    app.operator_sessions.clear();
    confirmed?;
    Ok(Ok(()))
}
