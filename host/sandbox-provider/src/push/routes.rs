//! `/sandbox/v1/watches`: watches are created, renewed, listed and deleted.

use axum::body::Bytes;
use axum::extract::{Path, Query, State as AxumState};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::auth::Login;
use crate::authorization_server::scopes::is_granted;
use crate::calendar::types::Event;
use crate::contacts::Card;
use crate::kind::Kind;
use crate::ops::Op;
use crate::patch::{object, read};
use crate::problem::Problem;
use crate::push::watches::{Watch, WatchChange, WatchTarget};
use crate::sandbox::Caller;
use crate::state::State;
use crate::store::folder;
use crate::tasks::Todo;
use crate::times::{instant, parse_instant};

/// Watches of one account, and of all accounts.
const MAX_WATCHES_PER_ACCOUNT: usize = 100;
const MAX_WATCHES: usize = 10_000;
/// Maximum and default duration of a watch.
const MAX_LIFE_MS: i64 = 7 * 24 * 3_600_000;
const LIFE_MS: i64 = 24 * 3_600_000;
/// The longest id and the longest secret, in bytes.
const MAX_ID_BYTES: usize = 64;
const MAX_SECRET_BYTES: usize = 256;

/// Body of `POST /sandbox/v1/watches`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct NewWatch {
    id: String,
    /// The watched path, as `WatchTarget::parse` reads it.
    path: String,
    address: String,
    secret: String,
    until: Option<String>,
}

/// Body of `POST …/renew`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Renewal {
    until: Option<String>,
    /// The new address of notifications; none: unchanged.
    address: Option<String>,
}

/// The query string of a deletion.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WatchDeleteQuery {
    /// The watched path: a watch of another path is not deleted.
    path: Option<String>,
}

impl NewWatch {
    fn checked(self, login: &Login, now_ms: i64) -> Result<Watch, Problem> {
        let is_id = |b: u8| b.is_ascii_alphanumeric() || b"_-".contains(&b);
        if !(1..=MAX_ID_BYTES).contains(&self.id.len()) || !self.id.bytes().all(is_id) {
            let message = format!("id must be 1 to {MAX_ID_BYTES} characters of A-Z, a-z, 0-9, _ and -");
            return Err(Problem::field("id", message));
        }
        let is_secret = self.secret.bytes().all(|b| b.is_ascii_graphic());
        if !(1..=MAX_SECRET_BYTES).contains(&self.secret.len()) || !is_secret {
            let message = format!("secret must be 1 to {MAX_SECRET_BYTES} visible characters of ASCII");
            return Err(Problem::field("secret", message));
        }
        let watched = WatchTarget::parse(&self.path).ok_or_else(|| {
            let message = "path must be mail, calendars, books, lists, calendars/{calendar}/events, \
                           books/{book}/cards or lists/{list}/todos";
            Problem::field("path", message)
        })?;
        check_scope(login, watched.kind)?;
        let until_ms = until(self.until.as_deref(), now_ms)?;
        let (id, address, secret) = (self.id, self.address, self.secret);
        Ok(Watch { id, mail: login.mail.clone(), watched, address, secret, until_ms })
    }
}

/// A token may watch the data that it may read.
fn check_scope(login: &Login, kind: Kind) -> Result<(), Problem> {
    let scope = match kind {
        Kind::Event => "calendar.read",
        Kind::Card => "people.read",
        Kind::Todo => "todo.read",
        Kind::Mail => "mail.read",
    };
    match &login.scopes {
        Some(scopes) if !is_granted(scopes, scope) => {
            let message = format!("the access token lacks the scope {scope}");
            Err(Problem::forbidden("insufficientScope", message))
        }
        _ => Ok(()),
    }
}

/// The end of a watch, from the time that the client requests.
fn until(text: Option<&str>, now_ms: i64) -> Result<i64, Problem> {
    let wanted = text.map_or(Ok(now_ms + LIFE_MS), |text| parse_instant(text, "until"))?;
    match wanted > now_ms {
        true => Ok(wanted.min(now_ms + MAX_LIFE_MS)),
        false => Err(Problem::field("until", format!("until must be later than now, {}", instant(now_ms)))),
    }
}

fn body<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    read(Value::Object(object(body)?))
}

fn render_watch(watch: &Watch) -> Value {
    let Watch { id, watched, address, until_ms, .. } = watch;
    json!({ "id": id, "path": watched.path(), "address": address, "until": instant(*until_ms) })
}

/// A watch of the account that has not expired.
fn find<'a>(state: &'a State, mail: &str, id: &str, now_ms: i64) -> Result<&'a Watch, Problem> {
    let found = state.watches.find(mail, id).filter(|watch| now_ms < watch.until_ms);
    found.ok_or_else(|| Problem::not_found("watch", id))
}

/// `POST /sandbox/v1/watches`: 201; the same request again: 200. A notification `sync` follows.
pub async fn create(
    (AxumState(sandbox), Extension(login)): Caller,
    bytes: Bytes,
) -> Result<Response, Problem> {
    let new: NewWatch = body(&bytes)?;
    sandbox.deliveries().check(&new.address)?;
    let now_ms = sandbox.now_ms();
    let watch = new.checked(&login, now_ms)?;
    let (is_new, watch) = sandbox.write(|state| begin(state, watch, now_ms)).await?;
    if is_new {
        sandbox.greet(watch.clone());
    }
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(render_watch(&watch))).into_response())
}

/// Refuses a folder that the account does not have.
fn check_there(state: &State, mail: &str, watched: &WatchTarget) -> Result<(), Problem> {
    match (watched.kind, watched.folder.as_deref()) {
        (Kind::Event, Some(id)) => folder::<Event>(state, mail, id).map(|_| ()),
        (Kind::Card, Some(id)) => folder::<Card>(state, mail, id).map(|_| ()),
        (Kind::Todo, Some(id)) => folder::<Todo>(state, mail, id).map(|_| ()),
        (Kind::Mail, _) | (_, None) => Ok(()),
    }
}

/// Returns whether the watch is new, and the stored watch.
fn begin(state: &mut State, watch: Watch, now_ms: i64) -> Result<(bool, Watch), Problem> {
    let mail = watch.mail.clone();
    check_there(state, &mail, &watch.watched)?;
    if let Ok(known) = find(state, &mail, &watch.id, now_ms) {
        let is_same =
            known.watched == watch.watched && known.address == watch.address && known.secret == watch.secret;
        return match is_same {
            true => Ok((false, known.clone())),
            false => Err(Problem::conflict("exists", format!("there is a watch {:?} already", watch.id))),
        };
    }
    let expired: Vec<String> =
        state.watches.of_account(&mail).filter(|w| w.until_ms <= now_ms).map(|w| w.id.clone()).collect();
    if state.watches.of_account(&mail).count() - expired.len() >= MAX_WATCHES_PER_ACCOUNT {
        return Err(Problem::full(format!("an account has at most {MAX_WATCHES_PER_ACCOUNT} watches")));
    }
    if state.watches.count() - expired.len() >= MAX_WATCHES {
        return Err(Problem::full(format!("the sandbox has at most {MAX_WATCHES} watches")));
    }
    for id in expired {
        state.commit(Op::Watch(WatchChange::Dropped { mail: mail.clone(), id }));
    }
    state.commit(Op::Watch(WatchChange::Put(watch.clone())));
    Ok((true, watch))
}

/// `POST /sandbox/v1/watches/{watch}/renew`. An expired watch does not exist any more.
pub async fn renew(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
    bytes: Bytes,
) -> Result<Json<Value>, Problem> {
    let renewal: Renewal = body(&bytes)?;
    if let Some(address) = &renewal.address {
        sandbox.deliveries().check(address)?;
    }
    let now_ms = sandbox.now_ms();
    let until_ms = until(renewal.until.as_deref(), now_ms)?;
    let watch = sandbox
        .write(|state| {
            let found = find(state, &login.mail, &id, now_ms)?;
            check_scope(&login, found.watched.kind)?;
            let address = renewal.address.unwrap_or_else(|| found.address.clone());
            let watch = Watch { until_ms, address, ..found.clone() };
            state.commit(Op::Watch(WatchChange::Put(watch.clone())));
            Ok(watch)
        })
        .await?;
    Ok(Json(render_watch(&watch)))
}

/// `DELETE /sandbox/v1/watches/{watch}`
pub async fn delete(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
    Query(query): Query<WatchDeleteQuery>,
) -> Result<StatusCode, Problem> {
    let now_ms = sandbox.now_ms();
    sandbox
        .write(|state| {
            let found = find(state, &login.mail, &id, now_ms)?;
            if query.path.is_some_and(|path| path != found.watched.path()) {
                return Err(Problem::not_found("watch", &id));
            }
            state.commit(Op::Watch(WatchChange::Dropped { mail: login.mail.clone(), id: id.clone() }));
            Ok(())
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /sandbox/v1/watches`: the account's watches that have not expired, without their secrets.
pub async fn list((AxumState(sandbox), Extension(login)): Caller) -> Result<Json<Value>, Problem> {
    let now_ms = sandbox.now_ms();
    let watches = sandbox
        .read(|state| {
            let present = state.watches.of_account(&login.mail).filter(|watch| now_ms < watch.until_ms);
            Ok(present.map(render_watch).collect::<Vec<_>>())
        })
        .await?;
    Ok(Json(json!({ "watches": watches })))
}
