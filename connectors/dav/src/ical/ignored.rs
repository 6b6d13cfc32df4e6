//! The warnings for components of a resource that do not count: see `select`.

use model::wire::Warning;

use crate::ical::select::{Exception, Selection};

/// Most changed instances of one resource that are named one by one.
const MAX_NAMED: usize = 10;

/// Returns the warnings of the series or the single item, a `noun`: for its copies, and for components of other UIDs.
pub fn for_main(copies: usize, foreign: usize, noun: &str) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if copies > 0 {
        let message = format!(
            "the provider has this {noun} {} times; the newest version is shown, and a change of it removes the others",
            copies + 1
        );
        warnings.push(warning(&format!("duplicate_{noun}"), message, "iCalUid"));
    }
    if foreign > 0 {
        let message = format!(
            "the provider keeps {noun}s of other UIDs in the same object ({foreign}); they are not shown, and deleting this {noun} deletes them too"
        );
        warnings.push(warning("other_uid_ignored", message, "iCalUid"));
    }
    warnings
}

/// Returns the warnings for changed instances that cannot be read, where the others are shown.
pub fn for_unreadable(selection: &Selection) -> Vec<Warning> {
    let unreadable = selection.exceptions.iter().filter(|exception| exception.at.is_none());
    let ids: Vec<&str> = unreadable.map(|exception| exception.recurrence_id.as_str()).collect();
    let message = "the provider has a change of this instance that cannot be read; it is left out";
    let one = |id: &&str| warning("unreadable_instance", message.into(), id);
    let mut warnings: Vec<Warning> = ids.iter().take(MAX_NAMED).map(one).collect();
    let others = ids.len().saturating_sub(MAX_NAMED) + selection.unknown.len();
    if others > 0 {
        let message = format!(
            "the provider has changes of instances that cannot be read, beside those that are named ({others}); they are left out"
        );
        warnings.push(warning("unreadable_instance", message, "recurrence"));
    }
    warnings
}

/// Returns the warnings of a changed instance.
pub fn for_exception(exception: &Exception) -> Vec<Warning> {
    let id = exception.recurrence_id.as_str();
    let copies = match exception.is_ranged {
        true => exception.ranged.len(),
        false => exception.superseded.len(),
    };
    let mut warnings = Vec::new();
    if copies > 0 {
        let message = format!(
            "the provider has {} changes of this instance; the newest is shown, and a change of it removes the others",
            copies + 1
        );
        warnings.push(warning("duplicate_instance", message, id));
    }
    if !exception.is_ranged && !exception.ranged.is_empty() {
        let message = "a change of this instance is meant for all later ones too; they are shown without it";
        warnings.push(warning("recurrence_not_expanded", message.into(), id));
    }
    warnings
}

fn warning(code: &str, message: String, target: &str) -> Warning {
    Warning { code: code.into(), message, target: Some(target.into()) }
}
