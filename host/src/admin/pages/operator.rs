//! `/system/operators/{m}/{change}`: changes of one operator, each asked for before it is made.

use base::error::{Code, Error, Result, not_found};
use http::StatusCode;
use service::locale::html::Html;
use service::manage::operators::directory::{self, OperatorView};
use service::manage::operators::{links, rights};

use crate::admin::claim::{json, once};
use crate::admin::pages::members::{LinkWords, link_answer, link_page};
use crate::admin::parts::confirm::ConfirmPart;
use crate::admin::parts::head::{short_name, trail};
use crate::admin::parts::note::alert;
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// A change of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorChange {
    Reset,
    MakeAdmin,
    TakeAdmin,
    Disable,
    Enable,
}

impl OperatorChange {
    const ALL: [OperatorChange; 5] = [
        OperatorChange::Reset,
        OperatorChange::MakeAdmin,
        OperatorChange::TakeAdmin,
        OperatorChange::Disable,
        OperatorChange::Enable,
    ];

    /// The change in an address.
    pub fn word(self) -> &'static str {
        match self {
            OperatorChange::Reset => "reset",
            OperatorChange::MakeAdmin => "make-admin",
            OperatorChange::TakeAdmin => "take-admin",
            OperatorChange::Disable => "disable",
            OperatorChange::Enable => "enable",
        }
    }

    /// The word on the button.
    pub fn button(self, visit: &Visit) -> &'static str {
        let t = visit.texts.operators;
        match self {
            OperatorChange::Reset => t.reset,
            OperatorChange::MakeAdmin => t.make_admin,
            OperatorChange::TakeAdmin => t.take_admin,
            OperatorChange::Disable => t.disable,
            OperatorChange::Enable => t.enable,
        }
    }

    /// Title and text of the question.
    fn question(self, visit: &Visit) -> (&'static str, &'static str) {
        let t = visit.texts.operators;
        match self {
            OperatorChange::Reset => (t.reset_title, t.reset_text),
            OperatorChange::MakeAdmin => (t.make_admin_title, t.make_admin_text),
            OperatorChange::TakeAdmin => (t.take_admin_title, t.take_admin_text),
            OperatorChange::Disable => (t.disable_title, t.disable_text),
            OperatorChange::Enable => (t.enable_title, t.enable_text),
        }
    }

    /// The changes that make sense for an operator.
    pub fn possible(operator: &OperatorView) -> impl Iterator<Item = OperatorChange> + use<> {
        let (is_disabled, is_admin) = (operator.disabled_at.is_some(), operator.is_admin);
        OperatorChange::ALL.into_iter().filter(move |change| match change {
            OperatorChange::Reset | OperatorChange::Disable => !is_disabled,
            OperatorChange::MakeAdmin => !is_admin,
            OperatorChange::TakeAdmin => is_admin,
            OperatorChange::Enable => is_disabled,
        })
    }
}

/// The operator of the path.
pub async fn found(visit: &Visit) -> Result<OperatorView> {
    directory::find(&visit.app, visit.param("m")).await?.ok_or_else(|| not_found("operator"))
}

/// The change of the path.
fn change_of_path(visit: &Visit) -> Result<OperatorChange> {
    let word = visit.param("change");
    OperatorChange::ALL.into_iter().find(|change| change.word() == word).ok_or_else(|| not_found("page"))
}

/// The question before a change.
pub async fn confirm(visit: &Visit) -> Result<View> {
    let change = change_of_path(visit)?;
    Ok(question(visit, &found(visit).await?, change, None).into())
}

fn question(
    visit: &Visit,
    operator: &OperatorView,
    change: OperatorChange,
    fault: Option<&str>,
) -> PanelPage {
    let t = visit.texts.operators;
    let name = short_name(&operator.name);
    let (title, text) = change.question(visit);
    let (title, text) = (fill(title, &[("name", &name)]), fill(text, &[("name", &name)]));
    let path = format!("system/operators/{}", operator.id);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link("system/operators"), t.title), (&visit.link(&path), &name)], &title);
    if let Some(fault) = fault {
        alert(&mut body, fault);
    }
    let part = ConfirmPart {
        title: &title,
        text: &text,
        action: &visit.link(&format!("{path}/{}", change.word())),
        token: &visit.token(),
        button: change.button(visit),
        is_danger: matches!(change, OperatorChange::Disable | OperatorChange::TakeAdmin),
        back: (&visit.link(&path), visit.texts.frame.cancel),
        fields: Html::default(),
    };
    part.add_to(&mut body);
    PanelPage::new(title.as_str(), Some(MenuEntry::Operators), body)
}

/// Makes a change.
pub async fn change(visit: &Visit) -> Result<View> {
    let (change, operator) = (change_of_path(visit)?, found(visit).await?);
    let (app, actor, id) = (&visit.app, visit.actor()?, operator.id.as_str());
    let changed =
        match change {
            OperatorChange::Reset => {
                let t = visit.texts.operators;
                let (app, actor, of) = (app.clone(), actor.clone(), id.to_owned());
                let made = once(visit, |_| async move {
                    Ok(link_answer(&links::reset(&app, &actor, &of, false).await?))
                });
                let answer = json(&made.await?)?;
                let words = LinkWords {
                    title: t.link_title,
                    text: t.link_text,
                    email: &operator.email,
                    done: t.done,
                    back: &format!("system/operators/{id}"),
                };
                let page = link_page(visit, &answer, &words, MenuEntry::Operators);
                return Ok(page.into());
            }
            OperatorChange::MakeAdmin => rights::set_admin(app, actor, id, true).await,
            OperatorChange::TakeAdmin => rights::set_admin(app, actor, id, false).await,
            OperatorChange::Disable => rights::disable(app, actor, id).await,
            OperatorChange::Enable => rights::enable(app, actor, id).await,
        };
    match changed {
        Ok(()) if operator.id == actor.id => Ok(View::see_other("")),
        Ok(()) => Ok(View::done(format!("system/operators/{id}"), FlashCode::OperatorChanged)),
        Err(Error::Refused(refusal)) if refusal.code == Code::InvalidState => {
            let fault = match refusal.param.as_deref() {
                Some("last_owner") => visit.texts.members.last_owner,
                _ => visit.texts.operators.last_admin,
            };
            let page = question(visit, &operator, change, Some(fault));
            Ok(page.with_status(StatusCode::CONFLICT).into())
        }
        Err(e) => Err(e),
    }
}
