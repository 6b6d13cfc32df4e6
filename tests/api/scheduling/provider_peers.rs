//! Changes that hosts make, with another program, to the events of their bookings on third-party calendar servers.

use harness::TestServer;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use reqwest::Method;
use serde_json::{Value, json};

use super::lifecycle::{read, run_jobs};
use super::{BOOKINGS, Desk, text};
use crate::dav;
use crate::email::mailbox::escaped;

/// An account of both servers that no other test writes to.
const USER: &str = "t02";
/// Time after which the service believes that an event is deleted, ms.
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

    /// Returns the server's href of the event.
    async fn href(&self) -> String {
        let all = self.events().await;
        let [event] = &all[..] else { panic!("one event: {all:#?}") };
        text(&event["externalId"])
    }

    /// Another calendar of the host's: its id, and its path at the server.
    async fn shelf(&self) -> (String, String) {
        let body = json!({ "connectionId": self.desk.connection, "name": "Clients", "timeZone": "UTC" });
        let made = self.desk.api.post("/v1/calendars", body).send().await.expect(201);
        (text(&made["id"]), text(&made["externalId"]))
    }

    /// The booking has its event in that calendar, at once and when the minute is over.
    async fn assert_follows(&self, shelf: &str) {
        assert_eq!(self.events().await, Vec::<Value>::new());
        for _ in 0..2 {
            run_jobs(&self.server).await;
            let shown = read(&self.desk.api, &self.booking).await;
            assert_eq!(shown["status"], "confirmed", "{shown:#}");
            assert_eq!(shown["calendarEvents"][0]["calendarId"], shelf, "{shown:#}");
            self.server.clock.advance_ms(GONE_MS);
        }
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

/// Another program puts the event into another calendar and deletes it in this one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filed_elsewhere_in_radicale_the_event_keeps_its_booking() {
    let Some(url) = dav::peer("RADICALE_URL") else { return };
    let booked = Booked::on(url).await;
    let (href, (shelf, folder)) = (booked.href().await, booked.shelf().await);
    let object = dav::got(&booked.url, USER, &href).await.replace("\r\n", "\n");
    let file = ("text/calendar; charset=utf-8", object.as_str());
    dav::put(&booked.url, USER, &folder, "filed.ics", file).await;
    dav::delete(&booked.url, USER, &href).await;
    booked.assert_follows(&shelf).await;
    booked.desk.api.delete(format!("/v1/calendars/{shelf}")).send().await.expect(204);
    booked.close().await;
}

/// A move by one request (RFC 4918, section 9.9) keeps the booking too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webdav_move_in_cyrus_keeps_the_booking() {
    let Some(url) = dav::peer("CYRUS_URL") else { return };
    let booked = Booked::on(url).await;
    let (href, (shelf, folder)) = (booked.href().await, booked.shelf().await);
    let client = harness::http_client().build().expect("an HTTP client");
    let server = booked.url.trim_end_matches('/');
    let method = Method::from_bytes(b"MOVE").expect("a method");
    let request = client.request(method, format!("{server}{href}")).basic_auth(USER, Some("secret"));
    let request = request.header("destination", format!("{server}{folder}filed.ics"));
    let response = request.send().await.expect("the server answers");
    assert!(response.status().is_success(), "{}", response.status());
    booked.assert_follows(&shelf).await;
    booked.desk.api.delete(format!("/v1/calendars/{shelf}")).send().await.expect(204);
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
