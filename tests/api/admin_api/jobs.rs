//! `/v1/admin/jobs`: what works in the background, run now or cancelled.

use base::error::Result;
use base::tenant::Tenant;
use harness::{Actor, TestServer};
use model::Instant;
use serde_json::{Value, json};
use storage::jobs::{self, NewJob};
use storage::wakes::JobClass;

use crate::admin_api::admin;

const JOBS: &str = "/v1/admin/jobs";
const LATER: i64 = 4_102_444_800_000;

/// Two jobs of an application for a later time: a report, and a delivery, which cannot be cancelled.
pub async fn enqueue(server: &TestServer, tenant: &Tenant) {
    let (tenant, now) = (tenant.clone(), server.app.now());
    let written: Result<()> = server
        .app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let new = |kind, key, class, due_at| NewJob {
                    kind,
                    key,
                    class,
                    tenant: &tenant,
                    connection_id: None,
                    target: "",
                    due_at: Some(due_at),
                    args: Some("{\"text\":\"of the tenant\"}"),
                };
                jobs::enqueue(tx, &new("report", "msg_waits", JobClass::Upkeep, LATER), now).await?;
                jobs::enqueue(tx, &new("deliver", "wh_waits", JobClass::Deliver, LATER + 1), now).await?;
                Ok(())
            })
        })
        .await;
    written.expect("the jobs are stored");
}

/// The ids of a list's jobs.
fn ids(list: &Value) -> Vec<&str> {
    list["data"].as_array().into_iter().flatten().filter_map(|job| job["id"].as_str()).collect()
}

async fn listed(api: &Actor, query: &str) -> Value {
    api.get(format!("{JOBS}?{query}")).send().await.expect(200)
}

/// A list needs a state, and is read by kind, by application, and page by page.
#[tokio::test]
async fn jobs_are_listed_by_their_state() {
    let server = TestServer::start().await;
    let tenant = server.test_application().await;
    enqueue(&server, &tenant).await;
    let api = admin(&server, &["admin.read"]).await;
    let refused = api.get(JOBS).send().await.refused(400, "missing_field");
    assert_eq!(refused["param"], "state");
    api.get(format!("{JOBS}?state=broken")).send().await.refused(400, "invalid_parameter");

    let of_application = format!("state=queued&application_id={}", tenant.application_id);
    assert_eq!(ids(&listed(&api, &of_application).await), ["report:msg_waits", "deliver:wh_waits"]);
    let deliveries = listed(&api, &format!("{of_application}&kind=deliver")).await;
    assert_eq!(ids(&deliveries), ["deliver:wh_waits"]);
    assert!(ids(&listed(&api, "state=queued&application_id=app_none").await).is_empty());
    assert!(ids(&listed(&api, "state=failed").await).is_empty());
    let first = listed(&api, &format!("{of_application}&limit=1")).await;
    let cursor = first["next_cursor"].as_str().expect("a cursor");
    let second = listed(&api, &format!("{of_application}&limit=1&cursor={cursor}")).await;
    assert_eq!(ids(&second), ["deliver:wh_waits"]);
    let moved = format!("{JOBS}?state=failed&cursor={cursor}");
    api.get(moved).send().await.refused(400, "invalid_cursor");

    let job = api.get(format!("{JOBS}/report:msg_waits")).send().await.expect(200);
    assert_eq!(job["applicationId"], json!(tenant.application_id), "{job:#}");
    assert_eq!((&job["kind"], &job["state"]), (&json!("report"), &json!("queued")), "{job:#}");
    assert_eq!(job["dueAt"], json!(Instant::from_millis(LATER)), "{job:#}");
    assert!(!job.to_string().contains("of the tenant"), "arguments are not shown: {job:#}");
    api.get(format!("{JOBS}/report:none")).send().await.refused(404, "not_found");
    server.client().await.get(format!("{JOBS}?state=queued")).send().await.refused(403, "insufficient_scope");
}

/// A job is run now and cancelled; one that must not be lost says what to do instead.
#[tokio::test]
async fn jobs_are_run_now_and_cancelled() {
    let server = TestServer::start().await;
    enqueue(&server, &server.test_application().await).await;
    let (reader, writer) = (admin(&server, &["admin.read"]).await, admin(&server, &["admin.write"]).await);
    let report = format!("{JOBS}/report:msg_waits");
    for act in ["retry", "cancel"] {
        reader.post(format!("{report}/{act}"), json!({})).send().await.refused(403, "insufficient_scope");
    }
    assert_eq!(
        reader.get(&report).send().await.expect(200)["dueAt"],
        json!(Instant::from_millis(LATER)),
        "nothing was changed"
    );
    writer.post(format!("{report}/cancel"), json!({})).send().await.expect(204);
    assert_eq!(reader.get(&report).send().await.expect(200)["state"], "cancelled");
    let again = writer.post(format!("{report}/cancel"), json!({})).send().await.refused(409, "invalid_state");
    assert!(again["message"].as_str().is_some_and(|text| text.contains("cancelled already")), "{again:#}");
    writer.post(format!("{report}/retry"), json!({})).keyed("retry").send().await.expect(204);
    writer.post(format!("{report}/retry"), json!({})).keyed("retry").send().await.expect(204);
    let due = reader.get(&report).send().await.expect(200);
    assert_eq!(
        (&due["state"], &due["dueAt"]),
        (&json!("queued"), &json!(Instant::from_millis(server.app.now())))
    );

    let delivery = format!("{JOBS}/deliver:wh_waits/cancel");
    let refused = writer.post(delivery, json!({})).send().await.refused(409, "invalid_state");
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("webhook")), "{refused:#}");
    writer.post(format!("{JOBS}/report:none/retry"), json!({})).send().await.refused(404, "not_found");

    let log = reader.get("/v1/admin/audit-log").send().await.expect(200);
    let mut acts: Vec<(&str, &str)> = log["data"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|entry| Some((entry["act"].as_str()?, entry["target"].as_str()?)))
        .filter(|(act, _)| act.starts_with("job_"))
        .collect();
    acts.sort_unstable();
    assert_eq!(acts, [("job_cancelled", "report:msg_waits"), ("job_retried", "report:msg_waits")]);
}
