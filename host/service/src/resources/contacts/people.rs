//! Contacts as a kind of `CollectionItem`.

use base::error::{Code, Result, invalid};
use base::input::validate::fault;
use model::Instant;
use model::contacts::Contact;
use model::wire::ItemWrite;
use model::wire::contacts::ContactWrite;
use serde_json::{Map, Value};

use crate::app::resource_kind::ResourceKind;
use crate::connections::write_context::WriteContext;
use crate::local_copy::contact::{composed_name, derive};
use crate::resources::collection_items::{self, CollectionItem};
use crate::resources::collections::{open_of, open_to_write};
use crate::resources::contacts::input;
use crate::resources::open_item::ensure_fresh;
use crate::sync::collection_set;
use crate::sync::scope::SyncScope;
use crate::writes::open_collection::OpenCollection;

impl CollectionItem for Contact {
    const KIND: ResourceKind = ResourceKind::Contact;
    type Args = ContactWrite;

    fn complete(
        &mut self,
        before: Option<&Self>,
        changed: &mut Vec<String>,
        _: Instant,
        _: &str,
    ) -> Result<()> {
        // A display name that was derived from the parts changes with them.
        let was_composed = before.is_some_and(|b| b.display_name == composed_name(b));
        let says_name = changed.iter().any(|f| f == "displayName");
        let goes_along = was_composed && !says_name && composed_name(self).is_some();
        if goes_along {
            self.display_name = None;
        }
        input::valid(self, changed, before)?;
        derive(self);
        // The nickname that is shown for a contact without a name is not its name.
        if !says_name && before.is_none_or(|b| goes_along && b.display_name != self.display_name) {
            changed.push("displayName".to_owned());
        }
        Ok(())
    }

    async fn args(
        cx: &WriteContext,
        opened: &OpenCollection,
        mut write: ItemWrite<Self>,
        before: Option<&Self>,
    ) -> Result<ContactWrite> {
        let no_groups = Vec::new();
        let was = before.map_or(&no_groups, |b| &b.group_ids);
        let shall = std::mem::take(&mut write.body.group_ids);
        let new: Vec<String> = shall.iter().filter(|id| !was.contains(id)).cloned().collect();
        let old: Vec<String> = was.iter().filter(|id| !shall.contains(id)).cloned().collect();
        let at = |i: usize| format!("groupIds[{}]", shall.iter().position(|id| *id == new[i]).unwrap_or(i));
        let (group, field) = (ResourceKind::ContactGroup, |_: usize| "groupIds".to_owned());
        let joins = collection_items::resolve_ids(cx, opened, group, &new, at).await?;
        let leaves = collection_items::resolve_ids(cx, opened, group, &old, field).await?;
        let kept: Vec<String> = shall.iter().filter(|id| was.contains(id)).cloned().collect();
        let kept = collection_items::resolve_ids(cx, opened, group, &kept, field).await?;
        write.body.group_ids = kept.iter().chain(&joins).map(collection_items::uid).collect();
        Ok(ContactWrite {
            write,
            joins: joins.into_iter().map(|g| g.source_id).collect(),
            leaves: leaves.into_iter().map(|g| g.source_id).collect(),
        })
    }
}

/// The book for a new contact or group: the one that the body names, else the default book of the connection that the body names.
pub async fn book_of(cx: &WriteContext, input: &mut Map<String, Value>) -> Result<OpenCollection> {
    match input.remove("bookId") {
        None | Some(Value::Null) => {}
        Some(Value::String(id)) => return named_book(cx, &id, "bookId").await,
        Some(_) => return Err(fault("bookId", "must be a string")),
    }
    let connection_id = match input.get("connectionId") {
        Some(Value::String(id)) => id.clone(),
        _ => {
            let message = "bookId is required, or connectionId for the default book of an account";
            return Err(invalid(Code::MissingField, "bookId", message));
        }
    };
    let kind = ResourceKind::ContactBook;
    let (app, no_cache) = (&cx.app, cx.request.no_cache);
    let mut account = cx.account(&connection_id, kind.write_scope()).await?;
    ensure_fresh(app, &mut account, &SyncScope::collections(kind), no_cache).await?;
    let mut books = collection_set::collections(app, &account.connection, kind).await?;
    let is_default = |body: &str| body.contains("\"isDefault\":true");
    let is_writable = |body: &str| body.contains("\"readOnly\":false");
    let default = books.iter().position(|b| is_default(&b.body));
    match default.or_else(|| books.iter().position(|b| is_writable(&b.body))) {
        Some(at) => {
            cx.request.ensure_scope(kind.read_scope())?;
            Ok(contacts_in(open_of(account, books.swap_remove(at))?))
        }
        None => {
            let message = "this account has no contact book that can be written; make one first";
            Err(invalid(Code::CapabilityNotSupported, "connectionId", message))
        }
    }
}

/// A book that a body names.
async fn named_book(cx: &WriteContext, id: &str, field: &str) -> Result<OpenCollection> {
    match open_to_write(cx, ResourceKind::ContactBook, id).await {
        Err(e) if e.code() == Some(Code::NotFound) => Err(fault(field, "names no contact book")),
        opened => Ok(contacts_in(opened?)),
    }
}

fn contacts_in(opened: OpenCollection) -> OpenCollection {
    OpenCollection { kind: ResourceKind::Contact, ..opened }
}
