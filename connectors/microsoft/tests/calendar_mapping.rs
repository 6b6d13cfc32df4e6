//! Events of Graph as the model's, and back.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use connector_microsoft::{
    MailboxInfo, NativeEvent, WrittenEvent, WrittenFields, event_from, event_to, exception_from,
};
use model::calendar::{
    Attendee, AttendeeKind, AttendeeRole, ConferenceProvider, ConferenceStatus, Event, EventStatus,
    EventType, Location, Reminder, ReminderMethod, Reminders, ResponseStatus, ShowAs, Visibility,
};
use serde_json::{Value, json};

const BERLIN: &str = "Europe/Berlin";
const WEST_EUROPE: &str = "W. Europe Standard Time";
const JOIN: &str = "https://teams.microsoft.com/l/meetup-join/19%3ameeting?context=a&b=c";

fn mailbox() -> MailboxInfo {
    MailboxInfo { time_zone: BERLIN.to_owned(), addresses: vec!["ada@example.test".to_owned()] }
}

fn native(value: Value) -> NativeEvent {
    serde_json::from_value(value).unwrap()
}

fn read(value: Value) -> Event {
    event_from(&native(value), &mailbox()).unwrap()
}

fn utc(text: &str) -> Value {
    json!({ "dateTime": format!("{text}.0000000"), "timeZone": "UTC" })
}

/// `one` with these members instead of its own.
fn with(mut one: Value, other: Value) -> Value {
    one.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
    one
}

/// A meeting of Ada's from ten to eleven in Berlin.
fn meeting() -> Value {
    json!({
        "@odata.etag": "W/\"k1\"", "id": "AAk1", "type": "singleInstance", "subject": "Plan", "isOrganizer": true,
        "start": utc("2026-03-02T09:00:00"), "end": utc("2026-03-02T10:00:00"),
        "originalStartTimeZone": WEST_EUROPE, "originalEndTimeZone": WEST_EUROPE, "isAllDay": false,
        "organizer": { "emailAddress": { "name": "Ada", "address": "ada@example.test" } },
    })
}

fn html(content: &str) -> Value {
    json!({ "body": { "contentType": "html", "content": content } })
}

fn event() -> Event {
    read(meeting())
}

fn names(fields: &[&str]) -> Vec<String> {
    fields.iter().map(ToString::to_string).collect()
}

fn patch(event: &Event, fields: &[&str], before: Option<Value>) -> WrittenEvent {
    let before = before.map(native);
    event_to(event, WrittenFields::Patch(&names(fields)), before.as_ref(), &mailbox()).unwrap()
}

fn warned(written: &WrittenEvent) -> Vec<&str> {
    written.warnings.iter().map(|warning| warning.target.as_deref().unwrap()).collect()
}

#[test]
fn a_meeting_is_read_with_all_its_fields() {
    let guest = |kind: &str, address: &str, response: &str| {
        json!({ "type": kind, "status": { "response": response, "time": "0001-01-01T00:00:00Z" },
                "emailAddress": { "name": "", "address": address } })
    };
    let place = json!({
        "displayName": "Room 1", "locationUri": "https://maps.test/1", "coordinates": { "latitude": 52.5, "longitude": 13.25 },
        "address": { "street": "Main St 1", "city": "Berlin", "postalCode": "10115" },
    });
    let event = read(with(
        meeting(),
        json!({
            "attendees": [guest("required", "bob@example.test", "accepted"), guest("optional", "Ada@Example.test", "none"),
                          guest("resource", "beamer@example.test", "declined"), guest("required", "", "none")],
            "showAs": "oof", "sensitivity": "personal", "hideAttendees": true, "isReminderOn": true,
            "reminderMinutesBeforeStart": 30, "location": { "displayName": "Room 1" }, "locations": [place, {}],
            "webLink": "https://outlook.office365.com/x", "iCalUId": "abc@example.test", "someday": { "new": 1 },
        }),
    ));
    assert_eq!(
        (event.start.to_string(), event.end.to_string()),
        ("2026-03-02T09:00:00.000Z".into(), "2026-03-02T10:00:00.000Z".into())
    );
    assert_eq!(
        (event.time_zone.as_str(), event.end_time_zone.as_deref(), event.event_type),
        (BERLIN, None, EventType::Single)
    );
    assert_eq!(
        (event.show_as, event.visibility, event.busy, event.hide_attendees),
        (ShowAs::Oof, Visibility::Private, true, true)
    );
    let reminder = Reminder { method: ReminderMethod::Popup, minutes_before: 30 };
    assert_eq!(event.reminders, Reminders { use_default: false, overrides: vec![reminder] });
    let [bob, ada, beamer] = &event.attendees[..] else { panic!("{:?}", event.attendees) };
    assert_eq!(
        (bob.response_status, bob.role, bob.is_self),
        (ResponseStatus::Accepted, AttendeeRole::Required, false)
    );
    assert_eq!((ada.role, ada.is_self, ada.organizer), (AttendeeRole::Optional, true, true));
    assert_eq!((beamer.kind, beamer.name.as_deref()), (AttendeeKind::Resource, None));
    assert!(event.organizer.as_ref().unwrap().is_self);
    assert_eq!(event.i_cal_uid.as_deref(), Some("abc@example.test"));
    let expected = Location {
        name: Some("Room 1".into()),
        address: Some("Main St 1, 10115, Berlin".into()),
        uri: Some("https://maps.test/1".into()),
        geo: Some("52.5,13.25".into()),
    };
    assert_eq!(event.locations, Some(vec![expected]));
    assert_eq!(event.location.as_deref(), Some("Room 1"));
}

#[test]
fn words_of_graph_become_those_of_the_model() {
    let show_as = |word: &str| read(with(meeting(), json!({ "showAs": word }))).show_as;
    let expected = [ShowAs::Busy, ShowAs::Free, ShowAs::Tentative, ShowAs::WorkingElsewhere, ShowAs::Busy];
    assert_eq!(["unknown", "free", "tentative", "workingElsewhere", "later"].map(show_as), expected);
    let visibility = |word: &str| read(with(meeting(), json!({ "sensitivity": word }))).visibility;
    let expected = [Visibility::Default, Visibility::Private, Visibility::Confidential];
    assert_eq!(["normal", "private", "confidential"].map(visibility), expected);
    let invited = |response: &str| {
        read(with(meeting(), json!({ "isOrganizer": false, "responseStatus": { "response": response },
            "attendees": [{ "emailAddress": { "address": "ada@example.test" }, "status": { "response": "none" } }] })))
        .my_response
    };
    let expected = [
        ResponseStatus::Accepted,
        ResponseStatus::Tentative,
        ResponseStatus::Declined,
        ResponseStatus::NeedsAction,
    ];
    assert_eq!(
        ["accepted", "tentativelyAccepted", "declined", "notResponded"].map(invited),
        expected.map(Some)
    );
    assert_eq!(read(with(meeting(), json!({ "isCancelled": true }))).status, EventStatus::Cancelled);
    // An event without attendees has no organizer and nobody's answer.
    assert_eq!((event().organizer, event().my_response), (None, None));
}

/// Midnights are days in whatever zone they come.
#[test]
fn days_are_dates() {
    for zone in ["UTC", "Pacific Standard Time", "tzone://Microsoft/Custom"] {
        let midnight = |day: &str| json!({ "dateTime": format!("{day}T00:00:00.0000000"), "timeZone": zone });
        let days = json!({ "isAllDay": true, "start": midnight("2026-03-05"), "end": midnight("2026-03-07"), "originalStartTimeZone": zone });
        let event = read(with(meeting(), days));
        assert_eq!(
            (event.start_date.as_deref(), event.end_date.as_deref()),
            (Some("2026-03-05"), Some("2026-03-07")),
            "{zone}"
        );
        assert_eq!(
            (event.start.to_string(), event.time_zone.as_str()),
            ("2026-03-04T23:00:00.000Z".into(), BERLIN),
            "{zone}"
        );
        let written = patch(&event, &["startDate", "endDate"], None).body;
        assert_eq!(written["start"]["dateTime"], "2026-03-05T00:00:00");
        assert_eq!(
            (&written["end"]["dateTime"], &written["start"]["timeZone"]),
            (&json!("2026-03-07T00:00:00"), &json!(WEST_EUROPE))
        );
    }
}

/// The zone of the author counts, and a series keeps its time of day there.
#[test]
fn times_are_written_on_the_clock_of_their_zone() {
    let mut event = read(with(
        meeting(),
        json!({ "originalStartTimeZone": "Africa/Nairobi", "originalEndTimeZone": "Africa/Nairobi" }),
    ));
    assert_eq!(event.time_zone, "Africa/Nairobi");
    event.time_zone = "America/New_York".to_owned();
    let written = patch(&event, &["timeZone"], None).body;
    assert_eq!(
        written["start"],
        json!({ "dateTime": "2026-03-02T04:00:00", "timeZone": "Eastern Standard Time" })
    );
    assert!(!written.contains_key("isAllDay"));
    // A zone of somebody's own is the mailbox's.
    let custom = json!({ "originalStartTimeZone": "tzone://Microsoft/Custom", "originalEndTimeZone": "" });
    assert_eq!(read(with(meeting(), custom)).time_zone, BERLIN);
}

/// Half past two comes twice on 25 October in Berlin. A series keeps its time of day instead.
#[test]
fn the_second_of_two_equal_times_is_written_in_utc() {
    let starting = |start: &str| Event {
        start: start.parse().unwrap(),
        end: "2026-10-25T03:00:00Z".parse().unwrap(),
        time_zone: BERLIN.to_owned(),
        ..event()
    };
    let written = |event: &Event| patch(event, &["start"], None).body["start"].clone();
    let local = json!({ "dateTime": "2026-10-25T02:30:00", "timeZone": WEST_EUROPE });
    assert_eq!(written(&starting("2026-10-25T00:30:00Z")), local);
    let second = starting("2026-10-25T01:30:00Z");
    assert_eq!(written(&second), json!({ "dateTime": "2026-10-25T01:30:00", "timeZone": "UTC" }));
    assert_eq!(written(&Event { recurrence: vec!["RRULE:FREQ=DAILY".to_owned()], ..second }), local);
}

/// Midnights of whole days and the days of their rule are in one zone, whatever zone the caller names.
#[test]
fn days_repeat_in_the_zone_of_their_midnights() {
    let event = Event {
        all_day: true,
        start_date: Some("2026-03-02".to_owned()),
        end_date: Some("2026-03-03".to_owned()),
        time_zone: "America/New_York".to_owned(),
        recurrence: vec!["RRULE:FREQ=WEEKLY".to_owned()],
        ..event()
    };
    let written = patch(&event, &["start", "recurrence"], None).body;
    assert_eq!(written["start"], json!({ "dateTime": "2026-03-02T00:00:00", "timeZone": WEST_EUROPE }));
    let range = json!({ "type": "noEnd", "startDate": "2026-03-02", "recurrenceTimeZone": WEST_EUROPE });
    assert_eq!(written["recurrence"]["range"], range);
}

fn weekly() -> Value {
    let pattern = json!({ "type": "weekly", "interval": 1, "month": 0, "dayOfMonth": 0, "daysOfWeek": ["monday"],
        "firstDayOfWeek": "monday", "index": "first" });
    let range = json!({ "type": "noEnd", "startDate": "2026-03-02", "endDate": "0001-01-01", "recurrenceTimeZone": WEST_EUROPE,
        "numberOfOccurrences": 0 });
    with(
        meeting(),
        json!({
            "id": "series", "type": "seriesMaster", "recurrence": { "pattern": pattern, "range": range },
            "iCalUId": "series@example.test", "cancelledOccurrences": ["OID.series.2026-03-30", "OID.series.2026-03-16"],
        }),
    )
}

/// A series with another pattern would lose its changed instances, and one that begins weeks on Sundays is another one.
#[test]
fn a_rule_with_the_same_days_keeps_its_pattern() {
    let mut theirs = weekly();
    theirs["recurrence"]["pattern"]["firstDayOfWeek"] = json!("sunday");
    let recurrence = |rule: &str| {
        let event = Event { recurrence: vec![format!("RRULE:{rule}")], ..read(theirs.clone()) };
        patch(&event, &["recurrence"], Some(theirs.clone())).body["recurrence"].clone()
    };
    let shorter = recurrence("FREQ=WEEKLY;COUNT=3;BYDAY=MO");
    let pattern = json!({ "type": "weekly", "interval": 1, "daysOfWeek": ["monday"], "firstDayOfWeek": "sunday",
        "index": "first" });
    assert_eq!((&shorter["pattern"], &shorter["range"]["numberOfOccurrences"]), (&pattern, &json!(3)));
    let other = recurrence("FREQ=WEEKLY;BYDAY=MO,TU");
    assert_eq!(other["pattern"]["firstDayOfWeek"], "monday");
}

/// The clocks go forward on 29 March: both instances are at ten in Berlin.
#[test]
fn a_series_has_its_cancelled_and_changed_instances() {
    let series = read(weekly());
    assert_eq!(series.event_type, EventType::Series);
    let [rule, dates] = &series.recurrence[..] else { panic!("{:?}", series.recurrence) };
    assert!(rule.starts_with("RRULE:FREQ=WEEKLY") && rule.contains("BYDAY=MO"), "{rule}");
    assert_eq!(dates, "EXDATE;TZID=Europe/Berlin:20260316T100000,20260330T100000");

    let changed = with(
        meeting(),
        json!({
            "id": "changed", "type": "exception", "seriesMasterId": "series", "originalStart": "2026-04-06T08:00:00Z",
            "start": utc("2026-04-07T08:00:00"), "end": utc("2026-04-07T09:00:00"), "iCalUId": "of the instance",
        }),
    );
    let exception = exception_from(&native(changed.clone()), &native(weekly()), &mailbox()).unwrap().unwrap();
    assert_eq!(exception.recurrence_id.as_deref(), Some("2026-04-06T10:00:00"));
    assert_eq!(exception.original_start.unwrap().to_string(), "2026-04-06T08:00:00.000Z");
    assert_eq!(
        (exception.event_type, exception.i_cal_uid.as_deref()),
        (EventType::Exception, Some("series@example.test"))
    );
    // Without its original start it has no place in the series.
    let nameless = with(changed, json!({ "originalStart": null }));
    assert_eq!(exception_from(&native(nameless), &native(weekly()), &mailbox()).unwrap(), None);
}

#[test]
fn a_series_of_days_names_days() {
    let midnight = |day: &str| utc(&format!("{day}T00:00:00"));
    let series = with(
        weekly(),
        json!({ "isAllDay": true, "start": midnight("2026-03-02"), "end": midnight("2026-03-03") }),
    );
    assert_eq!(read(series.clone()).recurrence[1], "EXDATE;VALUE=DATE:20260316,20260330");
    // An original start is midnight in UTC, or in the zone.
    for original in ["2026-03-09T00:00:00Z", "2026-03-08T23:00:00Z"] {
        let changed = with(series.clone(), json!({ "recurrence": null, "originalStart": original }));
        let exception =
            exception_from(&native(changed), &native(series.clone()), &mailbox()).unwrap().unwrap();
        assert_eq!(exception.recurrence_id.as_deref(), Some("2026-03-09"), "{original}");
    }
}

/// Outlook stores a text as HTML with a stylesheet around it.
#[test]
fn a_text_is_read_out_of_its_html() {
    let content = "<html><head><meta name=\"Generator\" content=\"Microsoft Exchange Server\">\r\n<!-- converted from text -->\r\n\
        <style><!-- .EmailQuote { margin-left: 1pt; } --></style></head>\r\n<body><div class=\"PlainText\">First &amp; second<br>\r\nthird</div></body></html>";
    let event = read(with(meeting(), html(content)));
    assert_eq!(
        (event.description.as_deref(), event.description_html.as_deref()),
        (Some("First & second\nthird"), None)
    );
    let spaced = content.replace("third", "<br>\r\n<br>\r\n&nbsp; &lt;third&gt; &amp;lt;");
    let event = read(with(meeting(), html(&spaced)));
    assert_eq!(event.description.as_deref(), Some("First & second\n\n\n  <third> &lt;"));
    let written = read(with(meeting(), html("<html><body><b>Bold</b></body></html>")));
    assert_eq!(written.description.as_deref(), Some("Bold"));
    assert!(written.description_html.unwrap().contains("<b>Bold</b>"));
    let empty = read(with(meeting(), html("<html><head></head><body></body></html>")));
    assert_eq!((empty.description, empty.description_html), (None, None));
}

/// Equal text is no change, whatever Outlook has made of it.
#[test]
fn a_body_that_is_not_changed_is_not_sent() {
    let before =
        with(meeting(), html("<html><!-- converted from text --><body><div>One<br>Two</div></body></html>"));
    let mut wanted = read(before.clone());
    wanted.description = Some("One\r\nTwo\r\n".to_owned());
    assert!(patch(&wanted, &["description"], Some(before.clone())).body.is_empty());
    wanted.description = Some("Other".to_owned());
    let body = patch(&wanted, &["description"], Some(before.clone())).body;
    assert_eq!(body["body"], json!({ "contentType": "text", "content": "Other" }));
    // Null is refused: an empty text is none.
    wanted.description = None;
    let body = patch(&wanted, &["description"], Some(before)).body;
    assert_eq!(body["body"], json!({ "contentType": "text", "content": "" }));
}

/// The link of a meeting goes where the block with it is left out of the body.
#[test]
fn the_block_to_join_stays_when_the_description_changes() {
    let block = format!(
        "<div><span>________________________________________________________________________________</span></div>\
         <div class=\"me-email-text\"><a href=\"{}\">Join the meeting now</a></div>",
        JOIN.replace('&', "&amp;")
    );
    let content = format!("<html><head></head><body><div>Agenda</div>{block}</body></html>");
    let online = json!({ "isOnlineMeeting": true, "onlineMeetingProvider": "teamsForBusiness", "onlineMeeting": { "joinUrl": JOIN } });
    let before = with(with(meeting(), html(&content)), online);
    let mut wanted = read(before.clone());
    assert_eq!(wanted.description.as_deref(), Some("Agenda"));
    let conference = wanted.conference.clone().unwrap();
    assert_eq!(
        (conference.provider, conference.join_url.as_deref()),
        (ConferenceProvider::Teams, Some(JOIN))
    );
    assert!(patch(&wanted, &["description"], Some(before.clone())).body.is_empty());
    wanted.description = Some("A < B\nlater".to_owned());
    let body = patch(&wanted, &["description"], Some(before)).body;
    let expected = format!("<html><body><div>A &lt; B<br>later</div>{block}</body></html>");
    assert_eq!(body["body"], json!({ "contentType": "html", "content": expected }));
}

/// A line of the author's looks as the one above the block does.
#[test]
fn a_line_of_the_authors_is_no_block() {
    let line = format!("<div>{}</div>", "_".repeat(40));
    let link = JOIN.replace('&', "&amp;");
    let block = format!("<div class=\"me-email-text\"><a href=\"{link}\">Join the meeting now</a></div>");
    let plain = format!("<div><a href=\"{link}\">Join the meeting now</a></div>");
    let online = json!({ "isOnlineMeeting": true, "onlineMeeting": { "joinUrl": JOIN } });
    for block in [format!("{line}{block}"), block, format!("{line}{plain}")] {
        let content = format!("<html><body><div>Agenda</div>{line}<div>Notes</div>{block}</body></html>");
        let description = read(with(with(meeting(), html(&content)), online.clone())).description.unwrap();
        let lines: Vec<&str> = description.lines().collect();
        assert_eq!((lines.first(), lines.last()), (Some(&"Agenda"), Some(&"Notes")), "{content}");
    }
}

#[test]
fn a_meeting_without_a_link_is_pending() {
    let event = read(with(
        meeting(),
        json!({ "isOnlineMeeting": true, "onlineMeetingProvider": "teamsForBusiness", "onlineMeeting": null }),
    ));
    assert_eq!(event.conference.unwrap().status, ConferenceStatus::Pending);
    let zoom = read(with(
        meeting(),
        json!({ "onlineMeetingProvider": "unknown", "onlineMeetingUrl": "https://acme.zoom.us/j/1" }),
    ));
    assert_eq!(zoom.conference.unwrap().provider, ConferenceProvider::Zoom);
    let none =
        json!({ "isOnlineMeeting": false, "onlineMeetingProvider": "unknown", "onlineMeetingUrl": "" });
    assert_eq!(read(with(meeting(), none)).conference, None);
}

/// Without a word of it Outlook would remind of the event 15 minutes before.
#[test]
fn no_reminder_is_none() {
    let create = |event: &Event, fields: &[&str]| {
        event_to(event, WrittenFields::New(&names(fields)), None, &mailbox()).unwrap()
    };
    let mut event = event();
    let written = create(&event, &["title"]).body;
    assert_eq!(
        (&written["isReminderOn"], &written["subject"], &written["isAllDay"]),
        (&json!(false), &json!("Plan"), &json!(false))
    );
    event.reminders = Reminders { use_default: false, overrides: Vec::new() };
    assert_eq!(create(&event, &["reminders"]).body["isReminderOn"], false);
    assert!(!patch(&event, &["title"], None).body.contains_key("isReminderOn"));
    let popup = |minutes_before| Reminder { method: ReminderMethod::Popup, minutes_before };
    event.reminders.overrides = vec![popup(60), popup(10)];
    let written = create(&event, &["reminders"]);
    assert_eq!(
        (&written.body["isReminderOn"], &written.body["reminderMinutesBeforeStart"]),
        (&json!(true), &json!(10))
    );
    assert_eq!(warned(&written), ["reminders"]);
    let off = json!({ "isReminderOn": false, "reminderMinutesBeforeStart": 15 });
    assert!(read(with(meeting(), off)).reminders.overrides.is_empty());
}

/// The list replaces the one that is there: it is sent only where somebody is new, gone, or in another role.
#[test]
fn attendees_are_sent_when_they_differ() {
    let guest = |address: &str| json!({ "type": "required", "emailAddress": { "address": address }, "status": { "response": "accepted" } });
    let before = with(meeting(), json!({ "attendees": [guest("bob@example.test")] }));
    let mut wanted = read(before.clone());
    wanted.attendees[0].response_status = ResponseStatus::NeedsAction;
    assert!(patch(&wanted, &["attendees"], Some(before.clone())).body.is_empty());
    let group =
        Attendee { email: "team@example.test".into(), kind: AttendeeKind::Group, ..Attendee::default() };
    wanted.attendees.push(group);
    let written = patch(&wanted, &["attendees"], Some(before));
    assert_eq!(written.body["attendees"][1]["emailAddress"]["address"], "team@example.test");
    assert!(written.body["attendees"][0].get("status").is_none());
    assert_eq!(warned(&written), ["attendees"]);
}

#[test]
fn what_outlook_cannot_keep_is_a_warning() {
    let mut event = event();
    event.color = Some("#ff0000".into());
    event.capacity = Some(3);
    event.status = EventStatus::Tentative;
    let written = patch(&event, &["color", "capacity", "status", "guestsCanInvite"], None);
    assert_eq!(warned(&written), ["status", "color", "capacity"]);
    assert!(written.body.is_empty());
}

#[test]
fn a_rule_without_a_pattern_is_refused() {
    let mut event = event();
    event.recurrence = vec!["RRULE:FREQ=HOURLY".to_owned()];
    let failure =
        event_to(&event, WrittenFields::Patch(&names(&["recurrence"])), None, &mailbox()).unwrap_err();
    assert_eq!(
        (failure.code.as_str(), failure.detail.unwrap()["field"].as_str()),
        ("unsupported", Some("recurrence"))
    );
    event.recurrence =
        vec!["RRULE:FREQ=WEEKLY;BYDAY=MO".to_owned(), "EXDATE;TZID=Europe/Berlin:20260309T100000".to_owned()];
    let written = patch(&event, &["recurrence"], None).body;
    assert_eq!(written["recurrence"]["pattern"]["type"], "weekly");
    event.recurrence.clear();
    assert_eq!(patch(&event, &["recurrence"], None).body["recurrence"], Value::Null);
}
