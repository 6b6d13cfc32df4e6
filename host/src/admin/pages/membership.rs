//! Changes of one member of an organization: another role, removed; and an invitation that is withdrawn.

use base::error::{Code, Error, Result, not_found};
use http::StatusCode;
use service::locale::html::Html;
use service::manage::actor::Role;
use service::manage::operators::directory::{self, OperatorView};
use service::manage::operators::{links, rights};

use crate::admin::pages::members::role_choice;
use crate::admin::parts::confirm::ConfirmPart;
use crate::admin::parts::field::FormFaults;
use crate::admin::parts::head::{short_name, trail};
use crate::admin::parts::note::alert;
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

const ROLE: &str = "role";

/// The member of the path with their role here.
async fn member(visit: &Visit) -> Result<(OperatorView, Role)> {
    let organization_id = &visit.organization()?.id;
    let found = directory::find(&visit.app, visit.param("m")).await?.ok_or_else(|| not_found("member"))?;
    let role = found.roles.iter().find(|role| role.organization_id == *organization_id);
    let role = role.map(|role| role.role).ok_or_else(|| not_found("member"))?;
    Ok((found, role))
}

/// The form for another role.
pub async fn show_role(visit: &Visit) -> Result<View> {
    let (member, role) = member(visit).await?;
    Ok(role_form(visit, &member, role, &FormFaults::default(), None)?.into())
}

/// Gives a member another role.
pub async fn set_role(visit: &Visit) -> Result<View> {
    let (member, present) = member(visit).await?;
    let Some(role) = Role::parse(visit.fields.first(ROLE)) else {
        let faults = FormFaults::of(ROLE, visit.texts.members.bad_role);
        let page = role_form(visit, &member, present, &faults, None)?;
        return Ok(page.with_status(StatusCode::BAD_REQUEST).into());
    };
    let organization_id = visit.organization()?.id.clone();
    let changed =
        rights::set_role(&visit.app, visit.actor()?, &member.id, &organization_id, Some(role)).await;
    match changed {
        Ok(()) => Ok(View::done(format!("orgs/{organization_id}/members"), FlashCode::RoleChanged)),
        Err(e) => {
            let fault = last_owner(visit, e)?;
            let page = role_form(visit, &member, present, &FormFaults::default(), Some(fault))?;
            Ok(page.with_status(StatusCode::CONFLICT).into())
        }
    }
}

/// The sentence for an organization that would have no owner; any other error as it is.
fn last_owner(visit: &Visit, e: Error) -> Result<&'static str> {
    match e.code() {
        Some(Code::InvalidState) => Ok(visit.texts.members.last_owner),
        _ => Err(e),
    }
}

fn role_form(
    visit: &Visit,
    member: &OperatorView,
    role: Role,
    faults: &FormFaults,
    fault: Option<&str>,
) -> Result<PanelPage> {
    let t = visit.texts.members;
    let mut fields = Html::default();
    role_choice(visit, role.as_str(), faults, &mut fields);
    let question = MemberQuestion {
        act: "role",
        title: t.change_role,
        text: "",
        button: t.change_role,
        fields,
        is_danger: false,
    };
    page(visit, member, question, fault)
}

/// The question before a member is changed.
struct MemberQuestion<'q> {
    /// The last part of the address where the answer is sent.
    act: &'static str,
    title: &'q str,
    text: &'q str,
    button: &'q str,
    fields: Html,
    is_danger: bool,
}

/// The page of a question, with what stood in the way of the change.
fn page(
    visit: &Visit,
    member: &OperatorView,
    question: MemberQuestion<'_>,
    fault: Option<&str>,
) -> Result<PanelPage> {
    let (t, frame) = (visit.texts.members, visit.texts.frame);
    let path = format!("orgs/{}/members", visit.organization()?.id);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(&path), t.title)], &short_name(&member.name));
    if let Some(fault) = fault {
        alert(&mut body, fault);
    }
    let part = ConfirmPart {
        title: question.title,
        text: question.text,
        action: &visit.link(&format!("{path}/{}/{}", member.id, question.act)),
        token: &visit.token(),
        button: question.button,
        is_danger: question.is_danger,
        back: (&visit.link(&path), frame.cancel),
        fields: question.fields,
    };
    part.add_to(&mut body);
    Ok(PanelPage::new(question.title, Some(MenuEntry::Members), body))
}

/// The question before a member is removed.
pub async fn show_remove(visit: &Visit) -> Result<View> {
    let (member, _) = member(visit).await?;
    Ok(remove_form(visit, &member, None)?.into())
}

/// Removes a member.
pub async fn remove(visit: &Visit) -> Result<View> {
    let (member, _) = member(visit).await?;
    let (organization_id, actor) = (visit.organization()?.id.clone(), visit.actor()?);
    match rights::set_role(&visit.app, actor, &member.id, &organization_id, None).await {
        // Owners who removed themselves do not see the organization any more.
        Ok(()) if member.id == actor.id => Ok(View::see_other("")),
        Ok(()) => Ok(View::done(format!("orgs/{organization_id}/members"), FlashCode::MemberRemoved)),
        Err(e) => {
            let fault = last_owner(visit, e)?;
            Ok(remove_form(visit, &member, Some(fault))?.with_status(StatusCode::CONFLICT).into())
        }
    }
}

fn remove_form(visit: &Visit, member: &OperatorView, fault: Option<&str>) -> Result<PanelPage> {
    let t = visit.texts.members;
    let title = fill(t.remove_title, &[("name", &short_name(&member.name))]);
    let question = MemberQuestion {
        act: "remove",
        title: &title,
        text: t.remove_text,
        button: t.remove,
        fields: Html::default(),
        is_danger: true,
    };
    page(visit, member, question, fault)
}

/// Withdraws an invitation.
pub async fn end_invitation(visit: &Visit) -> Result<View> {
    let organization_id = visit.organization()?.id.clone();
    let open = links::list_invitations(&visit.app, &organization_id).await?;
    let link = open.iter().find(|link| link.id == visit.param("i"));
    let link = link.ok_or_else(|| not_found("invitation"))?;
    links::withdraw(&visit.app, visit.actor()?, &link.id).await?;
    Ok(View::done(format!("orgs/{organization_id}/members"), FlashCode::InvitationEnded))
}
