//! VTODO → `Task`.

use ical::tree::cst::IcalCst;
use ical::tree::line::IcalLine;
use model::tasks::{NotesFormat, Task};
use model::wire::{Item, ItemError, JsonText};

use crate::ical::categories::categories;
use crate::ical::ignored;
use crate::ical::lines::{components, line, line_text, lines, param, text};
use crate::ical::notes::description_html;
use crate::ical::resource::parse;
use crate::ical::rules::recurrence_lines;
use crate::ical::select::Selection;
use crate::ical::time::Clock;
use crate::ical::todo::people::assignees;
use crate::ical::todo::reader::NAME;
use crate::ical::todo::reminder::reminder;
use crate::ical::todo::{extra, state};
use crate::ical::zone_warnings;

pub use crate::ical::todo::reader::TodoReader;

/// Digits of a position: what a non-negative number of 64 bits can have, so that positions sort as text.
const POSITION_DIGITS: usize = 19;

impl TodoReader {
    /// The task of a resource, under `external_id`. Empty where the resource has no VTODO.
    pub fn items(&self, external_id: &str, data: &str) -> Result<Vec<Item>, ItemError> {
        let unreadable = |message: String| ItemError { code: "unreadable".into(), message };
        let calendar = parse(data).map_err(unreadable)?;
        let clock = self.base.clock(&calendar);
        let selection = select(&calendar, &clock);
        let Some(todo) = selection.task().and_then(|at| components(&calendar, NAME).nth(at)) else {
            return Ok(Vec::new());
        };
        let task = self.task(todo, &clock);
        let ignored = ignored::for_main(selection.copies_of_task().len(), selection.foreign, "task");
        let item = Item {
            external_id: external_id.to_owned(),
            uid: text(todo, "UID"),
            body: JsonText::of(&task).map_err(|error| unreadable(error.to_string()))?,
            provider_data: extra::extra(&calendar, todo, &self.times(todo, &clock), &task),
            warnings: ignored.into_iter().chain(zone_warnings::warnings(todo, &clock)).collect(),
            ..Item::default()
        };
        Ok(vec![item])
    }

    /// One VTODO. Nothing in it can keep it from being a task.
    pub fn task(&self, todo: &IcalCst, clock: &Clock) -> Task {
        let times = self.times(todo, clock);
        let html = description_html(todo);
        let time = times.due.as_ref().and_then(|due| due.time.as_ref());
        Task {
            parent_id: parent(todo),
            title: text(todo, "SUMMARY").unwrap_or_default(),
            notes_format: if html.is_some() { NotesFormat::Html } else { NotesFormat::Text },
            notes: html.or_else(|| text(todo, "DESCRIPTION")),
            status: state::status(todo),
            priority: state::priority(todo),
            percent_complete: state::percent(todo),
            start_date: times.start.as_ref().map(|start| start.date.to_string()),
            due_date: times.due.as_ref().map(|due| due.date.to_string()),
            due_time: time.map(|(time, _)| time.strftime("%H:%M").to_string()),
            time_zone: time.and_then(|(_, place)| self.zone(place)).map(str::to_owned),
            completed_at: state::completed_at(todo, clock),
            reminder_at: reminder(todo, &times, clock),
            recurrence: recurrence_lines(todo, clock),
            categories: categories(todo),
            assignees: assignees(todo, &self.base.selves),
            position: position(todo),
            has_attachments: line(todo, "ATTACH").is_some(),
            web_url: web_url(todo),
            ..Task::default()
        }
    }
}

/// Selects the resource's to-dos that count; no property of one can keep it from being a task.
pub fn select(calendar: &IcalCst, clock: &Clock) -> Selection {
    Selection::from_calendar(calendar, NAME, clock, &|_| true)
}

impl Selection {
    /// The to-do that a resource is about: the one that is no exception. Where there are exceptions only, because the rest is not
    /// the account's (RFC 4791 section 4.1), the first of them.
    pub fn task(&self) -> Option<usize> {
        let exception = || self.exceptions.first().and_then(|exception| exception.at);
        self.main.or_else(exception).or(self.unknown.first().copied())
    }

    /// Returns the other components for the same task.
    pub fn copies_of_task(&self) -> &[usize] {
        match (self.main, self.exceptions.first()) {
            (None, Some(exception)) => &exception.superseded,
            _ => &self.superseded,
        }
    }
}

/// The UID of the to-do that this one is a part of (RFC 5545 section 3.8.4.5).
pub fn parent(todo: &IcalCst) -> Option<String> {
    let line = lines(todo, "RELATED-TO").find(|line| is_parent(line))?;
    Some(line_text(line)).filter(|uid| !uid.trim().is_empty())
}

/// Whether a RELATED-TO names the parent: it does where it says nothing else.
pub fn is_parent(line: &IcalLine) -> bool {
    param(line, "RELTYPE").is_none_or(|kind| kind.eq_ignore_ascii_case("PARENT"))
}

/// X-APPLE-SORT-ORDER as text that sorts like the number. Negative ones have no such text.
pub fn position(todo: &IcalCst) -> Option<String> {
    let order: i64 = line(todo, "X-APPLE-SORT-ORDER")?.raw_value_str().trim().parse().ok()?;
    (order >= 0).then(|| format!("{order:0POSITION_DIGITS$}"))
}

/// URL where it leads to a page; other clients keep links into their own programs there.
fn web_url(todo: &IcalCst) -> Option<String> {
    let line = line(todo, "URL")?;
    let url = line.raw_value_str().trim().to_owned();
    let scheme = url.split(':').next().unwrap_or_default().to_ascii_lowercase();
    matches!(scheme.as_str(), "http" | "https").then_some(url)
}
