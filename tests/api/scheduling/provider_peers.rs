//! What hosts do with the events of their bookings on calendar servers that others wrote, by another program.

use harness::TestServer;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

use super::lifecycle::{read, run_jobs};
use super::{BOOKINGS, Desk, text};
use crate::dav;
use crate::email::mailbox::escaped;

/// An account of both servers that no other test writes to.
const USER: &str = "t02";
/// After so long the service believes that an event is gone, ms.
const GONE_MS: i64 = 60_000;

/// A booking in a calendar of the server.
struct Booked {
    server: TestServer,
    desk: Desk,
    url: String,
    booking: Value,
    /// `2026-03-10`.
    day: String,
}

impl Booked {
    async fn on(url: String) -> Booked {
        let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
        let server = TestServer::builder().from_now().config(|c| c.egress_allow = loopback).start().await;
        let api = server.client().await;
        let connection = text(&dav::connect(&api, &url, USER).await["id"]);
        let calendar = json!({ "connectionId": connection, "name": "Bookings", "timeZone": "UTC" });
        let calendar = text(&api.post("/v1/calendars", calendar).send().await.expect(201)["id"]);
        let desk = Desk { api, connection, calendar };
        let weekly = json!([{ "days": [1, 2, 3, 4, 5, 6, 7], "start": "00:00", "end": "24:00" }]);
        let fields = json!({
            "schedule": { "timeZone": "UTC", "weekly": weekly }, "notifications": { "invitee": false },
        });
        let id = desk.open("intro", fields).await;
        let now = Timestamp::from_millisecond(server.app.now()).expect("a time");
        let day = now.to_zoned(TimeZone::UTC).date().checked_add(3.days()).expect("a date").to_string();
        let body = json!({
            "eventTypeId": id, "start": format!("{day}T09:00:00Z"), "inviteeEmail": "ada@example.org",
        });
        let booking = desk.api.post(BOOKINGS, body).send().await.expect(201);
        run_jobs(&server).await;
        Booked { server, desk, url, booking, day }
    }

    /// The events of the booking, as the server has them now.
    async fn events(&self) -> Vec<Value> {
        self.server.clock.advance_ms(1_000);
        let uid = escaped(&text(&self.booking["iCalUid"]));
        let path = format!("/v1/calendars/{}/events?i_cal_uid={uid}", self.desk.calendar);
        let page = self.desk.api.get(path).header("cache-control", "no-cache").send().await.expect(200);
        page["data"].as_array().expect("a list").clone()
    }

    /// Where the server has the event.
    async fn href(&self) -> String {
        let all = self.events().await;
        let [event] = &all[..] else { panic!("one event: {all:#?}") };
        text(&event["externalId"])
    }

    async fn close(self) {
        let calendar = format!("/v1/calendars/{}", self.desk.calendar);
        self.desk.api.delete(calendar).send().await.expect(204);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleted_in_radicale_cancels_the_booking() {
    let Some(url) = dav::peer("RADICALE_URL") else { return };
    let booked = Booked::on(url).await;
    dav::delete(&booked.url, USER, &booked.href().await).await;
    assert_eq!(booked.events().await, Vec::<Value>::new());
    booked.server.clock.advance_ms(GONE_MS);
    run_jobs(&booked.server).await;
    let cancelled = read(&booked.desk.api, &booked.booking).await;
    assert_eq!((&cancelled["status"], &cancelled["cancelledBy"]), (&json!("cancelled"), &json!("host")));
    booked.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moved_in_cyrus_moves_the_booking() {
    let Some(url) = dav::peer("CYRUS_URL") else { return };
    let booked = Booked::on(url).await;
    let href = booked.href().await;
    let object = dav::got(&booked.url, USER, &href).await.replace("\r\n", "\n");
    let moved = object.replace("T093000", "T113000").replace("T090000", "T110000");
    assert_ne!(moved, object);
    dav::put(&booked.url, USER, &href, "", ("text/calendar; charset=utf-8", &moved)).await;
    assert_eq!(booked.events().await.len(), 1);
    run_jobs(&booked.server).await;
    let shown = read(&booked.desk.api, &booked.booking).await;
    let at = |time: &str| json!(format!("{}T{time}:00.000Z", booked.day));
    assert_eq!((&shown["start"], &shown["end"]), (&at("11:00"), &at("11:30")));
    assert_eq!((&shown["rescheduledBy"], &shown["previousStart"]), (&json!("host"), &at("09:00")));
    assert_eq!((&shown["id"], &shown["iCalUid"]), (&booked.booking["id"], &booked.booking["iCalUid"]));
    booked.close().await;
}
