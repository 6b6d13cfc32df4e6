//! The temporary files of `switchboard backup` and `restore`: other users cannot read them, an interrupted command leaves none behind,
//! and none has a password.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use storage::{Db, Options};

use crate::cli::{printed, refused, switchboard};

/// The longest that anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);
const CREATE_KEY: [&str; 7] = ["keys", "create", "--scopes", "all", "--init", "--json", "--data-dir"];

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("it is there").permissions().mode() & 0o777
}

/// Adds so much to a database that a copy of it takes a while.
async fn enlarge(file: &Path) {
    let db = Db::connect(&Options::for_url(format!("sqlite://{}", text(file)))).await.expect("it opens");
    let fill = "create table filler (content blob); \
                with recursive n(i) as (select 1 union all select i + 1 from n where i < 48) \
                insert into filler select zeroblob(1048576) from n";
    let filled: anyhow::Result<()> = db.write(move |tx| Box::pin(async move { tx.batch(fill).await })).await;
    filled.expect("it is written");
    db.close().await;
}

/// Starts a backup, and waits until it copies the database. Returns the folder of the copy.
#[expect(clippy::zombie_processes, reason = "callers wait for it; a panic here ends the test")]
fn begin_backup(file: &Path, data: &Path) -> (Child, PathBuf) {
    let mut command = switchboard(&["backup", text(file), "--data-dir", text(data)]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let (folder, until) = (file.parent().expect("a folder"), Instant::now() + PATIENCE);
    loop {
        let mut found = entries(folder).into_iter().filter(|entry| entry.join("switchboard.db").exists());
        if let Some(staging) = found.next() {
            return (child, staging);
        }
        assert!(Instant::now() < until, "the backup copies nothing");
        std::thread::yield_now();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_that_is_broken_off_leaves_no_copy_and_shows_none() {
    let (data, place) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    printed(&[CREATE_KEY.as_slice(), &[text(data.path())]].concat());
    enlarge(&data.path().join("switchboard.db")).await;
    let file = place.path().join("backup.tar");

    let (mut child, staging) = begin_backup(&file, data.path());
    assert_eq!((mode(&staging), mode(&staging.join("switchboard.db"))), (0o700, 0o600));
    let asked = Command::new("kill").arg(child.id().to_string()).status().expect("kill exists");
    assert!(asked.success());
    assert_eq!(child.wait().expect("a child").code(), Some(1));
    assert_eq!(entries(place.path()), Vec::<PathBuf>::new());

    let (mut child, staging) = begin_backup(&file, data.path());
    child.kill().expect("it is killed");
    child.wait().expect("a child");
    assert_eq!(entries(place.path()), [staging]);
    printed(&["backup", text(&file), "--json", "--data-dir", text(data.path())]);
    assert_eq!(entries(place.path()), [file], "the next backup removes what the killed one left");
}

#[test]
fn a_backup_has_no_password_however_the_settings_write_it() {
    let (data, place) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    printed(&[CREATE_KEY.as_slice(), &[text(data.path())]].concat());
    let (config, file) = (place.path().join("switchboard.toml"), place.path().join("backup.tar"));
    let settings = format!(
        "data_dir = {:?}\ndatabase_listen_url = \"postgres://sb:hunt\\u0065r2@127.0.0.1:1/sb\"\n\
         # database_url = \"postgres://sb:hunter2@old/sb\"\n",
        text(data.path())
    );
    std::fs::write(&config, settings).expect("written");
    printed(&["backup", text(&file), "--json", "--config", text(&config)]);
    let content = std::fs::read(&file).expect("the backup");
    let has = |word: &str| content.windows(word.len()).any(|bytes| bytes == word.as_bytes());
    assert!(has("postgres://sb:***@127.0.0.1:1/sb") && has("postgres://sb:***@old/sb"));
    assert!(!has("hunter2") && !has("hunt\\u0065r2"));
}

#[test]
fn a_restore_goes_on_only_with_the_database_that_it_was_begun_with() {
    let (data, place) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    printed(&[CREATE_KEY.as_slice(), &[text(data.path())]].concat());
    let file = place.path().join("backup.tar");
    printed(&["backup", text(&file), "--json", "--data-dir", text(data.path())]);
    let target = tempfile::tempdir().expect("a data directory");
    std::fs::copy(data.path().join("master.key"), target.path().join("master.key")).expect("a key");
    // An interrupted restore, and a foreign database.
    let staging = target.path().join("restore.tmp");
    std::fs::create_dir(&staging).expect("a folder");
    let database = std::path::absolute(target.path().join("switchboard.db")).expect("a path");
    std::fs::write(staging.join("place"), text(&database)).expect("written");
    std::fs::write(target.path().join("switchboard.db.restoring"), b"half").expect("written");
    let live = place.path().join("live.db");
    std::fs::copy(data.path().join("switchboard.db"), &live).expect("a copy");

    let restore = ["restore", text(&file), "--json", "--data-dir", text(target.path())];
    let url = format!("sqlite://{}", text(&live));
    let elsewhere = [restore.as_slice(), &["--database-url", &url]].concat();
    let (code, said) = refused(&mut switchboard(&elsewhere));
    assert!(code == Some(1) && said.contains("switchboard.db was broken off here"), "{said}");
    assert!(staging.exists() && !target.path().join("switchboard.db").exists());
    let restored: Value = printed(&restore);
    assert_eq!(restored["manifest"]["engine"], "sqlite");
    assert!(!staging.exists() && target.path().join("switchboard.db").exists());
}

#[test]
fn a_folder_whose_name_leads_elsewhere_is_refused() {
    let data = tempfile::tempdir().expect("a folder");
    printed(&[CREATE_KEY.as_slice(), &[text(data.path())]].concat());
    let odd = data.path().join("od?d");
    std::fs::create_dir(&odd).expect("a folder");
    let file = odd.join("backup.tar");
    let (code, said) = refused(&mut switchboard(&["backup", text(&file), "--data-dir", text(data.path())]));
    assert!(code == Some(1) && said.contains("has a ? in its name"), "{said}");
    let (code, said) = refused(&mut switchboard(&["restore", text(&file), "--data-dir", text(&odd)]));
    assert!(code == Some(1) && said.contains("has a ? in its name"), "{said}");
}
