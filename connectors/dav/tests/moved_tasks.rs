//! A recurring task that is moved keeps its excluded dates, with warnings for those that it cannot keep.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use connector_dav::ical::people::Selves;
use connector_dav::ical::todo::edit::{EditedTodo, TodoEditor};
use connector_dav::ical::todo::read::TodoReader;
use model::tasks::Task;

/// A to-do with these lines (`|` for the ends of lines).
fn todo(lines: &str) -> String {
    let lines = lines.replace('|', "\r\n");
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nBEGIN:VTODO\r\nUID:a\r\nDTSTAMP:20260101T000000Z\r\n\
         SUMMARY:Bins\r\n{lines}\r\nEND:VTODO\r\nEND:VCALENDAR\r\n"
    )
}

fn reader() -> TodoReader {
    TodoReader::new(Selves::new(["me@example.com"]), Some("Europe/Berlin"))
}

fn task(text: &str) -> Task {
    reader().items("/tasks/x.ics", text).unwrap().remove(0).body.read().unwrap()
}

/// The resource with the task changed, and what it recurs by then.
fn changed(text: &str, edit: impl FnOnce(&mut Task), fields: &[&str]) -> (EditedTodo, Vec<String>) {
    let mut wanted = task(text);
    edit(&mut wanted);
    let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
    let reader = reader();
    let editor = TodoEditor { reader: &reader, now: "2026-02-01T00:00:00Z".parse().unwrap(), strict: false };
    let written = editor.update(text, &wanted, &fields).unwrap();
    let recurrence = task(&written.text).recurrence;
    (written, recurrence)
}

/// Starts a task on a day on which it is due, too.
fn on(day: &str) -> impl FnOnce(&mut Task) {
    let day = day.to_owned();
    move |task| {
        task.start_date = Some(day.clone());
        task.due_date = Some(day);
    }
}

/// The codes and the targets of the warnings.
fn warnings(written: &EditedTodo) -> Vec<(&str, &str)> {
    let warnings = written.warnings.iter();
    warnings.map(|warning| (warning.code.as_str(), warning.target.as_deref().unwrap_or_default())).collect()
}

/// From Monday to another day, timed and as days, with and without the weekday in the rule, with and without a start.
#[test]
fn holes_move_with_the_task() {
    let timed = todo(
        "DTSTART;TZID=Europe/Berlin:20260302T090000|DUE;TZID=Europe/Berlin:20260302T100000|RRULE:FREQ=WEEKLY|\
         EXDATE;TZID=Europe/Berlin:20260316T090000,20260330T090000",
    );
    let (written, recurrence) = changed(&timed, on("2026-03-03"), &["startDate", "dueDate"]);
    assert!(warnings(&written).is_empty(), "{:?}", written.warnings);
    // The clocks go forward in between: the time of day stays.
    let holes = "EXDATE;TZID=Europe/Berlin:20260317T090000,20260331T090000";
    assert_eq!(recurrence, ["RRULE:FREQ=WEEKLY", holes]);
    assert!(written.text.contains("DTSTART;TZID=Europe/Berlin:20260303T090000\r\n"), "{}", written.text);

    let days = todo(
        "DTSTART;VALUE=DATE:20260302|DUE;VALUE=DATE:20260302|RRULE:FREQ=WEEKLY;BYDAY=MO|EXDATE;VALUE=DATE:20260316",
    );
    let (written, recurrence) = changed(&days, on("2026-03-04"), &["startDate", "dueDate"]);
    assert!(warnings(&written).is_empty(), "{:?}", written.warnings);
    assert_eq!(recurrence, ["RRULE:FREQ=WEEKLY;BYDAY=WE", "EXDATE;VALUE=DATE:20260318"]);

    // Where there is no start, the due date is what the dates count from.
    let due = todo(
        "DUE;TZID=Europe/Berlin:20260302T100000|RRULE:FREQ=WEEKLY|EXDATE;TZID=Europe/Berlin:20260316T100000",
    );
    let later = |task: &mut Task| task.due_time = Some("11:30".to_owned());
    let (written, recurrence) = changed(&due, later, &["dueTime"]);
    assert_eq!(warnings(&written), [("start_added", "startDate")]);
    assert_eq!(recurrence, ["RRULE:FREQ=WEEKLY", "EXDATE;TZID=Europe/Berlin:20260316T113000"]);
}

/// Times without a zone are the list's; a task that gets a zone keeps the local times of its holes, as it keeps its own.
#[test]
fn holes_go_along_into_a_zone() {
    let floating = todo("DUE:20260302T100000|RRULE:FREQ=WEEKLY|EXDATE:20260316T100000");
    let there = |task: &mut Task| task.time_zone = Some("America/New_York".to_owned());
    let (written, recurrence) = changed(&floating, there, &["timeZone"]);
    assert_eq!(warnings(&written), [("start_added", "startDate")]);
    assert!(written.text.contains("DTSTART;TZID=America/New_York:20260302T100000\r\n"), "{}", written.text);
    assert_eq!(recurrence, ["RRULE:FREQ=WEEKLY", "EXDATE;TZID=America/New_York:20260316T100000"]);
}

/// A task that begins later on its own days has the holes where they were; so has one of which something else is changed.
#[test]
fn holes_stay_where_the_days_do() {
    let text = todo(
        "DTSTART;VALUE=DATE:20260302|DUE;VALUE=DATE:20260303|RRULE:FREQ=WEEKLY|EXDATE;VALUE=DATE:20260316",
    );
    let lines = task(&text).recurrence;
    let later = |task: &mut Task| {
        (task.start_date, task.due_date) = (Some("2026-03-09".to_owned()), Some("2026-03-10".to_owned()));
    };
    let (written, recurrence) = changed(&text, later, &["startDate", "dueDate"]);
    assert_eq!((warnings(&written), &recurrence), (Vec::new(), &lines));
    let longer = |task: &mut Task| task.due_date = Some("2026-03-05".to_owned());
    let (written, recurrence) = changed(&text, longer, &["dueDate"]);
    assert_eq!((warnings(&written), &recurrence), (Vec::new(), &lines));
}

/// Another rule on another day: the instances cannot be matched, so the dropped exclusion is a warning.
#[test]
fn a_hole_without_a_place_is_told() {
    let text = todo(
        "DTSTART;VALUE=DATE:20260302|DUE;VALUE=DATE:20260302|RRULE:FREQ=WEEKLY|EXDATE;VALUE=DATE:20260316",
    );
    let monthly = |task: &mut Task| {
        (task.start_date, task.due_date) = (Some("2026-03-04".to_owned()), Some("2026-03-04".to_owned()));
        task.recurrence = vec!["RRULE:FREQ=MONTHLY".to_owned(), "EXDATE;VALUE=DATE:20260316".to_owned()];
    };
    let (written, recurrence) = changed(&text, monthly, &["startDate", "dueDate", "recurrence"]);
    assert_eq!(warnings(&written), [("exception_dropped", "2026-03-16")]);
    assert_eq!(recurrence, ["RRULE:FREQ=MONTHLY"]);
}
