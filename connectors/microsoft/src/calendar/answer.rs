//! Answers of writes.

use connector_sdk::{Failure, Outcome};
use model::wire::{Mutated, Warning};
use serde_json::json;

use crate::calendar::info::MailboxInfo;
use crate::calendar::native;
use crate::calendar::record::{event_source, instance_source};

/// Returns the answer of a write: the single event or the series as it is now.
pub fn answer_of(event: &native::Event, mailbox: &MailboxInfo, warnings: Vec<Warning>) -> Outcome<Mutated> {
    let source = event_source(event, mailbox)?;
    Ok(Mutated { item: Some(event.id.clone()), sources: vec![source], warnings, ..Mutated::default() })
}

/// Returns the answer of a write to one instance: its series as it is now.
pub fn answer_of_instance(
    series: &native::Event,
    instance: &native::Event,
    mailbox: &MailboxInfo,
    warnings: Vec<Warning>,
) -> Outcome<Mutated> {
    let (source, item) = instance_source(series, instance, mailbox)?;
    Ok(Mutated { item: Some(item), sources: vec![source], warnings, ..Mutated::default() })
}

/// Returns the warning that a series has lost a changed instance.
pub fn dropped_warning(recurrence_id: &str) -> Warning {
    Warning {
        code: "exception_dropped".to_owned(),
        message: "this changed instance is gone: Outlook drops them where the start or the rule of a series changes"
            .to_owned(),
        target: Some(recurrence_id.to_owned()),
    }
}

/// The failure of an operation on the instances from one on that Graph has no form of.
pub fn following_unsupported(doing: &str) -> Failure {
    Failure::unsupported(doing).with_detail(json!({ "field": "recurrenceScope" }))
}
