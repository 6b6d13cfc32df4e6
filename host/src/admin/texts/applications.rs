//! Words of organizations, applications and an application's settings.

use crate::admin::texts::macros::page_texts;

page_texts! {
    /// Lists of applications, and their settings.
    ApplicationTexts, ENGLISH, {
        organizations_title: "Organizations",
        organizations_caption: "Organizations that you have access to.",
        organization: "Organization",
        new_organization: "Create organization",
        no_organizations: "No organizations yet",
        no_organizations_text: "An organization holds applications and the people who run them. Create one to get started.",
        no_access: "Nothing to see yet",
        no_access_text: "Your account belongs to no organization. Ask an owner for an invitation.",
        title: "Applications",
        caption: "Applications see nothing of each other: each has its own keys, accounts and webhooks.",
        name: "Name",
        role: "Your role",
        application: "Application",
        handle_column: "Handle",
        id: "ID",
        test: "Test",
        new: "Create application",
        create: "Create",
        none: "No applications yet",
        none_text: "An application holds API keys, connected accounts and webhooks. Create one for your product, or one for each environment.",
        rename_organization: "Rename organization",
        bad_name: "Enter a name of 1 to 100 characters.",
        name_taken: "This name is taken. Choose another one.",
        name_hint: "For example Acme, or Acme (staging).",
        settings_title: "Settings",
        general: "General",
        handle: "Handle",
        handle_hint: "3 to 40 lowercase letters, digits and hyphens. Booking pages are at /book/{handle}/…",
        bad_handle: "Use 3 to 40 lowercase letters, digits and hyphens.",
        handle_taken: "Another application has this handle. Choose another one.",
        redirects: "Redirect URIs",
        redirects_text: "Where users may return to after they connect an account. Authorizations must name one of them exactly.",
        no_redirects: "No redirect URI yet. Authorizations are refused until you add one.",
        redirect: "Redirect URI",
        redirect_hint: "https, http on localhost, or a scheme of your own such as com.example.app:/connected.",
        add: "Add",
        remove: "Remove",
        too_many_redirects: "An application can have 100 redirect URIs. Remove one first.",
        bad_redirect: "Use https, http on localhost, or a scheme of your own such as com.example.app:/connected, without # and spaces.",
    }
}
