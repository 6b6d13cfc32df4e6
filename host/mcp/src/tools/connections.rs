//! `list_connections`: the accounts that the key may use.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Api, Request};
use crate::tool::{Context, Definition, Effect, JsonObject, Outcome, ToolError, object};
use crate::tools::shape::{FieldChoice, ListPage, address, cursor_schema, short_list_schema};

const MAX_ITEMS: usize = 50;

pub const LIST_CONNECTIONS: Definition = Definition {
    name: "list_connections",
    title: "List connected accounts",
    description: "The accounts that you can use: id (connectionId in other tools), provider, address and state. With status \
        `reauth_required` the user has to connect the account again.",
    scope: "connections.read",
    effect: Effect::Read,
    idempotent: true,
    open_world: false,
    budget: 4 << 10,
    input,
    output,
};

fn input() -> JsonObject {
    object(json!({ "cursor": cursor_schema() }), &[])
}

fn output() -> JsonObject {
    short_list_schema("connections")
}

/// Arguments of `list_connections`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListConnectionsArguments {
    cursor: Option<String>,
}

pub async fn list_connections<A: Api>(
    context: &Context<'_, A>,
    arguments: ListConnectionsArguments,
) -> Result<Outcome, ToolError> {
    let request = Request::get("/v1/connections").with_some("cursor", arguments.cursor);
    let budget = LIST_CONNECTIONS.budget;
    let page = ListPage::read(context.api, request, MAX_ITEMS, budget, connection).await?;
    Ok(page.into_result("connections", LIST_CONNECTIONS.name).into())
}

/// A connection as the result shows it. The name stands in for an address that the provider does not state.
fn connection(connection: &Value) -> Value {
    let email = address(&connection["email"]);
    let name = if email.is_none() { &connection["displayName"] } else { &Value::Null };
    FieldChoice::new(connection, false)
        .copy(&["id", "provider"])
        .put("email", json!(email))
        .line("untrustedName", name, 100)
        .copy(&["status", "statusReason", "surfaces", "timeZone"])
        .finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ListConnectionsArguments, list_connections};
    use crate::tool::Outcome;
    use crate::tools::script::{Script, context, quiet_policy};

    #[tokio::test]
    async fn a_connection_has_few_fields() {
        let stored = json!({
            "id": "conn_1", "provider": "google", "connectorVersion": "1", "status": "active", "statusReason": null,
            "displayName": "Ada", "email": "ada@example.com", "surfaces": ["calendar", "email"], "timeZone": "Europe/Berlin",
            "settings": {}, "tokenExpiresAt": "2026-03-01T09:00:00.000Z", "metadata": { "user": "4711" }, "etag": "\"1\"",
        });
        let api =
            Script::new().on("GET", "/v1/connections", 200, json!({ "data": [stored], "next_cursor": null }));
        let policy = quiet_policy();
        let found =
            list_connections(&context(&api, &policy), ListConnectionsArguments { cursor: None }).await;
        let Ok(Outcome::Done(found)) = found else { panic!("{found:?}") };
        let wanted = json!({ "connections": [{
            "id": "conn_1", "provider": "google", "email": "ada@example.com", "status": "active",
            "surfaces": ["calendar", "email"], "timeZone": "Europe/Berlin",
        }] });
        assert_eq!(found.structured, wanted);
        assert_eq!(api.lines(), ["GET /v1/connections?limit=50"]);
    }
}
