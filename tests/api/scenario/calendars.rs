//! Calendars: a series with changed instances, an invitation that is answered, a conference, busy times.

use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::scenario::accounts::ConnectedAccount;
use crate::scenario::support::{ChangeFeed, carried_out, home, is_able, leave, list};

/// The time in which the scenario's events are.
const MARCH: &str = "expand=true&start=2027-03-01T00:00:00Z&end=2027-04-01T00:00:00Z";

/// Everything that the scenario does with calendars.
pub async fn use_calendars(account: &impl ConnectedAccount, capabilities: &Value) {
    let calendar = home(account, "/v1/calendars", |calendar| calendar["isPrimary"] == true).await;
    let path = format!("/v1/calendars/{}", text(&calendar["id"]));
    let events = format!("{path}/events");
    let changes = format!("{path}/sync/changes?limit=100");
    let mut feed = ChangeFeed::follow(account, &format!("{path}/sync/start"), json!({}), changes).await;

    account.invite(&calendar, "Board meeting").await;
    let invitation = feed.arrival(account, "Board meeting").await;
    answer(account, &events, &invitation, capabilities).await;
    meet(account, &events, capabilities).await;
    check_busy(account, &calendar, capabilities).await;
    use_own_calendar(account, capabilities).await;
    leave(account, &path).await;
}

async fn answer(account: &impl ConnectedAccount, events: &str, invitation: &Value, capabilities: &Value) {
    assert_eq!(invitation["myResponse"], "needsAction", "{invitation:#}");
    let path = format!("{events}/{}", text(&invitation["id"]));
    let quietly = json!({ "notifyOrganizer": false });
    let answered = account.api().post(format!("{path}/accept"), quietly).send().await;
    if let Some(answered) = carried_out(is_able(capabilities, "/operations/respond"), answered) {
        assert_eq!((&answered["id"], &answered["myResponse"]), (&invitation["id"], &json!("accepted")));
    }
}

/// An event of the account's gets a conference, where the provider has conferences.
async fn meet(account: &impl ConnectedAccount, events: &str, capabilities: &Value) {
    let call = json!({ "title": "Call", "start": "2027-03-08T13:00:00Z", "end": "2027-03-08T14:00:00Z", "timeZone": "UTC" });
    let made = account.api().post(events, call.clone()).keyed("call").send().await.expect(201);
    let again = account.api().post(events, call).keyed("call").send().await.expect(201);
    assert_eq!(again, made, "one request, one event");
    let path = format!("{events}/{}", text(&made["id"]));
    let met = account.api().post(format!("{path}/conference"), json!({})).send().await;
    if let Some(met) = carried_out(is_able(capabilities, "/operations/conference"), met) {
        assert!(met["conference"].is_object(), "{met:#}");
    }
}

/// The account is busy during the event of `meet`.
async fn check_busy(account: &impl ConnectedAccount, calendar: &Value, capabilities: &Value) {
    assert!(is_able(capabilities, "/operations/freeBusy"));
    let query = json!({
        "start": "2027-03-08T00:00:00Z", "end": "2027-03-09T00:00:00Z",
        "targets": [{ "connectionId": account.desk(), "calendarIds": [calendar["id"]] }],
    });
    let busy = account.api().post("/v1/calendars/freebusy/query", query).send().await.expect(200);
    let first = &busy["data"][0]["busy"][0];
    assert_eq!((&busy["complete"], &first["start"]), (&json!(true), &json!("2027-03-08T13:00:00.000Z")));
}

/// A calendar that the account makes, changes and deletes, with a series in it.
async fn use_own_calendar(account: &impl ConnectedAccount, capabilities: &Value) {
    let new = json!({ "connectionId": account.desk(), "name": "Rehearsals", "timeZone": "UTC" });
    let made = account.api().post("/v1/calendars", new).send().await;
    let can_create = is_able(capabilities, "/operations/createCalendar");
    let Some(calendar) = carried_out(can_create, made) else { return };
    let path = format!("/v1/calendars/{}", text(&calendar["id"]));
    let renamed = account.api().patch(&path, json!({ "name": "Concerts" })).send().await;
    if let Some(renamed) = carried_out(is_able(capabilities, "/operations/updateCalendar"), renamed) {
        assert_eq!(renamed["name"], "Concerts");
    }
    keep_series(account, &format!("{path}/events"), capabilities).await;
    let deleted = account.api().delete(&path).send().await;
    if carried_out(is_able(capabilities, "/operations/deleteCalendar"), deleted).is_some() {
        account.api().get(&path).send().await.refused(404, "not_found");
    }
}

/// One instance is renamed, one deleted, and the rest from one on gets another name.
async fn keep_series(account: &impl ConnectedAccount, events: &str, capabilities: &Value) {
    let weekly = json!({
        "title": "Choir", "start": "2027-03-01T18:00:00Z", "end": "2027-03-01T19:00:00Z", "timeZone": "UTC",
        "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=5"],
    });
    let made = account.api().post(events, weekly).send().await;
    let Some(series) = carried_out(is_able(capabilities, "/operations/recurrence"), made) else { return };
    assert_eq!(series["type"], "series");
    let range = format!("{events}?{MARCH}");
    let days = list(account, &range).await;
    assert_eq!(days.len(), 5, "{days:#?}");
    let day = |number: usize| format!("{events}/{}", text(&days[number]["id"]));
    let renamed = account.api().patch(day(1), json!({ "title": "Dress rehearsal" })).send().await.expect(200);
    assert_eq!(renamed["type"], "exception");
    account.api().delete(day(2)).send().await.expect(204);
    let rest = json!({ "title": "Orchestra", "recurrenceScope": "thisAndFollowing" });
    let split = account.api().patch(day(3), rest).send().await;
    let is_split = carried_out(is_able(capabilities, "/operations/thisAndFollowing"), split).is_some();
    let last = if is_split { "Orchestra" } else { "Choir" };
    let titles: Vec<String> = list(account, &range).await.iter().map(|day| text(&day["title"])).collect();
    assert_eq!(titles, ["Choir", "Dress rehearsal", last, last]);
}
