//! People at Google: guests and their answers, conferences, and when others are busy.

use fakes::{Fault, What};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::google::{ALICE, BOB, World, event};

/// Another address of Alice's, which is not that of her account.
const ALIAS: &str = "alice.work@example.com";
const CAROL: &str = "carol@example.com";
const QUERY: &str = "/v1/calendars/freebusy/query";

/// An event of Bob's with these members that invites Alice's other address.
fn invitation(id: &str, title: &str, start: &str, more: &Value) -> Value {
    let mut members = json!({
        "organizer": { "email": BOB }, "creator": { "email": BOB },
        "attendees": [
            { "email": BOB, "responseStatus": "accepted", "organizer": true },
            { "email": ALIAS, "self": true, "responseStatus": "needsAction" },
        ],
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        members[name.as_str()] = value.clone();
    }
    event(id, title, start, members)
}

/// Addresses and answers of an event's guests at Google.
fn answers(world: &World, id: &str) -> Vec<String> {
    let event = world.theirs(id);
    let guests = event["attendees"].as_array().expect("guests").iter();
    guests.map(|guest| format!("{} {}", text(&guest["email"]), text(&guest["responseStatus"]))).collect()
}

/// Google marks the account's own entry, under any alias; only that entry is written.
#[tokio::test]
async fn guest_answers_as_alias() {
    let Some(world) = World::start().await else { return };
    world.put(invitation("board", "Board", "2026-03-06T09:00:00Z", &json!({})));
    let rule = json!({ "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=3"] });
    world.put(invitation("weekly", "Weekly", "2026-03-02T09:00:00Z", &rule));
    let calendar = world.primary().await;
    let path = calendar.path(&world.titled(&calendar, "Board").await);
    world.fake.clear_requests();
    let gladly = json!({ "comment": "Gladly" });
    let answered = world.api.post(format!("{path}/accept"), gladly).send().await.expect(200);
    assert_eq!(answered["myResponse"], "accepted");
    let writes = world.writes();
    let [patch] = &writes[..] else { panic!("one request: {writes:#?}") };
    assert_eq!(patch.parameter("sendUpdates"), Some("all"));
    let body = patch.body.as_ref().expect("a body");
    let own = &body["attendees"][0];
    assert_eq!(
        (&body["attendeesOmitted"], body["attendees"].as_array().map(Vec::len)),
        (&json!(true), Some(1))
    );
    assert_eq!(
        (&own["email"], &own["responseStatus"], &own["comment"]),
        (&json!(ALIAS), &json!("accepted"), &json!("Gladly"))
    );
    assert_eq!(answers(&world, "board"), [format!("{BOB} accepted"), format!("{ALIAS} accepted")]);

    world.fake.clear_requests();
    let quietly = json!({ "notifyOrganizer": false });
    world.api.post(format!("{path}/decline"), quietly).send().await.expect(200);
    assert_eq!(world.writes().first().and_then(|patch| patch.parameter("sendUpdates")), Some("none"));
    assert_eq!(answers(&world, "board"), [format!("{BOB} accepted"), format!("{ALIAS} declined")]);

    // Of a series one instance, or all.
    let second = calendar.path(&world.instance(&calendar, "09T09:00 Weekly").await);
    world.api.post(format!("{second}/tentative"), json!({})).send().await.expect(200);
    let own = |id: &str| answers(&world, id).pop().expect("a guest");
    assert_eq!(own("weekly_20260309T090000Z"), format!("{ALIAS} tentative"));
    assert_eq!(own("weekly"), format!("{ALIAS} needsAction"));
    let third = calendar.path(&world.instance(&calendar, "16T09:00 Weekly").await);
    let all = json!({ "recurrenceScope": "all" });
    world.api.post(format!("{third}/accept"), all).send().await.expect(200);
    assert_eq!(own("weekly"), format!("{ALIAS} accepted"));
    world.assert_allowed();
}

/// Google may take the list with the own entry for the whole one: then all guests are written again, in the version that the answer has.
#[tokio::test]
async fn an_answer_that_wipes_others_is_mended() {
    let Some(world) = World::start().await else { return };
    world.put(invitation("board", "Board", "2026-03-06T09:00:00Z", &json!({})));
    let calendar = world.primary().await;
    let path = calendar.path(&world.titled(&calendar, "Board").await);
    let mut wiped = world.theirs("board");
    wiped["etag"] = world.fake.with(|state| {
        let event = state.calendars.get(ALICE).and_then(|calendar| calendar.events.get("board"));
        json!(event.expect("the event").etag())
    });
    wiped["attendees"] = json!([{ "email": ALIAS, "self": true, "responseStatus": "accepted" }]);
    world.fake.fault(Fault::status("/events/board", 200, wiped).method("PATCH"));
    world.fake.clear_requests();
    let answered = world.api.post(format!("{path}/accept"), json!({})).send().await.expect(200);
    assert_eq!(answered["attendees"].as_array().map(Vec::len), Some(2), "{answered:#}");
    assert_eq!(world.methods(), ["PATCH", "PATCH"]);
    let writes = world.writes();
    let insists =
        |name: &str| writes.iter().any(|write| write.headers.iter().any(|(known, _)| known == name));
    assert!(insists("if-match"), "{writes:#?}");
    assert_eq!(answers(&world, "board"), [format!("{BOB} accepted"), format!("{ALIAS} accepted")]);
    world.assert_allowed();
}

/// An account that is not invited, or that invites, has nothing to answer: Google is not asked.
#[tokio::test]
async fn only_guests_answer() {
    let Some(world) = World::start().await else { return };
    world.put(event("own", "Own", "2026-03-06T09:00:00Z", json!({})));
    let guests = json!({ "attendees": [{ "email": CAROL, "responseStatus": "needsAction" }] });
    world.put(invitation("other", "Other", "2026-03-06T11:00:00Z", &guests));
    let calendar = world.primary().await;
    for (title, code) in [("Own", "organizer_cannot_rsvp"), ("Other", "not_an_attendee")] {
        let path = calendar.path(&world.titled(&calendar, title).await);
        world.api.post(format!("{path}/accept"), json!({})).send().await.refused(409, code);
    }
    assert_eq!(world.methods(), Vec::<String>::new());
    world.assert_allowed();
}

/// A stale list wipes no guests, though a list of guests replaces Google's as a whole. Answers, and those whom guests bring along, are
/// kept, and a list that is older than Google's is not written.
#[tokio::test]
async fn guests_are_not_wiped() {
    let Some(world) = World::start().await else { return };
    let guests = json!({ "attendees": [
        { "email": BOB, "responseStatus": "accepted", "additionalGuests": 2, "comment": "We are three" },
        { "email": CAROL, "responseStatus": "tentative", "optional": true },
    ] });
    world.put(event("party", "Party", "2026-03-06T18:00:00Z", guests));
    let calendar = world.primary().await;
    let path = calendar.path(&world.titled(&calendar, "Party").await);
    world.fake.clear_requests();
    let invite = json!({ "attendees": [
        { "email": BOB }, { "email": CAROL, "role": "optional" }, { "email": "dave@example.com", "name": "Dave" },
    ] });
    let changed = world.api.patch(&path, invite).send().await.expect(200);
    let told: Vec<&str> = changed["attendees"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|guest| guest["responseStatus"].as_str())
        .collect();
    assert_eq!(told, ["accepted", "tentative", "needsAction"]);
    let expected = json!([
        { "email": BOB, "responseStatus": "accepted", "additionalGuests": 2, "comment": "We are three" },
        { "email": CAROL, "responseStatus": "tentative", "optional": true },
        { "email": "dave@example.com", "displayName": "Dave", "responseStatus": "needsAction" },
    ]);
    assert_eq!(world.theirs("party")["attendees"], expected);

    let body = json!({ "error": {
        "code": 412, "message": "Precondition Failed",
        "errors": [{ "domain": "global", "reason": "conditionNotMet", "message": "Precondition Failed" }],
    } });
    world.fake.fault(Fault::status("/events/party", 412, body).method("PATCH"));
    let fewer = json!({ "attendees": [{ "email": BOB }] });
    world.api.patch(&path, fewer).send().await.refused(409, "stale_etag");
    assert_eq!(world.theirs("party")["attendees"], expected);

    // Of very long lists Google shows only the account's own entry.
    let long =
        json!({ "attendeesOmitted": true, "attendees": [{ "email": ALICE, "responseStatus": "accepted" }] });
    world.put(event("fair", "Fair", "2026-03-07T10:00:00Z", long));
    let path = calendar.path(&world.titled(&calendar, "Fair").await);
    let fewer = json!({ "attendees": [{ "email": BOB }] });
    let error = world.api.patch(&path, fewer).send().await.refused(400, "capability_not_supported");
    assert_eq!(error["param"], "attendees");
    world.api.patch(&path, json!({ "title": "Trade fair" })).send().await.expect(200);
    world.assert_allowed();
}

/// Google makes conferences a moment after the request. One that takes longer comes with the changes of the calendar.
#[tokio::test]
async fn a_conference_is_added() {
    let Some(world) = World::start().await else { return };
    for (id, title, hour) in [("call", "Call", "09"), ("slow", "Slow", "11"), ("lost", "Lost", "13")] {
        world.put(event(id, title, &format!("2026-03-06T{hour}:00:00Z"), json!({})));
    }
    let calendar = world.primary().await;
    let path = async |title: &str| {
        let event = calendar.path(&world.titled(&calendar, title).await);
        format!("{event}/conference")
    };
    let call = path("Call").await;
    world.fake.clear_requests();
    let made = world.api.post(&call, json!({})).send().await.expect(200)["conference"].clone();
    assert_eq!((&made["provider"], &made["status"]), (&json!("googleMeet"), &json!("ready")));
    assert!(text(&made["joinUrl"]).starts_with("https://meet.google.com/"), "{made:#}");
    let writes = world.writes();
    let [patch] = &writes[..] else { panic!("one request: {writes:#?}") };
    let request = patch.body.as_ref().map(|body| &body["conferenceData"]["createRequest"]["requestId"]);
    assert_eq!(patch.parameter("conferenceDataVersion"), Some("1"));
    assert!(request.and_then(Value::as_str).is_some_and(|id| id.len() >= 16), "{request:?}");
    world.fake.clear_requests();
    let again = world.api.post(&call, json!({})).send().await.expect(200);
    assert_eq!((&again["conference"], world.methods()), (&made, Vec::new()));

    let slow = path("Slow").await;
    world.fake.trap("conference_pending", 1);
    let pending = world.api.post(&slow, json!({})).send().await.expect(200)["conference"].clone();
    assert_eq!((&pending["status"], &pending["joinUrl"]), (&json!("pending"), &Value::Null));
    world.fake.trap("conference_pending", 0);
    let link = "https://meet.google.com/abc-defg-hij";
    let request = json!({
        "requestId": "slow", "conferenceSolutionKey": { "type": "hangoutsMeet" },
        "status": { "statusCode": "success" },
    });
    let ready = json!({ "hangoutLink": link, "conferenceData": {
        "createRequest": request, "conferenceId": "abc-defg-hij",
        "conferenceSolution": { "key": { "type": "hangoutsMeet" }, "name": "Google Meet" },
        "entryPoints": [{ "entryPointType": "video", "uri": link, "label": "meet" }],
    } });
    world.fake.with(|state| state.change_event(ALICE, "slow", ready));
    let found = world.titled(&calendar, "Slow").await["conference"].clone();
    assert_eq!((&found["status"], &found["joinUrl"]), (&json!("ready"), &json!(link)));

    let lost = path("Lost").await;
    let zoom = world.api.post(&lost, json!({ "provider": "zoom" })).send().await;
    zoom.refused(400, "capability_not_supported");
    world.fake.trap("conference_failure", 1);
    let failed = world.api.post(&lost, json!({})).send().await.expect(200)["conference"].clone();
    assert_eq!((&failed["status"], &failed["joinUrl"]), (&json!("failed"), &Value::Null));
    world.assert_allowed();
}

/// One result of a query: its status, the code of its error, and when busy times begin.
fn result(result: &Value) -> String {
    let code = result["error"]["code"].as_str().unwrap_or_default();
    let busy = result["busy"].as_array().expect("a list").iter();
    let starts: Vec<String> =
        busy.map(|one| text(&one["start"]).chars().skip(5).take(11).collect()).collect();
    format!("{} {code}{}", text(&result["status"]), starts.join(" "))
}

/// A person whose times Google does not show is not free, for any form of its answer.
#[tokio::test]
async fn free_busy_of_others_and_errors_are_not_free() {
    let Some(world) = World::start().await else { return };
    let connection = world.connect().await;
    world.fake.with(|state| {
        state.add_user(BOB, "Bob Example", "UTC");
        state.put_event(BOB, event("call", "Call", "2026-03-03T10:00:00Z", json!({})));
        state.put_event(BOB, event("late", "Late", "2026-05-30T10:00:00Z", json!({})));
        state.put_event(ALICE, event("lunch", "Lunch", "2026-03-03T11:00:00Z", json!({})));
    });
    let calendar = world.calendar(&connection, ALICE).await;
    let id = &connection["id"];
    let of_bob = json!({ "email": BOB, "viaConnectionId": id });
    let ask = async |targets: Value, end: &str| {
        let query = json!({ "start": "2026-03-01T00:00:00Z", "end": end, "targets": targets });
        world.server.clock.advance_ms(1);
        world.api.post(QUERY, query).send().await.expect(200)
    };
    let targets = json!([
        { "connectionId": id, "calendarIds": [calendar.id] },
        of_bob,
        { "email": "nobody@example.com", "viaConnectionId": id },
    ]);
    let answer = ask(targets, "2026-03-05T00:00:00Z").await;
    let results: Vec<String> = answer["data"].as_array().expect("a list").iter().map(result).collect();
    assert_eq!(results, ["ok 03-03T11:00", "ok 03-03T10:00", "error not_found"], "{answer:#}");
    assert_eq!(answer["complete"], false);

    // Google takes about 90 days at once.
    world.fake.clear_requests();
    let answer = ask(json!([of_bob]), "2026-06-01T00:00:00Z").await;
    assert_eq!(result(&answer["data"][0]), "ok 03-03T10:00 05-30T10:00", "{answer:#}");
    let asked = world.fake.requests().into_iter().filter(|request| request.path.ends_with("/freeBusy"));
    let mut ranges: Vec<(String, String)> = asked
        .filter_map(|request| request.body)
        .map(|body| (text(&body["timeMin"]), text(&body["timeMax"])))
        .collect();
    ranges.sort();
    let [(_, first_end), (second_start, _)] = &ranges[..] else { panic!("two requests: {ranges:?}") };
    assert_eq!(first_end, second_start);

    let told_nothing = json!({ "kind": "calendar#freeBusy", "calendars": {} });
    let errors = json!({ "errors": [{ "domain": "global", "reason": "internalError" }], "busy": [] });
    let failed = json!({ "kind": "calendar#freeBusy", "calendars": { BOB: errors } });
    let faults = [
        Fault::status("/freeBusy", 200, told_nothing),
        Fault::status("/freeBusy", 200, failed),
        Fault::status("/freeBusy", 503, json!("Service Unavailable")),
        Fault::new("/freeBusy", What::Html),
    ];
    for fault in faults {
        world.fake.fault(fault.clone());
        let answer = ask(json!([of_bob]), "2026-03-05T00:00:00Z").await;
        assert_eq!(result(&answer["data"][0]), "error provider_unavailable", "{fault:?}: {answer:#}");
        assert_eq!(answer["complete"], false, "{fault:?}");
    }
    world.assert_allowed();
}

/// A calendar that shows only its busy times is asked for those, and never for its events.
#[tokio::test]
async fn a_calendar_without_details_is_asked_for_busy_times() {
    let Some(world) = World::start().await else { return };
    world.fake.with(|state| {
        state.add_user(BOB, "Bob Example", "UTC");
        state.subscribe(ALICE, BOB, "freeBusyReader");
        state.put_event(BOB, event("call", "Call", "2026-03-03T10:00:00Z", json!({})));
    });
    let connection = world.connect().await;
    let calendar = world.calendar(&connection, BOB).await;
    world.fake.clear_requests();
    let query = json!({
        "start": "2026-03-03T00:00:00Z", "end": "2026-03-04T00:00:00Z",
        "targets": [{ "connectionId": connection["id"], "calendarIds": [calendar.id] }],
    });
    let answer = world.api.post(QUERY, query).send().await.expect(200);
    assert_eq!(result(&answer["data"][0]), "ok 03-03T10:00", "{answer:#}");
    let paths: Vec<String> = world.fake.requests().into_iter().map(|request| request.path).collect();
    assert!(!paths.iter().any(|path| path.contains("/events")), "{paths:?}");
    world.assert_allowed();
}
