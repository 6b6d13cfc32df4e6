//! Calendars themselves, and their busy times.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use connector_google::Google;
use connector_sdk::http::{Request, Response};
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Calendar, Context, code};
use model::calendar::{AccessRole, Calendar as CalendarBody, ConferenceProvider, IncludeInAvailability};
use model::wire::calendar::FreeBusyRequest;
use model::wire::{ChangesRequest, CollectionDelete, CollectionWrite, Connection};
use serde_json::{Value, json};

const ROOT: &str = "https://www.googleapis.com/calendar/v3";

fn ok(value: &Value) -> Response {
    response(200, &[], &value.to_string())
}

fn context(provider: &Recorded) -> Context<'_> {
    let addresses = vec!["ada@example.test".to_owned()];
    Context::new(provider, Connection { addresses, ..Connection::default() })
}

fn sent(provider: &Recorded, place: usize) -> Value {
    serde_json::from_slice(&body(&provider.requests.borrow()[place])).unwrap()
}

/// An entry of the account's list.
fn entry(id: &str, role: &str) -> Value {
    json!({
        "id": id, "etag": "\"1\"", "summary": "Team", "timeZone": "Europe/Berlin", "accessRole": role,
        "backgroundColor": "#9fe1e7", "hidden": true, "defaultReminders": [{ "method": "popup", "minutes": 10 }],
        "conferenceProperties": { "allowedConferenceSolutionTypes": ["eventHangout", "hangoutsMeet"] },
    })
}

#[test]
fn calendars_are_listed_page_by_page() {
    let url = format!("{ROOT}/users/me/calendarList?maxResults=250&showHidden=true");
    let mut primary = entry("ada@example.test", "owner");
    primary["primary"] = json!(true);
    let mut renamed = entry("team@x", "writerWithoutPrivateAccess");
    renamed["summaryOverride"] = json!("Ours");
    let first = json!({ "items": [primary, renamed], "nextPageToken": "p2" });
    let last = json!({ "items": [entry("holidays#x", "reader"), { "id": "old", "deleted": true }] });
    let provider = Recorded::new().expect("GET", &url, ok(&first)).expect(
        "GET",
        &format!("{url}&pageToken=p2"),
        ok(&last),
    );
    let page = Google::list_calendars(&context(&provider), ChangesRequest::default()).unwrap();
    assert!(page.more && page.body.enumeration);
    let read = |source: usize| page.body.sources[source].items[0].body.read::<CalendarBody>().unwrap();
    let own = read(0);
    assert!(own.is_primary && own.is_owned && !own.read_only);
    assert_eq!(
        (own.conference_types, own.color.as_deref()),
        (vec![ConferenceProvider::GoogleMeet], Some("#9fe1e7"))
    );
    let team = read(1);
    assert_eq!((team.name.as_str(), team.access_role), ("Ours", AccessRole::Writer));
    assert_eq!(team.include_in_availability, IncludeInAvailability::None);
    let next = context(&provider).at(page.cursor.clone());
    let page = Google::list_calendars(&next, ChangesRequest::default()).unwrap();
    assert_eq!((page.more, page.cursor, page.body.sources.len()), (false, None, 1));
    let foreign = Recorded::new();
    let failure =
        Google::list_calendars(&context(&foreign).at(Some("x".to_owned())), ChangesRequest::default());
    assert_eq!(failure.unwrap_err().code, code::CURSOR_EXPIRED);
}

fn write(source: Option<&str>, changed: &[&str]) -> CollectionWrite<CalendarBody> {
    let body = CalendarBody {
        name: "New".to_owned(),
        color: Some("#101010".to_owned()),
        is_owned: true,
        ..CalendarBody::default()
    };
    CollectionWrite {
        source: source.map(str::to_owned),
        body,
        changed: changed.iter().map(ToString::to_string).collect(),
        if_match: None,
    }
}

#[test]
fn a_calendar_is_made_and_coloured() {
    let list = format!("{ROOT}/users/me/calendarList/new%23x?colorRgbFormat=true");
    let provider = Recorded::new()
        .expect("POST", &format!("{ROOT}/calendars"), ok(&json!({ "id": "new#x", "summary": "New" })))
        .expect("PATCH", &list, ok(&entry("new#x", "owner")));
    let made = Google::create_calendar(&context(&provider), write(None, &["name", "color"])).unwrap();
    assert_eq!(sent(&provider, 0), json!({ "summary": "New" }));
    assert_eq!(sent(&provider, 1), json!({ "backgroundColor": "#101010", "foregroundColor": "#ffffff" }));
    assert_eq!(made.item.as_deref(), Some("new#x"));
}

/// The texts are the owner's; another account has a name of its own for the calendar.
#[test]
fn a_name_is_changed_where_it_belongs() {
    let list = format!("{ROOT}/users/me/calendarList/team?colorRgbFormat=true");
    let provider = Recorded::new()
        .expect("PATCH", &format!("{ROOT}/calendars/team"), ok(&json!({ "id": "team" })))
        .expect("PATCH", &list, ok(&entry("team", "owner")));
    Google::update_calendar(&context(&provider), write(Some("team"), &["name"])).unwrap();
    assert_eq!(
        (sent(&provider, 0), sent(&provider, 1)),
        (json!({ "summary": "New" }), json!({ "summaryOverride": null }))
    );
    let provider = Recorded::new().expect("PATCH", &list, ok(&entry("team", "reader")));
    let mut args = write(Some("team"), &["name", "description"]);
    args.body.is_owned = false;
    args.if_match = Some("\"1\"".to_owned());
    let changed = Google::update_calendar(&context(&provider), args).unwrap();
    assert_eq!(sent(&provider, 0), json!({ "summaryOverride": "New" }));
    assert_eq!(changed.warnings[0].target.as_deref(), Some("description"));
}

fn deletion(id: &str) -> CollectionDelete {
    CollectionDelete { source: id.to_owned(), if_match: None, force: false }
}

#[test]
fn a_calendar_of_somebody_else_leaves_the_list_alone() {
    let list = |id: &str| format!("{ROOT}/users/me/calendarList/{id}");
    let gone = || response(204, &[], "");
    let provider = Recorded::new().expect("GET", &list("team"), ok(&entry("team", "owner"))).expect(
        "DELETE",
        &format!("{ROOT}/calendars/team"),
        gone(),
    );
    let deleted = Google::delete_calendar(&context(&provider), deletion("team")).unwrap();
    assert!(deleted.sources[0].deleted && deleted.warnings.is_empty());
    let mut shared = entry("team", "owner");
    shared["dataOwner"] = json!("bob@example.test");
    let provider =
        Recorded::new().expect("GET", &list("team"), ok(&shared)).expect("DELETE", &list("team"), gone());
    let deleted = Google::delete_calendar(&context(&provider), deletion("team")).unwrap();
    assert_eq!(deleted.warnings[0].code, "calendar_unsubscribed");
    let mut primary = entry("ada", "owner");
    primary["primary"] = json!(true);
    let provider = Recorded::new().expect("GET", &list("ada"), ok(&primary));
    let failure = Google::delete_calendar(&context(&provider), deletion("ada")).unwrap_err();
    assert_eq!(failure.code, code::UNSUPPORTED);
}

/// A provider that answers each query with one busy hour per calendar.
fn busy_provider(answer: impl Fn(&str) -> Option<Value> + 'static) -> Recorded {
    Recorded::answering(move |request: &Request| {
        let asked: Value = serde_json::from_slice(&body(request)).unwrap();
        let ids = asked["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap());
        let calendars: serde_json::Map<String, Value> =
            ids.filter_map(|id| Some((id.to_owned(), answer(id)?))).collect();
        Ok(ok(&json!({ "kind": "calendar#freeBusy", "calendars": calendars })))
    })
}

fn hour() -> Value {
    json!({ "busy": [{ "start": "2026-03-02T10:00:00+01:00", "end": "2026-03-02T11:00:00+01:00" }] })
}

fn range(collections: Vec<String>, end: &str) -> FreeBusyRequest {
    FreeBusyRequest {
        collections,
        email: None,
        start: "2026-03-01T00:00:00Z".parse().unwrap(),
        end: end.parse().unwrap(),
    }
}

/// Fifty calendars and 89 days go into one query.
#[test]
fn a_large_question_is_several_queries() {
    let ids: Vec<String> = (0..60).map(|n| format!("c{n}")).collect();
    let provider = busy_provider(|_| Some(hour()));
    let answer = Google::free_busy(&context(&provider), range(ids, "2026-06-01T00:00:00Z")).unwrap();
    assert_eq!((provider.requests.borrow().len(), answer.busy.len()), (4, 120));
    assert_eq!(sent(&provider, 0)["timeMax"], "2026-05-29T00:00:00.000Z");
    assert_eq!(sent(&provider, 2)["timeMin"], "2026-05-29T00:00:00.000Z");
    assert_eq!(sent(&provider, 0)["items"].as_array().unwrap().len(), 50);
    assert_eq!(answer.busy[0].start.to_string(), "2026-03-02T09:00:00.000Z");
}

/// A calendar that cannot be read must not look free.
#[test]
fn a_calendar_that_is_not_told_of_is_not_free() {
    let ask = |answer: fn(&str) -> Option<Value>| {
        let ids = vec!["a".to_owned(), "b".to_owned()];
        let provider = busy_provider(answer);
        Google::free_busy(&context(&provider), range(ids, "2026-03-02T00:00:00Z"))
    };
    let missing = ask(|id| (id == "a").then(hour)).unwrap_err();
    assert_eq!(missing.code, code::UNAVAILABLE);
    let unknown =
        ask(|_| Some(json!({ "errors": [{ "domain": "global", "reason": "notFound" }] }))).unwrap_err();
    assert_eq!(unknown.code, code::NOT_FOUND);
    let broken =
        ask(|_| Some(json!({ "errors": [{ "domain": "global", "reason": "internalError" }] }))).unwrap_err();
    assert_eq!(broken.code, code::UNAVAILABLE);
    let none = Google::free_busy(&context(&Recorded::new()), range(Vec::new(), "2026-03-02T00:00:00Z"));
    assert_eq!(none.unwrap_err().code, code::INVALID);
}
