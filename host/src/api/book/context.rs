//! The limits that all requests to the booking page share, and the answers that several pages have in common.

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

/// Pages that one address may open a minute.
pub const VIEWS_PER_MINUTE: u64 = 300;
/// Forms that one address, or the holder of one host's link, may send a minute.
const FORMS_PER_MINUTE: u64 = 20;

/// What all requests to the page share.
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

    /// Refuses an address that asks too often.
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

/// The page for an error that is no visitor's doing, or for what is not there.
pub fn failed(visit: &PageRequest, e: Error) -> HtmlPage {
    match e.code() {
        Some(Code::NotFound) => HtmlPage::not_found(visit.language),
        _ => {
            // It is logged on its way.
            let refusal = error::public(e, &visit.request_id);
            HtmlPage::broken(visit.language).for_refusal(&refusal)
        }
    }
}

/// A form that this site's own page sent, within what the address may send and the service may hold.
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

/// The same of a host whose link this service has made: it has a budget of its own, which the booking forms of a shared address leave alone.
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

/// Takes the rest of a request, so that its answer arrives. Of a form that was too late nothing waits that could keep it from arriving.
pub async fn drain(rest: Rest, is_late: bool) {
    if !is_late {
        rest.take().await;
    }
}

/// Sends the browser on to another page.
pub fn see_other(visit: &PageRequest, location: &str) -> Response {
    let page = HtmlPage::see_other(location, texts(visit.language).go_on);
    let mut response = page.into_response(visit);
    if let Ok(location) = HeaderValue::try_from(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}
