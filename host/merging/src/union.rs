//! The union of contacts' lists, without duplicates.

use std::collections::HashSet;
use std::hash::Hash;

use model::contacts::Anniversary;
use model::contacts::Contact;
use model::contacts::ContactEmail;
use model::contacts::ContactPhone;
use model::contacts::Organization;
use model::contacts::PartialDate;
use model::contacts::PostalAddress;
use text::folding;
use text::phones;

use crate::identifiers;
use crate::organizations;

/// Unites the lists of all contacts, in their order; of two equal items the first stays, completed from the other. `primary` flags stay
/// on the first item that has one.
pub fn lists(merged: &mut Contact, others: &[&Contact]) {
    let all = |each: fn(&Contact) -> usize| others.iter().map(|c| each(c)).sum::<usize>();
    merged.emails.reserve(all(|c| c.emails.len()));
    for other in others {
        merged.emails.extend(other.emails.iter().cloned());
        merged.phones.extend(other.phones.iter().cloned());
        merged.addresses.extend(other.addresses.iter().cloned());
        merged.organizations.extend(other.organizations.iter().cloned());
        merged.urls.extend(other.urls.iter().cloned());
        merged.im_addresses.extend(other.im_addresses.iter().cloned());
        merged.relations.extend(other.relations.iter().cloned());
        merged.anniversaries.extend(other.anniversaries.iter().cloned());
    }
    once(&mut merged.emails, email);
    once(&mut merged.phones, phone);
    merged.addresses = absorb(&merged.addresses, address);
    merged.organizations = absorb(&merged.organizations, organization);
    once(&mut merged.urls, |u| identifiers::profile(&u.value).unwrap_or_else(|| page(&u.value)));
    once(&mut merged.im_addresses, |i| {
        identifiers::im_account(i).unwrap_or_else(|| folding::fold(i.handle.trim()))
    });
    once(&mut merged.relations, |r| (folding::fold(r.name.trim()), r.kind.as_deref().map(folding::fold)));
    once(&mut merged.anniversaries, anniversary);
    only_first(merged.emails.iter_mut().map(|e| &mut e.primary));
    only_first(merged.phones.iter_mut().map(|p| &mut p.primary));
}

/// Keeps the first flag that is set.
fn only_first<'a>(flags: impl Iterator<Item = &'a mut bool>) {
    flags.filter(|flag| **flag).skip(1).for_each(|flag| *flag = false);
}

/// Keeps the first of each key.
fn once<T, K: Hash + Eq>(list: &mut Vec<T>, key: impl Fn(&T) -> K) {
    let mut seen = HashSet::new();
    list.retain(|item| seen.insert(key(item)));
}

/// Keeps the more complete items: an item is dropped if another has all its values. Long lists are only cleared of equal items, because
/// this compares each with each.
fn absorb<T: Clone>(list: &[T], fields: impl Fn(&T) -> Vec<Option<String>>) -> Vec<T> {
    const LONG: usize = 200;
    let mut kept: Vec<(Vec<Option<String>>, T)> = Vec::new();
    let mut seen = HashSet::new();
    for item in list {
        let said = fields(item);
        if said.iter().all(Option::is_none) || !seen.insert(said.clone()) {
            continue;
        }
        if list.len() > LONG {
            kept.push((said, item.clone()));
            continue;
        }
        if kept.iter().any(|(other, _)| covers(other, &said)) {
            continue;
        }
        match kept.iter().position(|(other, _)| covers(&said, other)) {
            Some(at) => {
                kept[at] = (said.clone(), item.clone());
                let mut index = 0;
                kept.retain(|(other, _)| {
                    index += 1;
                    index == at + 1 || !covers(&said, other)
                });
            }
            None => kept.push((said, item.clone())),
        }
    }
    kept.into_iter().map(|(_, item)| item).collect()
}

fn covers(more: &[Option<String>], less: &[Option<String>]) -> bool {
    more.iter().zip(less).all(|(m, l)| l.is_none() || m == l)
}

fn text(value: &Option<String>) -> Option<String> {
    value.as_deref().map(|t| folding::fold(t.trim())).filter(|t| !t.is_empty())
}

fn email(email: &ContactEmail) -> String {
    identifiers::email_address(&email.value).unwrap_or_else(|| folding::fold(email.value.trim()))
}

/// Returns a number as E.164, else its digits, else the text.
fn phone(phone: &ContactPhone) -> String {
    identifiers::phone_number(phone, None)
        .or_else(|| identifiers::national(&phone.value))
        .or_else(|| Some(phones::digits(&phone.value)).filter(|d| !d.is_empty()))
        .unwrap_or_else(|| folding::fold(phone.value.trim()))
}

fn page(url: &str) -> String {
    let bare = url.trim().trim_end_matches('/');
    let bare = bare.strip_prefix("https://").or_else(|| bare.strip_prefix("http://")).unwrap_or(bare);
    let (host, path) = bare.split_once('/').unwrap_or((bare, ""));
    format!("{}/{path}", folding::fold(host).trim_start_matches("www."))
}

fn address(address: &PostalAddress) -> Vec<Option<String>> {
    let PostalAddress { formatted, street, extended, po_box, locality, region, postal_code, country, .. } =
        address;
    let lines =
        [formatted, street, extended, po_box, locality, region, postal_code, country, &address.country_code];
    let words =
        |line: &Option<String>| text(line).map(|t| t.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.into_iter().map(words).collect()
}

fn organization(organization: &Organization) -> Vec<Option<String>> {
    let name = organization.name.as_deref().map(organizations::comparable).filter(|n| !n.is_empty());
    vec![name, text(&organization.title), text(&organization.department)]
}

fn anniversary(anniversary: &Anniversary) -> (Option<String>, [i64; 3]) {
    let PartialDate { year, month, day } = anniversary.date;
    (text(&anniversary.kind), [year.unwrap_or(0), month, day])
}
