//! Google's refusals, one row for each: the status and the code that clients get, the remedy in the message, and the wait.

use std::collections::BTreeMap;

use fakes::{Fault, What};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::FollowedCalendar;
use crate::google::mail::{MailAccount, letter};
use crate::google::{ALICE, World, event};

/// Longer than Google is paused after any refusal of these tests, ms.
const WAIT_MS: i64 = 61 * 60_000;

/// A refusal of a change of an event, and the answer that the client gets.
struct ErrorRow {
    answer: Value,
    retry_after: Option<&'static str>,
    status: u16,
    code: &'static str,
    /// A part of the message.
    says: &'static str,
    /// `Retry-After` of the answer, s; any where it is none.
    wait_s: Option<std::ops::RangeInclusive<u64>>,
}

impl ErrorRow {
    fn new(answer: Value, status: u16, code: &'static str, says: &'static str) -> ErrorRow {
        ErrorRow { answer, retry_after: None, status, code, says, wait_s: None }
    }

    fn waiting(self, wait_s: std::ops::RangeInclusive<u64>) -> ErrorRow {
        ErrorRow { wait_s: Some(wait_s), ..self }
    }

    /// Google's status.
    fn google_status(&self) -> u16 {
        let code = self.answer["error"]["code"].as_u64().expect("a status");
        u16::try_from(code).expect("a status")
    }
}

/// An error of the older form.
fn older(status: u16, reason: &str, message: &str) -> Value {
    let errors = json!([{ "domain": "global", "reason": reason, "message": message }]);
    json!({ "error": { "code": status, "message": message, "errors": errors } })
}

/// An error of the newer form.
fn newer(status: u16, name: &str, reason: &str) -> Value {
    let details = json!([{
        "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com",
    }]);
    json!({ "error": { "code": status, "message": "no", "status": name, "details": details } })
}

fn rows() -> Vec<ErrorRow> {
    let scope = "has not granted the scope";
    let enable = "enable it there";
    let limit = "asks to wait";
    vec![
        // A scope that is missing: authorize again.
        ErrorRow::new(older(403, "insufficientPermissions", "no"), 403, "scope_not_granted", scope),
        ErrorRow::new(
            newer(403, "PERMISSION_DENIED", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"),
            403,
            "scope_not_granted",
            scope,
        ),
        // The operator's project.
        ErrorRow::new(older(403, "accessNotConfigured", "no"), 400, "provider_rejected", enable),
        ErrorRow::new(newer(403, "PERMISSION_DENIED", "SERVICE_DISABLED"), 400, "provider_rejected", enable),
        ErrorRow::new(older(403, "domainPolicy", "no"), 403, "admin_blocked", "administrator"),
        ErrorRow::new(
            older(403, "forbiddenForNonOrganizer", "no"),
            400,
            "provider_rejected",
            "does not allow",
        ),
        ErrorRow::new(
            older(403, "notACalendarUser", "no"),
            400,
            "capability_not_supported",
            "has no Google Calendar",
        ),
        // Limits, by their reason: until the limit's next minute, for an hour, or for as long as Google says.
        ErrorRow::new(older(403, "rateLimitExceeded", "no"), 429, "provider_rate_limited", limit)
            .waiting(1..=60),
        ErrorRow::new(older(403, "userRateLimitExceeded", "no"), 429, "provider_rate_limited", limit)
            .waiting(1..=60),
        ErrorRow::new(
            newer(429, "RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED"),
            429,
            "provider_rate_limited",
            limit,
        )
        .waiting(1..=60),
        ErrorRow::new(older(403, "dailyLimitExceeded", "no"), 429, "provider_rate_limited", limit)
            .waiting(3_600..=3_600),
        ErrorRow {
            retry_after: Some("7"),
            ..ErrorRow::new(older(429, "rateLimitExceeded", "no"), 429, "provider_rate_limited", limit)
                .waiting(7..=7)
        },
        ErrorRow::new(
            older(403, "quotaExceeded", "Calendar usage limits exceeded."),
            429,
            "provider_rate_limited",
            limit,
        ),
        // Google has another version.
        ErrorRow::new(older(412, "conditionNotMet", "no"), 409, "stale_etag", ""),
        ErrorRow::new(
            older(400, "invalid", "Invalid sequence value. The specified sequence number is below"),
            409,
            "stale_etag",
            "",
        ),
        // The content.
        ErrorRow::new(older(413, "uploadTooLarge", "no"), 400, "provider_rejected", "too large"),
        ErrorRow::new(older(400, "timeRangeEmpty", "no"), 400, "provider_rejected", "rejected"),
        // Nothing that the client could change.
        ErrorRow::new(older(500, "backendError", "no"), 503, "provider_unavailable", "failed"),
        ErrorRow::new(older(503, "backendError", "no"), 503, "provider_unavailable", "failed"),
        ErrorRow::new(older(504, "backendError", "no"), 504, "provider_timeout", "took too long"),
    ]
}

/// A front end of Google's answers HTML, with any status.
const FRONT_ENDS: [(u16, u16, &str); 6] = [
    (400, 400, "provider_rejected"),
    (403, 400, "provider_rejected"),
    (413, 400, "provider_rejected"),
    (429, 429, "provider_rate_limited"),
    (502, 503, "provider_unavailable"),
    (504, 504, "provider_timeout"),
];

/// Changes an event of Alice's: Google is asked once.
async fn rename(world: &World, calendar: &FollowedCalendar, path: &str, title: &str) -> harness::Exchange {
    world.fake.clear_requests();
    let answer = world.api.patch(path, json!({ "title": title })).send().await;
    assert!(!world.fake.requests().is_empty(), "Google was asked about {}", calendar.id);
    answer
}

/// Each refusal is one error of the API, which names the provider and says what to do, and leaves the account as it was.
#[tokio::test]
async fn each_refusal_is_one_error_with_its_remedy() {
    let Some(world) = World::start().await else { return };
    world.put(event("review", "Review", "2026-03-03T09:00:00Z", json!({})));
    let calendar = world.primary().await;
    let path = calendar.path(&world.titled(&calendar, "Review").await);
    for (number, row) in rows().into_iter().enumerate() {
        let shown = format!("{} {}", row.google_status(), row.answer);
        let headers = row.retry_after.map(|wait| ("retry-after".to_owned(), wait.to_owned()));
        let what = What::Status {
            status: row.google_status(),
            headers: BTreeMap::from_iter(headers),
            body: row.answer.clone(),
        };
        world.fake.fault(Fault::new("/events/review", what).method("PATCH"));
        let answer = rename(&world, &calendar, &path, "Refused").await;
        let wait = answer.header("retry-after").and_then(|seconds| seconds.parse::<u64>().ok());
        let error = answer.refused(row.status, row.code);
        let message = text(&error["message"]);
        assert!(message.contains(row.says), "{shown}: {message}");
        assert!(message.len() < 200 && !message.contains('{'), "{shown}: {message}");
        if let Some(expected) = &row.wait_s {
            assert!(wait.is_some_and(|wait| expected.contains(&wait)), "{shown}: {wait:?}");
        }
        match row.code {
            // The caller continues from the current version.
            "stale_etag" => assert!(error["current_etag"].is_string(), "{shown}: {error:#}"),
            _ => {
                assert_eq!(error["provider"]["name"], "google", "{shown}: {error:#}");
                assert_eq!(error["provider"]["status"], row.google_status(), "{shown}: {error:#}");
            }
        }
        world.advance(WAIT_MS);
        rename(&world, &calendar, &path, &format!("Round {number}")).await.expect(200);
    }
    let connection = world.api.all("/v1/connections").await;
    assert_eq!((connection.len(), &connection[0]["status"]), (1, &json!("active")));
    world.assert_allowed();
}

/// An answer of a front end has no reason: its status counts, and a page of HTML with status 200, or half of an answer, is no success.
#[tokio::test]
async fn an_answer_of_a_front_end_counts_by_its_status() {
    let Some(world) = World::start().await else { return };
    world.put(event("review", "Review", "2026-03-03T09:00:00Z", json!({})));
    let calendar = world.primary().await;
    let path = calendar.path(&world.titled(&calendar, "Review").await);
    let fail = |what: What| world.fake.fault(Fault::new("/events/review", what).method("PATCH"));
    for (number, (status, expected, code)) in FRONT_ENDS.into_iter().enumerate() {
        let body = json!(format!("<!DOCTYPE html><title>Error {status}</title>"));
        fail(What::Status { status, headers: BTreeMap::new(), body });
        rename(&world, &calendar, &path, "Refused").await.refused(expected, code);
        world.advance(WAIT_MS);
        rename(&world, &calendar, &path, &format!("Round {number}")).await.expect(200);
    }
    for what in [What::Html, What::Cut] {
        fail(what.clone());
        let answer = rename(&world, &calendar, &path, "Refused").await;
        assert!(answer.status >= 500, "{what:?}: {answer}");
        world.advance(WAIT_MS);
    }
    assert_eq!(world.theirs("review")["summary"], format!("Round {}", FRONT_ENDS.len() - 1));
    world.assert_allowed();
}

/// An event that is deleted at Google is not found here, and its deletion succeeds.
#[tokio::test]
async fn what_is_gone_is_not_found_and_may_be_deleted() {
    let Some(world) = World::start().await else { return };
    for (id, title) in [("first", "First"), ("second", "Second")] {
        world.put(event(id, title, "2026-03-03T09:00:00Z", json!({})));
    }
    let calendar = world.primary().await;
    let first = calendar.path(&world.titled(&calendar, "First").await);
    let second = calendar.path(&world.titled(&calendar, "Second").await);
    world.fake.with(|state| {
        for id in ["first", "second"] {
            state.change_event(ALICE, id, json!({ "status": "cancelled" }));
        }
    });
    // Google answers 410 to the deletion, and 200 with `cancelled` to a read.
    world.api.delete(&first).send().await.expect(204);
    world.server.clock.advance_ms(1);
    let read = world.api.get(&second).header("cache-control", "no-cache").send().await;
    read.refused(404, "not_found");
    assert_eq!(world.march(&calendar).await, Vec::<String>::new());
    world.assert_allowed();
}

/// A surface that the account does not have is left out, and the others work: Gmail that is switched off, and an account without Calendar.
#[tokio::test]
async fn an_account_without_a_service_is_connected_without_it() {
    let Some(world) = World::start().await else { return };
    for (trap, has, lacks) in
        [("mail_not_enabled", "calendar", "email"), ("not_a_calendar_user", "email", "calendar")]
    {
        world.fake.trap(trap, u32::MAX);
        let connection = world.authorize(&["calendar.read", "email.read"]).await;
        assert_eq!(connection["status"], "active", "{trap}: {connection:#}");
        let surfaces = connection["surfaces"].as_array().expect("surfaces");
        assert!(
            surfaces.contains(&json!(has)) && !surfaces.contains(&json!(lacks)),
            "{trap}: {connection:#}"
        );
        world.fake.trap(trap, 0);
        let id = text(&connection["id"]);
        world.api.delete(format!("/v1/connections/{id}")).send().await.expect(204);
    }
    world.assert_allowed();
}

/// Gmail that is switched off after the account was connected: a change says that the account has none, and the account stays as it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mail_that_is_switched_off_says_so() {
    let account = MailAccount::followed(|state| {
        state.deliver(ALICE, letter("Lunch", "").as_bytes());
    });
    let Some(account) = account.await else { return };
    let id = text(&account.titled("Lunch").await["id"]);
    account.world.fake.trap("mail_not_enabled", u32::MAX);
    let change = json!({ "unread": false });
    let answer = account.world.api.patch(format!("/v1/email/messages/{id}"), change.clone()).send().await;
    let error = answer.refused(400, "capability_not_supported");
    assert!(text(&error["message"]).contains("this account has no Gmail"), "{error:#}");
    account.world.fake.trap("mail_not_enabled", 0);
    account.world.api.patch(format!("/v1/email/messages/{id}"), change).send().await.expect(200);
    account.assert_sound().await;
}
