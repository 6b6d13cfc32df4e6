//! Test mode: what keys of test applications make happen in the accounts of the sandbox. Requests go to the provider like those of its connector.

use std::time::Duration;

use base::error::{Code, Error, Refusal, Result, invalid, not_found, refuse};
use base::input::validate;
use base::tenant::Tenant;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use mail::build::{Outgoing, build};
use model::Instant;
use model::bounds::mail::MAX_SUBJECT;
use model::bounds::test_mode::{MAX_CALLS, MAX_DELAY_MS, MAX_RETRY_AFTER_S};
use model::bounds::{DAY_MINUTES, MAX_TEXT};
use model::email::EmailAddress;
use model::sync::Surface;
use model::test_mode::{NewTestEvent, NewTestMessage, TestEventType, TestFault, TestItem};
use runtime::DirectRequest;
use serde_json::{Value, json};
use storage::organizations;

use crate::app::stored_response::StoredResponse;
use crate::app::{App, SANDBOX};
use crate::connections;
use crate::connections::settings::{sandbox_url, sandbox_url_of};
use crate::connections::write_context::WriteContext;

/// The account that messages come from.
const SENDER: &str = "tester";
/// The domain of all accounts.
const DOMAIN: &str = "@sandbox.test";
/// Longest time of a request to the provider, and most bytes of its answer.
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_ANSWER: usize = 1 << 20;
/// The beginning of the titles of items, before the time at which they were made.
const TITLE: &str = "Test";
const MINUTE_MS: i64 = 60_000;

/// An account of the sandbox that the application has connected.
struct SandboxAccount {
    /// The part of the address before the `@`.
    name: String,
    email: String,
    /// The provider's URL for the application.
    url: String,
    /// The provider's URL for everyone else: planned faults of the application do not hit its requests.
    shared_url: String,
}

/// Plans a failure for the next calls of a connection.
///
/// # Errors
/// As `account`; `invalid_parameter` of a field; `missing_field` of `status`.
pub async fn plan_fault(cx: &WriteContext, fault: TestFault, warnings: &[Value]) -> Result<StoredResponse> {
    let account = account(cx, &fault.connection_id).await?;
    check(&fault)?;
    let planned = json!({
        "status": fault.status,
        "retryAfterS": fault.retry_after_seconds,
        "delayMs": fault.delay_ms.unwrap_or_default(),
        "lostAnswer": fault.lost_answer,
        "pathPrefix": fault.surface.map_or("/sandbox/v1/", path_prefix),
        "after": fault.after.unwrap_or_default(),
        "times": fault.times.unwrap_or(1),
    });
    let request = SandboxRequest { account: &account.name, path: "/faults", body: planned };
    request.send(cx, &account.url).await?;
    let answer = StoredResponse::created(serde_json::to_string(&fault)?).warned(warnings);
    keep(cx, answer).await
}

/// Delivers a message to the mailbox of a connection.
///
/// # Errors
/// As `account`; `invalid_parameter` of a field.
pub async fn deliver(cx: &WriteContext, new: NewTestMessage, warnings: &[Value]) -> Result<StoredResponse> {
    let account = account(cx, &new.connection_id).await?;
    let subject = new.subject.unwrap_or_else(|| "Test message".to_owned());
    let text = new.text.unwrap_or_else(|| "This message was sent by a test key.\n".to_owned());
    send_message(cx, &account, &subject, text).await?;
    let item = TestItem {
        connection_id: new.connection_id,
        r#type: Some(TestEventType::MessageCreated),
        title: subject,
    };
    keep(cx, StoredResponse::ok(serde_json::to_string(&item)?).warned(warnings)).await
}

/// Adds an item to the account of a connection, from which an event of this type follows.
///
/// # Errors
/// As `account`; `missing_field` of `type`.
pub async fn trigger(cx: &WriteContext, new: NewTestEvent, warnings: &[Value]) -> Result<StoredResponse> {
    let account = account(cx, &new.connection_id).await?;
    let Some(kind) = new.r#type else {
        let message = "type is required, for example \"email.message.created\"";
        return Err(invalid(Code::MissingField, "type", message));
    };
    let title = format!("{TITLE} {}", cx.app.clock.now());
    let starts_at = cx.app.now() + DAY_MINUTES * MINUTE_MS;
    let (path, body) = match kind {
        TestEventType::MessageCreated => {
            let text = "This message was triggered by a test key.\n".to_owned();
            send_message(cx, &account, &title, text).await?;
            return keep_item(cx, new, title, warnings).await;
        }
        TestEventType::CalendarEventCreated => {
            let ends_at = Instant::from_millis(starts_at + 30 * MINUTE_MS);
            let body = json!({ "title": title, "start": Instant::from_millis(starts_at), "end": ends_at });
            ("/v1/calendars/work/events", body)
        }
        TestEventType::ContactCreated => ("/v1/books/contacts/cards", json!({ "displayName": title })),
        TestEventType::TaskCreated => ("/v1/lists/tasks/todos", json!({ "title": title })),
    };
    SandboxRequest { account: &account.name, path, body }.send(cx, &account.shared_url).await?;
    keep_item(cx, new, title, warnings).await
}

async fn keep_item(
    cx: &WriteContext,
    new: NewTestEvent,
    title: String,
    warnings: &[Value],
) -> Result<StoredResponse> {
    let item = TestItem { connection_id: new.connection_id, r#type: new.r#type, title };
    keep(cx, StoredResponse::ok(serde_json::to_string(&item)?).warned(warnings)).await
}

/// Stores the answer for repetitions of the request.
async fn keep(cx: &WriteContext, answer: StoredResponse) -> Result<StoredResponse> {
    let (app, attempt, kept) = (cx.app.clone(), cx.attempt.clone(), answer.clone());
    let db = app.db.clone();
    db.write(move |tx| Box::pin(async move { attempt.store(tx, &app.keyring, &kept, app.now()).await }))
        .await?;
    Ok(answer)
}

/// Returns the account of a connection to the sandbox of this server.
///
/// # Errors
/// `forbidden` for a key that is not a test key; `missing_field` of `connectionId`; `not_found`; `invalid_state` where the server does not
/// run the sandbox.
async fn account(cx: &WriteContext, connection_id: &str) -> Result<SandboxAccount> {
    let (app, tenant) = (&cx.app, &cx.request.tenant);
    ensure_test(app, tenant).await?;
    if connection_id.is_empty() {
        return Err(invalid(Code::MissingField, "connectionId", "connectionId is required"));
    }
    if !cx.request.may_use(connection_id) {
        return Err(not_found("connection"));
    }
    let connection = connections::find(app, tenant, connection_id).await?;
    let email = connection.email.unwrap_or_default();
    let name = email.strip_suffix(DOMAIN).filter(|_| connection.provider == SANDBOX);
    let urls = sandbox_url_of(app, tenant, SANDBOX).zip(sandbox_url(app, SANDBOX));
    match name.zip(urls) {
        Some((name, (url, shared_url))) => {
            Ok(SandboxAccount { name: name.to_owned(), url, shared_url, email })
        }
        None => {
            Err(refuse(Code::InvalidState, "this server does not run the sandbox: start it with --sandbox"))
        }
    }
}

async fn ensure_test(app: &App, tenant: &Tenant) -> Result<()> {
    match organizations::is_test_application(app.db.reader(), &tenant.application_id).await? {
        true => Ok(()),
        false => {
            let message = "this operation is for keys of test applications, which begin with uc_test_: `switchboard apps create NAME --test`";
            Err(refuse(Code::Forbidden, message))
        }
    }
}

fn check(fault: &TestFault) -> Result<()> {
    let bounded = [
        ("status", fault.status, 400, 599),
        ("retryAfterSeconds", fault.retry_after_seconds, 1, MAX_RETRY_AFTER_S),
        ("delayMs", fault.delay_ms, 0, MAX_DELAY_MS),
        ("after", fault.after, 0, MAX_CALLS),
        ("times", fault.times, 1, MAX_CALLS),
    ];
    for (field, value, min, max) in bounded {
        if let Some(value) = value.filter(|value| !(min..=max).contains(value)) {
            let message = format!("{field} must be from {min} to {max}; got {value}");
            return Err(invalid(Code::InvalidParameter, field, message));
        }
    }
    if fault.status.is_none() && fault.delay_ms.is_none_or(|ms| ms == 0) && !fault.lost_answer {
        let message = "one of status, delayMs and lostAnswer is required";
        return Err(invalid(Code::MissingField, "status", message));
    }
    if fault.status.is_some() && fault.lost_answer {
        let message = "status and lostAnswer exclude each other: send one of them";
        return Err(invalid(Code::ConflictingFields, "lostAnswer", message));
    }
    Ok(())
}

/// The beginning of the provider's paths for a part of an account.
fn path_prefix(surface: Surface) -> &'static str {
    match surface {
        Surface::Email => "/sandbox/v1/mail",
        Surface::Calendar => "/sandbox/v1/calendars",
        Surface::Contacts => "/sandbox/v1/books",
        Surface::Tasks => "/sandbox/v1/lists",
    }
}

async fn send_message(cx: &WriteContext, to: &SandboxAccount, subject: &str, text: String) -> Result<()> {
    validate::text("subject", Some(subject), MAX_SUBJECT)?;
    validate::text("text", Some(&text), MAX_TEXT)?;
    let address = |email: String| vec![EmailAddress { name: None, email }];
    let sender = format!("{SENDER}{DOMAIN}");
    let outgoing = Outgoing {
        message_id: format!("{}{DOMAIN}", hex::encode(cx.app.entropy.bytes::<16>())),
        date: Instant::from_millis(cx.app.now()),
        from: address(sender.clone()),
        to: address(to.email.clone()),
        subject: Some(subject.to_owned()),
        text: Some(text),
        ..Outgoing::default()
    };
    let built = build(&outgoing).map_err(|wrong| {
        let message = format!("{} {}", wrong.field, wrong.message);
        invalid(Code::InvalidParameter, wrong.field, message)
    })?;
    let raw = BASE64_STANDARD.encode(built.bytes);
    let body = json!({ "raw": raw, "sender": sender, "recipients": [to.email] });
    SandboxRequest { account: SENDER, path: "/v1/mail/send", body }.send(cx, &to.shared_url).await
}

/// A request to the sandbox.
struct SandboxRequest<'a> {
    /// The name of the account that sends it.
    account: &'a str,
    /// The path below the provider's URL.
    path: &'a str,
    body: Value,
}

impl SandboxRequest<'_> {
    /// Sends the request to the provider.
    ///
    /// # Errors
    /// `provider_rejected` where the provider refuses it, and `provider_unavailable` where it does not answer.
    async fn send(self, cx: &WriteContext, url: &str) -> Result<()> {
        let authorization = HeaderValue::try_from(format!("Bearer sandbox-{}", self.account));
        let authorization = authorization.map_err(|e| Error::Internal(e.into()))?;
        let json = HeaderValue::from_static("application/json");
        let headers = HeaderMap::from_iter([(AUTHORIZATION, authorization), (CONTENT_TYPE, json)]);
        let request = DirectRequest {
            tenant: cx.request.tenant.application_id.clone(),
            connector: SANDBOX.to_owned(),
            method: Method::POST,
            url: format!("{url}{}", self.path),
            headers,
            body: serde_json::to_vec(&self.body)?,
            timeout: TIMEOUT,
            max_bytes: MAX_ANSWER,
        };
        let answer = cx.app.runtime.send_direct(request).await;
        let answer = answer.map_err(|e| {
            let message = format!("the sandbox did not answer: {e}");
            Refusal::new(Code::ProviderUnavailable, message).retry_after_s(1)
        })?;
        if answer.status.is_success() {
            return Ok(());
        }
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let why = body["error"]["message"].as_str().unwrap_or("it gives no reason");
        Err(refuse(Code::ProviderRejected, format!("the sandbox refuses the request: {why}")))
    }
}

#[cfg(test)]
mod tests {
    use base::error::{Code, Error};
    use model::test_mode::TestFault;

    use super::check;

    /// The code and the field of a fault that is refused.
    fn refusal(fault: &TestFault) -> Option<(Code, String)> {
        match check(fault) {
            Err(Error::Refused(refusal)) => Some((refusal.code, refusal.param.unwrap_or_default())),
            _ => None,
        }
    }

    #[test]
    fn a_fault_needs_an_effect_and_keeps_its_bounds() {
        let fault = TestFault { status: Some(503), times: Some(2), ..TestFault::default() };
        assert_eq!(refusal(&fault), None);
        assert_eq!(refusal(&TestFault { delay_ms: Some(1), ..TestFault::default() }), None);
        let refused = |fault: TestFault, code: Code, field: &str| {
            assert_eq!(refusal(&fault), Some((code, field.to_owned())), "{fault:?}");
        };
        refused(TestFault::default(), Code::MissingField, "status");
        refused(TestFault { status: Some(200), ..fault.clone() }, Code::InvalidParameter, "status");
        refused(TestFault { times: Some(0), ..fault.clone() }, Code::InvalidParameter, "times");
        refused(TestFault { delay_ms: Some(-1), ..fault.clone() }, Code::InvalidParameter, "delayMs");
        refused(TestFault { lost_answer: true, ..fault }, Code::ConflictingFields, "lostAnswer");
    }
}
