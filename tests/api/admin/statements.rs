//! Statements that lists of the panel send to the database: a few, however many rows they have.

use std::collections::BTreeMap;

use harness::TestServer;
use http::Method;
use service::manage::actor::{Actor, Role};
use service::manage::operators::links::{self, Invitation};

use crate::admin::client::{account_of, event_of, key_of, path_of, request_of};

/// Rows of each list.
const ROWS: u64 = 50;

/// Statements of a list at most.
const BOUND: u64 = 12;

/// The lists, by their routes.
const LISTS: [&str; 6] = [
    "/admin/apps/{a}/keys",
    "/admin/apps/{a}/accounts",
    "/admin/apps/{a}/events",
    "/admin/apps/{a}/requests",
    "/admin/orgs/{o}/members",
    "/admin/orgs/{o}/audit",
];

/// Pages about one thing, which have no list of it.
const PAGES: [&str; 12] = [
    "/admin/apps/{a}",
    "/admin/apps/{a}/providers",
    "/admin/apps/{a}/providers/{p}",
    "/admin/apps/{a}/webhooks",
    "/admin/apps/{a}/webhooks/{w}",
    "/admin/apps/{a}/webhooks/{w}/replays",
    "/admin/apps/{a}/webhooks/{w}/{d}",
    "/admin/apps/{a}/events/{e}",
    "/admin/apps/{a}/keys/{k}",
    "/admin/apps/{a}/requests/{r}",
    "/admin/apps/{a}/usage",
    "/admin/apps/{a}/usage/csv",
];

#[tokio::test]
async fn lists_have_a_bound() {
    let server = TestServer::start().await;
    let tenant = server.test_application().await;
    for number in 0..ROWS {
        key_of(&server, &tenant).await;
        event_of(&server, &tenant).await;
        account_of(&server, &tenant).await;
        request_of(&server, &tenant).await;
        server.operator(Some(Role::Viewer)).await;
        // Each stands in the audit log.
        let roles = BTreeMap::from([(tenant.organization_id.clone(), Role::Viewer)]);
        let invitation = Invitation { email: format!("new{number}@example.com"), is_admin: false, roles };
        let invited = links::invite(&server.app, &Actor::command("test"), &invitation).await;
        invited.expect("the invitation is stored");
    }
    let owner = server.operator(Some(Role::Owner)).await;
    let metrics = server.app.metrics.clone();
    for route in LISTS {
        let path = route.replace("{o}", &tenant.organization_id).replace("{a}", &tenant.application_id);
        // What is remembered for a moment has to be read again.
        server.clock.advance_ms(2_000);
        let before = metrics.request_statements(route, &Method::GET);
        let page = owner.get(path).send().await;
        assert_eq!(page.status, 200, "{page}");
        let after = metrics.request_statements(route, &Method::GET);
        let (sent, rows) = (after.statements - before.statements, after.rows - before.rows);
        assert!((1..=BOUND).contains(&sent), "{route}: {sent} statements, at most {BOUND}");
        assert!(rows >= ROWS, "{route}: {rows} rows");
    }
    for route in PAGES {
        let path = path_of(&server, route, &tenant).await;
        server.clock.advance_ms(2_000);
        let before = metrics.request_statements(route, &Method::GET);
        let page = owner.get(path).send().await;
        assert_eq!(page.status, 200, "{page}");
        let sent = metrics.request_statements(route, &Method::GET).statements - before.statements;
        assert!((1..=BOUND).contains(&sent), "{route}: {sent} statements, at most {BOUND}");
    }
}
