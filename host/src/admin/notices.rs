//! Notices of what was done: kept in the session by a form, and said on the page that follows.

use http::Method;
use service::app::App;
use service::manage::operators::sessions::{self, Flash};

use crate::admin::view::{FlashCode, View, ViewKind};
use crate::admin::visit::Visit;

/// Keeps what a form has done for the next page, and takes it on that page, to be said there.
pub async fn pass_flash(app: &App, visit: &mut Visit, view: &View, method: &Method) {
    let Some(signed) = &visit.signed else { return };
    let passed = match (&view.kind, view.flash) {
        (ViewKind::SeeOther(_), Some(code)) => {
            let flash = Flash { code: code.as_str().to_owned(), ids: Vec::new() };
            sessions::set_flash(app, &signed.session, &flash).await
        }
        // A page that is only measured takes no notice away.
        (ViewKind::Page(_), _) if method == Method::GET && signed.session.flash.is_some() => {
            let taken = sessions::take_flash(app, &signed.session).await;
            taken.map(|flash| visit.flash = flash.and_then(|flash| FlashCode::of_name(&flash.code)))
        }
        _ => Ok(()),
    };
    if let Err(e) = passed
        && !e.is_outage()
    {
        tracing::error!(error = ?e, "a notice of the panel was lost");
    }
}
