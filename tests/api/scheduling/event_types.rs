//! `/v1/scheduling/event-types` and `/v1/scheduling/booking-links`

use harness::TestServer;
use serde_json::{Value, json};

use super::{Desk, EVENT_TYPES, text};

/// Fields that were set are returned, others have their defaults; a change leaves all other fields, and the etag guards it.
#[tokio::test]
async fn an_event_type_is_made_read_changed_and_deleted() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let api = &desk.api;
    let mut body = desk.event_type("intro");
    body["metadata"] = json!({ "team": "sales" });
    let made = api.post(EVENT_TYPES, body.clone()).keyed("k").send().await;
    let (location, etag) =
        (made.header("location").map(str::to_owned), made.header("etag").map(str::to_owned));
    let made = made.expect(201);
    let path = format!("{EVENT_TYPES}/{}", text(&made["id"]));
    assert!(text(&made["id"]).starts_with("et_"));
    assert_eq!((location.as_deref(), etag.as_deref()), (Some(path.as_str()), made["etag"].as_str()));
    assert_eq!((&made["slug"], &made["active"]), (&json!("intro"), &json!(true)));
    assert_eq!((&made["minNoticeMinutes"], &made["assignment"]), (&json!(120), &json!("fixed")));
    assert_eq!((&made["metadata"], &made["warnings"]), (&json!({ "team": "sales" }), &json!([])));
    assert_eq!(api.post(EVENT_TYPES, body).keyed("k").send().await.expect(201), made);
    assert_eq!(api.get(&path).send().await.expect(200), made);
    assert_eq!(api.all(EVENT_TYPES).await, std::slice::from_ref(&made));

    let change = json!({ "title": "Short call", "limits": { "per_day": 3 } });
    let changed = api.patch(&path, change.clone()).if_match(&text(&made["etag"])).send().await.expect(200);
    assert_eq!((&changed["title"], &changed["limits"]["perDay"]), (&json!("Short call"), &json!(3)));
    assert_eq!((&changed["hosts"], &changed["schedule"]), (&made["hosts"], &made["schedule"]));
    assert_ne!(changed["etag"], made["etag"]);
    api.patch(&path, change.clone()).if_match(&text(&made["etag"])).send().await.refused(409, "stale_etag");
    let same = api.patch(&path, change).send().await.expect(200);
    assert_eq!(same["etag"], changed["etag"], "nothing was changed");

    api.delete(&path).send().await.expect(204);
    api.get(&path).send().await.refused(404, "not_found");
    api.get("/v1/scheduling/booking-links/intro").send().await.refused(404, "not_found");
    assert_eq!(api.all(EVENT_TYPES).await, Vec::<Value>::new());
    desk.open("intro", json!({})).await;
}

/// A slug is unique within the application; one that was given up is free.
#[tokio::test]
async fn a_slug_names_one_event_type() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let first = desk.open("intro", json!({})).await;
    let refused = desk.api.post(EVENT_TYPES, desk.event_type("intro")).send().await;
    assert_eq!(refused.refused(409, "already_exists")["param"], "slug");
    let path = format!("{EVENT_TYPES}/{first}");
    desk.api.patch(&path, json!({ "slug": "hello" })).send().await.expect(200);
    desk.api.get("/v1/scheduling/booking-links/intro").send().await.refused(404, "not_found");
    let link = desk.api.get("/v1/scheduling/booking-links/hello").send().await.expect(200);
    assert_eq!(link["eventTypeId"], json!(first));
    let second = desk.open("intro", json!({})).await;
    let path = format!("{EVENT_TYPES}/{second}");
    let refused = desk.api.patch(&path, json!({ "slug": "hello" })).send().await;
    assert_eq!(refused.refused(409, "already_exists")["param"], "slug");
}

/// A booking page gets only what invitees may know.
#[tokio::test]
async fn a_link_tells_nothing_of_a_host_but_the_name() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let fields = json!({
        "locations": [{ "type": "phoneHost", "value": "+49 30 123456" }], "color": "#1a2b3c",
        "questions": [{ "key": "topic", "label": "Topic", "type": "text", "required": true }],
    });
    let id = desk.open("intro", fields).await;
    let browser = server.client_with(&["scheduling.book"]).await;
    let link = browser.get("/v1/scheduling/booking-links/intro").send().await.expect(200);
    assert_eq!(link["hosts"], json!([{ "name": "Alice", "avatarUrl": null }]));
    assert_eq!(link["locations"], json!([{ "type": "phoneHost" }]));
    assert_eq!((&link["timeZone"], &link["branding"]["color"]), (&json!("UTC"), &json!("#1a2b3c")));
    assert_eq!((&link["questions"][0]["key"], &link["singleUse"]), (&json!("topic"), &json!(false)));
    let url = text(&link["url"]);
    assert!(url.contains("/book/") && url.ends_with("/intro"), "{url}");
    for secret in [&desk.connection, &desk.calendar, "+49"] {
        assert!(!link.to_string().contains(secret), "{link:#}");
    }
    let path = format!("{EVENT_TYPES}/{id}");
    desk.api.patch(path, json!({ "active": false })).send().await.expect(200);
    browser.get("/v1/scheduling/booking-links/intro").send().await.refused(404, "not_found");
}

/// Another application has its own slugs, and none of these.
#[tokio::test]
async fn another_tenants_slug_is_404() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let other = server.key("other", |_| ()).await;
    let mut answers = Vec::new();
    for slug in ["intro", "nobody", "No Slug"] {
        let path = format!("/v1/scheduling/booking-links/{}", slug.replace(' ', "%20"));
        answers.push(other.get(path).send().await.refused(404, "not_found")["message"].clone());
    }
    assert!(answers.iter().all(|message| *message == answers[0]), "{answers:?}");
    other.get(format!("{EVENT_TYPES}/{id}")).send().await.refused(404, "not_found");
    other.post(super::SLOTS, super::on(&id, super::DAY)).send().await.refused(404, "not_found");
    other.post(super::BOOKINGS, super::booking(&id, "09:00")).send().await.refused(404, "not_found");
    assert_eq!(other.all(EVENT_TYPES).await, Vec::<Value>::new());
}

/// A key that is bound to connections neither makes nor sees an event type with another host.
#[tokio::test]
async fn a_bound_key_has_its_own_hosts_alone() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let bobs = desk.api.connect_account("bob").await;
    let bound = server.key("test", |key| key.connection_ids = vec![bobs.clone()]).await;
    bound.get(format!("{EVENT_TYPES}/{id}")).send().await.refused(404, "not_found");
    assert_eq!(bound.all(EVENT_TYPES).await, Vec::<Value>::new());
    let refused = bound.post(EVENT_TYPES, desk.event_type("other")).send().await;
    assert_eq!(refused.refused(400, "invalid_parameter")["param"], "hosts[0].connectionId");
    let mine =
        json!({ "slug": "bob", "title": "Bob", "durationMinutes": 15, "hosts": [{ "connectionId": bobs }] });
    let made = bound.post(EVENT_TYPES, mine).send().await.expect(201);
    assert!(made["hosts"][0]["calendarId"].is_string(), "the account's default calendar");
    assert_eq!(made["warnings"], json!([]));
    assert_eq!(bound.all(EVENT_TYPES).await.len(), 1);
}

/// An event type without hours and names has those of a working week in its host's zone, and the account's name. Both can be removed
/// again.
#[tokio::test]
async fn an_event_type_without_hours_and_names_has_those_of_its_host() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let bobs = api.connect_account("bob").await;
    let body =
        json!({ "slug": "bob", "title": "Bob", "durationMinutes": 60, "hosts": [{ "connectionId": bobs }] });
    let made = api.post(EVENT_TYPES, body).send().await.expect(201);
    let weekly = json!([{ "days": [1, 2, 3, 4, 5], "start": "09:00", "end": "17:00" }]);
    let hours = json!({ "timeZone": "America/New_York", "weekly": weekly, "overrides": [] });
    assert_eq!((&made["schedule"], &made["warnings"]), (&hours, &json!([])));
    assert_eq!(made["hosts"][0]["displayName"], "Bob Carter");
    // A Tuesday on which New York is four hours behind UTC.
    let free = super::starts(&api, &super::on(&text(&made["id"]), super::DAY)).await;
    let ends = (free.first().map(String::as_str), free.last().map(String::as_str));
    assert_eq!(ends, (Some("13:00"), Some("20:00")), "{free:?}");

    let path = format!("{EVENT_TYPES}/{}", text(&made["id"]));
    let mut nameless = made["hosts"].clone();
    nameless[0]["displayName"] = json!("");
    let change = json!({ "schedule": null, "hosts": nameless });
    let changed = api.patch(&path, change).send().await.expect(200);
    assert_eq!((&changed["schedule"], &changed["hosts"]), (&Value::Null, &nameless));
    assert_eq!(changed["warnings"][0]["code"], "never_open");
    let link = api.get("/v1/scheduling/booking-links/bob").send().await.expect(200);
    assert_eq!(link["hosts"], json!([{ "name": null, "avatarUrl": null }]));
}

/// Hours that are given are not replaced, and where they are none the answer says so.
#[tokio::test]
async fn an_event_type_that_is_never_open_says_so() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let empty = [json!({ "timeZone": "UTC" }), json!({ "timeZone": "UTC", "weekly": [] })];
    for (n, schedule) in empty.into_iter().enumerate() {
        let mut body = desk.event_type(&format!("never-{n}"));
        body["schedule"] = schedule;
        let made = desk.api.post(EVENT_TYPES, body).send().await.expect(201);
        assert_eq!(made["schedule"]["weekly"], json!([]));
        assert_eq!(made["warnings"][0]["code"], "never_open", "{made:#}");
        let path = format!("{EVENT_TYPES}/{}", text(&made["id"]));
        let weekly = json!([{ "days": [1], "start": "09:00", "end": "10:00" }]);
        let open = json!({ "schedule": { "timeZone": "UTC", "weekly": weekly } });
        let changed = desk.api.patch(path, open).send().await.expect(200);
        assert_eq!(changed["warnings"], json!([]));
    }
}
