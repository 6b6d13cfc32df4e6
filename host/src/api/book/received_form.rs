//! Receives forms of the booking page. A form takes one of the slots for processing only once it has arrived completely, which may take a
//! few seconds at most, and an address has a share of these slots and of the memory for incoming forms: stalled forms, and many forms of
//! one visitor, do not keep others from booking.

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
/// Longest time for a form to arrive.
const FORM_DEADLINE: Duration = Duration::from_secs(5);
/// Bytes of forms that are arriving or waiting for a slot, and those of one address: four of the largest, or hundreds of usual ones.
const ROOM_BYTES: usize = 16 << 20;
const ROOM_BYTES_OF_ADDRESS: usize = 1 << 20;
/// Forms that are processed concurrently, and those of one address.
const MAX_FORMS: usize = 64;
const MAX_FORMS_OF_ADDRESS: usize = 8;
/// Longest wait of a form for a slot: longer than unresponsive calendars can block others.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The memory and the slots for forms.
pub struct FormDesk {
    room: BodyRoom,
    places: Semaphore,
    places_of_address: Shares,
}

/// A form's slot, released on drop.
pub struct FormPlace<'d> {
    _of_all: SemaphorePermit<'d>,
    _of_address: OwnedSemaphorePermit,
}

/// A completely received form, with its slot.
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
    /// Reads a form of this site's own page.
    ///
    /// # Errors
    /// The page with the reason why it was not accepted.
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

    /// Waits for a slot: first among the forms of the same address, so that each address has few in the global queue. None: only if a
    /// semaphore is closed, which never happens.
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
        // The connection broke, and the answer is not read.
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
