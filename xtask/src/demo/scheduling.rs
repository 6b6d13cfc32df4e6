//! Booking: half an hour is offered, found and booked. It is in the calendar, the demo gets a webhook, and a second booking of it is
//! refused.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::demo::walk::{Walk, list, text};
use crate::demo::webhooks::Endpoint;

const EVENT_TYPES: &str = "/v1/scheduling/event-types";
const BOOKINGS: &str = "/v1/scheduling/bookings";

impl Walk {
    /// Offers mornings of the demo's calendar, books the first half hour of one, and deletes everything again.
    pub fn be_booked(&mut self) -> Result<()> {
        let endpoint = Endpoint::start()?;
        let webhook = json!({ "url": endpoint.url, "eventTypes": ["booking.created"] });
        let webhook =
            self.ask("Subscribe to bookings", "POST", "/v1/webhooks", &[], Some(&webhook))?.expect(&[201])?;
        let event_type = self.offer()?;
        let slot = self.find_slot(&event_type)?;
        let (booking, answered) = self.book(&slot, &event_type)?;
        let (delivery, notification) = endpoint.about(&text(&booking, "id")?)?;
        delivery.show(&notification, delivery.at.saturating_duration_since(answered));
        ensure!(notification["type"] == "booking.created", "the notification is of another type");
        ensure!(
            notification["data"]["resource"]["iCalUid"] == booking["iCalUid"],
            "the notification is of another booking"
        );
        ensure!(
            delivery.is_signed(&text(&webhook, "secret")?)?,
            "the notification has no signature by the webhook's secret"
        );
        println!("\n204\nThe signature is by the webhook's secret.");
        let events = self.events();
        let path = format!("{events}?i_cal_uid={}", text(&booking, "iCalUid")?);
        let found = self.until("Is it in the calendar?", &path, |page| Some(list(page).ok()?.len() == 1))?;
        let event = list(&found)?.first().context("there is no event")?;
        ensure!(event["start"] == slot["start"], "the event has another time");
        let path = format!("{events}/{}", text(event, "id")?);
        let etag = text(event, "etag")?;
        self.ask("Delete the event", "DELETE", &path, &[("if-match", &etag)], None)?.expect(&[204])?;
        let path = format!("{EVENT_TYPES}/{}", text(&event_type, "id")?);
        self.ask("Delete the event type", "DELETE", &path, &[], None)?.expect(&[204])?;
        let path = format!("/v1/webhooks/{}", text(&webhook, "id")?);
        self.ask("Delete the subscription", "DELETE", &path, &[], None)?.expect(&[204])?;
        Ok(())
    }

    /// Makes an event type, and shows its public view.
    fn offer(&mut self) -> Result<Value> {
        let host = json!({
            "connectionId": self.connection(), "calendarId": self.calendar(), "conflictCalendarIds": [self.calendar()],
            "displayName": "Alice",
        });
        let body = json!({
            // A kept database may still have the event type of an interrupted demo.
            "slug": format!("intro-{}", std::process::id()),
            "title": "Intro call",
            "durationMinutes": 30,
            "hosts": [host],
            "schedule": {
                "timeZone": "Europe/Berlin",
                "weekly": [{ "days": [1, 2, 3, 4, 5], "start": "09:00", "end": "12:00" }],
            },
            "locations": [{ "type": "link", "value": "https://meet.example.org/intro" }],
            // On a real server no mail may be sent.
            "notifications": { "invitee": false },
        });
        let title = "Offer half an hour on weekday mornings to be booked";
        let made = self.ask(title, "POST", EVENT_TYPES, &[], Some(&body))?.expect(&[201])?;
        let path = format!("/v1/scheduling/booking-links/{}", text(&made, "slug")?);
        let title = "What invitees may see: no address, no calendar";
        let link = self.ask(title, "GET", &path, &[], None)?.expect(&[200])?;
        ensure!(link["eventTypeId"] == made["id"], "the link leads to another event type");
        ensure!(link["hosts"][0]["name"] == "Alice", "the link does not name the host");
        ensure!(!link.to_string().contains(self.connection()), "the link tells the host's connection");
        Ok(made)
    }

    /// The first slot of a day.
    fn find_slot(&mut self, event_type: &Value) -> Result<Value> {
        let query = json!({
            "eventTypeId": event_type["id"], "timeZone": "Europe/Berlin",
            "start": "2030-01-17T00:00:00Z", "end": "2030-01-18T00:00:00Z",
        });
        let path = "/v1/scheduling/availability/query";
        let found = self.ask("When is there time?", "POST", path, &[], Some(&query))?.expect(&[200])?;
        Ok(list(&found)?.first().context("there is no time on this day")?.clone())
    }

    /// Books the slot, repeats the request, and tries to book the same slot as another invitee. Returns the booking with the time of the
    /// first answer.
    fn book(&mut self, slot: &Value, event_type: &Value) -> Result<(Value, Instant)> {
        let mut body = json!({
            "eventTypeId": event_type["id"], "start": slot["start"], "slotToken": slot["slotToken"],
            "inviteeEmail": "ada@example.org", "inviteeName": "Ada Lovelace", "inviteeTimeZone": "Europe/London",
        });
        let key = [("idempotency-key", "demo-book-1")];
        let began = Instant::now();
        let answer = self.ask("Book it", "POST", BOOKINGS, &key, Some(&body))?;
        let answered = began + answer.took;
        let booking = answer.expect(&[201])?;
        ensure!(booking["status"] == "confirmed", "the booking is not confirmed");
        ensure!(booking["start"] == slot["start"], "the booking has another time");
        let title = "The same request with the same key again: the first answer, no second booking";
        let again = self.ask(title, "POST", BOOKINGS, &key, Some(&body))?.expect(&[201])?;
        ensure!(again == booking, "the second answer differs from the first");
        body["inviteeEmail"] = json!("grace@example.org");
        body["inviteeName"] = json!("Grace Hopper");
        let title = "A second invitee wants the same time: it is taken";
        let refused = self.ask(title, "POST", BOOKINGS, &[], Some(&body))?.expect(&[409])?;
        ensure!(refused["error"]["code"] == "slot_unavailable", "the code is not slot_unavailable");
        Ok((booking, answered))
    }
}
