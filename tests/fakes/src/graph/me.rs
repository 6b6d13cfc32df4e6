//! `/me` and `/me/mailboxSettings`.

use serde_json::json;

use crate::graph::call::{GraphCall, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::state::GraphState;

/// Answers a call.
pub fn answer(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    match (call.method.as_str(), call.segments().as_slice()) {
        ("GET", []) => get_user(state, call),
        ("GET", ["mailboxSettings"]) => get_settings(state, call),
        ("PATCH", ["mailboxSettings"]) => patch_settings(state, call),
        (_, segments) => Err(GraphError::no_route(segments.first().copied().unwrap_or("me"))),
    }
}

fn get_user(state: &GraphState, call: &GraphCall) -> GraphResult {
    let account = state.account(&call.user)?;
    let (given, family) = account.name.split_once(' ').unwrap_or((account.name.as_str(), ""));
    let context = format!("{}/$metadata#users/$entity", call.link_root);
    let mut user = json!({
        "@odata.context": context,
        "businessPhones": [],
        "displayName": account.name,
        "givenName": given,
        "jobTitle": null,
        "mail": account.mail,
        "mobilePhone": null,
        "officeLocation": null,
        "preferredLanguage": "en",
        "surname": family,
        "userPrincipalName": account.email,
        "id": account.id,
    });
    // Of the members that are answered only on request.
    if call.selected().is_some_and(|names| names.contains(&"proxyAddresses")) {
        let main = account.mail.iter().map(|mail| format!("SMTP:{mail}"));
        let all = main.chain(account.aliases.iter().map(|alias| format!("smtp:{alias}")));
        user["proxyAddresses"] = match account.is_personal() {
            true => json!([]),
            false => all.collect::<Vec<_>>().into(),
        };
    }
    Ok(json_reply(200, &call.select(user)))
}

fn get_settings(state: &GraphState, call: &GraphCall) -> GraphResult {
    let account = state.account(&call.user)?;
    let settings = json!({
        "@odata.context": call.context("mailboxSettings"),
        "archiveFolder": null,
        "timeZone": account.time_zone,
        "delegateMeetingMessageDeliveryOptions": "sendToDelegateOnly",
        "dateFormat": "M/d/yyyy",
        "timeFormat": "h:mm tt",
        "userPurpose": "user",
        "automaticRepliesSetting": {
            "status": "disabled",
            "externalAudience": "none",
            "internalReplyMessage": "",
            "externalReplyMessage": "",
        },
        "language": { "locale": "en-US", "displayName": "English (United States)" },
        "workingHours": {
            "daysOfWeek": ["monday", "tuesday", "wednesday", "thursday", "friday"],
            "startTime": "08:00:00.0000000",
            "endTime": "17:00:00.0000000",
            "timeZone": { "name": account.time_zone },
        },
    });
    Ok(json_reply(200, &call.select(settings)))
}

fn patch_settings(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    if let Some(zone) = call.body["timeZone"].as_str() {
        state.account(&call.user)?;
        state.account_mut(&call.user).time_zone = zone.to_owned();
    }
    get_settings(state, call)
}
