//! Validation of tasks: bounds and formats of the fields that a client may write, before the provider is called; errors name their field.

use base::error::{Code, Result, invalid};
use base::input::validate::{self, fault};
use model::bounds::task::MAX_ENTRIES;
use model::bounds::{MAX_LABEL, MAX_LINE, MAX_TEXT};
use model::tasks::{Assignee, Task};

/// Checks the fields of a task that `changed` names, and the title of a new one. List entries that it had `before` are not checked.
pub fn valid(task: &Task, changed: &[String], before: Option<&Task>) -> Result<()> {
    let is_new = |field: &str| changed.iter().any(|f| f == field);
    if before.is_none() || is_new("title") {
        title("title", &task.title)?;
    }
    let nothing = Task::default();
    let before = before.unwrap_or(&nothing);
    if is_new("notes") {
        validate::text("notes", task.notes.as_deref(), MAX_TEXT)?;
    }
    if task.percent_complete.is_some_and(|n| !(0..=100).contains(&n)) && is_new("percentComplete") {
        return Err(fault("percentComplete", "must be from 0 to 100"));
    }
    times(task, &is_new)?;
    if is_new("recurrence") {
        validate::recurrence(&task.recurrence, task.due_time.is_none())?;
    }
    if is_new("categories") {
        validate::length("categories", task.categories.len(), MAX_ENTRIES.max(before.categories.len()))?;
        for (i, category) in validate::added(&task.categories, &before.categories) {
            let field = format!("categories[{i}]");
            if category.trim().is_empty() {
                return Err(fault(&field, "must not be empty"));
            }
            validate::text(&field, Some(category), MAX_LABEL)?;
        }
    }
    if is_new("assignees") {
        assignees(&task.assignees, &before.assignees)?;
    }
    if is_new("position") {
        validate::text("position", task.position.as_deref(), MAX_LABEL)?;
    }
    Ok(())
}

/// Checks the title of a task, step or link: 1 to 1,024 characters.
pub fn title(field: &str, title: &str) -> Result<()> {
    if title.trim().is_empty() {
        return Err(invalid(Code::MissingField, field, format!("{field} is required")));
    }
    validate::text(field, Some(title), MAX_LINE)
}

fn times(task: &Task, is_new: &impl Fn(&str) -> bool) -> Result<()> {
    let date = |field: &'static str, value: &Option<String>| match value.as_deref().filter(|_| is_new(field))
    {
        Some(text) => validate::date(field, text).map(|_| ()),
        None => Ok(()),
    };
    date("startDate", &task.start_date)?;
    date("dueDate", &task.due_date)?;
    if let Some(zone) = task.time_zone.as_deref().filter(|_| is_new("timeZone")) {
        validate::zone("timeZone", zone)?;
    }
    if let Some(time) = task.due_time.as_deref() {
        if is_new("dueTime") && !is_clock_time(time) {
            return Err(fault("dueTime", "must be a time of day such as 09:30, from 00:00 to 23:59"));
        }
        if task.due_date.is_none() && (is_new("dueTime") || is_new("dueDate")) {
            return Err(invalid(Code::MissingField, "dueDate", "dueDate is required with dueTime"));
        }
    }
    if let Some(at) = task.reminder_at.filter(|_| is_new("reminderAt")) {
        validate::year_of("reminderAt", at)?;
    }
    // Dates of this form sort as text.
    if let (Some(start), Some(due)) = (&task.start_date, &task.due_date)
        && (is_new("startDate") || is_new("dueDate"))
        && start > due
    {
        let field = if is_new("startDate") { "startDate" } else { "dueDate" };
        return Err(invalid(Code::InvalidTimeRange, field, "startDate must not be after dueDate"));
    }
    Ok(())
}

/// `HH:MM`.
fn is_clock_time(text: &str) -> bool {
    let part = |range, max: u8| {
        let digits: Option<&str> = text.get(range);
        digits
            .is_some_and(|d| d.bytes().all(|b| b.is_ascii_digit()) && d.parse::<u8>().is_ok_and(|n| n <= max))
    };
    text.len() == 5 && text.as_bytes()[2] == b':' && part(0..2, 23) && part(3..5, 59)
}

fn assignees(assignees: &[Assignee], had: &[Assignee]) -> Result<()> {
    validate::length("assignees", assignees.len(), MAX_ENTRIES.max(had.len()))?;
    for (i, person) in validate::added(assignees, had) {
        let at = |name: &str| format!("assignees[{i}].{name}");
        match &person.email {
            Some(email) => validate::address(&at("email"), email)?,
            None if person.name.as_deref().is_none_or(|n| n.trim().is_empty()) => {
                let message = format!("{} or {} is required", at("email"), at("name"));
                return Err(invalid(Code::MissingField, at("email"), message));
            }
            None => {}
        }
        validate::text(&at("name"), person.name.as_deref(), MAX_LABEL)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_clock_time;

    #[test]
    fn a_time_of_day_is_two_numbers() {
        for good in ["00:00", "09:30", "23:59"] {
            assert!(is_clock_time(good), "{good}");
        }
        for bad in ["", "9:30", "24:00", "12:60", "12-30", "1é:30", "+1:30", "12:30:00"] {
            assert!(!is_clock_time(bad), "{bad}");
        }
    }
}
