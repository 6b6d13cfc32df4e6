//! `Task` → VTODO: only the properties of the fields that were changed.

use connector_sdk::{Failure, Outcome};
use ical::tree::cst::{IcalCst, IcalItem};
use jiff::civil::{Date, Time};
use model::Instant;
use model::tasks::{NotesFormat, Task};

use crate::collection::changed::FieldSet;
use crate::ical::categories::set_categories;
use crate::ical::html::to_text;
use crate::ical::lines::{put_text, remove, set_param, set_text, set_value, text_line};
use crate::ical::notes::set_description;
use crate::ical::time::Clock;
use crate::ical::todo::people::set_assignees;
use crate::ical::todo::read::{is_parent, parent, position};
use crate::ical::todo::reader::TodoReader;
use crate::ical::todo::reminder::{detach, reminder, set_reminder};
use crate::ical::todo::state::{set_percent, set_priority, set_status, word};
use crate::ical::todo::times::TodoTimes;
use crate::ical::write::Writer;

/// Fields that say when a task is due and when it can begin.
const WHEN: [&str; 4] = ["startDate", "dueDate", "dueTime", "timeZone"];
/// Fields that this connector never writes.
const UNKNOWN: [&str; 4] = ["checklistItems", "links", "webUrl", "hasAttachments"];

/// Whether the task moves.
pub fn moves(changed: &FieldSet) -> bool {
    WHEN.iter().any(|name| changed.has(name))
}

/// Whether the people it is assigned to have to look at it again (RFC 5546 section 2.1.4): a new SEQUENCE.
pub fn is_significant(changed: &FieldSet) -> bool {
    moves(changed) || changed.has("recurrence") || changed.has("status")
}

/// The context of a write beside the task, and its results.
pub struct TodoWriter<'c> {
    pub base: Writer<'c>,
    pub reader: &'c TodoReader,
}

impl<'c> TodoWriter<'c> {
    pub fn new(reader: &'c TodoReader, calendar: &'c IcalCst<'c>, now: Instant) -> Self {
        TodoWriter { base: Writer::new(&reader.base, calendar, now), reader }
    }

    /// Returns the clock by which the object before the change is read.
    pub fn clock(&self) -> Clock<'c> {
        self.reader.base.clock(self.base.clock.calendar)
    }

    /// Adds a warning that a field differs from the caller's value.
    pub fn cannot_keep(&mut self, field: &str, why: &str) {
        self.base.warn("field_not_supported", why, field);
    }

    /// Makes the to-do say the changed fields.
    pub fn apply(&mut self, todo: &mut IcalCst, task: &Task, changed: &FieldSet) -> Outcome<()> {
        let old = self.reader.times(todo, &self.clock());
        if moves(changed) || changed.has("recurrence") {
            self.set_times(todo, task, changed, &old)?;
        }
        set_texts(todo, task, changed);
        self.set_states(todo, task, changed);
        if changed.has("categories") {
            set_categories(todo, &task.categories);
        }
        if changed.has("assignees") && !set_assignees(todo, &task.assignees, &self.reader.base.selves) {
            self.cannot_keep("assignees", "CalDAV names people by mail address; one without was left out");
        }
        if changed.has("parentId") {
            set_parent(todo, task.parent_id.as_deref().filter(|uid| !uid.trim().is_empty()));
        }
        if changed.has("position") {
            self.set_position(todo, task.position.as_deref());
        }
        self.set_reminder(todo, task, changed, &old);
        for name in UNKNOWN.iter().filter(|name| changed.has(name)) {
            self.cannot_keep(name, "CalDAV has no such field");
        }
        Ok(())
    }

    fn set_states(&mut self, todo: &mut IcalCst, task: &Task, changed: &FieldSet) {
        if changed.has("status") {
            let (word, exact) = word(task.status);
            if !exact {
                let why = format!("CalDAV has no such status; {word} is the nearest");
                self.cannot_keep("status", &why);
            }
            let at = task.completed_at.unwrap_or(self.base.now);
            set_status(todo, task.status, at, changed.has("percentComplete"));
        }
        if changed.has("percentComplete") {
            set_percent(todo, task.percent_complete);
        }
        if changed.has("priority") {
            set_priority(todo, task.priority);
        }
    }

    /// X-APPLE-SORT-ORDER is a number; a text that is none has no place in it.
    fn set_position(&mut self, todo: &mut IcalCst, wanted: Option<&str>) {
        let Some(wanted) = wanted else { return remove(todo, "X-APPLE-SORT-ORDER") };
        let digits = !wanted.is_empty() && wanted.bytes().all(|byte| byte.is_ascii_digit());
        match wanted.parse::<i64>().ok().filter(|_| digits) {
            Some(_) if position(todo).as_deref() == Some(wanted) => {}
            Some(order) => set_value(todo, "X-APPLE-SORT-ORDER", &order.to_string()),
            None => self.cannot_keep("position", "CalDAV orders tasks by numbers of up to 19 digits"),
        }
    }

    /// An alarm that is relative to a time moves with it. If that time is removed and the reminder stays, the alarm keeps its
    /// absolute time.
    fn set_reminder(&mut self, todo: &mut IcalCst, task: &Task, changed: &FieldSet, old: &TodoTimes) {
        let clock = self.clock();
        let times = self.reader.times(todo, &clock);
        if changed.has("reminderAt") {
            let title = if task.title.is_empty() { "Reminder" } else { &task.title };
            set_reminder(todo, task.reminder_at, title, &times, &clock);
        } else if times != *old && reminder(todo, &times, &clock).is_none() {
            detach(todo, old, &clock);
        }
    }
}

/// `YYYY-MM-DD`.
pub fn day(field: &str, text: &str) -> Outcome<Date> {
    text.parse().map_err(|_| Failure::invalid(format!("{field} must be a day, such as 2026-03-01")))
}

/// `HH:MM`.
pub fn time_of_day(field: &str, text: &str) -> Outcome<Time> {
    text.parse().map_err(|_| Failure::invalid(format!("{field} must be a time of day, such as 09:30")))
}

fn set_texts(todo: &mut IcalCst, task: &Task, changed: &FieldSet) {
    if changed.has("title") {
        set_text(todo, "SUMMARY", Some(&task.title));
    }
    if changed.has("notes") || changed.has("notesFormat") {
        match (&task.notes, task.notes_format) {
            (Some(html), NotesFormat::Html) => set_description(todo, Some(&to_text(html)), Some(html)),
            (notes, _) => set_description(todo, notes.as_deref(), None),
        }
    }
}

/// RELATED-TO; relations of other types are others' business.
fn set_parent(todo: &mut IcalCst, wanted: Option<&str>) {
    if parent(todo).as_deref() == wanted {
        return;
    }
    let is_it = |item: &IcalItem| matches!(item, IcalItem::Prop(line) if line.name.get().eq_ignore_ascii_case("RELATED-TO") && is_parent(line));
    let Some(uid) = wanted else {
        todo.items.retain(|item| !is_it(item));
        return;
    };
    match todo.items.iter_mut().find(|item| is_it(item)) {
        Some(IcalItem::Prop(there)) => put_text(there, uid),
        _ => {
            let mut line = text_line("RELATED-TO", uid);
            set_param(&mut line, "RELTYPE", Some("PARENT"));
            todo.push_line(line);
        }
    }
}
