# of clients.json sha256:e8d8ad44471c4383f46116cbf09a95335af565ea52f3c3453d7c3d234a00cc3a
"""The operations of the API as methods: one class for each part of the paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from switchboard._core import segment
from switchboard._async import AsyncEventFeed, AsyncResource

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from typing import Literal, Unpack

    import httpx

    from switchboard._async import AsyncPages, AsyncTransport
    from switchboard._options import AsyncFollowOptions, ChangeOptions, ReadOptions, WriteOptions
    from switchboard.generated import types

API_VERSION = "1.0.0"


class AsyncResources:
    """The operations of the API."""

    def __init__(self, transport: AsyncTransport) -> None:
        self.admin = AsyncAdmin(transport)
        self.api_keys = AsyncApiKeys(transport)
        self.auth = AsyncAuth(transport)
        self.calendars = AsyncCalendars(transport)
        self.connections = AsyncConnections(transport)
        self.contact_books = AsyncContactBooks(transport)
        self.contact_groups = AsyncContactGroups(transport)
        self.contacts = AsyncContacts(transport)
        self.email = AsyncEmail(transport)
        self.events = AsyncEvents(transport)
        self.oauth = AsyncOauth(transport)
        self.providers = AsyncProviders(transport)
        self.scheduling = AsyncScheduling(transport)
        self.task_lists = AsyncTaskLists(transport)
        self.test = AsyncTest(transport)
        self.usage = AsyncUsage(transport)
        self.webhooks = AsyncWebhooks(transport)


class AsyncAdmin(AsyncResource):
    """Operations `admin`."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.applications = AsyncAdminApplications(transport)
        self.audit_log = AsyncAdminAuditLog(transport)
        self.health = AsyncAdminHealth(transport)
        self.hosts = AsyncAdminHosts(transport)
        self.invitations = AsyncAdminInvitations(transport)
        self.jobs = AsyncAdminJobs(transport)
        self.operators = AsyncAdminOperators(transport)
        self.organizations = AsyncAdminOrganizations(transport)


class AsyncAdminApplications(AsyncResource):
    """Operations `admin.applications`."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.api_keys = AsyncAdminApplicationsApiKeys(transport)
        self.providers = AsyncAdminApplicationsProviders(transport)
        self.requests = AsyncAdminApplicationsRequests(transport)

    def list(
        self,
        *,
        organization_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.AdminApplicationPage, types.AdminApplication]:
        """List applications.

        In the order of their creation; those of one organization are sorted by name.

        Needs the scope `admin.read`.

        Args:
            organization_id: Returns only applications of this organization.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/admin/applications"
        query = {"organization_id": organization_id, "limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewAdminApplication,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenAdminApplication:
        """Create an application.

        409 `already_exists`: `error.param` says whether the name or the handle is taken. 400
        `invalid_url`: `error.param` names the address.

        Needs the scope `admin.write`.
        """
        path = "/v1/admin/applications"
        answer: types.WrittenAdminApplication = await self._json("POST", path, None, body, options)
        return answer

    async def get(
        self,
        application_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.AdminApplication:
        """Read an application.

        Needs the scope `admin.read`.
        """
        path = f"/v1/admin/applications/{segment(application_id)}"
        answer: types.AdminApplication = await self._json("GET", path, None, None, options)
        return answer

    async def update(
        self,
        application_id: str,
        body: types.AdminApplicationPatch,
        **options: Unpack[ChangeOptions],
    ) -> types.WrittenAdminApplication:
        """Change an application.

        `redirectUris` replaces all addresses. Errors are those of `POST /v1/admin/applications`,
        and then nothing is changed. With `requestLog` `off`, full bodies that an operator had
        turned on for a time are no longer recorded either.

        Needs the scope `admin.write`.
        """
        path = f"/v1/admin/applications/{segment(application_id)}"
        answer: types.WrittenAdminApplication = await self._json("PATCH", path, None, body, options)
        return answer

    async def modify(
        self,
        application_id: str,
        change: Callable[[types.AdminApplication], types.AdminApplicationPatch | None | Awaitable[types.AdminApplicationPatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.WrittenAdminApplication | types.AdminApplication:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/admin/applications/{segment(application_id)}"
        answer: types.WrittenAdminApplication | types.AdminApplication = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncAdminApplicationsApiKeys(AsyncResource):
    """Operations `admin.applications.api_keys`."""

    def list(
        self,
        application_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.ApiKeyPage, types.ApiKey]:
        """List an application's API keys.

        The oldest key first, including revoked keys and without access tokens.

        Needs the scope `admin.read`.

        Args:
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/api-keys"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        application_id: str,
        body: types.NewApiKey,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenCreatedApiKey:
        """Create an API key of an application.

        The answer holds the secret in `key`. It is shown only once; an idempotent replay shows it
        again. The key can have every scope except those of administration (400
        `invalid_parameter`).

        Needs the scope `admin.write`.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/api-keys"
        answer: types.WrittenCreatedApiKey = await self._json("POST", path, None, body, options)
        return answer

    async def rotate(
        self,
        application_id: str,
        key_id: str,
        body: types.KeyRotation | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenRotatedApiKey:
        """Give an API key of an application a new secret.

        The same as `POST /v1/api-keys/{keyId}/rotate`, for every key of the application. 409
        `invalid_state`: the key is revoked or expired, it is an access token, or the overlap of an
        earlier rotation is not over and another overlap is requested.

        Needs the scope `admin.write`.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/api-keys/{segment(key_id)}/rotate"
        answer: types.WrittenRotatedApiKey = await self._json("POST", path, None, body, options)
        return answer

    async def delete(
        self,
        application_id: str,
        key_id: str,
        *,
        webhooks: Literal["disable"] | None = None,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Revoke an API key of an application.

        The same as `DELETE /v1/api-keys/{keyId}`, for every key of the application.

        Needs the scope `admin.write`.

        Args:
            webhooks: The treatment of the key's webhooks: `disable` disables them instead of
                passing them to another key. Use it for a stolen key: webhooks that the thief
                created end with it.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/api-keys/{segment(key_id)}"
        query = {"webhooks": webhooks}
        await self._nothing("DELETE", path, query, None, options)


class AsyncAdminApplicationsProviders(AsyncResource):
    """Operations `admin.applications.providers`."""

    def list(
        self,
        application_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.AdminProviderPage, types.AdminProvider]:
        """List providers with OAuth, and the application's registrations.

        Sorted by name. If the application has no registration at a provider, its `clientId` is
        null; enter its `callbackUrl` when you register there.

        Needs the scope `admin.read`.

        Args:
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/providers"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def replace(
        self,
        application_id: str,
        provider: str,
        body: types.NewAdminProvider,
        **options: Unpack[ChangeOptions],
    ) -> types.WrittenAdminProvider:
        """Register the application's OAuth client at a provider.

        Replaces the registration as a whole, except for the secret: without `clientSecret` the
        stored one stays. With `If-Match` it is only replaced if it still has that version.
        Addresses in `endpoints` are called under the same rules as all others: unless the host's
        settings allow it, none may lead into a private network. Connections stay, and use the new
        registration.

        Needs the scope `admin.write`.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/providers/{segment(provider)}"
        answer: types.WrittenAdminProvider = await self._json("PUT", path, None, body, options)
        return answer

    async def delete(
        self,
        application_id: str,
        provider: str,
        *,
        force: bool | None = None,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Remove a registration.

        409 `not_empty` while accounts of the provider are connected, because their tokens could no
        longer be renewed. `force=true` removes it all the same.

        Needs the scope `admin.write`.

        Args:
            force: Whether the registration is removed even while accounts of the provider are
                connected.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/providers/{segment(provider)}"
        query = {"force": force}
        await self._nothing("DELETE", path, query, None, options)


class AsyncAdminApplicationsRequests(AsyncResource):
    """Operations `admin.applications.requests`."""

    def list(
        self,
        application_id: str,
        *,
        status: Literal["2xx", "4xx", "5xx", "error"] | None = None,
        key_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.AdminLoggedRequestPage, types.AdminLoggedRequest]:
        """List the logged requests of an application.

        The newest request first. Every write and every error is logged, and a sample of the other
        requests; each appears about a second after it was answered.

        Needs the scope `admin.read`.

        Args:
            status: Returns only requests with an answer of this class; `error` stands for `4xx` and
                `5xx`.
            key_id: Returns only requests of this API key and its access tokens.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/requests"
        query = {"status": status, "key_id": key_id, "limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def get(
        self,
        application_id: str,
        request_id: str,
        *,
        include: Literal["bodies"] | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.AdminRequestDetail:
        """Read a logged request.

        Bodies also need the scope `admin.write`, and reading them adds an entry to the audit log
        (`request_bodies_seen`). Parts that the application's settings do not allow to be logged are
        missing.

        Needs the scope `admin.read`.

        Args:
            include: The part that the answer has in addition: `bodies`, the bodies of request and
                answer, if they were logged.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/requests/{segment(request_id)}"
        query = {"include": include}
        answer: types.AdminRequestDetail = await self._json("GET", path, query, None, options)
        return answer


class AsyncAdminAuditLog(AsyncResource):
    """Operations `admin.audit_log`."""

    def list(
        self,
        *,
        actor_id: str | None = None,
        organization_id: str | None = None,
        start: str | None = None,
        end: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.AdminAuditEntryPage, types.AdminAuditEntry]:
        """List entries of the audit log.

        The acts of operators, keys of the administration and commands, the newest first. Entries
        are kept for 400 days. `actor_id` and `organization_id` exclude each other (400
        `conflicting_fields`).

        Needs the scope `admin.read`.

        Args:
            actor_id: Returns only acts of the operator or key with this id; `command` stands for
                the command line. It cannot be combined with `organization_id`.
            organization_id: Returns only acts in this organization. It cannot be combined with
                `actor_id`.
            start: Returns only acts at this time or later: an RFC 3339 instant, or a date, which
                stands for its midnight in UTC.
            end: Returns only acts before this time: an RFC 3339 instant, or a date, which stands
                for its midnight in UTC.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/admin/audit-log"
        query = {
            "actor_id": actor_id,
            "organization_id": organization_id,
            "start": start,
            "end": end,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)


class AsyncAdminHealth(AsyncResource):
    """Operations `admin.health`."""

    async def get(
        self,
        **options: Unpack[ReadOptions],
    ) -> types.AdminHealth:
        """Read the state of the installation.

        The state as seen by the host that answers: its checks, its connections to the database, and
        the jobs and hosts of the whole installation. For probes of load balancers use `GET
        /readyz`, which needs no key.

        Needs the scope `admin.read`.
        """
        path = "/v1/admin/health"
        answer: types.AdminHealth = await self._json("GET", path, None, None, options)
        return answer


class AsyncAdminHosts(AsyncResource):
    """Operations `admin.hosts`."""

    async def get(
        self,
        **options: Unpack[ReadOptions],
    ) -> types.AdminHosts:
        """Read the hosts of the installation.

        A host is a process that works on the database. A host that stopped without notice is shown
        until another one has taken over its jobs.

        Needs the scope `admin.read`.
        """
        path = "/v1/admin/hosts"
        answer: types.AdminHosts = await self._json("GET", path, None, None, options)
        return answer


class AsyncAdminInvitations(AsyncResource):
    """Operations `admin.invitations`."""

    async def create(
        self,
        body: types.NewAdminInvitation,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenAdminInvitationLink:
        """Invite someone to the panel.

        The answer holds `url`, a link that works for 7 days, by which the invited person chooses a
        name and a password, or joins with the account that they have. It is shown only once; an
        idempotent replay shows it again. No email is sent. Open invitations can be withdrawn in the
        panel. 409 `invalid_state` if an organization has 100 open ones.

        Needs the scope `admin.operators`.
        """
        path = "/v1/admin/invitations"
        answer: types.WrittenAdminInvitationLink = await self._json("POST", path, None, body, options)
        return answer


class AsyncAdminJobs(AsyncResource):
    """Operations `admin.jobs`."""

    def list(
        self,
        *,
        state: Literal["queued", "running", "failed", "cancelled"],
        kind: str | None = None,
        application_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.AdminJobPage, types.AdminJob]:
        """List background jobs.

        Jobs that wait for a time are sorted by that time; jobs that ended are listed with the last
        one first. Jobs that succeeded are removed, and jobs that wait to be woken are in no list.
        With `kind` or `application_id` a page can have fewer jobs than `limit`, or none, while
        `next_cursor` is set.

        Needs the scope `admin.read`.

        Args:
            state: The state of the jobs that the list has.
            kind: Returns only jobs of this kind, such as `deliver`.
            application_id: Returns only jobs of this application.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/admin/jobs"
        query = {
            "state": state,
            "kind": kind,
            "application_id": application_id,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)

    async def get(
        self,
        job_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.AdminJob:
        """Read a job.

        Needs the scope `admin.read`.
        """
        path = f"/v1/admin/jobs/{segment(job_id)}"
        answer: types.AdminJob = await self._json("GET", path, None, None, options)
        return answer

    async def retry(
        self,
        job_id: str,
        **options: Unpack[WriteOptions],
    ) -> None:
        """Run a job now.

        The job is due at once, whether it waits, failed or was cancelled, and its earlier attempts
        no longer count. 409 `invalid_state` while it runs.

        Needs the scope `admin.write`.
        """
        path = f"/v1/admin/jobs/{segment(job_id)}/retry"
        await self._nothing("POST", path, None, None, options)

    async def cancel(
        self,
        job_id: str,
        **options: Unpack[WriteOptions],
    ) -> None:
        """Cancel a job.

        For a job that waits or has failed. 409 `invalid_state` while it runs, if it is already
        cancelled, and for kinds that cannot be cancelled by themselves: the message says what to do
        instead.

        Needs the scope `admin.write`.
        """
        path = f"/v1/admin/jobs/{segment(job_id)}/cancel"
        await self._nothing("POST", path, None, None, options)


class AsyncAdminOperators(AsyncResource):
    """Operations `admin.operators`."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.AdminOperatorPage, types.AdminOperator]:
        """List operators.

        The people who may sign in to the panel, in the order of their creation. Disabled operators
        are listed too: operators are never deleted, because the audit log names them.

        Needs the scope `admin.read`.

        Args:
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/admin/operators"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewAdminOperator,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenAdminCreatedOperator:
        """Create an operator.

        The answer holds `url`, a link by which the operator sets a password within an hour. It is
        shown only once; an idempotent replay shows it again. No email is sent. 409 `already_exists`
        if an operator has the address. To let people choose their own name, and to give rights to
        someone who already has an account, create an invitation (`POST /v1/admin/invitations`).

        Needs the scope `admin.operators`.
        """
        path = "/v1/admin/operators"
        answer: types.WrittenAdminCreatedOperator = await self._json("POST", path, None, body, options)
        return answer

    async def get(
        self,
        operator_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.AdminOperator:
        """Read an operator.

        Needs the scope `admin.read`.
        """
        path = f"/v1/admin/operators/{segment(operator_id)}"
        answer: types.AdminOperator = await self._json("GET", path, None, None, options)
        return answer

    async def update(
        self,
        operator_id: str,
        body: types.AdminOperatorPatch,
        **options: Unpack[ChangeOptions],
    ) -> types.WrittenAdminOperator:
        """Change an operator's name or rights, disable or enable them.

        All changes of a request are made together or not at all, and apply to the operator's next
        request. 409 `invalid_state` for a change that leaves the installation without an
        administrator who is not disabled (`last_admin`) or an organization without an owner
        (`last_owner`).

        Needs the scope `admin.operators`.
        """
        path = f"/v1/admin/operators/{segment(operator_id)}"
        answer: types.WrittenAdminOperator = await self._json("PATCH", path, None, body, options)
        return answer

    async def delete(
        self,
        operator_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Disable an operator.

        The operator's sessions end, and they can no longer sign in. The operator stays in lists,
        with `disabledAt`; `PATCH` with `disabled: false` lets them sign in again. 409
        `invalid_state` for the last administrator and the last owner of an organization.

        Needs the scope `admin.operators`.
        """
        path = f"/v1/admin/operators/{segment(operator_id)}"
        await self._nothing("DELETE", path, None, None, options)

    async def modify(
        self,
        operator_id: str,
        change: Callable[[types.AdminOperator], types.AdminOperatorPatch | None | Awaitable[types.AdminOperatorPatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.WrittenAdminOperator | types.AdminOperator:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/admin/operators/{segment(operator_id)}"
        answer: types.WrittenAdminOperator | types.AdminOperator = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncAdminOrganizations(AsyncResource):
    """Operations `admin.organizations`."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.AdminOrganizationPage, types.AdminOrganization]:
        """List organizations.

        Sorted by name. The organization of the administration's own keys is not listed.

        Needs the scope `admin.read`.

        Args:
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/admin/organizations"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewAdminOrganization,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenAdminOrganization:
        """Create an organization.

        Needs the scope `admin.write`.
        """
        path = "/v1/admin/organizations"
        answer: types.WrittenAdminOrganization = await self._json("POST", path, None, body, options)
        return answer

    async def get(
        self,
        organization_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.AdminOrganization:
        """Read an organization.

        Needs the scope `admin.read`.
        """
        path = f"/v1/admin/organizations/{segment(organization_id)}"
        answer: types.AdminOrganization = await self._json("GET", path, None, None, options)
        return answer

    async def update(
        self,
        organization_id: str,
        body: types.AdminOrganizationPatch,
        **options: Unpack[ChangeOptions],
    ) -> types.WrittenAdminOrganization:
        """Rename an organization.

        Needs the scope `admin.write`.
        """
        path = f"/v1/admin/organizations/{segment(organization_id)}"
        answer: types.WrittenAdminOrganization = await self._json("PATCH", path, None, body, options)
        return answer

    async def modify(
        self,
        organization_id: str,
        change: Callable[[types.AdminOrganization], types.AdminOrganizationPatch | None | Awaitable[types.AdminOrganizationPatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.WrittenAdminOrganization | types.AdminOrganization:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/admin/organizations/{segment(organization_id)}"
        answer: types.WrittenAdminOrganization | types.AdminOrganization = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncApiKeys(AsyncResource):
    """Operations `api_keys`."""

    async def create(
        self,
        body: types.NewApiKey,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenCreatedApiKey:
        """Create an API key.

        The answer holds the secret in `key`. It is shown only once; an idempotent replay shows it
        again. The new key can do no more than the key that creates it: its scopes are among those
        of that key, and every restriction of that key (domains, addresses, connections, rate,
        expiry, policy for assistants) applies to it too, or is narrower. To replace a key's secret,
        rotate it (`POST /v1/api-keys/{keyId}/rotate`).

        Needs the scope `api_keys.write`.
        """
        path = "/v1/api-keys"
        answer: types.WrittenCreatedApiKey = await self._json("POST", path, None, body, options)
        return answer

    def list(
        self,
        *,
        kind: Literal["key", "access_token"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.ApiKeyPage, types.ApiKey]:
        """List the application's API keys.

        A key that is bound to connections sees itself and the keys that descend from it. Access
        tokens are listed with `kind=access_token`, until an hour after they expire.

        Needs the scope `api_keys.write`.

        Args:
            kind: The kind of keys that the list has.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/api-keys"
        query = {"kind": kind, "limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def get(
        self,
        key_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.ApiKey:
        """Read an API key.

        Needs the scope `api_keys.write`.
        """
        path = f"/v1/api-keys/{segment(key_id)}"
        answer: types.ApiKey = await self._json("GET", path, None, None, options)
        return answer

    async def delete(
        self,
        key_id: str,
        *,
        webhooks: Literal["disable"] | None = None,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Revoke an API key.

        The key and its access tokens are refused everywhere within a second, and event streams that
        they opened end. Its webhooks pass to the newest valid key that was created later and has
        exactly its scopes and connections, so that a newer key can replace this one. If there is
        none, they are disabled (`key_ended`); webhooks of its access tokens are always disabled.
        The key stays in lists, with `revokedAt`.

        Needs the scope `api_keys.write`.

        Args:
            webhooks: The treatment of the key's webhooks: `disable` disables them instead of
                passing them to another key. Use it for a stolen key: webhooks that the thief
                created end with it.
        """
        path = f"/v1/api-keys/{segment(key_id)}"
        query = {"webhooks": webhooks}
        await self._nothing("DELETE", path, query, None, options)

    async def rotate(
        self,
        key_id: str,
        body: types.KeyRotation | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenRotatedApiKey:
        """Give an API key a new secret.

        The answer holds the new secret in `key`. It is shown only once; an idempotent replay shows
        it again. The key keeps its id, and with it its scopes, restrictions, usage, webhooks,
        access tokens and the keys that it created. The old secret works until `previousExpiresAt`,
        `overlapSeconds` from now, so that clients can switch one after the other. Then it is
        refused everywhere within a second (401 `expired_api_key`), and event streams that it opened
        end. With `0` it ends at once, and so does one that an earlier rotation left. 409
        `invalid_state`: the key is revoked or expired, it is an access token, or the overlap of an
        earlier rotation is not over and another overlap is requested. A key can rotate itself and
        keys that may do no more than it: for a key with a scope that it lacks the answer is 403
        `insufficient_scope`, for a less restricted one 403 `forbidden`.

        Needs the scope `api_keys.write`.
        """
        path = f"/v1/api-keys/{segment(key_id)}/rotate"
        answer: types.WrittenRotatedApiKey = await self._json("POST", path, None, body, options)
        return answer


class AsyncAuth(AsyncResource):
    """Operations `auth`."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.connectors = AsyncAuthConnectors(transport)


class AsyncAuthConnectors(AsyncResource):
    """Operations `auth.connectors`."""

    async def authorize(
        self,
        provider: str,
        body: types.NewAuthorization,
        *,
        allow_duplicate: bool | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.Authorization:
        """Start connecting an account.

        Send the user to `authorizationUrl`, which works once and for ten minutes. With
        `codeChallenge`, the account is connected when you exchange its code. If the application
        already has a connection by OAuth of the same account at the same server, that connection
        gets the new credentials and the scopes of this authorization, and keeps its id and its
        tags, unless it works and would lose scopes; `allow_duplicate=true` makes another connection
        instead. "Connecting by OAuth" above describes every step.

        Needs the scope `connections.write`.

        Args:
            allow_duplicate: Whether the application may have another connection of the same
                account.
        """
        path = f"/v1/auth/connectors/{segment(provider)}/authorize"
        query = {"allow_duplicate": allow_duplicate}
        answer: types.Authorization = await self._json("POST", path, query, body, options)
        return answer

    async def callback(
        self,
        provider: str,
        *,
        state: str,
        code: str | None = None,
        iss: str | None = None,
        error: str | None = None,
        admin_consent: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.AuthorizationResult:
        """Return from the provider.

        For browsers: the provider redirects the user here, and the answer redirects them to the
        application's `redirectUri` with `connection_id`, `status` and `state`, or with `error`.
        `status` is `active`. After an authorization with `codeChallenge` it is `pending` and comes
        with a `code`: exchange it at `POST /v1/oauth/token` within 60 seconds to connect the
        account. `state` authenticates the request and works once. With an API key (scope
        `connections.write`), or with `Accept: application/json`, the answer is JSON. If the request
        cannot be redirected, the user sees a page.

        Args:
            state: The `state` of the authorization.
            code: The provider's code, unless the provider refused.
            iss: The provider's issuer (RFC 9207).
            error: The provider's error code, if the provider refused.
            admin_consent: The provider's answer to an administrator who approved the application.
        """
        path = f"/v1/auth/connectors/{segment(provider)}/callback"
        query = {
            "code": code,
            "state": state,
            "iss": iss,
            "error": error,
            "admin_consent": admin_consent,
        }
        answer: types.AuthorizationResult = await self._json("GET", path, query, None, options)
        return answer


class AsyncCalendars(AsyncResource):
    """Operations `calendars`."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.availability = AsyncCalendarsAvailability(transport)
        self.events = AsyncCalendarsEvents(transport)
        self.freebusy = AsyncCalendarsFreebusy(transport)
        self.sync = AsyncCalendarsSync(transport)

    def list(
        self,
        *,
        connection_id: str | None = None,
        include: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.CalendarPage, types.Calendar]:
        """List calendars.

        Needs the scope `calendar.read`.

        Args:
            connection_id: Returns only items of this connection; without it, items of all
                connections that the key may use.
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/calendars"
        query = {
            "connection_id": connection_id,
            "include": include,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewCalendar,
        **options: Unpack[WriteOptions],
    ) -> types.Calendar:
        """Create a calendar.

        Needs the scope `calendar.write`.
        """
        path = "/v1/calendars"
        answer: types.Calendar = await self._json("POST", path, None, body, options)
        return answer

    async def get(
        self,
        calendar_id: str,
        *,
        include: Sequence[str] | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.Calendar:
        """Read a calendar.

        Needs the scope `calendar.read`.

        Args:
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
        """
        path = f"/v1/calendars/{segment(calendar_id)}"
        query = {"include": include}
        answer: types.Calendar = await self._json("GET", path, query, None, options)
        return answer

    async def update(
        self,
        calendar_id: str,
        body: types.CalendarPatch,
        **options: Unpack[ChangeOptions],
    ) -> types.Calendar:
        """Change a calendar.

        Needs the scope `calendar.write`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}"
        answer: types.Calendar = await self._json("PATCH", path, None, body, options)
        return answer

    async def delete(
        self,
        calendar_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a calendar and everything in it.

        Needs the scope `calendar.write`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}"
        await self._nothing("DELETE", path, None, None, options)

    async def modify(
        self,
        calendar_id: str,
        change: Callable[[types.Calendar], types.CalendarPatch | None | Awaitable[types.CalendarPatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.Calendar:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/calendars/{segment(calendar_id)}"
        answer: types.Calendar = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncCalendarsAvailability(AsyncResource):
    """Operations `calendars.availability`."""

    async def query(
        self,
        body: types.AvailabilityQuery,
        **options: Unpack[ReadOptions],
    ) -> types.AvailabilityAnswer:
        """Ask when people can meet.

        Every group of `participants` must be satisfied. Slots begin on a grid that starts with each
        window of open hours, or at midnight in `timeZone`; a busy time does not move it. Buffers
        are kept free of busy times and need not be open. A member that could not be asked counts as
        busy, is named in `unavailable`, and makes `complete` false.

        Needs the scope `calendar.freebusy`.
        """
        path = "/v1/calendars/availability/query"
        answer: types.AvailabilityAnswer = await self._json("POST", path, None, body, options)
        return answer


class AsyncCalendarsEvents(AsyncResource):
    """Operations `calendars.events`."""

    def list(
        self,
        calendar_id: str,
        *,
        start: str | None = None,
        end: str | None = None,
        expand: bool | None = None,
        updated_after: str | None = None,
        q: str | None = None,
        i_cal_uid: str | None = None,
        attendee: str | None = None,
        status: types.EventStatus | None = None,
        show_cancelled: bool | None = None,
        include: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.CalendarEventPage, types.CalendarEvent]:
        """List events.

        Stored events (single ones, series, exceptions) by start; with `expand=true` the instances
        of series take their place. A series that cannot be expanded stays, with the warning
        `recurrence_not_expanded`.

        Needs the scope `calendar.read`.

        Args:
            start: Returns only events that end after this time.
            end: Returns only events that begin before this time, which must be after `start`.
            expand: Whether the instances of series take the place of the series. It needs `start`
                and `end`, at most 400 days apart.
            updated_after: Returns only events that changed at or after this time.
            q: Words, separated by spaces, that all occur in the title, the description, the
                location or the attendees.
            i_cal_uid: Returns only the events with this iCalendar UID.
            attendee: Returns only events with this email address among their attendees.
            status: Returns only events with this status. Without it, all events except cancelled
                ones are returned.
            show_cancelled: Whether cancelled events are listed too.
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/events"
        query = {
            "start": start,
            "end": end,
            "expand": expand,
            "updated_after": updated_after,
            "q": q,
            "i_cal_uid": i_cal_uid,
            "attendee": attendee,
            "status": status,
            "show_cancelled": show_cancelled,
            "include": include,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)

    async def create(
        self,
        calendar_id: str,
        body: types.NewCalendarEvent,
        **options: Unpack[WriteOptions],
    ) -> types.CalendarEvent:
        """Create an event.

        `notify` says which attendees the provider notifies. If it cannot notify exactly these, the
        event is written all the same, with the warning `notify_not_supported`; with `strict=true`
        the write is refused.

        Needs the scope `calendar.write`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/events"
        answer: types.CalendarEvent = await self._json("POST", path, None, body, options)
        return answer

    async def get(
        self,
        calendar_id: str,
        event_id: str,
        *,
        include: Sequence[str] | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.CalendarEvent:
        """Read an event.

        Also reads one instance of a series: its id is the id of the series, `_`, and the original
        start.

        Needs the scope `calendar.read`.

        Args:
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/events/{segment(event_id)}"
        query = {"include": include}
        answer: types.CalendarEvent = await self._json("GET", path, query, None, options)
        return answer

    async def update(
        self,
        calendar_id: str,
        event_id: str,
        body: types.CalendarEventPatch,
        **options: Unpack[ChangeOptions],
    ) -> types.CalendarEvent:
        """Change an event.

        A JSON merge patch. `recurrenceScope` says which instances change: `this` (default with the
        id of an instance), `thisAndFollowing`, `all` (default with the id of a series). `notify`
        has the meaning that it has when an event is created.

        Needs the scope `calendar.write`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/events/{segment(event_id)}"
        answer: types.CalendarEvent = await self._json("PATCH", path, None, body, options)
        return answer

    async def delete(
        self,
        calendar_id: str,
        event_id: str,
        *,
        recurrence_scope: types.RecurrenceScope | None = None,
        notify: types.Notify | None = None,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete an event.

        The answer is 204, or 200 with `warnings` if there are any, such as `notify_not_supported`.

        Needs the scope `calendar.write`.

        Args:
            recurrence_scope: The instances to change. If absent, `this` with the id of an instance
                and `all` with the id of a series.
            notify: The attendees that the provider notifies; `all` if absent.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/events/{segment(event_id)}"
        query = {"recurrence_scope": recurrence_scope, "notify": notify}
        await self._nothing("DELETE", path, query, None, options)

    async def accept(
        self,
        calendar_id: str,
        event_id: str,
        body: types.Rsvp | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.CalendarEvent:
        """Accept an invitation.

        Needs the scope `calendar.write`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/events/{segment(event_id)}/accept"
        answer: types.CalendarEvent = await self._json("POST", path, None, body, options)
        return answer

    async def tentative(
        self,
        calendar_id: str,
        event_id: str,
        body: types.Rsvp | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.CalendarEvent:
        """Accept an invitation tentatively.

        Needs the scope `calendar.write`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/events/{segment(event_id)}/tentative"
        answer: types.CalendarEvent = await self._json("POST", path, None, body, options)
        return answer

    async def decline(
        self,
        calendar_id: str,
        event_id: str,
        body: types.Rsvp | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.CalendarEvent:
        """Decline an invitation.

        Needs the scope `calendar.write`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/events/{segment(event_id)}/decline"
        answer: types.CalendarEvent = await self._json("POST", path, None, body, options)
        return answer

    async def conference(
        self,
        calendar_id: str,
        event_id: str,
        body: types.NewConference | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.CalendarEvent:
        """Add a conference.

        400 `capability_not_supported` where the provider has none. An event that has a conference
        keeps it.

        Needs the scope `calendar.write`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/events/{segment(event_id)}/conference"
        answer: types.CalendarEvent = await self._json("POST", path, None, body, options)
        return answer

    async def modify(
        self,
        calendar_id: str,
        event_id: str,
        change: Callable[[types.CalendarEvent], types.CalendarEventPatch | None | Awaitable[types.CalendarEventPatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.CalendarEvent:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/events/{segment(event_id)}"
        answer: types.CalendarEvent = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncCalendarsFreebusy(AsyncResource):
    """Operations `calendars.freebusy`."""

    async def query(
        self,
        body: types.FreeBusyQuery,
        **options: Unpack[ReadOptions],
    ) -> types.FreeBusyAnswer:
        """Ask when people are busy.

        Up to 50 targets over at most 92 days. A target that is named twice is answered once, with
        the warning `duplicate_target`. A target that failed has `status` `error`, is never reported
        as free, and makes `complete` false; the others are answered all the same. `includeDetails`
        needs the scope `calendar.read`.

        Needs the scope `calendar.freebusy`.
        """
        path = "/v1/calendars/freebusy/query"
        answer: types.FreeBusyAnswer = await self._json("POST", path, None, body, options)
        return answer


class AsyncCalendarsSync(AsyncResource):
    """Operations `calendars.sync`."""

    async def start(
        self,
        calendar_id: str,
        body: types.SyncStart | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenSyncState:
        """Start incremental sync.

        From now on the service keeps its copy of the calendar up to date. Starting the sync again
        changes nothing and answers 200.

        Needs the scope `calendar.read`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/sync/start"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def changes(
        self,
        calendar_id: str,
        *,
        cursor: str | None = None,
        after_sequence: int | None = None,
        limit: int | None = None,
        include: Literal["resource"] | Literal["none"] | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.SyncChanges:
        """Read what changed.

        Without `cursor`, the feed begins with all events. Read until `next_cursor` is null, store
        `sync_cursor`, and pass it as `cursor` next time.

        Needs the scope `calendar.read`.

        Args:
            cursor: The `next_cursor` or `sync_cursor` of an earlier answer. Without it the feed
                begins with everything that there is.
            after_sequence: The `sequence` of an event, instead of a cursor: the feed continues
                after that event. Webhooks, `/v1/events` and its stream have the same numbers. A
                hard reset invalidates cursors but not these positions: the feed continues in the
                new epoch. 409 `sync_reset_required` if the events after it have been deleted.
            limit: The number of changes that are read for a page, 100 if absent; more than 500 is
                taken as 500.
            include: The form of a change: with its resource (the default), or with the id alone.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/sync/changes"
        query = {
            "cursor": cursor,
            "after_sequence": after_sequence,
            "limit": limit,
            "include": include,
        }
        answer: types.SyncChanges = await self._json("GET", path, query, None, options)
        return answer

    def follow(
        self,
        calendar_id: str,
        *,
        after_sequence: int | None = None,
        limit: int | None = None,
        include: Literal["resource"] | Literal["none"] | None = None,
        **options: Unpack[AsyncFollowOptions],
    ) -> AsyncGenerator[types.Change, None]:
        """Yields changes as they come, from the stored cursor on.

        The cursor of a page is stored when its last change was processed and the next one is asked
        for, so a change can come twice after a crash and is never lost.

        Args:
            after_sequence: The `sequence` of an event, instead of a cursor: the feed continues
                after that event. Webhooks, `/v1/events` and its stream have the same numbers. A
                hard reset invalidates cursors but not these positions: the feed continues in the
                new epoch. 409 `sync_reset_required` if the events after it have been deleted.
            limit: The number of changes that are read for a page, 100 if absent; more than 500 is
                taken as 500.
            include: The form of a change: with its resource (the default), or with the id alone.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/sync/changes"
        query = {"after_sequence": after_sequence, "limit": limit, "include": include}
        return self._follow(path, query, options)

    async def renew(
        self,
        calendar_id: str,
        **options: Unpack[WriteOptions],
    ) -> types.Watch:
        """Renew the provider's push channel.

        The channel is renewed after the answer, which has its present state. A channel that was
        renewed within the last minute stays as it is. `unsupported` means that the provider has no
        channels: the service then polls the calendar.

        Needs the scope `calendar.read`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/sync/renew"
        answer: types.Watch = await self._json("POST", path, None, None, options)
        return answer

    async def reset(
        self,
        calendar_id: str,
        body: types.SyncReset | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenSyncState:
        """Read everything again.

        With `soft`, cursors stay valid and the feed reports only differences. With `hard`, earlier
        cursors become invalid and the feed reports everything again.

        Needs the scope `calendar.read`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/sync/reset"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def status(
        self,
        calendar_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.SyncState:
        """Read the state of the sync.

        Needs the scope `calendar.read`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/sync/status"
        answer: types.SyncState = await self._json("GET", path, None, None, options)
        return answer


class AsyncConnections(AsyncResource):
    """Operations `connections`."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.capabilities = AsyncConnectionsCapabilities(transport)

    async def create(
        self,
        body: types.NewConnection,
        *,
        allow_duplicate: bool | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenConnection:
        """Connect an account by credentials.

        The credentials are tried at the provider before anything is stored. They are encrypted at
        once and never shown again. 409 `already_exists` if the application already has a connection
        of the same account at the same server; `details` has its id. Connections that need new
        credentials (`reauth_required`) do not count, and `allow_duplicate=true` allows another
        connection.

        Needs the scope `connections.write`.

        Args:
            allow_duplicate: Whether the application may have another connection of the same
                account.
        """
        path = "/v1/connections"
        query = {"allow_duplicate": allow_duplicate}
        answer: types.WrittenConnection = await self._json("POST", path, query, body, options)
        return answer

    def list(
        self,
        *,
        provider: str | None = None,
        status: Literal["pending", "active", "degraded", "reauth_required"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.ConnectionPage, types.Connection]:
        """List connections.

        Needs the scope `connections.read`.

        Args:
            provider: Returns only connections of this provider.
            status: Returns only connections in this state.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/connections"
        query = {"provider": provider, "status": status, "limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def get(
        self,
        connection_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.Connection:
        """Read a connection.

        Needs the scope `connections.read`.
        """
        path = f"/v1/connections/{segment(connection_id)}"
        answer: types.Connection = await self._json("GET", path, None, None, options)
        return answer

    async def delete(
        self,
        connection_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Disconnect an account.

        Stops the sync and removes the credentials and the local copy. Nothing changes in the
        account at the provider. OAuth tokens that no other connection needs are revoked there.

        Needs the scope `connections.write`.
        """
        path = f"/v1/connections/{segment(connection_id)}"
        await self._nothing("DELETE", path, None, None, options)

    async def refresh(
        self,
        connection_id: str,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenConnection:
        """Try the credentials again.

        OAuth tokens are renewed first, unless they are younger than 30 seconds. 409
        `reauth_required` if the provider refuses them. 503 `provider_unavailable` with
        `Retry-After` if the provider does not answer; nothing is changed then.

        Needs the scope `connections.write`.
        """
        path = f"/v1/connections/{segment(connection_id)}/refresh"
        answer: types.WrittenConnection = await self._json("POST", path, None, None, options)
        return answer


class AsyncConnectionsCapabilities(AsyncResource):
    """Operations `connections.capabilities`."""

    async def get(
        self,
        connection_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.Capabilities:
        """Read what a connection can do.

        Needs the scope `connections.read`.
        """
        path = f"/v1/connections/{segment(connection_id)}/capabilities"
        answer: types.Capabilities = await self._json("GET", path, None, None, options)
        return answer


class AsyncContactBooks(AsyncResource):
    """Operations `contact_books`."""

    def list(
        self,
        *,
        connection_id: str | None = None,
        include: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.ContactBookPage, types.ContactBook]:
        """List contact books.

        Needs the scope `contacts.read`.

        Args:
            connection_id: Returns only items of this connection; without it, items of all
                connections that the key may use.
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/contact-books"
        query = {
            "connection_id": connection_id,
            "include": include,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewContactBook,
        **options: Unpack[WriteOptions],
    ) -> types.ContactBook:
        """Create a contact book.

        Needs the scope `contacts.write`.
        """
        path = "/v1/contact-books"
        answer: types.ContactBook = await self._json("POST", path, None, body, options)
        return answer

    async def get(
        self,
        book_id: str,
        *,
        include: Sequence[str] | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.ContactBook:
        """Read a contact book.

        Needs the scope `contacts.read`.

        Args:
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
        """
        path = f"/v1/contact-books/{segment(book_id)}"
        query = {"include": include}
        answer: types.ContactBook = await self._json("GET", path, query, None, options)
        return answer

    async def update(
        self,
        book_id: str,
        body: types.ContactBookPatch,
        **options: Unpack[ChangeOptions],
    ) -> types.ContactBook:
        """Change a contact book.

        Needs the scope `contacts.write`.
        """
        path = f"/v1/contact-books/{segment(book_id)}"
        answer: types.ContactBook = await self._json("PATCH", path, None, body, options)
        return answer

    async def delete(
        self,
        book_id: str,
        *,
        force: bool | None = None,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a contact book.

        A book that holds contacts answers 409 `not_empty` without `force`.

        Needs the scope `contacts.write`.

        Args:
            force: Whether the book is deleted with its contacts and groups. Without it, only an
                empty book is deleted.
        """
        path = f"/v1/contact-books/{segment(book_id)}"
        query = {"force": force}
        await self._nothing("DELETE", path, query, None, options)

    async def modify(
        self,
        book_id: str,
        change: Callable[[types.ContactBook], types.ContactBookPatch | None | Awaitable[types.ContactBookPatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.ContactBook:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/contact-books/{segment(book_id)}"
        answer: types.ContactBook = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncContactGroups(AsyncResource):
    """Operations `contact_groups`."""

    def list(
        self,
        *,
        connection_id: str | None = None,
        book_id: str | None = None,
        q: str | None = None,
        updated_after: str | None = None,
        include: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.ContactGroupPage, types.ContactGroup]:
        """List contact groups, by name.

        Needs the scope `contacts.read`.

        Args:
            connection_id: Returns only groups of this connection. Without it, groups of all
                connections that the key may use are returned.
            book_id: Returns only groups of this contact book.
            q: Words, separated by spaces, that all occur in the name. Case and accents do not
                matter.
            updated_after: Returns only groups that changed at this time or later. A date stands for
                its midnight in UTC.
            include: Parts that the answer has beside the usual ones: `providerData` adds the
                provider's fields that the model has no field for. Other words are ignored.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/contact-groups"
        query = {
            "connection_id": connection_id,
            "book_id": book_id,
            "q": q,
            "updated_after": updated_after,
            "include": include,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewContactGroup,
        **options: Unpack[WriteOptions],
    ) -> types.ContactGroup:
        """Create a contact group.

        The group is created in the book `bookId`; without `bookId`, in the default book of
        `connectionId`. Its members are contacts of the same book.

        Needs the scope `contacts.write`.
        """
        path = "/v1/contact-groups"
        answer: types.ContactGroup = await self._json("POST", path, None, body, options)
        return answer

    async def get(
        self,
        group_id: str,
        *,
        include: Sequence[str] | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.ContactGroup:
        """Read a contact group.

        Needs the scope `contacts.read`.

        Args:
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
        """
        path = f"/v1/contact-groups/{segment(group_id)}"
        query = {"include": include}
        answer: types.ContactGroup = await self._json("GET", path, query, None, options)
        return answer

    async def update(
        self,
        group_id: str,
        body: types.ContactGroupPatch,
        **options: Unpack[ChangeOptions],
    ) -> types.ContactGroup:
        """Change a contact group.

        `contactIds` replaces the members. To change the members of a group with more than 500,
        change the `groupIds` of the contacts.

        Needs the scope `contacts.write`.
        """
        path = f"/v1/contact-groups/{segment(group_id)}"
        answer: types.ContactGroup = await self._json("PATCH", path, None, body, options)
        return answer

    async def delete(
        self,
        group_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a contact group; its contacts stay.

        Needs the scope `contacts.write`.
        """
        path = f"/v1/contact-groups/{segment(group_id)}"
        await self._nothing("DELETE", path, None, None, options)

    async def modify(
        self,
        group_id: str,
        change: Callable[[types.ContactGroup], types.ContactGroupPatch | None | Awaitable[types.ContactGroupPatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.ContactGroup:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/contact-groups/{segment(group_id)}"
        answer: types.ContactGroup = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncContacts(AsyncResource):
    """Operations `contacts`."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.merge_suggestions = AsyncContactsMergeSuggestions(transport)
        self.photo = AsyncContactsPhoto(transport)
        self.sync = AsyncContactsSync(transport)

    def list(
        self,
        *,
        connection_id: str | None = None,
        book_id: str | None = None,
        group_id: str | None = None,
        q: str | None = None,
        email: str | None = None,
        phone: str | None = None,
        updated_after: str | None = None,
        include: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.ContactPage, types.Contact]:
        """Search and list contacts, by name.

        The contacts are sorted by `displayName` without regard to case, then by id.

        Needs the scope `contacts.read`.

        Args:
            connection_id: Returns only contacts of this connection. Without it, contacts of all
                connections that the key may use are returned.
            book_id: Returns only contacts of this contact book.
            group_id: Returns only members of this contact group.
            q: Words, separated by spaces, that all occur in names, organizations, addresses,
                numbers, handles or notes. Case and accents do not matter.
            email: Returns only contacts with this email address. Case does not matter.
            phone: Returns only contacts with this phone number, in any spelling.
            updated_after: Returns only contacts that changed at this time or later. A date stands
                for its midnight in UTC.
            include: Parts that the answer has beside the usual ones: `providerData` adds the
                provider's fields that the model has no field for. Other words are ignored.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/contacts"
        query = {
            "connection_id": connection_id,
            "book_id": book_id,
            "group_id": group_id,
            "q": q,
            "email": email,
            "phone": phone,
            "updated_after": updated_after,
            "include": include,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewContact,
        **options: Unpack[WriteOptions],
    ) -> types.Contact:
        """Create a contact.

        A contact needs at least one of a name, an email address, a phone number and an
        organization. It is created in the book `bookId`; without `bookId`, in the default book of
        `connectionId`.

        Needs the scope `contacts.write`.
        """
        path = "/v1/contacts"
        answer: types.Contact = await self._json("POST", path, None, body, options)
        return answer

    async def get(
        self,
        contact_id: str,
        *,
        include: Sequence[str] | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.Contact:
        """Read a contact.

        Needs the scope `contacts.read`.

        Args:
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
        """
        path = f"/v1/contacts/{segment(contact_id)}"
        query = {"include": include}
        answer: types.Contact = await self._json("GET", path, query, None, options)
        return answer

    async def update(
        self,
        contact_id: str,
        body: types.ContactPatch,
        **options: Unpack[ChangeOptions],
    ) -> types.Contact:
        """Change a contact.

        The body is a JSON merge patch (RFC 7396). Fields that it does not name stay as they are,
        with everything that other programs wrote into the record.

        Needs the scope `contacts.write`.
        """
        path = f"/v1/contacts/{segment(contact_id)}"
        answer: types.Contact = await self._json("PATCH", path, None, body, options)
        return answer

    async def delete(
        self,
        contact_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a contact.

        Needs the scope `contacts.write`.
        """
        path = f"/v1/contacts/{segment(contact_id)}"
        await self._nothing("DELETE", path, None, None, options)

    async def modify(
        self,
        contact_id: str,
        change: Callable[[types.Contact], types.ContactPatch | None | Awaitable[types.ContactPatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.Contact:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/contacts/{segment(contact_id)}"
        answer: types.Contact = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncContactsMergeSuggestions(AsyncResource):
    """Operations `contacts.merge_suggestions`."""

    async def query(
        self,
        body: types.MergeSuggestionQuery | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.MergeSuggestionPage:
        """Find contacts that seem to be the same.

        The suggestions change nothing. An equal email address, phone number or profile gives a
        score of at least 0.9, an equal name at an equal organization 0.7 to 0.85, an equal name
        alone at most 0.6. Role addresses (`info@`), numbers on more than three contacts, and values
        shared by contacts whose names contradict each other (a household, an office) do not count.
        The suggestions are sorted by score, the highest first, then by id. `limit` and `cursor` are
        fields of the body.

        Needs the scope `contacts.read`.
        """
        path = "/v1/contacts/merge-suggestions/query"
        answer: types.MergeSuggestionPage = await self._json("POST", path, None, body, options)
        return answer


class AsyncContactsPhoto(AsyncResource):
    """Operations `contacts.photo`."""

    async def get(
        self,
        contact_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.ContactPicture:
        """Read the picture that a contact's record holds.

        The answer is JSON with the picture in base64, or the bytes of the picture with `Accept:
        application/octet-stream` or `format=raw`. A picture that the record only links to is at
        `photo.url`; it answers 404 here.

        Needs the scope `contacts.read`.
        """
        path = f"/v1/contacts/{segment(contact_id)}/photo"
        answer: types.ContactPicture = await self._json("GET", path, None, None, options)
        return answer

    def get_raw(
        self,
        contact_id: str,
        **options: Unpack[ReadOptions],
    ) -> AbstractAsyncContextManager[httpx.Response]:
        """Read the picture that a contact's record holds: the response itself, for its bytes.

        The answer is JSON with the picture in base64, or the bytes of the picture with `Accept:
        application/octet-stream` or `format=raw`. A picture that the record only links to is at
        `photo.url`; it answers 404 here.

        Needs the scope `contacts.read`.
        """
        path = f"/v1/contacts/{segment(contact_id)}/photo"
        return self._raw(path, None, {}, options)


class AsyncContactsSync(AsyncResource):
    """Operations `contacts.sync`."""

    async def start(
        self,
        body: types.ConnectionSyncStart,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenSyncState:
        """Start incremental sync of contacts.

        From now on the service keeps its copy of all contact books of `connectionId` up to date.
        Starting the sync again changes nothing and answers 200.

        Needs the scope `contacts.read`.
        """
        path = "/v1/contacts/sync/start"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def changes(
        self,
        *,
        connection_id: str,
        cursor: str | None = None,
        after_sequence: int | None = None,
        limit: int | None = None,
        include: Literal["resource"] | Literal["none"] | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.SyncChanges:
        """Read what changed in contacts, groups and books.

        Without `cursor`, the feed begins with everything that exists. Read until `next_cursor` is
        null, store `sync_cursor`, and pass it as `cursor` next time. `resourceType` is `contact`,
        `contact_group` or `contact_book`.

        Needs the scope `contacts.read`.

        Args:
            connection_id: The id of the connection.
            cursor: The `next_cursor` or `sync_cursor` of an earlier answer. Without it the feed
                begins with everything that there is.
            after_sequence: The `sequence` of an event, instead of a cursor: the feed continues
                after that event. Webhooks, `/v1/events` and its stream have the same numbers. A
                hard reset invalidates cursors but not these positions: the feed continues in the
                new epoch. 409 `sync_reset_required` if the events after it have been deleted.
            limit: The number of changes that are read for a page, 100 if absent; more than 500 is
                taken as 500.
            include: The form of a change: with its resource (the default), or with the id alone.
        """
        path = "/v1/contacts/sync/changes"
        query = {
            "connection_id": connection_id,
            "cursor": cursor,
            "after_sequence": after_sequence,
            "limit": limit,
            "include": include,
        }
        answer: types.SyncChanges = await self._json("GET", path, query, None, options)
        return answer

    def follow(
        self,
        *,
        connection_id: str,
        after_sequence: int | None = None,
        limit: int | None = None,
        include: Literal["resource"] | Literal["none"] | None = None,
        **options: Unpack[AsyncFollowOptions],
    ) -> AsyncGenerator[types.Change, None]:
        """Yields changes as they come, from the stored cursor on.

        The cursor of a page is stored when its last change was processed and the next one is asked
        for, so a change can come twice after a crash and is never lost.

        Args:
            connection_id: The id of the connection.
            after_sequence: The `sequence` of an event, instead of a cursor: the feed continues
                after that event. Webhooks, `/v1/events` and its stream have the same numbers. A
                hard reset invalidates cursors but not these positions: the feed continues in the
                new epoch. 409 `sync_reset_required` if the events after it have been deleted.
            limit: The number of changes that are read for a page, 100 if absent; more than 500 is
                taken as 500.
            include: The form of a change: with its resource (the default), or with the id alone.
        """
        path = "/v1/contacts/sync/changes"
        query = {
            "connection_id": connection_id,
            "after_sequence": after_sequence,
            "limit": limit,
            "include": include,
        }
        return self._follow(path, query, options)

    async def reset(
        self,
        body: types.ConnectionSyncReset,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenSyncState:
        """Read everything again.

        With `soft`, cursors stay valid and the feed reports only differences. With `hard`, earlier
        cursors become invalid and the feed reports everything again.

        Needs the scope `contacts.read`.
        """
        path = "/v1/contacts/sync/reset"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def status(
        self,
        connection_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.SyncState:
        """Read the state of the sync.

        Needs the scope `contacts.read`.
        """
        path = f"/v1/contacts/sync/status/{segment(connection_id)}"
        answer: types.SyncState = await self._json("GET", path, None, None, options)
        return answer


class AsyncEmail(AsyncResource):
    """Operations `email`."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.capabilities = AsyncEmailCapabilities(transport)
        self.drafts = AsyncEmailDrafts(transport)
        self.folders = AsyncEmailFolders(transport)
        self.labels = AsyncEmailLabels(transport)
        self.messages = AsyncEmailMessages(transport)
        self.sync = AsyncEmailSync(transport)
        self.threads = AsyncEmailThreads(transport)
        self.tracking = AsyncEmailTracking(transport)

    async def send(
        self,
        body: types.SendMessage,
        **options: Unpack[WriteOptions],
    ) -> types.EmailMessage:
        """Send a message.

        Answers 202 with the message; `delivery` and the events about it show the progress. The
        message is sent once, however often you repeat the request with its Idempotency-Key. If it
        is unknown whether the provider accepted it, `delivery.error.code` is `outcome_unknown`.
        With `sendAt`, the message is sent at that time: DELETE of the message cancels it until the
        provider gets it, and answers 409 `already_sent` from then on. `replyToMessageId` and
        `attachmentRef` read a message: a key without `email.read` gets 403 `insufficient_scope`,
        and `param` names the field.

        Needs the scope `email.send`.
        """
        path = "/v1/email/send"
        answer: types.EmailMessage = await self._json("POST", path, None, body, options)
        return answer


class AsyncEmailCapabilities(AsyncResource):
    """Operations `email.capabilities`."""

    async def get(
        self,
        connection_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.Capabilities:
        """Read what a mailbox connection can do.

        The answer also covers the calendars, contacts and tasks of the account. `missing` lists
        what the connection cannot do, with the reasons.

        Needs the scope `email.read`.
        """
        path = f"/v1/email/capabilities/{segment(connection_id)}"
        answer: types.Capabilities = await self._json("GET", path, None, None, options)
        return answer


class AsyncEmailDrafts(AsyncResource):
    """Operations `email.drafts`."""

    async def create(
        self,
        body: types.NewDraft,
        **options: Unpack[WriteOptions],
    ) -> types.Draft:
        """Create a draft.

        The draft is stored in the drafts folder of the account, where other mail programs see it
        too.

        Needs the scope `email.write`.
        """
        path = "/v1/email/drafts"
        answer: types.Draft = await self._json("POST", path, None, body, options)
        return answer

    def list(
        self,
        *,
        connection_id: str | None = None,
        folder_id: str | None = None,
        label_id: str | None = None,
        thread_id: str | None = None,
        q: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        cc: str | None = None,
        bcc: str | None = None,
        any_email: str | None = None,
        subject: str | None = None,
        unread: bool | None = None,
        starred: bool | None = None,
        has_attachment: bool | None = None,
        received_after: str | None = None,
        received_before: str | None = None,
        native_query: str | None = None,
        include: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.DraftPage, types.Draft]:
        """List drafts, newest first.

        Drafts are listed without their text. A draft that was sent is no longer listed.

        Needs the scope `email.read`.

        Args:
            connection_id: Returns only messages of this connection. Without it: of all connections
                that the key may use.
            folder_id: Returns only messages in this folder.
            label_id: Returns only messages with this label.
            thread_id: Returns only messages of this thread.
            q: Returns only messages that contain these words. With `connection_id`, the provider
                searches the mailbox, with the texts of messages. Over several mailboxes, subjects,
                people, snippets and names of files are searched.
            from_: Returns only messages with this text in the address or name of an author.
            to: Returns only messages with this text in an address or name in To.
            cc: Returns only messages with this text in an address or name in Cc.
            bcc: Returns only messages with this text in an address or name in Bcc.
            any_email: Returns only messages with this text in an address or name in From, To, Cc or
                Bcc.
            subject: Returns only messages with this text in the subject. Case and accents do not
                matter.
            unread: Returns only unread messages, or, with `false`, only read ones.
            starred: Returns only starred messages, or, with `false`, only messages without a star.
            has_attachment: Returns only messages with attachments, or, with `false`, only messages
                without any.
            received_after: Returns only messages that were received at or after this time.
            received_before: Returns only messages that were received before this time.
            native_query: Returns only messages that match a query in the provider's own search
                language (`operations.nativeSearch` of the capabilities). It needs `connection_id`.
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/email/drafts"
        query = {
            "connection_id": connection_id,
            "folder_id": folder_id,
            "label_id": label_id,
            "thread_id": thread_id,
            "q": q,
            "from": from_,
            "to": to,
            "cc": cc,
            "bcc": bcc,
            "any_email": any_email,
            "subject": subject,
            "unread": unread,
            "starred": starred,
            "has_attachment": has_attachment,
            "received_after": received_after,
            "received_before": received_before,
            "native_query": native_query,
            "include": include,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)

    async def get(
        self,
        draft_id: str,
        *,
        include: Sequence[str] | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.Draft:
        """Read a draft.

        Returns the draft with its text and header fields. After the draft was sent, `sentMessageId`
        has the id of the message.

        Needs the scope `email.read`.

        Args:
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
        """
        path = f"/v1/email/drafts/{segment(draft_id)}"
        query = {"include": include}
        answer: types.Draft = await self._json("GET", path, query, None, options)
        return answer

    async def update(
        self,
        draft_id: str,
        body: types.DraftPatch,
        **options: Unpack[ChangeOptions],
    ) -> types.Draft:
        """Change a draft.

        A JSON merge patch. It needs the etag, because mail programs save drafts by themselves.
        Without `attachments`, the files stay; with it, the list replaces them, and `{"id": …}` in
        the list keeps a file that the draft has.

        Needs the scope `email.write`.
        """
        path = f"/v1/email/drafts/{segment(draft_id)}"
        answer: types.Draft = await self._json("PATCH", path, None, body, options)
        return answer

    async def delete(
        self,
        draft_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Destroy a draft.

        The draft does not go to the trash. While it is scheduled or being sent, it cannot be
        destroyed: delete the message with the id `sentMessageId` first, to cancel it.

        Needs the scope `email.write`.
        """
        path = f"/v1/email/drafts/{segment(draft_id)}"
        await self._nothing("DELETE", path, None, None, options)

    async def send(
        self,
        draft_id: str,
        body: types.SendDraft | None = None,
        **options: Unpack[ChangeOptions],
    ) -> types.EmailMessage:
        """Send a draft.

        The key needs `email.read` too, because sending a draft reads it. A draft is sent once: a
        second call answers 409 `draft_already_sent`. With `sendAt`, in the draft or in the request,
        the message is sent at that time: DELETE of the returned message cancels it until the
        provider gets it, and answers 409 `already_sent` from then on.

        Needs the scope `email.send`.
        """
        path = f"/v1/email/drafts/{segment(draft_id)}/send"
        answer: types.EmailMessage = await self._json("POST", path, None, body, options)
        return answer

    async def modify(
        self,
        draft_id: str,
        change: Callable[[types.Draft], types.DraftPatch | None | Awaitable[types.DraftPatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.Draft:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/email/drafts/{segment(draft_id)}"
        answer: types.Draft = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncEmailFolders(AsyncResource):
    """Operations `email.folders`."""

    def list(
        self,
        *,
        connection_id: str | None = None,
        include: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.FolderPage, types.Folder]:
        """List folders.

        Each folder has its role and the number of messages that the provider counts in it.

        Needs the scope `email.read`.

        Args:
            connection_id: Returns only items of this connection; without it, items of all
                connections that the key may use.
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/email/folders"
        query = {
            "connection_id": connection_id,
            "include": include,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)


class AsyncEmailLabels(AsyncResource):
    """Operations `email.labels`."""

    def list(
        self,
        *,
        connection_id: str | None = None,
        include: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.LabelPage, types.Label]:
        """List labels.

        The list is empty if the provider has no labels (`features.labels` of the capabilities).

        Needs the scope `email.read`.

        Args:
            connection_id: Returns only items of this connection; without it, items of all
                connections that the key may use.
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/email/labels"
        query = {
            "connection_id": connection_id,
            "include": include,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)


class AsyncEmailMessages(AsyncResource):
    """Operations `email.messages`."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.attachments = AsyncEmailMessagesAttachments(transport)

    def list(
        self,
        *,
        connection_id: str | None = None,
        folder_id: str | None = None,
        label_id: str | None = None,
        thread_id: str | None = None,
        q: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        cc: str | None = None,
        bcc: str | None = None,
        any_email: str | None = None,
        subject: str | None = None,
        unread: bool | None = None,
        starred: bool | None = None,
        has_attachment: bool | None = None,
        received_after: str | None = None,
        received_before: str | None = None,
        native_query: str | None = None,
        fields: Literal["summary", "headers", "full"] | None = None,
        images: Literal["allow", "block"] | None = None,
        include: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.EmailMessagePage, types.EmailMessage]:
        """Search and list messages, newest first.

        Sorted by `receivedAt` and id, both descending. While a new mailbox is synced for the first
        time, a page may be short or empty: only a null `next_cursor` is the end.

        Needs the scope `email.read`.

        Args:
            connection_id: Returns only messages of this connection. Without it: of all connections
                that the key may use.
            folder_id: Returns only messages in this folder.
            label_id: Returns only messages with this label.
            thread_id: Returns only messages of this thread.
            q: Returns only messages that contain these words. With `connection_id`, the provider
                searches the mailbox, with the texts of messages. Over several mailboxes, subjects,
                people, snippets and names of files are searched.
            from_: Returns only messages with this text in the address or name of an author.
            to: Returns only messages with this text in an address or name in To.
            cc: Returns only messages with this text in an address or name in Cc.
            bcc: Returns only messages with this text in an address or name in Bcc.
            any_email: Returns only messages with this text in an address or name in From, To, Cc or
                Bcc.
            subject: Returns only messages with this text in the subject. Case and accents do not
                matter.
            unread: Returns only unread messages, or, with `false`, only read ones.
            starred: Returns only starred messages, or, with `false`, only messages without a star.
            has_attachment: Returns only messages with attachments, or, with `false`, only messages
                without any.
            received_after: Returns only messages that were received at or after this time.
            received_before: Returns only messages that were received before this time.
            native_query: Returns only messages that match a query in the provider's own search
                language (`operations.nativeSearch` of the capabilities). It needs `connection_id`.
            fields: The fields of each message: `summary` leaves out `body` and `headers`, `headers`
                leaves out `body`, `full` has all. If absent, `summary` for a list and `full` for a
                single message.
            images: The remote images in `body.safeHtml`: `block` (the default) removes them,
                `allow` leaves them in.
            include: The additional parts of the answer: `providerData` adds the provider's fields
                that the model has no field for. Other words are ignored.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/email/messages"
        query = {
            "connection_id": connection_id,
            "folder_id": folder_id,
            "label_id": label_id,
            "thread_id": thread_id,
            "q": q,
            "from": from_,
            "to": to,
            "cc": cc,
            "bcc": bcc,
            "any_email": any_email,
            "subject": subject,
            "unread": unread,
            "starred": starred,
            "has_attachment": has_attachment,
            "received_after": received_after,
            "received_before": received_before,
            "native_query": native_query,
            "fields": fields,
            "images": images,
            "include": include,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewMessage,
        **options: Unpack[WriteOptions],
    ) -> types.EmailMessage:
        """Put a message into a folder without sending it.

        Takes the whole message in `rawBase64`, or its parts in the other fields. If `folderIds` is
        empty, the message goes to the inbox.

        Needs the scope `email.write`.
        """
        path = "/v1/email/messages"
        answer: types.EmailMessage = await self._json("POST", path, None, body, options)
        return answer

    async def get(
        self,
        message_id: str,
        *,
        fields: Literal["summary", "headers", "full"] | None = None,
        images: Literal["allow", "block"] | None = None,
        include: Sequence[str] | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.EmailMessage:
        """Read a message.

        `body.html` is as the sender wrote it: show `body.safeHtml` instead. A draft can be read
        here too, by its id.

        Needs the scope `email.read`.

        Args:
            fields: The fields of each message: `summary` leaves out `body` and `headers`, `headers`
                leaves out `body`, `full` has all. If absent, `summary` for a list and `full` for a
                single message.
            images: The remote images in `body.safeHtml`: `block` (the default) removes them,
                `allow` leaves them in.
            include: The additional parts of the answer: `providerData` adds the provider's fields
                that the model has no field for. Other words are ignored.
        """
        path = f"/v1/email/messages/{segment(message_id)}"
        query = {"fields": fields, "images": images, "include": include}
        answer: types.EmailMessage = await self._json("GET", path, query, None, options)
        return answer

    async def update(
        self,
        message_id: str,
        body: types.MessagePatch,
        **options: Unpack[ChangeOptions],
    ) -> types.EmailMessage:
        """Change flags, folders and labels of a message.

        A JSON merge patch. Another folder in `folderIds` moves the message; it keeps its id.
        Providers without `features.multiFolder` take one folder.

        Needs the scope `email.write`.
        """
        path = f"/v1/email/messages/{segment(message_id)}"
        answer: types.EmailMessage = await self._json("PATCH", path, None, body, options)
        return answer

    async def delete(
        self,
        message_id: str,
        *,
        permanent: bool | None = None,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Move a message to the trash, or destroy it.

        A message that is already in the trash is destroyed. A message that waits to be sent is
        cancelled: 204 means that it is not sent, 409 `already_sent` that it was sent or is being
        sent. A sent message of which the provider has no copy is deleted only with `permanent`.

        Needs the scope `email.write`.

        Args:
            permanent: Whether the message is destroyed at once instead of being moved to the trash.
        """
        path = f"/v1/email/messages/{segment(message_id)}"
        query = {"permanent": permanent}
        await self._nothing("DELETE", path, query, None, options)

    async def modify(
        self,
        message_id: str,
        change: Callable[[types.EmailMessage], types.MessagePatch | None | Awaitable[types.MessagePatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.EmailMessage:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/email/messages/{segment(message_id)}"
        answer: types.EmailMessage = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncEmailMessagesAttachments(AsyncResource):
    """Operations `email.messages.attachments`."""

    async def get(
        self,
        message_id: str,
        attachment_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.Attachment:
        """Fetch an attachment.

        Answers JSON with `contentBase64` for a file of up to 10 MiB. With `format=raw` or `Accept:
        application/octet-stream`, answers the bytes of a file of any size, or a part of them with
        `Range`.

        Needs the scope `email.read`.
        """
        path = f"/v1/email/messages/{segment(message_id)}/attachments/{segment(attachment_id)}"
        answer: types.Attachment = await self._json("GET", path, None, None, options)
        return answer

    def get_raw(
        self,
        message_id: str,
        attachment_id: str,
        *,
        range: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AbstractAsyncContextManager[httpx.Response]:
        """Fetch an attachment: the response itself, for its bytes.

        Answers JSON with `contentBase64` for a file of up to 10 MiB. With `format=raw` or `Accept:
        application/octet-stream`, answers the bytes of a file of any size, or a part of them with
        `Range`.

        Needs the scope `email.read`.

        Args:
            range: The header `Range`.
        """
        path = f"/v1/email/messages/{segment(message_id)}/attachments/{segment(attachment_id)}"
        return self._raw(path, None, {"Range": range}, options)


class AsyncEmailSync(AsyncResource):
    """Operations `email.sync`."""

    async def start(
        self,
        body: types.ConnectionSyncStart,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenSyncState:
        """Start incremental sync of a mailbox.

        From now on the service keeps its copy of the mailbox of `connectionId` up to date. It reads
        all messages, newest first. Starting the sync again changes nothing and answers 200.

        Needs the scope `email.read`.
        """
        path = "/v1/email/sync/start"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def changes(
        self,
        *,
        connection_id: str,
        cursor: str | None = None,
        after_sequence: int | None = None,
        limit: int | None = None,
        include: Literal["resource"] | Literal["none"] | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.SyncChanges:
        """Read what changed in a mailbox.

        Without `cursor`, the feed begins with everything in the mailbox. Read until `next_cursor`
        is null, store `sync_cursor`, and pass it as `cursor` next time. `resourceType` is
        `email.message`, `email.draft`, `email.folder` or `email.label`. During the first sync of
        the mailbox (`sync_status` is `initial`), older messages follow.

        Needs the scope `email.read`.

        Args:
            connection_id: The id of the connection.
            cursor: The `next_cursor` or `sync_cursor` of an earlier answer. Without it the feed
                begins with everything that there is.
            after_sequence: The `sequence` of an event, instead of a cursor: the feed continues
                after that event. Webhooks, `/v1/events` and its stream have the same numbers. A
                hard reset invalidates cursors but not these positions: the feed continues in the
                new epoch. 409 `sync_reset_required` if the events after it have been deleted.
            limit: The number of changes that are read for a page, 100 if absent; more than 500 is
                taken as 500.
            include: The form of a change: with its resource (the default), or with the id alone.
        """
        path = "/v1/email/sync/changes"
        query = {
            "connection_id": connection_id,
            "cursor": cursor,
            "after_sequence": after_sequence,
            "limit": limit,
            "include": include,
        }
        answer: types.SyncChanges = await self._json("GET", path, query, None, options)
        return answer

    def follow(
        self,
        *,
        connection_id: str,
        after_sequence: int | None = None,
        limit: int | None = None,
        include: Literal["resource"] | Literal["none"] | None = None,
        **options: Unpack[AsyncFollowOptions],
    ) -> AsyncGenerator[types.Change, None]:
        """Yields changes as they come, from the stored cursor on.

        The cursor of a page is stored when its last change was processed and the next one is asked
        for, so a change can come twice after a crash and is never lost.

        Args:
            connection_id: The id of the connection.
            after_sequence: The `sequence` of an event, instead of a cursor: the feed continues
                after that event. Webhooks, `/v1/events` and its stream have the same numbers. A
                hard reset invalidates cursors but not these positions: the feed continues in the
                new epoch. 409 `sync_reset_required` if the events after it have been deleted.
            limit: The number of changes that are read for a page, 100 if absent; more than 500 is
                taken as 500.
            include: The form of a change: with its resource (the default), or with the id alone.
        """
        path = "/v1/email/sync/changes"
        query = {
            "connection_id": connection_id,
            "after_sequence": after_sequence,
            "limit": limit,
            "include": include,
        }
        return self._follow(path, query, options)

    async def reset(
        self,
        body: types.ConnectionSyncReset,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenSyncState:
        """Read the mailbox again.

        With `soft`, cursors stay valid and the feed reports only differences. With `hard`, earlier
        cursors become invalid and the feed reports everything again.

        Needs the scope `email.read`.
        """
        path = "/v1/email/sync/reset"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def status(
        self,
        connection_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.SyncState:
        """Read the state of the sync of a mailbox.

        Returns how far the copy of the mailbox is, when it was last updated, and the last error.

        Needs the scope `email.read`.
        """
        path = f"/v1/email/sync/status/{segment(connection_id)}"
        answer: types.SyncState = await self._json("GET", path, None, None, options)
        return answer


class AsyncEmailThreads(AsyncResource):
    """Operations `email.threads`."""

    def list(
        self,
        *,
        connection_id: str | None = None,
        folder_id: str | None = None,
        label_id: str | None = None,
        any_email: str | None = None,
        subject: str | None = None,
        unread: bool | None = None,
        starred: bool | None = None,
        has_attachment: bool | None = None,
        received_after: str | None = None,
        received_before: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.EmailThreadPage, types.EmailThread]:
        """List threads, newest message first.

        A thread is listed if one of its messages matches all filters.

        Needs the scope `email.read`.

        Args:
            connection_id: Returns only threads of this connection. Without it: of all connections
                that the key may use.
            folder_id: Returns only threads with a message in this folder.
            label_id: Returns only threads with a message that has this label.
            any_email: Returns only threads with a message that has this text in an address or name
                in From, To, Cc or Bcc.
            subject: Returns only threads with a message that has this text in its subject. Case and
                accents do not matter.
            unread: Returns only threads with an unread message, or, with `false`, with a read one.
            starred: Returns only threads with a starred message, or, with `false`, with a message
                without a star.
            has_attachment: Returns only threads with a message that has attachments, or, with
                `false`, with a message that has none.
            received_after: Returns only threads with a message that was received at or after this
                time.
            received_before: Returns only threads with a message that was received before this time.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/email/threads"
        query = {
            "connection_id": connection_id,
            "folder_id": folder_id,
            "label_id": label_id,
            "any_email": any_email,
            "subject": subject,
            "unread": unread,
            "starred": starred,
            "has_attachment": has_attachment,
            "received_after": received_after,
            "received_before": received_before,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)

    async def get(
        self,
        thread_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.EmailThread:
        """Read a thread.

        `messageIds` has its messages, oldest first. If the thread was merged into another one, the
        answer is that other thread, and `mergedInto` has its id.

        Needs the scope `email.read`.
        """
        path = f"/v1/email/threads/{segment(thread_id)}"
        answer: types.EmailThread = await self._json("GET", path, None, None, options)
        return answer


class AsyncEmailTracking(AsyncResource):
    """Operations `email.tracking`."""

    async def get(
        self,
        tracking_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.TrackingRecord:
        """Read a tracking record.

        Returns the opens, clicks, replies, bounces and complaints of a message that was sent
        through the API. `human` leaves out the hits of image proxies and scanners; `events` shows
        how each hit was classified. Opens and clicks need a public address of this service.
        Replies, bounces and complaints need sync of the mailbox (`POST /v1/email/sync/start`).

        Needs the scope `email.track`.
        """
        path = f"/v1/email/tracking/{segment(tracking_id)}"
        answer: types.TrackingRecord = await self._json("GET", path, None, None, options)
        return answer


class AsyncEvents(AsyncEventFeed):
    """Operations `events`."""

    def list(
        self,
        *,
        after_sequence: int | None = None,
        type: Sequence[str] | None = None,
        connection_id: Sequence[str] | None = None,
        include_backfill: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.NotificationPage, types.Notification]:
        """Read the event log.

        Every event of the application in the order of `sequence`, oldest first, as far back as
        events are kept: 30 days, or as the operator configured. Each is the body that a webhook
        with full payloads receives. A key sees events of the families that its scopes read
        (`calendar.read` for `calendar.*`), and if it is bound to connections, only theirs. A page
        may be short, or empty, while `next_cursor` is set: read until it is null. `last_sequence`
        then says up to where the log was read; pass it as `after_sequence` to continue later. The
        sequence has gaps. 409 `sync_reset_required` if events after the position are no longer
        kept.

        Needs the scope `events.read`.

        Args:
            after_sequence: The `sequence` after which the first page begins. By default it begins
                with the oldest event that is kept.
            type: Returns only events of these types, separated by commas: exact names such as
                `calendar.event.created`, families such as `calendar.*`, or `*`; at most 100. By
                default, all events are returned except types that must be named exactly, such as
                `connection.token_refreshed`.
            connection_id: Returns only events of these connections, by their ids separated by
                commas; at most 100.
            include_backfill: Whether records that are found by the first scan of a collection are
                included.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/events"
        query = {
            "after_sequence": after_sequence,
            "type": type,
            "connection_id": connection_id,
            "include_backfill": include_backfill,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)

    async def get(
        self,
        event_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.Notification:
        """Read an event.

        The id is also the event's `webhook-id`. An event can be read as long as it is kept.

        Needs the scope `events.read`.
        """
        path = f"/v1/events/{segment(event_id)}"
        answer: types.Notification = await self._json("GET", path, None, None, options)
        return answer


class AsyncOauth(AsyncResource):
    """Operations `oauth`."""

    async def token(
        self,
        body: types.TokenRequest,
        **options: Unpack[WriteOptions],
    ) -> types.Token:
        """Get a token (RFC 6749).

        Answers and errors have the shapes of RFC 6749, not the envelope. The API key authenticates
        the client: in `X-Api-Key`, as a `Bearer` token, or as the password of `Basic`.
        `authorization_code` exchanges the `code` of an authorization, once and within a minute, for
        tokens of its connection, and connects the account; a code that is not exchanged, or that a
        wrong request uses up, connects no account. `refresh_token` renews them, and each refresh
        token works once: if it is used again, all tokens of its grant end, so repeat a request
        whose answer was lost with the same `Idempotency-Key`. `client_credentials` issues a token
        of the key itself, with fewer scopes, connections and domains, for at most an hour. A token
        works wherever a key does, within the key's rate limit, and ends with the key.
        """
        path = "/v1/oauth/token"
        answer: types.Token = await self._json("POST", path, None, body, options)
        return answer


class AsyncProviders(AsyncResource):
    """Operations `providers`."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.ProviderPage, types.Provider]:
        """List providers.

        The connectors of this installation, sorted by name, as their manifests describe them. Any
        key may read them: they hold nothing of an application, apart from `oauthRegistered`.

        Args:
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/providers"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def get(
        self,
        provider: str,
        **options: Unpack[ReadOptions],
    ) -> types.Provider:
        """Read a provider.

        What you need to connect an account: the ways to authenticate, the scopes, and JSON Schemas
        of `settings` and `credentials`. What a connected account can do is at `GET
        /v1/connections/{connectionId}/capabilities`. With `serve --sandbox`, the provider `sandbox`
        has test accounts.
        """
        path = f"/v1/providers/{segment(provider)}"
        answer: types.Provider = await self._json("GET", path, None, None, options)
        return answer

    async def notifications(
        self,
        provider: str,
        **options: Unpack[ReadOptions],
    ) -> types.NotificationsTaken:
        """Receive a provider's notifications.

        For providers, not for clients. A notification is a hint that something has changed,
        authenticated by the secret of its watch; changes are then read from the provider. The
        answer is 202 whether or not the watches are known and the secrets right, and 401 without
        any secret. A provider that signs a JSON Web Token for each request sends it as a `Bearer`
        token: 401 for a token that was not made for this address, and 503 while the provider's keys
        cannot be read. 200 for a handshake, whose value is returned as text. 503 above 200 requests
        of the provider in a second from one network or 2,000 from all, for far more than 2
        notifications of a watch in a second, and if the database does not answer within 2 seconds:
        the provider then repeats the request. A request has at most 256 KiB and 1,000
        notifications.
        """
        path = f"/v1/providers/{segment(provider)}/notifications"
        answer: types.NotificationsTaken = await self._json("POST", path, None, None, options)
        return answer

    async def notifications_of_kind(
        self,
        provider: str,
        name: str,
        **options: Unpack[ReadOptions],
    ) -> types.NotificationsTaken:
        """Receive a provider's notifications of one kind.

        For providers, not for clients. The same as `POST /v1/providers/{provider}/notifications`,
        for the kind of notification that has this name in the connector's manifest.
        """
        path = f"/v1/providers/{segment(provider)}/notifications/{segment(name)}"
        answer: types.NotificationsTaken = await self._json("POST", path, None, None, options)
        return answer


class AsyncScheduling(AsyncResource):
    """Operations `scheduling`."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.availability = AsyncSchedulingAvailability(transport)
        self.booking_links = AsyncSchedulingBookingLinks(transport)
        self.bookings = AsyncSchedulingBookings(transport)
        self.event_types = AsyncSchedulingEventTypes(transport)
        self.schedules = AsyncSchedulingSchedules(transport)


class AsyncSchedulingAvailability(AsyncResource):
    """Operations `scheduling.availability`."""

    async def query(
        self,
        body: types.SlotQuery,
        **options: Unpack[ReadOptions],
    ) -> types.SlotAnswer:
        """Find slots.

        Slots lie on a grid that starts with each window of the schedule; neither the range nor a
        busy time moves it. Every slot in the answer can be booked: search and booking use the same
        rules. Buffers are kept free of busy times and need not be within opening hours. A host
        whose calendars cannot be read counts as busy; if none could be read, the answer is 503
        `availability_unknown`. Only keys with `scheduling.read` see who the hosts are: for others
        `hostIds` is null. `limit` and `cursor` are fields of the body.

        Needs the scope `scheduling.book`.
        """
        path = "/v1/scheduling/availability/query"
        answer: types.SlotAnswer = await self._json("POST", path, None, body, options)
        return answer


class AsyncSchedulingBookingLinks(AsyncResource):
    """Operations `scheduling.booking_links`."""

    async def get(
        self,
        slug: str,
        **options: Unpack[ReadOptions],
    ) -> types.BookingLink:
        """Read a booking link.

        The data that a booking page shows, without the hosts' addresses, calendars and reasons for
        being busy. 404 for a link that does not exist, is inactive, expired or used up.

        Needs the scope `scheduling.book`.
        """
        path = f"/v1/scheduling/booking-links/{segment(slug)}"
        answer: types.BookingLink = await self._json("GET", path, None, None, options)
        return answer


class AsyncSchedulingBookings(AsyncResource):
    """Operations `scheduling.bookings`."""

    def list(
        self,
        *,
        event_type_id: str | None = None,
        status: Literal["pending", "confirmed", "rejected", "cancelled", "expired", "completed"] | None = None,
        invitee_email: str | None = None,
        start: str | None = None,
        end: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.BookingPage, types.Booking]:
        """List bookings by their start.

        A key that is bound to connections sees the bookings that name no other connection, neither
        as a host nor in `calendarEvents`. With several filters a page can be short: only a null
        `next_cursor` marks the end.

        Needs the scope `scheduling.read`.

        Args:
            event_type_id: Returns only bookings of this event type.
            status: Returns only bookings in this state.
            invitee_email: Returns only bookings of the invitee with this email address, however it
                is spelled.
            start: Returns only bookings that start at this time or later: an RFC 3339 instant, or a
                date, which stands for its midnight in UTC.
            end: Returns only bookings that start before this time: an RFC 3339 instant, or a date,
                which stands for its midnight in UTC.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/scheduling/bookings"
        query = {
            "event_type_id": event_type_id,
            "status": status,
            "invitee_email": invitee_email,
            "start": start,
            "end": end,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewBooking,
        **options: Unpack[WriteOptions],
    ) -> types.Booking:
        """Book a slot.

        A 400 names every fault of the body in `details`, at most 20. Exactly one of several
        requests for the same slot succeeds; the others get 409 `slot_unavailable`, and so does
        every start that the slot search does not offer. 409 `booking_limit_reached`: the address
        already has as many upcoming bookings as the event type allows. `slug` names the link that
        the invitee came by: a link for a single booking is used up with it; one that belongs to
        another event type, is expired or used up gives 404. The event is written to the host's
        calendar right after the answer; `calendarEvents` shows the progress. An event that invites
        the invitee and guests has none of the invitee's notes, answers and phone number, because
        providers send it to them: its description links hosts to a page that shows these. Only keys
        with `scheduling.read` see who the hosts are. A key without it, such as one for web pages,
        cannot set `metadata` (400). With such a key an email address gets three bookings an hour in
        the application, as invitee or as guest, including those of the booking page, in any
        spelling and with any `+tag`; the next one gets 429 `rate_limited` with `Retry-After`, and
        `param` is `inviteeEmail` or `guests[0].email`.

        Needs the scope `scheduling.book`.
        """
        path = "/v1/scheduling/bookings"
        answer: types.Booking = await self._json("POST", path, None, body, options)
        return answer

    async def get(
        self,
        booking_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.Booking:
        """Read a booking.

        Changes that the organizer makes to the event in their own calendar change the booking. A
        new time reschedules it, and the invitation asks the invitee to accept. A declined or
        deleted event cancels it; a deleted one only after a minute, in which the other calendars of
        the account are searched for it. If the event was moved to one of them, the booking stays,
        `calendarEvents` names the new calendar, and `booking.updated` is logged. If the event
        becomes an all-day event, the booking keeps its time: `calendarEvents[].error` says so,
        `booking.updated` is logged, and an email asks the host for a time.

        Needs the scope `scheduling.read`.
        """
        path = f"/v1/scheduling/bookings/{segment(booking_id)}"
        answer: types.Booking = await self._json("GET", path, None, None, options)
        return answer

    async def update(
        self,
        booking_id: str,
        body: types.BookingPatch,
        **options: Unpack[ChangeOptions],
    ) -> types.Booking:
        """Change your notes on a booking, or record who did not come.

        A JSON merge patch of `metadata` and `noShow`; other changes have operations of their own.
        `noShow` can be set once a confirmed or completed booking has begun: 409 `invalid_state` for
        others. It names the invitee and guests by their email addresses.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/bookings/{segment(booking_id)}"
        answer: types.Booking = await self._json("PATCH", path, None, body, options)
        return answer

    async def confirm(
        self,
        booking_id: str,
        **options: Unpack[WriteOptions],
    ) -> types.Booking:
        """Confirm a pending booking.

        Hosts can do the same without a key, by the links in the email that asks them. If several
        confirm or reject at the same time, one succeeds and the others get 409 `invalid_state`. If
        the event type does not block slots of pending bookings, the time is reserved now: 409
        `slot_unavailable` if it is taken, 503 `availability_unknown` if the hosts' calendars cannot
        be read.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/bookings/{segment(booking_id)}/confirm"
        answer: types.Booking = await self._json("POST", path, None, None, options)
        return answer

    async def reject(
        self,
        booking_id: str,
        body: types.BookingRejection | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.Booking:
        """Reject a pending booking.

        The time of the booking is free again as soon as the answer arrives. 409 `invalid_state` for
        a booking that is not pending.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/bookings/{segment(booking_id)}/reject"
        answer: types.Booking = await self._json("POST", path, None, body, options)
        return answer

    async def cancel(
        self,
        booking_id: str,
        body: types.BookingCancellation | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.Booking:
        """Cancel a booking.

        The time of the booking is free again as soon as the answer arrives; its event is deleted
        from the host's calendar right after that. A key without `scheduling.write` needs the
        invitee's `manageToken`, and the event type's `cancellation` rules apply: 403 `forbidden` if
        invitees may not cancel, 409 `invalid_state` if it is too late. Neither applies to a key
        with `scheduling.write` that sends no `manageToken`. 409 `invalid_state` for a booking that
        has already ended.

        Needs the scope `scheduling.book`.
        """
        path = f"/v1/scheduling/bookings/{segment(booking_id)}/cancel"
        answer: types.Booking = await self._json("POST", path, None, body, options)
        return answer

    async def reschedule(
        self,
        booking_id: str,
        body: types.BookingMove,
        **options: Unpack[WriteOptions],
    ) -> types.Booking:
        """Reschedule a booking.

        The booking keeps its id, and its `iCalUid` as long as its organizer is the same; `sequence`
        goes up. Its old time is free and its new time taken as soon as the answer arrives; the
        calendar event is moved right after that. 409 `slot_unavailable` for a `start` that the slot
        search with this `rescheduleBookingId` does not offer, 409 `invalid_state` for a booking
        that is not confirmed. A key without `scheduling.write` needs the invitee's `manageToken`,
        and the event type's `reschedule` rules apply: 403 `forbidden` if invitees may not
        reschedule, 409 `invalid_state` if it is too late or was done too often; if bookings need a
        confirmation, this one is pending again. None of that applies to a key with
        `scheduling.write` that sends no `manageToken`.

        Needs the scope `scheduling.book`.
        """
        path = f"/v1/scheduling/bookings/{segment(booking_id)}/reschedule"
        answer: types.Booking = await self._json("POST", path, None, body, options)
        return answer

    async def modify(
        self,
        booking_id: str,
        change: Callable[[types.Booking], types.BookingPatch | None | Awaitable[types.BookingPatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.Booking:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/scheduling/bookings/{segment(booking_id)}"
        answer: types.Booking = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncSchedulingEventTypes(AsyncResource):
    """Operations `scheduling.event_types`."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.links = AsyncSchedulingEventTypesLinks(transport)

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.SchedulingEventTypePage, types.SchedulingEventType]:
        """List event types.

        A key that is bound to connections sees the event types that use no other connection,
        neither as a host nor in `notifications.connectionId`.

        Needs the scope `scheduling.read`.

        Args:
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/scheduling/event-types"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewSchedulingEventType,
        **options: Unpack[WriteOptions],
    ) -> types.SchedulingEventType:
        """Create an event type.

        The event type acts with the rights of the key that saves it: keys and visitors that book
        need no rights to the hosts' calendars. So the key must be allowed to use the connection of
        every host, and both the key and the connection need `calendar.write`. To send email the key
        needs `email.send`: for `notifications.connectionId`, for hosts whose connections were
        granted it, and to turn on `notifications.invitee` or `notifications.hosts`. 403
        `insufficient_scope` names each field in `details`. If a key without `email.send` leaves
        both out and no host could send, both are false, with the warning
        `notification_unavailable`. Without `calendarId` bookings are written to the account's
        default calendar. Without `conflictCalendarIds` the host is busy in all calendars that count
        in availability; with them, in these and in the one that bookings are written to. `slug` is
        unique within the application (409 `already_exists`). There are at most 100 hosts, each
        connection once. `assignment`: with `fixed` all hosts with the role `required` meet; with
        `collective` all but `optional` ones; with `roundRobin` the required ones and one with the
        role `rotation`, by `roundRobinStrategy`; with `priority` the same, and the one with the
        smallest `priority` who is free. Optional hosts are invited and never block a slot. Hours
        are in `schedule`, or in a shared one that `scheduleId` names. A new event type without
        either, whose hosts have no hours of their own, is open Monday to Friday from 9:00 to 17:00
        in the time zone of its first host: that of the account's primary calendar, or else of the
        account, or else UTC, with the warning `default_time_zone`. A new host without `displayName`
        gets the account's name; an empty one shows no name. With `seatsPerSlot`, that many bookings
        share one meeting. With `requiresConfirmation`, bookings are `pending` until they are
        confirmed; `pendingBlocksSlot` says whether they block their time until then. A `googleMeet`
        or `teams` location without a link needs calendars that create such conferences (400
        `capability_not_supported`).

        Needs the scope `scheduling.write`.
        """
        path = "/v1/scheduling/event-types"
        answer: types.SchedulingEventType = await self._json("POST", path, None, body, options)
        return answer

    async def get(
        self,
        event_type_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.SchedulingEventType:
        """Read an event type.

        Needs the scope `scheduling.read`.
        """
        path = f"/v1/scheduling/event-types/{segment(event_type_id)}"
        answer: types.SchedulingEventType = await self._json("GET", path, None, None, options)
        return answer

    async def update(
        self,
        event_type_id: str,
        body: types.SchedulingEventTypePatch,
        **options: Unpack[ChangeOptions],
    ) -> types.SchedulingEventType:
        """Change an event type.

        Existing bookings stay as they are. To change hosts, conferences or notifications, your key
        needs the same rights for the new values as for a new event type. To change other fields it
        needs none of these.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/event-types/{segment(event_type_id)}"
        answer: types.SchedulingEventType = await self._json("PATCH", path, None, body, options)
        return answer

    async def delete(
        self,
        event_type_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete an event type.

        Its bookings stay. Its slug can be used again at once.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/event-types/{segment(event_type_id)}"
        await self._nothing("DELETE", path, None, None, options)

    async def modify(
        self,
        event_type_id: str,
        change: Callable[[types.SchedulingEventType], types.SchedulingEventTypePatch | None | Awaitable[types.SchedulingEventTypePatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.SchedulingEventType:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/scheduling/event-types/{segment(event_type_id)}"
        answer: types.SchedulingEventType = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncSchedulingEventTypesLinks(AsyncResource):
    """Operations `scheduling.event_types.links`."""

    def list(
        self,
        event_type_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.BookingLinkPage, types.BookingLink]:
        """List the booking links of an event type.

        The event type's own slug, and further links, sorted by slug. `active` is false for a link
        that is expired or used up.

        Needs the scope `scheduling.read`.

        Args:
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = f"/v1/scheduling/event-types/{segment(event_type_id)}/links"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        event_type_id: str,
        body: types.NewBookingLink | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenBookingLink:
        """Create a booking link.

        The slug of the new link cannot be guessed. A link with `singleUse` is valid for one
        booking, one with `expiresAt` until that time; after that it answers 404, as if it had never
        existed. A booking that is made through the API uses the link that its `slug` names. The
        body is optional.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/event-types/{segment(event_type_id)}/links"
        answer: types.WrittenBookingLink = await self._json("POST", path, None, body, options)
        return answer

    async def delete(
        self,
        event_type_id: str,
        slug: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a booking link.

        Bookings that were made by it stay. The event type's own slug cannot be deleted: 409
        `invalid_state`.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/event-types/{segment(event_type_id)}/links/{segment(slug)}"
        await self._nothing("DELETE", path, None, None, options)


class AsyncSchedulingSchedules(AsyncResource):
    """Operations `scheduling.schedules`."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.SharedSchedulePage, types.SharedSchedule]:
        """List schedules.

        A key that is bound to connections sees the schedules that keys for these connections
        created, and those of event types whose hosts are all among them.

        Needs the scope `scheduling.read`.

        Args:
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/scheduling/schedules"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewSharedSchedule,
        **options: Unpack[WriteOptions],
    ) -> types.SharedSchedule:
        """Create a schedule.

        Event types use a schedule by `scheduleId`. A change of its hours applies to them at once.

        Needs the scope `scheduling.write`.
        """
        path = "/v1/scheduling/schedules"
        answer: types.SharedSchedule = await self._json("POST", path, None, body, options)
        return answer

    async def get(
        self,
        schedule_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.SharedSchedule:
        """Read a schedule.

        Needs the scope `scheduling.read`.
        """
        path = f"/v1/scheduling/schedules/{segment(schedule_id)}"
        answer: types.SharedSchedule = await self._json("GET", path, None, None, options)
        return answer

    async def update(
        self,
        schedule_id: str,
        body: types.SharedSchedulePatch,
        **options: Unpack[ChangeOptions],
    ) -> types.SharedSchedule:
        """Change a schedule.

        Existing bookings stay as they are. 403 `forbidden` if your key may not use every host of
        the event types that use the schedule, because the change would set the hours of others.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/schedules/{segment(schedule_id)}"
        answer: types.SharedSchedule = await self._json("PATCH", path, None, body, options)
        return answer

    async def delete(
        self,
        schedule_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a schedule.

        409 `invalid_state` while an event type uses the schedule; 403 `forbidden` if your key may
        not use all hosts of that event type.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/schedules/{segment(schedule_id)}"
        await self._nothing("DELETE", path, None, None, options)

    async def modify(
        self,
        schedule_id: str,
        change: Callable[[types.SharedSchedule], types.SharedSchedulePatch | None | Awaitable[types.SharedSchedulePatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.SharedSchedule:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/scheduling/schedules/{segment(schedule_id)}"
        answer: types.SharedSchedule = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncTaskLists(AsyncResource):
    """Operations `task_lists`."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.sync = AsyncTaskListsSync(transport)
        self.tasks = AsyncTaskListsTasks(transport)

    def list(
        self,
        *,
        connection_id: str | None = None,
        include: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.TaskListPage, types.TaskList]:
        """List task lists.

        Needs the scope `tasks.read`.

        Args:
            connection_id: Returns only items of this connection; without it, items of all
                connections that the key may use.
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/task-lists"
        query = {
            "connection_id": connection_id,
            "include": include,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewTaskList,
        **options: Unpack[WriteOptions],
    ) -> types.TaskList:
        """Create a task list.

        Needs the scope `tasks.write`.
        """
        path = "/v1/task-lists"
        answer: types.TaskList = await self._json("POST", path, None, body, options)
        return answer

    async def get(
        self,
        task_list_id: str,
        *,
        include: Sequence[str] | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.TaskList:
        """Read a task list.

        Needs the scope `tasks.read`.

        Args:
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}"
        query = {"include": include}
        answer: types.TaskList = await self._json("GET", path, query, None, options)
        return answer

    async def update(
        self,
        task_list_id: str,
        body: types.TaskListPatch,
        **options: Unpack[ChangeOptions],
    ) -> types.TaskList:
        """Change a task list.

        Needs the scope `tasks.write`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}"
        answer: types.TaskList = await self._json("PATCH", path, None, body, options)
        return answer

    async def delete(
        self,
        task_list_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a task list with its tasks.

        The account's default list cannot be deleted: 409 `invalid_state`.

        Needs the scope `tasks.write`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}"
        await self._nothing("DELETE", path, None, None, options)

    async def modify(
        self,
        task_list_id: str,
        change: Callable[[types.TaskList], types.TaskListPatch | None | Awaitable[types.TaskListPatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.TaskList:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}"
        answer: types.TaskList = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncTaskListsSync(AsyncResource):
    """Operations `task_lists.sync`."""

    async def start(
        self,
        task_list_id: str,
        body: types.SyncStart | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenSyncState:
        """Start incremental sync of a task list.

        From now on the service keeps its copy of the list up to date. Starting the sync again
        changes nothing and answers 200.

        Needs the scope `tasks.read`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/sync/start"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def changes(
        self,
        task_list_id: str,
        *,
        cursor: str | None = None,
        after_sequence: int | None = None,
        limit: int | None = None,
        include: Literal["resource"] | Literal["none"] | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.SyncChanges:
        """Read what changed in a task list.

        Without `cursor`, the feed begins with every task that exists. Read until `next_cursor` is
        null, store `sync_cursor`, and pass it as `cursor` next time.

        Needs the scope `tasks.read`.

        Args:
            cursor: The `next_cursor` or `sync_cursor` of an earlier answer. Without it the feed
                begins with everything that there is.
            after_sequence: The `sequence` of an event, instead of a cursor: the feed continues
                after that event. Webhooks, `/v1/events` and its stream have the same numbers. A
                hard reset invalidates cursors but not these positions: the feed continues in the
                new epoch. 409 `sync_reset_required` if the events after it have been deleted.
            limit: The number of changes that are read for a page, 100 if absent; more than 500 is
                taken as 500.
            include: The form of a change: with its resource (the default), or with the id alone.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/sync/changes"
        query = {
            "cursor": cursor,
            "after_sequence": after_sequence,
            "limit": limit,
            "include": include,
        }
        answer: types.SyncChanges = await self._json("GET", path, query, None, options)
        return answer

    def follow(
        self,
        task_list_id: str,
        *,
        after_sequence: int | None = None,
        limit: int | None = None,
        include: Literal["resource"] | Literal["none"] | None = None,
        **options: Unpack[AsyncFollowOptions],
    ) -> AsyncGenerator[types.Change, None]:
        """Yields changes as they come, from the stored cursor on.

        The cursor of a page is stored when its last change was processed and the next one is asked
        for, so a change can come twice after a crash and is never lost.

        Args:
            after_sequence: The `sequence` of an event, instead of a cursor: the feed continues
                after that event. Webhooks, `/v1/events` and its stream have the same numbers. A
                hard reset invalidates cursors but not these positions: the feed continues in the
                new epoch. 409 `sync_reset_required` if the events after it have been deleted.
            limit: The number of changes that are read for a page, 100 if absent; more than 500 is
                taken as 500.
            include: The form of a change: with its resource (the default), or with the id alone.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/sync/changes"
        query = {"after_sequence": after_sequence, "limit": limit, "include": include}
        return self._follow(path, query, options)

    async def reset(
        self,
        task_list_id: str,
        body: types.SyncReset | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenSyncState:
        """Read a task list from the beginning.

        With `soft`, cursors stay valid and the feed reports only differences. With `hard`, earlier
        cursors become invalid and the feed reports everything again.

        Needs the scope `tasks.read`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/sync/reset"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def status(
        self,
        task_list_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.SyncState:
        """Read the state of the sync of a task list.

        Needs the scope `tasks.read`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/sync/status"
        answer: types.SyncState = await self._json("GET", path, None, None, options)
        return answer


class AsyncTaskListsTasks(AsyncResource):
    """Operations `task_lists.tasks`."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.checklist_items = AsyncTaskListsTasksChecklistItems(transport)
        self.links = AsyncTaskListsTasksLinks(transport)

    def list(
        self,
        task_list_id: str,
        *,
        q: str | None = None,
        status: types.TaskStatus | None = None,
        open: bool | None = None,
        due_after: str | None = None,
        due_before: str | None = None,
        parent_id: str | None = None,
        category: str | None = None,
        updated_after: str | None = None,
        include: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.TaskPage, types.Task]:
        """List tasks.

        The tasks are sorted by `position` if the provider has one, then by id. Subtasks are in the
        list, too.

        Needs the scope `tasks.read`.

        Args:
            q: Words, separated by spaces, that all occur in the title, the notes, the checklist
                items, the categories or the assignees. Case and accents do not matter.
            status: Returns only tasks in this state.
            open: Returns only open tasks, which are neither completed nor cancelled; with `false`,
                only the others.
            due_after: Returns only tasks that are due on this day or later.
            due_before: Returns only tasks that are due before this day.
            parent_id: Returns only subtasks of this task.
            category: Returns only tasks with this category.
            updated_after: Returns only tasks that changed at this time or later. A date stands for
                its midnight in UTC.
            include: Parts that the answer has beside the usual ones: `providerData` adds the
                provider's fields that the model has no field for. Other words are ignored.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks"
        query = {
            "q": q,
            "status": status,
            "open": open,
            "due_after": due_after,
            "due_before": due_before,
            "parent_id": parent_id,
            "category": category,
            "updated_after": updated_after,
            "include": include,
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)

    async def create(
        self,
        task_list_id: str,
        body: types.NewTask,
        **options: Unpack[WriteOptions],
    ) -> types.Task:
        """Create a task.

        Needs the scope `tasks.write`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks"
        answer: types.Task = await self._json("POST", path, None, body, options)
        return answer

    async def get(
        self,
        task_list_id: str,
        task_id: str,
        *,
        include: Sequence[str] | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.Task:
        """Read a task.

        Needs the scope `tasks.read`.

        Args:
            include: Parts that the answer has beside the usual ones: `providerData` adds what the
                model has no field for. Other words are ignored.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks/{segment(task_id)}"
        query = {"include": include}
        answer: types.Task = await self._json("GET", path, query, None, options)
        return answer

    async def update(
        self,
        task_list_id: str,
        task_id: str,
        body: types.TaskPatch,
        **options: Unpack[ChangeOptions],
    ) -> types.Task:
        """Change or complete a task.

        The body is a JSON merge patch (RFC 7396). Setting `status` to `completed` sets
        `completedAt`; another status clears it.

        Needs the scope `tasks.write`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks/{segment(task_id)}"
        answer: types.Task = await self._json("PATCH", path, None, body, options)
        return answer

    async def delete(
        self,
        task_list_id: str,
        task_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a task.

        Needs the scope `tasks.write`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks/{segment(task_id)}"
        await self._nothing("DELETE", path, None, None, options)

    async def modify(
        self,
        task_list_id: str,
        task_id: str,
        change: Callable[[types.Task], types.TaskPatch | None | Awaitable[types.TaskPatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.Task:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks/{segment(task_id)}"
        answer: types.Task = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncTaskListsTasksChecklistItems(AsyncResource):
    """Operations `task_lists.tasks.checklist_items`."""

    def list(
        self,
        task_list_id: str,
        task_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.ChecklistItemPage, types.ChecklistItem]:
        """List the checklist items of a task.

        Needs the scope `tasks.read`.

        Args:
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks/{segment(task_id)}/checklist-items"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        task_list_id: str,
        task_id: str,
        body: types.NewChecklistItem,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenChecklistItem:
        """Add a checklist item.

        A provider without checklists answers 400 `capability_not_supported`.

        Needs the scope `tasks.write`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks/{segment(task_id)}/checklist-items"
        answer: types.WrittenChecklistItem = await self._json("POST", path, None, body, options)
        return answer

    async def update(
        self,
        task_list_id: str,
        task_id: str,
        item_id: str,
        body: types.ChecklistItemPatch,
        **options: Unpack[ChangeOptions],
    ) -> types.WrittenChecklistItem:
        """Change or tick a checklist item.

        Needs the scope `tasks.write`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks/{segment(task_id)}/checklist-items/{segment(item_id)}"
        answer: types.WrittenChecklistItem = await self._json("PATCH", path, None, body, options)
        return answer

    async def delete(
        self,
        task_list_id: str,
        task_id: str,
        item_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a checklist item.

        Needs the scope `tasks.write`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks/{segment(task_id)}/checklist-items/{segment(item_id)}"
        await self._nothing("DELETE", path, None, None, options)


class AsyncTaskListsTasksLinks(AsyncResource):
    """Operations `task_lists.tasks.links`."""

    def list(
        self,
        task_list_id: str,
        task_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.TaskLinkPage, types.TaskLink]:
        """List the links of a task.

        Needs the scope `tasks.read`.

        Args:
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks/{segment(task_id)}/links"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        task_list_id: str,
        task_id: str,
        body: types.NewTaskLink,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenTaskLink:
        """Link a task to a message, an event, a contact or a page.

        The link has either `url` or `resourceId`, the id of an event or a contact that the key may
        read. A key without `calendar.read` or `contacts.read` gets 403 `insufficient_scope`. A
        provider without links answers 400 `capability_not_supported`. Links to messages cannot be
        created yet.

        Needs the scope `tasks.write`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks/{segment(task_id)}/links"
        answer: types.WrittenTaskLink = await self._json("POST", path, None, body, options)
        return answer

    async def delete(
        self,
        task_list_id: str,
        task_id: str,
        link_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a link.

        Needs the scope `tasks.write`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks/{segment(task_id)}/links/{segment(link_id)}"
        await self._nothing("DELETE", path, None, None, options)


class AsyncTest(AsyncResource):
    """Operations `test`."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.faults = AsyncTestFaults(transport)

    async def deliver(
        self,
        body: types.NewTestMessage,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenTestItem:
        """Deliver a message to a sandbox mailbox.

        The message comes from `tester@sandbox.test` and is in the inbox of the account at once;
        `email.message.created` follows when the connection is synced. All applications of the
        server share the accounts of the sandbox.

        Needs the scope `connections.write`.
        """
        path = "/v1/test/deliver"
        answer: types.WrittenTestItem = await self._json("POST", path, None, body, options)
        return answer

    async def trigger(
        self,
        body: types.NewTestEvent,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenTestItem:
        """Make an event happen in the sandbox.

        Adds an item to the account of a connection, as another program would; the event follows
        when the connection is synced. All applications of the server share the accounts of the
        sandbox.

        Needs the scope `connections.write`.
        """
        path = "/v1/test/trigger"
        answer: types.WrittenTestItem = await self._json("POST", path, None, body, options)
        return answer


class AsyncTestFaults(AsyncResource):
    """Operations `test.faults`."""

    async def create(
        self,
        body: types.TestFault,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenTestFault:
        """Make calls of the sandbox fail.

        Plans a failure for the next calls of a connection to the sandbox, at most 50 at a time for
        each account. It affects only calls of your application, and is lost when the server
        restarts. Calls that read or change data fail; connecting an account and renewing tokens do
        not.

        Needs the scope `connections.write`.
        """
        path = "/v1/test/faults"
        answer: types.WrittenTestFault = await self._json("POST", path, None, body, options)
        return answer


class AsyncUsage(AsyncResource):
    """Operations `usage`."""

    async def get(
        self,
        *,
        start: str | None = None,
        end: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.Usage:
        """Read the application's usage.

        By default for the current month, in UTC. Figures of the last seconds may be missing, and
        those of providers' quotas of the last minute.

        Needs the scope `usage.read`.

        Args:
            start: The first day of the period, `YYYY-MM-DD` in UTC. By default, it is the first day
                of this month.
            end: The last day of the period, `YYYY-MM-DD` in UTC, at most 366 days after `start`. By
                default, it is today.
        """
        path = "/v1/usage"
        query = {"start": start, "end": end}
        answer: types.Usage = await self._json("GET", path, query, None, options)
        return answer


class AsyncWebhooks(AsyncResource):
    """Operations `webhooks`."""

    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.deliveries = AsyncWebhooksDeliveries(transport)
        self.replays = AsyncWebhooksReplays(transport)

    async def create(
        self,
        body: types.NewWebhookSubscription,
        **options: Unpack[WriteOptions],
    ) -> types.WebhookSubscription:
        """Create a webhook.

        The answer holds `secret`. It is shown only once; an idempotent replay shows it again. The
        webhook receives every event from then on. Event types need the scopes that read their
        resources (403 `insufficient_scope` names the missing one), and a key that is bound to
        connections subscribes to their events only. The URL must lead to a public address, which is
        checked again for every attempt. If its host cannot be resolved now, the URL is accepted
        with a warning. The webhook ends with the API key or access token that creates it (`keyId`):
        it is then disabled with `key_ended`, unless the key was replaced (see `DELETE
        /v1/api-keys/{keyId}`). If that key expires, the warning `ends_with_key` says when. The
        values of `headers` are sent to the receiver and never shown: every answer has `********`
        instead. An application has at most 10,000 webhooks.

        Needs the scope `webhooks.write`.
        """
        path = "/v1/webhooks"
        answer: types.WebhookSubscription = await self._json("POST", path, None, body, options)
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.WebhookSubscriptionPage, types.WebhookSubscription]:
        """List webhooks.

        A key that is bound to connections sees the webhooks that receive events of these
        connections only.

        Needs the scope `webhooks.read`.

        Args:
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = "/v1/webhooks"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def get(
        self,
        webhook_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.WebhookSubscription:
        """Read a webhook.

        Needs the scope `webhooks.read`.
        """
        path = f"/v1/webhooks/{segment(webhook_id)}"
        answer: types.WebhookSubscription = await self._json("GET", path, None, None, options)
        return answer

    async def update(
        self,
        webhook_id: str,
        body: types.WebhookSubscriptionPatch,
        **options: Unpack[ChangeOptions],
    ) -> types.WebhookSubscription:
        """Change, pause or resume a webhook, or rotate its secret.

        `paused` keeps the position: `active` continues where it stopped, as far back as events are
        kept. `disabled` discards waiting deliveries, and `active` then starts with new events. A
        change applies to everything that was not attempted yet. With `rotateSecret`, or a `secret`
        of your own, the answer holds the new secret, which is shown only once; the old one also
        signs for `secretGraceSeconds`. With `0` all earlier secrets end at once, even if you send
        that alone. To change what is sent, or where, your key needs the same scopes as for a new
        webhook. A webhook gets more event types only if the request names `url` or `eventTypes`: it
        then belongs to the key of the request (`keyId`), and receives what that key may read. A
        change of any other field removes what the key of the request may not read, and adds no
        event types; if it lets more through (`connectionIds`, `includeBackfill`, `payloadMode`) and
        that key ends earlier, the webhook then belongs to that key. In `headers` a masked value
        keeps the stored one. If you change `url` to another server, send the values again: stored
        ones are not sent there.

        Needs the scope `webhooks.write`.
        """
        path = f"/v1/webhooks/{segment(webhook_id)}"
        answer: types.WebhookSubscription = await self._json("PATCH", path, None, body, options)
        return answer

    async def delete(
        self,
        webhook_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a webhook.

        No further notifications are sent. An attempt that is under way may still arrive.

        Needs the scope `webhooks.write`.
        """
        path = f"/v1/webhooks/{segment(webhook_id)}"
        await self._nothing("DELETE", path, None, None, options)

    async def test(
        self,
        webhook_id: str,
        **options: Unpack[WriteOptions],
    ) -> types.Delivery:
        """Send a test event.

        Sends the event `webhook.test` to this webhook alone, whatever its event types are, and
        waits up to 16 seconds for the first attempt. The answer is 200 with the delivery even if
        the attempt failed: `attempts` says what the endpoint answered. A delivery without an
        attempt is still under way, because the endpoint is slow or asked for a pause. A failed test
        is retried and counts as a failure of the endpoint, like any delivery. 409 `invalid_state`
        while the webhook is paused or disabled.

        Needs the scope `webhooks.write`.
        """
        path = f"/v1/webhooks/{segment(webhook_id)}/test"
        answer: types.Delivery = await self._json("POST", path, None, None, options)
        return answer

    async def replay(
        self,
        webhook_id: str,
        body: types.NewWebhookReplay | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenWebhookReplay:
        """Start a replay.

        Sends events once more: 1 to 1,000 by their ids (`eventIds`), or all that happened from
        `from` on and before `to`, whether they arrived before or not. `eventTypes` and `onlyFailed`
        narrow both. They are sent in the order of the log with the same `webhook-id` and the same
        body, and with `webhook-replay`, in the form that the webhook asks for when they are sent.
        Tests of the webhook are sent again by their ids only. Failed attempts are retried as usual
        and do not count against the endpoint. An id that is no event of the application gives 400
        with its place in `param`, and all such places in `details`; a warning names events that are
        left out. A `from` before the oldest event that is kept gives 400 `invalid_time_range`, and
        the message says from when on events are kept. A range may be of any length: at most about
        1,000 of its events wait at a time. The first 10,000 events of the log in it are counted for
        the answer; while `counted` is false, `eventCount` grows as events are sent. 409
        `invalid_state` while the webhook is paused or disabled. 429 while 100 replays of it are
        running, or 100,000 deliveries of its replays are waiting, including those that a pause has
        left. If the webhook is paused later, a replay with events that are not waiting yet becomes
        `failed` (`webhook_paused`): waiting ones are sent when the webhook is resumed, and
        `continueFrom` is the `from` of a replay of the others. If the webhook is disabled, replays
        become `failed` (`webhook_disabled`), and waiting deliveries are given up.

        Needs the scope `webhooks.write`.
        """
        path = f"/v1/webhooks/{segment(webhook_id)}/replay"
        answer: types.WrittenWebhookReplay = await self._json("POST", path, None, body, options)
        return answer

    async def modify(
        self,
        webhook_id: str,
        change: Callable[[types.WebhookSubscription], types.WebhookSubscriptionPatch | None | Awaitable[types.WebhookSubscriptionPatch | None]],
        *,
        attempts: int = 3,
        **options: Unpack[ReadOptions],
    ) -> types.WebhookSubscription:
        """Reads the resource and writes a change of it, again if it was changed in between.

        Args:
            change: Returns the patch for the resource as it is now, or `None` to leave it.
            attempts: Times that the resource is read; after the last one `StaleEtagError` is
                raised.
        """
        path = f"/v1/webhooks/{segment(webhook_id)}"
        answer: types.WebhookSubscription = await self._modify(path, None, change, attempts, options)
        return answer


class AsyncWebhooksDeliveries(AsyncResource):
    """Operations `webhooks.deliveries`."""

    def list(
        self,
        webhook_id: str,
        *,
        status: Literal["pending", "delivered", "failed", "discarded"] | None = None,
        event_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.DeliveryPage, types.Delivery]:
        """List a webhook's deliveries.

        The newest event comes first, and of one event its replays come first. An event that was not
        attempted yet has no delivery here, unless it belongs to a replay or a test. Deliveries that
        arrived are kept for 72 hours, those that were given up (`failed`, `discarded`) as long as
        events. A page can be shorter than `limit`, or empty, without being the last one: only a
        null `next_cursor` marks the end.

        Needs the scope `webhooks.read`.

        Args:
            status: Returns only deliveries in this state.
            event_id: Returns only deliveries of the event with this id, which is also its
                `webhook-id`.
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = f"/v1/webhooks/{segment(webhook_id)}/deliveries"
        query = {"status": status, "event_id": event_id, "limit": limit, "cursor": cursor}
        return self._pages(path, query, options)


class AsyncWebhooksReplays(AsyncResource):
    """Operations `webhooks.replays`."""

    def list(
        self,
        webhook_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.WebhookReplayPage, types.WebhookReplay]:
        """List a webhook's replays.

        The newest replay comes first. A replay is kept as long as events after it has ended.

        Needs the scope `webhooks.read`.

        Args:
            limit: The number of items on a page, from 1; more than 200 is taken as 200. A page has
                fewer items if together they have more than 4 MiB: only `next_cursor` says whether
                it is the last page.
            cursor: The `next_cursor` of the page before; absent for the first page. Keep the other
                parameters of the first request.
        """
        path = f"/v1/webhooks/{segment(webhook_id)}/replays"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def get(
        self,
        webhook_id: str,
        replay_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.WebhookReplay:
        """Read a replay.

        Shows how far the replay has got. A replay is kept as long as events after it has ended.

        Needs the scope `webhooks.read`.
        """
        path = f"/v1/webhooks/{segment(webhook_id)}/replays/{segment(replay_id)}"
        answer: types.WebhookReplay = await self._json("GET", path, None, None, options)
        return answer
