//! A page of changes from a connector.

use storage::sync_states::Batch;

use crate::local_copy::record::NormalizedRecord;

/// An answer of the connector, ready to be written.
#[derive(Clone)]
pub struct ProviderPage {
    pub sources: Vec<NormalizedRecord>,
    /// The provider's names of the records that were written ahead of the page, in parts (`page_parts`).
    pub earlier: Vec<String>,
    /// The build of the connector that read them.
    pub connector: Option<String>,
    /// The log's last sequence when the provider was asked for it.
    pub as_of: i64,
    /// The scan that it belongs to.
    pub scan: Option<Scan>,
    /// The scan ends with this page and lacks too many records to be trusted: nothing is deleted before a second full read.
    pub is_doubted: bool,
    /// Everything from this time on was read, ms.
    pub covered_since: Option<i64>,
    pub cursor: Option<String>,
    pub more: bool,
    /// Records that an earlier page named and left out: this page has the provider's present version of them.
    pub reread: Vec<String>,
    pub named: DeferredNames,
}

/// The effect of a page on the names whose content is still to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeferredNames {
    None,
    /// These names are to be read before the next page.
    Kept(Vec<Batch>),
    /// The page is the content of this batch, except for these names, whose stored version is the provider's.
    Read(Batch, Vec<String>),
}

/// A full read of a collection, page by page. Records that no page named are deleted after the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan {
    /// Its number: items are marked with it as they are named.
    pub generation: i64,
    /// The log's last sequence when it began.
    pub since: i64,
}

impl ProviderPage {
    /// Returns the provider's names of all existing records on the page.
    pub fn existing_names(&self) -> Vec<&str> {
        let held = match &self.named {
            DeferredNames::Read(_, held) => held.as_slice(),
            DeferredNames::None | DeferredNames::Kept(_) => &[],
        };
        let sources = self.sources.iter().map(|source| source.source_id.as_str());
        sources.chain(held.iter().chain(&self.earlier).map(String::as_str)).collect()
    }

    /// Whether it is a page of a change feed, which may be behind other reads. The content of deferred names is read in its present
    /// version.
    pub(crate) fn is_feed(&self) -> bool {
        self.scan.is_none() && !matches!(self.named, DeferredNames::Read(..))
    }

    /// Returns the scan that ends with this page, and whose end deletes the records that it did not name.
    pub(crate) fn ended(&self) -> Option<Scan> {
        self.scan.filter(|_| !self.more && !self.is_doubted)
    }
}
