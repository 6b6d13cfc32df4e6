//! `/apps/{a}/webhooks`: the webhooks of an application.

use base::error::Result;
use service::locale::html::Html;
use service::manage::acting;
use service::manage::actor::Act;
use service::webhooks::subscription;
use storage::webhooks::Webhook;

use crate::admin::pages::webhook_words::{add_state, host_of, reason};
use crate::admin::parts::head::head;
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::empty;
use crate::admin::parts::pager::PAGE_ROWS;
use crate::admin::parts::table::{RowTable, TableCell, id_cell, linked_name};
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The list.
pub async fn list(visit: &Visit) -> Result<View> {
    let (t, tenant) = (visit.texts.webhooks, visit.tenant()?);
    let binding = visit.binding("webhooks", &tenant.application_id);
    let place: Option<String> = visit.list_place(&binding)?;
    let is_first = place.is_none();
    let rows = usize::try_from(PAGE_ROWS).unwrap_or(usize::MAX);
    let key = acting::key(visit.actor()?, tenant);
    let after = place.unwrap_or_default();
    let mut found = subscription::list(&visit.app, &key, &after, rows + 1).await?;
    let path = format!("apps/{}/webhooks", tenant.application_id);
    let new = visit.link(&format!("{path}/new"));
    let button = visit.may(Act::ManageWebhooks).then_some((new.as_str(), t.create));
    let mut body = Html::default();
    if found.is_empty() && is_first {
        head(&mut body, t.title, None);
        empty(&mut body, PanelIcon::Globe, [t.none, t.none_text], button);
        return Ok(PanelPage::new(t.title, Some(MenuEntry::Webhooks), body).into());
    }
    head(&mut body, t.title, button);
    let has_more = found.len() > rows;
    found.truncate(rows);
    let mut table = RowTable::new(t.caption, &[t.webhook, t.state, t.events, t.failures, t.last_success]);
    for webhook in &found {
        add_row(visit, webhook, &path, &mut table);
    }
    table.add_to(&mut body);
    let last = found.last().filter(|_| has_more);
    let next = last.map(|last| binding.cursor(&visit.app.keyring, &last.id));
    visit.add_pager(&mut body, &visit.link(&path), next.as_deref());
    Ok(PanelPage::new(t.title, Some(MenuEntry::Webhooks), body).into())
}

fn add_row(visit: &Visit, webhook: &Webhook, path: &str, table: &mut RowTable) {
    let href = visit.link(&format!("{path}/{}", webhook.id));
    let mut heading = linked_name(&href, &host_of(webhook));
    if let Some(reason) = reason(visit, webhook) {
        heading.raw("<p dir=\"auto\">").text(&reason).raw("</p>");
    }
    let mut state = Html::default();
    add_state(visit, webhook, &mut state);
    // There may be many, which have to break.
    let mut events = Html::default();
    events.raw("<span dir=\"ltr\">").text(&webhook.event_types.join(", ")).raw("</span>");
    let cells = vec![
        TableCell::State(state),
        TableCell::Plain(events),
        id_cell(&webhook.consecutive_failures.to_string()),
        TableCell::Plain(visit.moment_or_never(webhook.last_success_at)),
    ];
    table.row(&heading, cells);
}
