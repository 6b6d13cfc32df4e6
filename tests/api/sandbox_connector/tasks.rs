//! Tasks and their steps through the sandbox connector.

use std::sync::atomic::Ordering;

use connector_sandbox::Sandbox;
use connector_sdk::{Outcome, Tasks as _, code};
use model::tasks::{ChecklistItem, Task};
use model::wire::tasks::PartWrite;
use model::wire::{ItemWrite, Mutated, Source};
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
}

fn paint() -> Task {
    Task { title: "Paint the fence".to_owned(), ..Task::default() }
}

/// Every field that a client can set comes back as sent, on create and on update.
#[test]
fn every_field_of_a_task() {
    let api = Api::start();
    let sent = json!({
        "parentId": "launch-plan", "title": "Paint the 柵", "notes": "<p>white</p>", "notesFormat": "html", "status": "waiting",
        "priority": "high", "percentComplete": 35, "startDate": "2026-03-11", "dueDate": "2026-03-12", "dueTime": "17:30",
        "timeZone": "America/New_York", "reminderAt": "2026-03-12T12:00:00Z", "position": "0|hzzz", "categories": ["garden", "home"],
        "recurrence": ["RRULE:FREQ=YEARLY", "EXDATE;VALUE=DATE:20270312"], "assignees": [{ "email": "bob@sandbox.test", "name": "Bob" }],
    });
    let sent: Task = serde_json::from_value(sent).unwrap();
    let made = api.create_task(&sent, "t1").unwrap();
    let got = task(&made.sources[0]);
    assert!(got.web_url.is_some());
    let expected = Task { task_list_id: text("tasks"), web_url: got.web_url.clone(), ..sent.clone() };
    assert_eq!(got, expected);
    assert_eq!(made.item.as_ref(), Some(&made.sources[0].external_id));
    let names = fields(&json!(sent));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let other = api.create_task(&paint(), "t2").unwrap().sources.remove(0);
    let changed = Sandbox::update_task(&api.context(), write(&sent, Some(&other), &names)).unwrap();
    let now = task(&changed.sources[0]);
    assert_eq!(now, Task { web_url: now.web_url.clone(), ..expected });
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
