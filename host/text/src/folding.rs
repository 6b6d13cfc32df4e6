//! Text folding: one for sort order, one for search. The tables are ICU's, the same in every process and locale.

use std::borrow::Cow;

use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizer;
use icu_normalizer::DecomposingNormalizer;
use icu_properties::CodePointMapData;
use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;
use icu_properties::props::GeneralCategory;
use icu_properties::props::Script;

/// Returns the text for sort keys and caseless equality: Unicode's `NFKC_Casefold` (UAX #31, The Unicode Standard §3.13), that is full case
/// folding (`ß` is `ss`), unified compatibility forms (full-width, half-width, ligatures), and no invisible characters (bidi marks,
/// zero-width characters). Accents stay: `é` and `e` differ. Not Turkic: `I` folds to `i`.
pub fn fold(text: &str) -> String {
    in_runs(text, |ascii, out| out.push_str(&ascii.to_ascii_lowercase()), fold_any)
}

/// Applies `plain` to runs of ASCII, which is most of the text, and `any` to the rest. An ASCII letter never composes with the character
/// before it (UAX #15 section 9.1), so a run for `any` begins one character before the first non-ASCII one.
fn in_runs(text: &str, plain: fn(&str, &mut String), any: fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| !b.is_ascii()) {
        let (ascii, run) = rest.split_at(at.saturating_sub(1));
        plain(ascii, &mut out);
        let beyond = run.bytes().skip(1).skip_while(|b| !b.is_ascii()).count();
        let (run, after) = run.split_at(run.len() - beyond);
        out.push_str(&any(run));
        rest = after;
    }
    plain(rest, &mut out);
    out
}

fn fold_any(text: &str) -> String {
    let mapper = CaseMapper::new();
    let normalizer = ComposingNormalizer::new_nfkc();
    let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    let visible: String = normalizer.normalize(text).chars().filter(|c| !ignorable.contains(*c)).collect();
    let once = normalizer.normalize(&mapper.fold_string(&visible)).into_owned();
    // Folding can produce characters that NFKC changes again (U+1E9E, U+0345); the standard proves that a second pass reaches the fixed
    // point.
    match mapper.fold_string(&once) {
        Cow::Borrowed(same) if same == once => once,
        again => normalizer.normalize(&again).into_owned(),
    }
}

/// Returns the text for search and for comparing names: `fold`, without the marks that people omit when they type. So `jose` finds `José`,
/// `lukasz` finds `Łukasz`, `soren` finds `Søren`, `isik` finds `Işık`.
///
/// Marks are left out after Latin and Greek letters, after Cyrillic `е` (`ё`), after Arabic letters (vowel signs, tatweel, and
/// the hamza or madda of alef, as Lucene's Arabic normaliser does) and after Hebrew letters (points). Everywhere else marks are
/// part of the letter and stay: Cyrillic `й`, Japanese voicing, Indic vowel signs, Thai; Hangul stays composed.
pub fn search_key(text: &str) -> String {
    in_runs(&fold(text), |ascii, out| out.push_str(ascii), search_key_any)
}

fn search_key_any(folded: &str) -> String {
    let scripts = CodePointMapData::<Script>::new();
    let categories = CodePointMapData::<GeneralCategory>::new();
    let mut kept = String::with_capacity(folded.len());
    let mut base = '\0';
    for c in DecomposingNormalizer::new_nfkd().normalize(folded).chars() {
        if categories.get(c) == GeneralCategory::NonspacingMark {
            if !is_optional_mark(base, scripts.get(base), c) {
                kept.push(c);
            }
            continue;
        }
        let plain = plain_letters(c);
        // A mark after an omitted character belongs to the letter before.
        if plain != Some("") {
            base = c;
        }
        match plain {
            Some(plain) => kept.push_str(plain),
            None => kept.push(c),
        }
    }
    ComposingNormalizer::new_nfkc().normalize(&kept).into_owned()
}

/// Whether dropping a mark after this base letter leaves the same letter.
fn is_optional_mark(base: char, script: Script, mark: char) -> bool {
    match script {
        Script::Latin | Script::Greek => true,
        Script::Cyrillic => base == 'е' && mark == '\u{308}',
        Script::Hebrew => true,
        Script::Arabic => match mark {
            '\u{653}'..='\u{655}' => base == 'ا',
            _ => true,
        },
        _ => false,
    }
}

/// Returns the plain spelling of letters without a decomposition in Unicode (Latin and Arabic letters, U+0640 tatweel).
fn plain_letters(c: char) -> Option<&'static str> {
    Some(match c {
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ı' => "i",
        'ŧ' => "t",
        'þ' => "th",
        'æ' => "ae",
        'œ' => "oe",
        'ŋ' => "n",
        'ə' => "e",
        // The ʼokina and other modifier apostrophes.
        'ʻ' | 'ʼ' | 'ʹ' | 'ʿ' | 'ʾ' | '’' | '‘' => "'",
        'ٱ' => "ا",
        'ـ' => "",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_folds_as_its_runs_do(text in "([ -~]{0,3}[éßﬁİ\u{301}\u{345}\u{200b}ـʼ한가\u{5b0}]{0,3}){0,4}", any in ".*") {
            for text in [text, any] {
                prop_assert_eq!(fold(&text), fold_any(&text));
                prop_assert_eq!(search_key(&text), search_key_any(&fold_any(&text)));
            }
        }
    }

    #[test]
    fn order_keeps_accents_and_unifies_forms() {
        assert_eq!(fold("José"), "josé");
        assert_eq!(fold("STRASSE"), fold("Straße"));
        assert_eq!(fold("ＡＢＣ　ｶﾞ"), "abc ガ");
        assert_eq!(fold("Σίσυφος"), fold("ΣΊΣΥΦΟΣ"));
        assert_eq!(fold("a\u{200e}b\u{202e}c\u{200b}"), "abc");
        assert_eq!(fold("e\u{301}"), "é");
        for text in ["\u{1e9e}", "ǰ\u{345}", "ᾳ", "İstanbul", "ﬁ", "\u{345}\u{301}"] {
            assert_eq!(fold(&fold(text)), fold(text), "{text:?}");
        }
    }

    #[test]
    fn search_leaves_out_what_people_leave_out() {
        for (written, typed) in [
            ("José Ñandú", "jose nandu"),
            ("Łukasz Żółć", "lukasz zolc"),
            ("Søren Ågård", "soren agard"),
            ("Işık İNCE", "isik ince"),
            ("Müller-Weiß", "muller-weiss"),
            ("Nguyễn Thị Đào", "nguyen thi dao"),
            ("Άρης Παπαδόπουλος", "αρησ παπαδοπουλοσ"),
            ("Алёна", "алена"),
            ("أَحْمَد", "احمد"),
            ("שָׁלוֹם", "שלום"),
            ("Þór Æsir", "thor aesir"),
            // A vowel sign on a tatweel, as presentation forms write it.
            ("\u{62d}\u{fe7b}", "\u{62d}"),
        ] {
            assert_eq!(search_key(written), typed);
            assert_eq!(search_key(typed), typed);
        }
    }

    #[test]
    fn letters_stay_letters() {
        for text in ["андрей", "김민준", "がぎ", "मोहिनी", "ณัฐวุฒิ", "தமிழ்", "山田太郎", "їжак"]
        {
            assert_eq!(search_key(text), text);
        }
        assert_ne!(search_key("はと"), search_key("ばと"));
    }
}
