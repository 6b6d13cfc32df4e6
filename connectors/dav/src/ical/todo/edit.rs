//! A task as the text of a resource: a new one, or a change of the one that is there.

use connector_sdk::{Failure, Outcome, code};
use ical::tree::cst::IcalCst;
use model::Instant;
use model::tasks::Task;
use model::wire::Warning;
use serde_json::json;

use crate::collection::changed::FieldSet;
use crate::ical::lines::{components, components_mut, set_text};
use crate::ical::people::organizes;
use crate::ical::resource::{self, define_zones, is_exception, keep_one, print, touch};
use crate::ical::time::utc_line;
use crate::ical::todo::read::select;
use crate::ical::todo::reader::{NAME, TodoReader};
use crate::ical::todo::write::{TodoWriter, is_significant};

/// How tasks are written.
pub struct TodoEditor<'c> {
    pub reader: &'c TodoReader,
    pub now: Instant,
    /// A field that cannot be kept is a failure, not a warning.
    pub strict: bool,
}

/// The text to store.
#[derive(Debug, Default)]
pub struct EditedTodo {
    pub text: String,
    pub warnings: Vec<Warning>,
}

impl TodoEditor<'_> {
    /// A new resource.
    pub fn create(&self, uid: &str, task: &Task, changed: &[String]) -> Outcome<EditedTodo> {
        let mut calendar = resource::empty();
        let template = calendar.clone();
        let mut writer = TodoWriter::new(self.reader, &template, self.now);
        let mut todo = IcalCst::empty(NAME);
        set_text(&mut todo, "UID", Some(uid));
        touch(&mut todo, self.now, false);
        todo.push_line(utc_line("CREATED", self.now));
        // Clients sort and filter by STATUS without knowing what a missing one means.
        let mut changed = changed.to_vec();
        changed.push("status".into());
        writer.apply(&mut todo, task, &FieldSet(&changed))?;
        writer.base.match_start(&mut todo, None);
        calendar.push_component(todo);
        self.finish(calendar, writer)
    }

    /// Returns the resource with the changed task. Everything outside the changed fields stays as it is.
    pub fn update(&self, text: &str, task: &Task, changed: &[String]) -> Outcome<EditedTodo> {
        let unreadable =
            |reason: &str| Failure::invalid(format!("the task at the provider cannot be read: {reason}"));
        let original = resource::parse(text).map_err(|reason| unreadable(&reason))?;
        let changed = FieldSet(changed);
        let mut calendar = original.clone();
        let mut writer = TodoWriter::new(self.reader, &original, self.now);
        let clock = self.reader.base.clock(&original);
        let selection = select(&original, &clock);
        let has_exceptions = components(&original, NAME).any(is_exception);
        let at = selection.task().ok_or_else(|| unreadable("it has no VTODO"))?;
        // Copies go: the change would make one of them the newest, or not, as their clocks stand.
        let at = keep_one(&mut calendar, NAME, at, selection.copies_of_task());
        let todo =
            components_mut(&mut calendar, NAME).nth(at).ok_or_else(|| unreadable("it has no VTODO"))?;
        let start = self.reader.times(todo, &clock).start;
        let (before, was) = (self.reader.recurring(todo, &clock), todo.clone());
        writer.apply(todo, task, &changed)?;
        touch(todo, self.now, is_significant(&changed) && organizes(todo, &self.reader.base.selves));
        let moved = changed.has("recurrence") || start != self.reader.times(todo, &clock).start;
        if moved && has_exceptions {
            let why = "changed instances of this recurring task stay as they were";
            writer.base.warn("exceptions_kept", why, "recurrence");
        }
        if let Some(before) = &before {
            writer.carry_dates(todo, before, !changed.has("recurrence"))?;
        }
        // Behind that, because a date without a zone means another instant in the form of the new start.
        writer.base.match_start(todo, Some(&was));
        self.finish(calendar, writer)
    }

    fn finish(&self, mut calendar: IcalCst, writer: TodoWriter) -> Outcome<EditedTodo> {
        let warnings = writer.base.warnings;
        let lost = warnings.iter().find(|warning| warning.code == "field_not_supported");
        if let Some(warning) = lost.filter(|_| self.strict) {
            let failure = Failure::new(code::UNSUPPORTED, warning.message.clone());
            return Err(failure.with_detail(json!({ "field": warning.target })));
        }
        define_zones(&mut calendar, &writer.base.zones);
        Ok(EditedTodo { text: print(&calendar), warnings })
    }
}
