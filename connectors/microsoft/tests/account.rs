//! Opening an account: one batch says who it is, what it has and what it may.

use connector_microsoft::Microsoft;
use connector_sdk::http::{Request, Response};
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Context, Failure, Lifecycle, Outcome, code};
use model::wire::{Account, Connection};
use serde_json::{Value, json};

const BATCH: &str = "https://graph.microsoft.com/v1.0/$batch";
const SEND_MAIL: &str = "https://graph.microsoft.com/v1.0/me/sendMail";
const CHECK: &str = include_str!("../fixtures/check.json");

/// The positions of the parts.
const ME: &str = "0";
const SETTINGS: &str = "1";
const INBOX: &str = "2";
const CALENDAR: &str = "3";
const CONTACTS: &str = "4";
const TASKS: &str = "5";
const WRITING: &str = "6";

/// The recorded answer with other parts.
fn answer(changed: &[(&str, u16, Value)]) -> Response {
    let mut batch: Value = serde_json::from_str(CHECK).expect("JSON");
    for part in batch["responses"].as_array_mut().expect("parts") {
        if let Some((_, status, body)) = changed.iter().find(|(id, ..)| part["id"] == *id) {
            part["status"] = json!(status);
            part["body"] = body.clone();
        }
    }
    response(200, &[("content-type", "application/json")], &batch.to_string())
}

fn error(code: &str) -> Value {
    json!({ "error": { "code": code, "message": "no", "innerError": { "request-id": "r" } } })
}

fn denied(part: &str) -> (&str, u16, Value) {
    (part, 403, error("ErrorAccessDenied"))
}

fn check(provider: &Recorded) -> Outcome<Account> {
    Microsoft::check(&Context::new(provider, Connection::default()))
}

fn checked(changed: &[(&str, u16, Value)]) -> Outcome<Account> {
    check(&Recorded::new().expect("POST", BATCH, answer(changed)))
}

fn parts(request: &Request) -> Vec<Value> {
    let batch: Value = serde_json::from_slice(&body(request)).expect("JSON");
    batch["requests"].as_array().expect("parts").clone()
}

#[test]
fn check_is_one_batch() {
    let provider = Recorded::new().expect("POST", BATCH, answer(&[]));
    let account = check(&provider).expect("an account");
    assert_eq!(account.external_account_id, "6b7a1f4e-52c0-4d1e-9a0f-2c3d4e5f6a7b");
    assert_eq!(account.email.as_deref(), Some("Alice.Example@contoso.example"));
    assert_eq!(account.aliases, ["alice@contoso.example", "sales@contoso.example"]);
    assert_eq!(account.display_name.as_deref(), Some("Alice Example"));
    assert_eq!(account.time_zone.as_deref(), Some("Europe/Berlin"));
    assert_eq!(account.surfaces, ["email", "calendar", "contacts", "tasks"]);
    let settings = json!({ "timeZone": "Europe/Berlin", "mail": "readWrite", "personal": false });
    assert_eq!(Value::Object(account.settings), settings);
    let requests = provider.requests.borrow();
    let parts = parts(&requests[0]);
    let urls: Vec<&str> = parts.iter().map(|part| part["url"].as_str().expect("a URL")).collect();
    let expected = [
        "/me?%24select=id%2Cmail%2CuserPrincipalName%2CdisplayName%2CproxyAddresses",
        "/me/mailboxSettings",
        "/me/mailFolders/inbox?%24select=id",
        "/me/calendar?%24select=id",
        "/me/contacts?%24top=1&%24select=id",
        "/me/todo/lists?%24top=1",
        "/me/messages/AAAA",
    ];
    assert_eq!(urls, expected);
    assert!(parts.iter().all(|part| part["headers"]["prefer"] == "IdType=\"ImmutableId\""), "{parts:#?}");
    assert!(requests[0].extra.contains(&("units".to_owned(), "7".to_owned())));
}

/// `mail` may be null, and a personal account has a number for an id. It has no other addresses.
#[test]
fn a_personal_account_is_told_by_its_id() {
    let person = json!({ "id": "00037ffe1a2b3c4d", "mail": null, "userPrincipalName": "ada@outlook.example", "displayName": " " });
    let account = checked(&[(ME, 200, person)]).expect("an account");
    assert_eq!((account.email.as_deref(), account.aliases.len()), (Some("ada@outlook.example"), 0));
    assert_eq!((account.display_name, &account.settings["personal"]), (None, &json!(true)));
}

/// A surface that was not granted is off, and so is one that the account has no mailbox for.
#[test]
fn a_part_that_is_refused_turns_its_surface_off() {
    let rows: [(&str, u16, &str, &[&str]); 5] = [
        (CALENDAR, 403, "ErrorAccessDenied", &["email", "contacts", "tasks"]),
        (CONTACTS, 403, "Authorization_RequestDenied", &["email", "calendar", "tasks"]),
        (TASKS, 404, "MailboxNotEnabledForRESTAPI", &["email", "calendar", "contacts"]),
        (TASKS, 403, "MailboxNotEnabledForRESTAPI", &["email", "calendar", "contacts"]),
        (INBOX, 404, "ErrorNonExistentMailbox", &["calendar", "contacts", "tasks"]),
    ];
    for (part, status, code, surfaces) in rows {
        let account = checked(&[(part, status, error(code))]).expect("an account");
        assert_eq!(account.surfaces, surfaces, "{code}");
    }
    let account = checked(&[denied(SETTINGS)]).expect("an account");
    assert_eq!((account.time_zone, account.settings.get("timeZone")), (None, None));
    let custom = json!({ "timeZone": "tzone://Microsoft/Custom" });
    assert_eq!(checked(&[(SETTINGS, 200, custom)]).expect("an account").time_zone, None);
}

/// Only the refusal of a change shows that messages can be read and no more.
#[test]
fn the_rights_to_mail_are_tried() {
    let account = checked(&[denied(WRITING)]).expect("an account");
    assert_eq!(account.settings["mail"], "read");
    let malformed = (WRITING, 400, error("ErrorInvalidIdMalformed"));
    assert_eq!(checked(&[malformed]).expect("an account").settings["mail"], "readWrite");
    for (status, code, expected) in
        [(400, "ErrorInvalidRecipients", Some("sendOnly")), (403, "ErrorAccessDenied", None)]
    {
        let answer = answer(&[denied(INBOX), denied(WRITING)]);
        let refused = response(status, &[], &error(code).to_string());
        let provider = Recorded::new().expect("POST", BATCH, answer).expect("POST", SEND_MAIL, refused);
        let account = check(&provider).expect("an account");
        assert_eq!(account.settings.get("mail").and_then(Value::as_str), expected, "{code}");
        assert_eq!(account.surfaces.contains(&"email".to_owned()), expected.is_some(), "{code}");
    }
}

fn failure(changed: &[(&str, u16, Value)]) -> Failure {
    checked(changed).expect_err("no account")
}

/// A failure that passes must not change the account: the surfaces would be off until the next check.
#[test]
fn a_part_that_fails_says_nothing_of_the_account() {
    let page = json!("<html>Access denied</html>");
    assert_eq!(failure(&[(CALENDAR, 403, page.clone())]).code, code::FORBIDDEN);
    assert_eq!(failure(&[(TASKS, 404, page)]).code, code::NOT_FOUND);
    let empty = json!({ "id": "" });
    assert_eq!(failure(&[(ME, 200, empty)]).code, code::UNAVAILABLE);
    let all = [denied(INBOX), denied(CALENDAR), denied(CONTACTS), denied(TASKS)];
    let refused = response(403, &[], &error("ErrorAccessDenied").to_string());
    let provider = Recorded::new().expect("POST", BATCH, answer(&all)).expect("POST", SEND_MAIL, refused);
    assert_eq!(check(&provider).expect_err("no account").code, code::FORBIDDEN);
}
