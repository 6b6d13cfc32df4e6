//! Recurrence lines reach the host as another client wrote them: which of them can be read and expanded is not for the connector.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use connector_dav::collection::changed::FieldSet;
use connector_dav::ical::people::Selves;
use connector_dav::ical::read::Reader;
use connector_dav::ical::resource::parse;
use connector_dav::ical::series::Editor;
use model::calendar::{Event, EventType};

/// A series with these lines, and an exception of it.
fn resource(lines: &[&str]) -> String {
    let lines = lines.join("\r\n");
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:VEVENT\r\nUID:rules\r\n\
         DTSTAMP:20260101T000000Z\r\nDTSTART:20260302T090000Z\r\nDTEND:20260302T100000Z\r\nSUMMARY:Rules\r\n{lines}\r\n\
         END:VEVENT\r\nBEGIN:VEVENT\r\nUID:rules\r\nDTSTAMP:20260101T000000Z\r\nRECURRENCE-ID:20260309T090000Z\r\n\
         DTSTART:20260309T110000Z\r\nDTEND:20260309T120000Z\r\nSUMMARY:Rules, later\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
}

fn reader() -> Reader {
    Reader::new(Selves::new(["me@example.com"]), Some("UTC"))
}

fn read(text: &str) -> Vec<Event> {
    let items = reader().items("/x.ics", text).unwrap();
    items.into_iter().map(|item| item.body.read().unwrap()).collect()
}

fn updated(text: &str, event: &Event, names: &[&str]) -> String {
    let (calendar, reader) = (parse(text).unwrap(), reader());
    let now = "2026-03-01T00:00:00Z".parse().unwrap();
    let editor = Editor { reader: &reader, original: &calendar, now, server_tells: None };
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    editor.update_main(event, &FieldSet(&names)).unwrap().text.unwrap()
}

const ODD: [&[&str]; 6] = [
    &["RRULE:FREQ=WEEKLY;COUNT=3", "RRULE:FREQ=MONTHLY;COUNT=3", "EXRULE:FREQ=WEEKLY;BYDAY=FR"],
    &["RRULE:RSCALE=HEBREW;FREQ=YEARLY;BYMONTH=5L;BYMONTHDAY=1;SKIP=FORWARD"],
    &["RRULE:FREQ=DAILY;FREQ=WEEKLY"],
    &["RRULE:FREQ=SECONDLY;X-WHAT=ever"],
    &["RRULE:FREQ=OFTEN", "RDATE:20260310T090000Z,20260230T090000Z,soon"],
    &["EXRULE:nonsense"],
];

#[test]
fn whatever_stands_in_a_recurrence_line_reaches_the_host() {
    for lines in ODD {
        let events = read(&resource(lines));
        assert_eq!((events.len(), &events[0].event_type), (2, &EventType::Series), "{lines:?}");
        assert_eq!(events[0].recurrence, lines);
        assert_eq!(events[1].recurrence_id.as_deref(), Some("2026-03-09T09:00:00"));
    }
}

#[test]
fn a_series_that_cannot_be_read_can_be_changed_and_keeps_its_lines_and_exceptions() {
    for lines in ODD {
        let text = resource(lines);
        let mut event = read(&text).remove(0);
        event.title = Some("Renamed".into());
        event.end = "2026-03-02T10:30:00Z".parse().unwrap();
        let new = updated(&text, &event, &["title", "start", "end"]);
        for line in lines {
            assert!(new.contains(&format!("{line}\r\n")), "{line} in {new}");
        }
        let expected = "SUMMARY:Renamed";
        assert!(new.contains(expected), "{new}");
    }
    // Only of rules that can be read it is known which instances exceptions belong to: these go along with their series.
    let kept = |lines: &[&str]| {
        let text = resource(lines);
        let mut event = read(&text).remove(0);
        event.start = "2026-03-02T09:30:00Z".parse().unwrap();
        read(&updated(&text, &event, &["start"])).remove(1).recurrence_id.unwrap()
    };
    let stays = "2026-03-09T09:00:00";
    assert_eq!((kept(ODD[1]).as_str(), kept(ODD[2]).as_str()), (stays, stays));
    assert_eq!(kept(&["RRULE:FREQ=DAILY"]), "2026-03-09T09:30:00");
}

#[test]
fn new_lines_replace_all_old_ones() {
    let text = resource(ODD[0]);
    let mut event = read(&text).remove(0);
    event.recurrence = vec!["RRULE:FREQ=WEEKLY;COUNT=3".into()];
    let new = updated(&text, &event, &["recurrence"]);
    assert_eq!(read(&new)[0].recurrence, event.recurrence, "{new}");
}
