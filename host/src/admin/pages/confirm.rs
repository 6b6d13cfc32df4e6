//! `/confirm`: an operator proves again who they are, before something dangerous: by a password, a code, or the OpenID provider.

use base::error::{Code, Error, Result};
use http::StatusCode;
use service::locale::html::Html;
use service::manage::operators::sessions;
use service::manage::operators::sign_in;

use crate::admin::cookies::CookieKind;
use crate::admin::pages::oidc_parts;
use crate::admin::pages::sign_in::next;
use crate::admin::parts::field::{FormFaults, InputField, hidden};
use crate::admin::texts::fill;
use crate::admin::view::{PanelPage, View};
use crate::admin::visit::Visit;

const PROOF: &str = "proof";

/// The form for a password or a code.
pub async fn show(visit: &Visit) -> Result<View> {
    Ok(form(visit, &FormFaults::default()).await?.into())
}

/// Takes the proof: the session gets another cookie, and goes on.
pub async fn send(visit: &Visit) -> Result<View> {
    let (session, t) = (visit.session()?, visit.texts.sign_in);
    match sign_in::confirm(&visit.app, session, visit.fields.first(PROOF)).await {
        Ok(true) => {
            let renewed = sessions::renew(&visit.app, session).await?;
            Ok(View::see_other(next(visit)).with_cookie(CookieKind::Session, Some(renewed.cookie)))
        }
        Ok(false) => {
            let faults = FormFaults::of(PROOF, t.confirm_wrong);
            Ok(form(visit, &faults).await?.with_status(StatusCode::FORBIDDEN).into())
        }
        Err(Error::Refused(refusal)) if refusal.code == Code::RateLimited => {
            let seconds = refusal.retry_after_s.unwrap_or(1);
            let faults = FormFaults::of(PROOF, fill(t.wait, &[("n", &seconds.to_string())]));
            let page = form(visit, &faults).await?.with_status(StatusCode::TOO_MANY_REQUESTS);
            Ok(PanelPage { retry_after_s: Some(seconds), ..page }.into())
        }
        Err(e) => Err(e),
    }
}

async fn form(visit: &Visit, faults: &FormFaults) -> Result<PanelPage> {
    let (session, t) = (visit.session()?, visit.texts.sign_in);
    let ways_in = oidc_parts::ways_in(visit, session).await?;
    let mut body = Html::default();
    body.raw("<div class=\"head\"><h1>").text(t.confirm_title).raw("</h1></div>\n");
    faults.summary(&mut body, visit.texts.frame);
    if ways_in.as_ref().is_some_and(|ways_in| oidc_parts::can_use(visit, ways_in)) {
        oidc_parts::confirm_button(visit, &next(visit), &mut body);
    }
    // Who has neither a password nor a code cannot enter one.
    if session.has_second_factor || ways_in.is_none_or(|ways_in| ways_in.has_password) {
        proof_form(visit, faults, &mut body);
    }
    Ok(PanelPage::new(t.confirm_title, None, body))
}

/// Adds the form for a password or a code.
fn proof_form(visit: &Visit, faults: &FormFaults, body: &mut Html) {
    let t = visit.texts.sign_in;
    body.element("p", t.confirm_text);
    visit.open_form(body, "confirm");
    hidden(body, "next", &next(visit));
    InputField::password(PROOF, t.confirm_field, "current-password").add_to(body, visit.texts.frame, faults);
    body.raw("<button>").text(t.confirm).raw("</button></form>\n");
}
