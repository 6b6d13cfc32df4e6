//! The figures of an application: what the page adds up, and what a spreadsheet and a drawing make of hostile names.

use base::tenant::Tenant;
use harness::TestServer;
use service::manage::actor::Role;
use storage::usage::{self, Bucket};

use crate::admin::client::{assert_whole, other_application};

const HOSTILE: &str = "\"><script>alert(1)</script>";

/// Stores a count of a day that no key is blamed for.
async fn count(server: &TestServer, tenant: &Tenant, day: &str, outcome: &str, n: i64) {
    let bucket = Bucket {
        tenant: tenant.clone(),
        key_id: String::new(),
        day: day.to_owned(),
        surface: "email".to_owned(),
        outcome: outcome.to_owned(),
    };
    let stored: anyhow::Result<()> =
        server.app.db.write(move |tx| Box::pin(async move { usage::add(tx, &bucket, n).await })).await;
    stored.expect("the count is stored");
}

/// Requests are added up by outcome, key and surface, those of the last seconds included; all else has its totals.
#[tokio::test]
async fn figures_are_added_up() {
    let server = TestServer::start().await;
    let tenant = server.test_application().await;
    let viewer = server.operator(Some(Role::Viewer)).await;
    let path = format!("/admin/apps/{}/usage", tenant.application_id);
    let page = viewer.get(&path).send().await;
    assert_eq!(page.status, 200, "{page}");
    assert_whole(&page);
    assert!(page.text.contains("No requests in the last 30 days"), "{page}");

    let api = server.key("test", |key| key.name = "Server".to_owned()).await;
    api.get("/v1/connections").send().await.expect(200);
    api.get("/v1/connections/conn_none").send().await.expect(404);
    for (day, outcome, n) in [
        ("2026-02-28", usage::EMAIL_SENT, 3),
        ("2026-02-28", usage::EMAIL_BOUNCED, 1),
        ("2026-02-20", usage::BOOKING_CREATED, 2),
        ("2026-02-20", "webhook:delivered:100", 5),
        ("2026-02-21", "webhook:failed:100", 1_000),
        ("2025-11-01", usage::EMAIL_SENT, 70_000),
    ] {
        count(&server, &tenant, day, outcome, n).await;
    }
    // Of another application.
    count(&server, &other_application(&server).await, "2026-02-28", usage::EMAIL_SENT, 9).await;
    for written in [false, true] {
        if written {
            server.app.usage.flush(&server.app.db).await.expect("the counts are written");
        }
        let page = viewer.get(&path).send().await;
        assert_eq!(page.status, 200, "{page}");
        assert_whole(&page);
        for text in [
            "2 in total, 1 unsuccessful. Busiest day: ",
            "<th scope=\"row\">Succeeded</th><td class=\"num amount\">1</td><td class=\"num amount\">50.0%</td>",
            "<th scope=\"row\">management</th><td class=\"num amount\">2</td>",
            "<bdi>Server</bdi></a></th><td class=\"num amount\">2</td><td class=\"num amount\">50.0%</td>",
            "<dt>Emails sent</dt><dd>3<small>1 bounced",
            "<dt>Bookings</dt><dd>2<small>0 cancelled",
            "<dt>Webhook deliveries</dt><dd>1,005<small>1,000 failed, 95% within 100 ms",
            "aria-current=\"true\">30 days</a>",
        ] {
            assert!(page.text.contains(text), "{written} {text}: {page}");
        }
        assert_eq!(page.text.matches("role=\"img\"").count(), 1, "{page}");
    }
    let week = viewer.get(format!("{path}?days=7")).send().await;
    assert!(week.text.contains("aria-current=\"true\">7 days</a>"), "{week}");
    assert!(week.text.contains("<dt>Bookings</dt><dd>0<small>"), "they are older: {week}");
    let odd = viewer.get(format!("{path}?days=100000000000000000000")).send().await;
    assert!(odd.text.contains("aria-current=\"true\">30 days</a>"), "{odd}");
}

/// A name that a spreadsheet would run is text in the file.
#[tokio::test]
async fn cells_are_text() {
    let server = TestServer::start().await;
    let tenant = server.test_application().await;
    let names = ["=cmd|' /C calc'!A0", "@SUM(A1)", "+1\r\n2", "say \"hi\", Ada"];
    for name in names {
        let api = server.key("test", |key| key.name = name.to_owned()).await;
        api.get("/v1/connections").send().await.expect(200);
    }
    server.app.usage.flush(&server.app.db).await.expect("the counts are written");
    let viewer = server.operator(Some(Role::Viewer)).await;
    let path = format!("/admin/apps/{}/usage", tenant.application_id);
    let file = viewer.get(format!("{path}/csv?days=7")).send().await;
    assert_eq!(file.status, 200, "{file}");
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"usage.csv\""));
    assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
    let mut lines = file.text.split("\r\n");
    let columns = lines.next().unwrap_or_default();
    assert_eq!(columns, "\"day\",\"keyId\",\"keyName\",\"surface\",\"outcome\",\"count\"");
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), names.len(), "{file}");
    assert!(lines.iter().all(|line| line.starts_with("\"2026-03-01\",\"key_")), "{file}");
    for cell in ["\"'=cmd|' /C calc'!A0\"", "\"'@SUM(A1)\"", "\"'+1  2\"", "\"say \"\"hi\"\", Ada\""] {
        let line = format!(",{cell},\"management\",\"success\",\"1\"");
        assert!(lines.iter().any(|own| own.ends_with(&line)), "{line}: {file}");
    }
}

/// Names are text beside the plots, which have no style of their own; each page with a plot says the same in words.
#[tokio::test]
async fn plots_are_text() {
    let server = TestServer::start().await;
    let tenant = server.test_application().await;
    let api = server.key("test", |key| key.name = HOSTILE.to_owned()).await;
    api.get("/v1/connections").send().await.expect(200);
    let viewer = server.operator(Some(Role::Viewer)).await;
    let application = format!("/admin/apps/{}", tenant.application_id);
    let usage = viewer.get(format!("{application}/usage")).send().await;
    let (_, rest) = usage.text.split_once("/keys/key_").expect("the key has a link");
    let key = format!("{application}/keys/key_{}", rest.split('"').next().unwrap_or_default());
    for page in [usage, viewer.get(key).send().await] {
        assert_eq!(page.status, 200, "{page}");
        assert_whole(&page);
        assert!(page.text.contains("role=\"img\" aria-label=\"Requests per day, "), "{page}");
        assert!(page.text.contains("1 in total, 0 unsuccessful."), "{page}");
        assert!(page.text.contains("<rect class=\"ok\" "), "{page}");
        assert!(!page.text.contains("<script>alert") && !page.text.contains("style="), "{page}");
        assert!(page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    }
}
