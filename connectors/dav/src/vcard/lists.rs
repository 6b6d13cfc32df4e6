//! Lists of lines: sets them to a list of the model, where a line that is still valid keeps its bytes, and one that is
//! changed keeps its place, group and parameters.

use std::collections::{HashMap, HashSet, VecDeque};

use vcard::tree::cst::VcardCst;
use vcard::tree::line::VcardLine;

use crate::vcard::lines::{Version, View, drop_lines, is, line, renamed, with_raw};

/// Most entries of one list that are read; the card keeps them all.
pub const MAX_ENTRIES: usize = 500;

/// A line as it shall be, and the lines beside it (same group).
pub struct GroupedLine {
    pub line: VcardLine<'static>,
    /// Name and value as written; none: there shall be none.
    pub beside: Vec<(&'static str, Option<String>)>,
}

/// A thing that a list of the model has, read from one line and those beside it.
pub trait Entry: PartialEq + Sized {
    /// All of them, each with the place of its line, at most [`MAX_ENTRIES`].
    fn all(view: &View) -> Vec<(usize, Self)>;

    /// The part that identifies an entry when the rest changes: the address, the number.
    fn key(&self) -> String;

    /// The rest; where it is the same, a line may get another value.
    fn rest(&self) -> String;

    /// The line that says it: a new one, or the old one, which says what stands beside it, changed.
    fn write(&self, version: Version, old: Option<(&VcardLine, &Self)>) -> GroupedLine;
}

/// Makes the card say these entries, in this order.
pub fn set_list<T: Entry>(card: &mut VcardCst, wanted: &[T]) {
    let (existing, version) = {
        let view = View::from_card(card);
        (T::all(&view), view.version)
    };
    let plan = match_entries(&existing, wanted);
    let mut writer = Groups::from_card(card);
    let mut gone: Vec<usize> = Vec::new();
    // Each wanted entry's line, with the lines that come directly behind it.
    let mut made: Vec<Vec<VcardLine<'static>>> = Vec::with_capacity(wanted.len());
    for (entry, old) in wanted.iter().zip(&plan) {
        let old = old.map(|at| &existing[at]);
        made.push(match old {
            Some((_, was)) if was == entry => Vec::new(),
            Some((at, was)) => {
                let written = entry.write(version, Some((&card.props[*at], was)));
                writer.settle(card, written, &mut gone)
            }
            None => writer.settle(card, entry.write(version, None), &mut gone),
        });
    }
    for (at, (place, _)) in existing.iter().enumerate() {
        if !plan.contains(&Some(at)) {
            gone.extend(orphans(card, *place));
        }
    }
    arrange(card, &existing.iter().map(|(at, _)| *at).collect::<Vec<_>>(), &plan, made, &gone);
}

/// Matches each wanted entry with an existing one: an equal one, else one with the same key, else one that differs in its key alone.
fn match_entries<T: Entry>(existing: &[(usize, T)], wanted: &[T]) -> Vec<Option<usize>> {
    let mut plan: Vec<Option<usize>> = vec![None; wanted.len()];
    let mut free: Vec<bool> = vec![true; existing.len()];
    let mut by_key: HashMap<String, VecDeque<usize>> = HashMap::new();
    let mut by_rest: HashMap<String, VecDeque<usize>> = HashMap::new();
    for (at, (_, entry)) in existing.iter().enumerate() {
        by_key.entry(entry.key()).or_default().push_back(at);
        by_rest.entry(entry.rest()).or_default().push_back(at);
    }
    for (slot, entry) in plan.iter_mut().zip(wanted) {
        let same = by_key.get(&entry.key()).into_iter().flatten();
        *slot = same.copied().find(|at| free[*at] && existing[*at].1 == *entry);
        if let Some(at) = *slot {
            free[at] = false;
        }
    }
    for (index, key) in [&mut by_key, &mut by_rest].into_iter().enumerate() {
        for (slot, entry) in plan.iter_mut().zip(wanted).filter(|(slot, _)| slot.is_none()) {
            let name = if index == 0 { entry.key() } else { entry.rest() };
            let Some(queue) = key.get_mut(&name) else { continue };
            while let Some(at) = queue.pop_front() {
                if free[at] {
                    free[at] = false;
                    *slot = Some(at);
                    break;
                }
            }
        }
    }
    plan
}

/// The line at a place, and, where no other line is in its group, what Apple says beside it.
pub fn orphans(card: &VcardCst, place: usize) -> Vec<usize> {
    let mut gone = vec![place];
    let Some(group) = card.props[place].group() else { return gone };
    let view = View::from_card(card);
    let others = view.lines.iter().filter(|(at, line)| {
        *at != place && line.group().is_some_and(|other| other.eq_ignore_ascii_case(group))
    });
    let others: Vec<_> = others.collect();
    let belongs = |line: &VcardLine| ["X-ABLABEL", "X-ABADR", "LABEL"].iter().any(|name| is(line, name));
    if others.iter().all(|(_, line)| belongs(line)) {
        gone.extend(others.into_iter().map(|(at, _)| *at));
    }
    gone
}

/// Group names that are taken.
pub struct Groups {
    taken: Vec<String>,
    next: usize,
}

impl Groups {
    pub fn from_card(card: &VcardCst) -> Self {
        let taken = card.props.iter().filter_map(|line| line.group()).map(str::to_lowercase).collect();
        Groups { taken, next: 1 }
    }

    /// A name that no line has.
    pub fn free(&mut self) -> String {
        loop {
            let name = format!("item{}", self.next);
            self.next += 1;
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }

    /// The lines of an entry: its own, and new ones beside it. Lines beside it that are there already are changed in their place,
    /// those that shall go are named.
    pub fn settle(
        &mut self,
        card: &mut VcardCst,
        written: GroupedLine,
        gone: &mut Vec<usize>,
    ) -> Vec<VcardLine<'static>> {
        let GroupedLine { line: mut own, beside } = written;
        let mut lines = Vec::new();
        for (name, value) in beside {
            let there = place_beside(card, &own, name);
            match (there, value) {
                (Some(at), Some(value)) => card.props[at] = with_raw(&card.props[at], &value),
                (Some(at), None) => gone.push(at),
                (None, None) => {}
                (None, Some(value)) => {
                    if own.group().is_none() {
                        own = renamed(&own, &format!("{}.{}", self.free(), own.bare_name()));
                    }
                    let group = own.group().unwrap_or_default();
                    lines.push(line(&format!("{group}.{name}"), &[], &value));
                }
            }
        }
        lines.insert(0, own);
        lines
    }
}

fn place_beside(card: &VcardCst, own: &VcardLine, name: &str) -> Option<usize> {
    let group = own.group()?;
    let view = View::from_card(card);
    let found = view.lines.iter().find(|(_, line)| {
        is(line, name) && line.group().is_some_and(|other| other.eq_ignore_ascii_case(group))
    });
    found.map(|(at, _)| *at)
}

/// Puts the lines of a list in the order that is wanted. Where lines stay in their order they stay in their places; new ones come
/// behind the one before them.
fn arrange(
    card: &mut VcardCst,
    places: &[usize],
    plan: &[Option<usize>],
    made: Vec<Vec<VcardLine<'static>>>,
    gone: &[usize],
) {
    let mut slots: Vec<usize> = plan.iter().flatten().map(|at| places[*at]).collect();
    slots.sort_unstable();
    // By slot: what stands there now, as lines.
    let mut at_slot: HashMap<usize, Vec<VcardLine>> = HashMap::new();
    let mut slot = slots.iter();
    let mut before: Vec<VcardLine> = Vec::new();
    for (old, new) in plan.iter().zip(made) {
        match old {
            Some(at) => {
                let place = slot.next().copied().unwrap_or_default();
                let lines = if new.is_empty() { vec![card.props[places[*at]].clone()] } else { new };
                let mut all = std::mem::take(&mut before);
                all.extend(lines);
                at_slot.insert(place, all);
            }
            None => before.extend(new),
        }
    }
    let last = slots.last().or(places.iter().max()).copied();
    let end = match last {
        Some(last) => last,
        None => {
            card.props.extend(before);
            drop_lines(card, gone);
            return;
        }
    };
    let gone: HashSet<usize> = gone.iter().copied().collect();
    let mut props = Vec::with_capacity(card.props.len() + before.len());
    for (at, line) in std::mem::take(&mut card.props).into_iter().enumerate() {
        match at_slot.remove(&at) {
            Some(lines) => props.extend(lines),
            None if gone.contains(&at) => {}
            None => props.push(line),
        }
        if at == end {
            props.append(&mut before);
        }
    }
    card.props = props;
}
