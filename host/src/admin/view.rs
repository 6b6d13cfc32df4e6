//! The result of a request to the panel: a document or a redirect, with cookies.

use http::StatusCode;
use service::locale::html::Html;

use crate::admin::cookies::CookieKind;
use crate::admin::live::LiveRows;
use crate::admin::texts::PanelTexts;

/// The outcome of a request.
pub struct View {
    pub kind: ViewKind,
    pub cookies: Vec<(CookieKind, Option<String>)>,
    /// The notice to show on the next page.
    pub flash: Option<FlashCode>,
}

/// The kind of a result.
pub enum ViewKind {
    Page(Box<PanelPage>),
    /// A redirect to another page of the panel, given its path below `/admin/`.
    SeeOther(String),
    /// A file for download.
    File(PanelFile),
    /// A stream of new rows of a list.
    Live(Box<LiveRows>),
}

/// A text file that a page offers for download.
pub struct PanelFile {
    /// The suggested file name.
    pub name: &'static str,
    pub media_type: &'static str,
    pub text: String,
}

/// A document of the panel.
pub struct PanelPage {
    pub title: String,
    pub status: StatusCode,
    pub body: Html,
    /// The menu entry that the page belongs to.
    pub entry: Option<MenuEntry>,
    pub frame: FrameKind,
    /// Whether the page shows a secret: then it is not compressed together with text that others may choose.
    pub shows_secret: bool,
    pub retry_after_s: Option<u64>,
    /// Seconds after which the browser reloads the page.
    pub refresh_s: Option<u64>,
    /// The URL of another site to which the browser is redirected.
    pub leave_for: Option<String>,
}

/// The frame around a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// With the menu.
    Panel,
    /// Without the menu, because its reader is not signed in.
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

/// A notice of a completed action, shown once on the next page. It contains no text and no secret.
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

/// The codes with the names under which sessions store them.
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
    /// The name under which a session stores it.
    pub fn as_str(self) -> &'static str {
        FLASH_CODES.iter().find(|(code, _)| *code == self).map_or("", |(_, name)| *name)
    }

    /// Returns the code with this name.
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
    /// Redirects to another page of the panel.
    pub fn see_other(to: impl Into<String>) -> View {
        View { kind: ViewKind::SeeOther(to.into()), cookies: Vec::new(), flash: None }
    }

    /// Redirects to another page, which shows a notice.
    pub fn done(to: impl Into<String>, flash: FlashCode) -> View {
        View { flash: Some(flash), ..View::see_other(to) }
    }

    /// Sets a cookie, or deletes it.
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
    /// Creates a page with the menu.
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

    /// Creates a page for visitors who are not signed in.
    pub fn gate(title: impl Into<String>, body: Html) -> PanelPage {
        PanelPage { frame: FrameKind::Gate, ..PanelPage::new(title, None, body) }
    }

    /// Sets another status.
    pub fn with_status(self, status: StatusCode) -> PanelPage {
        PanelPage { status, ..self }
    }

    /// Marks the page as showing a secret.
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
