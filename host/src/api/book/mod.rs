//! `/book`: the booking page, as plain HTML. It needs no key and no script, and is faster with one (`assets`): it shows and does what the
//! booking link allows, and bookings are made by the same code as the API's operation. Only a POST from its form changes anything.

mod about;
mod assets;
mod booked;
mod bounds;
mod calendars;
mod choice;
mod context;
mod decision;
mod details;
mod done;
mod facts;
mod form;
mod form_controls;
mod free;
mod host_view;
mod hosts;
mod icon;
mod layout;
mod manage;
mod month;
mod other_times;
mod outcome;
mod received_form;
mod subject;
mod submit;
mod texts;
mod time_list;
mod verdict;
mod zone_picker;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Path, Request, State};
use axum::response::Response;
use axum::routing::get;
use base::error::Code;
use model::Instant;
use service::app::App;
use tower_http::compression::CompressionLayer;

use crate::api::book::context::{BookContext, BookParams, VIEWS_PER_MINUTE, drain, failed, read, see_other};
use crate::api::book::details::BookingFormView;
use crate::api::book::done::Arrival;
use crate::api::book::layout::HtmlPage;
use crate::api::book::manage::ManageTarget;
use crate::api::book::subject::{Address, BookableEventType, PageRequest};
use crate::api::book::submit::FormResult;
use crate::web::form::FormFields;
use crate::web::rate_limit::{Class, Limiters};
use crate::web::unread_body;

/// `/book/{handle}/{slug}`, the same without a handle for one application, and the pages of bookings.
pub fn routes(limiters: Arc<Limiters>) -> Router<App> {
    let desk = Arc::new(BookContext::new(limiters));
    Router::new()
        .route("/book/{name}", get(show).post(send))
        .route("/book/{name}/{slug}", get(show).post(send))
        .route("/book/b/{token}", get(booked))
        .route("/book/h/{token}", get(shown_to_hosts))
        .route("/book/b/{token}/invite.ics", get(calendar_file))
        .route("/book/b/{token}/cancel", get(show_below).post(send_below))
        .route("/book/b/{token}/move", get(show_below))
        .route("/book/b/{token}/move/at/{start}", get(show_below).post(send_below))
        .merge(decision::routes())
        .layer(Extension(desk))
        .merge(assets::routes::<App>())
        // Compression is safe (BREACH): no page contains a secret from a visitor who can choose parts of it, since there are no cookies or
        // other browser credentials.
        .layer(CompressionLayer::new())
}

/// The address in the path; none if it is no valid text.
fn address(params: BookParams) -> Option<Address> {
    let Path(mut params) = params.ok()?;
    let name = params.remove("name")?;
    Some(match params.remove("slug") {
        Some(slug) => Address { handle: Some(name), slug },
        None => Address { handle: None, slug: name },
    })
}

/// The event type of an address, or the page with the reason why there is none.
async fn subject(
    app: &App,
    visit: &PageRequest,
    address: Option<&Address>,
    may_be_over: bool,
) -> Result<BookableEventType, Box<HtmlPage>> {
    let Some(address) = address else { return Err(Box::new(HtmlPage::not_found(visit.language))) };
    BookableEventType::find(app, visit, address, may_be_over).await.map_err(|e| Box::new(failed(visit, e)))
}

/// The list of times, or the form for one of them.
async fn show(
    State(app): State<App>,
    Extension(desk): Extension<Arc<BookContext>>,
    params: BookParams,
    request: Request,
) -> Response {
    let visit = PageRequest::from_request(&app, &request);
    drop(request);
    let page = match desk.admit(&app, &visit, Class::BookingPage, VIEWS_PER_MINUTE) {
        Some(refused) => refused,
        None => view(&app, &visit, address(params).as_ref()).await,
    };
    page.framed_notice().into_response(&visit)
}

async fn view(app: &App, visit: &PageRequest, address: Option<&Address>) -> HtmlPage {
    let subject = match subject(app, visit, address, false).await {
        Ok(subject) => subject,
        Err(page) => return *page,
    };
    let Some(start) = visit.choice.start else { return month::page(app, visit, &subject).await };
    let fields = FormFields::default();
    let fault = match free::is_free(app, &subject, start).await {
        Ok(true) => None,
        Ok(false) => Some(Code::SlotUnavailable),
        Err(e) => match e.code() {
            Some(Code::AvailabilityUnknown) => Some(Code::AvailabilityUnknown),
            // An impossible start, such as one in the year 9000.
            Some(Code::InvalidParameter) => Some(Code::SlotUnavailable),
            _ => return failed(visit, e),
        },
    };
    let others = match fault {
        Some(Code::SlotUnavailable) => free::nearest(app, &subject, start).await,
        _ => Vec::new(),
    };
    let fault = fault.map(|code| submit::fault(visit, code.as_str(), None));
    let token = form::token(app, &subject);
    details::page(visit, &subject, &BookingFormView { start, fields: &fields, token, fault, others })
}

/// Handles a booking form.
async fn send(
    State(app): State<App>,
    Extension(desk): Extension<Arc<BookContext>>,
    params: BookParams,
    request: Request,
) -> Response {
    let visit = PageRequest::from_request(&app, &request);
    let address = address(params);
    let (request, rest) = unread_body::lend(request);
    let taken = take(&app, &desk, &visit, address.as_ref(), request).await;
    drain(rest, received_form::is_late(&taken)).await;
    let page = match taken {
        Ok(FormResult::Booked(path)) => {
            // Relative to this form's address, wherever a proxy put it.
            let up = if address.is_some_and(|address| address.handle.is_some()) { "../" } else { "" };
            return see_other(&visit, &format!("{up}{path}"));
        }
        Ok(FormResult::Shows(page)) | Err(page) => *page,
    };
    page.framed_notice().into_response(&visit)
}

async fn take(
    app: &App,
    desk: &BookContext,
    visit: &PageRequest,
    address: Option<&Address>,
    request: Request,
) -> Result<FormResult, Box<HtmlPage>> {
    let form = read(app, desk, visit, request).await?;
    // A form that used up its link may be sent again.
    let subject = subject(app, visit, address, true).await?;
    Ok(submit::send(app, visit, &subject, &form.fields).await)
}

/// The page of a booking that was made.
async fn booked(
    State(app): State<App>,
    Extension(desk): Extension<Arc<BookContext>>,
    params: BookParams,
    request: Request,
) -> Response {
    let visit = PageRequest::from_request(&app, &request);
    let arrival = Arrival::of_query(request.uri().query().unwrap_or_default());
    drop(request);
    let token = params.ok().and_then(|Path(mut params)| params.remove("token")).unwrap_or_default();
    let page = match desk.admit(&app, &visit, Class::BookingPage, VIEWS_PER_MINUTE) {
        Some(refused) => refused,
        None => match done::page(&app, &visit, &token, arrival).await {
            Ok(found) => found.unwrap_or_else(|| HtmlPage::not_found(visit.language)),
            Err(e) => failed(&visit, e),
        },
    };
    page.into_response(&visit)
}

/// The page that shows hosts what the invitee wrote into a booking.
async fn shown_to_hosts(
    State(app): State<App>,
    Extension(desk): Extension<Arc<BookContext>>,
    params: BookParams,
    request: Request,
) -> Response {
    let visit = PageRequest::from_request(&app, &request);
    drop(request);
    let token = params.ok().and_then(|Path(mut params)| params.remove("token")).unwrap_or_default();
    let page = match desk.admit(&app, &visit, Class::BookingPage, VIEWS_PER_MINUTE) {
        Some(refused) => refused,
        None => match host_view::page(&app, &visit, &token).await {
            Ok(found) => found.unwrap_or_else(|| HtmlPage::not_found(visit.language)),
            Err(e) => failed(&visit, e),
        },
    };
    page.into_response(&visit)
}

/// A booking as a calendar file; its page if it does not take place.
async fn calendar_file(
    State(app): State<App>,
    Extension(desk): Extension<Arc<BookContext>>,
    params: BookParams,
    request: Request,
) -> Response {
    let visit = PageRequest::from_request(&app, &request);
    drop(request);
    let token = params.ok().and_then(|Path(mut params)| params.remove("token")).unwrap_or_default();
    if let Some(refused) = desk.admit(&app, &visit, Class::BookingPage, VIEWS_PER_MINUTE) {
        return refused.into_response(&visit);
    }
    match calendars::file(&app, &visit, &token).await {
        Ok(Some(file)) => file,
        // Relative to this file's address, as above.
        Ok(None) => see_other(&visit, &format!("../{token}")),
        Err(e) => failed(&visit, e).into_response(&visit),
    }
}

/// The token in the path of a page below a booking's, and the page's action; none if the path is no such page.
fn aim(params: BookParams, path: &str) -> Option<(String, ManageTarget)> {
    let Path(mut params) = params.ok()?;
    let token = params.remove("token")?;
    let aim = match params.remove("start") {
        Some(start) => ManageTarget::MoveTo(start.parse::<Instant>().ok()?),
        None if path.ends_with("/cancel") => ManageTarget::Cancel,
        None => ManageTarget::Choose,
    };
    Some((token, aim))
}

/// The pages below a booking's own, which change nothing when they are opened.
async fn show_below(
    State(app): State<App>,
    Extension(desk): Extension<Arc<BookContext>>,
    params: BookParams,
    request: Request,
) -> Response {
    let visit = PageRequest::from_request(&app, &request);
    let aim = aim(params, request.uri().path());
    drop(request);
    let page = match (desk.admit(&app, &visit, Class::BookingPage, VIEWS_PER_MINUTE), aim) {
        (Some(refused), _) => refused,
        (None, None) => HtmlPage::not_found(visit.language),
        (None, Some((token, aim))) => match manage::view(&app, &visit, &token, aim).await {
            // Relative to this page's address, as above.
            Ok(FormResult::Booked(path)) => return see_other(&visit, &format!("{}../{path}", aim.up())),
            Ok(FormResult::Shows(page)) => *page,
            Err(e) => failed(&visit, e),
        },
    };
    page.into_response(&visit)
}

/// Handles a form of a page below a booking's.
async fn send_below(
    State(app): State<App>,
    Extension(desk): Extension<Arc<BookContext>>,
    params: BookParams,
    request: Request,
) -> Response {
    let visit = PageRequest::from_request(&app, &request);
    let aim = aim(params, request.uri().path());
    let (request, rest) = unread_body::lend(request);
    let taken = take_below(&app, &desk, &visit, aim.as_ref(), request).await;
    drain(rest, received_form::is_late(&taken)).await;
    let page = match taken {
        Ok(FormResult::Booked(path)) => {
            // Relative to this form's address, as above.
            let up =
                if matches!(aim, Some((_, ManageTarget::MoveTo(_)))) { "../../../../" } else { "../../" };
            return see_other(&visit, &format!("{up}{path}"));
        }
        Ok(FormResult::Shows(page)) | Err(page) => *page,
    };
    page.into_response(&visit)
}

async fn take_below(
    app: &App,
    desk: &BookContext,
    visit: &PageRequest,
    aim: Option<&(String, ManageTarget)>,
    request: Request,
) -> Result<FormResult, Box<HtmlPage>> {
    let form = read(app, desk, visit, request).await?;
    let Some((token, aim)) = aim else { return Err(Box::new(HtmlPage::not_found(visit.language))) };
    manage::send(app, visit, token, *aim, &form.fields).await.map_err(|e| Box::new(failed(visit, e)))
}
