//! `connectors/dav`, iCalendar: events, to-dos, busy times, zones.

use std::hint::black_box;

use connector_dav::ical::people::Selves;
use connector_dav::ical::read::Reader;
use connector_dav::ical::rules::recurrence_lines;
use connector_dav::ical::todo::read::TodoReader;
use connector_dav::ical::write::Writer;
use connector_dav::ical::{freebusy, html, resource};

use crate::Parser;
use crate::text;
use crate::text_within;

pub const ALL: &[Parser] = &[
    ("ical.object", |input| {
        let data = text(input);
        event(&data);
        printed(&data);
    }),
    ("ical.components", |input| {
        let data = text_within(CALENDAR, input, END);
        event(&data);
        todo(&data);
        printed(&data);
    }),
    ("ical.event", |input| event(&text_within(EVENT, input, "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"))),
    ("ical.exceptions", |input| {
        event(&text_within(SERIES, input, END));
    }),
    ("ical.alarm", |input| {
        let head = format!("{EVENT}BEGIN:VALARM\r\nACTION:DISPLAY\r\n");
        event(&text_within(&head, input, "\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"));
    }),
    ("ical.todo", |input| todo(&text_within(TASK, input, "\r\nEND:VTODO\r\nEND:VCALENDAR\r\n"))),
    ("ical.zone", |input| {
        let tail = "\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART;TZID=Home:20260301T090000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        event(&text_within(ZONE, input, tail));
    }),
    ("ical.zoned", |input| {
        let head = format!("{ZONE}{OBSERVANCE}END:VTIMEZONE\r\n{}", EVENT.trim_start_matches(CALENDAR));
        event(&text_within(&head, input, "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"));
    }),
    ("ical.recurrence", |input| recurs(&text_within(EVENT, input, "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"))),
    ("ical.busy", |input| {
        let head = format!("{CALENDAR}BEGIN:VFREEBUSY\r\n");
        drop(black_box(freebusy::busy(&text_within(&head, input, "\r\nEND:VFREEBUSY\r\nEND:VCALENDAR\r\n"))));
    }),
    ("ical.html", |input| drop(black_box(html::to_text(&text(input))))),
];

const CALENDAR: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n";
const END: &str = "\r\nEND:VCALENDAR\r\n";
const EVENT: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20260301T090000Z\r\n";
const SERIES: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20260301T090000Z\r\nRRULE:FREQ=DAILY\r\nEND:VEVENT\r\n";
const TASK: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VTODO\r\nUID:1\r\n";
const ZONE: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VTIMEZONE\r\nTZID:Home\r\n";
const OBSERVANCE: &str =
    "BEGIN:STANDARD\r\nDTSTART:20000101T000000\r\nTZOFFSETFROM:+0000\r\nTZOFFSETTO:+0000\r\nEND:STANDARD\r\n";

fn selves() -> Selves {
    Selves::new(["ann@example.test"])
}

fn event(data: &str) {
    drop(black_box(Reader::new(selves(), Some("Europe/Berlin")).items("e", data)));
}

fn todo(data: &str) {
    drop(black_box(TodoReader::new(selves(), Some("Europe/Berlin")).items("t", data)));
}

/// Changes the recurrence: half of the lines stay, the others are new.
fn recurs(data: &str) {
    let Ok(calendar) = resource::parse(data) else { return };
    let reader = Reader::new(selves(), Some("Europe/Berlin"));
    let Some(event) = resource::events(&calendar).first().copied() else { return };
    let mut wanted = recurrence_lines(event, &reader.clock(&calendar));
    wanted.iter_mut().step_by(2).for_each(|line| line.push_str(",20270301T090000Z"));
    wanted.reverse();
    let mut changed = event.clone();
    Writer::new(&reader, &calendar, model::Instant::from_millis(0)).set_recurrence(&mut changed, &wanted);
    black_box(changed.items.len());
}

/// Changes an event's timestamps and prints the calendar.
fn printed(data: &str) {
    if let Ok(mut calendar) = resource::parse(data) {
        resource::touch(&mut calendar, model::Instant::from_millis(0), true);
        black_box(resource::print(&calendar));
    }
}
