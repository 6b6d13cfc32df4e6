//! `/orgs/{o}`: the applications of an organization, and a new one.

use base::error::{Code, Error, Result};
use http::StatusCode;
use service::locale::html::Html;
use service::manage::acting::{self, Target};
use service::manage::actor::Act;
use service::manage::applications;

use crate::admin::claim::{json, once};
use crate::admin::parts::badge::{BadgeTone, badge};
use crate::admin::parts::field::{FormFaults, InputField};
use crate::admin::parts::head::{head, short_name, trail};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::empty;
use crate::admin::parts::pager::PAGE_ROWS;
use crate::admin::parts::table::{RowTable, id_cell, linked_name};
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

const NAME: &str = "name";

/// The list of applications.
pub async fn list(visit: &Visit) -> Result<View> {
    let (t, organization) = (visit.texts.applications, visit.organization()?);
    let binding = visit.binding("applications", &organization.id);
    let place: Option<String> = visit.list_place(&binding)?;
    let is_first = place.is_none();
    let after = place.unwrap_or_default();
    let mut found =
        applications::of_organization(&visit.app, &organization.id, &after, PAGE_ROWS + 1).await?;
    let path = format!("orgs/{}", organization.id);
    let new = visit.link(&format!("{path}/apps/new"));
    let button = visit.may(Act::ManageApplication).then_some((new.as_str(), t.new));
    let page = |body| View::from(PanelPage::new(t.title, Some(MenuEntry::Applications), body));
    let mut body = Html::default();
    if found.is_empty() && is_first {
        head(&mut body, t.title, None);
        empty(&mut body, PanelIcon::Home, [t.none, t.none_text], button);
        rename_link(visit, &path, &mut body);
        return Ok(page(body));
    }
    head(&mut body, t.title, button);
    let has_more = found.len() > PAGE_ROWS as usize;
    found.truncate(PAGE_ROWS as usize);
    let mut table = RowTable::new(t.caption, &[t.application, t.handle_column, t.id]);
    for application in &found {
        let id = &application.tenant.application_id;
        let mut name = linked_name(&visit.link(&format!("apps/{id}")), &short_name(&application.name));
        if application.is_test {
            name.raw(" ");
            badge(&mut name, BadgeTone::Neutral, PanelIcon::Half, t.test);
        }
        table.row(&name, vec![id_cell(application.handle.as_deref().unwrap_or_default()), id_cell(id)]);
    }
    table.add_to(&mut body);
    let last = found.last().filter(|_| has_more);
    let next = last.map(|last| binding.cursor(&visit.app.keyring, &last.name));
    visit.add_pager(&mut body, &visit.link(&path), next.as_deref());
    rename_link(visit, &path, &mut body);
    Ok(page(body))
}

/// The way to another name of the organization, for operators who may give it one.
fn rename_link(visit: &Visit, path: &str, body: &mut Html) {
    if visit.may(Act::ManageOrganizations) {
        body.raw("<p>")
            .link(&visit.link(&format!("{path}/rename")), visit.texts.applications.rename_organization);
        body.raw("</p>\n");
    }
}

/// The form for a new application.
pub async fn show_new(visit: &Visit) -> Result<View> {
    Ok(new_form(visit, &FormFaults::default())?.into())
}

/// Makes an application.
pub async fn create(visit: &Visit) -> Result<View> {
    let (app, actor) = (visit.app.clone(), visit.actor()?.clone());
    let (organization_id, name) = (visit.organization()?.id.clone(), visit.fields.first(NAME).to_owned());
    let made = once(visit, |claimed| async move {
        let target = Target::organization(&organization_id, "");
        let attempt = acting::attempt(&app, &actor, "application_created", &target, Some(&claimed));
        applications::create(&app, &organization_id, &name, &attempt).await
    });
    match made.await {
        Ok(answer) => {
            let id = json(&answer)?["id"].as_str().unwrap_or_default().to_owned();
            Ok(View::see_other(format!("apps/{id}")))
        }
        Err(e) => {
            let (faults, status) = name_fault(visit, e)?;
            Ok(new_form(visit, &faults)?.with_status(status).into())
        }
    }
}

/// The fault of the field for a name; any other error as it is.
pub fn name_fault(visit: &Visit, e: Error) -> Result<(FormFaults, StatusCode)> {
    let t = visit.texts.applications;
    match e.code() {
        Some(Code::InvalidParameter) => Ok((FormFaults::of(NAME, t.bad_name), StatusCode::BAD_REQUEST)),
        Some(Code::AlreadyExists) => Ok((FormFaults::of(NAME, t.name_taken), StatusCode::CONFLICT)),
        _ => Err(e),
    }
}

fn new_form(visit: &Visit, faults: &FormFaults) -> Result<PanelPage> {
    let (t, frame) = (visit.texts.applications, visit.texts.frame);
    let path = format!("orgs/{}", visit.organization()?.id);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(&path), t.title)], t.new);
    head(&mut body, t.new, None);
    faults.summary(&mut body, frame);
    visit.open_form(&mut body, &format!("{path}/apps/new"));
    let name = InputField::text(NAME, t.name, visit.fields.first(NAME)).with_hint(t.name_hint);
    name.add_to(&mut body, frame, faults);
    body.raw("<button>").text(t.create).raw("</button></form>\n");
    Ok(PanelPage::new(t.new, Some(MenuEntry::Applications), body))
}
