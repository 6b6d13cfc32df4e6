//! Removes duplicates in a page of records: a record that occurs more than once, an item that lies in two records, two exceptions for one
//! instance of a series. Pure, and independent of the stored rows.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use crate::app::resource_kind::ResourceKind;
use crate::local_copy::record::{MAX_NAME, NormalizedItem, NormalizedRecord};

/// The error code of a record whose name cannot be used in a request.
pub const NAMELESS: &str = "bad_name";

/// Whether neither the database nor the provider can be asked for a record of this name.
pub fn is_bad_name(name: &str) -> bool {
    name.contains('\0') || name.len() > MAX_NAME
}

/// Ensures that a record has a name under which it can be stored. One whose name cannot be stored is quarantined under another.
pub(crate) fn name_it(source: &mut NormalizedRecord) {
    let detail = if source.source_id.is_empty() {
        "a source has no externalId: a fault of the connector"
    } else if is_bad_name(&source.source_id) {
        "the source's externalId contains U+0000 or is too long"
    } else if source.previous_id.as_deref().is_some_and(is_bad_name) {
        "the source's previousId contains U+0000 or is too long"
    } else {
        return;
    };
    source.error = Some((NAMELESS.to_owned(), detail.to_owned()));
    (source.previous_id, source.deleted) = (None, false);
    if is_bad_name(&source.source_id) {
        let digest = hex::encode(&Sha256::digest(&source.source_id)[..8]);
        let shown = printable_prefix(&source.source_id);
        source.source_id = format!("{shown}… ({digest})");
    }
}

/// Keeps the last of several records with one name, and of several items with one name the last one with the highest revision. Mail is an
/// exception: a page reports its messages in steps, and later fields replace earlier ones (`mail::differences`).
pub(crate) fn unique(kind: ResourceKind, mut sources: Vec<NormalizedRecord>) -> Vec<NormalizedRecord> {
    let mut last: HashMap<&str, usize> = HashMap::with_capacity(sources.len());
    let is_step = |source: &NormalizedRecord| source.items.iter().any(|item| item.partial.is_some());
    for (at, source) in sources.iter().enumerate().filter(|(_, source)| !is_step(source)) {
        last.insert(&source.source_id, at);
    }
    let keeps = |(at, source): (usize, &NormalizedRecord)| {
        last.get(source.source_id.as_str()).is_none_or(|last| at >= *last)
    };
    let kept: Vec<bool> = sources.iter().enumerate().map(keeps).collect();
    let mut kept = kept.into_iter();
    sources.retain(|_| kept.next().unwrap_or(true));
    if !kind.is_mail() {
        without_doubles(&mut sources);
    }
    sources
}

/// The identity of a provider's object, whatever record it occurs in: an item, or an instance of a series.
#[derive(PartialEq, Eq, Hash)]
enum RecordIdentity {
    Item(ResourceKind, String),
    Instance(String, i64),
}

fn things(item: &NormalizedItem) -> impl Iterator<Item = RecordIdentity> {
    let instance = item.series_external_id.clone().zip(item.content.instance);
    let instance = instance.map(|(series, at)| RecordIdentity::Instance(series, at));
    [Some(RecordIdentity::Item(item.kind, item.external_id.clone())), instance].into_iter().flatten()
}

/// Removes duplicate items. Inside a record the newer of two stays. Of two records the one with the newer items keeps them, and the other
/// is quarantined and read again: it may have the items by then.
fn without_doubles(sources: &mut [NormalizedRecord]) {
    sources.iter_mut().for_each(without_own_doubles);
    let newest = |source: &NormalizedRecord| source.items.iter().map(|item| item.content.revision).max();
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|at| Reverse((newest(&sources[*at]), *at)));
    let mut held: HashSet<RecordIdentity> = HashSet::new();
    for source in order {
        let source = &mut sources[source];
        if let Some(double) = source.items.iter().find(|item| things(item).any(|thing| held.contains(&thing)))
        {
            let name = printable_prefix(&double.external_id);
            let message = format!("another source of the collection holds the same item, {name}");
            source.error = Some(("duplicate".to_owned(), message));
            source.items.clear();
        }
        held.extend(source.items.iter().flat_map(things));
    }
}

fn without_own_doubles(source: &mut NormalizedRecord) {
    if source.items.len() < 2 {
        return;
    }
    let mut order: Vec<usize> = (0..source.items.len()).collect();
    order.sort_by_key(|at| Reverse((source.items[*at].content.revision, *at)));
    let mut held: HashSet<RecordIdentity> = HashSet::new();
    let mut lost: HashSet<usize> = HashSet::new();
    for at in order {
        if things(&source.items[at]).any(|thing| held.contains(&thing)) {
            lost.insert(at);
            continue;
        }
        held.extend(things(&source.items[at]));
    }
    let mut at = 0;
    source.items.retain(|_| {
        at += 1;
        !lost.contains(&(at - 1))
    });
}

/// Returns the first 100 characters of a foreign name, without control characters.
fn printable_prefix(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use model::wire::{Item, JsonText, Source};
    use serde_json::{Value, json};

    use crate::app::resource_kind::ResourceKind;
    use crate::local_copy::normalize::prepared;
    use crate::local_copy::record::NormalizedRecord;

    fn item(id: &str, series: Option<&str>, body: Value) -> Item {
        let body = JsonText::of(&body).unwrap();
        Item { external_id: id.into(), series_external_id: series.map(Into::into), body, ..Item::default() }
    }

    fn event(title: &str, sequence: i64, original: Option<&str>) -> Value {
        json!({ "title": title, "sequence": sequence, "originalStart": original, "timeZone": "UTC",
            "start": "2026-03-02T10:00:00Z", "end": "2026-03-02T11:00:00Z" })
    }

    fn source(id: &str, items: Vec<Item>) -> Source {
        Source { external_id: id.into(), items, ..Source::default() }
    }

    /// Returns the titles of each record.
    fn titles(sources: &[NormalizedRecord]) -> Vec<Vec<String>> {
        let title =
            |body: &str| serde_json::from_str::<Value>(body).unwrap()["title"].as_str().unwrap().to_owned();
        sources.iter().map(|s| s.items.iter().map(|i| title(&i.content.body)).collect()).collect()
    }

    #[test]
    fn of_two_overrides_of_one_instance_the_newer_counts() {
        let first = Some("2026-03-09T10:00:00Z");
        let other = Some("2026-03-16T10:00:00Z");
        // Under one name and under two; the newer first and last; of equal ones the last.
        for (ids, sequences, wanted) in [
            (["s/1", "s/1"], [1, 2], "b"),
            (["s/1", "s/1"], [2, 1], "a"),
            (["s/1", "s/1"], [1, 1], "b"),
            (["s/1", "s/2"], [1, 2], "b"),
            (["s/1", "s/2"], [2, 1], "a"),
            (["s/1", "s/2"], [0, 0], "b"),
        ] {
            let items = vec![
                item("s", None, event("series", 0, None)),
                item(ids[0], Some("s"), event("a", sequences[0], first)),
                item(ids[1], Some("s"), event("b", sequences[1], first)),
                item("s/3", Some("s"), event("other", 0, other)),
            ];
            let all = prepared(ResourceKind::Event, vec![source("s", items)]);
            assert!(all[0].error.is_none());
            assert_eq!(titles(&all), [["series", wanted, "other"]], "{ids:?} {sequences:?}");
        }
    }

    #[test]
    fn an_item_in_two_sources_is_in_one() {
        let with = |title: &str, sequence| {
            vec![
                item("s", None, event(title, sequence, None)),
                item("s/1", Some("s"), event(&format!("{title} 1"), sequence, Some("2026-03-09T10:00:00Z"))),
            ]
        };
        let own = |id: &str| source(id, vec![item(id, None, event(id, 0, None))]);
        for (revisions, wanted, loser) in [
            ([2, 1], [vec!["a", "a 1"], vec!["c"], vec![]], 2),
            ([1, 1], [vec![], vec!["c"], vec!["b", "b 1"]], 0),
        ] {
            let page =
                vec![source("a", with("a", revisions[0])), own("c"), source("b", with("b", revisions[1]))];
            let all = prepared(ResourceKind::Event, page);
            assert_eq!(titles(&all), wanted);
            for (n, source) in all.iter().enumerate() {
                assert_eq!(source.error.as_ref().map(|e| e.0.as_str()), (n == loser).then_some("duplicate"));
            }
        }
    }

    #[test]
    fn the_last_word_on_a_source_counts() {
        let one = |title: &str| source("a", vec![item("a", None, event(title, 0, None))]);
        let gone = Source { external_id: "a".into(), deleted: true, ..Source::default() };
        assert_eq!(titles(&prepared(ResourceKind::Event, vec![one("1"), one("2")])), [["2"]]);
        assert!(prepared(ResourceKind::Event, vec![one("1"), gone.clone()])[0].deleted);
        assert_eq!(titles(&prepared(ResourceKind::Event, vec![gone, one("2")])), [["2"]]);
    }

    #[test]
    fn a_name_that_cannot_be_kept_is_quarantined_under_another() {
        let long = "é".repeat(1_001);
        for id in ["", "a\0b", long.as_str()] {
            let all =
                prepared(ResourceKind::Event, vec![source(id, vec![item("a", None, event("a", 0, None))])]);
            let (code, _) = all[0].error.clone().unwrap();
            assert_eq!(code, super::NAMELESS);
            assert!(
                !all[0].source_id.contains('\0') && all[0].source_id.len() < 2_000 && all[0].items.is_empty()
            );
        }
    }
}
