//! `sync/status` depends on stored rows only: every host reports the same, also after a restart.

use harness::reconnected;
use model::Instant;
use serde_json::{Value, json};
use service::app::App;
use service::sync::{self, lifecycle};
use storage::items;
use storage::{api_keys, connections};

use crate::local_reads::{MINUTE_MS, SECOND_MS, World};

async fn status(world: &World) -> Value {
    let path = format!("/v1/calendars/{}/sync/status", world.calendar);
    world.api.get(path).send().await.expect(200)
}

/// Returns the status as a host would report it.
async fn told_by(app: &App, calendar: &str) -> Value {
    let reader = app.db.reader();
    let tenant = api_keys::tenants(reader).await.expect("a query").remove(0);
    let item = items::any(reader, &tenant, calendar).await.expect("a query").expect("the calendar");
    let connection = connections::find(reader, &tenant, &item.connection_id).await.expect("a query");
    let connection = connection.expect("the connection");
    let scope = sync::scope::scope(&item).expect("a scope");
    let state = sync::state(app, &connection, &scope).await.expect("a state");
    let view = lifecycle::view(app, &connection, &state).await.expect("a view");
    serde_json::to_value(view).expect("JSON")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_tells_the_same_on_both_hosts() {
    let mut world = World::new().await;
    let well = status(&world).await;
    let at = |ms: i64| json!(Instant::from_millis(ms));
    assert_eq!((&well["status"], &well["lagSeconds"]), (&json!("caught_up"), &json!(0)));
    assert_eq!(well["nextAttemptAt"], at(world.server.app.now() + MINUTE_MS), "{well:#}");
    assert_eq!(well["lastError"], Value::Null);
    assert_eq!(well["progress"], json!({ "seen": 1, "estimated": null, "coveredSince": null }));

    world.silence().await;
    world.pass(MINUTE_MS);
    assert_eq!(world.server.pull().await, 1);
    world.pass(5 * SECOND_MS);
    let told = status(&world).await;
    let due_at = world.job().await.due_at.expect("it is tried again");
    assert!(due_at > world.server.app.now());
    assert_eq!((&told["status"], &told["consecutiveErrors"]), (&json!("error"), &json!(1)), "{told:#}");
    assert_eq!(told["lastError"]["code"], "unavailable", "{told:#}");
    assert_eq!((&told["nextAttemptAt"], &told["lastError"]["retryAt"]), (&at(due_at), &at(due_at)));
    assert_eq!(told["lagSeconds"], 65);
    if let Some(other) = world.server.beside().await {
        assert_eq!(told_by(&other.app, &world.calendar).await, told);
    }
    world.server = world.server.restart().await;
    world.api = reconnected(&world.server, &world.api);
    assert_eq!(status(&world).await, told, "nothing of it was in memory");
}

/// A start and a reset say that it is read now.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_is_due_at_once() {
    let world = World::new().await;
    let path = format!("/v1/calendars/{}/sync/reset", world.calendar);
    let reset = world.api.post(path, json!({ "mode": "hard" })).send().await.expect(202);
    let now = json!(Instant::from_millis(world.server.app.now()));
    assert_eq!((&reset["status"], &reset["nextAttemptAt"]), (&json!("initial"), &now));
    assert_eq!(status(&world).await["nextAttemptAt"], now);
}
