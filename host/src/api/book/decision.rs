//! The pages on which a host confirms or declines a pending booking, by the links in the host's mail. They need no key. Whoever opens them
//! changes nothing, as programs do that follow the links of a mail; only their forms do. A form that is sent twice finds done what it asks for,
//! and a page of a booking that is decided says what has happened.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Path, Request, State};
use axum::response::Response;
use axum::routing::get;
use base::error::{Code, Error, Result, not_found};
use http::StatusCode;
use model::Instant;
use scheduling::hours::Zone;
use storage::lane::Lane;

use crate::api::access::rate_limit::Class;
use crate::api::book::booked::BookedEventOfHost;
use crate::api::book::context::{
    BookContext, BookParams, VIEWS_PER_MINUTE, drain, failed, read_of_host, see_other,
};
use crate::api::book::form::FormFields;
use crate::api::book::layout::HtmlPage;
use crate::api::book::subject::{self, PageRequest};
use crate::api::book::submit::FormResult;
use crate::api::book::texts::decision::{DecisionTexts, decision};
use crate::api::book::texts::texts;
use crate::api::book::{done, host_view, received_form};
use crate::api::request::unread_body;
use crate::app::App;
use crate::app::stored_response::IdempotentAttempt;
use crate::bookings::host_decision::HostRight;
use crate::bookings::{confirm, rules};
use crate::locale::dates;
use crate::locale::html::Html;

/// The field of a declined booking's reason.
const REASON: &str = "reason";
/// The field that says which time of the booking the host has seen: its SEQUENCE.
const SEQUENCE: &str = "sequence";
/// Seconds after which a form that could not be decided about is worth sending again.
const RETRY_AFTER_S: u64 = 5;

/// The decision that a page is about.
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

    fn other(self) -> HostChoice {
        match self {
            HostChoice::Confirm => HostChoice::Decline,
            HostChoice::Decline => HostChoice::Confirm,
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

/// The reason why a form was not taken.
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
    let visit = PageRequest::of(&app, &request);
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
    let visit = PageRequest::of(&app, &request);
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

/// The booking of a token; 404 where its host may not decide about it any more.
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
    let lane = Lane::requests().of(&found.booked.row.tenant.application_id);
    match lane.scope(change(app, visit, &found, choice, fields)).await {
        Ok(()) => Ok(over(visit, token, choice)),
        // Someone was faster, or the time for it ended just now: the page says what has happened.
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
        // No booking has this one.
        sequence: seen(fields).unwrap_or(-1),
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

/// The SEQUENCE of the page that the form was on; none where it says none, and so has shown no time.
fn seen(fields: &FormFields) -> Option<i64> {
    fields.first(SEQUENCE).parse::<i64>().ok().filter(|sequence| *sequence >= 0)
}

/// To the page itself, which says what has happened.
fn over(visit: &PageRequest, token: &str, choice: HostChoice) -> FormResult {
    FormResult::Booked(format!("h/{token}/{}{}", choice.name(), visit.choice.spoken().query()))
}

/// The text of a refusal for the host. Other errors stay errors.
fn fault(visit: &PageRequest, fields: &FormFields, e: Error) -> Result<DecisionFault> {
    let (texts, own) = (texts(visit.language), decision(visit.language));
    let (text, status) = match e.code() {
        Some(Code::SlotUnavailable) => (own.busy, StatusCode::CONFLICT),
        Some(Code::StaleEtag) if seen(fields).is_none() => (texts.form_expired, StatusCode::BAD_REQUEST),
        Some(Code::StaleEtag) => (own.moved_meanwhile, StatusCode::CONFLICT),
        Some(Code::InvalidParameter) => (texts.bad_value, StatusCode::BAD_REQUEST),
        Some(
            Code::AvailabilityUnknown | Code::Overloaded | Code::DatabaseUnavailable | Code::StorageFull,
        ) => (texts.availability_unknown, StatusCode::SERVICE_UNAVAILABLE),
        _ => return Err(e),
    };
    Ok(DecisionFault { text, status })
}

/// The form, or the text that says what has become of the booking.
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
        None => Zone::named(&booked.body.time_zone).unwrap_or_else(Zone::utc),
    };
    let mut html = Html::default();
    if let Some(fault) = fault {
        html.raw("<div class=\"alert\" role=\"alert\">\n<p><strong>").text(texts(visit.language).not_changed);
        html.raw("</strong></p>\n<p>").text(fault.text).raw("</p>\n</div>\n");
    }
    let title = match outcome(visit, found, &zone, now) {
        Some((title, text)) => {
            if let Some(text) = text {
                html.element("p", &text);
            }
            html.html(&done::facts_in(visit, booked, &zone));
            title
        }
        None => {
            form(&mut html, visit, found, &zone, choice, fields);
            choice.labels(&decision(visit.language))[0]
        }
    };
    let page = HtmlPage::new(title, html);
    let page = match &booked.event_type {
        Some(event_type) => page.of(event_type).unframed(),
        None => page,
    };
    match fault {
        Some(DecisionFault { status: StatusCode::SERVICE_UNAVAILABLE, .. }) => {
            page.with_status(StatusCode::SERVICE_UNAVAILABLE).retry_after_s(RETRY_AFTER_S)
        }
        Some(DecisionFault { status, .. }) => page.with_status(status),
        None => page,
    }
}

/// Title and text of a booking that waits for no decision; none while the host can decide.
fn outcome(
    visit: &PageRequest,
    found: &BookedEventOfHost,
    zone: &Zone,
    now: i64,
) -> Option<(&'static str, Option<String>)> {
    let (texts, own, row) = (texts(visit.language), decision(visit.language), &found.booked.row);
    let is_own = row.decided_by.as_deref() == Some(found.connection_id.as_str());
    let told = |by_reader: &str, by_others: &str| {
        let at = Instant::from_millis(row.decided_at?);
        let when = dates::moment(at, zone, visit.language, visit.hours);
        let text = if is_own { by_reader } else { by_others };
        Some(text.replace("{when}", &when))
    };
    match row.status.as_str() {
        "pending" if row.confirm_by.is_none_or(|at| now < at) => None,
        "pending" | "expired" => Some((texts.expired[0], Some(texts.expired[1].to_owned()))),
        "confirmed" | "completed" => Some((own.is_confirmed, told(own.you_confirmed, own.was_confirmed))),
        "rejected" => Some((texts.rejected[0], told(own.you_declined, own.was_declined))),
        _ => Some((texts.cancelled[0], Some(texts.cancelled[1].to_owned()))),
    }
}

/// Writes the invitee's request with what they wrote, and the form with the way to the other decision.
fn form(
    html: &mut Html,
    visit: &PageRequest,
    found: &BookedEventOfHost,
    zone: &Zone,
    choice: HostChoice,
    fields: &FormFields,
) {
    let (texts, own, booked) = (texts(visit.language), decision(visit.language), &found.booked);
    let invitee = &booked.body.invitee;
    let name = invitee.name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or(&invitee.email);
    html.element("p", &own.asks.replace("{invitee}", name)).html(&done::facts_in(visit, booked, zone));
    html.element("p", texts.for_hosts[1]).html(&host_view::words(visit, booked));
    html.raw("<form method=\"post\" action=\"").text(&visit.choice.spoken().link()).raw("\">\n");
    html.raw("<input type=\"hidden\" name=\"").raw(SEQUENCE).raw("\" value=\"");
    html.text(&booked.body.sequence.to_string()).raw("\">\n");
    if choice == HostChoice::Decline {
        html.raw("<div class=\"field\"><label for=\"reason\">").text(texts.reason);
        html.raw(" <span class=\"muted\">").text(texts.optional).raw("</span></label>\n");
        // A browser drops the first line feed.
        html.raw(
            "<textarea id=\"reason\" name=\"reason\" rows=\"4\" maxlength=\"2000\" autocomplete=\"off\">\n",
        );
        html.text(fields.first(REASON)).raw("</textarea></div>\n");
    }
    html.raw("<button>").text(choice.labels(&own)[1]).raw("</button>\n</form>\n");
    let other = choice.other();
    let link = format!("{}{}", other.name(), visit.choice.spoken().query());
    html.raw("<p>").link(&link, other.labels(&own)[0]).raw("</p>\n");
}
