//! Addresses of pages to which a visitor may return, after signing in or proving who they are.

/// The pages for who is signed in, and that of an invitation, as axum writes their paths.
pub const PAGES: &[&str] = &[
    "/admin/",
    "/admin/join/{t}",
    "/admin/confirm",
    "/admin/search",
    "/admin/account",
    "/admin/account/password",
    "/admin/account/second-factor",
    "/admin/account/second-factor/off",
    "/admin/account/recovery-codes",
    "/admin/orgs/new",
    "/admin/orgs/{o}",
    "/admin/orgs/{o}/rename",
    "/admin/orgs/{o}/apps/new",
    "/admin/orgs/{o}/members",
    "/admin/orgs/{o}/members/invite",
    "/admin/orgs/{o}/members/{m}/role",
    "/admin/orgs/{o}/members/{m}/remove",
    "/admin/orgs/{o}/audit",
    "/admin/system",
    "/admin/system/jobs",
    "/admin/system/jobs/{j}",
    "/admin/system/jobs/{j}/cancel",
    "/admin/system/connectors",
    "/admin/system/connectors/{n}",
    "/admin/system/connectors/{n}/roll-back",
    "/admin/system/connectors/{n}/remove",
    "/admin/system/connector-uploads",
    "/admin/system/connector-uploads/{u}",
    "/admin/system/operators",
    "/admin/system/operators/invite",
    "/admin/system/operators/{m}",
    "/admin/system/operators/{m}/{change}",
    "/admin/system/keys",
    "/admin/system/keys/new",
    "/admin/system/keys/{k}",
    "/admin/system/keys/{k}/end-old",
    "/admin/system/keys/{k}/revoke",
    "/admin/system/audit",
    "/admin/sandbox",
    "/admin/apps/{a}",
    "/admin/apps/{a}/keys",
    "/admin/apps/{a}/keys/new",
    "/admin/apps/{a}/keys/{k}",
    "/admin/apps/{a}/keys/{k}/end-old",
    "/admin/apps/{a}/keys/{k}/revoke",
    "/admin/apps/{a}/accounts",
    "/admin/apps/{a}/accounts/new",
    "/admin/apps/{a}/accounts/new/{p}",
    "/admin/apps/{a}/accounts/{c}",
    "/admin/apps/{a}/accounts/{c}/reconnect",
    "/admin/apps/{a}/accounts/{c}/disconnect",
    "/admin/apps/{a}/providers",
    "/admin/apps/{a}/providers/{p}",
    "/admin/apps/{a}/providers/{p}/remove",
    "/admin/apps/{a}/webhooks",
    "/admin/apps/{a}/webhooks/new",
    "/admin/apps/{a}/webhooks/{w}",
    "/admin/apps/{a}/webhooks/{w}/delete",
    "/admin/apps/{a}/webhooks/{w}/replays",
    "/admin/apps/{a}/webhooks/{w}/{d}",
    "/admin/apps/{a}/events",
    "/admin/apps/{a}/events/live",
    "/admin/apps/{a}/events/{e}",
    "/admin/apps/{a}/requests",
    "/admin/apps/{a}/requests/{r}",
    "/admin/apps/{a}/usage",
    "/admin/apps/{a}/usage/csv",
    "/admin/apps/{a}/settings",
];

/// The path, as axum writes it, of the page that belongs to a route: its own, or that of the nearest page above it.
pub fn page_above(path: &str) -> &str {
    let mut above = path;
    while !PAGES.contains(&above) {
        match above.rsplit_once('/') {
            Some((shorter, _)) if shorter.len() > "/admin".len() => above = shorter,
            _ => return "/admin/",
        }
    }
    above
}

/// Whether a path below `/admin/` is that of such a page. Its segments have letters, digits, `_` and `-` alone, so that it leads nowhere else,
/// however it is written.
pub fn is_page(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-/".contains(&byte);
    let segments: Vec<&str> = path.split('/').collect();
    let matches = |page: &&str| {
        let template: Vec<&str> = page.split('/').skip(2).collect();
        let fits = |(template, segment): (&&str, &&str)| match template.starts_with('{') {
            true => !segment.is_empty(),
            false => template == segment,
        };
        template.len() == segments.len() && template.iter().zip(&segments).all(fits)
    };
    path.bytes().all(is_plain) && PAGES.iter().any(matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_belongs_to_the_page_above_it() {
        for (path, page) in [
            ("/admin/apps/{a}/keys/{k}/rotate", "/admin/apps/{a}/keys/{k}"),
            ("/admin/apps/{a}/settings/redirects/remove", "/admin/apps/{a}/settings"),
            ("/admin/account/sessions/{s}/end", "/admin/account"),
            ("/admin/apps/{a}/accounts/{c}/refresh", "/admin/apps/{a}/accounts/{c}"),
            ("/admin/apps/{a}/providers/{p}/disable", "/admin/apps/{a}/providers/{p}"),
            ("/admin/orgs/{o}/invitations/{i}/end", "/admin/orgs/{o}"),
            ("/admin/orgs/new", "/admin/orgs/new"),
            ("/admin/sign-out", "/admin/"),
        ] {
            assert_eq!(page_above(path), page, "{path}");
        }
    }

    #[test]
    fn a_way_back_leads_to_a_page_of_the_panel() {
        for good in ["", "account", "apps/app_1/keys/key_1", "orgs/org_1/members/invite", "join/a-b_c"] {
            assert!(is_page(good), "{good}");
        }
        for bad in [
            "/evil.test",
            "//evil.test",
            "\\evil.test",
            "https:",
            "https://evil.test",
            "%2f%2fevil.test",
            "../v1/connections",
            "v1/connections",
            "account\r\nset-cookie: a=b",
            "sign-out",
            "sign-in",
            "first/a-b_c",
            "apps//keys",
            "account?x",
        ] {
            assert!(!is_page(bad), "{bad}");
        }
    }
}
