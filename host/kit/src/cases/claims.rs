//! The features that the connector claims, checked against its behavior.

use model::tasks::{Assignee, Task, TaskList, TaskPriority};
use model::wire::tasks::TasksFeatures;
use model::wire::{CollectionDelete, CollectionWrite, ItemWrite, Mutated};
use model::{Instant, wire::Source};
use runtime::{Code, Error, Surface};
use serde_json::json;

use crate::bench::{Bench, Outcome, Verdict, body, ensure, must};
use crate::capability::Capability;

/// Puts a value into a field.
type Set = fn(&mut Task);

/// A feature that is a field of a task: its name among the features, the field, and a value.
const FIELDS: [(&str, &str, Set); 8] = [
    ("startDate", "startDate", |task| task.start_date = Some("2026-03-01".into())),
    ("dueTime", "dueTime", |task| task.due_time = Some("09:30".into())),
    ("priority", "priority", |task| task.priority = Some(TaskPriority::High)),
    ("percentComplete", "percentComplete", |task| task.percent_complete = Some(40)),
    ("recurrence", "recurrence", |task| task.recurrence = vec!["RRULE:FREQ=WEEKLY;COUNT=4".into()]),
    ("categories", "categories", |task| task.categories = vec!["home".into()]),
    ("assignees", "assignees", |task| {
        task.assignees = vec![Assignee { email: Some("bob@example.test".into()), ..Assignee::default() }]
    }),
    ("reminders", "reminderAt", |task| task.reminder_at = Some(Instant::from_millis(1_772_442_000_000))),
];

/// Checks each feature: whether the connector claims it, and whether it was observed. Each case creates its own tasks and lists.
async fn probe_capabilities(bench: &mut Bench, case: &str) -> Outcome<Vec<Capability>> {
    let list = bench.list().await?;
    let features: TasksFeatures =
        must(bench.calls.fetch(Surface::Tasks, "capabilities", &json!({})).await, "capabilities")?;
    let claimed = serde_json::to_value(&features).unwrap_or_default();
    let claims = |feature: &str| claimed[feature] == true;
    // Ends the case if the connector cannot write.
    bench.create(&list, &format!("swkit-{case}"), &format!("kit-{case}")).await?;
    let mut found = Vec::new();
    for (feature, field, set) in FIELDS {
        let mut task = Task {
            title: format!("swkit-{case}-{feature}"),
            time_zone: Some("Europe/Vienna".into()),
            ..Task::default()
        };
        task.due_date = Some("2026-03-14".into());
        set(&mut task);
        let is_seen = comes_back(bench, (&list, case), &task, field).await?;
        found.push(Capability { feature, claimed: claims(feature), seen: is_seen });
    }
    let lists = lists(bench, case).await?;
    found.extend(lists.map(|(feature, is_seen)| Capability {
        feature,
        claimed: claims(feature),
        seen: is_seen,
    }));
    bench.capabilities.clone_from(&found);
    Ok(found)
}

/// Returns whether a field of a new task is the same when the task is read.
async fn comes_back(
    bench: &mut Bench,
    (list, case): (&str, &str),
    task: &Task,
    field: &str,
) -> Outcome<bool> {
    let write = ItemWrite {
        collection: list.to_owned(),
        body: task.clone(),
        changed: ["title", "dueDate", "timeZone", field].map(str::to_owned).to_vec(),
        ..ItemWrite::default()
    };
    let key = format!("kit-{case}-{field}");
    let Some(made) = allow_unsupported(
        bench.calls.mutate(Surface::Tasks, "tasks.create", &write, &key).await,
        "tasks.create",
    )?
    else {
        return Ok(false);
    };
    let Some(id) = id_of(made) else { return Ok(false) };
    let read = must(bench.get(list, &id).await, "tasks.get")?;
    let value = |task: Option<Task>| {
        task.and_then(|task| serde_json::to_value(task).ok()).map(|task| task[field].clone())
    };
    Ok(value(read.sources.first().and_then(body::<Task>)) == value(Some(task.clone())))
}

/// Makes, renames and deletes lists.
async fn lists(bench: &mut Bench, case: &str) -> Outcome<[(&'static str, bool); 3]> {
    let (name, new_name) = (format!("swkit-{case}"), format!("swkit-{case}-after"));
    let key = |of: &str| format!("kit-{case}-{of}");
    let write = |source: Option<&str>, name: &str| CollectionWrite {
        source: source.map(str::to_owned),
        body: TaskList { name: name.into(), ..TaskList::default() },
        changed: vec!["name".to_owned()],
        ..CollectionWrite::<TaskList>::default()
    };
    let new = write(None, &name);
    let made = bench.calls.mutate(Surface::Tasks, "lists.create", &new, &key("list")).await;
    let id = allow_unsupported(made, "lists.create")?.and_then(id_of);
    let Some(id) = id else {
        return Ok([("createList", false), ("updateList", false), ("deleteList", false)]);
    };
    let is_made = name_of(&bench.lists().await?, &id).as_deref() == Some(name.as_str());
    let change = write(Some(&id), &new_name);
    let renamed = bench.calls.mutate(Surface::Tasks, "lists.update", &change, &key("rename")).await;
    let is_renamed = allow_unsupported(renamed, "lists.update")?.is_some()
        && name_of(&bench.lists().await?, &id).as_deref() == Some(new_name.as_str());
    let delete = CollectionDelete { source: id.clone(), force: true, ..CollectionDelete::default() };
    let deleted = bench.calls.mutate(Surface::Tasks, "lists.delete", &delete, &key("delete")).await;
    let is_deleted = allow_unsupported(deleted, "lists.delete")?.is_some()
        && name_of(&bench.lists().await?, &id).is_none();
    Ok([("createList", is_made), ("updateList", is_renamed), ("deleteList", is_deleted)])
}

fn name_of(lists: &[Source], id: &str) -> Option<String> {
    let list = lists.iter().find(|list| list.external_id == id && !list.deleted)?;
    body::<TaskList>(list).map(|list| list.name)
}

/// Returns the result of a write; none if the connector answers `unsupported`.
fn allow_unsupported(done: Result<Mutated, Error>, what: &str) -> Outcome<Option<Mutated>> {
    match done {
        Err(error) if error.code == Code::Unsupported => Ok(None),
        done => must(done, what).map(Some),
    }
}

fn id_of(made: Mutated) -> Option<String> {
    made.item.or_else(|| made.sources.first().map(|source| source.external_id.clone()))
}

async fn all_are(
    bench: &mut Bench,
    case: &str,
    holds: fn(&Capability) -> bool,
    said: &str,
    help: &'static str,
) -> Outcome {
    let found = probe_capabilities(bench, case).await?;
    let others: Vec<&str> = found.iter().filter(|one| !holds(one)).map(|one| one.feature).collect();
    if found.is_empty() {
        return Err(Verdict::NotApplicable("the connector has no features".to_owned()));
    }
    ensure(others.is_empty(), || format!("{said}: {}", others.join(", ")), help)
}

pub async fn claimed(bench: &mut Bench) -> Outcome {
    const HELP: &str =
        "a feature is true if what is written comes back: callers decide by it what they offer";
    all_are(bench, "X2", |one| !one.claimed || one.seen, "claimed, but it does not work", HELP).await
}

pub async fn unclaimed(bench: &mut Bench) -> Outcome {
    const HELP: &str = "set the feature to true in `features`: callers do not use what is not claimed";
    all_are(bench, "X1", |one| one.claimed || !one.seen, "works, but it is not claimed", HELP).await
}
