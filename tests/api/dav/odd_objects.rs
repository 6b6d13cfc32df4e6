//! Objects that servers accept although they violate specifications: copies of an instance, an instance without its series, lines that
//! RFC 5545 and RFC 2426 forbid. They are listed, and can be changed.

use harness::Actor;
use serde_json::{Value, json};

use crate::dav::{connect, got, peer, put, server};

const CALENDAR: &str = "text/calendar; charset=utf-8";

/// A resource with these components of a kind, `|` for the ends of lines.
fn resource(kind: &str, components: &[&str]) -> String {
    let one = |lines: &&str| format!("BEGIN:{kind}\n{}\nEND:{kind}\n", lines.replace('|', "\n"));
    let all: String = components.iter().map(one).collect();
    format!("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Odd//EN\n{all}END:VCALENDAR\n")
}

/// The lines of an object but for those of these properties, sorted: servers put them in an order of their own.
fn lines_without(text: &str, names: &[&str]) -> Vec<String> {
    let unfolded = text.replace("\r\n", "\n").replace("\n ", "").replace("\n\t", "");
    let is_named = |line: &&str| !names.contains(&line.split([':', ';']).next().unwrap_or_default());
    let mut lines: Vec<String> = unfolded.lines().filter(is_named).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Returns the items that a path lists now.
async fn listed(api: &Actor, path: &str) -> Vec<Value> {
    let page = api.get(path).header("cache-control", "no-cache").send().await.expect(200);
    page["data"].as_array().expect("a list").clone()
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field} in {value:#}"))
}

/// A new calendar, and the path of its events.
async fn calendar(api: &Actor, connection: &Value, name: &str) -> (Value, String) {
    let body = json!({ "connectionId": connection["id"], "name": name, "timeZone": "Europe/Berlin" });
    let calendar = api.post("/v1/calendars", body).send().await.expect(201);
    let path = format!("/v1/calendars/{}/events", text(&calendar, "id"));
    (calendar, path)
}

const SERIES: &str = "UID:odd|DTSTAMP:20260101T000000Z|DTSTART:20270301T090000Z|DTEND:20270301T100000Z|\
    RRULE:FREQ=DAILY;COUNT=9|SUMMARY:Series";

/// Two versions of one instance are shown as the one with the higher SEQUENCE, with a warning. After a change or a deletion only one
/// version is left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_overrides_of_one_instance() {
    let Some(url) = peer("RADICALE_URL") else { return };
    let server = server().await;
    let api = server.client().await;
    let connection = connect(&api, &url, "t15").await;
    let (calendar, path) = calendar(&api, &connection, "Two of one").await;
    let of = |day: u8, sequence: u8, title: &str| {
        format!(
            "UID:odd|DTSTAMP:20400101T000000Z|RECURRENCE-ID:2027030{day}T090000Z|DTSTART:2027030{day}T100000Z|\
             DTEND:2027030{day}T110000Z|SEQUENCE:{sequence}|SUMMARY:{title}"
        )
    };
    let (new, old) = (of(3, 2, "Newer"), of(3, 1, "Older"));
    let (fifth, fifth_old) = (of(5, 2, "Fifth"), of(5, 1, "Old fifth"));
    let object = resource("VEVENT", &[&new, SERIES, &old, &fifth_old, &fifth]);
    put(&url, "t15", text(&calendar, "externalId"), "odd.ics", (CALENDAR, &object)).await;

    let stored = listed(&api, &path).await;
    let titles: Vec<&str> = stored.iter().map(|event| text(event, "title")).collect();
    assert_eq!(titles, ["Series", "Newer", "Fifth"]);
    let (series, third, fifth) = (&stored[0], &stored[1], &stored[2]);
    let expected = json!([{
        "code": "duplicate_instance", "target": "2027-03-03T09:00:00",
        "message": "the provider has 2 changes of this instance; the newest is shown, and a change of it removes the others",
    }]);
    assert_eq!((&third["warnings"], &series["warnings"]), (&expected, &json!([])));
    assert_eq!(third["seriesId"], series["id"]);
    let instances = format!("{path}?expand=true&start=2027-03-01T00:00:00Z&end=2027-04-01T00:00:00Z");
    let all = listed(&api, &instances).await;
    let shown: Vec<&str> = all.iter().map(|instance| text(instance, "title")).collect();
    assert_eq!(
        shown,
        ["Series", "Series", "Newer", "Series", "Fifth", "Series", "Series", "Series", "Series"]
    );

    let third_path = format!("{path}/{}", text(third, "id"));
    assert_eq!(api.get(&third_path).send().await.expect(200)["warnings"], expected);
    let change = api.patch(&third_path, json!({ "title": "Changed" })).if_match(text(third, "etag"));
    let changed = change.send().await.expect(200);
    assert_eq!((text(&changed, "title"), &changed["warnings"]), ("Changed", &json!([])));
    assert_eq!(api.get(&third_path).send().await.expect(200)["title"], "Changed");
    let now = got(&url, "t15", text(series, "externalId")).await;
    assert_eq!(now.matches("RECURRENCE-ID:20270303T090000Z").count(), 1, "{now}");
    assert_eq!(
        now.matches("RECURRENCE-ID:20270305T090000Z").count(),
        2,
        "the others are not concerned\n{now}"
    );
    api.delete(format!("{path}/{}", text(fifth, "id"))).send().await.expect(204);
    let all = listed(&api, &instances).await;
    assert_eq!(all.len(), 8);
    assert!(all.iter().all(|instance| !text(instance, "title").to_lowercase().contains("fifth")), "{all:#?}");
    api.delete(format!("/v1/calendars/{}", text(&calendar, "id"))).send().await.expect(204);
}

/// One instance that the account was invited to, without the series: its fields, its answer, its deletion. A scope beyond it is
/// refused, and so is a recurrence. When the series comes, it is an instance of it, under the id that it had.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lone_override_is_changed_like_an_event() {
    let Some(url) = peer("RADICALE_URL") else { return };
    let server = server().await;
    let api = server.client().await;
    let connection = connect(&api, &url, "t16").await;
    let (calendar, path) = calendar(&api, &connection, "Lone").await;
    let href = text(&calendar, "externalId");
    let lone = "UID:odd|DTSTAMP:20260101T000000Z|RECURRENCE-ID:20270303T090000Z|DTSTART:20270303T100000Z|\
        DTEND:20270303T110000Z|SUMMARY:Lone|ORGANIZER:mailto:boss@example.com|X-KEPT:as it is|\
        ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:/t16/";
    put(&url, "t16", href, "odd.ics", (CALENDAR, &resource("VEVENT", &[lone]))).await;
    let other = lone.replace("UID:odd", "UID:other").replace("SUMMARY:Lone", "SUMMARY:Other");
    put(&url, "t16", href, "other.ics", (CALENDAR, &resource("VEVENT", &[&other]))).await;

    let stored = listed(&api, &path).await;
    let event = stored.iter().find(|event| event["title"] == "Lone").expect("the lone one");
    assert_eq!(
        (&event["type"], &event["seriesId"], &event["recurrenceId"]),
        (&json!("exception"), &Value::Null, &json!("2027-03-03T09:00:00"))
    );
    let event_path = format!("{path}/{}", text(event, "id"));
    let change = json!({
        "title": "Changed", "location": "Room 3", "description": "Come", "showAs": "free", "color": "#ff0000",
        "start": "2027-03-03T12:00:00Z", "end": "2027-03-03T13:00:00Z", "visibility": "private",
    });
    let changed =
        api.patch(&event_path, change.clone()).if_match(text(event, "etag")).send().await.expect(200);
    for (field, value) in change.as_object().expect("an object") {
        let is_time = field == "start" || field == "end";
        let value = if is_time {
            json!(value.as_str().expect("a time").replace("00Z", "00.000Z"))
        } else {
            value.clone()
        };
        assert_eq!(changed[field], value, "{field}");
    }
    assert_eq!((&changed["id"], &changed["type"]), (&event["id"], &json!("exception")));
    let scoped = json!({ "title": "This", "recurrenceScope": "this" });
    assert_eq!(api.patch(&event_path, scoped).send().await.expect(200)["title"], "This");

    for scope in ["all", "thisAndFollowing"] {
        let body = json!({ "title": "No", "recurrenceScope": scope });
        let refused = api.patch(&event_path, body).send().await;
        assert_eq!(refused.refused(400, "invalid_parameter")["param"], "recurrenceScope");
        let refused = api.delete(format!("{event_path}?recurrence_scope={scope}")).send().await;
        refused.refused(400, "invalid_parameter");
        let answer = json!({ "recurrenceScope": scope });
        api.post(format!("{event_path}/accept"), answer).send().await.refused(400, "invalid_parameter");
    }
    let recurs = json!({ "recurrence": ["RRULE:FREQ=DAILY"] });
    api.patch(&event_path, recurs).send().await.refused(400, "invalid_recurrence");
    let accepted = api.post(format!("{event_path}/accept"), json!({})).send().await.expect(200);
    assert_eq!((&accepted["myResponse"], &accepted["id"]), (&json!("accepted"), &event["id"]));
    let now = got(&url, "t16", &format!("{href}odd.ics")).await;
    assert!(now.contains("X-KEPT:as it is") && now.contains("RECURRENCE-ID:20270303T090000Z"), "{now}");

    // The organizer sends the whole series.
    let component = now.replace("\r\n", "\n").replace("\n ", "");
    let (_, component) = component.split_once("BEGIN:VEVENT\n").expect("an event");
    let (component, _) = component.split_once("\nEND:VEVENT").expect("an event");
    put(&url, "t16", href, "odd.ics", (CALENDAR, &resource("VEVENT", &[component, SERIES]))).await;
    let stored = listed(&api, &path).await;
    let series = stored.iter().find(|event| event["type"] == "series").expect("the series");
    let instance = stored.iter().find(|one| one["id"] == event["id"]).expect("the instance");
    assert_eq!((&instance["seriesId"], &instance["title"]), (&series["id"], &json!("This")));
    let whole = api.patch(&event_path, json!({ "title": "Whole", "recurrenceScope": "all" })).send().await;
    assert_eq!(whole.expect(200)["id"], series["id"]);

    let other = stored.iter().find(|event| event["title"] == "Other").expect("the other one");
    let other_path = format!("{path}/{}", text(other, "id"));
    api.delete(&other_path).if_match(text(other, "etag")).send().await.expect(204);
    api.get(&other_path).send().await.refused(404, "not_found");
    api.delete(format!("/v1/calendars/{}", text(&calendar, "id"))).send().await.expect(204);
}

/// Forbidden or unknown lines: a new title changes its line and the timestamps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_patch_carries_what_it_does_not_touch() {
    let Some(url) = peer("RADICALE_URL") else { return };
    let server = server().await;
    let api = server.client().await;
    let connection = connect(&api, &url, "t17").await;
    let (calendar, path) = calendar(&api, &connection, "Odd lines").await;
    let href = text(&calendar, "externalId");
    let twice = "ATTENDEE;CN=One:mailto:twice@example.com|ATTENDEE;CN=Two:mailto:twice@example.com|\
        ORGANIZER;CN=A room:urn:uuid:41ac9a4b-0000-4000-8000-000000000000|X-ODD;P=\"a:b\":c|GEO:1;2|STATUS:PERHAPS|COLOR:nice";
    let cases = [
        "DTSTART;VALUE=DATE:20270301|RRULE:FREQ=DAILY;UNTIL=20270309T000000".to_owned(),
        "DTSTART;VALUE=DATE:20270301|RRULE:FREQ=DAILY;UNTIL=20270309T000000Z".to_owned(),
        "DTSTART;TZID=Europe/Berlin:20270301T090000|RRULE:FREQ=DAILY;UNTIL=20270309T090000".to_owned(),
        format!("DTSTART:20270301T090000Z|{twice}"),
    ];
    for (at, lines) in cases.iter().enumerate() {
        let name = format!("odd{at}.ics");
        let component = format!("UID:odd{at}|DTSTAMP:20260101T000000Z|SUMMARY:Old {at}|{lines}");
        put(&url, "t17", href, &name, (CALENDAR, &resource("VEVENT", &[&component]))).await;
        let before = got(&url, "t17", &format!("{href}{name}")).await;
        let stored = listed(&api, &path).await;
        let old = format!("Old {at}");
        let event = stored.iter().find(|event| event["title"] == old.as_str()).expect("the event");
        let event_path = format!("{path}/{}", text(event, "id"));
        let changed = api.patch(&event_path, json!({ "title": "New" })).send().await.expect(200);
        assert_eq!(
            (&changed["title"], &changed["recurrence"], &changed["attendees"]),
            (&json!("New"), &event["recurrence"], &event["attendees"])
        );
        let after = got(&url, "t17", &format!("{href}{name}")).await;
        let stamps = ["SUMMARY", "DTSTAMP", "LAST-MODIFIED"];
        assert_eq!(lines_without(&after, &stamps), lines_without(&before, &stamps), "{lines}");
        api.delete(&event_path).send().await.expect(204);
    }
    api.delete(format!("/v1/calendars/{}", text(&calendar, "id"))).send().await.expect(204);
    odd_tasks(&api, &url, &connection).await;
    odd_cards(&api, &url, &connection).await;
}

/// A task without a title and with a time of nowhere.
async fn odd_tasks(api: &Actor, url: &str, connection: &Value) {
    let new = json!({ "connectionId": connection["id"], "name": "Odd tasks" });
    let list = api.post("/v1/task-lists", new).send().await.expect(201);
    let (href, path) = (text(&list, "externalId"), format!("/v1/task-lists/{}/tasks", text(&list, "id")));
    let component = "UID:odd|DTSTAMP:20260101T000000Z|DUE:20270301T090000|PRIORITY:11|X-ODD;P=\"a:b\":c|\
        ATTENDEE;CN=One:mailto:twice@example.com|ATTENDEE;CN=Two:mailto:twice@example.com";
    put(url, "t17", href, "odd.ics", (CALENDAR, &resource("VTODO", &[component]))).await;
    let before = got(url, "t17", &format!("{href}odd.ics")).await;
    let task = listed(api, &path).await.remove(0);
    let task_path = format!("{path}/{}", text(&task, "id"));
    let stamps = ["SUMMARY", "DESCRIPTION", "DTSTAMP", "LAST-MODIFIED"];
    for change in [json!({ "notes": "Noted" }), json!({ "title": "Titled" })] {
        let changed = api.patch(&task_path, change).send().await.expect(200);
        assert_eq!((&changed["dueTime"], &changed["assignees"]), (&task["dueTime"], &task["assignees"]));
        let after = got(url, "t17", &format!("{href}odd.ics")).await;
        assert_eq!(lines_without(&after, &stamps), lines_without(&before, &stamps));
    }
    api.delete(format!("/v1/task-lists/{}", text(&list, "id"))).send().await.expect(204);
}

/// A card whose name is present but empty.
async fn odd_cards(api: &Actor, url: &str, connection: &Value) {
    let new = json!({ "connectionId": connection["id"], "name": "Odd cards" });
    let book = api.post("/v1/contact-books", new).send().await.expect(201);
    let href = text(&book, "externalId");
    let card = "BEGIN:VCARD\nVERSION:3.0\nUID:odd\nN:;;;;\nFN:\nTEL;TYPE=HOME:call me\nEMAIL:\nEMAIL:no address\n\
        ADR:;;;;;;\nX-ODD;P=\"a:b\":c\nEND:VCARD\n";
    put(url, "t17", href, "odd.vcf", ("text/vcard; charset=utf-8", card)).await;
    let before = got(url, "t17", &format!("{href}odd.vcf")).await;
    let contact = listed(api, &format!("/v1/contacts?book_id={}", text(&book, "id"))).await.remove(0);
    let contact_path = format!("/v1/contacts/{}", text(&contact, "id"));
    let changed = api.patch(&contact_path, json!({ "nickname": "Nick" })).send().await.expect(200);
    assert_eq!((&changed["nickname"], &changed["phones"]), (&json!("Nick"), &contact["phones"]));
    let after = got(url, "t17", &format!("{href}odd.vcf")).await;
    let stamps = ["NICKNAME", "REV"];
    assert_eq!(lines_without(&after, &stamps), lines_without(&before, &stamps));
    api.delete(format!("/v1/contact-books/{}?force=true", text(&book, "id"))).send().await.expect(204);
}
