//! Task lists, tasks, steps and links through the sandbox connector.

use std::sync::atomic::Ordering;

use connector_sandbox::Sandbox;
use connector_sdk::{Outcome, Tasks as _, code};
use model::tasks::{
    Assignee, ChecklistItem, LinkedType, NotesFormat, Task, TaskLink, TaskList, TaskListRole, TaskPriority,
    TaskStatus,
};
use model::wire::tasks::{PartWrite, TasksFeatures};
use model::wire::{ChangesRequest, CollectionDelete, CollectionWrite, ItemWrite, Mutated, Source, SourceRef};
use serde_json::json;

use crate::sandbox_connector::{Api, at, fields, refused};

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn task(source: &Source) -> Task {
    source.items[0].body.read().unwrap()
}

fn write(task: &Task, of: Option<&Source>, changed: &[&str]) -> ItemWrite<Task> {
    ItemWrite {
        collection: "tasks".to_owned(),
        source: of.map(|source| source.external_id.clone()),
        body: task.clone(),
        changed: changed.iter().map(|name| (*name).to_owned()).collect(),
        if_match: of.and_then(|source| source.etag.clone()),
        ..ItemWrite::default()
    }
}

fn part<T: Default>(of: &Source, part: Option<&str>, body: T, changed: &[&str]) -> PartWrite<T> {
    PartWrite {
        collection: "tasks".to_owned(),
        source: of.external_id.clone(),
        part: part.map(str::to_owned),
        body,
        changed: changed.iter().map(|name| (*name).to_owned()).collect(),
        if_match: of.etag.clone(),
    }
}

impl Api {
    fn create_task(&self, task: &Task, key: &str) -> Outcome<Mutated> {
        Sandbox::create_task(&self.context().keyed(key), write(task, None, &[]))
    }

    fn todo(&self, source: &str) -> Source {
        let args = SourceRef { collection: "tasks".to_owned(), source: source.to_owned(), time_zone: None };
        Sandbox::get_task(&self.context(), args).unwrap().sources.remove(0)
    }
}

fn paint() -> Task {
    Task { title: "Paint the fence".to_owned(), ..Task::default() }
}

fn full_task() -> Task {
    Task {
        parent_id: text("launch-plan"),
        title: "Paint the 柵".to_owned(),
        notes: text("<p>white</p>"),
        notes_format: NotesFormat::Html,
        status: TaskStatus::Waiting,
        priority: Some(TaskPriority::High),
        percent_complete: Some(35),
        start_date: text("2026-03-11"),
        due_date: text("2026-03-12"),
        due_time: text("17:30"),
        time_zone: text("America/New_York"),
        reminder_at: Some(at("2026-03-12T12:00:00Z")),
        recurrence: vec!["RRULE:FREQ=YEARLY".to_owned(), "EXDATE;VALUE=DATE:20270312".to_owned()],
        categories: vec!["garden".to_owned(), "home".to_owned()],
        assignees: vec![Assignee { email: text("bob@sandbox.test"), name: text("Bob") }],
        position: text("0|hzzz"),
        ..Task::default()
    }
}

/// Every field that a client can set comes back as sent, on create and on update, and can be removed again.
#[test]
fn every_field_of_a_task() {
    let api = Api::start();
    let sent = full_task();
    let made = api.create_task(&sent, "t1").unwrap();
    let got = task(&made.sources[0]);
    let expected =
        Task { task_list_id: got.task_list_id.clone(), web_url: got.web_url.clone(), ..sent.clone() };
    assert_eq!(got, expected);
    assert_eq!(json!(got)["taskListId"], "tasks");
    assert!(got.web_url.is_some());
    assert_eq!(task(&api.todo(&made.sources[0].external_id)), expected);
    assert_eq!(made.item.as_ref(), Some(&made.sources[0].external_id));
    let names = fields(&json!(sent));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let other = api.create_task(&paint(), "t2").unwrap().sources.remove(0);
    let changed = Sandbox::update_task(&api.context(), write(&sent, Some(&other), &names)).unwrap();
    let mut now = changed.sources[0].clone();
    assert_eq!(task(&now), Task { web_url: task(&now).web_url, ..expected });
    // Each field by itself: the others stay unchanged.
    for name in names {
        let keep = Sandbox::update_task(&api.context(), write(&paint(), Some(&now), &[])).unwrap();
        assert_eq!(keep.sources[0], now, "nothing is changed where nothing is named");
        let mut expected = serde_json::to_value(task(&now)).unwrap();
        let after = Sandbox::update_task(&api.context(), write(&paint(), Some(&now), &[name])).unwrap();
        now = after.sources[0].clone();
        let shown = serde_json::to_value(task(&now)).unwrap();
        if !["taskListId", "webUrl"].contains(&name) {
            expected[name] = serde_json::to_value(paint()).unwrap()[name].clone();
        }
        if name == "dueDate" {
            expected["dueTime"] = json!(null);
        }
        assert_eq!(shown, expected, "{name}");
    }
    let bare = Task { task_list_id: got.task_list_id, web_url: task(&now).web_url, ..paint() };
    assert_eq!(task(&now), bare);
}

#[test]
fn lists() {
    let api = Api::start();
    let sent =
        TaskList { name: "Side".to_owned(), color: text("#aabbcc"), sort_order: 7, ..TaskList::default() };
    let args = CollectionWrite { body: sent.clone(), ..CollectionWrite::default() };
    let made = Sandbox::create_list(&api.context().keyed("l1"), args.clone()).unwrap();
    let body = |source: &Source| source.items[0].body.read::<TaskList>().unwrap();
    let expected = TaskList { is_owner: true, task_count: Some(0), open_count: Some(0), ..sent };
    assert_eq!(body(&made.sources[0]), expected);
    assert_eq!(Sandbox::create_list(&api.context().keyed("l1"), args).unwrap(), made);
    let args = CollectionWrite {
        source: made.item.clone(),
        body: TaskList { name: "Aside".to_owned(), ..TaskList::default() },
        changed: vec!["name".to_owned(), "color".to_owned()],
        if_match: made.sources[0].etag.clone(),
    };
    let changed = Sandbox::update_list(&api.context(), args.clone()).unwrap();
    let expected = TaskList { name: "Aside".to_owned(), color: None, ..expected };
    assert_eq!(body(&changed.sources[0]), expected);
    refused(Sandbox::update_list(&api.context(), args), code::CONFLICT);
    let listed = Sandbox::list_lists(&api.context(), ChangesRequest::default()).unwrap().body;
    assert!(listed.enumeration && listed.sources.contains(&changed.sources[0]));
    let main = body(&listed.sources[0]);
    assert_eq!(
        (main.role, main.task_count, main.open_count),
        (Some(TaskListRole::Default), Some(17), Some(14))
    );
    let mut gone = CollectionDelete { source: made.item.unwrap(), ..CollectionDelete::default() };
    for _ in 0..2 {
        assert!(Sandbox::delete_list(&api.context(), gone.clone()).unwrap().sources[0].deleted);
    }
    gone.source = "tasks".to_owned();
    let failure = refused(Sandbox::delete_list(&api.context(), gone), code::CONFLICT);
    assert_eq!(*failure.detail.unwrap(), json!({ "reason": "invalid_state" }));
    let features = Sandbox::features(&api.context()).unwrap();
    let TasksFeatures { push, ref delta, .. } = features;
    assert_eq!((push, delta.as_str()), (false, "syncToken"));
    let told = serde_json::to_value(features).unwrap();
    let others =
        told.as_object().unwrap().iter().filter(|(name, _)| !["push", "delta"].contains(&name.as_str()));
    assert!(others.map(|(_, is)| is).all(|is| *is == true));
}

#[test]
fn steps() {
    let api = Api::start();
    let made = api.create_task(&paint(), "t").unwrap().sources.remove(0);
    let body = ChecklistItem { title: "Sand".to_owned(), position: text("b"), ..ChecklistItem::default() };
    let args = part(&made, None, body.clone(), &[]);
    let with = Sandbox::create_step(&api.context().keyed("s1"), args.clone()).unwrap();
    assert_eq!(Sandbox::create_step(&api.context().keyed("s1"), args.clone()).unwrap(), with);
    let id = with.part.clone().unwrap();
    let now = with.sources[0].clone();
    assert_eq!(with.item.as_ref(), Some(&made.external_id));
    let expected = ChecklistItem {
        id: id.clone(),
        task_id: made.external_id.clone(),
        created_at: at("2026-03-10T07:00:00Z"),
        etag: now.etag.clone().unwrap(),
        ..body
    };
    assert_eq!(task(&now).checklist_items, vec![expected.clone()]);
    // After the provider has forgotten the key, the id of the step identifies it; the task is returned in its current state.
    api.now_ms.fetch_add(2 * 24 * 3_600_000, Ordering::Relaxed);
    let late = PartWrite { if_match: None, ..args.clone() };
    let again = Sandbox::create_step(&api.context().keyed("s1"), late).unwrap();
    assert_eq!((again.part.as_ref(), &again.sources), (Some(&id), &with.sources));
    refused(Sandbox::create_step(&api.context().keyed("s2"), args), code::CONFLICT);

    let done = ChecklistItem { checked: true, title: "never".to_owned(), ..expected.clone() };
    let args = part(&now, Some(&id), done, &["checked"]);
    let checked = Sandbox::update_step(&api.context(), args.clone()).unwrap();
    let now = checked.sources[0].clone();
    let step = task(&now).checklist_items.remove(0);
    let stamp = Some(at("2026-03-12T07:00:00Z"));
    let etag = now.etag.clone().unwrap();
    assert_eq!(step, ChecklistItem { checked: true, checked_at: stamp, etag, ..expected });
    assert_eq!(checked.part.as_ref(), Some(&id));
    refused(Sandbox::update_step(&api.context(), args), code::CONFLICT);
    let unknown = part(&now, Some("other"), step.clone(), &["title"]);
    refused(Sandbox::update_step(&api.context(), unknown), code::NOT_FOUND);
    refused(Sandbox::update_step(&api.context(), part(&now, None, step, &["title"])), code::INVALID);

    let args = PartWrite { if_match: None, ..part(&now, Some(&id), ChecklistItem::default(), &[]) };
    let gone = Sandbox::delete_step(&api.context(), args.clone()).unwrap();
    assert_eq!((task(&gone.sources[0]).checklist_items, gone.part), (Vec::new(), None));
    assert_eq!(
        Sandbox::delete_step(&api.context(), args.clone()).unwrap().sources,
        gone.sources,
        "gone is gone"
    );
    let nowhere = PartWrite { source: "nowhere".to_owned(), ..args };
    refused(Sandbox::delete_step(&api.context(), nowhere), code::NOT_FOUND);
}

#[test]
fn links() {
    let api = Api::start();
    let mut now = api.create_task(&paint(), "t").unwrap().sources.remove(0);
    let kinds = [LinkedType::EmailMessage, LinkedType::CalendarEvent, LinkedType::Contact, LinkedType::Url];
    for (number, kind) in kinds.into_iter().enumerate() {
        let sent = TaskLink {
            url: text("https://x.example"),
            title: text("the page"),
            application_name: text("Wiki"),
            external_id: text("<m@x>"),
            resource_type: kind,
            resource_id: text("em_1"),
            ..TaskLink::default()
        };
        let args = part(&now, None, sent.clone(), &[]);
        let key = format!("l{number}");
        let with = Sandbox::create_link(&api.context().keyed(&key), args.clone()).unwrap();
        assert_eq!(Sandbox::create_link(&api.context().keyed(&key), args).unwrap(), with);
        let (id, task_id) = (with.part.clone().unwrap(), now.external_id.clone());
        now = with.sources[0].clone();
        let created_at = at("2026-03-10T07:00:00Z");
        assert_eq!(task(&now).links[number], TaskLink { id, task_id, created_at, ..sent });
    }
    let id = task(&now).links[1].id.clone();
    let args = part(&now, Some(&id), TaskLink::default(), &[]);
    let gone = Sandbox::delete_link(&api.context().keyed("d"), args.clone()).unwrap();
    assert_eq!(task(&gone.sources[0]).links.len(), 3);
    assert_eq!(Sandbox::delete_link(&api.context().keyed("d"), args.clone()).unwrap(), gone);
    refused(Sandbox::delete_link(&api.context(), args), code::CONFLICT);
    // A task that is written keeps its parts.
    let args = write(&paint(), Some(&gone.sources[0]), &["title", "links", "checklistItems"]);
    assert_eq!(task(&Sandbox::update_task(&api.context(), args).unwrap().sources[0]).links.len(), 3);
}

/// The provider's message says what to fix.
#[test]
fn a_rejected_task() {
    let wrong = Task { due_time: text("09:00"), ..paint() };
    let failure = refused(Api::start().create_task(&wrong, "w"), code::INVALID);
    assert_eq!(failure.message, "the provider rejected creating the task: a time without a day is never due");
}
