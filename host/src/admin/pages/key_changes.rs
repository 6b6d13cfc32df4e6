//! Changes of a key: another secret, the end of the old one, its own end.

use base::error::{Code, Result};
use http::StatusCode;
use serde_json::Value;
use service::locale::html::Html;
use service::manage::acting;
use service::manage::keys::{self, KeyTarget, SecretRotation};
use storage::api_keys::ApiKey;
use storage::key_revocations::KeyWebhooks;

use crate::admin::claim::{json, once};
use crate::admin::pages::key::{OVERLAP, found, page};
use crate::admin::pages::key_area;
use crate::admin::pages::key_words::first_request;
use crate::admin::parts::code::{code, secret};
use crate::admin::parts::confirm::ConfirmPart;
use crate::admin::parts::head::{head, short_name, trail};
use crate::admin::parts::note::warning;
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, PanelPage, View};
use crate::admin::visit::Visit;

/// Whether the webhooks of a revoked key end with it.
const WEBHOOKS: &str = "webhooks";

fn target(key: &ApiKey) -> KeyTarget {
    KeyTarget { tenant: key.tenant.clone(), family: None, id: key.id.clone() }
}

/// Gives a key another secret, and shows it, this once.
pub async fn rotate(visit: &Visit) -> Result<View> {
    let key = found(visit).await?;
    let overlap_s = visit.fields.first(OVERLAP).parse::<i64>().unwrap_or(keys::DEFAULT_OVERLAP_S);
    let (app, actor, of) = (visit.app.clone(), visit.actor()?.clone(), target(&key));
    let asker = key_area::asker(visit, &key.tenant)?;
    let details = serde_json::json!({ "overlapSeconds": overlap_s });
    let audited = key_area::target(visit, &key).details(details);
    let rotated = once(visit, |claimed| async move {
        let attempt = acting::attempt(&app, &actor, "key_rotated", &audited, Some(&claimed));
        let rotation = SecretRotation { overlap_s, warnings: Vec::new() };
        Ok(keys::rotate(&app, &asker, &of, rotation, &attempt).await?.answer)
    });
    match rotated.await {
        Ok(answer) => Ok(rotated_page(visit, &key, &json(&answer)?, overlap_s).into()),
        Err(e) if matches!(e.code(), Some(Code::InsufficientScope | Code::Forbidden)) => {
            let page = page(visit, &key, Some(visit.texts.keys.wider)).await?;
            Ok(page.with_status(StatusCode::FORBIDDEN).into())
        }
        Err(e) if e.code() == Some(Code::InvalidState) => {
            let present = found(visit).await?;
            let t = visit.texts.keys;
            let is_active = keys::state(&present, visit.app.now()) == "active";
            let fault = if is_active { t.overlap } else { t.already };
            Ok(page(visit, &present, Some(fault)).await?.with_status(StatusCode::CONFLICT).into())
        }
        Err(e) => Err(e),
    }
}

fn rotated_page(visit: &Visit, key: &ApiKey, answer: &Value, overlap_s: i64) -> PanelPage {
    let (t, new, frame) = (visit.texts.keys, visit.texts.new_key, visit.texts.frame);
    let path = key_area::list_path(visit);
    let text = answer["key"].as_str().unwrap_or_default();
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(&path), key_area::title(visit))], &short_name(&key.name));
    head(&mut body, t.rotated_title, None);
    warning(&mut body, new.copy_now, new.copy_now_text);
    body.raw("<section class=\"stack\">").element("h2", new.your_key);
    secret(&mut body, frame, text, new.copy_key);
    let ends_at = answer["previousExpiresAt"].as_str().and_then(|at| at.parse::<model::Instant>().ok());
    let said = match ends_at.filter(|_| overlap_s > 0) {
        Some(at) => fill(t.rotated_until, &[("until", &visit.time.exact(at.as_millis()))]),
        None => t.rotated_now.to_owned(),
    };
    body.element("p", &said).raw("</section>\n");
    if let Some(line) = first_request(&visit.app.config.public_address(), &key.scopes, text) {
        body.raw("<section class=\"stack\">").element("h2", new.try_it);
        code(&mut body, frame, &line, frame.copy);
        body.raw("</section>\n");
    }
    let back = visit.link(&format!("{path}/{}", key.id));
    body.raw("<div class=\"actions\"><a class=\"button\" href=\"").text(&back).raw("\">");
    body.text(new.saved).raw("</a></div>\n");
    PanelPage::new(t.rotated_title, Some(key_area::entry(visit)), body).with_secret()
}

/// The question before the old secret of a rotation ends.
pub async fn show_end_old(visit: &Visit) -> Result<View> {
    let (key, t) = (found(visit).await?, visit.texts.keys);
    let text = fill(t.end_old_text, &[("name", &short_name(&key.name))]);
    let question = KeyQuestion {
        act: "end-old",
        button: t.end_old,
        title: t.end_old_title,
        text: &text,
        fields: Html::default(),
    };
    Ok(question_page(visit, &key, question).into())
}

/// Ends the old secret of a rotation.
pub async fn end_old(visit: &Visit) -> Result<View> {
    let key = found(visit).await?;
    let (app, actor, of) = (visit.app.clone(), visit.actor()?.clone(), target(&key));
    let audited = key_area::target(visit, &key);
    once(visit, |claimed| async move {
        let attempt = acting::attempt(&app, &actor, "key_old_secret_ended", &audited, Some(&claimed));
        keys::end_old_secrets(&app, &of, &attempt).await
    })
    .await?;
    Ok(View::done(path_of(visit, &key), FlashCode::OldSecretEnded))
}

fn path_of(visit: &Visit, key: &ApiKey) -> String {
    format!("{}/{}", key_area::list_path(visit), key.id)
}

/// The question before a key is revoked.
pub async fn show_revoke(visit: &Visit) -> Result<View> {
    let (key, t) = (found(visit).await?, visit.texts.keys);
    let title = fill(t.revoke_title, &[("name", &short_name(&key.name))]);
    let mut fields = Html::default();
    if !key_area::is_of_admin(visit) {
        fields.raw(
            "<label class=\"check\"><input type=\"checkbox\" name=\"webhooks\" value=\"disable\"><span>",
        );
        fields.text(t.revoke_webhooks).raw("<br><small class=\"hint\">").text(t.revoke_webhooks_hint);
        fields.raw("</small></span></label>\n");
    }
    let question =
        KeyQuestion { act: "revoke", button: t.revoke, title: &title, text: t.revoke_text, fields };
    Ok(question_page(visit, &key, question).into())
}

/// Revokes a key.
pub async fn revoke(visit: &Visit) -> Result<View> {
    let key = found(visit).await?;
    let ends_webhooks = visit.fields.first(WEBHOOKS) == "disable";
    let (app, actor, of) = (visit.app.clone(), visit.actor()?.clone(), target(&key));
    let details = serde_json::json!({ "disablesWebhooks": ends_webhooks });
    let audited = key_area::target(visit, &key).details(details);
    once(visit, |claimed| async move {
        let attempt = acting::attempt(&app, &actor, "key_revoked", &audited, Some(&claimed));
        let webhooks = if ends_webhooks { KeyWebhooks::End } else { KeyWebhooks::PassOn };
        keys::revoke(&app, &of, webhooks, &attempt).await
    })
    .await?;
    Ok(View::done(key_area::list_path(visit), FlashCode::KeyRevoked))
}

/// The question before a key is changed.
struct KeyQuestion<'q> {
    /// The last part of the address where the answer is sent.
    act: &'static str,
    button: &'q str,
    title: &'q str,
    text: &'q str,
    fields: Html,
}

fn question_page(visit: &Visit, key: &ApiKey, question: KeyQuestion<'_>) -> PanelPage {
    let path = path_of(visit, key);
    let list = visit.link(&key_area::list_path(visit));
    let name = short_name(&key.name);
    let mut body = Html::default();
    trail(&mut body, &[(&list, key_area::title(visit)), (&visit.link(&path), &name)], question.button);
    let part = ConfirmPart {
        title: question.title,
        text: question.text,
        action: &visit.link(&format!("{path}/{}", question.act)),
        token: &visit.token(),
        button: question.button,
        is_danger: true,
        back: (&visit.link(&path), visit.texts.frame.cancel),
        fields: question.fields,
    };
    part.add_to(&mut body);
    PanelPage::new(question.title, Some(key_area::entry(visit)), body)
}
