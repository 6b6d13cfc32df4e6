//! `/first/{t}` and `/join/{t}`: links that let people in. Opening one changes nothing.

use base::error::{Code, Error, Refusal, Result};
use http::StatusCode;
use service::locale::html::Html;
use service::manage::operators::acceptance::{self, NewOperator};
use service::manage::operators::address::address_key;
use service::manage::operators::links::{self, LinkKind, LinkView};
use service::manage::operators::sessions::Session;
use service::manage::organizations;
use zeroize::Zeroizing;

use crate::admin::pages::oidc_parts;
use crate::admin::pages::sign_in::{insecure, outcome, with_fault};
use crate::admin::parts::field::{FormFaults, InputField};
use crate::admin::parts::note::alert;
use crate::admin::scheme::BrowserScheme;
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, PanelPage, View};
use crate::admin::visit::Visit;

const EMAIL: &str = "email";
const NAME: &str = "name";
const PASSWORD: &str = "password";

/// The form behind a link.
pub async fn show(visit: &Visit) -> Result<View> {
    match find(visit).await? {
        Ok(link) => form(visit, &link, &FormFaults::default(), None).await,
        Err(view) => Ok(view),
    }
}

/// The link of the path, or the page that is shown in its place.
async fn find(visit: &Visit) -> Result<Result<LinkView, View>> {
    if visit.scheme == BrowserScheme::OpenHttp {
        return Ok(Err(insecure(visit).into()));
    }
    match links::find(&visit.app, visit.param("t")).await {
        Ok(Some(link)) => Ok(Ok(link)),
        Ok(None) => Ok(Err(gone(visit))),
        Err(e) if e.code() == Some(Code::InvalidState) => Ok(Err(exists(visit))),
        Err(e) => Err(e),
    }
}

/// The one page for links that do not work.
fn gone(visit: &Visit) -> View {
    let t = visit.texts.sign_in;
    let mut body = Html::default();
    body.element("h1", t.gone).element("p", t.gone_text);
    body.raw("<div class=\"code\"><pre tabindex=\"0\" dir=\"ltr\">switchboard admin link</pre></div>\n");
    PanelPage::gate(t.gone, body).with_status(StatusCode::NOT_FOUND).into()
}

fn exists(visit: &Visit) -> View {
    let t = visit.texts.sign_in;
    let mut body = Html::default();
    body.element("h1", t.gone).element("p", t.exists).raw("<p>");
    body.link(&visit.link("sign-in"), t.title).raw("</p>\n");
    PanelPage::gate(t.gone, body).with_status(StatusCode::CONFLICT).into()
}

/// Accepts a link.
pub async fn send(visit: &Visit) -> Result<View> {
    let link = match find(visit).await? {
        Ok(link) => link,
        Err(view) => return Ok(view),
    };
    let token = visit.param("t");
    if let Some(signed) = visit.signed.as_ref().filter(|_| link.is_known && link.kind == LinkKind::Invite) {
        acceptance::join(&visit.app, &signed.actor, &signed.session, token).await?;
        return Ok(View::done("", FlashCode::Joined));
    }
    let new = NewOperator {
        email: Some(visit.fields.first(EMAIL).to_owned()),
        name: visit.fields.first(NAME).to_owned(),
        password: Zeroizing::new(visit.fields.first(PASSWORD).to_owned()),
        language: Some(visit.language.tag().to_owned()),
    };
    match acceptance::accept(&visit.app, token, &new, &visit.origin).await {
        Ok(signed_in) => Ok(outcome(visit, signed_in, String::new(), |visit, fault| {
            let text = fault.as_ref().map(|(text, ..)| text.as_str()).unwrap_or_default();
            let mut body = Html::default();
            body.element("h1", visit.texts.sign_in.title);
            alert(&mut body, text);
            with_fault(PanelPage::gate(visit.texts.sign_in.title, body), fault).into()
        })),
        Err(Error::Refused(refusal)) => refused(visit, &link, *refusal).await,
        Err(e) => Err(e),
    }
}

/// The form again with what is wrong, or the page for a link that does not work any more.
async fn refused(visit: &Visit, link: &LinkView, refusal: Refusal) -> Result<View> {
    let t = visit.texts.sign_in;
    match (refusal.code, refusal.param.as_deref()) {
        (Code::NotFound, _) => return Ok(gone(visit)),
        (Code::InvalidState, _) => return Ok(exists(visit)),
        (Code::AlreadyExists, _) => {
            return form(visit, link, &FormFaults::default(), Some(t.known)).await;
        }
        _ => {}
    }
    let faults = match refusal.param.as_deref() {
        Some(EMAIL) => FormFaults::of(EMAIL, t.bad_email),
        Some(NAME) => FormFaults::of(NAME, t.bad_name),
        Some(PASSWORD) => FormFaults::of(PASSWORD, t.bad_password),
        _ => return Err(refusal.into()),
    };
    form(visit, link, &faults, None).await
}

async fn form(visit: &Visit, link: &LinkView, faults: &FormFaults, fault: Option<&str>) -> Result<View> {
    let (title, text) = title_and_text(visit, link).await?;
    let mut body = Html::default();
    body.element("h1", &title);
    if let Some(fault) = fault {
        alert(&mut body, fault);
    }
    faults.summary(&mut body, visit.texts.frame);
    body.element("p", &text);
    let path = &visit.path;
    match (link.kind, link.is_known, &visit.signed) {
        (LinkKind::Invite, true, Some(signed)) => {
            join_form(visit, link, &signed.session, &mut body);
        }
        (LinkKind::Invite, true, None) => {
            let t = visit.texts.sign_in;
            body.element("p", t.known).raw("<a class=\"button\" href=\"");
            body.text(&visit.link(&format!("sign-in?next={path}"))).raw("\">").text(t.title).raw("</a>\n");
        }
        _ => {
            if link.kind == LinkKind::Invite {
                oidc_parts::join_button(visit, &mut body);
            }
            new_form(visit, link.kind, faults, &mut body);
        }
    }
    let status = if faults.is_empty() && fault.is_none() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    Ok(PanelPage::gate(title, body).with_status(status).into())
}

/// Title and sentence: who lets whom in where.
async fn title_and_text(visit: &Visit, link: &LinkView) -> Result<(String, String)> {
    let t = visit.texts.sign_in;
    let email = link.email.as_deref().unwrap_or_default();
    match link.kind {
        LinkKind::First => Ok((t.first_title.to_owned(), t.first_text.to_owned())),
        LinkKind::Reset => Ok((t.reset_title.to_owned(), fill(t.reset_text, &[("email", email)]))),
        LinkKind::Invite => {
            let one = link.roles.keys().next().filter(|_| link.roles.len() == 1 && !link.is_admin);
            let organization = match one {
                Some(id) => organizations::find(&visit.app, id).await?,
                None => None,
            };
            let title = match organization {
                Some(organization) => fill(t.join_title, &[("name", &organization.name)]),
                None => t.join_installation.to_owned(),
            };
            let text = match &link.invited_by {
                Some(inviter) => fill(t.join_text, &[("inviter", inviter), ("email", email)]),
                None => fill(t.join_text_system, &[("email", email)]),
            };
            Ok((title, text))
        }
    }
}

/// The button for an operator who is signed in.
fn join_form(visit: &Visit, link: &LinkView, session: &Session, body: &mut Html) {
    let t = visit.texts.sign_in;
    let invited = link.email.as_deref().unwrap_or_default();
    if address_key(invited) != address_key(&session.email) {
        body.element("p", &fill(t.other_account, &[("email", invited)]));
        visit.button_form(body, "sign-out", "plain", t.sign_out);
        return;
    }
    body.element("p", &fill(t.known_here, &[("name", &session.name)]));
    visit.open_form(body, &visit.path);
    body.raw("<button>").text(t.join).raw("</button></form>\n");
}

/// The form for a new operator, or for a new password.
fn new_form(visit: &Visit, kind: LinkKind, faults: &FormFaults, body: &mut Html) {
    let (t, frame) = (visit.texts.sign_in, visit.texts.frame);
    visit.open_form(body, &visit.path);
    if kind == LinkKind::First {
        let email = InputField::email(EMAIL, t.email, visit.fields.first(EMAIL), "username");
        email.add_to(body, frame, faults);
    }
    if kind != LinkKind::Reset {
        let name =
            InputField { autocomplete: "name", ..InputField::text(NAME, t.name, visit.fields.first(NAME)) };
        name.add_to(body, frame, faults);
    }
    let password = InputField::password(PASSWORD, t.new_password, "new-password");
    password.with_hint(t.password_hint).add_to(body, frame, faults);
    let word = match kind {
        LinkKind::First => t.create,
        LinkKind::Invite => t.join,
        LinkKind::Reset => t.set_password,
    };
    body.raw("<button>").text(word).raw("</button></form>\n");
}
