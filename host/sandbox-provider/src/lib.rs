//! The sandbox provider: a small mail, calendar, contacts and tasks service with its own API, for trying Switchboard without any
//! account. The host serves it under `/sandbox` if it is enabled; `connectors/sandbox` is the connector to it. Nothing
//! here depends on Switchboard's database or API: it is a provider like any other, whose records have the model's JSON.
//!
//! # Accounts
//! `alice@sandbox.test`, `bob@` and `carol@` have calendars with some sixty events around today, an address book of forty people
//! and the team's directory, two task lists, and some sixty messages of the last months. Any other `<name>@sandbox.test` is an
//! empty account from its first request on. Log in with HTTP Basic and the password `sandbox`, with `Bearer sandbox-<name>`, or
//! with an access token of the authorization server. With a token, a request beyond its scopes is 403 `insufficientScope`.
//!
//! # Requests
//! | request | does |
//! |---|---|
//! | `GET /sandbox/v1/me` | the account |
//! | `GET POST /sandbox/v1/calendars` | list, create |
//! | `GET PATCH DELETE /sandbox/v1/calendars/{calendar}` | the main one cannot be deleted: 403 `mainCalendar` |
//! | `GET POST /sandbox/v1/calendars/{calendar}/events` | list or changes, create |
//! | `GET PATCH DELETE …/events/{event}` | a single event, or a series with its changed instances as `exceptions` |
//! | `GET …/events/{event}/instances` | a series from `from` to `to`, at most 400 days and 2,500 instances |
//! | `GET PATCH DELETE …/events/{event}/instances/{original}` | one instance by its original local start; `?span=following`: from it on |
//! | `POST …/events/{event}/answer` | answer an invitation: `{response, comment, recurrenceId, notifyOrganizer, span}` |
//! | `POST …/events/{event}/video` | add a meeting: `{provider, createRequestId, recurrenceId}`, once per event; of `other`, and of `googleMeet` and `teams` in calendars that have them in `conferenceTypes` |
//! | `POST /sandbox/v1/busy` | busy times of own calendars and of people: `{from, to, calendars, people}` |
//! | `GET POST /sandbox/v1/books` | list, create |
//! | `GET PATCH DELETE /sandbox/v1/books/{book}` | the main one cannot be deleted: 409 `mainBook`; one with cards in it: 409 `notEmpty`, unless `?force=true` |
//! | `GET POST /sandbox/v1/books/{book}/cards` | list or changes, create: `type` `contact` or `contact_group` |
//! | `GET PATCH DELETE …/cards/{card}` | a contact, or a group with its `contactIds`: contacts of the same book, else 400 `notAMember`. Deleting a contact takes it out of all groups |
//! | `GET …/cards/{card}/picture` | a stored photo: `{contentType, contentBase64, etag}`; it is written as a `data:` URL in base64, and elsewhere only its etag is shown |
//! | `GET POST /sandbox/v1/lists` | list, create |
//! | `GET PATCH DELETE /sandbox/v1/lists/{list}` | the main one cannot be deleted: 409 `mainList` |
//! | `GET POST /sandbox/v1/lists/{list}/todos` | list or changes, create |
//! | `GET PATCH DELETE …/todos/{todo}` | a task with its checklist items and links; `parentId`: another one of the list, else 400 `notAParent`. Deleting one deletes all below it |
//! | `POST …/todos/{todo}/steps` | add a checklist item: `{title, checked, position}` |
//! | `PATCH DELETE …/steps/{step}` | |
//! | `POST …/todos/{todo}/links` | add a link: `{resourceType, url, title, applicationName, resourceId, externalId}` |
//! | `DELETE …/links/{link}` | |
//! | `GET POST /sandbox/v1/mail/folders`, `…/labels` | list, create |
//! | `GET PATCH DELETE /sandbox/v1/mail/folders/{folder}`, `…/labels/{label}` | `{name, parentId, sortOrder}`, `{name, color, visibility}`; a folder with a `role` cannot be changed: 403 `systemFolder`; one that is not empty cannot be deleted: 409 `notEmpty` |
//! | `GET /sandbox/v1/mail/changes` | the current token; changes since a token: folders, labels, messages |
//! | `GET /sandbox/v1/mail/messages` | newest first; filters: `q` and the others in `mail::messages`, the language of `q` in `mail::search` |
//! | `POST /sandbox/v1/mail/messages` | import: the body is the message; `folders`, `labels`, `keywords`, `unread` and others are in the query string, see `mail::upload` |
//! | `GET PATCH DELETE …/messages/{message}` | one, with `headers=true` and `body=true`; the members of the model's `MessageUpdate`; into the trash, or `?forever=true` |
//! | `POST /sandbox/v1/mail/batch` | several at once: `{ids, headers, body, maxBodyBytes}` |
//! | `GET …/messages/{message}/raw`, `…/files/{part}` | its bytes, those of a file |
//! | `POST /sandbox/v1/mail/drafts` | a draft; `?replaces=` the version before: every version is a message of its own |
//! | `POST /sandbox/v1/mail/send` | `{raw, copy, sender, recipients, keepCopy, draft, id}`: base64 messages; the answer has the outcomes as `recipients`, one for each |
//! | `GET POST /sandbox/v1/watches` | list, create: notifications of changes, `{id, path, address, secret, until}`, for seven days at most. `path` is one of those above that lists, below `/sandbox/v1/`, or `mail`. See `push` |
//! | `POST …/watches/{watch}/renew`, `DELETE …/watches/{watch}` | `{until, address}`; no more |
//! | `GET /.well-known/oauth-authorization-server/sandbox` | metadata of the authorization server (RFC 8414) |
//! | `GET POST /sandbox/oauth/authorize` | the consent page, and its form: PKCE with S256 always; a form can be sent once, within 10 minutes |
//! | `POST /sandbox/oauth/token` | tokens for a code (60 seconds, once) or a refresh token (once: its second use revokes all tokens from the same code) |
//! | `POST /sandbox/oauth/revoke` | RFC 7009; a refresh token ends the account's whole grant to the client |
//! | `POST /sandbox/oauth/clients` | registers a client: `{clientId, secret, redirectUris}`, public without a secret |
//! | `DELETE /sandbox/oauth/grants` | the account withdraws its grants to clients; `GET /sandbox/v1/me` lists them as `clients` |
//! | `GET POST DELETE /sandbox/faults` | faults on demand, see `faults::Fault` |
//! | `/sandbox/apps/{application}/…` | each of these paths for one application of the host, by a secret name that the host has for it: faults that are planned there hit its requests alone |
//! | `POST /sandbox/reset` | resets the account to its initial data; sync tokens expire |
//!
//! * Bodies are JSON, at most 1 MiB (messages: 26 MiB); field names are those of the model. `PATCH` is a merge patch (RFC 7396), except
//!   of messages. Unknown fields are refused.
//! * Every folder (calendar, book, list) and every record (event, card, todo) has an `etag`, also in the `ETag` header. `If-Match`
//!   with another one: 412. A series and its exceptions have one etag together, and so have a todo, its steps and its links.
//! * A change of a record answers `{"event" | "card" | "todo" | "entry", "others", "dropped"}`: the record as it is now (null: deleted),
//!   others that changed with it, and what is gone with it. A change of a step or link answers its id as `part`, too.
//! * Creating takes an `id` of the client's choice (`[a-z0-9_-]`, 4 to 64 characters); one that exists: 409. Every write takes
//!   an `Idempotency-Key`: its repetition within a day answers about the same things and changes nothing; with another
//!   request: 422.
//! * Lists of records take `limit` (at most 250) and `pageToken`. The last page of an unfiltered list has `nextSyncToken`; a list
//!   with `syncToken` has the changes since, deleted records as `{"id","deleted":true}`. Tokens last seven days; an expired one:
//!   410.
//! * Filters of the event list: `updatedMin`, `from`, `to`, `q`, `uid`, `guest`. A filtered list has no sync token.
//! * Invited `@sandbox.test` people with an account see the event on their main calendar, and their answer comes back to the
//!   organizer. `accepts@`, `declines@` and `hesitates@` answer at once.
//! * Mail to `@sandbox.test` is in the inbox at once (a missing account is created), `<name>+<tag>@` too; mail to other
//!   domains goes nowhere. `reject@` and `defer@` refuse it, `bounce@` sends it back, `away@` and `replies@` answer, in any domain.
//!   If every recipient refuses it, no sent copy is stored.
//! * Words in a subject, label or title make that write fail: see `faults::magic`. Accounts `revoked@`, `throttled@`, `down@`
//!   always fail.
//! * On the consent page `denied@` and `admin@` answer `access_denied` and `admin_policy_enforced`, whatever is chosen; tokens of `fewer@`
//!   lack the last of several scopes, those of `short@` last 5 seconds instead of an hour.
//!
//! # Durability
//! A write is in `<data dir>/sandbox/journal.jsonl`, synced, before its answer is sent; see `journal`.

mod account;
mod applications;
mod auth;
mod authorization_server;
mod calendar;
mod collections;
mod contacts;
mod document;
mod fault_routes;
mod faults;
pub mod guide;
mod journal;
mod kind;
mod mail;
mod older;
mod ops;
mod patch;
mod problem;
mod push;
mod receipts;
mod record;
mod records;
mod resource;
mod routes;
mod sandbox;
mod seed;
mod state;
mod store;
mod tasks;
mod times;
mod walk;

pub use crate::auth::PASSWORD;
pub use crate::authorization_server::clients::HOST_CLIENT_ID;
pub use crate::routes::router;
pub use crate::sandbox::{Clock, Config, Sandbox};
