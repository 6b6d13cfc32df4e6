//! Notification channels of calendars and of lists of calendars, and their posts.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::facts;
use crate::google::state::{CalendarKind, State};
use crate::google::times;

/// A channel.
#[derive(Clone, Debug)]
pub struct Channel {
    pub id: String,
    pub resource_id: String,
    pub address: String,
    pub token: Option<String>,
    /// The calendar; none for the list of calendars.
    pub calendar: Option<String>,
    pub user: String,
    pub expires_ms: i64,
    uri: String,
    /// Messages posted so far.
    posted: u64,
    is_due: bool,
}

/// All channels.
#[derive(Default)]
pub struct Channels {
    pub open: Vec<Channel>,
    /// Ids of all channels that there ever were.
    ids: Vec<String>,
    stopped: Vec<Channel>,
}

/// A notification to be posted, with an empty body.
pub struct Notice {
    pub address: String,
    pub headers: Vec<(&'static str, String)>,
}

impl Channels {
    /// Marks the channels of a calendar whose events changed.
    pub fn events_changed(&mut self, calendar: &str) {
        self.mark(|channel| channel.calendar.as_deref() == Some(calendar));
    }

    /// Marks the channels of a list of calendars that changed.
    pub fn list_changed(&mut self, user: &str) {
        self.mark(|channel| channel.calendar.is_none() && channel.user == user);
    }

    /// Lets each channel that was stopped post once more, as Google does when a change and the stop come together.
    pub fn stopped_post(&mut self) {
        self.stopped.iter_mut().for_each(|channel| channel.is_due = true);
    }

    fn mark(&mut self, fits: impl Fn(&Channel) -> bool) {
        for channel in self.open.iter_mut().filter(|channel| fits(channel)) {
            channel.is_due = true;
        }
    }

    /// Takes due posts: the greeting of a new channel, and one notification of a channel whose resource changed.
    pub fn take_due(&mut self, now_ms: i64) -> Vec<Notice> {
        self.open.retain(|channel| now_ms < channel.expires_ms);
        let mut notices = Vec::new();
        for channel in &mut self.open {
            if channel.posted == 0 {
                notices.push(channel.notice("sync"));
            }
            if std::mem::take(&mut channel.is_due) {
                notices.push(channel.notice("exists"));
            }
        }
        for channel in &mut self.stopped {
            if std::mem::take(&mut channel.is_due) {
                notices.push(channel.notice("exists"));
            }
        }
        notices
    }
}

impl Channel {
    fn notice(&mut self, state: &str) -> Notice {
        self.posted += 1;
        let expires = times::from_ms(self.expires_ms).format("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let mut headers = vec![
            ("x-goog-channel-id", self.id.clone()),
            ("x-goog-channel-expiration", expires),
            ("x-goog-resource-id", self.resource_id.clone()),
            ("x-goog-resource-uri", self.uri.clone()),
            ("x-goog-resource-state", state.to_owned()),
            ("x-goog-message-number", self.posted.to_string()),
        ];
        headers.extend(self.token.clone().map(|token| ("x-goog-channel-token", token)));
        Notice { address: self.address.clone(), headers }
    }
}

/// `events.watch`
pub fn watch_events(state: &mut State, call: &Call) -> MethodResult {
    let access = call.calendar(state)?;
    let kind = state.calendars.get(&access.id).map(|calendar| calendar.kind);
    if kind == Some(CalendarKind::Holidays) || state.traps.fires("push_not_supported") {
        let message = "Push notifications are not supported by this resource.";
        return Err(ApiError::new(400, "pushNotSupportedForRequestedResource", message));
    }
    let path = format!("calendars/{}/events", access.id);
    open(state, call, Some(access.id), &path)
}

/// `calendarList.watch`
pub fn watch_list(state: &mut State, call: &Call) -> MethodResult {
    open(state, call, None, "users/me/calendarList")
}

/// `settings.watch`
pub fn watch_settings(state: &mut State, call: &Call) -> MethodResult {
    open(state, call, None, "users/me/settings")
}

fn open(state: &mut State, call: &Call, calendar: Option<String>, path: &str) -> MethodResult {
    let body = &call.body;
    let text = |name: &str| body[name].as_str().filter(|text| !text.is_empty());
    let id = text("id").ok_or_else(|| ApiError::required("Required parameter: id"))?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_+/=".contains(c);
    if id.len() > facts::number("limits", "channel_id") || !id.chars().all(is_name) {
        return Err(ApiError::new(400, "channelIdInvalid", "Channel id is not valid"));
    }
    if !matches!(text("type"), Some("web_hook" | "webhook")) {
        return Err(ApiError::new(400, "channelUnknown", "Unknown channel type"));
    }
    let address = text("address").ok_or_else(|| ApiError::required("Required parameter: address"))?;
    // Google takes https alone; the receivers of tests listen on the loopback interface.
    if !address.starts_with("https://") && !address.starts_with("http://127.0.0.1") {
        let message = format!("WebHook callback must be HTTPS: {address}");
        return Err(ApiError::new(400, "push.webhookUrlNotHttps", &message));
    }
    if state.channels.ids.iter().any(|known| known == id) {
        return Err(ApiError::new(400, "channelIdNotUnique", &format!("Channel id {id} not unique")));
    }
    let now = state.clock.now_ms();
    let life_s = i64::try_from(facts::number("limits", "channel_life_s")).unwrap_or_default();
    let longest = now + life_s * 1000;
    let ttl =
        body["params"]["ttl"].as_str().and_then(|text| text.parse::<i64>().ok()).map(|ttl| now + ttl * 1000);
    let wanted = body["expiration"].as_str().and_then(|text| text.parse::<i64>().ok()).or(ttl);
    let expires_ms = wanted.map_or(longest, |wanted| wanted.min(longest));
    let digest = Sha256::digest(format!("{}/{path}", call.user));
    let resource_id = digest.iter().take(13).map(|byte| format!("{byte:02x}")).collect::<String>();
    let channel = Channel {
        id: id.to_owned(),
        resource_id,
        address: address.to_owned(),
        token: text("token").map(str::to_owned),
        calendar,
        user: call.user.clone(),
        expires_ms,
        uri: format!("https://www.googleapis.com/calendar/v3/{path}?alt=json"),
        posted: 0,
        is_due: false,
    };
    let mut answer = json!({
        "kind": "api#channel",
        "id": channel.id,
        "resourceId": channel.resource_id,
        "resourceUri": channel.uri,
        "expiration": expires_ms.to_string(),
    });
    if let Some(token) = &channel.token {
        answer["token"] = Value::from(token.as_str());
    }
    state.channels.ids.push(channel.id.clone());
    state.channels.open.push(channel);
    Ok(Some(answer))
}

/// `channels.stop`
pub fn stop(state: &mut State, call: &Call) -> MethodResult {
    let (id, resource) = (call.body["id"].as_str(), call.body["resourceId"].as_str());
    let channels = &mut state.channels;
    let at = channels.open.iter().position(|channel| {
        Some(channel.id.as_str()) == id
            && Some(channel.resource_id.as_str()) == resource
            && channel.user == call.user
    });
    match at {
        Some(at) => {
            let stopped = channels.open.remove(at);
            channels.stopped.push(Channel { is_due: false, ..stopped });
            Ok(None)
        }
        None => {
            let message = format!("Channel '{}' not found for project", id.unwrap_or_default());
            Err(ApiError::new(404, "notFound", &message))
        }
    }
}
