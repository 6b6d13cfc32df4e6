//! `/apps/{a}/requests/{r}`: one logged request, and what was wrong with it.

use base::error::{Result, not_found};
use base::ids;
use service::locale::html::Html;
use service::manage::actor::Act;
use service::manage::request_log;
use storage::request_log::RequestEntry;

use crate::admin::pages::requests::{add_status, key_names, route_text};
use crate::admin::parts::facts::Facts;
use crate::admin::parts::head::{head, short_name, trail};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::moment::exact_moment;
use crate::admin::parts::table::linked_name;
use crate::admin::texts::fill;
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The request that the path names.
///
/// # Errors
/// `not_found`, and those of the database.
pub async fn found(visit: &Visit) -> Result<RequestEntry> {
    let id = visit.param("r");
    let found = match ids::is_plausible(id) {
        true => request_log::find(&visit.app, visit.tenant()?, id).await?,
        false => None,
    };
    found.ok_or_else(|| not_found("request"))
}

/// The page.
pub async fn show(visit: &Visit) -> Result<View> {
    let entry = found(visit).await?;
    let mut bodies = Html::default();
    offer_bodies(visit, &entry, &mut bodies)?;
    Ok(page(visit, &entry, &bodies).await?.into())
}

/// The page of a request, with the section of its bodies.
///
/// # Errors
/// Those of the database.
pub async fn page(visit: &Visit, entry: &RequestEntry, bodies: &Html) -> Result<PanelPage> {
    let (t, title) = (visit.texts.requests, route_text(visit, entry));
    let list = visit.link(&format!("apps/{}/requests", entry.application_id));
    let mut body = Html::default();
    trail(&mut body, &[(&list, t.title)], &short_name(&title));
    head(&mut body, &title, None);
    body.raw("<section class=\"stack\">").element("h2", t.error);
    match &entry.error_code {
        // The same answer to the same Idempotency-Key, for one, comes without its code.
        None => {
            let text = if entry.status < 400 { t.no_error } else { t.no_code };
            body.raw("<p class=\"soft\">").text(text).raw("</p>");
        }
        Some(code) => {
            let mut facts = Facts::default();
            facts.id(t.code, code);
            if let Some(param) = &entry.error_param {
                facts.id(t.field, param);
            }
            facts.add_to(&mut body);
            body.raw("<p class=\"hint\">").text(t.error_note).raw("</p>");
        }
    }
    body.raw("</section>\n<section class=\"stack\">").element("h2", t.about);
    facts(visit, entry).await?.add_to(&mut body);
    body.raw("</section>\n<section class=\"stack\" id=\"bodies\">").element("h2", t.bodies);
    body.html(bodies).raw("</section>\n");
    Ok(PanelPage::new(short_name(&title), Some(MenuEntry::Requests), body))
}

async fn facts(visit: &Visit, entry: &RequestEntry) -> Result<Facts> {
    let t = visit.texts.requests;
    let (mut status, mut at) = (Html::default(), Html::default());
    add_status(entry.status, &mut status);
    exact_moment(&mut at, &visit.time, entry.at);
    let mut facts = Facts::default();
    facts.html(None, t.status, &status);
    facts.html(Some(PanelIcon::Clock), t.at, &at);
    facts.id(t.duration, &fill(t.ms, &[("n", &entry.ms.to_string())]));
    facts.id(t.path, &entry.path);
    let names = key_names(visit, std::slice::from_ref(entry)).await?;
    let name = names.get(&entry.key_id).unwrap_or(&entry.key_id);
    let key = visit.link(&format!("apps/{}/keys/{}", entry.application_id, entry.key_id));
    facts.html(Some(PanelIcon::Key), t.key, &linked_name(&key, &short_name(name)));
    facts.id(t.from, &entry.ip);
    let (received, sent) = (visit.bytes(entry.bytes_in), visit.bytes(entry.bytes_out));
    facts.text(None, t.sizes, &fill(t.sizes_value, &[("in", &received), ("out", &sent)]));
    facts.id(t.id, &entry.id);
    Ok(facts)
}

/// Adds the button that shows the bodies, or why there is none.
fn offer_bodies(visit: &Visit, entry: &RequestEntry, html: &mut Html) -> Result<()> {
    let t = visit.texts.requests;
    if !entry.has_bodies {
        html.raw("<p class=\"soft\">").text(t.bodies_none).raw("</p>");
    } else if visit.may(Act::SeeContent) {
        let path = format!("apps/{}/requests/{}/bodies", visit.tenant()?.application_id, entry.id);
        html.raw("<p class=\"soft\">").text(t.bodies_text).raw("</p><div class=\"actions\">");
        visit.button_form(html, &path, "plain", t.see_bodies);
        html.raw("</div>");
    } else {
        html.raw("<p class=\"soft\">").text(t.bodies_hidden).raw("</p>");
    }
    Ok(())
}
