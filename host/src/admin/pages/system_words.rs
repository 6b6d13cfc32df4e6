//! Findings of checks in words, each with its remedy.

use std::path::Path;

use service::locale::html::Html;
use service::manage::checks::{CheckFinding, CheckStatus};

use crate::admin::parts::badge::{BadgeTone, badge};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::texts::{SystemTexts, fill};
use crate::admin::visit::Visit;

/// Characters of a cause that a sentence shows.
const MAX_CAUSE: usize = 500;

/// Adds a status.
pub fn add_status(visit: &Visit, status: CheckStatus, html: &mut Html) {
    let t = visit.texts.system;
    match status {
        CheckStatus::Ok => badge(html, BadgeTone::Good, PanelIcon::Check, t.ok),
        CheckStatus::Warn => badge(html, BadgeTone::Warn, PanelIcon::Alert, t.warn),
        CheckStatus::Fail => badge(html, BadgeTone::Bad, PanelIcon::Cross, t.fail),
    }
}

/// The sentence for the worst status of all checks.
pub fn status_sentence(t: &SystemTexts, status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Ok => t.all_good,
        CheckStatus::Warn => t.some_warn,
        CheckStatus::Fail => t.some_fail,
    }
}

/// The word for a check.
pub fn check_name(t: &SystemTexts, name: &'static str) -> &'static str {
    match name {
        "data_dir" => t.data_dir,
        "free_space" => t.free_space,
        "clock" => t.clock,
        "master_key" => t.master_key,
        "database_files" => t.database_files,
        "schema" => t.schema,
        "connectors" => t.connectors_check,
        "instances" => t.instances,
        "integrity" => t.integrity,
        other => other,
    }
}

/// A finding in words. `schema_version` is that of the database.
pub fn sentence(visit: &Visit, finding: &CheckFinding, schema_version: i64) -> String {
    let t = visit.texts.system;
    let dir = visit.app.config.data_dir.display().to_string();
    let with_dir = |text: &str| fill(text, &[("dir", &dir)]);
    let with_file = |text: &str, file: &Path| fill(text, &[("file", &file.display().to_string())]);
    let with_number = |text: &str, n: &dyn std::fmt::Display| fill(text, &[("n", &n.to_string())]);
    let with_cause = |text: &str, why: &str| {
        let why: String = why.chars().take(MAX_CAUSE).collect();
        fill(text, &[("dir", &dir), ("why", &why)])
    };
    match finding {
        CheckFinding::DirWritable => with_dir(t.dir_writable),
        CheckFinding::DirMissing => with_dir(t.dir_missing),
        CheckFinding::RestoreUnfinished => with_dir(t.restore_unfinished),
        CheckFinding::DirReadOnly(why) => with_cause(t.dir_read_only, why),
        CheckFinding::SpaceEnough(mib) => with_number(t.space_enough, mib),
        CheckFinding::SpaceLittle(mib) => with_number(t.space_little, mib),
        CheckFinding::SpaceNone(mib) => with_number(t.space_none, mib),
        CheckFinding::SpaceUnknown(why) => with_cause(t.space_unknown, why),
        CheckFinding::ClockPlausible => t.clock_plausible.to_owned(),
        CheckFinding::ClockUnset => t.clock_unset.to_owned(),
        CheckFinding::ClockWentBack => t.clock_went_back.to_owned(),
        CheckFinding::ClockDeviates(ms) => with_number(t.clock_deviates, ms),
        CheckFinding::KeyPrivate => t.key_private.to_owned(),
        CheckFinding::KeyMissing(file) => with_file(t.key_missing, file),
        CheckFinding::KeyExposed(file) => with_file(t.key_exposed, file),
        CheckFinding::FilesPrivate => t.files_private.to_owned(),
        CheckFinding::FilesExposed(files) => {
            let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            fill(t.files_exposed, &[("files", &names.join(" "))])
        }
        CheckFinding::SchemaCurrent => with_number(t.schema_current, &schema_version),
        CheckFinding::SchemaPending(missing) => with_number(t.schema_pending, missing),
        CheckFinding::DatabaseSound => t.database_sound.to_owned(),
        CheckFinding::DatabaseTrusted => t.database_trusted.to_owned(),
        CheckFinding::DatabaseDamaged(lines) => with_cause(t.database_damaged, &lines.join("; ")),
        CheckFinding::ConnectorsLoaded(loaded) => with_number(t.connectors_loaded, &loaded.len()),
        CheckFinding::ConnectorsMissing => t.connectors_missing.to_owned(),
        CheckFinding::ConnectorsBroken(problems) => with_number(t.connectors_broken, &problems.len()),
        CheckFinding::InstancesPooled => t.instances_pooled.to_owned(),
        CheckFinding::InstancesOnDemand => t.instances_on_demand.to_owned(),
    }
}
