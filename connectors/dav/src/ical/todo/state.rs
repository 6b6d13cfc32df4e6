//! STATUS, COMPLETED, PERCENT-COMPLETE and PRIORITY.

use ical::tree::cst::IcalCst;
use model::Instant;
use model::tasks::{TaskPriority, TaskStatus};

use crate::ical::lines::{keyword, line, remove, set_line, set_value};
use crate::ical::time::{Clock, utc_line};

/// STATUS; one that is missing or unknown is decided by COMPLETED or by a progress of 100, which some clients write alone.
pub fn status(todo: &IcalCst) -> TaskStatus {
    match keyword(todo, "STATUS").as_deref() {
        Some("NEEDS-ACTION") => TaskStatus::NeedsAction,
        Some("IN-PROCESS") => TaskStatus::InProgress,
        Some("COMPLETED") => TaskStatus::Completed,
        Some("CANCELLED") => TaskStatus::Cancelled,
        _ if line(todo, "COMPLETED").is_some() || percent(todo) == Some(100) => TaskStatus::Completed,
        _ => TaskStatus::NeedsAction,
    }
}

/// The STATUS for a status, and whether they mean the same. A waiting task was started; a deferred one was not.
pub fn word(status: TaskStatus) -> (&'static str, bool) {
    match status {
        TaskStatus::NeedsAction => ("NEEDS-ACTION", true),
        TaskStatus::InProgress => ("IN-PROCESS", true),
        TaskStatus::Completed => ("COMPLETED", true),
        TaskStatus::Cancelled => ("CANCELLED", true),
        TaskStatus::Waiting => ("IN-PROCESS", false),
        TaskStatus::Deferred => ("NEEDS-ACTION", false),
    }
}

/// When it was completed. None where the to-do is completed and does not say when: LAST-MODIFIED would tell a time that moves
/// with every later change.
pub fn completed_at(todo: &IcalCst, clock: &Clock) -> Option<Instant> {
    if status(todo) != TaskStatus::Completed {
        return None;
    }
    clock.moment(todo, "COMPLETED")?.instant(clock)
}

/// PERCENT-COMPLETE from 0 to 100; anything else says nothing.
pub fn percent(todo: &IcalCst) -> Option<i64> {
    number(todo, "PERCENT-COMPLETE").filter(|percent| (0..=100).contains(percent))
}

fn number(todo: &IcalCst, name: &str) -> Option<i64> {
    line(todo, name)?.raw_value_str().trim().parse().ok()
}

/// PRIORITY as RFC 5545 section 3.8.1.9 divides it; 0 is "undefined".
pub fn priority(todo: &IcalCst) -> Option<TaskPriority> {
    match number(todo, "PRIORITY")? {
        1..=4 => Some(TaskPriority::High),
        5 => Some(TaskPriority::Normal),
        6..=9 => Some(TaskPriority::Low),
        _ => None,
    }
}

/// Sets the status with what goes with it. `percent_given`: the caller says the progress, too, so it is left alone here.
pub fn set_status(todo: &mut IcalCst, wanted: TaskStatus, at: Instant, percent_given: bool) {
    let was = status(todo);
    let (word, _) = word(wanted);
    if keyword(todo, "STATUS").as_deref() != Some(word) {
        set_value(todo, "STATUS", word);
    }
    let percent = percent(todo).filter(|_| !percent_given);
    if wanted == TaskStatus::Completed {
        if was != TaskStatus::Completed || line(todo, "COMPLETED").is_none() {
            set_line(todo, utc_line("COMPLETED", at));
        }
        if percent != Some(100) && !percent_given {
            set_value(todo, "PERCENT-COMPLETE", "100");
        }
    } else {
        remove(todo, "COMPLETED");
        if was == TaskStatus::Completed && percent == Some(100) {
            remove(todo, "PERCENT-COMPLETE");
        }
    }
}

/// Sets the progress; an equal number keeps its bytes. A status that only the old number implied, or that the new one would
/// imply, is written out.
pub fn set_percent(todo: &mut IcalCst, wanted: Option<i64>) {
    let was = status(todo);
    match wanted {
        Some(wanted) => set_value(todo, "PERCENT-COMPLETE", &wanted.clamp(0, 100).to_string()),
        None => remove(todo, "PERCENT-COMPLETE"),
    }
    if status(todo) != was {
        set_value(todo, "STATUS", word(was).0);
    }
}

/// Sets the priority; one of several numbers that says it already stays.
pub fn set_priority(todo: &mut IcalCst, wanted: Option<TaskPriority>) {
    if priority(todo) == wanted {
        return;
    }
    match wanted {
        Some(TaskPriority::High) => set_value(todo, "PRIORITY", "1"),
        Some(TaskPriority::Normal) => set_value(todo, "PRIORITY", "5"),
        Some(TaskPriority::Low) => set_value(todo, "PRIORITY", "9"),
        None => remove(todo, "PRIORITY"),
    }
}
