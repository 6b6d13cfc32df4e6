//! The names of the traps: what integrators of Google's APIs stumble over.

/// The names of all traps.
pub const TRAPS: &[&str] = &[
    // Every API.
    "html_200",
    "cut_body",
    "rate_limit_exceeded",
    "user_rate_limit_exceeded",
    "daily_limit_exceeded",
    // Calendar.
    "empty_page",
    "full_sync_required",
    "updated_min_too_long_ago",
    "queries_per_minute",
    "usage_limits",
    "not_a_calendar_user",
    "bare_cancelled",
    "series_last",
    "etag_moves",
    "conference_pending",
    "conference_failure",
    "push_not_supported",
    // Gmail: every second part of the next batch answers 429, though the batch itself is 200.
    "batch_429",
    // All parts answer 401 until the token is renewed.
    "batch_401",
    // The last part of the next batch has no answer.
    "batch_part_missing",
    // A page of HTML stands in the place of the last part's answer, with status 200.
    "batch_part_html",
    // The parts are answered in the opposite order.
    "batch_reversed",
    // Units of the minute that are spent: 403 in place of 429.
    "units_403",
    // The limit of a user's sent mail: 429 with the time in its text.
    "sending_limit",
    // The history does not reach back to where it is asked for.
    "history_404",
    // A page of history without records that has a next one.
    "history_empty_page",
    // The next message that comes in is in the history three seconds before it can be read.
    "late_message",
    // The next message that comes in, or that a client stores, is found by its Message-ID some seconds later.
    "late_index",
    // The next message that is read has no payload.
    "missing_payload",
    // Ids of attachments that the next read gives are good for nothing.
    "attachments_expire",
    // The next message that is sent loses its X- headers.
    "x_headers_lost",
    "mail_not_enabled",
    // The topic lacks Gmail as its publisher.
    "watch_not_authorized",
    // There is no such topic.
    "watch_no_topic",
    // People: while it is on, feeds tell the versions of five minutes ago.
    "late_feed",
    // A young sync token has expired, with ErrorInfo or by its text alone.
    "expired_sync_token",
    "sync_token_expired_text",
    "first_page_quota",
    "critical_reads",
    "person_etag_403",
    // The next contact that is changed was changed by another program just before.
    "person_moves",
    // Another write of the user is under way.
    "people_busy",
    // Tasks.
    "task_etag_stays",
    "siblings_stay",
    "no_tombstones",
    "if_match_ignored",
];
