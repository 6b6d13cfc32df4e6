//! `/apps/{a}/events/{e}`: an event, what it holds, and the webhooks that were sent it.

use base::error::{Result, not_found};
use base::ids;
use service::locale::html::Html;
use service::manage::acting;
use service::manage::actor::Act;
use service::webhooks::{events, subscription};
use storage::log::{self, Entry};
use storage::webhooks::Webhook;
use storage::webhooks::delivery_list::{self, EventDelivery};

use crate::admin::pages::event_rows::{add_accounts, origin_word};
use crate::admin::pages::webhook_words::{add_delivery_state, host_of, outcome_words};
use crate::admin::parts::code::code;
use crate::admin::parts::facts::Facts;
use crate::admin::parts::head::{head, trail};
use crate::admin::parts::moment::exact_moment;
use crate::admin::parts::table::{RowTable, TableCell, linked_name, name_cell};
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// Webhooks whose deliveries are looked up, and deliveries that are shown.
const MAX_WEBHOOKS: usize = 100;
const MAX_DELIVERIES: i64 = 200;

/// An event of the application that the page is about.
///
/// # Errors
/// `not_found`, and those of the database.
pub async fn logged(visit: &Visit, id: &str) -> Result<Entry> {
    if !ids::is_plausible(id) {
        return Err(not_found("event"));
    }
    let lines = log::whole_by_ids(visit.app.db.reader(), visit.tenant()?, &[id.to_owned()]).await?;
    lines.into_iter().next().ok_or_else(|| not_found("event"))
}

/// The page.
pub async fn show(visit: &Visit) -> Result<View> {
    let (t, tenant) = (visit.texts.event_page, visit.tenant()?);
    let entry = logged(visit, visit.param("e")).await?;
    let list = visit.link(&format!("apps/{}/events", tenant.application_id));
    let mut body = Html::default();
    trail(&mut body, &[(&list, visit.texts.events.title)], &entry.entry_type);
    head(&mut body, &entry.entry_type, None);
    facts(visit, &entry)?.add_to(&mut body);
    add_deliveries(visit, &entry, &mut body).await?;
    body.raw("<section class=\"stack\">").element("h2", t.body);
    if visit.may(Act::SeeContent) {
        let bytes = events::body(&entry, tenant);
        code(&mut body, visit.texts.frame, &String::from_utf8_lossy(&bytes), visit.texts.frame.copy);
    } else {
        body.raw("<p class=\"soft\">").text(t.body_hidden).raw("</p>");
    }
    body.raw("</section>\n");
    Ok(PanelPage::new(entry.entry_type, Some(MenuEntry::Events), body).into())
}

fn facts(visit: &Visit, entry: &Entry) -> Result<Facts> {
    let (t, list) = (visit.texts.event_page, visit.texts.events);
    let (mut at, mut accounts) = (Html::default(), Html::default());
    exact_moment(&mut at, &visit.time, entry.at);
    let base = visit.link(&format!("apps/{}", visit.tenant()?.application_id));
    add_accounts(&mut accounts, &base, entry.connection_id.as_ref(), entry.account_ids.as_deref());
    let mut facts = Facts::default();
    facts.id(t.id, &entry.id).html(None, list.at, &at);
    if !accounts.as_str().is_empty() {
        facts.html(None, list.account, &accounts);
    }
    facts.id(list.resource, &entry.resource_id);
    if !entry.parent_id.is_empty() {
        facts.id(t.parent, &entry.parent_id);
    }
    facts.text(None, list.origin, origin_word(list, &entry.origin)).id(t.change, &entry.change_type);
    let fields = entry.changed_fields.as_deref().map(serde_json::from_str::<Vec<String>>).transpose()?;
    if let Some(fields) = fields.filter(|fields| !fields.is_empty()) {
        facts.id(t.fields, &fields.join(", "));
    }
    Ok(facts)
}

/// Adds the webhooks that were sent the event, and what came of it.
async fn add_deliveries(visit: &Visit, entry: &Entry, html: &mut Html) -> Result<()> {
    let t = visit.texts.event_page;
    let key = acting::key(visit.actor()?, visit.tenant()?);
    let mut webhooks = subscription::list(&visit.app, &key, "", MAX_WEBHOOKS + 1).await?;
    let has_more = webhooks.len() > MAX_WEBHOOKS;
    webhooks.truncate(MAX_WEBHOOKS);
    let ids: Vec<String> = webhooks.iter().map(|webhook| webhook.id.clone()).collect();
    let reader = visit.app.db.reader();
    let deliveries = delivery_list::of_event(reader, &ids, entry.sequence, MAX_DELIVERIES).await?;
    html.raw("<section class=\"stack\">").element("h2", t.received);
    let states = visit.texts.webhooks;
    let mut table =
        RowTable::new(t.received_caption, &[t.webhook, states.state, t.delivery, states.last_answer]);
    for found in &deliveries {
        if let Some(webhook) = webhooks.iter().find(|webhook| webhook.id == found.webhook_id) {
            add_delivery(visit, webhook, found, &mut table);
        }
    }
    match deliveries.is_empty() {
        true => {
            html.raw("<p class=\"soft\">").text(t.no_webhook).raw("</p>\n");
        }
        false => table.add_to(html),
    }
    if has_more {
        html.raw("<p class=\"hint\">").text(t.only_first).raw("</p>\n");
    }
    html.raw("</section>\n");
    Ok(())
}

fn add_delivery(visit: &Visit, webhook: &Webhook, found: &EventDelivery, table: &mut RowTable) {
    let (t, words, delivery) = (visit.texts.event_page, visit.texts.webhooks, &found.delivery);
    let application_id = &webhook.tenant.application_id;
    let href = visit.link(&format!("apps/{application_id}/webhooks/{}/{}", webhook.id, delivery.event_id));
    let mut state = Html::default();
    add_delivery_state(words, delivery, &mut state);
    let mut last = Html::default();
    if let Some(attempt) = delivery.attempts.last() {
        last.raw("<bdi>").text(&outcome_words(words, attempt)).raw("</bdi><br>");
        visit.moment(&mut last, attempt.at.as_millis());
    }
    let kind = if delivery.replay_id.is_empty() { t.first } else { t.replay };
    let cells = vec![TableCell::State(state), name_cell(kind), TableCell::Plain(last)];
    table.row(&linked_name(&href, &host_of(webhook)), cells);
}
