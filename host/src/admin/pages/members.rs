//! `/orgs/{o}/members`: people of an organization, open invitations, and a new one.

use std::collections::BTreeMap;

use base::error::{Code, Result};
use http::StatusCode;
use serde_json::{Value, json};
use service::app::stored_response::StoredResponse;
use service::locale::html::Html;
use service::manage::actor::Role;
use service::manage::operators::directory::{self, MemberView};
use service::manage::operators::links::{self, Invitation, Link, LinkView};

use crate::admin::claim::{json as stored_json, once};
use crate::admin::pages::organizations::role_name;
use crate::admin::parts::badge::{BadgeTone, badge};
use crate::admin::parts::code::secret;
use crate::admin::parts::field::{FormFaults, InputField, radios};
use crate::admin::parts::head::{head, short_name, trail};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::pager::PAGE_ROWS;
use crate::admin::parts::table::{RowTable, TableCell, name_cell};
use crate::admin::texts::fill;
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

const EMAIL: &str = "email";
const ROLE: &str = "role";

/// The people and the open invitations.
pub async fn list(visit: &Visit) -> Result<View> {
    let (t, organization) = (visit.texts.members, visit.organization()?);
    let binding = visit.binding("members", &organization.id);
    let place: Option<String> = visit.list_place(&binding)?;
    let is_first = place.is_none();
    let after = place.unwrap_or_default();
    let mut found = directory::members(&visit.app, &organization.id, &after, PAGE_ROWS + 1).await?;
    let has_more = found.len() > PAGE_ROWS as usize;
    found.truncate(PAGE_ROWS as usize);
    let path = format!("orgs/{}/members", organization.id);
    let mut body = Html::default();
    head(&mut body, t.title, Some((&visit.link(&format!("{path}/invite")), t.invite)));
    people(visit, &path, &found, &mut body);
    let last = found.last().filter(|_| has_more);
    let next = last.map(|last| binding.cursor(&visit.app.keyring, &last.operator_id));
    visit.add_pager(&mut body, &visit.link(&path), next.as_deref());
    if is_first {
        let open = links::list_invitations(&visit.app, &organization.id).await?;
        invitations(visit, &open, &mut body)?;
    }
    Ok(PanelPage::new(t.title, Some(MenuEntry::Members), body).into())
}

fn people(visit: &Visit, path: &str, found: &[MemberView], body: &mut Html) {
    let t = visit.texts.members;
    let mut table = RowTable::new(t.caption, &[t.name, t.role, t.state, t.last_sign_in, t.second_factor, ""]);
    for member in found {
        let mut heading = Html::default();
        heading.raw("<bdi>").text(&short_name(&member.name)).raw("</bdi><p dir=\"ltr\">");
        heading.text(&member.email).raw("</p>");
        let mut state = Html::default();
        match member.disabled_at {
            None => badge(&mut state, BadgeTone::Good, PanelIcon::Dot, t.active),
            Some(_) => badge(&mut state, BadgeTone::Neutral, PanelIcon::Pause, t.disabled),
        }
        let mut end = Html::default();
        for (act, word) in [("role", t.change_role), ("remove", t.remove)] {
            let href = visit.link(&format!("{path}/{}/{act}", member.operator_id));
            end.raw("<a class=\"button plain small\" href=\"").text(&href).raw("\">").text(word).raw("</a> ");
        }
        let cells = vec![
            name_cell(role_name(visit, member.role)),
            TableCell::State(state),
            TableCell::Plain(visit.moment_or_never(member.last_sign_in_at)),
            name_cell(if member.has_second_factor { t.on } else { t.off }),
            TableCell::End(end),
        ];
        table.row(&heading, cells);
    }
    table.add_to(body);
}

fn invitations(visit: &Visit, open: &[LinkView], body: &mut Html) -> Result<()> {
    if open.is_empty() {
        return Ok(());
    }
    let (t, organization_id) = (visit.texts.members, &visit.organization()?.id);
    body.raw("<section class=\"stack\">").element("h2", t.invitations);
    let mut table = RowTable::new(t.invitations_caption, &[t.email, t.role, t.invited_by, t.expires, ""]);
    for link in open {
        let mut heading = Html::default();
        heading.raw("<span dir=\"ltr\">").text(link.email.as_deref().unwrap_or_default()).raw("</span>");
        let role = link.roles.get(organization_id).map(|role| role_name(visit, *role)).unwrap_or_default();
        let mut end = Html::default();
        let path = format!("orgs/{organization_id}/invitations/{}/end", link.id);
        visit.button_form(&mut end, &path, "plain small", t.withdraw);
        let mut until = Html::default();
        visit.moment(&mut until, link.expires_at);
        let inviter = link.invited_by.as_deref().unwrap_or_default();
        let cells = vec![
            name_cell(role),
            name_cell(&short_name(inviter)),
            TableCell::Plain(until),
            TableCell::End(end),
        ];
        table.row(&heading, cells);
    }
    table.add_to(body);
    body.raw("</section>\n");
    Ok(())
}

/// The form for an invitation.
pub async fn show_invite(visit: &Visit) -> Result<View> {
    Ok(invite_form(visit, &FormFaults::default())?.into())
}

/// Makes an invitation, and shows its link: no mail is sent.
pub async fn invite(visit: &Visit) -> Result<View> {
    let (t, organization_id) = (visit.texts.members, visit.organization()?.id.clone());
    let Some(role) = Role::parse(visit.fields.first(ROLE)) else {
        let faults = FormFaults::of(ROLE, t.bad_role);
        return Ok(invite_form(visit, &faults)?.with_status(StatusCode::BAD_REQUEST).into());
    };
    let email = visit.fields.first(EMAIL).trim().to_owned();
    let roles = BTreeMap::from([(organization_id.clone(), role)]);
    let invitation = Invitation { email, is_admin: false, roles };
    let (app, actor, new) = (visit.app.clone(), visit.actor()?.clone(), invitation.clone());
    let made = once(visit, |_| async move { Ok(link_answer(&links::invite(&app, &actor, &new).await?)) });
    match made.await {
        Ok(answer) => {
            let words = LinkWords {
                title: t.link_title,
                text: t.link_text,
                email: &invitation.email,
                done: t.link_done,
                back: &format!("orgs/{organization_id}/members"),
            };
            Ok(link_page(visit, &stored_json(&answer)?, &words, MenuEntry::Members).into())
        }
        Err(e) if e.code() == Some(Code::InvalidParameter) => {
            let faults = FormFaults::of(EMAIL, t.bad_email);
            Ok(invite_form(visit, &faults)?.with_status(StatusCode::BAD_REQUEST).into())
        }
        Err(e) if e.code() == Some(Code::InvalidState) => {
            let faults = FormFaults::of(EMAIL, t.too_many);
            Ok(invite_form(visit, &faults)?.with_status(StatusCode::BAD_REQUEST).into())
        }
        Err(e) => Err(e),
    }
}

/// The words of the page that shows a link.
pub struct LinkWords<'w> {
    pub title: &'w str,
    /// A sentence with the places `{email}` and `{until}`.
    pub text: &'w str,
    pub email: &'w str,
    /// The word on the way back, and the path where it leads.
    pub done: &'w str,
    pub back: &'w str,
}

/// The answer of a form that made a link. It is kept for a time: a form that is sent twice makes one link.
pub fn link_answer(link: &Link) -> StoredResponse {
    StoredResponse::ok(json!({ "path": link.path(), "expiresAt": link.expires_at }).to_string())
}

/// The page that shows the link of such an answer.
pub fn link_page(visit: &Visit, answer: &Value, words: &LinkWords<'_>, entry: MenuEntry) -> PanelPage {
    let frame = visit.texts.frame;
    let until = visit.time.exact(answer["expiresAt"].as_i64().unwrap_or_default());
    let mut body = Html::default();
    head(&mut body, words.title, None);
    body.element("p", &fill(words.text, &[("email", words.email), ("until", &until)]));
    let path = answer["path"].as_str().unwrap_or_default();
    let url = format!("{}{path}", visit.app.config.admin_address());
    secret(&mut body, frame, &url, frame.copy);
    body.raw("<div class=\"actions\"><a class=\"button\" href=\"").text(&visit.link(words.back)).raw("\">");
    body.text(words.done).raw("</a></div>\n");
    PanelPage::new(words.title, Some(entry), body).with_secret()
}

fn invite_form(visit: &Visit, faults: &FormFaults) -> Result<PanelPage> {
    let (t, frame) = (visit.texts.members, visit.texts.frame);
    let path = format!("orgs/{}/members", visit.organization()?.id);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(&path), t.title)], t.invite_title);
    head(&mut body, t.invite_title, None);
    faults.summary(&mut body, frame);
    visit.open_form(&mut body, &format!("{path}/invite"));
    let email = InputField::email(EMAIL, t.email, visit.fields.first(EMAIL), "off");
    email.add_to(&mut body, frame, faults);
    role_choice(visit, visit.fields.first(ROLE), faults, &mut body);
    body.raw("<button>").text(t.create_link).raw("</button></form>\n");
    Ok(PanelPage::new(t.invite_title, Some(MenuEntry::Members), body))
}

/// The choice of a role, each with what it may do.
pub fn role_choice(visit: &Visit, chosen: &str, faults: &FormFaults, html: &mut Html) {
    let (t, frame) = (visit.texts.members, visit.texts.frame);
    let options = [
        (Role::Owner.as_str(), frame.role_owner, t.owner_hint),
        (Role::Developer.as_str(), frame.role_developer, t.developer_hint),
        (Role::Viewer.as_str(), frame.role_viewer, t.viewer_hint),
    ];
    let chosen = if chosen.is_empty() { Role::Developer.as_str() } else { chosen };
    radios(html, ROLE, t.role, &options, chosen, faults);
}
