//! Looking up folders and records that a request names.

use std::sync::Arc;

use crate::problem::Problem;
use crate::record::{Folder, Head, Record};
use crate::state::State;

/// The folder, which the account must have.
pub fn folder<'a, R: Record>(state: &'a State, mail: &str, id: &str) -> Result<&'a Folder<R>, Problem> {
    state.folder(mail, id).ok_or_else(|| Problem::not_found(R::KIND.folder(), id))
}

/// The same, for a change of its records.
pub fn open_folder<'a, R: Record>(state: &'a State, mail: &str, id: &str) -> Result<&'a Folder<R>, Problem> {
    let folder = folder::<R>(state, mail, id)?;
    if folder.head.is_locked() {
        return Err(Problem::forbidden("locked", format!("the {} is read-only", R::KIND.folder())));
    }
    Ok(folder)
}

/// An existing record, and the seq of its version.
pub fn find<R: Record>(folder: &Folder<R>, id: &str) -> Result<(Arc<R>, u64), Problem> {
    let found = folder.record(id).map(|(r, s)| (r.clone(), s.seq));
    found.ok_or_else(|| Problem::not_found(R::KIND.record(), id))
}
