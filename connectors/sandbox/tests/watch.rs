//! Notifications of the provider as the host requests them, in recorded answers.

use connector_sandbox::Sandbox;
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Context, Watch, code};
use model::Instant;
use model::wire::Connection;
use model::wire::watch::{WatchRenew, WatchStart, WatchStop, Watching};
use serde_json::{Value, json};

const UNTIL: &str = "2026-03-17T07:00:00.000Z";
const V1: &str = "http://h/sandbox/v1";

fn context(provider: &Recorded) -> Context<'_> {
    let settings = json!({ "serverUrl": "http://h/sandbox/" });
    let settings = settings.as_object().expect("settings are an object").clone();
    Context::new(provider, Connection { settings, ..Connection::default() })
}

fn at(text: &str) -> Instant {
    text.parse().expect("an instant")
}

fn start(surface: &str, scope: Option<&str>) -> WatchStart {
    WatchStart {
        surface: surface.to_owned(),
        scope: scope.map(str::to_owned),
        address: "https://x.test/v1/providers/sandbox/notifications".to_owned(),
        token: "s3cret".to_owned(),
        channel: "wat_1".to_owned(),
        wanted_until: at(UNTIL),
    }
}

fn answer(path: &str, until: &str) -> String {
    json!({ "id": "wat_1", "path": path, "address": "https://x.test", "until": until }).to_string()
}

/// Each surface is watched as the provider names it; what the provider grants is believed.
#[test]
fn a_watch_is_started() {
    for (surface, scope, path) in [
        ("calendar", Some("work"), "calendars/work/events"),
        ("calendar", None, "calendars"),
        ("contacts", Some("main"), "books/main/cards"),
        ("tasks", Some("todo"), "lists/todo/todos"),
        ("email", None, "mail"),
    ] {
        let granted = "2026-03-11T07:00:00.000Z";
        let provider = Recorded::new().expect(
            "POST",
            &format!("{V1}/watches"),
            response(201, &[], &answer(path, granted)),
        );
        let started = Sandbox::start(&context(&provider), start(surface, scope)).expect("a watch");
        let expected = Watching {
            external_id: "wat_1".to_owned(),
            resource: Some(path.to_owned()),
            expires_at: at(granted),
        };
        assert_eq!(started, expected, "{surface}");
        let asked: Value = serde_json::from_slice(&body(&provider.requests.borrow()[0])).expect("JSON");
        assert_eq!(
            asked,
            json!({
                "id": "wat_1",
                "path": path,
                "address": "https://x.test/v1/providers/sandbox/notifications",
                "secret": "s3cret",
                "until": UNTIL,
            })
        );
    }
    let provider = Recorded::new();
    let failure = Sandbox::start(&context(&provider), start("notes", None)).expect_err("no such surface");
    assert_eq!(failure.code, code::UNSUPPORTED);
}

/// A watch that the provider has forgotten cannot be prolonged: the host starts another one.
#[test]
fn a_watch_is_prolonged() {
    let renew = || WatchRenew {
        external_id: "wat_1".to_owned(),
        channel: "wat_1".to_owned(),
        address: "https://y.test/v1/providers/sandbox/notifications".to_owned(),
        wanted_until: at(UNTIL),
        ..WatchRenew::default()
    };
    let gone = r#"{"error":{"code":"notFound","message":"there is no watch"}}"#;
    let url = format!("{V1}/watches/wat_1/renew");
    let provider = Recorded::new().expect("POST", &url, response(200, &[], &answer("mail", UNTIL))).expect(
        "POST",
        &url,
        response(404, &[], gone),
    );
    let context = context(&provider);
    assert_eq!(Sandbox::renew(&context, renew()).expect("a watch").expires_at, at(UNTIL));
    assert_eq!(Sandbox::renew(&context, renew()).expect_err("it is gone").code, code::NOT_FOUND);
    let asked: Value = serde_json::from_slice(&body(&provider.requests.borrow()[0])).expect("JSON");
    // The public URL of the host may be another one by now.
    let address = "https://y.test/v1/providers/sandbox/notifications";
    assert_eq!(asked, json!({ "until": UNTIL, "address": address }));
}

/// A watch that is gone already is stopped; a provider that fails has not stopped it.
#[test]
fn a_watch_is_stopped() {
    let stop = || WatchStop {
        external_id: "wat_1".to_owned(),
        resource: Some("calendars/work/events".to_owned()),
        channel: "wat_1".to_owned(),
    };
    let url = format!("{V1}/watches/wat_1?path=calendars%2Fwork%2Fevents");
    let provider = Recorded::new()
        .expect("DELETE", &url, response(204, &[], ""))
        .expect("DELETE", &url, response(404, &[], "{}"))
        .expect("DELETE", &url, response(503, &[], "{}"));
    let context = context(&provider);
    Sandbox::stop(&context, stop()).expect("it is stopped");
    Sandbox::stop(&context, stop()).expect("it was stopped before");
    assert_eq!(Sandbox::stop(&context, stop()).expect_err("it goes on").code, code::UNAVAILABLE);
}
