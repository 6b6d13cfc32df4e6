//! The stored rows that a page of records may affect, read once before the comparison.

use std::collections::{HashMap, HashSet};

use base::error::Result;
use storage::items::{self, Item, RecordNames};
use storage::locked::LockedRow;

use crate::app::resource_kind::ResourceKind;
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::transaction::CopyTransaction;

/// All rows that were ever read from these records, or that have the provider's id of one of their items or of a series that one of them
/// names; tombstones included.
pub struct StoredRecords<'l> {
    /// In the order of their ids.
    rows: Vec<LockedRow<'l, Item>>,
    by_source: HashMap<String, Vec<usize>>,
    by_external_id: HashMap<String, Vec<usize>>,
    /// When they were read, ms since 1970.
    pub read_at: i64,
}

impl<'l> StoredRecords<'l> {
    /// Reads the rows of all readable records in one statement.
    pub async fn load(
        copy: &mut CopyTransaction<'_, 'l>,
        records: &[NormalizedRecord],
    ) -> Result<StoredRecords<'l>> {
        let readable = || records.iter().filter(|record| record.error.is_none());
        let source_ids: HashSet<&str> = readable().map(|record| record.source_id.as_str()).collect();
        let told = readable().flat_map(|record| &record.items);
        let names = told.flat_map(|item| [Some(&item.external_id), item.series_external_id.as_ref()]);
        let external_ids: HashSet<&str> = names.flatten().map(String::as_str).collect();
        let (source_ids, external_ids): (Vec<&str>, Vec<&str>) =
            (source_ids.into_iter().collect(), external_ids.into_iter().collect());
        let names = RecordNames { source_ids: &source_ids, external_ids: &external_ids };
        let (family, parent_id) = (copy.location.kind.family(), copy.location.parent_id.as_str());
        let rows = items::lock_records(copy.tx, copy.lock, family, parent_id, names).await?;
        Ok(StoredRecords::new(rows, copy.app.now()))
    }

    fn new(mut rows: Vec<LockedRow<'l, Item>>, read_at: i64) -> StoredRecords<'l> {
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        let mut by_source: HashMap<String, Vec<usize>> = HashMap::with_capacity(rows.len());
        let mut by_external_id: HashMap<String, Vec<usize>> = HashMap::with_capacity(rows.len());
        for (at, row) in rows.iter().enumerate() {
            by_source.entry(row.source_id.clone()).or_default().push(at);
            by_external_id.entry(row.external_id.clone()).or_default().push(at);
        }
        StoredRecords { rows, by_source, by_external_id, read_at }
    }

    /// All rows.
    pub fn rows(&self) -> &[LockedRow<'l, Item>] {
        &self.rows
    }

    /// Returns all rows that were ever read from a record.
    pub fn of_source(&self, source_id: &str) -> Vec<&LockedRow<'l, Item>> {
        let places = self.by_source.get(source_id).into_iter().flatten();
        places.filter_map(|at| self.rows.get(*at)).collect()
    }

    /// Returns an item by the provider's id. If it was read from another record, it was moved or split off.
    pub fn find_item(&self, kind: ResourceKind, external_id: &str) -> Option<&LockedRow<'l, Item>> {
        let places = self.by_external_id.get(external_id).into_iter().flatten();
        places.filter_map(|at| self.rows.get(*at)).find(|row| row.kind == kind.as_str())
    }
}
