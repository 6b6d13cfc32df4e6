//! `switchboard jobs`: what an operator sees of work in the background, and can do about it.

use base::tenant::Tenant;
use serde_json::{Value, json};
use storage::hosts::{self, Host};
use storage::jobs::{self, Claim, End, Fence, NewJob};
use storage::wakes::JobClass;
use storage::{Db, Options};

use crate::cli::{printed, refused, run, switchboard};

const NOON: i64 = 1_767_268_800_000;
const LATER: i64 = 4_102_444_800_000;

/// A database with four jobs: a report that failed for good, one that waits for a later time, a delivery that a host runs, and a booking's
/// event that is due.
async fn store() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite://{}", dir.path().join("switchboard.db").display());
    let db = Db::open(&Options::for_url(url)).await.expect("a database");
    let written: anyhow::Result<()> = db
        .write(|tx| {
            Box::pin(async move {
                let tenant = Tenant { organization_id: "org_1".into(), application_id: "app_1".into() };
                let new = |kind, key, class, due_at| NewJob {
                    kind,
                    key,
                    class,
                    tenant: &tenant,
                    connection_id: Some("conn_1"),
                    target: "",
                    due_at: Some(due_at),
                    args: None,
                };
                let host = Host {
                    id: "host_1".into(),
                    name: "mail-1 (process 77)".into(),
                    version: "1".into(),
                    started_at: NOON,
                    lease_until: LATER,
                };
                hosts::insert(tx, &host).await?;
                jobs::enqueue(tx, &new("report", "msg_failed", JobClass::Upkeep, NOON), NOON).await?;
                jobs::enqueue(tx, &new("report", "msg_waits", JobClass::Upkeep, LATER), NOON).await?;
                jobs::enqueue(tx, &new("deliver", "whk_1", JobClass::Deliver, NOON), NOON).await?;
                jobs::enqueue(tx, &new("booking_event", "bkg_1", JobClass::Upkeep, NOON), NOON).await?;
                let by = Claim {
                    owner: "host_1".into(),
                    fence: Fence::random(&base::clock::Entropy::system()),
                    now: NOON,
                    deadline_at: Some(LATER),
                };
                let claimed =
                    jobs::claim(tx, &["report:msg_failed".into(), "deliver:whk_1".into()], &by).await?;
                let failed = claimed.iter().find(|job| job.kind == "report").expect("it is claimed");
                let end = End {
                    is_failed: true,
                    attempts: 8,
                    last_error: Some(jobs::error(("provider_unavailable", "the provider is away"), NOON)),
                    ..End::default()
                };
                jobs::reschedule(tx, failed, &end, NOON).await
            })
        })
        .await;
    written.expect("the jobs are written");
    db.close().await;
    dir
}

/// The command on that database.
fn on<'a>(dir: &'a tempfile::TempDir, arguments: &[&'a str]) -> Vec<&'a str> {
    let place = ["--data-dir", dir.path().to_str().expect("a plain path")];
    ["jobs"].iter().chain(arguments).chain(&place).copied().collect()
}

/// The ids in a list.
fn ids(listed: &Value) -> Vec<&str> {
    listed.as_array().expect("an array").iter().filter_map(|job| job["id"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn list_shows_who_runs_what_and_why_it_fails() {
    let dir = store().await;
    let all = printed(&on(&dir, &["list", "--json"]));
    assert_eq!(ids(&all).len(), 4);
    let failed = printed(&on(&dir, &["list", "--state", "failed", "--json"]));
    assert_eq!(ids(&failed), ["report:msg_failed"]);
    assert_eq!(failed[0]["lastError"]["code"], "provider_unavailable");
    assert_eq!(ids(&printed(&on(&dir, &["list", "--due", "--json"]))), ["booking_event:bkg_1"]);
    let reports = printed(&on(&dir, &["list", "--kind", "report", "--connection", "conn_1", "--json"]));
    assert_eq!(ids(&reports), ["report:msg_failed", "report:msg_waits"]);
    assert_eq!(printed(&on(&dir, &["list", "--application", "app_2", "--json"])), json!([]));

    let text = String::from_utf8(run(&on(&dir, &["list"])).stdout).expect("UTF-8");
    let line = |id: &str| text.lines().find(|line| line.starts_with(id)).expect("a line").to_owned();
    assert!(line("report:msg_failed").contains("provider_unavailable: the provider is away"), "{text}");
    assert!(
        line("deliver:whk_1").contains("running") && line("deliver:whk_1").contains("mail-1 (process 77)")
    );
    assert!(
        line("report:msg_waits").contains("queued") && line("report:msg_waits").contains("in "),
        "{text}"
    );

    let running = printed(&on(&dir, &["show", "deliver:whk_1", "--json"]));
    for (field, value) in [
        ("state", json!("running")),
        ("host", json!("mail-1 (process 77)")),
        ("hostId", json!("host_1")),
        ("applicationId", json!("app_1")),
        ("attempts", json!(1)),
        ("lastError", Value::Null),
    ] {
        assert_eq!(running[field], value, "{field}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_runs_a_failed_job() {
    let dir = store().await;
    printed(&on(&dir, &["retry", "report:msg_failed", "--json"]));
    let job = printed(&on(&dir, &["show", "report:msg_failed", "--json"]));
    assert_eq!((&job["state"], &job["attempts"]), (&json!("queued"), &json!(0)));
    assert_eq!(ids(&printed(&on(&dir, &["list", "--due", "--json"]))).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_cancelled_where_nothing_is_lost_by_it() {
    let dir = store().await;
    printed(&on(&dir, &["cancel", "report:msg_waits", "--json"]));
    assert_eq!(printed(&on(&dir, &["show", "report:msg_waits", "--json"]))["state"], "cancelled");
    for (arguments, said) in [
        (["cancel", "report:msg_waits"], "is cancelled already"),
        (["cancel", "booking_event:bkg_1"], "cancel the booking through the API"),
        (["cancel", "deliver:whk_1"], "pause or delete the webhook"),
        (["retry", "deliver:whk_1"], "runs on mail-1 (process 77)"),
        (["show", "report:msg_none"], "there is no job report:msg_none"),
    ] {
        let (code, stderr) = refused(&mut switchboard(&on(&dir, &arguments)));
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains(said), "{stderr}");
    }
    let (code, stderr) = refused(&mut switchboard(&on(&dir, &["list", "--state", "broken"])));
    assert!(code == Some(2) && stderr.contains("queued, running, failed, cancelled"), "{stderr}");
}
