//! Watches of mailboxes, and Pub/Sub: the topics that Gmail publishes to, each with a push subscription.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::facts;
use crate::google::mail::{invalid, mailbox};
use crate::google::state::State;
use crate::google::times;

/// Seconds that a subscription's token lives.
const TOKEN_S: i64 = 3_600;
/// The number of a service account.
const ACCOUNT_NUMBER: &str = "113774264463038321964";

/// All topics.
#[derive(Default)]
pub struct PubSub {
    /// None: a watch may name any topic, without a subscription.
    pub topics: Vec<Topic>,
    /// Projects by the ids of their OAuth clients. Other clients may name topics of any project.
    pub projects: BTreeMap<String, String>,
    /// Messages so far.
    messages: u64,
}

/// A topic with its push subscription.
#[derive(Clone, Debug)]
pub struct Topic {
    /// `projects/PROJECT/topics/TOPIC`.
    pub name: String,
    /// Gmail may publish to it.
    pub has_publisher: bool,
    /// The address that the subscription posts to.
    pub address: String,
    /// The address of the service account that it authenticates as.
    pub account: String,
}

/// A watch of a mailbox.
#[derive(Clone, Debug)]
pub struct MailboxWatch {
    pub topic: String,
    pub expires_ms: i64,
    /// The history id of the mailbox that was published last.
    published: Option<u64>,
}

/// A message of a subscription, and the claims of the token that proves it.
pub struct PushedMessage {
    pub address: String,
    pub claims: Value,
    pub body: Value,
}

impl PubSub {
    /// Returns the message about a mailbox; none if the topic has no subscription.
    fn message(&mut self, topic: &str, user: &str, history_id: u64, now_ms: i64) -> Option<PushedMessage> {
        self.messages += 1;
        let topic = self.topics.iter().find(|known| known.name == topic)?;
        let data = json!({ "emailAddress": user, "historyId": history_id }).to_string();
        let now_s = now_ms / 1_000;
        Some(PushedMessage {
            address: topic.address.clone(),
            claims: json!({
                "iss": "https://accounts.google.com",
                "aud": topic.address,
                "azp": ACCOUNT_NUMBER,
                "sub": ACCOUNT_NUMBER,
                "email": topic.account,
                "email_verified": true,
                "iat": now_s,
                "exp": now_s + TOKEN_S,
            }),
            body: json!({
                "message": {
                    "data": BASE64_STANDARD.encode(data),
                    "messageId": self.messages.to_string(),
                    "publishTime": times::stamp(now_ms),
                },
                "subscription": topic.name.replacen("/topics/", "/subscriptions/", 1),
            }),
        })
    }
}

impl State {
    /// Takes what Gmail publishes: a message of each watch that is new, or whose mailbox changed since the last message.
    pub fn take_published(&mut self) -> Vec<PushedMessage> {
        let now = self.clock.now_ms();
        let mut taken = Vec::new();
        for (user, mailbox) in &mut self.mail {
            let latest = mailbox.history_id;
            for watch in mailbox.watches.values_mut() {
                if now < watch.expires_ms && watch.published != Some(latest) {
                    watch.published = Some(latest);
                    taken.extend(self.pubsub.message(&watch.topic, user, latest, now));
                }
            }
        }
        taken
    }
}

/// `watch`
pub fn watch(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let topic = call.body["topicName"].as_str().unwrap_or_default();
    let own = state.pubsub.projects.get(&call.client).cloned();
    let named = project_of(topic).filter(|named| own.as_ref().is_none_or(|own| own == named));
    let Some(project) = named else {
        let own = own.as_deref().unwrap_or("*");
        return Err(invalid(&format!("Invalid topicName does not match projects/{own}/topics/*")));
    };
    try_topic(state, topic)?;
    let life_ms = i64::try_from(facts::number("mail_limits", "watch_life_s")).unwrap_or_default() * 1000;
    let expires_ms = now + life_ms;
    let mailbox = mailbox(state, call)?;
    mailbox.watches.retain(|_, open| now < open.expires_ms);
    if mailbox.watches.get(project).is_some_and(|open| open.topic != topic) {
        let message =
            "Only one user push notification client allowed per developer (call /stop then try again)";
        return Err(invalid(message));
    }
    let watch = MailboxWatch { topic: topic.to_owned(), expires_ms, published: None };
    mailbox.watches.insert(project.to_owned(), watch);
    let answer = json!({ "historyId": mailbox.history_id.to_string(), "expiration": expires_ms.to_string() });
    Ok(Some(answer))
}

/// `stop`: ends the watch of the client's project.
pub fn stop(state: &mut State, call: &Call) -> MethodResult {
    let own = state.pubsub.projects.get(&call.client).cloned();
    let mailbox = mailbox(state, call)?;
    mailbox.watches.retain(|project, _| own.as_ref().is_some_and(|own| own != project));
    Ok(None)
}

/// The project in the name of a topic; none where it is no topic's.
fn project_of(topic: &str) -> Option<&str> {
    match topic.split('/').collect::<Vec<&str>>().as_slice() {
        ["projects", project, "topics", _] => Some(*project),
        _ => None,
    }
}

/// Sends the test message of a new watch.
fn try_topic(state: &mut State, name: &str) -> Result<(), ApiError> {
    let topics = &state.pubsub.topics;
    let topic = topics.iter().find(|topic| topic.name == name);
    let is_denied = topic.is_some_and(|topic| !topic.has_publisher);
    let is_missing = topic.is_none() && !topics.is_empty();
    let refused = |why: &str| format!("Error sending test message to Cloud PubSub {name} : {why}");
    if state.traps.fires("watch_not_authorized") || is_denied {
        let message = refused("User not authorized to perform this action.");
        return Err(ApiError::named(403, "forbidden", &message));
    }
    if state.traps.fires("watch_no_topic") {
        return Err(ApiError::named(500, "backendError", "Internal error encountered."));
    }
    match is_missing {
        true => Err(ApiError::named(404, "notFound", &refused("Resource not found."))),
        false => Ok(()),
    }
}
