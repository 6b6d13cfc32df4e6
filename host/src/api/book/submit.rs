//! Books what a form asks for, once for each form, and says in the visitor's language what stands in the way.

use axum::response::Response;
use base::error::Code;
use http::{StatusCode, header};
use model::Instant;
use model::scheduling::booking::NewBooking;
use serde_json::Value;
use storage::lane::Lane;

use crate::api::book::choice::Choice;
use crate::api::book::details::{self, Fault, Sheet};
use crate::api::book::done;
use crate::api::book::form::{self, Fields};
use crate::api::book::free;
use crate::api::book::layout::Page;
use crate::api::book::month;
use crate::api::book::subject::{Subject, Visit};
use crate::api::book::texts::texts;
use crate::api::error;
use crate::api::fingerprint::of_parts;
use crate::api::idempotency::{self, Next};
use crate::api::reply;
use crate::app::App;
use crate::bookings::create;

/// Largest answer that is read, in bytes: more than any booking has.
const MAX_ANSWER: usize = 8 << 20;

/// What a form came to.
pub enum Outcome {
    /// It was booked: the address of the booking, relative to `/book/`.
    Booked(String),
    /// Nothing was done: where the browser goes, relative to the form's address.
    Back(String),
    /// The form again, with what is wrong.
    Shows(Box<Page>),
}

/// Handles a form.
pub async fn send(app: &App, visit: &Visit, subject: &Subject, fields: &Fields) -> Outcome {
    if !fields.first(form::TRAP).is_empty() {
        return Outcome::Back(visit.choice.standing().link());
    }
    let Ok(start) = fields.first(form::START).parse::<Instant>() else {
        let page = month::page(app, visit, subject).await;
        return Outcome::Shows(Box::new(page.with_status(StatusCode::BAD_REQUEST)));
    };
    let asked = form::new_booking(subject, start, fields);
    let nonce = form::nonce(app, subject, fields.first(form::TOKEN));
    let response = match (nonce, asked) {
        (Some(nonce), Ok(new)) => {
            let lane = Lane::requests().of(&subject.asker.tenant.application_id);
            lane.scope(book(app, subject, &nonce, new)).await
        }
        (_, Err(e)) => error::response(e, &visit.request_id),
        (None, Ok(_)) => {
            let fault = at(None, texts(visit.language).form_expired, StatusCode::BAD_REQUEST);
            return again(app, visit, subject, (start, fields), fault).await;
        }
    };
    let retry_after = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after_s = retry_after.and_then(|seconds| seconds.parse().ok());
    let is_made = response.status() == StatusCode::CREATED;
    let body = axum::body::to_bytes(response.into_body(), MAX_ANSWER).await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    if let Some(id) = body["id"].as_str().filter(|_| is_made) {
        let token = done::token(app, &subject.asker.tenant.application_id, id);
        let lang = Choice { language: visit.choice.language, ..Choice::default() }.link();
        let lang = lang.strip_prefix('?').filter(|text| !text.is_empty()).map(|text| format!("&{text}"));
        return Outcome::Booked(format!("b/{token}?new=1{}", lang.unwrap_or_default()));
    }
    let refusal = &body["error"];
    if refusal["code"] == Code::NotFound.as_str() {
        return Outcome::Shows(Box::new(Page::not_found(visit.language)));
    }
    let mut fault = fault(visit, refusal["code"].as_str().unwrap_or_default(), refusal["param"].as_str());
    fault.retry_after_s = retry_after_s;
    again(app, visit, subject, (start, fields), fault).await
}

/// Makes the booking as the API's operation does, once for each form: a repeated one has the first one's answer.
async fn book(app: &App, subject: &Subject, nonce: &str, new: NewBooking) -> Response {
    let request_id = subject.asker.request_id.clone();
    let scope = of_parts(&["/book", &new.event_type_id, nonce]);
    let fingerprint = of_parts(&[&storage::json_text(&new)]);
    let tenant = &subject.asker.tenant;
    let attempt = match idempotency::claim_scope(app, &tenant.application_id, scope, fingerprint).await {
        Err(e) => return error::response(e, &request_id),
        Ok(Next::Replay(response)) => return *response,
        Ok(Next::Run(attempt)) => attempt,
    };
    // The work goes on when the browser hangs up.
    let (app, asker, id) = (app.clone(), subject.asker.clone(), request_id.clone());
    let work = Lane::current().spawn(async move {
        let response = match create::create(&app, (&asker, false), &new, &[], &attempt).await {
            Ok(answer) => reply::response(answer),
            Err(e) => error::response(e, &id),
        };
        idempotency::finish(&app, &attempt, response).await
    });
    let panicked = |_| error::response(anyhow::anyhow!("making a booking panicked").into(), &request_id);
    work.await.unwrap_or_else(panicked)
}

/// The form again with what was filled in, and other times where this one is taken.
async fn again(
    app: &App,
    visit: &Visit,
    subject: &Subject,
    (start, fields): (Instant, &Fields),
    fault: Fault,
) -> Outcome {
    let is_taken = fault.control.as_deref() == Some(form::START);
    let others = if is_taken { free::nearest(app, subject, start).await } else { Vec::new() };
    // One that is still being worked on must be recognized when it is sent again.
    let kept = fault.keeps_token.then(|| fields.first(form::TOKEN).to_owned());
    let token = kept.unwrap_or_else(|| form::token(app, subject));
    let sheet = Sheet { start, fields, token, fault: Some(fault), others };
    Outcome::Shows(Box::new(details::page(visit, subject, &sheet)))
}

fn at(control: Option<&str>, text: &'static str, status: StatusCode) -> Fault {
    Fault { control: control.map(str::to_owned), text, status, retry_after_s: None, keeps_token: false }
}

/// What a refusal of the API says to a visitor.
pub fn fault(visit: &Visit, code: &str, param: Option<&str>) -> Fault {
    let texts = texts(visit.language);
    let is = |known: Code| code == known.as_str();
    if is(Code::SlotUnavailable) {
        return at(Some(form::START), texts.taken, StatusCode::CONFLICT);
    }
    if is(Code::BookingLimitReached) {
        return at(Some(form::EMAIL), texts.limit_reached, StatusCode::CONFLICT);
    }
    if is(Code::IdempotencyKeyReused) {
        return at(None, texts.sent_before, StatusCode::CONFLICT);
    }
    if is(Code::IdempotencyInProgress) {
        return Fault { keeps_token: true, ..at(None, texts.in_progress, StatusCode::CONFLICT) };
    }
    if is(Code::AvailabilityUnknown) || is(Code::Overloaded) {
        let fault = at(None, texts.availability_unknown, StatusCode::SERVICE_UNAVAILABLE);
        return Fault { keeps_token: true, ..fault };
    }
    let Some(param) = param else {
        return Fault { keeps_token: true, ..at(None, texts.failed, StatusCode::INTERNAL_SERVER_ERROR) };
    };
    let is_missing = is(Code::MissingField);
    let (control, text) = match param {
        "inviteeEmail" => (form::EMAIL.to_owned(), texts.bad_email),
        "inviteeName" => (form::NAME.to_owned(), texts.bad_value),
        "inviteePhone" => (form::PHONE.to_owned(), texts.bad_phone),
        "location" => (form::PLACE.to_owned(), texts.bad_value),
        "start" => (form::START.to_owned(), texts.taken),
        _ => match param.strip_prefix("answers.") {
            Some(key) => (format!("q.{key}"), texts.bad_value),
            None => (form::NOTES.to_owned(), texts.bad_value),
        },
    };
    let text = if is_missing { texts.needed } else { text };
    at(Some(&control), text, StatusCode::BAD_REQUEST)
}
