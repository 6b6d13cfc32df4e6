//! Changes at the sandbox provider: a message, an invitation, a fault and its end, a new beginning of an account.

use base::error::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{Method, StatusCode};
use mail::build::{Outgoing, build};
use model::Instant;
use model::email::EmailAddress;
use serde_json::{Value, json};

use crate::admin::pages::sandbox::{
    ACCOUNT, EVENT_SUBJECT, GUEST, MESSAGE_TEXT, SANDBOX_SENDER, START, SUBJECT, TO, page, sandbox_address,
};
use crate::admin::pages::sandbox_faults::{FAULT_ACCOUNT, field_named, read_fault};
use crate::admin::parts::field::FormFaults;
use crate::admin::sandbox_calls::{
    SANDBOX_ACCOUNTS, SANDBOX_DOMAIN, SandboxOutcome, SandboxRequest, ensure_sandbox, run_once,
};
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, View};
use crate::admin::visit::Visit;

/// The path of the page below `/admin/`.
const SANDBOX_PATH: &str = "sandbox";
/// Longest subject and longest text of a message, characters, and longest name of an account.
const MAX_SUBJECT: usize = 200;
const MAX_MESSAGE_TEXT: usize = 10_000;
const MAX_ACCOUNT_NAME: usize = 64;
/// Starts that an event may have, in minutes from now, and the one where none is chosen.
const STARTS: [i64; 4] = [10, 60, 1_440, 10_080];
const DEFAULT_START: i64 = 60;
/// Length of an event, and of a minute, ms.
const EVENT_MS: i64 = 30 * MINUTE_MS;
const MINUTE_MS: i64 = 60_000;

/// Delivers a message to an account.
pub async fn receive(visit: &Visit) -> Result<View> {
    ensure_sandbox(visit)?;
    let t = visit.texts.sandbox;
    let mut faults = FormFaults::default();
    let to = visit.fields.first(TO).trim().to_lowercase();
    if !is_address(&to) {
        faults.add(TO, t.bad_address);
    }
    let subject = subject_of(visit, SUBJECT, &mut faults);
    let text = visit.fields.first(MESSAGE_TEXT).to_owned();
    if text.chars().count() > MAX_MESSAGE_TEXT {
        faults.add(MESSAGE_TEXT, t.long_text);
    }
    if !faults.is_empty() {
        return wrong(visit, &faults).await;
    }
    let raw = match message(visit, &to, subject, text) {
        Ok(raw) => raw,
        Err(faults) => return wrong(visit, &faults).await,
    };
    let sender = sandbox_address(SANDBOX_SENDER);
    let order = json!({ "raw": STANDARD.encode(raw), "sender": sender, "recipients": [&to] });
    let request = post(SANDBOX_SENDER, "/sandbox/v1/mail/send", Some(order));
    let outcome = run_once(visit, "sandbox_mail_sent", &to, vec![request]).await?;
    let field = if outcome.field == "recipients" { TO } else { SUBJECT };
    ended(visit, outcome, FlashCode::SandboxMailSent, field).await
}

/// The bytes of a message.
///
/// # Errors
/// The fault of a field that cannot be written into a message.
fn message(visit: &Visit, to: &str, subject: String, text: String) -> Result<Vec<u8>, FormFaults> {
    let id = hex::encode(visit.app.entropy.bytes::<16>());
    let address = |name: Option<&str>, email: String| EmailAddress { name: name.map(str::to_owned), email };
    let outgoing = Outgoing {
        message_id: format!("{id}{SANDBOX_DOMAIN}"),
        date: Instant::from_millis(visit.app.now()),
        from: vec![address(Some("Panel"), sandbox_address(SANDBOX_SENDER))],
        to: vec![address(None, to.to_owned())],
        subject: Some(subject),
        text: Some(text),
        ..Outgoing::default()
    };
    build(&outgoing).map(|built| built.bytes).map_err(|invalid| {
        let id = if invalid.field == "subject" { SUBJECT } else { TO };
        FormFaults::of(id, fill(visit.texts.sandbox.refused, &[("message", invalid.message)]))
    })
}

/// Invites an account to an event.
pub async fn invite(visit: &Visit) -> Result<View> {
    ensure_sandbox(visit)?;
    let mut faults = FormFaults::default();
    let subject = subject_of(visit, EVENT_SUBJECT, &mut faults);
    let guest = account_of(visit, GUEST);
    let Some(guest) = guest.filter(|_| faults.is_empty()) else {
        if guest.is_none() {
            faults.add(GUEST, visit.texts.sandbox.bad_account);
        }
        return wrong(visit, &faults).await;
    };
    let chosen = visit.fields.first(START).parse::<i64>().ok();
    let minutes = chosen.filter(|minutes| STARTS.contains(minutes)).unwrap_or(DEFAULT_START);
    let starts = visit.app.now() + minutes * MINUTE_MS;
    let event = json!({
        "title": subject,
        "start": Instant::from_millis(starts),
        "end": Instant::from_millis(starts + EVENT_MS),
        "attendees": [{ "email": sandbox_address(guest) }],
    });
    let request = post(SANDBOX_SENDER, "/sandbox/v1/calendars/work/events", Some(event));
    let outcome = run_once(visit, "sandbox_event_sent", &sandbox_address(guest), vec![request]).await?;
    ended(visit, outcome, FlashCode::SandboxInvited, EVENT_SUBJECT).await
}

/// Adds a fault for the next requests of an account.
pub async fn add_fault(visit: &Visit) -> Result<View> {
    ensure_sandbox(visit)?;
    let t = visit.texts.sandbox;
    let Some(account) = account_of(visit, FAULT_ACCOUNT) else {
        return wrong(visit, &FormFaults::of(FAULT_ACCOUNT, t.bad_account)).await;
    };
    let fault = match read_fault(visit) {
        Ok(fault) => fault,
        Err(faults) => return wrong(visit, &faults).await,
    };
    let request = post(account, "/sandbox/faults", Some(fault));
    let outcome = run_once(visit, "sandbox_fault_added", &sandbox_address(account), vec![request]).await?;
    let field = field_named(t, &outcome.field);
    ended(visit, outcome, FlashCode::SandboxFaultAdded, field).await
}

/// Removes all faults of an account, and lets go the answers that are held back.
pub async fn clear_faults(visit: &Visit) -> Result<View> {
    let account = account_of(visit, ACCOUNT);
    change_account(visit, account, "sandbox_faults_removed", FlashCode::SandboxFaultsRemoved, |account| {
        vec![delete_faults(account)]
    })
    .await
}

/// Makes an account as it was in the beginning. Its faults go first: they would meet the request.
pub async fn reset(visit: &Visit) -> Result<View> {
    let account = account_of(visit, ACCOUNT);
    change_account(visit, account, "sandbox_account_reset", FlashCode::SandboxReset, |account| {
        vec![delete_faults(account), post(account, "/sandbox/reset", None)]
    })
    .await
}

async fn change_account(
    visit: &Visit,
    account: Option<&'static str>,
    act: &'static str,
    flash: FlashCode,
    requests: impl FnOnce(&'static str) -> Vec<SandboxRequest>,
) -> Result<View> {
    ensure_sandbox(visit)?;
    let Some(account) = account else {
        return wrong(visit, &FormFaults::of(FAULT_ACCOUNT, visit.texts.sandbox.bad_account)).await;
    };
    let outcome = run_once(visit, act, &sandbox_address(account), requests(account)).await?;
    ended(visit, outcome, flash, FAULT_ACCOUNT).await
}

fn post(account: &str, path: &'static str, body: Option<Value>) -> SandboxRequest {
    SandboxRequest { account: account.to_owned(), method: Method::POST, path, body }
}

fn delete_faults(account: &str) -> SandboxRequest {
    SandboxRequest {
        account: account.to_owned(),
        method: Method::DELETE,
        path: "/sandbox/faults",
        body: None,
    }
}

/// The account that a field names, of those that are there from the beginning.
fn account_of(visit: &Visit, id: &str) -> Option<&'static str> {
    let given = visit.fields.first(id);
    SANDBOX_ACCOUNTS.into_iter().find(|account| *account == given)
}

/// The subject in a field. One that is empty or too long is noted.
fn subject_of(visit: &Visit, id: &'static str, faults: &mut FormFaults) -> String {
    let subject = visit.fields.first(id).trim();
    if !(1..=MAX_SUBJECT).contains(&subject.chars().count()) || subject.chars().any(char::is_control) {
        faults.add(id, visit.texts.sandbox.no_subject);
    }
    subject.to_owned()
}

/// Whether a text is the address of an account, whether it is there or not.
fn is_address(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._+-".contains(&byte);
    text.strip_suffix(SANDBOX_DOMAIN)
        .is_some_and(|name| (1..=MAX_ACCOUNT_NAME).contains(&name.len()) && name.bytes().all(allowed))
}

/// The page with what is wrong with a form.
async fn wrong(visit: &Visit, faults: &FormFaults) -> Result<View> {
    Ok(page(visit, faults).await?.with_status(StatusCode::BAD_REQUEST).into())
}

/// The page after a request: as before with a notice, or with the refusal at a field.
async fn ended(
    visit: &Visit,
    outcome: SandboxOutcome,
    flash: FlashCode,
    field: &'static str,
) -> Result<View> {
    let t = visit.texts.sandbox;
    if outcome.is_done {
        return Ok(View::done(SANDBOX_PATH, flash));
    }
    let text = match outcome.message.as_str() {
        "" => t.silent.to_owned(),
        message => fill(t.refused, &[("message", message)]),
    };
    wrong(visit, &FormFaults::of(field, text)).await
}

#[cfg(test)]
mod tests {
    use super::is_address;

    #[test]
    fn an_address_is_one_of_the_sandbox() {
        for good in ["alice@sandbox.test", "new.one+tag@sandbox.test", "a@sandbox.test"] {
            assert!(is_address(good), "{good}");
        }
        let long = format!("{}@sandbox.test", "a".repeat(65));
        for bad in ["", "@sandbox.test", "alice@example.com", "a b@sandbox.test", "A@sandbox.test", &long] {
            assert!(!is_address(bad), "{bad}");
        }
        assert!(!is_address("x@evil.test\r\nBcc: y@sandbox.test"));
    }
}
