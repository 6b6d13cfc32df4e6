//! The report of a run: as text, and as JSON.

use std::borrow::Cow;
use std::fmt::{self, Write};

use serde::Serialize;

use crate::bench::Verdict;
use crate::capability::Capability;
use crate::javascript::in_javascript;
use crate::pace::ProviderTrouble;

/// One case's result.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseReport {
    pub id: &'static str,
    pub group: &'static str,
    pub title: &'static str,
    #[serde(serialize_with = "word")]
    pub verdict: Verdict,
    /// The observed behavior of a failed case; of one that does not apply, the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<Cow<'static, str>>,
    /// The provider failed by itself in the case: the connector may be right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderTrouble>,
    /// The last requests of a failed case: method, URL, status.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<String>,
    pub calls: u64,
    pub ms: u64,
}

/// The results of a run.
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
    /// Results of the feature checks; empty if none ran.
    pub capabilities: Vec<Capability>,
    /// How the provider itself behaved, if that matters: a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub cases: Vec<CaseReport>,
    /// The number of cases for the connector.
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
    /// Returns the report for the author of a connector in TypeScript or JavaScript: its help names functions of that SDK.
    #[must_use]
    pub fn in_javascript(mut self) -> Report {
        for case in &mut self.cases {
            if let Verdict::Failed(finding) = &mut case.verdict {
                finding.help = in_javascript(&finding.help);
            }
            case.help = case.help.take().map(|help| in_javascript(&help));
        }
        self
    }

    fn count(&self, is: impl Fn(&Verdict) -> bool) -> usize {
        self.cases.iter().filter(|case| is(&case.verdict)).count()
    }

    pub fn failed(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Failed(_)))
    }

    /// Returns the groups in the order of the cases, each with the numbers of cases that passed and that applied.
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

    /// Returns the ids of the cases that failed because of this trouble of the provider, if there are several: they are reported once.
    fn cases_of(&self, trouble: Option<ProviderTrouble>) -> Option<Vec<&'static str>> {
        let alike = self.cases.iter().filter(|case| trouble.is_some() && case.provider == trouble);
        Some(alike.map(|case| case.id).collect()).filter(|ids: &Vec<&str>| ids.len() > 1)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for case in &self.cases {
            let Verdict::Failed(finding) = &case.verdict else { continue };
            if let (Some(ids), Some(trouble)) = (self.cases_of(case.provider), case.provider) {
                if ids.first() == Some(&case.id) {
                    let (count, said, help) = (ids.len(), trouble.message(), trouble.help());
                    writeln!(f, "✗ {count} cases: {}\n    {said}\n    help: {help}", ids.join(", "))?;
                    case.requests.iter().try_for_each(|request| writeln!(f, "      {request}"))?;
                }
                continue;
            }
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
        if !claimed.is_empty() {
            let (count, of) = (claimed.len(), self.capabilities.len());
            writeln!(f, "claims {count} of {of} optional features: {}", claimed.join(", "))?;
        }
        let left_out = self.cases.iter().filter_map(|case| match &case.verdict {
            Verdict::NotApplicable(why) => Some(format!("{} ({why})", case.id)),
            _ => None,
        });
        let left_out: Vec<String> = left_out.collect();
        if !left_out.is_empty() {
            writeln!(f, "not applicable: {}", left_out.join(", "))?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Finding;

    fn failed(id: &'static str, provider: Option<ProviderTrouble>) -> CaseReport {
        CaseReport {
            id,
            group: "paging",
            title: "pages",
            verdict: Verdict::Failed(Finding {
                said: format!("{id} fails"),
                help: "the usual mistake".into(),
            }),
            said: None,
            help: None,
            provider,
            requests: vec![format!("GET https://a.test/{id} → no answer")],
            calls: 1,
            ms: 1,
        }
    }

    fn report(cases: Vec<CaseReport>) -> Report {
        Report {
            connector: "notes".into(),
            version: "0.1.0".into(),
            digest: String::new(),
            kit: "0",
            seed: 1,
            capabilities: Vec::new(),
            notes: Vec::new(),
            of: cases.len(),
            cases,
            ms: 1_000,
        }
    }

    #[test]
    fn features_are_named_where_there_are_some() {
        let one = |feature, claimed| Capability { feature, claimed, seen: claimed };
        let run = report(Vec::new());
        let with = |capabilities: Vec<Capability>| Report { capabilities, ..run.clone() }.to_string();
        let some = with(vec![one("startDate", true), one("dueTime", false), one("recurrence", true)]);
        assert!(some.contains("\nclaims 2 of 3 optional features: startDate, recurrence\n"), "{some}");
        for none in [with(Vec::new()), with(vec![one("startDate", false)])] {
            assert!(!none.contains("features"), "{none}");
        }
    }

    #[test]
    fn help_is_for_the_language_of_the_connector() {
        let help = Cow::Borrowed("Context::send_ok does it");
        let finding = Finding { said: "no".into(), help: help.clone() };
        let case = CaseReport { verdict: Verdict::Failed(finding), help: Some(help), ..failed("P1", None) };
        let rust = report(vec![case]);
        assert!(rust.to_string().contains("help: Context::send_ok does it"));
        let javascript = rust.in_javascript();
        assert!(javascript.to_string().contains("help: context.sendOk does it"));
        assert_eq!(javascript.cases[0].help.as_deref(), Some("context.sendOk does it"));
    }

    #[test]
    fn failures_of_the_provider_itself_are_reported_once() {
        let late = Some(ProviderTrouble::Late);
        let cases = vec![
            failed("D1", late),
            failed("P1", None),
            failed("P2", late),
            failed("P3", Some(ProviderTrouble::Limiting)),
        ];
        let report = Report { notes: vec!["the provider itself is slow".into()], ..report(cases) };
        let text = report.to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let help = format!("help: {}", ProviderTrouble::Late.help());
        assert_eq!(
            lines[..4],
            [
                "✗ 2 cases: D1, P2",
                ProviderTrouble::Late.message(),
                help.as_str(),
                "GET https://a.test/D1 → no answer",
            ]
        );
        assert_eq!(text.matches("✗").count(), 3, "{text}");
        assert!(text.contains("✗ P1  pages\n    P1 fails") && text.contains("✗ P3  pages"), "{text}");
        assert!(text.contains("\nnote: the provider itself is slow\n"), "{text}");
        let json = serde_json::to_value(&report).expect("JSON");
        assert_eq!(
            (&json["cases"][0]["provider"], &json["cases"][1]["provider"]),
            (&"late".into(), &().into())
        );
    }
}
