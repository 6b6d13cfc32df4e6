//! Names of contacts split into comparable tokens.

use icu_properties::CodePointMapData;
use icu_properties::props::Script;
use model::contacts::Contact;
use text::folding;

use crate::organizations;
use crate::words::cut;
use crate::words::words;

const MAX_TOKENS: usize = 8;
const MAX_TOKEN_CHARS: usize = 40;

/// Courtesy titles, degrees and ranks, folded. They do not identify a person, because many people omit them.
const TITLES: &[&str] = &[
    "arch",
    "avv",
    "ba",
    "bsc",
    "capt",
    "col",
    "cpa",
    "dame",
    "dipl",
    "dott",
    "dottssa",
    "dr",
    "dra",
    "dres",
    "drs",
    "esq",
    "frau",
    "gen",
    "hc",
    "herr",
    "herrn",
    "hon",
    "ing",
    "jd",
    "llb",
    "llm",
    "lord",
    "lt",
    "ma",
    "mag",
    "maj",
    "mba",
    "md",
    "med",
    "mgr",
    "miss",
    "mister",
    "mlle",
    "mme",
    "mr",
    "mrs",
    "ms",
    "msc",
    "mx",
    "phd",
    "prof",
    "professor",
    "pe",
    "ra",
    "rev",
    "rn",
    "sen",
    "señor",
    "sgt",
    "sig",
    "sigra",
    "signor",
    "sir",
    "sra",
    "srta",
    "univ",
    "г-жа",
    "господин",
    "д-р",
];
/// Words that make a personal name the name of a family.
const FAMILY_WORDS: &[&str] = &["familie", "family", "famille", "familia", "famiglia", "fam", "семья"];
/// Particles: a family name begins with the first of them.
const PARTICLES: &[&str] = &[
    "al", "bin", "ben", "bint", "da", "das", "de", "degli", "del", "della", "den", "der", "di", "dos", "du",
    "el", "ibn", "la", "le", "san", "st", "ten", "ter", "van", "vande", "vom", "von", "zu", "zum", "zur",
];

/// The kind of entity that a contact describes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Entity {
    /// A name without information.
    #[default]
    Unnamed,
    Person,
    /// Also a household.
    Organization,
}

/// A name prepared for comparison. Tokens are folded without accents, with German and Nordic digraphs as one letter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    pub entity: Entity,
    /// Given names; the first is the usual one.
    pub given: Vec<String>,
    pub middle: Vec<String>,
    pub family: Vec<String>,
    /// 1 for Sr., 2 for Jr. or II, 3 and above as numbered; 0 if the name has no generation.
    pub generation: u8,
    /// The script of the first letter; names in different scripts cannot be compared.
    pub script: Option<Script>,
    /// Whether the name is written without spaces and compared as a whole: Han, kana, Hangul.
    pub ideographic: bool,
}

/// Returns a token with `ae`, `oe`, `ue`, `aa` replaced by their first letter, so that `Mueller`, `Müller` and `Muller` are equal, and
/// `Aagaard` and `Ågård`. It also makes `Michael` and `Michal` equal, which are only a typing error apart. Short tokens stay: `Sue` and
/// `Su`, `Noe` and `No` are different names.
pub fn collapsed(token: &str) -> String {
    if token.len() < 5 || !token.is_ascii() {
        return token.to_owned();
    }
    let mut kept = String::with_capacity(token.len());
    for c in token.chars() {
        let digraph = match kept.chars().next_back() {
            Some('a') => c == 'e' || c == 'a',
            Some('o' | 'u') => c == 'e',
            _ => false,
        };
        if !digraph {
            kept.push(c);
        }
    }
    kept
}

/// Returns the name of a contact: given and family name if both are set, else the display name, else a lone part or the nickname, else the
/// organization.
pub fn read(contact: &Contact) -> Name {
    let organization =
        contact.organizations.iter().filter_map(|o| o.name.as_deref()).find(|n| !n.trim().is_empty());
    let given = tokens(contact.given_name.as_deref().unwrap_or_default());
    let family = tokens(contact.family_name.as_deref().unwrap_or_default());
    let mut name = if !given.is_empty() && !family.is_empty() {
        name_from_parts(given, family, tokens(contact.middle_name.as_deref().unwrap_or_default()))
    } else {
        let parts = [contact.given_name.as_deref(), contact.family_name.as_deref()];
        let fallback = [contact.display_name.as_deref(), contact.nickname.as_deref()];
        let mut written = parts.into_iter().chain(fallback).flatten().filter(|t| says_something(t));
        let display = contact.display_name.as_deref().filter(|d| says_something(d));
        // Beside a lone given or family name, the display name usually has the other part.
        match display.or_else(|| written.next()) {
            Some(text) => name_from_text(text, organization),
            // A person at the organization, identified by an address or a number.
            None if contact.display_name.as_deref().is_some_and(|d| !d.trim().is_empty()) => Name::default(),
            None => organization.map(as_organization).unwrap_or_default(),
        }
    };
    let suffix = contact.suffix.as_deref().map(tokens).unwrap_or_default();
    name.generation = suffix.iter().map(|t| generation(t)).max().unwrap_or(0).max(name.generation);
    complete(name)
}

/// Whether a text is a name: no address, no number, no empty form field.
fn says_something(text: &str) -> bool {
    let text = cut(text).trim();
    !text.contains('@') && text.chars().any(char::is_alphabetic)
}

fn tokens(text: &str) -> Vec<String> {
    let folded = folding::search_key(cut(text)).replace('\'', "");
    let short = |w: &str| w.chars().take(MAX_TOKEN_CHARS).collect::<String>();
    words(&folded).map(|w| collapsed(&short(w))).take(MAX_TOKENS).collect()
}

fn name_from_parts(mut given: Vec<String>, family: Vec<String>, mut middle: Vec<String>) -> Name {
    let mut family = family;
    let mut number = 0;
    while family.len() > 1 && family.last().is_some_and(|t| generation(t) > 0 || is_title(t)) {
        number = number.max(family.pop().map_or(0, |t| generation(&t)));
    }
    if given.len() > 1 {
        given.retain(|t| !is_title(t));
        let initials = given.iter().skip(1).position(|t| t.chars().count() == 1);
        middle.splice(0..0, initials.map(|at| given.split_off(at + 1)).unwrap_or_default());
    }
    Name { entity: Entity::Person, given, middle, family, generation: number, ..Name::default() }
}

/// Reads `Given Middle Family`, `Family, Given`, and the two orders of names without spaces, where the family comes first.
fn name_from_text(text: &str, organization: Option<&str>) -> Name {
    let bare = without_asides(cut(text));
    if organization.is_some_and(|o| organizations::comparable(o) == organizations::comparable(&bare)) {
        return as_organization(&bare);
    }
    let (head, tail) = bare.split_once([',', '，', '、']).unwrap_or((bare.as_str(), ""));
    let (mut head, mut tail) = (tokens(head), tokens(tail));
    if head.iter().chain(&tail).any(|t| FAMILY_WORDS.contains(&t.as_str())) {
        return as_organization(&bare);
    }
    let mut number = 0;
    for part in [&mut head, &mut tail] {
        number = number.max(strip(part));
    }
    if !head.is_empty() && !tail.is_empty() {
        let mut name = name_from_parts(tail, head, Vec::new());
        name.middle.extend(name.given.split_off(1));
        name.generation = number;
        return name;
    }
    let mut all = if head.is_empty() { tail } else { head };
    let mut name = Name { entity: Entity::Person, generation: number, ..Name::default() };
    if all.is_empty() {
        return Name::default();
    }
    if is_ideographic(&all[0]) && all.len() == 2 {
        name.given = all.split_off(1);
        name.family = all;
        return name;
    }
    let particle = all.iter().skip(1).position(|t| PARTICLES.contains(&t.as_str())).map(|at| at + 1);
    let start = particle.unwrap_or(all.len() - 1).min(all.len() - 1).max(1);
    name.family = all.split_off(start.min(all.len()));
    name.middle = all.split_off(1);
    name.given = all;
    name
}

/// Removes titles at both ends, and a generation suffix; returns the generation.
fn strip(tokens: &mut Vec<String>) -> u8 {
    let mut number = 0;
    while tokens.len() > 1 && is_title(&tokens[0]) {
        tokens.remove(0);
    }
    while let Some(last) = tokens.last() {
        // `Sr` before a name is a Spanish courtesy title, after it a generation; alone, it is the part after a comma.
        let found = generation(last);
        if found == 0 && (!is_title(last) || tokens.len() == 1 && number == 0 && !is_degree(last)) {
            break;
        }
        number = number.max(found);
        tokens.pop();
    }
    if tokens.len() > 1 && tokens[0] == "sr" {
        tokens.remove(0);
    }
    number
}

fn is_title(token: &str) -> bool {
    TITLES.contains(&token)
}

/// Whether this token is a degree or profession, of those that follow a comma after a full name.
fn is_degree(token: &str) -> bool {
    matches!(token, "phd" | "md" | "mba" | "msc" | "bsc" | "esq" | "jd" | "cpa" | "llm" | "llb" | "rn" | "pe")
}

fn generation(token: &str) -> u8 {
    match token {
        "sr" | "senior" | "sen" | "snr" => 1,
        "jr" | "junior" | "jun" | "jnr" | "ii" | "2nd" => 2,
        "iii" | "3rd" => 3,
        "iv" | "4th" => 4,
        _ => 0,
    }
}

/// Returns a text without parts in brackets or quotes: organization, place, nickname.
fn without_asides(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut closing = None;
    for c in text.chars() {
        match (closing, c) {
            (Some(end), c) if c == end => closing = None,
            (Some(_), _) => {}
            (None, '(' | '（') => closing = Some(if c == '(' { ')' } else { '）' }),
            (None, '[') => closing = Some(']'),
            (None, '"') => closing = Some('"'),
            (None, '“' | '„') => closing = Some('”'),
            (None, c) => kept.push(c),
        }
    }
    // If the whole text is in brackets, or one is never closed, brackets have no meaning.
    if kept.trim().is_empty() || closing.is_some() { text.to_owned() } else { kept }
}

fn as_organization(text: &str) -> Name {
    let token = organizations::comparable(text);
    let entity = if token.is_empty() { Entity::Unnamed } else { Entity::Organization };
    Name { entity, family: vec![token], ..Name::default() }
}

fn is_ideographic(token: &str) -> bool {
    let script = token.chars().next().map(|c| CodePointMapData::<Script>::new().get(c));
    matches!(script, Some(Script::Han | Script::Hiragana | Script::Katakana | Script::Hangul))
}

fn complete(mut name: Name) -> Name {
    name.given.truncate(MAX_TOKENS);
    name.middle.truncate(MAX_TOKENS);
    name.family.truncate(MAX_TOKENS);
    let first = name.given.first().or(name.family.first()).cloned().unwrap_or_default();
    name.ideographic = name.entity == Entity::Person && is_ideographic(&first);
    let letter = first.chars().next().unwrap_or('a');
    name.script = Some(CodePointMapData::<Script>::new().get(letter));
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn display(text: &str) -> (String, String, String, u8) {
        let name = read(&Contact { display_name: Some(text.to_owned()), ..Contact::default() });
        (name.given.join(" "), name.middle.join(" "), name.family.join(" "), name.generation)
    }

    fn parts(given: &str, middle: &str, family: &str, generation: u8) -> (String, String, String, u8) {
        (given.into(), middle.into(), family.into(), generation)
    }

    #[test]
    fn names_as_displayed() {
        assert_eq!(display("Dr. John A. Smith Jr."), parts("john", "a", "smith", 2));
        assert_eq!(display("Smith, John"), parts("john", "", "smith", 0));
        assert_eq!(display("John Smith, PhD"), parts("john", "", "smith", 0));
        assert_eq!(display("John Smith, Jr."), parts("john", "", "smith", 2));
        assert_eq!(display("Sr. Juan García"), parts("juan", "", "garcia", 0));
        assert_eq!(display("Robert \"Bob\" Smith (Acme)"), parts("robert", "", "smith", 0));
        assert_eq!(display("Ludwig van Beethoven"), parts("ludwig", "", "van beethoven", 0));
        assert_eq!(display("Jürgen Müller"), display("Juergen Mueller"));
        assert_eq!(display("O’Brien, Seán"), parts("sean", "", "obrien", 0));
        assert_eq!(display("山田 太郎"), parts("太郎", "", "山田", 0));
        assert_eq!(display("Cher"), parts("cher", "", "", 0));
        assert_eq!(display("ann@x.example"), parts("", "", "", 0));
        assert_eq!(display("+49 30 1234"), parts("", "", "", 0));
    }
}
