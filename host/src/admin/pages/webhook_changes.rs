//! Changes of a webhook: a test, a pause and its end, another secret, its deletion.

use base::error::{Code, Error, Result};
use http::StatusCode;
use model::webhook::Delivery;
use serde_json::{Map, Value, json};
use service::locale::html::Html;
use service::manage::acting::{self, Target};
use service::manage::webhooks;
use service::webhooks::{subscription, subscription_update};
use service::writes::etag::ExpectedEtag;

use crate::admin::claim::{self, once};
use crate::admin::pages::new_webhook::secret_page;
use crate::admin::pages::webhook::{OVERLAP, found, page, path_of};
use crate::admin::pages::webhook_words::{failure_words, host_of};
use crate::admin::parts::badge::BadgeTone;
use crate::admin::parts::confirm::ConfirmPart;
use crate::admin::parts::head::trail;
use crate::admin::parts::note::{alert, note};
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// Seconds for which an old secret goes on signing, and those where none are chosen.
const OVERLAPS_S: [i64; 4] = [0, 3_600, 86_400, 604_800];
const DEFAULT_OVERLAP_S: i64 = 86_400;

/// Sends a test, and shows what the server answered.
pub async fn test(visit: &Visit) -> Result<View> {
    let webhook = found(visit).await?;
    let (app, actor) = (visit.app.clone(), visit.actor()?.clone());
    let sent = once(visit, |claimed| async move {
        webhooks::send_test(&app, &actor, &webhook.tenant, &webhook.id, &claimed).await
    });
    match sent.await {
        Ok(answer) => {
            let delivery: Delivery = serde_json::from_slice(&answer.body)?;
            let said = test_note(visit, &delivery);
            Ok(page(visit, &found(visit).await?, &said).await?.into())
        }
        Err(e) => refused(visit, e).await,
    }
}

/// The outcome of a test: of its first attempt, or that there is none yet.
fn test_note(visit: &Visit, delivery: &Delivery) -> Html {
    let t = visit.texts.webhooks;
    let mut html = Html::default();
    let Some(attempt) = delivery.attempts.first() else {
        note(&mut html, BadgeTone::Neutral, t.test_waits);
        return html;
    };
    let ms = attempt.duration_ms.to_string();
    match (attempt.error, attempt.status_code) {
        (None, Some(status)) => {
            let text = fill(t.test_delivered, &[("status", &status.to_string()), ("ms", &ms)]);
            note(&mut html, BadgeTone::Good, &text);
        }
        (error, status) => {
            let why = failure_words(t, status, error);
            note(&mut html, BadgeTone::Bad, &fill(t.test_failed, &[("why", &why), ("ms", &ms)]));
        }
    }
    if let Some(snippet) = attempt.response_snippet.as_deref().filter(|snippet| !snippet.is_empty()) {
        html.element("h2", t.answer).raw("<div class=\"code\"><pre tabindex=\"0\" dir=\"auto\">");
        html.text(snippet).raw("</pre></div>\n");
    }
    html
}

/// Pauses a webhook: nothing is sent, and nothing is missed.
pub async fn pause(visit: &Visit) -> Result<View> {
    set_status(visit, "paused", "webhook_paused", FlashCode::WebhookPaused).await
}

/// Lets a webhook go on, from where it was paused, or from now where it was disabled.
pub async fn resume(visit: &Visit) -> Result<View> {
    set_status(visit, "active", "webhook_resumed", FlashCode::WebhookResumed).await
}

async fn set_status(
    visit: &Visit,
    status: &'static str,
    act: &'static str,
    flash: FlashCode,
) -> Result<View> {
    let webhook = found(visit).await?;
    let path = path_of(&webhook);
    let (app, actor) = (visit.app.clone(), visit.actor()?.clone());
    let changed = once(visit, |claimed| async move {
        let target = Target::application(&webhook.tenant, webhook.id.as_str());
        let target = target.details(json!({ "fields": ["status"] }));
        let attempt = acting::attempt(&app, &actor, act, &target, Some(&claimed));
        let key = acting::key(&actor, &webhook.tenant);
        let input = Map::from_iter([("status".to_owned(), Value::from(status))]);
        let change = (input, ExpectedEtag::Anything);
        subscription_update::update(&app, &key, &webhook.id, change, true, &attempt).await
    });
    match changed.await {
        Ok(_) => Ok(View::done(path, flash)),
        Err(e) => refused(visit, e).await,
    }
}

/// Gives a webhook another signing secret, and shows it, this once.
pub async fn rotate(visit: &Visit) -> Result<View> {
    let webhook = found(visit).await?;
    let chosen = visit.fields.first(OVERLAP).parse::<i64>().ok();
    let overlap_s = chosen.filter(|seconds| OVERLAPS_S.contains(seconds)).unwrap_or(DEFAULT_OVERLAP_S);
    let (app, actor) = (visit.app.clone(), visit.actor()?.clone());
    let rotated = once(visit, |claimed| async move {
        let target = Target::application(&webhook.tenant, webhook.id.as_str());
        let target = target.details(json!({ "overlapSeconds": overlap_s }));
        let attempt = acting::attempt(&app, &actor, "webhook_secret_rotated", &target, Some(&claimed));
        let key = acting::key(&actor, &webhook.tenant);
        let input = Map::from_iter([
            ("rotateSecret".to_owned(), Value::from(true)),
            ("secretGraceSeconds".to_owned(), Value::from(overlap_s)),
        ]);
        let change = (input, ExpectedEtag::Anything);
        subscription_update::update(&app, &key, &webhook.id, change, true, &attempt).await
    });
    let answer = claim::json(&rotated.await?)?;
    Ok(secret_page(visit, visit.texts.webhooks.rotated_title, &answer)?.into())
}

/// The page of the webhook after an act that its state does not allow. Other errors are handed on.
async fn refused(visit: &Visit, e: Error) -> Result<View> {
    if e.code() != Some(Code::InvalidState) {
        return Err(e);
    }
    let mut said = Html::default();
    alert(&mut said, visit.texts.webhooks.not_sending);
    let shown = page(visit, &found(visit).await?, &said).await?;
    Ok(shown.with_status(StatusCode::CONFLICT).into())
}

/// The question whether to delete a webhook.
pub async fn show_delete(visit: &Visit) -> Result<View> {
    let (t, webhook) = (visit.texts.webhooks, found(visit).await?);
    let (name, path) = (host_of(&webhook), path_of(&webhook));
    let list = visit.link(&format!("apps/{}/webhooks", webhook.tenant.application_id));
    let own = visit.link(&path);
    let mut body = Html::default();
    trail(&mut body, &[(&list, t.title), (&own, &name)], t.delete);
    let part = ConfirmPart {
        title: &fill(t.delete_title, &[("name", &name)]),
        text: t.delete_consequence,
        action: &visit.link(&format!("{path}/delete")),
        token: &visit.token(),
        button: t.delete,
        is_danger: true,
        back: (&own, t.keep),
        fields: Html::default(),
    };
    part.add_to(&mut body);
    Ok(PanelPage::new(t.delete, Some(MenuEntry::Webhooks), body).into())
}

/// Deletes a webhook. A form that is sent twice finds it gone, and has the answer of the first time.
pub async fn delete(visit: &Visit) -> Result<View> {
    let (app, actor, tenant) = (visit.app.clone(), visit.actor()?.clone(), visit.tenant()?.clone());
    let (id, list) = (visit.param("w").to_owned(), format!("apps/{}/webhooks", tenant.application_id));
    let deleted = once(visit, |claimed| async move {
        let target = Target::application(&tenant, id.as_str());
        let attempt = acting::attempt(&app, &actor, "webhook_deleted", &target, Some(&claimed));
        let key = acting::key(&actor, &tenant);
        subscription::delete(&app, &key, &id, ExpectedEtag::Anything, &attempt).await
    });
    deleted.await?;
    Ok(View::done(list, FlashCode::WebhookDeleted))
}
