//! `ratchet.txt`: the offences that a rule found when it came. Each line is `rule place measure`. A new offence fails, a grown
//! one fails, and so does a line whose offence has shrunk or gone: the list is always exact, and may only get shorter.

use std::collections::BTreeMap;

use crate::files::Project;

const FILE: &str = "tests/tidy/ratchet.txt";

/// Something that breaks a rule.
pub struct Offence {
    /// What the list calls it: a path, or `path:function`; without spaces.
    pub place: String,
    /// Where in the file, for a rule on lines.
    line: Option<usize>,
    /// How much: lines for a size, 1 for a thing that is there or not. Equal places add up.
    measure: usize,
    /// What is wrong and what to do.
    why: String,
}

impl Offence {
    /// An offence of a whole file or folder.
    pub fn new(place: impl Into<String>, why: impl Into<String>) -> Offence {
        Offence { place: place.into(), line: None, measure: 1, why: why.into() }
    }

    /// An offence of one line; the list counts those of a file.
    pub fn at(place: impl Into<String>, line: usize, why: impl Into<String>) -> Offence {
        Offence { line: Some(line), ..Offence::new(place, why) }
    }

    /// Something that is too large.
    pub fn size(place: impl Into<String>, measure: usize, why: impl Into<String>) -> Offence {
        Offence { measure, ..Offence::new(place, why) }
    }

    fn shown(&self) -> String {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}: {}", self.place, self.why)
    }
}

/// What the offences of a rule and its lines in the list have against each other.
pub fn compare(rule: &str, offences: &[Offence], project: &Project) -> Vec<String> {
    let list = project.file(FILE).map(|file| file.text.as_str()).unwrap_or_default();
    let known: BTreeMap<&str, usize> =
        entries(list).filter(|entry| entry.0 == rule).map(|entry| (entry.1, entry.2)).collect();
    let mut found: BTreeMap<&str, usize> = known.keys().map(|place| (*place, 0)).collect();
    for offence in offences {
        *found.entry(&offence.place).or_default() += offence.measure;
    }
    let mut complaints = Vec::new();
    for (place, measure) in found {
        let allowed = known.get(place).copied().unwrap_or_default();
        if measure > allowed {
            complaints.extend(offences.iter().filter(|offence| offence.place == place).map(Offence::shown));
        } else if measure == 0 {
            complaints.push(format!("{place}: keeps the rule `{rule}` now; take its line out of {FILE}"));
        } else if measure < allowed {
            complaints.push(format!("{place}: better than listed; set `{rule}` to {measure} in {FILE}"));
        }
    }
    complaints
}

/// Lines of the list that are none.
pub fn malformed(project: &Project) -> Vec<String> {
    let main = project.file("tests/tidy/main.rs").expect("tidy reads its own sources");
    let list = project.file(FILE).map(|file| file.text.as_str()).unwrap_or_default();
    let mut complaints = Vec::new();
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let rule = line.split(' ').next().unwrap_or_default();
        if entry(line).is_none() || !main.text.contains(&format!("check(\"{rule}\"")) {
            complaints.push(format!("{FILE}: {line:?} is not `rule place measure`"));
        }
    }
    complaints
}

fn entries(list: &str) -> impl Iterator<Item = (&str, &str, usize)> {
    list.lines().filter_map(entry)
}

fn entry(line: &str) -> Option<(&str, &str, usize)> {
    let mut parts = line.split(' ');
    let (rule, place, measure) = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
    (parts.next().is_none() && !rule.starts_with('#')).then_some((rule, place, measure))
}
