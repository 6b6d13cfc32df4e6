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
    for body in ["", "{\"items\": [", "<html>", "[]", "null"] {
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

pub async fn refused(bench: &mut Bench) -> Outcome {
    const HELP: &str = "a 401 that stays after the host has renewed the credential is failure auth-expired";
    match bench.page_under(Fault::Answer(401, Vec::new(), "{}")).await? {
        Err(error) if error.code == Code::AuthExpired => Ok(()),
        Err(error) => failed(format!("a 401 becomes {}", told(&error)), HELP),
        Ok(_) => failed("a page comes although the provider answered every request with 401", HELP),
    }
}

pub async fn overloaded(bench: &mut Bench) -> Outcome {
    const HELP: &str =
        "a 503 is failure unavailable, with retryAfterMs from Retry-After; Context::send_ok makes it so";
    let fault = Fault::Answer(503, vec![("retry-after", "30".to_owned())], "{}");
    let Err(error) = bench.page_under(fault).await? else {
        return failed("a page comes although the provider answered every request with 503", HELP);
    };
    ensure(error.code == Code::Unavailable, || format!("a 503 becomes {}", told(&error)), HELP)?;
    let wait = error.retry_after_ms;
    ensure(
        wait.is_some_and(|ms| (29_000..=31_000).contains(&ms)),
        || format!("Retry-After: 30 is 30 seconds, and the failure says {wait:?} ms"),
        HELP,
    )
}

pub async fn broken(bench: &mut Bench) -> Outcome {
    const HELP: &str = "an error of the provider's own is failure unavailable: the host asks again later, and nothing that was read is lost";
    for status in [500, 502] {
        match bench.page_under(Fault::Answer(status, Vec::new(), "oops")).await? {
            Err(error) if error.code == Code::Unavailable => {}
            Err(error) => return failed(format!("a {status} becomes {}", told(&error)), HELP),
            Ok(_) => return failed(format!("a page comes although the provider answered {status}"), HELP),
        }
    }
    Ok(())
}

/// A fault of the line: what comes of it must be something that a later try can mend.
async fn transient(bench: &mut Bench, fault: Fault, what: &str, help: &'static str) -> Outcome {
    match bench.page_under(fault).await? {
        Err(error) if error.is_transient() => {}
        Err(error) => return failed(format!("{what} becomes {}", told(&error)), help),
        Ok(page) => {
            let count = page.sources.sources.len();
            return failed(format!("{what} is taken for a page of {count} sources"), help);
        }
    }
    let list = bench.list().await?;
    bench.tasks(&list, 0, None).await.map(drop)
}

pub async fn slow(bench: &mut Bench) -> Outcome {
    transient(bench, Fault::Slow, "an answer that does not come", "failure timeout, as Context::send has it")
        .await
}

pub async fn cut(bench: &mut Bench) -> Outcome {
    const HELP: &str =
        "a body that breaks off is no answer: hand the error of Context::send on, and use nothing of it";
    let list = bench.filled("F7", 2).await?;
    bench.tasks(&list, 0, None).await?;
    transient(bench, Fault::Cut, "an answer that breaks off", HELP).await
}

pub async fn unreachable(bench: &mut Bench) -> Outcome {
    const HELP: &str = "a provider that cannot be reached is failure unavailable; Context::send makes it so";
    transient(bench, Fault::DropBefore, "a connection that is reset", HELP).await
}

pub async fn redirected(bench: &mut Bench) -> Outcome {
    const HELP: &str = "a redirect to elsewhere is not followed, and is no answer: failure unavailable";
    const ELSEWHERE: &str = "https://swkit-elsewhere.test/items";
    let list = bench.list().await?;
    let args = ChangesRequest { collection: Some(list), ..ChangesRequest::default() };
    bench.line.take_exchanges();
    bench.line.spoil_all(Fault::Answer(302, vec![("location", ELSEWHERE.to_owned())], ""));
    let page = bench.calls.page((Surface::Tasks, Verb::Changes, "tasks"), &args, None).await;
    bench.line.mend();
    let exchanges = bench.line.take_exchanges();
    if exchanges.is_empty() {
        return Err(Verdict::NotApplicable("changes of tasks asks the provider nothing by HTTP".to_owned()));
    }
    let followed = exchanges.iter().any(|exchange| exchange.url.starts_with("https://swkit-elsewhere"));
    ensure(!followed, || "a redirect to another host is followed".to_owned(), HELP)?;
    match page {
        Err(error) if error.is_transient() => Ok(()),
        Err(error) => failed(format!("a redirect becomes {}", told(&error)), HELP),
        Ok(page) => {
            failed(format!("a redirect is taken for a page of {} sources", page.sources.sources.len()), HELP)
        }
    }
}
