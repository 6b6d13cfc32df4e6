//! Busy times of the account's own calendars and of other people.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod calendar_support;

use connector_microsoft::Microsoft;
use connector_sdk::testing::Recorded;
use connector_sdk::{Calendar, Context, Outcome, code};
use model::calendar::{BusyInterval, ConferenceProvider};
use model::wire::Connection;
use model::wire::calendar::FreeBusyRequest;
use serde_json::{Value, json};

use crate::calendar_support::{Call, graph};

fn context<'a>(provider: &'a Recorded, settings: &Value) -> Context<'a> {
    let settings = settings.as_object().unwrap().clone();
    Context::new(provider, Connection { settings, ..Connection::default() })
}

fn request(collections: &[&str], email: Option<&str>, end: &str) -> FreeBusyRequest {
    FreeBusyRequest {
        collections: collections.iter().map(ToString::to_string).collect(),
        email: email.map(str::to_owned),
        start: "2026-03-02T00:00:00Z".parse().unwrap(),
        end: end.parse().unwrap(),
    }
}

fn busy(provider: &Recorded, args: FreeBusyRequest) -> Outcome<Vec<String>> {
    let context = context(provider, &json!({ "timeZone": "Europe/Berlin" }));
    let answer = <Microsoft as Calendar>::free_busy(&context, args)?;
    Ok(answer.busy.iter().map(shown).collect())
}

/// An interval as `02T09:00 02T10:00 Busy`.
fn shown(interval: &BusyInterval) -> String {
    let time = |at: model::Instant| at.to_string().chars().skip(8).take(8).collect::<String>();
    format!("{} {} {:?}", time(interval.start), time(interval.end), interval.show_as)
}

fn instance(day: &str, more: &Value) -> Value {
    let at =
        |time: &str| json!({ "dateTime": format!("2026-03-{day}T{time}:00.0000000"), "timeZone": "UTC" });
    let mut event = json!({ "id": day, "start": at("09:00"), "end": at("10:00"), "showAs": "busy" });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

/// One batch for all calendars, and one more for the next pages. What leaves its time free is not busy; what is unknown is.
#[test]
fn own_calendars_are_viewed_in_a_batch() {
    let (provider, calls) = graph(|call| {
        let midnight =
            |day: &str| json!({ "dateTime": format!("2026-03-{day}T00:00:00.0000000"), "timeZone": "UTC" });
        let first = json!([
            instance("02", &json!({})),
            instance("03", &json!({ "showAs": "free" })),
            instance("03", &json!({ "showAs": "workingElsewhere" })),
            instance("04", &json!({ "showAs": "unknown" })),
            instance("05", &json!({ "isCancelled": true })),
            instance("05", &json!({ "responseStatus": { "response": "declined" } })),
            instance(
                "06",
                &json!({ "showAs": "oof", "isAllDay": true, "start": midnight("06"), "end": midnight("07") })
            ),
        ]);
        let view =
            "calendarView?startDateTime=2026-03-01T10:00:00Z&endDateTime=2026-03-31T14:00:00Z&$select=";
        assert!(call.path.contains(view) && call.path.contains("&$top=500"), "{}", call.path);
        match (call.path.starts_with("/me/calendars/b/"), call.path.ends_with("&$skip=7")) {
            (true, _) => (200, json!({ "value": [instance("08", &json!({ "showAs": "tentative" }))] })),
            (false, false) => {
                let next = "https://graph.microsoft.com/v1.0/me/calendars/a/calendarView?%24skip=7";
                (200, json!({ "value": first, "@odata.nextLink": next }))
            }
            (false, true) => {
                // Both begin on the 31st in UTC, and the day begins earlier in Berlin.
                let day = json!({ "isAllDay": true, "start": midnight("30"), "end": midnight("31") });
                let next_day = json!({ "isAllDay": true, "start": midnight("31"), "end": midnight("31") });
                let (first, after) = (instance("09", &json!({})), instance("31", &json!({})));
                (200, json!({ "value": [first, after, instance("31", &next_day), instance("30", &day)] }))
            }
        }
    });
    let found = busy(&provider, request(&["a", "b"], None, "2026-03-31T00:00:00Z")).unwrap();
    let expected = [
        "02T09:00 02T10:00 Busy",
        "04T09:00 04T10:00 Busy",
        "05T23:00 06T23:00 Oof",
        "08T09:00 08T10:00 Tentative",
        "09T09:00 09T10:00 Busy",
        "30T22:00 31T22:00 Busy",
        "29T22:00 30T22:00 Busy",
    ];
    assert_eq!(found, expected);
    assert_eq!((calls.borrow().len(), provider.requests.borrow().len()), (3, 2));
}

/// A calendar that Graph does not tell of must not look free.
#[test]
fn a_calendar_that_is_not_found_fails_the_query() {
    let (provider, _) = graph(|call| match call.path.contains("/gone/") {
        true => (404, json!({ "error": { "code": "ErrorItemNotFound", "message": "no" } })),
        false => (200, json!({ "value": [] })),
    });
    let failure = busy(&provider, request(&["a", "gone"], None, "2026-03-03T00:00:00Z")).unwrap_err();
    assert_eq!(failure.code, code::NOT_FOUND);
    for args in [request(&[], None, "2026-03-03T00:00:00Z"), request(&["a"], None, "2026-03-01T00:00:00Z")] {
        assert_eq!(busy(&provider, args).unwrap_err().code, code::INVALID);
    }
}

fn schedule(call: &Call, schedule: Value) -> (u16, Value) {
    assert_eq!((call.method.as_str(), call.path.as_str()), ("POST", "/me/calendar/getSchedule"));
    assert_eq!(call.body["schedules"], json!(["bob@example.test"]));
    (200, json!({ "value": [schedule] }))
}

/// Items may be missing where the view is not, for some of the time or for all of it.
#[test]
fn items_and_view_are_both_read() {
    let (provider, _) = graph(|call| {
        let at = |time: &str| json!({ "dateTime": format!("2026-03-02T{time}.0000000"), "timeZone": "UTC" });
        let item = |status: &str, start: &str, end: &str| json!({ "status": status, "start": at(start), "end": at(end) });
        // A digit for each quarter of an hour, from midnight on.
        let items = json!([item("busy", "00:00:00", "00:20:00"), item("free", "01:00:00", "01:15:00")]);
        schedule(
            call,
            json!({ "scheduleId": "bob@example.test", "availabilityView": "22031400", "scheduleItems": items }),
        )
    });
    let found = busy(&provider, request(&[], Some("bob@example.test"), "2026-03-02T02:00:00Z")).unwrap();
    // Of the second quarter the item knows more, and of the fifth too.
    assert_eq!(found, ["02T00:45 02T01:00 Oof", "02T00:00 02T00:20 Busy"]);
}

#[test]
fn a_view_alone_is_enough() {
    let (provider, calls) = graph(|call| schedule(call, json!({ "availabilityView": "0120" })));
    let found = busy(&provider, request(&[], Some("bob@example.test"), "2026-03-02T01:00:00Z")).unwrap();
    assert_eq!(found, ["02T00:15 02T00:30 Tentative", "02T00:30 02T00:45 Busy"]);
    let calls = calls.borrow();
    let body = &calls[0].body;
    assert_eq!(
        (&body["startTime"], &body["availabilityViewInterval"]),
        (&json!({ "dateTime": "2026-03-02T00:00:00", "timeZone": "UTC" }), &json!(15))
    );
    assert!(calls[0].prefer.contains("ImmutableId") && calls[0].if_match.is_none());
}

/// A query covers less than 62 days.
#[test]
fn a_long_time_is_asked_for_in_parts() {
    let (provider, calls) =
        graph(|call| schedule(call, json!({ "availabilityView": "", "scheduleItems": [] })));
    busy(&provider, request(&[], Some("bob@example.test"), "2026-06-02T00:00:00Z")).unwrap();
    let calls = calls.borrow();
    let ends: Vec<&str> =
        calls.iter().map(|call| call.body["endTime"]["dateTime"].as_str().unwrap()).collect();
    assert_eq!(ends, ["2026-05-02T00:00:00", "2026-06-02T00:00:00"]);
    assert_eq!(calls[1].body["startTime"]["dateTime"], "2026-05-02T00:00:00");
}

/// A person whose times are not told must not look free.
#[test]
fn a_person_who_is_not_known_fails_the_query() {
    let rows = [
        (
            json!({ "error": { "responseCode": "ErrorMailRecipientNotFound", "message": "x" } }),
            code::NOT_FOUND,
        ),
        (json!({ "error": { "responseCode": "ErrorProxyRequestProcessingFailed" } }), code::UNAVAILABLE),
        (json!({ "scheduleId": "bob@example.test" }), code::UNAVAILABLE),
    ];
    for (answer, expected) in rows {
        let (provider, _) = graph(move |call| schedule(call, answer.clone()));
        let failure =
            busy(&provider, request(&[], Some("bob@example.test"), "2026-03-03T00:00:00Z")).unwrap_err();
        assert_eq!(failure.code, expected);
    }
}

/// Personal accounts have neither Teams for business nor the busy times of other people.
#[test]
fn features_are_those_of_the_account() {
    let provider = Recorded::new();
    let of = |settings: Value| <Microsoft as Calendar>::features(&context(&provider, &settings)).unwrap();
    let (work, personal) = (of(json!({ "personal": false })), of(json!({ "personal": true })));
    assert_eq!((work.conference, work.free_busy_by_email), (vec![ConferenceProvider::Teams], true));
    assert_eq!(
        (personal.conference.len(), personal.free_busy_by_email, personal.free_busy),
        (0, false, true)
    );
    let personal = context(&provider, &json!({ "personal": true }));
    let failure = <Microsoft as Calendar>::free_busy(
        &personal,
        request(&[], Some("bob@example.test"), "2026-03-03T00:00:00Z"),
    );
    assert_eq!(failure.unwrap_err().code, code::UNSUPPORTED);
}
