//! `/v1/scheduling/event-types/{eventTypeId}/links`, and what can be done by a link.

use harness::TestServer;
use harness::browser::Browser;
use serde_json::{Value, json};
use service::retention;
use storage::api_keys;
use storage::scheduling::applications;

use super::page::address;
use super::{BOOKINGS, Desk, EVENT_TYPES, SLOTS, booking, text};

/// Makes a link to an event type; its slug.
async fn link(desk: &Desk, event_type: &str, fields: Value) -> String {
    let path = format!("{EVENT_TYPES}/{event_type}/links");
    let made = desk.api.post(path, fields).send().await.expect(201);
    assert_eq!(made["eventTypeId"], json!(event_type));
    text(&made["slug"])
}

fn page(slug: &str) -> String {
    format!("/v1/scheduling/booking-links/{slug}")
}

/// Returns a booking through a link.
fn by(slug: &str, event_type: &str, time: &str) -> Value {
    let mut body = booking(event_type, time);
    body["slug"] = json!(slug);
    body
}

/// Gives an application a handle, or takes it away, as `switchboard apps handle` does; whether it was free.
async fn set_handle(server: &TestServer, application: &str, handle: Option<&'static str>) -> bool {
    let id = application.to_owned();
    let written: anyhow::Result<bool> = server
        .app
        .db
        .write(move |tx| Box::pin(async move { applications::set_handle(tx, &id, handle).await }))
        .await;
    written.expect("it is written")
}

/// The name that the operator gave an application is in the address of every link to its pages. Addresses with the application's id lead
/// there too, whenever they were made.
#[tokio::test]
async fn links_have_the_handle_of_their_application() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    server.key("other", |_| ()).await;
    let tenants = api_keys::tenants(server.app.db.reader()).await.expect("the applications");
    let ids: Vec<&str> = tenants.iter().map(|tenant| tenant.application_id.as_str()).collect();
    let (browser, by_id) = (Browser::default(), address(&desk.api, "intro").await);
    let own = |id: &&str| by_id.contains(&id.trim_start_matches("app_").to_lowercase());
    let (own, others): (Vec<&str>, Vec<&str>) = ids.into_iter().partition(own);
    assert!(set_handle(&server, own[0], Some("acme")).await);
    assert!(!set_handle(&server, others[0], Some("acme")).await, "it is one application's");

    let url = address(&desk.api, "intro").await;
    assert!(url.ends_with("/book/acme/intro"), "{url}");
    let listed = desk.api.all(&format!("{EVENT_TYPES}/{id}/links")).await;
    assert_eq!(listed[0]["url"], json!(url));
    let made = desk.api.post(format!("{EVENT_TYPES}/{id}/links"), json!({})).send().await.expect(201);
    assert!(text(&made["url"]).contains("/book/acme/"), "{made:#}");
    for url in [&url, &by_id] {
        let page = browser.open(url).await;
        assert_eq!(page.status, 200, "{page:#?}");
        assert!(page.text.contains(">Intro call</h1>"), "{page:#?}");
    }

    assert!(set_handle(&server, own[0], None).await);
    assert_eq!(address(&desk.api, "intro").await, by_id);
    assert_eq!(browser.open(&url).await.status, 404, "nobody has the name");
    assert_eq!(browser.open(&by_id).await.status, 200);
}

/// It is good for one booking; after that it is as if it had never been. The event type's own slug stays.
#[tokio::test]
async fn a_single_use_link_works_once() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let slug = link(&desk, &id, json!({ "singleUse": true })).await;
    let shown = desk.api.get(page(&slug)).send().await.expect(200);
    assert_eq!((&shown["singleUse"], &shown["usesRemaining"]), (&json!(true), &json!(1)));
    assert!(text(&shown["url"]).ends_with(&slug));

    let refused = desk.api.post(BOOKINGS, by(&slug, &id, "13:00")).send().await;
    refused.refused(409, "slot_unavailable");
    desk.api.post(BOOKINGS, by(&slug, &id, "09:00")).send().await.expect(201);
    desk.api.get(page(&slug)).send().await.refused(404, "not_found");
    desk.api.post(BOOKINGS, by(&slug, &id, "10:00")).send().await.refused(404, "not_found");
    let query = json!({ "slug": slug, "start": "2026-03-10T00:00:00Z", "end": "2026-03-11T00:00:00Z" });
    desk.api.post(SLOTS, query).send().await.refused(404, "not_found");

    let links = desk.api.all(&format!("{EVENT_TYPES}/{id}/links")).await;
    let of: Vec<(String, bool)> =
        links.iter().map(|link| (text(&link["slug"]), link["active"] == json!(true))).collect();
    assert!(of.contains(&(slug, false)) && of.contains(&("intro".to_owned(), true)), "{of:?}");
    desk.api.post(BOOKINGS, by("intro", &id, "10:00")).send().await.expect(201);
}

/// Exactly one of several simultaneous bookings of different slots may use the link.
#[tokio::test]
async fn a_single_use_link_is_used_by_one() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let slug = link(&desk, &id, json!({ "singleUse": true })).await;
    let asked: Vec<_> = ["09:00", "09:30", "10:00", "10:30", "11:00"]
        .into_iter()
        .map(|time| {
            let ask = desk.api.post(BOOKINGS, by(&slug, &id, time));
            tokio::spawn(async move { ask.send().await })
        })
        .collect();
    let mut made = 0;
    for answer in asked {
        let answer = answer.await.expect("the request is sent");
        if answer.status == 201 {
            made += 1;
        } else {
            answer.refused(404, "not_found");
        }
    }
    assert_eq!(made, 1);
}

/// A link ends at its time, or when it is deleted; the event type's own slug is not ended so.
#[tokio::test]
async fn a_link_ends() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let short = link(&desk, &id, json!({ "expiresAt": "2026-03-01T09:00:00Z" })).await;
    let lasting = link(&desk, &id, json!({})).await;
    desk.api.post(BOOKINGS, by(&short, &id, "09:00")).send().await.expect(201);
    server.clock.advance_ms(2 * 3_600_000);
    desk.api.get(page(&short)).send().await.refused(404, "not_found");
    desk.api.post(BOOKINGS, by(&short, &id, "09:30")).send().await.refused(404, "not_found");
    desk.api.get(page(&lasting)).send().await.expect(200);

    let path = format!("{EVENT_TYPES}/{id}/links");
    desk.api.delete(format!("{path}/{lasting}")).send().await.expect(204);
    desk.api.get(page(&lasting)).send().await.refused(404, "not_found");
    desk.api.delete(format!("{path}/{lasting}")).send().await.refused(404, "not_found");
    desk.api.delete(format!("{path}/intro")).send().await.refused(409, "invalid_state");
    desk.api.get(page("intro")).send().await.expect(200);
    desk.api.delete(format!("{EVENT_TYPES}/{id}")).send().await.expect(204);
    desk.api.get(path).send().await.refused(404, "not_found");
}

/// A link is deleted a month after its end.
#[tokio::test]
async fn a_link_that_is_over_is_forgotten_after_a_month() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let path = format!("{EVENT_TYPES}/{id}/links");
    let used = link(&desk, &id, json!({ "singleUse": true })).await;
    link(&desk, &id, json!({ "expiresAt": "2026-03-01T09:00:00Z" })).await;
    let lasting = link(&desk, &id, json!({ "singleUse": true })).await;
    desk.api.post(BOOKINGS, by(&used, &id, "09:00")).send().await.expect(201);
    for (days, left) in [(30, 4), (1, 2)] {
        server.clock.advance_ms(days * 24 * 3_600_000);
        retention::clean(&server.app).await.expect("it is cleaned");
        assert_eq!(desk.api.all(&path).await.len(), left, "{days}");
    }
    desk.api.get(page(&lasting)).send().await.expect(200);
    desk.api.get(page("intro")).send().await.expect(200);
}

/// A repeated request makes one link, pages follow each other, and another application sees none of them.
#[tokio::test]
async fn links_are_listed_in_pages() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let path = format!("{EVENT_TYPES}/{id}/links");
    let made = desk.api.post(&path, json!({})).keyed("k").send().await.expect(201);
    assert_eq!(desk.api.post(&path, json!({})).keyed("k").send().await.expect(201), made);
    link(&desk, &id, json!({})).await;
    assert_eq!(desk.api.all(&format!("{path}?limit=1")).await.len(), 3);
    let other = server.key("other", |_| ()).await;
    other.get(&path).send().await.refused(404, "not_found");
    other.post(&path, json!({})).send().await.refused(404, "not_found");
    other.delete(format!("{path}/{}", text(&made["slug"]))).send().await.refused(404, "not_found");
}

#[tokio::test]
async fn each_wrong_field_of_a_link_is_named() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let path = format!("{EVENT_TYPES}/{id}/links");
    for (body, param) in [
        (json!({ "singleUse": "yes" }), "singleUse"),
        (json!({ "expiresAt": "tomorrow" }), "expiresAt"),
        (json!({ "expiresAt": "2026-02-28T00:00:00Z" }), "expiresAt"),
        (json!({ "expiresAt": "9999-01-01T00:00:00Z" }), "expiresAt"),
    ] {
        let refused = desk.api.post(&path, body).send().await.refused(400, "invalid_parameter");
        assert_eq!(refused["param"], param);
    }
    // A link of another event type is none of this one.
    desk.open("other", json!({})).await;
    desk.api.post(BOOKINGS, by("other", &id, "09:00")).send().await.refused(404, "not_found");
}
