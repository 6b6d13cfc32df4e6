//! The account: whose it is, what it can be used for, and the colours that its events can have.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Lifecycle, Outcome, code};
use model::wire::Account;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::api::{accepted, object};
use crate::calendar::colors::{self, ColorTable};
use crate::calendar::native::CalendarEntry;
use crate::connector::Google;
use crate::failures::has_reason;
use crate::roots;

/// Requests of `check` that are under way at once.
const CONCURRENT: u8 = 3;

/// Standard claims of OpenID Connect (Core, section 5.1).
#[derive(Default, Deserialize)]
#[serde(default)]
struct Userinfo {
    sub: String,
    email: Option<String>,
    name: Option<String>,
}

impl Lifecycle for Google {
    fn check(context: &Context) -> Outcome<Account> {
        let requests = vec![
            Request::get(roots::USERINFO),
            Request::get(roots::calendar(&["users", "me", "calendarList", "primary"], &[])?),
            Request::get(roots::calendar(&["colors"], &[])?),
        ];
        let mut responses = context.send_many(requests, CONCURRENT).into_iter();
        let mut next =
            || responses.next().unwrap_or_else(|| Err(Failure::unavailable("an answer is missing")));
        let (identity, primary, colors) = (next(), next(), next());
        let primary = primary.and_then(|response| accepted(context, response, "reading the calendars"));
        let primary = match primary {
            Ok(response) => Some(object::<CalendarEntry>(&response)?),
            Err(failure) if is_missing_surface(&failure) => None,
            Err(failure) => return Err(failure),
        };
        let identity = identity.and_then(|response| accepted(context, response, "reading the account"));
        let identity = match (identity.and_then(|response| object::<Userinfo>(&response)), &primary) {
            (Ok(identity), _) if !identity.sub.is_empty() => identity,
            (Ok(_), _) => {
                return Err(Failure::unavailable("the provider does not tell whose account this is"));
            }
            // A token that was granted without `openid` has no identity but the primary calendar's id, which is the account's address.
            (Err(failure), Some(primary)) if is_refused(&failure) && !primary.id.is_empty() => {
                Userinfo { sub: primary.id.clone(), ..Userinfo::default() }
            }
            (Err(failure), _) => return Err(failure),
        };
        let own_id = primary.as_ref().map(|primary| primary.id.clone()).filter(|id| id.contains('@'));
        let table = colors.ok().filter(|response| response.is_success());
        let table = table.and_then(|response| object::<ColorTable>(&response).ok());
        Ok(Account {
            external_account_id: identity.sub,
            aliases: own_id
                .iter()
                .filter(|id| identity.email.as_ref().is_some_and(|e| e != *id))
                .cloned()
                .collect(),
            email: identity.email.or(own_id),
            display_name: identity.name,
            time_zone: primary.as_ref().and_then(|primary| primary.time_zone.clone()),
            // The colours are there for each scope of calendars, also for one that shows busy times alone.
            surfaces: if primary.is_some() || table.is_some() {
                vec!["calendar".to_owned()]
            } else {
                Vec::new()
            },
            settings: settings(table),
            ..Account::default()
        })
    }
}

/// Whether the token is not good for what was asked. Another failure must not change whose account it is.
fn is_refused(failure: &Failure) -> bool {
    matches!(failure.code.as_str(), code::AUTH_EXPIRED | code::FORBIDDEN)
}

/// Whether the failure says that the account has no calendars, or has not granted them.
fn is_missing_surface(failure: &Failure) -> bool {
    let reason = failure.detail.as_ref().map(|detail| detail["reason"] == "scope_not_granted");
    reason == Some(true) || (failure.code == code::UNSUPPORTED && has_reason(failure, "notACalendarUser"))
}

fn settings(table: Option<ColorTable>) -> Map<String, Value> {
    let palette = table.map(|table| table.event_palette()).filter(|palette| !palette.is_empty());
    palette.map(|palette| (colors::SETTING.to_owned(), Value::Object(palette))).into_iter().collect()
}
