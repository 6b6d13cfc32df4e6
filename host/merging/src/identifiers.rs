//! Identifiers of a person across address books: email addresses, phone numbers and profiles, each normalized.

use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;

use model::contacts::Contact;
use model::contacts::ContactPhone;
use model::contacts::ImAddress;
use text::folding;
use text::phones;
use url::Url;

use crate::roles;

/// Maximum identifiers of each kind that are read from a contact. A person has fewer.
const MAX_PER_KIND: usize = 64;
/// Maximum bytes of an email address (RFC 5321): 64 of the local part, 255 of the domain.
const MAX_EMAIL: usize = 320;
const MAX_URL: usize = 1024;
/// Minimum digits of a number without a country; fewer are an extension or a short code.
const MIN_NATIONAL_DIGITS: usize = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Email,
    Phone,
    /// A number without its country: the digits are equal as written.
    NationalPhone,
    Profile,
}

/// An identifier, and its text for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identifier {
    pub kind: Kind,
    pub normalized: String,
}

impl Identifier {
    /// Returns its index key of 64 bits: among a million identifiers, two share a key once in 37 million times.
    pub fn key(&self) -> u64 {
        key(&(self.kind, &self.normalized))
    }
}

/// Returns a hash that is the same in every run, so that results are reproducible.
pub fn key(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the index of an identifier's reason in `scoring::REASONS`.
pub fn reason(kind: Kind) -> usize {
    match kind {
        Kind::Email => 0,
        Kind::Phone | Kind::NationalPhone => 1,
        Kind::Profile => 2,
    }
}

/// Returns the identifiers of a contact, each once, without role addresses. `region`: the country of numbers without a country code,
/// unless the contact's own address has one.
pub fn read(contact: &Contact, region: Option<&str>) -> Vec<Identifier> {
    let own = contact.addresses.iter().find_map(|a| a.country_code.as_deref()).or(region);
    let mut found = Vec::new();
    let mut add = |kind, normalized: Option<String>| {
        if let Some(normalized) = normalized {
            found.push(Identifier { kind, normalized });
        }
    };
    for email in contact.emails.iter().take(MAX_PER_KIND) {
        add(Kind::Email, email_address(&email.value).filter(|e| !is_role_address(e)));
    }
    for phone in contact.phones.iter().take(MAX_PER_KIND) {
        let international = phone_number(phone, own);
        if international.is_none() {
            add(Kind::NationalPhone, national(&phone.value));
        }
        add(Kind::Phone, international);
    }
    for url in contact.urls.iter().take(MAX_PER_KIND) {
        add(Kind::Profile, profile(&url.value));
    }
    for im in contact.im_addresses.iter().take(MAX_PER_KIND) {
        add(Kind::Profile, im_account(im));
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|i| seen.insert(i.key()));
    found
}

/// Normalizes an address to its mailbox: case folded, the domain in ASCII; for Gmail without dots and tag, and `googlemail.com` as
/// `gmail.com`. RFC 5321 leaves it to the receiving host which local parts are one mailbox; all large hosts fold case, and only Gmail
/// ignores dots.
pub fn email_address(value: &str) -> Option<String> {
    let value = value.trim();
    if value.len() > MAX_EMAIL {
        return None;
    }
    let folded = folding::fold(value);
    let bare = folded.strip_prefix("mailto:").unwrap_or(&folded).trim_matches(['<', '>', ' ']);
    let (local, domain) = bare.rsplit_once('@')?;
    if local.is_empty() || domain.is_empty() || bare.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return None;
    }
    let domain = domain.trim_end_matches('.');
    let domain = if domain.is_ascii() { domain.to_owned() } else { idna::domain_to_ascii(domain).ok()? };
    if domain != "gmail.com" && domain != "googlemail.com" {
        return Some(format!("{local}@{domain}"));
    }
    let mailbox = local.split('+').next().unwrap_or(local).replace('.', "");
    (!mailbox.is_empty()).then(|| format!("{mailbox}@gmail.com"))
}

fn is_role_address(normalized: &str) -> bool {
    let local = normalized.split('@').next().unwrap_or(normalized);
    roles::is_role(local.split('+').next().unwrap_or(local))
}

/// Returns a number as E.164, with its extension (RFC 3966): with another extension it is another number. The record's own E.164 is used
/// unchanged, unless the text has an extension.
pub fn phone_number(phone: &ContactPhone, region: Option<&str>) -> Option<String> {
    let plain = phone.value.chars().all(|c| c.is_ascii_digit() || "+-() ./".contains(c));
    match phone.e164.as_deref() {
        Some(e164) if plain && is_e164(e164) => Some(e164.to_owned()),
        known => {
            let stored = known.filter(|e| is_e164(e));
            match phones::number(&phone.value, region) {
                Some(n) => Some(match n.extension {
                    Some(extension) => format!("{};ext={extension}", n.e164),
                    None => stored.map_or(n.e164, str::to_owned),
                }),
                None => stored.map(str::to_owned),
            }
        }
    }
}

fn is_e164(text: &str) -> bool {
    text.strip_prefix('+')
        .is_some_and(|d| (7..=15).contains(&d.len()) && d.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns the digits of a number whose country is unknown.
pub fn national(value: &str) -> Option<String> {
    if value.len() > MAX_EMAIL || value.chars().any(char::is_alphabetic) {
        return None;
    }
    let digits = phones::digits(value);
    // A single repeated digit is a placeholder.
    let filler = digits.bytes().all(|b| Some(b) == digits.bytes().next());
    (MIN_NATIONAL_DIGITS..=17).contains(&digits.len()).then_some(digits).filter(|_| !filler)
}

/// Returns a person's profile on a site with one profile per person, as `site/account`. Home pages do not count: all employees may list
/// that of their company.
pub fn profile(value: &str) -> Option<String> {
    let value = value.trim();
    if value.len() > MAX_URL || !value.contains('/') {
        return None;
    }
    let absolute = if value.contains("://") {
        value.to_owned()
    } else {
        format!("https://{}", value.trim_start_matches('/'))
    };
    let url = Url::parse(&absolute).ok()?;
    let host =
        url.host_str()?.trim_start_matches("www.").trim_start_matches("m.").trim_start_matches("mobile.");
    let path: Vec<&str> = url.path_segments()?.filter(|s| !s.is_empty()).collect();
    let query = |name: &str| url.query_pairs().find(|(k, _)| k == name).map(|(_, v)| v.into_owned());
    let (site, account) = match (host, path.as_slice()) {
        (h, ["in" | "pub", account, ..]) if h == "linkedin.com" || h.ends_with(".linkedin.com") => {
            ("linkedin", (*account).to_owned())
        }
        ("twitter.com" | "x.com", [account]) => ("twitter", (*account).to_owned()),
        ("facebook.com" | "fb.com" | "de-de.facebook.com", ["profile.php"]) => ("facebook", query("id")?),
        ("facebook.com" | "fb.com" | "fb.me" | "de-de.facebook.com", [account]) => {
            ("facebook", (*account).to_owned())
        }
        ("xing.com", ["profile", account, ..]) => ("xing", (*account).to_owned()),
        ("bsky.app", ["profile", account]) => ("bluesky", (*account).to_owned()),
        ("vk.com", [account]) => ("vk", (*account).to_owned()),
        ("t.me" | "telegram.me", [account]) => ("telegram", (*account).to_owned()),
        (
            "github.com" | "gitlab.com" | "instagram.com" | "keybase.io" | "orcid.org" | "threads.net",
            [account],
        ) => (host, (*account).to_owned()),
        ("youtube.com" | "tiktok.com" | "medium.com", [account, ..]) if account.starts_with('@') => {
            (host, (*account).to_owned())
        }
        // Fediverse accounts, on any host.
        (host, [account]) if account.starts_with('@') => (host, (*account).to_owned()),
        _ => return None,
    };
    let account = folding::fold(&account);
    let account = account.trim_start_matches('@');
    let is_page = [
        "home",
        "login",
        "about",
        "company",
        "share",
        "search",
        "explore",
        "pages",
        "groups",
        "intent",
        "sharer.php",
    ];
    (!account.is_empty() && !is_page.contains(&account)).then(|| format!("{site}/{account}"))
}

/// Returns an account of a messaging protocol. Without the protocol a handle is not unique.
pub fn im_account(im: &ImAddress) -> Option<String> {
    let protocol = im.protocol.as_deref()?.trim();
    if protocol.is_empty() || protocol.len() > 64 || im.handle.len() > MAX_URL {
        return None;
    }
    let protocol = folding::fold(protocol);
    let handle = folding::fold(im.handle.trim());
    let bare = handle.strip_prefix(&format!("{protocol}:")).unwrap_or(&handle);
    let account = bare.trim_start_matches('@').split('/').next().unwrap_or(bare);
    (!account.is_empty()).then(|| format!("{protocol}:{account}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mailbox_however_written() {
        let same = |a: &str, b: &str| assert_eq!(email_address(a), email_address(b), "{a} {b}");
        same("J.Smith+news@gmail.com", "jsmith@GOOGLEMAIL.com");
        same(" Ann@Example.COM ", "mailto:ann@example.com");
        same("ann@bücher.example", "ann@xn--bcher-kva.example");
        assert_ne!(email_address("a.b@example.com"), email_address("ab@example.com"));
        assert_ne!(email_address("ab+x@example.com"), email_address("ab@example.com"));
        for junk in ["", "@", "a@", "@b", "a b@c", "none", "a\0@b.c", "+x@gmail.com"] {
            assert_eq!(email_address(junk), None, "{junk:?}");
        }
    }

    #[test]
    fn one_profile_however_written() {
        for url in [
            "https://www.linkedin.com/in/Ann-Lee/",
            "http://de.linkedin.com/in/ann-lee?trk=x",
            "linkedin.com/in/ann-lee#a",
        ] {
            assert_eq!(profile(url).as_deref(), Some("linkedin/ann-lee"), "{url}");
        }
        assert_eq!(profile("https://x.com/AnnLee"), profile("https://mobile.twitter.com/@annlee"));
        assert_eq!(profile("https://facebook.com/profile.php?id=7").as_deref(), Some("facebook/7"));
        assert_eq!(profile("https://mastodon.example/@ann").as_deref(), Some("mastodon.example/ann"));
        for url in [
            "https://acme.example/",
            "https://linkedin.com/company/acme",
            "https://twitter.com/",
            "junk",
            "://",
            "https://x.com/a/status/1",
        ] {
            assert_eq!(profile(url), None, "{url}");
        }
    }

    #[test]
    fn numbers_with_and_without_a_country() {
        let phone = |value: &str, e164: Option<&str>| ContactPhone {
            value: value.into(),
            e164: e164.map(Into::into),
            ..Default::default()
        };
        assert_eq!(
            phone_number(&phone("030 901820", Some("+4930901820")), None).as_deref(),
            Some("+4930901820")
        );
        assert_eq!(
            phone_number(&phone("+49 30 901820 ext 4", Some("+4930901820")), None).as_deref(),
            Some("+4930901820;ext=4")
        );
        assert_eq!(phone_number(&phone("030 901820", None), Some("DE")).as_deref(), Some("+4930901820"));
        assert_eq!(phone_number(&phone("030 901820", None), None), None);
        assert_eq!(national("(030) 901-820").as_deref(), Some("030901820"));
        assert_eq!(national("0000000000"), None);
        assert_eq!(national("4711"), None);
    }
}
