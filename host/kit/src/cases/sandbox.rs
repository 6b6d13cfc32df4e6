//! Promises that hold whatever the provider does.

use model::wire::ChangesRequest;
use runtime::{Code, Surface, Verb};
use serde_json::json;

use crate::bench::{Bench, Outcome, Verdict, describe_error, ensure, failed, must};
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
                Err(error) => describe_error(&error),
                Ok(_) => "an answer".to_owned(),
            };
            return failed(
                format!("{surface}.{verb} of an unknown operation gives {seen}"),
                "an unknown operation is failure unsupported",
            );
        }
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
            format!("a call with an unknown argument fails with {}", describe_error(&error)),
            "ignore unknown arguments: newer hosts send more, and older connectors must go on working",
        ),
    }
}

/// Tasks of the largest page that a host asks for.
const PAGE: usize = 200;

pub async fn budgets(bench: &mut Bench) -> Outcome {
    const HELP: &str = "a page of 200 takes at most a quarter of the processor time and half of the memory: real pages are larger, and machines slower";
    let list = bench.filled("S3", PAGE).await?;
    let limit = u32::try_from(PAGE).unwrap_or(u32::MAX);
    let args = ChangesRequest { collection: Some(list), limit, ..ChangesRequest::default() };
    must(bench.calls.page((Surface::Tasks, Verb::Changes, "tasks"), &args, None).await, "a page of 200")?;
    let stats = bench.calls.last.clone().unwrap_or_default();
    let (cpu_ms, memory_mib) = (stats.cpu_us / 1_000, stats.peak_memory >> 20);
    let (most_cpu, most_memory) = (bench.cpu_ms / 4, bench.memory_mib / 2);
    ensure(
        cpu_ms <= most_cpu,
        || {
            format!(
                "a page of {PAGE} tasks takes {cpu_ms} ms of processor time; a quarter of the budget is {most_cpu} ms"
            )
        },
        HELP,
    )?;
    ensure(
        memory_mib <= most_memory,
        || format!("a page of {PAGE} tasks takes {memory_mib} MiB; half of the budget is {most_memory} MiB"),
        HELP,
    )
}

pub async fn messages(bench: &mut Bench) -> Outcome {
    const HELP: &str = "a message is one sentence for users: what failed, without a full stop and without the provider's own text";
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
            || format!("the message after a {status} contains the provider's own text: {message}"),
            HELP,
        )?;
        ensure(
            !message.trim_end().ends_with('.') && !message.contains('\n') && !message.trim().is_empty(),
            || format!("the message after a {status} is \"{message}\""),
            HELP,
        )?;
    }
    Ok(())
}
