//! `/v1/contact-books`

use model::contacts::ContactBook;
use model::resource::{New, Patch, Resource};
use service::app::App;

use crate::api::operation::Priority::{Additive, Phase2};
use crate::api::operation::Routes;
use crate::api::request::query::{ConnectionIncludeQuery, IncludeQuery};
use crate::api::shared::collections::{CollectionDeletionQuery, create, delete, get, list, update};

pub fn routes() -> Routes<App> {
    Routes::new("Contact books")
        .get("/v1/contact-books", "contacts.read", Phase2, list::<ContactBook>)
        .summary("List contact books")
        .query::<ConnectionIncludeQuery>()
        .lists::<Resource<ContactBook>>()
        .post("/v1/contact-books", "contacts.write", Phase2, create::<ContactBook>)
        .summary("Create a contact book")
        .body::<New<ContactBook>>()
        .returns::<Resource<ContactBook>>()
        .get("/v1/contact-books/{bookId}", "contacts.read", Additive, get::<ContactBook>)
        .summary("Read a contact book")
        .query::<IncludeQuery>()
        .returns::<Resource<ContactBook>>()
        .patch("/v1/contact-books/{bookId}", "contacts.write", Phase2, update::<ContactBook>)
        .summary("Change a contact book")
        .body::<Patch<ContactBook>>()
        .returns::<Resource<ContactBook>>()
        .delete("/v1/contact-books/{bookId}", "contacts.write", Phase2, delete::<ContactBook>)
        .summary("Delete a contact book")
        .description("A book that holds contacts answers 409 `not_empty` without `force`.")
        .query::<CollectionDeletionQuery>()
}
