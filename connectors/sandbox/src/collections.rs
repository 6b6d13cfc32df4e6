//! Calendars, address books and task lists themselves: listed, made, changed and deleted in the same way.

use connector_sdk::http::Request;
use connector_sdk::{Answer, Context, Outcome, code};
use model::wire::{CollectionDelete, CollectionWrite, Item, JsonText, Mutated, Source, Sources};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::api::{ask, change, failure, new_id, object, url};
use crate::items::{deleted_source, selected, target};
use crate::native::FolderList;

/// A kind of collection, as the provider has it.
pub trait Collection: Serialize + DeserializeOwned {
    /// The model's word for it.
    type Ours: Default;
    /// As paths name it: `calendars`.
    const PATH: &'static str;
    /// In sentences: `calendar`.
    const NAME: &'static str;
    /// The model's fields that a caller can write, and where the provider keeps them.
    const PLACES: &'static [(&'static str, &'static str)];

    fn id(&self) -> &str;
    fn etag(&self) -> Option<String>;
    /// The body of its item.
    fn body(&self) -> Outcome<JsonText>;
    fn from_model(ours: &Self::Ours) -> Self;
}

fn source<C: Collection>(theirs: &C) -> Outcome<Source> {
    let item = Item { external_id: theirs.id().to_owned(), body: theirs.body()?, ..Item::default() };
    Ok(Source {
        external_id: theirs.id().to_owned(),
        etag: theirs.etag(),
        items: vec![item],
        ..Source::default()
    })
}

/// All of them; an enumeration.
pub fn list<C: Collection>(context: &Context) -> Outcome<Answer<Sources>> {
    let request = Request::get(url(context, &[C::PATH], &[])?);
    let found: FolderList<C> = ask(context, request, &format!("listing the {}", C::PATH))?;
    let sources = found.folders.iter().map(source).collect::<Outcome<_>>()?;
    Ok(Answer::whole(Sources { sources, enumeration: true, ..Sources::default() }))
}

pub fn create<C: Collection>(context: &Context, args: &CollectionWrite<C::Ours>) -> Outcome<Mutated> {
    let id = new_id(context);
    let mut body = document::<C>(&args.body, None);
    // What the caller left out is the provider's to choose.
    body.retain(|_, value| !value.is_null() && *value != json!([]));
    body.insert("id".to_owned(), json!(id));
    let request = Request::post(url(context, &[C::PATH], &[])?).json(&body);
    match change(context, request, &format!("creating the {}", C::NAME)) {
        Ok(response) => mutated::<C>(&object(&response)?),
        // An earlier attempt has come through.
        Err(e) if e.code == code::ALREADY_EXISTS && context.idempotency_key.is_some() => {
            let request = Request::get(url(context, &[C::PATH, &id], &[])?);
            mutated::<C>(&ask(context, request, &format!("reading the {}", C::NAME))?)
        }
        Err(e) => Err(e),
    }
}

pub fn update<C: Collection>(context: &Context, args: &CollectionWrite<C::Ours>) -> Outcome<Mutated> {
    let source = target(args.source.as_deref())?;
    let request = Request::patch(url(context, &[C::PATH, source], &[])?)
        .if_match(args.if_match.as_deref())
        .json(&document::<C>(&args.body, Some(&args.changed)));
    mutated::<C>(&object(&change(context, request, &format!("changing the {}", C::NAME))?)?)
}

pub fn delete<C: Collection>(context: &Context, args: &CollectionDelete) -> Outcome<Mutated> {
    let force: &[_] = if args.force { &[("force", "true")] } else { &[] };
    let path = [C::PATH, target(Some(&args.source))?];
    let request = Request::delete(url(context, &path, force)?).if_match(args.if_match.as_deref());
    let response = context.send(request)?;
    // Gone already is as good as deleted.
    if !response.is_success() && response.status != 404 {
        return Err(failure(context, &response, &format!("deleting the {}", C::NAME)));
    }
    Ok(Mutated { sources: vec![deleted_source(&args.source)], ..Mutated::default() })
}

fn document<C: Collection>(ours: &C::Ours, changed: Option<&[String]>) -> Map<String, Value> {
    let document = serde_json::to_value(C::from_model(ours)).unwrap_or_default();
    selected(&document, changed, C::PLACES)
}

fn mutated<C: Collection>(theirs: &C) -> Outcome<Mutated> {
    let source = source(theirs)?;
    Ok(Mutated { item: Some(theirs.id().to_owned()), sources: vec![source], ..Mutated::default() })
}
