//! Tasks: reading, creating, changing, deleting.

use connector_sdk::{Context, Failure, Outcome, http};
use model::tasks::Task;
use model::wire::{ItemDelete, ItemWrite, Mutated, Source, SourceRef, Sources, Warning};
use serde_json::Value;
use url::Url;

use crate::collection::objects::When;
use crate::collection::stable_id;
use crate::ical::todo::edit::{EditedTodo, TodoEditor};
use crate::tasks::TaskSession;

pub fn get(cx: &Context, args: SourceRef) -> Outcome<Sources> {
    let session = TaskSession::new(cx, args.time_zone.as_deref())?;
    let collection = session.client.url(&args.collection)?;
    let (text, etag) = session.object(&collection, &args.source)?;
    Ok(Sources {
        sources: vec![session.read_source(&args.source, text, etag)],
        enumeration: false,
        ..Sources::default()
    })
}

pub fn create(cx: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
    let session = TaskSession::new(cx, args.time_zone.as_deref())?;
    let collection = session.client.url(&args.collection)?;
    // Not the id that an event of the same key would get: a collection may hold both.
    let uid = stable_id(cx, &format!("{}\ntask", args.collection));
    let id = session.resource_id(&collection, &uid)?;
    let written = session.editor(args.strict).create(&uid, &args.body, &args.changed)?;
    let response = session.put(&id, &written.text, When::New, false)?;
    match session.settle_create(&collection, &id, &uid, &response)? {
        // Others may have changed it since.
        Some(found) => Ok(to_mutated(found, written.warnings)),
        None => Ok(session.read_back(&collection, &id, written, &args.changed, &response)),
    }
}

pub fn update(cx: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
    let session = TaskSession::new(cx, args.time_zone.as_deref())?;
    let collection = session.client.url(&args.collection)?;
    let id = args.source.as_deref().ok_or_else(|| Failure::invalid("source is missing"))?;
    let (text, etag) = session.current(&collection, id, args.if_match.as_deref())?;
    let written = session.editor(args.strict).update(&text, &args.body, &args.changed)?;
    let response = session.replace(&collection, (id, etag.as_deref()), &written.text, false)?;
    Ok(session.read_back(&collection, id, written, &args.changed, &response))
}

/// Exceptions of a recurring task go with their resource; tasks below it stay.
pub fn delete(cx: &Context, args: ItemDelete) -> Outcome<Mutated> {
    let session = TaskSession::new(cx, None)?;
    session.delete(&args.source, args.if_match.as_deref(), false)?;
    let gone = Source { external_id: args.source, deleted: true, ..Source::default() };
    Ok(Mutated { sources: vec![gone], ..Mutated::default() })
}

fn to_mutated(source: Source, warnings: Vec<Warning>) -> Mutated {
    Mutated { item: Some(source.external_id.clone()), sources: vec![source], warnings, ..Mutated::default() }
}

/// The task of a source, by field.
fn fields(source: &Source) -> Option<Value> {
    source.items.first()?.body.read().ok()
}

fn find_field<'t>(task: &'t Option<Value>, field: &str) -> Option<&'t Value> {
    task.as_ref()?.get(field)
}

impl TaskSession<'_> {
    /// The task as the server has it after a write. Some servers store something else than they are sent (libical cuts a category
    /// at its comma): which of the changed fields that is about, goes into the warnings.
    fn read_back(
        &self,
        collection: &Url,
        id: &str,
        written: EditedTodo,
        changed: &[String],
        response: &http::Response,
    ) -> Mutated {
        let EditedTodo { text, mut warnings } = written;
        let meant = self.read_source(id, text.clone(), None);
        let source = self.after_write(collection, id, text, response);
        let (meant, stored) = (fields(&meant), fields(&source));
        let altered = changed
            .iter()
            .filter(|name| stored.is_some() && find_field(&meant, name) != find_field(&stored, name));
        warnings.extend(altered.map(|name| Warning {
            code: "field_changed".into(),
            message: "the provider stored something else".into(),
            target: Some(name.clone()),
        }));
        to_mutated(source, warnings)
    }

    fn editor(&self, strict: bool) -> TodoEditor<'_> {
        TodoEditor { reader: &self.reader, now: self.now(), strict }
    }
}
