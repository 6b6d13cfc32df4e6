//! The figures of `cargo xtask rooms`: how far the code follows the rules, and how the host's modules are connected.

use crate::arguments;
use crate::circles;
use crate::files::Project;
use crate::layers;
use crate::names;
use crate::ratchet::Offence;
use crate::rooms;
use crate::sizes;
use crate::words;

/// The crate whose figures are shown beside those of the project.
const HOST: &str = "host/src";

/// Rows of the table: a label, and the figure for it in this project.
pub fn rows(project: &Project) -> Vec<(&'static str, usize)> {
    let arrows = layers::arrows(project);
    let circles = circles::sizes(project);
    let of_host: Vec<usize> =
        circles.iter().filter(|circle| circle.0 == HOST).map(|circle| circle.1).collect();
    let mut rows = vec![
        ("modules of host/src", layers::modules(project).len()),
        ("arrows between them", arrows.len()),
        ("arrows that do not point down", layers::not_downward(project, &arrows)),
        ("circles of files, host/src", of_host.len()),
        ("circles of files, project", circles.len()),
        ("files in circles, host/src", of_host.iter().sum()),
        ("files in circles, project", circles.iter().map(|circle| circle.1).sum()),
        ("files alone in host/src", rooms::alone(project, "host/src/").count()),
        ("files alone in host/src/api", rooms::alone(project, "host/src/api/").count()),
    ];
    let rules: [(&str, &str, Vec<Offence>); 5] = [
        ("participle types, host/src", "participle types, project", names::participles(project)),
        ("doubled type names, host/src", "doubled type names, project", names::doubles(project)),
        (
            "doc comments with a bad first word, host/src",
            "doc comments with a bad first word, project",
            words::first_words(project),
        ),
        ("tuple parameters, host/src", "tuple parameters, project", arguments::tuples(project)),
        (
            "functions with too many parameters, host/src",
            "functions with too many parameters, project",
            arguments::numbers(project),
        ),
    ];
    for (of_host, of_project, offences) in &rules {
        rows.push((of_host, offences.iter().filter(|offence| offence.place == HOST).count()));
        rows.push((of_project, offences.len()));
    }
    rows.push(("lines of Rust", sizes::totals(project).iter().map(|total| total.measure).sum()));
    rows
}
