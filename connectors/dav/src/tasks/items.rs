//! Tasks: reading, creating, changing, deleting.

use connector_sdk::{Context, Failure, Outcome};
use model::tasks::Task;
use model::wire::{ItemDelete, ItemWrite, Mutated, Source, SourceRef, Sources, Warning};

use crate::collection::objects::When;
use crate::collection::stable_id;
use crate::ical::todo::edit::TodoEditor;
use crate::tasks::Session;

pub fn get(cx: &Context, args: SourceRef) -> Outcome<Sources> {
    let session = Session::new(cx, args.time_zone.as_deref())?;
    let collection = session.client.url(&args.collection)?;
    let (text, etag) = session.object(&collection, &args.source)?;
    Ok(Sources { sources: vec![session.read_source(&args.source, text, etag)], enumeration: false })
}

pub fn create(cx: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
    let session = Session::new(cx, args.time_zone.as_deref())?;
    let collection = session.client.url(&args.collection)?;
    // Not the id that an event of the same key would get: a collection may hold both.
    let uid = stable_id(cx, &format!("{}\ntask", args.collection));
    let id = session.resource_id(&collection, &uid)?;
    let written = session.editor(args.strict).create(&uid, &args.body, &args.changed)?;
    let response = session.put(&id, &written.text, When::New, false)?;
    let source = match session.settle_create(&collection, &id, &uid, &response)? {
        Some(found) => found,
        None => session.after_write(&collection, &id, written.text, &response),
    };
    Ok(mutated(source, written.warnings))
}

pub fn update(cx: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
    let session = Session::new(cx, args.time_zone.as_deref())?;
    let collection = session.client.url(&args.collection)?;
    let id = args.source.as_deref().ok_or_else(|| Failure::invalid("source is missing"))?;
    let (text, etag) = session.current(&collection, id, args.if_match.as_deref())?;
    let written = session.editor(args.strict).update(&text, &args.body, &args.changed)?;
    let response = session.put_ok(id, &written.text, When::Still(etag.as_deref()), false)?;
    let source = session.after_write(&collection, id, written.text, &response);
    Ok(mutated(source, written.warnings))
}

/// Exceptions of a recurring task go with their resource; tasks below it stay.
pub fn delete(cx: &Context, args: ItemDelete) -> Outcome<Mutated> {
    let session = Session::new(cx, None)?;
    session.delete(&args.source, args.if_match.as_deref(), false)?;
    let gone = Source { external_id: args.source, deleted: true, ..Source::default() };
    Ok(Mutated { sources: vec![gone], ..Mutated::default() })
}

fn mutated(source: Source, warnings: Vec<Warning>) -> Mutated {
    Mutated { item: Some(source.external_id.clone()), sources: vec![source], warnings, ..Mutated::default() }
}

impl Session<'_> {
    fn editor(&self, strict: bool) -> TodoEditor<'_> {
        TodoEditor { reader: &self.reader, now: self.now(), strict }
    }
}
