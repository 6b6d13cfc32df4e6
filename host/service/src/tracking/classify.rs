//! Classifies an open or click by its client: person, image proxy or scanner. The classification is a guess: a hit counts as a person's
//! unless something contradicts it.

use std::net::IpAddr;

use model::email::tracking::{Classification, ClassificationReason};

/// Time after the message was sent in which hits count as those of a mail gateway's scanner, ms.
const TOO_SOON_MS: i64 = 2_000;

/// Programs that fetch mail content for others: parts of `User-Agent`, lower case. Gateways, link checkers, libraries.
const SCANNERS: [&str; 26] = [
    "bot",
    "crawl",
    "spider",
    "scan",
    "preview",
    "proofpoint",
    "mimecast",
    "barracuda",
    "symantec",
    "trendmicro",
    "fireeye",
    "sophos",
    "forcepoint",
    "cloudmark",
    "urldefense",
    "safelinks",
    "microsoft office existence",
    "ms-office",
    "curl",
    "wget",
    "python",
    "java/",
    "go-http-client",
    "okhttp",
    "headless",
    "libwww",
];

/// The properties of a hit that the classification uses.
pub struct Hit<'a> {
    pub is_head: bool,
    pub user_agent: &'a str,
    pub at: i64,
    pub sent_at: Option<i64>,
}

/// Returns the class of a hit, and the reason if it is no person's.
pub fn classify(hit: &Hit<'_>) -> (Classification, Option<ClassificationReason>) {
    let agent = hit.user_agent.trim().to_ascii_lowercase();
    if hit.is_head {
        return (Classification::Bot, Some(ClassificationReason::HeadRequest));
    }
    if SCANNERS.iter().any(|name| agent.contains(name)) {
        return (Classification::Bot, Some(ClassificationReason::ScannerUa));
    }
    if hit.sent_at.is_none_or(|sent| hit.at - sent < TOO_SOON_MS) {
        return (Classification::Bot, Some(ClassificationReason::Within2sOfSend));
    }
    // Apple's Mail Privacy Protection fetches every image of every message, read or not, with this user agent alone.
    if agent == "mozilla/5.0" {
        return (Classification::Proxy, Some(ClassificationReason::AppleMpp));
    }
    if agent.is_empty() {
        return (Classification::Unknown, None);
    }
    // Gmail's and Yahoo's image proxies fetch when the message is shown to a person.
    (Classification::Human, None)
}

/// Returns the network of an address: enough to tell hits apart, too little to identify people.
pub fn network(ip: IpAddr) -> String {
    match ip.to_canonical() {
        IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            format!("{a}.{b}.{c}.0/24")
        }
        IpAddr::V6(v6) => {
            let s = v6.segments();
            format!("{}/48", std::net::Ipv6Addr::new(s[0], s[1], s[2], 0, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(user_agent: &str, is_head: bool, after_ms: i64) -> (Classification, Option<ClassificationReason>) {
        classify(&Hit { is_head, user_agent, at: 1_000_000 + after_ms, sent_at: Some(1_000_000) })
    }

    #[test]
    fn machines_are_told_apart() {
        use Classification::*;
        use ClassificationReason::*;
        let person =
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)";
        for (agent, is_head, after, want) in [
            (person, false, 60_000, (Human, None)),
            (person, true, 60_000, (Bot, Some(HeadRequest))),
            (person, false, 1_999, (Bot, Some(Within2sOfSend))),
            ("Mozilla/5.0", false, 60_000, (Proxy, Some(AppleMpp))),
            ("Mozilla/5.0 (compatible; Barracuda Sentinel)", false, 60_000, (Bot, Some(ScannerUa))),
            ("curl/8.0", false, 60_000, (Bot, Some(ScannerUa))),
            ("Mozilla/5.0 (via ggpht.com GoogleImageProxy)", false, 60_000, (Human, None)),
            ("", false, 60_000, (Unknown, None)),
        ] {
            assert_eq!(of(agent, is_head, after), want, "{agent}");
        }
    }

    #[test]
    fn addresses_are_cut() {
        assert_eq!(network("203.0.113.77".parse().unwrap()), "203.0.113.0/24");
        assert_eq!(network("::ffff:203.0.113.77".parse().unwrap()), "203.0.113.0/24");
        assert_eq!(network("2001:db8:1:2::3".parse().unwrap()), "2001:db8:1::/48");
    }
}
