//! Tracking of a message after it was sent. Opens and clicks are requests to this service (`hits`), because its HTML refers to it
//! (`rewrite`); replies, bounces and complaints arrive in the mailbox (`incoming`). `classify` distinguishes people from machines.

mod classify;
pub mod delivery_state;
pub mod hits;
pub mod incoming;
pub mod record;
pub mod reports_job;
mod rewrite;

use anyhow::Result;
use base::ids::Kind;
use model::email::TrackingSettings;
use serde::{Deserialize, Serialize};

use crate::app::App;

/// Time for which hits are counted. Links keep working after it.
pub const LIFETIME_MS: i64 = 365 * 86_400_000;

/// The target of a tracking address: the message, and one of its links; none for the image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackedTarget {
    #[serde(rename = "t")]
    pub tracking_id: String,
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub link: Option<usize>,
}

/// The path of images and links of tracked messages, below the public address.
pub const PATH: &str = "/t";

/// A message made trackable.
pub struct TrackedMessage {
    pub id: String,
    pub html: Option<String>,
    /// The URLs of its links, in order.
    pub urls: Vec<String>,
}

/// Inserts the tracking into the HTML. `untouched`: addresses to leave as they are. The text part is never changed.
pub fn track(
    app: &App,
    settings: &TrackingSettings,
    html: Option<&str>,
    untouched: &[String],
) -> Result<TrackedMessage> {
    let id = app.new_id(Kind::Tracking);
    let base = app.config.public_address();
    let url = |link: Option<usize>| {
        let target = TrackedTarget { tracking_id: id.clone(), link };
        let text = serde_json::to_string(&target).unwrap_or_default();
        format!("{base}{PATH}/{}", app.keyring.signed(text.as_bytes()))
    };
    let (mut tracked, mut urls) = (None, Vec::new());
    if let Some(html) = html {
        let wanted =
            rewrite::TrackingInsertions { links: settings.links, pixel: settings.opens.then(|| url(None)) };
        let (rewritten, found) = rewrite::rewrite(html, &wanted, untouched, |n| url(Some(n)))?;
        (tracked, urls) = (Some(rewritten), found);
    }
    Ok(TrackedMessage { id, html: tracked, urls })
}
