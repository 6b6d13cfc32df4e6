//! Comparison of two names: whether they can belong to one person.

use crate::names::Entity;
use crate::names::Name;
use crate::nicknames;

/// The result of a comparison of two names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// No conclusion: a name or its decisive part is missing, or the scripts differ.
    Unknown,
    /// They can belong to one person, to the degree of `similarity`.
    Agree,
    /// The same given name with another family name: a marriage, or another person.
    Renamed,
    /// The same family name with a clearly different given name: relatives.
    Household,
    /// Clearly different names.
    Different,
    /// Father and son: Sr. and Jr.
    Generation,
    /// A person and an organization.
    Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    pub relation: Relation,
    /// 0 to 1; 1 if given and family name are equal.
    pub similarity: f64,
}

/// The result of a comparison of one part of two names.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Missing,
    Alike(f64),
    Differs,
}

const INITIAL: f64 = 0.85;
const NICKNAME: f64 = 0.96;
/// One of two family names, or a given name that is the other's middle name.
const SUBSET: f64 = 0.92;
/// A short form that is the beginning of the other name (`Annika`, `Anni`).
const DIMINUTIVE: f64 = 0.87;
/// The same given name, one of them without a family name.
const GIVEN_ALONE: f64 = 0.7;
/// Different middle names, or Jr. on one side only.
const DOUBT: f64 = 0.88;

/// Compares two names. `is_common` says whether several contacts have a token: two common tokens that differ by one letter are two names
/// (`Hansen`, `Jansen`), not one with a typing error.
pub fn compare(a: &Name, b: &Name, is_common: &dyn Fn(&str) -> bool) -> Comparison {
    let verdict = |relation, similarity| Comparison { relation, similarity };
    match (a.entity, b.entity) {
        (Entity::Unnamed, _) | (_, Entity::Unnamed) => return verdict(Relation::Unknown, 0.0),
        (Entity::Organization, Entity::Organization) if a.family == b.family => {
            return verdict(Relation::Agree, 1.0);
        }
        (Entity::Organization, Entity::Organization) => return verdict(Relation::Different, 0.0),
        (Entity::Organization, _) | (_, Entity::Organization) => return verdict(Relation::Kind, 0.0),
        (Entity::Person, Entity::Person) => {}
    }
    if a.ideographic != b.ideographic || (!a.ideographic && a.script != b.script) {
        return verdict(Relation::Unknown, 0.0);
    }
    if a.ideographic {
        return refine(compare_whole(a, b), a, b);
    }
    if is_lone_family(a, b) || is_lone_family(b, a) {
        return verdict(Relation::Unknown, 0.0);
    }
    let straight = classify(given_part(a, b, is_common), family_part(a, b, is_common));
    let best = if a.family.is_empty() || b.family.is_empty() {
        straight
    } else {
        let crossed = classify(lists(&a.given, &b.family, is_common), lists(&a.family, &b.given, is_common));
        if crossed.relation == Relation::Agree && crossed.similarity > straight.similarity {
            crossed
        } else {
            straight
        }
    };
    refine(best, a, b)
}

/// Whether the names contradict one person: a shared identifier then belongs to a household or an office.
pub fn contradicts(relation: Relation) -> bool {
    matches!(relation, Relation::Household | Relation::Different | Relation::Generation)
}

fn classify(given: Part, family: Part) -> Comparison {
    let (relation, similarity) = match (given, family) {
        (Part::Alike(g), Part::Alike(f)) => (Relation::Agree, g * f),
        (Part::Alike(g), Part::Missing) => (Relation::Agree, g * GIVEN_ALONE),
        (Part::Alike(_), Part::Differs) => (Relation::Renamed, 0.0),
        (Part::Differs, Part::Alike(_)) => (Relation::Household, 0.0),
        (Part::Differs, Part::Differs) => (Relation::Different, 0.0),
        (Part::Differs, Part::Missing) => (Relation::Different, 0.0),
        (Part::Missing, _) => (Relation::Unknown, 0.0),
    };
    Comparison { relation, similarity }
}

/// Whether the only name of one is a family name of the other (`Smith`, `John Smith`).
fn is_lone_family(lone: &Name, full: &Name) -> bool {
    lone.family.is_empty()
        && lone.given.first().is_some_and(|g| !full.given.contains(g) && full.family.contains(g))
}

/// Adjusts a comparison by generations and middle names.
fn refine(found: Comparison, a: &Name, b: &Name) -> Comparison {
    if found.relation != Relation::Agree && found.relation != Relation::Unknown {
        return found;
    }
    if a.generation != 0 && b.generation != 0 && a.generation != b.generation {
        return Comparison { relation: Relation::Generation, similarity: 0.0 };
    }
    let initial = |n: &Name| n.middle.first().and_then(|m| m.chars().next());
    let middles_differ = matches!((initial(a), initial(b)), (Some(x), Some(y)) if x != y);
    let doubtful = middles_differ || (a.generation == 0) != (b.generation == 0);
    Comparison { similarity: found.similarity * if doubtful { DOUBT } else { 1.0 }, ..found }
}

/// Compares names without spaces: equal in either order, or different. A single letter is a whole part of a name, so there are no typing
/// errors.
fn compare_whole(a: &Name, b: &Name) -> Comparison {
    let orders = |n: &Name| {
        let (given, family) = (n.given.concat(), n.family.concat());
        [format!("{family}{given}"), format!("{given}{family}")]
    };
    let (x, y) = (orders(a), orders(b));
    if x[0] == y[0] || x[0] == y[1] || x[1] == y[0] {
        return Comparison { relation: Relation::Agree, similarity: 1.0 };
    }
    let contained =
        x[0].starts_with(&y[0]) || y[0].starts_with(&x[0]) || x[0].ends_with(&y[0]) || y[0].ends_with(&x[0]);
    let relation = match x[0].chars().next() == y[0].chars().next() {
        _ if contained => Relation::Unknown,
        true => Relation::Household,
        false => Relation::Different,
    };
    Comparison { relation, similarity: 0.0 }
}

/// Compares given names; a person who is called by the second name may have it first elsewhere.
fn given_part(a: &Name, b: &Name, is_common: &dyn Fn(&str) -> bool) -> Part {
    match lists(&a.given, &b.given, is_common) {
        Part::Differs => {
            let is_middle = |given: &[String], middle: &[String]| {
                given.first().is_some_and(|g| g.chars().count() > 1 && middle.contains(g))
            };
            if is_middle(&a.given, &b.middle) || is_middle(&b.given, &a.middle) {
                Part::Alike(SUBSET * DOUBT)
            } else if is_diminutive(&a.given[0], &b.given[0]) || is_diminutive(&b.given[0], &a.given[0]) {
                Part::Alike(DIMINUTIVE)
            } else {
                Part::Differs
            }
        }
        part => part,
    }
}

fn is_diminutive(short: &str, long: &str) -> bool {
    let both_known = nicknames::is_known(short) && nicknames::is_known(long);
    short.chars().count() > 2 && long.starts_with(short) && !differs_in_ending(short, long) && !both_known
}

/// Compares family names. The first of two without a hyphen is read as a middle name if the contact does not separate the parts.
fn family_part(a: &Name, b: &Name, is_common: &dyn Fn(&str) -> bool) -> Part {
    match lists(&a.family, &b.family, is_common) {
        Part::Differs => {
            let within = |family: &[String], middle: &[String]| {
                family.iter().all(|f| f.len() > 1 && middle.contains(f))
            };
            let found = within(&a.family, &b.middle) || within(&b.family, &a.middle);
            if found { Part::Alike(SUBSET) } else { Part::Differs }
        }
        part => part,
    }
}

/// Compares two lists of tokens, each of which is one part of a name.
fn lists(a: &[String], b: &[String], is_common: &dyn Fn(&str) -> bool) -> Part {
    if a.is_empty() || b.is_empty() {
        return Part::Missing;
    }
    if a == b || (a.len() != b.len() && a.concat() == b.concat()) {
        return Part::Alike(1.0);
    }
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let mut worst: f64 = 1.0;
    for token in short {
        let best = long.iter().map(|other| alike(token, other, is_common)).fold(0.0, f64::max);
        worst = worst.min(best);
    }
    match worst {
        0.0 => Part::Differs,
        worst if short.len() < long.len() => Part::Alike(worst * SUBSET),
        worst => Part::Alike(worst),
    }
}

/// Returns the similarity of two tokens, 0 if they are different names.
fn alike(x: &str, y: &str, is_common: &dyn Fn(&str) -> bool) -> f64 {
    if x == y {
        return 1.0;
    }
    let (m, n) = (x.chars().count(), y.chars().count());
    if m == 1 || n == 1 {
        return if x.chars().next() == y.chars().next() { INITIAL } else { 0.0 };
    }
    if nicknames::canonical(x) == nicknames::canonical(y) {
        return NICKNAME;
    }
    if is_misspelt(x, y, m, n) && !(is_common(x) && is_common(y)) {
        // The limits rank a typing error between an initial and a nickname.
        return strsim::jaro_winkler(x, y).clamp(INITIAL, NICKNAME);
    }
    0.0
}

/// Whether the tokens differ by one typing error (a letter inserted, deleted or replaced, or two swapped: Damerau 1964), or by two in a
/// long token.
fn is_misspelt(x: &str, y: &str, m: usize, n: usize) -> bool {
    let (short, long) = (m.min(n), m.max(n));
    let allowed = if long >= 8 { 2 } else { 1 };
    if short < 4 || long - short > allowed || (nicknames::is_known(x) && nicknames::is_known(y)) {
        return false;
    }
    strsim::osa_distance(x, y) <= allowed && !differs_in_ending(x, y)
}

/// Whether two tokens differ in an ending that makes another name: `Daniel` and `Daniela`, `Mario` and `Maria`, `Ivanov` and `Ivanova`.
fn differs_in_ending(x: &str, y: &str) -> bool {
    let stem = |t: &str| t.trim_end_matches(['a', 'e', 'i', 'o', 'u', 'y', 'а', 'я', 'й']).to_owned();
    stem(x) == stem(y)
}

#[cfg(test)]
mod tests {
    use model::contacts::Contact;

    use super::*;
    use crate::names;

    fn compared(a: &str, b: &str) -> Comparison {
        let name =
            |text: &str| names::read(&Contact { display_name: Some(text.to_owned()), ..Contact::default() });
        compare(&name(a), &name(b), &|_| false)
    }

    #[test]
    fn one_person() {
        for (a, b, least) in [
            ("Jürgen Müller", "Juergen Mueller", 1.0),
            ("José García", "Jose Garcia", 1.0),
            ("Smith, John", "Dr. John Smith", 1.0),
            ("Smith John", "John Smith", 1.0),
            ("John Q. Smith", "John Smith", 1.0),
            ("山田太郎", "山田 太郎", 1.0),
            ("山田 太郎", "太郎 山田", 1.0),
            ("Łukasz Żak", "lukasz zak", 1.0),
            ("Bob Smith", "Robert Smith", 0.95),
            ("J. Smith", "John Smith", 0.85),
            ("Jean-Pierre Dupont", "Jean Pierre Dupont", 0.9),
            ("Ana García Márquez", "Ana García", 0.85),
            ("Katarzyna Wisniewska", "Katarzyna Wisniewksa", 0.9),
            ("Anna", "Anna Schmidt", 0.7),
            ("Sebastian Koch", "Seb Koch", 0.87),
            ("Ann Lee", "Annie Lee", 0.96),
        ] {
            let found = compared(a, b);
            assert_eq!(found.relation, Relation::Agree, "{a} | {b}");
            assert!(found.similarity >= least, "{a} | {b}: {}", found.similarity);
        }
    }

    #[test]
    fn several_people() {
        for (a, b, relation) in [
            ("Anna Schmidt", "Peter Schmidt", Relation::Household),
            ("Daniel Weber", "Daniela Weber", Relation::Household),
            ("Anna Schmidt", "Peter Weber", Relation::Different),
            ("Anna Schmidt", "Anna Weber", Relation::Renamed),
            ("John Smith Jr.", "John Smith Sr.", Relation::Generation),
            ("John Smith", "Smith", Relation::Unknown),
            ("John Smith", "Anna", Relation::Different),
            ("山田太郎", "山田花子", Relation::Household),
            ("김민준", "이서연", Relation::Different),
            ("山田 太郎 Jr.", "山田 太郎 Sr.", Relation::Generation),
            ("Anna Schmidt", "Анна Шмидт", Relation::Unknown),
            ("Anna Schmidt", "Familie Schmidt", Relation::Kind),
            ("Анна Иванова", "Иван Иванов", Relation::Different),
        ] {
            assert_eq!(compared(a, b).relation, relation, "{a} | {b}");
        }
    }
}
