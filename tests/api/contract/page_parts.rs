//! A page of more records than one transaction writes is written in parts. If it is interrupted, the written parts stay, the page counts
//! as not read, and the next pull writes the rest.

use harness::TestServer;
use serde_json::{Value, json};
use service::app::resource_kind::ResourceKind;
use storage::dialect::Dialect;
use storage::sync_states::{self, SyncState};
use storage::{items, log};

use crate::contract::odd_items::good;
use crate::contract::odd_items::relay::World;

/// Records on a page, and how many of them are written before its end.
const RECORDS: usize = 600;
const BEFORE_THE_END: usize = 400;

/// From here on the end of a page of tasks cannot be written.
async fn refuse_ends(server: &TestServer) {
    let sql = match server.app.db.dialect() {
        Dialect::Sqlite => {
            "create trigger no_end before update on sync_states when new.status = 'caught_up' and new.scope_id <> '' \
             begin select raise(abort, 'no end'); end"
        }
        Dialect::Postgres => {
            "create function refuse_ends() returns trigger language plpgsql as $$ begin \
             if new.status = 'caught_up' and new.scope_id <> '' then raise exception 'no end'; end if; return new; end $$; \
             create trigger no_end before update on sync_states for each row execute function refuse_ends()"
        }
    };
    server.app.db.write(move |tx| Box::pin(async move { tx.batch(sql).await })).await.expect("a trigger");
}

async fn allow_ends(server: &TestServer) {
    let sql = match server.app.db.dialect() {
        Dialect::Sqlite => "drop trigger no_end",
        Dialect::Postgres => "drop trigger no_end on sync_states",
    };
    server.app.db.write(move |tx| Box::pin(async move { tx.batch(sql).await })).await.expect("no trigger");
}

/// An account with a task list of many tasks.
struct Desk {
    world: World,
    list: String,
}

impl Desk {
    async fn open() -> Desk {
        let world = World::open().await;
        let home = json!({ "sources": [good(ResourceKind::TaskList, "home")], "enumeration": true });
        world.provider.tell("lists.list", home);
        let task = |n: usize| {
            let mut task = good(ResourceKind::Task, &format!("task-{n}"));
            task["items"][0]["body"]["parentId"] = Value::Null;
            task
        };
        let tasks: Vec<Value> = (0..RECORDS).map(task).collect();
        world.provider.tell("tasks", json!({ "sources": tasks, "enumeration": true }));
        let lists = format!("/v1/task-lists?connection_id={}", world.connection.id);
        let lists = world.api.get(lists).send().await.expect(200);
        let list = lists["data"][0]["id"].as_str().expect("an id").to_owned();
        Desk { world, list }
    }

    /// Asks for the tasks, for which the provider is asked first; the status of the answer.
    async fn read(&self) -> u16 {
        self.world.server.clock.advance_ms(1);
        let path = format!("/v1/task-lists/{}/tasks?limit=1", self.list);
        self.world.api.get(path).header("cache-control", "no-cache").send().await.status
    }

    /// How many tasks are stored.
    async fn stored(&self) -> usize {
        let (reader, id) = (self.world.server.app.db.reader(), &self.world.connection.id);
        let family = ResourceKind::Task.family();
        items::live_sources(reader, id, family, &self.list).await.expect("a query").len()
    }

    async fn state(&self) -> SyncState {
        let (reader, id) = (self.world.server.app.db.reader(), &self.world.connection.id);
        let surface = ResourceKind::Task.surface().as_str();
        let found = sync_states::find(reader, id, surface, &self.list).await;
        found.expect("a query").expect("it was read")
    }

    /// The kind of each change of tasks in the log.
    async fn changes(&self) -> Vec<String> {
        let (reader, tenant) = (self.world.server.app.db.reader(), &self.world.connection.tenant);
        let change = |line: log::FeedLine<'_>| line.change_type.to_owned();
        let lines = log::of_collection(reader, tenant, &self.list, 0, 10_000, change).await;
        lines.expect("a query").rows
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_breaks_off_is_made_up_for_by_the_next_pull() {
    let desk = Desk::open().await;
    refuse_ends(&desk.world.server).await;
    assert!(desk.read().await >= 500, "the end of the page cannot be written");
    assert_eq!(desk.stored().await, BEFORE_THE_END, "whole parts of it are there");
    let state = desk.state().await;
    assert_eq!((state.cursor, state.last_success_at), (None, None), "the page counts as not read");
    allow_ends(&desk.world.server).await;
    assert_eq!(desk.read().await, 200);
    assert_eq!(desk.stored().await, RECORDS);
    assert_eq!(desk.state().await.status, "caught_up");
    let changes = desk.changes().await;
    assert_eq!(changes.len(), RECORDS, "nothing is told twice");
    assert!(changes.iter().all(|change| change == "created"));
}

/// Records that cannot be stored for a reason of the database: this many at the beginning would indicate that nothing can be stored.
const REFUSED: usize = 5;

async fn refuse_some(server: &TestServer) {
    let sql = match server.app.db.dialect() {
        Dialect::Sqlite => {
            "create trigger no_json before insert on items when new.source_id between 'task-400' and 'task-404' \
             begin select json(new.source_id); end"
        }
        Dialect::Postgres => {
            "create function refuse_some() returns trigger language plpgsql as $$ begin \
             if new.source_id between 'task-400' and 'task-404' then raise exception 'no JSON'; end if; \
             return new; end $$; \
             create trigger no_json before insert on items for each row execute function refuse_some()"
        }
    };
    server.app.db.write(move |tx| Box::pin(async move { tx.batch(sql).await })).await.expect("a trigger");
}

/// Records that cannot be written are quarantined if earlier parts could be written, at any position in a part.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_that_begins_with_what_cannot_be_stored_does_not_end_the_pull() {
    let desk = Desk::open().await;
    refuse_some(&desk.world.server).await;
    assert_eq!(desk.read().await, 200);
    assert_eq!(desk.stored().await, RECORDS - REFUSED);
    let state = desk.state().await;
    assert_eq!((state.status.as_str(), state.last_error), ("caught_up", None));
}

/// Records that a part has written are not read again for the parts after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_parts_of_a_page_do_not_supersede_each_other() {
    let desk = Desk::open().await;
    assert_eq!(desk.read().await, 200);
    assert_eq!((desk.stored().await, desk.changes().await.len()), (RECORDS, RECORDS));
    // Every record has another version, and two are deleted.
    let task = |n: usize| {
        let mut task = good(ResourceKind::Task, &format!("task-{n}"));
        task["items"][0]["body"]["parentId"] = Value::Null;
        task["items"][0]["body"]["title"] = json!(format!("Title {n}"));
        task
    };
    let tasks: Vec<Value> = (2..RECORDS).map(task).collect();
    desk.world.provider.tell("tasks", json!({ "sources": tasks, "enumeration": true }));
    let calls = desk.world.provider.calls_of("tasks");
    assert_eq!(desk.read().await, 200);
    assert_eq!(desk.world.provider.calls_of("tasks") - calls, 1);
    assert_eq!(desk.stored().await, RECORDS - 2);
    let changes = desk.changes().await;
    let of = |word: &str| changes.iter().filter(|change| *change == word).count();
    assert_eq!((of("created"), of("updated"), of("deleted")), (RECORDS, RECORDS - 2, 2));
}
