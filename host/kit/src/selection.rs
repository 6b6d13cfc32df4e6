//! The cases of a run: those that the author names, else all for the connector's surfaces.

use runtime::Surface;

use crate::cases::{CASES, Case};
use crate::recording::Problem;

/// The cases that every connector can pass, whatever its surfaces; the other cases without a surface belong to tasks.
const OF_EVERY_CONNECTOR: [&str; 3] = ["D1", "D2", "S1"];
/// The surfaces that have cases, in the order of the cases.
const SURFACES: [Surface; 4] = [Surface::Tasks, Surface::Calendar, Surface::Contacts, Surface::Email];

/// Returns the cases with these ids, or without ids all for a connector with these surfaces. Fails if an id is unknown.
pub fn select(ids: &[String], surfaces: &[Surface]) -> Result<Vec<&'static Case>, Problem> {
    if let Some(unknown) = ids.iter().find(|id| !CASES.iter().any(|case| case.id == **id)) {
        return Err(unknown_case(unknown, surfaces));
    }
    if !ids.is_empty() {
        return Ok(CASES.iter().filter(|case| ids.iter().any(|id| case.id == id)).collect());
    }
    let has = |surface: Surface| surfaces.contains(&surface);
    Ok(CASES.iter().filter(|case| surface_of(case).is_none_or(has)).collect())
}

/// Returns the surface that a connector needs for the case; none: every connector runs it.
fn surface_of(case: &Case) -> Option<Surface> {
    match OF_EVERY_CONNECTOR.contains(&case.id) {
        true => None,
        false => Some(case.surface().unwrap_or(Surface::Tasks)),
    }
}

/// Returns the problem of an unknown id, with the most similar ids, then all for the connector, a line for each surface.
fn unknown_case(id: &str, surfaces: &[Surface]) -> Problem {
    let mut lines = Vec::from([("any connector", OF_EVERY_CONNECTOR.to_vec())]);
    for surface in SURFACES.into_iter().filter(|surface| surfaces.contains(surface)) {
        let of_surface = CASES.iter().filter(|case| surface_of(case) == Some(surface));
        lines.push((surface.as_str(), of_surface.map(|case| case.id).collect()));
    }
    let wanted = short_id(id);
    let ids = lines.iter().flat_map(|(_, ids)| ids.iter().copied());
    let alike: Vec<&str> = ids.filter(|other| short_id(other) == wanted).collect();
    let mut help = match alike.is_empty() {
        true => "the cases for this connector are:".to_owned(),
        false => format!("did you mean {}? The cases for this connector are:", alike.join(" or ")),
    };
    for (name, ids) in &lines {
        help.push_str(&format!("\n  {name}: {}", ids.join(", ")));
    }
    Problem::new(format!("there is no case {id:?}"), help)
}

/// An id in capitals, without the surface before it: `P1` of `calendar.p1`.
fn short_id(id: &str) -> String {
    let last = id.rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
    last.unwrap_or_default().to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(id: &str, surfaces: &[Surface]) -> Problem {
        select(&["D1".to_owned(), id.to_owned()], surfaces).err().unwrap()
    }

    #[test]
    fn an_unknown_id_is_answered_with_the_cases_of_the_connectors_surfaces() {
        let problem = refused("ZZ", &[Surface::Lifecycle, Surface::Contacts]);
        assert_eq!(problem.said, "there is no case \"ZZ\"");
        let lines: Vec<&str> = problem.help.lines().collect();
        assert_eq!(lines[..2], ["the cases for this connector are:", "  any connector: D1, D2, S1"]);
        assert!(lines[2].starts_with("  contacts: contacts.D3, contacts.P1, "), "{}", lines[2]);
        assert!(lines[2].ends_with(", B3, B4"), "{}", lines[2]);
        assert_eq!(lines.len(), 3, "{}", problem.help);
    }

    #[test]
    fn ids_that_look_like_an_unknown_one_come_first() {
        let surfaces = [Surface::Tasks, Surface::Calendar];
        for (id, expected) in [
            ("p1", "did you mean P1 or calendar.P1? "),
            ("P4", "did you mean calendar.P4? "),
            ("calendar.W8", "did you mean W8? "),
            ("tasks:S1", "did you mean S1? "),
            ("calendar.", "the cases for this connector are:"),
            ("B9", "the cases for this connector are:"),
        ] {
            assert!(
                refused(id, &surfaces).help.starts_with(expected),
                "{id}: {}",
                refused(id, &surfaces).help
            );
        }
    }

    #[test]
    fn every_case_is_in_a_line() {
        let help = refused("ZZ", &Surface::ALL).help;
        let ids: Vec<&str> = help
            .lines()
            .filter_map(|line| line.split_once(": "))
            .flat_map(|(_, ids)| ids.split(", "))
            .collect();
        assert_eq!(ids.len(), CASES.len());
        assert!(CASES.iter().all(|case| ids.contains(&case.id)), "{help}");
    }

    /// The help of a failed case leads to its heading.
    #[test]
    fn each_case_has_its_heading_in_the_documentation() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/connectors/kit.md");
        let page = std::fs::read_to_string(path).unwrap();
        let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("### ")).collect();
        let missing = |case: &&Case| !headings.contains(&short_id(case.id).as_str());
        let missing: Vec<&str> = CASES.iter().filter(missing).map(|case| case.id).collect();
        assert!(missing.is_empty(), "docs/connectors/kit.md has no heading for {missing:?}");
    }

    #[test]
    fn without_ids_the_cases_are_those_of_the_surfaces() {
        let count = |surfaces: &[Surface]| select(&[], surfaces).unwrap().len();
        let calendar = CASES.iter().filter(|case| case.surface() == Some(Surface::Calendar)).count();
        assert_eq!(count(&[Surface::Tasks, Surface::Calendar]), count(&[Surface::Tasks]) + calendar);
        assert_eq!(count(&[Surface::Calendar]), calendar + OF_EVERY_CONNECTOR.len());
        let named = select(&["W1".to_owned(), "P1".to_owned()], &[Surface::Tasks]).unwrap();
        assert_eq!(
            named.iter().map(|case| case.id).collect::<Vec<_>>(),
            ["P1", "W1"],
            "in the order of a run"
        );
    }
}
