//! `/sandbox/v1/me`, `/sandbox/v1/calendars` and `/sandbox/reset`.

use axum::body::Bytes;
use axum::extract::{Path, State as AxumState};
use axum::http::header::ETAG;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Value, json};

use crate::sandbox_provider::Caller;
use crate::sandbox_provider::events::folder;
use crate::sandbox_provider::problem::Problem;
use crate::sandbox_provider::receipts::check_etag;
use crate::sandbox_provider::seed;
use crate::sandbox_provider::state::{Folder, MAX_CALENDARS, Op};
use crate::sandbox_provider::times::instant;
use crate::sandbox_provider::types::{Access, Calendar, VideoService};
use crate::sandbox_provider::write::{self, View, client_id, etag, object};

/// `GET /sandbox/v1/me`
pub async fn me((AxumState(sandbox), Extension(login)): Caller) -> Result<Json<Value>, Problem> {
    let document = sandbox
        .read(|state| {
            let account =
                state.account(&login.mail).ok_or_else(|| Problem::not_found("account", &login.mail))?;
            Ok(json!({
                "id": format!("acc_{}", account.mail.split('@').next().unwrap_or_default()),
                "mail": account.mail,
                "name": account.name,
                "zone": account.zone,
                "products": ["calendar"],
                "grants": ["calendar.read", "calendar.write"],
            }))
        })
        .await?;
    Ok(Json(document))
}

fn show(mail: &str, folder: &Folder) -> (Value, String) {
    let view = View { mail, calendar: &folder.calendar, seq: folder.seq };
    (view.calendar(), etag(folder.seq))
}

fn answer(status: StatusCode, (document, etag): (Value, String)) -> Response {
    (status, [(ETAG, etag)], Json(document)).into_response()
}

/// `GET /sandbox/v1/calendars`: all of them, the main one first.
pub async fn list((AxumState(sandbox), Extension(login)): Caller) -> Result<Json<Value>, Problem> {
    let calendars = sandbox
        .read(|state| {
            let mut folders: Vec<&Folder> =
                state.account(&login.mail).map(|a| a.calendars.values().collect()).unwrap_or_default();
            folders.sort_by_key(|f| !f.calendar.main);
            Ok(folders.iter().map(|f| show(&login.mail, f).0).collect::<Vec<_>>())
        })
        .await?;
    Ok(Json(json!({ "calendars": calendars })))
}

/// `GET /sandbox/v1/calendars/{calendar}`
pub async fn get(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let shown = sandbox.read(|state| Ok(show(&login.mail, folder(state, &login.mail, &id)?))).await?;
    Ok(answer(StatusCode::OK, shown))
}

/// `POST /sandbox/v1/calendars`
pub async fn create(
    (AxumState(sandbox), Extension(login)): Caller,
    body: Bytes,
) -> Result<Response, Problem> {
    let patch = object(&body)?;
    let id = match client_id(&patch)? {
        Some(id) => id,
        None => sandbox.new_id()?,
    };
    let now = instant(sandbox.now_ms());
    let shown = sandbox
        .write(|state| {
            let account = state.account(&login.mail);
            if let Some(folder) = account.and_then(|a| a.calendars.get(&id)) {
                let message = format!("there is a calendar {id:?} already");
                let exists = Problem::new(StatusCode::CONFLICT, "exists", message);
                return Err(Problem { etag: Some(etag(folder.seq)), ..exists });
            }
            if account.is_some_and(|a| a.calendars.len() >= MAX_CALENDARS) {
                return Err(Problem::full(format!("an account has at most {MAX_CALENDARS} calendars")));
            }
            let base = Calendar {
                id: id.clone(),
                zone: account.map_or_else(|| "UTC".to_owned(), |a| a.zone.clone()),
                mine: true,
                access: Access::Owner,
                video_services: vec![VideoService::SandboxMeet],
                created_at: now.clone(),
                updated_at: now,
                ..Calendar::default()
            };
            let calendar = write::calendar(&base, &patch)?;
            state.put_calendar(&login.mail, calendar);
            Ok(show(&login.mail, folder(state, &login.mail, &id)?))
        })
        .await?;
    Ok(answer(StatusCode::CREATED, shown))
}

/// `PATCH /sandbox/v1/calendars/{calendar}`
pub async fn update(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let patch = object(&body)?;
    let now_ms = sandbox.now_ms();
    let now = instant(now_ms);
    let shown = sandbox
        .write(|state| {
            let old = folder(state, &login.mail, &id)?;
            check_etag(&headers, old.seq)?;
            if old.calendar.locked {
                return Err(Problem::forbidden("locked", "the calendar is read-only"));
            }
            let calendar = Calendar { updated_at: now, ..write::calendar(&old.calendar, &patch)? };
            // Days begin at another moment in another zone: those events have changed for whoever follows.
            let is_moved = calendar.zone != old.calendar.zone;
            let moved: Vec<_> = old.live().filter(|e| is_moved && e.is_all_day()).cloned().collect();
            state.put_calendar(&login.mail, calendar);
            for event in moved {
                state.put_event(&login.mail, &id, now_ms, event);
            }
            Ok(show(&login.mail, folder(state, &login.mail, &id)?))
        })
        .await?;
    Ok(answer(StatusCode::OK, shown))
}

/// `DELETE /sandbox/v1/calendars/{calendar}`, with its events.
pub async fn delete(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    sandbox
        .write(|state| {
            let old = folder(state, &login.mail, &id)?;
            check_etag(&headers, old.seq)?;
            if old.calendar.main {
                return Err(Problem::forbidden("mainCalendar", "the main calendar cannot be deleted"));
            }
            state.commit(Op::DropCalendar { mail: login.mail.clone(), id: id.clone() });
            Ok(())
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /sandbox/reset`: the account as it was in the beginning. Its sync tokens expire.
pub async fn reset((AxumState(sandbox), Extension(login)): Caller) -> Result<StatusCode, Problem> {
    let now_ms = sandbox.now_ms();
    sandbox
        .write(|state| {
            state.accounts.get(&login.mail).ok_or_else(|| Problem::not_found("account", &login.mail))?;
            seed::reset(state, &login.mail, now_ms);
            Ok(())
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
