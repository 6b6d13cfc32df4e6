//! Google's notification channels: it posts to the host when a calendar's events change, or the account's list of calendars
//! (developers.google.com/workspace/calendar/api/guides/push). A channel cannot be renewed and is not listed anywhere.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::Instant;
use model::wire::watch::{WatchStart, WatchStop, Watching};
use serde::Deserialize;
use serde_json::json;

use crate::api::{ask, execute};
use crate::failures::has_reason;
use crate::roots;

/// The reason of a refusal for calendars that Google does not watch, such as public holidays.
const NOT_WATCHED: &str = "pushNotSupportedForRequestedResource";
/// The reason of a refusal for addresses that Google does not post to. Its status is 401, as that of an expired token.
const ADDRESS_REFUSED: &str = "push.webhookUrlUnauthorized";

/// A channel that Google has opened.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Channel {
    resource_id: Option<String>,
    /// Milliseconds since 1970, in text.
    expiration: Option<String>,
}

/// Opens a channel for the events of a calendar, or for the account's list of calendars.
pub fn open(context: &Context, args: WatchStart) -> Outcome<Watching> {
    let url = match args.scope.as_deref() {
        Some(calendar) => roots::events(calendar, &["watch"], &[])?,
        None => roots::calendar(&["users", "me", "calendarList", "watch"], &[])?,
    };
    let body = json!({
        "id": args.channel,
        "type": "web_hook",
        "address": args.address,
        "token": args.token,
        "expiration": args.wanted_until.as_millis().to_string(),
    });
    let opened = ask(context, Request::post(url).json(&body), "starting the notifications");
    let channel: Channel = opened.map_err(refusal)?;
    let expiration = channel.expiration.and_then(|text| text.parse().ok()).map(Instant::from_millis);
    Ok(Watching {
        external_id: args.channel,
        resource: channel.resource_id,
        // Google names the end, which is the one that was asked for or an earlier one.
        expires_at: expiration.unwrap_or(args.wanted_until),
    })
}

/// Closes a channel.
pub fn close(context: &Context, args: &WatchStop) -> Outcome<()> {
    let body = json!({ "id": args.external_id, "resourceId": args.resource });
    let request = Request::post(roots::calendar(&["channels", "stop"], &[])?).json(&body);
    match execute(context, request, "stopping the notifications") {
        // Stopped already, or expired.
        Err(failure) if failure.code == code::NOT_FOUND => Ok(()),
        stopped => stopped,
    }
}

fn refusal(failure: Failure) -> Failure {
    if has_reason(&failure, NOT_WATCHED) {
        let message = "the provider posts no notifications of this calendar".to_owned();
        return Failure { message, ..failure.with_code(code::UNSUPPORTED) };
    }
    if has_reason(&failure, ADDRESS_REFUSED) {
        let message = "the provider does not post to this address: verify its domain in the Google Cloud project of the OAuth client";
        return Failure { message: message.to_owned(), ..failure.with_code(code::FORBIDDEN) };
    }
    failure
}
