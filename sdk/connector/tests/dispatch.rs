//! The door that the host comes through, natively: an envelope in, an envelope or a failure out.

use connector_sdk::surface::{calendar, check, email, watch};
use connector_sdk::testing::{Recorded, response};
use connector_sdk::{
    Answer, Calendar, CallRequest, Context, Email, Lifecycle, Outcome, Watch, code, export_connector, http,
};
use model::wire::watch::{WatchStart, WatchStop, Watching};
use model::wire::{Account, ChangesRequest, Source, SourceRef, Sources};

/// The smallest connector: it has only the operations that it overrides.
struct Small;

impl Calendar for Small {
    fn list_calendars(cx: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        let server = cx.setting("serverUrl").unwrap_or("none");
        let answer =
            cx.send_ok(http::Request::get(format!("{server}?limit={}", args.limit)), "listing calendars")?;
        let names: Vec<String> = answer.json()?;
        let sources =
            names.into_iter().map(|external_id| Source { external_id, ..Source::default() }).collect();
        Ok(Answer {
            body: Sources { sources, enumeration: true, ..Sources::default() },
            cursor: Some("next".into()),
            more: true,
        })
    }

    fn get_event(cx: &Context, args: SourceRef) -> Outcome<Sources> {
        let etag = cx.idempotency_key.clone().or_else(|| cx.cursor.clone());
        let source = Source { external_id: args.source, etag, ..Source::default() };
        Ok(Sources { sources: vec![source], enumeration: false, ..Sources::default() })
    }
}

impl Email for Small {}

impl Lifecycle for Small {
    fn check(cx: &Context) -> Outcome<Account> {
        Ok(Account { external_account_id: format!("{}", cx.now_ms()), ..Account::default() })
    }
}

impl Watch for Small {
    fn start(_: &Context, args: WatchStart) -> Outcome<Watching> {
        let resource = args.scope.map(|scope| format!("{scope} of {}", args.surface));
        Ok(Watching { external_id: args.channel, resource, expires_at: args.wanted_until })
    }

    fn stop(_: &Context, _: WatchStop) -> Outcome<()> {
        Ok(())
    }
}

export_connector!(Small, [calendar, email, lifecycle, watch]);

fn request(op: &str, body: &str) -> CallRequest {
    CallRequest { op: op.into(), body: body.into(), deadline_ms: 1000, ..CallRequest::default() }
}

/// Arguments and connection reach the method; its answer, cursor and all, comes back as JSON.
#[test]
fn an_operation_is_dispatched() {
    let host = Recorded::new().expect("GET", "https://x/?limit=7", response(200, &[], "[\"a\",\"b\"]"));
    let body =
        r#"{"connection":{"settings":{"serverUrl":"https://x/"},"later":1},"args":{"limit":7,"later":2}}"#;
    let answer = calendar::fetch::<Small>(&host, request("calendars.list", body)).unwrap();
    assert!(answer.more && answer.cursor.as_deref() == Some("next"));
    let sources: Sources = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(sources.sources[1].external_id, "b");
    drop(host);

    let host = Recorded::new();
    let body =
        CallRequest { cursor: Some("here".into()), ..request("events.get", r#"{"args":{"source":"s"}}"#) };
    assert!(calendar::fetch::<Small>(&host, body).unwrap().body.contains("\"etag\":\"here\""));
    assert!(
        check::<Small>(&host, request("check", "{}")).unwrap().body.contains("\"externalAccountId\":\"0\"")
    );
}

/// A watch is started and stopped; one that cannot be prolonged says so.
#[test]
fn a_watch_is_dispatched() {
    let host = Recorded::new();
    let args = r#"{"args":{"surface":"calendar","scope":"work","channel":"wat_1","token":"t","wantedUntil":"2026-03-01T09:00:00Z"}}"#;
    let answer = watch::mutate::<Small>(&host, request("watch.start", args)).unwrap();
    assert_eq!(
        answer.body,
        r#"{"externalId":"wat_1","resource":"work of calendar","expiresAt":"2026-03-01T09:00:00.000Z"}"#
    );
    assert_eq!(watch::mutate::<Small>(&host, request("watch.stop", "{}")).unwrap().body, "null");
    for op in ["watch.renew", "watch.pause"] {
        let failure = watch::mutate::<Small>(&host, request(op, args)).unwrap_err();
        assert_eq!(failure.code, code::UNSUPPORTED, "{op}");
    }
}

/// An operation that the connector does not have answers "unsupported", whether it is a surface's operation or a made-up one; it
/// never traps.
#[test]
fn what_is_not_there_is_unsupported() {
    let host = Recorded::new();
    let failures = [
        calendar::mutate::<Small>(&host, request("events.create", "{}")),
        calendar::mutate::<Small>(&host, request("events.explode", "{}")),
        calendar::changes::<Small>(&host, request("", "{}")),
        email::fetch::<Small>(&host, request("messages.list", "{}")),
    ];
    for failure in failures {
        assert_eq!(failure.unwrap_err().code, code::UNSUPPORTED);
    }
}

/// A body that cannot be read names the place and shows nothing of it.
#[test]
fn an_unreadable_body_is_invalid() {
    let host = Recorded::new();
    for (body, place) in [(r#"{"args":{"limit":"many"}}"#, "args.limit"), ("[", "."), ("", ".")] {
        let failure = calendar::fetch::<Small>(&host, request("calendars.list", body)).unwrap_err();
        assert_eq!(failure.code, code::INVALID);
        assert!(failure.message.contains(place) && !failure.message.contains("many"), "{}", failure.message);
    }
}

/// A provider's status and a provider's nonsense become failures.
#[test]
fn a_providers_answer_is_judged() {
    let body = r#"{"connection":{"settings":{"serverUrl":"https://x/"}}}"#;
    let host =
        Recorded::new().expect("GET", "https://x/?limit=0", response(429, &[("retry-after", "2")], ""));
    let failure = calendar::fetch::<Small>(&host, request("calendars.list", body)).unwrap_err();
    assert_eq!((failure.code.as_str(), failure.retry_after_ms), (code::RATE_LIMITED, Some(2000)));
    let host = Recorded::new().expect("GET", "https://x/?limit=0", response(200, &[], "[\"a\",2]"));
    let failure = calendar::fetch::<Small>(&host, request("calendars.list", body)).unwrap_err();
    assert_eq!(failure.code, code::UNAVAILABLE);
    assert!(failure.message.contains("[1]"), "{}", failure.message);
}
