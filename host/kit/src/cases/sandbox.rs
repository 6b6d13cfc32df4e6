//! What holds whatever the provider does.

use model::wire::ChangesRequest;
use runtime::{Code, Surface, Verb};
use serde_json::json;

use crate::bench::{Bench, Outcome, Verdict, ensure, failed, must, told};
use crate::line::Fault;

pub async fn unknown_operation(bench: &mut Bench) -> Outcome {
    let surfaces: Vec<Surface> =
        bench.surfaces.iter().copied().filter(|s| *s != Surface::Lifecycle).collect();
    if surfaces.is_empty() {
        return Err(Verdict::NotApplicable("lifecycle has one operation".to_owned()));
    }
    for surface in surfaces {
        for verb in surface.verbs().iter().copied() {
            let of = (surface, verb, "swkit.unknown");
            let seen = match bench.calls.raw(of, &json!({}), None, Some("kit-S1")).await {
                Err(error) if error.code == Code::Unsupported => continue,
                Err(error) => told(&error),
                Ok(_) => "an answer".to_owned(),
            };
            return failed(
                format!("{surface}.{verb} of an operation of a newer host gives {seen}"),
                "an operation that the connector does not know is failure unsupported",
            );
        }
    }
    Ok(())
}

/// One walk through everything that has been asked so far, and a look at all that came out of the connector meanwhile.
pub async fn secrets(bench: &mut Bench) -> Outcome {
    const HELP: &str = "the host adds credentials by itself; keep what the provider's answers hold of keys out of URLs, bodies, answers and the log";
    bench.line.take_exchanges();
    bench.calls.outputs.clear();
    if bench.surfaces.contains(&Surface::Lifecycle) {
        let _ = bench.calls.check().await;
    }
    let list = bench.filled("S5", 1).await?;
    bench.tasks(&list, 0, None).await?;
    let (exchanges, logged) = (bench.line.take_exchanges(), bench.log.take());
    for secret in &bench.secrets {
        let shows = |text: &str| text.contains(secret.as_str());
        for exchange in &exchanges {
            ensure(
                !shows(&exchange.url),
                || format!("a secret stands in a URL: {} …", exchange.method),
                HELP,
            )?;
            let in_header = exchange.headers.iter().find(|(_, value)| shows(value));
            ensure(
                in_header.is_none(),
                || "a secret stands in a header of the connector's own".to_owned(),
                HELP,
            )?;
            let in_body = shows(&String::from_utf8_lossy(&exchange.body));
            ensure(!in_body, || "a secret stands in the body of a request".to_owned(), HELP)?;
        }
        let out = bench.calls.outputs.iter().chain(&logged).any(|text| shows(text));
        ensure(!out, || "a secret stands in an answer, in an error or in the log".to_owned(), HELP)?;
    }
    Ok(())
}

pub async fn unknown_argument(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    let args = json!({ "collection": list, "limit": 1, "swkitUnknown": { "of": "a newer host" } });
    let of = (Surface::Tasks, Verb::Changes, "tasks");
    match bench.calls.raw(of, &args, None, None).await {
        Ok(_) => Ok(()),
        Err(error) => failed(
            format!("an argument of a newer host gives {}", told(&error)),
            "ignore arguments that the connector does not know: hosts add some, and older connectors go on working",
        ),
    }
}

/// Tasks of the largest page that a host asks for.
const PAGE: usize = 200;

pub async fn budgets(bench: &mut Bench) -> Outcome {
    const HELP: &str = "a page of 200 takes a quarter of the processor time and half of the memory at most: real ones are larger, and machines slower";
    let list = bench.filled("S3", PAGE).await?;
    let limit = u32::try_from(PAGE).unwrap_or(u32::MAX);
    let args = ChangesRequest { collection: Some(list), limit, ..ChangesRequest::default() };
    must(bench.calls.page((Surface::Tasks, Verb::Changes, "tasks"), &args, None).await, "a page of 200")?;
    let stats = bench.calls.last.clone().unwrap_or_default();
    let (cpu_ms, memory_mib) = (stats.cpu_us / 1_000, stats.peak_memory >> 20);
    let (most_cpu, most_memory) = (bench.cpu_ms / 4, bench.memory_mib / 2);
    ensure(
        cpu_ms <= most_cpu,
        || format!("a page of {PAGE} tasks takes {cpu_ms} ms of processor time, a quarter is {most_cpu} ms"),
        HELP,
    )?;
    ensure(
        memory_mib <= most_memory,
        || format!("a page of {PAGE} tasks takes {memory_mib} MiB, half is {most_memory} MiB"),
        HELP,
    )
}

/// What is in an account is nobody's who reads a log.
pub async fn quiet_log(bench: &mut Bench) -> Outcome {
    const TITLE: &str = "swkit-S6-private";
    let list = bench.list().await?;
    bench.log.take();
    let account = match bench.surfaces.contains(&Surface::Lifecycle) {
        true => bench.calls.check().await.ok(),
        false => None,
    };
    bench.create(&list, TITLE, "kit-S6").await?;
    bench.tasks(&list, 0, None).await?;
    let email = account.and_then(|account| account.email).unwrap_or_else(|| "no address".to_owned());
    let lines = bench.log.take();
    let found = lines.iter().find(|line| line.contains(TITLE) || line.contains(&email));
    ensure(
        found.is_none(),
        || "a title or an address of the account stands in the log".to_owned(),
        "log what happened and how often, by ids: logs go where the content of accounts must not go",
    )
}

pub async fn messages(bench: &mut Bench) -> Outcome {
    const HELP: &str = "a message is one sentence for users, without a full stop and without the provider's own text: say what failed";
    const OF_PROVIDER: &str = "swkit stack trace";
    let list = bench.list().await?;
    let args = ChangesRequest { collection: Some(list), ..ChangesRequest::default() };
    for status in [400, 403, 409, 500] {
        bench.line.spoil_all(Fault::Answer(status, Vec::new(), "{\"error\":\"swkit stack trace at 0x1\"}"));
        let page = bench.calls.page((Surface::Tasks, Verb::Changes, "tasks"), &args, None).await;
        bench.line.mend();
        let Err(error) = page else { continue };
        let message = &error.message;
        ensure(
            !message.contains(OF_PROVIDER),
            || format!("the message of a {status} holds the provider's own text: {message}"),
            HELP,
        )?;
        ensure(
            !message.trim_end().ends_with('.') && !message.contains('\n') && !message.trim().is_empty(),
            || format!("the message of a {status} is \"{message}\""),
            HELP,
        )?;
    }
    Ok(())
}
