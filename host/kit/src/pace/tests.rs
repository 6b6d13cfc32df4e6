//! Tests of the pace, with a slow provider and one that asks to wait.

use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use http::HeaderValue;

use super::*;

/// Short enough for a test that really waits, in the proportions of a real run.
const SMALL: PaceLimits = PaceLimits {
    least_answer: Duration::from_millis(40),
    most_answer: Duration::from_millis(2_000),
    least_wait: Duration::from_millis(5),
    most_wait: Duration::from_millis(60),
};

/// A slow provider that answers its first requests with 429.
struct Provider {
    takes: Duration,
    limited: u32,
    asked: AtomicU32,
}

impl Provider {
    fn new(takes_ms: u64, limited: u32) -> Self {
        Provider { takes: Duration::from_millis(takes_ms), limited, asked: AtomicU32::new(0) }
    }

    fn request_count(&self) -> u32 {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Network for Provider {
    async fn send(&self) -> Result<Response<CarriedBody>, TransportError> {
        tokio::time::sleep(self.takes).await;
        let mut answer = Response::new(CarriedBody::whole("{}"));
        if self.asked.fetch_add(1, Ordering::SeqCst) < self.limited {
            *answer.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("0"));
        }
        Ok(answer)
    }
}

#[tokio::test]
async fn an_answer_may_take_ten_times_as_long_as_the_slowest_one() {
    let pace = Pace::of_server(SMALL, false);
    assert_eq!(pace.answer_limit(), SMALL.most_answer, "nothing is known before the first answer");
    // Longer than the shortest limit: the first answer counts.
    pace.send(&Provider::new(60, 0)).await.unwrap();
    let limit = pace.answer_limit();
    assert!(limit >= Duration::from_millis(600) && limit <= SMALL.most_answer, "{limit:?}");
    assert_eq!(pace.silence(), limit, "an injected silence lasts as long as a real one");
    pace.send(&Provider::new(1, 0)).await.unwrap();
    assert!(pace.answer_limit() >= limit, "a quick answer does not make it shorter");
    assert_eq!(pace.trouble(), None);
    assert!(pace.call_limit_ms() > in_ms(limit) && pace.call_limit_ms() <= pace.longest_ms().1);
}

#[tokio::test]
async fn a_provider_that_is_silent_without_a_fault_is_the_trouble_of_its_case() {
    let pace = Pace::of_server(SMALL, false);
    pace.send(&Provider::new(0, 0)).await.unwrap();
    let silent = Provider::new(60_000, 0);
    let error = pace.send(&silent).await.unwrap_err();
    assert!(error.is_late() && silent.request_count() == 0);
    assert_eq!(pace.trouble(), Some(ProviderTrouble::Late));
    pace.begin_case();
    assert_eq!(pace.trouble(), None);
}

#[tokio::test]
async fn a_provider_that_asks_to_wait_is_waited_for() {
    let pace = Pace::of_server(SMALL, false);
    let provider = Provider::new(0, 2);
    let answer = pace.send(&provider).await.unwrap();
    assert_eq!((answer.status(), provider.request_count()), (StatusCode::OK, 3));
    let notice = pace.notice().await.unwrap();
    assert!(notice.starts_with("the provider limits requests (429): waiting 5 ms"), "{notice}");
    assert_eq!(pace.notes(), ["the provider limits requests: waited 2 times, 10 ms in all"]);
    assert_eq!(pace.trouble(), None);
}

#[tokio::test]
async fn the_waits_of_a_run_are_bounded_in_all() {
    let pace = Pace::of_server(SMALL, false);
    let provider = Provider::new(0, u32::MAX);
    for _ in 0..3 {
        let answer = pace.send(&provider).await.unwrap();
        assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
    }
    // 60 ms are 12 waits of 5 ms; the answer that ends each of the three calls has no wait.
    assert_eq!(provider.request_count(), 12 + 3);
    assert_eq!(pace.trouble(), Some(ProviderTrouble::Limiting));
    let notes = pace.notes();
    assert!(
        notes[0].contains("waited 12 times") && notes[1].contains("longer than a run waits"),
        "{notes:?}"
    );
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let wait = |status: u16, headers: &[(&'static str, &'static str)]| {
        let mut answer = Response::new(CarriedBody::default());
        *answer.status_mut() = StatusCode::from_u16(status).unwrap();
        for (name, value) in headers {
            answer.headers_mut().insert(*name, HeaderValue::from_static(value));
        }
        asked_wait(&answer, 1).map(in_ms)
    };
    let date = ("date", "Thu, 01 Jan 2026 00:00:00 GMT");
    assert_eq!(wait(429, &[("retry-after", "30")]), Some(30_000));
    assert_eq!(wait(503, &[("retry-after", "Thu, 01 Jan 2026 00:00:07 GMT"), date]), Some(7_000));
    assert_eq!(wait(503, &[("retry-after", "Wed, 31 Dec 2025 23:00:00 GMT"), date]), Some(0));
    assert_eq!(wait(429, &[]), Some(2_000));
    for (status, headers) in [
        (503, &[("retry-after", "soon"), date][..]),
        (503, &[("retry-after", "Thu, 01 Jan 2026 00:00:07 GMT")]),
        (503, &[]),
        (200, &[("retry-after", "30")]),
        (301, &[("retry-after", "30")]),
    ] {
        assert_eq!(wait(status, headers), None, "{status} {headers:?}");
    }
}

#[test]
fn a_run_without_a_server_has_no_pace() {
    let pace = Pace::none();
    assert_eq!((pace.answer_limit(), pace.silence()), (LEAST_SILENCE, LEAST_SILENCE));
    assert_eq!((pace.call_limit_ms(), pace.longest_ms()), (10_000, (10_000, 10_000)));
    assert_eq!(
        ["450 ms", "4.5 s", "10 min"],
        [450, 4_500, 600_000].map(|ms| format_duration(Duration::from_millis(ms)))
    );
}
