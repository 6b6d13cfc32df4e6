//! The choice of database engines for the API tests. All of them run on SQLite, and those in `tests/api/engines.txt` on PostgreSQL too.
//! With `--all-engines` all tests of `POSTGRES_MODULES` run on PostgreSQL.

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::project;

/// The list of modules and tests that run on both engines.
const LIST: &str = "tests/api/engines.txt";

/// Modules of `tests/api` that can run on PostgreSQL, with two hosts: prefixes of test names.
const POSTGRES_MODULES: [&str; 13] = [
    "calendars::",
    "connections::",
    "contract::",
    "email::",
    "events::",
    "jobs::",
    "local_reads::",
    "oauth::",
    "push::",
    "retention::",
    "scheduling::",
    "usage::",
    "webhooks::",
];

/// Parts of the names of tests that check nothing more on PostgreSQL. They need mail or calendar servers, which the PostgreSQL run lacks,
/// or they start processes with their own SQLite databases.
const WITHOUT_POSTGRES: [&str; 11] = [
    "::cyrus_imap::",
    "::dovecot::",
    "::jmap::",
    "email::once::",
    "jobs::command::",
    "oauth::apps::",
    "oauth::process::",
    "scheduling::mail_kills::",
    "scheduling::mail_peers::",
    "scheduling::provider_peers::",
    "webhooks::kills::",
];

/// Modules and tests that run once more on PostgreSQL with a network delay, because kills and changes at providers then happen at other
/// points of the code.
const DISTANT_TESTS: [&str; 7] = [
    "calendars::convergence::",
    "convergence::",
    "email::convergence::",
    "kills::of_two_hosts_the_other_goes_on",
    "scheduling::kills::",
    "webhooks::convergence::",
    "webhooks::kills::no_event_is_lost_over_kills_of_two_hosts",
];

/// The API tests to run on PostgreSQL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PostgresScope {
    /// The tests that `tests/api/engines.txt` lists.
    Listed,
    /// All tests of the modules that can run there.
    All,
}

/// The API tests that run on PostgreSQL.
#[derive(Debug)]
pub struct PostgresTests {
    /// The full names; there is at least one.
    pub names: Vec<String>,
    /// The full names of tests that run once more with a network delay to the database; none without `--all-engines`.
    pub distant: Vec<String>,
    /// Number of tests that only `--all-engines` runs on PostgreSQL.
    left_out: usize,
    /// Number of tests that run only on SQLite, including those in `left_out`.
    on_sqlite_alone: usize,
}

impl PostgresTests {
    /// Chooses from `tests`, the full names of all API tests. Fails if a line of the list matches none of them.
    pub fn choose(tests: &[String], scope: PostgresScope) -> Result<PostgresTests> {
        let path = project::root().join(LIST);
        let list = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut chosen = PostgresTests::choose_by_list(&list, tests, scope)?;
        if scope == PostgresScope::All {
            chosen.distant = distant(tests)?;
        }
        Ok(chosen)
    }

    fn choose_by_list(list: &str, tests: &[String], scope: PostgresScope) -> Result<PostgresTests> {
        let entries = entries(list)?;
        let usable = |test: &&String| !WITHOUT_POSTGRES.iter().any(|part| test.contains(part));
        let usable: Vec<&String> = tests.iter().filter(usable).collect();
        let is_unmatched = |entry: &&&str| !usable.iter().any(|test| covers(entry, test));
        let unmatched: Vec<&str> = entries.iter().filter(is_unmatched).copied().collect();
        if !unmatched.is_empty() {
            bail!("{LIST}: no test that can run on PostgreSQL matches {}", unmatched.join(", "));
        }
        let is_listed = |test: &str| entries.iter().any(|entry| covers(entry, test));
        let can_run = |test: &str| POSTGRES_MODULES.iter().any(|module| test.starts_with(module));
        let is_chosen = |test: &str| is_listed(test) || (scope == PostgresScope::All && can_run(test));
        let names: Vec<String> =
            usable.iter().filter(|test| is_chosen(test)).map(|test| (*test).clone()).collect();
        let left_out = usable.iter().filter(|test| can_run(test) && !is_chosen(test)).count();
        let distant = Vec::new();
        Ok(PostgresTests { on_sqlite_alone: tests.len() - names.len(), left_out, names, distant })
    }

    /// Returns the number of tests on each engine, for the report.
    pub fn summary(&self) -> String {
        let (both, one) = (self.names.len(), self.on_sqlite_alone);
        format!("tests of the API: {both} on SQLite and PostgreSQL, {one} on SQLite alone")
    }

    /// Returns the report's line on tests that did not run on PostgreSQL; none with `--all-engines`.
    pub fn left_out(&self) -> Option<String> {
        let count = self.left_out;
        (count > 0).then(|| format!("{count} tests of the API on PostgreSQL (--all-engines runs them)"))
    }
}

/// Returns the tests of `DISTANT_TESTS`. Fails if an entry matches none of `tests`.
fn distant(tests: &[String]) -> Result<Vec<String>> {
    for entry in DISTANT_TESTS {
        ensure!(tests.iter().any(|test| covers(entry, test)), "DISTANT_TESTS: no test matches {entry}");
    }
    let is_distant = |test: &&String| DISTANT_TESTS.iter().any(|entry| covers(entry, test));
    Ok(tests.iter().filter(is_distant).cloned().collect())
}

/// Parses the modules and tests of the list. Each line has a name, ` # ` and a reason; a line that begins with `#` is a comment.
fn entries(list: &str) -> Result<Vec<&str>> {
    let mut entries = Vec::new();
    for (number, line) in (1..).zip(list.lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        match line.split_once(" # ") {
            Some((name, reason)) if !reason.trim().is_empty() => entries.push(name.trim()),
            _ => bail!(
                "{LIST}, line {number}: write the module, ` # ` and a reason, such as `jobs:: # claims of two hosts`"
            ),
        }
    }
    if entries.is_empty() {
        bail!("{LIST} names no module");
    }
    Ok(entries)
}

/// Whether an entry of the list is this test, or a module (ending with `::`) that contains it.
fn covers(entry: &str, test: &str) -> bool {
    test == entry || (entry.ends_with("::") && test.starts_with(entry))
}

#[cfg(test)]
mod tests {
    use super::{DISTANT_TESTS, PostgresScope, PostgresTests, distant};

    const TESTS: [&str; 8] = [
        "calendars::events::racing_copies_are_one_event",
        "calendars::events::racing_copies_are_one_event_again",
        "cli::failures_say_why",
        "email::sync::dovecot::resets",
        "email::sync::sandbox::resets",
        "events::stream::a_drain_ends_streams",
        "events::the_log_is_read_in_pages",
        "sandbox_connector::check",
    ];

    fn choose(list: &str, scope: PostgresScope) -> anyhow::Result<PostgresTests> {
        PostgresTests::choose_by_list(list, &TESTS.map(str::to_owned), scope)
    }

    #[test]
    fn a_module_and_a_test_are_chosen_by_their_names() {
        let list =
            "# A comment.\n\nevents:: # cursors\ncalendars::events::racing_copies_are_one_event # a race\n";
        let chosen = choose(list, PostgresScope::Listed).unwrap();
        assert_eq!(chosen.names, [TESTS[0], TESTS[5], TESTS[6]]);
        assert_eq!(chosen.summary(), "tests of the API: 3 on SQLite and PostgreSQL, 5 on SQLite alone");
        let left_out = "2 tests of the API on PostgreSQL (--all-engines runs them)";
        assert_eq!(chosen.left_out().as_deref(), Some(left_out));
    }

    #[test]
    fn all_engines_run_all_tests_that_can_run_on_postgresql() {
        let chosen = choose("events::stream:: # cursors", PostgresScope::All).unwrap();
        assert_eq!(chosen.names, [TESTS[0], TESTS[1], TESTS[4], TESTS[5], TESTS[6]]);
        assert_eq!(chosen.left_out(), None);
    }

    #[test]
    fn modules_and_tests_run_once_more_with_a_distant_database() {
        let in_modules = DISTANT_TESTS.map(|entry| match entry.strip_suffix("::") {
            Some(module) => format!("{module}::a_test"),
            None => entry.to_owned(),
        });
        let others = ["kills::killed_before_the_endpoint_answers".to_owned(), TESTS[0].to_owned()];
        let all = [&in_modules[..], &others].concat();
        assert_eq!(distant(&all).unwrap(), in_modules);
        assert!(distant(&others).is_err());
    }

    #[test]
    fn a_line_that_matches_no_test_is_an_error() {
        for list in ["event:: # x", "events # x", "email::sync::dovecot:: # x", "events:: # x\njobs:: # x"] {
            let error = choose(list, PostgresScope::All).unwrap_err().to_string();
            assert!(error.contains("matches"), "{list}: {error}");
        }
    }

    #[test]
    fn a_line_without_a_reason_and_an_empty_list_are_errors() {
        for list in ["events::", "events:: # ", "", "# nothing\n"] {
            assert!(choose(list, PostgresScope::Listed).is_err(), "{list}");
        }
    }
}
