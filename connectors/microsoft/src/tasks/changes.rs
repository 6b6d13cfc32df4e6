//! Changes of a task list. Graph's delta of a list names the tasks, which are read then with their steps and links.

use connector_sdk::{Answer, Context, Outcome};
use model::wire::{ChangesRequest, Source, SourceName, Sources};

use crate::odata::walk::DeltaWalk;
use crate::tasks::read::read_sources;
use crate::tasks::roots::path;

/// Tasks of a page of the delta: three batches of reads.
const PAGE_SIZE: u32 = 60;

/// Returns the next page of a list's tasks, or of their changes. Fails with `cursor-expired` where the provider has forgotten the token, or
/// the cursor is not one of this version.
pub fn changes(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let list = args.collection.as_deref().unwrap_or_default();
    let mut walk = DeltaWalk::read(context.cursor.as_deref())?;
    let enumeration = walk.is_first;
    let size = if args.limit == 0 { PAGE_SIZE } else { args.limit.min(PAGE_SIZE) };
    let page = walk.read_page(context, &path(list), size, "reading the changes of the task list")?;
    let more = walk.has_more();
    let mut body = Sources { enumeration, ..Sources::default() };
    let ids: Vec<String> = page.changed.into_iter().chain(page.removed).collect();
    if args.names_only {
        // The host reads each by itself, and finds out which are gone.
        body.sources = ids.into_iter().map(named_source).collect();
    } else {
        // One that is said to be removed may be there all the same: it is gone where the list does not answer it.
        let content = read_sources(context, list, &ids)?;
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
