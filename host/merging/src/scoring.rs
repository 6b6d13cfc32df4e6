//! Scores: the weights of evidence that two contacts are one person, combined.

use model::contacts::MergeReasonKind;

use crate::blocking;
use crate::blocking::Frequencies;
use crate::blocking::Link;
use crate::identifiers::Kind;
use crate::identifiers::reason;
use crate::names::Entity;
use crate::records::Records;
use crate::similarity::Relation;

/// A score in thousandths: scores are compared, sorted and stored in cursors, for which floating point is unsuitable.
pub type Score = u16;

/// The minimum score of an equal identifier (contract).
pub const STRONG: Score = 900;
/// The maximum score of a name alone (contract).
pub const NAME_ALONE: Score = 600;
/// The maximum score of a name and an organization.
pub const ORGANIZATION_AND_NAME: Score = 850;
/// Minimum score of a pair that is kept.
const LEAST: Score = 300;
const CERTAIN: f64 = 0.99;
/// Maximum contacts with a rare name, whatever other names there are (as in the contract for phone numbers).
const FEW_NAMESAKES: u32 = 3;
/// Maximum contacts with a name that counts as evidence; more are different people.
const MAX_NAMESAKES: u32 = 8;
/// Expected number of contacts with a name by chance, from which an equal name is as likely a coincidence as a duplicate.
const RARE: f64 = 0.01;
/// The same limit for contacts that have comparable identifiers, none of them in common.
const VERY_RARE: f64 = 0.0005;

/// The evidence that two contacts are one person.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    pub pair: (u32, u32),
    pub score: Score,
    /// Weight of each reason, thousandths; 0 for none. In the order of `REASONS`.
    pub weights: [Score; 5],
}

pub const REASONS: [MergeReasonKind; 5] = [
    MergeReasonKind::SameEmail,
    MergeReasonKind::SamePhone,
    MergeReasonKind::SameExternalProfile,
    MergeReasonKind::SameOrgAndName,
    MergeReasonKind::SimilarName,
];

/// Weight of an equal identifier alone.
fn weight(kind: Kind) -> Score {
    match kind {
        Kind::Email => 950,
        Kind::Phone | Kind::NationalPhone | Kind::Profile => STRONG,
    }
}

/// Scores a pair with all links between the contacts. None: there is no evidence for one person.
pub fn score(records: &Records, frequencies: &Frequencies, pair: (u32, u32), links: &[Link]) -> Option<Edge> {
    let (a, b) = pair;
    let compared = blocking::compare(records, frequencies, a, b);
    let birthdays = records.same_birthday(a, b);
    let mut weights = [0; 5];
    for link in links {
        weights[reason(link.kind)] = weight(link.kind);
    }
    if compared.relation == Relation::Agree {
        // An organization's name is also its organization field, and counts once.
        let same = records.entity(a) == Entity::Person
            && records.organizations(a).iter().any(|o| records.organizations(b).contains(o));
        weights[4] = name_weight(records, frequencies, pair, compared.similarity, birthdays);
        weights[3] = if same { organization_weight(compared.similarity, birthdays) } else { 0 };
    }
    let score = if links.is_empty() {
        weights[3].max(weights[4])
    } else {
        combine(&weights, compared.relation, birthdays)
    };
    (score >= LEAST).then_some(Edge { pair, score, weights })
}

/// Combines independent evidence: one minus the probability that all of it is a coincidence (noisy or). At least the score of a shared
/// identifier.
fn combine(weights: &[Score; 5], relation: Relation, birthdays: Option<bool>) -> Score {
    let doubtful = birthdays == Some(false)
        || matches!(relation, Relation::Different | Relation::Renamed | Relation::Kind);
    if doubtful {
        return STRONG;
    }
    let fraction = |w: &Score| f64::from(*w) / 1000.0;
    let name = weights[3].max(weights[4]);
    let chance: f64 = weights[..3].iter().chain([&name]).map(|w| 1.0 - fraction(w)).product();
    ((1.0 - chance).min(CERTAIN) * 1000.0).round() as Score
}

/// Returns the weight of an equal name with an equal organization: two people with the same name and employer are rarer than typing errors.
fn organization_weight(similarity: f64, birthdays: Option<bool>) -> Score {
    if birthdays == Some(false) {
        return 0;
    }
    match similarity {
        s if s >= 0.999 => ORGANIZATION_AND_NAME,
        s if s >= 0.9 => 780,
        s if s >= 0.8 => 700,
        _ => 0,
    }
}

/// Returns the weight of a name alone. 0.6 needs an equal name that is rare among these contacts, or an equal birthday with it; a
/// common or a similar name gets less, down to 0 for a name of many contacts.
fn name_weight(
    records: &Records,
    frequencies: &Frequencies,
    (a, b): (u32, u32),
    similarity: f64,
    birthdays: Option<bool>,
) -> Score {
    let full_name = records.all[a as usize].full_name;
    if birthdays == Some(false) {
        return 0;
    }
    if birthdays == Some(true) && similarity >= 0.9 {
        return NAME_ALONE;
    }
    if similarity < 0.999 || full_name == 0 {
        return (570.0 * similarity).round() as Score;
    }
    let namesakes =
        frequencies.namesakes(full_name).max(frequencies.namesakes(records.all[b as usize].full_name));
    let expected = frequencies.expected_namesakes(&records.name(a), full_name);
    let rare = match records.comparable_kinds(a, b) {
        0 => RARE,
        1 => VERY_RARE,
        // They differ in at least two kinds of evidence.
        _ => 0.0,
    };
    match namesakes {
        n if n > MAX_NAMESAKES => 0,
        n if n <= FEW_NAMESAKES && expected < rare => NAME_ALONE,
        _ => 500,
    }
}
