//! What is particular to contacts as contents.

use base::error::{Code, Result, invalid};
use base::input::validate::fault;
use model::Instant;
use model::contacts::Contact;
use model::wire::ItemWrite;
use model::wire::contacts::ContactWrite;
use serde_json::{Map, Value};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::request_context::RequestContext;
use crate::local_copy::contact::{composed_name, derive};
use crate::resources::collection_items::{self, CollectionItem};
use crate::resources::collections::open_to_write;
use crate::resources::contacts::input;
use crate::sync::scope::SyncScope;
use crate::sync::{collection_set, ensure_fresh};
use crate::writes::open_collection::OpenCollection;

impl CollectionItem for Contact {
    const KIND: ResourceKind = ResourceKind::Contact;
    type Args = ContactWrite;

    fn complete(
        &mut self,
        before: Option<&Self>,
        changed: &mut Vec<String>,
        _: (Instant, &str),
    ) -> Result<()> {
        // A name that was made of the parts goes along with them.
        let was_composed = before.is_some_and(|b| b.display_name == composed_name(b));
        let says_name = changed.iter().any(|f| f == "displayName");
        let goes_along = was_composed && !says_name && composed_name(self).is_some();
        if goes_along {
            self.display_name = None;
        }
        input::valid(self, changed, before)?;
        derive(self);
        // What is shown of somebody without a name, a nickname, is not the name.
        if !says_name && before.is_none_or(|b| goes_along && b.display_name != self.display_name) {
            changed.push("displayName".to_owned());
        }
        Ok(())
    }

    async fn args(
        app: &App,
        asker: &RequestContext,
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
        let groups = (opened, ResourceKind::ContactGroup);
        let joins = collection_items::named(app, asker, groups, &new, at).await?;
        let leaves = collection_items::named(app, asker, groups, &old, |_| "groupIds".to_owned()).await?;
        let kept: Vec<String> = shall.iter().filter(|id| was.contains(id)).cloned().collect();
        let kept = collection_items::named(app, asker, groups, &kept, |_| "groupIds".to_owned()).await?;
        write.body.group_ids = kept.iter().chain(&joins).map(collection_items::uid).collect();
        Ok(ContactWrite {
            write,
            joins: joins.into_iter().map(|g| g.source_id).collect(),
            leaves: leaves.into_iter().map(|g| g.source_id).collect(),
        })
    }
}

/// The book that a create of a contact or a group is meant for: the one that the body names, else the default one of the
/// connection that it names.
pub async fn book_of(
    app: &App,
    asker: &RequestContext,
    input: &mut Map<String, Value>,
) -> Result<OpenCollection> {
    match input.remove("bookId") {
        None | Some(Value::Null) => {}
        Some(Value::String(id)) => return named_book(app, asker, &id, "bookId").await,
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
    let connection = asker.connection(app, &connection_id, kind.write_scope()).await?;
    ensure_fresh(app, &connection, &SyncScope::collections(kind), asker.no_cache).await?;
    let books = collection_set::collections(app, &connection, kind).await?;
    let is_default = |body: &str| body.contains("\"isDefault\":true");
    let is_writable = |body: &str| body.contains("\"readOnly\":false");
    let default =
        books.iter().find(|b| is_default(&b.body)).or_else(|| books.iter().find(|b| is_writable(&b.body)));
    match default {
        Some(book) => Ok(contacts_in(open_to_write(app, asker, (kind, &book.id)).await?)),
        None => {
            let message = "this account has no contact book that can be written; make one first";
            Err(invalid(Code::CapabilityNotSupported, "connectionId", message))
        }
    }
}

/// A book that a body names.
async fn named_book(app: &App, asker: &RequestContext, id: &str, field: &str) -> Result<OpenCollection> {
    match open_to_write(app, asker, (ResourceKind::ContactBook, id)).await {
        Err(e) if e.code() == Some(Code::NotFound) => Err(fault(field, "names no contact book")),
        opened => Ok(contacts_in(opened?)),
    }
}

fn contacts_in(opened: OpenCollection) -> OpenCollection {
    OpenCollection { kind: ResourceKind::Contact, ..opened }
}

/// The book that a contact or a group lies in, for a write.
pub async fn book_with(
    app: &App,
    asker: &RequestContext,
    kind: ResourceKind,
    id: &str,
) -> Result<OpenCollection> {
    let item = asker.item(app, kind, id).await?;
    let opened = open_to_write(app, asker, (ResourceKind::ContactBook, &item.parent_id)).await?;
    Ok(OpenCollection { kind, ..opened })
}
