//! The upload of a connector: a `multipart/form-data` form (RFC 7578) whose files are written to disk as they arrive. Uploads are few at a
//! time, no larger than the command line accepts, and must not stall.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use base::error::{Code, Error, Refusal, Result, refuse};
use service::manage::connector_uploads::{
    COMPONENT_FILE, MANIFEST_FILE, MAX_COMPONENT_BYTES, MAX_MANIFEST_BYTES, UNCHECKED, ensure_folder,
    write_error,
};
use service::manage::connectors::ensure_may_change;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use tokio::sync::Semaphore;

use crate::admin::form_token::{self, TOKEN};
use crate::admin::received_files::{FilesOfForm, ReceivedFiles};
use crate::admin::visit::{SentForm, Visit};
use crate::web::fingerprint::of_bytes;
use crate::web::multipart::{Multipart, MultipartTimes, boundary, too_large};

/// The form fields of the manifest and the component.
pub const MANIFEST: &str = "manifest";
pub const COMPONENT: &str = "component";
/// Maximum concurrent uploads, being received or checked.
const MAX_AT_ONCE: usize = 2;
/// Maximum bytes of a form's token.
const MAX_TOKEN_BYTES: usize = 4 << 10;
/// Maximum bytes of the form besides its fields: boundaries and headers of parts.
const MAX_FRAME_BYTES: usize = 32 << 10;
/// Retry delay of a refused client, seconds.
const RETRY_S: u64 = 10;
const TIMES: MultipartTimes =
    MultipartTimes { pause: Duration::from_secs(30), all: Duration::from_secs(600) };

/// The permits for uploads on this host.
pub struct UploadRoom(Arc<Semaphore>);

impl Default for UploadRoom {
    fn default() -> UploadRoom {
        UploadRoom(Arc::new(Semaphore::new(MAX_AT_ONCE)))
    }
}

/// Receives a form with files from the panel's own page. Returns whether its token is valid; otherwise no file is read. Call it only if the
/// visitor has the right to use the form.
///
/// # Errors
/// `unsupported_media_type`, `payload_too_large`, `request_timeout`; `overloaded` while other uploads are received; `invalid_state` if
/// several hosts may use the database; errors of the file system.
pub async fn receive(visit: &mut Visit, room: &UploadRoom, request: Request) -> Result<bool> {
    let Some(boundary) = boundary(request.headers()) else {
        return Err(refuse(Code::UnsupportedMediaType, "this page takes a form with files alone"));
    };
    ensure_may_change(&visit.app)?;
    let Ok(permit) = room.0.clone().try_acquire_owned() else {
        let message = "other connectors are being uploaded; try again";
        return Err(Refusal::new(Code::Overloaded, message).retry_after_s(RETRY_S).into());
    };
    let all = ensure_folder(&visit.app).await?;
    // The name begins with the time, by which leftovers of a crash expire like abandoned uploads.
    let prefix = format!("{}-", visit.app.now());
    let make = move || tempfile::Builder::new().prefix(&prefix).suffix(UNCHECKED).tempdir_in(all);
    let folder = tokio::task::spawn_blocking(make).await.map_err(anyhow::Error::from)?;
    let folder = folder.map_err(write_error)?;
    let max = MAX_COMPONENT_BYTES + MAX_MANIFEST_BYTES + MAX_TOKEN_BYTES + MAX_FRAME_BYTES;
    let mut form = Multipart::new(request.into_body(), &boundary, max, TIMES);
    let (app, cookie) = (visit.app.clone(), visit.cookie.clone());
    let nonce = move |token: &str| form_token::nonce(&app, &cookie, token);
    let Some((nonce, parts)) = read_form(&mut form, folder.path(), nonce).await? else { return Ok(false) };
    visit.form = Some(SentForm { fingerprint: of_bytes(nonce.as_bytes()), nonce });
    visit.files = Some(ReceivedFiles::new(folder, parts, permit));
    Ok(true)
}

/// Reads the parts of a form into files. Its first part is the token, of which `nonce` makes the random part; none: the token is not good, and
/// nothing behind it was read.
async fn read_form(
    form: &mut Multipart,
    folder: &Path,
    nonce: impl Fn(&str) -> Option<String>,
) -> Result<Option<(String, FilesOfForm)>> {
    if form.next_part().await?.as_deref() != Some(TOKEN) {
        return Ok(None);
    }
    let mut token = Vec::new();
    while let Some(piece) = form.chunk().await? {
        token.extend_from_slice(&piece);
        if token.len() > MAX_TOKEN_BYTES {
            return Err(too_large());
        }
    }
    let Some(nonce) = nonce(&String::from_utf8_lossy(&token)) else { return Ok(None) };
    let mut parts = FilesOfForm::default();
    while let Some(name) = form.next_part().await? {
        let (has, file, max) = match name.as_str() {
            MANIFEST => (&mut parts.has_manifest, MANIFEST_FILE, MAX_MANIFEST_BYTES),
            COMPONENT => (&mut parts.has_component, COMPONENT_FILE, MAX_COMPONENT_BYTES),
            _ => return Err(not_the_form()),
        };
        // Browsers send a file field without a chosen file as an empty file.
        if write_part(form, &folder.join(file), max).await? && std::mem::replace(has, true) {
            return Err(not_the_form());
        }
    }
    Ok(Some((nonce, parts)))
}

/// Writes a part into a new file, whose name is not the client's. Returns false for an empty part, which creates no file.
async fn write_part(form: &mut Multipart, path: &Path, max: usize) -> Result<bool> {
    let Some(first) = form.chunk().await? else { return Ok(false) };
    let mut file = File::create(path).await.map_err(write_error)?;
    let (mut piece, mut written) = (first, 0);
    loop {
        written += piece.len();
        if written > max {
            return Err(too_large());
        }
        file.write_all(&piece).await.map_err(write_error)?;
        let Some(next) = form.chunk().await? else { break };
        piece = next;
    }
    file.flush().await.map_err(write_error)?;
    Ok(true)
}

fn not_the_form() -> Error {
    refuse(Code::UnsupportedMediaType, "the form has a token, a manifest and a component, once each")
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    /// A part of a form with the boundary `x`. The name of a file is a client's, and may say anything.
    fn part(name: &str, content: &str) -> String {
        let disposition = format!("form-data; name=\"{name}\"; filename=\"../../../etc/{name}\"");
        format!("--x\r\ncontent-disposition: {disposition}\r\n\r\n{content}\r\n")
    }

    async fn read(text: &str, folder: &Path) -> Result<Option<(String, FilesOfForm)>> {
        let mut form = Multipart::new(Body::from(text.to_owned()), "x", 1 << 20, TIMES);
        let nonce = |token: &str| (token == "good").then(|| "nonce".to_owned());
        read_form(&mut form, folder, nonce).await
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("the folder");
        let mut all: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        all.sort_unstable();
        all
    }

    #[tokio::test]
    async fn files_have_names_of_ours() {
        let files = [part(MANIFEST, "name = 1"), part(COMPONENT, "c")].concat();
        let dir = tempfile::tempdir().expect("a folder");
        let parts = read(&format!("{}{files}--x--", part(TOKEN, "good")), dir.path()).await;
        let both = FilesOfForm { has_manifest: true, has_component: true };
        assert_eq!(parts.expect("it is read"), Some(("nonce".to_owned(), both)));
        assert_eq!(names(dir.path()), [MANIFEST_FILE, COMPONENT_FILE]);
        assert_eq!(std::fs::read(dir.path().join(COMPONENT_FILE)).expect("a file"), b"c");
    }

    #[tokio::test]
    async fn without_a_good_token_no_file_is_written() {
        let files = [part(MANIFEST, "name = 1"), part(COMPONENT, "c")].concat();
        for before in ["", &part(TOKEN, "bad"), &part(TOKEN, "")] {
            let dir = tempfile::tempdir().expect("a folder");
            let read = read(&format!("{before}{files}--x--"), dir.path()).await;
            assert_eq!(read.expect("it is read"), None, "{before}");
            assert!(names(dir.path()).is_empty(), "{before}");
        }
    }

    #[tokio::test]
    async fn other_forms_are_refused() {
        let (token, large) = (part(TOKEN, "good"), "m".repeat(300 << 10));
        for (parts, code) in [
            (format!("{token}{}", part(MANIFEST, &large)), Code::PayloadTooLarge),
            (part(TOKEN, &large), Code::PayloadTooLarge),
            (format!("{token}{}", part("other", "o")), Code::UnsupportedMediaType),
            (format!("{token}{0}{0}", part(COMPONENT, "c")), Code::UnsupportedMediaType),
        ] {
            let dir = tempfile::tempdir().expect("a folder");
            let refused = read(&format!("{parts}--x--"), dir.path()).await.expect_err("it is refused");
            assert_eq!(refused.code(), Some(code), "{}", parts.get(..200).unwrap_or(&parts));
        }
    }

    #[tokio::test]
    async fn a_file_that_is_not_chosen_is_none() {
        let text = [part(TOKEN, "good"), part(MANIFEST, ""), "--x--".to_owned()].concat();
        let dir = tempfile::tempdir().expect("a folder");
        let parts = read(&text, dir.path()).await.expect("it is read");
        assert_eq!(parts, Some(("nonce".to_owned(), FilesOfForm::default())));
        assert!(names(dir.path()).is_empty());
    }
}
