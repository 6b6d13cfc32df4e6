//! Candidate pairs without comparing all with all: contacts that share an identifier, and contacts in one block of similar names. Both take
//! time linear in the number of contacts, for any input.

use std::collections::HashMap;

use crate::identifiers::Kind;
use crate::identifiers::key;
use crate::names::Entity;
use crate::names::Name;
use crate::nicknames;
use crate::records::Posting;
use crate::records::Records;
use crate::records::groups;
use crate::similarity;
use crate::similarity::Comparison;
use crate::similarity::Relation;

/// Maximum contacts that share a phone number or profile; one on more contacts is an office's (contract).
pub const MAX_PHONE_HOLDERS: usize = 3;
/// Maximum contacts that share an email address; one on more contacts is a mailing list's or a shared mailbox's, unless all have the same
/// name: a repeated import.
pub const MAX_EMAIL_HOLDERS: usize = 5;
/// Neighbours that a contact is compared with in a block sorted by name: sorted neighbourhood (Hernández and Stolfo 1995). Blocks of up to
/// `WINDOW + 1` contacts are compared completely; in larger ones similar names are neighbours, so that the work grows linearly with the
/// block's size.
pub const WINDOW: usize = 10;
/// Number of contacts from which a name token counts as common.
const COMMON: u32 = 3;

/// Two contacts that share an identifier which counts as evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The lower index first.
    pub pair: (u32, u32),
    pub kind: Kind,
    pub key: u64,
}

/// Frequencies of name tokens and of full names.
#[derive(Debug, Default)]
pub struct Frequencies {
    tokens: HashMap<u64, u32>,
    full_names: HashMap<u64, u32>,
    scripts: HashMap<u64, u32>,
}

impl Frequencies {
    pub fn from_records(records: &Records) -> Frequencies {
        let mut counted = Frequencies::default();
        for (index, record) in records.all.iter().enumerate() {
            if record.full_name == 0 {
                continue;
            }
            *counted.full_names.entry(record.full_name).or_default() += 1;
            let name = records.name(index as u32);
            *counted.scripts.entry(script(&name)).or_default() += 1;
            for token in halves(&name).iter().flat_map(|(given, family)| given.iter().chain(family)) {
                *counted.tokens.entry(key(token)).or_default() += 1;
            }
        }
        counted
    }

    pub fn is_common(&self, token: &str) -> bool {
        self.token(token) >= COMMON
    }

    /// Returns the number of contacts with this full name.
    pub fn namesakes(&self, full_name: u64) -> u32 {
        self.full_names.get(&full_name).copied().unwrap_or(0)
    }

    /// Returns the number of contacts that would have this full name by chance, if given and family names were independent among the names
    /// of one script: the product of both frequencies, without the contacts that have both.
    pub fn expected_namesakes(&self, name: &Name, full_name: u64) -> f64 {
        let own = self.namesakes(full_name);
        let others = |tokens: &[String]| {
            let counts = tokens.iter().map(|t| self.token(t).saturating_sub(own));
            f64::from(counts.min().unwrap_or(0))
        };
        let total = self.scripts.get(&script(name)).copied().unwrap_or(1);
        let products = halves(name).into_iter().map(|(given, family)| others(&given) * others(&family));
        products.fold(0.0, f64::max) / f64::from(total)
    }

    fn token(&self, token: &str) -> u32 {
        self.tokens.get(&key(&token)).copied().unwrap_or(0)
    }
}

/// Returns the key of a name's script. Han and kana have one key, because names mix them.
fn script(name: &Name) -> u64 {
    if name.ideographic { 0 } else { key(&name.script) }
}

/// Splits a name into given and family name. A name without spaces is split after the first letter and after the second: most family names
/// of China and Korea have one letter, most of Japan two. The wrong split is a rare name and has no effect.
fn halves(name: &Name) -> Vec<(Vec<String>, Vec<String>)> {
    if !name.ideographic {
        return vec![(name.given.clone(), name.family.clone())];
    }
    let whole = format!("{}{}", name.family.concat(), name.given.concat());
    let ends = whole.char_indices().map(|(at, _)| at).skip(1).take(2);
    let parted = ends.map(|at| whole.split_at(at));
    parted.map(|(family, given)| (vec![given.to_owned()], vec![family.to_owned()])).collect()
}

/// Compares the names of two contacts, with a fast path for equal spellings.
pub fn compare(records: &Records, frequencies: &Frequencies, a: u32, b: u32) -> Comparison {
    let alike = records.encoded_name(a) == records.encoded_name(b)
        && records.entity(a) == records.entity(b)
        && records.generation(a) == records.generation(b);
    if alike && records.all[a as usize].full_name != 0 {
        return Comparison { relation: Relation::Agree, similarity: 1.0 };
    }
    similarity::compare(&records.name(a), &records.name(b), &|token| frequencies.is_common(token))
}

/// Returns the links of all shared identifiers, sorted.
pub fn links(records: &Records, frequencies: &Frequencies) -> Vec<Link> {
    let mut found = Vec::new();
    for group in groups(&records.postings).filter(|g| g.len() > 1) {
        let most = if group[0].kind == Kind::Email { MAX_EMAIL_HOLDERS } else { MAX_PHONE_HOLDERS };
        if group.len() <= most {
            link_holders(records, frequencies, group, &mut found);
        } else if group[0].kind == Kind::Email {
            link_namesakes(records, group, &mut found);
        }
    }
    found.sort_unstable();
    found
}

/// Links the holders of an identifier. If the names of two holders contradict each other, the identifier is shared, and links only
/// holders whose names agree.
fn link_holders(records: &Records, frequencies: &Frequencies, group: &[Posting], found: &mut Vec<Link>) {
    let mut shared = false;
    let mut pairs = Vec::new();
    for (at, a) in group.iter().enumerate() {
        for b in &group[at + 1..] {
            let relation = compare(records, frequencies, a.contact, b.contact).relation;
            let birthdays = records.same_birthday(a.contact, b.contact);
            let contradiction = match relation {
                Relation::Household | Relation::Generation => true,
                // A mailbox and a profile have one owner, whatever the names; a phone line belongs to all who live or work there.
                Relation::Different | Relation::Kind => a.kind != Kind::Email && a.kind != Kind::Profile,
                Relation::Unknown | Relation::Renamed => birthdays == Some(false),
                Relation::Agree => false,
            };
            shared |= contradiction;
            pairs.push((a.contact, b.contact, relation));
        }
    }
    let telling = pairs.iter().filter(|(.., relation)| match group[0].kind {
        // Equal national digits need not be the same number.
        Kind::NationalPhone => *relation == Relation::Agree,
        _ => !shared || *relation == Relation::Agree,
    });
    found.extend(telling.map(|&(a, b, _)| Link { pair: (a, b), kind: group[0].kind, key: group[0].key }));
}

/// Links the holders of an over-shared address that have the same full name.
fn link_namesakes(records: &Records, group: &[Posting], found: &mut Vec<Link>) {
    let full_name = |contact: u32| records.all[contact as usize].full_name;
    let mut holders: Vec<(u64, u32)> = group.iter().map(|p| (full_name(p.contact), p.contact)).collect();
    holders.retain(|(name, _)| *name != 0);
    holders.sort_unstable();
    for same in holders.chunk_by(|a, b| a.0 == b.0) {
        for (at, (_, a)) in same.iter().enumerate() {
            for (_, b) in same[at + 1..].iter().take(WINDOW) {
                if records.generation(*a) == records.generation(*b) {
                    found.push(Link { pair: (*a, *b), kind: group[0].kind, key: group[0].key });
                }
            }
        }
    }
}

/// Returns the pairs with similar names, sorted, each once.
pub fn similar_names(records: &Records) -> Vec<(u32, u32)> {
    let mut blocks: Vec<(u64, u32)> = Vec::with_capacity(records.all.len() * 4);
    for index in 0..records.all.len() as u32 {
        blocks.extend(block_keys(records, index).into_iter().map(|k| (k, index)));
    }
    blocks.sort_unstable();
    blocks.dedup();
    let mut pairs = Vec::new();
    let mut sorted: Vec<u32> = Vec::new();
    for block in blocks.chunk_by(|a, b| a.0 == b.0).filter(|b| b.len() > 1) {
        sorted.clear();
        sorted.extend(block.iter().map(|(_, contact)| *contact));
        if sorted.len() > WINDOW + 1 {
            sorted.sort_by_key(|&c| (records.encoded_name(c), c));
        }
        for (at, &a) in sorted.iter().enumerate() {
            pairs.extend(sorted[at + 1..].iter().take(WINDOW).map(|&b| (a.min(b), a.max(b))));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Returns the block keys of a contact: its full name; each part of it with the beginning of the other, in either role, which tolerates a
/// typing error, an initial or a short form in the other; each organization with one part of the name.
fn block_keys(records: &Records, index: u32) -> Vec<u64> {
    let record = &records.all[index as usize];
    let name = records.name(index);
    let mut keys = Vec::new();
    if record.full_name != 0 {
        keys.push(record.full_name);
    }
    if name.entity != Entity::Person {
        return keys;
    }
    let given = name.given.first().map(|g| nicknames::canonical(g)).unwrap_or_default();
    let family = name.family.last().map(String::as_str).unwrap_or_default();
    if name.ideographic {
        keys.push(key(&("person", format!("{}{}", name.given.concat(), name.family.concat()))));
    } else if !given.is_empty() && !family.is_empty() {
        keys.push(key(&("part", family, beginning(given, 1))));
        keys.push(key(&("part", given, beginning(family, 2))));
    }
    for organization in records.organizations(index) {
        for part in [given, family].into_iter().filter(|p| p.chars().count() > 1) {
            keys.push(key(&("organization", organization, part)));
        }
    }
    keys
}

fn beginning(token: &str, letters: usize) -> String {
    token.chars().take(letters).collect()
}
