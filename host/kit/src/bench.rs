//! The environment of a test case (caller, clock, secrets, log) and its verdict.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use model::tasks::{Task, TaskList};
use model::wire::{ChangesRequest, Item, ItemDelete, ItemWrite, Mutated, Source, Sources};
use runtime::{Code, Error, Surface, Verb};
use serde_json::{Value, json};

use crate::caller::{Caller, Page};
use crate::capability::Capability;
use crate::interceptor::Interceptor;
use crate::line::Line;
use crate::log::Log;
use crate::validity::find_invalid;

/// Pages of one walk; a connector that has more for so few items never ends.
pub const MAX_PAGES: usize = 200;

/// The result of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    Failed(Finding),
    /// Why the case says nothing about this connector.
    NotApplicable(String),
}

/// A fault of the connector that a case has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The observed behavior and the expected one.
    pub said: String,
    /// The usual mistake, and what to write instead.
    pub help: Cow<'static, str>,
}

/// The result of a step of a case; an error ends the case with its verdict.
pub type Outcome<T = ()> = Result<T, Verdict>;

/// Ends the case with a finding.
pub fn failed<T>(said: impl Into<String>, help: &'static str) -> Outcome<T> {
    Err(Verdict::Failed(Finding { said: said.into(), help: help.into() }))
}

/// Fails the case with `said` and `help` unless `holds`.
pub fn ensure(holds: bool, said: impl FnOnce() -> String, help: &'static str) -> Outcome {
    if holds { Ok(()) } else { failed(said(), help) }
}

/// Returns the result of an operation that must succeed; an error ends the case.
pub fn must<T>(done: Result<T, Error>, what: &str) -> Outcome<T> {
    done.map_err(|error| {
        let help = help_of(&error)
            .map_or(Cow::Borrowed("fails without an injected fault: fix this first"), Cow::Owned);
        Verdict::Failed(Finding { said: format!("{what} fails: {}", describe_error(&error)), help })
    })
}

/// The help that the SDK gives with an error that a connector has thrown, in one line.
fn help_of(error: &Error) -> Option<String> {
    let detail: Value = serde_json::from_str(&error.author.detail).ok()?;
    let help = detail.get("help")?.as_str().filter(|help| !help.trim().is_empty())?;
    Some(help.replace(char::is_control, " "))
}

/// Ends the case unless the items in an answer of the operation `op` are valid for the model.
pub fn ensure_valid(op: &str, sources: &[Source]) -> Outcome {
    const HELP: &str = "each item is a whole resource of the model. One that cannot be mapped is a source with `error` and without items: the host keeps what it has of it";
    find_invalid(op, sources).map_or(Ok(()), |said| failed(said, HELP))
}

/// Returns an error in one line, for the connector's author.
pub fn describe_error(error: &Error) -> String {
    let detail = &error.author.detail;
    let detail = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
    format!("{error}{detail}")
}

/// One connector with one account, and the line to its provider.
pub struct Bench {
    pub calls: Caller,
    pub line: Arc<Line>,
    pub interceptor: Arc<Interceptor>,
    pub clock_ms: Arc<AtomicI64>,
    /// Values that must never leave the connector.
    pub secrets: Vec<String>,
    /// The list that the author named for tests.
    pub wanted: Option<String>,
    /// The list that the cases use, once a case has looked it up.
    pub list: Option<String>,
    /// Surfaces that the component exports.
    pub surfaces: Vec<Surface>,
    /// The connector's log lines.
    pub log: Arc<Log>,
    /// Limits of a call: processor time, and memory of the connector's class.
    pub cpu_ms: u64,
    pub memory_mib: u64,
    /// Results of the feature checks.
    pub capabilities: Vec<Capability>,
    /// Fields that the last creation was warned about.
    pub warned: Vec<String>,
}

impl Bench {
    pub fn now_ms(&self) -> i64 {
        self.clock_ms.load(Ordering::SeqCst)
    }

    /// Moves the clock, which the connector sees.
    pub fn later(&self, ms: i64) {
        self.clock_ms.fetch_add(ms, Ordering::SeqCst);
    }

    /// Ends the case unless the connector has task lists.
    pub fn needs_tasks(&self) -> Outcome {
        match self.surfaces.contains(&Surface::Tasks) {
            true => Ok(()),
            false => Err(Verdict::NotApplicable("the connector has no tasks".to_owned())),
        }
    }

    /// All pages of a walk from `cursor`, in order.
    pub async fn walk(
        &mut self,
        of: (Surface, Verb, &str),
        args: &ChangesRequest,
        cursor: Option<String>,
    ) -> Outcome<Vec<Page>> {
        let (mut pages, mut cursor) = (Vec::new(), cursor);
        for _ in 0..MAX_PAGES {
            let page = must(self.calls.page(of, args, cursor.as_deref()).await, of.2)?;
            ensure_valid(of.2, &page.sources.sources)?;
            let (next, more) = (page.cursor.clone(), page.more);
            pages.push(page);
            if !more {
                return Ok(pages);
            }
            if next.is_none() || next == cursor {
                return failed(
                    format!("{}: `more` is true, but the cursor did not move: {}", of.2, at(next.as_deref())),
                    "a page with more: true needs the cursor of the next page",
                );
            }
            cursor = next;
        }
        failed(format!("{} did not end after {MAX_PAGES} pages", of.2), "set more: false on the last page")
    }

    /// All task lists.
    pub async fn lists(&mut self) -> Outcome<Vec<Source>> {
        let of = (Surface::Tasks, Verb::Fetch, "lists.list");
        let pages = self.walk(of, &ChangesRequest::default(), None).await?;
        Ok(pages.into_iter().flat_map(|page| page.sources.sources).collect())
    }

    /// The list whose content the cases change.
    pub async fn list(&mut self) -> Outcome<String> {
        self.needs_tasks()?;
        if let Some(list) = &self.list {
            return Ok(list.clone());
        }
        let lists = self.lists().await?;
        let fits = |source: &&Source| match (&self.wanted, body::<TaskList>(source)) {
            (_, None) => false,
            (Some(wanted), Some(list)) => list.name == *wanted || source.external_id == *wanted,
            (None, Some(list)) => !list.read_only,
        };
        let found = lists.iter().find(fits).map(|source| source.external_id.clone());
        let missing = || match &self.wanted {
            Some(wanted) => format!("there is no task list \"{wanted}\", which project.toml names"),
            None => "the account has no task list that can be changed".to_owned(),
        };
        let found = found.ok_or_else(|| Verdict::NotApplicable(missing()))?;
        self.list = Some(found.clone());
        Ok(found)
    }

    /// Everything of the list from `cursor`, in pages of about `limit`.
    pub async fn tasks(&mut self, list: &str, limit: u32, cursor: Option<String>) -> Outcome<Vec<Page>> {
        let args = ChangesRequest { collection: Some(list.to_owned()), limit, ..ChangesRequest::default() };
        self.walk((Surface::Tasks, Verb::Changes, "tasks"), &args, cursor).await
    }

    /// Makes a task under this idempotency key; a connector that cannot write ends the case.
    pub async fn create(&mut self, list: &str, title: &str, key: &str) -> Outcome<Mutated> {
        match self.try_create(list, title, key).await {
            Err(error) if error.code == Code::Unsupported => {
                Err(Verdict::NotApplicable("the connector creates no tasks".to_owned()))
            }
            done => must(done, "tasks.create"),
        }
    }

    /// Makes a task; returns the connector's error as it is: the case judges it.
    pub async fn try_create(&mut self, list: &str, title: &str, key: &str) -> Result<Mutated, Error> {
        let write = ItemWrite {
            collection: list.to_owned(),
            body: Task { title: title.to_owned(), ..Task::default() },
            changed: vec!["title".to_owned()],
            ..ItemWrite::default()
        };
        self.calls.mutate(Surface::Tasks, "tasks.create", &write, key).await
    }

    /// Changes these fields of a task, of this version if one is named.
    pub async fn update(
        &mut self,
        list: &str,
        (id, etag): (&str, Option<&str>),
        task: Task,
        changed: &[&str],
        key: &str,
    ) -> Result<Mutated, Error> {
        let write = ItemWrite {
            collection: list.to_owned(),
            source: Some(id.to_owned()),
            body: task,
            changed: changed.iter().map(|field| (*field).to_owned()).collect(),
            if_match: etag.map(str::to_owned),
            ..ItemWrite::default()
        };
        self.calls.mutate(Surface::Tasks, "tasks.update", &write, key).await
    }

    pub async fn delete(&mut self, list: &str, id: &str, key: &str) -> Result<Mutated, Error> {
        let delete = ItemDelete { collection: list.to_owned(), source: id.to_owned(), if_match: None };
        self.calls.mutate(Surface::Tasks, "tasks.delete", &delete, key).await
    }

    /// A list with at least this many tasks in it, of this case's own making.
    pub async fn filled(&mut self, case: &str, count: usize) -> Outcome<String> {
        let list = self.list().await?;
        for n in 0..count {
            self.create(&list, &format!("swkit-{case}-{n}"), &format!("kit-{case}-{n}")).await?;
        }
        Ok(list)
    }

    /// A source as the connector reads it by its id.
    pub async fn get(&mut self, list: &str, source: &str) -> Result<Sources, Error> {
        self.calls.fetch(Surface::Tasks, "tasks.get", &json!({ "collection": list, "source": source })).await
    }
}

/// The resource in a source's main item, where there is one that can be read.
pub fn body<T: serde::de::DeserializeOwned>(source: &Source) -> Option<T> {
    let main = source.items.iter().find(|item| item.external_id == source.external_id);
    main.or(source.items.first()).and_then(|item: &Item| serde_json::from_str(item.body.as_str()).ok())
}

/// Returns the titles of the tasks in these pages, repeated ones too.
pub fn titles(pages: &[Page]) -> Vec<String> {
    let sources = pages.iter().flat_map(|page| &page.sources.sources);
    sources.filter_map(body::<Task>).map(|task| task.title).collect()
}

/// Returns a sentence that says how often an item is reported, and its last name.
pub fn report_text(times: usize, name: Option<&str>) -> String {
    let name =
        name.map_or_else(|| "as deleted or without a name".to_owned(), |name| format!("as \"{name}\""));
    match times {
        0 => "not reported".to_owned(),
        1 => format!("reported once, {name}"),
        _ => format!("reported {times} times, {name}"),
    }
}

/// A cursor in a sentence.
pub fn at(cursor: Option<&str>) -> String {
    cursor.map_or_else(|| "no cursor".to_owned(), |cursor| format!("the cursor \"{cursor}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(detail: &str) -> String {
        match must::<()>(Err(Error::new(Code::ConnectorFailure, detail)), "check") {
            Err(Verdict::Failed(finding)) => finding.help.into_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_help_of_a_thrown_error_is_the_help_of_the_case() {
        assert_eq!(help(r#"{"error":"x","help":"write\ncontext.instant"}"#), "write context.instant");
        for other in ["", "text", "{}", r#"{"help":""}"#, r#"{"help":1}"#] {
            assert!(help(other).starts_with("fails without an injected fault"), "{other}");
        }
    }
}
