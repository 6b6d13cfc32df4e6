//! Resources with more components than RFC 4791 section 4.1 allows, and with less: copies of one instance or series, components that
//! cannot be read, other UIDs, instances without their series. What is read of them, and that a change is what is read afterwards.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use connector_dav::collection::changed::FieldSet;
use connector_dav::ical::people::Selves;
use connector_dav::ical::read::Reader;
use connector_dav::ical::resource::parse;
use connector_dav::ical::series::{Editor, Update};
use connector_dav::ical::todo::edit::TodoEditor;
use connector_dav::ical::todo::read::TodoReader;
use connector_sdk::Outcome;
use model::Instant;
use model::calendar::{Event, EventType, ResponseStatus};
use model::tasks::Task;
use model::wire::calendar::RecurrenceScope;
use model::wire::{Item, ItemError};
use proptest::prelude::*;

fn reader() -> Reader {
    Reader::new(Selves::new(["me@example.com"]), Some("Europe/Berlin"))
}

/// A VEVENT of these lines.
fn event(lines: &str) -> String {
    let lines: String = lines.split('|').map(|line| format!("{}\r\n", line.trim())).collect();
    format!("BEGIN:VEVENT\r\n{lines}END:VEVENT\r\n")
}

fn resource(events: &[&str]) -> String {
    let events: String = events.iter().map(|lines| event(lines)).collect();
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Another//EN\r\n{events}END:VCALENDAR\r\n")
}

fn items(text: &str) -> Result<Vec<Item>, ItemError> {
    reader().items("/x.ics", text)
}

fn body(item: &Item) -> Event {
    item.body.read().unwrap()
}

/// Ids and titles of the items that are read.
fn titles(text: &str) -> Vec<(String, String)> {
    let all = items(text).unwrap();
    all.iter().map(|item| (item.external_id.clone(), body(item).title.unwrap_or_default())).collect()
}

fn title(text: &str, id: &str) -> String {
    titles(text).into_iter().find(|(found, _)| found == id).unwrap().1
}

/// Codes and targets of the warnings of each item.
fn warnings(text: &str) -> Vec<Vec<(String, String)>> {
    let of = |item: &Item| -> Vec<(String, String)> {
        item.warnings.iter().map(|w| (w.code.clone(), w.target.clone().unwrap_or_default())).collect()
    };
    items(text).unwrap().iter().map(of).collect()
}

fn pair(code: &str, target: &str) -> (String, String) {
    (code.to_owned(), target.to_owned())
}

fn edit<T>(text: &str, run: impl FnOnce(&Editor) -> T) -> T {
    let calendar = parse(text).unwrap();
    let reader = reader();
    let now: Instant = "2026-03-01T00:00:00Z".parse().unwrap();
    run(&Editor { reader: &reader, original: &calendar, now, server_tells: None })
}

/// The resource with another title of this instance, or of the series.
fn renamed(text: &str, instance: Option<&str>) -> String {
    let event = Event { title: Some("New".into()), ..Event::default() };
    let changed = ["title".to_owned()];
    let edited: Outcome<Update> = edit(text, |editor| match instance {
        Some(id) => editor.update_instance(id, &event, &FieldSet(&changed)),
        None => editor.update_main(&event, &FieldSet(&changed)),
    });
    edited.unwrap().text.unwrap()
}

const SERIES: &str = "UID:a|DTSTAMP:20260101T000000Z|DTSTART;TZID=Europe/Berlin:20260302T090000|\
    DTEND;TZID=Europe/Berlin:20260302T100000|RRULE:FREQ=DAILY;COUNT=9|SUMMARY:Series";
const DAYS: &str =
    "UID:a|DTSTAMP:20260101T000000Z|DTSTART;VALUE=DATE:20260302|RRULE:FREQ=DAILY;COUNT=9|SUMMARY:Series";
const THIRD: &str = "/x.ics#2026-03-04T09:00:00";
const THIRD_ID: &str = "2026-03-04T09:00:00";

/// An override of the third instance.
fn third(lines: &str) -> String {
    format!(
        "UID:a|RECURRENCE-ID;TZID=Europe/Berlin:20260304T090000|DTSTART;TZID=Europe/Berlin:20260304T110000|{lines}"
    )
}

/// The highest SEQUENCE counts, then the newest DTSTAMP, then the newest LAST-MODIFIED, then the last one, wherever they stand.
#[test]
fn the_newest_of_two_overrides_of_one_instance_counts() {
    let pairs = [
        ("SEQUENCE:2|SUMMARY:Good", "SEQUENCE:1|DTSTAMP:20300101T000000Z|SUMMARY:Bad"),
        ("SEQUENCE:1|SUMMARY:Good", "SUMMARY:Bad"),
        ("SEQUENCE:1|SUMMARY:Good", "SEQUENCE:many|SUMMARY:Bad"),
        (
            "DTSTAMP:20260201T000001Z|SUMMARY:Good",
            "DTSTAMP:20260201T000000Z|LAST-MODIFIED:20300101T000000Z|SUMMARY:Bad",
        ),
        ("DTSTAMP:20260201T000001Z|SUMMARY:Good", "SUMMARY:Bad"),
        ("DTSTAMP:20260201T000000Z|SUMMARY:Good", "DTSTAMP:soon|SUMMARY:Bad"),
        ("LAST-MODIFIED:20260201T000001Z|SUMMARY:Good", "LAST-MODIFIED:20260201T000000Z|SUMMARY:Bad"),
        ("SEQUENCE:10|SUMMARY:Good", "SEQUENCE:9|SUMMARY:Bad"),
    ];
    for (good, bad) in pairs {
        let (good, bad) = (third(good), third(bad));
        for events in
            [[SERIES, &good, &bad], [SERIES, &bad, &good], [&bad, SERIES, &good], [&good, &bad, SERIES]]
        {
            let text = resource(&events);
            let expected =
                [("/x.ics".to_owned(), "Series".to_owned()), (THIRD.to_owned(), "Good".to_owned())];
            assert_eq!(titles(&text), expected, "{text}");
            assert_eq!(warnings(&text), [vec![], vec![pair("duplicate_instance", THIRD_ID)]]);
            assert!(items(&text).unwrap()[1].series_external_id.is_some());
        }
    }
    let twins = resource(&[SERIES, &third("SUMMARY:First"), &third("SUMMARY:Last")]);
    assert_eq!(title(&twins, THIRD), "Last");
}

/// One instance, however its time is spelled: in another zone, in UTC, as a day, as a time of an all-day series.
#[test]
fn a_recurrence_id_is_compared_by_what_it_means() {
    let timed = [
        "RECURRENCE-ID;TZID=Europe/Berlin:20260304T090000",
        "RECURRENCE-ID;TZID=W. Europe Standard Time:20260304T090000",
        "RECURRENCE-ID;TZID=America/New_York:20260304T030000",
        "RECURRENCE-ID:20260304T080000Z",
        "RECURRENCE-ID:20260304T090000",
        "RECURRENCE-ID;VALUE=DATE:20260304",
        "RECURRENCE-ID:20260304",
    ];
    let days = [
        "RECURRENCE-ID;VALUE=DATE:20260304",
        "RECURRENCE-ID:20260304T000000",
        "RECURRENCE-ID;TZID=Europe/Berlin:20260304T000000",
        "RECURRENCE-ID:20260303T230000Z",
    ];
    for (series, ids, id) in [(SERIES, &timed[..], THIRD), (DAYS, &days[..], "/x.ics#2026-03-04")] {
        for one in ids {
            for other in ids {
                let of = |id: &str, rest: &str| format!("UID:a|{id}|DTSTART:20260304T110000Z|{rest}");
                let (old, new) = (of(one, "SUMMARY:Old"), of(other, "SEQUENCE:1|SUMMARY:Newer"));
                let text = resource(&[series, &new, &old]);
                let expected = [pair("/x.ics", "Series"), pair(id, "Newer")];
                assert_eq!(titles(&text), expected, "{one} and {other}");
                let changed = renamed(&text, id.strip_prefix("/x.ics#"));
                assert_eq!(titles(&changed), [pair("/x.ics", "Series"), pair(id, "New")]);
            }
        }
    }
}

/// Two instances of one local time in two zones are two.
#[test]
fn lone_instances_of_two_zones_are_told_apart() {
    let of = |zone: &str, title: &str| {
        format!(
            "UID:a|RECURRENCE-ID;TZID={zone}:20260304T090000|DTSTART;TZID={zone}:20260304T090000|SUMMARY:{title}"
        )
    };
    let text = resource(&[&of("Europe/Berlin", "Here"), &of("America/New_York", "There")]);
    assert_eq!(titles(&text), [pair(THIRD, "Here"), pair("/x.ics#2026-03-04T15:00:00", "There")]);
    assert_eq!(title(&renamed(&text, Some("2026-03-04T15:00:00")), "/x.ics#2026-03-04T15:00:00"), "New");
}

/// For its own instance an override for all later ones ranks below one for it alone; it is no copy of it and stays.
#[test]
fn an_override_for_all_later_instances_is_none_of_its_own_alone() {
    let ranged =
        third("SEQUENCE:5|SUMMARY:All later").replace("RECURRENCE-ID;", "RECURRENCE-ID;RANGE=THISANDFUTURE;");
    let both = resource(&[SERIES, &ranged, &third("SUMMARY:Alone")]);
    assert_eq!(title(&both, THIRD), "Alone");
    let not_expanded = pair("recurrence_not_expanded", THIRD_ID);
    assert_eq!(warnings(&both)[1], std::slice::from_ref(&not_expanded));
    let changed = renamed(&both, Some(THIRD_ID));
    assert_eq!(title(&changed, THIRD), "New");
    assert!(changed.contains("SUMMARY:All later"), "{changed}");

    let only = resource(&[SERIES, &ranged]);
    assert_eq!((title(&only, THIRD), warnings(&only)[1].len()), ("All later".into(), 0));
    assert!(body(&items(&only).unwrap()[1]).applies_to_following);
    let changed = renamed(&only, Some(THIRD_ID));
    assert_eq!(title(&changed, THIRD), "New");
    assert!(changed.contains("RECURRENCE-ID;TZID=Europe/Berlin:20260304T090000\r\n"), "{changed}");
    // The change of later instances begins with the next one, as much later as it was.
    let next = "RECURRENCE-ID;TZID=Europe/Berlin;RANGE=THISANDFUTURE:20260305T090000\r\n";
    assert!(changed.contains(next) && changed.contains("SUMMARY:All later"), "{changed}");
    assert!(changed.contains("DTSTART;TZID=Europe/Berlin:20260305T110000\r\n"), "{changed}");

    for text in [&both, &only] {
        let deleted = edit(text, |editor| editor.delete_instance(THIRD_ID)).unwrap();
        assert!(deleted.warnings.is_empty(), "{:?}", deleted.warnings);
        let text = deleted.text.unwrap();
        assert_eq!(titles(&text)[1..], [pair("/x.ics#2026-03-05T09:00:00", "All later")], "{text}");
        assert!(body(&items(&text).unwrap()[0]).recurrence[1].starts_with("EXDATE"), "{text}");
    }
}

/// An instance behind such an override begins as that one says, not as the series does.
#[test]
fn an_instance_behind_an_override_for_all_later_ones_begins_as_that_says() {
    let ranged = third("SUMMARY:All later|LOCATION:Roof")
        .replace("RECURRENCE-ID;", "RECURRENCE-ID;RANGE=THISANDFUTURE;");
    let text = resource(&[SERIES, &ranged]);
    let changed = renamed(&text, Some("2026-03-06T09:00:00"));
    let all = items(&changed).unwrap();
    let sixth = body(all.iter().find(|item| item.external_id == "/x.ics#2026-03-06T09:00:00").unwrap());
    assert_eq!((sixth.location.as_deref(), sixth.applies_to_following), (Some("Roof"), false));
    assert_eq!(sixth.start.to_string(), "2026-03-06T10:00:00.000Z");
    assert_eq!(sixth.original_start.unwrap().to_string(), "2026-03-06T08:00:00.000Z");
    assert_eq!(title(&changed, THIRD), "All later", "the earlier one stays");
}

/// Exchange names a day by the midnight of the organizer's zone, whichever the calendar has.
#[test]
fn a_day_is_named_by_anybodys_midnight() {
    for id in [
        "RECURRENCE-ID;TZID=Asia/Tokyo:20260304T000000",
        "RECURRENCE-ID;TZID=America/Los_Angeles:20260304T000000",
        "RECURRENCE-ID;TZID=Pacific/Auckland:20260304T000000",
        "RECURRENCE-ID;TZID=Nowhere:20260304T000000",
        "RECURRENCE-ID:20260304T000000Z",
        "RECURRENCE-ID:20260303T150000Z",
        "RECURRENCE-ID:20260304T080000Z",
    ] {
        let text = resource(&[DAYS, &format!("UID:a|{id}|DTSTART;VALUE=DATE:20260310|SUMMARY:Moved")]);
        assert_eq!(titles(&text)[1], pair("/x.ics#2026-03-04", "Moved"), "{id}");
        let moved = body(&items(&text).unwrap()[1]);
        assert_eq!(moved.original_start.unwrap().to_string(), "2026-03-03T23:00:00.000Z", "{id}");
        let left = edit(&text, |editor| editor.delete_instance("2026-03-04")).unwrap().text.unwrap();
        assert_eq!(titles(&left).len(), 1, "{left}");
    }
}

/// A change of an instance, an answer, its deletion, the cut of the series: each is what is read afterwards. Copies of other instances
/// keep their bytes.
#[test]
fn what_is_changed_of_copies_is_what_is_read() {
    // Copies that seem to be newer than any change of today.
    let copy = |day: u8, n: u8| {
        let lines = "DTSTAMP:20400101T000000Z|ORGANIZER:mailto:boss@example.com|ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:me@example.com";
        third(&format!("SUMMARY:Copy {n}|{lines}"))
            .replace("20260304T", &format!("2026030{day}T"))
            .replace("T110000", "T090000")
    };
    let others = [copy(5, 1), copy(5, 2)];
    let text = resource(&[&copy(4, 1), SERIES, &others[0], &copy(4, 2), &others[1], &copy(4, 3)]);
    assert_eq!(title(&text, THIRD), "Copy 3");

    let changed = renamed(&text, Some(THIRD_ID));
    assert_eq!(title(&changed, THIRD), "New");
    assert_eq!(changed.matches("RECURRENCE-ID;TZID=Europe/Berlin:20260304T").count(), 1);
    for other in &others {
        assert!(changed.contains(&event(other)), "{changed}");
    }

    let whole = renamed(&text, None);
    assert_eq!(title(&whole, "/x.ics"), "New");
    assert_eq!(whole.matches("BEGIN:VEVENT").count(), 6, "copies of instances are not concerned");

    for scope in [RecurrenceScope::This, RecurrenceScope::All] {
        let answered =
            edit(&text, |editor| editor.respond(Some(THIRD_ID), scope, ResponseStatus::Accepted, None));
        let answered = answered.unwrap().text.unwrap();
        let all = items(&answered).unwrap();
        let answers: Vec<_> = all.iter().skip(1).map(|item| body(item).my_response.unwrap()).collect();
        let second = if scope == RecurrenceScope::All {
            ResponseStatus::Accepted
        } else {
            ResponseStatus::NeedsAction
        };
        assert_eq!(answers, [ResponseStatus::Accepted, second], "{scope:?}\n{answered}");
    }

    let deleted = edit(&text, |editor| editor.delete_instance(THIRD_ID)).unwrap().text.unwrap();
    assert!(titles(&deleted).iter().all(|(id, _)| id != THIRD), "{deleted}");
    let capped = edit(&text, |editor| editor.cap(THIRD_ID)).unwrap().text.unwrap();
    assert_eq!(titles(&capped), [pair("/x.ics", "Series")]);

    let event = Event { title: Some("Rest".into()), ..body(&items(&text).unwrap()[1]) };
    let changed = ["title".to_owned()];
    let split = edit(&text, |editor| editor.split(THIRD_ID, "b", &event, &FieldSet(&changed))).unwrap();
    assert_eq!(titles(&split.old.text.unwrap()), [pair("/x.ics", "Series")]);
    let rest = titles(&split.new);
    assert_eq!(rest, [pair("/x.ics", "Rest"), pair("/x.ics#2026-03-05T09:00:00", "Copy 2")]);
}

/// Two series, or single events, under one UID: the newest is read and changed, and its copy goes.
#[test]
fn the_newest_of_two_series_counts() {
    let old = SERIES
        .replace("SUMMARY:Series", "SUMMARY:Old|DTSTAMP:20400101T000000Z")
        .replace("DTSTAMP:20260101T000000Z|", "");
    let new = SERIES.replace("SUMMARY:Series", "SEQUENCE:3|SUMMARY:Newer");
    let exception = third("SUMMARY:Exception");
    for events in [[&*old, &*new, &*exception], [&*new, &*exception, &*old], [&*exception, &*old, &*new]] {
        let text = resource(&events);
        assert_eq!(titles(&text), [pair("/x.ics", "Newer"), pair(THIRD, "Exception")]);
        assert_eq!(warnings(&text), [vec![pair("duplicate_event", "iCalUid")], vec![]]);
        let changed = renamed(&text, None);
        assert_eq!(titles(&changed), [pair("/x.ics", "New"), pair(THIRD, "Exception")]);
        assert_eq!(warnings(&changed), [vec![], vec![]], "the copy is gone");
        let instance = renamed(&text, Some("2026-03-03T09:00:00"));
        assert_eq!(title(&instance, "/x.ics#2026-03-03T09:00:00"), "New");
        assert_eq!(instance.matches("SUMMARY:Old").count(), 1, "it is not concerned");
        let deleted = edit(&text, |editor| editor.delete_instance("2026-03-03T09:00:00")).unwrap();
        assert_eq!(body(&items(&deleted.text.unwrap()).unwrap()[0]).recurrence.len(), 2);
    }
    // The series of SEQUENCE 2 is where the newest instances are, also where the two differ in their zone.
    let moved = new.replace("Europe/Berlin", "America/New_York");
    let text = resource(&[&old, &moved, &exception]);
    assert_eq!(titles(&text)[1].0, "/x.ics#2026-03-04T03:00:00");
}

/// An unreadable component hides no other: of an instance, of a copy. Where the series itself cannot be read, no instance is.
#[test]
fn one_unreadable_component_hides_no_other() {
    let broken =
        third("SUMMARY:Broken").replace("DTSTART;TZID=Europe/Berlin:20260304T110000", "DTSTART:when we like");
    let nameless = "UID:a|RECURRENCE-ID:the third|DTSTART:20260304T110000Z|SUMMARY:Nameless";
    let good = third("SUMMARY:Good").replace("20260304T", "20260305T");
    let text = resource(&[&broken, SERIES, nameless, &good]);
    assert_eq!(titles(&text), [pair("/x.ics", "Series"), pair("/x.ics#2026-03-05T09:00:00", "Good")]);
    let expected = vec![pair("unreadable_instance", THIRD_ID), pair("unreadable_instance", "recurrence")];
    assert_eq!(warnings(&text), [expected, vec![]]);

    let copy = resource(&[SERIES, &third("SUMMARY:Good"), &broken.replace("UID:a", "UID:a|SEQUENCE:7")]);
    assert_eq!(
        (title(&copy, THIRD), warnings(&copy)),
        ("Good".into(), vec![vec![], vec![pair("duplicate_instance", THIRD_ID)]])
    );

    for text in [&text, &copy] {
        let changed = renamed(text, Some(THIRD_ID));
        assert_eq!(title(&changed, THIRD), "New");
        assert!(!changed.contains("SUMMARY:Broken"), "the change stands for it\n{changed}");
        let deleted = edit(text, |editor| editor.delete_instance(THIRD_ID)).unwrap().text.unwrap();
        assert!(!deleted.contains("SUMMARY:Broken") && titles(&deleted).iter().all(|(id, _)| id != THIRD));
        assert!(renamed(text, None).contains("SUMMARY:Broken"));
    }

    let main = resource(&[&SERIES.replace("20260302T090000", "2026"), &good]);
    assert_eq!(items(&main).unwrap_err().code, "unreadable");
    let twin = resource(&[&SERIES.replace("20260302T090000", "2026"), &good, SERIES]);
    assert_eq!(title(&twin, "/x.ics"), "Series");
    assert_eq!(items(&resource(&[&broken])).unwrap_err().message, "DTSTART is missing or cannot be read");
    let lone = resource(&[&broken, &good]);
    assert_eq!(titles(&lone).len(), 1);
    assert_eq!(warnings(&lone), [vec![pair("unreadable_instance", THIRD_ID)]]);
    let many: Vec<String> = (0..40)
        .map(|day| {
            broken.replace(
                "20260304T09",
                &format!("2026{:02}04T09", day % 12 + 1).replace("T09", &format!("T{:02}", day % 20)),
            )
        })
        .collect();
    let all: Vec<&str> = [SERIES].into_iter().chain(many.iter().map(String::as_str)).collect();
    let told = items(&resource(&all)).unwrap().remove(0).warnings;
    assert!(told.len() == 11 && told[10].message.contains("beside those"), "{told:?}");
}

/// Components of another UID are left alone, with a warning.
#[test]
fn another_uid_is_left_alone() {
    let other = SERIES.replace("UID:a", "UID:b").replace("SUMMARY:Series", "SUMMARY:Other");
    let others_third = third("SUMMARY:Of the other").replace("UID:a", "UID:b");
    let text = resource(&[SERIES, &other, &third("SUMMARY:Good"), &others_third]);
    assert_eq!(titles(&text), [pair("/x.ics", "Series"), pair(THIRD, "Good")]);
    assert_eq!(warnings(&text), [vec![pair("other_uid_ignored", "iCalUid")], vec![]]);
    let event_of = |title: &str| Event { title: Some(title.into()), ..body(&items(&text).unwrap()[0]) };
    let later = Event {
        start: "2026-03-02T10:00:00Z".parse().unwrap(),
        end: "2026-03-02T11:00:00Z".parse().unwrap(),
        ..event_of("x")
    };
    let times = ["start".to_owned(), "end".to_owned()];
    let changes = [
        renamed(&text, None),
        renamed(&text, Some(THIRD_ID)),
        edit(&text, |editor| editor.delete_instance(THIRD_ID)).unwrap().text.unwrap(),
        edit(&text, |editor| editor.cap(THIRD_ID)).unwrap().text.unwrap(),
        edit(&text, |editor| editor.update_main(&later, &FieldSet(&times))).unwrap().text.unwrap(),
    ];
    for changed in changes {
        assert!(changed.contains(&event(&other)) && changed.contains(&event(&others_third)), "{changed}");
        assert_eq!(warnings(&changed)[0], [pair("other_uid_ignored", "iCalUid")]);
    }
    let split =
        edit(&text, |editor| editor.split(THIRD_ID, "c", &event_of("Rest"), &FieldSet(&["title".into()])))
            .unwrap();
    assert!(!split.new.contains("Other") && !split.new.contains("UID:b"), "{}", split.new);
    // A copy goes, and what is read is the same series all the same.
    let first = SERIES.replace("SUMMARY:Series", "SUMMARY:Old");
    let newer = SERIES.replace("SUMMARY:Series", "SEQUENCE:1|SUMMARY:Newer");
    let changed = renamed(&resource(&[&first, &other, &newer]), None);
    assert_eq!(titles(&changed), [pair("/x.ics", "New")]);
    // One without a UID belongs to the others.
    let nameless = resource(&[SERIES, &third("SUMMARY:Good").replace("UID:a|", "")]);
    assert_eq!((titles(&nameless).len(), warnings(&nameless)), (2, vec![vec![], vec![]]));
}

/// An instance with attendees of its own is changed, answered and deleted like an event of its own, each by itself.
#[test]
fn a_lone_instance_is_changed_like_an_event() {
    let invited = "SUMMARY:Lone|ORGANIZER:mailto:boss@example.com|ATTENDEE;RSVP=TRUE;X-A=1:mailto:me@example.com|X-KEEP:this";
    let fourth = third("SUMMARY:Another").replace("20260304T", "20260305T");
    let text = resource(&[&third(invited), &fourth]);
    let all = items(&text).unwrap();
    assert!(
        all.iter()
            .all(|item| body(item).event_type == EventType::Exception && item.series_external_id.is_none())
    );

    let before = body(&all[0]);
    let wanted = Event {
        title: Some("New".into()),
        location: Some("Room 3".into()),
        description: Some("Come".into()),
        start: "2026-03-04T12:00:00Z".parse().unwrap(),
        end: "2026-03-04T13:00:00Z".parse().unwrap(),
        status: model::calendar::EventStatus::Tentative,
        show_as: model::calendar::ShowAs::Free,
        visibility: model::calendar::Visibility::Private,
        color: Some("#ff0000".into()),
        reminders: model::calendar::Reminders {
            use_default: false,
            overrides: vec![model::calendar::Reminder {
                method: model::calendar::ReminderMethod::Popup,
                minutes_before: 5,
            }],
        },
        ..before.clone()
    };
    let fields = [
        "title",
        "location",
        "description",
        "start",
        "end",
        "status",
        "showAs",
        "visibility",
        "color",
        "reminders",
    ]
    .map(str::to_owned);
    let changed = edit(&text, |editor| editor.update_instance(THIRD_ID, &wanted, &FieldSet(&fields)))
        .unwrap()
        .text
        .unwrap();
    let now = body(&items(&changed).unwrap()[0]);
    let same = Event { sequence: now.sequence, busy: now.busy, ..wanted.clone() };
    assert_eq!(now, same);
    assert!(changed.contains("X-KEEP:this\r\n") && changed.contains(&event(&fourth)), "{changed}");
    assert!(changed.contains("RECURRENCE-ID;TZID=Europe/Berlin:20260304T090000\r\n"), "{changed}");
    let moved = Event {
        all_day: true,
        start_date: Some("2026-03-06".into()),
        end_date: Some("2026-03-07".into()),
        ..before
    };
    let fields = ["allDay", "startDate", "endDate", "start", "end"].map(str::to_owned);
    let days = edit(&text, |editor| editor.update_instance(THIRD_ID, &moved, &FieldSet(&fields)))
        .unwrap()
        .text
        .unwrap();
    assert_eq!(
        (
            items(&days).unwrap()[0].external_id.as_str(),
            body(&items(&days).unwrap()[0]).start_date.unwrap().as_str()
        ),
        (THIRD, "2026-03-06")
    );

    let recurs = Event { recurrence: vec!["RRULE:FREQ=DAILY".into()], ..wanted };
    let refused =
        edit(&text, |editor| editor.update_instance(THIRD_ID, &recurs, &FieldSet(&["recurrence".into()])));
    assert_eq!(refused.unwrap_err().code, "invalid");

    let accept = |id: &str| {
        edit(&text, |editor| {
            editor.respond(Some(id), RecurrenceScope::This, ResponseStatus::Accepted, Some("Gladly"))
        })
    };
    let answered = accept(THIRD_ID).unwrap().text.unwrap();
    assert!(
        answered.contains(
            "ATTENDEE;X-A=1;PARTSTAT=ACCEPTED;X-RESPONSE-COMMENT=Gladly:mailto:me@exampl\r\n e.com\r\n"
        ),
        "{answered}"
    );
    assert!(answered.contains(&event(&fourth)));
    assert_eq!(accept("2026-03-05T09:00:00").unwrap_err().detail.unwrap()["reason"], "not_an_attendee");

    let one = edit(&text, |editor| editor.delete_instance(THIRD_ID)).unwrap().text.unwrap();
    assert_eq!(titles(&one), [pair("/x.ics#2026-03-05T09:00:00", "Another")]);
    assert_eq!(edit(&one, |editor| editor.delete_instance("2026-03-05T09:00:00")).unwrap().text, None);
    for gone in ["2026-03-04T09:00:01", "2026-03-04", ""] {
        assert_eq!(edit(&text, |editor| editor.delete_instance(gone)).unwrap_err().code, "not-found");
        assert_eq!(accept(gone).unwrap_err().code, "not-found");
    }
    let cut = edit(&text, |editor| editor.cap(THIRD_ID)).unwrap_err();
    assert_eq!((cut.code.as_str(), cut.message.contains("single instances")), ("invalid", true));

    // The series arrives: the same instances, now its own.
    let whole = resource(&[&third(invited), SERIES, &fourth]);
    let ids = |text: &str| -> Vec<String> { titles(text).into_iter().map(|(id, _)| id).collect() };
    assert_eq!(ids(&whole), [&["/x.ics".to_owned()][..], &ids(&text)].concat());
    assert!(
        items(&whole)
            .unwrap()
            .iter()
            .skip(1)
            .all(|item| item.series_external_id.as_deref() == Some("/x.ics"))
    );
}

/// The newest of two to-dos of one UID is the task, and its change removes the other; those of other UIDs stay; exceptions are kept.
#[test]
fn the_newest_of_two_tasks_counts() {
    let todo = |lines: &str| event(lines).replace("VEVENT", "VTODO");
    let of = |all: &[&str]| {
        let all: String = all.iter().map(|lines| todo(lines)).collect();
        format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{all}END:VCALENDAR\r\n")
    };
    let reader = TodoReader::new(Selves::new([]), Some("Europe/Berlin"));
    let read = |text: &str| -> (Task, Vec<String>) {
        let mut items = reader.items("/x.ics", text).unwrap();
        assert_eq!(items.len(), 1);
        let item = items.remove(0);
        (item.body.read().unwrap(), item.warnings.into_iter().map(|warning| warning.code).collect())
    };
    let update = |text: &str, task: &Task, field: &str| {
        let editor =
            TodoEditor { reader: &reader, now: "2026-03-01T00:00:00Z".parse().unwrap(), strict: true };
        editor.update(text, task, &[field.to_owned()]).unwrap()
    };
    let old = "UID:a|DTSTAMP:20400101T000000Z|SUMMARY:Old|X-A:1";
    let new = "UID:a|SEQUENCE:1|SUMMARY:Newer|X-A:2|DTSTART;VALUE=DATE:20260302|RRULE:FREQ=DAILY";
    let exception = "UID:a|RECURRENCE-ID;VALUE=DATE:20260303|SEQUENCE:9|SUMMARY:Once";
    let other = "UID:b|SEQUENCE:9|SUMMARY:Other";
    for all in [[old, new, exception, other], [exception, new, other, old], [new, old, other, exception]] {
        let text = of(&all);
        let (task, codes) = read(&text);
        assert_eq!(
            (task.title.as_str(), &codes[..]),
            ("Newer", &["duplicate_task".to_owned(), "other_uid_ignored".into()][..])
        );
        let wanted = Task { title: "New".into(), ..task.clone() };
        let changed = update(&text, &wanted, "title");
        assert!(changed.warnings.is_empty(), "{:?}", changed.warnings);
        assert_eq!(read(&changed.text), (wanted, vec!["other_uid_ignored".into()]));
        assert!(
            changed.text.contains(&todo(exception)) && changed.text.contains(&todo(other)),
            "{}",
            changed.text
        );
        assert!(!changed.text.contains("X-A:1"));
        let moved = update(&text, &Task { start_date: Some("2026-04-01".into()), ..task }, "startDate");
        assert_eq!(moved.warnings[0].code, "exceptions_kept");
    }
    let lone = "UID:a|RECURRENCE-ID;VALUE=DATE:20260303|DTSTAMP:20400101T000000Z|SUMMARY:Lone";
    let (task, codes) = read(&of(&[exception, lone]));
    assert_eq!((task.title.as_str(), &codes[..]), ("Once", &["duplicate_task".to_owned()][..]));
    let changed = update(&of(&[exception, lone]), &Task { title: "New".into(), ..task }, "title");
    assert_eq!((read(&changed.text).0.title, read(&changed.text).1), ("New".into(), vec![]));
    let nameless = "UID:a|RECURRENCE-ID:soon|SUMMARY:Nameless";
    assert_eq!(read(&of(&[nameless])).0.title, "Nameless");
    let changed = update(&of(&[nameless]), &Task { title: "New".into(), ..Task::default() }, "title");
    assert_eq!(read(&changed.text).0.title, "New");
}

/// A component of a kind: which instance (0: the series), how it is spelled, how new it is.
type Odd = (u8, u8, i64, u8, u8);

fn odd_component((instance, spelling, sequence, stamp, fault): Odd, title: usize) -> String {
    let day = 2 + instance;
    let id = match (instance, spelling % 4) {
        (0, _) => String::new(),
        (_, 0) => format!("RECURRENCE-ID;TZID=Europe/Berlin:202603{day:02}T090000|"),
        (_, 1) => format!("RECURRENCE-ID:202603{day:02}T080000Z|"),
        (_, 2) => format!("RECURRENCE-ID;VALUE=DATE:202603{day:02}|"),
        (_, _) => format!("RECURRENCE-ID;RANGE=THISANDFUTURE:202603{day:02}T080000Z|"),
    };
    let start = if fault == 0 && instance > 0 {
        "DTSTART:never".into()
    } else {
        format!("DTSTART;TZID=Europe/Berlin:202603{day:02}T090000")
    };
    let rule = if instance == 0 { "|RRULE:FREQ=DAILY;COUNT=9" } else { "" };
    let uid = if fault == 1 && instance > 0 { "other" } else { "a" };
    format!(
        "UID:{uid}|{id}{start}{rule}|SEQUENCE:{sequence}|DTSTAMP:204001{:02}T000000Z|SUMMARY:{title}",
        stamp % 28 + 1
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// For any resource: each instance is read once, reading takes the components in any order for the same unless they are equally new,
    /// and a change of any of them is read back, while the others are read as before.
    #[test]
    fn a_change_of_any_item_is_what_is_read(
        odd in prop::collection::vec((0u8..4, 0u8..4, 0i64..3, 0u8..3, 0u8..8), 1..12),
        pick in any::<prop::sample::Index>(),
    ) {
        let components: Vec<String> = odd.iter().enumerate().map(|(at, odd)| odd_component(*odd, at)).collect();
        let text = resource(&components.iter().map(String::as_str).collect::<Vec<_>>());
        let Ok(all) = items(&text) else {
            prop_assert!(odd.iter().all(|(instance, ..)| *instance > 0), "{text}");
            return Ok(());
        };
        let mut ids: Vec<&str> = all.iter().map(|item| item.external_id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), all.len());
        let target = pick.get(&all);
        let id = target.external_id.strip_prefix("/x.ics#");
        let changed = renamed(&text, id);
        // Of an override for all later instances another one says the same of those behind it.
        let is_old = |(id, _): &(String, String)| all.iter().any(|item| item.external_id == *id);
        let after: Vec<(String, String)> = titles(&changed).into_iter().filter(is_old).collect();
        let expected: Vec<(String, String)> = titles(&text).into_iter()
            .map(|(found, title)| if found == target.external_id { (found, "New".to_owned()) } else { (found, title) })
            .collect();
        let sorted = |mut all: Vec<(String, String)>| { all.sort(); all };
        prop_assert_eq!(sorted(after), sorted(expected), "{}", text);
        if let Some(id) = id {
            let left = edit(&text, |editor| editor.delete_instance(id)).unwrap();
            let left = left.text.map(|text| items(&text));
            let is_there = |all: &Vec<Item>| all.iter().any(|item| item.external_id == target.external_id);
            prop_assert!(!left.and_then(Result::ok).is_some_and(|all| is_there(&all)), "{}", text);
        }
    }
}
