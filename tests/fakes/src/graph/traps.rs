//! The names of the traps: what integrators of Microsoft Graph stumble over.

/// The names of all traps of Graph.
pub const GRAPH_TRAPS: &[&str] = &[
    // Every call.
    "html_200",
    "cut_body",
    // 503 `UnknownError` without Retry-After.
    "unknown_error_503",
    // 429 with Retry-After.
    "throttled",
    // 429 without Retry-After.
    "throttled_bare",
    // 401 with a `claims` challenge of continuous access evaluation.
    "claims_challenge",
    // 403 ErrorAccountSuspend: reads go on.
    "account_suspended",
    // Every second part of the next batch answers 429 with Retry-After, though the batch itself is 200.
    "batch_429",
    // All parts answer 401 until the token is renewed.
    "batch_401",
    // The last part of the next batch has no answer.
    "batch_part_missing",
    // The parts are answered in the opposite order.
    "batch_reversed",
    // Part 1 of the next batch answers 503.
    "batch_part_503",
    // The next subscription of a calendar other than the default one is refused.
    "calendar_subscription_refused",
    // The next subscription lives for 4,230 minutes at most.
    "subscription_short_life",
    // The mailbox has 1,000 subscriptions.
    "subscription_limit",
    // The next notifications bring no clientState.
    "no_client_state",
    // The next notifications come twice.
    "notified_twice",
    // Mail.
    "removed_a_b_a",
    "partial_updates",
    "repeated_ids",
    "delta_410_sync_state_not_found",
    "delta_404_sync_state_not_found",
    "delta_400_sync_state_invalid",
    "delta_410_resync_required",
    "delta_400_invalid_sync_state_data",
    "delta_400_id_malformed",
    "fat_page_504",
    "search_stale",
    "sent_copy_late",
    "sent_copy_renamed",
    "ndr",
    "send_as_denied",
    "message_id_replaced",
    "value_cut",
    "irresolvable_conflict",
    // While it is on: a deleted message is answered for by its immutable id, in a folder of no tree.
    "recoverable_shown",
    // Calendar.
    "events_delta_refused",
    "events_delta_needs_range",
    "event_etag_moves",
    // The token of a calendar's delta is too old.
    "calendar_delta_expired",
    // The link to join a new meeting is missing for one read more.
    "join_url_late",
    // `getSchedule` answers no items, though its view shows that there are some.
    "schedule_items_hidden",
    // Contacts.
    // The delta of folders has the default folder too.
    "contact_default_in_delta",
    // A contact is found by the path of another folder than its own.
    "contact_found_elsewhere",
    // A new photo is a change of its contact.
    "contact_photo_touches",
    // To Do.
    // The delta of tasks takes $expand.
    "todo_delta_expands",
    // A recurrence can be written.
    "todo_recurrence_taken",
    // Changes of checklist items and linked resources are in no delta.
    "todo_parts_silent",
];
