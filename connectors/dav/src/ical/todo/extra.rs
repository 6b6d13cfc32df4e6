//! The properties of a to-do that `Task` has no field for, as `providerData`.

use ical::tree::cst::IcalCst;
use model::tasks::{NotesFormat, Task, TaskStatus};
use serde_json::{Map, Value, json};

use crate::ical::extra::{contents, place, read_extra, texts};
use crate::ical::lines::{components, keyword, line, line_text};
use crate::ical::resource::is_exception;
use crate::ical::todo::reader::NAME;
use crate::ical::todo::times::{TodoTimes, TodoZone};

/// X- properties that a field of the model says.
const SAID: [&str; 2] = ["X-ALT-DESC", "X-APPLE-SORT-ORDER"];

/// None if there is nothing to add. `task` is the to-do as it was read.
pub fn extra(calendar: &IcalCst, todo: &IcalCst, times: &TodoTimes, task: &Task) -> Option<Value> {
    let mut data = Map::new();
    // Five steps, or nine, are more than the model's three.
    let more =
        [("PRIORITY", "priority"), ("LOCATION", "location"), ("GEO", "geo"), ("ORGANIZER", "organizer")];
    texts(todo, &mut data, &more);
    read_extra(todo, &mut data);
    if task.web_url.is_none() {
        texts(todo, &mut data, &[("URL", "url")]);
    }
    if task.notes_format == NotesFormat::Html {
        texts(todo, &mut data, &[("DESCRIPTION", "description")]);
    }
    if task.status != TaskStatus::Completed {
        texts(todo, &mut data, &[("COMPLETED", "completed")]);
    }
    let known = ["NEEDS-ACTION", "IN-PROCESS", "COMPLETED", "CANCELLED"];
    if let Some(status) = keyword(todo, "STATUS").filter(|status| !known.contains(&status.as_str())) {
        data.insert("status".into(), json!(status));
    }
    if let Some((time, zone)) = times.start.as_ref().and_then(|start| start.time.as_ref()) {
        data.insert("startTime".into(), json!(time.to_string()));
        if let TodoZone::Zone { name, .. } = zone {
            data.insert("startTimeZone".into(), json!(name));
        }
    }
    if let Some(time) = line(todo, "DUE").or_else(|| line(todo, "DTSTART")) {
        place(time, &mut data);
    }
    if times.due.is_some() && line(todo, "DUE").is_none() {
        texts(todo, &mut data, &[("DURATION", "duration")]);
    }
    for (property, name, read) in
        [("DTSTART", "unreadableStart", &times.start), ("DUE", "unreadableDue", &times.due)]
    {
        if let Some(line) = line(todo, property).filter(|_| read.is_none()) {
            data.insert(name.into(), json!(line_text(line)));
        }
    }
    let alarms = components(todo, "VALARM").count();
    if alarms > usize::from(task.reminder_at.is_some()) {
        data.insert("alarms".into(), json!(alarms));
    }
    contents(todo, &mut data, if task.position.is_some() { &SAID } else { &SAID[..1] });
    let exceptions = components(calendar, NAME).filter(|todo| is_exception(todo)).count();
    if exceptions > 0 {
        data.insert("exceptions".into(), json!(exceptions));
    }
    (!data.is_empty()).then_some(Value::Object(data))
}
