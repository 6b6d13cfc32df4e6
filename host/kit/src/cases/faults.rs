//! A provider that fails.

use model::wire::ChangesRequest;
use runtime::{Code, Error, Surface, Verb};

use crate::bench::{Bench, Outcome, Verdict, ensure, failed, told};
use crate::caller::Page;
use crate::line::Fault;

impl Bench {
    /// One page of changes while every request gets this fault; with a second fault, the clock does not matter.
    async fn page_under(&mut self, fault: Fault) -> Outcome<Result<Page, Error>> {
        let list = self.list().await?;
        let args = ChangesRequest { collection: Some(list), ..ChangesRequest::default() };
        self.line.take_exchanges();
        self.line.spoil_all(fault);
        let page = self.calls.page((Surface::Tasks, Verb::Changes, "tasks"), &args, None).await;
        self.line.mend();
        match self.line.take_exchanges().is_empty() {
            true => {
                Err(Verdict::NotApplicable("changes of tasks asks the provider nothing by HTTP".to_owned()))
            }
            false => Ok(page),
        }
    }
}

pub async fn rate_limited(bench: &mut Bench) -> Outcome {
    const HELP: &str = "a 429 is failure rate-limited with retryAfterMs, from Retry-After in seconds or as a date (RFC 9110, section 10.2.3); Context::send_ok makes it so";
    let date = jiff::Timestamp::from_millisecond(bench.now_ms() + 30_000).ok();
    let date =
        date.and_then(|at| jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&at).ok());
    for value in ["30".to_owned(), date.unwrap_or_default()] {
        let fault = Fault::Answer(429, vec![("retry-after", value.clone())], "{}");
        let Err(error) = bench.page_under(fault).await? else {
            return failed("a page comes although the provider answered every request with 429", HELP);
        };
        ensure(error.code == Code::RateLimited, || format!("a 429 becomes {}", told(&error)), HELP)?;
        let wait = error.retry_after_ms;
        ensure(
            wait.is_some_and(|ms| (29_000..=31_000).contains(&ms)),
            || format!("Retry-After: {value} is 30 seconds from now, and the failure says {wait:?} ms"),
            HELP,
        )?;
    }
    Ok(())
}

pub async fn malformed(bench: &mut Bench) -> Outcome {
    const HELP: &str = "read bodies with Response::json, which makes failure unavailable of what cannot be read; never unwrap an answer";
    for body in ["{\"items\": [", "<html>", "[]", "null"] {
        let fault = Fault::Answer(200, vec![("content-type", "application/json".to_owned())], body);
        match bench.page_under(fault).await? {
            Err(error) if error.code == Code::Unavailable => {}
            Err(error) => return failed(format!("the answer {body} becomes {}", told(&error)), HELP),
            Ok(page) => {
                let count = page.sources.sources.len();
                return failed(format!("the answer {body} is taken for a page of {count} sources"), HELP);
            }
        }
    }
    Ok(())
}
