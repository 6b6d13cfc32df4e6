//! Compact records of the contacts: ids and names in one text, keys in one list.

use icu_properties::props::Script;
use model::contacts::Contact;
use model::contacts::PartialDate;

use crate::identifiers;
use crate::identifiers::Kind;
use crate::identifiers::key;
use crate::names;
use crate::names::Entity;
use crate::names::Name;
use crate::organizations;

/// Maximum organizations that are read from a contact.
const MAX_ORGANIZATIONS: usize = 4;
/// The separator of the parts of a name in the text; no token contains it.
const PART: char = '\u{1f}';

/// One contact.
#[derive(Clone, Debug)]
pub struct Record {
    id: (u32, u16),
    name: (u32, u16),
    script: Option<Script>,
    entity: Entity,
    ideographic: bool,
    generation: u8,
    organizations: (u32, u8),
    /// Packed; 0 for none.
    birthday: u32,
    /// A bit for each kind of the contact's identifiers.
    kinds: u8,
    /// Key of the full name in any order; 0 if it has fewer than two parts.
    pub full_name: u64,
}

/// An identifier of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Posting {
    pub kind: Kind,
    pub key: u64,
    pub contact: u32,
}

/// All contacts, identified by their index.
#[derive(Debug, Default)]
pub struct Records {
    text: String,
    organizations: Vec<u64>,
    pub all: Vec<Record>,
    pub postings: Vec<Posting>,
}

impl Records {
    /// Adds a contact. After 4 GiB of names, or 2³² contacts, further ones are dropped.
    pub fn add(&mut self, id: &str, contact: &Contact, region: Option<&str>) {
        let (Ok(index), Ok(_)) = (u32::try_from(self.all.len()), u32::try_from(self.text.len() + (1 << 17)))
        else {
            return;
        };
        let name = names::read(contact);
        let mut kinds = 0;
        for identifier in identifiers::read(contact, region) {
            kinds |= 1 << identifiers::reason(identifier.kind);
            self.postings.push(Posting { kind: identifier.kind, key: identifier.key(), contact: index });
        }
        let record = Record {
            id: self.push_text(id),
            script: name.script,
            entity: name.entity,
            ideographic: name.ideographic,
            generation: name.generation,
            organizations: self.keep_organizations(contact),
            birthday: contact.birthday.map_or(0, packed),
            full_name: full_name(&name),
            kinds,
            name: self.push_text(&encode(&name)),
        };
        self.all.push(record);
    }

    /// Sorts the contacts by id, so that results do not depend on their order of addition, and drops duplicate ids but the first.
    pub fn sort(&mut self) {
        let mut order: Vec<u32> = (0..self.all.len() as u32).collect();
        order.sort_by_key(|&i| self.id(i));
        order.dedup_by_key(|i| self.id(*i));
        let mut place = vec![u32::MAX; self.all.len()];
        for (to, from) in order.iter().enumerate() {
            place[*from as usize] = to as u32;
        }
        self.all = order.iter().map(|&i| self.all[i as usize].clone()).collect();
        for posting in &mut self.postings {
            posting.contact = place[posting.contact as usize];
        }
        self.postings.retain(|p| p.contact != u32::MAX);
        self.postings.sort_unstable();
        self.postings.dedup();
    }

    pub fn id(&self, index: u32) -> &str {
        self.slice(self.all[index as usize].id)
    }

    pub fn name(&self, index: u32) -> Name {
        let record = &self.all[index as usize];
        let mut parts = self.encoded_name(index).split(PART);
        let mut part = || {
            parts.next().unwrap_or_default().split(' ').filter(|t| !t.is_empty()).map(str::to_owned).collect()
        };
        Name {
            entity: record.entity,
            given: part(),
            middle: part(),
            family: part(),
            generation: record.generation,
            script: record.script,
            ideographic: record.ideographic,
        }
    }

    /// Returns the tokens of the name as one text: names are equal if their texts are.
    pub fn encoded_name(&self, index: u32) -> &str {
        self.slice(self.all[index as usize].name)
    }

    pub fn entity(&self, index: u32) -> Entity {
        self.all[index as usize].entity
    }

    pub fn generation(&self, index: u32) -> u8 {
        self.all[index as usize].generation
    }

    /// Counts the kinds of identifiers, and organizations, that both contacts have. Each kind without a common value is evidence against
    /// one person.
    pub fn comparable_kinds(&self, a: u32, b: u32) -> u32 {
        let (x, y) = (&self.all[a as usize], &self.all[b as usize]);
        (x.kinds & y.kinds).count_ones() + u32::from(x.organizations.1 > 0 && y.organizations.1 > 0)
    }

    /// Keys of the organizations.
    pub fn organizations(&self, index: u32) -> &[u64] {
        let (start, count) = self.all[index as usize].organizations;
        &self.organizations[start as usize..][..usize::from(count)]
    }

    /// Whether both birthdays are the same; none unless both contacts have one. Years are compared if both have one.
    pub fn same_birthday(&self, a: u32, b: u32) -> Option<bool> {
        let (x, y) = (self.all[a as usize].birthday, self.all[b as usize].birthday);
        if x == 0 || y == 0 {
            return None;
        }
        let years = (x >> 9, y >> 9);
        Some(x & 0x1ff == y & 0x1ff && (years.0 == 0 || years.1 == 0 || years.0 == years.1))
    }

    fn slice(&self, (start, length): (u32, u16)) -> &str {
        self.text.get(start as usize..start as usize + usize::from(length)).unwrap_or_default()
    }

    fn push_text(&mut self, text: &str) -> (u32, u16) {
        let text = text.split_at(text.floor_char_boundary(usize::from(u16::MAX))).0;
        let start = self.text.len();
        self.text.push_str(text);
        (start as u32, text.len() as u16)
    }

    fn keep_organizations(&mut self, contact: &Contact) -> (u32, u8) {
        let start = self.organizations.len();
        let named = contact.organizations.iter().take(MAX_ORGANIZATIONS).filter_map(|o| o.name.as_deref());
        for name in named.map(organizations::comparable).filter(|n| !n.is_empty()) {
            let organization = key(&name);
            if !self.organizations[start..].contains(&organization) {
                self.organizations.push(organization);
            }
        }
        (start as u32, (self.organizations.len() - start) as u8)
    }
}

/// Returns the groups of postings with equal keys.
pub fn groups(postings: &[Posting]) -> impl Iterator<Item = &[Posting]> {
    postings.chunk_by(|a, b| a.kind == b.kind && a.key == b.key)
}

fn encode(name: &Name) -> String {
    let part = |tokens: &[String]| tokens.join(" ");
    format!("{}{PART}{}{PART}{}", part(&name.given), part(&name.middle), part(&name.family))
}

fn full_name(name: &Name) -> u64 {
    match name.entity {
        Entity::Unnamed => 0,
        Entity::Organization => key(&("organization", &name.family)),
        Entity::Person if name.ideographic => {
            let (given, family) = (name.given.concat(), name.family.concat());
            // A single letter can only be a family name.
            let whole = format!("{family}{given}");
            if whole.chars().count() < 2 { 0 } else { key(&("person", whole)) }
        }
        Entity::Person if name.given.is_empty() || name.family.is_empty() => 0,
        Entity::Person => {
            let mut tokens: Vec<&str> = name.given.iter().chain(&name.family).map(String::as_str).collect();
            tokens.sort_unstable();
            key(&("person", tokens.concat()))
        }
    }
}

fn packed(date: PartialDate) -> u32 {
    let within = |value: i64, most: i64| u32::try_from(value.clamp(0, most)).unwrap_or(0);
    let day = within(date.month, 12) << 5 | within(date.day, 31);
    if day == 0 { 0 } else { within(date.year.unwrap_or(0), 9999) << 9 | day }
}
