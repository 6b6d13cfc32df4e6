//! Subscriptions as the host asks for them.

use connector_microsoft::Microsoft;
use connector_sdk::http::{Request, Response};
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Context, Failure, Watch, code};
use model::Instant;
use model::wire::Connection;
use model::wire::watch::{WatchRenew, WatchStart, WatchStop, Watching};
use serde_json::{Value, json};

const SUBSCRIPTIONS: &str = "https://graph.microsoft.com/v1.0/subscriptions";
const WORK: &str = "https://graph.microsoft.com/v1.0/me/calendars/work?%24select=id%2CisDefaultCalendar";
const ADDRESS: &str = "https://x.test/v1/providers/microsoft/notifications";
/// 2026-03-01T08:00:00Z.
const NOW_MS: i64 = 1_772_352_000_000;
const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

fn start(surface: &str, scope: Option<&str>, days: i64) -> WatchStart {
    WatchStart {
        surface: surface.to_owned(),
        scope: scope.map(str::to_owned),
        address: ADDRESS.to_owned(),
        token: "s3cret".to_owned(),
        channel: "wat_1".to_owned(),
        wanted_until: Instant::from_millis(NOW_MS + days * DAY_MS),
    }
}

fn subscribed(until: &str) -> Response {
    let body = json!({ "@odata.context": "x", "id": "7f105c7d", "resource": "r", "expirationDateTime": until, "clientState": null });
    response(201, &[], &body.to_string())
}

fn error(status: u16, code: &str, message: &str) -> Response {
    response(status, &[], &json!({ "error": { "code": code, "message": message } }).to_string())
}

fn calendar(is_default: bool) -> Response {
    response(200, &[], &json!({ "id": "work", "isDefaultCalendar": is_default }).to_string())
}

fn begin(provider: Recorded, args: WatchStart) -> (Result<Watching, Failure>, Vec<Request>) {
    provider.surroundings.now_ms.set(NOW_MS);
    let watching = Microsoft::start(&Context::new(&provider, Connection::default()), args);
    let requests = provider.requests.borrow().clone();
    (watching, requests)
}

fn sent(request: &Request) -> Value {
    serde_json::from_slice(&body(request)).expect("JSON")
}

/// The lifecycle address cannot be added later, and it is the same.
#[test]
fn a_subscription_is_made_with_both_addresses() {
    let rows = [
        ("email", None, "/me/messages"),
        ("contacts", Some("contacts"), "/me/contacts"),
        ("contacts", Some("AAMk+/="), "/me/contactFolders/AAMk%2B%2F=/contacts"),
        ("tasks", Some("list"), "/me/todo/lists/list/tasks"),
    ];
    for (surface, scope, resource) in rows {
        let provider =
            Recorded::new().expect("POST", SUBSCRIPTIONS, subscribed("2026-03-03T08:00:00.0000000Z"));
        let (watching, requests) = begin(provider, start(surface, scope, 2));
        let expected = Watching {
            external_id: "7f105c7d".to_owned(),
            resource: None,
            expires_at: Instant::from_millis(NOW_MS + 2 * DAY_MS),
        };
        assert_eq!(watching.expect("a subscription"), expected);
        let expected = json!({
            "changeType": "created,updated,deleted",
            "notificationUrl": ADDRESS,
            "lifecycleNotificationUrl": ADDRESS,
            "resource": resource,
            "expirationDateTime": "2026-03-03T08:00:00.000Z",
            "clientState": "s3cret",
        });
        assert_eq!(sent(&requests[0]), expected);
        let prefer = requests[0].headers.iter().find(|(name, _)| name == "prefer");
        assert_eq!(prefer.expect("a preference").1, "IdType=\"ImmutableId\"");
    }
}

/// `/me/events` tells of the default calendar alone; one for a single calendar works for each (microsoftgraph/microsoft-graph-docs#6595).
#[test]
fn each_calendar_has_its_own_subscription() {
    let until = "2026-03-03T08:00:00Z";
    let provider =
        Recorded::new().expect("GET", WORK, calendar(false)).expect("POST", SUBSCRIPTIONS, subscribed(until));
    let (watching, requests) = begin(provider, start("calendar", Some("work"), 2));
    watching.expect("a subscription");
    assert_eq!(sent(&requests[1])["resource"], "/me/calendars/work/events");
    // Where that is refused, the default calendar has the other one, and any other is polled.
    let refused = || error(400, "ExtensionError", "Resource not supported");
    let provider = Recorded::new()
        .expect("GET", WORK, calendar(true))
        .expect("POST", SUBSCRIPTIONS, refused())
        .expect("POST", SUBSCRIPTIONS, subscribed(until));
    let (watching, requests) = begin(provider, start("calendar", Some("work"), 2));
    watching.expect("a subscription");
    assert_eq!(sent(&requests[2])["resource"], "/me/events");
    let provider =
        Recorded::new().expect("GET", WORK, calendar(false)).expect("POST", SUBSCRIPTIONS, refused());
    let (watching, _) = begin(provider, start("calendar", Some("work"), 2));
    assert_eq!(watching.expect_err("a refusal").code, code::UNSUPPORTED);
}

/// The lists themselves are not watched: no request is sent.
#[test]
fn lists_are_polled() {
    for (surface, scope) in [
        ("calendar", None),
        ("contacts", None),
        ("tasks", None),
        ("email", Some("inbox")),
        ("other", Some("x")),
    ] {
        let (watching, requests) = begin(Recorded::new(), start(surface, scope, 2));
        assert_eq!((watching.expect_err("a refusal").code.as_str(), requests.len()), (code::UNSUPPORTED, 0));
    }
}

/// A week at most, and in some tenants not three days; the provider's answer counts.
#[test]
fn the_life_is_what_the_provider_gives() {
    let too_long =
        error(400, "ValidationError", "Subscription expiration can only be 4230 minutes in the future.");
    let provider = Recorded::new().expect("POST", SUBSCRIPTIONS, too_long).expect(
        "POST",
        SUBSCRIPTIONS,
        subscribed("2026-03-04T06:29:00.1234567Z"),
    );
    let (watching, requests) = begin(provider, start("email", None, 30));
    let minutes = |request: &Request| {
        let end: Instant =
            sent(request)["expirationDateTime"].as_str().expect("a time").parse().expect("a time");
        (end.as_millis() - NOW_MS) / MINUTE_MS
    };
    assert_eq!((minutes(&requests[0]), minutes(&requests[1])), (10_079, 4_229));
    assert_eq!(watching.expect("a subscription").expires_at.to_string(), "2026-03-04T06:29:00.123Z");
    let unending = subscribed("0001-01-01T00:00:00Z");
    let (watching, _) =
        begin(Recorded::new().expect("POST", SUBSCRIPTIONS, unending), start("email", None, 2));
    assert_eq!(watching.expect_err("a failure").code, code::UNAVAILABLE);
}

/// Graph calls the address before it answers: where nobody is reached, that is for the operator to fix, and no other request helps.
#[test]
fn an_address_that_is_not_reached_is_named() {
    let text = "Subscription validation request failed. Notification endpoint must respond with 200 OK to validation request.";
    let provider = Recorded::new().expect("GET", WORK, calendar(true)).expect(
        "POST",
        SUBSCRIPTIONS,
        error(400, "ValidationError", text),
    );
    let (watching, _) = begin(provider, start("calendar", Some("work"), 30));
    let failure = watching.expect_err("a refusal");
    assert_eq!(failure.code, code::FORBIDDEN);
    assert!(failure.message.starts_with("Microsoft does not reach this service"), "{}", failure.message);
}

#[test]
fn a_renewal_is_a_new_end() {
    let url = format!("{SUBSCRIPTIONS}/7f105c7d");
    let renew = |answer: Response| {
        let provider = Recorded::new().expect("PATCH", &url, answer);
        provider.surroundings.now_ms.set(NOW_MS);
        let args = WatchRenew {
            external_id: "7f105c7d".to_owned(),
            surface: "email".to_owned(),
            wanted_until: Instant::from_millis(NOW_MS + DAY_MS),
            ..WatchRenew::default()
        };
        let watching = Microsoft::renew(&Context::new(&provider, Connection::default()), args);
        let body = sent(&provider.requests.borrow()[0]);
        (watching, body)
    };
    let (watching, sent) = renew(subscribed("2026-03-02T08:00:00Z"));
    assert_eq!(watching.expect("a subscription").external_id, "7f105c7d");
    assert_eq!(sent, json!({ "expirationDateTime": "2026-03-02T08:00:00.000Z" }));
    let (gone, _) = renew(error(404, "ResourceNotFound", "The object was not found."));
    assert_eq!(gone.expect_err("it is gone").code, code::NOT_FOUND);
}

#[test]
fn a_stopped_subscription_is_deleted() {
    let url = format!("{SUBSCRIPTIONS}/7f105c7d");
    let stop = |answer: Response| {
        let provider = Recorded::new().expect("DELETE", &url, answer);
        let args = WatchStop { external_id: "7f105c7d".to_owned(), ..WatchStop::default() };
        Microsoft::stop(&Context::new(&provider, Connection::default()), args)
    };
    stop(response(204, &[], "")).expect("it is stopped");
    let gone = stop(error(404, "ResourceNotFound", "The object was not found.")).expect_err("it is gone");
    assert_eq!(gone.code, code::NOT_FOUND);
}
