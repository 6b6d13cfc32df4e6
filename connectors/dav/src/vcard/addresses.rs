//! ADR with its labels and country.

use model::contacts::PostalAddress;
use vcard::tree::cst::VcardCst;
use vcard::tree::line::VcardLine;

use crate::vcard::entries::with_purpose;
use crate::vcard::lines::{
    Version, View, components, drop_lines, escape, is, line, param, value, with_param, with_raw,
};
use crate::vcard::lists::{Entry, GroupedLine, MAX_ENTRIES, set_list};
use crate::vcard::tag::{for_kind, tag};

/// Apple's country code beside an address.
const COUNTRY: &str = "X-ABADR";
/// Components of ADR (RFC 6350 section 6.3.1).
const COMPONENTS: usize = 7;

/// An address, and the position of its postal label in the card if that is in no group.
struct AddressEntry {
    address: PostalAddress,
    /// The LABEL of vCard 3.0 that belongs to it by its types alone.
    loose_label: Option<usize>,
}

impl PartialEq for AddressEntry {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

/// The addresses of a card.
pub fn addresses(view: &View) -> Vec<PostalAddress> {
    AddressEntry::all(view).into_iter().map(|(_, place)| place.address).collect()
}

/// Makes the card have these addresses.
pub fn set_addresses(card: &mut VcardCst, wanted: &[PostalAddress]) {
    let wanted: Vec<AddressEntry> =
        wanted.iter().map(|address| AddressEntry { address: normal(address), loose_label: None }).collect();
    let existing = AddressEntry::all(&View::from_card(card));
    let says = |address: &PostalAddress| (address.kind, address.label.clone(), address.formatted.clone());
    // A loose label that no address is wanted to have would be taken for another one's: it goes. Where the order of those that stay
    // tells something else than it did, they all go and come back beside their addresses.
    for keeping in [true, false] {
        let stays =
            |old: &AddressEntry| keeping && wanted.iter().any(|new| says(&new.address) == says(&old.address));
        let loose = existing.iter().filter(|(_, old)| !stays(old)).filter_map(|(_, old)| old.loose_label);
        let mut made = card.clone();
        drop_lines(&mut made, &loose.collect::<Vec<_>>());
        set_list(&mut made, &wanted);
        let is_told = AddressEntry::all(&View::from_card(&made)).iter().map(|(_, place)| place).eq(&wanted);
        if is_told || !keeping {
            *card = made;
            return;
        }
    }
}

/// Normalizes an address to the values that a card can hold and reading returns.
fn normal(address: &PostalAddress) -> PostalAddress {
    let text = |text: &Option<String>| {
        text.as_deref().map(|text| crate::text::plain(text).trim().to_owned()).filter(|text| !text.is_empty())
    };
    PostalAddress {
        kind: address.kind,
        label: address.label.clone(),
        formatted: text(&address.formatted),
        street: text(&address.street),
        extended: text(&address.extended),
        po_box: text(&address.po_box),
        locality: text(&address.locality),
        region: text(&address.region),
        postal_code: text(&address.postal_code),
        country: text(&address.country),
        country_code: address.country_code.as_deref().and_then(country_code),
    }
}

fn country_code(text: &str) -> Option<String> {
    let text = text.trim();
    (text.len() == 2 && text.bytes().all(|b| b.is_ascii_alphabetic())).then(|| text.to_ascii_uppercase())
}

fn parts(address: &PostalAddress) -> [Option<&str>; COMPONENTS] {
    [
        address.po_box.as_deref(),
        address.extended.as_deref(),
        address.street.as_deref(),
        address.locality.as_deref(),
        address.region.as_deref(),
        address.postal_code.as_deref(),
        address.country.as_deref(),
    ]
}

impl Entry for AddressEntry {
    fn all(view: &View) -> Vec<(usize, Self)> {
        let mut loose: Vec<(usize, &VcardLine, bool)> = view
            .lines
            .iter()
            .filter(|(_, line)| is(line, "LABEL") && line.group().is_none())
            .take(MAX_ENTRIES)
            .map(|(at, line)| (*at, *line, false))
            .collect();
        let lines = view.lines.iter().filter(|(_, line)| is(line, "ADR")).take(MAX_ENTRIES);
        let mut found = Vec::new();
        for (at, line) in lines {
            let tag = tag(view, line);
            let (kind, label) = tag.kind();
            let mut parts =
                components(line, ",").into_iter().map(|part| Some(part).filter(|part| !part.is_empty()));
            let mut next = || parts.next().flatten();
            let mut address = PostalAddress {
                kind,
                label,
                po_box: next(),
                extended: next(),
                street: next(),
                ..PostalAddress::default()
            };
            (address.locality, address.region) = (next(), next());
            (address.postal_code, address.country) = (next(), next());
            let code = param(line, "CC").or_else(|| view.beside(line, COUNTRY).map(value));
            address.country_code = code.as_deref().and_then(country_code);
            let beside = param(line, "LABEL").or_else(|| view.beside(line, "LABEL").map(value));
            let mut loose_label = None;
            if beside.is_none()
                && let Some((label_at, label, taken)) = loose
                    .iter_mut()
                    .find(|(_, label, taken)| !taken && self::tag(view, label).kind() == tag.kind())
            {
                *taken = true;
                loose_label = Some(*label_at);
                address.formatted = Some(value(label));
            }
            let formatted = beside.or(address.formatted);
            address.formatted = formatted.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
            if self::parts(&address).iter().any(Option::is_some) || address.formatted.is_some() {
                found.push((*at, AddressEntry { address, loose_label }));
            }
        }
        found
    }

    fn key(&self) -> String {
        format!("{:?}", parts(&self.address))
    }

    fn rest(&self) -> String {
        format!("{:?}", (self.address.kind, &self.address.label))
    }

    fn write(&self, version: Version, old: Option<(&VcardLine, &Self)>) -> GroupedLine {
        let address = &self.address;
        let had = old.map(|(line, _)| raw_components(line)).unwrap_or_default();
        let was = old.map(|(_, was)| parts(&was.address)).unwrap_or_default();
        let raw: Vec<String> = parts(address)
            .iter()
            .enumerate()
            .map(|(at, part)| match had.get(at) {
                // What did not change keeps its bytes.
                Some(raw) if was[at] == *part => raw.clone(),
                _ => escape(part.unwrap_or_default()),
            })
            .collect();
        let raw = raw.join(";");
        let mut own = old.map_or_else(|| line("ADR", &[], &raw), |(line, _)| with_raw(line, &raw));
        let mut beside = Vec::new();
        let was = old.map(|(_, was)| &was.address);
        if was.and_then(|was| was.formatted.as_ref()) != address.formatted.as_ref() {
            let is_param = version == Version::V4 || param(&own, "LABEL").is_some();
            own = with_param(&own, "LABEL", address.formatted.as_deref().filter(|_| is_param));
            let formatted = address.formatted.as_deref().filter(|_| !is_param);
            beside.push(("LABEL", formatted.map(escape)));
        }
        if was.and_then(|was| was.country_code.as_ref()) != address.country_code.as_ref() {
            let has_cc = param(&own, "CC").is_some();
            let by_param = has_cc || version == Version::V4;
            let code = address.country_code.as_deref();
            own = with_param(&own, "CC", code.filter(|_| by_param));
            beside.push((COUNTRY, code.filter(|_| !by_param).map(str::to_lowercase)));
        }
        let same = was.is_some_and(|was| (was.kind, &was.label) == (address.kind, &address.label));
        let (types, label) = for_kind(address.kind, address.label.as_deref());
        let mut written = with_purpose(own, types, label, same);
        written.beside.extend(beside);
        written
    }
}

/// The components as they are written.
pub fn raw_components(line: &VcardLine) -> Vec<String> {
    let raw = line.value.to_string();
    let mut all = vec![String::new()];
    let mut escaped = false;
    for character in raw.chars() {
        match character {
            ';' if !escaped => all.push(String::new()),
            _ => all.last_mut().expect("there is always one").push(character),
        }
        escaped = character == '\\' && !escaped;
    }
    all
}
