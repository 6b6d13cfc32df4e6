//! Sessions of operators: 12 hours without a request or 7 days at most. The cookie is a random value of which an HMAC is stored, so that nobody
//! gets a session out of a copy of the database. Every host sees the end of a session within a second.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use anyhow::Context;
use base::error::{Result, not_found};
use base::ids::{self, Kind};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use storage::Tx;
use storage::operator_sessions::{self, HALF, OperatorSession};
use storage::operators::{self, Operator};

use crate::app::App;
use crate::app::signed_in_operator::SignedInOperator;
use crate::manage::acting::Target;
use crate::manage::actor::{Actor, ActorKind, Role};
use crate::manage::operators::devices;

/// Time without a request after which a session is over, ms.
pub const IDLE_MS: i64 = 12 * 3_600_000;
/// Time after which a session is over in any case, ms.
pub const MAX_AGE_MS: i64 = 7 * 24 * 3_600_000;
/// Time for the code of the second factor after the password, ms.
const HALF_MS: i64 = 10 * 60_000;
/// Time after which a request notes that the session is used, ms.
const NOTE_USE_AFTER_MS: i64 = 60_000;
/// Sessions of an operator; older ones end.
const MAX_SESSIONS: i64 = 50;
/// Letters of a cookie: 32 random bytes.
const COOKIE_CHARS: usize = 43;
/// Characters of a user agent that are kept.
const MAX_USER_AGENT: usize = 300;
/// Bytes of a notice for the next page.
const MAX_FLASH_BYTES: usize = 2_048;

/// The other end of a request.
#[derive(Clone, Debug)]
pub struct SignInOrigin {
    pub ip: IpAddr,
    pub user_agent: String,
}

/// A session that has just begun, or has got another cookie.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// The value of the session's cookie.
    pub cookie: String,
    /// The value of the device's cookie, which outlives the session.
    pub device_cookie: String,
    /// Milliseconds since 1970.
    pub ends_at: i64,
}

/// A session as pages see it.
#[derive(Clone, Debug)]
pub struct Session {
    pub id: String,
    pub operator_id: String,
    /// The proof that it began with.
    pub method: String,
    pub created_at: i64,
    pub seen_at: i64,
    /// The last proof of who the operator is, milliseconds since 1970.
    pub fresh_at: i64,
    pub ends_at: i64,
    /// The notice that the next page shows: see `take_flash`.
    pub flash: Option<Flash>,
    pub email: String,
    pub name: String,
    pub language: Option<String>,
    pub time_zone: Option<String>,
    pub theme: Option<String>,
    pub has_second_factor: bool,
}

/// A notice for the next page: a code and ids, never a text and never a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flash {
    pub code: String,
    #[serde(default)]
    pub ids: Vec<String>,
}

/// A session in the list of an operator's own.
#[derive(Clone, Debug)]
pub struct SessionView {
    pub id: String,
    pub ip: String,
    pub user_agent: String,
    pub created_at: i64,
    pub seen_at: i64,
    pub is_current: bool,
}

/// A session that is still to be written, with the cookie that leads to it.
pub struct SessionStart {
    pub new: NewSession,
    pub row: OperatorSession,
}

/// A new random value, of which `hash_of` is stored.
pub fn random_token(app: &App) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(app.entropy.bytes::<32>())
}

/// The stored form of a cookie's value.
pub fn hash_of(app: &App, cookie: &str) -> String {
    app.keyring.purpose("operator-session").tag(cookie.as_bytes())
}

/// Whether this can be a cookie's value at all; what cannot is not looked up.
fn is_plausible(cookie: &str) -> bool {
    cookie.len() == COOKIE_CHARS
        && cookie.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// A session of an operator that begins now; `method` is the proof.
pub fn start(app: &App, operator_id: &str, method: &str, from: &SignInOrigin) -> SessionStart {
    let (now, cookie) = (app.now(), random_token(app));
    let ends_at = now + if method == HALF { HALF_MS } else { MAX_AGE_MS };
    let user_agent = from.user_agent.chars().filter(|c| !c.is_control()).take(MAX_USER_AGENT).collect();
    let row = OperatorSession {
        hash: hash_of(app, &cookie),
        id: app.new_id(Kind::OperatorSession),
        operator_id: operator_id.to_owned(),
        method: method.to_owned(),
        created_at: now,
        seen_at: now,
        ends_at,
        fresh_at: now,
        ip: from.ip.to_string(),
        user_agent,
        flash: None,
        subject: None,
        wrong_codes: 0,
    };
    SessionStart {
        new: NewSession { cookie, device_cookie: devices::new_cookie(app, operator_id), ends_at },
        row,
    }
}

/// Writes a session that begins, and ends the operator's oldest ones where there are too many.
pub async fn write(tx: &mut Tx, row: &OperatorSession) -> anyhow::Result<()> {
    operator_sessions::insert(tx, row).await?;
    operator_sessions::trim(tx, &row.operator_id, row.is_half(), MAX_SESSIONS).await?;
    if !row.is_half() {
        operators::note_sign_in(tx, &row.operator_id, row.created_at, &row.ip).await?;
    }
    Ok(())
}

/// The operator and the session of a cookie. None: it leads to no session, or the session is over. The actor has no address yet.
pub async fn session(app: &App, cookie: &str) -> Result<Option<(Actor, Session)>> {
    let Some(found) = find_live(app, cookie).await? else { return Ok(None) };
    let now = app.now();
    if now - found.session.seen_at >= NOTE_USE_AFTER_MS {
        note_use(app, hash_of(app, cookie), now).await?;
    }
    Ok(Some((actor(&found), view(&found))))
}

/// The same without noting that the session is used: for what a page asks by itself, which keeps no session from its end.
pub async fn session_without_use(app: &App, cookie: &str) -> Result<Option<(Actor, Session)>> {
    let found = find_live(app, cookie).await?;
    Ok(found.map(|found| (actor(&found), view(&found))))
}

async fn find_live(app: &App, cookie: &str) -> Result<Option<Arc<SignedInOperator>>> {
    if !is_plausible(cookie) {
        return Ok(None);
    }
    let (hash, now) = (hash_of(app, cookie), app.now());
    let found = match app.operator_sessions.get(&hash, now) {
        Some(found) => found,
        None => {
            let Some(found) = load(app, &hash).await? else { return Ok(None) };
            let found = Arc::new(found);
            app.operator_sessions.put(hash, Arc::clone(&found), now);
            found
        }
    };
    Ok(Some(found).filter(|found| is_live(found, now)))
}

async fn load(app: &App, hash: &str) -> Result<Option<SignedInOperator>> {
    let reader = app.db.reader();
    let Some(session) = operator_sessions::find(reader, hash).await? else { return Ok(None) };
    let operator = operators::find(reader, &session.operator_id).await?;
    let operator = operator.context("a session has an operator that is not there")?;
    let roles = operators::roles(reader, &operator.id).await?;
    Ok(Some(SignedInOperator { session, operator, roles }))
}

fn is_live(found: &SignedInOperator, now: i64) -> bool {
    let SignedInOperator { session, operator, .. } = found;
    !session.is_half()
        && session.ends_at > now
        && now - session.seen_at < IDLE_MS
        && session.created_at >= operator.sessions_from
        && operator.disabled_at.is_none()
}

async fn note_use(app: &App, hash: String, now: i64) -> Result<()> {
    let noted: Result<()> = app
        .db
        .write(move |tx| Box::pin(async move { Ok(operator_sessions::note_use(tx, &hash, now).await?) }))
        .await;
    // What is remembered may be as old as a second, and has to be read again: kept on, it would outlive the end of the session elsewhere.
    app.operator_sessions.clear();
    match noted {
        // Pages are shown also while nothing can be written.
        Err(e) if e.is_outage() => Ok(()),
        noted => noted,
    }
}

/// The roles of an operator as they are stored, without words that this program does not know.
pub fn roles_of(stored: &BTreeMap<String, String>) -> BTreeMap<String, Role> {
    stored.iter().filter_map(|(id, role)| Some((id.clone(), Role::parse(role)?))).collect()
}

fn actor(found: &SignedInOperator) -> Actor {
    actor_of(&found.operator, &found.roles, found.session.fresh_at)
}

/// An operator with these stored roles as an actor, who proved at `fresh_at` who they are.
pub fn actor_of(operator: &Operator, roles: &BTreeMap<String, String>, fresh_at: i64) -> Actor {
    Actor {
        kind: ActorKind::Operator,
        id: operator.id.clone(),
        name: operator.name.clone(),
        ip: None,
        is_admin: operator.is_admin,
        roles: roles_of(roles),
        fresh_at,
    }
}

fn view(found: &SignedInOperator) -> Session {
    let SignedInOperator { session, operator, .. } = found;
    Session {
        id: session.id.clone(),
        operator_id: session.operator_id.clone(),
        method: session.method.clone(),
        created_at: session.created_at,
        seen_at: session.seen_at,
        fresh_at: session.fresh_at,
        ends_at: session.ends_at,
        flash: session.flash.as_deref().and_then(|flash| serde_json::from_str(flash).ok()),
        email: operator.email.clone(),
        name: operator.name.clone(),
        language: operator.language.clone(),
        time_zone: operator.time_zone.clone(),
        theme: operator.theme.clone(),
        has_second_factor: operator.totp_secret.is_some(),
    }
}

/// Ends the session of a cookie: signing out.
pub async fn end(app: &App, cookie: &str) -> Result<()> {
    if !is_plausible(cookie) {
        return Ok(());
    }
    let hash = hash_of(app, cookie);
    let ended: Result<bool> = app
        .db
        .write(move |tx| Box::pin(async move { Ok(operator_sessions::remove(tx, &hash).await?) }))
        .await;
    ended?;
    app.operator_sessions.clear();
    Ok(())
}

/// Ends the sessions of an operator but the one with the id `but`, half ones too. The caller empties the cache of this host after the commit.
pub async fn end_all(tx: &mut Tx, operator_id: &str, but: Option<&str>, now: i64) -> anyhow::Result<()> {
    operator_sessions::remove_all(tx, operator_id, but).await?;
    if but.is_none() {
        operators::set_sessions_from(tx, operator_id, now).await?;
    }
    Ok(())
}

/// Ends the operator's other sessions, with an entry in the audit log.
pub async fn end_others(app: &App, actor: &Actor, session: &Session) -> Result<()> {
    let target = Target::installation(session.operator_id.as_str());
    let entry = target.entry(actor, "sessions_ended", app.new_id(Kind::AuditEntry), app.now());
    let (operator_id, but, now) = (session.operator_id.clone(), session.id.clone(), app.now());
    let ended: Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                end_all(tx, &operator_id, Some(&but), now).await?;
                Ok(storage::audit_log::insert(tx, &entry).await?)
            })
        })
        .await;
    ended?;
    app.operator_sessions.clear();
    Ok(())
}

/// Ends one of the operator's own sessions.
///
/// # Errors
/// `not_found`.
pub async fn end_one(app: &App, session: &Session, id: &str) -> Result<()> {
    if !ids::is_plausible(id) {
        return Err(not_found("session"));
    }
    let (operator_id, id) = (session.operator_id.clone(), id.to_owned());
    let ended: Result<bool> = app
        .db
        .write(move |tx| {
            Box::pin(async move { Ok(operator_sessions::remove_one(tx, &operator_id, &id).await?) })
        })
        .await;
    app.operator_sessions.clear();
    if ended? { Ok(()) } else { Err(not_found("session")) }
}

/// The operator's own sessions that are not over, newest first.
pub async fn list(app: &App, session: &Session) -> Result<Vec<SessionView>> {
    let now = app.now();
    let all = operator_sessions::list(app.db.reader(), &session.operator_id, 2 * MAX_SESSIONS).await?;
    let live = all
        .into_iter()
        .filter(|row| !row.is_half() && row.ends_at > now && now.saturating_sub(row.seen_at) < IDLE_MS);
    let view = |row: OperatorSession| SessionView {
        is_current: row.id == session.id,
        id: row.id,
        ip: row.ip,
        user_agent: row.user_agent,
        created_at: row.created_at,
        seen_at: row.seen_at,
    };
    Ok(live.map(view).collect())
}

/// Gives a session another cookie, so that one that somebody planted or copied leads nowhere. The old one stops at once.
///
/// # Errors
/// `not_found` when the session is over.
pub async fn renew(app: &App, session: &Session) -> Result<NewSession> {
    let cookie = random_token(app);
    let (id, hash) = (session.id.clone(), hash_of(app, &cookie));
    let renewed: Result<bool> = app
        .db
        .write(move |tx| Box::pin(async move { Ok(operator_sessions::set_hash(tx, &id, &hash).await?) }))
        .await;
    app.operator_sessions.clear();
    match renewed? {
        true => Ok(NewSession {
            cookie,
            device_cookie: devices::new_cookie(app, &session.operator_id),
            ends_at: session.ends_at,
        }),
        false => Err(not_found("session")),
    }
}

/// Sets the notice that the next page shows.
pub async fn set_flash(app: &App, session: &Session, flash: &Flash) -> Result<()> {
    let (id, text) = (session.id.clone(), storage::json_text(flash));
    if text.len() > MAX_FLASH_BYTES {
        return Err(anyhow::anyhow!("a notice for the next page has {} bytes", text.len()).into());
    }
    let set: Result<()> = app
        .db
        .write(move |tx| Box::pin(async move { Ok(operator_sessions::set_flash(tx, &id, &text).await?) }))
        .await;
    app.operator_sessions.clear();
    set
}

/// The notice for this page, once: of two pages at the same time one gets it.
pub async fn take_flash(app: &App, session: &Session) -> Result<Option<Flash>> {
    let Some(flash) = session.flash.clone() else { return Ok(None) };
    let (id, text) = (session.id.clone(), storage::json_text(&flash));
    let taken: Result<bool> = app
        .db
        .write(move |tx| Box::pin(async move { Ok(operator_sessions::take_flash(tx, &id, &text).await?) }))
        .await;
    app.operator_sessions.clear();
    Ok(taken?.then_some(flash))
}
