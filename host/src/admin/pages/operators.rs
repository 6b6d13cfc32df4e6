//! `/system/operators`: everybody who may sign in, one of them, and invitations of administrators.

use std::collections::BTreeMap;

use base::error::{Code, Result};
use http::StatusCode;
use service::locale::html::Html;
use service::manage::operators::directory::{self, OperatorView};
use service::manage::operators::links::{self, Invitation, LinkKind, LinkView};

use crate::admin::claim::{json, once};
use crate::admin::pages::members::{LinkWords, link_answer, link_page};
use crate::admin::pages::operator::{OperatorChange, found};
use crate::admin::pages::organizations::role_name;
use crate::admin::parts::badge::{BadgeTone, badge};
use crate::admin::parts::facts::Facts;
use crate::admin::parts::field::{FormFaults, InputField};
use crate::admin::parts::head::{head, short_name, trail};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::moment::counted;
use crate::admin::parts::pager::PAGE_ROWS;
use crate::admin::parts::table::{RowTable, TableCell, linked_name, name_cell};
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

const EMAIL: &str = "email";

/// The list.
pub async fn list(visit: &Visit) -> Result<View> {
    let t = visit.texts.operators;
    let binding = visit.binding("operators", "");
    let place: Option<String> = visit.list_place(&binding)?;
    let is_first = place.is_none();
    let after = place.unwrap_or_default();
    let mut found = directory::list(&visit.app, &after, PAGE_ROWS + 1).await?;
    let has_more = found.len() > PAGE_ROWS as usize;
    found.truncate(PAGE_ROWS as usize);
    let mut body = Html::default();
    head(&mut body, t.title, Some((&visit.link("system/operators/invite"), t.invite)));
    let mut table = RowTable::new(t.caption, &[t.name, t.access, t.state, t.last_sign_in, t.second_factor]);
    for operator in &found {
        let href = visit.link(&format!("system/operators/{}", operator.id));
        let mut heading = linked_name(&href, &short_name(&operator.name));
        heading.raw("<p dir=\"ltr\">").text(&operator.email).raw("</p>");
        let mut state = Html::default();
        add_state(visit, operator, &mut state);
        let cells = vec![
            name_cell(&access(visit, operator.is_admin, operator.roles.len())),
            TableCell::State(state),
            TableCell::Plain(visit.moment_or_never(operator.last_sign_in_at)),
            name_cell(if operator.has_second_factor { t.on } else { t.off }),
        ];
        table.row(&heading, cells);
    }
    table.add_to(&mut body);
    let last = found.last().filter(|_| has_more);
    let next = last.map(|last| binding.cursor(&visit.app.keyring, &last.id));
    visit.add_pager(&mut body, &visit.link("system/operators"), next.as_deref());
    if is_first {
        let open = links::list_open(&visit.app).await?;
        invitations(visit, &open, &mut body);
    }
    Ok(PanelPage::new(t.title, Some(MenuEntry::Operators), body).into())
}

/// Adds the open invitations, but those to one organization, which stand among its members.
fn invitations(visit: &Visit, open: &[LinkView], body: &mut Html) {
    let (t, words) = (visit.texts.operators, visit.texts.members);
    let is_here =
        |link: &&LinkView| link.kind == LinkKind::Invite && (link.is_admin || link.roles.len() != 1);
    let shown: Vec<&LinkView> = open.iter().filter(is_here).collect();
    if shown.is_empty() {
        return;
    }
    body.raw("<section class=\"stack\">").element("h2", words.invitations);
    let columns = [t.email, t.access, words.invited_by, words.expires, ""];
    let mut table = RowTable::new(words.invitations_caption, &columns);
    for link in shown {
        let mut heading = Html::default();
        heading.raw("<span dir=\"ltr\">").text(link.email.as_deref().unwrap_or_default()).raw("</span>");
        let mut end = Html::default();
        let path = format!("system/invitations/{}/end", link.id);
        visit.button_form(&mut end, &path, "plain small", words.withdraw);
        let mut until = Html::default();
        visit.moment(&mut until, link.expires_at);
        let inviter = link.invited_by.as_deref().unwrap_or_default();
        let cells = vec![
            name_cell(&access(visit, link.is_admin, link.roles.len())),
            name_cell(&short_name(inviter)),
            TableCell::Plain(until),
            TableCell::End(end),
        ];
        table.row(&heading, cells);
    }
    table.add_to(body);
    body.raw("</section>\n");
}

/// Withdraws an invitation, whatever it is to.
pub async fn end_invitation(visit: &Visit) -> Result<View> {
    links::withdraw(&visit.app, visit.actor()?, visit.param("i")).await?;
    Ok(View::done("system/operators", FlashCode::InvitationEnded))
}

fn add_state(visit: &Visit, operator: &OperatorView, html: &mut Html) {
    let t = visit.texts.operators;
    match operator.disabled_at {
        None => badge(html, BadgeTone::Good, PanelIcon::Dot, t.active),
        Some(_) => badge(html, BadgeTone::Neutral, PanelIcon::Pause, t.disabled),
    }
}

/// The rights of an operator with so many organizations, in a few words.
fn access(visit: &Visit, is_admin: bool, organizations: usize) -> String {
    let t = visit.texts.operators;
    match (is_admin, organizations) {
        (true, _) => t.admin.to_owned(),
        (false, 0) => t.no_access.to_owned(),
        (false, count) => counted(i64::try_from(count).unwrap_or(i64::MAX), t.organizations),
    }
}

/// One operator: facts, roles, and what can be changed.
pub async fn show(visit: &Visit) -> Result<View> {
    let (t, operator) = (visit.texts.operators, found(visit).await?);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link("system/operators"), t.title)], &short_name(&operator.name));
    head(&mut body, &operator.name, None);
    let mut facts = Facts::default();
    let mut state = Html::default();
    add_state(visit, &operator, &mut state);
    facts.html(None, t.state, &state).id(t.email, &operator.email).text(
        None,
        t.access,
        &access(visit, operator.is_admin, operator.roles.len()),
    );
    facts.text(None, t.second_factor, if operator.has_second_factor { t.on } else { t.off });
    facts.html(None, t.last_sign_in, &visit.moment_or_never(operator.last_sign_in_at));
    facts.html(None, t.created, &visit.moment_or_never(Some(operator.created_at)));
    body.raw("<section class=\"stack\">").element("h2", t.facts);
    facts.add_to(&mut body);
    body.raw("</section>\n");
    if !operator.roles.is_empty() {
        let mut table = RowTable::new(t.roles, &[t.organization, t.role]);
        for role in &operator.roles {
            let href = visit.link(&format!("orgs/{}", role.organization_id));
            let name = linked_name(&href, &short_name(&role.organization_name));
            table.row(&name, vec![name_cell(role_name(visit, role.role))]);
        }
        body.raw("<section class=\"stack\">").element("h2", t.roles);
        table.add_to(&mut body);
        body.raw("</section>\n");
    }
    body.raw("<section class=\"zone-of-danger stack\">")
        .element("h2", t.danger)
        .raw("<div class=\"actions\">");
    for change in OperatorChange::possible(&operator) {
        let href = visit.link(&format!("system/operators/{}/{}", operator.id, change.word()));
        body.raw("<a class=\"button plain\" href=\"")
            .text(&href)
            .raw("\">")
            .text(change.button(visit))
            .raw("</a>");
    }
    body.raw("</div></section>\n");
    Ok(PanelPage::new(short_name(&operator.name), Some(MenuEntry::Operators), body).into())
}

/// The form for an invitation of an administrator.
pub async fn show_invite(visit: &Visit) -> Result<View> {
    Ok(invite_form(visit, &FormFaults::default()).into())
}

/// Makes the invitation, and shows its link.
pub async fn invite(visit: &Visit) -> Result<View> {
    let t = visit.texts.operators;
    let email = visit.fields.first(EMAIL).trim().to_owned();
    let invitation = Invitation { email, is_admin: true, roles: BTreeMap::new() };
    let (app, actor, new) = (visit.app.clone(), visit.actor()?.clone(), invitation.clone());
    let made = once(visit, |_| async move { Ok(link_answer(&links::invite(&app, &actor, &new).await?)) });
    match made.await {
        Ok(answer) => {
            let words = LinkWords {
                title: t.link_title,
                text: t.link_text,
                email: &invitation.email,
                done: t.done,
                back: "system/operators",
            };
            Ok(link_page(visit, &json(&answer)?, &words, MenuEntry::Operators).into())
        }
        Err(e) if e.code() == Some(Code::InvalidParameter) => {
            let faults = FormFaults::of(EMAIL, visit.texts.members.bad_email);
            Ok(invite_form(visit, &faults).with_status(StatusCode::BAD_REQUEST).into())
        }
        Err(e) => Err(e),
    }
}

fn invite_form(visit: &Visit, faults: &FormFaults) -> PanelPage {
    let (t, frame) = (visit.texts.operators, visit.texts.frame);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link("system/operators"), t.title)], t.invite_title);
    head(&mut body, t.invite_title, None);
    faults.summary(&mut body, frame);
    body.element("p", t.invite_text);
    visit.open_form(&mut body, "system/operators/invite");
    let email = InputField::email(EMAIL, t.email, visit.fields.first(EMAIL), "off");
    email.add_to(&mut body, frame, faults);
    body.raw("<button>").text(visit.texts.members.create_link).raw("</button></form>\n");
    PanelPage::new(t.invite_title, Some(MenuEntry::Operators), body)
}
