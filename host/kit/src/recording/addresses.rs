//! Email addresses in a recording, and their placeholders.

use std::collections::HashMap;

use crate::recording::rules::Rules;

/// The domain of the placeholders. Its addresses belong to no one.
const PLACEHOLDER_DOMAIN: &str = "@example.test";

/// The addresses that were seen, by their numbers.
#[derive(Default)]
pub struct KnownAddresses(HashMap<String, usize>);

impl KnownAddresses {
    /// How many addresses were replaced.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The text with other addresses in place of those in it.
    pub fn replaced(&mut self, text: &str, rules: &Rules) -> String {
        let (mut clean, mut rest) = (String::with_capacity(text.len()), text);
        while let Some((before, sign, after)) = at_sign(rest) {
            let (head, local) = split_local(before);
            let (domain, tail) = split_domain(after);
            let address = format!("{local}@{domain}");
            let is_address = !local.is_empty() && is_domain(domain);
            match is_address.then(|| self.assign_placeholder(&address, rules)).flatten() {
                Some(other) => {
                    clean.push_str(head);
                    clean.push_str(&other.replace('@', sign));
                    rest = tail;
                }
                None => {
                    clean.push_str(before);
                    clean.push_str(sign);
                    rest = after;
                }
            }
        }
        clean.push_str(rest);
        clean
    }

    /// Returns the placeholder of an address; none if the address may stay.
    fn assign_placeholder(&mut self, address: &str, rules: &Rules) -> Option<String> {
        let address = address.to_lowercase();
        if address.ends_with(PLACEHOLDER_DOMAIN) || rules.keeps_address(&address) {
            return None;
        }
        let next = self.0.len() + 1;
        let number = *self.0.entry(address).or_insert(next);
        Some(format!("user{number}{PLACEHOLDER_DOMAIN}"))
    }
}

/// Whether a text is an address and nothing else.
pub fn is_address(text: &str) -> bool {
    let Some((before, _, after)) = at_sign(text) else { return false };
    let (head, local) = split_local(before);
    let (domain, tail) = split_domain(after);
    head.is_empty() && !local.is_empty() && is_domain(domain) && tail.is_empty()
}

/// A text around its first `@`, which may be escaped.
fn at_sign(text: &str) -> Option<(&str, &str, &str)> {
    let (plain, in_url) = (text.find('@'), text.find("%40"));
    let (at, length) = match (plain, in_url) {
        (Some(plain), Some(in_url)) if in_url < plain => (in_url, "%40".len()),
        (Some(plain), _) => (plain, 1),
        (None, Some(in_url)) => (in_url, "%40".len()),
        (None, None) => return None,
    };
    let (before, rest) = text.split_at(at);
    let (sign, after) = rest.split_at(length);
    Some((before, sign, after))
}

/// The text before an address, and its local part.
fn split_local(before: &str) -> (&str, &str) {
    let is_local = |c: &char| c.is_alphanumeric() || "._+-".contains(*c);
    let length: usize = before.chars().rev().take_while(is_local).map(char::len_utf8).sum();
    let (head, local) = before.split_at(before.len() - length);
    // The digits of an escape before the address are not its own.
    let digits = if head.ends_with('%') { 2_usize.min(local.len()) } else { 0 };
    let local = local.split_at_checked(digits).map_or(local, |(_, rest)| rest);
    (before.strip_suffix(local).unwrap_or(head), local)
}

/// Splits a text into the domain of an address and the rest.
fn split_domain(after: &str) -> (&str, &str) {
    let is_part = |c: &char| c.is_alphanumeric() || ".-".contains(*c);
    let length: usize = after.chars().take_while(is_part).map(char::len_utf8).sum();
    let (domain, _) = after.split_at(length);
    let domain = domain.trim_end_matches(['.', '-']);
    (domain, after.strip_prefix(domain).unwrap_or_default())
}

/// A name of several parts whose last one is of letters.
fn is_domain(domain: &str) -> bool {
    let Some((rest, last)) = domain.rsplit_once('.') else { return false };
    !rest.is_empty() && last.chars().count() >= 2 && last.chars().all(char::is_alphabetic)
}
