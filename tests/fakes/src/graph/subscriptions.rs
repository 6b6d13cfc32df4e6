//! Subscriptions: made after a handshake with the receiver, renewed, ended by their time, and their notifications.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Value, json};

use crate::door::{Ask, Reply};
use crate::graph::call::{GraphCall, json_reply, normalized};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::scopes;
use crate::graph::state::{GraphAccount, GraphState, ItemChange};
use crate::graph::{facts, ids, times};

/// A subscription.
#[derive(Clone, Debug)]
pub struct GraphSubscription {
    pub id: String,
    pub user: String,
    /// The resource as it was asked for.
    pub resource: String,
    /// The path after `/me/`, as changes name it.
    collection: String,
    pub change_types: Vec<String>,
    pub notification_url: String,
    pub lifecycle_url: Option<String>,
    pub client_state: Option<String>,
    pub expires_ms: i64,
    has_immutable_ids: bool,
    tenant: &'static str,
    account_id: String,
    /// Notifications that wait to be posted.
    waiting: Vec<Value>,
    /// Lifecycle notifications that wait to be posted.
    waiting_lifecycle: Vec<Value>,
}

/// All subscriptions.
#[derive(Default)]
pub struct Subscriptions {
    pub open: Vec<GraphSubscription>,
    /// Subscriptions so far.
    made: u64,
}

/// A post to a receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphPost {
    pub url: String,
    pub body: Value,
}

impl GraphPost {
    fn notifications(&mut self) -> Option<&mut Vec<Value>> {
        self.body["value"].as_array_mut()
    }

    /// Takes `clientState` away from all notifications, as some tenants' have none.
    pub fn remove_secrets(&mut self) {
        for members in self.notifications().into_iter().flatten().filter_map(Value::as_object_mut) {
            members.remove("clientState");
        }
    }

    /// Puts each notification into the list twice.
    pub fn repeat(&mut self) {
        if let Some(list) = self.notifications() {
            *list = list.iter().flat_map(|one| [one.clone(), one.clone()]).collect();
        }
    }
}

impl Subscriptions {
    /// Queues a change for those that asked for it.
    pub fn note(&mut self, account: &GraphAccount, change: &ItemChange<'_>) {
        for one in self.open.iter_mut().filter(|one| one.user == account.email) {
            let is_wanted = one.change_types.iter().any(|kind| kind == change.kind)
                && change.collections.contains(&one.collection);
            if is_wanted {
                let notification = one.notification(change);
                one.waiting.push(notification);
            }
        }
    }

    /// Queues a lifecycle notification, as in `missed`; `subscriptionRemoved` ends the subscription.
    pub fn lifecycle(&mut self, id: &str, event: &str) {
        for one in self.open.iter_mut().filter(|one| one.id == id) {
            let notification = json!({
                "subscriptionId": one.id,
                "subscriptionExpirationDateTime": times::stamp(one.expires_ms),
                "tenantId": one.tenant,
                "clientState": one.client_state,
                "lifecycleEvent": event,
            });
            one.waiting_lifecycle.push(notification);
        }
    }

    /// Takes the posts that are due: one for all notifications to the same address. Subscriptions whose time is over end.
    pub fn take_due(&mut self, now_ms: i64) -> Vec<GraphPost> {
        self.open.retain(|one| now_ms < one.expires_ms);
        let mut posts: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for one in &mut self.open {
            posts.entry(one.notification_url.clone()).or_default().append(&mut one.waiting);
            let waiting = std::mem::take(&mut one.waiting_lifecycle);
            if let Some(url) = one.lifecycle_url.clone().filter(|_| !waiting.is_empty()) {
                posts.entry(url).or_default().extend(waiting.clone());
            }
            if waiting.iter().any(|event| event["lifecycleEvent"] == "subscriptionRemoved") {
                one.expires_ms = 0;
            }
        }
        self.open.retain(|one| now_ms < one.expires_ms);
        let due = posts.into_iter().filter(|(_, list)| !list.is_empty());
        due.map(|(url, list)| GraphPost { url, body: json!({ "value": list }) }).collect()
    }
}

impl GraphSubscription {
    fn notification(&self, change: &ItemChange<'_>) -> Value {
        let id = match self.has_immutable_ids {
            true => ids::immutable(change.key),
            false => ids::mutable(change.key, change.place),
        };
        let kind = change.data_type.rsplit('.').next().unwrap_or_default();
        let resource = format!("Users/{}/{kind}s/{id}", self.account_id);
        json!({
            "subscriptionId": self.id,
            "subscriptionExpirationDateTime": times::stamp(self.expires_ms),
            "changeType": change.kind,
            "resource": resource,
            "resourceData": {
                "@odata.type": change.data_type,
                "@odata.id": resource,
                "@odata.etag": ids::etag(change.place),
                "id": id,
            },
            "clientState": self.client_state,
            "tenantId": self.tenant,
        })
    }

    fn to_value(&self, context: &str) -> Value {
        json!({
            "@odata.context": context,
            "id": self.id,
            "resource": self.resource,
            "applicationId": "24d3b144-21ae-4080-943f-7067b395b913",
            "changeType": self.change_types.join(","),
            "clientState": null,
            "notificationUrl": self.notification_url,
            "lifecycleNotificationUrl": self.lifecycle_url,
            "expirationDateTime": times::stamp(self.expires_ms),
            "creatorId": self.account_id,
            "includeResourceData": null,
            "latestSupportedTlsVersion": "v1_2",
            "encryptionCertificate": null,
            "encryptionCertificateId": null,
            "notificationQueryOptions": null,
            "notificationUrlAppId": null,
        })
    }
}

/// Reads and checks the body of a create. The receiver is asked afterwards, then `insert` stores the subscription.
///
/// # Errors
/// A member is missing or wrong, the resource cannot be subscribed to, or the mailbox has too many: 400 or 403.
pub fn prepare(state: &mut GraphState, call: &GraphCall) -> Result<GraphSubscription, GraphError> {
    let text = |name: &str| call.body[name].as_str().filter(|text| !text.is_empty());
    let missing =
        |name: &str| validation(&format!("{name} is a required property for subscription creation."));
    let resource = text("resource").ok_or_else(|| missing("resource"))?;
    let notification_url = text("notificationUrl").ok_or_else(|| missing("notificationUrl"))?;
    let types = text("changeType").ok_or_else(|| missing("changeType"))?;
    let change_types: Vec<String> = types.split(',').map(|kind| kind.trim().to_owned()).collect();
    if change_types.iter().any(|kind| !matches!(kind.as_str(), "created" | "updated" | "deleted")) {
        return Err(validation(&format!("Invalid 'changeType' attribute: '{types}'.")));
    }
    let lifecycle_url = text("lifecycleNotificationUrl");
    for url in [Some(notification_url), lifecycle_url].into_iter().flatten() {
        // Graph takes https alone; the receivers of tests listen on the loopback interface.
        if !["https://", "http://127.0.0.1", "http://localhost"].iter().any(|start| url.starts_with(start)) {
            return Err(validation(&format!("Notification endpoint must be https: {url}")));
        }
    }
    if text("clientState").is_some_and(|secret| secret.len() > facts::number("subscriptions", "client_state"))
    {
        return Err(validation("clientState is longer than 128 characters."));
    }
    let expires_ms = expiry(state, call)?;
    let account = state.account(&call.user)?.clone();
    let collection = collection_of(resource, &account)?;
    check_resource(state, call, &collection)?;
    let count = state.subscriptions.open.iter().filter(|one| one.user == call.user).count();
    if count >= facts::number("subscriptions", "per_mailbox") || state.traps.fires("subscription_limit") {
        let message = "Subscription count of the mailbox has reached its limit.";
        return Err(GraphError::new(403, "ExtensionError", message));
    }
    state.subscriptions.made += 1;
    Ok(GraphSubscription {
        id: format!("7f105c7d-2dc5-4530-97cd-{:012x}", state.subscriptions.made),
        user: call.user.clone(),
        resource: resource.to_owned(),
        collection,
        change_types,
        notification_url: notification_url.to_owned(),
        lifecycle_url: lifecycle_url.map(str::to_owned),
        client_state: text("clientState").map(str::to_owned),
        expires_ms,
        has_immutable_ids: call.prefer.immutable_ids,
        tenant: account.tenant(),
        account_id: account.id,
        waiting: Vec::new(),
        waiting_lifecycle: Vec::new(),
    })
}

/// The token that a receiver has to send back, and the addresses that are asked.
pub fn handshakes(subscription: &GraphSubscription) -> Vec<(String, String)> {
    let token =
        format!("Validation: Testing client application reachability for subscription {}", subscription.id);
    let urls = [Some(&subscription.notification_url), subscription.lifecycle_url.as_ref()];
    let mut all: Vec<(String, String)> = Vec::new();
    for url in urls.into_iter().flatten() {
        let separator = if url.contains('?') { '&' } else { '?' };
        let escaped: String = url::form_urlencoded::byte_serialize(token.as_bytes()).collect();
        let asked = format!("{url}{separator}validationToken={escaped}");
        if all.iter().all(|(known, _)| *known != asked) {
            all.push((asked, token.clone()));
        }
    }
    all
}

/// Stores a subscription whose receiver has answered.
pub fn insert(state: &mut GraphState, call: &GraphCall, subscription: GraphSubscription) -> Reply {
    let body = subscription.to_value(&context(call));
    state.subscriptions.open.push(subscription);
    json_reply(201, &body)
}

/// The error of a receiver that did not send the token back.
pub fn unvalidated() -> GraphError {
    let message = "Subscription validation request failed. Notification endpoint must respond with 200 OK to validation request.";
    validation(message)
}

/// Answers the calls below `/subscriptions` but for the create.
pub fn answer(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    let now = state.clock.now_ms();
    let context = context(call);
    state.subscriptions.open.retain(|one| now < one.expires_ms);
    let expires_ms = match call.method.as_str() {
        "PATCH" => Some(expiry(state, call)?),
        _ => None,
    };
    let open = &mut state.subscriptions.open;
    let at =
        call.path.get(1).and_then(|id| open.iter().position(|one| one.id == *id && one.user == call.user));
    match (call.method.as_str(), call.segments().as_slice()) {
        ("GET", [_]) => {
            let all: Vec<Value> =
                open.iter().filter(|one| one.user == call.user).map(|one| one.to_value(&context)).collect();
            Ok(json_reply(200, &json!({ "@odata.context": context, "value": all })))
        }
        ("GET" | "PATCH", [_, _]) => {
            let one = at.and_then(|at| open.get_mut(at)).ok_or_else(subscription_not_found)?;
            one.expires_ms = expires_ms.unwrap_or(one.expires_ms);
            Ok(json_reply(200, &one.to_value(&context)))
        }
        ("DELETE", [_, _]) => {
            open.remove(at.ok_or_else(subscription_not_found)?);
            Ok(Reply::new(204))
        }
        ("POST", [_, _, "reauthorize"]) => {
            at.ok_or_else(subscription_not_found)?;
            Ok(Reply::new(204))
        }
        _ => Err(GraphError::no_route("subscriptions")),
    }
}

fn context(call: &GraphCall) -> String {
    format!("{}/$metadata#subscriptions/$entity", call.link_root)
}

/// The end that a body asks for.
fn expiry(state: &mut GraphState, call: &GraphCall) -> Result<i64, GraphError> {
    let wanted = call.body["expirationDateTime"].as_str().and_then(times::parse);
    let wanted = wanted.ok_or_else(|| validation("expirationDateTime is a required property."))?;
    let now = state.clock.now_ms();
    let is_short = state.traps.fires("subscription_short_life");
    let name = if is_short { "shortest_life_minutes" } else { "longest_life_minutes" };
    let minutes = i64::try_from(facts::number("subscriptions", name)).unwrap_or_default();
    if wanted > now + (minutes + 5) * 60_000 {
        return Err(validation(&format!(
            "Subscription expiration can only be {minutes} minutes in the future."
        )));
    }
    match wanted > now {
        true => Ok(wanted),
        false => Err(validation("Subscription expiration is in the past.")),
    }
}

/// Returns the path after `/me/` in a resource, with keys as segments.
fn collection_of(resource: &str, account: &GraphAccount) -> Result<String, GraphError> {
    let resource = resource.split('?').next().unwrap_or_default();
    // Ids in it may be percent-encoded, as in any path.
    let path = format!("/{}", resource.trim_start_matches('/'));
    let segments = normalized(&Ask::new("GET", &path, "", HeaderMap::new(), Bytes::new()).segments);
    let behind = match segments.split_first() {
        Some((first, rest)) if first.eq_ignore_ascii_case("me") => rest,
        Some((first, [user, rest @ ..])) if first.eq_ignore_ascii_case("users") => {
            let is_own = *user == account.id || user.eq_ignore_ascii_case(&account.email);
            if !is_own {
                return Err(GraphError::new(403, "ExtensionError", "Access to the resource is denied."));
            }
            rest
        }
        _ => return Err(validation(&format!("Unsupported resource: {resource}"))),
    };
    Ok(behind.join("/"))
}

fn check_resource(state: &mut GraphState, call: &GraphCall, collection: &str) -> Result<(), GraphError> {
    let segments: Vec<&str> = collection.split('/').collect();
    let is_other_calendar = matches!(segments.as_slice(), ["calendars", _, "events"]);
    let is_known = is_other_calendar
        || matches!(
            segments.as_slice(),
            ["messages" | "events" | "contacts"]
                | ["mailFolders", _, "messages"]
                | ["contactFolders", _, "contacts"]
                | ["todo", "lists", _, "tasks"]
        );
    if !is_known || is_other_calendar && state.traps.fires("calendar_subscription_refused") {
        return Err(validation(&format!("Resource '{collection}' is not supported for subscriptions.")));
    }
    let account = state.account(&call.user)?;
    if scopes::surface_of(&segments).is_some_and(|surface| account.absent.contains(surface)) {
        return Err(GraphError::mailbox_not_enabled());
    }
    match call.has_scope(scopes::needed("GET", &segments)) {
        true => Ok(()),
        false => Err(GraphError::new(
            403,
            "ExtensionError",
            "Operation: Create; Exception: [Status Code: Forbidden]",
        )),
    }
}

fn validation(message: &str) -> GraphError {
    GraphError::new(400, "ValidationError", message)
}

fn subscription_not_found() -> GraphError {
    GraphError::new(404, "ResourceNotFound", "The object was not found.")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;
    use serde_json::{Value, json};

    use super::{GraphSubscription, handshakes, prepare};
    use crate::clock::Clock;
    use crate::graph::call::GraphCall;
    use crate::graph::errors::GraphError;
    use crate::graph::ids;
    use crate::graph::prefer::Preferences;
    use crate::graph::state::{AccountKind, GraphState, ItemChange};

    const USER: &str = "alice@example.com";

    fn state() -> GraphState {
        let mut state = GraphState::new(Clock::default());
        state.add_account(USER, "Alice Example", "UTC", AccountKind::Work);
        state
    }

    fn create(state: &mut GraphState, changed: Value) -> Result<GraphSubscription, GraphError> {
        let mut body = json!({
            "resource": "/me/messages",
            "changeType": "created,deleted",
            "notificationUrl": "https://app.example.test/hook",
            "lifecycleNotificationUrl": "https://app.example.test/life",
            "clientState": "secret",
            "expirationDateTime": "2026-03-07T00:00:00Z",
        });
        for (name, value) in changed.as_object().into_iter().flatten() {
            body[name.as_str()] = value.clone();
        }
        let call = GraphCall {
            user: USER.to_owned(),
            account_id: String::new(),
            method: "POST".to_owned(),
            path: vec!["subscriptions".to_owned()],
            query: Vec::new(),
            headers: HeaderMap::new(),
            content: Bytes::new(),
            body,
            prefer: Preferences { immutable_ids: true, ..Preferences::default() },
            scopes: vec!["Mail.Read".to_owned(), "Calendars.Read".to_owned()],
            link_root: "https://graph.microsoft.com/v1.0".to_owned(),
        };
        let subscription = prepare(state, &call)?;
        state.subscriptions.open.push(subscription.clone());
        Ok(subscription)
    }

    fn change(state: &mut GraphState, kind: &str) {
        let collections = ["messages".to_owned(), "mailFolders/inbox/messages".to_owned()];
        let data_type = "#Microsoft.Graph.Message";
        state.note_change(
            USER,
            &ItemChange { kind, collections: &collections, data_type, key: "msg-1", place: 1 },
        );
    }

    #[test]
    fn a_change_is_posted_to_those_that_asked_for_it() {
        let mut state = state();
        create(&mut state, json!({})).expect("a subscription");
        create(&mut state, json!({ "resource": "/me/mailFolders('in%62ox')/messages" }))
            .expect("a subscription");
        create(&mut state, json!({ "resource": "me/mailFolders('drafts')/messages" }))
            .expect("a subscription");
        change(&mut state, "created");
        change(&mut state, "updated");
        let now = state.clock.now_ms();
        let posts = state.subscriptions.take_due(now);
        assert_eq!(posts.len(), 1, "one post for all notifications to an address");
        let list = posts[0].body["value"].as_array().expect("notifications");
        assert_eq!(list.len(), 2, "{list:#?}");
        let told = &list[0];
        assert_eq!((&told["clientState"], &told["changeType"]), (&json!("secret"), &json!("created")));
        assert_eq!(told["resourceData"]["id"], ids::immutable("msg-1"));
        assert!(state.subscriptions.take_due(now).is_empty(), "each is posted once");
    }

    #[test]
    fn notifications_may_lack_their_secret_or_come_twice() {
        let mut state = state();
        create(&mut state, json!({})).expect("a subscription");
        change(&mut state, "deleted");
        let now = state.clock.now_ms();
        let mut post = state.subscriptions.take_due(now).remove(0);
        post.remove_secrets();
        post.repeat();
        let list = post.body["value"].as_array().expect("notifications");
        assert_eq!(list.len(), 2);
        assert!(list.iter().all(|told| told.get("clientState").is_none()), "{list:#?}");
    }

    #[test]
    fn lifecycle_notifications_have_an_address_of_their_own_and_a_removed_subscription_ends() {
        let mut state = state();
        let id = create(&mut state, json!({})).expect("a subscription").id;
        let now = state.clock.now_ms();
        for (event, open) in [("missed", 1), ("reauthorizationRequired", 1), ("subscriptionRemoved", 0)] {
            state.subscriptions.lifecycle(&id, event);
            let posts = state.subscriptions.take_due(now);
            assert_eq!(posts[0].url, "https://app.example.test/life");
            assert_eq!(posts[0].body["value"][0]["lifecycleEvent"], event);
            assert_eq!(state.subscriptions.open.len(), open, "{event}");
        }
        create(&mut state, json!({})).expect("a subscription");
        state.subscriptions.take_due(now + 7 * 24 * 3_600_000);
        assert!(state.subscriptions.open.is_empty(), "its time is over");
    }

    #[test]
    fn both_addresses_are_asked_for_the_token() {
        let asked = handshakes(&create(&mut state(), json!({})).expect("a subscription"));
        let hosts: Vec<&str> =
            asked.iter().filter_map(|(url, _)| url.split("?validationToken=").next()).collect();
        assert_eq!(hosts, ["https://app.example.test/hook", "https://app.example.test/life"]);
        let (url, token) = &asked[0];
        assert!(!token.contains('+') && url.contains('+'), "the token comes escaped: {url}");
    }

    #[test]
    fn a_subscription_that_graph_does_not_take_is_refused() {
        let mut state = state();
        let wrong = [
            (json!({ "resource": "me/calendars" }), 400),
            (json!({ "resource": "me/calendars/a%2Fb" }), 400),
            (json!({ "resource": "users/bob@example.com/messages" }), 403),
            (json!({ "resource": "me/contacts" }), 403),
            (json!({ "changeType": "moved" }), 400),
            (json!({ "clientState": "x".repeat(129) }), 400),
            (json!({ "notificationUrl": "http://app.example.test/hook" }), 400),
            (json!({ "expirationDateTime": "2026-03-20T00:00:00Z" }), 400),
            (json!({ "expirationDateTime": "2026-02-20T00:00:00Z" }), 400),
        ];
        for (changed, status) in wrong {
            assert_eq!(create(&mut state, changed.clone()).expect_err("refused").status, status, "{changed}");
        }
        state.traps.set("subscription_short_life", 1).expect("a trap");
        assert_eq!(create(&mut state, json!({})).expect_err("4,230 minutes at most").status, 400);
        let other = json!({ "resource": "me/calendars('x')/events" });
        state.traps.set("calendar_subscription_refused", 1).expect("a trap");
        assert_eq!(create(&mut state, other.clone()).expect_err("polled").status, 400);
        create(&mut state, other).expect("it works and is not documented");
    }
}
