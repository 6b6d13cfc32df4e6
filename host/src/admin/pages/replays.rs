//! `/apps/{a}/webhooks/{w}/replays`: events that the webhook was sent again, and the form for more.

use base::error::{Code, Error, Result};
use http::StatusCode;
use model::webhook::{ReplayFailure, ReplayStatus, WebhookReplay, WebhookStatus};
use service::locale::html::Html;
use service::manage::acting::{self, Target};
use service::manage::actor::Act;
use service::webhooks::replay;
use storage::webhooks::Webhook;

use crate::admin::claim::once;
use crate::admin::pages::replay_form;
use crate::admin::pages::webhook::{found, path_of};
use crate::admin::pages::webhook_words::host_of;
use crate::admin::parts::badge::{BadgeTone, badge};
use crate::admin::parts::field::FormFaults;
use crate::admin::parts::head::{head, trail};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::{alert, note};
use crate::admin::parts::pager::PAGE_ROWS;
use crate::admin::parts::table::{RowTable, TableCell, id_cell};
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The list and the form.
pub async fn list(visit: &Visit) -> Result<View> {
    let webhook = found(visit).await?;
    Ok(page(visit, &webhook, &FormFaults::default(), None).await?.into())
}

/// Sends events again, once for a form.
pub async fn start(visit: &Visit) -> Result<View> {
    let webhook = found(visit).await?;
    let asked = match replay_form::read(visit) {
        Ok(asked) => asked,
        Err(faults) => {
            let shown = page(visit, &webhook, &faults, None).await?;
            return Ok(shown.with_status(StatusCode::BAD_REQUEST).into());
        }
    };
    let (app, actor, sent) = (visit.app.clone(), visit.actor()?.clone(), asked.clone());
    let (tenant, id) = (webhook.tenant.clone(), webhook.id.clone());
    let started = once(visit, |claimed| async move {
        let target = Target::application(&tenant, id.as_str()).details(replay_form::details(&sent));
        let attempt = acting::attempt(&app, &actor, "webhook_replayed", &target, Some(&claimed));
        let key = acting::key(&actor, &tenant);
        replay::start(&app, &key, &id, sent, Vec::new(), &attempt).await
    });
    let refusal = match started.await {
        Ok(_) => return Ok(View::done(list_path(&webhook), FlashCode::ReplayStarted)),
        Err(Error::Refused(refusal)) => refusal,
        Err(e) => return Err(e),
    };
    let none = FormFaults::default();
    let (shown, status) = match (replay_form::fault(visit, &asked, &refusal), refusal.code) {
        (Some(faults), _) => (page(visit, &webhook, &faults, None).await?, StatusCode::BAD_REQUEST),
        (None, Code::InvalidState) => {
            let text = visit.texts.webhooks.not_sending;
            (page(visit, &found(visit).await?, &none, Some(text)).await?, StatusCode::CONFLICT)
        }
        (None, Code::RateLimited) => {
            let text = visit.texts.replays.too_many;
            (page(visit, &webhook, &none, Some(text)).await?, StatusCode::TOO_MANY_REQUESTS)
        }
        (None, _) => return Err((*refusal).into()),
    };
    Ok(shown.with_status(status).into())
}

/// The path of the page below `/admin/`.
fn list_path(webhook: &Webhook) -> String {
    format!("{}/replays", path_of(webhook))
}

async fn page(
    visit: &Visit,
    webhook: &Webhook,
    faults: &FormFaults,
    refused: Option<&str>,
) -> Result<PanelPage> {
    let (t, words) = (visit.texts.replays, visit.texts.webhooks);
    let may_send = visit.may(Act::ManageWebhooks);
    let title = if may_send { t.title } else { t.list_title };
    let (all, own) = (format!("apps/{}/webhooks", webhook.tenant.application_id), path_of(webhook));
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(&all), words.title), (&visit.link(&own), &host_of(webhook))], title);
    head(&mut body, title, None);
    if let Some(text) = refused {
        alert(&mut body, text);
    }
    let is_sent_to = matches!(webhook.status, WebhookStatus::Active | WebhookStatus::Failing);
    match (may_send, is_sent_to) {
        (true, true) => replay_form::add_to(visit, webhook, &list_path(webhook), faults, &mut body),
        (true, false) if refused.is_none() => note(&mut body, BadgeTone::Warn, words.not_sending),
        _ => {}
    }
    add_list(visit, webhook, &mut body).await?;
    Ok(PanelPage::new(title, Some(MenuEntry::Webhooks), body))
}

async fn add_list(visit: &Visit, webhook: &Webhook, html: &mut Html) -> Result<()> {
    let t = visit.texts.replays;
    let binding = visit.binding("webhook_replays", &webhook.id);
    let place: Option<String> = visit.list_place(&binding)?;
    let key = acting::key(visit.actor()?, &webhook.tenant);
    let mut rows = replay::list(&visit.app, &key, &webhook.id, place.as_deref(), PAGE_ROWS + 1).await?;
    html.raw("<section class=\"stack\">").element("h2", t.list_title);
    if rows.is_empty() {
        html.raw("<p class=\"soft\">").text(t.none).raw("</p></section>\n");
        return Ok(());
    }
    let shown = usize::try_from(PAGE_ROWS).unwrap_or(usize::MAX);
    let has_more = rows.len() > shown;
    rows.truncate(shown);
    let last = rows.last().filter(|_| has_more);
    let next = last.map(|(id, _)| binding.cursor(&visit.app.keyring, id));
    let columns = [t.replay, t.state, t.count, t.arrived, t.failed, t.by, t.started];
    let mut table = RowTable::new(t.caption, &columns);
    for (_, rendered) in rows {
        add_row(visit, &serde_json::from_value(rendered)?, &mut table);
    }
    table.add_to(html);
    visit.add_pager(html, &visit.link(&list_path(webhook)), next.as_deref());
    html.raw("</section>\n");
    Ok(())
}

fn add_row(visit: &Visit, replay: &WebhookReplay, table: &mut RowTable) {
    let t = visit.texts.replays;
    let mut heading = Html::default();
    heading.text(&events_text(visit, replay));
    if let Some(reason) = reason(visit, replay) {
        heading.raw("<p>").text(&reason).raw("</p>");
    }
    let (tone, shape, word) = match replay.status {
        ReplayStatus::Running => (BadgeTone::Neutral, PanelIcon::Half, t.running),
        ReplayStatus::Completed => (BadgeTone::Good, PanelIcon::Check, t.completed),
        ReplayStatus::Cancelled => (BadgeTone::Neutral, PanelIcon::Ring, t.cancelled),
        ReplayStatus::Failed => (BadgeTone::Bad, PanelIcon::Cross, t.stopped),
    };
    let mut state = Html::default();
    badge(&mut state, tone, shape, word);
    let count = replay.event_count.to_string();
    let count = if replay.counted { count } else { fill(t.more_than, &[("n", &count)]) };
    let cells = vec![
        TableCell::State(state),
        id_cell(&count),
        id_cell(&replay.sent.to_string()),
        id_cell(&replay.failed.to_string()),
        id_cell(&replay.created_by),
        TableCell::Plain(visit.moment_or_never(Some(replay.created_at.as_millis()))),
    ];
    table.row(&heading, cells);
}

/// The events of a replay, in words.
fn events_text(visit: &Visit, replay: &WebhookReplay) -> String {
    let t = visit.texts.replays;
    let Some(from) = replay.from else { return t.what_ids.to_owned() };
    let from = visit.time.exact(from.as_millis());
    match replay.to {
        _ if replay.only_failed => fill(t.what_failed, &[("from", &from)]),
        Some(to) => fill(t.what_range, &[("from", &from), ("to", &visit.time.exact(to.as_millis()))]),
        None => fill(t.what_since, &[("from", &from)]),
    }
}

/// Why a replay was stopped, and how its rest is sent.
fn reason(visit: &Visit, replay: &WebhookReplay) -> Option<String> {
    let t = visit.texts.replays;
    let why = match replay.reason? {
        ReplayFailure::WebhookPaused => t.paused_text,
        ReplayFailure::WebhookDisabled => t.disabled_text,
    };
    Some(match replay.continue_from {
        Some(at) => format!("{why} {}", fill(t.continue_text, &[("at", &visit.time.exact(at.as_millis()))])),
        None => why.to_owned(),
    })
}
