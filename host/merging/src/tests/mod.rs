//! Tests of the whole engine.

mod contract;
mod generator;
mod properties;
mod quality;

use model::contacts::Contact;
use model::contacts::MergeSuggestion;
use model::resource::Resource;

use crate::Engine;
use crate::Filter;
use crate::RankedSuggestion;
use crate::Ranking;
use crate::suggestion;

fn ranking<'a>(
    contacts: impl IntoIterator<Item = (&'a str, &'a Contact)>,
    min_score: f64,
    ids: &[String],
) -> Ranking {
    let mut engine = Engine::new(None);
    for (id, contact) in contacts {
        engine.add(id, contact);
    }
    engine.rank(&Filter { min_score, contact_ids: ids })
}

fn ranked<'a>(
    contacts: impl IntoIterator<Item = (&'a str, &'a Contact)>,
    min_score: f64,
) -> Vec<RankedSuggestion> {
    ranking(contacts, min_score, &[]).page(None, usize::MAX)
}

/// Suggestions of contacts named `c0`, `c1`, …
fn suggested(contacts: &[Contact], min_score: f64) -> Vec<MergeSuggestion> {
    let resources: Vec<Resource<Contact>> = contacts
        .iter()
        .enumerate()
        .map(|(i, body)| Resource { id: format!("c{i}"), body: body.clone(), ..Resource::default() })
        .collect();
    let found = ranked(resources.iter().map(|r| (r.id.as_str(), &r.body)), min_score);
    found.iter().map(|f| suggestion(f, &resources, None).unwrap()).collect()
}
