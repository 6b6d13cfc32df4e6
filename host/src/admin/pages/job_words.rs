//! Jobs in words: their states, their addresses, and what they work on.

use service::locale::html::Html;
use service::manage::job_lists::JobState;
use service::manage::jobs::CancelRefusal;
use storage::jobs::Job;

use crate::admin::parts::badge::{BadgeTone, badge};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::texts::JobTexts;

/// Bytes of an id that stand in a path as they are.
const PLAIN: &[u8] = b"-_.:";

/// The path of a job's page below `/admin/`. Ids of jobs have colons, and may have whatever a key has.
pub fn path_of(id: &str) -> String {
    let mut path = String::from("system/jobs/");
    for byte in id.bytes() {
        match byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) {
            true => path.push(char::from(byte)),
            false => path.push_str(&format!("%{byte:02X}")),
        }
    }
    path
}

/// The word for a state.
pub fn state_word(t: &JobTexts, state: JobState) -> &'static str {
    match state {
        JobState::Queued => t.queued,
        JobState::Running => t.running,
        JobState::Failed => t.failed,
        JobState::Cancelled => t.cancelled,
    }
}

/// The sentence above a list.
pub fn caption(t: &JobTexts, state: JobState) -> &'static str {
    match state {
        JobState::Queued => t.caption_queued,
        JobState::Running => t.caption_running,
        JobState::Failed => t.caption_failed,
        JobState::Cancelled => t.caption_cancelled,
    }
}

/// The words in place of a list without jobs.
pub fn none(t: &JobTexts, state: JobState) -> [&'static str; 2] {
    match state {
        JobState::Queued => [t.none_queued, t.none_queued_text],
        JobState::Running => [t.none_running, t.none_running_text],
        JobState::Failed => [t.none_failed, t.none_failed_text],
        JobState::Cancelled => [t.none_cancelled, t.none_cancelled_text],
    }
}

/// Why a job is not cancelled by itself.
pub fn no_cancel_reason(t: &JobTexts, refusal: CancelRefusal) -> &'static str {
    match refusal {
        CancelRefusal::Message => t.no_cancel_send,
        CancelRefusal::Sync => t.no_cancel_sync,
        CancelRefusal::TokenRefresh => t.no_cancel_refresh,
        CancelRefusal::Revocation => t.no_cancel_revoke,
        CancelRefusal::Authorization => t.no_cancel_authorization,
        CancelRefusal::WebhookKey => t.no_cancel_webhook_key,
        CancelRefusal::Delivery => t.no_cancel_deliver,
        CancelRefusal::BookingEvent => t.no_cancel_booking_event,
        CancelRefusal::BookingState => t.no_cancel_booking_state,
        CancelRefusal::Reconciliation => t.no_cancel_reconcile,
        CancelRefusal::HostRemoval => t.no_cancel_host_gone,
        CancelRefusal::Cleaning => t.no_cancel_clean,
    }
}

/// Adds the state of a job.
pub fn add_state(t: &JobTexts, job: &Job, html: &mut Html) {
    let Some(state) = JobState::parse(&job.state) else { return };
    let (tone, shape) = match state {
        JobState::Queued => (BadgeTone::Neutral, PanelIcon::Clock),
        JobState::Running => (BadgeTone::Good, PanelIcon::Dot),
        JobState::Failed => (BadgeTone::Bad, PanelIcon::Cross),
        JobState::Cancelled => (BadgeTone::Neutral, PanelIcon::Ring),
    };
    badge(html, tone, shape, state_word(t, state));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stands_in_one_segment_of_a_path() {
        assert_eq!(path_of("pull:conn_1:email:"), "system/jobs/pull:conn_1:email:");
        assert_eq!(path_of("a/../b?c#d e"), "system/jobs/a%2F..%2Fb%3Fc%23d%20e");
        assert_eq!(path_of("é"), "system/jobs/%C3%A9");
    }
}
