//! Words of an invitee that reach other people: names in subjects, titles and invitations, and phone numbers. The addresses of a booking
//! are not verified, so none of these words may become a link. Pure.

/// Whether a character ends a host name that mail programs find in a text.
fn ends_host(c: char) -> bool {
    !c.is_alphanumeric() && !matches!(c, '-' | '.' | '_' | '@')
}

/// Whether a text contains a page's address: mail programs turn it into a link in any context.
pub fn names_page(text: &str) -> bool {
    let text = comparable(text);
    text.contains("//") || text.contains("www.") || text.split_whitespace().any(leads_below_host)
}

/// Whether mail programs could turn the beginning of an email address, whose part before the `@` this is, into a link. They take
/// `ada.smith+x@example.org` as a whole; but a character that is rare in email addresses ends a page's address for them.
pub fn local_part_names_page(local: &str) -> bool {
    let ends_page = |c: char| !c.is_alphanumeric() && !".-_+=&$'".contains(c);
    names_page(local) || comparable(local).rsplit(ends_page).skip(1).any(is_host)
}

/// Whether mail programs could turn a part of this text into a link: a page's address, or words with a dot between them, such as
/// `example.org`.
pub fn resembles_link(text: &str) -> bool {
    names_page(text)
        || comparable(text).split(ends_host).any(|word| is_host(word) && !begins_with_initials(word))
}

/// Returns a name for subjects, titles and invitations. None: there is none, or mail programs could turn it into a link.
// Contract silent: names such as `J.R.Tolkien` and `Visit example.org` differ in nothing that a program can tell for certain. Both are
// kept, and shown to hosts; other people read the address in the place of the second one.
pub fn shown_name(name: Option<&str>) -> Option<&str> {
    name.filter(|name| !name.trim().is_empty() && !resembles_link(name))
}

/// The text in lower case, without full-width forms of letters and dots, and without invisible characters.
fn comparable(text: &str) -> String {
    text::folding::fold(text).replace('\u{3002}', ".")
}

/// Whether a path or a port follows a host name in a word: `example.org/x`, `example.org:80`.
fn leads_below_host(word: &str) -> bool {
    let ends_with_host = |before: &str| before.rsplit(ends_host).next().is_some_and(is_host);
    let has_path = word.rsplit_once('/').is_some_and(|(before, _)| before.split('/').any(ends_with_host));
    let has_port = |(before, after): (&str, &str)| {
        ends_with_host(before) && after.starts_with(|c: char| c.is_ascii_digit())
    };
    has_path || word.split_once(':').is_some_and(has_port)
}

/// Whether a word has two labels or more, the last of which can be a top-level domain: letters (RFC 3696 section 2), or a label that begins
/// with `xn--`. An email address is no link to a page.
fn is_host(word: &str) -> bool {
    let word = word.trim_matches(['.', '-', '_', '@']);
    if word.contains('@') {
        return false;
    }
    let Some((before, last)) = word.rsplit_once('.') else { return false };
    let is_word = last.chars().count() >= 2 && last.chars().all(char::is_alphabetic);
    (is_word || last.starts_with("xn--")) && before.split('.').all(|label| !label.is_empty())
}

/// Whether everything before the last dot of a word is single letters, as in `J.R.R.Tolkien`.
fn begins_with_initials(word: &str) -> bool {
    let before = word.trim_matches('.').rsplit_once('.').map_or("", |(before, _)| before);
    before.split('.').all(|label| label.chars().count() == 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_address_of_a_page_is_found_however_it_is_written() {
        for text in [
            "https://evil.example/login",
            "see //evil.example",
            "WWW.evil.example",
            "open evil.example/login now",
            "evil\u{3002}example/login",
            "\u{ff45}vil\u{ff0e}example/login",
            "ev\u{200b}il.example/x",
            "x(t.co/abc)",
            "evil.example:8080",
            "xn--bcher-kva.xn--p1ai/x",
            "@evil.example/x",
        ] {
            assert!(names_page(text) && resembles_link(text), "{text}");
            assert_eq!(shown_name(Some(text)), None, "{text}");
        }
        for text in [
            "evil.example",
            "@evil.example",
            "Reset at evil.example, please",
            "EVIL.COM",
            "b\u{fc}cher.example",
        ] {
            assert!(!names_page(text) && resembles_link(text), "{text}");
            assert_eq!(shown_name(Some(text)), None, "{text}");
        }
    }

    #[test]
    fn an_address_of_mail_begins_with_no_page() {
        for local in [
            "www.evil",
            "evil.example/x",
            "evil.example?x=1",
            "evil.example#x",
            "a+b.evil.example!x",
            "evil.example~",
        ] {
            assert!(local_part_names_page(local), "{local}");
        }
        for local in [
            "ada",
            "ada.smith",
            "ada.smith+spam.filter",
            "pat.o'brien",
            "ada_smith.x=example.org",
            "ada.l-k",
            "x.y!",
        ] {
            assert!(!local_part_names_page(local), "{local}");
        }
    }

    #[test]
    fn names_of_people_lead_nowhere() {
        for name in [
            "Ada",
            "Ada / Countess",
            "J. R. Smith",
            "J.R.R.Tolkien",
            "Jos\u{e9} \u{c1}. N\u{fa}\u{f1}ez, Ph.D.",
            "Awww",
            "Dr. Smith (Acme Inc.)",
            "3.14",
            "M.Sc. Mia",
            "\u{5c71}\u{7530}\u{592a}\u{90ce}",
            "and/or",
            "10:30",
            "mailto:ada@example.org",
            "@ada@example.org",
        ] {
            assert!(!resembles_link(name), "{name}");
            assert_eq!(shown_name(Some(name)), Some(name));
        }
        assert_eq!((shown_name(None), shown_name(Some(" \t"))), (None, None));
    }

    proptest! {
        /// The address of a page is found in any context.
        #[test]
        fn a_page_is_found_inside_of_any_text(before in "\\PC{0,12}", after in "\\PC{0,12}", scheme in "https?") {
            let text = format!("{before}{scheme}://evil.example/x{after}");
            prop_assert!(names_page(&text), "{}", text);
            prop_assert_eq!(shown_name(Some(&text)), None);
        }

        /// Letters, blanks and hyphens alone are a name.
        #[test]
        fn words_without_dots_and_slashes_are_shown(name in "[\\p{L} '-]{0,30}[\\p{L}]") {
            prop_assert_eq!(shown_name(Some(&name)), Some(name.as_str()));
        }
    }
}
