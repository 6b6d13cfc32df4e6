//! `/apps/{a}/keys/new`: a new key, shown once.

use base::error::{Error, Result};
use http::StatusCode;
use serde_json::Value;
use service::locale::html::Html;
use service::manage::acting::{self, Target};
use service::manage::keys::{self, KeyRequest};
use storage::connections;

use crate::admin::claim::{json, once};
use crate::admin::pages::key_area;
use crate::admin::pages::key_words::{can, first_request};
use crate::admin::pages::new_key_form::{ACCOUNTS, add_fields, read, refused};
use crate::admin::parts::code::{code, secret};
use crate::admin::parts::facts::Facts;
use crate::admin::parts::field::FormFaults;
use crate::admin::parts::head::{head, short_name, trail};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::warning;
use crate::admin::texts::fill;
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The form.
pub async fn show(visit: &Visit) -> Result<View> {
    Ok(form(visit, &FormFaults::default())?.into())
}

/// Makes a key, and shows it in this very answer: it stands in no address, and in no other page.
pub async fn create(visit: &Visit) -> Result<View> {
    let (t, tenant) = (visit.texts.new_key, visit.tenant()?);
    let (new, mut faults) = read(t, &visit.fields, visit.app.now());
    let known = connections::existing(visit.app.db.reader(), tenant, &new.connection_ids).await?;
    if let Some(unknown) = new.connection_ids.iter().find(|id| !known.contains(id)) {
        faults.add(ACCOUNTS, fill(t.bad_account, &[("value", unknown)]));
    }
    if !faults.is_empty() {
        return Ok(form(visit, &faults)?.with_status(StatusCode::BAD_REQUEST).into());
    }
    let (app, actor) = (visit.app.clone(), visit.actor()?.clone());
    let maker = acting::key(&actor, tenant);
    let (most, request) =
        (maker.rate_limit_per_minute, KeyRequest { new: new.clone(), warnings: Vec::new() });
    let made = once(visit, |claimed| async move {
        let details = serde_json::json!({ "name": request.new.name, "scopes": request.new.scopes });
        let target = Target::application(&maker.tenant, "").details(details);
        let attempt = acting::attempt(&app, &actor, "key_created", &target, Some(&claimed));
        Ok(keys::create(&app, &maker, request, &attempt).await?.answer)
    });
    match made.await {
        Ok(answer) => Ok(made_page(visit, &json(&answer)?).into()),
        Err(Error::Refused(refusal)) => match refused(t, &refusal, &new, most) {
            Some(faults) => Ok(form(visit, &faults)?.with_status(StatusCode::BAD_REQUEST).into()),
            None => Err((*refusal).into()),
        },
        Err(e) => Err(e),
    }
}

fn form(visit: &Visit, faults: &FormFaults) -> Result<PanelPage> {
    let t = visit.texts.new_key;
    let path = format!("apps/{}/keys", visit.tenant()?.application_id);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(&path), visit.texts.keys.title)], t.title);
    head(&mut body, t.title, None);
    faults.summary(&mut body, visit.texts.frame);
    visit.open_form(&mut body, &format!("{path}/new"));
    add_fields(visit, faults, &mut body);
    body.raw("<button>").text(t.create).raw("</button></form>\n");
    Ok(PanelPage::new(t.title, Some(MenuEntry::Keys), body))
}

/// The page that shows a new key, of an application or of the administration.
pub fn made_page(visit: &Visit, key: &Value) -> PanelPage {
    let (t, frame) = (visit.texts.new_key, visit.texts.frame);
    let path = key_area::list_path(visit);
    let texts = |name: &str| -> Vec<String> {
        let values = key[name].as_array().into_iter().flatten().filter_map(Value::as_str);
        values.map(str::to_owned).collect()
    };
    let (text, scopes) = (key["key"].as_str().unwrap_or_default(), texts("scopes"));
    let mut body = Html::default();
    let name = short_name(key["name"].as_str().unwrap_or_default());
    trail(&mut body, &[(&visit.link(&path), key_area::title(visit))], &name);
    head(&mut body, t.made_title, None);
    warning(&mut body, t.copy_now, t.copy_now_text);
    body.raw("<section class=\"stack\">").element("h2", t.your_key);
    secret(&mut body, frame, text, t.copy_key);
    body.raw("</section>\n");
    if let Some(line) = first_request(&visit.app.config.public_address(), &scopes, text) {
        body.raw("<section class=\"stack\">").element("h2", t.try_it).element("p", t.try_text);
        code(&mut body, frame, &line, frame.copy);
        body.raw("</section>\n");
    }
    let from = [texts("allowedDomains"), texts("allowedIps")].concat();
    let from = if from.is_empty() { visit.texts.keys.any_address.to_owned() } else { from.join(", ") };
    let expires = key["expiresAt"].as_str().and_then(|at| at.parse::<model::Instant>().ok());
    let expires = expires.map_or(frame.never.to_owned(), |at| visit.time.exact(at.as_millis()));
    let mut facts = Facts::default();
    facts.text(Some(PanelIcon::Key), t.access, &can(visit.texts.scopes, &scopes));
    facts.text(Some(PanelIcon::Clock), t.expires_fact, &expires);
    facts.text(Some(PanelIcon::Globe), t.from, &from);
    body.raw("<section class=\"stack\">").element("h2", t.can_do);
    facts.add_to(&mut body);
    body.raw("</section>\n<div class=\"actions\"><a class=\"button\" href=\"").text(&visit.link(&path));
    body.raw("\">").text(t.saved).raw("</a></div>\n");
    PanelPage::new(t.made_title, Some(key_area::entry(visit)), body).with_secret()
}
