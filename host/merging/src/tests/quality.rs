//! Precision and recall over the labelled set.

use std::collections::HashMap;

use crate::tests::generator;
use crate::tests::generator::Labelled;
use crate::tests::ranked;

type Pairs = Vec<(usize, usize)>;

/// Suggested pairs with their best scores, and all true pairs.
fn measured(set: &[Labelled], min_score: f64) -> (HashMap<(usize, usize), u16>, Pairs) {
    let at: HashMap<&str, usize> = set.iter().enumerate().map(|(i, l)| (l.id.as_str(), i)).collect();
    let mut pairs = HashMap::new();
    for found in ranked(set.iter().map(|l| (l.id.as_str(), &l.contact)), min_score) {
        let members: Vec<usize> = found.contact_ids.iter().map(|id| at[id.as_str()]).collect();
        for (i, a) in members.iter().enumerate() {
            for b in &members[i + 1..] {
                pairs.entry((*a.min(b), *a.max(b))).or_insert(found.score);
            }
        }
    }
    let mut people: HashMap<usize, Vec<usize>> = HashMap::new();
    for (i, labelled) in set.iter().enumerate() {
        people.entry(labelled.person).or_default().push(i);
    }
    let all_pairs = |same: &Vec<usize>| -> Pairs {
        same.iter().enumerate().flat_map(|(i, &a)| same[i + 1..].iter().map(move |&b| (a, b))).collect()
    };
    (pairs, people.values().flat_map(all_pairs).collect())
}

fn brief(c: &model::contacts::Contact) -> String {
    let emails: Vec<_> = c.emails.iter().map(|e| e.value.as_str()).collect();
    let phones: Vec<_> = c.phones.iter().map(|p| p.value.as_str()).collect();
    let firms: Vec<_> = c.organizations.iter().map(|o| o.name.as_deref()).collect();
    format!("{:?}|{:?}|{:?} {emails:?} {phones:?} {firms:?}", c.display_name, c.given_name, c.family_name)
}

#[test]
fn precision_and_recall() {
    let show = std::env::var("SHOW").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let mut short = Vec::new();
    for (seed, size) in [
        (1, 1_000),
        (2, 5_000),
        (3, 5_000),
        (4, 20_000),
        (101, 2_000),
        (102, 5_000),
        (103, 10_000),
        (104, 20_000),
    ] {
        let set = generator::labelled(seed, size);
        let (pairs, truth) = measured(&set, 0.5);
        let is_right = |(a, b): &(usize, usize)| set[*a].person == set[*b].person;
        for min_score in [500, 600, 700, 850, 900, 950] {
            let found: Vec<_> =
                pairs.iter().filter(|(_, score)| **score >= min_score).map(|(pair, _)| *pair).collect();
            let right = found.iter().filter(|p| is_right(p)).count();
            let (precision, recall) = (right as f64 / found.len() as f64, right as f64 / truth.len() as f64);
            println!(
                "seed {seed}, {size} records, minScore 0.{min_score}: precision {precision:.4}, recall {recall:.4} \
                 ({} pairs, {} true)",
                found.len(),
                truth.len()
            );
            if min_score == 600 && (precision < 0.98 || recall < 0.9) {
                short.push((size, precision, recall));
            }
        }
        let wrong = pairs.iter().filter(|(p, score)| **score >= 600 && !is_right(p));
        for ((a, b), score) in wrong.take(show) {
            println!("WRONG {score}\n  {}\n  {}", brief(&set[*a].contact), brief(&set[*b].contact));
        }
        for (a, b) in truth.iter().filter(|p| pairs.get(p).is_none_or(|s| *s < 600)).take(show) {
            println!("MISSED\n  {}\n  {}", brief(&set[*a].contact), brief(&set[*b].contact));
        }
    }
    assert!(short.is_empty(), "{short:?}");
}
