//! The report as JUnit XML, which CI systems show.

use std::io;

use quick_xml::Writer;
use quick_xml::events::BytesText;

use crate::bench::Verdict;
use crate::report::{CaseReport, Report};

/// One test suite, with a test case for each case.
pub fn junit(report: &Report) -> io::Result<String> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let (total, failed) = (report.cases.len().to_string(), report.failed().to_string());
    let skipped = report
        .cases
        .iter()
        .filter(|case| matches!(case.verdict, Verdict::NotApplicable(_)))
        .count()
        .to_string();
    let name = format!("{} {}", report.connector, report.version);
    let counts = [("name", &*name), ("tests", &total), ("failures", &failed), ("skipped", &skipped)];
    let suite = writer.create_element("testsuite").with_attributes(counts);
    suite
        .with_attribute(("time", &*seconds(report.ms)))
        .write_inner_content(|writer| report.cases.iter().try_for_each(|case| test_case(writer, case)))?;
    String::from_utf8(writer.into_inner()).map_err(io::Error::other)
}

fn test_case(writer: &mut Writer<Vec<u8>>, case: &CaseReport) -> io::Result<()> {
    let name = format!("{} {}", case.id, case.title);
    let element = writer.create_element("testcase").with_attribute(("classname", case.group));
    let element = element.with_attribute(("name", &*name)).with_attribute(("time", &*seconds(case.ms)));
    let said = case.said.as_deref().unwrap_or_default();
    match &case.verdict {
        Verdict::Passed => element.write_empty().map(drop),
        Verdict::NotApplicable(_) => element
            .write_inner_content(|writer| {
                writer.create_element("skipped").with_attribute(("message", said)).write_empty().map(drop)
            })
            .map(drop),
        Verdict::Failed(finding) => {
            let text = format!("help: {}\n{}", finding.help, case.requests.join("\n"));
            let failure = |writer: &mut Writer<Vec<u8>>| {
                let failure = writer.create_element("failure").with_attribute(("message", said));
                failure.write_text_content(BytesText::new(&text)).map(drop)
            };
            element.write_inner_content(failure).map(drop)
        }
    }
}

/// Milliseconds as seconds.
fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1_000, ms % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Finding;

    #[test]
    fn each_case_is_a_test_case() {
        let case = |id, verdict, said: Option<&str>| CaseReport {
            id,
            group: "paging",
            title: "pages",
            verdict,
            said: said.map(str::to_owned),
            help: None,
            provider: None,
            requests: vec!["GET https://paper.test/ → 200".into()],
            calls: 1,
            ms: 1_234,
        };
        let finding = Finding { said: String::new(), help: "look".into() };
        let report = Report {
            connector: "notes".into(),
            version: "0.1.0".into(),
            digest: String::new(),
            kit: "0",
            seed: 1,
            capabilities: Vec::new(),
            notes: Vec::new(),
            of: 2,
            cases: vec![
                case("P1", Verdict::Passed, None),
                case("P2", Verdict::NotApplicable("no".into()), Some("no")),
                case("P3", Verdict::Failed(finding), Some("<a> & \"b\"")),
            ],
            ms: 2_000,
        };
        assert_eq!(
            junit(&report).unwrap(),
            "<testsuite name=\"notes 0.1.0\" tests=\"3\" failures=\"1\" skipped=\"1\" time=\"2.000\">\n  \
               <testcase classname=\"paging\" name=\"P1 pages\" time=\"1.234\"/>\n  \
               <testcase classname=\"paging\" name=\"P2 pages\" time=\"1.234\">\n    \
                 <skipped message=\"no\"/>\n  \
               </testcase>\n  \
               <testcase classname=\"paging\" name=\"P3 pages\" time=\"1.234\">\n    \
                 <failure message=\"&lt;a&gt; &amp; &quot;b&quot;\">help: look\nGET https://paper.test/ → 200</failure>\n  \
               </testcase>\n\
             </testsuite>"
        );
    }
}
