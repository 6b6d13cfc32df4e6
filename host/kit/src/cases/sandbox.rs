//! What holds whatever the provider does.

use runtime::{Code, Surface, Verb};
use serde_json::json;

use crate::bench::{Bench, Outcome, Verdict, ensure, failed, told};

pub async fn unknown_operation(bench: &mut Bench) -> Outcome {
    let surfaces: Vec<Surface> =
        bench.surfaces.iter().copied().filter(|s| *s != Surface::Lifecycle).collect();
    if surfaces.is_empty() {
        return Err(Verdict::NotApplicable("lifecycle has one operation".to_owned()));
    }
    for surface in surfaces {
        for verb in [Verb::Fetch, Verb::Mutate, Verb::Changes] {
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
    let exchanges = bench.line.take_exchanges();
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
        let out = bench.calls.outputs.iter().any(|text| shows(text));
        ensure(!out, || "a secret stands in an answer, in an error or in the log".to_owned(), HELP)?;
    }
    Ok(())
}
