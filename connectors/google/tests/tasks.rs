//! Task lists and tasks, in recorded answers.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use connector_google::Google;
use connector_sdk::http::{Request, Response};
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Answer, Context, Outcome, Tasks, code};
use model::tasks::{NotesFormat, Task, TaskList, TaskListRole, TaskPriority, TaskStatus};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, Connection, ItemDelete, ItemWrite, SourceRef, Sources,
};
use serde_json::{Value, json};

const ROOT: &str = "https://tasks.googleapis.com/tasks/v1";
const TASKS: &str = "https://tasks.googleapis.com/tasks/v1/lists/work/tasks";
const LISTS: &str = "https://tasks.googleapis.com/tasks/v1/users/@me/lists";
/// The fixed part of a walk's query.
const ALL: &str = "maxResults=100&showCompleted=true&showHidden=true&showDeleted=true&showAssigned=true";
/// 2026-03-01T08:00:00Z.
const NOW: i64 = 1_772_352_000_000;

fn ok(value: &Value) -> Response {
    response(200, &[], &value.to_string())
}

fn context(provider: &Recorded) -> Context<'_> {
    provider.surroundings.now_ms.set(NOW);
    Context::new(provider, Connection::default()).keyed("key-1")
}

/// The JSON body of the request of this place.
fn sent(provider: &Recorded, place: usize) -> Value {
    serde_json::from_slice(&body(&provider.requests.borrow()[place])).unwrap()
}

fn steps(provider: &Recorded) -> Vec<String> {
    let requests = provider.requests.borrow();
    requests
        .iter()
        .map(|request| format!("{} {}", request.method, request.url.strip_prefix(ROOT).unwrap()))
        .collect()
}

/// A task as Google has it, changed at a second of 07:59.
fn task(id: &str, second: u32) -> Value {
    json!({
        "kind": "tasks#task", "id": id, "etag": format!("\"{second}\""), "title": format!("Task {id}"),
        "updated": format!("2026-03-01T07:59:{second:02}.000Z"), "position": "00000000000000000001", "status": "needsAction",
    })
}

/// `one` with these members instead of its own.
fn with(one: Value, other: Value) -> Value {
    let mut whole = one.as_object().unwrap().clone();
    whole.extend(other.as_object().unwrap().clone());
    Value::Object(whole)
}

fn request() -> ChangesRequest {
    ChangesRequest { collection: Some("work".to_owned()), ..ChangesRequest::default() }
}

fn page(provider: &Recorded, cursor: Option<&str>, args: ChangesRequest) -> Outcome<Answer<Sources>> {
    <Google as Tasks>::changes(&context(provider).at(cursor.map(str::to_owned)), args)
}

fn walk(query: &str, answer: &Value) -> Recorded {
    Recorded::new().expect("GET", &format!("{TASKS}?{ALL}{query}"), ok(answer))
}

fn ids(page: &Answer<Sources>) -> Vec<(&str, bool)> {
    page.body.sources.iter().map(|source| (source.external_id.as_str(), source.deleted)).collect()
}

#[test]
fn a_task_has_what_google_has_of_it() {
    let whole = json!({
        "parent": "p", "notes": "two\nlines", "status": "completed", "completed": "2026-02-28T10:00:00.000Z", "due": "2026-03-14T00:00:00.000Z",
        "hidden": true, "links": [{ "type": "email", "link": "https://mail.test/1" }], "webViewLink": "https://tasks.test/a",
    });
    let items = json!({ "items": [with(task("a", 1), whole), { "id": "odd", "title": [] }, { "id": "gone", "deleted": true }] });
    let page = page(&walk("", &items), None, request()).unwrap();
    assert!(page.body.enumeration && !page.more);
    let [read, odd, gone] = &page.body.sources[..] else { panic!("{:?}", page.body.sources) };
    let found: Task = read.items[0].body.read().unwrap();
    assert_eq!((found.title.as_str(), found.notes.as_deref()), ("Task a", Some("two\nlines")));
    assert_eq!((found.status, found.percent_complete), (TaskStatus::Completed, Some(100)));
    assert_eq!((found.due_date.as_deref(), found.parent_id.as_deref()), (Some("2026-03-14"), Some("p")));
    assert_eq!(found.completed_at.unwrap().to_string(), "2026-02-28T10:00:00.000Z");
    assert_eq!(found.web_url.as_deref(), Some("https://tasks.test/a"));
    let data = read.items[0].provider_data.as_ref().unwrap();
    assert_eq!((&data["hidden"], &data["links"][0]["type"]), (&json!(true), &json!("email")));
    // A record that cannot be read stops no other one.
    assert_eq!((odd.external_id.as_str(), odd.error.as_ref().unwrap().code.as_str()), ("odd", "unreadable"));
    assert!(gone.deleted && gone.items.is_empty());
}

/// Changes are listed from a minute before the latest one; tasks reported by then are not reported again.
#[test]
fn changes_since_the_latest_one() {
    let first = json!({ "items": [task("a", 10), task("b", 50)], "nextPageToken": "p2" });
    let start = page(&walk("", &first), None, request()).unwrap();
    assert!(start.more && start.body.enumeration);
    let last = json!({ "items": [task("c", 30)] });
    let start = page(&walk("&pageToken=p2", &last), start.cursor.as_deref(), request()).unwrap();
    assert!(!start.more && start.body.enumeration);
    let since = "&updatedMin=2026-03-01T07:58:50.000Z";
    let again = json!({ "items": [task("a", 10), task("b", 50), task("c", 30)] });
    let quiet = page(&walk(since, &again), start.cursor.as_deref(), request()).unwrap();
    assert!(!quiet.body.enumeration && quiet.body.sources.is_empty());
    let renamed = with(task("a", 10), json!({ "title": "New", "etag": "\"11\"" }));
    let news = json!({ "items": [renamed, task("b", 50), with(task("c", 59), json!({ "deleted": true }))] });
    let news = page(&walk(since, &news), quiet.cursor.as_deref(), request()).unwrap();
    assert_eq!(ids(&news), [("a", false), ("c", true)]);
    assert!(!news.body.enumeration);
    let later =
        page(&walk("&updatedMin=2026-03-01T07:58:59.000Z", &json!({})), news.cursor.as_deref(), request());
    assert!(later.unwrap().body.sources.is_empty());
}

/// Moved tasks and forgotten deletions are in no list of changes: once a day everything is read.
#[test]
fn everything_is_read_again_each_day() {
    let items = json!({ "items": [task("a", 10)] });
    let start = page(&walk("", &items), None, request()).unwrap();
    let provider = walk("", &items);
    provider.surroundings.now_ms.set(NOW + 86_400_000);
    let context = Context::new(&provider, Connection::default()).at(start.cursor);
    assert!(<Google as Tasks>::changes(&context, request()).unwrap().body.enumeration);
    // An empty list has no latest change to begin at.
    let empty = page(&walk("", &json!({})), None, request()).unwrap();
    assert!(page(&walk("", &items), empty.cursor.as_deref(), request()).unwrap().body.enumeration);
}

/// A task of the first page that changes while the last one is read is in the next changes, however long that took.
#[test]
fn a_long_walk_skips_no_change() {
    let at = |ms: i64, provider: &Recorded, cursor: Option<String>| {
        provider.surroundings.now_ms.set(ms);
        let context = Context::new(provider, Connection::default()).at(cursor);
        <Google as Tasks>::changes(&context, request()).unwrap()
    };
    let first = walk("", &json!({ "items": [task("a", 10)], "nextPageToken": "p2" }));
    let start = at(NOW, &first, None);
    let late = with(task("b", 1), json!({ "updated": "2026-03-01T08:30:00.000Z" }));
    let last = walk("&pageToken=p2", &json!({ "items": [late] }));
    let end = at(NOW + 3_600_000, &last, start.cursor);
    let changed = with(task("a", 10), json!({ "updated": "2026-03-01T08:10:00.000Z", "title": "New" }));
    let next = walk("&updatedMin=2026-03-01T07:59:00.000Z", &json!({ "items": [changed] }));
    assert_eq!(ids(&at(NOW + 3_600_000, &next, end.cursor)), [("a", false)]);
}

/// A change of the far future hides none that come before it.
#[test]
fn a_time_in_the_future_counts_as_now() {
    let items = json!({ "items": [with(task("a", 1), json!({ "updated": "9998-01-01T00:00:00.000Z" }))] });
    let start = page(&walk("", &items), None, request()).unwrap();
    let next = walk("&updatedMin=2026-03-01T07:59:00.000Z", &json!({}));
    assert!(page(&next, start.cursor.as_deref(), request()).is_ok());
}

#[test]
fn a_cursor_that_cannot_be_continued_is_expired() {
    let start = page(&walk("", &json!({ "items": [task("a", 10)] })), None, request()).unwrap().cursor;
    for status in [400, 410] {
        let provider = Recorded::answering(move |_| Ok(response(status, &[], "{}")));
        let failure = page(&provider, start.as_deref(), request()).unwrap_err();
        assert_eq!(failure.code, code::CURSOR_EXPIRED, "{status}");
        // Of a first request nothing but the list's id can be wrong.
        let provider = Recorded::answering(move |_| Ok(response(status, &[], "{}")));
        assert_eq!(page(&provider, None, request()).unwrap_err().code, code::NOT_FOUND, "{status}");
    }
    for cursor in ["", "v0;page;1", "g1;{}"] {
        let failure = page(&Recorded::new(), Some(cursor), request()).unwrap_err();
        assert_eq!(failure.code, code::CURSOR_EXPIRED, "{cursor}");
    }
}

#[test]
fn names_without_content() {
    let provider = walk(
        "&fields=nextPageToken%2Citems%28id%2Cetag%2Cupdated%2Cdeleted%29",
        &json!({ "items": [task("a", 1)] }),
    );
    let page = page(&provider, None, ChangesRequest { names_only: true, ..request() }).unwrap();
    assert_eq!((page.body.sources[0].items.len(), page.body.sources[0].etag.as_deref()), (0, Some("\"1\"")));
}

#[test]
fn lists_and_the_default_one() {
    let entry = |id: &str| json!({ "id": id, "etag": "\"e\"", "title": format!("List {id}"), "updated": "2026-03-01T07:00:00.000Z" });
    let provider = Recorded::new()
        .expect(
            "GET",
            &format!("{LISTS}?maxResults=100"),
            ok(&json!({ "items": [entry("a"), entry("d")], "nextPageToken": "p2" })),
        )
        .expect("GET", &format!("{LISTS}/@default"), ok(&entry("d")))
        .expect(
            "GET",
            &format!("{LISTS}?maxResults=100&pageToken=p2"),
            ok(&json!({ "items": [entry("z")] })),
        );
    let first = Google::list_lists(&context(&provider), ChangesRequest::default()).unwrap();
    assert!(first.more && first.body.enumeration);
    let read = |at: usize| first.body.sources[at].items[0].body.read::<TaskList>().unwrap();
    assert_eq!((read(0).role, read(1).role), (None, Some(TaskListRole::Default)));
    assert!(read(0).is_owner && !read(0).read_only);
    let last =
        Google::list_lists(&context(&provider).at(first.cursor.clone()), ChangesRequest::default()).unwrap();
    assert_eq!((last.more, last.body.sources.len()), (false, 1));
    let failure = Google::list_lists(&context(&provider).at(Some("2".to_owned())), ChangesRequest::default());
    assert_eq!(failure.unwrap_err().code, code::CURSOR_EXPIRED);
}

fn list_write(source: Option<&str>, name: &str) -> CollectionWrite<TaskList> {
    let body = TaskList { name: name.to_owned(), color: Some("#101010".to_owned()), ..TaskList::default() };
    CollectionWrite {
        source: source.map(str::to_owned),
        body,
        changed: vec!["name".to_owned(), "color".to_owned()],
        if_match: None,
    }
}

#[test]
fn lists_are_made_renamed_and_deleted() {
    let entry = json!({ "id": "l", "etag": "\"e\"", "title": "New", "updated": "2026-03-01T07:00:00.000Z" });
    let provider = Recorded::new().expect("POST", LISTS, ok(&entry));
    let made = Google::create_list(&context(&provider), list_write(None, "New")).unwrap();
    assert_eq!((sent(&provider, 0), made.item.as_deref()), (json!({ "title": "New" }), Some("l")));
    assert_eq!(made.warnings[0].target.as_deref(), Some("color"));
    // The answer was lost: the list is there.
    let old = with(entry.clone(), json!({ "id": "old", "updated": "2026-02-01T07:00:00.000Z" }));
    let found = json!({ "items": [old, entry] });
    let inside = format!(
        "{ROOT}/lists/l/tasks?maxResults=100&showCompleted=true&showHidden=true&showAssigned=true&fields=nextPageToken%2Citems%28id%29"
    );
    let looking = |tasks: &Value| {
        Recorded::new().expect("GET", &format!("{LISTS}?maxResults=1000"), ok(&found)).expect(
            "GET",
            &inside,
            ok(tasks),
        )
    };
    let again = |provider: &Recorded| {
        Google::create_list(&context(provider).with_extra("attempt", "2"), list_write(None, "New"))
            .unwrap()
            .item
    };
    assert_eq!(again(&looking(&json!({}))).as_deref(), Some("l"));
    // One with tasks in it is the user's own.
    let provider =
        looking(&json!({ "items": [{ "id": "a" }] })).expect("POST", LISTS, ok(&json!({ "id": "m" })));
    assert_eq!(again(&provider).as_deref(), Some("m"));

    let default = json!({ "id": "d" });
    let reading = || {
        Recorded::new().expect("GET", &format!("{LISTS}/l"), ok(&entry)).expect(
            "GET",
            &format!("{LISTS}/@default"),
            ok(&default),
        )
    };
    let provider = reading().expect("PATCH", &format!("{LISTS}/l"), ok(&entry));
    Google::update_list(&context(&provider), list_write(Some("l"), "New")).unwrap();
    let late = CollectionWrite { if_match: Some("\"x\"".to_owned()), ..list_write(Some("l"), "New") };
    assert_eq!(Google::update_list(&context(&reading()), late).unwrap_err().code, code::CONFLICT);

    let deletion = |id: &str| CollectionDelete { source: id.to_owned(), if_match: None, force: true };
    let look = format!(
        "{ROOT}/lists/l/tasks?maxResults=100&showCompleted=true&showHidden=true&showAssigned=true&fields=nextPageToken%2Citems%28id%2CassignmentInfo%29"
    );
    let provider = reading().expect("GET", &look, ok(&json!({ "items": [{ "id": "a" }] }))).expect(
        "DELETE",
        &format!("{LISTS}/l"),
        response(204, &[], ""),
    );
    assert!(Google::delete_list(&context(&provider), deletion("l")).unwrap().sources[0].deleted);
    // The originals would be deleted, too.
    let assigned = json!({ "items": [{ "id": "a", "assignmentInfo": { "surfaceType": "DOCUMENT" } }] });
    let provider = reading().expect("GET", &look, ok(&assigned));
    assert_eq!(Google::delete_list(&context(&provider), deletion("l")).unwrap_err().code, code::UNSUPPORTED);
    let provider = Recorded::answering(move |_| Ok(ok(&default)));
    assert_eq!(Google::delete_list(&context(&provider), deletion("d")).unwrap_err().code, code::UNSUPPORTED);
    let provider = Recorded::answering(|_| Ok(response(404, &[], "{}")));
    assert!(Google::delete_list(&context(&provider), deletion("l")).unwrap().sources[0].deleted);
}

fn write(source: Option<&str>, changed: &[&str], body: Task) -> ItemWrite<Task> {
    ItemWrite {
        collection: "work".to_owned(),
        source: source.map(str::to_owned),
        body,
        changed: changed.iter().map(ToString::to_string).collect(),
        ..ItemWrite::default()
    }
}

fn bread() -> Task {
    Task {
        title: "Bread".to_owned(),
        notes: Some("rye".to_owned()),
        status: TaskStatus::Completed,
        percent_complete: Some(100),
        due_date: Some("2026-03-14".to_owned()),
        ..Task::default()
    }
}

const BREAD: [&str; 5] = ["title", "notes", "status", "percentComplete", "dueDate"];

#[test]
fn a_new_task_is_a_day_and_a_status() {
    let provider = Recorded::new().expect("POST", &format!("{TASKS}?parent=p"), ok(&task("new", 1)));
    let args = write(None, &BREAD, Task { parent_id: Some("p".to_owned()), ..bread() });
    let made = Google::create_task(&context(&provider), args).unwrap();
    assert_eq!(
        sent(&provider, 0),
        json!({ "title": "Bread", "notes": "rye", "status": "completed", "due": "2026-03-14T00:00:00.000Z" })
    );
    assert_eq!((made.item.as_deref(), made.warnings.len()), (Some("new"), 0));
}

/// Google takes no id from the client: the task of a first attempt is recognized by its content.
#[test]
fn a_second_attempt_looks_for_the_first_ones_task() {
    let url = format!(
        "{TASKS}?maxResults=100&showCompleted=true&showHidden=true&updatedMin=2026-03-01T07:00:00.000Z"
    );
    let made = with(
        task("made", 1),
        json!({ "title": "Bread", "notes": "rye", "status": "completed", "due": "2026-03-14T00:00:00.000Z" }),
    );
    let other = with(made.clone(), json!({ "id": "other", "notes": "wheat" }));
    // One that says the same and is older, and one that a mail was made into.
    let older = with(made.clone(), json!({ "id": "older", "updated": "2026-03-01T07:30:00.000Z" }));
    let linked =
        json!({ "id": "linked", "updated": "2026-03-01T07:59:59.000Z", "links": [{ "type": "email" }] });
    let linked = with(made.clone(), linked);
    let again = |provider: &Recorded| {
        Google::create_task(&context(provider).with_extra("attempt", "2"), write(None, &BREAD, bread()))
            .unwrap()
            .item
    };
    let provider = Recorded::new()
        .expect("GET", &url, ok(&json!({ "items": [other.clone(), older, linked], "nextPageToken": "p2" })))
        .expect("GET", &format!("{url}&pageToken=p2"), ok(&json!({ "items": [made] })));
    assert_eq!(again(&provider).as_deref(), Some("made"));
    let provider = Recorded::new().expect("GET", &url, ok(&json!({ "items": [other] }))).expect(
        "POST",
        TASKS,
        ok(&task("new", 1)),
    );
    assert_eq!(again(&provider).as_deref(), Some("new"));

    // The host knows when the first attempt was. Google's clock may be some seconds behind.
    let url = url.replace("07:00:00", "07:58:50");
    let first_at = (NOW - 60_000).to_string();
    let provider =
        Recorded::new().expect("GET", &url, ok(&json!({}))).expect("POST", TASKS, ok(&task("new", 1)));
    let second =
        context(&provider).with_extra("attempt", "2").with_extra("first-attempt-ms", first_at.as_str());
    let made = Google::create_task(&second, write(None, &BREAD, bread())).unwrap();
    assert_eq!(made.item.as_deref(), Some("new"));
}

#[test]
fn fields_that_google_lacks_are_told_or_refused() {
    let rich = Task {
        title: "Rich".to_owned(),
        status: TaskStatus::Waiting,
        due_date: Some("2026-03-14".to_owned()),
        due_time: Some("09:30".to_owned()),
        time_zone: Some("Europe/Vienna".to_owned()),
        start_date: Some("2026-03-01".to_owned()),
        priority: Some(TaskPriority::High),
        percent_complete: Some(40),
        categories: vec!["home".to_owned()],
        notes_format: NotesFormat::Html,
        ..Task::default()
    };
    let lost = [
        "status",
        "startDate",
        "dueTime",
        "timeZone",
        "priority",
        "percentComplete",
        "categories",
        "notesFormat",
    ];
    let fields: Vec<&str> =
        lost.into_iter().chain(["title", "dueDate", "recurrence", "reminderAt"]).collect();
    let provider = Recorded::new().expect("POST", TASKS, ok(&task("new", 1)));
    let made = Google::create_task(&context(&provider), write(None, &fields, rich.clone())).unwrap();
    let warned: Vec<_> = made.warnings.iter().map(|warning| warning.target.clone().unwrap()).collect();
    assert_eq!(warned, lost);
    assert!(made.warnings.iter().all(|warning| warning.code == "field_not_supported"));
    let strict = ItemWrite { strict: true, ..write(None, &fields, rich) };
    let failure = Google::create_task(&context(&Recorded::new()), strict).unwrap_err();
    assert_eq!(
        (failure.code.as_str(), &failure.detail.unwrap()["field"]),
        (code::UNSUPPORTED, &json!("status"))
    );
    let long = Task { title: "x".to_owned(), notes: Some("ü".repeat(8_193)), ..Task::default() };
    let failure = Google::create_task(&context(&Recorded::new()), write(None, &["notes"], long)).unwrap_err();
    assert_eq!(failure.code, code::INVALID);
}

/// Only what changed is sent.
#[test]
fn a_change_names_its_fields() {
    let url = format!("{TASKS}/a");
    let cases = [
        (vec!["title"], json!({ "title": "Bread" })),
        (vec!["status", "completedAt", "percentComplete"], json!({ "status": "completed" })),
        (vec!["dueDate", "notes"], json!({ "due": "2026-03-14T00:00:00.000Z", "notes": "rye" })),
    ];
    for (changed, expected) in cases {
        let provider = Recorded::new().expect("PATCH", &url, ok(&task("a", 1)));
        Google::update_task(&context(&provider), write(Some("a"), &changed, bread())).unwrap();
        assert_eq!(sent(&provider, 0), expected);
    }
    let provider = Recorded::new().expect("PATCH", &url, ok(&task("a", 1)));
    let open = Task { title: "Bread".to_owned(), ..Task::default() };
    Google::update_task(&context(&provider), write(Some("a"), &["status", "dueDate", "notes"], open))
        .unwrap();
    assert_eq!(
        sent(&provider, 0),
        json!({ "status": "needsAction", "completed": null, "due": null, "notes": null })
    );
}

#[test]
fn an_older_version_is_a_conflict() {
    let url = format!("{TASKS}/a");
    let args = |version: &str| ItemWrite {
        if_match: Some(version.to_owned()),
        ..write(Some("a"), &["title"], bread())
    };
    let provider = Recorded::new().expect("GET", &url, ok(&task("a", 2)));
    assert_eq!(Google::update_task(&context(&provider), args("\"1\"")).unwrap_err().code, code::CONFLICT);
    // It is sent as well, and Google may compare it.
    let provider = Recorded::new().expect("GET", &url, ok(&task("a", 1))).expect(
        "PATCH",
        &url,
        response(412, &[], "{}"),
    );
    assert_eq!(Google::update_task(&context(&provider), args("\"1\"")).unwrap_err().code, code::CONFLICT);
    let headers = provider.requests.borrow()[1].headers.clone();
    assert!(headers.contains(&("if-match".to_owned(), "\"1\"".to_owned())));
    // Google answers deleted tasks, too.
    let gone = || ok(&with(task("a", 1), json!({ "deleted": true })));
    let provider = Recorded::new().expect("PATCH", &url, gone());
    let failure =
        Google::update_task(&context(&provider), write(Some("a"), &["title"], bread())).unwrap_err();
    assert_eq!(failure.code, code::NOT_FOUND);
    for answer in [gone(), response(404, &[], "{}"), response(400, &[], "{}")] {
        let provider = Recorded::new().expect("GET", &url, answer);
        let of = SourceRef { collection: "work".to_owned(), source: "a".to_owned(), ..SourceRef::default() };
        assert_eq!(Google::get_task(&context(&provider), of).unwrap_err().code, code::NOT_FOUND);
    }
}

/// The order is the provider's: a position says behind which sibling a task goes.
#[test]
fn a_task_is_moved_behind_a_sibling() {
    let order = format!(
        "{TASKS}?maxResults=100&showAssigned=true&fields=nextPageToken%2Citems%28id%2Cparent%2Cposition%29"
    );
    let items = json!({ "items": [
        { "id": "a", "position": "01" }, { "id": "b", "position": "02" }, { "id": "c", "position": "03" },
        { "id": "child", "parent": "b", "position": "01" }, { "id": "other", "parent": "b", "position": "05" },
    ] });
    let update = |changed: &[&str], body: Task, expected: &str, asks: bool| {
        let provider = Recorded::new().expect(
            "GET",
            &format!("{TASKS}/a"),
            ok(&with(task("a", 1), json!({ "position": "01" }))),
        );
        let provider = if asks { provider.expect("GET", &order, ok(&items)) } else { provider };
        let provider = provider.expect("POST", &format!("{TASKS}/a/move{expected}"), ok(&task("a", 2)));
        Google::update_task(&context(&provider), write(Some("a"), changed, body)).unwrap();
    };
    let at = |position: &str, parent: Option<&str>| Task {
        title: "A".to_owned(),
        position: Some(position.to_owned()),
        parent_id: parent.map(str::to_owned),
        ..Task::default()
    };
    update(&["position"], at("025", None), "?previous=b", true);
    update(&["position"], at("00", None), "", true);
    update(&["position", "parentId"], at("04", Some("b")), "?parent=b&previous=child", true);
    update(&["parentId"], at("01", Some("b")), "?parent=b", false);
    // It is there already: only its title is written.
    let provider = Recorded::new()
        .expect("GET", &format!("{TASKS}/a"), ok(&with(task("a", 1), json!({ "position": "01" }))))
        .expect("PATCH", &format!("{TASKS}/a"), ok(&task("a", 2)));
    Google::update_task(&context(&provider), write(Some("a"), &["title", "position"], at("01", None)))
        .unwrap();
    // One that is completed and cleared stays where it is.
    let hidden = with(task("a", 1), json!({ "hidden": true, "status": "completed" }));
    let provider = Recorded::new().expect("GET", &format!("{TASKS}/a"), ok(&hidden));
    let kept = Google::update_task(&context(&provider), write(Some("a"), &["parentId"], at("01", Some("b"))))
        .unwrap();
    assert_eq!(kept.warnings[0].target.as_deref(), Some("parentId"));
    // A new task is put in its place at once.
    let provider = Recorded::new().expect("GET", &order, ok(&items)).expect(
        "POST",
        &format!("{TASKS}?previous=c"),
        ok(&task("new", 1)),
    );
    Google::create_task(&context(&provider), write(None, &["title", "position"], at("09", None))).unwrap();
}

fn deletion(if_match: Option<&str>) -> ItemDelete {
    ItemDelete {
        collection: "work".to_owned(),
        source: "a".to_owned(),
        if_match: if_match.map(str::to_owned),
    }
}

#[test]
fn an_assigned_task_is_not_deleted() {
    let url = format!("{TASKS}/a");
    let assigned = with(
        task("a", 1),
        json!({ "assignmentInfo": { "surfaceType": "SPACE", "linkToTask": "https://chat.test" } }),
    );
    let provider = Recorded::new().expect("GET", &url, ok(&assigned));
    assert_eq!(Google::delete_task(&context(&provider), deletion(None)).unwrap_err().code, code::UNSUPPORTED);
    let provider =
        Recorded::new().expect("GET", &url, ok(&task("a", 1))).expect("DELETE", &url, response(204, &[], ""));
    assert!(Google::delete_task(&context(&provider), deletion(Some("\"1\""))).unwrap().sources[0].deleted);
    assert_eq!(steps(&provider), ["GET /lists/work/tasks/a", "DELETE /lists/work/tasks/a"]);
    let provider = Recorded::new().expect("GET", &url, ok(&task("a", 2)));
    assert_eq!(
        Google::delete_task(&context(&provider), deletion(Some("\"1\""))).unwrap_err().code,
        code::CONFLICT
    );
    // Gone already.
    for answer in [response(404, &[], "{}"), ok(&with(task("a", 1), json!({ "deleted": true })))] {
        let provider = Recorded::new().expect("GET", &url, answer);
        assert!(Google::delete_task(&context(&provider), deletion(None)).unwrap().sources[0].deleted);
    }
}

#[test]
fn ids_lead_nowhere_else() {
    let provider = Recorded::answering(|request: &Request| {
        assert!(
            request.url.starts_with(&format!("{ROOT}/lists/..%2Fx/tasks/b%3Fc%3D1%23d")),
            "{}",
            request.url
        );
        Ok(response(404, &[], "{}"))
    });
    let of = |list: &str, id: &str| SourceRef {
        collection: list.to_owned(),
        source: id.to_owned(),
        ..SourceRef::default()
    };
    assert_eq!(
        Google::get_task(&context(&provider), of("../x", "b?c=1#d")).unwrap_err().code,
        code::NOT_FOUND
    );
    assert_eq!(provider.requests.borrow().len(), 1);
    assert_eq!(
        Google::get_task(&context(&Recorded::new()), of("work", "..")).unwrap_err().code,
        code::NOT_FOUND
    );
}
