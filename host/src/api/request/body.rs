//! A request's body on its way in: no larger than its operation takes, no slower than its deadline, and held within budgets, one for
//! the service and a share of it for each tenant. It is parsed and fingerprinted once, where that holds up nobody.
//!
//! A body takes room by the size that it declares before a byte of it is read, so that bodies never wait for each other half read. Uploads
//! (larger than [`MAX_BODY`]) wait for their room, of their tenant's share first and then of all. Ordinary bodies never wait for those of
//! other tenants: when the common room is taken, they count byte by byte in a reserve, of which a tenant may have as much as is left of it
//! for others. A body that does not declare its size is a small one until it has more, and takes more room as it comes; few of those that
//! turn out to be uploads wait, with what was read of them.
//!
//! A request with a key for web pages comes from a visitor, and not from the tenant: such a body takes room as it comes alone, beside
//! that of the tenant, of which each visitor's address has a share, and it has a few seconds.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use base::error::{Code, Error, Refusal, Result, refuse};
use bytes::{Bytes, BytesMut};
use compute::Compute;
use compute::named_semaphores::Shares;
use http::{HeaderMap, HeaderValue, Method, header};
use http_body::Body as _;
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use crate::api::request::body_recorder::BodyRecorder;
use crate::api::request::received_body::{Form, Object, ReceivedBody};
use crate::api::request::{form, json};
use crate::web::fingerprint;

/// Largest body of an ordinary operation in bytes.
pub const MAX_BODY: usize = model::bounds::MAX_BODY;
/// Largest body of an operation that takes files along.
pub const MAX_BODY_WITH_FILES: usize = model::bounds::mail::MAX_REQUEST;
/// Largest body of a visitor: a booking with all that it may have.
const MAX_VISITOR_BODY: usize = 256 << 10;
/// How long the whole body of a visitor may take to arrive.
const VISITOR_DEADLINE: Duration = Duration::from_secs(5);

/// Bytes of the uploads of one tenant, whichever of its keys they come with: one of the largest.
const UPLOADS_OF_TENANT: usize = MAX_BODY_WITH_FILES;
/// Bytes of the ordinary bodies of one tenant: some of the largest, or some hundreds of usual ones.
const ORDINARY_OF_TENANT: usize = 8 << 20;
/// Bytes that all bodies may have at one moment by the sizes that they declare: all that one tenant may have, and the largest upload of
/// another one. Reading a body costs up to three times its bytes, so this with the reserve, 96 MiB, and what the process has anyway stay
/// within 512 MiB.
const COMMON: usize = UPLOADS_OF_TENANT + ORDINARY_OF_TENANT + MAX_BODY_WITH_FILES;
/// Bytes beside the common ones, for ordinary bodies when those are taken.
const RESERVE: usize = 8 << 20;
/// Bytes of the reserve that one tenant may have: one ordinary body of the largest, or hundreds of usual ones.
const MAX_RESERVE_OF_TENANT: usize = MAX_BODY;
/// A body up to here is small, in bytes: it does not wait for the tenant's other ones either.
const SMALL: usize = 64 << 10;
/// Uploads that did not declare their size and wait for their room with the first [`MAX_BODY`] of them.
const MAX_HALF_READ: usize = 6;
/// The same limit for one tenant.
const MAX_HALF_READ_OF_TENANT: usize = 2;
/// How long a body waits for its tenant's other ones to be done with, and an upload as long again for those of other tenants.
const QUEUE: Duration = Duration::from_secs(30);
/// For a whole body: this, and a second for each `SLOWEST` bytes that it may have. Each `STRETCH` of it must arrive within this too, so
/// that nobody holds room with a body that does not come.
const DEADLINE: Duration = Duration::from_secs(30);
/// Bytes a second.
const SLOWEST: usize = 128 << 10;
/// Bytes.
const STRETCH: usize = 1 << 20;

/// The party that sends a body.
#[derive(Clone, Copy, Debug)]
pub struct BodySender<'a> {
    /// The application of the request's key.
    pub tenant: &'a str,
    /// The address of a visitor whose page has the key in it (`rate_limit::site`). None: a server of the tenant's sends.
    pub visitor: Option<IpAddr>,
}

/// The memory budget of request bodies.
pub struct Bodies {
    /// In KiB.
    common: Arc<Semaphore>,
    /// In KiB, by tenant.
    uploads: Shares,
    /// In KiB, by tenant.
    ordinary: Shares,
    reserve: Mutex<Reserve>,
    half_read: Semaphore,
    half_read_of_tenant: Shares,
    deadline: Duration,
    queue: Duration,
}

/// The used part of the reserve, in bytes.
#[derive(Default)]
struct Reserve {
    held: usize,
    /// By tenant; those that hold nothing are not in it.
    tenants: HashMap<String, usize>,
}

impl Default for Bodies {
    fn default() -> Self {
        Bodies::with(DEADLINE, QUEUE)
    }
}

impl Bodies {
    fn with(deadline: Duration, queue: Duration) -> Self {
        Bodies {
            common: Arc::new(Semaphore::new(COMMON >> 10)),
            uploads: Shares::new(UPLOADS_OF_TENANT >> 10),
            ordinary: Shares::new(ORDINARY_OF_TENANT >> 10),
            reserve: Mutex::default(),
            half_read: Semaphore::new(MAX_HALF_READ),
            half_read_of_tenant: Shares::new(MAX_HALF_READ_OF_TENANT),
            deadline,
            queue,
        }
    }

    /// Takes room for a body of at most `size` bytes; none yet for that of a visitor.
    async fn take(self: &Arc<Self>, sender: BodySender<'_>, size: usize) -> Result<BodyPermit> {
        let tenant = sender.tenant;
        if let Some(visitor) = sender.visitor {
            return Ok(self.held(&format!("{tenant} {visitor}"), None, None));
        }
        if size <= SMALL {
            return Ok(self.take_now(tenant, size));
        }
        let turn = timeout(self.queue, self.share(tenant, size).acquire_many_owned(kib(size))).await;
        let of_tenant = turn.ok().and_then(std::result::Result::ok).ok_or_else(too_many)?;
        let common = self.common.clone();
        let common = if size > MAX_BODY {
            let turn = timeout(self.queue, common.acquire_many_owned(kib(size))).await;
            Some(turn.ok().and_then(std::result::Result::ok).ok_or_else(|| overloaded_error(5))?)
        } else {
            common.try_acquire_many_owned(kib(size)).ok()
        };
        Ok(self.held(tenant, Some(of_tenant), common))
    }

    /// Takes what room there is now for a body of at most `size` bytes, the common one only beside that of the tenant.
    fn take_now(self: &Arc<Self>, tenant: &str, size: usize) -> BodyPermit {
        let of_tenant = self.share(tenant, size).try_acquire_many_owned(kib(size)).ok();
        let common =
            of_tenant.as_ref().and_then(|_| self.common.clone().try_acquire_many_owned(kib(size)).ok());
        self.held(tenant, of_tenant, common)
    }

    /// The share of a tenant for bodies of this size.
    fn share(&self, tenant: &str, size: usize) -> Arc<Semaphore> {
        let shares = if size > MAX_BODY { &self.uploads } else { &self.ordinary };
        shares.of(tenant)
    }

    fn held(
        self: &Arc<Self>,
        tenant: &str,
        of_tenant: Option<OwnedSemaphorePermit>,
        common: Option<OwnedSemaphorePermit>,
    ) -> BodyPermit {
        let tenant = tenant.to_owned();
        BodyPermit { bodies: self.clone(), tenant, reserved: 0, common, _of_tenant: of_tenant }
    }
}

/// As the semaphores count.
fn kib(size: usize) -> u32 {
    u32::try_from(size.min(MAX_BODY_WITH_FILES).div_ceil(1 << 10)).unwrap_or(u32::MAX)
}

impl Reserve {
    /// Whether `more` bytes of the tenant may be held, and holds them. With what a tenant has, as much again is left for others: however
    /// many take from the reserve, who holds nothing finds room.
    fn grow(&mut self, tenant: &str, more: usize) -> bool {
        let of_tenant = self.tenants.get(tenant).copied().unwrap_or_default() + more;
        let held = self.held + more;
        if of_tenant > MAX_RESERVE_OF_TENANT || held + of_tenant > RESERVE {
            return false;
        }
        self.held = held;
        self.tenants.insert(tenant.to_owned(), of_tenant);
        true
    }

    fn give_back(&mut self, tenant: &str, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
        let Some(of_tenant) = self.tenants.get_mut(tenant) else { return };
        *of_tenant = of_tenant.saturating_sub(bytes);
        if *of_tenant == 0 {
            self.tenants.remove(tenant);
        }
    }
}

/// A share of the budgets, given back when it is dropped: when the work with the body is done.
pub struct BodyPermit {
    bodies: Arc<Bodies>,
    tenant: String,
    /// Bytes of the reserve.
    reserved: usize,
    /// None: its bytes are of the reserve.
    common: Option<OwnedSemaphorePermit>,
    _of_tenant: Option<OwnedSemaphorePermit>,
}

impl BodyPermit {
    /// Takes `more` bytes, or refuses.
    fn grow(&mut self, more: usize) -> Result<()> {
        if self.common.is_some() || more == 0 {
            return Ok(());
        }
        let Ok(mut reserve) = self.bodies.reserve.lock() else { return Ok(()) };
        if !reserve.grow(&self.tenant, more) {
            return Err(overloaded_error(1));
        }
        self.reserved += more;
        Ok(())
    }

    /// Takes room for a body of `size` bytes, of which so many were read, in the place of the room for a smaller one. Only uploads wait.
    async fn enlarge(&mut self, size: usize, read: usize) -> Result<()> {
        if size <= MAX_BODY {
            // What counts in the reserve goes on doing so.
            if self.common.is_some() {
                let mut larger = self.bodies.take_now(&self.tenant, size);
                larger.grow(read)?;
                *self = larger;
            }
            return Ok(());
        }
        let bodies = self.bodies.clone();
        let mut larger = bodies.take_now(&self.tenant, size);
        if larger.common.is_none() {
            drop(larger);
            // Its place among those that wait stands for what was read: it keeps nothing that others need to be done with.
            self.common = None;
            let of_tenant = bodies.half_read_of_tenant.of(&self.tenant);
            let _of_tenant = of_tenant.try_acquire_owned().map_err(|_| too_many())?;
            let _place = bodies.half_read.try_acquire().map_err(|_| overloaded_error(5))?;
            larger = bodies.take(BodySender { tenant: &self.tenant, visitor: None }, size).await?;
        }
        *self = larger;
        Ok(())
    }
}

impl Drop for BodyPermit {
    fn drop(&mut self) {
        if self.reserved > 0
            && let Ok(mut reserve) = self.bodies.reserve.lock()
        {
            reserve.give_back(&self.tenant, self.reserved);
        }
    }
}

fn overloaded_error(retry_after_s: u64) -> Error {
    let message = "more request bodies are being read than there is memory for; try again shortly";
    Refusal::new(Code::Overloaded, message).retry_after_s(retry_after_s).into()
}

fn too_many() -> Error {
    let message = "this application sends more large bodies at once than are taken; send fewer at a time";
    Refusal::new(Code::RateLimited, message).retry_after_s(5).into()
}

/// A request whose body was read.
pub struct ReadBody {
    pub request: Request,
    /// Equal for bodies that mean the same: the order of names, their spelling and white space do not count. A large body is
    /// compared by its bytes.
    pub fingerprint: String,
    /// To be kept until the work with the body is done.
    pub held: BodyPermit,
}

/// Reads a body of at most `max` bytes, less for a visitor's. Nothing is parsed or kept before its size is known to be within that.
///
/// # Errors
/// `payload_too_large`; `request_timeout` where it comes too slowly; `rate_limited` where its tenant has too many large ones being
/// read, and `overloaded` where all together have. What is wrong with its JSON is for the handler to say, if it wants JSON at all.
pub async fn read(
    bodies: &Arc<Bodies>,
    compute: &Compute,
    sender: BodySender<'_>,
    max: usize,
    request: Request,
) -> Result<ReadBody> {
    let (parts, body) = request.into_parts();
    let (max, deadline) = match sender.visitor {
        Some(_) => (max.min(MAX_VISITOR_BODY), VISITOR_DEADLINE),
        None => (max, bodies.deadline + Duration::from_secs((max / SLOWEST) as u64)),
    };
    let declared = declared_length(&parts.headers, &body, max)?;
    let mut held = bodies.take(sender, declared.unwrap_or(max.min(SMALL))).await?;
    let Ok(bytes) = timeout(deadline, collect(body, declared, max, &mut held)).await else {
        return Err(too_slow(deadline));
    };
    let bytes = bytes?;
    let content_type = parts.headers.get(header::CONTENT_TYPE).cloned();
    if let Some(recorder) = parts.extensions.get::<BodyRecorder>() {
        recorder.record(content_type.as_ref(), &bytes);
    }
    let size = bytes.len();
    let work = move || digest(content_type.as_ref(), bytes);
    let (object, fingerprint, form) = compute.run(sender.tenant, size, work).await;
    let missing = "the body is missing: send a JSON object with the fields to change";
    let is_missing = size == 0 && parts.method == Method::PATCH;
    let object = if is_missing { Err(refuse(Code::InvalidJson, missing)) } else { object };
    let mut request = Request::from_parts(parts, Body::empty());
    request.extensions_mut().insert(ReceivedBody::new(object));
    if let Some(form) = form {
        request.extensions_mut().insert(Form(ReceivedBody::new(form)));
    }
    Ok(ReadBody { request, fingerprint, held })
}

fn too_slow(deadline: Duration) -> Error {
    refuse(Code::RequestTimeout, format!("the body did not arrive within {} s", deadline.as_secs()))
}

/// How many bytes the body says that it has.
fn declared_length(headers: &HeaderMap, body: &Body, max: usize) -> Result<Option<usize>> {
    let exact = body.size_hint().exact();
    let declared = exact.or_else(|| headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok());
    match declared {
        Some(bytes) if bytes > max as u64 => Err(too_large(max)),
        Some(bytes) => Ok(Some(usize::try_from(bytes).unwrap_or(max))),
        None => Ok(None),
    }
}

fn too_large(max: usize) -> Error {
    refuse(
        Code::PayloadTooLarge,
        format!("the body is larger than the {max} bytes that this operation takes"),
    )
}

async fn collect(
    mut body: Body,
    declared: Option<usize>,
    max: usize,
    held: &mut BodyPermit,
) -> Result<Bytes> {
    let pause = held.bodies.deadline;
    let mut size = declared.unwrap_or(max.min(SMALL));
    // What a client only claims to send costs no memory: pages are taken when they are written to.
    let mut bytes = BytesMut::with_capacity(size);
    let (mut stretch_end, mut due) = (STRETCH, Instant::now() + pause);
    loop {
        let Ok(frame) = timeout_at(due, body.frame()).await else {
            let message = format!("{STRETCH} bytes of the body did not arrive within {} s", pause.as_secs());
            return Err(refuse(Code::RequestTimeout, message));
        };
        let Some(frame) = frame else { return Ok(bytes.freeze()) };
        let Ok(frame) = frame else {
            return Err(refuse(Code::InvalidRequest, "the body broke off before its end"));
        };
        let Some(data) = frame.data_ref() else { continue };
        let length = bytes.len() + data.len();
        if length > max {
            return Err(too_large(max));
        }
        if length > size {
            if declared.is_some() {
                return Err(refuse(Code::InvalidRequest, "the body is longer than its Content-Length"));
            }
            size = if length > MAX_BODY { max } else { length.next_power_of_two().min(max) };
            // Boxed: few bodies wait, and every future that reads one would be as large.
            Box::pin(held.enlarge(size, bytes.len())).await?;
            bytes.reserve(size - bytes.len());
            due = Instant::now() + pause;
        }
        held.grow(data.len())?;
        bytes.extend_from_slice(data);
        if bytes.len() >= stretch_end {
            (stretch_end, due) = (bytes.len() + STRETCH, Instant::now() + pause);
        }
    }
}

/// The object in a body, its fingerprint, and the parameters of a small form. The bytes are gone afterwards.
fn digest(content_type: Option<&HeaderValue>, bytes: Bytes) -> (Object, String, Option<Object>) {
    let form = (bytes.len() <= SMALL && form::is_form(content_type)).then(|| form::object(&bytes));
    let object = json::object(content_type, &bytes);
    let fingerprint = match form.as_ref().unwrap_or(&object) {
        Ok(object) if bytes.len() <= SMALL => fingerprint::of_object(object),
        _ => fingerprint::of_bytes(&bytes),
    };
    (object, fingerprint, form)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::{FutureExt, StreamExt, stream};

    use super::*;

    fn server(tenant: &str) -> BodySender<'_> {
        BodySender { tenant, visitor: None }
    }

    async fn send_by(tenant: &str, bodies: &Arc<Bodies>, max: usize, body: Body) -> Result<ReadBody> {
        read(bodies, &Compute::default(), server(tenant), max, Request::new(body)).await
    }

    async fn send(bodies: &Arc<Bodies>, max: usize, body: Body) -> Result<ReadBody> {
        send_by("a", bodies, max, body).await
    }

    fn chunked(chunks: usize, bytes: usize) -> Body {
        let chunk = Bytes::from(vec![b' '; bytes]);
        Body::from_stream(stream::iter((0..chunks).map(move |_| Ok::<_, Infallible>(chunk.clone()))))
    }

    fn code<T>(outcome: Result<T>) -> Option<Code> {
        outcome.err().and_then(|e| e.code())
    }

    #[tokio::test]
    async fn a_body_is_refused_by_its_operations_limit_whether_it_tells_its_size_or_not() {
        let bodies = Arc::<Bodies>::default();
        assert_eq!(code(send(&bodies, 10, Body::from("[1,2,3,4,5,6]")).await), Some(Code::PayloadTooLarge));
        assert_eq!(code(send(&bodies, 10, chunked(3, 4)).await), Some(Code::PayloadTooLarge));
        assert!(send(&bodies, 10, Body::from("{}")).await.is_ok());
        let mut request = Request::new(chunked(3, 4));
        request.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("5"));
        let longer = read(&bodies, &Compute::default(), server("a"), 20, request).await;
        assert_eq!(code(longer), Some(Code::InvalidRequest), "it said five bytes");
        assert_eq!(bodies.common.available_permits(), COMMON >> 10, "everything was given back");
    }

    #[tokio::test]
    async fn a_body_has_a_deadline_for_all_of_it() {
        let bodies = Arc::new(Bodies::with(Duration::from_millis(20), QUEUE));
        // One byte after another, so that no single one is long in coming.
        let trickle = stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Some((Ok::<_, Infallible>(Bytes::from_static(b" ")), ()))
        });
        let outcome = send(&bodies, 100_000, Body::from_stream(trickle)).await;
        assert_eq!(code(outcome), Some(Code::RequestTimeout));
    }

    #[tokio::test]
    async fn a_body_that_stalls_gives_its_room_back() {
        let bodies = Arc::new(Bodies::with(Duration::from_millis(20), QUEUE));
        let begun = Ok::<_, Infallible>(Bytes::from_static(b"{"));
        let stalled = Body::from_stream(stream::once(async move { begun }).chain(stream::pending()));
        // The whole body would have 20 ms and 320 s.
        let outcome = send(&bodies, MAX_BODY_WITH_FILES, stalled).await;
        assert_eq!(code(outcome), Some(Code::RequestTimeout));
        assert_eq!(bodies.common.available_permits(), COMMON >> 10);
    }

    #[tokio::test]
    async fn one_tenant_does_not_take_all_memory_and_all_of_them_leave_room_for_ordinary_bodies() {
        let bodies = Arc::new(Bodies::with(DEADLINE, Duration::from_millis(10)));
        let large = || chunked(40, 1 << 20);
        let ordinary = || Body::from(" ".repeat(MAX_BODY));
        let mut held = vec![send(&bodies, MAX_BODY_WITH_FILES, large()).await.unwrap()];
        let second = send(&bodies, MAX_BODY_WITH_FILES, large()).await;
        assert_eq!(code(second), Some(Code::RateLimited), "its other body is still held");
        for _ in 0..ORDINARY_OF_TENANT / MAX_BODY {
            held.push(send(&bodies, MAX_BODY, ordinary()).await.unwrap());
        }
        assert_eq!(code(send(&bodies, MAX_BODY, ordinary()).await), Some(Code::RateLimited));
        // With all that one tenant may have, another one's largest is taken at once.
        held.push(send_by("b", &bodies, MAX_BODY_WITH_FILES, large()).await.unwrap());
        assert_eq!(bodies.common.available_permits(), 0);
        let third = send_by("c", &bodies, MAX_BODY_WITH_FILES, large()).await;
        assert_eq!(code(third), Some(Code::Overloaded));
        // Ordinary bodies of those that hold none are read all the same; a second one of the largest is too much.
        for tenant in ["b", "c", "d"] {
            held.push(send_by(tenant, &bodies, MAX_BODY_WITH_FILES, ordinary()).await.unwrap());
            let more = send_by(tenant, &bodies, MAX_BODY, Body::from("{}")).await;
            assert_eq!(code(more), Some(Code::Overloaded), "{tenant} has its part of the reserve");
        }
        // Each that comes leaves as much as it has: the room never ends for those that want little.
        for number in 0..20 {
            let most = RESERVE - bodies.reserve.lock().unwrap().held;
            let body = Body::from(" ".repeat((most / 2).min(MAX_BODY)));
            held.push(send_by(&number.to_string(), &bodies, MAX_BODY, body).await.unwrap());
        }
        drop(held);
        assert!(bodies.reserve.lock().unwrap().tenants.is_empty(), "everything was given back");
        assert!(send(&bodies, MAX_BODY_WITH_FILES, large()).await.is_ok());
    }

    /// Visitors hold what has arrived of theirs, each address its share of it, and nothing of what their tenant's servers have.
    #[tokio::test]
    async fn visitors_take_no_room_from_their_tenants_servers() {
        let bodies = Arc::new(Bodies::with(DEADLINE, Duration::from_millis(10)));
        let compute = Compute::default();
        let visitor = |n: u8| BodySender { tenant: "a", visitor: Some(IpAddr::from([192, 0, 2, n])) };
        let silent = || {
            let mut request = Request::new(Body::from_stream(stream::pending::<Result<Bytes, Infallible>>()));
            request.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(MAX_VISITOR_BODY));
            request
        };
        let silent = (0..100).map(|_| read(&bodies, &compute, visitor(1), MAX_BODY, silent()));
        let mut silent: Vec<_> = silent.map(Box::pin).collect();
        assert!(silent.iter_mut().all(|one| one.as_mut().now_or_never().is_none()), "they are waited for");
        let mut held = Vec::new();
        for _ in 0..ORDINARY_OF_TENANT / MAX_BODY {
            held.push(send(&bodies, MAX_BODY, Body::from(" ".repeat(MAX_BODY))).await.unwrap());
        }
        let booking = || Request::new(Body::from(" ".repeat(MAX_VISITOR_BODY)));
        for _ in 0..MAX_RESERVE_OF_TENANT / MAX_VISITOR_BODY {
            held.push(read(&bodies, &compute, visitor(1), MAX_BODY, booking()).await.unwrap());
        }
        let more = read(&bodies, &compute, visitor(1), MAX_BODY, booking()).await;
        assert_eq!(code(more), Some(Code::Overloaded), "the address has its share");
        assert!(read(&bodies, &compute, visitor(2), MAX_BODY, booking()).await.is_ok());
        let large = Request::new(Body::from(" ".repeat(MAX_VISITOR_BODY + 1)));
        let large = read(&bodies, &compute, visitor(2), MAX_BODY, large).await;
        assert_eq!(code(large), Some(Code::PayloadTooLarge));
        drop((silent, held));
        assert_eq!(bodies.common.available_permits(), COMMON >> 10, "everything was given back");
        assert!(bodies.reserve.lock().unwrap().tenants.is_empty());
    }

    #[tokio::test]
    async fn a_body_that_does_not_declare_its_size_takes_room_as_it_comes() {
        let bodies = Arc::new(Bodies::with(DEADLINE, Duration::from_millis(10)));
        let mut held = vec![send(&bodies, MAX_BODY_WITH_FILES, chunked(40, 1 << 20)).await.unwrap()];
        // Messages without files, of a tenant whose room for uploads is taken, and one that is longer.
        for _ in 0..60 {
            held.push(send(&bodies, MAX_BODY_WITH_FILES, chunked(2, 1_000)).await.unwrap());
        }
        held.push(send(&bodies, MAX_BODY_WITH_FILES, chunked(30, 60_000)).await.unwrap());
        let used = UPLOADS_OF_TENANT + 60 * SMALL + MAX_BODY;
        assert_eq!(bodies.common.available_permits(), (COMMON - used) >> 10);
        held.truncate(1);
        // More than an ordinary body, while the tenant's room for uploads is taken: it waits, and gives its place back.
        let upload = || send(&bodies, MAX_BODY_WITH_FILES, chunked(3, 1 << 20));
        assert_eq!(code(upload().await), Some(Code::RateLimited));
        assert_eq!(bodies.half_read.available_permits(), MAX_HALF_READ);
        let mut uploads: Vec<_> = (0..=MAX_HALF_READ_OF_TENANT).map(|_| Box::pin(upload())).collect();
        let waits = uploads.iter_mut().map(|one| one.as_mut().now_or_never().is_none());
        assert_eq!(waits.collect::<Vec<_>>(), [true, true, false], "the last is refused at once");
        drop(uploads);
        drop(held);
        assert_eq!(bodies.common.available_permits(), COMMON >> 10, "everything was given back");
    }

    #[tokio::test]
    async fn uploads_wait_for_their_turn_without_holding_anything() {
        let bodies = Arc::<Bodies>::default();
        let large = || chunked(40, 1 << 20);
        let first = send_by("a", &bodies, MAX_BODY_WITH_FILES, large()).await.unwrap();
        let second = send_by("b", &bodies, MAX_BODY_WITH_FILES, large()).await.unwrap();
        let mut third = Box::pin(send_by("c", &bodies, MAX_BODY_WITH_FILES, large()));
        assert!(futures::poll!(third.as_mut()).is_pending());
        drop(first);
        assert!(third.await.is_ok());
        drop(second);
        assert_eq!(bodies.common.available_permits(), COMMON >> 10);
    }
}
