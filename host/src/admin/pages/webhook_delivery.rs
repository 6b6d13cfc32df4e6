//! `/apps/{a}/webhooks/{w}/{d}`: an event at a webhook: what was sent, and each attempt with its answer.

use base::error::{Code, Result};
use http::StatusCode;
use model::webhook::NewWebhookReplay;
use service::locale::html::Html;
use service::manage::acting::{self, Target};
use service::manage::actor::Act;
use service::webhooks::deliveries::{self, DeliveryFilter};
use service::webhooks::{payload, replay};
use storage::log::Entry;
use storage::webhooks::Webhook;
use storage::webhooks::delivery_list::ListedDelivery;

use crate::admin::claim::{json, once};
use crate::admin::pages::event::logged;
use crate::admin::pages::webhook::{found, path_of};
use crate::admin::pages::webhook_words::{add_delivery_state, host_of, outcome_words};
use crate::admin::parts::code::code;
use crate::admin::parts::facts::Facts;
use crate::admin::parts::head::{head, trail};
use crate::admin::parts::moment::exact_moment;
use crate::admin::parts::note::alert;
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// Deliveries of an event that are shown: the first one, and the newest of its replays.
const MAX_SHOWN: usize = 20;

/// The event that the path names.
async fn event(visit: &Visit) -> Result<Entry> {
    logged(visit, visit.param("d")).await
}

/// The page.
pub async fn show(visit: &Visit) -> Result<View> {
    let webhook = found(visit).await?;
    Ok(page(visit, &webhook, None).await?.into())
}

/// Sends the event to the webhook once more.
pub async fn send_again(visit: &Visit) -> Result<View> {
    let (t, webhook) = (visit.texts.webhook_delivery, found(visit).await?);
    let event_id = event(visit).await?.id;
    let path = format!("{}/{event_id}", path_of(&webhook));
    let (app, actor, tenant, id) =
        (visit.app.clone(), visit.actor()?.clone(), webhook.tenant.clone(), webhook.id.clone());
    let sent = once(visit, |claimed| async move {
        let details = serde_json::json!({ "eventIds": [event_id] });
        let target = Target::application(&tenant, id.as_str()).details(details);
        let attempt = acting::attempt(&app, &actor, "webhook_replayed", &target, Some(&claimed));
        let asked = NewWebhookReplay { event_ids: vec![event_id], ..NewWebhookReplay::default() };
        let key = acting::key(&actor, &tenant);
        replay::start(&app, &key, &id, asked, Vec::new(), &attempt).await
    });
    let fault = match sent.await {
        Ok(answer) => {
            let count = json(&answer)?["eventCount"].as_i64();
            if count != Some(0) {
                return Ok(View::done(path, FlashCode::EventSentAgain));
            }
            t.not_wanted
        }
        Err(e) if e.code() == Some(Code::InvalidState) => visit.texts.webhooks.not_sending,
        Err(e) => return Err(e),
    };
    Ok(page(visit, &webhook, Some(fault)).await?.with_status(StatusCode::CONFLICT).into())
}

async fn page(visit: &Visit, webhook: &Webhook, fault: Option<&str>) -> Result<PanelPage> {
    let (t, list) = (visit.texts.webhook_delivery, visit.texts.webhooks);
    let (event, path) = (event(visit).await?, path_of(webhook));
    let key = acting::key(visit.actor()?, &webhook.tenant);
    let filter = DeliveryFilter { status: None, event_id: Some(event.id.clone()) };
    let sent = deliveries::list(&visit.app, &key, &webhook.id, &filter, None, MAX_SHOWN).await?;
    let all = visit.link(&format!("apps/{}/webhooks", webhook.tenant.application_id));
    let mut body = Html::default();
    trail(&mut body, &[(&all, list.title), (&visit.link(&path), &host_of(webhook))], &event.entry_type);
    head(&mut body, &event.entry_type, None);
    if let Some(fault) = fault {
        alert(&mut body, fault);
    }
    if visit.may(Act::ManageWebhooks) {
        body.raw("<div class=\"actions\">");
        visit.button_form(&mut body, &format!("{path}/{}/send-again", event.id), "plain", t.send_again);
        body.raw("</div>\n");
    }
    let mut at = Html::default();
    exact_moment(&mut at, &visit.time, event.at);
    let mut facts = Facts::default();
    let mut id = Html::default();
    let own = visit.link(&format!("apps/{}/events/{}", webhook.tenant.application_id, event.id));
    id.raw("<a class=\"id\" dir=\"ltr\" href=\"").text(&own).raw("\">").text(&event.id).raw("</a>");
    facts.html(None, list.event, &id).html(None, t.happened, &at);
    if let Some(connection_id) = &event.connection_id {
        facts.id(t.account, connection_id);
    }
    facts.add_to(&mut body);
    if sent.deliveries.is_empty() {
        body.raw("<p class=\"soft\">").text(t.not_sent).raw("</p>\n");
    }
    for delivery in &sent.deliveries {
        add_delivery(visit, delivery, &mut body);
    }
    body.raw("<section class=\"stack\">").element("h2", t.body);
    if visit.may(Act::SeeContent) {
        let bytes = payload::render(&event, &webhook.tenant, webhook.payload_mode, payload::VERSION);
        code(&mut body, visit.texts.frame, &String::from_utf8_lossy(&bytes), visit.texts.frame.copy);
    } else {
        body.raw("<p class=\"soft\">").text(t.body_hidden).raw("</p>");
    }
    body.raw("</section>\n");
    Ok(PanelPage::new(event.entry_type, Some(MenuEntry::Webhooks), body))
}

/// Adds a delivery with its attempts. What the server answered to each may repeat what it was sent: it is for those who see that.
fn add_delivery(visit: &Visit, delivery: &ListedDelivery, html: &mut Html) {
    let (t, words) = (visit.texts.webhook_delivery, visit.texts.webhooks);
    let heading = if delivery.replay_id.is_empty() { t.first } else { t.replay };
    let sees_answers = visit.may(Act::SeeContent);
    html.raw("<section class=\"stack\">").element("h2", heading).raw("<p>");
    add_delivery_state(words, delivery, html);
    html.raw("</p>\n<ol>");
    for attempt in &delivery.attempts {
        html.raw("<li>");
        exact_moment(html, &visit.time, attempt.at.as_millis());
        html.raw(" <bdi>").text(&outcome_words(words, attempt)).raw("</bdi>");
        let answer = attempt.response_snippet.as_deref().filter(|answer| sees_answers && !answer.is_empty());
        if let Some(answer) = answer {
            html.raw("<div class=\"code\"><pre tabindex=\"0\" dir=\"auto\">")
                .text(answer)
                .raw("</pre></div>");
        }
        html.raw("</li>\n");
    }
    html.raw("</ol></section>\n");
}
