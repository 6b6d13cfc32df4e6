//! Guests, and the notifications about an event.

use runtime::Code;
use serde_json::{Value, json};

use crate::bench::{Bench, Outcome, Verdict, describe_error, ensure, failed};
use crate::cases::calendar::events::EVENTS;
use crate::interceptor::is_read;
use crate::line::Exchange;
use crate::surface_bench::{Collection, ItemChange, merged, supported};

/// Parts of the URL of a request that makes a provider send mail.
const MAILING_URLS: [&str; 5] =
    ["sendupdates=all", "sendupdates=externalonly", "sendnotifications=true", "/sendmail", "/messages/send"];
/// Parts of the body of such a request: an iTIP message (RFC 5546), JMAP's sendSchedulingMessages and EmailSubmission/set (RFC 8621).
const MAILING_BODIES: [&str; 4] =
    ["method:request", "method:publish", "\"sendschedulingmessages\":true", "emailsubmission/set"];
/// The code of the warning that the provider notifies others than the caller named.
const NOT_SUPPORTED: &str = "notify_not_supported";

const HELP: &str = "pass notify on to the provider (sendUpdates, SCHEDULE-AGENT); where it always sends mail, answer with a warning notify_not_supported, and with strict: true with failure unsupported and detail.field notify";

/// The result of a creation with a guest.
struct Invitation {
    is_warned: bool,
    /// The requests that change something.
    writes: Vec<Exchange>,
}

/// The arguments of a creation with a guest.
fn invitation(calendar: &Collection, notify: &str) -> Value {
    let guests = json!({ "attendees": [{ "email": "swkit-guest@example.test", "name": "Kit Guest" }] });
    // The same title each time, so that requests can be compared.
    let fields = merged(&(EVENTS.body)(&EVENTS.label("K4")), &guests);
    let mut args = (EVENTS.write)(calendar, ItemChange::create(fields));
    args["notify"] = json!(notify);
    args
}

async fn invite(bench: &mut Bench, calendar: &Collection, notify: &str) -> Outcome<Invitation> {
    bench.line.take_exchanges();
    let args = invitation(calendar, notify);
    let key = EVENTS.key(&format!("K4-{notify}"));
    let made = bench.calls.mutate(EVENTS.surface, EVENTS.create_op, &args, &key).await;
    let made = supported(made, EVENTS.create_op)?;
    let exchanges = bench.line.take_exchanges().into_iter();
    Ok(Invitation {
        is_warned: made.warnings.iter().any(|warning| warning.code == NOT_SUPPORTED),
        writes: exchanges.filter(|exchange| !is_read(&exchange.method)).collect(),
    })
}

/// `K4`: with `notify: none` no request makes the provider send mail, or a warning says so.
pub async fn quiet(bench: &mut Bench) -> Outcome {
    let features = bench.features(&EVENTS).await?;
    bench.needs_feature(&EVENTS, "attendees").await?;
    let calendar = bench.collection(&EVENTS).await?;
    let quiet = invite(bench, &calendar, "none").await?;
    if quiet.is_warned {
        return strict(bench, &calendar).await;
    }
    if let Some(request) = quiet.writes.iter().find(|request| is_mailing(request)) {
        return failed(format!("with notify: none a request makes the provider send mail: {request}"), HELP);
    }
    if features["scheduling"] != true {
        return Ok(());
    }
    let loud = invite(bench, &calendar, "all").await?;
    let shapes = |invitation: &Invitation| invitation.writes.iter().map(shape).collect::<Vec<_>>();
    if loud.is_warned || shapes(&quiet) != shapes(&loud) {
        return Ok(());
    }
    Err(Verdict::NotApplicable(
        "the requests are the same with notify: none and notify: all: they do not show to whom the provider sends mail"
            .to_owned(),
    ))
}

/// With `strict`, a provider that cannot suppress mail gets no write request.
async fn strict(bench: &mut Bench, calendar: &Collection) -> Outcome {
    let mut args = invitation(calendar, "none");
    args["strict"] = json!(true);
    bench.line.take_exchanges();
    let made = bench.calls.mutate(EVENTS.surface, EVENTS.create_op, &args, &EVENTS.key("K4-strict")).await;
    let exchanges = bench.line.take_exchanges();
    let write = exchanges.iter().find(|exchange| !is_read(&exchange.method));
    match made {
        Err(error) if error.code == Code::Unsupported => ensure(
            write.is_none(),
            || "a strict creation is rejected after something was written".to_owned(),
            HELP,
        ),
        Err(error) => {
            failed(format!("a strict creation with notify: none fails: {}", describe_error(&error)), HELP)
        }
        Ok(_) => failed(
            "a strict creation with notify: none is accepted, and one that is not strict gets a warning",
            HELP,
        ),
    }
}

fn is_mailing(request: &Exchange) -> bool {
    let url = request.url.to_lowercase();
    let body = String::from_utf8_lossy(&request.body).to_lowercase().replace(' ', "");
    MAILING_URLS.iter().any(|mark| url.contains(mark))
        || MAILING_BODIES.iter().any(|mark| body.contains(mark))
}

/// Returns a request's shape without its ids, which differ: all letters and digits count as equal, their number does not matter.
fn shape(request: &Exchange) -> String {
    let mut headers: Vec<String> =
        request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    headers.sort();
    let body = String::from_utf8_lossy(&request.body);
    let whole = format!("{} {}\n{}\n{body}", request.method, request.url, headers.join("\n"));
    whole.chars().map(|c| if c.is_alphanumeric() { 'x' } else { c }).collect()
}
