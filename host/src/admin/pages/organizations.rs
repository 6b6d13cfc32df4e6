//! `/` and organizations: the list, a new one, another name.

use base::error::Result;
use service::locale::html::Html;
use service::manage::acting::{self, Target};
use service::manage::actor::{Act, Actor, Role};
use service::manage::organizations;
use storage::organizations::OrganizationPosition;

use crate::admin::claim::{json, once};
use crate::admin::pages::applications::{self, name_fault};
use crate::admin::parts::confirm::ConfirmPart;
use crate::admin::parts::field::{FormFaults, InputField};
use crate::admin::parts::head::{head, short_name, trail};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::empty;
use crate::admin::parts::pager::PAGE_ROWS;
use crate::admin::parts::table::{RowTable, linked_name, name_cell};
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::{PanelPlace, Visit};

const NAME: &str = "name";

/// The organizations that an operator sees; the applications of the one organization of an operator who sees no other.
pub async fn home(visit: &Visit) -> Result<View> {
    match visit.place {
        PanelPlace::Organization(_) => applications::list(visit).await,
        _ => list(visit).await,
    }
}

async fn list(visit: &Visit) -> Result<View> {
    let (actor, t) = (visit.actor()?, visit.texts.applications);
    let binding = visit.binding("organizations", "");
    let place: Option<(String, String)> = visit.list_place(&binding)?;
    let is_first = place.is_none();
    let (name, id) = place.unwrap_or_default();
    let after = OrganizationPosition { name, id };
    let mut found = organizations::list(&visit.app, actor, &after, PAGE_ROWS + 1).await?;
    let may_create = actor.may(Act::ManageOrganizations, "");
    let new = visit.link("orgs/new");
    let button = may_create.then_some((new.as_str(), t.new_organization));
    let mut body = Html::default();
    if found.is_empty() && is_first {
        head(&mut body, t.organizations_title, None);
        let said = match may_create {
            true => [t.no_organizations, t.no_organizations_text],
            false => [t.no_access, t.no_access_text],
        };
        empty(&mut body, PanelIcon::Building, said, button);
        return Ok(PanelPage::new(t.organizations_title, Some(MenuEntry::Applications), body).into());
    }
    head(&mut body, t.organizations_title, button);
    let has_more = found.len() > PAGE_ROWS as usize;
    found.truncate(PAGE_ROWS as usize);
    let mut table = RowTable::new(t.organizations_caption, &[t.organization, t.role]);
    for organization in &found {
        let href = visit.link(&format!("orgs/{}", organization.id));
        let name = linked_name(&href, &short_name(&organization.name));
        table.row(&name, vec![name_cell(role_word(visit, actor, &organization.id))]);
    }
    table.add_to(&mut body);
    let last = found.last().filter(|_| has_more);
    let next = last.map(|last| binding.cursor(&visit.app.keyring, &(&last.name, &last.id)));
    visit.add_pager(&mut body, &visit.link(""), next.as_deref());
    Ok(PanelPage::new(t.organizations_title, Some(MenuEntry::Applications), body).into())
}

/// The word for an operator's role in an organization.
fn role_word(visit: &Visit, actor: &Actor, organization_id: &str) -> &'static str {
    match (actor.is_admin, actor.role(organization_id)) {
        (true, _) => visit.texts.frame.role_admin,
        (false, Some(role)) => role_name(visit, role),
        (false, None) => "",
    }
}

/// The word for a role.
pub fn role_name(visit: &Visit, role: Role) -> &'static str {
    let t = visit.texts.frame;
    match role {
        Role::Owner => t.role_owner,
        Role::Developer => t.role_developer,
        Role::Viewer => t.role_viewer,
    }
}

/// The form for a new organization.
pub async fn show_new(visit: &Visit) -> Result<View> {
    Ok(new_form(visit, &FormFaults::default()).into())
}

/// Makes an organization.
pub async fn create(visit: &Visit) -> Result<View> {
    let (app, actor) = (visit.app.clone(), visit.actor()?.clone());
    let name = visit.fields.first(NAME).to_owned();
    let made = once(visit, |claimed| async move {
        let target = Target::installation("");
        let attempt = acting::attempt(&app, &actor, "organization_created", &target, Some(&claimed));
        organizations::create(&app, &name, &attempt).await
    });
    match made.await {
        Ok(answer) => {
            let id = json(&answer)?["id"].as_str().unwrap_or_default().to_owned();
            Ok(View::done(format!("orgs/{id}"), FlashCode::OrganizationSaved))
        }
        Err(e) => {
            let (faults, status) = name_fault(visit, e)?;
            Ok(new_form(visit, &faults).with_status(status).into())
        }
    }
}

fn new_form(visit: &Visit, faults: &FormFaults) -> PanelPage {
    let (t, frame) = (visit.texts.applications, visit.texts.frame);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(""), t.organizations_title)], t.new_organization);
    head(&mut body, t.new_organization, None);
    faults.summary(&mut body, frame);
    visit.open_form(&mut body, "orgs/new");
    InputField::text(NAME, t.name, visit.fields.first(NAME)).add_to(&mut body, frame, faults);
    body.raw("<button>").text(t.create).raw("</button></form>\n");
    PanelPage::new(t.new_organization, None, body)
}

/// The form for another name.
pub async fn show_rename(visit: &Visit) -> Result<View> {
    let name = visit.organization()?.name.clone();
    Ok(rename_form(visit, &name, &FormFaults::default())?.into())
}

/// Gives the organization another name.
pub async fn rename(visit: &Visit) -> Result<View> {
    let (app, actor) = (visit.app.clone(), visit.actor()?.clone());
    let (id, name) = (visit.organization()?.id.clone(), visit.fields.first(NAME).to_owned());
    let renamed = once(visit, |claimed| async move {
        let target = Target::organization(&id, id.as_str());
        let attempt = acting::attempt(&app, &actor, "organization_renamed", &target, Some(&claimed));
        organizations::rename(&app, &id, &name, &attempt).await
    });
    match renamed.await {
        Ok(_) => {
            let id = &visit.organization()?.id;
            Ok(View::done(format!("orgs/{id}"), FlashCode::OrganizationSaved))
        }
        Err(e) => {
            let (faults, status) = name_fault(visit, e)?;
            Ok(rename_form(visit, visit.fields.first(NAME), &faults)?.with_status(status).into())
        }
    }
}

fn rename_form(visit: &Visit, name: &str, faults: &FormFaults) -> Result<PanelPage> {
    let (t, frame) = (visit.texts.applications, visit.texts.frame);
    let organization = visit.organization()?;
    let back = visit.link(&format!("orgs/{}", organization.id));
    let mut body = Html::default();
    trail(&mut body, &[(&back, &organization.name)], t.rename_organization);
    faults.summary(&mut body, frame);
    let mut fields = Html::default();
    InputField::text(NAME, t.name, name).add_to(&mut fields, frame, faults);
    let part = ConfirmPart {
        title: t.rename_organization,
        text: "",
        action: &visit.link(&format!("orgs/{}/rename", organization.id)),
        token: &visit.token(),
        button: frame.save,
        is_danger: false,
        back: (&back, frame.cancel),
        fields,
    };
    part.add_to(&mut body);
    Ok(PanelPage::new(t.rename_organization, None, body))
}
