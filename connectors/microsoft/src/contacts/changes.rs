//! Changes of a book. Graph's delta of a folder names the contacts, which are read then: an entry may have the changed members alone, and
//! neither the picture nor the wedding day.

use connector_sdk::{Answer, Context, Outcome};
use model::wire::{ChangesRequest, Source, SourceName, Sources};

use crate::contacts::read::{folder_id, read_sources};
use crate::contacts::roots::path;
use crate::odata::walk::DeltaWalk;

/// Contacts of a page of the delta: five batches of reads.
const PAGE_SIZE: u32 = 50;

/// Returns the next page of a book's contacts, or of their changes. Fails with `cursor-expired` where the provider has forgotten the token,
/// or the cursor is not one of this version: the other books go on from theirs.
pub fn changes(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let book = args.collection.as_deref().unwrap_or_default();
    let mut walk = DeltaWalk::read(context.cursor.as_deref())?;
    let enumeration = walk.is_first;
    let size = if args.limit == 0 { PAGE_SIZE } else { args.limit.min(PAGE_SIZE) };
    let page = walk.read_page(context, &path(book), size, "reading the changes of the address book")?;
    let more = walk.has_more();
    let mut body = Sources { enumeration, ..Sources::default() };
    // One that is said to be removed may be there all the same, and one that moved is answered by some servers from where it is now.
    let home = match page.removed.is_empty() || args.names_only {
        true => None,
        false => Some(folder_id(context, book)?),
    };
    let ids: Vec<String> = page.changed.into_iter().chain(page.removed).collect();
    if args.names_only {
        // The host reads each by itself, and finds out which are gone.
        body.sources = ids.into_iter().map(named_source).collect();
    } else {
        let content = read_sources(context, book, &ids, home.as_deref())?;
        body.sources = content.sources;
        if let Some(wait) = content.wait {
            if !args.names_first || !more {
                return Err(wait);
            }
            // The host reads these by itself before it goes on with the next page.
            let unread = content.unread.into_iter();
            body.named = unread.map(|id| SourceName { external_id: id, ..SourceName::default() }).collect();
        }
    }
    Ok(Answer { body, cursor: Some(walk.write()?), more })
}

fn named_source(id: String) -> Source {
    Source { external_id: id, ..Source::default() }
}
