//! Jobs on pages: lists by state, page by page, with their errors as text; run now, and cancelled where nothing is lost by it.

use std::collections::BTreeSet;

use anyhow::Result;
use harness::panel_user::PanelUser;
use harness::{Exchange, TestServer};
use http::Method;
use service::manage::actor::Role;
use storage::jobs::{self, Claim, End, Fence, Job, NewJob};
use storage::wakes::JobClass;
use storage::{audit_log, hosts};

use crate::admin::client::{assert_whole, job_of, led_to, token};

const LIST: &str = "/admin/system/jobs";
const HOSTILE: &str = "<script>alert(1)</script>\"onx='y'";
const HOUR: i64 = 3_600_000;

/// Jobs of an application of a kind, with these numbers in their ids, due one second after the other.
async fn enqueue(server: &TestServer, kind: &'static str, class: JobClass, numbers: std::ops::Range<i64>) {
    let (tenant, now) = (server.test_application().await, server.app.now());
    let stored: Result<()> = server
        .app
        .db
        .write(move |tx| {
            Box::pin(async move {
                for number in numbers {
                    let key = format!("thing_{number:03}");
                    let new = NewJob {
                        kind,
                        key: &key,
                        class,
                        tenant: &tenant,
                        connection_id: None,
                        target: "",
                        due_at: Some(now + HOUR + number * 1_000),
                        args: None,
                    };
                    jobs::enqueue(tx, &new, now).await?;
                }
                Ok(())
            })
        })
        .await;
    stored.expect("the jobs are stored");
}

/// Lets a host of this name claim a job; with an error, the job fails for good.
async fn claim(server: &TestServer, id: &str, host: &str, error: Option<&'static str>) {
    let (id, host, now) = (id.to_owned(), host.to_owned(), server.app.now());
    let fence = Fence::random(&server.app.entropy);
    let stored: Result<()> = server
        .app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let row = hosts::Host {
                    id: "host_of_test".to_owned(),
                    name: host,
                    version: "1".to_owned(),
                    started_at: now,
                    lease_until: now + HOUR,
                };
                hosts::insert(tx, &row).await?;
                let by = Claim { owner: row.id, fence, now: now + 2 * HOUR, deadline_at: None };
                let claimed = jobs::claim(tx, &[id], &by).await?;
                let Some(error) = error else { return Ok(()) };
                let last_error = Some(jobs::error(("provider_unavailable", error), now));
                let end = End { is_failed: true, attempts: 8, last_error, ..End::default() };
                jobs::reschedule(tx, claimed.first().expect("it is claimed"), &end, now).await
            })
        })
        .await;
    stored.expect("the job is claimed");
}

async fn job(server: &TestServer, id: &str) -> Job {
    jobs::find(server.app.db.reader(), id).await.expect("the job is read").expect("the job is there")
}

async fn page(user: &PanelUser, path: &str) -> Exchange {
    let page = user.get(path).send().await;
    assert_eq!(page.status, 200, "{path}: {page}");
    assert_whole(&page);
    page
}

/// The ids of jobs that a page lists.
fn listed(page: &Exchange) -> Vec<String> {
    let links = page.text.split("system/jobs/").skip(1);
    let ids = links.filter_map(|rest| rest.split_once('"')).map(|(id, _)| id.to_owned());
    ids.filter(|id| id.contains(':')).collect()
}

/// The address of the next page of a list.
fn older(page: &Exchange) -> Option<String> {
    let (_, rest) = page.text.split_once("rel=\"next\" href=\"")?;
    let href = rest.split('"').next()?.replace("&amp;", "&");
    Some(format!("{LIST}?{}", href.split_once('?')?.1))
}

/// Acts in the audit log of the installation, with their targets.
async fn acts(server: &TestServer) -> Vec<String> {
    let read = audit_log::list(server.app.db.reader(), audit_log::INSTALLATION, audit_log::NEWEST, 20).await;
    read.expect("the log").into_iter().map(|entry| format!("{} {}", entry.act, entry.target)).collect()
}

/// Each state has its list, in pages of 50, along the times of all classes; a filter leaves jobs out, and its cursor is good for itself alone.
#[tokio::test]
async fn jobs_are_listed_by_state() {
    let server = TestServer::start().await;
    let admin = server.operator(None).await;
    enqueue(&server, "report", JobClass::Upkeep, 0..60).await;
    // Due at the same times as some of the others.
    enqueue(&server, "deliver", JobClass::Deliver, 20..50).await;
    let queued = format!("{LIST}?state=queued");
    let (first, mut all) = (page(&admin, &queued).await, Vec::new());
    let mut next = Some(first);
    while let Some(shown) = next {
        all.extend(listed(&shown));
        next = match older(&shown) {
            Some(path) => Some(page(&admin, &path).await),
            None => None,
        };
    }
    let ours: Vec<&String> = all.iter().filter(|id| id.contains(":thing_")).collect();
    assert_eq!(ours.len(), 90, "{all:?}");
    assert_eq!(ours.iter().collect::<BTreeSet<_>>().len(), 90, "none is on two pages");
    let numbers: Vec<&str> = ours.iter().filter_map(|id| id.rsplit('_').next()).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");

    let only = page(&admin, &format!("{queued}&kind=deliver")).await;
    assert!(listed(&only).len() == 30 && listed(&only).iter().all(|id| id.starts_with("deliver:")), "{only}");
    let tenant = server.test_application().await;
    let own = page(&admin, &format!("{queued}&application={}", tenant.application_id)).await;
    assert_eq!(listed(&own).len(), 50, "{own}");
    let cursor = older(&own).expect("there is another page");
    let (_, cursor) = cursor.split_once("cursor=").expect("a cursor");
    let foreign = admin.get(format!("{queued}&kind=deliver&cursor={cursor}")).send().await;
    assert_eq!(foreign.status, 400, "{foreign}");
    let none = page(&admin, &format!("{queued}&application=app_none&kind=%27%25_")).await;
    assert!(listed(&none).is_empty() && none.text.contains("No queued jobs"), "{none}");
    assert!(page(&admin, LIST).await.text.contains("No failed jobs"));
    assert!(page(&admin, &format!("{LIST}?state=running")).await.text.contains("No running jobs"));
}

/// A page of a list sends a few statements, however many jobs there are.
#[tokio::test]
async fn a_list_of_jobs_has_a_bound() {
    let server = TestServer::start().await;
    let admin = server.operator(None).await;
    enqueue(&server, "report", JobClass::Upkeep, 0..120).await;
    let metrics = server.app.metrics.clone();
    let (queued, tenant) = (format!("{LIST}?state=queued"), server.test_application().await);
    let of_application = format!("{queued}&application={}", tenant.application_id);
    for (path, bound) in [
        (LIST, 8),
        ("/admin/system/jobs?state=running", 8),
        (queued.as_str(), 12),
        (of_application.as_str(), 12),
    ] {
        server.clock.advance_ms(2_000);
        let before = metrics.request_statements(LIST, &Method::GET);
        page(&admin, path).await;
        let after = metrics.request_statements(LIST, &Method::GET);
        let (sent, rows) = (after.statements - before.statements, after.rows - before.rows);
        assert!((1..=bound).contains(&sent), "{path}: {sent} statements");
        assert!(rows <= 51 * 2 + 20, "{path}: {rows} rows");
    }
}

/// Errors of providers and names of hosts are text, in lists and on the job's own page.
#[tokio::test]
async fn errors_of_jobs_are_text() {
    let server = TestServer::start().await;
    let (admin, tenant) = (server.operator(None).await, server.test_application().await);
    let failed = job_of(&server, &tenant).await;
    claim(&server, &failed, HOSTILE, Some(HOSTILE)).await;
    let running = job_of(&server, &tenant).await;
    claim(&server, &running, HOSTILE, None).await;
    for (path, id) in [
        (LIST.to_owned(), &failed),
        (format!("{LIST}/{failed}"), &failed),
        (format!("{LIST}?state=running"), &running),
        (format!("{LIST}/{running}"), &running),
        ("/admin/system".to_owned(), &running),
    ] {
        let page = page(&admin, &path).await;
        assert!(!page.text.contains("<script>alert"), "{path}: {page}");
        assert!(
            page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;onx=&#39;y&#39;"),
            "{path}: {page}"
        );
        if path.starts_with(LIST) {
            assert!(page.text.contains(id.as_str()), "{path}: {page}");
        }
    }
    let shown = page(&admin, &format!("{LIST}/{failed}")).await;
    assert!(
        shown.text.contains("provider_unavailable") && shown.text.contains(&tenant.application_id),
        "{shown}"
    );
    // The search knows jobs, for administrators.
    let asked = format!("/admin/search?q={failed}");
    assert_eq!(led_to(&asked, &admin.get(&asked).send().await), format!("{LIST}/{failed}"));
    let owner = server.operator(Some(Role::Owner)).await;
    assert_eq!(owner.get(&asked).send().await.status, 404);
    assert_eq!(admin.get(format!("{LIST}/report:none")).send().await.status, 404);
}

/// A failed job is run again once for each form; what runs stays as it is; what would be lost is not cancelled, and the page says why.
#[tokio::test]
async fn a_job_is_run_now_or_cancelled() {
    let server = TestServer::start().await;
    let (admin, tenant) = (server.operator(None).await, server.test_application().await);
    let failed = job_of(&server, &tenant).await;
    claim(&server, &failed, "one", Some("the provider is away")).await;
    let (path, form) = (format!("{LIST}/{failed}"), token(&admin).await);
    let retry = format!("{path}/retry");
    for _ in 0..2 {
        assert_eq!(led_to(&retry, &admin.post(&retry, &form, &[]).send().await), LIST);
    }
    let queued = job(&server, &failed).await;
    assert_eq!(
        (queued.state.as_str(), queued.due_at, queued.attempts),
        ("queued", Some(server.app.now()), 0)
    );
    assert_eq!(acts(&server).await, [format!("job_retried {failed}")], "once, for two clicks");
    assert!(page(&admin, LIST).await.text.contains("The job is due now."));

    let running = job_of(&server, &tenant).await;
    claim(&server, &running, "one", None).await;
    let shown = page(&admin, &format!("{LIST}/{running}")).await;
    assert!(
        !shown.text.contains("/retry\"") && shown.text.contains("The job runs at the moment."),
        "{shown}"
    );
    for act in ["retry", "cancel"] {
        let path = format!("{LIST}/{running}/{act}");
        let refused = admin.post(&path, &token(&admin).await, &[]).send().await;
        assert_eq!(refused.status, 409, "{refused}");
        assert!(refused.text.contains("Nothing was changed"), "{refused}");
        assert_whole(&refused);
    }
    assert_eq!(job(&server, &running).await.state, "running");

    enqueue(&server, "pull", JobClass::Pull, 0..1).await;
    let (pull, cancel) = (format!("{LIST}/pull:thing_000"), format!("{LIST}/pull:thing_000/cancel"));
    assert!(page(&admin, &pull).await.text.contains("disconnect the account instead"));
    assert_eq!(led_to(&cancel, &admin.get(&cancel).send().await), pull, "there is nothing to confirm");
    assert_eq!(admin.post(&cancel, &token(&admin).await, &[]).send().await.status, 409);
    assert_eq!(job(&server, "pull:thing_000").await.state, "queued");

    let waits = job_of(&server, &tenant).await;
    let (path, cancel) = (format!("{LIST}/{waits}"), format!("{LIST}/{waits}/cancel"));
    let question = page(&admin, &cancel).await;
    assert!(question.text.contains("Cancel this job?") && question.text.contains(&waits), "{question}");
    assert_eq!(led_to(&cancel, &admin.post(&cancel, &token(&admin).await, &[]).send().await), path);
    assert_eq!(job(&server, &waits).await.state, "cancelled");
    assert!(page(&admin, &format!("{LIST}?state=cancelled")).await.text.contains(&waits));
    assert_eq!(acts(&server).await.len(), 2, "what was refused is not in the log");
}
