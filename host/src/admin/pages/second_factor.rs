//! The second factor of a person's own account: set up, turned off, new recovery codes.

use base::error::{Code, Result, invalid, not_found};
use http::StatusCode;
use serde_json::Value;
use service::app::stored_response::StoredResponse;
use service::locale::html::Html;
use service::manage::operators::account;
use service::manage::operators::totp::FactorSetup;
use zeroize::Zeroizing;

use crate::admin::claim::{json, once};
use crate::admin::parts::code::secret;
use crate::admin::parts::confirm::ConfirmPart;
use crate::admin::parts::field::{FormFaults, InputField, hidden};
use crate::admin::parts::head::{head, trail};
use crate::admin::parts::note::warning;
use crate::admin::parts::qr::qr;
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The sealed secret of the setup, which comes back with the first code.
const SETUP: &str = "setup";
const CODE: &str = "code";

/// The picture of a new secret, and the form for a first code.
pub async fn show(visit: &Visit) -> Result<View> {
    let setup = account::begin_factor(&visit.app, visit.session()?).await?;
    Ok(set_up(visit, &setup, &FormFaults::default()).into())
}

fn set_up(visit: &Visit, setup: &FactorSetup, faults: &FormFaults) -> PanelPage {
    let (t, frame) = (visit.texts.account, visit.texts.frame);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link("account"), t.title)], t.second_factor);
    head(&mut body, t.set_up_title, None);
    faults.summary(&mut body, frame);
    body.element("p", t.scan);
    if let Some((width, path)) = drawing(&setup.picture) {
        qr(&mut body, width, path, t.qr);
    }
    body.element("p", t.by_text);
    secret(&mut body, frame, &setup.secret, frame.copy);
    visit.open_form(&mut body, "account/second-factor");
    hidden(&mut body, SETUP, &setup.token);
    let code = InputField { autocomplete: "one-time-code", ..InputField::text(CODE, t.first_code, "") };
    code.with_hint(t.first_code_hint).ltr().add_to(&mut body, frame, faults);
    body.raw("<button>").text(t.turn_on).raw("</button></form>\n");
    PanelPage::new(t.set_up_title, Some(MenuEntry::Account), body).with_secret()
}

/// Width and dark modules of a picture: an `<svg>` element whose last path they are.
fn drawing(picture: &str) -> Option<(usize, &str)> {
    let (_, rest) = picture.split_once("viewBox=\"0 0 ")?;
    let width = rest.split([' ', '"']).next()?.parse().ok()?;
    let (_, path) = picture.rsplit_once(" d=\"")?;
    Some((width, path.split('"').next()?))
}

/// Turns the second factor on by a first code, and shows the recovery codes.
pub async fn turn_on(visit: &Visit) -> Result<View> {
    let (app, actor, session) = (visit.app.clone(), visit.actor()?.clone(), visit.session()?.clone());
    let (setup, code) = (visit.fields.first(SETUP).to_owned(), visit.fields.first(CODE).trim().to_owned());
    let set = once(visit, |_| async move {
        let codes = account::confirm_factor(&app, &actor, &session, &setup, &code).await?;
        let codes = codes.ok_or_else(|| invalid(Code::InvalidParameter, CODE, "this code is wrong"))?;
        Ok(codes_answer(&codes))
    });
    match set.await {
        Ok(answer) => Ok(codes_page(visit, &json(&answer)?).into()),
        Err(e) if e.code() == Some(Code::InvalidParameter) => {
            let session = visit.session()?;
            // The app has scanned the secret already: the same one is shown.
            let setup = match account::resume_factor(&visit.app, session, visit.fields.first(SETUP))? {
                Some(setup) => setup,
                None => account::begin_factor(&visit.app, session).await?,
            };
            let faults = FormFaults::of(CODE, visit.texts.account.wrong_code);
            Ok(set_up(visit, &setup, &faults).with_status(StatusCode::BAD_REQUEST).into())
        }
        Err(e) => Err(e),
    }
}

/// The answer of a form that made recovery codes. A form that is sent twice makes them once: those that are shown are those that work.
fn codes_answer(codes: &[Zeroizing<String>]) -> StoredResponse {
    let codes: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    StoredResponse::ok(serde_json::json!({ "codes": codes }).to_string())
}

/// The page that shows the recovery codes of such an answer.
fn codes_page(visit: &Visit, answer: &Value) -> PanelPage {
    let t = visit.texts.account;
    let mut body = Html::default();
    head(&mut body, t.codes_title, None);
    warning(&mut body, t.codes_title, t.codes_text);
    body.raw("<ul class=\"codes\">");
    for code in answer["codes"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        body.raw("<li class=\"id\" dir=\"ltr\">").text(code).raw("</li>");
    }
    body.raw("</ul>\n<div class=\"actions\"><a class=\"button\" href=\"").text(&visit.link("account"));
    body.raw("\">").text(t.codes_saved).raw("</a></div>\n");
    PanelPage::new(t.codes_title, Some(MenuEntry::Account), body).with_secret()
}

/// The question before the second factor is turned off.
pub async fn show_off(visit: &Visit) -> Result<View> {
    let t = visit.texts.account;
    Ok(question(visit, "account/second-factor/off", t.turn_off, t.turn_off_title, t.turn_off_text)?.into())
}

/// Turns the second factor off.
pub async fn turn_off(visit: &Visit) -> Result<View> {
    account::remove_factor(&visit.app, visit.actor()?, visit.session()?).await?;
    Ok(View::done("account", FlashCode::SecondFactorOff))
}

/// The question before new recovery codes take the place of the present ones.
pub async fn show_codes(visit: &Visit) -> Result<View> {
    let t = visit.texts.account;
    Ok(question(visit, "account/recovery-codes", t.new_codes, t.new_codes_title, t.new_codes_text)?.into())
}

/// Makes new recovery codes, and shows them.
pub async fn new_codes(visit: &Visit) -> Result<View> {
    let (app, actor, session) = (visit.app.clone(), visit.actor()?.clone(), visit.session()?.clone());
    let made = once(visit, |_| async move {
        Ok(codes_answer(&account::new_recovery_codes(&app, &actor, &session).await?))
    });
    Ok(codes_page(visit, &json(&made.await?)?).into())
}

fn question(visit: &Visit, path: &str, button: &str, title: &str, text: &str) -> Result<PanelPage> {
    if !visit.session()?.has_second_factor {
        return Err(not_found("second factor"));
    }
    let part = ConfirmPart {
        title,
        text,
        action: &visit.link(path),
        token: &visit.token(),
        button,
        is_danger: true,
        back: (&visit.link("account"), visit.texts.frame.cancel),
        fields: Html::default(),
    };
    let mut body = Html::default();
    part.add_to(&mut body);
    Ok(PanelPage::new(title, Some(MenuEntry::Account), body))
}

#[cfg(test)]
mod tests {
    use super::drawing;

    #[test]
    fn a_drawing_is_taken_out_of_its_picture() {
        let picture = "<svg viewBox=\"0 0 33 33\"><path d=\"M0 0h33\" fill=\"#fff\"/><path fill=\"#000\" d=\"M4 4h1v1H4V4\"/></svg>";
        assert_eq!(drawing(picture), Some((33, "M4 4h1v1H4V4")));
        assert_eq!(drawing("<p>"), None);
    }
}
