//! The task lists that an account begins with. Days count from the day on which the account is made.

use std::sync::Arc;

use jiff::civil::Date;
use model::Instant;
use model::tasks::{ChecklistItem, Task, TaskList, TaskListRole, TaskStatus};
use serde::Deserialize;

use crate::document::Document;
use crate::seed::colleagues::PEOPLE;
use crate::state::State;
use crate::tasks::Todo;
use crate::times::{instant, local, shift, stored_zone};

const DAY_MS: i64 = 24 * 3_600_000;
const HOUR_MS: i64 = 3_600_000;

/// The tasks; parents are before their children.
const TASKS: &str = include_str!("todos.json");

/// A task of the file, with what depends on the day.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TaskSeed {
    list: String,
    id: String,
    /// The due day.
    due: Option<i64>,
    /// The day of the start.
    start: Option<i64>,
    /// Hours until the reminder.
    remind: Option<i64>,
    /// Titles of the checklist items; the first one is done.
    steps: Vec<String>,
    task: Task,
}

/// The lists, empty: the main one, and for the three a second one.
pub fn begin(state: &mut State, mail: &str, now_ms: i64) {
    let now = instant(now_ms);
    let base = TaskList { is_owner: true, ..TaskList::default() };
    let main = TaskList { name: "Tasks".to_owned(), role: Some(TaskListRole::Default), ..base.clone() };
    state.put_head::<Todo>(mail, Document::new("tasks", main, &now));
    if PEOPLE.iter().any(|person| person.mail == mail) {
        let color = Some("#16a34a".to_owned());
        let personal = TaskList { name: "Personal".to_owned(), color, sort_order: 1, ..base };
        state.put_head::<Todo>(mail, Document::new("personal", personal, &now));
    }
}

/// Fills the task lists of the three.
pub fn fill(state: &mut State, mail: &str, now_ms: i64) {
    let Some(person) = PEOPLE.iter().find(|person| person.mail == mail) else { return };
    let today = local(now_ms, &stored_zone(person.zone)).date();
    let seeds: Vec<TaskSeed> = serde_json::from_str(TASKS).unwrap_or_default();
    for (number, seed) in seeds.into_iter().enumerate() {
        let (list, id) = (seed.list.clone(), seed.id.clone());
        let body = build_task(seed, number, person.zone, today, now_ms);
        let (created_at, updated_at) = (instant(now_ms - 20 * DAY_MS), instant(now_ms));
        state.put(mail, &list, now_ms, Arc::new(Document { id, body, created_at, updated_at }));
    }
}

fn build_task(seed: TaskSeed, number: usize, zone: &str, today: Date, now_ms: i64) -> Task {
    let day = |days: i64| shift(today, days).to_string();
    let yesterday = Instant::from_millis(now_ms - DAY_MS);
    let step = |(number, title): (usize, String)| ChecklistItem {
        id: format!("step-{}", number + 1),
        title,
        checked: number == 0,
        checked_at: (number == 0).then_some(yesterday),
        position: Some(format!("{number:03}")),
        created_at: Instant::from_millis(now_ms - 20 * DAY_MS),
        ..ChecklistItem::default()
    };
    let mut task = seed.task;
    task.percent_complete = match task.status {
        TaskStatus::InProgress => Some(40),
        TaskStatus::Completed => Some(100),
        _ => None,
    };
    task.start_date = seed.start.map(day);
    task.due_date = seed.due.map(day);
    task.time_zone = task.due_time.as_ref().map(|_| zone.to_owned());
    let done_ms = now_ms + seed.due.unwrap_or_default().min(0) * DAY_MS - HOUR_MS;
    task.completed_at = (task.status == TaskStatus::Completed).then(|| Instant::from_millis(done_ms));
    task.reminder_at = seed.remind.map(|hours| Instant::from_millis(now_ms + hours * HOUR_MS));
    task.position = Some(format!("{number:03}"));
    task.checklist_items = seed.steps.into_iter().enumerate().map(step).collect();
    for link in &mut task.links {
        link.created_at = yesterday;
    }
    task
}
