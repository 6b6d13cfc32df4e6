//! The outcome of a page of the panel: a document, or another page to go to, with the cookies that the browser gets.

use http::StatusCode;
use service::locale::html::Html;

use crate::admin::cookies::CookieKind;
use crate::admin::live::LiveRows;
use crate::admin::texts::PanelTexts;

/// The outcome of a request.
pub struct View {
    pub kind: ViewKind,
    pub cookies: Vec<(CookieKind, Option<String>)>,
    /// The notice of the next page.
    pub flash: Option<FlashCode>,
}

/// A document or a way on.
pub enum ViewKind {
    Page(Box<PanelPage>),
    /// Another page of the panel, by its path below `/admin/`.
    SeeOther(String),
    /// A file that the browser saves.
    File(PanelFile),
    /// A list that is watched.
    Live(Box<LiveRows>),
}

/// A text file that a page offers for download.
pub struct PanelFile {
    /// The name under which it is saved.
    pub name: &'static str,
    pub media_type: &'static str,
    pub text: String,
}

/// A document of the panel.
pub struct PanelPage {
    pub title: String,
    pub status: StatusCode,
    pub body: Html,
    /// The entry of the menu that the page belongs to.
    pub entry: Option<MenuEntry>,
    pub frame: FrameKind,
    /// The page shows a secret: it is not compressed, beside text that others may choose.
    pub shows_secret: bool,
    pub retry_after_s: Option<u64>,
    /// After how many seconds the browser asks again by itself.
    pub refresh_s: Option<u64>,
    /// Another site to which the browser goes on by itself.
    pub leave_for: Option<String>,
}

/// The frame around a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// The menu beside it.
    Panel,
    /// No menu: its reader is not signed in.
    Gate,
}

/// An entry of the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MenuEntry {
    Overview,
    Keys,
    Accounts,
    Providers,
    Webhooks,
    Events,
    Requests,
    Usage,
    Settings,
    Applications,
    Members,
    OrganizationAudit,
    System,
    Jobs,
    Connectors,
    Operators,
    SystemKeys,
    SystemAudit,
    Sandbox,
    Account,
}

/// A notice of what was done, shown once on the page that follows. It holds no text and no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashCode {
    ApplicationSaved,
    KeyRevoked,
    OldSecretEnded,
    MemberRemoved,
    RoleChanged,
    InvitationEnded,
    Joined,
    ProfileSaved,
    PasswordChanged,
    SecondFactorOff,
    IdentityConnected,
    IdentityDisconnected,
    SessionsEnded,
    OrganizationSaved,
    OperatorChanged,
    RedirectAdded,
    RedirectRemoved,
    AccountConnected,
    AccountRefreshed,
    AccountDisconnected,
    ProviderSaved,
    ProviderRemoved,
    SandboxMailSent,
    SandboxInvited,
    SandboxFaultAdded,
    SandboxFaultsRemoved,
    SandboxReset,
    JobRetried,
    JobCancelled,
    ConnectorInstalled,
    ConnectorRolledBack,
    ConnectorRemoved,
    WebhookPaused,
    WebhookResumed,
    WebhookDeleted,
    EventSentAgain,
    ReplayStarted,
}

/// The codes with the names under which sessions keep them.
const FLASH_CODES: [(FlashCode, &str); 37] = [
    (FlashCode::ApplicationSaved, "application_saved"),
    (FlashCode::KeyRevoked, "key_revoked"),
    (FlashCode::OldSecretEnded, "old_secret_ended"),
    (FlashCode::MemberRemoved, "member_removed"),
    (FlashCode::RoleChanged, "role_changed"),
    (FlashCode::InvitationEnded, "invitation_ended"),
    (FlashCode::Joined, "joined"),
    (FlashCode::ProfileSaved, "profile_saved"),
    (FlashCode::PasswordChanged, "password_changed"),
    (FlashCode::SecondFactorOff, "second_factor_off"),
    (FlashCode::IdentityConnected, "identity_connected"),
    (FlashCode::IdentityDisconnected, "identity_disconnected"),
    (FlashCode::SessionsEnded, "sessions_ended"),
    (FlashCode::OrganizationSaved, "organization_saved"),
    (FlashCode::OperatorChanged, "operator_changed"),
    (FlashCode::RedirectAdded, "redirect_added"),
    (FlashCode::RedirectRemoved, "redirect_removed"),
    (FlashCode::AccountConnected, "account_connected"),
    (FlashCode::AccountRefreshed, "account_refreshed"),
    (FlashCode::AccountDisconnected, "account_disconnected"),
    (FlashCode::ProviderSaved, "provider_saved"),
    (FlashCode::ProviderRemoved, "provider_removed"),
    (FlashCode::SandboxMailSent, "sandbox_mail_sent"),
    (FlashCode::SandboxInvited, "sandbox_invited"),
    (FlashCode::SandboxFaultAdded, "sandbox_fault_added"),
    (FlashCode::SandboxFaultsRemoved, "sandbox_faults_removed"),
    (FlashCode::SandboxReset, "sandbox_reset"),
    (FlashCode::JobRetried, "job_retried"),
    (FlashCode::JobCancelled, "job_cancelled"),
    (FlashCode::ConnectorInstalled, "connector_installed"),
    (FlashCode::ConnectorRolledBack, "connector_rolled_back"),
    (FlashCode::ConnectorRemoved, "connector_removed"),
    (FlashCode::WebhookPaused, "webhook_paused"),
    (FlashCode::WebhookResumed, "webhook_resumed"),
    (FlashCode::WebhookDeleted, "webhook_deleted"),
    (FlashCode::EventSentAgain, "event_sent_again"),
    (FlashCode::ReplayStarted, "replay_started"),
];

impl FlashCode {
    /// The name under which a session keeps it.
    pub fn as_str(self) -> &'static str {
        FLASH_CODES.iter().find(|(code, _)| *code == self).map_or("", |(_, name)| *name)
    }

    /// The code of a name.
    pub fn of_name(name: &str) -> Option<FlashCode> {
        FLASH_CODES.iter().find(|(_, known)| *known == name).map(|(code, _)| *code)
    }

    /// The text of the notice.
    pub fn text(self, texts: &PanelTexts) -> &'static str {
        let t = texts.flash;
        match self {
            FlashCode::ApplicationSaved => t.application_saved,
            FlashCode::KeyRevoked => t.key_revoked,
            FlashCode::OldSecretEnded => t.old_secret_ended,
            FlashCode::MemberRemoved => t.member_removed,
            FlashCode::RoleChanged => t.role_changed,
            FlashCode::InvitationEnded => t.invitation_ended,
            FlashCode::Joined => t.joined,
            FlashCode::ProfileSaved => t.profile_saved,
            FlashCode::PasswordChanged => t.password_changed,
            FlashCode::SecondFactorOff => t.second_factor_off,
            FlashCode::IdentityConnected => t.identity_connected,
            FlashCode::IdentityDisconnected => t.identity_disconnected,
            FlashCode::SessionsEnded => t.sessions_ended,
            FlashCode::OrganizationSaved => t.organization_saved,
            FlashCode::OperatorChanged => t.operator_changed,
            FlashCode::RedirectAdded => t.redirect_added,
            FlashCode::RedirectRemoved => t.redirect_removed,
            FlashCode::AccountConnected => t.account_connected,
            FlashCode::AccountRefreshed => t.account_refreshed,
            FlashCode::AccountDisconnected => t.account_disconnected,
            FlashCode::ProviderSaved => t.provider_saved,
            FlashCode::ProviderRemoved => t.provider_removed,
            FlashCode::SandboxMailSent => t.sandbox_mail_sent,
            FlashCode::SandboxInvited => t.sandbox_invited,
            FlashCode::SandboxFaultAdded => t.sandbox_fault_added,
            FlashCode::SandboxFaultsRemoved => t.sandbox_faults_removed,
            FlashCode::SandboxReset => t.sandbox_reset,
            FlashCode::JobRetried => t.job_retried,
            FlashCode::JobCancelled => t.job_cancelled,
            FlashCode::ConnectorInstalled => t.connector_installed,
            FlashCode::ConnectorRolledBack => t.connector_rolled_back,
            FlashCode::ConnectorRemoved => t.connector_removed,
            FlashCode::WebhookPaused => t.webhook_paused,
            FlashCode::WebhookResumed => t.webhook_resumed,
            FlashCode::WebhookDeleted => t.webhook_deleted,
            FlashCode::EventSentAgain => t.event_sent_again,
            FlashCode::ReplayStarted => t.replay_started,
        }
    }
}

impl View {
    /// Goes on to another page of the panel.
    pub fn see_other(to: impl Into<String>) -> View {
        View { kind: ViewKind::SeeOther(to.into()), cookies: Vec::new(), flash: None }
    }

    /// Goes on to another page, which says what was done.
    pub fn done(to: impl Into<String>, flash: FlashCode) -> View {
        View { flash: Some(flash), ..View::see_other(to) }
    }

    /// The same with a cookie that the browser gets, or none in its place.
    pub fn with_cookie(mut self, kind: CookieKind, value: Option<String>) -> View {
        self.cookies.push((kind, value));
        self
    }
}

impl From<PanelFile> for View {
    fn from(file: PanelFile) -> View {
        View { kind: ViewKind::File(file), cookies: Vec::new(), flash: None }
    }
}

impl From<LiveRows> for View {
    fn from(rows: LiveRows) -> View {
        View { kind: ViewKind::Live(Box::new(rows)), cookies: Vec::new(), flash: None }
    }
}

impl From<PanelPage> for View {
    fn from(page: PanelPage) -> View {
        View { kind: ViewKind::Page(Box::new(page)), cookies: Vec::new(), flash: None }
    }
}

impl PanelPage {
    /// A page beside the menu.
    pub fn new(title: impl Into<String>, entry: Option<MenuEntry>, body: Html) -> PanelPage {
        PanelPage {
            title: title.into(),
            status: StatusCode::OK,
            body,
            entry,
            frame: FrameKind::Panel,
            shows_secret: false,
            retry_after_s: None,
            refresh_s: None,
            leave_for: None,
        }
    }

    /// A page for who is not signed in.
    pub fn gate(title: impl Into<String>, body: Html) -> PanelPage {
        PanelPage { frame: FrameKind::Gate, ..PanelPage::new(title, None, body) }
    }

    /// The same page with another status.
    pub fn with_status(self, status: StatusCode) -> PanelPage {
        PanelPage { status, ..self }
    }

    /// The same page, which shows a secret.
    pub fn with_secret(self) -> PanelPage {
        PanelPage { shows_secret: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_known_by_its_name() {
        for (code, name) in FLASH_CODES {
            assert_eq!((code.as_str(), FlashCode::of_name(name)), (name, Some(code)));
            assert!(!code.text(crate::admin::texts::texts(service::locale::Language::English)).is_empty());
        }
        assert_eq!(FlashCode::of_name("other"), None);
    }
}
