//! `/apps/{a}/webhooks/{w}`: one webhook, why it is not active, and its deliveries, newest first.

use base::error::Result;
use model::webhook::{DeliveryStatus, WebhookStatus};
use service::locale::html::Html;
use service::manage::acting;
use service::manage::actor::Act;
use service::webhooks::deliveries::{self, DeliveryFilter, DeliveryListPosition};
use service::webhooks::subscription;
use storage::operators;
use storage::webhooks::Webhook;
use storage::webhooks::delivery_list::ListedDelivery;

use crate::admin::pages::webhook_words::{add_delivery_state, add_state, host_of, outcome_words, reason};
use crate::admin::parts::badge::BadgeTone;
use crate::admin::parts::facts::Facts;
use crate::admin::parts::field::{FormFaults, SelectField};
use crate::admin::parts::head::{head, short_name, trail};
use crate::admin::parts::note::note;
use crate::admin::parts::pager::PAGE_ROWS;
use crate::admin::parts::table::{RowTable, TableCell, id_cell, name_cell};
use crate::admin::texts::fill;
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// How ids of operators begin.
const OPERATOR: &str = "opr_";
/// Waiting deliveries that are counted.
const MOST_COUNTED: usize = 100;

/// The field of the form for a rotation: seconds for which the present secret goes on signing.
pub const OVERLAP: &str = "overlap";

/// The webhook that the path names.
///
/// # Errors
/// `not_found`, and those of the database.
pub async fn found(visit: &Visit) -> Result<Webhook> {
    let key = acting::key(visit.actor()?, visit.tenant()?);
    subscription::find(&visit.app, &key, visit.param("w")).await
}

/// The path of a webhook's page below `/admin/`.
pub fn path_of(webhook: &Webhook) -> String {
    format!("apps/{}/webhooks/{}", webhook.tenant.application_id, webhook.id)
}

/// The page.
pub async fn show(visit: &Visit) -> Result<View> {
    Ok(page(visit, &found(visit).await?, &Html::default()).await?.into())
}

/// The page of a webhook, with what an act on it led to.
///
/// # Errors
/// Those of the database, and `invalid_cursor`.
pub async fn page(visit: &Visit, webhook: &Webhook, said: &Html) -> Result<PanelPage> {
    let (t, path, name) = (visit.texts.webhooks, path_of(webhook), host_of(webhook));
    let list = visit.link(&format!("apps/{}/webhooks", webhook.tenant.application_id));
    let mut body = Html::default();
    trail(&mut body, &[(&list, t.title)], &name);
    head(&mut body, &name, None);
    body.html(said).raw("<p>");
    add_state(visit, webhook, &mut body);
    body.raw("</p>\n");
    if let Some(reason) = reason(visit, webhook) {
        note(&mut body, BadgeTone::Warn, &reason);
    }
    if visit.may(Act::ManageWebhooks) {
        add_acts(visit, webhook, &path, &mut body);
    }
    body.raw("<section class=\"stack\">").element("h2", t.about);
    facts(visit, webhook).await?.add_to(&mut body);
    body.raw("</section>\n");
    add_deliveries(visit, webhook, &path, &mut body).await?;
    if visit.may(Act::ManageWebhooks) {
        add_rotation(visit, &path, &mut body);
        body.raw("<section class=\"zone-of-danger stack\">").element("h2", t.delete);
        body.element("p", t.delete_text).raw("<p><a class=\"button danger\" href=\"");
        body.text(&visit.link(&format!("{path}/delete"))).raw("\">");
        body.text(t.delete).raw("</a></p></section>\n");
    }
    Ok(PanelPage::new(name, Some(MenuEntry::Webhooks), body))
}

/// Adds the buttons for what can be done with the webhook as it stands.
fn add_acts(visit: &Visit, webhook: &Webhook, path: &str, html: &mut Html) {
    let t = visit.texts.webhooks;
    html.raw("<div class=\"actions\">");
    match webhook.status {
        WebhookStatus::Active | WebhookStatus::Failing => {
            visit.button_form(html, &format!("{path}/test"), "", t.send_test);
            visit.button_form(html, &format!("{path}/pause"), "plain", t.pause);
            html.raw("<a class=\"button plain\" href=\"").text(&visit.link(&format!("{path}/replays")));
            html.raw("\">").text(visit.texts.replays.title).raw("</a>");
        }
        WebhookStatus::Paused | WebhookStatus::Disabled => {
            visit.button_form(html, &format!("{path}/resume"), "", t.resume);
        }
    }
    html.raw("</div>\n");
}

/// Adds the form for another signing secret.
fn add_rotation(visit: &Visit, path: &str, html: &mut Html) {
    let t = visit.texts.webhooks;
    html.raw("<section class=\"stack\">").element("h2", t.rotate).element("p", t.rotate_text);
    visit.open_form(html, &format!("{path}/rotate"));
    let options =
        [("86400", t.rotate_day), ("3600", t.rotate_hour), ("604800", t.rotate_week), ("0", t.rotate_now)];
    let field = SelectField { id: OVERLAP, label: t.rotate_when, options: &options, chosen: "86400" };
    field.add_to(html, visit.texts.frame, &FormFaults::default());
    html.raw("<button class=\"plain\">").text(t.rotate).raw("</button></form></section>\n");
}

async fn facts(visit: &Visit, webhook: &Webhook) -> Result<Facts> {
    let t = visit.texts.webhooks;
    let mut facts = Facts::default();
    facts.id(t.url, &webhook.url);
    facts.id(t.events, &webhook.event_types.join(", "));
    facts.id(t.failures, &webhook.consecutive_failures.to_string());
    facts.id(t.waiting, &waiting(visit, webhook).await?);
    facts.html(None, t.last_success, &visit.moment_or_never(webhook.last_success_at));
    facts.html(None, t.last_failure, &visit.moment_or_never(webhook.last_failure_at));
    facts.html(None, t.created, &visit.moment_or_never(Some(webhook.created_at)));
    if let Some(key_id) = &webhook.key_id {
        facts.html(None, t.key, &creator(visit, key_id).await?);
    }
    facts.id(t.id, &webhook.id);
    Ok(facts)
}

/// The key or operator on whose right the webhook rests. Operators are named, as it stays when they are disabled or leave.
async fn creator(visit: &Visit, id: &str) -> Result<Html> {
    let mut html = Html::default();
    if id.starts_with(OPERATOR) {
        let operator = operators::find(visit.app.db.reader(), id).await?;
        if let Some(operator) = operator {
            html.raw("<bdi>").text(&short_name(&operator.name)).raw("</bdi> ");
        }
    }
    html.raw("<span class=\"id\" dir=\"ltr\">").text(id).raw("</span>");
    Ok(html)
}

/// How many deliveries wait for an attempt.
async fn waiting(visit: &Visit, webhook: &Webhook) -> Result<String> {
    let key = acting::key(visit.actor()?, &webhook.tenant);
    let filter = DeliveryFilter { status: Some(DeliveryStatus::Pending), event_id: None };
    let found = deliveries::list(&visit.app, &key, &webhook.id, &filter, None, MOST_COUNTED).await?;
    let n = found.deliveries.len().to_string();
    Ok(match found.next {
        Some(_) => fill(visit.texts.webhooks.at_least, &[("n", &n)]),
        None => n,
    })
}

async fn add_deliveries(visit: &Visit, webhook: &Webhook, path: &str, html: &mut Html) -> Result<()> {
    let t = visit.texts.webhooks;
    let binding = visit.binding("webhook_deliveries", &webhook.id);
    let place: Option<DeliveryListPosition> = visit.list_place(&binding)?;
    let is_first = place.is_none();
    let key = acting::key(visit.actor()?, &webhook.tenant);
    let rows = usize::try_from(PAGE_ROWS).unwrap_or(usize::MAX);
    let all = DeliveryFilter::default();
    let found = deliveries::list(&visit.app, &key, &webhook.id, &all, place, rows).await?;
    html.raw("<section class=\"stack\">").element("h2", t.deliveries);
    html.raw("<p>")
        .link(&visit.link(&format!("{path}/replays")), visit.texts.replays.list_title)
        .raw("</p>\n");
    if found.deliveries.is_empty() && is_first {
        html.raw("<p class=\"soft\">").text(t.no_deliveries).raw("</p></section>\n");
        return Ok(());
    }
    let columns = [t.event, t.state, t.attempts, t.last_answer, t.next_attempt];
    let mut table = RowTable::new(t.deliveries_caption, &columns);
    for delivery in &found.deliveries {
        add_row(visit, delivery, path, &mut table);
    }
    table.add_to(html);
    let next = found.next.map(|place| binding.cursor(&visit.app.keyring, &place));
    visit.add_pager(html, &visit.link(path), next.as_deref());
    html.raw("</section>\n");
    Ok(())
}

fn add_row(visit: &Visit, delivery: &ListedDelivery, path: &str, table: &mut RowTable) {
    let t = visit.texts.webhooks;
    let mut heading = Html::default();
    let href = visit.link(&format!("{path}/{}", delivery.event_id));
    heading.raw("<a class=\"id\" dir=\"ltr\" href=\"").text(&href).raw("\">");
    heading.text(&delivery.event_id).raw("</a>");
    let mut state = Html::default();
    add_delivery_state(t, delivery, &mut state);
    let mut last = Html::default();
    if let Some(attempt) = delivery.attempts.last() {
        last.raw("<bdi>").text(&outcome_words(t, attempt)).raw("</bdi><br>");
        visit.moment(&mut last, attempt.at.as_millis());
    }
    let next = delivery.next_attempt_at.filter(|_| delivery.status == DeliveryStatus::Pending);
    let cells = vec![
        TableCell::State(state),
        id_cell(&delivery.attempts.len().to_string()),
        TableCell::Plain(last),
        name_cell(&next.map(|at| visit.time.exact(at)).unwrap_or_default()),
    ];
    table.row(&heading, cells);
}
