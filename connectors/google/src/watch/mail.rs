//! Gmail's notifications: it publishes to a Pub/Sub topic of the operator's when a mailbox changes, and the topic's push subscription posts
//! that to the host (developers.google.com/workspace/gmail/api/guides/push). An account has one watch for each Google Cloud project, which
//! another request prolongs.

use connector_sdk::http::{Request, Response};
use connector_sdk::{Context, Failure, Outcome, code};
use model::Instant;
use model::wire::watch::Watching;
use serde::Deserialize;
use serde_json::json;

use crate::api::{execute, object};
use crate::failures;
use crate::mail::roots::mailbox;

/// The operator's setting with the topic, `projects/PROJECT/topics/TOPIC`.
const TOPIC: &str = "pubsubTopic";
/// The account of Gmail's that publishes to topics.
const PUBLISHER: &str = "gmail-api-push@system.gserviceaccount.com";
/// The beginning of the name of every topic. No id of a channel's resource begins like this.
const TOPIC_ROOT: &str = "projects/";

/// Units of starting or prolonging a watch, and of stopping it (developers.google.com/workspace/gmail/api/reference/quota).
const WATCH_UNITS: u32 = 100;
const STOP_UNITS: u32 = 50;

/// A watch that Gmail has started.
#[derive(Default, Deserialize)]
#[serde(default)]
struct MailWatch {
    /// Milliseconds since 1970, in text.
    expiration: String,
}

/// The body of an error.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RefusalBody {
    error: RefusalText,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RefusalText {
    message: String,
}

/// Whether a watch's resource is a topic, to which mail is published.
pub fn is_topic(resource: &str) -> bool {
    resource.starts_with(TOPIC_ROOT)
}

/// Has Gmail publish the mailbox's changes to the operator's topic from now on, or for longer. `before`: the topic of the watch that is
/// renewed.
pub fn publish(context: &Context, channel: String, before: Option<&str>) -> Outcome<Watching> {
    let Some(topic) = context.setting(TOPIC) else {
        return Err(Failure::unsupported("notifications of mail without a topic of the operator's"));
    };
    let mut response = context.send(watch_request(topic)?)?;
    if response.status == 400 && text_of(&response).contains("only one user push notification client") {
        // Gmail publishes to the topic that the operator had named before.
        stop(context)?;
        let again = context.send(watch_request(topic)?);
        let is_started = again.as_ref().is_ok_and(Response::is_success);
        if let Some(before) = before.filter(|_| !is_started) {
            // The host takes the watch for active until it ends.
            let _ = context.send(watch_request(before)?);
        }
        response = again?;
    }
    if !response.is_success() {
        return Err(refusal(context, &response, topic));
    }
    let watch: MailWatch = object(&response)?;
    let Ok(expires_ms) = watch.expiration.parse::<i64>() else {
        return Err(Failure::unavailable("the provider does not tell when its notifications end"));
    };
    let expires_at = Instant::from_millis(expires_ms);
    Ok(Watching { external_id: channel, resource: Some(topic.to_owned()), expires_at })
}

/// Has Gmail publish no more of the mailbox to any topic of the OAuth client's project: it knows no single watches.
pub fn stop(context: &Context) -> Outcome<()> {
    let request = Request::post(mailbox(&["stop"], &[])?).units(STOP_UNITS);
    execute(context, request, "stopping the notifications")
}

fn watch_request(topic: &str) -> Outcome<Request> {
    let url = mailbox(&["watch"], &[])?;
    Ok(Request::post(url).units(WATCH_UNITS).json(&json!({ "topicName": topic })))
}

/// The text of an error in lower case; empty where there is none.
fn text_of(response: &Response) -> String {
    response.json::<RefusalBody>().unwrap_or_default().error.message.to_ascii_lowercase()
}

/// Returns the failure that a refusal means. A fault of the topic is for the operator to fix, and says nothing of the account.
fn refusal(context: &Context, response: &Response, topic: &str) -> Failure {
    let failure = failures::from_response(context, response, "starting the notifications");
    let text = text_of(response);
    let message = match response.status {
        // Gmail tries the topic with a message.
        403 if failure.code == code::FORBIDDEN && text.contains("pubsub") => {
            format!(
                "Gmail cannot publish to {topic}: grant {PUBLISHER} the role Pub/Sub Publisher on this topic"
            )
        }
        404 | 500 => {
            format!(
                "Gmail cannot publish to {topic}: check that the topic exists in the Google Cloud project of the OAuth client (HTTP {}); if it does, this passes",
                response.status
            )
        }
        400 if text.contains("topicname") => format!(
            "{topic} is not a topic of the OAuth client's Google Cloud project: set {TOPIC} to projects/PROJECT/topics/TOPIC"
        ),
        _ => return failure,
    };
    Failure { message, ..failure.with_code(code::FORBIDDEN) }
}
