//! `ratchet.txt`: the offences that a rule found when it came. Each line is `rule place measure`. A new or grown offence fails, and so
//! does a line whose offence has shrunk or gone: the list is always exact, and may only get shorter. Only totals of lines have some
//! tolerance, and may be raised.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;

use crate::files::{self, Project};

const FILE: &str = "tests/tidy/ratchet.txt";

/// Rules whose measures need not be exact, with the percentages by which a measure may be below and above its line in the list.
const TOLERANCES: [(&str, usize, usize); 1] = [("total", 3, 1)];

/// Maximum offences shown of one place.
const MOST_SHOWN: usize = 20;

/// A violation of a rule.
pub struct Offence {
    /// The name in the list: a path, or `path:function`; without spaces.
    pub place: String,
    /// The file, where the list counts more than one under `place`.
    file: Option<String>,
    /// The line in the file, for a rule on lines.
    pub line: Option<usize>,
    /// The size of the offence: lines, or 1 for one that is there or not. Equal places add up.
    pub measure: usize,
    /// The fault and its remedy.
    pub why: String,
}

impl Offence {
    /// An offence of a whole file or folder.
    pub fn new(place: impl Into<String>, why: impl Into<String>) -> Offence {
        Offence { place: place.into(), file: None, line: None, measure: 1, why: why.into() }
    }

    /// An offence of one line of a file in a crate or a folder; the list counts those of the crate or folder.
    pub fn inside(place: impl Into<String>, file: &str, line: usize, why: impl Into<String>) -> Offence {
        Offence { file: Some(file.to_owned()), ..Offence::at(place, line, why) }
    }

    /// An offence of one line; the list counts those of a file.
    pub fn at(place: impl Into<String>, line: usize, why: impl Into<String>) -> Offence {
        Offence { line: Some(line), ..Offence::new(place, why) }
    }

    /// An offence of something that is too large.
    pub fn size(place: impl Into<String>, measure: usize, why: impl Into<String>) -> Offence {
        Offence { measure, ..Offence::new(place, why) }
    }

    fn shown(&self) -> String {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}: {}", self.file.as_ref().unwrap_or(&self.place), self.why)
    }
}

/// Compares the offences of a rule with its lines in the list, and returns a message for each difference.
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
        let listed = known.get(place).copied().unwrap_or_default();
        let (least, most) = bounds(rule, listed);
        if measure > most {
            if listed > 0 {
                complaints.push(format!("{place}: {measure} for `{rule}`, {listed} in {FILE}:"));
            }
            complaints.extend(shown(offences.iter().filter(|offence| offence.place == place).collect()));
        } else if measure == 0 {
            complaints.push(format!("{place}: keeps the rule `{rule}` now; take its line out of {FILE}"));
        } else if measure < least {
            complaints.push(format!("{place}: better than listed; set `{rule}` to {measure} in {FILE}"));
        }
    }
    complaints
}

/// The smallest and the largest measure that agree with a listed one.
fn bounds(rule: &str, listed: usize) -> (usize, usize) {
    let tolerance = TOLERANCES.iter().find(|(name, _, _)| *name == rule);
    let (_, less, more) = tolerance.copied().unwrap_or_default();
    (listed - listed * less / 100, listed + listed * more / 100)
}

/// Formats the offences of one place, a line each. Of too many it shows those in the files that were edited last, which include the new
/// ones.
fn shown(mut offences: Vec<&Offence>) -> Vec<String> {
    let hidden = offences.len().saturating_sub(MOST_SHOWN);
    if hidden > 0 {
        let edited = |offence: &Offence| {
            let path = files::root().join(offence.file.as_ref().unwrap_or(&offence.place));
            fs::metadata(path).and_then(|data| data.modified()).ok()
        };
        offences.sort_by_cached_key(|offence| Reverse(edited(offence)));
        offences.truncate(MOST_SHOWN);
    }
    let mut lines: Vec<String> = offences.into_iter().map(Offence::shown).collect();
    if hidden > 0 {
        lines.push(format!("… and {hidden} more, in files that were edited before these"));
    }
    lines
}

/// Returns malformed lines of the list.
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

#[cfg(test)]
mod tests {
    use super::{FILE, MOST_SHOWN, Offence, compare};
    use crate::files::{Project, Source};

    fn complaints(list: &str, rule: &str, offences: &[Offence]) -> Vec<String> {
        compare(rule, offences, &Project::new(vec![Source::new(FILE, list)]))
    }

    #[test]
    fn the_list_is_exact() {
        let lines =
            |number| (0..number).map(|at| Offence::inside("sdk", "sdk/a.rs", at, "bad")).collect::<Vec<_>>();
        let list = "# a comment\nword sdk 2\nother sdk 9\n";
        assert!(complaints(list, "word", &lines(2)).is_empty());
        let grown = complaints(list, "word", &lines(3));
        assert_eq!(grown.len(), 4);
        assert!(
            grown[0].starts_with("sdk: 3 for `word`, 2 in") && grown[1] == "sdk/a.rs:0: bad",
            "{grown:?}"
        );
        assert!(complaints(list, "word", &lines(1))[0].contains("set `word` to 1"));
        assert!(complaints(list, "word", &[])[0].contains("take its line out"));
        assert_eq!(complaints("", "word", &lines(1)), ["sdk/a.rs:0: bad"]);
        assert_eq!(complaints("", "word", &lines(MOST_SHOWN + 1)).len(), MOST_SHOWN + 1);
    }

    #[test]
    fn a_total_has_some_play() {
        let total =
            |lines| complaints("total sdk 1000\n", "total", &[Offence::size("sdk", lines, "too many")]);
        assert!(total(970).is_empty() && total(1010).is_empty());
        assert_eq!(total(1011), ["sdk: 1011 for `total`, 1000 in tests/tidy/ratchet.txt:", "sdk: too many"]);
        assert!(total(969)[0].contains("set `total` to 969"));
    }
}
