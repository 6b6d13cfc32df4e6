//! To-dos as tasks: every fixture becomes what its snapshot says, one field is edited and everything else stays, random tasks
//! read back as they were written, hostile ones do no harm. Drop a file into `fixtures/tasks/` to add a case.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]
#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use connector_dav::ical::people::Selves;
use connector_dav::ical::todo::edit::{EditedTodo, TodoEditor};
use connector_dav::ical::todo::read::TodoReader;
use connector_sdk::{Failure, code};
use model::tasks::{Assignee, NotesFormat, Task, TaskPriority, TaskStatus};
use model::wire::Item;
use proptest::prelude::*;

/// Lines that every change writes.
const BOOKKEEPING: [&str; 3] = ["DTSTAMP:", "LAST-MODIFIED:", "SEQUENCE:"];

fn fixtures() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/tasks");
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(&path).unwrap().replace("\r\n", "\n").replace('\n', "\r\n"))
        })
        .collect();
    all.sort();
    all
}

fn fixture(name: &str) -> String {
    fixtures().into_iter().find(|(found, _)| found == name).unwrap().1
}

fn reader(zone: Option<&str>) -> TodoReader {
    TodoReader::new(Selves::new(["me@example.com"]), zone)
}

fn berlin() -> TodoReader {
    reader(Some("Europe/Berlin"))
}

fn item(text: &str) -> Item {
    berlin().items("/tasks/x.ics", text).unwrap().remove(0)
}

fn task(text: &str) -> Task {
    item(text).body.read().unwrap()
}

fn names(changed: &[&str]) -> Vec<String> {
    changed.iter().map(|name| (*name).to_owned()).collect()
}

fn editor(reader: &TodoReader, strict: bool) -> TodoEditor<'_> {
    TodoEditor { reader, now: "2026-04-01T00:00:00Z".parse().unwrap(), strict }
}

fn update(text: &str, task: &Task, changed: &[&str]) -> EditedTodo {
    editor(&berlin(), false).update(text, task, &names(changed)).unwrap()
}

fn refused(text: &str, task: &Task, changed: &[&str]) -> Failure {
    editor(&berlin(), true).update(text, task, &names(changed)).unwrap_err()
}

fn create(task: &Task, changed: &[&str]) -> EditedTodo {
    editor(&berlin(), false).create("new-uid", task, &names(changed)).unwrap()
}

fn targets(written: &EditedTodo) -> Vec<&str> {
    written.warnings.iter().filter_map(|warning| warning.target.as_deref()).collect()
}

/// The content lines that differ, as `-old` and `+new`, without those that every change writes.
fn difference(old: &str, new: &str) -> String {
    let unfold = |text: &str| text.replace("\r\n ", "");
    let (old, new) = (unfold(old), unfold(new));
    let lines = |text: &str| -> Vec<String> {
        let all = text.lines().filter(|line| !BOOKKEEPING.iter().any(|name| line.starts_with(name)));
        all.map(str::to_owned).collect()
    };
    let (old, mut new) = (lines(&old), lines(&new));
    let mut gone = Vec::new();
    for line in old {
        match new.iter().position(|other| *other == line) {
            Some(at) => drop(new.remove(at)),
            None => gone.push(format!("-{line}")),
        }
    }
    gone.extend(new.into_iter().map(|line| format!("+{line}")));
    gone.join("\n")
}

/// A resource's task in the normalized model.
#[test]
fn a_resource_becomes_a_task() {
    for (name, text) in fixtures() {
        let id = format!("/tasks/{name}.ics");
        match berlin().items(&id, &text) {
            Ok(items) => insta::assert_json_snapshot!(name, serde_json::to_value(items).unwrap()),
            Err(error) => insta::assert_json_snapshot!(name, error),
        }
    }
}

/// A resource without a to-do is no task, and gives no item.
#[test]
fn events_are_left_out() {
    let event = include_str!("../fixtures/apple.ics").replace("\r\n", "\n").replace('\n', "\r\n");
    assert_eq!(berlin().items("/x.ics", &event).unwrap(), []);
    let two = fixture("days").replace("END:VTODO\r\n", "END:VTODO\r\nBEGIN:VTODO\r\nUID:b\r\nEND:VTODO\r\n");
    let items = berlin().items("/x.ics", &two).unwrap();
    assert_eq!((items.len(), items[0].warnings[0].code.as_str()), (1, "other_uid_ignored"));
}

/// Without a known zone of the list, a floating time has none.
#[test]
fn a_floating_time_has_the_zone_of_its_list() {
    let read = |zone| -> Task {
        reader(zone).items("/x.ics", &fixture("floating")).unwrap()[0].body.read().unwrap()
    };
    let (none, home) = (read(None), read(Some("Asia/Tokyo")));
    assert_eq!((none.due_time.as_deref(), none.time_zone.as_deref()), (Some("08:00"), None));
    assert_eq!((home.due_time.as_deref(), home.time_zone.as_deref()), (Some("08:00"), Some("Asia/Tokyo")));
    let mut floating = none.clone();
    floating.due_time = Some("09:15".into());
    let written =
        editor(&reader(None), false).update(&fixture("floating"), &floating, &names(&["dueTime"])).unwrap();
    assert_eq!(difference(&fixture("floating"), &written.text), "-DUE:20260601T080030\n+DUE:20260601T091500");
}

/// One edit of a task: its name, the fields that it changes, and how.
type Edit = (&'static str, &'static [&'static str], fn(&mut Task));

const EDITS: [Edit; 17] = [
    ("title", &["title"], |task| task.title = "New, \"title\"; \\ 100 %".into()),
    ("notes", &["notes", "notesFormat"], |task| {
        task.notes = Some("one\ntwo, three".into());
        task.notes_format = NotesFormat::Text;
    }),
    ("html", &["notes", "notesFormat"], |task| {
        task.notes = Some("<p>one</p><p>two &amp; three</p>".into());
        task.notes_format = NotesFormat::Html;
    }),
    ("no notes", &["notes", "notesFormat"], |task| {
        task.notes = None;
        task.notes_format = NotesFormat::Text;
    }),
    ("priority", &["priority"], |task| task.priority = Some(TaskPriority::Low)),
    ("no priority", &["priority"], |task| task.priority = None),
    ("percent", &["percentComplete"], |task| task.percent_complete = Some(45)),
    ("due day", &["dueDate", "dueTime", "timeZone"], |task| {
        task.due_date = Some("2027-02-03".into());
        task.due_time = None;
        task.time_zone = None;
    }),
    ("due time", &["dueDate", "dueTime", "timeZone"], |task| {
        task.due_date = Some("2027-02-03".into());
        task.due_time = Some("16:45".into());
        task.time_zone = Some("America/New_York".into());
    }),
    ("due in UTC", &["dueDate", "dueTime", "timeZone"], |task| {
        task.due_date = Some("2027-02-03".into());
        task.due_time = Some("16:45".into());
        task.time_zone = Some("UTC".into());
    }),
    ("reminder", &["reminderAt"], |task| task.reminder_at = Some("2026-05-05T05:05:05Z".parse().unwrap())),
    ("no reminder", &["reminderAt"], |task| task.reminder_at = None),
    ("categories", &["categories"], |task| {
        task.categories.push("Zuletzt, neu".into());
    }),
    ("no categories", &["categories"], |task| task.categories.clear()),
    ("assignees", &["assignees"], |task| {
        task.assignees.push(Assignee { email: Some("new@example.com".into()), name: Some("N; E".into()) });
    }),
    ("parent", &["parentId"], |task| task.parent_id = Some("another,uid;1".into())),
    ("position", &["position"], |task| task.position = Some("0000000000000000042".into())),
];

/// Fields that follow from others, or from nothing that this edit is about.
fn same_but_for_derived(mut read: Task, wanted: &Task, what: &str) -> Task {
    // An alarm that counts from the due date goes along with it.
    if what.starts_with("due") {
        read.reminder_at = wanted.reminder_at;
        // So do the dates of what recurs and counts from it.
        read.recurrence.clone_from(&wanted.recurrence);
        // What recurs has a start.
        if wanted.start_date.is_none() && !wanted.recurrence.is_empty() {
            read.start_date = None;
        }
    }
    read
}

/// Each of these fields, edited in each of the fixtures: it reads back as wanted, and lines that do not say it keep their bytes.
#[test]
fn one_field_changes_and_the_rest_stays() {
    for (name, text) in fixtures() {
        if name == "unreadable" {
            continue;
        }
        let mut report = String::new();
        for (what, changed, edit) in EDITS {
            let mut wanted = task(&text);
            edit(&mut wanted);
            let written = update(&text, &wanted, changed);
            let read = same_but_for_derived(task(&written.text), &wanted, what);
            assert_eq!(read, wanted, "{name}, {what}\n{}", written.text);
            let again = update(&written.text, &wanted, changed);
            assert_eq!(difference(&written.text, &again.text), "", "{name}, {what}: it was there already");
            let warnings: Vec<_> =
                written.warnings.iter().map(|w| format!("!{}: {:?}\n", w.code, w.target)).collect();
            report += &format!("== {what}\n{}\n{}", difference(&text, &written.text), warnings.concat());
        }
        insta::assert_snapshot!(format!("{name}_edits"), report);
    }
}

/// Completing stamps what clients look at; going back takes it away, and what was not there stays so.
#[test]
fn a_task_is_completed_and_reopened() {
    for name in ["nextcloud", "days", "thunderbird", "apple"] {
        let text = fixture(name);
        let mut done = task(&text);
        done.status = TaskStatus::Completed;
        let closed = update(&text, &done, &["status"]).text;
        let read = task(&closed);
        assert_eq!((read.status, read.percent_complete), (TaskStatus::Completed, Some(100)), "{name}");
        assert_eq!(read.completed_at.unwrap().to_string(), "2026-04-01T00:00:00.000Z");
        let mut open = read.clone();
        open.status = TaskStatus::NeedsAction;
        let reopened = task(&update(&closed, &open, &["status"]).text);
        assert_eq!((reopened.status, reopened.percent_complete), (TaskStatus::NeedsAction, None), "{name}");
        assert_eq!(reopened.completed_at, None);
    }
    let text = fixture("tasks-org");
    let mut done = task(&text);
    done.percent_complete = Some(100);
    let again = update(&text, &done, &["status", "percentComplete"]);
    assert_eq!(difference(&text, &again.text), "", "it was completed already, at a time of its own");
    done.status = TaskStatus::InProgress;
    done.percent_complete = Some(80);
    let open = update(&text, &done, &["status", "percentComplete"]);
    insta::assert_snapshot!(difference(&text, &open.text), @r#"
    -STATUS:COMPLETED
    -COMPLETED:20260303T101009Z
    -PERCENT-COMPLETE:100
    +STATUS:IN-PROCESS
    +PERCENT-COMPLETE:80
    "#);
}

/// A client that only says "all of it is done"; another that says nothing and is at 100 without being done.
#[test]
fn a_progress_of_100_is_not_lost_between_clients() {
    let text = fixture("days").replace("STATUS:CANCELLED", "PERCENT-COMPLETE:100");
    let mut read = task(&text);
    assert_eq!((read.status, read.percent_complete), (TaskStatus::Completed, Some(100)));
    read.percent_complete = Some(50);
    let half = update(&text, &read, &["percentComplete"]);
    assert_eq!(task(&half.text), read, "the status was not what the caller changed");

    let text = fixture("days").replace("STATUS:CANCELLED", "X-A:1");
    let mut read = task(&text);
    read.percent_complete = Some(100);
    let full = update(&text, &read, &["percentComplete"]);
    assert_eq!(difference(&text, &full.text), "+PERCENT-COMPLETE:100\n+STATUS:NEEDS-ACTION");
    assert_eq!(task(&full.text), read);
}

/// A field, and how it comes to something that cannot be kept.
type Case = (&'static str, fn(&mut Task));

/// `waiting` and `deferred`: the nearest and a warning, or a refusal before anything is written.
#[test]
fn what_cannot_be_kept_is_told_or_refused() {
    let text = fixture("nextcloud");
    let mut task = task(&text);
    let cases: [Case; 6] = [
        ("status", |task| task.status = TaskStatus::Waiting),
        ("status", |task| task.status = TaskStatus::Deferred),
        ("position", |task| task.position = Some("a0".into())),
        ("position", |task| task.position = Some("99999999999999999999".into())),
        ("assignees", |task| task.assignees = vec![Assignee { email: None, name: Some("Somebody".into()) }]),
        ("startDate", |task| task.start_date = Some("2030-01-01".into())),
    ];
    for (field, edit) in cases {
        let mut wanted = task.clone();
        edit(&mut wanted);
        let written = update(&text, &wanted, &[field]);
        assert_eq!(written.warnings[0].code, "field_not_supported");
        assert_eq!(targets(&written), [field]);
        let failure = refused(&text, &wanted, &[field]);
        assert_eq!(
            (failure.code.as_str(), &failure.detail.unwrap()["field"]),
            (code::UNSUPPORTED, &field.into())
        );
    }
    task.title = "Kept".into();
    task.status = TaskStatus::Deferred;
    let written = update(&text, &task, &["title", "status"]);
    insta::assert_snapshot!(difference(&text, &written.text), @r#"
    -SUMMARY:Rückruf „Amt“
    -STATUS:IN-PROCESS
    +SUMMARY:Kept
    +STATUS:NEEDS-ACTION
    "#);
}

/// Start and due keep one value type, a value that cannot be written is a warning, and a start keeps its time of day.
#[test]
fn start_and_due_go_together() {
    let apple = fixture("apple");
    let mut moved = task(&apple);
    moved.start_date = Some("2026-02-10".into());
    let written = update(&apple, &moved, &["startDate"]);
    assert_eq!(
        difference(&apple, &written.text),
        "-DTSTART;TZID=Europe/Paris:20260214T180000\n+DTSTART;TZID=Europe/Paris:20260210T180000"
    );

    // A due date without time makes the start a day; its own time was 18:00, which is a warning.
    moved.due_time = None;
    moved.time_zone = None;
    let written = update(&apple, &moved, &["startDate", "dueTime", "timeZone"]);
    assert_eq!(targets(&written), ["startDate"]);
    assert!(
        written.text.contains("DTSTART;VALUE=DATE:20260210\r\nDUE;VALUE=DATE:20260214\r\n"),
        "{}",
        written.text
    );

    // The other way round nothing is lost: a day begins at midnight.
    let days = update(
        &fixture("days"),
        &Task { start_date: Some("2026-05-01".into()), ..task(&fixture("days")) },
        &["startDate"],
    )
    .text;
    let mut timed = task(&days);
    timed.due_time = Some("12:30".into());
    timed.time_zone = Some("Europe/Berlin".into());
    let written = update(&days, &timed, &["dueTime", "timeZone"]);
    for line in
        ["DUE;X-ORIGIN=mail;TZID=Europe/Berlin:20260531T123000", "DTSTART;TZID=Europe/Berlin:20260501T000000"]
    {
        assert!(written.text.contains(&format!("{line}\r\n")), "{}", written.text);
    }
    assert!(written.text.contains("BEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\n"), "{}", written.text);
    assert_eq!(task(&written.text), timed);

    // One day for both is what people mean by "today".
    timed.start_date = timed.due_date.clone();
    assert_eq!(task(&update(&written.text, &timed, &["startDate"]).text), timed);
}

/// A to-do that says how long it takes goes on saying so, unless the due date moves by itself.
#[test]
fn a_duration_stays_while_it_is_right() {
    let text = fixture("duration");
    let read = task(&text);
    // 23:30 and three hours, over the change to summer time.
    assert_eq!((read.due_date.as_deref(), read.due_time.as_deref()), (Some("2026-03-29"), Some("03:30")));
    let mut moved = read.clone();
    moved.start_date = Some("2026-04-04".into());
    moved.due_date = Some("2026-04-05".into());
    moved.due_time = Some("02:30".into());
    let written = update(&text, &moved, &["startDate", "dueDate", "dueTime"]);
    assert_eq!(
        difference(&text, &written.text),
        "-DTSTART;TZID=Europe/Berlin:20260328T233000\n+DTSTART;TZID=Europe/Berlin:20260404T233000"
    );
    let mut longer = read.clone();
    longer.due_date = Some("2026-03-30".into());
    let written = update(&text, &longer, &["dueDate"]);
    assert_eq!(difference(&text, &written.text), "-DURATION:PT3H\n+DUE;TZID=Europe/Berlin:20260330T033000");
    let mut open = read;
    open.start_date = None;
    assert_eq!(task(&update(&text, &open, &["startDate"]).text), open);
}

/// A zone that is no IANA zone: the instant is right, in UTC; what is written goes on naming the other client's zone.
#[test]
fn a_zone_of_its_own_is_shown_in_utc() {
    let zone = "BEGIN:VTIMEZONE\r\nTZID:Ship\r\nBEGIN:STANDARD\r\nDTSTART:20000101T000000\r\nTZOFFSETFROM:+0017\r\n\
        TZOFFSETTO:+0017\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n";
    let due = "DTSTART;TZID=Ship:20260530T101700\r\nDUE;TZID=Ship:20260531T001700";
    let text = fixture("days")
        .replace("BEGIN:VTODO", &format!("{zone}BEGIN:VTODO"))
        .replace("DUE;VALUE=DATE;X-ORIGIN=mail:20260531", due);
    let mut read = task(&text);
    assert_eq!((read.due_date.as_deref(), read.due_time.as_deref()), (Some("2026-05-31"), Some("00:00")));
    assert_eq!(read.time_zone.as_deref(), Some("UTC"));
    read.title = "x".into();
    let titled = update(&text, &read, &["title"]);
    assert_eq!(difference(&text, &titled.text), "-SUMMARY:Tax return\n+SUMMARY:x");
    read.due_time = Some("06:00".into());
    let later = update(&text, &read, &["dueTime"]);
    assert_eq!(
        difference(&titled.text, &later.text),
        "-SUMMARY:x\n-DUE;TZID=Ship:20260531T001700\n+SUMMARY:Tax return\n+DUE;TZID=Ship:20260531T061700"
    );
}

/// A zone beside a UTC time means nothing, and does not come to mean something by an edit.
#[test]
fn a_zone_beside_a_utc_time_means_nothing() {
    let text = fixture("days")
        .replace("DUE;VALUE=DATE;X-ORIGIN=mail:20260531", "DUE;TZID=Europe/Berlin:20260531T100000Z");
    let mut read = task(&text);
    assert_eq!((read.due_time.as_deref(), read.time_zone.as_deref()), (Some("10:00"), Some("UTC")));
    read.due_date = Some("2026-06-01".into());
    let later = update(&text, &read, &["dueDate"]);
    assert_eq!(
        difference(&text, &later.text),
        "-DUE;TZID=Europe/Berlin:20260531T100000Z\n+DUE:20260601T100000Z"
    );
}

/// A time without a day and a zone without a time say nothing that a to-do could keep.
#[test]
fn times_without_days_are_told() {
    let fields = ["title", "dueDate", "dueTime", "timeZone"];
    let new = Task {
        title: "x".into(),
        due_time: Some("09:00".into()),
        time_zone: Some("UTC".into()),
        ..Task::default()
    };
    let written = create(&new, &fields);
    assert_eq!(targets(&written), ["dueTime", "timeZone"]);
    assert!(!written.text.contains("DUE"), "{}", written.text);
    let new = Task { due_date: Some("2026-01-01".into()), due_time: None, ..new };
    assert_eq!(targets(&create(&new, &fields)), ["timeZone"]);
    // Whoever only changes the day does not hear of a zone that was sent along.
    assert!(create(&new, &["title", "dueDate"]).warnings.is_empty());
}

/// People who stay keep what their line says; a new name is written into it.
#[test]
fn assignees_keep_their_lines() {
    let text = fixture("evolution");
    let mut shared = task(&text);
    shared.assignees[0].name = Some("Jane".into());
    shared.assignees[1].email = Some("JOE@example.com".into());
    let written = update(&text, &shared, &["assignees"]);
    assert_eq!(
        difference(&text, &written.text),
        "-ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;RSVP=TRUE;CN=\"Doe, Jane\";LANGUAGE=cs:MAILTO:jane@example.com\n\
         +ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;RSVP=TRUE;CN=Jane;LANGUAGE=cs:MAILTO:jane@example.com"
    );
    shared.assignees.remove(0);
    assert_eq!(task(&update(&text, &shared, &["assignees"]).text).assignees.len(), 1);

    // One who is no mail address is known by name, and stays.
    let text = text.replace("MAILTO:jane@example.com", "urn:uuid:1");
    let named = task(&text);
    assert_eq!(named.assignees[0], Assignee { email: None, name: Some("Doe, Jane".into()) });
    let written = update(&text, &named, &["assignees"]);
    assert_eq!((difference(&text, &written.text).as_str(), written.warnings.len()), ("", 0));
}

/// A recurring task has a start: the due date where there is no other; without any there is no recurrence.
#[test]
fn what_recurs_has_a_start() {
    let text = fixture("days");
    let mut weekly = task(&text);
    weekly.recurrence = vec!["RRULE:FREQ=YEARLY".into()];
    let written = update(&text, &weekly, &["recurrence"]);
    assert_eq!(written.warnings[0].code, "start_added");
    insta::assert_snapshot!(difference(&text, &written.text), @r#"
    +DTSTART;VALUE=DATE:20260531
    +RRULE:FREQ=YEARLY
    "#);
    let mut never = task(&written.text);
    never.start_date = None;
    never.due_date = None;
    let kept = update(&written.text, &never, &["startDate", "dueDate"]);
    assert_eq!(targets(&kept), ["startDate"]);
    assert_eq!(task(&kept.text).start_date.as_deref(), Some("2026-05-31"));

    let nothing = Task { title: "x".into(), recurrence: weekly.recurrence, ..Task::default() };
    let written = create(&nothing, &["title", "recurrence"]);
    assert_eq!(targets(&written), ["recurrence"]);
    assert!(!written.text.contains("RRULE"), "{}", written.text);
}

/// The rule of a recurring task changes; its exception keeps its bytes, and the caller hears of it.
#[test]
fn exceptions_keep_their_bytes() {
    let text = fixture("recurring");
    let mut rarer = task(&text);
    rarer.recurrence = vec!["RRULE:FREQ=MONTHLY".into(), "EXDATE;VALUE=DATE:20260119".into()];
    let written = update(&text, &rarer, &["recurrence"]);
    assert_eq!(difference(&text, &written.text), "-RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=12\n+RRULE:FREQ=MONTHLY");
    assert_eq!(written.warnings[0].code, "exceptions_kept");
    let exception = |text: &str| text.split("BEGIN:VTODO").nth(2).unwrap().to_owned();
    assert_eq!(exception(&written.text), exception(&text));
    assert_eq!(task(&written.text).recurrence, rarer.recurrence);
}

/// An alarm that counted from a date that is gone rings when it would have.
#[test]
fn a_reminder_outlives_the_date_it_counted_from() {
    let text = fixture("tasks-org");
    let mut open = task(&text);
    open.due_date = None;
    let written = update(&text, &open, &["dueDate"]);
    assert_eq!(
        difference(&text, &written.text),
        "-DUE;VALUE=DATE:20260303\n-TRIGGER;RELATED=END:PT9H\n+TRIGGER;VALUE=DATE-TIME:20260303T080000Z"
    );
    assert_eq!(task(&written.text), open);
}

/// A new to-do has what clients look for, and defines the zone that it names.
#[test]
fn a_new_task_is_a_whole_resource() {
    let new = Task {
        title: "Call".into(),
        due_date: Some("2026-07-01".into()),
        due_time: Some("09:00".into()),
        time_zone: Some("Europe/Berlin".into()),
        reminder_at: Some("2026-07-01T06:45:00Z".parse().unwrap()),
        parent_id: Some("parent-1".into()),
        ..Task::default()
    };
    let fields = ["title", "dueDate", "dueTime", "timeZone", "reminderAt", "parentId"];
    let written = create(&new, &fields);
    assert!(written.warnings.is_empty());
    assert_eq!(task(&written.text), new);
    let todo = &written.text[written.text.find("BEGIN:VTODO").unwrap()..];
    insta::assert_snapshot!(todo.replace("\r\n", "\n"), @r#"
    BEGIN:VTODO
    UID:new-uid
    DTSTAMP:20260401T000000Z
    LAST-MODIFIED:20260401T000000Z
    CREATED:20260401T000000Z
    DUE;TZID=Europe/Berlin:20260701T090000
    SUMMARY:Call
    STATUS:NEEDS-ACTION
    RELATED-TO;RELTYPE=PARENT:parent-1
    BEGIN:VALARM
    TRIGGER;VALUE=DATE-TIME:20260701T064500Z
    ACTION:DISPLAY
    DESCRIPTION:Call
    END:VALARM
    END:VTODO
    END:VCALENDAR
    "#);
    assert!(written.text.contains("BEGIN:VTIMEZONE\r\nTZID:Europe/Berlin"), "{}", written.text);
    assert_eq!(item(&written.text).uid.as_deref(), Some("new-uid"));
}

/// Text of an API caller: anything but controls.
fn words() -> impl Strategy<Value = String> {
    "[^\\p{C}\\p{Z}]([^\\p{C}]{0,38}[^\\p{C}\\p{Z}])?"
}

fn days() -> impl Strategy<Value = String> {
    (2000..2099i16, 1..=12i8, 1..=28i8).prop_map(|(y, m, d)| format!("{y:04}-{m:02}-{d:02}"))
}

prop_compose! {
    fn due()(day in days(), time in prop::option::of((0..24u8, 0..60u8)),
             zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]))
        -> (Option<String>, Option<String>, Option<String>) {
        let time = time.map(|(h, m)| format!("{h:02}:{m:02}"));
        let zone = time.is_some().then(|| zone.to_owned());
        (Some(day), time, zone)
    }
}

prop_compose! {
    fn tasks()(
        texts in (words(), prop::option::of(words()), any::<bool>()),
        states in (0..4usize, 0..4usize, prop::option::of(0..=100i64)),
        due in prop_oneof![Just((None, None, None)), due()],
        start in prop::option::of(days()),
        reminder in prop::option::of(0..4_000_000_000i64),
        rule in prop::option::of(prop::sample::select(vec!["RRULE:FREQ=DAILY;COUNT=3", "RRULE:FREQ=MONTHLY;BYDAY=-1FR"])),
        categories in prop::collection::btree_set(words(), 0..5),
        people in prop::collection::btree_map("[a-z]{1,8}@[a-z]{1,8}\\.example", prop::option::of(words()), 0..4),
        parent in prop::option::of(words()),
        position in prop::option::of(0..i64::MAX),
    ) -> Task {
        use TaskStatus::*;
        let status = [NeedsAction, InProgress, Completed, Cancelled][states.0];
        let start = start.filter(|start| due.0.as_ref().is_none_or(|due| start <= due));
        let recurs = start.is_some();
        let html = texts.2 && texts.1.is_some();
        Task {
            title: texts.0,
            notes: texts.1.map(|text| if html { format!("<p>{text}</p>") } else { text }),
            notes_format: if html { NotesFormat::Html } else { NotesFormat::Text },
            status,
            completed_at: (status == Completed).then(|| "2026-03-03T03:03:03Z".parse().unwrap()),
            percent_complete: states.2,
            priority: [None, Some(TaskPriority::Low), Some(TaskPriority::Normal), Some(TaskPriority::High)][states.1],
            due_date: due.0, due_time: due.1, time_zone: due.2,
            start_date: start,
            reminder_at: reminder.map(|second| model::Instant::from_millis(second * 1000)),
            recurrence: rule.into_iter().filter(|_| recurs).map(str::to_owned).collect(),
            categories: categories.into_iter().collect(),
            assignees: people.into_iter().map(|(email, name)| Assignee { email: Some(email), name }).collect(),
            parent_id: parent,
            position: position.map(|number| format!("{number:019}")),
            ..Task::default()
        }
    }
}

const ALL: [&str; 17] = [
    "title",
    "notes",
    "notesFormat",
    "status",
    "priority",
    "percentComplete",
    "startDate",
    "dueDate",
    "dueTime",
    "timeZone",
    "reminderAt",
    "recurrence",
    "categories",
    "assignees",
    "parentId",
    "position",
    "completedAt",
];

/// Fields that are changed together.
const GROUPS: [&[&str]; 12] = [
    &["title"],
    &["notes", "notesFormat"],
    &["status"],
    &["priority"],
    &["percentComplete"],
    &["startDate"],
    &["dueDate", "dueTime", "timeZone"],
    &["reminderAt"],
    &["categories"],
    &["assignees"],
    &["parentId"],
    &["position"],
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any task reads back as it was written, into a new resource and over any other.
    #[test]
    fn a_written_task_reads_back(wanted in tasks(), other in tasks()) {
        let written = create(&wanted, &ALL);
        prop_assert!(written.warnings.is_empty(), "{:?}", written.warnings);
        prop_assert_eq!(&task(&written.text), &wanted);
        // A second in a doubled hour, and the order of people, are the other one's; the fields are these.
        let base = create(&other, &ALL);
        let over = update(&base.text, &wanted, &ALL);
        let mut read = task(&over.text);
        let mut expected = wanted.clone();
        // The stamp of an earlier completion stays.
        if other.status == TaskStatus::Completed {
            read.completed_at = expected.completed_at;
        }
        // Whoever stays keeps a name that is not given anew.
        for list in [&mut read.assignees, &mut expected.assignees] {
            list.iter_mut().for_each(|person| person.name = None);
            list.sort_by(|a, b| a.email.cmp(&b.email));
        }
        prop_assert_eq!(read, expected);
    }

    /// Some fields of any task, written over any foreign resource: these read back as wanted, or a warning names them; the others
    /// are what they were.
    #[test]
    fn some_fields_are_written_over_a_foreign_task(at in 0..64usize, wanted in tasks(), pick in prop::collection::vec(any::<bool>(), GROUPS.len())) {
        let all: Vec<_> = fixtures().into_iter().filter(|(name, _)| name != "unreadable").collect();
        let (name, text) = &all[at % all.len()];
        let old = task(text);
        let changed: Vec<&str> = GROUPS.iter().zip(&pick).filter(|(_, pick)| **pick).flat_map(|(group, _)| *group).copied().collect();
        let mut body = serde_json::to_value(&old).unwrap();
        let given = serde_json::to_value(&wanted).unwrap();
        for field in &changed {
            body[field] = given[field].clone();
        }
        let expected: Task = serde_json::from_value(body).unwrap();
        let written = update(text, &expected, &changed);
        let read = serde_json::to_value(task(&written.text)).unwrap();
        let has = |field: &str| changed.contains(&field);
        let times = ["startDate", "dueDate", "dueTime", "timeZone"].iter().any(|field| has(field));
        for (field, value) in serde_json::to_value(&expected).unwrap().as_object().unwrap() {
            let field = field.as_str();
            let excused = targets(&written).contains(&field) || match field {
                // An alarm that counts from a date goes along with it.
                "reminderAt" => times && !has(field),
                // The rule's days and the dates of a task that recurs go along with its start.
                "recurrence" => times && !has(field),
                "completedAt" => has("status"),
                "percentComplete" => has("status") && !has(field),
                // Whoever stays keeps a name that is not given anew.
                "assignees" => has(field) && !old.assignees.is_empty(),
                // A date that is left as it was takes its time along.
                "dueTime" | "timeZone" => targets(&written).contains(&"dueDate"),
                _ => false,
            };
            prop_assert!(excused || read[field] == *value, "{name}: {field} is {} for {value}, changed {changed:?}\n{}", read[field], written.text);
        }
        let again = update(&written.text, &task(&written.text), &changed);
        prop_assert_eq!(difference(&written.text, &again.text), "", "{}: what is there already stays", name);
    }

    /// For any resource, reading and editing it gives an answer.
    #[test]
    fn any_line_does_no_harm(name in "[A-Z-]{1,12}", value in "\\PC{0,60}", wanted in tasks()) {
        let text = fixture("apple").replace("SUMMARY:", &format!("{name}:{value}\r\nDUE:{value}\r\nSUMMARY:"));
        if let Ok(items) = berlin().items("/x.ics", &text) {
            for item in items {
                let _ = item.body.read::<Task>().unwrap();
            }
            let _ = editor(&berlin(), false).update(&text, &wanted, &names(&ALL));
        }
    }
}

/// Cut and mangled resources give an answer, and soon.
#[test]
fn cut_and_mangled_resources_give_an_answer() {
    let reader = berlin();
    for (_, text) in fixtures() {
        for cut in (0..text.len()).step_by(2) {
            if let Some(part) = text.get(..cut) {
                let _ = reader.items("/x.ics", part);
            }
        }
        for (at, _) in text.char_indices().step_by(5) {
            let mangled = format!("{}{}{}", &text[..at], "\u{FFFD}:;\"", &text[at..]);
            let _ = reader.items("/x.ics", &mangled);
        }
    }
}

/// A caller's text never becomes a property, and large resources are worked through once.
#[test]
fn hostile_tasks_do_no_harm() {
    let evil = "x\r\nATTENDEE:mailto:evil@example.com\nEND:VTODO\u{0}";
    let new = Task {
        title: evil.into(),
        notes: Some(evil.into()),
        parent_id: Some(evil.into()),
        categories: vec![evil.into()],
        assignees: vec![Assignee { email: Some(format!("a@b.example{evil}")), name: Some(evil.into()) }],
        due_date: Some("2026-01-01".into()),
        recurrence: vec!["RRULE:FREQ=DAILY\r\nBEGIN:VEVENT".into(), "ATTACH:https://evil.example".into()],
        ..Task::default()
    };
    let written = create(&new, &ALL);
    let lines: Vec<&str> = written.text.lines().collect();
    assert!(!lines.iter().any(|line| line.starts_with("ATTENDEE:mailto:evil") || line.starts_with("ATTACH")));
    assert_eq!(lines.iter().filter(|line| line.starts_with("BEGIN:") || line.starts_with("END:")).count(), 4);
    for (field, value) in [("dueDate", "2026-02-30"), ("dueTime", "25:00"), ("timeZone", "Mars/Olympus")] {
        let mut odd = Task { due_date: Some("2026-01-01".into()), ..Task::default() };
        odd.due_time = Some("10:00".into());
        match field {
            "dueDate" => odd.due_date = Some(value.into()),
            "dueTime" => odd.due_time = Some(value.into()),
            _ => odd.time_zone = Some(value.into()),
        }
        let failure = editor(&berlin(), false).create("u", &odd, &names(&["dueDate", "dueTime", "timeZone"]));
        assert_eq!(failure.unwrap_err().code, code::INVALID, "{field}");
    }

    let many = Task {
        title: "x".repeat(1_000_000),
        notes: Some("<".repeat(1_000_000)),
        notes_format: NotesFormat::Html,
        categories: (0..10_000).map(|n| format!("category {n}")).collect(),
        ..Task::default()
    };
    let written = create(&many, &ALL);
    let read = task(&written.text);
    assert_eq!(read, many);
    let mut fewer = read;
    fewer.categories.retain(|category| !category.ends_with('7'));
    assert_eq!(task(&update(&written.text, &fewer, &["categories"]).text), fewer);
}
