//! Sign-in by an OpenID provider: the way there, `/oidc/return`, and the uses of an identity by who is signed in.

use base::error::{Code, Result, not_found};
use http::StatusCode;
use service::locale::html::Html;
use service::manage::operators::links;
use service::manage::operators::oidc::authorization::{
    self, OidcProof, OidcPurpose, OidcReturn, PendingAuthorization,
};
use service::manage::operators::oidc::identities;
use service::manage::operators::oidc::{OidcFault, provider};
use service::manage::operators::sessions::{self, Session};

use crate::admin::cookies::CookieKind;
use crate::admin::failure;
use crate::admin::pages::oidc_parts::{JOIN, PURPOSE, named, provider_name};
use crate::admin::pages::sign_in::{insecure, next, signed};
use crate::admin::parts::head::head;
use crate::admin::parts::note::alert;
use crate::admin::scheme::BrowserScheme;
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The beginning of the path of an invitation's page.
const JOIN_PATH: &str = "join/";

/// Begins a sign-in, or the acceptance of an invitation.
pub async fn start(visit: &Visit) -> Result<View> {
    if provider(&visit.app).is_none() {
        return Err(not_found("page"));
    }
    if links::is_empty(&visit.app).await? {
        return Ok(failure::nobody(visit));
    }
    let purpose = match visit.fields.first(PURPOSE) {
        JOIN => OidcPurpose::Join,
        _ => OidcPurpose::SignIn,
    };
    Ok(leave(visit, purpose).await)
}

/// Begins to give the reader an identity.
pub async fn connect(visit: &Visit) -> Result<View> {
    Ok(leave(visit, OidcPurpose::Connect).await)
}

/// Begins to prove again who the reader is.
pub async fn confirm(visit: &Visit) -> Result<View> {
    Ok(leave(visit, OidcPurpose::Confirm).await)
}

/// Takes the reader's identity away.
pub async fn disconnect(visit: &Visit) -> Result<View> {
    identities::disconnect(&visit.app, visit.actor()?, visit.session()?).await?;
    Ok(View::done("account", FlashCode::IdentityDisconnected))
}

/// The page that leads on to the provider: browsers that forbid a form to lead to another site follow its header, and people its link.
async fn leave(visit: &Visit, purpose: OidcPurpose) -> View {
    if visit.scheme == BrowserScheme::OpenHttp {
        return insecure(visit).into();
    }
    let (session, next) = (session_of(visit), next(visit));
    let departure = match authorization::begin(&visit.app, purpose, &next, session).await {
        Ok(departure) => departure,
        Err(fault) => return failed(visit, fault, Some((purpose, next.as_str()))),
    };
    let t = visit.texts.oidc;
    let title = named(visit, t.leaving);
    let mut body = Html::default();
    head(&mut body, &title, None);
    body.element("p", t.leaving_text)
        .raw("<p><a rel=\"noreferrer\" dir=\"ltr\" href=\"")
        .text(&departure.url);
    body.raw("\">").text(&departure.url).raw("</a></p>\n");
    let page = PanelPage { leave_for: Some(departure.url), ..page(visit, title, body) };
    View::from(page).with_cookie(CookieKind::Provider, Some(departure.cookie))
}

fn session_of(visit: &Visit) -> Option<&Session> {
    visit.signed.as_ref().map(|signed| &signed.session)
}

/// A page beside the menu for who is signed in, and without one for others.
fn page(visit: &Visit, title: String, body: Html) -> PanelPage {
    match visit.signed {
        Some(_) => PanelPage::new(title, Some(MenuEntry::Account), body),
        None => PanelPage::gate(title, body),
    }
}

/// The page to which the provider sends browsers back. A return counts once, in the browser and session that left.
pub async fn show_return(visit: &Visit) -> Result<View> {
    if provider(&visit.app).is_none() {
        return Err(not_found("page"));
    }
    if visit.scheme == BrowserScheme::OpenHttp {
        return Ok(insecure(visit).into());
    }
    let cookie = visit.provider_cookie.as_deref();
    let read = |cookie| PendingAuthorization::read(&visit.app, cookie, session_of(visit));
    let Some(pending) = cookie.and_then(read) else { return Ok(failed(visit, OidcFault::State, None)) };
    let returned = OidcReturn {
        state: visit.query.first("state"),
        code: visit.query.first("code"),
        error: visit.query.first("error"),
        issuer: visit.query.first("iss"),
    };
    let proof = match authorization::prove(&visit.app, &pending, returned).await? {
        Ok(proof) => proof,
        // A forged return leaves the pending authorization as it is.
        Err(OidcFault::State) => return Ok(failed(visit, OidcFault::State, None)),
        Err(fault) => return Ok(ended(visit, fault, &pending)),
    };
    match complete(visit, &pending, &proof).await? {
        Ok(view) => Ok(view.with_cookie(CookieKind::Provider, None)),
        Err(fault) => Ok(ended(visit, fault, &pending)),
    }
}

/// Does what the browser left for.
async fn complete(
    visit: &Visit,
    pending: &PendingAuthorization,
    proof: &OidcProof,
) -> Result<Result<View, OidcFault>> {
    let app = &visit.app;
    let view = match pending.purpose {
        OidcPurpose::SignIn => {
            let new = identities::sign_in(app, proof, &visit.origin).await?;
            new.map(|new| signed(new, pending.next.clone()))
        }
        OidcPurpose::Join => {
            let token = pending.next.strip_prefix(JOIN_PATH).unwrap_or_default();
            let new = identities::join(app, token, proof, visit.language.tag(), &visit.origin).await;
            match new {
                Ok(new) => new.map(|new| signed(new, String::new())),
                // There is an operator already, and the link makes the first one.
                Err(e) if e.code() == Some(Code::InvalidState) => Err(OidcFault::Gone),
                Err(e) => return Err(e),
            }
        }
        OidcPurpose::Connect => {
            let connected = identities::connect(app, visit.actor()?, visit.session()?, proof).await?;
            connected.map(|()| View::done("account", FlashCode::IdentityConnected))
        }
        OidcPurpose::Confirm => match identities::confirm(app, visit.session()?, proof).await? {
            Ok(()) => {
                let renewed = sessions::renew(app, visit.session()?).await?;
                let view = View::see_other(pending.next.clone());
                Ok(view.with_cookie(CookieKind::Session, Some(renewed.cookie)))
            }
            Err(fault) => Err(fault),
        },
    };
    Ok(view)
}

/// The page for a failed return, which also takes the cookie away.
fn ended(visit: &Visit, fault: OidcFault, pending: &PendingAuthorization) -> View {
    let view = failed(visit, fault, Some((pending.purpose, pending.next.as_str())));
    view.with_cookie(CookieKind::Provider, None)
}

/// The page that says why an authorization failed, with a link to try again. It shows nothing that the provider sent.
fn failed(visit: &Visit, fault: OidcFault, left_for: Option<(OidcPurpose, &str)>) -> View {
    let t = visit.texts.oidc;
    let (text, status) = match fault {
        OidcFault::Unavailable => (t.unavailable, StatusCode::SERVICE_UNAVAILABLE),
        OidcFault::State => (t.state, StatusCode::FORBIDDEN),
        OidcFault::Declined => (t.declined, StatusCode::FORBIDDEN),
        OidcFault::Refused => (t.refused, StatusCode::FORBIDDEN),
        OidcFault::Token => (t.bad_token, StatusCode::FORBIDDEN),
        OidcFault::Unknown => (t.unknown, StatusCode::FORBIDDEN),
        OidcFault::OtherAddress => (t.other_address, StatusCode::FORBIDDEN),
        OidcFault::Gone => (visit.texts.sign_in.gone, StatusCode::NOT_FOUND),
        OidcFault::KnownAddress => (t.known_address, StatusCode::CONFLICT),
        OidcFault::Taken => (t.taken, StatusCode::CONFLICT),
        OidcFault::OtherPerson => (t.other_person, StatusCode::FORBIDDEN),
        OidcFault::NotFresh => (t.not_fresh, StatusCode::FORBIDDEN),
        OidcFault::Wait(_) => (visit.texts.sign_in.wait, StatusCode::TOO_MANY_REQUESTS),
    };
    let seconds = if let OidcFault::Wait(seconds) = fault { Some(seconds) } else { None };
    let name = provider_name(visit).unwrap_or_default();
    let text = fill(text, &[("name", name), ("n", &seconds.unwrap_or_default().to_string())]);
    let again = match left_for {
        Some((OidcPurpose::Join, next)) => next.to_owned(),
        Some((OidcPurpose::Connect, _)) => "account".to_owned(),
        Some((OidcPurpose::Confirm, next)) => format!("confirm?next={next}"),
        Some((OidcPurpose::SignIn, next)) => format!("sign-in?next={next}"),
        None if visit.signed.is_some() => "account".to_owned(),
        None => "sign-in".to_owned(),
    };
    let mut body = Html::default();
    head(&mut body, t.failed_title, None);
    alert(&mut body, &text);
    body.raw("<p><a class=\"button\" href=\"").text(&visit.link(&again)).raw("\">").text(t.try_again);
    body.raw("</a></p>\n");
    let page = page(visit, t.failed_title.to_owned(), body).with_status(status);
    PanelPage { retry_after_s: seconds, ..page }.into()
}
