//! Events that hardly anybody expects: each is mapped, or has an error that shows it, and its neighbours and the cursor go on.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod calendar_support;

use connector_microsoft::Microsoft;
use connector_sdk::testing::Recorded;
use connector_sdk::{Answer, Calendar, Context};
use model::calendar::Event;
use model::wire::{ChangesRequest, Connection, Source, Sources};
use serde_json::{Value, json};

use crate::calendar_support::{Call, graph};

const NO_TIME: &str = "0001-01-01T00:00:00.0000000";

fn page(provider: &Recorded, cursor: Option<&str>) -> Answer<Sources> {
    let settings = json!({ "timeZone": "Europe/Berlin" });
    let settings = settings.as_object().unwrap().clone();
    let connection = Connection { settings, addresses: vec!["ada@example.test".to_owned()], username: None };
    let context = Context::new(provider, connection).at(cursor.map(str::to_owned));
    let args =
        ChangesRequest { collection: Some("cal".to_owned()), names_first: true, ..ChangesRequest::default() };
    <Microsoft as Calendar>::changes(&context, args).unwrap()
}

fn event(id: &str, more: &Value) -> (u16, Value) {
    let utc = |time: &str| json!({ "dateTime": format!("2026-03-02T{time}:00.0000000"), "timeZone": "UTC" });
    let mut event = json!({
        "@odata.etag": "W/\"1\"", "id": id, "type": "singleInstance", "subject": id, "start": utc("09:00"), "end": utc("10:00"),
        "originalStartTimeZone": "W. Europe Standard Time",
    });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    (200, event)
}

/// A calendar with odd events between others. Its links lead to another origin.
fn odd(call: &Call) -> (u16, Value) {
    let path = call.path.as_str();
    if let Some(query) = path.strip_prefix("/me/calendars/cal/events/delta") {
        let named = |id: &str| json!({ "id": id });
        let (value, token) = match query {
            "" => {
                let mut value: Vec<Value> =
                    ["lunch", "far", "early", "timeless", "bare", "tea"].map(named).into();
                value.insert(5, json!({ "id": "stub", "type": "occurrence", "seriesMasterId": "lost" }));
                (value, "d1")
            }
            "?$deltatoken=d1" => (vec![named("supper")], "d2"),
            other => panic!("{other}"),
        };
        let link = format!("https://elsewhere.example/v1.0/me?$deltatoken={token}");
        return (200, json!({ "value": value, "@odata.deltaLink": link }));
    }
    let id = path.strip_prefix("/me/calendars/cal/events/").and_then(|rest| rest.split('?').next()).unwrap();
    let no_time = json!({ "dateTime": NO_TIME, "timeZone": "UTC" });
    match id {
        "lunch" | "tea" | "supper" => event(id, &json!({})),
        "far" => event(id, &json!({ "originalStartTimeZone": "Nowhere Standard Time" })),
        "early" => {
            event(id, &json!({ "start": no_time, "end": no_time, "createdDateTime": "0001-01-01T00:00:00Z" }))
        }
        "timeless" => event(id, &json!({ "start": null, "end": null })),
        "bare" => event(
            id,
            &json!({
                "subject": null, "body": null, "location": null, "locations": null, "attendees": null, "organizer": null,
                "categories": null, "responseStatus": null, "recurrence": null, "sensitivity": null,
            }),
        ),
        _ => (404, json!({ "error": { "code": "ErrorItemNotFound", "message": "no" } })),
    }
}

fn state(source: &Source) -> &'static str {
    match (source.deleted, source.error.is_some(), source.items.is_empty()) {
        (true, ..) => "gone",
        (false, true, _) => "quarantined",
        (false, false, false) => "mapped",
        (false, false, true) => "named",
    }
}

/// A zone that no table has is that of the mailbox, year 1 is a time as any other or none, and a series whose stub is all that is left is
/// gone. The link to go on is not followed: its token goes to Graph.
#[test]
fn odd_events_do_not_keep_their_neighbours_back() {
    let (provider, _) = graph(odd);
    let first = page(&provider, None);
    let of = |id: &str| {
        let found = first.body.sources.iter().find(|source| source.external_id == id);
        found.unwrap_or_else(|| panic!("no {id}: {:?}", first.body.sources))
    };
    let states = ["lunch", "far", "timeless", "bare", "lost", "tea"].map(|id| state(of(id)));
    assert_eq!(states, ["mapped", "mapped", "quarantined", "mapped", "gone", "mapped"]);
    assert!(["mapped", "quarantined"].contains(&state(of("early"))), "{:?}", of("early"));
    assert!(first.body.sources.iter().all(|source| source.external_id != "stub"));
    let far: Event = of("far").items[0].body.read().unwrap();
    assert_eq!(
        (far.time_zone.as_str(), far.start.to_string()),
        ("Europe/Berlin", "2026-03-02T09:00:00.000Z".into())
    );
    let bare: Event = of("bare").items[0].body.read().unwrap();
    assert_eq!((bare.title, bare.description, bare.attendees.len()), (None, None, 0));

    assert!(!first.more);
    let second = page(&provider, first.cursor.as_deref());
    let ids: Vec<&str> = second.body.sources.iter().map(|source| source.external_id.as_str()).collect();
    assert_eq!(ids, ["supper"]);
}
