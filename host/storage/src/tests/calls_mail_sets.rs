//! Runs every statement for a page of mail: its threads and places, its log entries, and the related sent messages.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::items;
use crate::json_text;
use crate::locked::ConnectionLock;
use crate::log::{self, Entry};
use crate::mail::{self, MessagePlace, NewThread, ThreadName};
use crate::outbox;
use crate::tests::seed::START_MS;
use crate::tracking::{self, Report};

const MAIL: &str = "conn_0_3";

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    let reader = db.reader();
    // Every second message of the seed is unread, and the folders take them in turn.
    let counts = mail::counts(reader, &["fol_0_0", "fol_0_1", "none"]).await?;
    let (read, unread) = (counts["fol_0_0"], counts["fol_0_1"]);
    assert!(counts.len() == 2 && read.0 > 2_000 && unread.0 > 2_000, "{counts:?}");
    assert_eq!((read.1, unread.1), (0, unread.0));
    let sent = outbox::by_message_ids(reader, MAIL, &["mid-10", "mid-11", "none"]).await?;
    assert_eq!((sent.len(), sent["mid-10"].as_str()), (2, "out_100010"));
    let records = tracking::of_messages(reader, &["out_100010", "none"]).await?;
    assert_eq!((records.len(), records["out_100010"].id.as_str()), (1, "trk_100010"));

    let latest = db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_reports(tx).await?;
            write_log(tx).await?;
            write_threads(tx).await
        })
    });
    let latest = latest.await?;
    assert_eq!(mail::latest_of(reader, "thr_page_1").await?, Some(latest));
    for emptied in ["thr_page_2", "thr_page_3"] {
        assert_eq!(mail::latest_of(reader, emptied).await?, None, "{emptied}");
    }
    let merged = mail::find_thread(reader, &tenant(), "thr_page_3").await?.expect("it was written");
    assert_eq!(merged.merged_into.as_deref(), Some("thr_page_1"));
    let ids = ["not_page_1".to_owned(), "not_page_2".to_owned()];
    let lines = log::whole_by_ids(reader, &tenant(), &ids).await?;
    let accounts: Vec<String> = lines.iter().map(|line| json_text(&line.account_ids)).collect();
    assert_eq!(accounts, ["null", r#"["conn_0_3"]"#]);
    Ok(())
}

/// Returns when the newest message of the thread `thr_page_1` was received.
async fn write_threads(tx: &mut Tx) -> Result<i64> {
    let tenant = &tenant();
    let lock = &ConnectionLock::take(tx, tenant, MAIL).await?.expect("it is in the seed");
    let messages = items::lock_items(tx, lock, &["msg_1050030", "msg_1050031"]).await?;
    let ids: Vec<&str> = messages.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids, ["msg_1050030", "msg_1050031"]);

    let known = mail::threads_of_provider(tx, MAIL, &["thr_0_400", "none"]).await?;
    assert_eq!((known.len(), known["thr_0_400"].as_str()), (1, "thr_0_400"));
    let external_ids = [None, Some("page"), None];
    let new: Vec<NewThread> = (1..)
        .zip(external_ids)
        .map(|(n, external_id)| NewThread {
            id: format!("thr_page_{n}"),
            external_id: external_id.map(str::to_owned),
            created_at: START_MS,
            latest_at: 1,
        })
        .collect();
    mail::insert_threads(tx, tenant, MAIL, &new).await?;

    let names = ["ref-uid-50030", "ref-page-1", "ref-page-2"];
    let known = mail::known_threads(tx, MAIL, &names).await?;
    assert_eq!((known.len(), known["ref-uid-50030"].as_str()), (1, "thr_0_416"));
    let named = names.map(|name| ThreadName { name, thread_id: "thr_page_3" });
    mail::name_threads(tx, MAIL, &named).await?;
    mail::merge_threads(tx, &["thr_page_3", "none"], "thr_page_1", START_MS).await?;
    let known = mail::known_threads(tx, MAIL, &names).await?;
    assert!(known.len() == 3 && known.values().all(|thread| thread == "thr_page_1"), "{known:?}");

    mail::remove_places(tx, MAIL, &ids).await?;
    let place = |place_id| messages.iter().map(move |item| MessagePlace { item, place_id });
    let places: Vec<MessagePlace<'_>> =
        place("app_0").chain(place(MAIL)).chain(place("thr_page_1")).collect();
    mail::set_places(tx, MAIL, &places).await?;
    mail::set_latest(tx, &["thr_0_416", "thr_page_1", "thr_page_2", "thr_page_3"], START_MS).await?;
    Ok(messages.iter().map(|message| message.sort_at).max().unwrap_or_default())
}

async fn write_log(tx: &mut Tx) -> Result<()> {
    let first = log::next_sequence(tx, &tenant(), 2).await?;
    let line = |n: i64, account_ids| Entry {
        sequence: first + n - 1,
        id: format!("not_page_{n}"),
        connection_id: Some(MAIL.into()),
        account_ids,
        entry_type: "x".into(),
        change_type: "created".into(),
        resource_type: "email.message".into(),
        resource_id: "x".into(),
        parent_id: String::new(),
        changed_fields: None,
        etag: None,
        origin: "api".into(),
        resource: None,
        at: START_MS,
    };
    log::insert(tx, &tenant(), &[line(1, None), line(2, Some(vec![MAIL.into()]))]).await
}

async fn write_reports(tx: &mut Tx) -> Result<()> {
    let report = |n: i64| Report {
        item_id: format!("msg_page_{n}"),
        tenant: tenant(),
        connection_id: MAIL.into(),
        attempts: n,
    };
    tracking::add_reports(tx, &[report(1), report(2)], START_MS).await?;
    tracking::add_reports(tx, &[report(2)], START_MS).await?;
    tracking::remove_report(tx, "msg_page_1").await
}
