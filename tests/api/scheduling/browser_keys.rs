//! Keys in web pages, where everyone can read them: one visitor's use of such a key takes nothing from other visitors.

use std::convert::Infallible;

use axum::body::Bytes;
use futures::stream;
use harness::{Actor, Exchange, TestServer};
use serde_json::json;

use super::{BOOKINGS, DAY, Desk, SLOTS, booking, on, starts};

/// A server that believes what its proxy says of visitors.
async fn behind_proxy() -> TestServer {
    let proxies = vec!["127.0.0.1/32".parse().expect("a network")];
    TestServer::builder().config(|config| config.trusted_proxies = proxies).start().await
}

async fn ask(key: &Actor, from: &str) -> Exchange {
    key.get("/v1/scheduling/booking-links/intro").header("x-forwarded-for", from).send().await
}

/// A visitor can use up only the visitor's own part of the key's budget; a network of visitors counts as one. A server's key has one
/// address.
#[tokio::test]
async fn one_visitor_does_not_use_up_the_budget_of_a_browsers_key() {
    let server = behind_proxy().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({})).await;
    for domains in [Vec::new(), vec!["app.example.com".to_owned()]] {
        let is_of_site = !domains.is_empty();
        let key = server
            .key("test", |key| {
                key.scopes = vec!["scheduling.book".to_owned()];
                if is_of_site {
                    key.scopes.push("calendar.freebusy".to_owned());
                }
                key.allowed_domains = domains;
                key.rate_limit_per_minute = 20;
            })
            .await;
        let send = async |from: &str| {
            let link = key.get("/v1/scheduling/booking-links/intro").header("x-forwarded-for", from);
            link.header("origin", "https://app.example.com").send().await
        };
        let mut statuses = Vec::new();
        for n in 0..30 {
            let answer = send(&format!("2001:db8:0:{n}::1")).await;
            assert_eq!(answer.header("x-ratelimit-limit"), Some("20"), "the key's own");
            statuses.push(answer.status);
        }
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 10, "{statuses:?}");
        let over = send("2001:db8:0:77::1").await;
        let told = (over.header("retry-after"), over.header("x-ratelimit-remaining"));
        assert_eq!(told, (Some("60"), Some("0")));
        over.refused(429, "rate_limited");
        for other in ["2001:db8:0:100::1", "192.0.2.1", "192.0.2.2"] {
            send(other).await.expect(200);
        }
        server.clock.advance_ms(60_000);
        send("2001:db8::1").await.expect(200);
    }

    let key = server.key("test", |key| key.rate_limit_per_minute = 20).await;
    for _ in 0..20 {
        ask(&key, "192.0.2.1").await.expect(200);
    }
    ask(&key, "192.0.2.1").await.refused(429, "rate_limited");
}

/// An application's own record of a booking is not written by anybody who reads the key in a page.
#[tokio::test]
async fn a_browsers_key_sets_no_metadata() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let key = server.client_with(&["scheduling.book"]).await;
    let mut body = booking(&id, "09:00");
    body["metadata"] = json!({ "paid": "yes" });
    let refused = key.post(BOOKINGS, body.clone()).keyed("once").send().await;
    assert_eq!(refused.refused(400, "invalid_parameter")["param"], "metadata");
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await.len(), 6, "nothing was booked");
    let booked = desk.api.post(BOOKINGS, body.clone()).send().await.expect(201);
    assert_eq!(booked["metadata"], json!({ "paid": "yes" }));
    body["start"] = json!(format!("{DAY}T10:00:00Z"));
    body["metadata"] = json!({});
    key.post(BOOKINGS, body).send().await.expect(201);
}

/// A page that does more than book sends bodies as large as others: only bookings are small.
#[tokio::test]
async fn a_key_of_a_page_that_does_more_than_book_sends_large_bodies() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let key = server
        .key("test", |key| {
            key.scopes = ["scheduling.book", "calendar.write"].map(str::to_owned).to_vec();
            key.allowed_domains = vec!["app.example.com".to_owned()];
        })
        .await;
    let large = "x".repeat(300_000);
    let calendar = json!({ "connectionId": desk.connection, "name": "Large", "other": large });
    let made = key.post("/v1/calendars", calendar).header("origin", "https://app.example.com");
    made.send().await.expect(201);
    let refused = key.post(BOOKINGS, json!({ "notes": large })).header("origin", "https://app.example.com");
    refused.send().await.refused(413, "payload_too_large");
}

/// A body that does not come holds none of the room that the application's servers have, and another visitor books beside it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visitor_that_sends_slowly_keeps_no_other_from_booking() {
    let server = behind_proxy().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let key = server.client_with(&["scheduling.book"]).await;
    let silent = || reqwest::Body::wrap_stream(stream::pending::<Result<Bytes, Infallible>>());
    let slow: Vec<_> = (0..100)
        .map(|_| {
            let ask = key.ask(reqwest::Method::POST, BOOKINGS.to_owned(), None);
            let ask = ask.header("x-forwarded-for", "203.0.113.7").raw("application/json", silent());
            tokio::spawn(ask.send())
        })
        .collect();
    let booked = key.post(BOOKINGS, booking(&id, "09:00")).header("x-forwarded-for", "192.0.2.1");
    booked.send().await.expect(201);
    desk.api.post(SLOTS, on(&id, DAY)).send().await.expect(200);
    for answer in slow {
        answer.await.expect("it is sent").refused(408, "request_timeout");
    }
}
