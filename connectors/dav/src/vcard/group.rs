//! Cards that are groups: KIND and MEMBER of vCard 4.0 (RFC 6350 sections 6.1.4 and 6.6.5), and the properties that Apple has for
//! the same in 3.0. Servers turn one version into the other, so that both are met in one card.

use std::collections::HashSet;

use model::contacts::{ContactGroup, GroupKind};
use vcard::tree::cst::VcardCst;
use vcard::tree::line::VcardLine;

use crate::text::without_prefix;
use crate::vcard::lines::{Version, View, empty, escape_uri, is, line, places, set_text, value};

const KINDS: [&str; 2] = ["KIND", "X-ADDRESSBOOKSERVER-KIND"];
const MEMBERS: [&str; 2] = ["MEMBER", "X-ADDRESSBOOKSERVER-MEMBER"];
const UUID: &str = "urn:uuid:";

/// Whether the card is a group.
pub fn is_group(view: &View) -> bool {
    KINDS.iter().any(|name| view.text(name).is_some_and(|kind| kind.eq_ignore_ascii_case("group")))
}

/// Whether a line makes a card a group, or names a member.
pub fn is_group_line(line: &VcardLine) -> bool {
    MEMBERS.iter().any(|name| is(line, name))
        || KINDS.iter().any(|name| is(line, name)) && value(line).trim().eq_ignore_ascii_case("group")
}

/// Returns the UID by which other cards refer to a card. Members are named as `urn:uuid:` with the UID behind it, even where it is no
/// UUID, and some cards write their own UID that way; the result has no such prefix.
pub fn reference(text: &str) -> String {
    let text = text.trim();
    without_prefix(text, UUID).unwrap_or(text).to_owned()
}

/// The UID of a card as other cards name it.
pub fn uid(view: &View) -> Option<String> {
    view.text("UID").map(|uid| reference(&uid)).filter(|uid| !uid.is_empty())
}

/// The card as a group.
pub fn group(view: &View) -> ContactGroup {
    let mut members: Vec<String> = member_lines(view).filter_map(|(_, line)| member(line)).collect();
    let mut seen = HashSet::new();
    members.retain(|uid| seen.insert(uid.clone()));
    ContactGroup {
        name: view.text("FN").or_else(|| view.text("N")).unwrap_or_default(),
        kind: GroupKind::User,
        member_count: i64::try_from(members.len()).unwrap_or(i64::MAX),
        contact_ids: Some(members),
        ..ContactGroup::default()
    }
}

fn member_lines<'v, 'c, 'a>(view: &'v View<'c, 'a>) -> impl Iterator<Item = (usize, &'c VcardLine<'a>)> + 'v {
    view.lines.iter().copied().filter(|(_, line)| MEMBERS.iter().any(|name| is(line, name)))
}

/// The UID of a member; none for one that is no card (a mail address).
fn member(line: &VcardLine) -> Option<String> {
    let uid = reference(&value(line));
    let elsewhere = ["mailto:", "tel:", "http:", "https:"];
    let is_card = !elsewhere.iter().any(|scheme| uid.to_ascii_lowercase().starts_with(scheme));
    (is_card && !uid.is_empty()).then_some(uid)
}

/// A new group's card.
pub fn new_group(version: Version, uid: &str, name: &str, members: &[String]) -> VcardCst<'static> {
    let mut card = empty(version);
    card.props.push(line("UID", &[], &escape_uri(uid, version)));
    match version {
        Version::V3 => card.props.push(line(KINDS[1], &[], "group")),
        Version::V4 => card.props.push(line(KINDS[0], &[], "group")),
    }
    set_name(&mut card, name);
    set_members(&mut card, members);
    card
}

/// Makes the group's name this. In 3.0 N must be there, too, and Apple shows it.
pub fn set_name(card: &mut VcardCst, name: &str) {
    set_text(card, "FN", Some(name));
    if !places(card, "N").is_empty() || View::from_card(card).version == Version::V3 {
        set_text(card, "N", Some(name));
    }
}

/// Makes these the members; the lines of those that stay keep their bytes, and so do members that are no cards.
pub fn set_members(card: &mut VcardCst, members: &[String]) {
    let wanted: HashSet<String> = members.iter().map(|uid| reference(uid)).collect();
    let view = View::from_card(card);
    let mut there = HashSet::new();
    let mut gone = Vec::new();
    let mut last = None;
    for (at, line) in member_lines(&view) {
        match member(line) {
            Some(uid) if !wanted.contains(&uid) => gone.push(at),
            Some(uid) => {
                there.insert(uid);
                last = Some((at, line.name.get().to_owned()));
            }
            None => last = Some((at, line.name.get().to_owned())),
        }
    }
    let version = view.version;
    let is_apple = KINDS[1..].iter().any(|name| view.first(name).is_some());
    let name = match &last {
        Some((_, name)) => name.clone(),
        None if is_apple || view.version == Version::V3 => MEMBERS[1].to_owned(),
        None => MEMBERS[0].to_owned(),
    };
    let end = last.map_or_else(|| gone.last().copied(), |(at, _)| Some(at));
    let new =
        members.iter().map(|uid| reference(uid)).filter(|uid| !uid.is_empty() && there.insert(uid.clone()));
    let mut new: Vec<_> =
        new.map(|uid| line(&name, &[], &escape_uri(&format!("{UUID}{uid}"), version))).collect();
    let gone: HashSet<usize> = gone.into_iter().collect();
    let mut props = Vec::with_capacity(card.props.len() + new.len());
    for (at, line) in std::mem::take(&mut card.props).into_iter().enumerate() {
        if !gone.contains(&at) {
            props.push(line);
        }
        if Some(at) == end {
            props.append(&mut new);
        }
    }
    props.append(&mut new);
    card.props = props;
}

/// Adds or removes one member; whether that changed anything.
pub fn change_member(card: &mut VcardCst, uid: &str, joins: bool) -> bool {
    let uid = reference(uid);
    let mut members = group(&View::from_card(card)).contact_ids.unwrap_or_default();
    let was = members.contains(&uid);
    match joins {
        true if !was => members.push(uid),
        false if was => members.retain(|member| *member != uid),
        _ => return false,
    }
    set_members(card, &members);
    true
}
