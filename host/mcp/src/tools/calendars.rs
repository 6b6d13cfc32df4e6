//! `list_calendars`: the calendars of the connected accounts.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Api, Request};
use crate::tool::{Context, Definition, Effect, JsonObject, Outcome, ToolError, object};
use crate::tools::shape::{FieldChoice, ListPage, cursor_schema, short_list_schema};

const MAX_ITEMS: usize = 50;

pub const LIST_CALENDARS: Definition = Definition {
    name: "list_calendars",
    title: "List calendars",
    description: "Calendars with id (calendarId in other tools), name and time zone. `isPrimary` marks the main one of its \
        account; with `readOnly` its events cannot be changed.",
    scope: "calendar.read",
    effect: Effect::Read,
    idempotent: true,
    open_world: false,
    budget: 8 << 10,
    input,
    output,
};

fn input() -> JsonObject {
    object(json!({ "connectionId": {"type": "string"}, "cursor": cursor_schema() }), &[])
}

fn output() -> JsonObject {
    short_list_schema("calendars")
}

/// Arguments of `list_calendars`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListCalendarsArguments {
    connection_id: Option<String>,
    cursor: Option<String>,
}

pub async fn list_calendars<A: Api>(
    context: &Context<'_, A>,
    arguments: ListCalendarsArguments,
) -> Result<Outcome, ToolError> {
    let request = Request::get("/v1/calendars")
        .with_some("connection_id", arguments.connection_id)
        .with_some("cursor", arguments.cursor);
    let page = ListPage::read(context.api, request, MAX_ITEMS, LIST_CALENDARS.budget, calendar).await?;
    Ok(page.into_result("calendars", LIST_CALENDARS.name).into())
}

/// A calendar as the result shows it. A calendar that another person shares has that person's name for it.
fn calendar(calendar: &Value) -> Value {
    FieldChoice::new(calendar, false)
        .copy(&["id", "connectionId"])
        .line("untrustedName", &calendar["name"], 100)
        .copy(&["timeZone", "isPrimary", "readOnly"])
        .unless("accessRole", "owner")
        .finish()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ListCalendarsArguments, list_calendars};
    use crate::tool::Outcome;
    use crate::tools::script::{Script, context, quiet_policy};

    fn stored(number: usize) -> Value {
        json!({
            "id": format!("cal_{number:026}"), "connectionId": "conn_1", "name": "Team\u{202e} [a](https://evil.example/x)",
            "timeZone": "Europe/Berlin", "isPrimary": false, "readOnly": true, "accessRole": "reader", "color": null,
            "etag": "\"1\"", "description": "x".repeat(5_000),
        })
    }

    /// A list that is larger than the budget ends at an item, and its cursor is that of the first one left out.
    #[tokio::test]
    async fn a_long_list_is_cut_at_an_item() {
        let whole = json!({ "data": (0..50).map(stored).collect::<Vec<_>>(), "next_cursor": "after-50" });
        let part = json!({ "data": [], "next_cursor": "after-some" });
        let api = Script::new().on("GET", "/v1/calendars", 200, whole).on("GET", "/v1/calendars", 200, part);
        let policy = quiet_policy();
        let arguments = ListCalendarsArguments { connection_id: Some("conn_1".into()), cursor: None };
        let found = list_calendars(&context(&api, &policy), arguments).await;
        let Ok(Outcome::Done(found)) = found else { panic!("{found:?}") };
        let found = found.structured;
        assert!(found.to_string().len() <= super::LIST_CALENDARS.budget, "{}", found.to_string().len());
        let shown = found["calendars"].as_array().expect("a list");
        assert!((20..50).contains(&shown.len()), "{}", shown.len());
        assert_eq!(
            shown[0]["untrustedName"].as_str().map(|name| name.contains("https")),
            Some(false),
            "{}",
            shown[0]
        );
        assert_eq!((&found["truncated"], &found["nextCursor"]), (&json!(true), &json!("after-some")));
        let again = format!("GET /v1/calendars?connection_id=conn_1&limit={}", shown.len());
        assert_eq!(api.lines(), ["GET /v1/calendars?connection_id=conn_1&limit=50", &again]);
    }
}
