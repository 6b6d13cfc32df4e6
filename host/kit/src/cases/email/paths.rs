//! Ids of messages and parts in the URLs of requests.

use model::wire::email::AttachmentRef;
use runtime::{Surface, Verb};
use serde_json::{Value, json};

use crate::bench::{Bench, Outcome, Verdict, failed};
use crate::cases::email::messages::MAIL;
use crate::cases::items::paths::{PLAIN, leads_elsewhere};
use crate::line::{Exchange, Fault};
use crate::mail_bench::reference;
use crate::surface_bench::{Collection, ItemChange};

/// Endings of ids that lead to other URLs unless they are escaped.
const ENDINGS: [&str; 3] = ["/../swkit-user", "/swkit-b?swkit-c=1&swkit-d=2#swkit-e", "?swkit-c=1&swkit-d=2"];

/// `email.S8`: ids of messages and parts cannot lead to other URLs. The ids are those of a message with another ending, so that a
/// connector that checks how they begin looks at the rest. No request of the operations reaches the provider.
pub async fn escaped_ids(bench: &mut Bench) -> Outcome {
    const HELP: &str = "escape each segment of a path and each value of a query; parts of an id too. `url` of the template does it";
    let folder = bench.collection(&MAIL).await?;
    let source = bench.create_named(&MAIL, &folder, "S8").await?;
    let mut is_tested = false;
    for operation in ["messages.get", "messages.raw", "attachments.get", "messages.update", "messages.delete"]
    {
        let plain = requests(bench, &folder, operation, &source.external_id, PLAIN).await;
        is_tested |= !plain.is_empty();
        for ending in ENDINGS {
            let led = requests(bench, &folder, operation, &source.external_id, ending).await;
            if let Some(request) = led.iter().find(|request| leads_elsewhere(request, ending, &plain)) {
                return failed(
                    format!("{operation} of an id that ends with \"{ending}\" leads to {request}"),
                    HELP,
                );
            }
        }
    }
    match is_tested {
        true => Ok(()),
        false => Err(Verdict::NotApplicable("the connector sends no HTTP requests for messages".to_owned())),
    }
}

/// Returns the connector's requests of an operation on a message of another id, while every answer is 404.
async fn requests(
    bench: &mut Bench,
    folder: &Collection,
    operation: &str,
    id: &str,
    ending: &str,
) -> Vec<Exchange> {
    let other = format!("{id}{ending}");
    bench.line.take_exchanges();
    bench.line.spoil_all(Fault::Answer(404, Vec::new(), "{}"));
    let key = MAIL.key("S8-led");
    match operation {
        "messages.get" => drop(bench.get_item(&MAIL, folder, &other).await),
        "messages.update" => {
            let change = ItemChange { source: Some(other), body: Value::Null, ..ItemChange::default() };
            drop(bench.try_write_item(&MAIL, folder, change, &key).await);
        }
        "messages.delete" => drop(bench.try_delete_item(&MAIL, folder, &other, &key).await),
        "attachments.get" => {
            // The message exists, and the part does not.
            let args = AttachmentRef { message: reference(id), part: format!("1{ending}") };
            drop(bench.calls.raw((Surface::Email, Verb::Fetch, operation), &args, None, None).await);
        }
        _ => {
            let args = json!(reference(&other));
            drop(bench.calls.raw((Surface::Email, Verb::Fetch, operation), &args, None, None).await);
        }
    }
    bench.line.mend();
    bench.line.take_exchanges()
}
