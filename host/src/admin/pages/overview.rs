//! `/apps/{a}`: the first hour of an application, step by step, and its figures of today.

use base::error::Result;
use service::locale::html::Html;
use service::manage::actor::Act;
use service::manage::overview::{self, ApplicationOverview};
use service::manage::request_log;

use crate::admin::pages::requests::{add_table, key_names};
use crate::admin::parts::code::{code, quoted};
use crate::admin::parts::head::head;
use crate::admin::parts::icon::{PanelIcon, icon};
use crate::admin::parts::moment::counted;
use crate::admin::texts::fill;
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// Seconds after which a step that waits is read again.
const LOOK_AGAIN_S: &str = "5";
/// Errors that are shown.
const MAX_ERRORS: i64 = 5;
/// The shell variable that stands for the key in lines for a terminal.
const KEY: &str = "$SWITCHBOARD_KEY";

/// A step of the first hour.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstHourStep {
    Key,
    Account,
    Call,
    Webhook,
    Event,
}

/// The steps in their order.
const STEPS: [FirstHourStep; 5] = [
    FirstHourStep::Key,
    FirstHourStep::Account,
    FirstHourStep::Call,
    FirstHourStep::Webhook,
    FirstHourStep::Event,
];

impl FirstHourStep {
    fn is_done(self, found: &ApplicationOverview) -> bool {
        match self {
            FirstHourStep::Key => found.keys > 0,
            FirstHourStep::Account => found.accounts > 0,
            FirstHourStep::Call => found.has_called,
            FirstHourStep::Webhook => found.webhooks > 0,
            FirstHourStep::Event => found.has_received,
        }
    }

    fn title(self, visit: &Visit) -> &'static str {
        let t = visit.texts.overview;
        match self {
            FirstHourStep::Key => t.key,
            FirstHourStep::Account => t.account,
            FirstHourStep::Call => t.call,
            FirstHourStep::Webhook => t.webhook,
            FirstHourStep::Event => t.event,
        }
    }

    /// The result of a step that is done.
    fn result(self, visit: &Visit, found: &ApplicationOverview) -> String {
        let t = visit.texts.overview;
        match self {
            FirstHourStep::Key => counted(found.keys, t.key_note),
            FirstHourStep::Account => counted(found.accounts, t.account_note),
            FirstHourStep::Webhook => counted(found.webhooks, t.webhook_note),
            FirstHourStep::Call | FirstHourStep::Event => String::new(),
        }
    }
}

/// The page.
pub async fn show(visit: &Visit) -> Result<View> {
    let t = visit.texts.overview;
    let found = overview::load(&visit.app, visit.tenant()?).await?;
    let mut body = Html::default();
    head(&mut body, t.title, None);
    if STEPS.iter().any(|step| !step.is_done(&found)) {
        steps(visit, &found, &mut body)?;
    }
    today(visit, &found, &mut body);
    last_errors(visit, &mut body).await?;
    Ok(PanelPage::new(t.title, Some(MenuEntry::Overview), body).into())
}

/// Adds the last requests that were errors, where there are any.
async fn last_errors(visit: &Visit, body: &mut Html) -> Result<()> {
    let (t, tenant) = (visit.texts.requests, visit.tenant()?);
    let errors = request_log::recent_errors(&visit.app, tenant, MAX_ERRORS).await?;
    if errors.is_empty() {
        return Ok(());
    }
    body.raw("<section class=\"stack\">").element("h2", t.recent_errors);
    add_table(visit, &errors, &key_names(visit, &errors).await?, t.recent_errors_caption, body)?;
    let list = visit.link(&format!("apps/{}/requests?status=error", tenant.application_id));
    body.raw("<p>").link(&list, t.see_all_errors).raw("</p></section>\n");
    Ok(())
}

fn steps(visit: &Visit, found: &ApplicationOverview, body: &mut Html) -> Result<()> {
    let t = visit.texts.overview;
    let done = STEPS.iter().filter(|step| step.is_done(found)).count();
    let said = fill(t.done, &[("done", &done.to_string()), ("all", &STEPS.len().to_string())]);
    body.raw("<section class=\"stack\" data-again=\"").raw(LOOK_AGAIN_S).raw("\" data-state=\"").text(&said);
    body.raw("\"><div class=\"row between\">")
        .element("h2", t.start)
        .raw("<p class=\"soft num\">")
        .text(&said);
    body.raw("</p></div>\n<ol class=\"steps\">");
    let next = STEPS.iter().find(|step| !step.is_done(found));
    for (number, step) in (1..).zip(STEPS) {
        if step.is_done(found) {
            body.raw("<li>");
            icon(body, PanelIcon::Done);
            body.raw("<p class=\"row\"><span>").text(step.title(visit)).raw("</span> <span class=\"soft\">");
            body.text(&step.result(visit, found)).raw("</span></p></li>");
        } else if next == Some(&step) {
            body.raw("<li aria-current=\"step\"><span class=\"n\">").text(&number.to_string());
            body.raw("</span><div class=\"stack\">").element("h3", step.title(visit));
            open_step(visit, step, body)?;
            body.raw("</div></li>");
        } else {
            body.raw("<li><span class=\"n\">").text(&number.to_string()).raw("</span><p>");
            body.text(step.title(visit)).raw("</p></li>");
        }
    }
    body.raw("</ol></section>\n");
    Ok(())
}

/// The step that comes next, with what to do.
fn open_step(visit: &Visit, step: FirstHourStep, body: &mut Html) -> Result<()> {
    let (t, frame) = (visit.texts.overview, visit.texts.frame);
    let address = visit.app.config.public_address();
    match step {
        FirstHourStep::Key => {
            body.raw("<p class=\"soft\">").text(t.key_text).raw("</p>");
            if !visit.may(Act::ManageKeys) {
                body.element("p", t.for_viewers);
                return Ok(());
            }
            let href = visit.link(&format!("apps/{}/keys/new", visit.tenant()?.application_id));
            body.raw("<p><a class=\"button\" href=\"")
                .text(&href)
                .raw("\">")
                .text(t.key_button)
                .raw("</a></p>");
        }
        FirstHourStep::Account => {
            let (note, line) = match visit.app.config.sandbox {
                true => (t.account_sandbox, connect_sandbox(&address)),
                false => (t.account_provider, authorize(&address)),
            };
            body.raw("<p class=\"soft\">").text(t.account_text).raw("</p>");
            if visit.may(Act::ManageAccounts) {
                let href = visit.link(&format!("apps/{}/accounts/new", visit.tenant()?.application_id));
                body.raw("<p><a class=\"button\" href=\"").text(&href).raw("\">");
                body.text(t.account_button).raw("</a></p>").element("p", t.account_by_api);
            }
            code(body, frame, &line, frame.copy);
            body.raw("<p class=\"soft\">").text(note).raw("</p>");
        }
        FirstHourStep::Call => {
            body.raw("<p class=\"soft\">").text(t.call_text).raw("</p>");
            let line =
                format!("curl {} \\\n  -H {}", quoted(&format!("{address}/v1/connections")), authorization());
            code(body, frame, &line, frame.copy);
        }
        FirstHourStep::Webhook => {
            body.raw("<p class=\"soft\">").text(t.webhook_text).raw("</p>");
            if visit.may(Act::ManageWebhooks) {
                let href = visit.link(&format!("apps/{}/webhooks/new", visit.tenant()?.application_id));
                body.raw("<p><a class=\"button\" href=\"").text(&href).raw("\">");
                body.text(t.webhook_button).raw("</a></p>").element("p", t.webhook_by_api);
            }
            let json = r#"{"url": "https://app.example.com/webhooks", "eventTypes": ["*"]}"#;
            code(body, frame, &post(&format!("{address}/v1/webhooks"), json), frame.copy);
        }
        FirstHourStep::Event => {
            body.raw("<p class=\"soft\">").text(t.event_text).raw("</p>");
        }
    }
    if step != FirstHourStep::Key {
        body.raw("<p class=\"hint\">").text(t.ticks).raw("</p>");
    }
    Ok(())
}

/// The header with the key, which a shell puts in: in double quotes.
fn authorization() -> String {
    format!("\"Authorization: Bearer {KEY}\"")
}

/// A line that posts JSON.
fn post(url: &str, json: &str) -> String {
    format!(
        "curl {} \\\n  -H {} \\\n  -H 'Content-Type: application/json' \\\n  -d {}",
        quoted(url),
        authorization(),
        quoted(json)
    )
}

fn connect_sandbox(address: &str) -> String {
    let json = r#"{"provider": "sandbox", "credentials": {"username": "alice@sandbox.test", "password": "sandbox"}, "scopes": ["email.read", "calendar.read", "calendar.write"]}"#;
    post(&format!("{address}/v1/connections"), json)
}

fn authorize(address: &str) -> String {
    let json = r#"{"redirectUri": "https://app.example.com/connected", "scopes": ["calendar.read"]}"#;
    post(&format!("{address}/v1/auth/connectors/google/authorize"), json)
}

/// The figures of today.
fn today(visit: &Visit, found: &ApplicationOverview, body: &mut Html) {
    let t = visit.texts.overview;
    let state = |all: i64, bad: i64, texts: [&'static str; 3]| match (all, bad) {
        (0, _) => texts[0].to_owned(),
        (_, 0) => texts[1].to_owned(),
        (_, bad) => fill(texts[2], &[("n", &bad.to_string())]),
    };
    let accounts = [t.accounts_none, t.accounts_good, t.accounts_bad];
    let webhooks = [t.webhooks_none, t.webhooks_good, t.webhooks_bad];
    body.raw("<section class=\"stack\">").element("h2", t.today).raw("<dl class=\"tiles\">");
    for (term, figure, note) in [
        (t.requests, found.requests_today, t.since_midnight.to_owned()),
        (t.accounts, found.accounts, state(found.accounts, found.accounts_in_trouble, accounts)),
        (t.webhooks, found.webhooks, state(found.webhooks, found.webhooks_not_active, webhooks)),
        (t.keys, found.keys, t.keys_text.to_owned()),
    ] {
        body.raw("<div><dt>")
            .text(term)
            .raw("</dt><dd>")
            .text(&figure.to_string())
            .raw("<small>")
            .text(&note);
        body.raw("</small></dd></div>");
    }
    body.raw("</dl></section>\n");
}
