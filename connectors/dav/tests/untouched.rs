//! A change of one field writes that field: everything else in an object, odd or broken, keeps its bytes.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use connector_dav::collection::changed::FieldSet;
use connector_dav::ical::people::Selves;
use connector_dav::ical::read::Reader;
use connector_dav::ical::resource::parse;
use connector_dav::ical::series::Editor;
use connector_dav::ical::todo::edit::TodoEditor;
use connector_dav::ical::todo::read::TodoReader;
use connector_dav::vcard::lines::{View, parse as parse_card, print};
use connector_dav::vcard::read::contact;
use connector_dav::vcard::write::{apply, touch, writable};
use model::Instant;
use model::calendar::{Event, ResponseStatus};
use model::contacts::Contact;
use model::tasks::Task;
use model::wire::calendar::RecurrenceScope;
use proptest::prelude::*;
use proptest::sample::select;

fn selves() -> Selves {
    Selves::new(["me@example.com"])
}

fn now() -> Instant {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

/// The physical lines of an object, each with its folds, without those of these properties.
fn lines_without<'t>(text: &'t str, names: &[&str]) -> Vec<&'t str> {
    let is_named = |line: &str| {
        let name = line.split([':', ';']).next().unwrap_or_default();
        names.iter().any(|other| other.eq_ignore_ascii_case(name))
    };
    let mut skips = false;
    let keep = |line: &&str| {
        if !line.starts_with([' ', '\t']) {
            skips = is_named(line);
        }
        !skips
    };
    text.split_inclusive("\r\n").filter(keep).collect()
}

/// Properties that every change writes.
const STAMPS: [&str; 2] = ["DTSTAMP", "LAST-MODIFIED"];

/// Lines that other programs write, or no program should.
const ODD: [&str; 46] = [
    "ATTENDEE;PARTSTAT=NEEDS-ACTION;CN=Twice:mailto:twice@example.com",
    "ATTENDEE;PARTSTAT=ACCEPTED;CN=Twice:mailto:twice@example.com",
    "ATTENDEE:MAILTO:Twice@Example.COM",
    "ATTENDEE;CN=Nobody:urn:uuid:0b5e0c53-2f57-4a5c-8a3e-000000000000",
    "ATTENDEE:",
    "ATTENDEE;CN=\"No; address\":invalid:nomail",
    "ORGANIZER;CN=A calendar:urn:uuid:41ac9a4b-0000-4000-8000-000000000000",
    "ORGANIZER:not an address",
    "ORGANIZER;EMAIL=boss@example.com:/principals/boss/",
    "RRULE:FREQ=DAILY;UNTIL=20260401T000000",
    "RRULE:FREQ=DAILY;UNTIL=20260401T215959Z",
    "RRULE:FREQ=DAILY;UNTIL=20260401",
    "RRULE:UNTIL=20260401T000000Z;FREQ=WEEKLY;BYDAY=MO,MO",
    "RRULE:FREQ=YEARLY;BYMONTH=13",
    "RRULE:RSCALE=HEBREW;FREQ=YEARLY",
    "RRULE:",
    "EXRULE:FREQ=WEEKLY;COUNT=2",
    "EXDATE;TZID=Nowhere/Land:20260303T090000,20260304",
    "EXDATE:soon",
    "RDATE;VALUE=PERIOD:20260305T090000Z/PT1H",
    "DURATION:PT1H",
    "DTEND:yesterday",
    "DTEND;TZID=Nowhere/Land:20260302T100000",
    "SEQUENCE:many",
    "SEQUENCE:007",
    "STATUS:PERHAPS",
    "CLASS:SECRET",
    "TRANSP:",
    "PRIORITY:11",
    "GEO:north",
    "GEO:1;2",
    "CATEGORIES:a\\,b,,c",
    "COLOR:nice",
    "URL:not a url",
    "ATTACH;VALUE=BINARY;ENCODING=BASE64:AAAA",
    "ATTACH;FMTTYPE=text/plain:ftp://example.com/x",
    "X-ALT-DESC;FMTTYPE=text/html:<p>a\\, b</p>",
    "X-BROKEN;PARAM:value",
    "X-BROKEN;PARAM=\"never ends:value",
    "X-EMPTY:",
    "X-NULL;A=b^nc;A=d:\u{1F600} and \u{7f}",
    "no line at all",
    ";:;:",
    "X-FOLDED:one\r\n  two\r\n\tthree",
    "DESCRIPTION;LANGUAGE=de;ALTREP=\"cid:1\":a\\nb\\;c\\x\\",
    "COMMENT:",
];

/// Components inside.
const INSIDE: [&str; 5] = [
    "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT10M\r\nX-ID:1\r\nEND:VALARM",
    "BEGIN:VALARM\r\nTRIGGER;VALUE=DATE-TIME:never\r\nEND:VALARM",
    "BEGIN:VALARM\r\nEND:VALARM",
    "BEGIN:VALARM\r\nACTION:EMAIL\r\nATTENDEE:mailto:a@example.com\r\nTRIGGER;RELATED=END:PT0S\r\nSUMMARY:mail\r\nEND:VALARM",
    "BEGIN:X-UNKNOWN\r\nSUMMARY:inside\r\nEND:X-UNKNOWN",
];

const STARTS: [&str; 6] = [
    "DTSTART;VALUE=DATE:20260302",
    "DTSTART;TZID=Europe/Berlin:20260302T090000",
    "DTSTART;TZID=\"(UTC+01:00) Amsterdam, Berlin\";X-A=1:20260302T090000",
    "DTSTART:20260302T080000Z",
    "DTSTART:20260302T090000",
    "DTSTART:20260302",
];

/// The lines of a component, odd ones among them, in any order.
fn component() -> impl Strategy<Value = String> {
    let odd = prop::collection::vec(select(&ODD[..]), 0..10);
    let inside = prop::collection::vec(select(&INSIDE[..]), 0..3);
    let own = vec!["SUMMARY;LANGUAGE=en:Old", "SUMMARY:Old", "X-NO-SUMMARY:"];
    (odd, inside, select(&STARTS[..]), select(own), any::<prop::sample::Index>()).prop_map(
        |(mut lines, inside, start, own, at)| {
            let at = at.index(lines.len() + 1);
            lines.splice(
                at..at,
                [start, "UID:a", own, "DTSTAMP:20260101T000000Z", "LAST-MODIFIED:20260101T000000Z"],
            );
            lines.extend(inside);
            lines.iter().map(|line| format!("{line}\r\n")).collect()
        },
    )
}

fn resource(name: &str, component: &str, exception: &str) -> String {
    let one = |id: &str| format!("BEGIN:{name}\r\n{id}{component}END:{name}\r\n");
    let exception = if exception.is_empty() { String::new() } else { one(exception) };
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Odd//EN\r\nX-WR-CALNAME:a\\,b\r\nBEGIN:VTIMEZONE\r\nTZID:Unused\r\n\
         END:VTIMEZONE\r\n{}{exception}END:VCALENDAR\r\n",
        one("")
    )
}

/// The resource with another title of its event.
fn renamed(text: &str) -> Result<String, String> {
    let reader = Reader::new(selves(), Some("Europe/Berlin"));
    let calendar = parse(text).unwrap();
    let editor = Editor { reader: &reader, original: &calendar, now: now(), server_tells: None };
    let event = Event { title: Some("New".into()), ..Event::default() };
    editor
        .update_main(&event, &FieldSet(&["title".to_owned()]))
        .map(|edited| edited.text.unwrap())
        .map_err(|failure| failure.message)
}

fn title(text: &str) -> Option<String> {
    let reader = Reader::new(selves(), Some("Europe/Berlin"));
    let event: Event = reader.items("/x.ics", text).unwrap()[0].body.read().unwrap();
    event.title
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// A title is one line, and the change's two stamps; an exception beside the series keeps every byte.
    #[test]
    fn a_title_of_an_event_changes_its_line_alone(lines in component(), with_exception in any::<bool>()) {
        let exception = if with_exception { "RECURRENCE-ID:20260309T080000Z\r\n" } else { "" };
        let text = resource("VEVENT", &lines, exception);
        let new = renamed(&text).unwrap();
        let names = [&STAMPS[..], &["SUMMARY"]].concat();
        prop_assert_eq!(lines_without(&new, &names), lines_without(&text, &names));
        prop_assert_eq!(title(&new), Some("New".to_owned()));
        if with_exception {
            let kept = format!("BEGIN:VEVENT\r\n{exception}{lines}END:VEVENT\r\n");
            prop_assert!(new.contains(&kept), "{}", new);
        }
    }

    /// The same of a lone instance.
    #[test]
    fn a_title_of_a_lone_instance_changes_its_line_alone(lines in component()) {
        let text = resource("VEVENT", &format!("RECURRENCE-ID:20260309T080000Z\r\n{lines}"), "");
        let reader = Reader::new(selves(), Some("Europe/Berlin"));
        let calendar = parse(&text).unwrap();
        let editor = Editor { reader: &reader, original: &calendar, now: now(), server_tells: None };
        let event = Event { title: Some("New".into()), ..Event::default() };
        let new = editor.update_instance("2026-03-09T08:00:00", &event, &FieldSet(&["title".to_owned()])).unwrap().text.unwrap();
        let names = [&STAMPS[..], &["SUMMARY"]].concat();
        prop_assert_eq!(lines_without(&new, &names), lines_without(&text, &names));
    }

    /// An answer changes the account's own line alone, also where it is invited twice.
    #[test]
    fn an_answer_changes_the_own_attendee_alone(lines in component(), twice in any::<bool>()) {
        let me = "ATTENDEE;RSVP=TRUE;X-A=\"b;c\":mailto:ME@example.com\r\n".repeat(if twice { 2 } else { 1 });
        let text = resource("VEVENT", &format!("{lines}{me}"), "");
        // Whoever organizes cannot answer; an event without organizer is everybody's own.
        let text = text.replace("UID:a\r\n", "UID:a\r\nORGANIZER:mailto:boss@example.com\r\n");
        let reader = Reader::new(selves(), Some("Europe/Berlin"));
        let calendar = parse(&text).unwrap();
        let editor = Editor { reader: &reader, original: &calendar, now: now(), server_tells: None };
        let new = editor.respond(None, RecurrenceScope::All, ResponseStatus::Declined, None).unwrap().text.unwrap();
        let answered = "ATTENDEE;X-A=\"b;c\";PARTSTAT=DECLINED:mailto:ME@example.com\r\n";
        let expected = text.replace("ATTENDEE;RSVP=TRUE;X-A=\"b;c\":mailto:ME@example.com\r\n", answered);
        prop_assert_eq!(lines_without(&new, &STAMPS), lines_without(&expected, &STAMPS));
    }

    /// The title of a task.
    #[test]
    fn a_title_of_a_task_changes_its_line_alone(lines in component(), due in select(vec!["", "DUE:20260304T090000\r\n", "DUE;VALUE=DATE:20260304\r\n", "DUE:never\r\n"]), with_exception in any::<bool>()) {
        let exception = if with_exception { "RECURRENCE-ID:20260309T080000Z\r\n" } else { "" };
        let text = resource("VTODO", &format!("{lines}{due}PERCENT-COMPLETE:lots\r\n"), exception);
        for zone in [Some("Europe/Berlin"), None] {
            let reader = TodoReader::new(selves(), zone);
            let before: Task = reader.items("/x.ics", &text).unwrap()[0].body.read().unwrap();
            let task = Task { title: "New".into(), ..before };
            let new = TodoEditor { reader: &reader, now: now(), strict: true }.update(&text, &task, &["title".to_owned()]).unwrap();
            prop_assert!(new.warnings.is_empty());
            let names = [&STAMPS[..], &["SUMMARY"]].concat();
            prop_assert_eq!(lines_without(&new.text, &names), lines_without(&text, &names));
            let after: Task = reader.items("/x.ics", &new.text).unwrap()[0].body.read().unwrap();
            prop_assert_eq!(after, task);
        }
    }
}

/// Lines of cards that other programs write, or no program should.
const ODD_CARD: [&str; 40] = [
    "FN:",
    "FN;CHARSET=UTF-8:   ",
    "FN:Real name",
    "N:;;;;",
    "N:Only family",
    "N:a;b;c;d;e;f;g",
    "EMAIL:",
    "EMAIL;TYPE=INTERNET:not an address",
    "EMAIL;TYPE=pref,home,work:twice@example.com",
    "EMAIL;TYPE=pref:twice@example.com",
    "item1.EMAIL:a@example.com",
    "item1.X-ABLabel:_$!<Other>!$_",
    "item2.X-ABLabel:of nothing",
    "TEL;TYPE=CELL;TYPE=VOICE:+49 (0) 30 / 1234",
    "TEL;VALUE=uri:tel:+1-555-0100;ext=5",
    "TEL:",
    "TEL;HOME:call me",
    "ADR;TYPE=HOME:;;Street\\, 1;;;;",
    "ADR:",
    "ADR:only one",
    "item1.ADR:a;b;c;d;e;f;g;h;i",
    "item1.X-ABADR:zz",
    "ORG:;;",
    "ORG:Firm;Unit;Sub\\;unit",
    "TITLE:",
    "URL:not a url",
    "IMPP;X-SERVICE-TYPE=:none",
    "X-JABBER:a@b",
    "BDAY:unknown",
    "BDAY;VALUE=text:around 1800",
    "BDAY:--0229",
    "X-ANNIVERSARY:20200230",
    "PHOTO:",
    "PHOTO;ENCODING=b;TYPE=JPEG:AAAA\r\n BBBB",
    "NOTE:a\\nb\\,c\\;d\\\\",
    "X-BROKEN;PARAM:value",
    "X-NULL;A=b^nc:\u{1F600}",
    "CATEGORIES:,,a",
    "UID:not-a-uuid",
    "X-FOLDED:one\r\n  two\r\n\tthree",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// A nickname, or a middle name, is one line and REV; a name that is there and empty stays so. What the version insists on and is
    /// not there at all is added.
    #[test]
    fn a_name_of_a_card_changes_its_line_alone(lines in prop::collection::vec(select(&ODD_CARD[..]), 0..14), version in select(vec!["3.0", "4.0"])) {
        let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        let text = format!("BEGIN:VCARD\r\nVERSION:{version}\r\n{lines}END:VCARD\r\n");
        let has = |name: &str| text.lines().any(|line| line.split([':', ';']).next() == Some(name));
        let mut required = Vec::new();
        if !has("FN") {
            required.push("FN");
        }
        if !has("N") && version == "3.0" {
            required.push("N");
        }
        type Change = fn(&mut Contact);
        let changes: [(&str, &str, Change); 2] = [
            ("nickname", "NICKNAME", |contact| contact.nickname = Some("Nick".into())),
            ("phoneticGivenName", "X-PHONETIC-FIRST-NAME", |contact| contact.phonetic_given_name = Some("Nick".into())),
        ];
        for (field, property, change) in changes {
            let mut card = parse_card(&text).unwrap();
            let mut wanted = contact(&View::from_card(&card));
            let before = wanted.clone();
            change(&mut wanted);
            let version = writable(&card).unwrap();
            apply(&mut card, version, &wanted, &FieldSet(&[field.to_owned()])).unwrap();
            touch(&mut card, version, now());
            let new = print(&card);
            let names = [&["REV", property], &required[..]].concat();
            prop_assert_eq!(lines_without(&new, &names), lines_without(&text, &names));
            let after = contact(&View::from_card(&parse_card(&new).unwrap()));
            let expected = Contact { display_name: if has("FN") { before.display_name } else { after.display_name.clone() }, ..wanted };
            prop_assert_eq!(after, expected);
        }
    }
}

/// Lines that Exchange and others write and RFC 5545 forbids, one by one: a title is changed all the same.
#[test]
fn nothing_that_is_not_touched_refuses_a_title() {
    for line in ODD {
        for start in STARTS {
            let text = resource("VEVENT", &format!("UID:a\r\n{start}\r\n{line}\r\nSUMMARY:Old\r\n"), "");
            let new = renamed(&text).unwrap();
            let names = [&STAMPS[..], &["SUMMARY"]].concat();
            assert_eq!(lines_without(&new, &names), lines_without(&text, &names));
        }
    }
}

/// A list that gets one entry more keeps the lines of the others: people twice, people without an address.
#[test]
fn one_more_attendee_leaves_the_others_alone() {
    let odd: Vec<&str> =
        ODD.into_iter().filter(|line| line.starts_with("ATTENDEE") && !line.ends_with(':')).collect();
    let odd =
        [&odd[..], &["ATTENDEE:URN:UUID:ABCDEF", "ATTENDEE;EMAIL=Big@Example.com:/principals/big/"]].concat();
    let text = resource(
        "VEVENT",
        &format!("UID:a\r\n{}\r\n{}\r\nORGANIZER:mailto:me@example.com\r\n", STARTS[0], odd.join("\r\n")),
        "",
    );
    let reader = Reader::new(selves(), Some("Europe/Berlin"));
    let mut event: Event = reader.items("/x.ics", &text).unwrap()[0].body.read().unwrap();
    event.attendees.push(model::calendar::Attendee { email: "new@example.com".into(), ..Default::default() });
    let calendar = parse(&text).unwrap();
    let editor = Editor { reader: &reader, original: &calendar, now: now(), server_tells: None };
    let new = editor.update_main(&event, &FieldSet(&["attendees".to_owned()])).unwrap().text.unwrap();
    let added: Vec<&str> =
        lines_without(&new, &STAMPS).into_iter().filter(|line| !text.contains(line)).collect();
    assert_eq!(added.len(), 2, "one line and its fold: {added:?}");
    assert!(odd.iter().all(|line| new.contains(&format!("{line}\r\n"))), "{new}");
    assert_eq!(new.matches("twice@example.com").count(), 2);
}

/// One instance, and the rest from one on, of series whose rule ends in a way that RFC 5545 forbids.
#[test]
fn instances_of_odd_series_are_changed() {
    let cases = [
        (STARTS[0], "UNTIL=20260401T000000", "2026-03-10"),
        (STARTS[0], "UNTIL=20260401T215959Z", "2026-03-10"),
        (STARTS[1], "UNTIL=20260401T090000", "2026-03-10T09:00:00"),
        (STARTS[1], "UNTIL=20260401", "2026-03-10T09:00:00"),
        (STARTS[4], "UNTIL=20260401T070000Z", "2026-03-10T09:00:00"),
    ];
    for (start, until, id) in cases {
        let rule = format!("RRULE:FREQ=DAILY;{until}\r\n");
        let text = resource("VEVENT", &format!("UID:a\r\n{start}\r\n{rule}SUMMARY:Old\r\n"), "");
        let reader = Reader::new(selves(), Some("Europe/Berlin"));
        let calendar = parse(&text).unwrap();
        let editor = Editor { reader: &reader, original: &calendar, now: now(), server_tells: None };
        let series: Event = reader.items("/x.ics", &text).unwrap()[0].body.read().unwrap();
        let event = Event { title: Some("New".into()), ..series.clone() };
        let fields = ["title".to_owned()];
        let one = editor.update_instance(id, &event, &FieldSet(&fields)).unwrap().text.unwrap();
        let items = reader.items("/x.ics", &one).unwrap();
        assert!(one.contains(&rule) && items.len() == 2 && items[1].external_id.ends_with(id), "{one}");
        let gone = editor.delete_instance(id).unwrap().text.unwrap();
        assert!(gone.contains(&rule) && gone.contains("EXDATE"), "{gone}");
        let split = editor.split(id, "b", &event, &FieldSet(&fields)).unwrap();
        assert!(split.old.text.unwrap().contains("UNTIL=20260") && split.new.contains("SUMMARY:New"));
    }
}

/// An empty FN stays empty when other fields are changed; a change of the name fills it.
#[test]
fn an_empty_name_is_not_made_up() {
    let text =
        "BEGIN:VCARD\r\nVERSION:3.0\r\nN:;;;;\r\nFN:\r\nNICKNAME:Old\r\nEMAIL:a@example.com\r\nEND:VCARD\r\n";
    let edit = |change: fn(&mut Contact), field: &str| {
        let mut card = parse_card(text).unwrap();
        let mut wanted = contact(&View::from_card(&card));
        change(&mut wanted);
        let version = writable(&card).unwrap();
        apply(&mut card, version, &wanted, &FieldSet(&[field.to_owned()])).unwrap();
        print(&card)
    };
    assert_eq!(edit(|c| c.nickname = Some("Nick".into()), "nickname"), text.replace("Old", "Nick"));
    assert_eq!(edit(|c| c.notes = Some("Note".into()), "notes"), text.replace("END", "NOTE:Note\r\nEND"));
    assert_eq!(
        edit(|c| c.display_name = Some("Somebody".into()), "displayName"),
        text.replace("FN:", "FN:Somebody")
    );
}
