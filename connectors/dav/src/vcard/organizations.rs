//! ORG and TITLE, which belong together by group or by order.

use std::collections::{HashMap, HashSet};

use model::contacts::Organization;
use vcard::tree::cst::VcardCst;
use vcard::tree::line::VcardLine;

use crate::text::plain;
use crate::vcard::lines::{View, components, escape, is, line, renamed, value, with_raw};
use crate::vcard::lists::{Groups, MAX_ENTRIES};

/// An organization and where it stands.
struct OrganizationEntry {
    organization: Organization,
    org: Option<usize>,
    title: Option<usize>,
}

/// The organizations of a card. Cards do not mark one as past, so all are current.
pub fn organizations(view: &View) -> Vec<Organization> {
    all(view).into_iter().map(|place| place.organization).collect()
}

fn all(view: &View) -> Vec<OrganizationEntry> {
    let titled = |(_, line): &&(usize, &VcardLine)| is(line, "TITLE") && !value(line).trim().is_empty();
    let mut titles: Vec<Option<(usize, &VcardLine)>> =
        view.lines.iter().filter(titled).take(MAX_ENTRIES).map(|one| Some(*one)).collect();
    let mut found = Vec::new();
    for (at, line) in view.lines.iter().filter(|(_, line)| is(line, "ORG")).take(MAX_ENTRIES) {
        let group = line.group().map(str::to_ascii_lowercase);
        // In the same group, or both in none.
        let own = titles.iter_mut().find(|title| {
            title.is_some_and(|(_, title)| title.group().map(str::to_ascii_lowercase) == group)
        });
        let title = own.and_then(Option::take);
        let mut parts = components(line, ",").into_iter();
        let name = parts.next().filter(|name| !name.is_empty());
        let units: Vec<String> = parts.filter(|unit| !unit.is_empty()).collect();
        let organization = Organization {
            name,
            department: (!units.is_empty()).then(|| units.join(", ")),
            title: title.map(|(_, title)| value(title).trim().to_owned()),
            current: true,
        };
        if organization.name.is_some() || organization.department.is_some() || organization.title.is_some() {
            found.push(OrganizationEntry { organization, org: Some(*at), title: title.map(|(at, _)| at) });
        }
    }
    // One of each, and only one of them in a group.
    if let ([OrganizationEntry { organization, org: Some(org), title: alone @ None }], [left]) =
        (&mut found[..], &mut titles.iter_mut().filter(|title| title.is_some()).collect::<Vec<_>>()[..])
        && let Some((at, title)) = **left
        && (title.group().is_none()
            || view.lines.iter().any(|(at, line)| at == org && line.group().is_none()))
    {
        (organization.title, *alone) = (Some(value(title).trim().to_owned()), Some(at));
        **left = None;
    }
    for (at, line) in titles.into_iter().flatten() {
        let title = Some(value(line).trim().to_owned());
        let organization = Organization { title, current: true, ..Organization::default() };
        found.push(OrganizationEntry { organization, org: None, title: Some(at) });
    }
    found
}

fn normal(organization: &Organization) -> Organization {
    let text = |text: &Option<String>| {
        text.as_deref().map(|text| plain(text).trim().to_owned()).filter(|text| !text.is_empty())
    };
    Organization {
        name: text(&organization.name),
        title: text(&organization.title),
        department: text(&organization.department),
        current: true,
    }
}

/// Makes the card have these organizations. Lines of those that stay keep their bytes.
pub fn set_organizations(card: &mut VcardCst, wanted: &[Organization]) {
    let wanted: Vec<Organization> = wanted.iter().map(normal).collect();
    let existing = all(&View::from_card(card));
    if existing.iter().map(|place| &place.organization).eq(wanted.iter()) {
        return;
    }
    let mut free: Vec<Option<&OrganizationEntry>> = existing.iter().map(Some).collect();
    let mut take = |fits: &dyn Fn(&OrganizationEntry) -> bool| {
        free.iter_mut().find(|place| place.is_some_and(fits)).and_then(Option::take)
    };
    let mut plan: Vec<Option<&OrganizationEntry>> =
        wanted.iter().map(|one| take(&|place| place.organization == *one)).collect();
    for (slot, one) in plan.iter_mut().zip(&wanted) {
        if slot.is_none() {
            *slot = take(&|place| place.organization.name == one.name);
        }
    }
    for slot in plan.iter_mut().filter(|slot| slot.is_none()) {
        *slot = take(&|_| true);
    }
    // Titles belong to organizations by their order where possible; a group decides always.
    for together in [false, true] {
        let props = attempt(card, &wanted, &existing, &plan, together);
        let is_told = {
            let made = VcardCst { props: props.clone(), ..VcardCst::v4() };
            organizations(&View::from_card(&made)) == wanted
        };
        if is_told || together {
            card.props = props;
            return;
        }
    }
}

/// The card's lines with these organizations: each in its place, in a group where it changed and is one of several; or, `together`,
/// all where the first was, each in a group.
fn attempt<'a>(
    card: &VcardCst<'a>,
    wanted: &[Organization],
    existing: &[OrganizationEntry],
    plan: &[Option<&OrganizationEntry>],
    together: bool,
) -> Vec<VcardLine<'a>> {
    let mut groups = Groups::from_card(card);
    let mut at_place: HashMap<usize, Vec<VcardLine>> = HashMap::new();
    let mut behind: Vec<VcardLine> = Vec::new();
    let gone: HashSet<usize> = existing.iter().flat_map(|place| [place.org, place.title]).flatten().collect();
    let mut last = gone.iter().min().copied().filter(|_| together);
    for (one, old) in wanted.iter().zip(plan) {
        let changed = old.is_none_or(|old| old.organization != *one);
        let grouping = (together || changed && wanted.len() > 1).then_some(&mut groups);
        for (place, line) in organization_lines(card, one, *old, grouping) {
            last = place.filter(|_| !together).or(last);
            match last {
                Some(place) => at_place.entry(place).or_default().push(line),
                None => behind.push(line),
            }
        }
    }
    let mut props = Vec::with_capacity(card.props.len() + behind.len());
    for (at, line) in card.props.iter().enumerate() {
        match at_place.remove(&at) {
            Some(lines) => props.extend(lines),
            None if gone.contains(&at) => {}
            None => props.push(line.clone()),
        }
    }
    props.append(&mut behind);
    props
}

/// The lines of one organization, each with the place of the one that it was.
fn organization_lines(
    card: &VcardCst,
    one: &Organization,
    old: Option<&OrganizationEntry>,
    groups: Option<&mut Groups>,
) -> Vec<(Option<usize>, VcardLine<'static>)> {
    let was = old.map(|old| &old.organization);
    let at = |place: Option<usize>| place.map(|at| (at, &card.props[at]));
    let (org, title) = (at(old.and_then(|old| old.org)), at(old.and_then(|old| old.title)));
    let had = |line: &VcardLine| renamed(line, line.name.get());
    let same = |field: fn(&Organization) -> &Option<String>| was.is_some_and(|was| field(was) == field(one));
    // A title alone among several gets an empty ORG, so that it keeps its place in the list.
    let named = one.name.is_some() || one.department.is_some() || groups.is_some();
    let org_line = named.then(|| {
        let mut raw = escape(one.name.as_deref().unwrap_or_default());
        if let Some(department) = &one.department {
            raw.push_str(&format!(";{}", escape(department)));
        }
        let made = match org {
            Some((_, old)) if same(|o| &o.name) && same(|o| &o.department) => had(old),
            Some((_, old)) => with_raw(old, &raw),
            None => line("ORG", &[], &raw),
        };
        (org.map(|(at, _)| at), made)
    });
    let title_line = one.title.as_deref().map(|text| {
        let made = match title {
            Some((_, old)) if same(|o| &o.title) => had(old),
            Some((_, old)) => with_raw(old, &escape(text)),
            None => line("TITLE", &[], &escape(text)),
        };
        (title.map(|(at, _)| at), made)
    });
    let mut lines: Vec<_> = org_line.into_iter().chain(title_line).collect();
    let grouped = lines.first().and_then(|(_, line)| line.group()).map(str::to_owned);
    let is_together = grouped.is_some() && lines.iter().all(|(_, line)| line.group() == grouped.as_deref());
    if let Some(groups) = groups
        && !is_together
    {
        let group = grouped.unwrap_or_else(|| groups.free());
        for (_, line) in &mut lines {
            *line = renamed(line, &format!("{group}.{}", line.bare_name()));
        }
    }
    lines
}
