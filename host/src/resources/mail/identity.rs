//! Which message it is that a provider tells of. A message keeps its id when it is moved and when the provider calls it otherwise: it
//! is known by the name that it had, by its own name, or by its fingerprint while another one with it goes.

use model::email::EmailMessage;

use crate::error::Result;
use crate::resources::Kind;
use crate::resources::mail::differences::Page;
use crate::resources::mail::is_outgoing;
use crate::resources::mail::places::is_place;
use crate::resources::prepare::{Prepared, PreparedItem};
use crate::storage::Tx;
use crate::storage::items::{self, Item};
use crate::storage::mail as table;

/// After how long something that went is no longer taken for what comes.
const MOVED_WITHIN_MS: i64 = 3_600_000;

/// What the source of a message is called that lost its name to another.
pub(super) const GONE: &str = "gone:";

impl Page<'_> {
    pub(super) async fn stored(&self, tx: &mut Tx, source_id: &str) -> Result<Vec<Item>> {
        let (connection, family) = (&self.place.connection_id, Kind::EmailMessage.family());
        Ok(items::of_source(tx, connection, family, "", source_id).await?)
    }

    /// Under its new name it may have been told as a message of its own, by a look between two steps of the provider's.
    pub(super) async fn take_over(
        &mut self,
        tx: &mut Tx,
        source: &Prepared,
        known: Option<&Item>,
    ) -> Result<()> {
        let Some(known) = known else { return Ok(()) };
        for item in self.stored(tx, &source.source_id).await? {
            if item.id != known.id && item.deleted_at.is_none() && !is_place(Kind::of(&item)?) {
                self.nameless(item);
            }
        }
        Ok(())
    }

    /// Gone, and its name is another's: it is written before that one is.
    fn nameless(&mut self, item: Item) {
        let name = format!("{GONE}{}", item.id);
        self.gone(item);
        if let Some(gone) = self.changed.last_mut() {
            (gone.item.source_id, gone.item.external_id) = (name.clone(), name);
        }
    }

    /// The row that this is told of.
    pub(super) async fn known(
        &mut self,
        tx: &mut Tx,
        source: &Prepared,
        fresh: &PreparedItem,
    ) -> Result<Option<Item>> {
        let tombstone =
            match (self.previous(tx, source).await?, self.message_of(tx, &source.source_id).await?) {
                (Some(item), None) => return Ok(Some(item)),
                (before, Some(item)) if item.deleted_at.is_none() => return Ok(before.or(Some(item))),
                (_, tombstone) => tombstone,
            };
        if let Some(saved) = self.saved_here(tx, fresh).await? {
            return Ok(Some(saved));
        }
        if let Some(sent) = self.sent_here(tx, fresh).await? {
            return Ok(Some(sent));
        }
        let Some(print) = &fresh.fingerprint else { return Ok(tombstone) };
        if let Some(item) = self.leaving.get_mut(print).and_then(Vec::pop) {
            return Ok(Some(item));
        }
        let lately = self.app.now() - MOVED_WITHIN_MS;
        let moved = |i: &Item| i.deleted_at.is_some_and(|at| at >= lately);
        let found = items::by_fingerprint(tx, &self.place.connection_id, print).await?;
        let taken = |i: &Item| self.changed.iter().any(|c| c.item.id == i.id);
        Ok(found.into_iter().find(|i| moved(i) && !taken(i)).or(tombstone))
    }

    /// The message that had the name which the source had.
    async fn previous(&self, tx: &mut Tx, source: &Prepared) -> Result<Option<Item>> {
        match &source.previous_id {
            Some(before) => self.message_of(tx, before).await,
            None => Ok(None),
        }
    }

    /// The message of a source; where it went, its tombstone.
    async fn message_of(&self, tx: &mut Tx, source_id: &str) -> Result<Option<Item>> {
        let mut found = None;
        for item in self.stored(tx, source_id).await? {
            if is_place(Kind::of(&item)?) {
                continue;
            }
            if item.deleted_at.is_none() {
                return Ok(Some(item));
            }
            found = found.or(Some(item));
        }
        Ok(found)
    }

    /// The draft that this is the next version of: whoever changes it here has announced it, and its old version goes or just went.
    async fn saved_here(&mut self, tx: &mut Tx, fresh: &PreparedItem) -> Result<Option<Item>> {
        let is_draft = fresh.content.flags & table::flag::DRAFT != 0;
        let Some(message_id) = fresh.uid.as_ref().filter(|_| is_draft) else { return Ok(None) };
        let lately = self.app.now() - MOVED_WITHIN_MS;
        for item in items::drafts_by_uid(tx, &self.place.connection_id, message_id, lately).await? {
            let shown: EmailMessage = serde_json::from_str(&item.body)?;
            let is_announced = shown.internet_message_id.as_ref() != Some(message_id);
            let is_leaving = self.leaving.values().flatten().any(|leaving| leaving.id == item.id);
            if is_announced && (is_leaving || item.deleted_at.is_some()) {
                self.leaving.values_mut().for_each(|leaving| leaving.retain(|l| l.id != item.id));
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    /// The message of ours that this is the copy of.
    async fn sent_here(&self, tx: &mut Tx, fresh: &PreparedItem) -> Result<Option<Item>> {
        let Some(message_id) = fresh.uid.as_ref().filter(|_| fresh.partial.is_none()) else {
            return Ok(None);
        };
        let is_draft = fresh.content.flags & table::flag::DRAFT != 0;
        if is_draft || is_outgoing(&fresh.external_id) {
            return Ok(None);
        }
        let same = items::by_uid(tx, &self.place.connection_id, message_id).await?;
        Ok(same.into_iter().find(|item| is_outgoing(&item.source_id)))
    }
}
