//! `/sandbox`: the provider that this process plays. Its accounts and special addresses, the faults that wait, and forms for what happens at
//! a provider: a message, an invitation, a fault, a new beginning.

use axum::Router;
use base::error::Result;
use http::Method;
use serde_json::Value;
use service::locale::html::Html;

use crate::admin::form_token::TOKEN;
use crate::admin::pages::sandbox_faults::{add_account_field, add_fault_form, described};
use crate::admin::parts::field::{FormFaults, InputField, LinesField, SelectField, hidden};
use crate::admin::parts::head::head;
use crate::admin::parts::table::{RowTable, id_cell, name_cell};
use crate::admin::sandbox_calls::{
    SANDBOX_ACCOUNTS, SANDBOX_DOMAIN, SandboxRequest, call_sandbox, sandbox_router,
};
use crate::admin::texts::{SandboxTexts, fill};
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The name of the account that messages and invitations of this page come from. Faults of the accounts above do not hit it.
pub const SANDBOX_SENDER: &str = "panel";

/// Fields of the forms.
pub const TO: &str = "to";
pub const SUBJECT: &str = "subject";
pub const MESSAGE_TEXT: &str = "message_text";
pub const GUEST: &str = "guest";
pub const EVENT_SUBJECT: &str = "event_subject";
pub const START: &str = "start";
/// The account that is reset, or whose faults are removed.
pub const ACCOUNT: &str = "account";

/// The page.
pub async fn show(visit: &Visit) -> Result<View> {
    Ok(page(visit, &FormFaults::default()).await?.into())
}

/// The page with what is wrong with the form that came.
///
/// # Errors
/// `not_found` where this process plays no provider.
pub async fn page(visit: &Visit, faults: &FormFaults) -> Result<PanelPage> {
    let (t, router) = (visit.texts.sandbox, sandbox_router(visit)?);
    let mut body = Html::default();
    head(&mut body, t.title, None);
    body.element("p", t.text);
    faults.summary(&mut body, visit.texts.frame);
    add_accounts(t, &mut body);
    add_mail_form(visit, faults, &mut body);
    add_event_form(visit, faults, &mut body);
    body.raw("<section class=\"stack\">").element("h2", t.faults).element("p", t.faults_text);
    add_waiting_faults(visit, &router, &mut body).await;
    add_fault_form(visit, faults, &mut body);
    body.raw("</section>\n");
    add_special_addresses(t, &mut body);
    body.raw("<section class=\"zone-of-danger stack\">").element("h2", t.reset).element("p", t.reset_text);
    body.raw("<div class=\"actions\">");
    for account in SANDBOX_ACCOUNTS {
        let word = fill(t.reset_account, &[("account", account)]);
        account_button(visit, "sandbox/reset", "danger", [account, &word], &mut body);
    }
    body.raw("</div></section>\n");
    Ok(PanelPage::new(t.title, Some(MenuEntry::Sandbox), body))
}

/// The address of an account.
pub fn sandbox_address(account: &str) -> String {
    format!("{account}{SANDBOX_DOMAIN}")
}

fn add_accounts(t: &SandboxTexts, html: &mut Html) {
    html.raw("<section class=\"stack\">").element("h2", t.accounts);
    let mut table = RowTable::new(t.accounts_caption, &[t.account, t.what]);
    for account in SANDBOX_ACCOUNTS {
        table.row(&left_to_right(&sandbox_address(account)), vec![name_cell(t.colleague)]);
    }
    let mut other = Html::default();
    other.text(t.others);
    table.row(&other, vec![name_cell(t.others_text)]);
    table.add_to(html);
    html.raw("</section>\n");
}

/// A text that is written from left to right.
fn left_to_right(text: &str) -> Html {
    let mut html = Html::default();
    html.raw("<span class=\"id\" dir=\"ltr\">").text(text).raw("</span>");
    html
}

/// The value of a field of the form that came, or what stands in a new form.
fn value_of<'v>(visit: &'v Visit, id: &str, new: &'v str) -> &'v str {
    match visit.fields.all(id) {
        [] => new,
        _ => visit.fields.first(id),
    }
}

fn add_mail_form(visit: &Visit, faults: &FormFaults, html: &mut Html) {
    let (t, frame) = (visit.texts.sandbox, visit.texts.frame);
    let (alice, sender) = (sandbox_address("alice"), sandbox_address(SANDBOX_SENDER));
    html.raw("<section class=\"stack\">").element("h2", t.mail);
    html.element("p", &fill(t.mail_text, &[("sender", &sender)]));
    visit.open_form(html, "sandbox/mail");
    let hint = fill(t.to_hint, &[("domain", SANDBOX_DOMAIN)]);
    let to = InputField::text(TO, t.to, value_of(visit, TO, &alice)).with_hint(&hint).ltr();
    to.add_to(html, frame, faults);
    InputField::text(SUBJECT, t.subject, visit.fields.first(SUBJECT)).add_to(html, frame, faults);
    let text = visit.fields.first(MESSAGE_TEXT);
    LinesField { id: MESSAGE_TEXT, label: t.body, value: text, hint: t.body_hint }
        .add_to(html, frame, faults);
    html.raw("<button>").text(t.send).raw("</button></form></section>\n");
}

fn add_event_form(visit: &Visit, faults: &FormFaults, html: &mut Html) {
    let (t, frame) = (visit.texts.sandbox, visit.texts.frame);
    let sender = sandbox_address(SANDBOX_SENDER);
    html.raw("<section class=\"stack\">").element("h2", t.event);
    html.element("p", &fill(t.event_text, &[("sender", &sender)]));
    visit.open_form(html, "sandbox/events");
    add_account_field(visit, [GUEST, t.guest], faults, html);
    let subject = visit.fields.first(EVENT_SUBJECT);
    InputField::text(EVENT_SUBJECT, t.subject, subject).add_to(html, frame, faults);
    let starts =
        [("10", t.in_ten_minutes), ("60", t.in_an_hour), ("1440", t.tomorrow), ("10080", t.in_a_week)];
    let chosen = value_of(visit, START, "60");
    SelectField { id: START, label: t.start, options: &starts, chosen }.add_to(html, frame, faults);
    html.raw("<button class=\"plain\">").text(t.invite).raw("</button></form></section>\n");
}

/// Adds the faults of each account that no request has met yet. Only accounts that are there from the beginning are asked, because a request
/// makes any other account.
async fn add_waiting_faults(visit: &Visit, router: &Router, html: &mut Html) {
    let t = visit.texts.sandbox;
    let mut table = RowTable::new(t.faults_caption, &[t.fault, t.account, t.left]);
    let (mut count, mut after) = (0_usize, Html::default());
    for account in SANDBOX_ACCOUNTS {
        let path = "/sandbox/faults";
        let request = SandboxRequest { account: account.to_owned(), method: Method::GET, path, body: None };
        let Some((_, answer)) = call_sandbox(router.clone(), request).await else {
            after.element("p", t.faults_unread);
            continue;
        };
        let faults = answer.get("faults").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for fault in faults {
            let times = fault.get("times").and_then(Value::as_u64).unwrap_or_default().to_string();
            table.row(&left_to_right(&described(fault)), vec![id_cell(account), id_cell(&times)]);
        }
        count += faults.len();
        let held = answer.get("held").and_then(Value::as_u64).unwrap_or_default();
        if held > 0 {
            let held = held.to_string();
            after.element("p", &fill(t.held, &[("n", &held), ("account", account)]));
        }
        if held > 0 || !faults.is_empty() {
            let word = fill(t.clear, &[("account", account)]);
            account_button(visit, "sandbox/faults/clear", "plain", [account, &word], &mut after);
        }
    }
    match count {
        0 => {
            html.raw("<p class=\"soft\">").text(t.no_faults).raw("</p>\n");
        }
        _ => table.add_to(html),
    }
    html.html(&after);
}

/// Adds a form that is one button and names an account.
fn account_button(
    visit: &Visit,
    path: &str,
    class: &'static str,
    [account, word]: [&str; 2],
    html: &mut Html,
) {
    html.raw("<form method=\"post\" action=\"").text(&visit.link(path)).raw("\">");
    hidden(html, TOKEN, &visit.token());
    hidden(html, ACCOUNT, account);
    html.raw("<button class=\"").raw(class).raw("\">").text(word).raw("</button></form>");
}

fn add_special_addresses(t: &SandboxTexts, html: &mut Html) {
    let addresses = [
        ("reject", t.reject),
        ("defer", t.defer),
        ("bounce", t.bounce),
        ("away", t.away),
        ("replies", t.replies),
        ("accepts", t.accepts),
        ("declines", t.declines),
        ("hesitates", t.hesitates),
        ("revoked", t.revoked),
        ("throttled", t.throttled),
        ("down", t.down),
        ("denied", t.denied),
        ("admin", t.admin),
        ("fewer", t.fewer),
        ("short", t.short),
    ];
    let words = [
        ("[sandbox:rate-limit]", t.word_rate_limit),
        ("[sandbox:unavailable]", t.word_unavailable),
        ("[sandbox:forbidden]", t.word_forbidden),
        ("[sandbox:invalid]", t.word_invalid),
        ("[sandbox:slow]", t.word_slow),
        ("[sandbox:lost-answer]", t.word_lost),
        ("[sandbox:crash]", t.word_crash),
    ];
    html.raw("<section class=\"stack\">").element("h2", t.special);
    let mut table = RowTable::new(t.special_caption, &[t.address, t.what]);
    for (name, what) in addresses {
        table.row(&left_to_right(&sandbox_address(name)), vec![name_cell(what)]);
    }
    for (word, what) in words {
        table.row(&left_to_right(word), vec![name_cell(what)]);
    }
    table.add_to(html);
    html.raw("</section>\n");
}
