//! Changes at the provider.

use model::tasks::{Task, TaskStatus};
use model::wire::{ItemWrite, Mutated, Source, Warning};
use runtime::{Code, Error};
use serde_json::json;

use crate::bench::{Bench, Outcome, Verdict, body, describe_error, ensure, failed, must, titles};
use crate::line::Fault;

const ONCE: &str = "make the provider's id of a new item from the idempotency key, or pass the key on: a repeated attempt must find the item of the first";
/// The code of the warning that the provider does not keep a field.
const NOT_SUPPORTED: &str = "field_not_supported";

pub async fn idempotent(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    let first = bench.create(&list, "swkit-W1", "kit-W1").await?;
    let again = must(bench.try_create(&list, "swkit-W1", "kit-W1").await, "the same tasks.create again")?;
    let told = titles(&bench.tasks(&list, 0, None).await?);
    let times = told.iter().filter(|title| *title == "swkit-W1").count();
    ensure(times == 1, || format!("one creation, sent twice, has made {times} tasks"), ONCE)?;
    ensure(
        first.item.is_some() && first.item == again.item,
        || format!("item of the answer is {}, then {}", json!(first.item), json!(again.item)),
        ONCE,
    )
}

pub async fn lost_answer(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    // Ends the case if the connector cannot write.
    bench.create(&list, "swkit-W2-before", "kit-W2-before").await?;
    bench.line.spoil_next_write(Fault::DropAfter);
    if let Err(error) = bench.try_create(&list, "swkit-W2", "kit-W2").await {
        ensure(
            error.is_transient(),
            || format!("a lost answer becomes {}", describe_error(&error)),
            "the provider may have acted or not: failure unavailable or timeout, so that the host tries again",
        )?;
    }
    bench.line.mend();
    must(bench.try_create(&list, "swkit-W2", "kit-W2").await, "tasks.create after its answer was lost")?;
    let seen = titles(&bench.tasks(&list, 0, None).await?);
    let times = seen.iter().filter(|title| *title == "swkit-W2").count();
    ensure(
        times == 1,
        || format!("a creation whose answer was lost, sent again, has made {times} tasks"),
        ONCE,
    )
}

pub async fn keeps_the_rest(bench: &mut Bench) -> Outcome {
    const HELP: &str =
        "write the fields that `changed` names, and no others: the rest keeps the provider's bytes";
    let (list, id, before) = create_task(bench, "W3", &full("swkit-W3")).await?;
    let change = Task { title: "swkit-W3-after".into(), ..Task::default() };
    must(bench.update(&list, (&id, None), change, &["title"], "kit-W3-after").await, "tasks.update")?;
    let after = read(bench, &list, &id).await?;
    let title = "swkit-W3-after".to_owned();
    ensure(after.title == title, || format!("the title is \"{}\" after it was changed", after.title), HELP)?;
    let expected = Task { title, ..before };
    let differ = differences(&expected, &after);
    ensure(
        differ.is_empty(),
        || format!("a change of the title has also changed {}", differ.join(", ")),
        HELP,
    )
}

pub async fn stale_etag(bench: &mut Bench) -> Outcome {
    const HELP: &str = "send ifMatch with the change (If-Match); the provider's 412 is failure conflict. Otherwise two people overwrite each other";
    let list = bench.list().await?;
    let made = bench.create(&list, "swkit-W4", "kit-W4").await?;
    let source = source_of(&made)?;
    let Some(etag) = source.etag.clone() else {
        return Err(Verdict::NotApplicable("the connector's tasks have no etag".to_owned()));
    };
    let id = source.external_id.clone();
    let change = |title: &str| Task { title: title.into(), ..Task::default() };
    let first =
        bench.update(&list, (&id, Some(&etag)), change("swkit-W4-first"), &["title"], "kit-W4-1").await;
    must(first, "tasks.update with the present etag")?;
    match bench.update(&list, (&id, Some(&etag)), change("swkit-W4-late"), &["title"], "kit-W4-2").await {
        Err(error) if error.code == Code::Conflict => {}
        Err(error) => {
            return failed(format!("a change of an older version fails: {}", describe_error(&error)), HELP);
        }
        Ok(_) => return failed("a change of an older version is accepted", HELP),
    }
    let now = read(bench, &list, &id).await?;
    ensure(
        now.title == "swkit-W4-first",
        || format!("the rejected change has written \"{}\"", now.title),
        HELP,
    )
}

pub async fn deleted_twice(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    let made = bench.create(&list, "swkit-W6", "kit-W6").await?;
    let id = source_of(&made)?.external_id.clone();
    must(bench.delete(&list, &id, "kit-W6-1").await, "tasks.delete")?;
    match bench.delete(&list, &id, "kit-W6-2").await {
        Ok(_) => Ok(()),
        Err(error) if error.code == Code::NotFound => Ok(()),
        Err(error) => failed(
            format!("tasks.delete of a deleted task fails: {}", describe_error(&error)),
            "a deletion of a deleted item succeeds, or is failure not-found",
        ),
    }
}

pub async fn round_trip(bench: &mut Bench) -> Outcome {
    const HELP: &str = "a field that the provider has is written and read unchanged; for any other field answer with a warning field_not_supported";
    let asked = full("swkit-W7 \"quoted\" <b>&amp; ünïcödé 🗒");
    let (list, id, answered) = create_task(bench, "W7", &asked).await?;
    let read = read(bench, &list, &id).await?;
    let differ = differences(&answered, &read);
    ensure(
        differ.is_empty(),
        || format!("tasks.create answers with other values than tasks.get afterwards: {}", differ.join(", ")),
        "use one mapping for the answers of reads and writes",
    )?;
    let warned = bench.warned.clone();
    let differ: Vec<_> = differences(&asked, &read)
        .into_iter()
        .filter(|field| !warned.iter().any(|name| name == field))
        .collect();
    ensure(
        differ.is_empty(),
        || {
            let shown: Vec<String> =
                differ.iter().map(|field| describe_difference(field, &asked, &read)).collect();
            format!("not as written, and without a warning: {}", shown.join("; "))
        },
        HELP,
    )
}

pub async fn strict(bench: &mut Bench) -> Outcome {
    const HELP: &str = "with strict: true a field that the provider cannot keep is failure unsupported with detail.field, before anything is written";
    let list = bench.list().await?;
    let made = bench.write(&list, &full("swkit-W8-first"), false, "kit-W8-1").await?;
    let Some(field) = warned_fields(&made.warnings).into_iter().next() else {
        return Err(Verdict::NotApplicable("the provider keeps every field".to_owned()));
    };
    match bench.try_write(&list, &full("swkit-W8-strict"), true, "kit-W8-2").await {
        Err(error) if error.code == Code::Unsupported => {
            let names = field_of(&error);
            ensure(
                names.is_some(),
                || format!("the failure names no field: {}", describe_error(&error)),
                HELP,
            )?;
        }
        Err(error) => {
            return failed(format!("the field {field} is rejected with {}", describe_error(&error)), HELP);
        }
        Ok(_) => return failed(format!("a strict creation with the field {field} is accepted"), HELP),
    }
    let seen = titles(&bench.tasks(&list, 0, None).await?);
    ensure(
        !seen.iter().any(|title| title == "swkit-W8-strict"),
        || "the rejected task is in the list".to_owned(),
        HELP,
    )
}

/// The name in `detail.field` of a failure.
fn field_of(error: &Error) -> Option<String> {
    let detail: serde_json::Value = serde_json::from_str(&error.author.detail).ok()?;
    detail["field"].as_str().map(str::to_owned)
}

/// A task with a value in every field that a caller can write and most providers know in some way.
fn full(title: &str) -> Task {
    Task {
        title: title.into(),
        notes: Some("first line\nsecond line, with ünïcödé".into()),
        status: TaskStatus::Completed,
        due_date: Some("2026-03-14".into()),
        start_date: Some("2026-03-01".into()),
        percent_complete: Some(100),
        categories: vec!["home".into()],
        ..Task::default()
    }
}

/// The fields of [`full`].
const FIELDS: [&str; 7] =
    ["title", "notes", "status", "dueDate", "startDate", "percentComplete", "categories"];

/// Returns the fields of [`FIELDS`] in which two tasks differ.
fn differences(one: &Task, other: &Task) -> Vec<&'static str> {
    let (one, other) = (serde_json::to_value(one), serde_json::to_value(other));
    let (one, other) = (one.unwrap_or_default(), other.unwrap_or_default());
    FIELDS.into_iter().filter(|field| one[field] != other[field]).collect()
}

fn describe_difference(field: &str, asked: &Task, read: &Task) -> String {
    let value = |task: &Task| serde_json::to_value(task).unwrap_or_default()[field].clone();
    format!("{field} was {}, and is {}", value(asked), value(read))
}

/// The fields that warnings name.
fn warned_fields(warnings: &[Warning]) -> Vec<String> {
    let of_fields = warnings.iter().filter(|warning| warning.code == NOT_SUPPORTED);
    of_fields.filter_map(|warning| warning.target.clone()).collect()
}

/// The source that a change answers with.
fn source_of(mutated: &Mutated) -> Outcome<&Source> {
    let named = mutated.item.as_deref();
    let found = mutated.sources.iter().find(|source| Some(source.external_id.as_str()) == named);
    match found.or(mutated.sources.first()) {
        Some(source) => Ok(source),
        None => failed(
            "the answer of a creation has no source",
            "Mutated.sources holds the written item, as changes would report it",
        ),
    }
}

/// Makes a task with this content; returns the list, its id, and the task in the answer.
async fn create_task(bench: &mut Bench, case: &str, task: &Task) -> Outcome<(String, String, Task)> {
    let list = bench.list().await?;
    let made = bench.write(&list, task, false, &format!("kit-{case}")).await?;
    bench.warned = warned_fields(&made.warnings);
    let source = source_of(&made)?;
    let Some(answered) = body::<Task>(source) else {
        return failed(
            "the answer of a creation has no valid task",
            "Mutated.sources holds the written item, as changes would report it",
        );
    };
    Ok((list, source.external_id.clone(), answered))
}

async fn read(bench: &mut Bench, list: &str, id: &str) -> Outcome<Task> {
    let sources = must(bench.get(list, id).await, "tasks.get")?;
    match sources.sources.first().and_then(body::<Task>) {
        Some(task) => Ok(task),
        None => failed(
            "tasks.get answers with no valid task",
            "tasks.get answers with one source: the one of that id",
        ),
    }
}

impl Bench {
    /// Writes a new task with the fields of [`full`].
    pub async fn try_write(
        &mut self,
        list: &str,
        task: &Task,
        strict: bool,
        key: &str,
    ) -> Result<Mutated, Error> {
        let write = ItemWrite {
            collection: list.to_owned(),
            body: task.clone(),
            changed: FIELDS.map(str::to_owned).to_vec(),
            strict,
            ..ItemWrite::default()
        };
        self.calls.mutate(runtime::Surface::Tasks, "tasks.create", &write, key).await
    }

    /// Writes a task; a connector that cannot write ends the case.
    async fn write(&mut self, list: &str, task: &Task, strict: bool, key: &str) -> Outcome<Mutated> {
        match self.try_write(list, task, strict, key).await {
            Err(error) if error.code == Code::Unsupported => {
                Err(Verdict::NotApplicable("the connector creates no tasks".to_owned()))
            }
            done => must(done, "tasks.create"),
        }
    }
}
