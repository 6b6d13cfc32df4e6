//! Mail addresses as written into messages: their validation, and their comparison.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;

/// The maximum length of an address, in bytes (RFC 5321 4.5.3.1.3: a path of 256, which includes the angle brackets).
pub const ADDRESS_BYTES: usize = model::bounds::MAX_ADDRESS;

/// The maximum length of the local part, in bytes (RFC 5321 4.5.3.1.1).
pub const LOCAL_BYTES: usize = 64;

/// The maximum length of a domain's label, in bytes (RFC 1035 2.3.4).
const LABEL_BYTES: usize = 63;

const TOO_LONG: &str = "an address has at most 254 bytes";
const NO_DOMAIN: &str = "the part after the @ is not a domain name";

/// Checks that a message can be sent to or from this address: `local@domain` of RFC 5321 4.1.2, with UTF-8 in both (RFC 6531 3.3), without
/// white space and comments. The local part may have dots anywhere, because `wire` quotes it if necessary. The domain is checked in the
/// ASCII form that `wire` writes, in which some non-ASCII characters become dots, brackets or commas. The error is a sentence that names
/// the fault.
pub fn check(email: &str) -> Result<(), &'static str> {
    if email.len() > ADDRESS_BYTES {
        return Err(TOO_LONG);
    }
    if email.chars().any(|c| c.is_control() || c.is_whitespace() || is_invisible(c)) {
        return Err("an address has no spaces, line breaks or control characters");
    }
    // Some servers decode encoded words here, which RFC 2047 section 5 forbids, and deliver to the decoded address.
    if email.contains("=?") {
        return Err("an address has no encoded words");
    }
    let (local, domain) = split(email).ok_or("an address has the form local@domain")?;
    if local.len() > LOCAL_BYTES {
        return Err("an address has at most 64 bytes before the @");
    }
    check_local(local)?;
    let domain = ascii_domain(domain).ok_or(NO_DOMAIN)?;
    if local.len() + 1 + domain.len() > ADDRESS_BYTES {
        return Err(TOO_LONG);
    }
    check_domain(&domain)
}

/// Returns the address in its form for header fields and SMTP commands: the domain in ASCII if that makes the whole address ASCII, and the
/// local part in quotes if it has leading, trailing or consecutive dots, which RFC 5321 4.1.2 allows only in quotes. Some providers issue
/// such addresses, and users write them without quotes.
pub fn wire(email: &str) -> Cow<'_, str> {
    let ascii = ascii(email).unwrap_or(Cow::Borrowed(email));
    let needs_quotes = |local: &str| !local.starts_with('"') && local.split('.').any(str::is_empty);
    let quoted = split(&ascii)
        .filter(|(local, _)| needs_quotes(local))
        .map(|(local, domain)| format!("\"{local}\"@{domain}"));
    quoted.map_or(ascii, Cow::Owned)
}

/// Whether a server needs SMTPUTF8 (RFC 6531) to accept this address as it is.
pub fn needs_utf8(email: &str) -> bool {
    !email.is_ascii()
}

/// The address for servers without SMTPUTF8, with its domain as A-labels (RFC 5890). None if the local part is not ASCII or the domain is
/// not valid.
pub fn ascii(email: &str) -> Option<Cow<'_, str>> {
    if email.is_ascii() {
        return Some(Cow::Borrowed(email));
    }
    let (local, domain) = split(email).filter(|(local, _)| local.is_ascii())?;
    Some(Cow::Owned(format!("{local}@{}", ascii_domain(domain)?)))
}

/// The canonical form of an address, equal for all its spellings, for code that compares, counts or hashes addresses. The domain is in
/// ASCII without the root dot (UTS 46 maps full-width dots, the long s and so on). The local part is in lower case too: RFC 5321 2.4 lets
/// servers distinguish case, but none does. It is normalized with NFKC, because servers with SMTPUTF8 also fold full-width letters. Quotes
/// are removed if they only allow for dots. A `+tag` is kept: see `mailbox`.
pub fn folded(email: &str) -> String {
    let email = email.trim();
    let Some((local, domain)) = split(email) else { return caseless(email) };
    let ascii = ascii_domain(domain).map(|ascii| ascii.to_ascii_lowercase());
    let domain = ascii.unwrap_or_else(|| caseless(domain));
    format!("{}@{}", folded_local(local), domain.trim_end_matches('.'))
}

/// The folded address without its tag (`ada+x@example.org`, RFC 5233), which most servers deliver to the same mailbox. Use it to count mail
/// to a person, not to compare addresses: on some servers a plus sign is part of the mailbox name.
pub fn mailbox(email: &str) -> String {
    let folded = folded(email);
    let untagged = split(&folded).and_then(|(local, domain)| {
        let (name, _tag) =
            local.split_once('+').filter(|(name, _)| !name.is_empty() && !name.starts_with('"'))?;
        Some(format!("{name}@{domain}"))
    });
    untagged.unwrap_or(folded)
}

/// The text in lower case, normalized.
fn caseless(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(&text.to_lowercase()).into_owned()
}

fn folded_local(local: &str) -> String {
    let lower = match local.is_ascii() {
        true => local.to_ascii_lowercase(),
        false => {
            let compatible = ComposingNormalizerBorrowed::new_nfkc();
            let once = compatible.normalize(local).to_lowercase();
            // NFKC again, because lower-case letters can have a compatibility form too. The final sigma is the same letter as the others.
            compatible.normalize(&once).to_lowercase().replace('\u{3c2}', "\u{3c3}")
        }
    };
    let lower = lower.trim();
    let inner = lower.strip_prefix('"').and_then(|local| local.strip_suffix('"'));
    let is_plain = |local: &&str| !local.is_empty() && local.chars().all(|c| is_atom(c) || c == '.');
    inner.filter(is_plain).unwrap_or(lower).to_owned()
}

/// The domain in ASCII; none if it is not valid by UTS 46.
fn ascii_domain(domain: &str) -> Option<Cow<'_, str>> {
    match domain.is_ascii() {
        true => Some(Cow::Borrowed(domain)),
        false => idna::domain_to_ascii(domain).ok().map(Cow::Owned),
    }
}

/// Splits an address at its last `@`: an earlier one must be in a quoted string, which `check_local` verifies.
fn split(email: &str) -> Option<(&str, &str)> {
    email.rsplit_once('@').filter(|(local, domain)| !local.is_empty() && !domain.is_empty())
}

fn check_local(local: &str) -> Result<(), &'static str> {
    if let Some(quoted) = local.strip_prefix('"') {
        let quoted = quoted.strip_suffix('"').filter(|quoted| !quoted.is_empty());
        let quoted = quoted.ok_or("the part before the @ has an unclosed quote")?;
        // RFC 5321 4.1.2 allows more characters. Programs that do not support quotes would read them as the end of the address and the
        // start of another.
        let is_kept = quoted.chars().all(|c| is_atom(c) || matches!(c, '.' | '@'));
        return if is_kept {
            Ok(())
        } else {
            Err("the quoted part before the @ has a character that is not allowed")
        };
    }
    if !local.chars().all(|c| is_atom(c) || c == '.') {
        return Err("the part before the @ has a character that is not allowed there");
    }
    Ok(())
}

/// Whether the character is `atext` (RFC 5322 3.2.3) or not ASCII (RFC 6532 3.2).
fn is_atom(c: char) -> bool {
    !c.is_ascii() || c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c)
}

/// Checks a domain that is in ASCII.
fn check_domain(domain: &str) -> Result<(), &'static str> {
    if let Some(literal) = domain.strip_prefix('[') {
        let inner = literal.strip_suffix(']').unwrap_or_default();
        let is_literal =
            !inner.is_empty() && inner.chars().all(|c| c.is_ascii_alphanumeric() || ".:-".contains(c));
        return if is_literal { Ok(()) } else { Err("the domain in brackets is not an IP address") };
    }
    let is_label = |label: &str| {
        (1..=LABEL_BYTES).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    if domain.split('.').all(is_label) { Ok(()) } else { Err(NO_DOMAIN) }
}

/// Whether the character is invisible or changes the writing direction.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffd}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ascii, check, folded, mailbox, needs_utf8, wire};

    #[test]
    fn addresses_that_can_be_written() {
        for email in [
            "a@b.example",
            "a.b+c@b-c.example",
            "root@localhost",
            "\"a@b\"@c.example",
            "\"a..b\"@c.example",
            "mia..rose.@c.example",
            ".a@b",
            "x@[192.0.2.1]",
            "x@[IPv6:2001:db8::1]",
            "jörg@münchen.example",
            "用户@例え.example",
            "o'neil/x=y@example.com",
            "_@_dmarc.example",
        ] {
            assert_eq!(check(email), Ok(()), "{email}");
        }
        assert_eq!(check(&format!("{}@b.example", "a".repeat(64))), Ok(()));
    }

    #[test]
    fn addresses_that_cannot() {
        for email in [
            "",
            "@",
            "a",
            "a@",
            "@b",
            "a b@c",
            "a@b c",
            "a@b@c",
            "a@b..c",
            "a@-b",
            "a@b-",
            "a@b\r\nBcc: x@y",
            "a@b\u{2028}",
            "a@b\0",
            "a\u{200b}@b",
            "<a@b>",
            "a,b@c",
            "a@b,c",
            "a@b>",
            "a;b@c",
            "a(b)@c",
            "\"a@b",
            "\"\"@b",
            "\"a\\\"b\"@c",
            "\"a>,<c@d\"@b",
            "\"a(b\"@c",
            "=?utf-8?q?c=40d.example=3E?=@b.example",
            "\"a\"b\"@c",
            "\"a\\\"@b",
            "a@[]",
            "a@[x",
            "a@[<>]",
            "a@b:c",
            "a\"b@c",
            "a\\@b",
            "a@b\u{85}",
            // Full-width and ideographic dots, brackets, commas and the like, which are ASCII in the domain that is written.
            "a@b\u{ff0e}",
            "a@\u{ff0e}b",
            "a@b\u{3002}\u{ff61}c",
            "a@b\u{ff1e}\u{ff0c}c",
            "a@b\u{ff20}c",
            "a@b\u{ff1a}25",
            "a@\u{fffd}b",
        ] {
            assert!(check(email).is_err(), "{email:?}");
        }
        assert!(check(&format!("{}@b.example", "a".repeat(65))).is_err());
        assert!(check(&format!("a@{}", "b.".repeat(130))).is_err());
        assert!(check(&format!("a@{}.example", "b".repeat(64))).is_err());
        // 60 bytes in UTF-8, and too long as a label of the DNS.
        let label: String = (0..20).filter_map(|n| char::from_u32(0x4e00 + n * 7_919 % 20_000)).collect();
        assert!(check(&format!("a@{label}.example")).is_err());
        assert_eq!(check(&format!("a@{}.example", "\u{4f8b}\u{3048}".repeat(9))), Ok(()));
    }

    #[test]
    fn spellings_that_reach_one_mailbox_are_one_address() {
        for email in [
            "bob@sandbox.test",
            "BOB@SANDBOX.TEST",
            "bob@\u{17f}andbox.test",
            "bob@sandbox\u{ff0e}test",
            "bob@sandbox\u{3002}test",
            "bob@sandbox\u{ff61}test",
            "bob@sandbox.test.",
            "bob@sandbox\u{ff0e}test\u{ff0e}",
            "bob@\u{ff33}andbox.te\u{17f}t",
            "bob@sand\u{ad}box.test",
            "bob@sandbox\u{fe0f}.test",
            "\u{ff42}ob@sandbox.test",
            "\"bob\"@sandbox.test",
            " bob@sandbox.test\t",
        ] {
            assert_eq!(folded(email), "bob@sandbox.test", "{email:?}");
        }
        assert_eq!(folded("\u{3a3}\u{391}\u{3a3}@x.test"), folded("\u{3c3}\u{3b1}\u{3c3}@x.test"));
        assert_eq!(folded("stra\u{df}e@x.test"), "stra\u{df}e@x.test", "another one than strasse@x.test");
        assert_eq!(folded("bob+x@sandbox.test"), "bob+x@sandbox.test");
        for tagged in [
            "Bob+x@sandbox.test",
            "bob+@sandbox.test",
            "bob+x+y@\u{17f}andbox.test",
            "\"bob+x\"@sandbox.test",
        ] {
            assert_eq!(mailbox(tagged), "bob@sandbox.test", "{tagged}");
        }
        assert_eq!(
            (mailbox("+x@sandbox.test").as_str(), mailbox("half+").as_str()),
            ("+x@sandbox.test", "half+")
        );
    }

    proptest! {
        /// An address as it is folded, and as it is written, folds to the same; and what can be written still can then.
        #[test]
        fn folding_is_stable(
            local in "[aAkK.+\u{212a}\u{17f}\u{ff42}\u{ff2b}\u{fc}\u{3a3}\u{3c2}u\u{308}]{1,6}",
            domain in "[aAsS.\u{17f}\u{ff33}\u{ff0e}\u{3002}\u{fc}\u{df}-]{1,8}",
        ) {
            let email = format!("{local}@{domain}");
            let once = folded(&email);
            prop_assert_eq!(folded(&once), once.clone());
            prop_assert_eq!(folded(&wire(&email)), once.clone());
            prop_assert_eq!(folded(&email.to_uppercase()), folded(&email.to_uppercase().to_lowercase()));
            if check(&email).is_ok() {
                prop_assert!(check(&wire(&email)).is_ok(), "{}", wire(&email));
                prop_assert!(check(&once).is_ok(), "{}", once);
            }
        }
    }

    #[test]
    fn an_address_is_the_same_in_all_spellings() {
        assert_eq!(folded(" A.User@EXAMPLE.com "), "a.user@example.com");
        assert_eq!(folded("x@BÜCHER.example"), "x@xn--bcher-kva.example");
        assert_eq!(folded("x@bu\u{308}cher.example"), folded("x@b\u{fc}cher.example"));
        assert_eq!(folded("no at"), "no at");
        assert_eq!(folded("\"Mia..Rose.\"@x.example"), folded("mia..rose.@X.example"));
        assert_eq!(folded("\"a@b\"@x.example"), "\"a@b\"@x.example");
    }

    #[test]
    fn odd_dots_are_quoted_on_the_wire() {
        for (email, written) in [
            ("a.b@c.example", "a.b@c.example"),
            ("mia..rose.@c.example", "\"mia..rose.\"@c.example"),
            (".a@c.example", "\".a\"@c.example"),
            ("\"a..b\"@c.example", "\"a..b\"@c.example"),
            ("a.@bücher.example", "\"a.\"@xn--bcher-kva.example"),
            ("jörg@bücher.example", "jörg@bücher.example"),
            ("half", "half"),
        ] {
            assert_eq!(wire(email), written);
            assert_eq!(folded(email), folded(&wire(email)), "{email}");
            assert_eq!(check(email).is_ok(), check(&wire(email)).is_ok(), "{email}");
        }
    }

    #[test]
    fn a_domain_can_be_written_in_ascii() {
        assert_eq!(ascii("x@bücher.example").as_deref(), Some("x@xn--bcher-kva.example"));
        assert_eq!(ascii("jörg@bücher.example"), None);
        assert_eq!(ascii("x@y").as_deref(), Some("x@y"));
        assert!(needs_utf8("x@bücher.example") && !needs_utf8("x@y"));
    }
}
