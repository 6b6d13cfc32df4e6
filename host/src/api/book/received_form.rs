//! Forms of the booking page on their way in. A form has no place among those that are worked on before all of it has arrived, which takes a few
//! seconds at most, and of these places, as of the memory for forms that arrive, an address has a share: forms that do not come, and the many
//! forms of one visitor, keep nobody else from booking.

use std::net::IpAddr;
use std::time::Duration;

use axum::extract::Request;
use base::error::{Code, Error};
use compute::named_semaphores::Shares;
use http::StatusCode;
use service::app::App;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::api::book::layout::HtmlPage;
use crate::api::book::subject::PageRequest;
use crate::api::book::texts::texts;
use crate::web::form::FormFields;
use crate::web::rate_limit::site;
use crate::web::same_site::is_foreign;
use crate::web::small_body::{BodyRoom, SmallBody};

/// Largest form in bytes: answers, notes and the rest, each character of them as `%XX`.
const MAX_FORM: usize = 256 << 10;
/// How long a form may take to arrive.
const FORM_DEADLINE: Duration = Duration::from_secs(5);
/// Bytes of forms that arrive, or wait for their place, at one moment, and those of one address: four of the largest, or hundreds of usual ones.
const ROOM_BYTES: usize = 16 << 20;
const ROOM_BYTES_OF_ADDRESS: usize = 1 << 20;
/// Forms that are worked on at one moment, and those of one address.
const MAX_FORMS: usize = 64;
const MAX_FORMS_OF_ADDRESS: usize = 8;
/// How long a form waits for its place: longer than calendars that do not answer hold others.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The memory and the places for forms.
pub struct FormDesk {
    room: BodyRoom,
    places: Semaphore,
    places_of_address: Shares,
}

/// A form's place, which others may have when it is dropped.
pub struct FormPlace<'d> {
    _of_all: SemaphorePermit<'d>,
    _of_address: OwnedSemaphorePermit,
}

/// A form that was read as a whole, with its place.
pub struct ReceivedForm<'d> {
    pub fields: FormFields,
    _place: FormPlace<'d>,
}

impl Default for FormDesk {
    fn default() -> Self {
        FormDesk {
            room: BodyRoom::new(ROOM_BYTES, ROOM_BYTES_OF_ADDRESS),
            places: Semaphore::new(MAX_FORMS),
            places_of_address: Shares::new(MAX_FORMS_OF_ADDRESS),
        }
    }
}

impl FormDesk {
    /// Reads a form that this site's own page sent.
    ///
    /// # Errors
    /// The page that says why it was not taken.
    pub async fn read(
        &self,
        app: &App,
        visit: &PageRequest,
        request: Request,
    ) -> Result<ReceivedForm<'_>, Box<HtmlPage>> {
        if is_foreign(app, &request) {
            let said = texts(visit.language).foreign;
            return Err(Box::new(HtmlPage::message(StatusCode::FORBIDDEN, said)));
        }
        let body = self.room.read(request.into_body(), visit.ip, MAX_FORM, FORM_DEADLINE).await;
        let body: SmallBody = body.map_err(|e| Box::new(unread(visit, &e)))?;
        let place = timeout(LONGEST_WAIT, self.place(visit.ip)).await.ok().flatten();
        let place = place.ok_or_else(|| Box::new(busy(visit)))?;
        Ok(ReceivedForm { fields: FormFields::read(body.bytes()), _place: place })
    }

    /// Waits for a place: first among the forms of the same address, so that each address has few in the queue of all. None: only a closed
    /// semaphore has none, and nobody closes these.
    async fn place(&self, ip: IpAddr) -> Option<FormPlace<'_>> {
        let of_address = self.places_of_address.of(&site(ip).to_string());
        let of_address = of_address.acquire_owned().await.ok()?;
        let of_all = self.places.acquire().await.ok()?;
        Some(FormPlace { _of_all: of_all, _of_address: of_address })
    }
}

/// Whether a form did not arrive in time.
pub fn is_late<T>(taken: &Result<T, Box<HtmlPage>>) -> bool {
    taken.as_ref().is_err_and(|page| page.status() == StatusCode::REQUEST_TIMEOUT)
}

/// The page for a form that could not be read.
fn unread(visit: &PageRequest, e: &Error) -> HtmlPage {
    let texts = texts(visit.language);
    match e.code() {
        Some(Code::RequestTimeout) => HtmlPage::message(StatusCode::REQUEST_TIMEOUT, texts.broken),
        Some(Code::PayloadTooLarge) => HtmlPage::message(StatusCode::PAYLOAD_TOO_LARGE, texts.too_large),
        Some(Code::Overloaded) => busy(visit),
        // It broke off, and nobody reads the answer.
        _ => HtmlPage::message(StatusCode::BAD_REQUEST, texts.broken),
    }
}

fn busy(visit: &PageRequest) -> HtmlPage {
    let page = HtmlPage::message(StatusCode::SERVICE_UNAVAILABLE, texts(visit.language).too_many);
    page.retry_after_s(5)
}

#[cfg(test)]
mod tests {
    use futures::poll;

    use super::*;

    #[tokio::test]
    async fn an_address_has_a_share_of_the_places_and_waits_in_its_own_queue() {
        let desk = FormDesk::default();
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let mut held = Vec::new();
        for n in 0..MAX_FORMS_OF_ADDRESS {
            held.push(desk.place(ip(&format!("2001:db8:0:{n}::1"))).await.unwrap());
        }
        let mut next = Box::pin(desk.place(ip("2001:db8:0:ff::2")));
        assert!(poll!(next.as_mut()).is_pending(), "the network is one address");
        let mut others = Vec::new();
        for n in 0..MAX_FORMS - MAX_FORMS_OF_ADDRESS {
            others.push(desk.place(ip(&format!("198.51.100.{n}"))).await.unwrap());
        }
        let mut last = Box::pin(desk.place(ip("203.0.113.1")));
        assert!(poll!(last.as_mut()).is_pending(), "every place is taken");
        others.pop();
        assert!(last.await.is_some());
        held.pop();
        assert!(next.await.is_some());
    }
}
