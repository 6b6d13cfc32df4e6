//! `/apps/{a}/webhooks/new`: a new webhook, whose signing secret is shown once.

use base::error::{Error, Result};
use http::StatusCode;
use serde_json::{Map, Value};
use service::locale::html::Html;
use service::manage::acting::{self, Target};
use service::webhooks::subscription;

use crate::admin::claim::{json, once};
use crate::admin::parts::code::secret;
use crate::admin::parts::field::{FormFaults, InputField, fault_line};
use crate::admin::parts::head::{head, trail};
use crate::admin::parts::note::warning;
use crate::admin::texts::fill;
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

const URL: &str = "url";
const EVENTS: &str = "events";
/// The boxes for events: the value of each, and the event types that it stands for.
static FAMILIES: [(&str, &[&str]); 7] = [
    (EVERYTHING, &["*"]),
    ("mail", &["email.*"]),
    ("calendars", &["calendar.*"]),
    ("contacts", &["contact.*", "contact_book.*", "contact_group.*"]),
    ("tasks", &["task.*", "task_list.*"]),
    ("bookings", &["booking.*", "event_type.*"]),
    ("accounts", &["connection.*", "sync.*"]),
];
/// The box that has all others in it.
const EVERYTHING: &str = "everything";

/// The event types that the ticked boxes stand for. Values that are no box are left out.
fn event_types(ticked: &[String]) -> Vec<&'static str> {
    let is_ticked = |value: &str| ticked.iter().any(|one| one == value);
    if is_ticked(EVERYTHING) {
        return vec!["*"];
    }
    let chosen = FAMILIES.iter().filter(|(value, _)| is_ticked(value));
    chosen.flat_map(|(_, types)| types.iter().copied()).collect()
}

/// The form.
pub async fn show(visit: &Visit) -> Result<View> {
    Ok(form(visit, &FormFaults::default())?.into())
}

/// Makes a webhook, and shows its secret in this very answer.
pub async fn create(visit: &Visit) -> Result<View> {
    let t = visit.texts.new_webhook;
    let (url, types) = (visit.fields.filled(URL).unwrap_or_default(), event_types(visit.fields.all(EVENTS)));
    let mut faults = FormFaults::default();
    if url.is_empty() {
        faults.add(URL, t.no_url);
    }
    if types.is_empty() {
        faults.add(EVENTS, t.no_events);
    }
    if !faults.is_empty() {
        return Ok(form(visit, &faults)?.with_status(StatusCode::BAD_REQUEST).into());
    }
    let (app, actor, tenant) = (visit.app.clone(), visit.actor()?.clone(), visit.tenant()?.clone());
    let made = once(visit, |claimed| async move {
        let target = Target::application(&tenant, "").details(serde_json::json!({ "eventTypes": types }));
        let attempt = acting::attempt(&app, &actor, "webhook_created", &target, Some(&claimed));
        let key = acting::key(&actor, &tenant);
        let fields = [("url".to_owned(), Value::from(url)), ("eventTypes".to_owned(), Value::from(types))];
        subscription::create(&app, &key, Map::from_iter(fields), true, &attempt).await
    });
    match made.await {
        Ok(answer) => Ok(secret_page(visit, t.made_title, &json(&answer)?)?.into()),
        Err(Error::Refused(refusal)) => {
            let first = refusal.details.first().map(|detail| detail.field.as_str());
            if refusal.param.as_deref().or(first) != Some(URL) {
                return Err((*refusal).into());
            }
            let why = refusal.message.strip_prefix("url: ").unwrap_or(&refusal.message);
            let faults = FormFaults::of(URL, fill(t.bad_url, &[("why", why)]));
            Ok(form(visit, &faults)?.with_status(StatusCode::BAD_REQUEST).into())
        }
        Err(e) => Err(e),
    }
}

fn form(visit: &Visit, faults: &FormFaults) -> Result<PanelPage> {
    let (t, frame) = (visit.texts.new_webhook, visit.texts.frame);
    let path = format!("apps/{}/webhooks", visit.tenant()?.application_id);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(&path), visit.texts.webhooks.title)], t.title);
    head(&mut body, t.title, None);
    faults.summary(&mut body, frame);
    visit.open_form(&mut body, &format!("{path}/new"));
    let url = InputField::text(URL, t.url, visit.fields.first(URL)).with_hint(t.url_hint).ltr();
    url.add_to(&mut body, frame, faults);
    body.raw("<fieldset class=\"scopes\" id=\"").raw(EVENTS).raw("\"><legend>").text(t.events);
    body.raw("</legend>");
    fault_line(&mut body, EVENTS, faults.text(EVENTS));
    let words = [t.everything, t.mail, t.calendars, t.contacts, t.tasks, t.bookings, t.accounts];
    let ticked = visit.fields.all(EVENTS);
    for ((value, types), word) in FAMILIES.iter().zip(words) {
        body.raw("<label class=\"check\"><input type=\"checkbox\" name=\"").raw(EVENTS).raw("\" value=\"");
        let is_ticked = ticked.iter().any(|one| one == value);
        body.text(value).raw(if is_ticked { "\" checked>" } else { "\">" });
        body.raw("<span>").text(word).raw("<small class=\"id\" dir=\"ltr\">").text(&types.join(", "));
        body.raw("</small></span></label>");
    }
    body.raw("</fieldset>\n<button>").text(t.create).raw("</button></form>\n");
    Ok(PanelPage::new(t.title, Some(MenuEntry::Webhooks), body))
}

/// The page that shows the signing secret of a webhook, from the answer to the write that made it.
///
/// # Errors
/// `not_found` outside an application.
pub fn secret_page(visit: &Visit, title: &str, webhook: &Value) -> Result<PanelPage> {
    let (t, frame) = (visit.texts.new_webhook, visit.texts.frame);
    let path = format!("apps/{}/webhooks", visit.tenant()?.application_id);
    let own = format!("{path}/{}", webhook["id"].as_str().unwrap_or_default());
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(&path), visit.texts.webhooks.title)], title);
    head(&mut body, title, None);
    warning(&mut body, t.copy_now, t.copy_now_text);
    body.raw("<section class=\"stack\">").element("h2", t.secret);
    secret(&mut body, frame, webhook["secret"].as_str().unwrap_or_default(), t.copy_secret);
    body.element("p", t.secret_text).raw("</section>\n<div class=\"actions\"><a class=\"button\" href=\"");
    body.text(&visit.link(&own)).raw("\">").text(t.saved).raw("</a></div>\n");
    Ok(PanelPage::new(title, Some(MenuEntry::Webhooks), body).with_secret())
}

#[cfg(test)]
mod tests {
    use super::*;
    use service::webhooks::notification_types::is_known;

    #[test]
    fn boxes_stand_for_event_types_that_there_are() {
        assert!(FAMILIES.iter().flat_map(|(_, types)| types.iter()).all(|pattern| is_known(pattern)));
        let ticked = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
            event_types(&values)
        };
        assert_eq!(ticked(&["tasks", "mail", "nonsense"]), ["email.*", "task.*", "task_list.*"]);
        assert_eq!(ticked(&["mail", EVERYTHING]), ["*"]);
        assert!(ticked(&[]).is_empty());
    }
}
