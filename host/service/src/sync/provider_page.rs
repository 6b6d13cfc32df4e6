//! A page of changes, as a connector answered it.

use storage::sync_states::Batch;

use crate::local_copy::record::NormalizedRecord;

/// An answer of the connector, as it is written.
#[derive(Clone)]
pub struct ProviderPage {
    pub sources: Vec<NormalizedRecord>,
    /// The provider's names of those of its records that were written ahead of it, in parts (`page_parts`).
    pub earlier: Vec<String>,
    /// The build of the connector that read them.
    pub connector: Option<String>,
    /// The log's last sequence when the provider was asked for it.
    pub as_of: i64,
    /// The scan that it belongs to.
    pub scan: Option<Scan>,
    /// The scan ends with this page and lacks too much to be believed: nothing is deleted before all was read a second time.
    pub is_doubted: bool,
    /// Everything from here on has been told, ms.
    pub covered_since: Option<i64>,
    pub cursor: Option<String>,
    pub more: bool,
    /// Records that an earlier page named and that were left out of it: this page is what the provider says of them now.
    pub reread: Vec<String>,
    pub named: DeferredNames,
}

/// What a page does to the names whose content is still to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeferredNames {
    None,
    /// These are to be read before the next page.
    Kept(Vec<Batch>),
    /// It is the content of this batch, but for these: what is held of them is what the provider has.
    Read(Batch, Vec<String>),
}

/// Reading everything that a collection has, page by page. What no page named is gone when the last one was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan {
    /// Its number: items are marked with it as they are named.
    pub generation: i64,
    /// The log's last sequence when it began.
    pub since: i64,
}

impl ProviderPage {
    /// The provider's names of all that it tells is there.
    pub fn told(&self) -> Vec<&str> {
        let held = match &self.named {
            DeferredNames::Read(_, held) => held.as_slice(),
            DeferredNames::None | DeferredNames::Kept(_) => &[],
        };
        let sources = self.sources.iter().map(|source| source.source_id.as_str());
        sources.chain(held.iter().chain(&self.earlier).map(String::as_str)).collect()
    }

    /// Whether it is of a feed of changes, which may be behind other reads. The content of deferred names is read as it is now.
    pub(crate) fn is_feed(&self) -> bool {
        self.scan.is_none() && !matches!(self.named, DeferredNames::Read(..))
    }

    /// The scan that ends with this page, and whose end deletes what it did not name.
    pub(crate) fn ended(&self) -> Option<Scan> {
        self.scan.filter(|_| !self.more && !self.is_doubted)
    }
}
