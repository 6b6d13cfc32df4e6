//! What becomes known of a message after it was sent. Opens and clicks come to us (`hits`), because its HTML names us (`rewrite`); replies,
//! bounces and complaints come to the mailbox (`arrivals`). What machines do is told apart from what people do (`classify`).

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

/// How long hits are counted. Links go on leading where they lead.
pub const LIFETIME_MS: i64 = 365 * 86_400_000;

/// What an address of ours says: which message, and which of its links; none for the picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackedTarget {
    #[serde(rename = "t")]
    pub tracking_id: String,
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub link: Option<usize>,
}

/// Where pictures and links of tracked messages lead, below the public address.
pub const PATH: &str = "/t";

/// A message made trackable.
pub struct TrackedMessage {
    pub id: String,
    pub html: Option<String>,
    /// Where its links lead, in order.
    pub urls: Vec<String>,
}

/// Puts what is tracked into the HTML. `untouched`: addresses to leave as they are. The text part is never touched.
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
