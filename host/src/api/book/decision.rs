//! The pages on which a host confirms or declines a pending booking, from the links in the host's mail. They need no key. Opening them
//! changes nothing, because mail programs follow links; only their forms do. A form that is sent twice finds the decision already made, and
//! the page of a decided booking shows the result.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Path, Request, State};
use axum::response::Response;
use axum::routing::get;
use base::error::{Code, Error, Result, not_found};
use http::StatusCode;
use model::Instant;
use scheduling::hours::Zone;
use service::app::App;
use service::app::stored_response::IdempotentAttempt;
use service::bookings::host_decision::HostRight;
use service::bookings::{confirm, rules};
use service::locale::html::Html;
use service::locale::meeting_time;
use storage::lane::Lane;

use crate::api::book::booked::BookedEventOfHost;
use crate::api::book::context::{
    BookContext, BookParams, VIEWS_PER_MINUTE, drain, failed, read_of_host, see_other,
};
use crate::api::book::icon::{PageIcon, icon};
use crate::api::book::layout::HtmlPage;
use crate::api::book::outcome::{self, Tone};
use crate::api::book::subject::{self, PageRequest};
use crate::api::book::submit::FormResult;
use crate::api::book::texts::decision::{DecisionTexts, decision};
use crate::api::book::texts::outcomes::outcomes;
use crate::api::book::texts::texts;
use crate::api::book::{facts, host_view, received_form};
use crate::web::form::FormFields;
use crate::web::rate_limit::Class;
use crate::web::unread_body;

/// The field of a declined booking's reason.
const REASON: &str = "reason";
/// The field with the SEQUENCE of the booking, which identifies the time that the host has seen.
const SEQUENCE: &str = "sequence";
/// Delay before a form that could not be processed should be sent again, seconds.
const RETRY_AFTER_S: u64 = 5;

/// The decision that a page offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostChoice {
    Confirm,
    Decline,
}

impl HostChoice {
    fn of_path(path: &str) -> HostChoice {
        if path.ends_with("/confirm") { HostChoice::Confirm } else { HostChoice::Decline }
    }

    /// The last part of the page's path.
    fn name(self) -> &'static str {
        match self {
            HostChoice::Confirm => "confirm",
            HostChoice::Decline => "decline",
        }
    }

    /// Heading and button of the page.
    fn labels(self, texts: &DecisionTexts) -> [&'static str; 2] {
        match self {
            HostChoice::Confirm => texts.confirm,
            HostChoice::Decline => texts.decline,
        }
    }
}

/// The reason why a form was not accepted.
#[derive(Clone, Copy, Debug)]
struct DecisionFault {
    text: &'static str,
    status: StatusCode,
}

/// `/book/h/{token}/confirm` and `/book/h/{token}/decline`.
pub fn routes() -> Router<App> {
    Router::new()
        .route("/book/h/{token}/confirm", get(show).post(send))
        .route("/book/h/{token}/decline", get(show).post(send))
}

fn token(params: BookParams) -> String {
    params.ok().and_then(|Path(mut params)| params.remove("token")).unwrap_or_default()
}

async fn show(
    State(app): State<App>,
    Extension(desk): Extension<Arc<BookContext>>,
    params: BookParams,
    request: Request,
) -> Response {
    let visit = PageRequest::from_request(&app, &request);
    let choice = HostChoice::of_path(request.uri().path());
    drop(request);
    let page = match desk.admit(&app, &visit, Class::BookingPage, VIEWS_PER_MINUTE) {
        Some(refused) => refused,
        None => match load(&app, &token(params)).await {
            Ok(found) => page(&visit, &found, choice, &FormFields::default(), None, app.now()),
            Err(e) => failed(&visit, e),
        },
    };
    page.into_response(&visit)
}

async fn send(
    State(app): State<App>,
    Extension(desk): Extension<Arc<BookContext>>,
    params: BookParams,
    request: Request,
) -> Response {
    let visit = PageRequest::from_request(&app, &request);
    let choice = HostChoice::of_path(request.uri().path());
    let (request, rest) = unread_body::lend(request);
    let taken = take(&app, &desk, &visit, &token(params), choice, request).await;
    drain(rest, received_form::is_late(&taken)).await;
    let page = match taken {
        // Relative to this form's address, wherever a proxy put it.
        Ok(FormResult::Booked(path)) => return see_other(&visit, &format!("../../{path}")),
        Ok(FormResult::Shows(page)) | Err(page) => *page,
    };
    page.into_response(&visit)
}

async fn take(
    app: &App,
    desk: &BookContext,
    visit: &PageRequest,
    token: &str,
    choice: HostChoice,
    request: Request,
) -> Result<FormResult, Box<HtmlPage>> {
    let form = read_of_host(app, desk, visit, token, request).await?;
    decide(app, visit, token, choice, &form.fields).await.map_err(|e| Box::new(failed(visit, e)))
}

/// Returns the booking of a token; 404 if its host may no longer decide on it.
async fn load(app: &App, token: &str) -> Result<BookedEventOfHost> {
    BookedEventOfHost::find(app, token).await?.ok_or_else(|| not_found("booking"))
}

async fn decide(
    app: &App,
    visit: &PageRequest,
    token: &str,
    choice: HostChoice,
    fields: &FormFields,
) -> Result<FormResult> {
    let found = load(app, token).await?;
    let lane = Lane::requests().for_application(&found.booked.row.tenant.application_id);
    match lane.scope(change(app, visit, &found, choice, fields)).await {
        Ok(()) => Ok(over(visit, token, choice)),
        // Another decision came first, or the deadline has just passed: the page shows the result.
        Err(e) if e.code() == Some(Code::InvalidState) => Ok(over(visit, token, choice)),
        Err(e) => {
            let fault = fault(visit, fields, e)?;
            let now = load(app, token).await?;
            let page = page(visit, &now, choice, fields, Some(fault), app.now());
            Ok(FormResult::Shows(Box::new(page)))
        }
    }
}

async fn change(
    app: &App,
    visit: &PageRequest,
    found: &BookedEventOfHost,
    choice: HostChoice,
    fields: &FormFields,
) -> Result<()> {
    let row = &found.booked.row;
    let right = HostRight {
        connection_id: found.connection_id.clone(),
        manage_version: row.manage_version,
        // No booking has this SEQUENCE.
        sequence: find_sequence(fields).unwrap_or(-1),
    };
    let attempt = IdempotentAttempt::new(hex::encode(app.entropy.bytes::<16>()), false, None);
    match choice {
        HostChoice::Confirm => {
            let asker = subject::asker(row.tenant.clone(), visit);
            confirm::confirm_by_host(app, &asker, row, &right, &attempt).await?;
        }
        HostChoice::Decline => {
            let reason = Some(fields.first(REASON).trim()).filter(|reason| !reason.is_empty());
            confirm::reject_by_host(app, row, &right, reason.map(str::to_owned), &attempt).await?;
        }
    }
    Ok(())
}

/// Returns the SEQUENCE in the form; none if it is missing, so that no time was shown.
fn find_sequence(fields: &FormFields) -> Option<i64> {
    fields.first(SEQUENCE).parse::<i64>().ok().filter(|sequence| *sequence >= 0)
}

/// Redirects to the page itself, which shows the result.
fn over(visit: &PageRequest, token: &str, choice: HostChoice) -> FormResult {
    FormResult::Booked(format!("h/{token}/{}{}", choice.name(), visit.choice.spoken().query()))
}

/// Returns the text of a refusal for the host. Other errors stay errors.
fn fault(visit: &PageRequest, fields: &FormFields, e: Error) -> Result<DecisionFault> {
    let (texts, own) = (texts(visit.language), decision(visit.language));
    let (text, status) = match e.code() {
        Some(Code::SlotUnavailable) => (own.busy, StatusCode::CONFLICT),
        Some(Code::StaleEtag) if find_sequence(fields).is_none() => {
            (texts.form_expired, StatusCode::BAD_REQUEST)
        }
        Some(Code::StaleEtag) => (own.moved_meanwhile, StatusCode::CONFLICT),
        Some(Code::InvalidParameter) => (texts.bad_value, StatusCode::BAD_REQUEST),
        Some(
            Code::AvailabilityUnknown | Code::Overloaded | Code::DatabaseUnavailable | Code::StorageFull,
        ) => (texts.availability_unknown, StatusCode::SERVICE_UNAVAILABLE),
        _ => return Err(e),
    };
    Ok(DecisionFault { text, status })
}

/// Renders the forms, or the booking's status.
fn page(
    visit: &PageRequest,
    found: &BookedEventOfHost,
    choice: HostChoice,
    fields: &FormFields,
    fault: Option<DecisionFault>,
    now: i64,
) -> HtmlPage {
    let booked = &found.booked;
    let zone = match &booked.event_type {
        Some(event_type) => rules::zone(event_type),
        None => facts::zone_of_invitee(booked),
    };
    let mut html = match fault {
        Some(fault) => outcome::fault_note(texts(visit.language).not_changed, fault.text),
        None => Html::default(),
    };
    let title = match decided_page(visit, found, &zone, now) {
        Some((title, heading)) => {
            let facts = facts::of_host(visit, booked, &zone, &Html::default());
            html.html(&heading).html(&outcome::boxed(Some(booked.what()), &facts));
            title
        }
        None => {
            html.html(&request(visit, found, &zone));
            html.html(&match choice {
                HostChoice::Confirm => forms(visit, found, fields),
                HostChoice::Decline => decline_form(visit, found, fields, ""),
            });
            html.html(&rest(visit, found, &zone, choice));
            choice.labels(&decision(visit.language))[0]
        }
    };
    let page = outcome::page(title, &html, booked).unframed();
    match fault {
        Some(DecisionFault { status: StatusCode::SERVICE_UNAVAILABLE, .. }) => {
            page.with_status(StatusCode::SERVICE_UNAVAILABLE).retry_after_s(RETRY_AFTER_S)
        }
        Some(DecisionFault { status, .. }) => page.with_status(status),
        None => page,
    }
}

/// Returns title and heading for a booking that needs no decision; none while the host can decide.
fn decided_page(
    visit: &PageRequest,
    found: &BookedEventOfHost,
    zone: &Zone,
    now: i64,
) -> Option<(&'static str, Html)> {
    let (texts, own, row) = (texts(visit.language), decision(visit.language), &found.booked.row);
    let is_own = row.decided_by.as_deref() == Some(found.connection_id.as_str());
    let told = |by_reader: &str, by_others: &str| {
        let mut sentence = Html::default();
        if let Some(at) = row.decided_at {
            let at = Instant::from_millis(at);
            let when = meeting_time::moment(at, zone, visit.language, visit.hours);
            let text = if is_own { by_reader } else { by_others };
            sentence.text(&text.replace("{when}", &when));
        }
        sentence
    };
    let plain = |[title, text]: [&'static str; 2], drawing| {
        let mut sentence = Html::default();
        sentence.text(text);
        (title, outcome::sealed(Tone::Plain, drawing, title, &sentence))
    };
    Some(match row.status.as_str() {
        "pending" if row.confirm_by.is_none_or(|at| now < at) => return None,
        "pending" | "expired" => plain(texts.expired, PageIcon::Clock),
        "confirmed" | "completed" => {
            let sentence = told(own.you_confirmed, own.was_confirmed);
            let title = own.is_confirmed;
            (title, outcome::sealed(Tone::Good, PageIcon::Check, title, &sentence))
        }
        "rejected" => {
            let (sentence, title) = (told(own.you_declined, own.was_declined), texts.rejected[0]);
            (title, outcome::sealed(Tone::Plain, PageIcon::Cross, title, &sentence))
        }
        _ => plain(texts.cancelled, PageIcon::Cross),
    })
}

/// The request: invitee, time, and what the invitee wrote.
fn request(visit: &PageRequest, found: &BookedEventOfHost, zone: &Zone) -> Html {
    let (texts, booked) = (texts(visit.language), &found.booked);
    let own = outcomes(visit.language);
    let asks = decision(visit.language).asks;
    let (before, after) = asks.split_once("{invitee}").unwrap_or((asks, ""));
    let mut heading = Html::default();
    heading.text(before).raw("<bdi>").text(name_of_invitee(found)).raw("</bdi>").text(after);
    let words = host_view::words(visit, booked);
    let mut html = outcome::badged(Tone::Warn, PageIcon::Half, own.waiting_for_you, &heading);
    if !words.as_str().is_empty() {
        html.html(&host_view::warning_note(texts.for_hosts[1]));
    }
    html.html(&outcome::boxed(Some(booked.what()), &facts::of_host(visit, booked, zone, &words)));
    html
}

fn name_of_invitee(found: &BookedEventOfHost) -> &str {
    let invitee = &found.booked.body.invitee;
    invitee.name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or(&invitee.email)
}

/// Renders the form to confirm, and below it, collapsed, the one to decline.
fn forms(visit: &PageRequest, found: &BookedEventOfHost, fields: &FormFields) -> Html {
    let own = decision(visit.language);
    let mut html = form(visit, found, "");
    html.raw("<button>").html(&icon(PageIcon::Check)).text(own.confirm[1]).raw("</button>\n</form>\n");
    html.raw("<details class=\"foot\"><summary>").text(outcomes(visit.language).decline_instead);
    html.raw("</summary>\n").html(&decline_form(visit, found, fields, HostChoice::Decline.name()));
    html.raw("</details>\n");
    html
}

/// Renders the form to decline with a reason. `page`: the page that receives the form, relative to this one; empty: this one.
fn decline_form(
    visit: &PageRequest,
    found: &BookedEventOfHost,
    fields: &FormFields,
    page: &'static str,
) -> Html {
    let (texts, own) = (texts(visit.language), decision(visit.language));
    let read_by = outcomes(visit.language).read_by.replace("{name}", name_of_invitee(found));
    let mut html = form(visit, found, page);
    html.html(&outcome::reason_field(texts.reason, &read_by, fields.first(REASON)));
    html.raw("<button class=\"danger\">").text(own.decline[0]).raw("</button>\n</form>\n");
    html
}

/// Begins a form, with the time that the host has seen.
fn form(visit: &PageRequest, found: &BookedEventOfHost, page: &'static str) -> Html {
    let mut html = Html::default();
    html.raw("<form class=\"stack\" method=\"post\" action=\"").raw(page);
    html.text(&visit.choice.spoken().link()).raw("\">\n");
    html.raw("<input type=\"hidden\" name=\"").raw(SEQUENCE).raw("\" value=\"");
    html.text(&found.booked.body.sequence.to_string()).raw("\">\n");
    html
}

/// Renders the link from the page to decline to the one to confirm, and the time at which the request expires.
fn rest(visit: &PageRequest, found: &BookedEventOfHost, zone: &Zone, choice: HostChoice) -> Html {
    let own = outcomes(visit.language);
    let mut html = Html::default();
    if choice == HostChoice::Decline {
        let link = format!("{}{}", HostChoice::Confirm.name(), visit.choice.spoken().query());
        html.raw("<p>").link(&link, own.confirm_instead).raw("</p>\n");
    }
    if let Some(at) = found.booked.row.confirm_by {
        let at = Instant::from_millis(at);
        let when = meeting_time::moment(at, zone, visit.language, visit.hours);
        html.raw("<p class=\"hint\">").text(&own.unanswered.replace("{when}", &when)).raw("</p>\n");
    }
    html
}
