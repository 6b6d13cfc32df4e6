//! Forms of booking pages that programs fill in, and the responses.

use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::http::StatusCode;
use futures::future::join_all;
use harness::TestServer;
use harness::browser::{Browser, Page};
use reqwest::Url;
use serde_json::{Value, json};
use service::app::config::VerdictFailure;
use tokio::net::TcpListener;

use super::page::{ADA, address, follow, form, send};
use super::{BOOKINGS, DAY, Desk, EVENT_TYPES, booking, on, starts, text};

/// How many times of the day are free.
async fn free(desk: &Desk, event_type: &str) -> usize {
    starts(&desk.api, &on(event_type, DAY)).await.len()
}

/// A form that is sent at once is shown again, and can be sent as it is two seconds after it was opened.
#[tokio::test]
async fn nobody_fills_in_a_form_at_once() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let page = browser.open(&format!("{url}?at={DAY}T09:00:00Z")).await;
    server.clock.advance_ms(1_999);
    let fast = send(&browser, &page, &ADA).await;
    assert_eq!((fast.status, fast.header("retry-after")), (429, "2"), "{fast:#?}");
    assert!(fast.text.contains("sent very fast") && fast.text.contains("value=\"Ada\""), "{fast:#?}");
    assert_eq!(free(&desk, &id).await, 6, "nothing was booked");
    server.clock.advance_ms(1);
    assert_eq!(send(&browser, &fast, &ADA).await.status, 303);
    assert_eq!(free(&desk, &id).await, 5);

    // Who had the form for long enough corrects it as fast as they can; a form of their own making has no age.
    let page = form(&server, &browser, &url, "09:30").await;
    let wrong = send(&browser, &page, &[ADA[0], ("email", "nobody")]).await;
    assert_eq!(wrong.status, 400);
    assert_eq!(send(&browser, &wrong, &ADA).await.status, 303);
    let forged = [ADA[0], ADA[1], ("token", "x.y"), ("start", "2026-03-10T10:00:00Z")];
    let refused = browser.submit(page.form().action.as_str(), &forged).await;
    assert_eq!(refused.status, 400);
    assert_eq!(send(&browser, &refused, &ADA).await.status, 429, "its age begins with the page");
}

/// A request that fills in the hidden field is sent to a page that looks like a booking's, and books nothing.
#[tokio::test]
async fn a_program_that_fills_in_everything_books_nothing() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let page = form(&server, &browser, &url, "09:00").await;
    let trapped = send(&browser, &page, &[ADA[0], ADA[1], ("website", "https://spam.example")]).await;
    let done = follow(&browser, &trapped).await;
    assert_eq!(done.status, 200, "{done:#?}");
    assert!(done.text.contains("Your booking is confirmed"), "{done:#?}");
    assert_eq!(free(&desk, &id).await, 6);
    let booked = follow(&browser, &send(&browser, &page, &ADA).await).await;
    assert!(booked.text.contains("Your booking is confirmed"), "{booked:#?}");
    let path = |page: &Page| page.url.path().rsplit_once('/').expect("a path").0.to_owned();
    assert_eq!((path(&done), done.url.query()), (path(&booked), booked.url.query()));
}

/// An address books three times within an hour, by whichever page of an application, and however it is written.
#[tokio::test]
async fn an_address_books_three_times_an_hour() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({})).await;
    let id = desk.open("other", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let other = address(&desk.api, "other").await;
    let spelled = ("email", "ADA@Example.org");
    for (url, time, email) in [(&url, "09:00", ADA[1]), (&url, "09:30", spelled), (&other, "10:00", ADA[1])] {
        let page = form(&server, &browser, url, time).await;
        assert_eq!(send(&browser, &page, &[ADA[0], email]).await.status, 303, "{time}");
    }
    let page = form(&server, &browser, &other, "10:30").await;
    let refused = send(&browser, &page, &[ADA[0], spelled]).await;
    // The first one was made two seconds after the beginning, and this is the eighth second.
    assert_eq!((refused.status, refused.header("retry-after")), (429, "3594"), "{refused:#?}");
    assert!(refused.text.contains("too many bookings") && refused.text.contains("id=\"error-email\""));
    assert_eq!(free(&desk, &id).await, 3, "its time is free again");
    // Another address can book, and so can a key: it has a separate budget.
    assert_eq!(send(&browser, &refused, &[ADA[0], ("email", "bob@example.org")]).await.status, 303);
    desk.api.post(BOOKINGS, booking(&id, "11:00")).send().await.expect(201);

    server.clock.advance_ms(3_592_000);
    let page = form(&server, &browser, &other, "11:30").await;
    let early = send(&browser, &page, &ADA).await;
    assert_eq!(early.status, 429, "the booking by the key counts: {early:#?}");
    server.clock.advance_ms(8_000);
    assert_eq!(send(&browser, &early, &ADA).await.status, 303);
}

/// A key that can only book may be in web pages, where everyone can read it: it can book for an address as often as the page, and both
/// count together.
#[tokio::test]
async fn a_browsers_key_books_three_times_an_hour_for_an_address() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let key = server.client_with(&["scheduling.book"]).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let page = form(&server, &browser, &url, "09:00").await;
    assert_eq!(send(&browser, &page, &ADA).await.status, 303);
    let made = key.post(BOOKINGS, booking(&id, "09:30")).send().await.expect(201);
    assert_eq!(made["source"], "api");
    key.post(BOOKINGS, booking(&id, "10:00")).send().await.expect(201);

    let mut late = booking(&id, "11:00");
    late["inviteeEmail"] = json!("ADA@Example.org");
    let refused = key.post(BOOKINGS, late.clone()).keyed("late").send().await;
    assert_eq!(refused.header("retry-after"), Some("3600"));
    assert_eq!(refused.refused(429, "rate_limited")["param"], "inviteeEmail");
    assert_eq!(free(&desk, &id).await, 3, "its time is free again");
    // For another address it books, and the key of a server for this one too.
    let mut of_bob = booking(&id, "10:30");
    of_bob["inviteeEmail"] = json!("bob@example.org");
    key.post(BOOKINGS, of_bob).send().await.expect(201);
    desk.api.post(BOOKINGS, booking(&id, "11:30")).send().await.expect(201);

    server.clock.advance_ms(3_600_000);
    key.post(BOOKINGS, late).keyed("late").send().await.expect(201);
}

/// Four simultaneous requests with such keys are three bookings, even with two event types and two keys.
#[tokio::test]
async fn three_of_four_requests_of_browsers_at_once_book() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let ids = [desk.open("intro", json!({})).await, desk.open("other", json!({})).await];
    let keys =
        [server.client_with(&["scheduling.book"]).await, server.client_with(&["scheduling.book"]).await];
    let times = ["09:00", "09:30", "10:00", "10:30"].into_iter().enumerate();
    let asked = times.map(|(n, time)| keys[n / 2].post(BOOKINGS, booking(&ids[n % 2], time)).send());
    let answers = join_all(asked).await;
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 201, 201, 429]);
}

/// Four simultaneous forms are three bookings, even with two event types.
#[tokio::test]
async fn three_of_four_at_once_are_booked() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({})).await;
    desk.open("other", json!({})).await;
    let browser = Browser::default();
    let mut pages = Vec::new();
    for (slug, time) in [("intro", "09:00"), ("other", "09:30"), ("intro", "10:00"), ("other", "10:30")] {
        let url = address(&desk.api, slug).await;
        pages.push(form(&server, &browser, &url, time).await);
    }
    let sent = join_all(pages.iter().map(|page| send(&browser, page, &ADA))).await;
    let mut statuses: Vec<u16> = sent.iter().map(|page| page.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 303, 303, 429]);
}

/// The event type's own limit holds on its page.
#[tokio::test]
async fn an_invitee_has_as_many_bookings_ahead_as_the_event_type_allows() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({ "limits": { "activePerInvitee": 1 } })).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let page = form(&server, &browser, &url, "09:00").await;
    assert_eq!(send(&browser, &page, &ADA).await.status, 303);
    let page = form(&server, &browser, &url, "09:30").await;
    let refused = send(&browser, &page, &[ADA[0], ("email", "Ada@EXAMPLE.org")]).await;
    assert_eq!(refused.status, 409, "{refused:#?}");
    assert!(refused.text.contains("as many upcoming bookings as allowed"), "{refused:#?}");
}

/// A link that is good for one booking is used up by a form, which leads to its booking once more when it is sent once more.
#[tokio::test]
async fn a_form_uses_its_link_up() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let path = format!("{EVENT_TYPES}/{id}/links");
    let link = desk.api.post(path, json!({ "singleUse": true })).send().await.expect(201);
    let (browser, url) = (Browser::default(), text(&link["url"]));
    let page = form(&server, &browser, &url, "09:00").await;
    let another = form(&server, &browser, &url, "09:30").await;
    let first = send(&browser, &page, &ADA).await;
    assert_eq!(first.status, 303, "{first:#?}");
    let again = send(&browser, &page, &ADA).await;
    assert_eq!((again.status, again.location()), (303, first.location()));
    assert_eq!(send(&browser, &another, &ADA).await.status, 404);
    assert_eq!(browser.open(&url).await.status, 404);
    let forged = [ADA[0], ADA[1], ("token", "x.y"), ("start", "2026-03-10T10:00:00Z")];
    assert_eq!(browser.submit(page.form().action.as_str(), &forged).await.status, 404);
    assert_eq!(free(&desk, &id).await, 5);
}

const ALLOW: (u16, &str) = (200, "{\"allow\": true, \"score\": 1}");
const DENY: (u16, &str) = (200, "{\"allow\": false}");

/// The operator's service that knows who is welcome.
struct Service {
    url: Url,
    /// Status and body of its answers.
    answer: Arc<Mutex<(u16, &'static str)>>,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Service {
    async fn start() -> Service {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let answer = Arc::new(Mutex::new(ALLOW));
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (says, hears) = (answer.clone(), asked.clone());
        let decide = async move |body: Bytes| {
            let question = serde_json::from_slice(&body).expect("a JSON body");
            hears.lock().expect("no test panics with it").push(question);
            let (status, text) = *says.lock().expect("no test panics with it");
            (StatusCode::from_u16(status).expect("a status"), text)
        };
        let app = axum::Router::new().fallback(decide);
        tokio::spawn(async move { axum::serve(listener, app).await.expect("the service stays") });
        let url = format!("http://{address}/verdict").parse().expect("a URL");
        Service { url, answer, asked }
    }

    fn says(&self, answer: (u16, &'static str)) {
        *self.answer.lock().expect("no test panics with it") = answer;
    }

    fn asked(&self) -> Vec<Value> {
        self.asked.lock().expect("no test panics with it").clone()
    }

    /// A server that asks it.
    async fn server(&self, failure: VerdictFailure) -> TestServer {
        let url = self.url.clone();
        let builder = TestServer::builder().config(move |config| {
            config.booking_verdict_url = Some(url);
            config.booking_verdict_failure = failure;
        });
        builder.start().await
    }
}

/// The operator's own service is asked about each form once, and learns no address of mail.
#[tokio::test]
async fn the_operators_service_decides() {
    let service = Service::start().await;
    let server = service.server(VerdictFailure::Closed).await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let page = form(&server, &browser, &url, "09:00").await;
    let first = send(&browser, &page, &[ADA[0], ("email", "Ada@Example.org")]).await;
    assert_eq!(first.status, 303, "{first:#?}");
    let again = send(&browser, &page, &[ADA[0], ("email", "Ada@Example.org")]).await;
    assert_eq!(again.location(), first.location());
    let asked = service.asked();
    assert_eq!(asked.len(), 1, "{asked:#?}");
    let token = page.form().hidden.into_iter().find(|(name, _)| name == "token").expect("a token").1;
    let question = json!({
        "address": "127.0.0.1", "userAgent": "", "slug": "intro", "formToken": token,
        "emailHash": "cfe00dde46ef942601ffafb9e2825e802858b460e586b8305b344c1eb826357d",
    });
    assert_eq!(asked[0], question);

    service.says(DENY);
    let page = form(&server, &browser, &url, "09:30").await;
    let denied = send(&browser, &page, &ADA).await;
    assert_eq!(denied.status, 403);
    assert!(denied.text.contains("This booking can’t be accepted"), "{denied:#?}");
    assert_eq!(free(&desk, &id).await, 5);
    // Forms that are refused before are none of its business, and neither are bookings by a key.
    let wrong = send(&browser, &page, &[ADA[0], ADA[1], ("website", "x")]).await;
    assert_eq!(wrong.status, 303);
    desk.api.post(BOOKINGS, booking(&id, "10:00")).send().await.expect(201);
    assert_eq!(service.asked().len(), 2);
}

/// The setting decides where the service says that it cannot answer: forms are taken, or kept to be sent again.
#[tokio::test]
async fn without_a_verdict_the_setting_decides() {
    for (failure, status) in [(VerdictFailure::Open, 303), (VerdictFailure::Closed, 503)] {
        let service = Service::start().await;
        let server = service.server(failure).await;
        let desk = Desk::of(&server, "alice").await;
        desk.open("intro", json!({})).await;
        let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
        let faults = [(500, "{\"allow\": true}"), (503, ""), (504, "{\"allow\": false}")];
        for (fault, time) in faults.into_iter().zip(["09:00", "09:30", "10:00"]) {
            service.says(fault);
            let page = form(&server, &browser, &url, time).await;
            let sent = send(&browser, &page, &ADA).await;
            assert_eq!(sent.status, status, "{fault:?}: {sent:#?}");
            if failure == VerdictFailure::Closed {
                assert_eq!(sent.header("retry-after"), "5");
                service.says(ALLOW);
                assert_eq!(send(&browser, &sent, &ADA).await.status, 303, "it is the same form");
            }
        }
    }
}

/// Without a clear consent the form is refused, whatever the operator's setting for silence: an unparseable answer, a redirect, and one
/// that is too long. A long answer within the limit is read to its end.
#[tokio::test]
async fn an_answer_that_is_no_consent_refuses() {
    let spaced: &'static str = format!("{{\"allow\": true}}{}", " ".repeat(20_000)).leak();
    let padded = |length: usize, allow: bool| -> &'static str {
        format!("{{\"why\": \"{}\", \"allow\": {allow}}}", "x".repeat(length)).leak()
    };
    for failure in [VerdictFailure::Open, VerdictFailure::Closed] {
        let service = Service::start().await;
        let server = service.server(failure).await;
        let desk = Desk::of(&server, "alice").await;
        let id = desk.open("intro", json!({})).await;
        let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
        for answer in [
            (200, padded(2_000, false)),
            (200, padded(20_000, true)),
            (200, spaced),
            (200, "yes"),
            (200, "{\"allow\": \"true\"}"),
            (204, ""),
            (302, "{\"allow\": true}"),
            (400, "{\"allow\": true}"),
            (403, "{\"allow\": true}"),
            (404, ""),
            (429, ""),
        ] {
            service.says(answer);
            let page = form(&server, &browser, &url, "09:00").await;
            let refused = send(&browser, &page, &ADA).await;
            assert_eq!(refused.status, 403, "{answer:?}: {refused:#?}");
            assert!(refused.text.contains("This booking can’t be accepted"), "{refused:#?}");
        }
        assert_eq!(free(&desk, &id).await, 6, "nothing was booked");
        service.says((200, padded(15_000, true)));
        let page = form(&server, &browser, &url, "09:00").await;
        assert_eq!(send(&browser, &page, &ADA).await.status, 303);
    }
}

/// An unavailable service blocks no booking, unless the operator's setting says so.
#[tokio::test]
async fn a_service_that_is_gone_gives_no_verdict() {
    let mut service = Service::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address_of_nobody = listener.local_addr().expect("an address");
    drop(listener);
    service.url = format!("http://{address_of_nobody}/").parse().expect("a URL");
    for (failure, status) in [(VerdictFailure::Open, 303), (VerdictFailure::Closed, 503)] {
        let server = service.server(failure).await;
        let desk = Desk::of(&server, "alice").await;
        desk.open("intro", json!({})).await;
        let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
        let page = form(&server, &browser, &url, "09:00").await;
        let sent = send(&browser, &page, &ADA).await;
        assert_eq!(sent.status, status, "{failure:?}: {sent:#?}");
    }
}
