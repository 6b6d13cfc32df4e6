//! Google's channels as the host asks for them.

use connector_google::Google;
use connector_sdk::http::Response;
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Context, Failure, Watch, code};
use model::Instant;
use model::wire::Connection;
use model::wire::watch::{WatchRenew, WatchStart, WatchStop, Watching};
use serde_json::{Value, json};

const ROOT: &str = "https://www.googleapis.com/calendar/v3";
/// 2026-03-08T08:00:00Z.
const WANTED_MS: i64 = 1_772_956_800_000;

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
