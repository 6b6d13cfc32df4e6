//! Calls of the calendar surface as a client makes them, and the answers.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::door::pairs;
use crate::graph::calendar::{GraphCalendarKind, MeetingMailKind, answer, occurrence_id};
use crate::graph::call::{GraphCall, normalized};
use crate::graph::errors::GraphError;
use crate::graph::mail::AttachmentKind;
use crate::graph::prefer::Preferences;
use crate::graph::state::{AccountKind, GraphState};

const ANN: &str = "ann@work.test";
const IMMUTABLE: &str = "IdType=\"ImmutableId\"";

fn state() -> GraphState {
    let mut state = GraphState::new(Clock::default());
    state.add_account(ANN, "Ann", "W. Europe Standard Time", AccountKind::Work);
    state.add_account("bob@work.test", "Bob", "UTC", AccountKind::Work);
    state.add_account("eve@outlook.test", "Eve", "UTC", AccountKind::Personal);
    state
}

/// A call with these headers: `GET events?$top=5`.
fn call(user: &str, line: &str, body: Value, headers: &[(&'static str, &str)]) -> GraphCall {
    let (method, target) = line.split_once(' ').expect("a method and a target");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, HeaderValue::from_str(value).expect("a header"));
    }
    let segments: Vec<String> = path.split('/').map(str::to_owned).collect();
    GraphCall {
        user: user.to_owned(),
        account_id: "1".to_owned(),
        method: method.to_owned(),
        path: normalized(&segments),
        query: pairs(query.as_bytes()),
        prefer: Preferences::read(&map),
        headers: map,
        content: Bytes::new(),
        body,
        scopes: Vec::new(),
        link_root: "https://graph.microsoft.com/v1.0".to_owned(),
    }
}

/// The answer of Ann's call with immutable ids; null where it has no body.
fn send(state: &mut GraphState, line: &str, body: Value) -> Result<Value, GraphError> {
    let reply = answer(state, &call(ANN, line, body, &[("prefer", IMMUTABLE)]))?;
    Ok(serde_json::from_slice(&reply.body).unwrap_or(Value::Null))
}

fn get(state: &mut GraphState, line: &str) -> Value {
    send(state, &format!("GET {line}"), Value::Null).unwrap_or_else(|error| panic!("{line}: {}", error.code))
}

fn refusal(state: &mut GraphState, line: &str, body: Value) -> (u16, String) {
    let error = send(state, line, body).expect_err("a refusal");
    (error.status, error.code)
}

fn time(text: &str) -> Value {
    json!({ "dateTime": text, "timeZone": "W. Europe Standard Time" })
}

fn meeting(subject: &str, day: &str) -> Value {
    json!({
        "subject": subject,
        "start": time(&format!("{day}T09:00:00")),
        "end": time(&format!("{day}T10:00:00")),
    })
}

fn weekly(subject: &str, day: &str) -> Value {
    let mut event = meeting(subject, day);
    event["recurrence"] = json!({
        "pattern": { "type": "weekly", "interval": 1, "daysOfWeek": ["monday"], "firstDayOfWeek": "monday" },
        "range": { "type": "numbered", "startDate": day, "numberOfOccurrences": 4 },
    });
    event
}

fn texts(value: &Value, name: &str) -> Vec<String> {
    let items = value["value"].as_array().into_iter().flatten();
    items.map(|item| item[name].as_str().unwrap_or_default().to_owned()).collect()
}

/// The query of a link in an answer.
fn link(body: &Value, name: &str) -> String {
    let link = body[name].as_str().unwrap_or_else(|| panic!("no {name}"));
    link.split_once('?').expect("a query").1.to_owned()
}

#[test]
fn series_has_exceptions_expanded_and_cancelled_occurrences_selected() {
    let mut state = state();
    let id = state.put_event(ANN, "", weekly("Weekly", "2026-03-02"));
    state.edit_event(ANN, &occurrence_id(&id, "2026-03-09"), json!({ "subject": "Other" }));
    state.delete_event(ANN, &occurrence_id(&id, "2026-03-16"));
    let bare = get(&mut state, &format!("events/{id}"));
    assert!(bare.get("cancelledOccurrences").is_none() && bare.get("exceptionOccurrences").is_none());
    let query = "$select=subject,originalStart,cancelledOccurrences&$expand=exceptionOccurrences";
    let series = get(&mut state, &format!("events/{id}?{query}"));
    assert_eq!(series["cancelledOccurrences"], json!([format!("OID.{id}.2026-03-16")]));
    let list = get(&mut state, "events?$select=cancelledOccurrences");
    assert!(list["value"][0].get("cancelledOccurrences").is_none(), "{list}");
    let exception = &series["exceptionOccurrences"][0];
    assert_eq!(
        (&exception["subject"], &exception["originalStart"]),
        (&json!("Other"), &json!("2026-03-09T08:00:00Z"))
    );
    assert!(exception.get("start").is_none(), "{exception}");
}

#[test]
fn occurrences_have_ids_of_their_own() {
    let mut state = state();
    let id = state.put_event(ANN, "", weekly("Weekly", "2026-03-02"));
    let range = "startDateTime=2026-03-08T00:00:00Z&endDateTime=2026-03-10T00:00:00Z";
    let found = get(&mut state, &format!("events/{id}/instances?{range}"));
    let own = texts(&found, "id").pop().expect("an occurrence");
    assert_eq!(own, occurrence_id(&id, "2026-03-09"));
    assert_eq!(send(&mut state, &format!("DELETE events/{own}"), Value::Null).expect("deleted"), Value::Null);
    assert_eq!(refusal(&mut state, &format!("GET events/{own}"), Value::Null).0, 404);
    let range = "startDateTime=2026-03-01T00:00:00Z&endDateTime=2026-04-01T00:00:00Z";
    let view = get(&mut state, &format!("calendarView?{range}&$select=start,type"));
    assert_eq!(texts(&view, "type"), ["occurrence", "occurrence", "occurrence"]);
    assert_eq!(
        refusal(&mut state, "GET calendarView", Value::Null),
        (400, "ErrorInvalidParameter".to_owned())
    );
}

#[test]
fn delta_of_events_is_brief_and_goes_on_from_its_token() {
    let mut state = state();
    let first = state.put_event(ANN, "", meeting("One", "2026-03-03"));
    state.put_event(ANN, "", weekly("Weekly", "2026-03-02"));
    let paged = call(ANN, "GET events/delta", Value::Null, &[("prefer", "odata.maxpagesize=1")]);
    let reply = answer(&mut state, &paged).expect("a page");
    let page: Value = serde_json::from_slice(&reply.body).expect("JSON");
    assert_eq!(texts(&page, "type"), ["singleInstance"]);
    assert!(page["value"][0].get("subject").is_none(), "{page}");
    let rest = get(&mut state, &format!("events/delta?{}", link(&page, "@odata.nextLink")));
    assert_eq!(texts(&rest, "type"), ["seriesMaster"]);
    state.delete_event(ANN, &first);
    let next = get(&mut state, &format!("events/delta?{}", link(&rest, "@odata.deltaLink")));
    assert_eq!(
        next["value"],
        json!([{
            "@odata.type": "#microsoft.graph.event", "id": first, "@removed": { "reason": "deleted" },
        }])
    );
    state.traps.set("events_delta_needs_range", 9).expect("a trap");
    assert_eq!(refusal(&mut state, "GET events/delta", Value::Null).0, 400);
    state.traps.set("events_delta_refused", 9).expect("a trap");
    let range = "startDateTime=2026-03-01T00:00:00Z&endDateTime=2026-04-01T00:00:00Z";
    assert_eq!(refusal(&mut state, &format!("GET events/delta?{range}"), Value::Null).0, 400);
}

#[test]
fn delta_of_a_view_has_stubs_and_removes_what_is_outside() {
    let mut state = state();
    let id = state.put_event(ANN, "", weekly("Weekly", "2026-03-02"));
    let range = "startDateTime=2026-03-01T00:00:00Z&endDateTime=2026-03-15T00:00:00Z";
    let page = get(&mut state, &format!("calendarView/delta?{range}"));
    assert_eq!(texts(&page, "type"), ["seriesMaster", "occurrence", "occurrence"]);
    assert_eq!(page["value"][1]["seriesMasterId"], json!(id));
    assert!(page["value"][1].get("subject").is_none(), "{page}");
    let outside = state.put_event(ANN, "", meeting("Later", "2026-05-05"));
    state.delete_event(ANN, &occurrence_id(&id, "2026-03-09"));
    let next = get(&mut state, &format!("calendarView/delta?{}", link(&page, "@odata.deltaLink")));
    let removed: Vec<&Value> = next["value"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|item| item.get("@removed").is_some())
        .map(|item| &item["id"])
        .collect();
    assert_eq!(removed, [&json!(outside)]);
    assert_eq!(texts(&next, "type").iter().filter(|kind| *kind == "occurrence").count(), 1);
    state.traps.set("calendar_delta_expired", 1).expect("a trap");
    let line = format!("GET calendarView/delta?{}", link(&next, "@odata.deltaLink"));
    assert_eq!(refusal(&mut state, &line, Value::Null), (410, "SyncStateNotFound".to_owned()));
}

#[test]
fn create_is_repeated_by_its_transaction_id_and_has_a_reminder() {
    let mut state = state();
    let mut event = meeting("Once", "2026-03-03");
    event["transactionId"] = "t1".into();
    event["body"] = json!({ "contentType": "text", "content": "Agenda" });
    let first = send(&mut state, "POST events", event.clone()).expect("created");
    let second = send(&mut state, "POST events", event).expect("created");
    assert_eq!(first["id"], second["id"]);
    assert_eq!((&first["isReminderOn"], &first["reminderMinutesBeforeStart"]), (&json!(true), &json!(15)));
    assert_eq!(first["body"]["contentType"], "html");
    assert_eq!(first["bodyPreview"], "Agenda");
    assert_eq!(first["start"], json!({ "dateTime": "2026-03-03T08:00:00.0000000", "timeZone": "UTC" }));
    assert_eq!(first["originalStartTimeZone"], "W. Europe Standard Time");
    let line = format!("PATCH events/{}", first["id"].as_str().expect("an id"));
    for change in [json!({ "body": null }), json!({ "transactionId": "t2" })] {
        assert_eq!(refusal(&mut state, &line, change).0, 400);
    }
}

#[test]
fn change_of_another_version_is_refused() {
    let mut state = state();
    let id = state.put_event(ANN, "", meeting("Old", "2026-03-03"));
    let etag = get(&mut state, &format!("events/{id}"))["@odata.etag"].as_str().expect("an etag").to_owned();
    let line = format!("PATCH events/{id}");
    let headers = [("prefer", IMMUTABLE), ("if-match", etag.as_str())];
    let change = call(ANN, &line, json!({ "subject": "New" }), &headers);
    answer(&mut state, &change).expect("changed");
    assert_eq!(answer(&mut state, &change).expect_err("another version").status, 412);
    let etag = get(&mut state, &format!("events/{id}"))["@odata.etag"].as_str().expect("an etag").to_owned();
    state.traps.set("event_etag_moves", 1).expect("a trap");
    let headers = [("prefer", IMMUTABLE), ("if-match", etag.as_str())];
    let change = call(ANN, &line, json!({ "subject": "Newer" }), &headers);
    assert_eq!(answer(&mut state, &change).expect_err("moved by itself").status, 412);
}

#[test]
fn declined_invitation_is_deleted_and_the_organizer_cannot_answer() {
    let mut state = state();
    let invited = state.invite(ANN, "bob@work.test", meeting("Invited", "2026-03-03"));
    send(&mut state, &format!("POST events/{invited}/accept"), json!({ "sendResponse": true }))
        .expect("accepted");
    let event = get(&mut state, &format!("events/{invited}"));
    assert_eq!(
        (&event["responseStatus"]["response"], &event["isOrganizer"]),
        (&json!("accepted"), &json!(false))
    );
    let line = format!("PATCH events/{invited}");
    assert_eq!(refusal(&mut state, &line, json!({ "subject": "Mine" })).0, 400);
    let decline = json!({ "comment": "No", "sendResponse": false });
    send(&mut state, &format!("POST events/{invited}/decline"), decline).expect("declined");
    assert_eq!(refusal(&mut state, &format!("GET events/{invited}"), Value::Null).0, 404);
    let kinds: Vec<MeetingMailKind> = state.meeting_mails(ANN).into_iter().map(|mail| mail.kind).collect();
    assert_eq!(kinds, [MeetingMailKind::Response]);
    let own = state.put_event(ANN, "", meeting("Own", "2026-03-04"));
    assert_eq!(refusal(&mut state, &format!("POST events/{own}/accept"), json!({})).0, 400);
}

#[test]
fn attendees_get_mail_of_each_change() {
    let mut state = state();
    let attendee = |address: &str| json!({ "emailAddress": { "address": address } });
    let mut event = meeting("Review", "2026-03-03");
    event["attendees"] = json!([attendee("bob@work.test"), attendee("cid@x.test")]);
    let created = send(&mut state, "POST events", event).expect("created");
    let id = created["id"].as_str().expect("an id");
    let change = json!({ "attendees": [attendee("bob@work.test"), attendee("dan@x.test")] });
    send(&mut state, &format!("PATCH events/{id}"), change).expect("changed");
    send(&mut state, &format!("PATCH events/{id}"), json!({ "isReminderOn": false })).expect("changed");
    state.answer_invitation(ANN, id, "bob@work.test", "accepted");
    let event = get(&mut state, &format!("events/{id}"));
    assert_eq!(event["attendees"][0]["status"]["response"], "accepted");
    send(&mut state, &format!("POST events/{id}/cancel"), json!({ "comment": "Off" })).expect("cancelled");
    let mails: Vec<(MeetingMailKind, Vec<String>)> =
        state.meeting_mails(ANN).into_iter().map(|mail| (mail.kind, mail.to)).collect();
    let to = |addresses: &[&str]| addresses.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        mails,
        [
            (MeetingMailKind::Invitation, to(&["bob@work.test", "cid@x.test"])),
            (MeetingMailKind::Cancellation, to(&["cid@x.test"])),
            (MeetingMailKind::Invitation, to(&["dan@x.test"])),
            (MeetingMailKind::Update, to(&["bob@work.test"])),
            (MeetingMailKind::Cancellation, to(&["bob@work.test", "dan@x.test"])),
        ]
    );
}

#[test]
fn calendars_of_others_are_empty_and_holidays_can_be_read_alone() {
    let mut state = state();
    let foreign = state.add_foreign_calendar(ANN, "bob@work.test", "Bob");
    let hidden = state.put_event(ANN, "Bob", meeting("Theirs", "2026-03-03"));
    assert_eq!(get(&mut state, &format!("calendars/{foreign}/events"))["value"], json!([]));
    assert_eq!(refusal(&mut state, &format!("GET events/{hidden}"), Value::Null).0, 404);
    let holidays = state.add_read_only_calendar(ANN, "Holidays", GraphCalendarKind::Holidays);
    state.put_event(ANN, "Holidays", meeting("Holiday", "2026-03-03"));
    assert_eq!(texts(&get(&mut state, &format!("calendars/{holidays}/events")), "subject"), ["Holiday"]);
    let line = format!("POST calendars/{holidays}/events");
    assert_eq!(refusal(&mut state, &line, meeting("Mine", "2026-03-03")).0, 403);
    let all = get(&mut state, "calendars");
    assert_eq!(texts(&all, "name"), ["Calendar", "Bob", "Holidays"]);
    assert_eq!(all["value"][1]["owner"]["address"], "bob@work.test");
}

#[test]
fn ids_that_change_are_lost_with_a_move_and_immutable_ones_stay() {
    let mut state = state();
    let id = state.put_event(ANN, "", meeting("Moved", "2026-03-03"));
    let reply = answer(&mut state, &call(ANN, "GET events", Value::Null, &[])).expect("a page");
    let page: Value = serde_json::from_slice(&reply.body).expect("JSON");
    let mutable = texts(&page, "id").pop().expect("an event");
    let target = state.add_calendar(ANN, "Work");
    state.move_event(ANN, &id, "Work");
    assert_eq!(texts(&get(&mut state, &format!("calendars/{target}/events")), "id"), [id]);
    assert_eq!(refusal(&mut state, &format!("GET events/{mutable}"), Value::Null).0, 404);
}

#[test]
fn schedule_has_its_own_error_for_each_address() {
    let mut state = state();
    let mut busy = meeting("Busy", "2026-03-03");
    busy["showAs"] = "oof".into();
    state.put_event("bob@work.test", "", busy);
    let ask = |addresses: Value| {
        json!({
            "schedules": addresses, "availabilityViewInterval": 60,
            "startTime": { "dateTime": "2026-03-03T07:00:00", "timeZone": "UTC" },
            "endTime": { "dateTime": "2026-03-03T10:00:00", "timeZone": "UTC" },
        })
    };
    let line = "POST calendar/getSchedule";
    let body = send(&mut state, line, ask(json!(["bob@work.test", "nobody@work.test"]))).expect("schedules");
    assert_eq!(body["value"][0]["availabilityView"], "030");
    assert_eq!(body["value"][0]["scheduleItems"][0]["status"], "oof");
    assert_eq!(body["value"][1]["error"]["responseCode"], "ErrorMailRecipientNotFound");
    let many: Vec<String> = (0..21).map(|number| format!("p{number}@work.test")).collect();
    assert_eq!(refusal(&mut state, line, ask(json!(many))).0, 400);
    let personal = call("eve@outlook.test", line, ask(json!(["bob@work.test"])), &[]);
    assert_eq!(answer(&mut state, &personal).expect_err("refused").status, 403);
}

#[test]
fn link_of_a_meeting_comes_with_the_next_read() {
    let mut state = state();
    let mut event = meeting("Call", "2026-03-03");
    event["isOnlineMeeting"] = true.into();
    let created = send(&mut state, "POST events", event).expect("created");
    assert_eq!((&created["isOnlineMeeting"], &created["onlineMeeting"]), (&json!(true), &Value::Null));
    let read = get(&mut state, &format!("events/{}", created["id"].as_str().expect("an id")));
    assert!(read["onlineMeeting"]["joinUrl"].is_string(), "{read}");
}

#[test]
fn attachments_are_listed_apart_from_their_event() {
    let mut state = state();
    let id = state.put_event(ANN, "", weekly("Weekly", "2026-03-02"));
    state.edit_event(ANN, &occurrence_id(&id, "2026-03-09"), json!({ "subject": "Other" }));
    let before = get(&mut state, &format!("events/{id}"));
    state.attach_to_event(ANN, &id, AttachmentKind::Reference, "Plan", "");
    let series = get(&mut state, &format!("events/{id}?$expand=exceptionOccurrences"));
    assert!(before["changeKey"] != series["changeKey"] && before["hasAttachments"] == false, "{before}");
    assert_eq!(series["exceptionOccurrences"][0]["hasAttachments"], true, "{series}");
    let files = format!("events/{id}/attachments");
    let new = json!({
        "@odata.type": "#microsoft.graph.fileAttachment", "name": "a.txt", "contentType": "text/plain", "contentBytes": "YQ==",
    });
    let made = send(&mut state, &format!("POST {files}"), new).expect("a file");
    let list = get(&mut state, &format!("{files}?$select=id,name,contentType"));
    assert_eq!(texts(&list, "name"), ["Plan", "a.txt"]);
    assert!(list["value"][1].get("contentBytes").is_none(), "{list}");
    let one = format!("{files}/{}", made["id"].as_str().expect("an id"));
    assert_eq!(get(&mut state, &one)["contentBytes"], "YQ==");
    send(&mut state, &format!("DELETE {one}"), Value::Null).expect("it is removed");
    assert_eq!(refusal(&mut state, &format!("GET {one}"), Value::Null).0, 404);
}
