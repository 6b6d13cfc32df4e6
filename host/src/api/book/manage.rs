//! The pages below a booking's own page on which an invitee cancels or reschedules it. Opening them changes nothing; only their forms do. A
//! form that is sent twice finds its change already made.

use base::error::{Code, Error, Result, not_found};
use http::StatusCode;
use model::Instant;
use model::scheduling::booking::BookingMove;
use service::app::App;
use service::app::stored_response::IdempotentAttempt;
use service::bookings::change::Viewer;
use service::bookings::{cancel, reschedule, titles};
use service::locale::dates;
use service::locale::html::Html;
use storage::lane::Lane;

use crate::api::book::booked::{BookedEvent, InviteeAction, RefusedReason};
use crate::api::book::choice::Choice;
use crate::api::book::icon::{PageIcon, icon};
use crate::api::book::layout::{HtmlPage, SheetShape};
use crate::api::book::other_times::{OtherTime, by_day};
use crate::api::book::subject::{BookableEventType, BookingToMove, PageRequest};
use crate::api::book::submit::FormResult;
use crate::api::book::texts::outcomes::outcomes;
use crate::api::book::texts::texts;
use crate::api::book::{about, done, facts, free, month, outcome};
use crate::web::form::FormFields;

/// The field of a cancellation's reason.
const REASON: &str = "reason";
/// Delay before a form that could not be processed should be sent again, seconds.
const RETRY_AFTER_S: u64 = 5;

/// The action of a page below a booking's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManageTarget {
    Cancel,
    /// The list of times to choose from.
    Choose,
    MoveTo(Instant),
}

impl ManageTarget {
    fn deed(self) -> InviteeAction {
        match self {
            ManageTarget::Cancel => InviteeAction::Cancel,
            ManageTarget::Choose | ManageTarget::MoveTo(_) => InviteeAction::Move,
        }
    }

    /// The relative path from the page to the folder of booking pages, `/book/b/`.
    pub fn up(self) -> &'static str {
        match self {
            ManageTarget::Cancel | ManageTarget::Choose => "../",
            ManageTarget::MoveTo(_) => "../../../",
        }
    }
}

/// The reason why a form was not accepted.
#[derive(Clone, Copy, Debug)]
struct ManageFault {
    text: &'static str,
    status: StatusCode,
}

/// The page that asks for confirmation of the action; the booking's own page if it already has that time, as for a visitor who goes back
/// after rescheduling.
///
/// # Errors
/// `not_found` if the token names no booking.
pub async fn view(app: &App, visit: &PageRequest, token: &str, aim: ManageTarget) -> Result<FormResult> {
    let booked = load(app, token).await?;
    let visit = &visit.with_clock_of(&booked.row);
    if let Some(why) = booked.refusal(aim.deed(), app.now())? {
        return Ok(page_result(refused_page(visit, &booked, aim, why)));
    }
    Ok(page_result(match aim {
        ManageTarget::Cancel => cancellation(visit, &booked, &FormFields::default(), None),
        ManageTarget::Choose => {
            let subject = BookableEventType::of_booking(app, visit, &booked).await?;
            month::page(app, visit, &subject).await
        }
        ManageTarget::MoveTo(start) => {
            let subject = BookableEventType::of_booking(app, visit, &booked).await?;
            if subject.is_now(start) {
                return Ok(over(visit, &booked, aim));
            }
            let fault = match free::is_free(app, &subject, start).await {
                Ok(true) => None,
                Ok(false) => Some(slot_taken(visit)),
                Err(e) => Some(fault(visit, e)?),
            };
            confirmation(app, visit, &subject, start, fault).await
        }
    }))
}

/// Performs the action of a form.
///
/// # Errors
/// `not_found` if the token names no booking.
pub async fn send(
    app: &App,
    visit: &PageRequest,
    token: &str,
    aim: ManageTarget,
    fields: &FormFields,
) -> Result<FormResult> {
    let booked = load(app, token).await?;
    let visit = &visit.with_clock_of(&booked.row);
    let lane = Lane::requests().for_application(&booked.row.tenant.application_id);
    lane.scope(change(app, visit, &booked, aim, fields)).await
}

async fn load(app: &App, token: &str) -> Result<BookedEvent> {
    BookedEvent::find(app, token).await?.ok_or_else(|| not_found("booking"))
}

async fn change(
    app: &App,
    visit: &PageRequest,
    booked: &BookedEvent,
    aim: ManageTarget,
    fields: &FormFields,
) -> Result<FormResult> {
    let refusal = booked.refusal(aim.deed(), app.now())?;
    let subject = match aim {
        ManageTarget::MoveTo(_) if refusal.is_none() => {
            Some(BookableEventType::of_booking(app, visit, booked).await?)
        }
        _ => None,
    };
    if is_done(booked, subject.as_ref(), aim) {
        return Ok(over(visit, booked, aim));
    }
    if let Some(why) = refusal {
        return Ok(page_result(refused_page(visit, booked, aim, why).with_status(status(why))));
    }
    let attempt = IdempotentAttempt::new(hex::encode(app.entropy.bytes::<16>()), false, None);
    let made = match (aim, &subject) {
        (ManageTarget::MoveTo(start), Some(subject)) => {
            let new =
                BookingMove { start, duration_minutes: Some(subject.minutes), ..BookingMove::default() };
            let viewer = Viewer { asker: &subject.asker, sees_hosts: false, warnings: Vec::new() };
            reschedule::by_invitee(app, viewer, &booked.row, new, &attempt).await
        }
        (ManageTarget::Cancel, _) => {
            let reason = Some(fields.first(REASON).trim()).filter(|reason| !reason.is_empty());
            let reason = reason.map(str::to_owned);
            cancel::by_invitee(app, &booked.row, reason, false, Vec::new(), &attempt).await
        }
        // The list has no form.
        _ => return Err(not_found("form")),
    };
    let Err(e) = made else { return Ok(over(visit, booked, aim)) };
    if let Some(result) = superseded_result(app, visit, booked, aim, e.code()).await? {
        return Ok(result);
    }
    let fault = fault(visit, e)?;
    Ok(page_result(match (aim, subject) {
        (ManageTarget::MoveTo(start), Some(subject)) => {
            confirmation(app, visit, &subject, start, Some(fault)).await
        }
        _ => cancellation(visit, booked, fields, Some(fault)),
    }))
}

/// Returns the result of a form that was refused because the booking has changed since the page was loaded.
async fn superseded_result(
    app: &App,
    visit: &PageRequest,
    booked: &BookedEvent,
    aim: ManageTarget,
    code: Option<Code>,
) -> Result<Option<FormResult>> {
    let is_late = matches!(code, Some(Code::InvalidState | Code::Forbidden));
    if !is_late && (code != Some(Code::InvalidParameter) || !matches!(aim, ManageTarget::MoveTo(_))) {
        return Ok(None);
    }
    // The same form may have been sent at the same moment; or another change came first, or the deadline has just passed.
    let now = load(app, &booked.token).await?;
    if is_done(&now, None, aim) {
        return Ok(Some(over(visit, &now, aim)));
    }
    if !is_late {
        return Ok(None);
    }
    let why = now.refusal(aim.deed(), app.now())?.unwrap_or(RefusedReason::TooLate);
    Ok(Some(page_result(refused_page(visit, &now, aim, why).with_status(status(why)))))
}

/// Whether the same form has already performed the action.
fn is_done(booked: &BookedEvent, subject: Option<&BookableEventType>, aim: ManageTarget) -> bool {
    match aim {
        ManageTarget::Cancel => booked.body.cancelled_by.is_some() && booked.row.status == "cancelled",
        ManageTarget::Choose => false,
        ManageTarget::MoveTo(start) => match subject {
            Some(subject) => subject.is_now(start),
            // A booking that waits for its host again can only be recognized by its start.
            None => booked.body.reschedule_count > 0 && booked.row.start_at == start.as_millis(),
        },
    }
}

/// Redirects to the booking's own page, which shows the result.
fn over(visit: &PageRequest, booked: &BookedEvent, aim: ManageTarget) -> FormResult {
    let query = visit.choice.spoken().query();
    let query = match aim.deed() {
        InviteeAction::Cancel => query,
        InviteeAction::Move => format!("?moved=1{}", query.replacen('?', "&", 1)),
    };
    FormResult::Booked(format!("b/{}{query}", booked.token))
}

fn page_result(page: HtmlPage) -> FormResult {
    FormResult::Shows(Box::new(page))
}

fn slot_taken(visit: &PageRequest) -> ManageFault {
    ManageFault { text: texts(visit.language).taken, status: StatusCode::CONFLICT }
}

/// Returns the text of a refusal for the visitor. Internal errors stay errors.
fn fault(visit: &PageRequest, e: Error) -> Result<ManageFault> {
    let texts = texts(visit.language);
    match e.code() {
        Some(Code::SlotUnavailable) => Ok(slot_taken(visit)),
        // An impossible start, such as one in the year 9000; or a reason that is too long.
        Some(Code::InvalidParameter) => {
            let is_reason = matches!(&e, Error::Refused(refusal) if refusal.param.as_deref() == Some(REASON));
            match is_reason {
                true => Ok(ManageFault { text: texts.bad_value, status: StatusCode::BAD_REQUEST }),
                false => Ok(slot_taken(visit)),
            }
        }
        Some(
            Code::AvailabilityUnknown | Code::Overloaded | Code::DatabaseUnavailable | Code::StorageFull,
        ) => Ok(ManageFault { text: texts.availability_unknown, status: StatusCode::SERVICE_UNAVAILABLE }),
        _ => Err(e),
    }
}

fn status(why: RefusedReason) -> StatusCode {
    match why {
        RefusedReason::NotOffered => StatusCode::FORBIDDEN,
        RefusedReason::Ended
        | RefusedReason::Unconfirmed
        | RefusedReason::TooOften
        | RefusedReason::TooLate => StatusCode::CONFLICT,
    }
}

/// Returns the page that says why the action is not possible.
fn refused_page(
    visit: &PageRequest,
    booked: &BookedEvent,
    aim: ManageTarget,
    why: RefusedReason,
) -> HtmlPage {
    let texts = texts(visit.language);
    let of_deed = match aim.deed() {
        InviteeAction::Cancel => texts.cancel_booking,
        InviteeAction::Move => texts.move_booking,
    };
    let (title, mut html) = match why {
        RefusedReason::Ended => done::ended_heading(visit, booked),
        RefusedReason::Unconfirmed => (of_deed, outcome::headed(of_deed, texts.not_confirmed)),
        RefusedReason::NotOffered => (of_deed, outcome::headed(of_deed, texts.not_offered)),
        RefusedReason::TooOften => (of_deed, outcome::headed(of_deed, texts.moved_too_often)),
        RefusedReason::TooLate => (of_deed, outcome::headed(of_deed, texts.too_late)),
    };
    html.html(&booking_box(visit, booked, why != RefusedReason::Ended));
    html.raw("<div class=\"actions\">").html(&back(visit, &booked.token, aim, texts.to_booking));
    html.raw("</div>\n");
    outcome::page(title, &html, booked).unframed()
}

fn booking_box(visit: &PageRequest, booked: &BookedEvent, takes_place: bool) -> Html {
    outcome::boxed(Some(booked.what()), &facts::of_invitee(visit, booked, takes_place))
}

/// Returns the link to the booking's own page.
fn back(visit: &PageRequest, token: &str, aim: ManageTarget, name: &str) -> Html {
    let mut html = Html::default();
    let link = format!("{}{token}{}", aim.up(), visit.choice.spoken().query());
    html.raw("<a href=\"").text(&link).raw("\" class=\"button plain\">").text(name).raw("</a>");
    html
}

/// Renders the error note; empty without an error.
fn render_error_note(visit: &PageRequest, fault: Option<ManageFault>) -> Html {
    let title = texts(visit.language).not_changed;
    fault.map_or_else(Html::default, |fault| outcome::fault_note(title, fault.text))
}

fn with(page: HtmlPage, fault: Option<ManageFault>) -> HtmlPage {
    let Some(ManageFault { status, .. }) = fault else { return page };
    let page = page.with_status(status);
    if status == StatusCode::SERVICE_UNAVAILABLE { page.retry_after_s(RETRY_AFTER_S) } else { page }
}

/// Begins the form of a page.
fn form(html: &mut Html, visit: &PageRequest) {
    html.raw("<form class=\"stack wide\" method=\"post\" action=\"");
    html.text(&visit.choice.standing().link()).raw("\">\n");
}

/// Renders the page that asks whether to cancel the booking.
fn cancellation(
    visit: &PageRequest,
    booked: &BookedEvent,
    fields: &FormFields,
    fault: Option<ManageFault>,
) -> HtmlPage {
    let (texts, own) = (texts(visit.language), outcomes(visit.language));
    let host = booked.event_type.as_ref().and_then(|e| titles::host_name(&booked.body, e));
    let read_by = host.map_or(texts.optional.to_owned(), |name| own.read_by.replace("{name}", name));
    let button = if booked.row.status == "pending" { own.cancel_request } else { texts.cancel_booking };
    let mut html = render_error_note(visit, fault);
    html.html(&outcome::headed(own.ask_cancel, texts.cancel_question));
    html.html(&booking_box(visit, booked, true));
    form(&mut html, visit);
    html.html(&outcome::reason_field(texts.reason, &read_by, fields.first(REASON)));
    html.raw("<div class=\"actions\"><button class=\"danger\">").text(button).raw("</button>");
    html.html(&back(visit, &booked.token, ManageTarget::Cancel, own.keep)).raw("</div>\n</form>\n");
    with(outcome::page(own.ask_cancel, &html, booked).unframed(), fault)
}

/// Renders the page that asks whether to reschedule the booking to this time, with other times if it is taken.
async fn confirmation(
    app: &App,
    visit: &PageRequest,
    subject: &BookableEventType,
    start: Instant,
    fault: Option<ManageFault>,
) -> HtmlPage {
    let (texts, event_type) = (texts(visit.language), &subject.bookable.body);
    let is_taken = fault.is_some_and(|fault| fault.status == StatusCode::CONFLICT);
    let mut html = Html::default();
    html.raw("<div class=\"stack wide\">\n")
        .html(&about::logo(event_type))
        .html(&render_error_note(visit, fault));
    html.html(&outcome::headed(texts.move_booking, ""));
    html.html(&outcome::boxed(Some(&event_type.title), &new_time(visit, subject, start, is_taken)));
    if let Some(moved) = &subject.moved {
        html.html(&about::present_time(visit, subject, moved));
    }
    if is_taken {
        html.html(&others(app, visit, subject, start).await);
    } else {
        form(&mut html, visit);
        html.raw("<button>").text(texts.move_here).raw("</button>\n</form>\n");
    }
    let day = dates::local(start, &subject.zone).date;
    let list = format!("../../move{}", Choice { day: Some(day), ..visit.choice.standing() }.link());
    html.raw("<div class=\"actions\"><a href=\"").text(&list).raw("\" class=\"button plain\">");
    html.text(texts.change_time).raw("</a>");
    if let Some(BookingToMove { token, .. }) = &subject.moved {
        html.html(&back(visit, token, ManageTarget::MoveTo(start), texts.to_booking));
    }
    html.raw("</div>\n</div>\n");
    let page = HtmlPage::new(texts.move_booking, html).shaped(SheetShape::One).with_event_type(event_type);
    with(page.unframed(), fault)
}

/// Renders the new time, crossed out if it is taken.
fn new_time(visit: &PageRequest, subject: &BookableEventType, start: Instant, is_taken: bool) -> Html {
    let mut html = Html::default();
    html.raw("<dl class=\"facts\"><div><dt>").html(&icon(PageIcon::Calendar)).raw("<span>");
    html.text(texts(visit.language).new_time).raw("</span></dt><dd>");
    html.raw(if is_taken { "<s>" } else { "" });
    html.html(&facts::lines_of_time(visit, start, subject.end(start), &subject.zone));
    html.raw(if is_taken { "</s>" } else { "" }).raw("</dd></div></dl>\n");
    html
}

/// Renders links to the times nearest to one that is taken.
async fn others(app: &App, visit: &PageRequest, subject: &BookableEventType, start: Instant) -> Html {
    let mut html = Html::default();
    let found = free::nearest(app, subject, start).await;
    if found.is_empty() {
        return html;
    }
    let way = |time: &OtherTime| {
        let mut html = Html::default();
        // `./`, because of the colons in a time.
        let link = format!("./{}{}", time.start, visit.choice.standing().query());
        html.raw("<a href=\"").text(&link).raw("\">").html(&time.label).raw("</a>");
        html
    };
    html.raw("<section class=\"stack\">").element("h2", texts(visit.language).other_times);
    html.html(&by_day(visit, subject, &found, way)).raw("</section>\n");
    html
}
