//! `/sandbox/v1/books/{book}/cards` and below: create, read, change and delete persons and circles.

use std::sync::Arc;

use axum::extract::{Path, State as AxumState};
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Json};
use serde_json::{Value, json};

use crate::contacts::types::{Card, CardKind, CardOrigin};
use crate::contacts::write;
use crate::kind::Kind;
use crate::ops::Receipt;
use crate::patch::client_id;
use crate::problem::Problem;
use crate::receipts::{Change, exists, run, versioned};
use crate::record::{Folder, Record};
use crate::sandbox::Caller;
use crate::state::{MAX_RECORDS_PER_ACCOUNT, State};
use crate::store::{find, folder, open_folder};
use crate::times::instant;

fn receipt(status: u16, book: &str, card: Option<String>) -> Receipt {
    Receipt { status, kind: Kind::Card, folder: book.to_owned(), record: card, ..Receipt::default() }
}

/// `GET …/cards/{card}`
pub async fn get(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((book, id)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let (document, seq) = sandbox
        .read(|state| {
            let folder = folder::<Card>(state, &login.mail, &book)?;
            let (card, seq) = find(folder, &id)?;
            Ok((card.show(folder, &login.mail, seq), seq))
        })
        .await?;
    Ok(versioned(StatusCode::OK, document, Some(seq)))
}

/// `GET …/cards/{card}/picture`: the bytes of a stored picture.
pub async fn picture(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((book, id)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let card = sandbox.read(|state| Ok(find(folder::<Card>(state, &login.mail, &book)?, &id)?.0)).await?;
    let stored = card.picture.as_ref().filter(|picture| picture.bytes.is_some());
    let stored = stored.ok_or_else(|| Problem::not_found("stored picture of card", &id))?;
    Ok(Json(json!({
        "type": stored.media_type, "bytes": stored.bytes, "fingerprint": stored.fingerprint,
    })))
}

/// Refuses members of a circle that are not in the book, or are circles themselves.
fn check_members(book: &Folder<Card>, card: &Card) -> Result<(), Problem> {
    let is_person = |id: &String| book.record(id).is_some_and(|(card, _)| card.kind == CardKind::Person);
    match card.members.iter().position(|id| !is_person(id)) {
        Some(at) => Err(Problem {
            field: Some(format!("members[{at}]")),
            ..Problem::new(
                StatusCode::BAD_REQUEST,
                "notAMember",
                format!("{:?} is no person of this book", card.members[at]),
            )
        }),
        None => Ok(()),
    }
}

/// `POST …/cards`
pub async fn create(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(book): Path<String>,
    change: Change,
) -> Result<Response, Problem> {
    let fresh = sandbox.new_id()?;
    run(&sandbox, &login, change, |state, now_ms, body, _| {
        let folder = open_folder::<Card>(state, &login.mail, &book)?;
        let id = client_id(body)?.unwrap_or(fresh);
        if let Some((_, slot)) = folder.record(&id) {
            return Err(exists("a card", &id, slot.seq));
        }
        if !state.has_room(&login.mail, 1) {
            return Err(Problem::full(format!("an account holds at most {MAX_RECORDS_PER_ACCOUNT} records")));
        }
        let now = instant(now_ms);
        let base = Card {
            id: id.clone(),
            kind: write::kind(body)?,
            origin: CardOrigin::Entered,
            created_at: now.clone(),
            updated_at: now,
            ..Card::default()
        };
        let card = write::card(&base, body)?;
        check_members(folder, &card)?;
        state.put(&login.mail, &book, now_ms, Arc::new(card));
        Ok(receipt(201, &book, Some(id)))
    })
    .await
}

/// `PATCH …/cards/{card}`. A patch without effect makes no new version.
pub async fn update(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((book, id)): Path<(String, String)>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, body, change| {
        let folder = open_folder::<Card>(state, &login.mail, &book)?;
        let (old, seq) = find(folder, &id)?;
        change.check_etag(seq)?;
        check_built_in(&old)?;
        let card = write::card(&old, body)?;
        if card != *old {
            check_members(folder, &card)?;
            let card = Card { updated_at: instant(now_ms), ..card };
            state.put(&login.mail, &book, now_ms, Arc::new(card));
        }
        Ok(receipt(200, &book, Some(id.clone())))
    })
    .await
}

fn check_built_in(card: &Card) -> Result<(), Problem> {
    match card.built_in {
        true => Err(Problem::forbidden("locked", "the circle is the provider's own")),
        false => Ok(()),
    }
}

/// `DELETE …/cards/{card}`. Its circles change with it, and are the answer's `others`.
pub async fn delete(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((book, id)): Path<(String, String)>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, _, change| {
        let folder = open_folder::<Card>(state, &login.mail, &book)?;
        let (old, seq) = find(folder, &id)?;
        change.check_etag(seq)?;
        check_built_in(&old)?;
        state.remove::<Card>(&login.mail, &book, now_ms, &id);
        let others = leave_circles(state, &login.mail, &book, now_ms, &id)?;
        Ok(Receipt { others, ..receipt(200, &book, None) })
    })
    .await
}

/// Removes a deleted person from all circles. Returns the circles' ids.
fn leave_circles(
    state: &mut State,
    mail: &str,
    book: &str,
    now_ms: i64,
    id: &str,
) -> Result<Vec<String>, Problem> {
    let circles: Vec<Arc<Card>> = folder::<Card>(state, mail, book)?
        .live()
        .filter(|card| card.members.iter().any(|member| member == id))
        .cloned()
        .collect();
    for circle in &circles {
        let mut circle = Card { updated_at: instant(now_ms), ..(**circle).clone() };
        circle.members.retain(|member| member != id);
        state.put(mail, book, now_ms, Arc::new(circle));
    }
    Ok(circles.iter().map(|circle| circle.id.clone()).collect())
}
