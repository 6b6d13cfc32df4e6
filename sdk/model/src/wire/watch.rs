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
//! * `watch.start` may be called again with a new `channel` for a resource that is already watched: the provider may then post twice.
//! * While `watch.start` and `watch.renew` run, the provider may post to `address`: the host already knows `channel` and `token`.
//! * `watch.stop` of a watch that no longer exists at the provider succeeds, or fails with "not-found"; the host treats both as success.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;

/// A request that the provider posts a notification whenever something in `scope` changes: the arguments of `watch.start`.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WatchStart {
    /// The surface whose data is watched: `email`, `calendar`, `contacts` or `tasks`.
    pub surface: String,
    /// The external id of the collection (calendar, address book, task list) whose contents are watched. Null: for mail the whole mailbox,
    /// for other surfaces the account's collections themselves.
    pub scope: Option<String>,
    /// The URL that the provider posts to: HTTPS, except in tests on one machine, without a query. It also takes notifications about the
    /// subscription itself (Graph's `lifecycleNotificationUrl`). A provider that posts to a topic of the operator (Gmail) needs none.
    pub address: String,
    /// The secret of this watch that the provider sends with each notification: at most 128 characters of `A-Za-z0-9_-`. It must not be
    /// logged or sent anywhere but to the provider.
    pub token: String,
    /// The host's id of the watch, never used before: at most 64 characters of `A-Za-z0-9_-`. It is for providers that let the client
    /// choose the id.
    pub channel: String,
    /// The end that the host asks for; the provider may choose an earlier one.
    pub wanted_until: Instant,
}

/// A request that the provider extends a watch: the arguments of `watch.renew`.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WatchRenew {
    /// The `externalId` of the last answer about this watch.
    pub external_id: String,
    /// The `resource` of the last answer about this watch; null if it had none.
    pub resource: Option<String>,
    /// The `channel` of the watch, as in `watch.start`.
    pub channel: String,
    /// The `token` of the watch, as in `watch.start`, for a provider that wants it again.
    pub token: String,
    /// The `address` of the watch, as in `watch.start`, for a provider that wants it again.
    pub address: String,
    /// The end that the host asks for; the provider may choose an earlier one.
    pub wanted_until: Instant,
    /// The `surface` of the watch, as in `watch.start`.
    pub surface: String,
    /// The `scope` of the watch, as in `watch.start`.
    pub scope: Option<String>,
}

/// A request that the provider stops posting: the arguments of `watch.stop`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WatchStop {
    /// The `externalId` of the last answer about this watch.
    pub external_id: String,
    /// The `resource` of the last answer about this watch; null if it had none.
    pub resource: Option<String>,
    /// The `channel` of the watch, as in `watch.start`.
    pub channel: String,
}

/// A watch that the provider has started or renewed: the answer of `watch.start` and `watch.renew`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Watching {
    /// The provider's id of the watch in its notifications (`watch` of the manifest's `[push]`), at most 512 bytes. For a provider whose
    /// notifications name only the account, it is `channel`.
    pub external_id: String,
    /// The value that the provider requires beside the id to stop the watch (Google's `resourceId`), at most 2 KiB; null if it requires
    /// none.
    pub resource: Option<String>,
    /// The time at which the provider ends the watch by itself. A missing time, or one in 1970, is a fault of the connector.
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
