//! Derives the status of a delivery (RFC 3463) from its reason, and whether a failure is permanent.

use model::email::tracking::BounceKind;

/// The bytes of a reason that are searched.
const REASON_BYTES: usize = 4 << 10;

/// Phrases of servers in lower case, by the subject and detail of the status that they mean (RFC 3463 3). The first match counts, so more
/// exact phrases come first.
const REASONS: [(&str, &[&str]); 8] = [
    (
        "2.2",
        &[
            "mailbox full",
            "mailbox is full",
            "inbox is full",
            "inbox full",
            "account is full",
            "storage full",
            "quota",
            "exceeds allowed size",
            "exceeded storage",
            "storage allocation",
            "out of storage space",
            "postfach ist voll",
            "postfach voll",
            "mailbox size limit",
        ],
    ),
    (
        "3.4",
        &[
            "message too large",
            "message is too large",
            "message too big",
            "message is too big",
            "message size exceeds",
            "maximum message size",
            "size limit exceeded",
            "exceeds size limit",
            "exceeds the maximum size",
            "recipsizelimit",
            "nachricht zu gro",
        ],
    ),
    (
        "1.2",
        &[
            "host unknown",
            "unknown host",
            "host not found",
            "no such domain",
            "domain not found",
            "domain does not exist",
            "unknown domain",
            "non-existent host",
            "nonexistent domain",
            "name or service not known",
            "couldn't find any host",
            "unrouteable mail domain",
            "nxdomain",
            "invalid domain",
        ],
    ),
    (
        "2.1",
        &[
            "mailbox disabled",
            "account disabled",
            "account has been disabled",
            "mailbox is disabled",
            "account is inactive",
        ],
    ),
    (
        "1.1",
        &[
            "user unknown",
            "unknown user",
            "unknown recipient",
            "recipient unknown",
            "unknown local",
            "unknown address",
            "addressee unknown",
            "no such user",
            "no such mailbox",
            "no such recipient",
            "no such account",
            "no such address",
            "no mailbox here by that name",
            "mailbox not found",
            "recipient not found",
            "user not found",
            "recipnotfound",
            "recipientnotfound",
            "couldn't be found",
            "could not be found",
            "does not exist",
            "doesn't exist",
            "doesn't have a",
            "not listed in",
            "not on post office",
            "not recognized",
            "invalid recipient",
            "invalid mailbox",
            "invalid address",
            "invalid final delivery userid",
            "is not a known user",
            "unbekannt",
            "existiert nicht",
        ],
    ),
    (
        "7.1",
        &[
            "spam",
            "blacklist",
            "blocklist",
            "blocked",
            "policy",
            "access denied",
            "relaying denied",
            "relay denied",
            "relay not permitted",
            "not permitted to relay",
            "not authorized",
            "not accepted for delivery",
            "reputation",
        ],
    ),
    (
        "4.7",
        &[
            "retry timeout exceeded",
            "message expired",
            "delivery expired",
            "queue.expired",
            "in the queue too long",
            "too long in the queue",
            "cannot send message for",
            "retry time not reached",
        ],
    ),
    (
        "4.1",
        &[
            "connection timed out",
            "connection refused",
            "no route to host",
            "host not reachable",
            "connect to",
            "no answer from host",
        ],
    ),
];

/// The first RFC 3463 status in a text.
pub fn enhanced(text: &str) -> Option<String> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '.').map(|word| word.trim_matches('.'));
    words.into_iter().find(|word| is_status(word)).map(str::to_owned)
}

/// Whether the word is an enhanced status code. Its subject has one digit, so that version numbers and dates do not match.
fn is_status(word: &str) -> bool {
    let numbers: Vec<&str> = word.splitn(4, '.').collect();
    matches!(numbers.as_slice(), [class, subject, detail]
        if matches!(*class, "2" | "4" | "5") && subject.len() == 1 && (1..=3).contains(&detail.len()))
}

/// The status that a reason contains, else the one that its reply code or wording means. `action` decides the class if there is no reply
/// code.
pub fn meant(reason: &str, action: &str) -> Option<String> {
    let reason = crate::text::cut_at(reason, REASON_BYTES);
    enhanced(reason).filter(|status| !status.starts_with('2')).or_else(|| derive(reason, action))
}

fn derive(reason: &str, action: &str) -> Option<String> {
    let lower = reason.to_lowercase();
    let code = reply_code(reason);
    let class = match (code, action) {
        (Some(code), _) => code.get(..1)?,
        (None, "failed") => "5",
        (None, "delayed") => "4",
        _ => return None,
    };
    let known = REASONS.iter().find(|(_, phrases)| phrases.iter().any(|phrase| lower.contains(phrase)));
    // RFC 5321 4.2.3 gives only these two codes a specific meaning; the others mean no more than a failure.
    let by_code = || match code? {
        "552" | "452" => Some("2.2"),
        _ => Some("0.0"),
    };
    let rest = known.map(|(rest, _)| *rest).or_else(by_code)?;
    Some(format!("{class}.{rest}"))
}

/// The first reply code of a failure in the text (RFC 5321 4.2): a word of three digits.
fn reply_code(text: &str) -> Option<&str> {
    let words = text.split(|c: char| c.is_whitespace() || "-#:;,()[]<>'\"".contains(c));
    words.into_iter().find(|word| {
        let digits = word.as_bytes();
        matches!(digits, [b'4' | b'5', b'0'..=b'7', last] if last.is_ascii_digit())
    })
}

/// The action (RFC 3464) for a value of the Action field. An unknown value is returned in lower case.
pub fn action(value: &str) -> String {
    let word = value.trim().split([' ', '(', ';', ',', '\t']).next().unwrap_or_default().to_lowercase();
    let begins = |with: &[&str]| with.iter().any(|with| word.starts_with(with));
    let known = match () {
        () if begins(&["fail", "undeliver", "bounce", "reject", "error", "permanent"]) => "failed",
        () if begins(&["delay", "defer", "retr", "warn", "transient", "temp"]) => "delayed",
        () if begins(&["deliver", "success"]) => "delivered",
        () if begins(&["relay"]) => "relayed",
        () if begins(&["expan"]) => "expanded",
        () => return word,
    };
    known.to_owned()
}

/// The kind of bounce: hard for a permanent failure, soft for a delay or a temporary failure, none if delivery did not fail.
pub fn bounce(action: &str, status: Option<&str>) -> Option<BounceKind> {
    match (action, status.and_then(|status| status.bytes().next())) {
        ("failed", _) => Some(BounceKind::Hard),
        ("delayed", _) => Some(BounceKind::Soft),
        ("delivered" | "relayed" | "expanded", _) => None,
        (_, Some(b'5')) => Some(BounceKind::Hard),
        (_, Some(b'4')) => Some(BounceKind::Soft),
        _ => None,
    }
}
