//! `/v1/test`: test keys make things happen in the accounts of the sandbox.

use http::HeaderMap;
use model::resource::Written;
use model::test_mode::{NewTestEvent, NewTestMessage, TestFault, TestItem};
use service::app::App;
use service::connections::write_context::WriteContext;
use service::manage::test_mode;

use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::request::extractors::Extract;
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};

pub fn routes() -> Routes<App> {
    Routes::new("Test mode")
        .post("/v1/test/faults", "connections.write", Additive, plan_fault)
        .summary("Make calls of the sandbox fail")
        .description("Plans a failure for the next calls of a connection to the sandbox, at most 50 at a time for each account. It affects only calls of your application, and is lost when the server restarts. Calls that read or change data fail; connecting an account and renewing tokens do not.")
        .body::<TestFault>()
        .returns::<Written<TestFault>>()
        .post("/v1/test/deliver", "connections.write", Additive, deliver)
        .summary("Deliver a message to a sandbox mailbox")
        .description("The message comes from `tester@sandbox.test` and is in the inbox of the account at once; `email.message.created` follows when the connection is synced. All applications of the server share the accounts of the sandbox.")
        .body::<NewTestMessage>()
        .returns::<Written<TestItem>>()
        .post("/v1/test/trigger", "connections.write", Additive, trigger)
        .summary("Make an event happen in the sandbox")
        .description("Adds an item to the account of a connection, as another program would; the event follows when the connection is synced. All applications of the server share the accounts of the sandbox.")
        .body::<NewTestEvent>()
        .returns::<Written<TestItem>>()
}

async fn plan_fault(Extract(cx): Extract<WriteContext>, headers: HeaderMap, Body(body): Body) -> ApiResult {
    let (fault, unknown) = json::typed::<TestFault>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    Ok(ApiResponse(test_mode::plan_fault(&cx, fault, &warnings).await?))
}

async fn deliver(Extract(cx): Extract<WriteContext>, headers: HeaderMap, Body(body): Body) -> ApiResult {
    let (new, unknown) = json::typed::<NewTestMessage>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    Ok(ApiResponse(test_mode::deliver(&cx, new, &warnings).await?))
}

async fn trigger(Extract(cx): Extract<WriteContext>, headers: HeaderMap, Body(body): Body) -> ApiResult {
    let (new, unknown) = json::typed::<NewTestEvent>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    Ok(ApiResponse(test_mode::trigger(&cx, new, &warnings).await?))
}
