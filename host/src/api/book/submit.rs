//! Makes the booking of a form, once for each form, and translates errors for the visitor.

use axum::response::Response;
use base::error::{Code, Detail, Result};
use http::{StatusCode, header};
use model::Instant;
use model::scheduling::booking::NewBooking;
use model::scheduling::event_type::{EventType, QuestionKind};
use serde_json::Value;
use service::app::App;
use service::app::stored_response::{IdempotentAttempt, StoredResponse};
use service::bookings::change::Viewer;
use service::bookings::create::{self, Booker};
use service::connections::request_context::RequestContext;
use service::locale::dates::Hours;
use storage::lane::Lane;

use crate::api::book::details::{self, BookingFormView, FormFault};
use crate::api::book::form::{self, Token};
use crate::api::book::form_controls::ControlFault;
use crate::api::book::layout::HtmlPage;
use crate::api::book::subject::{BookableEventType, PageRequest};
use crate::api::book::texts::outcomes::outcomes;
use crate::api::book::texts::texts;
use crate::api::book::verdict::{self, VerdictRequest};
use crate::api::book::{done, free, month};
use crate::api::response::{error, reply};
use crate::web::error::public;
use crate::web::fingerprint::of_parts;
use crate::web::form::FormFields;
use crate::web::idempotency::{self, ClaimResult};

/// Largest answer that is read, in bytes: more than any booking has.
const MAX_ANSWER: usize = 8 << 20;

/// The result of a form.
pub enum FormResult {
    /// It was done, or looks so to a program: the address of the booking, relative to `/book/`.
    Booked(String),
    /// The form again, with its errors.
    Shows(Box<HtmlPage>),
}

/// Handles a form.
pub async fn send(
    app: &App,
    visit: &PageRequest,
    subject: &BookableEventType,
    fields: &FormFields,
) -> FormResult {
    if !fields.first(form::TRAP).is_empty() {
        return FormResult::Booked(address(visit, &done::decoy_token(app)));
    }
    let token = form::read_token(app, subject, fields.first(form::TOKEN));
    if token == Token::Foreign && subject.bookable.is_over(app.now()) {
        return FormResult::Shows(Box::new(HtmlPage::not_found(visit.language)));
    }
    let Ok(start) = fields.first(form::START).parse::<Instant>() else {
        let page = month::page(app, visit, subject).await;
        return FormResult::Shows(Box::new(page.with_status(StatusCode::BAD_REQUEST)));
    };
    let (new, mistakes) = match form::new_booking(subject, start, fields) {
        Ok(read) => read,
        Err(e) => {
            // Already logged.
            let refusal = public(e, &visit.request_id);
            return FormResult::Shows(Box::new(HtmlPage::broken(visit.language).for_refusal(&refusal)));
        }
    };
    let response = match token {
        Token::TooFast => {
            let fault = at(None, texts(visit.language).sent_too_fast, StatusCode::TOO_MANY_REQUESTS);
            let fault = FormFault { keeps_token: true, retry_after_s: Some(2), ..fault };
            return render_form_again(app, visit, subject, start, fields, fault).await;
        }
        _ if !mistakes.is_empty() => {
            let fault = of_mistakes(visit, &subject.bookable.body, &mistakes);
            return render_form_again(app, visit, subject, start, fields, fault).await;
        }
        Token::Good(nonce) => {
            let new = NewBooking {
                invitee_locale: Some(visit.language.tag().to_owned()),
                invitee_clock_hours: visit.choice.hours.map(Hours::number),
                ..new
            };
            let lane = Lane::requests().for_application(&subject.asker.tenant.application_id);
            lane.scope(book(app, visit, subject, fields, &nonce, new)).await
        }
        Token::TooOld | Token::Foreign => {
            let fault = at(None, texts(visit.language).form_expired, StatusCode::BAD_REQUEST);
            return render_form_again(app, visit, subject, start, fields, fault).await;
        }
    };
    let retry_after = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after_s = retry_after.and_then(|seconds| seconds.parse().ok());
    let is_made = response.status() == StatusCode::CREATED;
    let body = axum::body::to_bytes(response.into_body(), MAX_ANSWER).await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    if let Some(token) = body["manageToken"].as_str().filter(|_| is_made) {
        return FormResult::Booked(address(visit, token));
    }
    let refusal = &body["error"];
    if refusal["code"] == Code::NotFound.as_str() {
        return FormResult::Shows(Box::new(HtmlPage::not_found(visit.language)));
    }
    let mut fault = fault(visit, refusal["code"].as_str().unwrap_or_default(), refusal["param"].as_str());
    fault.retry_after_s = retry_after_s;
    render_form_again(app, visit, subject, start, fields, fault).await
}

/// The address of a booking's page, relative to `/book/`, for a visitor who comes from the form.
fn address(visit: &PageRequest, token: &str) -> String {
    let look = visit.choice.spoken().link();
    let look = look.strip_prefix('?').filter(|text| !text.is_empty()).map(|text| format!("&{text}"));
    format!("b/{token}?new=1{}", look.unwrap_or_default())
}

/// Makes the booking as the API's operation does, once for each form: a repeated one gets the first one's answer.
async fn book(
    app: &App,
    visit: &PageRequest,
    subject: &BookableEventType,
    fields: &FormFields,
    nonce: &str,
    new: NewBooking,
) -> Response {
    let request_id = subject.asker.request_id.clone();
    let scope = of_parts(&["/book", &new.event_type_id, nonce]);
    let fingerprint = of_parts(&[&storage::json_text(&new)]);
    let tenant = &subject.asker.tenant;
    let attempt = match idempotency::claim_scope(app, &tenant.application_id, scope, fingerprint).await {
        Err(e) => return error::response(e, &request_id),
        Ok(ClaimResult::Replay(answer)) => return reply::response(answer),
        Ok(ClaimResult::Run(attempt)) => attempt,
    };
    let question = VerdictRequest {
        address: visit.ip.to_string(),
        user_agent: visit.user_agent.clone(),
        slug: new.slug.clone().unwrap_or_default(),
        email_hash: verdict::hash_of(&new.invitee_email),
        form_token: fields.first(form::TOKEN).to_owned(),
    };
    // The work continues if the browser disconnects.
    let (app, asker, id) = (app.clone(), subject.asker.clone(), request_id.clone());
    let work = Lane::current().spawn(async move {
        let response = match make(&app, &asker, &question, &new, &attempt).await {
            Ok(answer) => reply::response(answer),
            Err(e) => error::response(e, &id),
        };
        idempotency::finish(&app, &attempt, response).await
    });
    let panicked = |_| error::response(anyhow::anyhow!("making a booking panicked").into(), &request_id);
    work.await.unwrap_or_else(panicked)
}

async fn make(
    app: &App,
    asker: &RequestContext,
    question: &VerdictRequest,
    new: &NewBooking,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    verdict::ask(app, question).await?;
    let viewer = Viewer { asker, sees_hosts: false, warnings: Vec::new() };
    create::create(app, &viewer, new, Booker::Page, attempt).await
}

/// The form again with its values, and other times if this one is taken.
async fn render_form_again(
    app: &App,
    visit: &PageRequest,
    subject: &BookableEventType,
    start: Instant,
    fields: &FormFields,
    fault: FormFault,
) -> FormResult {
    let others = if fault.is_of_time() { free::nearest(app, subject, start).await } else { Vec::new() };
    let sent = fields.first(form::TOKEN);
    // A form that is still being processed must be recognized when it is sent again.
    let kept = fault.keeps_token.then(|| sent.to_owned());
    let token = kept.unwrap_or_else(|| form::token_after(app, subject, sent));
    let sheet = BookingFormView { start, fields, token, fault: Some(fault), others };
    FormResult::Shows(Box::new(details::page(visit, subject, &sheet)))
}

fn at(control: Option<&str>, text: &'static str, status: StatusCode) -> FormFault {
    let faults = vec![ControlFault { control: control.map(str::to_owned), text }];
    FormFault { faults, status, retry_after_s: None, keeps_token: false }
}

/// The text of an API error for the visitor.
pub fn fault(visit: &PageRequest, code: &str, param: Option<&str>) -> FormFault {
    let texts = texts(visit.language);
    let is = |known: Code| code == known.as_str();
    if is(Code::SlotUnavailable) {
        return at(Some(form::START), texts.taken, StatusCode::CONFLICT);
    }
    if is(Code::BookingLimitReached) {
        return at(Some(form::EMAIL), texts.limit_reached, StatusCode::CONFLICT);
    }
    if is(Code::RateLimited) {
        return at(Some(form::EMAIL), texts.too_many_bookings, StatusCode::TOO_MANY_REQUESTS);
    }
    if is(Code::Forbidden) {
        return at(None, texts.refused, StatusCode::FORBIDDEN);
    }
    if is(Code::ProviderUnavailable) {
        return FormFault { keeps_token: true, ..at(None, texts.failed, StatusCode::SERVICE_UNAVAILABLE) };
    }
    if is(Code::IdempotencyKeyReused) {
        return at(None, texts.sent_before, StatusCode::CONFLICT);
    }
    if is(Code::IdempotencyInProgress) {
        return FormFault { keeps_token: true, ..at(None, texts.in_progress, StatusCode::CONFLICT) };
    }
    let passes = [Code::AvailabilityUnknown, Code::Overloaded, Code::DatabaseUnavailable, Code::StorageFull];
    if passes.into_iter().any(is) {
        let fault = at(None, texts.availability_unknown, StatusCode::SERVICE_UNAVAILABLE);
        return FormFault { keeps_token: true, ..fault };
    }
    let Some(param) = param else {
        return FormFault { keeps_token: true, ..at(None, texts.failed, StatusCode::INTERNAL_SERVER_ERROR) };
    };
    let ControlFault { control, text } = mistake(visit, None, param, is(Code::MissingField));
    at(control.as_deref(), text, StatusCode::BAD_REQUEST)
}

/// All errors of a form, each at its control, in the order of the form.
fn of_mistakes(visit: &PageRequest, event_type: &EventType, mistakes: &[Detail]) -> FormFault {
    let mut faults: Vec<ControlFault> = Vec::new();
    for detail in mistakes {
        let is_missing = detail.code == Code::MissingField;
        let fault = mistake(visit, Some(event_type), &detail.field, is_missing);
        if faults.iter().all(|other| other.control != fault.control) {
            faults.push(fault);
        }
    }
    let questions = event_type.questions.iter().map(form::field_of);
    let before = [form::NAME, form::EMAIL, form::PLACE, form::PHONE].map(str::to_owned);
    let order: Vec<String> = before.into_iter().chain(questions).collect();
    faults.sort_by_key(|fault| {
        order.iter().position(|id| Some(id) == fault.control.as_ref()).unwrap_or(order.len())
    });
    FormFault { faults, status: StatusCode::BAD_REQUEST, retry_after_s: None, keeps_token: false }
}

/// An error in a field of the API, at the control in which it was typed. Without the event type the kind of a question is unknown.
fn mistake(
    visit: &PageRequest,
    event_type: Option<&EventType>,
    param: &str,
    is_missing: bool,
) -> ControlFault {
    let texts = texts(visit.language);
    let (control, text) = match param {
        "inviteeEmail" => (form::EMAIL.to_owned(), texts.bad_email),
        "inviteeName" if is_missing => (form::NAME.to_owned(), texts.enter_name),
        "inviteeName" => (form::NAME.to_owned(), texts.bad_value),
        "inviteePhone" => (form::PHONE.to_owned(), texts.bad_phone),
        "location" => (form::PLACE.to_owned(), texts.bad_value),
        "start" | "durationMinutes" => (form::START.to_owned(), texts.taken),
        _ => match param.strip_prefix("answers.") {
            Some(key) => {
                let mut questions = event_type.iter().flat_map(|event_type| &event_type.questions);
                let kind = questions.find(|question| question.key == key).map(|question| question.kind);
                (format!("q.{key}"), mistake_in_answer(visit, kind, is_missing))
            }
            None => (form::NOTES.to_owned(), texts.bad_value),
        },
    };
    ControlFault { control: Some(control), text }
}

/// The text of an error in the answer to a question of this kind.
fn mistake_in_answer(visit: &PageRequest, kind: Option<QuestionKind>, is_missing: bool) -> &'static str {
    let (texts, own) = (texts(visit.language), outcomes(visit.language));
    match kind {
        Some(QuestionKind::Select | QuestionKind::Multiselect) => own.choose_option,
        Some(QuestionKind::Number) => own.bad_number,
        Some(QuestionKind::Email) => texts.bad_email,
        Some(QuestionKind::Phone) => texts.bad_phone,
        _ if is_missing => texts.needed,
        _ => texts.bad_value,
    }
}
