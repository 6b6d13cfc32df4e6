//! What a run came to: for people, and as JSON.

use std::fmt::{self, Write};

use serde::Serialize;

use crate::bench::Verdict;
use crate::capability::Capability;

/// One case's result.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseReport {
    pub id: &'static str,
    pub group: &'static str,
    pub title: &'static str,
    #[serde(serialize_with = "word")]
    pub verdict: Verdict,
    /// What was seen, of a failed case; why it says nothing, of one that does not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'static str>,
    /// The last requests of a failed case: method, URL, status.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<String>,
    pub calls: u64,
    pub ms: u64,
}

/// All of them.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub connector: String,
    pub version: String,
    /// SHA-256 over the manifest and the component.
    pub digest: String,
    /// The version of the kit, which is the host's.
    pub kit: &'static str,
    pub seed: u64,
    /// What was found out of features; empty where nothing was tried.
    pub capabilities: Vec<Capability>,
    pub cases: Vec<CaseReport>,
    /// Cases that there are for the connector.
    #[serde(skip)]
    pub of: usize,
    pub ms: u64,
}

fn word<S: serde::Serializer>(verdict: &Verdict, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed(_) => "failed",
        Verdict::NotApplicable(_) => "notApplicable",
    })
}

impl Report {
    fn count(&self, is: impl Fn(&Verdict) -> bool) -> usize {
        self.cases.iter().filter(|case| is(&case.verdict)).count()
    }

    pub fn failed(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Failed(_)))
    }

    /// The groups in the order of the cases, with how many of each passed and how many applied.
    fn groups(&self) -> Vec<(&'static str, usize, usize)> {
        let mut groups: Vec<(&'static str, usize, usize)> = Vec::new();
        for case in &self.cases {
            if !groups.iter().any(|(name, ..)| *name == case.group) {
                groups.push((case.group, 0, 0));
            }
            let Some(group) = groups.iter_mut().find(|(name, ..)| *name == case.group) else { continue };
            group.1 += usize::from(case.verdict == Verdict::Passed);
            group.2 += usize::from(!matches!(case.verdict, Verdict::NotApplicable(_)));
        }
        groups
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for case in &self.cases {
            let Verdict::Failed(finding) = &case.verdict else { continue };
            writeln!(f, "✗ {}  {}\n    {}\n    help: {}", case.id, case.title, finding.said, finding.help)?;
            for request in &case.requests {
                writeln!(f, "      {request}")?;
            }
        }
        let mut groups = String::new();
        for (name, passed, applied) in self.groups() {
            write!(groups, "  {name} {passed}/{applied}")?;
        }
        writeln!(f, "{}", groups.trim_start())?;
        let claimed: Vec<&str> =
            self.capabilities.iter().filter(|one| one.claimed).map(|one| one.feature).collect();
        if !self.capabilities.is_empty() {
            let claimed = if claimed.is_empty() { "none".to_owned() } else { claimed.join(", ") };
            writeln!(f, "features, of {}: {claimed}", self.capabilities.len())?;
        }
        let left_out = self.cases.iter().filter_map(|case| match &case.verdict {
            Verdict::NotApplicable(why) => Some(format!("{} ({why})", case.id)),
            _ => None,
        });
        let left_out: Vec<String> = left_out.collect();
        if !left_out.is_empty() {
            writeln!(f, "not applicable: {}", left_out.join(", "))?;
        }
        let passed = self.count(|verdict| *verdict == Verdict::Passed);
        let seconds = (self.ms / 100, self.ms / 1000);
        write!(
            f,
            "{} of {} cases: {passed} passed, {} failed, {} not applicable in {}.{} s",
            self.cases.len(),
            self.of,
            self.failed(),
            left_out.len(),
            seconds.1,
            seconds.0 % 10
        )
    }
}
