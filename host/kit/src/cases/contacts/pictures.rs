//! Pictures that are stored in a contact's record.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::wire::contacts::Picture;
use runtime::{Code, Error};
use serde_json::json;

use crate::bench::{Bench, Outcome, describe_error, ensure, failed, must};
use crate::cases::contacts::cards::CONTACTS;
use crate::surface_bench::{Collection, merged};

/// A JPEG of one pixel: the format that every provider takes.
const DOT: &str = "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=";
/// The first bytes of PNG, JPEG, GIF and WebP.
const BEGINNINGS: [&[u8]; 4] = [b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF"];

const URL: &str = "photo.url may be a data: URL on a write, and never is in an answer: of a picture in the record, url is null and etag names its version; contacts.photo has its bytes";
const BYTES: &str =
    "contentBase64 is the picture in base64, once and without data:, contentType its media type";

/// `B2`: a picture is stored, and read by a call of its own.
pub async fn stored(bench: &mut Bench) -> Outcome {
    bench.needs_feature(&CONTACTS, "photos").await?;
    let book = bench.collection(&CONTACTS).await?;
    let photo = json!({ "photo": { "url": format!("data:image/jpeg;base64,{DOT}") } });
    let fields = merged(&(CONTACTS.body)(&CONTACTS.label("B2")), &photo);
    let (source, warned) = bench.create_item(&CONTACTS, &book, fields, &CONTACTS.key("B2")).await?;
    ensure(
        !warned.iter().any(|field| field == "photo"),
        || "a warning says that pictures are not supported".to_owned(),
        "photos is false among the features where pictures cannot be stored",
    )?;
    let source = bench.read_item(&CONTACTS, &book, &source.external_id).await?;
    let before = bench.read_body(&CONTACTS, &book, &source.external_id).await?["photo"].clone();
    let url = before["url"].as_str();
    let is_elsewhere = url.is_some_and(|url| url.starts_with("http"));
    ensure(
        is_elsewhere || before["etag"].is_string() && url.is_none(),
        // Findings do not contain the picture itself.
        || {
            let begin: String = url.unwrap_or("null").chars().take(20).collect();
            format!("photo.url begins with {begin}, and photo.etag is {}", before["etag"])
        },
        URL,
    )?;
    if !is_elsewhere {
        let picture = must(picture(bench, &book, &source.external_id).await, "contacts.photo")?;
        ensure_picture(&picture)?;
    }
    let name = CONTACTS.renamed(&CONTACTS.label("B2-after"));
    bench.update_item(&CONTACTS, &book, &source, &name, &CONTACTS.key("B2-after")).await?;
    let after = bench.read_body(&CONTACTS, &book, &source.external_id).await?["photo"].clone();
    ensure(
        after["etag"] == before["etag"],
        || format!("a change of the name changed photo.etag from {} to {}", before["etag"], after["etag"]),
        "photo.etag changes with the picture, and with nothing else",
    )?;
    no_picture(bench, &book).await
}

fn ensure_picture(picture: &Picture) -> Outcome {
    let Ok(bytes) = STANDARD.decode(&picture.content_base64) else {
        return failed("contentBase64 of contacts.photo is not base64", BYTES);
    };
    ensure(
        picture.content_type.starts_with("image/") && BEGINNINGS.iter().any(|begin| bytes.starts_with(begin)),
        || {
            format!(
                "contacts.photo returns {} bytes of {}, which are not a picture",
                bytes.len(),
                picture.content_type
            )
        },
        BYTES,
    )
}

/// A contact without a picture.
async fn no_picture(bench: &mut Bench, book: &Collection) -> Outcome {
    let source = bench.create_named(&CONTACTS, book, "B2-none").await?;
    match picture(bench, book, &source.external_id).await {
        Err(error) if [Code::NotFound, Code::Unsupported].contains(&error.code) => Ok(()),
        Err(error) => failed(
            format!("contacts.photo of a contact without a picture fails: {}", describe_error(&error)),
            "no picture is failure not-found",
        ),
        Ok(_) => failed(
            "contacts.photo of a contact without a picture returns one",
            "no picture is failure not-found",
        ),
    }
}

async fn picture(bench: &mut Bench, book: &Collection, id: &str) -> Result<Picture, Error> {
    let args = json!({ "collection": book.id, "source": id });
    bench.calls.fetch(CONTACTS.surface, "contacts.photo", &args).await
}
