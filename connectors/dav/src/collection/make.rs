//! Finds, creates, changes and deletes collections, and reads the account's rights in them.

use connector_sdk::{Failure, Outcome, code, http};
use model::wire::{CollectionDelete, Item, JsonText, Mutated, Source, Warning};
use serde::Serialize;
use serde_json::{Value, json};
use url::Url;

use crate::collection::{Content, Session, stable_id};
use crate::webdav::multistatus::{Member, Multistatus};
use crate::webdav::xml::{CALDAV, DAV};
use crate::webdav::{Name, qualified, request, text_element};

/// Properties of a collection to set (as XML) and to remove.
#[derive(Default)]
pub struct Properties {
    pub set: String,
    pub remove: Vec<Name>,
}

impl Properties {
    /// A property with text; none, or an empty one, removes it.
    pub fn text(&mut self, name: Name, value: Option<&str>) {
        match value.filter(|value| !value.is_empty()) {
            Some(value) => self.set.push_str(&text_element(name, value)),
            None => self.remove.push(name),
        }
    }
}

/// The account's rights in a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// It is the account's own.
    pub owned: bool,
    pub read: bool,
    pub write: bool,
    pub delete: bool,
}

/// The source of a collection.
pub fn collection_source(
    id: String,
    collection: &impl Serialize,
    provider_data: Option<Value>,
) -> Outcome<Source> {
    let body = JsonText::of(collection).map_err(|error| Failure::new(code::INTERNAL, error.to_string()))?;
    let item = Item { external_id: id.clone(), body, provider_data, ..Item::default() };
    Ok(Source { external_id: id, items: vec![item], ..Source::default() })
}

/// The default collection of a server that names none: the one with one of these names, else the
/// first. `writable` has the ids of those that can be it.
pub fn default_of<'i>(writable: impl Iterator<Item = &'i str> + Clone, names: &[&str]) -> Option<String> {
    let last = |id: &str| id.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_lowercase();
    let named = writable.clone().find(|id| names.contains(&last(id).as_str()));
    named.or_else(|| writable.min()).map(str::to_owned)
}

impl<R: Content> Session<'_, R> {
    /// The members of all homes, with the home that each was found in.
    pub fn listed(&self, names: &[Name]) -> Outcome<Vec<(Url, Member)>> {
        let mut all = Vec::new();
        for home in self.homes() {
            let doing = format!("listing {}", R::KIND.collections);
            let listed = self.client.propfind(&home, "1", names, &doing)?;
            all.extend(listed.responses.into_iter().map(|member| (home.clone(), member)));
        }
        Ok(all)
    }

    /// The id that the first of these properties of the scheduling inbox names: which collection is the default (RFC 6638 section
    /// 9.2).
    pub fn inbox_href(&self, names: &[Name]) -> Option<String> {
        let inbox = self.client.url(self.cx().setting("scheduleInboxUrl")?).ok()?;
        let doing = format!("finding the default {}", R::KIND.collection);
        let member = self.client.propfind(&inbox, "0", names, &doing).ok()?.single();
        let href =
            names.iter().find_map(|(namespace, name)| member.property(namespace, name)?.hrefs().next())?;
        self.client.id_of(&inbox, href)
    }

    /// Whether a member is a collection of this service.
    pub fn is_collection(&self, member: &Member) -> bool {
        let (namespace, name) = R::KIND.service.collection;
        member.property(DAV, "resourcetype").is_some_and(|kind| kind.child(namespace, name).is_some())
    }

    /// The last segment of an id: the name of a collection that has none.
    pub fn folder(id: &str) -> &str {
        id.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
    }

    /// Makes a collection in the first home: `fixed` are properties that only a new one can get (RFC 4791 section 5.2.3), `name` is
    /// its `DAV:displayname`. A repeated attempt finds the first one. Properties that the server refuses are reported as warnings.
    pub fn make(&self, fixed: &str, name: &str, properties: &Properties) -> Outcome<(Url, Vec<Warning>)> {
        let mut home = self.homes().remove(0);
        if !home.path().ends_with('/') {
            home.set_path(&format!("{}/", home.path()));
        }
        let folder = stable_id(self.cx(), R::KIND.collection);
        let url = home
            .join(&format!("{folder}/"))
            .map_err(|_| Failure::invalid(format!("settings.{} is no folder", R::KIND.service.setting)))?;
        let doing = format!("creating {}", R::KIND.a_collection);
        let response = self.client.write(self.making(&url, &format!("{fixed}{}", properties.set)))?;
        match response.status {
            200 | 201 => Ok((url, Vec::new())),
            // Taken: the first attempt of this very create made it.
            403 | 405 | 409 if self.exists(&url) => Ok((url, Vec::new())),
            // One property that the server does not take fails the whole request (RFC 4791 section 5.3.1.1, RFC 5689 section 3).
            207 | 403 | 424 => {
                let again =
                    self.client.write(self.making(&url, &text_element((DAV, "displayname"), name)))?;
                if !again.is_success() || again.status == 207 {
                    return Err(self.client.failure(&again, &doing));
                }
                let refused = self.patch(&url, properties).err();
                let warning = |failure: Failure| Warning {
                    code: "field_not_supported".into(),
                    message: failure.message,
                    target: None,
                };
                Ok((url, refused.map(warning).into_iter().collect()))
            }
            // A server without RFC 5689 cannot be given the kind of the collection.
            400 | 415 if R::KIND.service.collection.0 != CALDAV => {
                Err(self.client.failure(&response, &doing).with_code(code::UNSUPPORTED))
            }
            _ => Err(self.client.failure(&response, &doing)),
        }
    }

    /// MKCALENDAR (RFC 4791 section 5.3.1), or extended MKCOL (RFC 5689) for other collections.
    fn making(&self, url: &Url, properties: &str) -> http::Request {
        let kind = R::KIND.service.collection;
        let (method, element, kind) = match kind.0 {
            CALDAV => ("MKCALENDAR", "C:mkcalendar", String::new()),
            _ => {
                let kind = qualified(kind);
                let kind = format!("<D:resourcetype><D:collection/><{kind}/></D:resourcetype>");
                ("MKCOL", "D:mkcol", kind)
            }
        };
        let body = format!("<{element}><D:set><D:prop>{kind}{properties}</D:prop></D:set></{element}>");
        request(method, url, "0", &body)
    }

    fn exists(&self, url: &Url) -> bool {
        let read = self.client.propfind(url, "0", &[(DAV, "resourcetype")], "reading a collection");
        read.is_ok_and(|found| self.is_collection(&found.single()))
    }

    /// PROPPATCH (RFC 4918 section 9.2): all of it, or nothing.
    pub fn patch(&self, url: &Url, properties: &Properties) -> Outcome<()> {
        let Properties { set, remove } = properties;
        if set.is_empty() && remove.is_empty() {
            return Ok(());
        }
        let doing = format!("changing this {}", R::KIND.collection);
        let set =
            if set.is_empty() { String::new() } else { format!("<D:set><D:prop>{set}</D:prop></D:set>") };
        let gone: String = remove.iter().map(|name| format!("<{}/>", qualified(*name))).collect();
        let gone =
            if gone.is_empty() { gone } else { format!("<D:remove><D:prop>{gone}</D:prop></D:remove>") };
        let body = format!("<D:propertyupdate>{set}{gone}</D:propertyupdate>");
        let response = self.client.write(request("PROPPATCH", url, "0", &body))?;
        if response.status != 207 {
            return if response.is_success() { Ok(()) } else { Err(self.client.failure(&response, &doing)) };
        }
        let member = Multistatus::read(&response, &doing)?.single();
        // Removing a missing property is no failure (RFC 4918 section 14.23).
        let mut refused = member.refused.iter().filter(|(_, _, status)| ![404, 424].contains(status));
        match refused.next() {
            None => Ok(()),
            Some((_, name, status)) => {
                let what = R::KIND.collection;
                let failure =
                    Failure::invalid(format!("the provider does not let {name} of this {what} be changed"));
                Err(Failure { http_status: Some(*status), ..failure })
            }
        }
    }

    /// Deletes a collection with everything in it; one that is gone already is deleted, too.
    pub fn remove(&self, args: CollectionDelete) -> Outcome<Mutated> {
        let url = self.client.url(&args.source)?;
        let response = self.client.write(http::Request::delete(url.as_str()))?;
        match response.status {
            200..=299 | 404 | 410 => {}
            _ => {
                return Err(self.client.failure(&response, &format!("deleting this {}", R::KIND.collection)));
            }
        }
        let gone = Source { external_id: args.source, deleted: true, ..Source::default() };
        Ok(Mutated { sources: vec![gone], ..Mutated::default() })
    }

    /// A failure "conflict" where anything is left in a collection. One that is gone holds nothing.
    pub fn insist_empty(&self, id: &str) -> Outcome<()> {
        let url = self.client.url(id)?;
        let doing = format!("listing the {}", R::KIND.items);
        let listed = match self.client.propfind(&url, "1", &[(DAV, "resourcetype")], &doing) {
            Err(failure) if failure.code == code::NOT_FOUND => return Ok(()),
            listed => listed?,
        };
        let own = self.client.id(&url);
        let is_other = |member: &Member| {
            let id = self.client.id_of(&url, &member.href);
            id.is_some_and(|id| id.trim_end_matches('/') != own.trim_end_matches('/'))
        };
        if !listed.responses.iter().any(is_other) {
            return Ok(());
        }
        let failure = Failure::conflict(format!("the {} is not empty", R::KIND.collection));
        Err(failure.with_detail(json!({ "reason": "not_empty" })))
    }

    /// RFC 3744: what the account may do; everything where the server has no access control and the collection is its own.
    pub fn rights(&self, at: &Url, member: &Member) -> Rights {
        let principal = self.cx().setting("principalUrl").and_then(|url| self.client.url(url).ok());
        let owner = member.property(DAV, "owner").and_then(|owner| owner.hrefs().next()).map(str::to_owned);
        let owned = match (principal, owner) {
            (Some(principal), Some(owner)) => {
                self.client.id_of(at, &owner) == Some(self.client.id(&principal))
            }
            _ => true,
        };
        let Some(privileges) = member.property(DAV, "current-user-privilege-set") else {
            return Rights { owned, read: true, write: true, delete: true };
        };
        let may = |names: &[&str]| {
            let mut granted = privileges.all(DAV, "privilege");
            granted.any(|privilege| names.iter().any(|name| privilege.child(DAV, name).is_some()))
        };
        Rights {
            owned,
            read: may(&["all", "read"]),
            write: may(&["all", "write", "write-content", "bind"]),
            delete: may(&["all", "write", "unbind"]),
        }
    }
}
