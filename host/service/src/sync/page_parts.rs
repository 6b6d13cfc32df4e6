//! Writes a page of many records in parts, each in its own transaction, so that the lock on the connection is held briefly. Records
//! that are compared with each other, because one may be the renamed other, stay together. Plain deletions are written at once: a later
//! page may have the object under another name, and it is only found by its tombstone, which every other write would delay.

use std::collections::{HashMap, HashSet};

use base::error::{Error, Result};
use storage::items::Item;

use crate::app::event_log::Origin;
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::mail::locations::is_place;
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::stored_records::StoredRecords;
use crate::local_copy::transaction::CopyTransaction;
use crate::sync::provider_page::{DeferredNames, ProviderPage};
use crate::sync::pull::Pull;

/// Most records of a page that is written at once. A page has `pull_page` of them, and at most as many former names; connectors may return
/// more.
const MAX_AT_ONCE: usize = 500;
/// Most records of a part, unless more have to stay together.
const MAX_PART: usize = 200;
/// Most records of a part of plain deletions. A tombstone is cheap: it needs no comparison, parsing or rendering, and a fixed number of
/// statements writes all of them.
const MAX_GONE_PART: usize = 2_000;

/// A name by which records on a page and stored rows are compared with each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum RecordName {
    Source(String),
    Item(String),
    Fingerprint(String),
    Uid(String),
    /// All folders and labels, which stay together: messages refer to them.
    Place,
}

/// The parts of a page in the order in which they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PartKind {
    /// Folders and labels, and the records that are compared with them.
    Places,
    /// Deleted records that no other record on the page can replace.
    Gone,
    Others,
}

impl PartKind {
    /// Returns the most records of a part that starts with this kind.
    fn most(self) -> usize {
        if self == PartKind::Gone { MAX_GONE_PART } else { MAX_PART }
    }

    /// Whether records of the two kinds are in separate parts.
    fn is_apart_from(self, other: PartKind) -> bool {
        self != other && (self == PartKind::Gone || other == PartKind::Gone)
    }
}

/// Whether a record is a plain deletion.
fn is_only_gone(record: &NormalizedRecord) -> bool {
    record.items.is_empty() && record.error.is_none() && record.previous_id.is_none()
}

fn names_of_record(record: &NormalizedRecord) -> Vec<RecordName> {
    let sources = [Some(&record.source_id), record.previous_id.as_ref()].into_iter().flatten();
    let mut names: Vec<RecordName> = sources.cloned().map(RecordName::Source).collect();
    for item in &record.items {
        names.push(RecordName::Item(item.external_id.clone()));
        names.extend(item.series_external_id.clone().map(RecordName::Item));
        names.extend(item.fingerprint.clone().map(RecordName::Fingerprint));
        names.extend(item.uid.clone().map(RecordName::Uid));
        names.extend(is_place(item.kind).then_some(RecordName::Place));
    }
    names
}

fn names_of_row(row: &Item) -> Vec<RecordName> {
    let mut names =
        vec![RecordName::Source(row.source_id.clone()), RecordName::Item(row.external_id.clone())];
    names.extend(row.fingerprint.clone().map(RecordName::Fingerprint));
    names.extend(row.uid.clone().map(RecordName::Uid));
    names.extend(ResourceKind::parse(&row.kind).filter(|kind| is_place(*kind)).map(|_| RecordName::Place));
    names
}

/// Disjoint sets that are merged into larger ones.
struct JoinedSets(Vec<usize>);

impl JoinedSets {
    /// Returns the first member of the set of `one`.
    fn first(&self, one: usize) -> usize {
        let mut one = one;
        // A first member refers to itself, any other one to an earlier one.
        while let Some(before) = self.0.get(one).filter(|before| **before < one) {
            one = *before;
        }
        one
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        if let Some(last) = self.0.get_mut(one.max(other)) {
            *last = one.min(other);
        }
    }
}

/// Divides records, by their numbers on the page, into parts that are written one after the other: folders and labels first, then plain
/// deletions, then in the order of the page. `stored`: the names of each stored row that they may affect.
fn divide(records: &[NormalizedRecord], stored: &[Vec<RecordName>]) -> Vec<Vec<usize>> {
    let named: Vec<Vec<RecordName>> = records.iter().map(names_of_record).collect();
    let all = || named.iter().chain(stored);
    let mut sets = JoinedSets((0..all().count()).collect());
    let mut first_with: HashMap<&RecordName, usize> = HashMap::new();
    for (number, names) in all().enumerate() {
        for name in names {
            sets.join(number, *first_with.entry(name).or_insert(number));
        }
    }
    let places = first_with.get(&RecordName::Place).map(|number| sets.first(*number));
    let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
    for number in 0..records.len() {
        groups.entry(sets.first(number)).or_default().push(number);
    }
    let is_gone = |group: &[usize]| group.iter().all(|number| records.get(*number).is_some_and(is_only_gone));
    let kind = |first: usize, group: &[usize]| match Some(first) == places {
        true => PartKind::Places,
        false if is_gone(group) => PartKind::Gone,
        false => PartKind::Others,
    };
    let mut groups: Vec<(PartKind, usize, Vec<usize>)> =
        groups.into_iter().map(|(first, group)| (kind(first, &group), first, group)).collect();
    groups.sort_by_key(|(kind, first, _)| (*kind, *first));
    let mut parts: Vec<(PartKind, Vec<usize>)> = Vec::new();
    for (kind, _, group) in groups {
        let has_room =
            |of: PartKind, part: &[usize]| !kind.is_apart_from(of) && part.len() + group.len() <= of.most();
        match parts.last_mut().filter(|(of, part)| has_room(*of, part)) {
            Some((_, part)) => part.extend(group),
            None => parts.push((kind, group)),
        }
    }
    let mut parts: Vec<Vec<usize>> = parts.into_iter().map(|(_, part)| part).collect();
    parts.iter_mut().for_each(|part| part.sort_unstable());
    parts
}

/// Returns the page in parts, its end last: data of the page as a whole are written with the end. A record that is read again has its name
/// in `reread` of its part; names without a record go with the first part, before a part marks one of them again.
fn in_parts(mut page: ProviderPage, stored: &[Vec<RecordName>]) -> Vec<ProviderPage> {
    let divided = divide(&page.sources, stored);
    let mut records: Vec<Option<NormalizedRecord>> =
        std::mem::take(&mut page.sources).into_iter().map(Some).collect();
    let mut parts: Vec<Vec<NormalizedRecord>> = Vec::with_capacity(divided.len());
    for numbers in divided {
        let taken = numbers.into_iter().filter_map(|number| records.get_mut(number).and_then(Option::take));
        parts.push(taken.collect());
    }
    let sources = parts.pop().unwrap_or_default();
    let earlier = parts.iter().flatten().map(|record| record.source_id.clone()).collect();
    let connector = page.connector.clone();
    let as_of = page.as_of;
    let mut reread = std::mem::take(&mut page.reread);
    let part = |sources| ProviderPage {
        sources,
        earlier: Vec::new(),
        connector: connector.clone(),
        as_of,
        scan: None,
        is_doubted: false,
        covered_since: None,
        cursor: None,
        more: true,
        reread: Vec::new(),
        named: DeferredNames::None,
    };
    let mut pages: Vec<ProviderPage> = parts.into_iter().map(part).collect();
    pages.push(ProviderPage { sources, earlier, ..page });
    for part in &mut pages {
        let told: HashSet<&str> = part.sources.iter().map(|record| record.source_id.as_str()).collect();
        (part.reread, reread) = reread.into_iter().partition(|name| told.contains(name.as_str()));
    }
    if let Some(first) = pages.first_mut() {
        first.reread.append(&mut reread);
    }
    pages
}

impl Pull<'_> {
    /// Returns a page as it is written: at once, or in parts with its end last. Collections are few, and are written together with their
    /// contents.
    pub(crate) async fn parts(&self, origin: Origin, page: ProviderPage) -> Result<Vec<ProviderPage>> {
        if page.sources.len() <= MAX_AT_ONCE || self.scope.kind.is_collection() {
            return Ok(vec![page]);
        }
        let (app, location) = (self.app.clone(), self.place(origin));
        let read = self.app.db.write(move |tx| {
            Box::pin(async move {
                let lock = crate::local_copy::change::lock(tx, &location).await?;
                let mut copy = CopyTransaction { tx, app: &app, lock: &lock, location: &location };
                let stored = StoredRecords::load(&mut copy, &page.sources).await?;
                let stored: Vec<Vec<RecordName>> =
                    stored.rows().iter().map(|row| names_of_row(row)).collect();
                Ok::<_, Error>((page, stored))
            })
        });
        let (page, stored) = read.await?;
        Ok(tokio::task::spawn_blocking(move || in_parts(page, &stored)).await.map_err(anyhow::Error::from)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_copy::record::{NormalizedContent, NormalizedItem};

    fn record(name: &str, kind: ResourceKind, fingerprint: Option<&str>) -> NormalizedRecord {
        let item = NormalizedItem {
            kind,
            external_id: name.to_owned(),
            uid: None,
            series_external_id: None,
            hash: String::new(),
            provider_data: None,
            content: NormalizedContent::default(),
            fingerprint: fingerprint.map(str::to_owned),
            aside: None,
            partial: None,
        };
        NormalizedRecord { items: vec![item], deleted: false, ..NormalizedRecord::gone(name) }
    }

    fn events(count: usize) -> Vec<NormalizedRecord> {
        let print = |n: usize| format!("print-{n}");
        (0..count).map(|n| record(&format!("event-{n}"), ResourceKind::Event, Some(&print(n)))).collect()
    }

    fn row(source_id: &str, external_id: &str, fingerprint: &str) -> Vec<RecordName> {
        names_of_row(&Item {
            kind: ResourceKind::Event.as_str().to_owned(),
            source_id: source_id.to_owned(),
            external_id: external_id.to_owned(),
            fingerprint: Some(fingerprint.to_owned()),
            ..Item::default()
        })
    }

    #[test]
    fn parts_are_in_the_order_of_the_page_and_have_every_record_once() {
        let parts = divide(&events(601), &[]);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [200, 200, 200, 1]);
        assert_eq!(parts.concat(), (0..601).collect::<Vec<_>>());
        assert!(divide(&[], &[]).is_empty());
    }

    #[test]
    fn what_may_be_one_object_under_two_names_is_in_one_part() {
        let mut page = events(600);
        // The object of the first record was called `renamed`, and an item of the second one was in `split`.
        page.extend([NormalizedRecord::gone("renamed"), record("split", ResourceKind::Event, None)]);
        let moved = NormalizedRecord {
            previous_id: Some("event-2".to_owned()),
            ..record("moved", ResourceKind::Event, None)
        };
        page.push(moved);
        let stored = [row("renamed", "renamed", "print-0"), row("split", "event-1", "print-1")];
        let parts = divide(&page, &stored);
        let first = parts.first().expect("a part");
        for number in [0, 1, 2, 600, 601, 602] {
            assert!(first.contains(&number), "{number}: {first:?}");
        }
        assert!(parts.iter().all(|part| part.len() <= MAX_PART && part.is_sorted()));
        assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), page.len());
    }

    #[test]
    fn more_that_have_to_stay_together_than_a_part_has_are_one_part() {
        let mut page = events(10);
        page.extend((0..300).map(|n| record(&format!("copy-{n}"), ResourceKind::Event, Some("print-5"))));
        let parts = divide(&page, &[]);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [5, 301, 4]);
    }

    #[test]
    fn folders_come_before_the_messages_in_them() {
        let messages = (0..400).map(|n| record(&format!("message-{n}"), ResourceKind::EmailMessage, None));
        let mut page: Vec<NormalizedRecord> = messages.collect();
        page.push(record("inbox", ResourceKind::EmailFolder, None));
        page.push(record("archive", ResourceKind::EmailFolder, None));
        let parts = divide(&page, &[]);
        let first = parts.first().expect("a part");
        assert!(first.contains(&400) && first.contains(&401) && first.len() == MAX_PART);
    }

    #[test]
    fn what_is_only_gone_is_one_part_before_the_others() {
        let mut page = events(300);
        page.extend((0..1_000).map(|n| NormalizedRecord::gone(&format!("gone-{n}"))));
        // The object of record 7 had this name, and an unreadable record is no deletion.
        page.push(NormalizedRecord::gone("moved"));
        let error = Some(("unreadable".to_owned(), String::new()));
        page.push(NormalizedRecord { error, deleted: false, ..NormalizedRecord::gone("unreadable") });
        // Two deleted names of one object need not stay together.
        let stored = [
            row("moved", "moved", "print-7"),
            row("gone-0", "gone-0", "print-gone"),
            row("gone-1", "gone-1", "print-gone"),
        ];
        let parts = divide(&page, &stored);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [1_000, 200, 102]);
        assert_eq!(parts.first().expect("a part"), &(300..1_300).collect::<Vec<_>>());
        let second = parts.get(1).expect("a part");
        assert!(second.contains(&7) && second.contains(&1_300), "{second:?}");
    }

    #[test]
    fn folders_come_before_what_is_gone() {
        let mut page: Vec<NormalizedRecord> =
            (0..=MAX_GONE_PART).map(|n| NormalizedRecord::gone(&format!("gone-{n}"))).collect();
        page.push(record("inbox", ResourceKind::EmailFolder, None));
        page.push(record("message", ResourceKind::EmailMessage, None));
        let parts = divide(&page, &[]);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [1, MAX_GONE_PART, 1, 1]);
        assert_eq!(parts.first().expect("a part"), &[MAX_GONE_PART + 1]);
    }

    #[test]
    fn only_the_end_of_a_page_has_its_cursor() {
        let page = ProviderPage {
            sources: events(450),
            earlier: Vec::new(),
            connector: None,
            as_of: 7,
            scan: None,
            is_doubted: false,
            covered_since: Some(1),
            cursor: Some("next".to_owned()),
            more: false,
            reread: ["event-0", "event-449", "nowhere"].map(str::to_owned).to_vec(),
            named: DeferredNames::None,
        };
        let parts = in_parts(page, &[]);
        let cursors: Vec<Option<&str>> = parts.iter().map(|part| part.cursor.as_deref()).collect();
        assert_eq!(cursors, [None, None, Some("next")]);
        let end = parts.last().expect("an end");
        assert_eq!((end.sources.len(), end.earlier.len(), end.existing_names().len()), (50, 400, 450));
        assert!(parts.iter().take(2).all(|part| part.more && part.as_of == 7));
        let reread: Vec<Vec<&str>> =
            parts.iter().map(|part| part.reread.iter().map(String::as_str).collect()).collect();
        let none: Vec<&str> = Vec::new();
        assert_eq!(reread, [vec!["event-0", "nowhere"], none, vec!["event-449"]]);
    }
}
