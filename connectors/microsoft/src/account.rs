//! The account: its identity, its surfaces and its time zone, by one batch of small reads.

use std::collections::BTreeMap;

use connector_sdk::http::{Request, Response};
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Context, Failure, Lifecycle, Outcome, code};
use model::wire::Account;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::api::{accepted, exchange, object};
use crate::calendar::zones::zone_from;
use crate::connector::Microsoft;
use crate::odata::{batch, failures, root};

/// The setting with the IANA name of the mailbox's zone; missing where it is not known.
pub const TIME_ZONE: &str = "timeZone";
/// The setting with the rights to mail: `readWrite`, `read` or `sendOnly`; missing where there is no mail.
pub const MAIL: &str = "mail";
/// The setting that says whether the account is a personal one, without an organization.
pub const PERSONAL: &str = "personal";

/// Digits of a personal account's id. An organization's accounts have a GUID.
const PERSONAL_ID_DIGITS: usize = 16;
const DOING: &str = "reading the account";
/// The id of no item. Whoever may change messages is told that there is none, and whoever may not that it is not allowed.
const NO_MESSAGE: &str = "AAAA";

/// Parts of the batch.
const ME: &str = "me";
const SETTINGS: &str = "settings";
const INBOX: &str = "inbox";
const CALENDAR: &str = "calendar";
const CONTACTS: &str = "contacts";
const TASKS: &str = "tasks";
const WRITING: &str = "writing";

/// `user`, as far as it is an identity.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Person {
    id: String,
    mail: Option<String>,
    user_principal_name: Option<String>,
    display_name: Option<String>,
    /// `SMTP:` before the primary address, `smtp:` before others.
    proxy_addresses: Option<Vec<String>>,
}

/// `mailboxSettings`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct MailboxSettings {
    time_zone: Option<String>,
}

/// An answer of which nothing is read but that it is there.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AnyAnswer {}

/// Whether the account belongs to no organization.
pub fn is_personal(context: &Context) -> bool {
    context.connection.settings.get(PERSONAL).and_then(Value::as_bool).unwrap_or_default()
}

/// The IANA name of the mailbox's zone; UTC where it is not known.
pub fn mailbox_zone<'a>(context: &'a Context) -> &'a str {
    context.setting(TIME_ZONE).unwrap_or("UTC")
}

impl Lifecycle for Microsoft {
    /// Asks for the identity, and for a small read of each surface, in one batch; then whether mail can be sent, where none can be read.
    fn check(context: &Context) -> Outcome<Account> {
        let mut check = AccountCheck::send(context)?;
        let person: Person = match check.answer(ME) {
            Some(response) => object(&accepted(context, response, DOING)?)?,
            None => return Err(Failure::unavailable("the provider has left the account out of its answer")),
        };
        if person.id.is_empty() {
            return Err(Failure::unavailable("the provider does not tell whose account this is"));
        }
        let zone = check.time_zone();
        let mail = check.mail()?;
        check.take("calendar", CALENDAR, "reading the calendars")?;
        check.take("contacts", CONTACTS, "reading the contacts")?;
        check.take("tasks", TASKS, "reading the task lists")?;
        if let Some(refusal) = check.refusal.filter(|_| check.surfaces.is_empty()) {
            return Err(refusal);
        }
        let mut addresses = addresses_of(&person);
        let email = (!addresses.is_empty()).then(|| addresses.remove(0));
        Ok(Account {
            settings: settings(&person, zone.as_deref(), mail),
            external_account_id: person.id,
            email,
            aliases: addresses,
            display_name: person.display_name.filter(|name| !name.trim().is_empty()),
            time_zone: zone,
            surfaces: check.surfaces,
            ..Account::default()
        })
    }
}

/// The settings that later calls need.
fn settings(person: &Person, zone: Option<&str>, mail: Option<&str>) -> Map<String, Value> {
    let mut settings = Map::new();
    settings.extend(zone.map(|zone| (TIME_ZONE.to_owned(), json!(zone))));
    settings.extend(mail.map(|mail| (MAIL.to_owned(), json!(mail))));
    let is_hex = person.id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_personal = is_hex && person.id.len() == PERSONAL_ID_DIGITS;
    settings.insert(PERSONAL.to_owned(), json!(is_personal));
    settings
}

/// The account's addresses, its own one first, each once.
fn addresses_of(person: &Person) -> Vec<String> {
    let own = [person.mail.as_deref(), person.user_principal_name.as_deref()].into_iter().flatten();
    let proxies = person.proxy_addresses.iter().flatten();
    let aliases = proxies.filter_map(|proxy| {
        let (kind, address) = proxy.split_once(':')?;
        kind.eq_ignore_ascii_case("smtp").then_some(address)
    });
    let mut all: Vec<String> = Vec::new();
    for address in own.chain(aliases).map(str::trim).filter(|address| address.contains('@')) {
        if !all.iter().any(|known| known.eq_ignore_ascii_case(address)) {
            all.push(address.to_owned());
        }
    }
    all
}

/// The answers to the small reads.
struct AccountCheck<'a> {
    context: &'a Context<'a>,
    answers: BTreeMap<String, Response>,
    surfaces: Vec<String>,
    /// Why a surface is not there.
    refusal: Option<Failure>,
}

impl<'a> AccountCheck<'a> {
    fn send(context: &'a Context<'a>) -> Outcome<Self> {
        let person = "id,mail,userPrincipalName,displayName,proxyAddresses";
        let read = |name: &str, segments: &[&str], query: &[(&str, &str)]| -> Outcome<Part> {
            Ok(Part::new(name, Request::get(root::me(segments, query)?)))
        };
        let unread =
            Request::patch(root::me(&["messages", NO_MESSAGE], &[])?).json(&json!({ "isRead": true }));
        let parts = vec![
            read(ME, &[], &[("$select", person)])?,
            read(SETTINGS, &["mailboxSettings"], &[])?,
            read(INBOX, &["mailFolders", "inbox"], &[("$select", "id")])?,
            read(CALENDAR, &["calendar"], &[("$select", "id")])?,
            read(CONTACTS, &["contacts"], &[("$top", "1"), ("$select", "id")])?,
            read(TASKS, &["todo", "lists"], &[("$top", "1")])?,
            Part::new(WRITING, unread),
        ];
        let outcome = batch::read(context, parts, batch::MAX_PARTS, DOING)?;
        // An answer that is still to come must not change the account's surfaces.
        if let Some(failure) = outcome.wait {
            return Err(failure);
        }
        let answers = outcome.parts.into_iter().filter_map(|(name, part)| match part {
            PartOutcome::Answered(response) => Some((name, response)),
            PartOutcome::Missing => None,
        });
        Ok(AccountCheck { context, answers: answers.collect(), surfaces: Vec::new(), refusal: None })
    }

    fn answer(&mut self, part: &str) -> Option<Response> {
        self.answers.remove(part)
    }

    /// Takes the answer to a small read of a surface. False: the account does not have the surface, or has not granted it.
    fn take(&mut self, surface: &str, part: &str, doing: &str) -> Outcome<bool> {
        let Some(response) = self.answer(part) else { return Ok(false) };
        match accepted(self.context, response, doing).and_then(|response| object::<AnyAnswer>(&response)) {
            Ok(AnyAnswer {}) => {
                self.surfaces.push(surface.to_owned());
                Ok(true)
            }
            Err(failure) if is_absent(&failure) => {
                self.refusal.get_or_insert(failure);
                Ok(false)
            }
            Err(failure) => Err(failure),
        }
    }

    /// The mailbox's zone by its IANA name. It is one of the settings, which not every grant covers.
    fn time_zone(&mut self) -> Option<String> {
        let response = self.answer(SETTINGS).filter(Response::is_success)?;
        let settings: MailboxSettings = read_leniently(&response)?;
        let name = settings.time_zone.filter(|name| !name.trim().is_empty())?;
        let zone = zone_from(&name, "");
        (zone != "UTC" || name.to_ascii_lowercase().ends_with("utc")).then_some(zone)
    }

    /// The rights to mail; none where there is no mailbox, or none was granted.
    fn mail(&mut self) -> Outcome<Option<&'static str>> {
        let writing = self.answer(WRITING);
        if self.take("email", INBOX, "reading the mailbox")? {
            let is_refused =
                writing.is_some_and(|response| self.is_scope_missing(&response, "changing messages"));
            return Ok(Some(if is_refused { "read" } else { "readWrite" }));
        }
        let is_refused = self.refusal.as_ref().is_some_and(is_access_denied);
        if is_refused && self.can_send()? {
            self.surfaces.push("email".to_owned());
            return Ok(Some("sendOnly"));
        }
        Ok(None)
    }

    /// Whether the account may send. No read shows it: Graph is asked to send a message without recipients, which it never sends, and
    /// refuses as such where sending was granted.
    fn can_send(&self) -> Outcome<bool> {
        let message = json!({ "message": { "subject": "", "toRecipients": [] }, "saveToSentItems": false });
        let request = Request::post(root::me(&["sendMail"], &[])?).json(&message);
        let response = exchange(self.context, request)?;
        let doing = "sending messages";
        match accepted(self.context, response, doing) {
            Ok(_) => Ok(true),
            Err(failure) if failure.code == code::INVALID => Ok(true),
            Err(failure) if is_absent(&failure) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    fn is_scope_missing(&self, response: &Response, doing: &str) -> bool {
        response.status == 403 && is_access_denied(&failures::of(self.context, response, doing))
    }
}

/// Whether the failure says that the account does not have a surface: it was not granted, or there is no mailbox. A front end that answers
/// 403 or 404 gives no code, and must not change the account.
fn is_absent(failure: &Failure) -> bool {
    let is_about_surface =
        [code::FORBIDDEN, code::UNSUPPORTED, code::NOT_FOUND].contains(&failure.code.as_str());
    is_about_surface && failure.detail.is_some()
}

/// Whether Graph refuses the token for what it has not granted.
fn is_access_denied(failure: &Failure) -> bool {
    let denials = ["ErrorAccessDenied", "Authorization_RequestDenied", "accessDenied"];
    denials.iter().any(|name| failures::has_code(failure, name))
}

fn read_leniently<T: DeserializeOwned>(response: &Response) -> Option<T> {
    object(response).ok()
}
