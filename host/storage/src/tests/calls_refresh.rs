//! Runs every statement on the renewal of tokens and on their revocation.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::locked::ConnectionLock;
use crate::tests::seed::START_MS;
use crate::token_refresh::{self, Grant, RefreshClaim};
use crate::token_revocations::{self, Revocation};

const ID: &str = "conn_0_3";

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

fn grant(key: Option<&str>) -> Grant {
    Grant { client: "client-new".into(), key: key.map(str::to_owned) }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    let reader = db.reader();
    let known = [grant(Some("key-new")), grant(None)];
    for grant in &known {
        assert!(!token_refresh::is_in_use(reader, grant).await?);
    }
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            refresh(tx).await
        })
    })
    .await?;
    for grant in &known {
        assert!(token_refresh::is_in_use(reader, grant).await?);
    }
    let state = token_refresh::find(reader, &tenant(), ID).await?.expect("it is in the seed");
    assert_eq!((state.claimed_until, state.blocked_until, state.failures), (None, None, 0));
    assert_eq!((state.refresh_token_expires_at, state.grant), (Some(7), Some(grant(Some("key-new")))));
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_revocation(tx).await
        })
    })
    .await?;
    let found = token_revocations::find(reader, "rvk_new").await?.expect("it was written");
    assert_eq!((found.tenant, found.grant, found.token.as_str()), (tenant(), grant(None), "sealed"));
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            token_revocations::remove(tx, "rvk_new").await
        })
    })
    .await?;
    assert!(token_revocations::find(reader, "rvk_new").await?.is_none());
    Ok(())
}

async fn refresh(tx: &mut Tx) -> Result<()> {
    let tenant = &tenant();
    let version = token_refresh::find(&mut *tx, tenant, ID).await?.expect("it is in the seed").version;
    let by = |owner: &str, now: i64| RefreshClaim { owner: owner.into(), now, until: now + 45_000 };
    assert!(token_refresh::claim(tx, tenant, ID, version, &by("one", START_MS)).await?);
    assert!(!token_refresh::claim(tx, tenant, ID, version, &by("two", START_MS)).await?, "it is taken");
    token_refresh::release(tx, tenant, ID, "two").await?;
    assert!(!token_refresh::claim(tx, tenant, ID, version, &by("two", START_MS)).await?, "it is one's");
    token_refresh::release(tx, tenant, ID, "one").await?;
    assert!(!token_refresh::claim(tx, tenant, ID, version + 1, &by("two", START_MS)).await?);
    assert!(token_refresh::claim(tx, tenant, ID, version, &by("two", START_MS)).await?);
    assert!(
        token_refresh::claim(tx, tenant, ID, version, &by("one", START_MS + 45_000)).await?,
        "it is over"
    );
    let lock = ConnectionLock::take(tx, tenant, ID).await?.expect("it is in the seed");
    token_refresh::block(tx, &lock, START_MS + 1, 3).await?;
    let state = token_refresh::find(&mut *tx, tenant, ID).await?.expect("it is there");
    assert_eq!((state.claimed_until, state.blocked_until, state.failures), (None, Some(START_MS + 1), 3));
    token_refresh::set_grant(tx, tenant, ID, &grant(Some("key-new")), Some(7)).await?;
    token_refresh::block(tx, &lock, START_MS + 1, 1).await?;
    token_refresh::renewed(tx, &lock, None).await
}

async fn write_revocation(tx: &mut Tx) -> Result<()> {
    let new = Revocation {
        id: "rvk_new".into(),
        tenant: tenant(),
        provider: "sandbox".into(),
        grant: grant(None),
        token: "sealed".into(),
        created_at: START_MS,
    };
    token_revocations::insert(tx, &new).await
}
