//! Requests of the scenario, and the feeds that it follows.

use harness::Exchange;
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::scenario::accounts::ConnectedAccount;

/// Rounds after which a change at the provider has arrived, and the time between two, ms.
const MAX_ROUNDS: usize = 20;
const ROUND_MS: i64 = 15 * 60_000;
/// Time between two requests, ms: budgets of requests fill up again.
const PAUSE_MS: i64 = 1_000;

/// Returns the capabilities of a connection.
pub async fn capabilities(account: &impl ConnectedAccount, connection: &str) -> Value {
    read(account, &format!("/v1/connections/{connection}/capabilities")).await
}

/// Returns the value at a pointer into capabilities.
///
/// # Panics
/// Capabilities have no such value, or it is no Boolean.
pub fn is_able(capabilities: &Value, pointer: &str) -> bool {
    let value = capabilities.pointer(pointer).and_then(Value::as_bool);
    value.unwrap_or_else(|| panic!("no {pointer} in {capabilities:#}"))
}

/// Returns the answer to a request that the account can carry out. Of one that it cannot, this asserts that it was refused.
#[track_caller]
pub fn carried_out(is_able: bool, exchange: Exchange) -> Option<Value> {
    if is_able {
        assert!((200..300).contains(&exchange.status), "the capabilities promise {exchange}");
        return Some(exchange.answer);
    }
    exchange.refused(400, "capability_not_supported");
    None
}

/// Returns an answer that is as fresh as the provider.
pub async fn read(account: &impl ConnectedAccount, path: &str) -> Value {
    account.advance(PAUSE_MS);
    account.api().get(path).header("cache-control", "no-cache").send().await.expect(200)
}

/// Returns the first page of a list, as fresh as the provider.
pub async fn list(account: &impl ConnectedAccount, path: &str) -> Vec<Value> {
    let joint = if path.contains('?') { '&' } else { '?' };
    let page = read(account, &format!("{path}{joint}limit=200")).await;
    page["data"].as_array().expect("a list").clone()
}

/// Returns the calendar, book or list below `path` in which the scenario works beside other programs: the one that `is_default` is true
/// for, or a new one.
pub async fn home<A: ConnectedAccount>(account: &A, path: &str, is_default: fn(&Value) -> bool) -> Value {
    if !A::HAS_DEFAULTS {
        let new = json!({ "connectionId": account.desk(), "name": "Scenario" });
        return account.api().post(path, new).send().await.expect(201);
    }
    let all = list(account, &format!("{path}?connection_id={}", account.desk())).await;
    let found = all.iter().find(|one| is_default(one));
    found.unwrap_or_else(|| panic!("no default one: {all:#?}")).clone()
}

/// Deletes a collection that `home` has made.
pub async fn leave<A: ConnectedAccount>(account: &A, path: &str) {
    if !A::HAS_DEFAULTS {
        account.api().delete(path).send().await.expect(204);
    }
}

/// A feed of changes, from its start on.
pub struct ChangeFeed {
    /// With a parameter already.
    path: String,
    cursor: Option<String>,
}

impl ChangeFeed {
    /// Follows what `start` with this body begins, and reads its first changes.
    pub async fn follow(
        account: &impl ConnectedAccount,
        start: &str,
        body: Value,
        path: String,
    ) -> ChangeFeed {
        account.api().post(start, body).send().await.expect(202);
        let mut feed = ChangeFeed { path, cursor: None };
        feed.changes(account).await;
        feed
    }

    /// The changes since the feed was read last.
    async fn changes(&mut self, account: &impl ConnectedAccount) -> Vec<Value> {
        let mut changes = Vec::new();
        loop {
            let cursor = self.cursor.as_ref().map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
            let page = read(account, &format!("{}{cursor}", self.path)).await;
            changes.extend(page["data"].as_array().expect("a list").iter().cloned());
            self.cursor = Some(text(&page["sync_cursor"]));
            if page["next_cursor"].is_null() {
                return changes;
            }
        }
    }

    /// Waits until the feed reports a record with this title, subject or name, once; returns the record.
    pub async fn arrival(&mut self, account: &impl ConnectedAccount, name: &str) -> Value {
        let mut found = Vec::new();
        for _ in 0..MAX_ROUNDS {
            for change in self.changes(account).await {
                let resource = &change["resource"];
                let names = ["title", "subject", "displayName"].map(|field| resource[field].as_str());
                if names.contains(&Some(name)) && change["changeType"] == "created" {
                    found.push(resource.clone());
                }
            }
            if !found.is_empty() {
                assert_eq!(found.len(), 1, "told twice: {found:#?}");
                return found.remove(0);
            }
            account.advance(ROUND_MS);
            account.server().pull().await;
        }
        panic!("{} tells nothing of {name}", self.path);
    }
}

/// Reads a list repeatedly until it has an item for which `is_wanted` is true.
pub async fn listed(
    account: &impl ConnectedAccount,
    path: &str,
    is_wanted: impl Fn(&Value) -> bool,
) -> Value {
    for _ in 0..MAX_ROUNDS {
        let all = list(account, path).await;
        if let Some(found) = all.into_iter().find(|one| is_wanted(one)) {
            return found;
        }
        account.advance(ROUND_MS);
        account.server().pull().await;
    }
    panic!("in vain: {path}");
}
