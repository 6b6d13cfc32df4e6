//! Tests of all words in all languages, and of their places.

use std::collections::BTreeSet;

use service::locale::Language;

use crate::admin::texts::plurals::BETWEEN_FORMS;
use crate::admin::texts::{PanelTexts, fill, texts};

const TRANSLATIONS: [Language; 5] =
    [Language::German, Language::Spanish, Language::French, Language::Japanese, Language::Arabic];

/// The names of a text's places.
fn places(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name).collect()
}

/// The words that stand before or after others keep the space between them.
fn margins(text: &str) -> (bool, bool) {
    (text.starts_with(' '), text.ends_with(' '))
}

/// How many forms a text can have in a language.
fn numbers_of_forms(language: Language) -> &'static [usize] {
    match language {
        Language::Japanese => &[1],
        Language::Arabic => &[1, 5],
        _ => &[1, 2],
    }
}

/// The faults of a text beside its English one.
fn faults(language: Language, english: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.is_empty() != english.is_empty() {
        faults.push("is empty, or is not in English".to_owned());
    }
    if margins(text) != margins(english) {
        faults.push("begins or ends with another space".to_owned());
    }
    if places(text) != places(english) {
        faults.push(format!("has the places {:?}, not {:?}", places(text), places(english)));
    }
    let forms: Vec<&str> = text.split(BETWEEN_FORMS).collect();
    if !numbers_of_forms(language).contains(&forms.len()) {
        faults.push(format!("has {} forms", forms.len()));
    }
    if forms.len() > 1 && !places(english).contains("n") {
        faults.push("has forms, but no number".to_owned());
    }
    // A form for a single number may name it in a word. The last form is for many numbers.
    for form in &forms {
        let lacks = |place: &&&str| !places(form).contains(**place) && **place != "n";
        if let Some(place) = places(english).iter().find(lacks) {
            faults.push(format!("lacks {{{place}}} in a form: {form}"));
        }
    }
    if forms.last().is_some_and(|form| places(form) != places(english)) {
        faults.push("lacks a place in its last form".to_owned());
    }
    let open = text.matches('{').count();
    if open != text.matches('}').count() || text.chars().any(char::is_control) {
        faults.push("has an open bracket or a control character".to_owned());
    }
    faults
}

fn all_faults(language: Language, english: &PanelTexts, translated: &PanelTexts) -> Vec<String> {
    let mut found = Vec::new();
    for ((page, ours), (_, theirs)) in english.pages().into_iter().zip(translated.pages()) {
        if ours.iter().map(|(field, _)| field).ne(theirs.iter().map(|(field, _)| field)) {
            found.push(format!("{} {page} has other scopes", language.tag()));
        }
        for ((field, ours), (_, theirs)) in ours.into_iter().zip(theirs) {
            let faults = faults(language, ours, theirs);
            found.extend(faults.iter().map(|fault| format!("{} {page}.{field} {fault}", language.tag())));
        }
    }
    found
}

#[test]
fn all_languages_say_the_same() {
    let english = texts(Language::English);
    assert_eq!(all_faults(Language::English, english, english), Vec::<String>::new());
    for language in TRANSLATIONS {
        assert_eq!(all_faults(language, english, texts(language)), Vec::<String>::new());
    }
    assert!(english.pages().iter().map(|(_, fields)| fields.len()).sum::<usize>() > 500);
}

/// A page that was left in English has long texts that are the same.
#[test]
fn all_pages_are_translated() {
    for language in TRANSLATIONS {
        for ((page, ours), (_, theirs)) in
            texts(Language::English).pages().iter().zip(texts(language).pages())
        {
            for ((field, ours), (_, theirs)) in ours.iter().zip(&theirs) {
                let is_sentence = ours.ends_with('.') && ours.matches(' ').count() > 2;
                assert!(!is_sentence || ours != theirs, "{} {page}.{field}: {ours}", language.tag());
            }
        }
    }
}

#[test]
fn a_fault_is_found() {
    let german = |english, text| faults(Language::German, english, text).len();
    assert_eq!(german("{n} keys", "{n} Schlüssel"), 0);
    assert_eq!(german("{n} of {name}", "1 von {name} | {n} von {name}"), 0);
    assert_ne!(german("{n} keys", "{m} Schlüssel"), 0);
    assert_ne!(german("{n} of {name}", "1 | {n} von {name}"), 0);
    assert_ne!(german("Keys", ""), 0);
    assert_ne!(german("Run ", "Starten Sie"), 0);
    assert_ne!(german("Keys", "Schlüssel | Schlüssel"), 0);
    assert_ne!(german("{n} keys", "{n | {n} Schlüssel"), 0);
}

#[test]
fn a_value_is_put_in_once_and_read_no_further() {
    assert_eq!(fill("Hello {name}, {n} keys", &[("name", "{n}"), ("n", "2")]), "Hello {n}, 2 keys");
    assert_eq!(fill("{other} {", &[("n", "2")]), "{other} {");
    assert_eq!(fill("1 key | {n} keys", &[("n", "1")]), "1 key");
    assert_eq!(fill("1 key | {n} keys", &[("n", "1,001")]), "1,001 keys");
}
