//! Calendars, address books and task lists themselves: listed, made, changed and deleted in the same way.

use connector_sdk::http::Request;
use connector_sdk::{Answer, Context, Outcome, code};
use model::wire::{CollectionDelete, CollectionWrite, Item, Mutated, Source, Sources};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use crate::api::{ask, change, failure, new_id, object, url};
use crate::items::{bare_source, deleted_source, members, parsed, target, text};
use crate::native::FolderList;

/// A kind of collection, as the model has it.
pub trait Collection: Serialize + DeserializeOwned + Default {
    /// As paths name it: `calendars`.
    const PATH: &'static str;
    /// In sentences: `calendar`.
    const NAME: &'static str;
}

fn source<C: Collection>(folder: &RawValue) -> Outcome<Source> {
    let bare = bare_source(folder);
    let body = text(&parsed::<C>(folder, C::NAME)?)?;
    let item = Item { external_id: bare.external_id.clone(), body, ..Item::default() };
    Ok(Source { items: vec![item], ..bare })
}

/// All of them; an enumeration.
pub fn list<C: Collection>(context: &Context) -> Outcome<Answer<Sources>> {
    let request = Request::get(url(context, &[C::PATH], &[])?);
    let found: FolderList = ask(context, request, &format!("listing the {}", C::PATH))?;
    let sources = found.folders.iter().map(|folder| source::<C>(folder)).collect::<Outcome<_>>()?;
    Ok(Answer::whole(Sources { sources, enumeration: true, ..Sources::default() }))
}

pub fn create<C: Collection>(context: &Context, args: &CollectionWrite<C>) -> Outcome<Mutated> {
    let id = new_id(context);
    let mut body = members(&args.body, None);
    // What the caller left out is the provider's to choose.
    body.retain(|_, value| !value.is_null() && *value != json!([]));
    body.insert("id".to_owned(), json!(id));
    let request = Request::post(url(context, &[C::PATH], &[])?).json(&body);
    match change(context, request, &format!("creating the {}", C::NAME)) {
        Ok(response) => mutated::<C>(&object::<Box<RawValue>>(&response)?),
        // An earlier attempt has come through.
        Err(e) if e.code == code::ALREADY_EXISTS && context.idempotency_key.is_some() => {
            let request = Request::get(url(context, &[C::PATH, &id], &[])?);
            mutated::<C>(&ask::<Box<RawValue>>(context, request, &format!("reading the {}", C::NAME))?)
        }
        Err(e) => Err(e),
    }
}

pub fn update<C: Collection>(context: &Context, args: &CollectionWrite<C>) -> Outcome<Mutated> {
    let source = target(args.source.as_deref())?;
    let request = Request::patch(url(context, &[C::PATH, source], &[])?)
        .if_match(args.if_match.as_deref())
        .json(&members(&args.body, Some(&args.changed)));
    let response = change(context, request, &format!("changing the {}", C::NAME))?;
    mutated::<C>(&object::<Box<RawValue>>(&response)?)
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

fn mutated<C: Collection>(folder: &RawValue) -> Outcome<Mutated> {
    let source = source::<C>(folder)?;
    Ok(Mutated { item: Some(source.external_id.clone()), sources: vec![source], ..Mutated::default() })
}
