//! Clusters: groups of contacts that are linked by scored pairs.

use std::collections::HashMap;

use crate::blocking;
use crate::blocking::Frequencies;
use crate::records::Records;
use crate::scoring::Edge;
use crate::scoring::STRONG;
use crate::scoring::Score;
use crate::similarity;

/// Maximum contacts of a suggestion: a user could not review more.
pub const MAX_CLUSTER: usize = 16;

/// Contacts that are probably one person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Sorted.
    pub members: Vec<u32>,
    /// The score of the weakest link in the cluster.
    pub score: Score,
}

/// Returns the clusters of scored pairs, which are sorted by pair.
///
/// Strong pairs are closed transitively, the highest score first: two clusters are merged unless the result exceeds `MAX_CLUSTER` or has
/// two contacts whose names or birthdays contradict each other and that have no identifier in common (two people who each share a number
/// with a third). Weak pairs are not closed: every pair in their clusters is itself a scored pair. These clusters are suggested beside the
/// strong ones, so that certain suggestions do not wait for uncertain ones.
pub fn clusters(records: &Records, frequencies: &Frequencies, edges: &[Edge]) -> Vec<Cluster> {
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_by_key(|&e| (std::cmp::Reverse(edges[e].score), edges[e].pair));
    let split = order.partition_point(|&e| edges[e].score >= STRONG);
    let mut closure = Closure { records, frequencies, edges, of: HashMap::new(), clusters: Vec::new() };
    for &e in &order[..split] {
        closure.join(&edges[e]);
    }
    let mut cliques = Cliques { closure: &closure, latest: HashMap::new(), clusters: Vec::new() };
    for &e in &order[split..] {
        cliques.join(&edges[e]);
    }
    let weak = cliques.clusters;
    let mut all: Vec<Cluster> =
        closure.clusters.into_iter().filter(|c| c.members.len() > 1).chain(weak).collect();
    for cluster in &mut all {
        cluster.members.sort_unstable();
    }
    all.sort_by(|a, b| a.members.cmp(&b.members).then(b.score.cmp(&a.score)));
    all.dedup_by(|later, earlier| later.members == earlier.members);
    all
}

/// The transitive closure of strong pairs.
struct Closure<'a> {
    records: &'a Records,
    frequencies: &'a Frequencies,
    edges: &'a [Edge],
    of: HashMap<u32, usize>,
    /// Clusters; one that was merged into another is empty.
    clusters: Vec<Cluster>,
}

impl Closure<'_> {
    fn join(&mut self, edge: &Edge) {
        let (a, b) = (self.cluster_of(edge.pair.0), self.cluster_of(edge.pair.1));
        if a == b || !self.may_join(a, b) {
            return;
        }
        // The smaller cluster moves into the larger, so each contact moves only a few times.
        let (into, from) =
            if self.clusters[a].members.len() >= self.clusters[b].members.len() { (a, b) } else { (b, a) };
        let moved = std::mem::take(&mut self.clusters[from].members);
        for &member in &moved {
            self.of.insert(member, into);
        }
        let weakest = self.clusters[from].score.min(edge.score);
        self.clusters[into].members.extend(moved);
        self.clusters[into].score = self.clusters[into].score.min(weakest);
    }

    fn cluster_of(&mut self, contact: u32) -> usize {
        *self.of.entry(contact).or_insert_with(|| {
            self.clusters.push(Cluster { members: vec![contact], score: 1000 });
            self.clusters.len() - 1
        })
    }

    fn may_join(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.clusters[a].members, &self.clusters[b].members);
        a.len() + b.len() <= MAX_CLUSTER && a.iter().all(|&x| b.iter().all(|&y| self.may_be_one(x, y)))
    }

    fn may_be_one(&self, x: u32, y: u32) -> bool {
        if find(self.edges, x, y).is_some_and(|e| e.score >= STRONG) {
            return true;
        }
        let relation = blocking::compare(self.records, self.frequencies, x, y).relation;
        !similarity::contradicts(relation) && self.records.same_birthday(x, y) != Some(false)
    }

    /// Returns the score for two contacts being one person, as a pair or as members of one cluster.
    fn certainty(&self, x: u32, y: u32) -> Score {
        let together =
            self.of.get(&x).filter(|c| self.of.get(&y) == Some(c)).map(|&c| self.clusters[c].score);
        together.or_else(|| find(self.edges, x, y).map(|e| e.score)).unwrap_or(0)
    }
}

/// The scored pair of two contacts.
fn find(edges: &[Edge], x: u32, y: u32) -> Option<&Edge> {
    let pair = (x.min(y), x.max(y));
    edges.binary_search_by_key(&pair, |e| e.pair).ok().map(|at| &edges[at])
}

/// Weak pairs grown to cliques, the highest score first.
struct Cliques<'a> {
    closure: &'a Closure<'a>,
    /// The latest clique of a contact.
    latest: HashMap<u32, usize>,
    clusters: Vec<Cluster>,
}

impl Cliques<'_> {
    fn join(&mut self, edge: &Edge) {
        let (a, b) = edge.pair;
        if self.closure.certainty(a, b) >= STRONG {
            return;
        }
        let (of_a, of_b) = (self.latest.get(&a).copied(), self.latest.get(&b).copied());
        if of_a.is_some_and(|c| self.clusters[c].members.contains(&b))
            || of_b.is_some_and(|c| self.clusters[c].members.contains(&a))
        {
            return;
        }
        for (clique, newcomer) in [(of_a, b), (of_b, a)] {
            if let Some(clique) = clique.filter(|&c| self.takes(c, newcomer)) {
                self.clusters[clique].members.push(newcomer);
                self.latest.insert(newcomer, clique);
                return;
            }
        }
        self.latest.insert(a, self.clusters.len());
        self.latest.insert(b, self.clusters.len());
        self.clusters.push(Cluster { members: vec![a, b], score: edge.score });
    }

    /// Whether the contact's score with each member is at least that of the clique.
    fn takes(&self, clique: usize, newcomer: u32) -> bool {
        let Cluster { members, score } = &self.clusters[clique];
        members.len() < MAX_CLUSTER && members.iter().all(|&m| self.closure.certainty(m, newcomer) >= *score)
    }
}
