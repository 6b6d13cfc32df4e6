//! Edits of a resource, byte by byte: everything else stays as another client wrote it.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use connector_dav::collection::changed::FieldSet;
use connector_dav::ical::people::Selves;
use connector_dav::ical::read::Reader;
use connector_dav::ical::resource::parse;
use connector_dav::ical::series::Editor;
use model::Instant;
use model::calendar::{Attendee, Event, Reminder, ReminderMethod, Reminders, ResponseStatus, ShowAs};
use model::wire::calendar::RecurrenceScope;

const FAITHFUL: &str = include_str!("../fixtures/faithful.ics");
const SERIES: &str = include_str!("../fixtures/series.ics");
const OUTLOOK: &str = include_str!("../fixtures/outlook.ics");
const INVITED: &str = include_str!("../fixtures/invited.ics");

fn crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

fn reader() -> Reader {
    Reader::new(Selves::new(["me@example.com"]), Some("Europe/Berlin"))
}

fn now() -> Instant {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

/// Runs an edit on a resource.
fn edit<T>(text: &str, run: impl FnOnce(&Editor) -> T) -> T {
    let text = crlf(text);
    let calendar = parse(&text).unwrap();
    let reader = reader();
    run(&Editor { reader: &reader, original: &calendar, now: now(), server_tells: None })
}

fn changed(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The events of a resource, as the model has them.
fn read(text: &str) -> Vec<Event> {
    let items = reader().items("/x.ics", &crlf(text)).unwrap();
    items.into_iter().map(|item| item.body.read().unwrap()).collect()
}

/// The lines that differ, as `-old` and `+new`.
fn difference(old: &str, new: &str) -> String {
    let (old, new) = (crlf(old), crlf(new));
    let (mut left, mut right): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive("\r\n").collect(), new.split_inclusive("\r\n").collect());
    let same = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    left.drain(..same);
    right.drain(..same);
    let mut out = Vec::new();
    // Longest common subsequence; resources are small.
    let mut table = vec![vec![0u16; right.len() + 1]; left.len() + 1];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            table[i][j] = if left[i] == right[j] {
                table[i + 1][j + 1] + 1
            } else {
                table[i + 1][j].max(table[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < left.len() || j < right.len() {
        if i < left.len() && j < right.len() && left[i] == right[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == right.len() || (i < left.len() && table[i + 1][j] >= table[i][j + 1]) {
            out.push(format!("-{}", left[i].trim_end()));
            i += 1;
        } else {
            out.push(format!("+{}", right[j].trim_end()));
            j += 1;
        }
    }
    out.join("\n")
}

/// A new title changes the title and the bookkeeping; unknown properties, alarm ids, odd folding, the other client's zone and the
/// exception keep their bytes.
#[test]
fn a_new_title_changes_nothing_else() {
    let mut event = read(FAITHFUL).remove(0);
    event.title = Some("Planning, weekly".into());
    let new = edit(FAITHFUL, |editor| editor.update_main(&event, &FieldSet(&changed(&["title"])))).unwrap();
    insta::assert_snapshot!(difference(FAITHFUL, &new.text.unwrap()), @r#"
    -DTSTAMP:20260101T120000Z
    +DTSTAMP:20260301T000000Z
    -LAST-MODIFIED:20260101T120000Z
    +LAST-MODIFIED:20260301T000000Z
    -SUMMARY;LANGUAGE=en:Weekly planning
    +SUMMARY;LANGUAGE=en:Planning\, weekly
    "#);
}

/// A later start keeps the other client's name for the zone, and takes the changes of single instances along.
#[test]
fn a_later_series_keeps_its_zone_its_holes_and_its_exceptions() {
    let mut event = read(FAITHFUL).remove(0);
    event.start = "2026-01-05T09:00:00Z".parse().unwrap();
    event.end = "2026-01-05T09:45:00Z".parse().unwrap();
    let new =
        edit(FAITHFUL, |editor| editor.update_main(&event, &FieldSet(&changed(&["start", "end"])))).unwrap();
    assert!(new.warnings.is_empty(), "{:?}", new.warnings);
    let text = new.text.unwrap();
    for line in [
        "DTSTART;TZID=W. Europe Standard Time:20260105T100000",
        "DTEND;TZID=W. Europe Standard Time:20260105T104500",
        "EXDATE;TZID=W. Europe Standard Time:20260119T100000",
        "RECURRENCE-ID;TZID=W. Europe Standard Time:20260112T100000",
        "DTSTART;TZID=W. Europe Standard Time:20260112T110000",
        "DTEND;TZID=W. Europe Standard Time:20260112T114500",
        "SUMMARY:Weekly planning (in the cafe)",
    ] {
        assert!(text.contains(&format!("{line}\r\n")), "{line}\n{text}");
    }
    let difference = difference(FAITHFUL, &text);
    let stamps = ["DTSTAMP", "LAST-MODIFIED", "SEQUENCE", "DTSTART", "DTEND", "EXDATE", "RECURRENCE-ID"];
    let is_told = |line: &str| stamps.iter().any(|name| line.get(1..).is_some_and(|l| l.starts_with(name)));
    assert!(difference.lines().all(is_told), "{difference}");
}

/// Another zone at the same instants: the changes of single instances stay with them.
#[test]
fn a_series_in_another_zone_keeps_its_holes_and_its_exceptions() {
    let mut event = read(FAITHFUL).remove(0);
    event.time_zone = "America/New_York".into();
    let new =
        edit(FAITHFUL, |editor| editor.update_main(&event, &FieldSet(&changed(&["timeZone"])))).unwrap();
    assert!(new.warnings.is_empty(), "{:?}", new.warnings);
    let text = new.text.unwrap();
    for line in [
        "DTSTART;TZID=America/New_York:20260105T033000",
        "EXDATE;TZID=America/New_York:20260119T033000",
        "RECURRENCE-ID;TZID=America/New_York:20260112T033000",
        "DTSTART;TZID=America/New_York:20260112T043000",
        "DTEND;TZID=America/New_York:20260112T051500",
    ] {
        assert!(text.contains(&format!("{line}\r\n")), "{line}\n{text}");
    }
}

/// A new exception is a copy of the series without its rules, at its original time, after the other VEVENTs.
#[test]
fn an_instance_gets_a_vevent_of_its_own() {
    let mut event = read(FAITHFUL).remove(0);
    event.title = Some("Once".into());
    let new = edit(FAITHFUL, |editor| {
        editor.update_instance("2026-02-02T09:30:00", &event, &FieldSet(&changed(&["title"])))
    })
    .unwrap();
    insta::assert_snapshot!(difference(FAITHFUL, &new.text.unwrap()), @r#"
    +BEGIN:VEVENT
    +UID:faithful-1@example.com
    +DTSTAMP:20260301T000000Z
    +CREATED:20251224T080000Z
    +LAST-MODIFIED:20260301T000000Z
    +SEQUENCE:4
    +X-MOZ-GENERATION:3
    +SUMMARY;LANGUAGE=en:Once
    +DTSTART;TZID=W. Europe Standard Time:20260202T093000
    +DTEND;TZID=W. Europe Standard Time:20260202T101500
    +DESCRIPTION:A long text that an exporter folded at an odd column\, with a co
    + mma and a line\nbreak.
    +CATEGORIES:Planning,Team
    +X-WR-NOTE;X-SOURCE="another; client":kept\, as it is
    +RELATED-TO;RELTYPE=SIBLING:faithful-0@example.com
    +CLASS:PRIVATE
    +RECURRENCE-ID;TZID=W. Europe Standard Time:20260202T093000
    +BEGIN:VALARM
    +UID:11111111-2222-4333-8444-555555555555
    +X-EVOLUTION-ALARM-UID:alarm-1
    +ACTION:DISPLAY
    +DESCRIPTION:Soon
    +TRIGGER;RELATED=START:-PT10M
    +END:VALARM
    +END:VEVENT
    "#);
}

/// An instance that the series does not have is not found, and neither is one that was taken out.
#[test]
fn instances_that_are_not_there_are_not_found() {
    let event = read(FAITHFUL).remove(0);
    let gone = edit(FAITHFUL, |editor| editor.delete_instance("2026-01-19T09:30:00")).unwrap_err();
    assert_eq!(gone.code, "not-found");
    for id in ["2026-01-19T09:30:00", "2026-01-06T09:30:00", "2026-01-05", "nonsense"] {
        let failure =
            edit(FAITHFUL, |editor| editor.update_instance(id, &event, &FieldSet(&changed(&["title"]))))
                .unwrap_err();
        assert_eq!(failure.code, "not-found", "{id}");
    }
}

/// Taking an instance out adds an EXDATE; a changed instance loses its VEVENT, too; the last one takes the resource with it.
#[test]
fn an_instance_is_taken_out() {
    let new = edit(FAITHFUL, |editor| editor.delete_instance("2026-01-12T09:30:00")).unwrap();
    insta::assert_snapshot!(difference(FAITHFUL, &new.text.unwrap()), @r#"
    -DTSTAMP:20260101T120000Z
    +DTSTAMP:20260301T000000Z
    -LAST-MODIFIED:20260101T120000Z
    -SEQUENCE:4
    +LAST-MODIFIED:20260301T000000Z
    +SEQUENCE:5
    +EXDATE;TZID=W. Europe Standard Time:20260112T093000
    -BEGIN:VEVENT
    -UID:faithful-1@example.com
    -RECURRENCE-ID;TZID=W. Europe Standard Time:20260112T093000
    -DTSTAMP:20260101T120000Z
    -SEQUENCE:4
    -SUMMARY:Weekly planning (in the cafe)
    -DTSTART;TZID=W. Europe Standard Time:20260112T103000
    -DTEND;TZID=W. Europe Standard Time:20260112T111500
    -X-MOZ-GENERATION:2
    -END:VEVENT
    "#);

    let short = SERIES
        .replace("UNTIL=20260601T000000Z", "COUNT=1")
        .replace("RDATE;TZID=Europe/Berlin:20260328T110000\n", "");
    let alone =
        edit(&short, |editor| editor.delete_instance("2026-03-30T09:00:00").map(|edited| edited.text));
    assert!(alone.unwrap().is_some(), "an exception without an instance of the rule just goes");
    let single =
        short.split("BEGIN:VEVENT").take(2).collect::<Vec<_>>().join("BEGIN:VEVENT") + "END:VCALENDAR\n";
    let last = edit(&single, |editor| editor.delete_instance("2026-03-23T09:00:00")).unwrap();
    assert_eq!(last.text, None);
}

/// A series cut in two: the rule's rest goes on under a new UID, exceptions on their side of the cut.
#[test]
fn a_series_is_cut_in_two() {
    let mut event = read(SERIES).remove(0);
    event.title = Some("Stand-up, new".into());
    let split = edit(SERIES, |editor| {
        editor.split("2026-04-06T09:00:00", "new-uid", &event, &FieldSet(&changed(&["title"])))
    })
    .unwrap();
    let (old, new) = (read(&split.old.text.clone().unwrap()), read(&split.new));
    assert_eq!(old[0].recurrence[0], "RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20260406T065959Z");
    assert_eq!(old.len(), 2, "the exception of 30 March stays");
    assert_eq!(new[0].recurrence, ["RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20260601T000000Z"]);
    assert_eq!(new[0].start.to_string(), "2026-04-06T07:00:00.000Z");
    assert_eq!(new[1].recurrence_id.as_deref(), Some("2026-04-08T09:00:00"));
    assert!(new.iter().all(|event| event.i_cal_uid.as_deref() == Some("new-uid")));
    assert!(split.old.warnings.is_empty(), "{:?}", split.old.warnings);
    assert!(split.old.text.unwrap().contains("RELATED-TO;RELTYPE=NEXT:new-uid"));
    assert!(split.new.contains("RELATED-TO;RELTYPE=FIRST:series-1"));

    let whole = edit(SERIES, |editor| {
        editor.split("2026-03-23T09:00:00", "new-uid", &event, &FieldSet(&changed(&["title"])))
    })
    .unwrap();
    assert_eq!(whole.old.text, None, "nothing lies before the first instance");
}

/// Attendees keep their lines and parameters; only who is new or gone, and what differs, changes.
#[test]
fn attendees_come_and_go() {
    let mut event = read(OUTLOOK).remove(0);
    event.attendees.retain(|attendee| attendee.email != "room12@example.com");
    event.attendees.push(Attendee {
        email: "new@example.com".into(),
        name: Some("New; One".into()),
        ..Attendee::default()
    });
    let new =
        edit(OUTLOOK, |editor| editor.update_main(&event, &FieldSet(&changed(&["attendees"])))).unwrap();
    insta::assert_snapshot!(difference(OUTLOOK, &new.text.unwrap()), @r#"
    -DTSTAMP:20260110T101112Z
    +DTSTAMP:20260301T000000Z
    -LAST-MODIFIED:20260110T101112Z
    +LAST-MODIFIED:20260301T000000Z
    -ATTENDEE;CN="Room 12";CUTYPE=ROOM;ROLE=NON-PARTICIPANT;PARTSTAT=ACCEPTED:mailto:room12@example.com
    +ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=
    + TRUE;CN="New; One":mailto:new@example.com
    "#);
}

/// Reminders that stay keep their alarm, ids and all.
#[test]
fn reminders_come_and_go() {
    let mut event = read(FAITHFUL).remove(0);
    let popup = |minutes_before| Reminder { method: ReminderMethod::Popup, minutes_before };
    event.reminders = Reminders { use_default: false, overrides: vec![popup(10), popup(1440)] };
    let new =
        edit(FAITHFUL, |editor| editor.update_main(&event, &FieldSet(&changed(&["reminders"])))).unwrap();
    insta::assert_snapshot!(difference(FAITHFUL, &new.text.unwrap()), @r#"
    -DTSTAMP:20260101T120000Z
    +DTSTAMP:20260301T000000Z
    -LAST-MODIFIED:20260101T120000Z
    +LAST-MODIFIED:20260301T000000Z
    +BEGIN:VALARM
    +TRIGGER:-PT1440M
    +ACTION:DISPLAY
    +DESCRIPTION:Weekly planning
    +END:VALARM
    "#);
    event.reminders.overrides.clear();
    let none =
        edit(FAITHFUL, |editor| editor.update_main(&event, &FieldSet(&changed(&["reminders"])))).unwrap();
    assert!(!none.text.unwrap().contains("VALARM"));
}

/// An event that says how long it takes goes on saying so; a time that does not change keeps its line.
#[test]
fn a_move_writes_as_little_as_it_can() {
    let mut event = read(SERIES).remove(0);
    event.start = "2026-03-23T09:00:00Z".parse().unwrap();
    event.end = "2026-03-23T09:45:00Z".parse().unwrap();
    let new = edit(SERIES, |editor| editor.update_main(&event, &FieldSet(&changed(&["start", "end"]))))
        .unwrap()
        .text
        .unwrap();
    assert!(new.contains("DTSTART;TZID=Europe/Berlin:20260323T100000\r\nDURATION:PT45M\r\n"), "{new}");

    let odd = OUTLOOK.replace("DTSTART;", "DTSTART;X-VENDOR=1;");
    let mut event = read(&odd).remove(0);
    event.end = "2026-03-10T15:30:00Z".parse().unwrap();
    let new =
        edit(&odd, |editor| editor.update_main(&event, &FieldSet(&changed(&["end"])))).unwrap().text.unwrap();
    assert!(new.contains("DTSTART;X-VENDOR=1;TZID=\"Customized Time Zone\":20260310T100000\r\n"), "{new}");
    assert!(new.contains("DTEND;TZID=Customized Time Zone:20260310T113000\r\n"), "{new}");
}

/// States, colours, days: each field is written in the property that says it.
#[test]
fn every_field_has_its_property() {
    let mut event = read(OUTLOOK).remove(0);
    event.show_as = ShowAs::Free;
    event.visibility = model::calendar::Visibility::Default;
    event.color = Some("#1e90fe".into());
    event.description = Some("Plain now".into());
    event.conference = None;
    event.all_day = true;
    event.start_date = Some("2026-03-10".into());
    event.end_date = Some("2026-03-11".into());
    let fields = changed(&[
        "showAs",
        "visibility",
        "color",
        "description",
        "conference",
        "allDay",
        "startDate",
        "endDate",
        "capacity",
    ]);
    let new = edit(OUTLOOK, |editor| editor.update_main(&event, &FieldSet(&fields))).unwrap();
    insta::assert_snapshot!(difference(OUTLOOK, &new.text.unwrap()), @r#"
    -CLASS:PUBLIC
    -DESCRIPTION:See the agenda.\n
    -DTEND;TZID="Customized Time Zone":20260310T110000
    -DTSTAMP:20260110T101112Z
    -DTSTART;TZID="Customized Time Zone":20260310T100000
    -LAST-MODIFIED:20260110T101112Z
    +DESCRIPTION:Plain now
    +DTEND;VALUE=DATE:20260311
    +DTSTAMP:20260301T000000Z
    +DTSTART;VALUE=DATE:20260310
    +LAST-MODIFIED:20260301T000000Z
    -TRANSP:OPAQUE
    +TRANSP:TRANSPARENT
    -X-ALT-DESC;FMTTYPE=text/html:<html><body><p>See the <b>agenda</b>.</p></body></html>
    -X-MICROSOFT-CDO-BUSYSTATUS:OOF
    +X-MICROSOFT-CDO-BUSYSTATUS:FREE
    -X-MICROSOFT-SKYPETEAMSMEETINGURL:https://teams.microsoft.com/l/meetup-join/abc
    +COLOR:dodgerblue
    "#);
    let codes: Vec<_> = new.warnings.iter().map(|warning| warning.code.as_str()).collect();
    assert_eq!(codes, ["color_changed", "field_not_supported"]);
}

/// An answer changes the account's own PARTSTAT and nothing of the others.
#[test]
fn an_invitation_is_answered() {
    let id = "2026-03-02T10:00:00";
    let new = edit(INVITED, |editor| {
        editor.respond(Some(id), RecurrenceScope::This, ResponseStatus::Accepted, Some("Late"))
    })
    .unwrap();
    insta::assert_snapshot!(difference(INVITED, &new.text.unwrap()), @r#"
    -DTSTAMP:20260101T000000Z
    +DTSTAMP:20260301T000000Z
    -ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE;CN=Me;X-NUM-GUESTS=0:MAILTO:Me@Example.com
    +ATTENDEE;PARTSTAT=ACCEPTED;CN=Me;X-NUM-GUESTS=0;X-RESPONSE-COMMENT=Late:MAI
    + LTO:Me@Example.com
    +COMMENT:Late
    +LAST-MODIFIED:20260301T000000Z
    "#);
    let refused = |text: &str| {
        let answered =
            edit(text, |editor| editor.respond(None, RecurrenceScope::All, ResponseStatus::Accepted, None));
        answered.unwrap_err().detail.unwrap()["reason"].clone()
    };
    assert_eq!(refused(FAITHFUL), "not_an_attendee");
    let own = INVITED.replace("ORGANIZER;CN=Boss:mailto:boss@example.com", "ORGANIZER:mailto:me@example.com");
    assert_eq!(refused(&own), "organizer_cannot_rsvp");
}
