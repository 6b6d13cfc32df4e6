//! A full disk: writes are 503 `storage_full`, reads succeed, `/readyz` gives the reason, and as soon as there is space everything works
//! again.

use harness::TestServer;
use serde_json::json;

/// Runs a statement on the connection that writes.
async fn run(server: &TestServer, sql: &'static str) -> anyhow::Result<()> {
    server.app.db.write(move |tx| Box::pin(async move { tx.batch(sql).await })).await
}

/// Fixes the size of the database's file and fills its free pages: SQLite then reports a full disk.
async fn fill(server: &TestServer) {
    run(server, "create table filler (content blob)").await.expect("a table");
    run(server, "pragma max_page_count = 1").await.expect("the pragma is set");
    let mut rows = 0;
    while run(server, "insert into filler values (zeroblob(3000))").await.is_ok() {
        rows += 1;
        assert!(rows < 10_000, "the file still grows");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_503_with_reads_until_there_is_room() {
    let server = TestServer::start().await;
    if server.app.db.is_shared() {
        eprintln!("not run on PostgreSQL, whose disk cannot be filled from here");
        return;
    }
    let (api, anybody) = (server.client().await, server.anonymous());
    let connection = format!("/v1/connections/{}", api.connect_account("alice").await);
    let calendars = api.get("/v1/calendars").send().await.expect(200);
    let key = |n: usize| json!({ "name": format!("key {n}"), "scopes": ["usage.read"] });
    let before = api.all("/v1/api-keys").await.len();

    fill(&server).await;
    let mut made = 0;
    let refused = loop {
        let answer = api.post("/v1/api-keys", key(made)).send().await;
        if answer.status != 201 {
            break answer;
        }
        made += 1;
        assert!(made < 800, "the pages that were free are used up");
    };
    assert_eq!(refused.header("retry-after"), Some("10"), "{refused}");
    let error = refused.refused(503, "storage_full");
    assert_eq!((&error["type"], &error["retryable"]), (&json!("api_error"), &json!(true)), "{error:#}");
    api.get(&connection).send().await.expect(200);
    let read = api.get("/v1/calendars").send().await.expect(200);
    assert_eq!(read["data"], calendars["data"], "what is stored is read");
    server.clock.advance_ms(2_000);
    let away = anybody.get("/readyz").send().await;
    assert_eq!(away.status, 503, "{away}");
    let reason = away.answer["reason"].as_str().expect("a reason");
    assert!(reason.contains("the disk of the database is full"), "{reason}");

    run(&server, "pragma max_page_count = 1073741823").await.expect("the pragma is set");
    server.clock.advance_ms(2_000);
    anybody.get("/readyz").send().await.expect(200);
    api.post("/v1/api-keys", key(made)).send().await.expect(201);
    let after = api.all("/v1/api-keys").await.len();
    assert_eq!(after, before + made + 1, "what was refused is not there, and what was acknowledged is");
}
