//! The account: its identity, its surfaces, and the colours that its events can have.

use connector_sdk::http::{Request, Response};
use connector_sdk::{Context, Failure, Lifecycle, Outcome, code};
use model::wire::Account;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::api::{accepted, object};
use crate::calendar::colors::{self, ColorTable};
use crate::calendar::native::CalendarEntry;
use crate::connector::Google;
use crate::contacts;
use crate::mail::features::send_as_request;
use crate::mail::native::{MailProfile, SendAsList};
use crate::mail::roots::{SEND_UNITS, mailbox};
use crate::roots;
use crate::tasks;

/// Requests of `check` that are under way at once: all of them.
const CONCURRENT: u8 = 8;

/// Standard claims of OpenID Connect (Core, section 5.1).
#[derive(Default, Deserialize)]
#[serde(default)]
struct Userinfo {
    sub: String,
    email: Option<String>,
    name: Option<String>,
}

/// An answer of which nothing is read but that it is there.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AnyAnswer {}

impl Lifecycle for Google {
    /// Asks for the identity, and for a small read of each surface, all at once; then whether mail can be sent, where none can be read.
    fn check(context: &Context) -> Outcome<Account> {
        let requests = vec![
            Request::get(roots::USERINFO),
            Request::get(roots::calendar(&["users", "me", "calendarList", "primary"], &[])?),
            Request::get(roots::calendar(&["colors"], &[])?),
            Request::get(mailbox(&["profile"], &[])?),
            send_as_request()?,
            contacts::probe()?,
            contacts::other_probe()?,
            tasks::probe()?,
        ];
        let mut responses = context.send_many(requests, CONCURRENT).into_iter();
        let mut next =
            || responses.next().unwrap_or_else(|| Err(Failure::unavailable("an answer is missing")));
        let mut granted = GrantedSurfaces { context, names: Vec::new(), refusal: None };
        let identity = next();
        let primary: Option<CalendarEntry> = granted.take("calendar", next(), "reading the calendars")?;
        let table: Option<ColorTable> = lenient(next());
        // The colours are there for each scope of calendars, also for one that shows busy times alone.
        if primary.is_none() && table.is_some() && granted.refusal.is_none() {
            granted.names.push("calendar".to_owned());
        }
        let profile: Option<MailProfile> = granted.take("email", next(), "reading the mailbox")?;
        if profile.is_none() {
            granted.take_sending()?;
        }
        let send_as: SendAsList = lenient(next()).unwrap_or_default();
        let contacts: Option<AnyAnswer> = granted.take("contacts", next(), "reading the contacts")?;
        let other = next();
        granted.take::<AnyAnswer>("tasks", next(), "reading the task lists")?;
        let own_mail = profile.and_then(|profile| profile.email_address).filter(|email| !email.is_empty());
        let calendar = primary.as_ref().map(|primary| primary.id.clone()).filter(|id| !id.is_empty());
        let identity = identity.and_then(|response| accepted(context, response, "reading the account"));
        let identity = match identity.and_then(|response| object::<Userinfo>(&response)) {
            Ok(identity) if !identity.sub.is_empty() => identity,
            Ok(_) => {
                return Err(Failure::unavailable("the provider does not tell whose account this is"));
            }
            // A token that was granted without `openid` has no identity but the mailbox's address, or the primary calendar's id, which is
            // the account's address too.
            Err(failure) if is_refused(&failure) => {
                let sub = own_mail.clone().or(calendar.clone()).ok_or(failure)?;
                Userinfo { sub, ..Userinfo::default() }
            }
            Err(failure) => return Err(failure),
        };
        if let Some(failure) = granted.refusal.filter(|_| granted.names.is_empty()) {
            return Err(failure);
        }
        let own = [identity.email, own_mail, calendar].into_iter().flatten().filter(|id| id.contains('@'));
        let sendable = send_as.send_as.into_iter().filter(|one| one.is_usable());
        let mut addresses = distinct(own.chain(sendable.map(|one| one.send_as_email)));
        let email = (!addresses.is_empty()).then(|| addresses.remove(0));
        Ok(Account {
            external_account_id: identity.sub,
            email,
            aliases: addresses,
            display_name: identity.name,
            time_zone: primary.and_then(|primary| primary.time_zone),
            settings: settings(context, table, contacts.and(Some(other)))?,
            surfaces: granted.names,
            ..Account::default()
        })
    }
}

/// The surfaces that the account has.
struct GrantedSurfaces<'a> {
    context: &'a Context<'a>,
    names: Vec<String>,
    /// The reason why a granted surface is missing: an API that the operator's project has not enabled, or an administrator.
    refusal: Option<Failure>,
}

impl GrantedSurfaces<'_> {
    /// Takes the answer to a small read of a surface. None: the account does not have the surface, or has not granted it.
    fn take<T: DeserializeOwned>(
        &mut self,
        surface: &str,
        response: Outcome<Response>,
        doing: &str,
    ) -> Outcome<Option<T>> {
        match response.and_then(|response| accepted(self.context, response, doing)) {
            Ok(response) => {
                self.names.push(surface.to_owned());
                object(&response).map(Some)
            }
            Err(failure) if is_not_granted(&failure) || failure.code == code::UNSUPPORTED => Ok(None),
            // A front end that answers 403 gives no reason.
            Err(failure) if failure.code == code::FORBIDDEN && failure.detail.is_some() => {
                self.refusal = Some(failure);
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Adds the mailbox of an account that lets this connector send and read nothing. No read shows it: Gmail is asked to send a message
    /// without content, which it never sends, and refuses as such where sending was granted.
    fn take_sending(&mut self) -> Outcome<()> {
        let surface = "email";
        let response = self.context.send(empty_message()?);
        let taken: Outcome<Option<AnyAnswer>> = self.take(surface, response, "sending messages");
        match taken {
            Err(failure) if failure.code == code::INVALID => {
                self.names.push(surface.to_owned());
                Ok(())
            }
            taken => taken.map(|_| ()),
        }
    }
}

/// A message to be sent that has no content.
fn empty_message() -> Outcome<Request> {
    let url = mailbox(&["messages", "send"], &[])?;
    Ok(Request::post(url).units(SEND_UNITS).json(&json!({})))
}

/// The answer to what an account need not have; none where it is refused.
fn lenient<T: DeserializeOwned>(response: Outcome<Response>) -> Option<T> {
    response.ok().filter(Response::is_success).and_then(|response| object(&response).ok())
}

/// Addresses without those that differ from an earlier one in case alone.
fn distinct(addresses: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for address in addresses {
        if !all.iter().any(|known| known.eq_ignore_ascii_case(&address)) {
            all.push(address);
        }
    }
    all
}

/// Whether the token does not allow the request. Another failure must not change the account's identity.
fn is_refused(failure: &Failure) -> bool {
    failure.code == code::AUTH_EXPIRED || failure.code == code::FORBIDDEN && failure.detail.is_some()
}

/// Whether the failure says that the account has not granted the scope.
fn is_not_granted(failure: &Failure) -> bool {
    failure.detail.as_ref().is_some_and(|detail| detail["reason"] == "scope_not_granted")
}

/// The settings that later calls need. `other`: the answer about other contacts, where the account has contacts.
fn settings(
    context: &Context,
    table: Option<ColorTable>,
    other: Option<Outcome<Response>>,
) -> Outcome<Map<String, Value>> {
    let mut settings = Map::new();
    let palette = table.map(|table| table.event_palette()).filter(|palette| !palette.is_empty());
    if let Some(palette) = palette {
        settings.insert(colors::SETTING.to_owned(), Value::Object(palette));
    }
    if let Some(response) = other {
        let doing = "reading the other contacts";
        let is_granted = match response.and_then(|response| accepted(context, response, doing)) {
            Ok(_) => true,
            Err(failure) if failure.code == code::FORBIDDEN => false,
            Err(failure) => return Err(failure),
        };
        settings.insert(contacts::OTHER_SETTING.to_owned(), Value::Bool(is_granted));
    }
    Ok(settings)
}
