//! Task lists and tasks: as the model has them, and written as Graph gets them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod calendar_support;

use connector_microsoft::Microsoft;
use connector_sdk::testing::Recorded;
use connector_sdk::{Context, Outcome, Tasks, code};
use model::tasks::{
    ChecklistItem, LinkedType, NotesFormat, Task, TaskLink, TaskList, TaskListRole, TaskPriority, TaskStatus,
};
use model::wire::tasks::PartWrite;
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, Connection, ItemDelete, ItemWrite, Mutated, Source,
    SourceRef,
};
use serde_json::{Value, json};

use crate::calendar_support::{Call, Calls, graph};

const LISTS: &str = "/me/todo/lists";
const TASKS: &str = "/me/todo/lists/l1/tasks";
const EXPAND: &str = "?$expand=checklistItems,linkedResources";
const WEST_EUROPE: &str = "W. Europe Standard Time";
/// 2026-03-01T08:00:00Z.
const NOW_MS: i64 = 1_772_352_000_000;

fn context(provider: &Recorded) -> Context<'_> {
    provider.surroundings.now_ms.set(NOW_MS);
    let settings = json!({ "timeZone": "Europe/Berlin" });
    let settings = settings.as_object().unwrap().clone();
    Context::new(provider, Connection { settings, ..Connection::default() }).keyed("key-1")
}

fn error(status: u16, name: &str) -> (u16, Value) {
    (status, json!({ "error": { "code": name, "message": "no" } }))
}

fn utc(text: &str) -> Value {
    json!({ "dateTime": format!("{text}.0000000"), "timeZone": "UTC" })
}

/// A task at Graph: due on 11 March in Berlin.
fn stored() -> Value {
    json!({
        "@odata.etag": "W/\"1\"", "id": "t1", "title": "Plan", "status": "inProgress", "importance": "high", "isReminderOn": true,
        "reminderDateTime": utc("2026-03-11T08:15:00"), "dueDateTime": utc("2026-03-10T23:00:00"), "categories": ["Red"],
        "createdDateTime": "2026-03-01T08:00:00Z", "lastModifiedDateTime": "2026-03-01T09:00:00.1234567Z", "hasAttachments": true,
        "body": { "content": "notes", "contentType": "text" },
        "checklistItems": [{ "id": "c1", "displayName": "First", "isChecked": true, "checkedDateTime": "2026-03-01T09:00:00Z", "createdDateTime": "2026-03-01T08:00:00Z" }],
        "linkedResources": [
            { "id": "r1", "webUrl": "https://example.test", "applicationName": "App", "displayName": "Page", "externalId": "x" },
            { "id": "r2", "externalId": "switchboard:contact:con_1" },
        ],
    })
}

/// `one` with these members instead of its own.
fn with(mut one: Value, other: &Value) -> Value {
    one.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
    one
}

/// A list with one task, which takes what is written of it.
fn list(call: &Call) -> (u16, Value) {
    match call.method.as_str() {
        "DELETE" => (204, Value::Null),
        "POST" => (201, with(json!({ "id": "t1" }), &call.body)),
        "PATCH" => (200, json!({ "id": "t1" })),
        _ => (200, stored()),
    }
}

fn read(route: impl Fn(&Call) -> (u16, Value) + 'static) -> Outcome<Source> {
    let (provider, _) = graph(route);
    let args = SourceRef { collection: "l1".to_owned(), source: "t1".to_owned(), time_zone: None };
    <Microsoft as Tasks>::get_task(&context(&provider), args).map(|sources| sources.sources[0].clone())
}

fn task(source: &Source) -> Task {
    source.items[0].body.read().unwrap()
}

fn write(source: Option<&str>, changed: &[&str], body: Task) -> ItemWrite<Task> {
    ItemWrite {
        collection: "l1".to_owned(),
        source: source.map(str::to_owned),
        body,
        changed: changed.iter().map(ToString::to_string).collect(),
        ..ItemWrite::default()
    }
}

fn create(provider: &Recorded, args: ItemWrite<Task>) -> Outcome<Mutated> {
    <Microsoft as Tasks>::create_task(&context(provider), args)
}

fn update(provider: &Recorded, args: ItemWrite<Task>) -> Outcome<Mutated> {
    <Microsoft as Tasks>::update_task(&context(provider), args)
}

/// The first request that writes.
fn written(calls: &Calls) -> Call {
    calls.borrow().iter().find(|call| call.method != "GET").unwrap().clone()
}

/// The methods and paths of the requests, those of batches too.
fn steps(calls: &Calls) -> Vec<String> {
    let shown = |call: &Call| format!("{} {}", call.method, call.path.strip_prefix(LISTS).unwrap());
    calls.borrow().iter().map(shown).collect()
}

fn fields(mutated: &Mutated) -> Vec<&str> {
    mutated.warnings.iter().map(|warning| warning.target.as_deref().unwrap()).collect()
}

#[test]
fn each_member_of_a_task_has_a_field() {
    let source = read(|call| {
        assert_eq!(call.path, format!("{TASKS}/t1{EXPAND}"));
        (200, stored())
    })
    .unwrap();
    assert_eq!(source.etag.as_deref(), Some("2026-03-01T09:00:00.1234567Z"));
    let ours = task(&source);
    assert_eq!(
        (ours.title.as_str(), ours.notes.as_deref(), ours.notes_format),
        ("Plan", Some("notes"), NotesFormat::Text)
    );
    assert_eq!((ours.status, ours.priority), (TaskStatus::InProgress, Some(TaskPriority::High)));
    assert_eq!((ours.due_date.as_deref(), ours.due_time, ours.start_date), (Some("2026-03-11"), None, None));
    assert_eq!(ours.reminder_at.unwrap().to_string(), "2026-03-11T08:15:00.000Z");
    assert_eq!((ours.categories, ours.has_attachments), (vec!["Red".to_owned()], true));
    let [step] = &ours.checklist_items[..] else { panic!("{:?}", ours.checklist_items) };
    assert_eq!((step.id.as_str(), step.title.as_str(), step.checked), ("c1", "First", true));
    assert_eq!(step.checked_at.unwrap().to_string(), "2026-03-01T09:00:00.000Z");
    let [page, resource] = &ours.links[..] else { panic!("{:?}", ours.links) };
    assert_eq!((page.url.as_deref(), page.resource_type), (Some("https://example.test"), LinkedType::Url));
    assert_eq!(
        (resource.resource_id.as_deref(), resource.resource_type),
        (Some("con_1"), LinkedType::Contact)
    );
}

/// Graph has a state for each of ours but `cancelled`, and the time of completion is the midnight of a day.
#[test]
fn states_are_the_same() {
    let rows = [
        ("notStarted", TaskStatus::NeedsAction),
        ("inProgress", TaskStatus::InProgress),
        ("completed", TaskStatus::Completed),
        ("waitingOnOthers", TaskStatus::Waiting),
        ("deferred", TaskStatus::Deferred),
        ("tomorrow", TaskStatus::NeedsAction),
    ];
    for (name, status) in rows {
        let more =
            json!({ "status": name, "completedDateTime": utc("2026-03-02T00:00:00"), "isReminderOn": false });
        let ours = task(&read(move |_| (200, with(stored(), &more))).unwrap());
        let is_completed = status == TaskStatus::Completed;
        assert_eq!(
            (ours.status, ours.completed_at.is_some(), ours.reminder_at),
            (status, is_completed, None),
            "{name}"
        );
        assert_eq!(ours.percent_complete, is_completed.then_some(100));
        let (provider, calls) = graph(list);
        update(&provider, write(Some("t1"), &["status"], Task { status, ..Task::default() })).unwrap();
        let expected = if name == "tomorrow" { "notStarted" } else { name };
        assert_eq!(written(&calls).body, json!({ "status": expected }));
    }
}

#[test]
fn a_task_is_written_in_the_mailbox_zone() {
    let (provider, calls) = graph(list);
    let ours = Task {
        title: "Plan".to_owned(),
        notes: Some("<b>bold</b>".to_owned()),
        notes_format: NotesFormat::Html,
        priority: Some(TaskPriority::Low),
        due_date: Some("2026-03-11".to_owned()),
        reminder_at: Some("2026-03-11T08:15:00Z".parse().unwrap()),
        categories: vec!["Red".to_owned()],
        ..Task::default()
    };
    let changed =
        ["title", "notes", "notesFormat", "priority", "dueDate", "startDate", "reminderAt", "categories"];
    let made = create(&provider, write(None, &changed, ours)).unwrap();
    assert_eq!((made.item.as_deref(), made.warnings.len()), (Some("t1"), 0));
    let due = json!({ "dateTime": "2026-03-11T00:00:00.0000000", "timeZone": WEST_EUROPE });
    let expected = json!({
        "title": "Plan", "body": { "content": "<b>bold</b>", "contentType": "html" }, "importance": "low", "dueDateTime": due,
        "isReminderOn": true, "reminderDateTime": { "dateTime": "2026-03-11T08:15:00", "timeZone": "UTC" }, "categories": ["Red"],
    });
    assert_eq!((written(&calls).body, steps(&calls)), (expected, vec!["POST /l1/tasks".to_owned()]));
}

/// A change is one batch with the read of the task, whose steps and links the answer to a change does not have.
#[test]
fn a_change_is_one_round_trip() {
    let (provider, calls) = graph(list);
    let changed = update(&provider, write(Some("t1"), &["dueDate", "reminderAt"], Task::default())).unwrap();
    assert_eq!(task(&changed.sources[0]).checklist_items.len(), 1);
    let expected = json!({ "dueDateTime": null, "isReminderOn": false, "reminderDateTime": null });
    assert_eq!(written(&calls).body, expected);
    assert_eq!(steps(&calls), ["PATCH /l1/tasks/t1".to_owned(), format!("GET /l1/tasks/t1{EXPAND}")]);
    assert_eq!(provider.requests.borrow().len(), 1);
}

/// Graph promises no If-Match for tasks: the time of the last change is compared before.
#[test]
fn another_version_is_a_conflict() {
    for (version, expected) in
        [("2026-03-01T09:00:00.1234567Z", None), ("2026-02-01T09:00:00Z", Some(code::CONFLICT))]
    {
        let (provider, calls) = graph(list);
        let mut args = write(Some("t1"), &["title"], Task { title: "New".to_owned(), ..Task::default() });
        args.if_match = Some(version.to_owned());
        assert_eq!(
            update(&provider, args).err().map(|failure| failure.code).as_deref(),
            expected,
            "{version}"
        );
        let delete = ItemDelete {
            collection: "l1".to_owned(),
            source: "t1".to_owned(),
            if_match: Some(version.to_owned()),
        };
        let deleted = <Microsoft as Tasks>::delete_task(&context(&provider), delete);
        assert_eq!(deleted.err().map(|failure| failure.code).as_deref(), expected, "{version}");
        let calls = calls.borrow();
        let writes: Vec<&Call> = calls.iter().filter(|call| call.method != "GET").collect();
        assert_eq!(writes.len(), if expected.is_none() { 2 } else { 0 });
        assert!(writes.iter().all(|call| call.if_match.is_none()));
    }
}

/// A value that To Do cannot keep gives a warning; a caller who wants all fields kept gets a refusal.
#[test]
fn fields_without_a_member_are_warnings_or_refusals() {
    let ours = Task {
        title: "Plan".to_owned(),
        status: TaskStatus::Cancelled,
        due_time: Some("10:00".to_owned()),
        time_zone: Some("Europe/Berlin".to_owned()),
        percent_complete: Some(50),
        assignees: vec![model::tasks::Assignee::default()],
        position: Some("1".to_owned()),
        ..Task::default()
    };
    let changed = ["title", "status", "dueTime", "timeZone", "percentComplete", "assignees", "position"];
    let (provider, calls) = graph(list);
    let made = create(&provider, write(None, &changed, ours.clone())).unwrap();
    assert_eq!(fields(&made), &changed[1..]);
    assert_eq!(written(&calls).body, json!({ "title": "Plan" }));
    let (provider, calls) = graph(list);
    let refused = create(&provider, ItemWrite { strict: true, ..write(None, &changed, ours) }).unwrap_err();
    assert_eq!((refused.code.as_str(), calls.borrow().len()), (code::UNSUPPORTED, 0));
}

fn weekly() -> Value {
    let pattern =
        json!({ "type": "weekly", "interval": 1, "daysOfWeek": ["wednesday"], "firstDayOfWeek": "monday" });
    let range = json!({ "type": "noEnd", "startDate": "2026-03-11", "endDate": "0001-01-01", "recurrenceTimeZone": "UTC", "numberOfOccurrences": 0 });
    with(stored(), &json!({ "recurrence": { "pattern": pattern, "range": range } }))
}

#[test]
fn a_recurring_task_is_read_and_its_rule_is_not_written() {
    let source = read(|_| (200, weekly())).unwrap();
    let lines = task(&source).recurrence;
    assert!(lines.len() == 1 && lines[0].starts_with("RRULE:FREQ=WEEKLY"), "{lines:?}");
    // What is no rule stays among the provider's data, and the task is one all the same.
    let odd = read(|_| (200, with(stored(), &json!({ "recurrence": { "pattern": { "type": "lunar" } } }))))
        .unwrap();
    assert_eq!(
        (
            task(&odd).recurrence.len(),
            &odd.items[0].provider_data.as_ref().unwrap()["recurrence"]["pattern"]["type"]
        ),
        (0, &json!("lunar"))
    );
    let rule =
        |text: &str| Task { title: "Plan".to_owned(), recurrence: vec![text.to_owned()], ..Task::default() };
    let (provider, calls) = graph(list);
    let refused =
        create(&provider, write(None, &["title", "recurrence"], rule("RRULE:FREQ=DAILY"))).unwrap_err();
    assert_eq!((refused.code.as_str(), calls.borrow().len()), (code::UNSUPPORTED, 0));
    assert_eq!(refused.detail.unwrap()["field"], "recurrence");
    for (text, expected) in [("RRULE:FREQ=DAILY", Some(code::UNSUPPORTED)), (lines[0].as_str(), None)] {
        let (provider, calls) = graph(|call| if call.method == "GET" { (200, weekly()) } else { list(call) });
        let changed = update(&provider, write(Some("t1"), &["title", "recurrence"], rule(text)));
        assert_eq!(changed.err().map(|failure| failure.code).as_deref(), expected, "{text}");
        let writes = calls.borrow().iter().filter(|call| call.method != "GET").count();
        assert_eq!(writes, usize::from(expected.is_none()));
    }
}

/// Graph has no keys of creations: a second attempt looks for a task like the wanted one, with a filter or without.
#[test]
fn a_lost_create_is_found() {
    let find = |title: &'static str, takes_filter: bool| {
        let (provider, calls) = graph(move |call| {
            let filtered = format!("{TASKS}?$filter=createdDateTime ge 2026-03-01T07:59:50Z&$top=100");
            match (call.method.as_str(), call.path.as_str()) {
                ("GET", path) if path == filtered && !takes_filter => error(400, "invalidRequest"),
                ("GET", path) if path == filtered || path == format!("{TASKS}?$top=100") => {
                    let old =
                        with(stored(), &json!({ "id": "old", "createdDateTime": "2026-02-01T08:00:00Z" }));
                    (200, json!({ "value": [old, with(stored(), &json!({ "id": "made" }))] }))
                }
                ("POST", TASKS) => list(call),
                other => panic!("{other:?}"),
            }
        });
        let at = NOW_MS.to_string();
        let context = context(&provider).with_extra("attempt", "2").with_extra("first-attempt-ms", &at);
        let ours = Task {
            title: title.to_owned(),
            notes: Some("notes".to_owned()),
            status: TaskStatus::InProgress,
            due_date: Some("2026-03-11".to_owned()),
            ..Task::default()
        };
        let args = write(None, &["title", "notes", "status", "dueDate"], ours);
        let made = <Microsoft as Tasks>::create_task(&context, args).unwrap();
        (made.item.unwrap(), calls.borrow().iter().filter(|call| call.method == "POST").count())
    };
    assert_eq!(find("Plan", true), ("made".to_owned(), 0));
    assert_eq!(find("Plan", false), ("made".to_owned(), 0));
    assert_eq!(find("Other", true), ("t1".to_owned(), 1));
}

fn part<T: Default>(part: Option<&str>, changed: &[&str], body: T) -> PartWrite<T> {
    PartWrite {
        collection: "l1".to_owned(),
        source: "t1".to_owned(),
        part: part.map(str::to_owned),
        body,
        changed: changed.iter().map(ToString::to_string).collect(),
        if_match: None,
    }
}

fn step(title: &str, checked: bool) -> ChecklistItem {
    ChecklistItem {
        title: title.to_owned(),
        checked,
        position: Some("1".to_owned()),
        ..ChecklistItem::default()
    }
}

#[test]
fn steps_are_made_changed_and_deleted() {
    let (provider, calls) = graph(|call| match call.method.as_str() {
        "POST" => (201, with(json!({ "id": "c2" }), &call.body)),
        _ => list(call),
    });
    let context = context(&provider);
    let made = <Microsoft as Tasks>::create_step(
        &context,
        part(None, &["title", "position"], step("Second", false)),
    )
    .unwrap();
    assert_eq!(
        (made.item.as_deref(), made.part.as_deref(), fields(&made)),
        (Some("t1"), Some("c2"), vec!["position"])
    );
    assert_eq!(task(&made.sources[0]).checklist_items[0].id, "c1");
    let changed =
        <Microsoft as Tasks>::update_step(&context, part(Some("c1"), &["checked"], step("x", true))).unwrap();
    assert_eq!((changed.part.as_deref(), changed.warnings.len()), (Some("c1"), 0));
    let gone =
        <Microsoft as Tasks>::delete_step(&context, part(Some("c1"), &[], ChecklistItem::default())).unwrap();
    assert_eq!((gone.part, gone.sources.len()), (None, 1));
    let bodies: Vec<Value> =
        calls.borrow().iter().filter(|call| call.method != "GET").map(|call| call.body.clone()).collect();
    assert_eq!(
        bodies,
        [json!({ "displayName": "Second", "isChecked": false }), json!({ "isChecked": true }), Value::Null]
    );
    let read = format!("GET /l1/tasks/t1{EXPAND}");
    let read = read.as_str();
    let expected = [
        "POST /l1/tasks/t1/checklistItems",
        read,
        "PATCH /l1/tasks/t1/checklistItems/c1",
        read,
        "DELETE /l1/tasks/t1/checklistItems/c1",
        read,
    ];
    assert_eq!(steps(&calls), expected);
    assert_eq!(provider.requests.borrow().len(), 3);
}

/// A step that an earlier attempt has made is not made twice, and one that is gone is as good as deleted.
#[test]
fn a_lost_step_is_found_and_a_lost_one_is_deleted() {
    let (provider, calls) = graph(|call| match call.method.as_str() {
        "DELETE" => error(404, "ErrorItemNotFound"),
        _ => list(call),
    });
    let at = NOW_MS.to_string();
    let second = context(&provider).with_extra("attempt", "2").with_extra("first-attempt-ms", &at);
    let made =
        <Microsoft as Tasks>::create_step(&second, part(None, &["title"], step("First", true))).unwrap();
    assert_eq!((made.part.as_deref(), calls.borrow().len()), (Some("c1"), 1));
    let gone = <Microsoft as Tasks>::delete_step(
        &context(&provider),
        part(Some("c9"), &[], ChecklistItem::default()),
    );
    assert_eq!(gone.unwrap().sources.len(), 1);
}

#[test]
fn links_lead_to_pages_and_to_resources() {
    let (provider, calls) = graph(|call| match call.method.as_str() {
        "POST" => (201, with(json!({ "id": "r3" }), &call.body)),
        _ => list(call),
    });
    let context = context(&provider);
    let page = TaskLink {
        url: Some("https://example.test/2".to_owned()),
        title: Some("Page".to_owned()),
        ..TaskLink::default()
    };
    let made = <Microsoft as Tasks>::create_link(&context, part(None, &["url", "title"], page)).unwrap();
    assert_eq!(made.part.as_deref(), Some("r3"));
    let own = TaskLink {
        resource_type: LinkedType::CalendarEvent,
        resource_id: Some("evt_1".to_owned()),
        ..TaskLink::default()
    };
    <Microsoft as Tasks>::create_link(&context, part(None, &["resourceId"], own)).unwrap();
    <Microsoft as Tasks>::delete_link(&context, part(Some("r1"), &[], TaskLink::default())).unwrap();
    let calls = calls.borrow();
    let writes: Vec<(&str, &Value)> = calls
        .iter()
        .filter(|call| call.method != "GET")
        .map(|call| (call.path.as_str(), &call.body))
        .collect();
    let links = format!("{TASKS}/t1/linkedResources");
    let (page, own) = (
        json!({ "webUrl": "https://example.test/2", "displayName": "Page" }),
        json!({ "externalId": "switchboard:calendar_event:evt_1" }),
    );
    let one = format!("{links}/r1");
    assert_eq!(writes, [(links.as_str(), &page), (links.as_str(), &own), (one.as_str(), &Value::Null)]);
}

fn entry(id: &str, name: &str, wellknown: &str) -> Value {
    json!({ "@odata.etag": "W/\"1\"", "id": id, "displayName": name, "isOwner": id != "l3", "isShared": id == "l3", "wellknownListName": wellknown })
}

/// The account's lists on two pages.
fn lists(call: &Call) -> (u16, Value) {
    let next = format!("https://graph.microsoft.com/v1.0{LISTS}?%24top=100&%24skip=2");
    match (call.method.as_str(), call.path.strip_prefix(LISTS).unwrap()) {
        ("GET", "?$top=100") => {
            let value = json!([entry("l1", "Tasks", "defaultList"), entry("l2", "Flagged", "flaggedEmails")]);
            (200, json!({ "value": value, "@odata.nextLink": next }))
        }
        ("GET", "?$top=100&$skip=2") => {
            (200, json!({ "value": [entry("l3", "Team", "none"), entry("l4", "Home", "none")] }))
        }
        ("GET", "/l1") => (200, entry("l1", "Tasks", "defaultList")),
        ("GET", "/l2") => (200, entry("l2", "Flagged", "flaggedEmails")),
        ("GET", "/l3") => (200, entry("l3", "Team", "none")),
        ("GET", "/l3/tasks?$top=1") => (200, json!({ "value": [stored()] })),
        ("GET", "/l4/tasks?$top=1") => (200, json!({ "value": [] })),
        ("DELETE", _) => (204, Value::Null),
        ("PATCH" | "POST", _) => (200, with(entry("l5", "", "none"), &call.body)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_default_list_and_that_of_flagged_mail_have_their_roles() {
    let (provider, _) = graph(lists);
    let page = |cursor: Option<String>| {
        <Microsoft as Tasks>::list_lists(&context(&provider).at(cursor), ChangesRequest::default()).unwrap()
    };
    let first = page(None);
    let second = page(first.cursor.clone());
    assert!(first.more && !second.more && first.body.enumeration && second.body.enumeration);
    let all = first.body.sources.iter().chain(&second.body.sources);
    let all: Vec<TaskList> = all.map(|source| source.items[0].body.read().unwrap()).collect();
    let shown: Vec<(&str, Option<TaskListRole>, bool)> =
        all.iter().map(|list| (list.name.as_str(), list.role, list.read_only)).collect();
    let expected = [
        ("Tasks", Some(TaskListRole::Default), false),
        ("Flagged", Some(TaskListRole::Flagged), true),
        ("Team", None, false),
        ("Home", None, false),
    ];
    assert_eq!(shown, expected);
    assert_eq!((all[2].is_owner, all[2].is_shared, all[3].is_owner), (false, true, true));
}

fn named(source: Option<&str>, name: &str) -> CollectionWrite<TaskList> {
    CollectionWrite {
        source: source.map(str::to_owned),
        body: TaskList { name: name.to_owned(), color: Some("#ff0000".to_owned()), ..TaskList::default() },
        changed: vec!["name".to_owned(), "color".to_owned()],
        if_match: None,
    }
}

#[test]
fn lists_are_made_renamed_and_deleted_unless_they_are_to_do_s_own() {
    let (provider, calls) = graph(lists);
    let context = context(&provider);
    let made = <Microsoft as Tasks>::create_list(&context, named(None, "New")).unwrap();
    assert_eq!((made.item.as_deref(), fields(&made)), (Some("l5"), vec!["color"]));
    <Microsoft as Tasks>::update_list(&context, named(Some("l3"), "Group")).unwrap();
    let delete = |id: &str| {
        let args = CollectionDelete { source: id.to_owned(), ..CollectionDelete::default() };
        <Microsoft as Tasks>::delete_list(&context, args)
    };
    assert!(delete("l3").unwrap().sources[0].deleted);
    for id in ["l1", "l2"] {
        assert_eq!(delete(id).unwrap_err().code, code::UNSUPPORTED);
        let renamed = <Microsoft as Tasks>::update_list(&context, named(Some(id), "Mine"));
        assert_eq!(renamed.unwrap_err().code, code::UNSUPPORTED);
    }
    let writes: Vec<String> = steps(&calls).into_iter().filter(|step| !step.starts_with("GET")).collect();
    assert_eq!(writes, ["POST ", "PATCH /l3", "DELETE /l3"]);
}

/// A second attempt takes an empty list of the same name for the first one's, and no list of the user's with tasks.
#[test]
fn a_lost_list_is_found() {
    for (name, expected) in [("Home", "l4"), ("Team", "l5"), ("Tasks", "l5")] {
        let (provider, _) = graph(lists);
        let context = context(&provider).with_extra("attempt", "2");
        let made = <Microsoft as Tasks>::create_list(&context, named(None, name)).unwrap();
        assert_eq!(made.item.as_deref(), Some(expected), "{name}");
    }
}

#[test]
fn capabilities_say_what_to_do_can() {
    let provider = Recorded::new();
    let can = <Microsoft as Tasks>::features(&context(&provider)).unwrap();
    assert!(can.create_list && can.start_date && can.priority && can.categories && can.reminders);
    assert!(can.checklist_items && can.links);
    let cannot =
        [can.subtasks, can.due_time, can.percent_complete, can.recurrence, can.assignees, can.ordering];
    assert_eq!(cannot, [false; 6]);
}
