//! `/system`: the installation at a glance: checks, hosts, database, jobs, connectors in trouble.

use std::collections::BTreeMap;

use base::error::Result;
use service::locale::html::Html;
use service::manage::health::{self, DatabaseHealth, HealthCheck, HostHealth, InstallationHealth};
use service::manage::job_lists::JobState;
use storage::job_admin::Count;

use crate::admin::pages::system_words::{add_status, check_name, sentence, status_sentence};
use crate::admin::parts::badge::{BadgeTone, badge};
use crate::admin::parts::facts::Facts;
use crate::admin::parts::head::{head, short_name};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::table::{RowTable, TableCell, id_cell, linked_name, name_cell};
use crate::admin::texts::fill;
use crate::admin::view::{MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

const BYTES_PER_MIB: i64 = 1 << 20;
/// Characters of a cause that the page shows.
const MAX_CAUSE: usize = 1_000;

/// The page.
pub async fn show(visit: &Visit) -> Result<View> {
    Ok(page(visit, None).await?.into())
}

/// Checks the database's integrity, and shows the result among the other checks.
pub async fn check_integrity(visit: &Visit) -> Result<View> {
    let checked = health::check_integrity(&visit.app).await?;
    Ok(page(visit, Some(checked)).await?.into())
}

async fn page(visit: &Visit, checked: Option<HealthCheck>) -> Result<PanelPage> {
    let t = visit.texts.system;
    let mut found = health::load(&visit.app).await?;
    let is_checked = checked.is_some();
    found.checks.extend(checked);
    let mut body = Html::default();
    head(&mut body, t.title, None);
    body.raw("<p>");
    add_status(visit, found.status(), &mut body);
    body.raw(" ").text(status_sentence(t, found.status())).raw("</p>\n");
    add_checks(visit, &found, is_checked, &mut body);
    add_trouble(visit, &found.connector_problems, &mut body);
    add_hosts(visit, &found.hosts, &mut body);
    add_database(visit, &found.database, &mut body);
    add_jobs(visit, &found.jobs, &mut body);
    Ok(PanelPage::new(t.title, Some(MenuEntry::System), body))
}

fn add_checks(visit: &Visit, found: &InstallationHealth, is_checked: bool, html: &mut Html) {
    let t = visit.texts.system;
    html.raw("<section class=\"stack\">").element("h2", t.checks);
    let mut facts = Facts::default();
    facts.id(t.version, found.version);
    facts.add_to(html);
    let mut table = RowTable::new(t.checks_caption, &[t.check, t.state, t.result]);
    for check in &found.checks {
        let mut heading = Html::default();
        heading.text(check_name(t, check.name));
        let mut state = Html::default();
        add_status(visit, check.finding.status(), &mut state);
        let text = sentence(visit, &check.finding, found.database.schema_version);
        table.row(&heading, vec![TableCell::State(state), name_cell(&text)]);
    }
    table.add_to(html);
    if !is_checked {
        html.raw("<p class=\"hint\">").text(t.check_integrity_text).raw("</p>\n");
        visit.button_form(html, "system/check-integrity", "plain", t.check_integrity);
    }
    html.raw("</section>\n");
}

/// Adds the connectors that could not be loaded. A cause may be the text of a manifest or a component.
fn add_trouble(visit: &Visit, problems: &BTreeMap<String, String>, html: &mut Html) {
    let t = visit.texts.system;
    if problems.is_empty() {
        return;
    }
    html.raw("<section class=\"stack\">").element("h2", t.trouble);
    let mut table = RowTable::new(t.trouble_caption, &[t.connector, t.cause]);
    for (name, cause) in problems {
        let mut heading = Html::default();
        heading.raw("<bdi>").text(&short_name(name)).raw("</bdi>");
        let cause: String = cause.chars().take(MAX_CAUSE).collect();
        table.row(&heading, vec![name_cell(&cause)]);
    }
    table.add_to(html);
    html.raw("</section>\n");
}

fn add_hosts(visit: &Visit, hosts: &[HostHealth], html: &mut Html) {
    let t = visit.texts.system;
    html.raw("<section class=\"stack\">").element("h2", t.hosts);
    if hosts.is_empty() {
        html.raw("<p class=\"soft\">").text(t.no_hosts).raw("</p></section>\n");
        return;
    }
    let mut table = RowTable::new(t.hosts_caption, &[t.host, t.state, t.version, t.started, t.lease]);
    for HostHealth { host, is_alive, is_own } in hosts {
        let mut heading = Html::default();
        heading.raw("<bdi>").text(&short_name(&host.name)).raw("</bdi>");
        if *is_own {
            heading.raw("<p>").text(t.this_host).raw("</p>");
        }
        let mut state = Html::default();
        match is_alive {
            true => badge(&mut state, BadgeTone::Good, PanelIcon::Dot, t.alive),
            false => badge(&mut state, BadgeTone::Bad, PanelIcon::Cross, t.gone),
        }
        let lease = match *is_own && !visit.app.db.is_shared() {
            true => t.no_lease.to_owned(),
            false => visit.time.exact(host.lease_until),
        };
        let cells = vec![
            TableCell::State(state),
            id_cell(&host.version),
            TableCell::Plain(visit.moment_or_never(Some(host.started_at))),
            name_cell(&lease),
        ];
        table.row(&heading, cells);
    }
    table.add_to(html);
    html.raw("</section>\n");
}

fn add_database(visit: &Visit, database: &DatabaseHealth, html: &mut Html) {
    let t = visit.texts.system;
    html.raw("<section class=\"stack\">").element("h2", t.database);
    let mut facts = Facts::default();
    let engine = match database.engine {
        "postgres" => t.postgres,
        _ => t.sqlite,
    };
    let mib = |bytes: i64| fill(t.mib, &[("n", &(bytes / BYTES_PER_MIB).to_string())]);
    let size = database.size_bytes.map_or_else(|| t.unknown.to_owned(), mib);
    facts.text(None, t.engine, engine).text(None, t.size, &size);
    facts.id(t.schema_version, &database.schema_version.to_string());
    facts.id(t.writes_waiting, &database.queued_writes.to_string());
    facts.id(t.write_retries, &database.write_retries.to_string());
    facts.add_to(html);
    let mut table = RowTable::new(t.pools_caption, &[t.pool, t.in_use, t.most, t.waiting]);
    for pool in &database.pools {
        let mut heading = Html::default();
        heading.raw("<span class=\"id\" dir=\"ltr\">").text(pool.lane).raw("</span>");
        let numbers = [pool.in_use.to_string(), pool.most.to_string(), pool.waiting.to_string()];
        table.row(&heading, numbers.iter().map(|number| id_cell(number)).collect());
    }
    table.add_to(html);
    html.raw("</section>\n");
}

/// Adds the jobs, a row for each class.
fn add_jobs(visit: &Visit, counts: &[Count], html: &mut Html) {
    let t = visit.texts.system;
    html.raw("<section class=\"stack\">").element("h2", t.jobs);
    if counts.is_empty() {
        html.raw("<p class=\"soft\">").text(t.no_jobs).raw("</p>\n");
    } else {
        let columns = [t.class, t.queued, t.running, t.failed, t.cancelled, t.oldest_due];
        let mut table = RowTable::new(t.jobs_caption, &columns);
        let mut classes: BTreeMap<&str, Vec<&Count>> = BTreeMap::new();
        for count in counts {
            classes.entry(&count.class).or_default().push(count);
        }
        for (class, counts) in classes {
            let number = |state: JobState| {
                let found = counts.iter().find(|count| count.state == state.as_str());
                id_cell(&found.map_or(0, |count| count.jobs).to_string())
            };
            let mut heading = Html::default();
            heading.raw("<span class=\"id\" dir=\"ltr\">").text(class).raw("</span>");
            // A job that is yet to come is not overdue.
            let oldest = counts.iter().filter_map(|count| count.oldest_due_at).min();
            let mut due = Html::default();
            if let Some(at) = oldest.filter(|at| *at <= visit.time.now) {
                visit.moment(&mut due, at);
            }
            let cells = vec![
                number(JobState::Queued),
                number(JobState::Running),
                number(JobState::Failed),
                number(JobState::Cancelled),
                TableCell::Plain(due),
            ];
            table.row(&heading, cells);
        }
        table.add_to(html);
    }
    html.raw("<p>").html(&linked_name(&visit.link("system/jobs"), t.all_jobs)).raw("</p></section>\n");
}
