//! Words of an organization's members.

use crate::admin::texts::macros::page_texts;

page_texts! {
    /// People of an organization, and open invitations.
    MemberTexts, ENGLISH, {
        title: "Members",
        caption: "People with access to this organization. Administrators of the installation have access, too.",
        name: "Name",
        role: "Role",
        last_sign_in: "Last sign-in",
        second_factor: "Two-factor",
        on: "On",
        off: "Off",
        invite: "Invite",
        invite_title: "Invite someone",
        email: "Email",
        owner_hint: "Manages applications, members and the audit log.",
        developer_hint: "Creates keys and webhooks, connects accounts, sees event bodies.",
        viewer_hint: "Sees keys, accounts and webhooks. No secrets, no mail or calendar content.",
        create_link: "Create invitation link",
        link_title: "Invitation created",
        link_text: "Send this link to {email}. No email is sent. It works once, until {until}.",
        link_done: "Done",
        bad_email: "Enter a valid email address, such as ada@example.com.",
        bad_role: "Choose a role.",
        too_many: "An organization can have 100 open invitations. Withdraw one first.",
        invitations: "Open invitations",
        invitations_caption: "Links that have not been used yet.",
        expires: "Expires",
        invited_by: "Invited by",
        withdraw: "Withdraw",
        change_role: "Change role",
        remove: "Remove",
        remove_title: "Remove {name}?",
        remove_text: "They lose access to this organization at once. Keys that they created keep working.",
        last_owner: "The last owner can't be removed or changed. Make someone else an owner first.",
        disabled: "Disabled",
        state: "State",
        active: "Active",
    }
}
