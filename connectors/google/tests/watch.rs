//! Google's channels for calendars, and Gmail's watches, as the host asks for them.

use connector_google::Google;
use connector_sdk::http::Response;
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Context, Failure, Watch, code};
use model::Instant;
use model::wire::Connection;
use model::wire::watch::{WatchRenew, WatchStart, WatchStop, Watching};
use serde_json::{Map, Value, json};

const ROOT: &str = "https://www.googleapis.com/calendar/v3";
/// 2026-03-08T08:00:00Z.
const WANTED_MS: i64 = 1_772_956_800_000;
const MAILBOX: &str = "https://gmail.googleapis.com/gmail/v1/users/me";
const TOPIC: &str = "projects/switchboard/topics/mail";

fn start(surface: &str, scope: Option<&str>) -> WatchStart {
    WatchStart {
        surface: surface.to_owned(),
        scope: scope.map(str::to_owned),
        address: "https://x.test/v1/providers/google/notifications/calendar".to_owned(),
        token: "s3cret".to_owned(),
        channel: "wat_1".to_owned(),
        wanted_until: Instant::from_millis(WANTED_MS),
    }
}

fn error(status: u16, reason: &str) -> Response {
    let errors = json!([{ "domain": "global", "reason": reason, "message": "no" }]);
    let body = json!({ "error": { "code": status, "message": "no", "errors": errors } });
    response(status, &[], &body.to_string())
}

fn refused(answer: Response) -> Failure {
    let provider = Recorded::new().expect("POST", &format!("{ROOT}/calendars/work/events/watch"), answer);
    let context = Context::new(&provider, Connection::default());
    Google::start(&context, start("calendar", Some("work"))).expect_err("a refusal")
}

/// A channel is opened for the events of one calendar, or for the list of calendars; Google says when it ends.
#[test]
fn a_channel_is_opened() {
    for (scope, path) in [
        (Some("team@group.calendar.google.com"), "calendars/team@group.calendar.google.com/events/watch"),
        (None, "users/me/calendarList/watch"),
    ] {
        let opened =
            json!({ "kind": "api#channel", "id": "wat_1", "resourceId": "r", "expiration": "1772956799000" });
        let answer = response(200, &[], &opened.to_string());
        let provider = Recorded::new().expect("POST", &format!("{ROOT}/{path}"), answer);
        let context = Context::new(&provider, Connection::default());
        let watching = Google::start(&context, start("calendar", scope)).expect("a channel");
        let expected = Watching {
            external_id: "wat_1".to_owned(),
            resource: Some("r".to_owned()),
            expires_at: Instant::from_millis(WANTED_MS - 1_000),
        };
        assert_eq!(watching, expected);
        let sent: Value = serde_json::from_slice(&body(&provider.requests.borrow()[0])).expect("JSON");
        let expected = json!({ "id": "wat_1", "type": "web_hook", "token": "s3cret", "expiration": "1772956800000",
            "address": "https://x.test/v1/providers/google/notifications/calendar" });
        assert_eq!(sent, expected);
    }
}

#[test]
fn a_channel_cannot_be_renewed_or_opened_for_anything_else() {
    let provider = Recorded::new();
    let context = Context::new(&provider, Connection::default());
    let renewed = Google::renew(&context, WatchRenew::default()).expect_err("a refusal");
    let other = Google::start(&context, start("tasks", Some("list"))).expect_err("a refusal");
    assert_eq!((renewed.code.as_str(), other.code.as_str()), (code::UNSUPPORTED, code::UNSUPPORTED));
    assert!(provider.requests.borrow().is_empty());
}

/// Neither a calendar that is not watched nor an address that is not posted to says anything of the account.
#[test]
fn a_refusal_is_no_fault_of_the_account() {
    for (answer, code) in [
        (error(400, "pushNotSupportedForRequestedResource"), code::UNSUPPORTED),
        (error(401, "push.webhookUrlUnauthorized"), code::FORBIDDEN),
        (error(400, "push.webhookUrlNotHttps"), code::INVALID),
        (error(401, "authError"), code::AUTH_EXPIRED),
        (error(403, "rateLimitExceeded"), code::RATE_LIMITED),
    ] {
        assert_eq!(refused(answer.clone()).code, code, "{answer:?}");
    }
}

/// Both ids are needed, and a channel that Google does not know is stopped.
#[test]
fn a_channel_is_stopped() {
    for answer in [response(204, &[], ""), error(404, "notFound")] {
        let provider = Recorded::new().expect("POST", &format!("{ROOT}/channels/stop"), answer);
        let context = Context::new(&provider, Connection::default());
        let stop = WatchStop {
            external_id: "wat_1".to_owned(),
            resource: Some("r".to_owned()),
            channel: "wat_1".to_owned(),
        };
        Google::stop(&context, stop).expect("a success");
        let sent: Value = serde_json::from_slice(&body(&provider.requests.borrow()[0])).expect("JSON");
        assert_eq!(sent, json!({ "id": "wat_1", "resourceId": "r" }));
    }
}

/// Alice's connection at a host whose operator has named the topic.
fn published() -> Connection {
    let settings = Map::from_iter([("pubsubTopic".to_owned(), json!(TOPIC))]);
    Connection { settings, ..Connection::default() }
}

/// An answer to `watch` that says when Gmail ends it.
fn watched(expiration: i64) -> Response {
    let body = json!({ "historyId": "4100", "expiration": expiration.to_string() });
    response(200, &[], &body.to_string())
}

/// An error of Gmail's with this text.
fn refusal_of_mail(status: u16, reason: &str, message: &str) -> Response {
    let errors = json!([{ "domain": "global", "reason": reason, "message": message }]);
    let body = json!({ "error": { "code": status, "message": message, "errors": errors } });
    response(status, &[], &body.to_string())
}

/// Gmail publishes to the operator's topic. The request that starts that prolongs it too.
#[test]
fn mail_is_published_to_the_topic_of_the_operator() {
    let provider = Recorded::new().expect("POST", &format!("{MAILBOX}/watch"), watched(WANTED_MS)).expect(
        "POST",
        &format!("{MAILBOX}/watch"),
        watched(WANTED_MS + 1_000),
    );
    let context = Context::new(&provider, published());
    let started = Google::start(&context, start("email", None)).expect("a watch");
    let expected = Watching {
        external_id: "wat_1".to_owned(),
        resource: Some(TOPIC.to_owned()),
        expires_at: Instant::from_millis(WANTED_MS),
    };
    assert_eq!(started, expected);
    let renewal = WatchRenew {
        external_id: "wat_1".to_owned(),
        resource: Some(TOPIC.to_owned()),
        channel: "wat_1".to_owned(),
        surface: "email".to_owned(),
        ..WatchRenew::default()
    };
    let renewed = Google::renew(&context, renewal).expect("a watch");
    assert_eq!(renewed, Watching { expires_at: Instant::from_millis(WANTED_MS + 1_000), ..expected });
    for request in provider.requests.borrow().iter() {
        let sent: Value = serde_json::from_slice(&body(request)).expect("JSON");
        assert_eq!(sent, json!({ "topicName": TOPIC }), "nothing of the host is for Gmail");
    }
}

/// The operator has named another topic since the watch began.
#[test]
fn a_watch_with_another_topic_is_replaced() {
    let message = "Only one user push notification client allowed per developer (call /stop then try again)";
    let provider = Recorded::new()
        .expect("POST", &format!("{MAILBOX}/watch"), refusal_of_mail(400, "failedPrecondition", message))
        .expect("POST", &format!("{MAILBOX}/stop"), response(204, &[], ""))
        .expect("POST", &format!("{MAILBOX}/watch"), watched(WANTED_MS));
    let context = Context::new(&provider, published());
    let started = Google::start(&context, start("email", None)).expect("a watch");
    assert_eq!(started.resource.as_deref(), Some(TOPIC));
}

/// Without a topic mail is polled, and Gmail is not asked.
#[test]
fn without_a_topic_nothing_is_published() {
    let provider = Recorded::new();
    let context = Context::new(&provider, Connection::default());
    let failure = Google::start(&context, start("email", None)).expect_err("a refusal");
    assert_eq!(failure.code, code::UNSUPPORTED);
    assert!(provider.requests.borrow().is_empty());
}

/// A fault of the topic names the topic, and says nothing of the account.
#[test]
fn a_fault_of_the_topic_is_the_operators() {
    let test_message = format!("Error sending test message to Cloud PubSub {TOPIC} : ");
    let denied = format!("{test_message}User not authorized to perform this action.");
    let missing = format!("{test_message}Resource not found (resource=mail).");
    let other_project = "Invalid topicName does not match projects/other/topics/*";
    for (status, reason, message, advice) in [
        (403, "forbidden", denied.as_str(), "gmail-api-push@system.gserviceaccount.com"),
        (404, "notFound", missing.as_str(), "check that the topic exists"),
        (500, "backendError", "Internal error encountered.", "check that the topic exists"),
        (400, "invalidArgument", other_project, "set pubsubTopic"),
    ] {
        let answer = refusal_of_mail(status, reason, message);
        let provider = Recorded::new().expect("POST", &format!("{MAILBOX}/watch"), answer);
        let context = Context::new(&provider, published());
        let failure = Google::start(&context, start("email", None)).expect_err("a refusal");
        assert_eq!(failure.code, code::FORBIDDEN, "{message}");
        assert!(failure.message.contains(TOPIC) && failure.message.contains(advice), "{failure:?}");
    }
}

/// Other refusals mean what they mean everywhere, and an answer without an end is none.
#[test]
fn other_refusals_of_gmail_are_not_the_topics() {
    let endless = response(200, &[], "{\"historyId\":\"4100\"}");
    for (answer, code) in [
        (refusal_of_mail(403, "userRateLimitExceeded", "User-rate limit exceeded."), code::RATE_LIMITED),
        (refusal_of_mail(401, "authError", "Invalid Credentials"), code::AUTH_EXPIRED),
        (refusal_of_mail(400, "failedPrecondition", "Mail service not enabled"), code::UNSUPPORTED),
        (refusal_of_mail(503, "backendError", "Backend Error"), code::UNAVAILABLE),
        (endless, code::UNAVAILABLE),
    ] {
        let provider = Recorded::new().expect("POST", &format!("{MAILBOX}/watch"), answer.clone());
        let context = Context::new(&provider, published());
        let failure = Google::start(&context, start("email", None)).expect_err("a refusal");
        assert_eq!(failure.code, code, "{answer:?}");
    }
}

/// A watch of a mailbox is stopped without a name: there is one.
#[test]
fn a_watch_of_a_mailbox_is_stopped() {
    let provider = Recorded::new().expect("POST", &format!("{MAILBOX}/stop"), response(204, &[], ""));
    let context = Context::new(&provider, published());
    let stop = WatchStop {
        external_id: "wat_1".to_owned(),
        resource: Some(TOPIC.to_owned()),
        channel: "wat_1".to_owned(),
    };
    Google::stop(&context, stop).expect("a success");
}
