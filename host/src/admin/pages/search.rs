//! `/search`: from an id or an email address to its page.

use base::error::Result;
use http::StatusCode;
use service::locale::html::Html;
use service::manage::search::{self, SearchHit};

use crate::admin::pages::job_words::path_of;
use crate::admin::parts::head::{head, short_name};
use crate::admin::parts::icon::PanelIcon;
use crate::admin::parts::note::empty;
use crate::admin::texts::fill;
use crate::admin::view::{PanelPage, View};
use crate::admin::visit::Visit;

/// Goes to the page of what was found, or says that there is nothing.
pub async fn show(visit: &Visit) -> Result<View> {
    let (text, t) = (visit.query.first("q").trim(), visit.texts.search);
    let path = match search::find(&visit.app, visit.actor()?, text).await? {
        Some(SearchHit::Organization { id }) => Some(format!("orgs/{id}")),
        Some(SearchHit::Application { id }) => Some(format!("apps/{id}")),
        Some(SearchHit::ApiKey { tenant, id }) => Some(format!("apps/{}/keys/{id}", tenant.application_id)),
        Some(SearchHit::Account { tenant, id }) => {
            Some(format!("apps/{}/accounts/{id}", tenant.application_id))
        }
        Some(SearchHit::Webhook { tenant, id }) => {
            Some(format!("apps/{}/webhooks/{id}", tenant.application_id))
        }
        Some(SearchHit::Event { tenant, id }) => Some(format!("apps/{}/events/{id}", tenant.application_id)),
        Some(SearchHit::Request { tenant, id }) => {
            Some(format!("apps/{}/requests/{id}", tenant.application_id))
        }
        Some(SearchHit::Operator { id }) => Some(format!("system/operators/{id}")),
        Some(SearchHit::Job { id }) => Some(path_of(&id)),
        None => None,
    };
    if let Some(path) = path {
        return Ok(View::see_other(path));
    }
    let mut body = Html::default();
    head(&mut body, t.title, None);
    if text.is_empty() {
        empty(&mut body, PanelIcon::Search, [t.empty, t.empty_text], None);
        return Ok(PanelPage::new(t.title, None, body).into());
    }
    let said = fill(t.none_text, &[("q", &short_name(text))]);
    empty(&mut body, PanelIcon::Search, [t.none, &said], None);
    Ok(PanelPage::new(t.title, None, body).with_status(StatusCode::NOT_FOUND).into())
}
