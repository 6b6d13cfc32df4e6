//! `/v1/admin/hosts`, `/v1/admin/health` and `/v1/admin/audit-log`: how the installation is, and what was done to it.

use base::error::Result;
use base::ids::Kind;
use harness::{Actor, TestServer};
use serde_json::{Value, json};
use service::manage::acting::Target;
use service::manage::actor::Actor as Administrator;
use storage::audit_log;
use storage::hosts::{self, Host};

use crate::admin_api::admin;

const LOG: &str = "/v1/admin/audit-log";
const HOUR_MS: i64 = 3_600_000;

/// Writes an entry of an administrator into the audit log, at the present time.
async fn note(server: &TestServer, who: &str, act: &'static str, target: Target) {
    let app = &server.app;
    let actor = Administrator { id: who.to_owned(), ..Administrator::command("a test") };
    let entry = target.entry(&actor, act, app.new_id(Kind::AuditEntry), app.now());
    let written: Result<()> =
        app.db.write(move |tx| Box::pin(async move { Ok(audit_log::insert(tx, &entry).await?) })).await;
    written.expect("the entry is stored");
}

async fn acts(api: &Actor, query: &str) -> Vec<String> {
    let list = api.get(format!("{LOG}{query}")).send().await.expect(200);
    let entries = list["data"].as_array().cloned().unwrap_or_default();
    entries.iter().filter_map(|entry| entry["act"].as_str().map(str::to_owned)).collect()
}

/// The audit log is read whole, by who acted, by organization and by time, and page by page.
#[tokio::test]
async fn the_audit_log_is_read_by_actor_organization_and_time() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.read"]).await;
    let of_org = |id: &str| Target::organization(id, "thing").details(json!({ "fields": ["name"] }));
    note(&server, "opr_a", "first", of_org("org_1")).await;
    server.clock.advance_ms(HOUR_MS);
    note(&server, "opr_b", "second", of_org("org_2")).await;
    server.clock.advance_ms(HOUR_MS);
    note(&server, "opr_a", "third", of_org("org_2")).await;
    server.clock.advance_ms(HOUR_MS);
    note(&server, "opr_b", "fourth", Target::installation("thing")).await;

    assert_eq!(acts(&api, "").await, ["fourth", "third", "second", "first"]);
    assert_eq!(acts(&api, "?actor_id=opr_a").await, ["third", "first"]);
    assert_eq!(acts(&api, "?organization_id=org_2").await, ["third", "second"]);
    let hours = |from: i64, to: i64| {
        format!("start=2026-03-01T{:02}:00:00Z&end=2026-03-01T{:02}:00:00Z", 8 + from, 8 + to)
    };
    assert_eq!(acts(&api, &format!("?{}", hours(1, 3))).await, ["third", "second"]);
    assert_eq!(acts(&api, &format!("?actor_id=opr_a&{}", hours(1, 3))).await, ["third"]);
    assert_eq!(acts(&api, &format!("?organization_id=org_2&{}", hours(0, 2))).await, ["second"]);
    assert!(acts(&api, "?start=2026-03-02").await.is_empty());

    let first = api.get(format!("{LOG}?limit=2&start=2026-03-01T09:00:00Z")).send().await.expect(200);
    let cursor = first["next_cursor"].as_str().expect("a cursor");
    let rest = format!("?limit=2&start=2026-03-01T09:00:00Z&cursor={cursor}");
    assert_eq!(acts(&api, &rest).await, ["second"]);
    let moved = format!("{LOG}?limit=2&cursor={cursor}");
    api.get(moved).send().await.refused(400, "invalid_cursor");
    let entry = &first["data"][0];
    assert_eq!((&entry["organizationId"], &entry["target"]), (&Value::Null, &json!("thing")), "{entry:#}");
    assert_eq!(entry["actor"]["kind"], "command");
    assert_eq!(first["data"][1]["details"], json!({ "fields": ["name"] }));

    let refused = api.get(format!("{LOG}?actor_id=opr_a&organization_id=org_1")).send().await;
    refused.refused(400, "conflicting_fields");
    api.get(format!("{LOG}?start=2026-03-02&end=2026-03-01")).send().await.refused(400, "invalid_time_range");
    api.get(format!("{LOG}?start=yesterday")).send().await.refused(400, "invalid_parameter");
    let writer = admin(&server, &["admin.operators", "admin.connectors"]).await;
    writer.get(LOG).send().await.refused(403, "insufficient_scope");
}

/// Hosts are shown with their leases, and the state of the installation with its checks and jobs, to keys of the administration alone.
#[tokio::test]
async fn hosts_and_health_are_shown() {
    let server = TestServer::start().await;
    let now = server.app.now();
    let host = |id: &str, lease_until| Host {
        id: id.to_owned(),
        name: format!("{id} (process 7)"),
        version: "1.2.3".to_owned(),
        started_at: now,
        lease_until,
    };
    let (alive, gone) = (host("host_alive", now + HOUR_MS), host("host_gone", now - 1));
    let written: Result<()> = server
        .app
        .db
        .write(move |tx| {
            Box::pin(async move {
                hosts::insert(tx, &alive).await?;
                hosts::insert(tx, &gone).await?;
                Ok(())
            })
        })
        .await;
    written.expect("the hosts are stored");
    let api = admin(&server, &["admin.read"]).await;
    let shown = api.get("/v1/admin/hosts").send().await.expect(200);
    let shown_hosts = shown["hosts"].as_array().cloned().unwrap_or_default();
    let find =
        |id: &str| shown_hosts.iter().find(|host| host["id"] == id).unwrap_or_else(|| panic!("{shown:#}"));
    assert_eq!(find("host_alive")["isAlive"], true);
    assert_eq!(
        (&find("host_gone")["isAlive"], &find("host_gone")["version"]),
        (&json!(false), &json!("1.2.3"))
    );

    let health = api.get("/v1/admin/health").send().await.expect(200);
    assert_eq!(health["database"]["schemaVersion"], health["database"]["latestVersion"], "{health:#}");
    let checks = health["checks"].as_array().cloned().unwrap_or_default();
    assert!(checks.iter().any(|check| check["name"] == "schema" && check["status"] == "ok"), "{health:#}");
    assert!(["ok", "warn", "fail"].iter().any(|status| health["status"] == *status), "{health:#}");
    assert!(health["hosts"].as_array().is_some_and(|hosts| hosts.len() >= 2), "{health:#}");
    assert!(health["database"]["pools"].as_array().is_some_and(|pools| !pools.is_empty()), "{health:#}");

    for path in ["/v1/admin/hosts", "/v1/admin/health"] {
        server.client().await.get(path).send().await.refused(403, "insufficient_scope");
        let other = admin(&server, &["admin.operators"]).await;
        other.get(path).send().await.refused(403, "insufficient_scope");
        server.anonymous().get(path).send().await.refused(401, "missing_api_key");
    }
}
