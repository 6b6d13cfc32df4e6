//! Patterns of recipients that an assistant may send to: an address, or all addresses of a domain.

use mail::address;

/// The beginning of a pattern for all addresses of a domain.
const ANY_LOCAL: &str = "*@";

/// An address, or all addresses of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// One address, folded. Compatible letters before the `@` are compared as they are written: a server may have a mailbox for each.
    Address { folded: String, has_ascii_local: bool },
    /// All addresses of the domain, in ASCII and lower case; not those of its subdomains.
    Domain(String),
}

impl Recipient {
    /// Reads a pattern: `ada@acme.com` or `*@acme.com`.
    ///
    /// # Errors
    /// Names the fault.
    pub fn parse(pattern: &str) -> Result<Self, &'static str> {
        match pattern.strip_prefix(ANY_LOCAL) {
            Some(domain) => {
                let any = format!("any@{domain}");
                address::check(&any)?;
                if domain.starts_with('[') {
                    return Err("a pattern for a domain needs a domain name");
                }
                Ok(Recipient::Domain(domain_of(&address::folded(&any)).to_owned()))
            }
            None if pattern.contains('*') => Err("`*` can only replace everything before the @"),
            None => {
                address::check(pattern)?;
                Ok(Recipient::Address {
                    folded: address::folded(pattern),
                    has_ascii_local: has_ascii_local(pattern),
                })
            }
        }
    }

    /// Whether the pattern includes an address. An address that no message can be sent to is in no pattern.
    pub fn includes(&self, email: &str) -> bool {
        if address::check(email).is_err() {
            return false;
        }
        let folded = address::folded(email);
        match self {
            Recipient::Address { folded: allowed, has_ascii_local: is_ascii } => {
                *allowed == folded && *is_ascii == has_ascii_local(email)
            }
            Recipient::Domain(domain) => domain_of(&folded) == domain,
        }
    }

    /// Whether each address that `narrower` includes is in this pattern too.
    pub fn covers(&self, narrower: &Recipient) -> bool {
        match (self, narrower) {
            (Recipient::Domain(domain), Recipient::Address { folded, .. }) => domain_of(folded) == domain,
            _ => self == narrower,
        }
    }
}

/// The part after the last `@`; empty without one.
fn domain_of(email: &str) -> &str {
    email.rsplit_once('@').map_or("", |(_, domain)| domain)
}

fn has_ascii_local(email: &str) -> bool {
    email.rsplit_once('@').is_some_and(|(local, _)| local.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::Recipient;

    fn pattern(text: &str) -> Recipient {
        Recipient::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn a_pattern_is_an_address_or_a_domain() {
        for text in
            ["ada@acme.com", "*@acme.com", "*@b\u{fc}cher.example", "\"a@b\"@acme.com", "ada@[192.0.2.1]"]
        {
            assert!(Recipient::parse(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "*",
            "@acme.com",
            "acme.com",
            "*@",
            "*@*",
            "*@*.acme.com",
            "*.acme.com",
            "a*@acme.com",
            "*@acme.com, eve@evil.example",
            "Ada <ada@acme.com>",
            "*@[192.0.2.1]",
            "*@acme..com",
            "undisclosed-recipients:;",
        ] {
            assert!(Recipient::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_address_is_allowed_in_its_own_spellings_alone() {
        let ada = pattern("Ada@Acme.com");
        for same in
            ["ada@acme.com", "ADA@ACME.COM", "\"ada\"@acme.com", "ada@acme\u{ff0e}com", "ada@acme.com."]
        {
            assert_eq!(ada.includes(same), mail::address::check(same).is_ok(), "{same}");
        }
        for other in [
            "adb@acme.com",
            "ada@acme.com.evil.example",
            "ada@sub.acme.com",
            "ada+x@acme.com",
            // Letters of other alphabets, and compatible forms, that look the same.
            "\u{430}da@acme.com",
            "ad\u{430}@acme.com",
            "\u{ff41}da@acme.com",
            "ada@\u{430}cme.com",
            "ada@acm\u{435}.com",
            "ada@xn--cme-7cd.com",
            "ada\u{200b}@acme.com",
            "ada@acme.com, eve@evil.example",
            "ada@acme.com <eve@evil.example>",
            "Ada <ada@acme.com>",
            "",
        ] {
            assert!(!ada.includes(other), "{other}");
        }
    }

    #[test]
    fn a_domain_is_itself_in_the_spellings_of_the_dns() {
        let acme = pattern("*@ACME.com");
        for inside in ["ada@acme.com", "b.c+d@Acme.COM", "j\u{f6}rg@acme.com", "\"x@evil.example\"@acme.com"]
        {
            assert!(acme.includes(inside), "{inside}");
        }
        for outside in [
            "ada@sub.acme.com",
            "ada@acme.com.evil.example",
            "ada@evilacme.com",
            "ada@\u{430}cme.com",
            "ada@acme.com@evil.example",
            "ada@[acme.com",
            "acme.com",
            "*@acme.com ",
        ] {
            assert!(!acme.includes(outside), "{outside}");
        }
        let books = pattern("*@b\u{fc}cher.example");
        assert!(books.includes("x@xn--bcher-kva.example") && books.includes("x@bu\u{308}cher.example"));
        assert!(!books.includes("x@bucher.example"));
    }

    #[test]
    fn a_pattern_covers_what_is_within_it() {
        let (domain, ada, eve) =
            (pattern("*@acme.com"), pattern("ada@acme.com"), pattern("eve@evil.example"));
        assert!(domain.covers(&domain) && domain.covers(&ada) && ada.covers(&pattern("ADA@acme.com")));
        assert!(!ada.covers(&domain) && !domain.covers(&eve) && !ada.covers(&eve));
    }
}
