//! Operations of the watch interface: notifications that a provider posts to the host when something of an account changes (Google's
//! channels and Gmail's `watch`, subscriptions of Microsoft Graph). The host owns the address, the ids and the secrets; the connector only
//! makes the provider's requests.
//!
//! | verb | op | args | answer |
//! |---|---|---|---|
//! | mutate | `watch.start` | `WatchStart` | `Watching` |
//! | mutate | `watch.renew` | `WatchRenew` | `Watching`; failure "unsupported": the host starts another watch and stops this one |
//! | mutate | `watch.stop` | `WatchStop` | anything that is JSON; the host ignores it |
//!
//! * A notification is only a hint that the host should read what changed. A connector never sees one: `[push]` of its manifest says how
//!   the host reads them.
//! * `watch.start` may be called again with a new `channel` for something that is watched already: the provider may then post twice.
//! * While `watch.start` and `watch.renew` run, the provider may post to `address`: the host already knows `channel` and `token`.
//! * `watch.stop` of a watch that the provider does not know any more succeeds, or fails with "not-found"; the host takes both as success.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;

/// Asks the provider to post a notification whenever something in `scope` changes; args of `watch.start`.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WatchStart {
    /// The surface whose data is to be watched: "email", "calendar", "contacts", "tasks".
    pub surface: String,
    /// External id of the collection (calendar, address book, task list) whose contents are to be watched. None: of mail, the whole
    /// mailbox; of other surfaces, the account's collections themselves.
    pub scope: Option<String>,
    /// The URL that the provider posts to: HTTPS, except in tests on one machine. It has no query. Where a provider wants one for news of
    /// the subscription itself (Graph's `lifecycleNotificationUrl`), it is the same. One that posts to a topic of the operator's (Gmail)
    /// needs none.
    pub address: String,
    /// A secret of this watch alone that the provider sends with each notification, at most 128 characters of `A-Za-z0-9_-`. It must
    /// not be logged, and goes nowhere but into the provider's request.
    pub token: String,
    /// The host's id of the watch, at most 64 characters of `A-Za-z0-9_-`, never used before. For a provider that lets its client
    /// choose the id.
    pub channel: String,
    /// The end that the host asks for; the provider may choose an earlier one.
    pub wanted_until: Instant,
}

/// Asks the provider to extend a watch; args of `watch.renew`.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WatchRenew {
    /// `Watching.externalId` of the last answer.
    pub external_id: String,
    /// `Watching.resource` of the last answer.
    pub resource: Option<String>,
    /// As of `watch.start`.
    pub channel: String,
    /// As of `watch.start`, for a provider that wants it again.
    pub token: String,
    /// As of `watch.start`, for a provider that wants it again.
    pub address: String,
    /// The end that the host asks for; the provider may choose an earlier one.
    pub wanted_until: Instant,
    /// As of `watch.start`.
    pub surface: String,
    /// As of `watch.start`.
    pub scope: Option<String>,
}

/// Asks the provider to stop posting; args of `watch.stop`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WatchStop {
    /// `Watching.externalId` of the last answer.
    pub external_id: String,
    /// `Watching.resource` of the last answer.
    pub resource: Option<String>,
    /// As of `watch.start`.
    pub channel: String,
}

/// A watch that the provider has started or renewed; answer of `watch.start` and `watch.renew`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Watching {
    /// The provider's id of the watch in its notifications (`watch` of the manifest's `[push]`), at most 512 bytes. For a provider whose
    /// notifications name only the account: `channel`.
    pub external_id: String,
    /// The value that the provider requires beside the id to stop the watch (Google's `resourceId`), at most 2 KiB.
    pub resource: Option<String>,
    /// When the provider ends the watch by itself. A missing one, or one in 1970, is a fault of the connector.
    pub expires_at: Instant,
}

// The token is a secret: `{:?}` in a log does not show it.
impl fmt::Debug for WatchStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchStart")
            .field("surface", &self.surface)
            .field("scope", &self.scope)
            .field("address", &self.address)
            .field("channel", &self.channel)
            .field("wanted_until", &self.wanted_until)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for WatchRenew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchRenew")
            .field("external_id", &self.external_id)
            .field("resource", &self.resource)
            .field("channel", &self.channel)
            .field("address", &self.address)
            .field("wanted_until", &self.wanted_until)
            .field("surface", &self.surface)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}
