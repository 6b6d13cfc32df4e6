//! Parts of the page of a key: its requests by day, the last of them, and the keys and access tokens that it has made.

use std::collections::HashMap;

use base::error::Result;
use service::locale::html::Html;
use service::manage::usage_report::{self, added_up};
use service::manage::{keys, request_log};
use storage::api_keys::{ApiKey, KeyKind};
use storage::key_relatives;

use crate::admin::pages::key_words::add_state;
use crate::admin::pages::requests::add_table;
use crate::admin::pages::usage::{USUAL_DAYS, add_days, add_plot};
use crate::admin::parts::head::short_name;
use crate::admin::parts::table::{RowTable, TableCell, id_cell, linked_name};
use crate::admin::texts::fill;
use crate::admin::visit::Visit;

/// Requests that are shown.
const MAX_REQUESTS: i64 = 5;
/// Keys and tokens that are read, and keys that are shown.
const MAX_READ: i64 = 200;
const MAX_SHOWN: usize = 20;

/// Adds what a key of the application has done; nothing of the keys of the installation.
///
/// # Errors
/// Those of the database.
pub async fn add_to(visit: &Visit, key: &ApiKey, html: &mut Html) -> Result<()> {
    if !visit.tenant().is_ok_and(|tenant| *tenant == key.tenant) {
        return Ok(());
    }
    add_usage(visit, key, html).await?;
    add_requests(visit, key, html).await?;
    add_relatives(visit, key, html).await
}

async fn add_usage(visit: &Visit, key: &ApiKey, html: &mut Html) -> Result<()> {
    let t = visit.texts.usage;
    let days = usage_report::of_key(&visit.app, &key.tenant, &key.id, USUAL_DAYS).await?;
    html.raw("<section class=\"stack\">").element("h2", t.title);
    if added_up(&days).total() == 0 {
        html.raw("<p class=\"soft\">").text(&fill(t.none, &[("n", &USUAL_DAYS.to_string())])).raw("</p>");
    } else {
        add_plot(visit, &days, html);
        add_days(visit, &days, html);
    }
    html.raw("</section>\n");
    Ok(())
}

async fn add_requests(visit: &Visit, key: &ApiKey, html: &mut Html) -> Result<()> {
    let t = visit.texts.requests;
    let recent = request_log::recent_of_key(&visit.app, &key.tenant, &key.id, MAX_REQUESTS).await?;
    if recent.is_empty() {
        return Ok(());
    }
    html.raw("<section class=\"stack\">").element("h2", t.recent);
    let names = HashMap::from([(key.id.clone(), key.name.clone())]);
    add_table(visit, &recent, &names, t.recent_caption, html)?;
    let list = visit.link(&format!("apps/{}/requests?key={}", key.tenant.application_id, key.id));
    html.raw("<p>").link(&list, t.see_all).raw("</p></section>\n");
    Ok(())
}

async fn add_relatives(visit: &Visit, key: &ApiKey, html: &mut Html) -> Result<()> {
    let (t, now) = (visit.texts.keys, visit.app.now());
    let made = key_relatives::made_by(visit.app.db.reader(), &key.tenant, &key.id, MAX_READ).await?;
    if made.is_empty() {
        return Ok(());
    }
    let is_cut = i64::try_from(made.len()).unwrap_or(i64::MAX) >= MAX_READ;
    let tokens = made.iter().filter(|one| one.is_token() && keys::state(one, now) == "active").count();
    html.raw("<section class=\"stack\">").element("h2", t.made);
    let text = if is_cut { t.made_tokens_at_least } else { t.made_tokens };
    html.element("p", &fill(text, &[("n", &tokens.to_string())]));
    let mut children: Vec<&ApiKey> = made.iter().filter(|one| one.kind == KeyKind::Key).collect();
    children.sort_by(|a, b| b.id.cmp(&a.id));
    if !children.is_empty() {
        let mut table = RowTable::new(t.made_caption, &[t.name, t.key, t.state]);
        for child in children.into_iter().take(MAX_SHOWN) {
            let href = visit.link(&format!("apps/{}/keys/{}", key.tenant.application_id, child.id));
            let mut state = Html::default();
            add_state(visit, child, &mut state);
            let cells = vec![id_cell(&format!("{}…{}", child.prefix, child.last4)), TableCell::State(state)];
            table.row(&linked_name(&href, &short_name(&child.name)), cells);
        }
        table.add_to(html);
    }
    html.raw("</section>\n");
    Ok(())
}
