//! `/v1/admin/invitations`

use base::error::{Code, invalid};
use http::HeaderMap;
use model::Instant;
use model::admin_operations::{AdminInvitationLink, NewAdminInvitation};
use model::resource::Written;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::manage::operators::links::{self, Invitation};

use crate::api::access::admin_request::AdminRequest;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::operator_rights::{link_url, roles};

pub fn routes() -> Routes<App> {
    Routes::new("Administration")
        .post("/v1/admin/invitations", "admin.operators", Additive, create)
        .summary("Invite someone to the panel")
        .description("The answer holds `url`, a link that works for 7 days, by which the invited person chooses a name and a password, or joins with the account that they have. It is shown only once; an idempotent replay shows it again. No email is sent. Open invitations can be withdrawn in the panel. 409 `invalid_state` if an organization has 100 open ones.")
        .body::<NewAdminInvitation>()
        .returns::<Written<AdminInvitationLink>>()
}

async fn create(admin: AdminRequest, headers: HeaderMap, Body(body): Body) -> ApiResult {
    let (wish, unknown) = json::typed::<NewAdminInvitation>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    if wish.email.is_empty() {
        return Err(invalid(Code::MissingField, "email", "email is required").into());
    }
    let roles = roles(&wish.roles)?;
    let invitation = Invitation { email: wish.email, is_admin: wish.is_admin, roles };
    let link = links::invite(&admin.app, &admin.actor, &invitation).await?;
    let created = AdminInvitationLink {
        url: link_url(&admin.app, &link),
        expires_at: Instant::from_millis(link.expires_at),
        id: link.id,
    };
    Ok(ApiResponse(StoredResponse::created(serde_json::to_string(&created)?).warned(&warnings)))
}
