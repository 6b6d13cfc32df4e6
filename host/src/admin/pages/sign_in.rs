//! `/sign-in`, its second step, and signing out.

use base::error::{Code, Result};
use http::StatusCode;
use service::locale::html::Html;
use service::manage::operators::links;
use service::manage::operators::sessions::{self, NewSession};
use service::manage::operators::sign_in::{self, Credentials, SignIn};
use zeroize::Zeroizing;

use crate::admin::addresses;
use crate::admin::cookies::CookieKind;
use crate::admin::failure;
use crate::admin::pages::oidc_parts;
use crate::admin::parts::field::{FormFaults, InputField, hidden};
use crate::admin::parts::note::alert;
use crate::admin::scheme::BrowserScheme;
use crate::admin::texts::fill;
use crate::admin::view::{PanelPage, View};
use crate::admin::visit::Visit;

const EMAIL: &str = "email";
const PASSWORD: &str = "password";
const CODE: &str = "code";
const NEXT: &str = "next";

/// The form for address and password.
pub async fn show(visit: &Visit) -> Result<View> {
    if visit.signed.is_some() {
        return Ok(View::see_other(next(visit)));
    }
    if links::is_empty(&visit.app).await? {
        return Ok(failure::nobody(visit));
    }
    Ok(form(visit, None))
}

/// Signs in.
pub async fn send(visit: &Visit) -> Result<View> {
    if visit.scheme == BrowserScheme::OpenHttp {
        return Ok(insecure(visit).into());
    }
    let credentials = Credentials {
        email: visit.fields.first(EMAIL).trim().to_owned(),
        password: Zeroizing::new(visit.fields.first(PASSWORD).to_owned()),
        device: visit.device.clone(),
    };
    let signed_in = sign_in::sign_in(&visit.app, &credentials, &visit.origin).await;
    let t = visit.texts.sign_in;
    match signed_in {
        Ok(SignIn::Wrong) => Ok(form(visit, Some((t.wrong.to_owned(), StatusCode::FORBIDDEN, None)))),
        // Longer than any that is right.
        Err(e) if e.code() == Some(Code::InvalidParameter) => {
            Ok(form(visit, Some((t.wrong.to_owned(), StatusCode::BAD_REQUEST, None))))
        }
        Ok(other) => Ok(outcome(visit, other, next(visit), form)),
        Err(e) => Err(e),
    }
}

/// A fault of the form as a whole: text, status, and the seconds to wait.
type SignInFault = (String, StatusCode, Option<u64>);

/// The view after a try to sign in; `form` shows the form of the step again.
pub fn outcome(
    visit: &Visit,
    signed_in: SignIn,
    next: String,
    form: impl FnOnce(&Visit, Option<SignInFault>) -> View,
) -> View {
    let t = visit.texts.sign_in;
    match signed_in {
        SignIn::Signed(session) => signed(session, next),
        SignIn::NeedsCode(token) => {
            let to = format!("sign-in/code?next={next}");
            View::see_other(to).with_cookie(CookieKind::HalfSession, Some(token))
        }
        SignIn::Wait(seconds) => {
            let text = fill(t.wait, &[("n", &seconds.to_string())]);
            form(visit, Some((text, StatusCode::TOO_MANY_REQUESTS, Some(seconds))))
        }
        SignIn::Wrong => form(visit, Some((t.wrong_code.to_owned(), StatusCode::FORBIDDEN, None))),
        SignIn::Busy => {
            let text = visit.texts.frame.busy_text.to_owned();
            form(visit, Some((text, StatusCode::SERVICE_UNAVAILABLE, Some(5))))
        }
    }
}

/// Gives the browser its session, and takes away what stood in its place.
pub fn signed(session: NewSession, to: String) -> View {
    View::see_other(to)
        .with_cookie(CookieKind::Session, Some(session.cookie))
        .with_cookie(CookieKind::Device, Some(session.device_cookie))
        .with_cookie(CookieKind::HalfSession, None)
        .with_cookie(CookieKind::Form, None)
}

/// The page that follows a sign-in: one of the panel, else the start page.
pub fn next(visit: &Visit) -> String {
    let sent = [visit.fields.first(NEXT), visit.query.first(NEXT)];
    let next = sent.into_iter().find(|next| !next.is_empty()).unwrap_or_default();
    if addresses::is_page(next) { next.to_owned() } else { String::new() }
}

fn form(visit: &Visit, fault: Option<SignInFault>) -> View {
    if visit.scheme == BrowserScheme::OpenHttp {
        return insecure(visit).into();
    }
    let (t, none) = (visit.texts.sign_in, FormFaults::default());
    let mut body = Html::default();
    body.element("h1", t.title);
    if let Some((text, ..)) = &fault {
        alert(&mut body, text);
    }
    oidc_parts::sign_in_button(visit, &next(visit), &mut body);
    visit.open_form(&mut body, "sign-in");
    hidden(&mut body, NEXT, &next(visit));
    let email = InputField::email(EMAIL, t.email, visit.fields.first(EMAIL), "username");
    email.add_to(&mut body, visit.texts.frame, &none);
    InputField::password(PASSWORD, t.password, "current-password").add_to(
        &mut body,
        visit.texts.frame,
        &none,
    );
    body.raw("<button>").text(t.title).raw("</button></form>\n<p class=\"hint\">").text(t.locked_out_before);
    body.raw("<code dir=\"ltr\">switchboard admin link</code>").text(t.locked_out_after).raw("</p>\n");
    with_fault(PanelPage::gate(t.title, body), fault).into()
}

/// The page with the status of a fault.
pub fn with_fault(page: PanelPage, fault: Option<SignInFault>) -> PanelPage {
    let Some((_, status, retry_after_s)) = fault else { return page };
    PanelPage { status, retry_after_s, ..page }
}

/// The page in place of a form for passwords where they could be read on the way.
pub fn insecure(visit: &Visit) -> PanelPage {
    let t = visit.texts.frame;
    let mut body = Html::default();
    body.element("h1", t.insecure).element("p", t.insecure_text);
    PanelPage::gate(t.insecure, body).with_status(StatusCode::FORBIDDEN)
}

/// The form for the code of the second factor.
pub async fn show_code(visit: &Visit) -> Result<View> {
    match &visit.half_session {
        Some(token) if sign_in::takes_codes(&visit.app, token).await? => Ok(code_form(visit, None)),
        _ => Ok(View::see_other("sign-in").with_cookie(CookieKind::HalfSession, None)),
    }
}

/// Completes a sign-in by a code.
pub async fn send_code(visit: &Visit) -> Result<View> {
    let start_again = || View::see_other("sign-in").with_cookie(CookieKind::HalfSession, None);
    let Some(token) = &visit.half_session else { return Ok(start_again()) };
    let code = visit.fields.first(CODE).trim();
    let signed_in = sign_in::enter_code(&visit.app, token, code, &visit.origin).await?;
    if matches!(signed_in, SignIn::Wrong) && !sign_in::takes_codes(&visit.app, token).await? {
        return Ok(start_again());
    }
    Ok(outcome(visit, signed_in, next(visit), code_form))
}

fn code_form(visit: &Visit, fault: Option<SignInFault>) -> View {
    let t = visit.texts.sign_in;
    let faults = match &fault {
        Some((text, ..)) => FormFaults::of(CODE, text.as_str()),
        None => FormFaults::default(),
    };
    let mut body = Html::default();
    body.element("h1", t.code_title);
    faults.summary(&mut body, visit.texts.frame);
    visit.open_form(&mut body, "sign-in/code");
    hidden(&mut body, NEXT, &next(visit));
    let code = InputField { autocomplete: "one-time-code", ..InputField::text(CODE, t.code, "") };
    code.with_hint(t.code_hint).ltr().add_to(&mut body, visit.texts.frame, &faults);
    body.raw("<button>").text(t.continue_).raw("</button></form>\n<p>");
    body.link(&visit.link("sign-in"), t.start_again).raw("</p>\n");
    with_fault(PanelPage::gate(t.code_title, body), fault).into()
}

/// Signs out.
pub async fn sign_out(visit: &Visit) -> Result<View> {
    sessions::end(&visit.app, &visit.cookie).await?;
    Ok(View::see_other("sign-in").with_cookie(CookieKind::Session, None))
}
