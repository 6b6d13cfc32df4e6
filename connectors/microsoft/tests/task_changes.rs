//! Changes of task lists: a delta for each list, and reads of what it names.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod calendar_support;

use connector_microsoft::Microsoft;
use connector_sdk::testing::Recorded;
use connector_sdk::{Answer, Context, Outcome, Tasks, code};
use model::tasks::Task;
use model::wire::{ChangesRequest, Connection, Source, Sources, SourcesGet};
use serde_json::{Value, json};

use crate::calendar_support::{Call, graph};

const TASKS: &str = "/me/todo/lists/l1/tasks";
const EXPAND: &str = "?$expand=checklistItems,linkedResources";

fn connection() -> Connection {
    let settings = json!({ "timeZone": "Europe/Berlin" });
    Connection { settings: settings.as_object().unwrap().clone(), ..Connection::default() }
}

fn request() -> ChangesRequest {
    ChangesRequest { collection: Some("l1".to_owned()), names_first: true, ..ChangesRequest::default() }
}

fn page(provider: &Recorded, cursor: Option<&str>, args: ChangesRequest) -> Outcome<Answer<Sources>> {
    let context = Context::new(provider, connection()).at(cursor.map(str::to_owned));
    <Microsoft as Tasks>::changes(&context, args)
}

fn error(status: u16, name: &str) -> (u16, Value) {
    (status, json!({ "error": { "code": name, "message": "no" } }))
}

fn link(name: &str, token: &str) -> String {
    format!("https://graph.microsoft.com/v1.0/me/todo/lists/l1/tasks/delta?${name}={token}")
}

/// A list with two tasks on two pages; later a step of the first was changed, the second is gone, and the third is there though it is said
/// to be removed.
fn list(call: &Call) -> (u16, Value) {
    let removed = |id: &str| json!({ "id": id, "@removed": { "reason": "deleted" } });
    let entry = |id: &str| json!({ "@odata.type": "#microsoft.graph.todoTask", "id": id, "title": id });
    match call.path.strip_prefix(TASKS).unwrap() {
        "/delta" => (200, json!({ "value": [entry("a")], "@odata.nextLink": link("skiptoken", "p2") })),
        "/delta?$skiptoken=p2" => {
            (200, json!({ "value": [entry("b")], "@odata.deltaLink": link("deltatoken", "d1") }))
        }
        "/delta?$deltatoken=d1" => {
            let value = json!([entry("a"), removed("b"), removed("c")]);
            (200, json!({ "value": value, "@odata.deltaLink": link("deltatoken", "d2") }))
        }
        "/delta?$deltatoken=old" => error(404, "SyncStateNotFound"),
        other => {
            let id = other.strip_suffix(EXPAND).unwrap().trim_start_matches('/');
            let step = json!({ "id": "s", "displayName": "Step", "isChecked": false });
            match id {
                "b" => error(404, "ErrorItemNotFound"),
                "odd" => (200, json!({ "id": "odd", "dueDateTime": { "dateTime": "soon" } })),
                id => {
                    (200, json!({ "id": id, "title": id, "checklistItems": [step], "linkedResources": [] }))
                }
            }
        }
    }
}

fn ids(sources: &[Source]) -> Vec<(&str, bool)> {
    sources.iter().map(|source| (source.external_id.as_str(), source.deleted)).collect()
}

#[test]
fn a_list_is_read_page_by_page_and_goes_on() {
    let (provider, calls) = graph(list);
    let first = page(&provider, None, ChangesRequest { limit: 1, ..request() }).unwrap();
    assert!(first.more && first.body.enumeration);
    let second = page(&provider, first.cursor.as_deref(), request()).unwrap();
    assert!(!second.more && second.body.enumeration);
    assert_eq!(
        (ids(&first.body.sources), ids(&second.body.sources)),
        (vec![("a", false)], vec![("b", true)])
    );
    let later = page(&provider, second.cursor.as_deref(), request()).unwrap();
    assert!(!later.more && !later.body.enumeration);
    assert_eq!(ids(&later.body.sources), [("a", false), ("b", true), ("c", false)]);
    let task: Task = later.body.sources[0].items[0].body.read().unwrap();
    assert_eq!(task.checklist_items[0].title, "Step", "a delta has no steps: the task is read with them");
    let calls = calls.borrow();
    let sizes: Vec<&Call> = calls.iter().filter(|call| call.prefer.contains("maxpagesize")).collect();
    assert_eq!(sizes.len(), 3);
    assert!(sizes[0].prefer.ends_with("maxpagesize=1"), "{}", sizes[0].prefer);
}

#[test]
fn an_expired_token_starts_the_list_over() {
    let (provider, _) = graph(list);
    for cursor in [r#"m1;{"k":{"d":"old"}}"#, "g1;{}"] {
        assert_eq!(
            page(&provider, Some(cursor), request()).unwrap_err().code,
            code::CURSOR_EXPIRED,
            "{cursor}"
        );
    }
}

#[test]
fn names_alone_are_one_request() {
    let (provider, calls) = graph(list);
    let args = ChangesRequest { names_only: true, ..request() };
    let named = page(&provider, Some(r#"m1;{"k":{"d":"d1"}}"#), args).unwrap();
    assert_eq!(ids(&named.body.sources), [("a", false), ("b", false), ("c", false)]);
    assert_eq!(calls.borrow().len(), 1);
}

/// A task that cannot be read has an error, and its neighbours are read all the same.
#[test]
fn many_tasks_are_read_at_once() {
    let (provider, _) = graph(list);
    let sources = ["a", "b", "odd", ".."].map(str::to_owned).to_vec();
    let args = SourcesGet { collection: "l1".to_owned(), sources, time_zone: None };
    let read = <Microsoft as Tasks>::get_tasks(&Context::new(&provider, connection()), args).unwrap().sources;
    assert_eq!(ids(&read), [("..", true), ("a", false), ("b", true), ("odd", false)]);
    assert_eq!(read[3].error.as_ref().unwrap().code, "unreadable");
    assert_eq!(provider.requests.borrow().len(), 1);
}
