//! The engine: from contacts to suggestions in order.

use std::cmp::Reverse;
use std::collections::HashSet;

use model::contacts::Contact;
use sha2::Digest;
use sha2::Sha256;

use crate::blocking;
use crate::blocking::Frequencies;
use crate::blocking::Link;
use crate::clusters;
use crate::identifiers::Kind;
use crate::records::Records;
use crate::scoring;
use crate::scoring::Edge;
use crate::scoring::Score;

/// Bytes of the hash in a suggestion's id.
const ID_BYTES: usize = 16;

/// The engine: takes the contacts to compare, and keeps about 200 bytes of each.
#[derive(Debug, Default)]
pub struct Engine {
    records: Records,
    region: Option<String>,
}

/// A filter for suggestions.
#[derive(Clone, Copy, Debug)]
pub struct Filter<'a> {
    /// 0 to 1; the contract's default is 0.6.
    pub min_score: f64,
    /// Returns only suggestions with at least one of these contacts; empty: all.
    pub contact_ids: &'a [String],
}

/// The sort key of a suggestion, in the order of `Ord`: score descending, then id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Thousandths.
    pub score: Reverse<Score>,
    pub id: String,
}

/// An identifier that contributed to a suggestion: its kind and `identifiers::Identifier::key`.
pub type Evidence = (Kind, u64);

/// A suggestion without the contacts' fields.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedSuggestion {
    /// `mrg_` and 32 hexadecimal digits: a hash of the sorted `contact_ids`.
    pub id: String,
    /// Sorted; two or more.
    pub contact_ids: Vec<String>,
    /// Thousandths.
    pub score: Score,
    /// Greatest weight of each of `scoring::REASONS` among its pairs, thousandths.
    pub weights: [Score; 5],
    /// Sorted.
    pub evidence: Vec<Evidence>,
}

/// All suggestions of a query, in order. Deterministic: the same contacts in any order give the same suggestions.
#[derive(Debug)]
pub struct Ranking {
    records: Records,
    links: Vec<Link>,
    edges: Vec<Edge>,
    found: Vec<CompactSuggestion>,
}

/// A suggestion in compact form: there can be as many as contacts.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CompactSuggestion {
    score: Reverse<Score>,
    hash: [u8; ID_BYTES],
    members: Box<[u32]>,
}

impl Engine {
    /// Creates an engine. `region`: the ISO 3166-1 alpha-2 country for numbers without a country code, if neither `ContactPhone.e164` nor
    /// an address of the contact names one.
    pub fn new(region: Option<&str>) -> Engine {
        Engine { records: Records::default(), region: region.map(str::to_owned) }
    }

    /// Adds a contact; the order does not matter. Of duplicate ids, the first counts.
    pub fn add(&mut self, id: &str, contact: &Contact) {
        self.records.add(id, contact, self.region.as_deref());
    }

    /// Returns the number of contacts.
    pub fn len(&self) -> usize {
        self.records.all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.records.all.is_empty()
    }

    /// Compares and clusters the contacts. Takes linear time, except for sorting.
    pub fn rank(self, filter: &Filter<'_>) -> Ranking {
        let mut records = self.records;
        records.sort();
        let least = (filter.min_score.clamp(0.0, 1.0) * 1000.0).round() as Score;
        let frequencies = Frequencies::from_records(&records);
        let links = blocking::links(&records, &frequencies);
        let mut pairs: Vec<(u32, u32)> = links.iter().map(|l| l.pair).collect();
        if least <= scoring::ORGANIZATION_AND_NAME {
            pairs.extend(blocking::similar_names(&records));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let scored = pairs
            .into_iter()
            .filter_map(|p| scoring::score(&records, &frequencies, p, links_between(&links, p)));
        let edges: Vec<Edge> = scored.filter(|e| e.score >= least.min(scoring::STRONG)).collect();
        let clusters = clusters::clusters(&records, &frequencies, &edges);
        let wanted: HashSet<&str> = filter.contact_ids.iter().map(String::as_str).collect();
        let asked =
            |members: &[u32]| wanted.is_empty() || members.iter().any(|&m| wanted.contains(records.id(m)));
        let kept = clusters.into_iter().filter(|c| c.score >= least && asked(&c.members));
        let mut found: Vec<CompactSuggestion> = kept
            .map(|c| CompactSuggestion {
                score: Reverse(c.score),
                hash: hash(&records, &c.members),
                members: c.members.into(),
            })
            .collect();
        found.sort_unstable();
        Ranking { records, links, edges, found }
    }
}

impl Ranking {
    /// Returns the number of suggestions on all pages.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns the next `limit` suggestions after a position, or the first ones without a position.
    pub fn page(&self, after: Option<&Position>, limit: usize) -> Vec<RankedSuggestion> {
        let passed = |f: &CompactSuggestion| {
            after.is_some_and(|a| (f.score, id(&f.hash).as_str()) <= (a.score, a.id.as_str()))
        };
        let start = self.found.partition_point(passed);
        self.found[start..].iter().take(limit).map(|f| self.to_ranked(f)).collect()
    }

    fn to_ranked(&self, found: &CompactSuggestion) -> RankedSuggestion {
        let mut weights = [0; 5];
        let mut evidence = Vec::new();
        for (at, &a) in found.members.iter().enumerate() {
            for &b in &found.members[at + 1..] {
                let Ok(edge) = self.edges.binary_search_by_key(&(a, b), |e| e.pair) else { continue };
                let pair = self.edges[edge].weights;
                weights = std::array::from_fn(|i| weights[i].max(pair[i]));
                evidence.extend(links_between(&self.links, (a, b)).iter().map(|l| (l.kind, l.key)));
            }
        }
        evidence.sort_unstable();
        evidence.dedup();
        RankedSuggestion {
            id: id(&found.hash),
            contact_ids: found.members.iter().map(|&m| self.records.id(m).to_owned()).collect(),
            score: found.score.0,
            weights,
            evidence,
        }
    }
}

impl Position {
    /// Returns the position after a suggestion with this score (thousandths) and id.
    pub fn at(score: Score, id: String) -> Position {
        Position { score: Reverse(score), id }
    }
}

impl RankedSuggestion {
    /// Returns the position for the cursor of the page that ends with this suggestion.
    pub fn position(&self) -> Position {
        Position { score: Reverse(self.score), id: self.id.clone() }
    }
}

/// The links of one pair.
fn links_between(links: &[Link], pair: (u32, u32)) -> &[Link] {
    let start = links.partition_point(|l| l.pair < pair);
    let count = links[start..].iter().take_while(|l| l.pair == pair).count();
    &links[start..start + count]
}

fn hash(records: &Records, members: &[u32]) -> [u8; ID_BYTES] {
    let mut hasher = Sha256::new();
    for &member in members {
        let id = records.id(member);
        // The length distinguishes lists whose concatenated ids are equal.
        hasher.update((id.len() as u64).to_be_bytes());
        hasher.update(id.as_bytes());
    }
    let whole = hasher.finalize();
    std::array::from_fn(|i| whole[i])
}

fn id(hash: &[u8; ID_BYTES]) -> String {
    format!("mrg_{}", hex::encode(hash))
}
