//! Numbers of a contact: Graph has two business ones, two at home and a mobile one. Pure.

use model::contacts::{ContactPhone, PhoneKind};
use model::wire::Warning;
use serde_json::{Map, Value, json};

use crate::calendar::patch::field_warning;

/// Business numbers, and numbers at home, that a contact has at most; one more is refused
/// (microsoftgraph/microsoft-graph-docs-contrib#560).
const MAX_NUMBERS: usize = 2;
const FIELD: &str = "phones";

/// The numbers by their places.
#[derive(Debug, Default)]
struct PhonePlaces<'a> {
    business: Vec<&'a str>,
    home: Vec<&'a str>,
    mobile: Option<&'a str>,
}

impl<'a> PhonePlaces<'a> {
    /// Puts a number in a place of its kind. False: there is none, or it is taken.
    fn put(&mut self, kind: PhoneKind, number: &'a str) -> bool {
        let list = match kind {
            PhoneKind::Mobile => {
                let is_free = self.mobile.is_none();
                self.mobile = self.mobile.or(Some(number));
                return is_free;
            }
            PhoneKind::Work => &mut self.business,
            PhoneKind::Home => &mut self.home,
            _ => return false,
        };
        let is_free = list.len() < MAX_NUMBERS;
        if is_free {
            list.push(number);
        }
        is_free
    }

    /// Puts a number of any kind where there is a place.
    fn put_anywhere(&mut self, number: &'a str) -> bool {
        self.put(PhoneKind::Work, number) || self.put(PhoneKind::Home, number)
    }
}

/// Adds the members with the numbers, and warnings about what Graph has no place for. A number of no particular kind takes the place of a
/// business one, or one at home; a number of a fax or a pager is left out.
pub fn put_phones(ours: &[ContactPhone], body: &mut Map<String, Value>, lost: &mut Vec<Warning>) {
    let mut places = PhonePlaces::default();
    let (mut is_left_out, mut is_altered) = (false, false);
    let is_plain = |phone: &&ContactPhone| matches!(phone.kind, PhoneKind::Other | PhoneKind::Custom);
    for phone in ours.iter().filter(|phone| !is_plain(phone)) {
        is_left_out |= !places.put(phone.kind, &phone.value);
    }
    for phone in ours.iter().filter(is_plain) {
        match places.put_anywhere(&phone.value) {
            true => is_altered = true,
            false => is_left_out = true,
        }
    }
    let is_labelled = |phone: &ContactPhone| phone.label.as_ref().is_some_and(|label| !label.is_empty());
    let warnings = [
        (
            is_left_out,
            "Outlook keeps two business numbers, two at home and a mobile one: the others were left out",
        ),
        (is_altered, "Outlook has no other numbers: this one is kept as a business number, or one at home"),
        (ours.iter().any(is_labelled), "Outlook has no labels of numbers"),
        (ours.iter().any(|phone| phone.primary), "Outlook has no preferred number"),
    ];
    lost.extend(
        warnings.into_iter().filter(|(is_lost, _)| *is_lost).map(|(_, text)| field_warning(FIELD, text)),
    );
    body.insert("businessPhones".to_owned(), json!(places.business));
    body.insert("homePhones".to_owned(), json!(places.home));
    body.insert("mobilePhone".to_owned(), json!(places.mobile));
}
