//! `/confirm`: an operator proves again who they are, before something dangerous.

use base::error::{Code, Error, Result};
use http::StatusCode;
use service::locale::html::Html;
use service::manage::operators::sessions;
use service::manage::operators::sign_in;

use crate::admin::cookies::CookieKind;
use crate::admin::pages::sign_in::next;
use crate::admin::parts::field::{FormFaults, InputField, hidden};
use crate::admin::texts::fill;
use crate::admin::view::{PanelPage, View};
use crate::admin::visit::Visit;

const PROOF: &str = "proof";

/// The form for a password or a code.
pub async fn show(visit: &Visit) -> Result<View> {
    Ok(form(visit, &FormFaults::default()).into())
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
            Ok(form(visit, &faults).with_status(StatusCode::FORBIDDEN).into())
        }
        Err(Error::Refused(refusal)) if refusal.code == Code::RateLimited => {
            let seconds = refusal.retry_after_s.unwrap_or(1);
            let faults = FormFaults::of(PROOF, fill(t.wait, &[("n", &seconds.to_string())]));
            let page = form(visit, &faults).with_status(StatusCode::TOO_MANY_REQUESTS);
            Ok(PanelPage { retry_after_s: Some(seconds), ..page }.into())
        }
        Err(e) => Err(e),
    }
}

fn form(visit: &Visit, faults: &FormFaults) -> PanelPage {
    let t = visit.texts.sign_in;
    let mut body = Html::default();
    body.raw("<div class=\"head\"><h1>").text(t.confirm_title).raw("</h1></div>\n");
    faults.summary(&mut body, visit.texts.frame);
    body.element("p", t.confirm_text);
    visit.open_form(&mut body, "confirm");
    hidden(&mut body, "next", &next(visit));
    InputField::password(PROOF, t.confirm_field, "current-password").add_to(
        &mut body,
        visit.texts.frame,
        faults,
    );
    body.raw("<button>").text(t.confirm).raw("</button></form>\n");
    PanelPage::new(t.confirm_title, None, body)
}
