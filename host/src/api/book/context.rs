//! Limits of all requests to the booking page, and answers that several pages share.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request};
use axum::response::Response;
use base::error::{Code, Error};
use http::{HeaderValue, StatusCode, header};
use service::app::App;
use service::bookings::host_decision;

use crate::api::book::layout::HtmlPage;
use crate::api::book::received_form::{FormDesk, ReceivedForm};
use crate::api::book::subject::PageRequest;
use crate::api::book::texts::texts;
use crate::web::error;
use crate::web::rate_limit::{Class, Limiters};
use crate::web::unread_body::Rest;

/// Pages that one address may open per minute.
pub const VIEWS_PER_MINUTE: u64 = 300;
/// Forms that one address, or the holder of one host's link, may send per minute.
const FORMS_PER_MINUTE: u64 = 20;

/// State that all requests to the page share.
pub struct BookContext {
    limiters: Arc<Limiters>,
    forms: FormDesk,
}

/// The parameters of a path.
pub type BookParams = Result<Path<HashMap<String, String>>, PathRejection>;

impl BookContext {
    pub fn new(limiters: Arc<Limiters>) -> BookContext {
        BookContext { limiters, forms: FormDesk::default() }
    }

    /// Refuses an address over its limit.
    pub fn admit(&self, app: &App, visit: &PageRequest, class: Class, limit: u64) -> Option<HtmlPage> {
        let standing = self.limiters.take_of_address(class, visit.ip, limit, app.now());
        let seconds = standing.retry_after_s?;
        Some(too_many(visit, seconds))
    }
}

fn too_many(visit: &PageRequest, retry_after_s: u64) -> HtmlPage {
    let page = HtmlPage::message(StatusCode::TOO_MANY_REQUESTS, texts(visit.language).too_many);
    page.retry_after_s(retry_after_s)
}

/// The page for an internal error, or for an unknown address.
pub fn failed(visit: &PageRequest, e: Error) -> HtmlPage {
    match e.code() {
        Some(Code::NotFound) => HtmlPage::not_found(visit.language),
        _ => {
            // Already logged.
            let refusal = error::public(e, &visit.request_id);
            HtmlPage::broken(visit.language).for_refusal(&refusal)
        }
    }
}

/// Reads a form of this site's own page, within the limits of the address and the service.
pub async fn read<'d>(
    app: &App,
    desk: &'d BookContext,
    visit: &PageRequest,
    request: Request,
) -> Result<ReceivedForm<'d>, Box<HtmlPage>> {
    match desk.admit(app, visit, Class::BookingForm, FORMS_PER_MINUTE) {
        Some(refused) => Err(Box::new(refused)),
        None => desk.forms.read(app, visit, request).await,
    }
}

/// As `read`, for a host with a valid link: with a rate limit of its own, separate from the booking forms of a shared address.
pub async fn read_of_host<'d>(
    app: &App,
    desk: &'d BookContext,
    visit: &PageRequest,
    token: &str,
    request: Request,
) -> Result<ReceivedForm<'d>, Box<HtmlPage>> {
    if !host_decision::is_genuine(&app.keyring, token) {
        return read(app, desk, visit, request).await;
    }
    let name = format!("{:?} {token}", Class::BookingForm);
    let standing = desk.limiters.take_of_name(&name, FORMS_PER_MINUTE, app.now());
    match standing.retry_after_s {
        Some(seconds) => Err(Box::new(too_many(visit, seconds))),
        None => desk.forms.read(app, visit, request).await,
    }
}

/// Reads the rest of a request, so that its answer arrives. The rest of a late form is not waited for.
pub async fn drain(rest: Rest, is_late: bool) {
    if !is_late {
        rest.take().await;
    }
}

/// Redirects the browser to another page.
pub fn see_other(visit: &PageRequest, location: &str) -> Response {
    let page = HtmlPage::see_other(location, texts(visit.language).go_on);
    let mut response = page.into_response(visit);
    if let Ok(location) = HeaderValue::try_from(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}
