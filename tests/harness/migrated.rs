//! An empty SQLite database with the schema, made once in a run: a test server begins with a copy, because applying all migrations takes
//! longer than many tests.

use std::path::Path;

use storage::{Db, Options};
use tokio::sync::OnceCell;

/// The content of the file.
pub async fn file() -> &'static [u8] {
    static MADE: OnceCell<Vec<u8>> = OnceCell::const_new();
    MADE.get_or_init(make).await
}

async fn make() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let db = Db::open(&options(&at("migrated.db"))).await.expect("the migrations are applied");
    // Checkpoints the log into the file.
    db.close().await;
    let content = std::fs::read(at("migrated.db")).expect("the database can be read");
    // A copy without the log must have the whole schema.
    std::fs::write(at("copy.db"), &content).expect("a copy can be written");
    let copy = Db::connect(&options(&at("copy.db"))).await.expect("the copy can be opened");
    copy.check().await.expect("the copy has all migrations");
    copy.close().await;
    content
}

fn options(file: &Path) -> Options {
    Options::for_url(format!("sqlite://{}", file.display()))
}
