//! `/account`: a person's own settings, password and sessions.

use base::error::{Code, Result};
use http::StatusCode;
use scheduling::hours::Zone;
use service::locale::Language;
use service::locale::html::Html;
use service::manage::operators::account;
use service::manage::operators::sessions::{self, Session, SessionView};
use storage::operators::OperatorProfile;

use crate::admin::cookies::CookieKind;
use crate::admin::pages::oidc_parts;
use crate::admin::parts::field::{FormFaults, InputField, SelectField};
use crate::admin::parts::head::{head, trail};
use crate::admin::parts::table::{RowTable, TableCell, id_cell};
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

const NAME: &str = "name";
const LANGUAGE: &str = "language";
const ZONE: &str = "time_zone";
const THEME: &str = "theme";
const PASSWORD: &str = "new_password";

/// The page.
pub async fn show(visit: &Visit) -> Result<View> {
    let session = visit.session()?;
    let zone = session.time_zone.clone().unwrap_or_default();
    Ok(page(visit, &session.name, &zone, &FormFaults::default()).await?.into())
}

async fn page(visit: &Visit, name: &str, zone: &str, faults: &FormFaults) -> Result<PanelPage> {
    let (session, t) = (visit.session()?, visit.texts.account);
    let found = sessions::list(&visit.app, session).await?;
    let mut body = Html::default();
    head(&mut body, t.title, None);
    faults.summary(&mut body, visit.texts.frame);
    profile(visit, session, name, zone, faults, &mut body);
    body.raw("<section class=\"stack\">").element("h2", t.password).raw("<p>");
    body.link(&visit.link("account/password"), t.change_password).raw("</p></section>\n");
    second_factor(visit, session, &mut body);
    if let Some(ways_in) = oidc_parts::ways_in(visit, session).await? {
        oidc_parts::account_section(visit, &ways_in, &mut body);
    }
    listed(visit, &found, &mut body);
    body.raw("<section class=\"stack\">");
    visit.button_form(&mut body, "sign-out", "plain", t.sign_out);
    body.raw("</section>\n");
    Ok(PanelPage::new(t.title, Some(MenuEntry::Account), body))
}

fn profile(visit: &Visit, session: &Session, name: &str, zone: &str, faults: &FormFaults, body: &mut Html) {
    let (t, frame) = (visit.texts.account, visit.texts.frame);
    body.raw("<section class=\"stack\">").element("h2", t.profile).raw("<p class=\"soft\" dir=\"ltr\">");
    body.text(&session.email).raw("</p>\n");
    visit.open_form(body, "account");
    InputField { autocomplete: "name", ..InputField::text(NAME, t.name, name) }.add_to(body, frame, faults);
    let languages: Vec<(&str, &str)> =
        Language::all().map(|language| (language.tag(), language.own_name())).collect();
    let chosen = session.language.as_deref().unwrap_or(visit.language.tag());
    SelectField { id: LANGUAGE, label: t.language, options: &languages, chosen }.add_to(body, frame, faults);
    let field = InputField::text(ZONE, t.time_zone, zone).with_hint(t.time_zone_hint).optional().ltr();
    field.add_to(body, frame, faults);
    let themes = [("", t.theme_system), ("light", t.theme_light), ("dark", t.theme_dark)];
    let chosen = session.theme.as_deref().unwrap_or_default();
    SelectField { id: THEME, label: t.theme, options: &themes, chosen }.add_to(body, frame, faults);
    body.raw("<button>").text(frame.save).raw("</button></form></section>\n");
}

fn second_factor(visit: &Visit, session: &Session, body: &mut Html) {
    let t = visit.texts.account;
    body.raw("<section class=\"stack\">").element("h2", t.second_factor);
    let links: &[(&str, &str)] = match session.has_second_factor {
        true => &[("account/recovery-codes", t.new_codes), ("account/second-factor/off", t.turn_off)],
        false => &[("account/second-factor", t.turn_on)],
    };
    let state = if session.has_second_factor { t.second_factor_on } else { t.second_factor_off };
    body.element("p", state).raw("<div class=\"actions\">");
    for (path, word) in links {
        body.raw("<a class=\"button plain\" href=\"")
            .text(&visit.link(path))
            .raw("\">")
            .text(word)
            .raw("</a>");
    }
    body.raw("</div></section>\n");
}

fn listed(visit: &Visit, found: &[SessionView], body: &mut Html) {
    let t = visit.texts.account;
    body.raw("<section class=\"stack\">").element("h2", t.sessions);
    let mut table = RowTable::new(t.sessions_caption, &[t.browser, t.address, t.signed_in, t.seen, ""]);
    for session in found {
        let mut heading = Html::default();
        let agent = if session.user_agent.is_empty() { t.other_browser } else { session.user_agent.as_str() };
        heading.raw("<bdi>").text(agent).raw("</bdi>");
        let mut end = Html::default();
        match session.is_current {
            true => {
                end.text(t.this_browser);
            }
            false => {
                let path = format!("account/sessions/{}/end", session.id);
                visit.button_form(&mut end, &path, "plain small", t.end);
            }
        }
        let cells = vec![
            id_cell(&session.ip),
            TableCell::Plain(visit.moment_or_never(Some(session.created_at))),
            TableCell::Plain(visit.moment_or_never(Some(session.seen_at))),
            TableCell::End(end),
        ];
        table.row(&heading, cells);
    }
    table.add_to(body);
    if found.len() > 1 {
        visit.button_form(body, "account/sessions/end-others", "plain", t.end_others);
    }
    body.raw("</section>\n");
}

/// Saves name, language, time zone and appearance.
pub async fn save(visit: &Visit) -> Result<View> {
    let (fields, t) = (&visit.fields, visit.texts.account);
    let zone = fields.filled(ZONE);
    let mut faults = FormFaults::default();
    if zone.as_deref().is_some_and(|zone| Zone::named(zone).is_none()) {
        faults.add(ZONE, t.bad_zone);
    }
    let known = |name: &str, values: &[&'static str]| {
        let sent = fields.first(name);
        values.iter().find(|value| **value == sent).map(|value| (*value).to_owned())
    };
    let profile = OperatorProfile {
        name: fields.first(NAME).trim().to_owned(),
        language: Language::of_tag(fields.first(LANGUAGE)).map(|language| language.tag().to_owned()),
        time_zone: zone,
        theme: known(THEME, &["light", "dark"]),
    };
    if faults.is_empty() {
        match account::set_profile(&visit.app, visit.session()?, &profile).await {
            Ok(()) => return Ok(View::done("account", FlashCode::ProfileSaved)),
            Err(e) if is_of_input(e.code()) => faults.add(NAME, t.bad_name),
            Err(e) => return Err(e),
        }
    }
    let page = page(visit, fields.first(NAME), fields.first(ZONE), &faults).await?;
    Ok(page.with_status(StatusCode::BAD_REQUEST).into())
}

/// Whether an error is about what was entered.
fn is_of_input(code: Option<Code>) -> bool {
    matches!(code, Some(Code::InvalidParameter | Code::MissingField))
}

/// The form for a new password.
pub async fn show_password(visit: &Visit) -> Result<View> {
    Ok(password_form(visit, &FormFaults::default()).into())
}

/// Sets a new password, which ends the sessions in other browsers; this one gets another cookie, so that copies of it end too.
pub async fn save_password(visit: &Visit) -> Result<View> {
    let (actor, session) = (visit.actor()?, visit.session()?);
    match account::change_password(&visit.app, actor, session, visit.fields.first(PASSWORD)).await {
        Ok(()) => {
            let renewed = sessions::renew(&visit.app, session).await?;
            let view = View::done("account", FlashCode::PasswordChanged);
            Ok(view.with_cookie(CookieKind::Session, Some(renewed.cookie)))
        }
        Err(e) if is_of_input(e.code()) => {
            let faults = FormFaults::of(PASSWORD, visit.texts.account.bad_password);
            Ok(password_form(visit, &faults).with_status(StatusCode::BAD_REQUEST).into())
        }
        Err(e) => Err(e),
    }
}

fn password_form(visit: &Visit, faults: &FormFaults) -> PanelPage {
    let (t, frame) = (visit.texts.account, visit.texts.frame);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link("account"), t.title)], t.change_password);
    head(&mut body, t.change_password, None);
    faults.summary(&mut body, frame);
    visit.open_form(&mut body, "account/password");
    let field = InputField::password(PASSWORD, t.new_password, "new-password");
    field.with_hint(t.password_hint).add_to(&mut body, frame, faults);
    body.raw("<button>").text(t.change_password).raw("</button></form>\n");
    PanelPage::new(t.change_password, Some(MenuEntry::Account), body)
}

/// Ends one of the reader's own sessions.
pub async fn end_session(visit: &Visit) -> Result<View> {
    sessions::end_one(&visit.app, visit.session()?, visit.param("s")).await?;
    Ok(View::done("account", FlashCode::SessionsEnded))
}

/// Ends the reader's sessions in other browsers.
pub async fn end_others(visit: &Visit) -> Result<View> {
    sessions::end_others(&visit.app, visit.actor()?, visit.session()?).await?;
    Ok(View::done("account", FlashCode::SessionsEnded))
}
