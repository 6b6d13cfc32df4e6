# of clients.json sha256:935d2093306c4cfe11360a74a74d63783e1380d00afac74d5453aa44079a8053
"""The operations of the API as methods: one class for each part of the paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from switchboard._core import segment
from switchboard._async import AsyncEventFeed, AsyncResource

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable
    from contextlib import AbstractAsyncContextManager
    from typing import Unpack

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

        In the order in which they were made; those of one organization are sorted by name.

        Needs the scope `admin.read`.

        Args:
            organization_id: Only applications of this organization.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
        """
        path = "/v1/admin/applications"
        query = {"organization_id": organization_id, "limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewAdminApplication,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenAdminApplication:
        """Make an application.

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
        recorded for a time are no longer recorded either.

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

        The oldest one first, revoked keys included, without access tokens.

        Needs the scope `admin.read`.

        Args:
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

        The answer holds `key`, this once; an idempotent replay shows it again. It can have every
        scope but those of administration (400 `invalid_parameter`).

        Needs the scope `admin.write`.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/api-keys"
        answer: types.WrittenCreatedApiKey = await self._json("POST", path, None, body, options)
        return answer

    async def delete(
        self,
        application_id: str,
        key_id: str,
        *,
        webhooks: str | None = None,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Revoke an API key of an application.

        As `DELETE /v1/api-keys/{keyId}`, for every key of the application.

        Needs the scope `admin.write`.

        Args:
            webhooks: `disable`: disables its webhooks instead of passing them to another key. Use
                it for a stolen key: webhooks that the thief created end with it.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/api-keys/{segment(key_id)}"
        query = {"webhooks": webhooks}
        await self._nothing("DELETE", path, query, None, options)

    async def rotate(
        self,
        application_id: str,
        key_id: str,
        body: types.KeyRotation | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenRotatedApiKey:
        """Give an API key of an application a new secret.

        As `POST /v1/api-keys/{keyId}/rotate`, for every key of the application. 409
        `invalid_state`: the key is revoked or expired, it is an access token, or the overlap of an
        earlier rotation is not over and another one is asked for.

        Needs the scope `admin.write`.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/api-keys/{segment(key_id)}/rotate"
        answer: types.WrittenRotatedApiKey = await self._json("POST", path, None, body, options)
        return answer


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

        By name. A provider at which the application has no registration has `clientId` null; its
        `callbackUrl` is the address to enter when you register there.

        Needs the scope `admin.read`.

        Args:
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/providers"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def delete(
        self,
        application_id: str,
        provider: str,
        *,
        force: bool | None = None,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Remove a registration.

        409 `not_empty` while accounts of the provider are connected, whose tokens could then not be
        renewed any more.

        Needs the scope `admin.write`.

        Args:
            force: `true`: also while accounts are connected.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/providers/{segment(provider)}"
        query = {"force": force}
        await self._nothing("DELETE", path, query, None, options)

    async def replace(
        self,
        application_id: str,
        provider: str,
        body: types.NewAdminProvider,
        **options: Unpack[ChangeOptions],
    ) -> types.WrittenAdminProvider:
        """Register the application's OAuth client at a provider.

        Replaces the registration as a whole, but for the secret: without `clientSecret` the stored
        one stays. With `If-Match` it is only replaced if it still has that version. Addresses in
        `endpoints` are called under the same rules as all others: without leave of the host's
        settings none leads into a private network. Connections stay, and use the new registration.

        Needs the scope `admin.write`.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/providers/{segment(provider)}"
        answer: types.WrittenAdminProvider = await self._json("PUT", path, None, body, options)
        return answer


class AsyncAdminApplicationsRequests(AsyncResource):
    """Operations `admin.applications.requests`."""

    def list(
        self,
        application_id: str,
        *,
        status: str | None = None,
        key_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.AdminLoggedRequestPage, types.AdminLoggedRequest]:
        """List the logged requests of an application.

        The newest first. Every write and every error is logged, and one in a while of the other
        requests; each appears about a second after it was answered.

        Needs the scope `admin.read`.

        Args:
            status: Only answers of this class: `2xx`, `4xx`, `5xx`, or `error` for both kinds of
                errors.
            key_id: Only requests of this API key and its access tokens.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
        """
        path = f"/v1/admin/applications/{segment(application_id)}/requests"
        query = {"status": status, "key_id": key_id, "limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def get(
        self,
        application_id: str,
        request_id: str,
        *,
        include: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.AdminRequestDetail:
        """Read a logged request.

        Bodies need the scope `admin.write` too, and reading them is an entry of the audit log
        (`request_bodies_seen`). What an application's settings do not allow to be logged is not
        there.

        Needs the scope `admin.read`.

        Args:
            include: `bodies`: with the bodies of request and answer, where they were logged.
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

        What operators, keys of the administration and commands have done, the newest entry first.
        Entries are kept for 400 days. `actor_id` and `organization_id` exclude each other (400
        `conflicting_fields`).

        Needs the scope `admin.read`.

        Args:
            actor_id: Only what this operator or key has done; `command` for the command line.
            organization_id: Only what was done in this organization.
            start: Only entries from then on: an RFC 3339 instant, or a date.
            end: Only entries before then: an RFC 3339 instant, or a date.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

        As the host sees it that answers: its checks, its connections to the database, and the jobs
        and hosts of the whole installation. For probes of load balancers use `GET /readyz`, which
        needs no key.

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

        A host is a process that works on the database. One that stopped without saying so is shown
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

        The answer holds `url`, this once: a link that works for 7 days, by which the invited person
        chooses a name and a password, or joins with the account that they have. An idempotent
        replay shows it again. No mail is sent. Open invitations can be withdrawn in the panel. 409
        `invalid_state` if an organization has 100 open ones.

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
        state: str,
        kind: str | None = None,
        application_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.AdminJobPage, types.AdminJob]:
        """List jobs in the background.

        Jobs that wait for a time come first by that time, jobs that ended come last first. Jobs
        that are done are removed, and jobs that wait to be woken are in no list. With `kind` or
        `application_id` a page can have fewer jobs than `limit`, even none, while `next_cursor`
        leads on.

        Needs the scope `admin.read`.

        Args:
            state: `queued`, `running`, `failed` or `cancelled`.
            kind: Only jobs of this kind, such as `deliver`.
            application_id: Only jobs of this application.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

    async def cancel(
        self,
        job_id: str,
        **options: Unpack[WriteOptions],
    ) -> None:
        """Cancel a job.

        For a job that waits or has failed. 409 `invalid_state` while it runs, when it is cancelled
        already, and for kinds that cannot be cancelled by themselves: the message says what to do
        instead.

        Needs the scope `admin.write`.
        """
        path = f"/v1/admin/jobs/{segment(job_id)}/cancel"
        await self._nothing("POST", path, None, None, options)

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


class AsyncAdminOperators(AsyncResource):
    """Operations `admin.operators`."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.AdminOperatorPage, types.AdminOperator]:
        """List the people who may sign in to the panel.

        In the order in which they were created. Disabled operators are listed too: operators are
        never deleted, because the audit log names them.

        Needs the scope `admin.read`.

        Args:
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

        The answer holds `url`, this once: a link by which the operator sets a password, within an
        hour. An idempotent replay shows it again. No mail is sent. 409 `already_exists` if an
        operator has the address. To let people choose their own name, and to give rights to someone
        who has an account already, create an invitation (`POST /v1/admin/invitations`).

        Needs the scope `admin.operators`.
        """
        path = "/v1/admin/operators"
        answer: types.WrittenAdminCreatedOperator = await self._json("POST", path, None, body, options)
        return answer

    async def delete(
        self,
        operator_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Disable an operator.

        The operator's sessions end, and they cannot sign in any more. The operator stays in lists,
        with `disabledAt`; `PATCH` with `disabled: false` lets them sign in again. 409
        `invalid_state` for the last administrator and the last owner of an organization.

        Needs the scope `admin.operators`.
        """
        path = f"/v1/admin/operators/{segment(operator_id)}"
        await self._nothing("DELETE", path, None, None, options)

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

        All changes of a request happen together or not at all, and hold for the operator's next
        request. 409 `invalid_state` for a change that leaves the installation without an
        administrator who is not disabled (`last_admin`) or an organization without an owner
        (`last_owner`).

        Needs the scope `admin.operators`.
        """
        path = f"/v1/admin/operators/{segment(operator_id)}"
        answer: types.WrittenAdminOperator = await self._json("PATCH", path, None, body, options)
        return answer

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

        Sorted by name. The organization that the keys of the administration belong to is not
        listed.

        Needs the scope `admin.read`.

        Args:
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
        """
        path = "/v1/admin/organizations"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewAdminOrganization,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenAdminOrganization:
        """Make an organization.

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

    def list(
        self,
        *,
        kind: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.ApiKeyPage, types.ApiKey]:
        """List the application's API keys.

        To a key that is bound to connections: itself, and the keys that descend from it. Access
        tokens are listed by themselves, until an hour after they expire.

        Needs the scope `api_keys.write`.

        Args:
            kind: `key` (the default) or `access_token`.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
        """
        path = "/v1/api-keys"
        query = {"kind": kind, "limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewApiKey,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenCreatedApiKey:
        """Create an API key.

        The answer holds `key`, this once; an idempotent replay shows it again. It can do no more
        than the key that makes it: its scopes are among those, and every restriction of that key
        (domains, addresses, connections, rate, expiry) holds for it too, or is narrowed. To replace
        a key's secret, rotate it (`POST /v1/api-keys/{keyId}/rotate`).

        Needs the scope `api_keys.write`.
        """
        path = "/v1/api-keys"
        answer: types.WrittenCreatedApiKey = await self._json("POST", path, None, body, options)
        return answer

    async def delete(
        self,
        key_id: str,
        *,
        webhooks: str | None = None,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Revoke an API key.

        The key and its access tokens are refused everywhere within a second, and event streams that
        they opened end. Its webhooks pass to the newest valid key that was created later and has
        exactly its scopes and connections, so that a newer key can replace this one. If there is
        none, they are disabled (`key_ended`); webhooks of its access tokens always are. The key
        stays in lists, with `revokedAt`.

        Needs the scope `api_keys.write`.

        Args:
            webhooks: `disable`: disables its webhooks instead of passing them to another key. Use
                it for a stolen key: webhooks that the thief created end with it.
        """
        path = f"/v1/api-keys/{segment(key_id)}"
        query = {"webhooks": webhooks}
        await self._nothing("DELETE", path, query, None, options)

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

    async def rotate(
        self,
        key_id: str,
        body: types.KeyRotation | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenRotatedApiKey:
        """Give an API key a new secret.

        The answer holds the new secret in `key`, this once; an idempotent replay shows it again.
        The key keeps its id, and with it its scopes, restrictions, usage, webhooks, access tokens
        and the keys that it made. The old secret works until `previousExpiresAt`, `overlapSeconds`
        from now, so that clients can switch one after the other. Then it is refused everywhere
        within a second (401 `expired_api_key`), and event streams that it opened end. With `0` it
        ends at once, as does one left by an earlier rotation. 409 `invalid_state`: the key is
        revoked or expired, it is an access token, or the overlap of an earlier rotation is not over
        and another one is asked for. A key can rotate itself, and keys that may do no more than it:
        one with a scope that it lacks is 403 `insufficient_scope`, one that is less restricted 403
        `forbidden`.

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
        **options: Unpack[WriteOptions],
    ) -> types.Authorization:
        """Start connecting an account.

        Send the user to `authorizationUrl`; it works for ten minutes and once. With
        `codeChallenge`, the account is connected when you exchange its code. "Connecting by OAuth"
        above describes every step.

        Needs the scope `connections.write`.
        """
        path = f"/v1/auth/connectors/{segment(provider)}/authorize"
        answer: types.Authorization = await self._json("POST", path, None, body, options)
        return answer

    async def callback(
        self,
        provider: str,
        *,
        code: str | None = None,
        state: str | None = None,
        iss: str | None = None,
        error: str | None = None,
        admin_consent: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.AuthorizationResult:
        """Where the provider sends the user back.

        Redirects to the application's `redirectUri` with `connection_id`, `status` and `state`, or
        with `error`. `status` is `active`. After an authorization with `codeChallenge` it is
        `pending` and comes with a `code`: exchange it at `POST /v1/oauth/token` within 60 seconds
        to connect the account. Authenticated by `state`, which works once. With an API key (scope
        `connections.write`), or with `Accept: application/json`, the answer is JSON. If the request
        cannot be redirected, the user sees a page.

        Args:
            code: Of the provider.
            state: From the authorization.
            iss: The provider's issuer (RFC 9207).
            error: Of the provider, where it refused.
            admin_consent: Of the provider, where an administrator approved the application.
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
        include: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.CalendarPage, types.Calendar]:
        """List calendars.

        Needs the scope `calendar.read`.

        Args:
            connection_id: Only calendars of this connection; without it, of all that the key may
                use.
            include: `providerData` adds what the model has no field for.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

    async def get(
        self,
        calendar_id: str,
        *,
        include: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.Calendar:
        """Read a calendar.

        Needs the scope `calendar.read`.

        Args:
            include: `providerData` adds what the model has no field for.
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
        status: str | None = None,
        show_cancelled: bool | None = None,
        include: str | None = None,
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
            start: Only events that end after this instant.
            end: Only events that begin before this instant.
            expand: Instances instead of series; needs `start` and `end`, at most 400 days apart.
            updated_after: Only events changed at or after this instant.
            q: Words in title, description, location or attendees.
            i_cal_uid: Only events with this iCalendar UID.
            attendee: Only events with this attendee's address.
            status: confirmed, tentative or cancelled.
            show_cancelled: Cancelled events too.
            include: `providerData` adds what the model has no field for.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

        `notify` says whom the provider tells. Where it cannot tell exactly those, the event is
        written all the same, with the warning `notify_not_supported`; with `strict=true` it is
        refused.

        Needs the scope `calendar.write`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/events"
        answer: types.CalendarEvent = await self._json("POST", path, None, body, options)
        return answer

    async def delete(
        self,
        calendar_id: str,
        event_id: str,
        *,
        recurrence_scope: str | None = None,
        notify: str | None = None,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete an event.

        Where there is something to warn of, such as `notify_not_supported`, the answer is 200 with
        `warnings`.

        Needs the scope `calendar.write`.

        Args:
            recurrence_scope: this, thisAndFollowing or all.
            notify: Whom the provider tells: all, externalOnly or none.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/events/{segment(event_id)}"
        query = {"recurrence_scope": recurrence_scope, "notify": notify}
        await self._nothing("DELETE", path, query, None, options)

    async def get(
        self,
        calendar_id: str,
        event_id: str,
        *,
        include: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.CalendarEvent:
        """Read an event.

        Of a series also one instance: its id is the series' id, `_`, and the original start.

        Needs the scope `calendar.read`.

        Args:
            include: `providerData` adds what the model has no field for.
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

        A JSON merge patch. `recurrenceScope` says which instances are meant: `this` (default with
        the id of an instance), `thisAndFollowing`, `all` (default with the id of a series). Whom
        the provider tells is as for creating one.

        Needs the scope `calendar.write`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/events/{segment(event_id)}"
        answer: types.CalendarEvent = await self._json("PATCH", path, None, body, options)
        return answer

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
        the warning `duplicate_target`. Each target is answered for itself: one that failed has
        `status` `error`, is never reported as free, and makes `complete` false. `includeDetails`
        needs the scope `calendar.read`.

        Needs the scope `calendar.freebusy`.
        """
        path = "/v1/calendars/freebusy/query"
        answer: types.FreeBusyAnswer = await self._json("POST", path, None, body, options)
        return answer


class AsyncCalendarsSync(AsyncResource):
    """Operations `calendars.sync`."""

    async def changes(
        self,
        calendar_id: str,
        *,
        cursor: str | None = None,
        after_sequence: int | None = None,
        limit: int | None = None,
        include: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.SyncChanges:
        """Read what changed.

        Without `cursor` the feed begins with every event there is. Read until `next_cursor` is
        null, keep `sync_cursor`, and pass it as `cursor` next time.

        Needs the scope `calendar.read`.

        Args:
            cursor: `next_cursor` or `sync_cursor` of an earlier answer.
            after_sequence: Instead of a cursor: the `sequence` of an event, as webhooks,
                `/v1/events` and its stream tell it; the feed goes on after it. A hard reset ends
                cursors, and not these positions: the feed goes on in the new epoch. 409
                `sync_reset_required` once events from there on are not kept any more.
            limit: Changes read per page: 1 to 500, default 100.
            include: `resource` (default) or `none`.
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
        include: str | None = None,
        **options: Unpack[AsyncFollowOptions],
    ) -> AsyncGenerator[types.Change, None]:
        """Yields changes as they come, from the stored cursor on.

        The cursor of a page is stored when its last change was processed and the next one is asked
        for, so a change can come twice after a crash and is never lost.

        Args:
            after_sequence: Instead of a cursor: the `sequence` of an event, as webhooks,
                `/v1/events` and its stream tell it; the feed goes on after it. A hard reset ends
                cursors, and not these positions: the feed goes on in the new epoch. 409
                `sync_reset_required` once events from there on are not kept any more.
            limit: Changes read per page: 1 to 500, default 100.
            include: `resource` (default) or `none`.
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

        The channel is renewed behind the answer, which tells how it stands now; one that was
        renewed within the last minute is left as it is. `unsupported` where the provider has none:
        the calendar is then polled.

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

        `soft` keeps cursors valid and tells only true differences; `hard` ends them and tells
        everything anew.

        Needs the scope `calendar.read`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/sync/reset"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def start(
        self,
        calendar_id: str,
        body: types.SyncStart | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenSyncState:
        """Start incremental sync.

        From now on the service follows the calendar by itself. Starting again changes nothing and
        answers 200.

        Needs the scope `calendar.read`.
        """
        path = f"/v1/calendars/{segment(calendar_id)}/sync/start"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def status(
        self,
        calendar_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.SyncState:
        """How the sync stands.

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

    def list(
        self,
        *,
        provider: str | None = None,
        status: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.ConnectionPage, types.Connection]:
        """List connections.

        Needs the scope `connections.read`.

        Args:
            provider: Only connections of this provider.
            status: Only connections in this state: active, degraded, reauth_required.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
        """
        path = "/v1/connections"
        query = {"provider": provider, "status": status, "limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewConnection,
        *,
        allow_duplicate: bool | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenConnection:
        """Connect an account by credentials.

        The credentials are tried at the provider before anything is stored; they are sealed at once
        and never shown again. 409 `already_exists` if the application has a connection of the same
        account already, at the same server; `details` has its id. Connections that need new
        credentials (`reauth_required`) don't count, nor does any with `allow_duplicate=true`.

        Needs the scope `connections.write`.

        Args:
            allow_duplicate: `true`: a second connection of the same account is allowed.
        """
        path = "/v1/connections"
        query = {"allow_duplicate": allow_duplicate}
        answer: types.WrittenConnection = await self._json("POST", path, query, body, options)
        return answer

    async def delete(
        self,
        connection_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Disconnect an account.

        Stops its sync and removes its credentials and the local copy. Nothing of the account
        changes at the provider; tokens of OAuth that no other connection needs are revoked there.

        Needs the scope `connections.write`.
        """
        path = f"/v1/connections/{segment(connection_id)}"
        await self._nothing("DELETE", path, None, None, options)

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

    async def refresh(
        self,
        connection_id: str,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenConnection:
        """Try the credentials again.

        Tokens of OAuth are renewed first, unless they are younger than 30 seconds. 409
        `reauth_required` when the provider refuses them; 503 `provider_unavailable` with
        `Retry-After` when it does not answer, which changes nothing.

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
        """What a connection can do, on every surface.

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
        include: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.ContactBookPage, types.ContactBook]:
        """List contact books.

        Needs the scope `contacts.read`.

        Args:
            connection_id: Only books of this connection; without it, of all that the key may use.
            include: `providerData` adds what the model has no field for.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

    async def delete(
        self,
        book_id: str,
        *,
        force: bool | None = None,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a contact book.

        One that holds contacts gives 409 `not_empty` without `force`.

        Needs the scope `contacts.write`.

        Args:
            force: Delete its contacts and groups too.
        """
        path = f"/v1/contact-books/{segment(book_id)}"
        query = {"force": force}
        await self._nothing("DELETE", path, query, None, options)

    async def get(
        self,
        book_id: str,
        *,
        include: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.ContactBook:
        """Read a contact book.

        Needs the scope `contacts.read`.

        Args:
            include: `providerData` adds what the model has no field for.
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
        include: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.ContactGroupPage, types.ContactGroup]:
        """List contact groups, by name.

        Needs the scope `contacts.read`.

        Args:
            connection_id: Only groups of this connection; without it, of all that the key may use.
            book_id: Only groups of this book.
            q: Words in the name.
            updated_after: Only groups changed at or after this instant.
            include: `providerData` adds what the model has no field for.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

        `bookId` says where; without it, in the default book of `connectionId`. Members are contacts
        of the same book.

        Needs the scope `contacts.write`.
        """
        path = "/v1/contact-groups"
        answer: types.ContactGroup = await self._json("POST", path, None, body, options)
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

    async def get(
        self,
        group_id: str,
        *,
        include: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.ContactGroup:
        """Read a contact group.

        Needs the scope `contacts.read`.

        Args:
            include: `providerData` adds what the model has no field for.
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

        `contactIds` replaces the members; of a group with more than 500 the members are changed by
        their `groupIds`.

        Needs the scope `contacts.write`.
        """
        path = f"/v1/contact-groups/{segment(group_id)}"
        answer: types.ContactGroup = await self._json("PATCH", path, None, body, options)
        return answer

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
        include: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.ContactPage, types.Contact]:
        """Search and list contacts, by name.

        By `displayName` without regard to case, then by id.

        Needs the scope `contacts.read`.

        Args:
            connection_id: Only contacts of this connection; without it, of all that the key may
                use.
            book_id: Only contacts of this book.
            group_id: Only members of this group.
            q: Words in names, organizations, addresses, numbers, handles or notes; case and accents
                do not matter.
            email: Only contacts with this e-mail address.
            phone: Only contacts with this telephone number, in any spelling.
            updated_after: Only contacts changed at or after this instant.
            include: `providerData` adds what the model has no field for.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

        At least one of a name, an e-mail address, a phone number and an organization. `bookId` says
        where; without it, in the default book of `connectionId`.

        Needs the scope `contacts.write`.
        """
        path = "/v1/contacts"
        answer: types.Contact = await self._json("POST", path, None, body, options)
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

    async def get(
        self,
        contact_id: str,
        *,
        include: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.Contact:
        """Read a contact.

        Needs the scope `contacts.read`.

        Args:
            include: `providerData` adds what the model has no field for.
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

        A JSON merge patch. What another client wrote into the record and the patch does not name
        stays as it is.

        Needs the scope `contacts.write`.
        """
        path = f"/v1/contacts/{segment(contact_id)}"
        answer: types.Contact = await self._json("PATCH", path, None, body, options)
        return answer

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
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.MergeSuggestionPage:
        """Find contacts that seem to be the same.

        Only suggestions: nothing is changed. An equal e-mail address, number or profile gives a
        score of at least 0.9, an equal name with an equal organization 0.7 to 0.85, a name alone at
        most 0.6. No evidence are role addresses (`info@`), numbers on more than three contacts, and
        what people share whose names contradict each other: a household's line, an office's. The
        best first, then by id; `limit` and `cursor` stand in the body.

        Needs the scope `contacts.read`.

        Args:
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
        """
        path = "/v1/contacts/merge-suggestions/query"
        query = {"limit": limit, "cursor": cursor}
        answer: types.MergeSuggestionPage = await self._json("POST", path, query, body, options)
        return answer


class AsyncContactsPhoto(AsyncResource):
    """Operations `contacts.photo`."""

    async def get(
        self,
        contact_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.ContactPicture:
        """Read the picture that a contact's record holds.

        JSON with the picture in base64, or its bytes with `Accept: application/octet-stream` or
        `format=raw`. A picture elsewhere is at `photo.url`.

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

        JSON with the picture in base64, or its bytes with `Accept: application/octet-stream` or
        `format=raw`. A picture elsewhere is at `photo.url`.

        Needs the scope `contacts.read`.
        """
        path = f"/v1/contacts/{segment(contact_id)}/photo"
        return self._raw(path, None, {}, options)


class AsyncContactsSync(AsyncResource):
    """Operations `contacts.sync`."""

    async def changes(
        self,
        *,
        connection_id: str,
        cursor: str | None = None,
        after_sequence: int | None = None,
        limit: int | None = None,
        include: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.SyncChanges:
        """Read what changed in contacts, groups and books.

        Without `cursor` the feed begins with everything there is. Read until `next_cursor` is null,
        keep `sync_cursor`, and pass it as `cursor` next time. `resourceType` tells `contact`,
        `contact_group` and `contact_book` apart.

        Needs the scope `contacts.read`.

        Args:
            connection_id: The connected account.
            cursor: `next_cursor` or `sync_cursor` of an earlier answer.
            after_sequence: Instead of a cursor: the `sequence` of an event, as webhooks,
                `/v1/events` and its stream tell it; the feed goes on after it. A hard reset ends
                cursors, and not these positions: the feed goes on in the new epoch. 409
                `sync_reset_required` once events from there on are not kept any more.
            limit: Changes read per page: 1 to 500, default 100.
            include: `resource` (default) or `none`.
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
        include: str | None = None,
        **options: Unpack[AsyncFollowOptions],
    ) -> AsyncGenerator[types.Change, None]:
        """Yields changes as they come, from the stored cursor on.

        The cursor of a page is stored when its last change was processed and the next one is asked
        for, so a change can come twice after a crash and is never lost.

        Args:
            connection_id: The connected account.
            after_sequence: Instead of a cursor: the `sequence` of an event, as webhooks,
                `/v1/events` and its stream tell it; the feed goes on after it. A hard reset ends
                cursors, and not these positions: the feed goes on in the new epoch. 409
                `sync_reset_required` once events from there on are not kept any more.
            limit: Changes read per page: 1 to 500, default 100.
            include: `resource` (default) or `none`.
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
        body: types.SyncReset | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenSyncState:
        """Read everything again.

        `soft` keeps cursors valid and tells only true differences; `hard` ends them and tells
        everything anew.

        Needs the scope `contacts.read`.
        """
        path = "/v1/contacts/sync/reset"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def start(
        self,
        body: types.SyncStart | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenSyncState:
        """Start incremental sync of contacts.

        From now on the service follows all contact books of `connectionId` by itself. Starting
        again changes nothing and answers 200.

        Needs the scope `contacts.read`.
        """
        path = "/v1/contacts/sync/start"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def status(
        self,
        connection_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.SyncState:
        """How the sync stands.

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

        202 with the message as it stands: `delivery` and its events show how far it got. It is sent
        once, however often you repeat the request with its Idempotency-Key, and whatever fails in
        between; if it is unknown whether the provider accepted it, `delivery.error` says
        `outcome_unknown`. With `sendAt` it is sent at that time; DELETE of the message cancels it
        until the provider gets it, and answers 409 `already_sent` from then on. `replyToMessageId`
        and `attachmentRef` read a message: a key without `email.read` gets 403
        `insufficient_scope`, and `param` names the field.

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
        """What a mailbox connection can do.

        Also tells of its calendars, contacts and tasks. Everything that it cannot do stands in
        `missing`, with the reason.

        Needs the scope `email.read`.
        """
        path = f"/v1/email/capabilities/{segment(connection_id)}"
        answer: types.Capabilities = await self._json("GET", path, None, None, options)
        return answer


class AsyncEmailDrafts(AsyncResource):
    """Operations `email.drafts`."""

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
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.DraftPage, types.Draft]:
        """List drafts, newest first.

        Without their texts. Those that were sent are no longer listed.

        Needs the scope `email.read`.

        Args:
            connection_id: Only messages of this connection; without it, of all that the key may
                use.
            folder_id: In this folder.
            label_id: With this label.
            thread_id: Of this thread.
            q: Words, anywhere in the message: the provider searches one mailbox with its texts;
                over several mailboxes subjects, people, snippets and names of files are searched.
            from_: Part of the sender's address or name.
            to: Part of an address or name in To.
            cc: Part of an address or name in Cc.
            bcc: Part of an address or name in Bcc.
            any_email: Part of the address or name of anybody.
            subject: Part of the subject; case and accents do not matter.
            unread: Only unread, or only read.
            starred: Only starred, or only others.
            has_attachment: Only with attachments, or only without.
            received_after: Instant, included.
            received_before: Instant, not included.
            native_query: The provider's own search language, if it has one
                (`operations.nativeSearch` of the capabilities).
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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
            "limit": limit,
            "cursor": cursor,
        }
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewDraft,
        **options: Unpack[WriteOptions],
    ) -> types.Draft:
        """Create a draft.

        It is stored in the drafts folder of the account, where other clients see it too.

        Needs the scope `email.write`.
        """
        path = "/v1/email/drafts"
        answer: types.Draft = await self._json("POST", path, None, body, options)
        return answer

    async def delete(
        self,
        draft_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Destroy a draft.

        Needs the scope `email.write`.
        """
        path = f"/v1/email/drafts/{segment(draft_id)}"
        await self._nothing("DELETE", path, None, None, options)

    async def get(
        self,
        draft_id: str,
        *,
        include: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.Draft:
        """Read a draft.

        Needs the scope `email.read`.

        Args:
            include: `providerData` adds what the model has no field for.
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

        A JSON merge patch. Needs the etag, because editors that save by themselves race. Files that
        are not named stay; a file in the list can be one that is there, by its `id`.

        Needs the scope `email.write`.
        """
        path = f"/v1/email/drafts/{segment(draft_id)}"
        answer: types.Draft = await self._json("PATCH", path, None, body, options)
        return answer

    async def send(
        self,
        draft_id: str,
        body: types.SendDraft | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.EmailMessage:
        """Send a draft.

        The key needs `email.read` too, because sending a draft reads it. A draft is sent once: a
        second call gives 409 `draft_already_sent`. With `sendAt`, in the draft or here, it is sent
        at that time; DELETE of the returned message cancels it until the provider gets it, and
        answers 409 `already_sent` from then on.

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
        include: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.FolderPage, types.Folder]:
        """List folders.

        With their roles, and how many messages the provider counts in them.

        Needs the scope `email.read`.

        Args:
            connection_id: Only folders of this connection; without it, of all that the key may use.
            include: `providerData` adds what the model has no field for.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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
        include: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.LabelPage, types.Label]:
        """List labels.

        Empty for providers that have none: `features.labels` of the capabilities tells.

        Needs the scope `email.read`.

        Args:
            connection_id: Only labels of this connection; without it, of all that the key may use.
            include: `providerData` adds what the model has no field for.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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
        fields: str | None = None,
        images: str | None = None,
        include: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.EmailMessagePage, types.EmailMessage]:
        """Search and list messages, newest first.

        By `receivedAt`, then by id, both downwards. A mailbox that was just connected is read from
        new to old while it is listed: a page may then be short, and only a null `next_cursor` is
        the end.

        Needs the scope `email.read`.

        Args:
            connection_id: Only messages of this connection; without it, of all that the key may
                use.
            folder_id: In this folder.
            label_id: With this label.
            thread_id: Of this thread.
            q: Words, anywhere in the message: the provider searches one mailbox with its texts;
                over several mailboxes subjects, people, snippets and names of files are searched.
            from_: Part of the sender's address or name.
            to: Part of an address or name in To.
            cc: Part of an address or name in Cc.
            bcc: Part of an address or name in Bcc.
            any_email: Part of the address or name of anybody.
            subject: Part of the subject; case and accents do not matter.
            unread: Only unread, or only read.
            starred: Only starred, or only others.
            has_attachment: Only with attachments, or only without.
            received_after: Instant, included.
            received_before: Instant, not included.
            native_query: The provider's own search language, if it has one
                (`operations.nativeSearch` of the capabilities).
            fields: `summary` (default), `headers` or `full`.
            images: `allow` leaves remote images in `safeHtml`.
            include: `providerData` adds what the model has no field for.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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
        """Put a message into a folder, without sending it.

        The whole message in `rawBase64`, or its parts. Into the inbox where `folderIds` is empty.

        Needs the scope `email.write`.
        """
        path = "/v1/email/messages"
        answer: types.EmailMessage = await self._json("POST", path, None, body, options)
        return answer

    async def delete(
        self,
        message_id: str,
        *,
        permanent: bool | None = None,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Move a message to the trash, or destroy it.

        A message that is in the trash already is destroyed. One that waits to be sent is taken
        back: with 204 nobody gets it, and with 409 `already_sent` it was sent, or is being sent.
        What is kept here of a sent message without a copy at the provider goes with `permanent`
        alone.

        Needs the scope `email.write`.

        Args:
            permanent: Destroy it at once.
        """
        path = f"/v1/email/messages/{segment(message_id)}"
        query = {"permanent": permanent}
        await self._nothing("DELETE", path, query, None, options)

    async def get(
        self,
        message_id: str,
        *,
        fields: str | None = None,
        images: str | None = None,
        include: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.EmailMessage:
        """Read a message.

        `html` is as the sender wrote it: show `safeHtml`. A draft can be read here too, by its id.

        Needs the scope `email.read`.

        Args:
            fields: `summary`, `headers` or `full` (default).
            images: `allow` leaves remote images in `safeHtml`.
            include: `providerData` adds what the model has no field for.
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

        A JSON merge patch. `folderIds` moves it: all folders that it is to be in, one where the
        provider has no more. It keeps its id.

        Needs the scope `email.write`.
        """
        path = f"/v1/email/messages/{segment(message_id)}"
        answer: types.EmailMessage = await self._json("PATCH", path, None, body, options)
        return answer

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

        JSON with `contentBase64` up to 10 MiB; the bytes of any size with `Accept:
        application/octet-stream` or `format=raw`, where `Range` works.

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

        JSON with `contentBase64` up to 10 MiB; the bytes of any size with `Accept:
        application/octet-stream` or `format=raw`, where `Range` works.

        Needs the scope `email.read`.

        Args:
            range: The header `Range`.
        """
        path = f"/v1/email/messages/{segment(message_id)}/attachments/{segment(attachment_id)}"
        return self._raw(path, None, {"Range": range}, options)


class AsyncEmailSync(AsyncResource):
    """Operations `email.sync`."""

    async def changes(
        self,
        *,
        connection_id: str,
        cursor: str | None = None,
        after_sequence: int | None = None,
        limit: int | None = None,
        include: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.SyncChanges:
        """Read what changed in a mailbox.

        Without `cursor` the feed begins with everything there is. Read until `next_cursor` is null,
        keep `sync_cursor`, and pass it as `cursor` next time. `resourceType` tells `email.message`,
        `email.draft`, `email.folder` and `email.label` apart. While the mailbox is read for the
        first time (`sync_status` is `initial`) older messages follow.

        Needs the scope `email.read`.

        Args:
            connection_id: The connected account.
            cursor: `next_cursor` or `sync_cursor` of an earlier answer.
            after_sequence: Instead of a cursor: the `sequence` of an event, as webhooks,
                `/v1/events` and its stream tell it; the feed goes on after it. A hard reset ends
                cursors, and not these positions: the feed goes on in the new epoch. 409
                `sync_reset_required` once events from there on are not kept any more.
            limit: Changes read per page: 1 to 500, default 100.
            include: `resource` (default) or `none`.
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
        include: str | None = None,
        **options: Unpack[AsyncFollowOptions],
    ) -> AsyncGenerator[types.Change, None]:
        """Yields changes as they come, from the stored cursor on.

        The cursor of a page is stored when its last change was processed and the next one is asked
        for, so a change can come twice after a crash and is never lost.

        Args:
            connection_id: The connected account.
            after_sequence: Instead of a cursor: the `sequence` of an event, as webhooks,
                `/v1/events` and its stream tell it; the feed goes on after it. A hard reset ends
                cursors, and not these positions: the feed goes on in the new epoch. 409
                `sync_reset_required` once events from there on are not kept any more.
            limit: Changes read per page: 1 to 500, default 100.
            include: `resource` (default) or `none`.
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
        body: types.SyncReset | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenSyncState:
        """Read everything again.

        `soft` keeps cursors valid and tells only true differences; `hard` ends them and tells
        everything anew.

        Needs the scope `email.read`.
        """
        path = "/v1/email/sync/reset"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def start(
        self,
        body: types.SyncStart | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenSyncState:
        """Start incremental sync of a mailbox.

        From now on the service follows the mailbox of `connectionId` by itself, and reads all of
        it, newest messages first. Starting again changes nothing and answers 200.

        Needs the scope `email.read`.
        """
        path = "/v1/email/sync/start"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def status(
        self,
        connection_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.SyncState:
        """How the sync stands.

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
        """List threads, by their newest message.

        A thread is listed when one of its messages is what the filters ask for.

        Needs the scope `email.read`.

        Args:
            connection_id: Only threads of this connection; without it, of all that the key may use.
            folder_id: With a message in this folder.
            label_id: With a message under this label.
            any_email: Part of the address or name of anybody.
            subject: Part of a subject.
            unread: With an unread message, or with a read one.
            starred: With a starred message, or with one that is not.
            has_attachment: With a message that has attachments, or with one that has none.
            received_after: Instant, included.
            received_before: Instant, not included.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

        Messages oldest first. The id of a thread that became part of another one shows that one,
        with `mergedInto`.

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

        What became known of a sent message: opens, clicks, replies, bounces, complaints. `human`
        counts what nothing speaks against: pictures that a mail program fetches unseen and links
        that a scanner follows are told apart in `events`. Opens and clicks need a public address of
        this service, replies and bounces a mailbox that is followed (`sync/start`).

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
        type: str | None = None,
        connection_id: str | None = None,
        include_backfill: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.NotificationPage, types.Notification]:
        """Read the event log.

        Every event of the application in the order of `sequence`, oldest first, as far back as
        events are kept: 30 days, or what the operator says. Each is the body that a webhook with
        full payloads receives. A key is shown events of the families that its scopes read
        (`calendar.read` for `calendar.*`), and, if it is bound to connections, of these alone. A
        page may be short, or empty, while `next_cursor` is set: read until it is null.
        `last_sequence` then tells up to where the log was read; pass it as `after_sequence` to go
        on later. Numbers are missing where nothing was to be told. 409 `sync_reset_required` where
        events after the position are not kept any more.

        Needs the scope `events.read`.

        Args:
            after_sequence: Events after this `sequence`, which is where the first page begins;
                without it that is the oldest event that is kept.
            type: Event types such as `calendar.event.created`, families such as `calendar.*`, or
                `*`: up to 100, with commas between them. Default: all but those that have to be
                named exactly, as `connection.token_refreshed`.
            connection_id: Events of these connections alone: up to 100, with commas between them.
            include_backfill: Also what a first reading of a collection finds, which is left out by
                default.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

        By the `id` that is also its `webhook-id`, as long as it is kept.

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
        """Token endpoint (RFC 6749).

        Answers and errors have the shapes of RFC 6749, not the envelope. The API key authenticates
        the client: in `X-Api-Key`, as a `Bearer` token, or as the password of `Basic`.
        `authorization_code` exchanges the `code` of an authorization, once and within a minute, for
        tokens of its connection, and connects the account; a code that is not exchanged, or that a
        wrong request uses up, connects no account. `refresh_token` renews them, and each refresh
        token works once: used again, it ends all tokens of its grant, so repeat a request whose
        answer was lost with the same `Idempotency-Key`. `client_credentials` makes a token of the
        key itself, with fewer scopes, connections and domains, for at most an hour. A token works
        wherever a key does, within the key's budget, and ends with the key.
        """
        path = "/v1/oauth/token"
        answer: types.Token = await self._json("POST", path, None, body, options)
        return answer


class AsyncProviders(AsyncResource):
    """Operations `providers`."""

    async def notifications(
        self,
        provider: str,
        **options: Unpack[ReadOptions],
    ) -> types.NotificationsTaken:
        """Where providers post their notifications.

        For providers, not for clients. A notification is a hint that something has changed,
        authenticated by the secret of its watch: what changed is read from the provider. 202
        whether or not the watches are known and the secrets right; 401 without any. A provider that
        signs a JSON Web Token for each request sends it as a `Bearer` token: 401 for one that it
        did not make for this address, and 503 while its keys cannot be read. 200 for a handshake,
        whose value comes back as text. 503 over 200 requests of the provider in a second from one
        network or 2,000 from all, for far more than 2 notifications of a watch in a second, and
        when the database does not answer within 2 seconds: the provider repeats it. At most 256 KiB
        and 1,000 notifications.
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
        """Where providers with several kinds of notifications post those of one kind.

        For providers, not for clients. As `POST /v1/providers/{provider}/notifications`, for the
        kind that the connector's manifest gives this name.
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

        Slots begin on a grid that starts with each window of the schedule; neither the range nor a
        busy time moves it. What is offered can be booked: both go by the same rules. Buffers are
        kept free of busy times and need not be open. A host whose calendars cannot be read is not
        free; where none could be read the answer is 503 `availability_unknown`. Who hosts are is
        told to keys with `scheduling.read` alone: to others `hostIds` is null. `limit` (at most
        1,000) and `cursor` stand in the body.

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
        """What a booking page shows.

        Never a host's address, calendars or reasons for being busy. What is not there, inactive or
        expired has the same answer: 404.

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
        status: str | None = None,
        invitee_email: str | None = None,
        start: str | None = None,
        end: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.BookingPage, types.Booking]:
        """List bookings by when they begin.

        A key that is bound to connections sees the bookings that name no other connection, neither
        as a host nor in `calendarEvents`. With several filters a page can be short: only a null
        `next_cursor` marks the end.

        Needs the scope `scheduling.read`.

        Args:
            event_type_id: Bookings of this event type.
            status: pending, confirmed, rejected, cancelled, expired or completed.
            invitee_email: Bookings of this address, however it is spelled.
            start: Bookings that begin then or later: an RFC 3339 instant, or a date.
            end: Bookings that begin before: an RFC 3339 instant, or a date.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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
        every start that the search for slots does not offer. 409 `booking_limit_reached`: the
        address already has as many upcoming bookings as the event type allows. `slug` names the
        link that the invitee came by: one that is good for a single booking is used up with it, and
        one that is not of this event type, is expired or used up is 404. The event is written to
        the host's calendar right after the answer; `calendarEvents` shows how far it has got. An
        event that invites the invitee and guests has none of the invitee's notes, answers and phone
        number, because providers send it to them: its description links hosts to a page that shows
        these. Only keys with `scheduling.read` see who the hosts are. A key without it, such as one
        for web pages, cannot set `metadata` (400). With such a key an email address gets three
        bookings an hour in the application, as invitee or as guest, including those of the booking
        page, however it is written and whatever its `+tag`; the next one is 429 `rate_limited` with
        `Retry-After`, and `param` is `inviteeEmail` or `guests[0].email`.

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
        """Change your notes on a booking, or say who did not come.

        A JSON merge patch of `metadata` and `noShow`; for everything else there are operations.
        `noShow` is of bookings that are confirmed or completed and have begun: 409 `invalid_state`
        for others. It names the invitee or guests by their addresses.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/bookings/{segment(booking_id)}"
        answer: types.Booking = await self._json("PATCH", path, None, body, options)
        return answer

    async def cancel(
        self,
        booking_id: str,
        body: types.BookingCancellation | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.Booking:
        """Cancel a booking.

        Its time is free with the answer; its event goes from the host's calendar right after that.
        A key without `scheduling.write` needs the invitee's `manageToken`, and what the event
        type's `cancellation` says holds: 403 `forbidden` where invitees may not cancel, 409
        `invalid_state` where it is too late. Without a `manageToken` a key that may write is bound
        by neither. 409 `invalid_state` for a booking that was ended before.

        Needs the scope `scheduling.book`.
        """
        path = f"/v1/scheduling/bookings/{segment(booking_id)}/cancel"
        answer: types.Booking = await self._json("POST", path, None, body, options)
        return answer

    async def confirm(
        self,
        booking_id: str,
        **options: Unpack[WriteOptions],
    ) -> types.Booking:
        """Confirm a booking that is pending.

        Hosts can do the same without a key, by the links in the email that asks them. Of several
        who confirm or reject at the same time one succeeds, the others get 409 `invalid_state`.
        Where the event type does not block slots of pending bookings, the time is reserved now: 409
        `slot_unavailable` when it is taken, 503 `availability_unknown` when the hosts' calendars
        cannot be read.

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
        """Reject a booking that is pending.

        Its time is free with the answer. 409 `invalid_state` for a booking that is not pending.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/bookings/{segment(booking_id)}/reject"
        answer: types.Booking = await self._json("POST", path, None, body, options)
        return answer

    async def reschedule(
        self,
        booking_id: str,
        body: types.BookingMove,
        **options: Unpack[WriteOptions],
    ) -> types.Booking:
        """Move a booking to another slot.

        The booking keeps its id, and while its organizer stays its `iCalUid`; `sequence` goes up.
        Its old time is free and its new one taken with the answer; the event is moved right after
        that. 409 `slot_unavailable` for a `start` that the search for slots with this
        `rescheduleBookingId` does not offer, 409 `invalid_state` for a booking that is not
        confirmed. A key without `scheduling.write` needs the invitee's `manageToken`, and what the
        event type's `reschedule` says holds: 403 `forbidden` where invitees may not move, 409
        `invalid_state` where it is too late or was done too often; where bookings need a
        confirmation this one is pending again. Without a `manageToken` a key that may write is
        bound by none of that.

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
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

        It acts with the rights of the key that saves it: keys and visitors that book need no rights
        to the hosts' calendars. So the key must be allowed to use the connection of every host, and
        both the key and the connection need `calendar.write`. To send email the key needs
        `email.send`: for `notifications.connectionId`, for hosts whose connections were granted it,
        and to turn on `notifications.invitee` or `notifications.hosts`. 403 `insufficient_scope`
        names each field in `details`. If a key without `email.send` leaves both out and no host
        could send, both are false, with the warning `notification_unavailable`. Without
        `calendarId` bookings are written to the account's default calendar; without
        `conflictCalendarIds` all calendars make the host busy that count in availability, with them
        these and the one that bookings are written to. `slug` is unique within the application (409
        `already_exists`). At most 100 hosts, each connection once. `assignment`: `fixed`, all hosts
        with the role `required` meet; `collective`, all but `optional` ones; `roundRobin`, the
        required ones and one of those with the role `rotation`, by `roundRobinStrategy`;
        `priority`, the same with the smallest `priority` that is free. Optional hosts get the event
        and never block a slot. Hours are in `schedule`, or in a shared one that `scheduleId` names.
        A new event type without either, whose hosts have no hours of their own, is open Monday to
        Friday from 9:00 to 17:00 in the time zone of its first host: that of the account's primary
        calendar, else of the account; else in UTC, with the warning `default_time_zone`. A new host
        without `displayName` gets the account's name; an empty one shows no name. `seatsPerSlot`:
        so many bookings share one meeting. With `requiresConfirmation` bookings are `pending` until
        they are confirmed, and hold their time if `pendingBlocksSlot` says so. A `googleMeet` or
        `teams` location without a link needs calendars that make such conferences (400
        `capability_not_supported`).

        Needs the scope `scheduling.write`.
        """
        path = "/v1/scheduling/event-types"
        answer: types.SchedulingEventType = await self._json("POST", path, None, body, options)
        return answer

    async def delete(
        self,
        event_type_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete an event type; its bookings stay.

        Its slug is free at once.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/event-types/{segment(event_type_id)}"
        await self._nothing("DELETE", path, None, None, options)

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

        Existing bookings stay as they are. To change its hosts, conferences or notifications, your
        key needs the rights for what is new, as for a new event type; to change other fields it
        needs none of these.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/event-types/{segment(event_type_id)}"
        answer: types.SchedulingEventType = await self._json("PATCH", path, None, body, options)
        return answer

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

        Its own slug, and the links that were made besides, in the order of their slugs. `active` is
        false for one that is expired or used up.

        Needs the scope `scheduling.read`.

        Args:
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
        """
        path = f"/v1/scheduling/event-types/{segment(event_type_id)}/links"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        event_type_id: str,
        body: types.NewBookingLink,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenBookingLink:
        """Make a further booking link.

        Its slug cannot be guessed. One with `singleUse` is good for one booking, one with
        `expiresAt` until then; after that it has the same answer as one that never was: 404. A
        booking that is made through the API uses the link that its `slug` names.

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
        """End a booking link.

        Bookings that were made by it stay. The event type's own slug is no further link: 409
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
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

        Event types use it by `scheduleId`, and have its hours from the moment on at which they
        change.

        Needs the scope `scheduling.write`.
        """
        path = "/v1/scheduling/schedules"
        answer: types.SharedSchedule = await self._json("POST", path, None, body, options)
        return answer

    async def delete(
        self,
        schedule_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a schedule.

        409 `invalid_state` while an event type uses it; 403 `forbidden` if your key may not use all
        hosts of that event type.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/schedules/{segment(schedule_id)}"
        await self._nothing("DELETE", path, None, None, options)

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
        the event types that use it: a change would set the hours of others.

        Needs the scope `scheduling.write`.
        """
        path = f"/v1/scheduling/schedules/{segment(schedule_id)}"
        answer: types.SharedSchedule = await self._json("PATCH", path, None, body, options)
        return answer

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
        include: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.TaskListPage, types.TaskList]:
        """List task lists.

        Needs the scope `tasks.read`.

        Args:
            connection_id: Only lists of this connection; without it, of all that the key may use.
            include: `providerData` adds what the model has no field for.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

    async def delete(
        self,
        task_list_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a task list with its tasks.

        The account's default list stays: 409 `invalid_state`.

        Needs the scope `tasks.write`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}"
        await self._nothing("DELETE", path, None, None, options)

    async def get(
        self,
        task_list_id: str,
        *,
        include: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.TaskList:
        """Read a task list.

        Needs the scope `tasks.read`.

        Args:
            include: `providerData` adds what the model has no field for.
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

    async def changes(
        self,
        task_list_id: str,
        *,
        cursor: str | None = None,
        after_sequence: int | None = None,
        limit: int | None = None,
        include: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.SyncChanges:
        """Read what changed in a task list.

        Without `cursor` the feed begins with every task there is. Read until `next_cursor` is null,
        keep `sync_cursor`, and pass it as `cursor` next time.

        Needs the scope `tasks.read`.

        Args:
            cursor: `next_cursor` or `sync_cursor` of an earlier answer.
            after_sequence: Instead of a cursor: the `sequence` of an event, as webhooks,
                `/v1/events` and its stream tell it; the feed goes on after it. A hard reset ends
                cursors, and not these positions: the feed goes on in the new epoch. 409
                `sync_reset_required` once events from there on are not kept any more.
            limit: Changes read per page: 1 to 500, default 100.
            include: `resource` (default) or `none`.
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
        include: str | None = None,
        **options: Unpack[AsyncFollowOptions],
    ) -> AsyncGenerator[types.Change, None]:
        """Yields changes as they come, from the stored cursor on.

        The cursor of a page is stored when its last change was processed and the next one is asked
        for, so a change can come twice after a crash and is never lost.

        Args:
            after_sequence: Instead of a cursor: the `sequence` of an event, as webhooks,
                `/v1/events` and its stream tell it; the feed goes on after it. A hard reset ends
                cursors, and not these positions: the feed goes on in the new epoch. 409
                `sync_reset_required` once events from there on are not kept any more.
            limit: Changes read per page: 1 to 500, default 100.
            include: `resource` (default) or `none`.
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

        `soft` keeps cursors valid and tells only true differences; `hard` ends them and tells
        everything anew.

        Needs the scope `tasks.read`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/sync/reset"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def start(
        self,
        task_list_id: str,
        body: types.SyncStart | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenSyncState:
        """Start incremental sync of a task list.

        From now on the service follows the list by itself. Starting again changes nothing and
        answers 200.

        Needs the scope `tasks.read`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/sync/start"
        answer: types.WrittenSyncState = await self._json("POST", path, None, body, options)
        return answer

    async def status(
        self,
        task_list_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.SyncState:
        """How the sync of a task list stands.

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
        status: str | None = None,
        open: bool | None = None,
        due_after: str | None = None,
        due_before: str | None = None,
        parent_id: str | None = None,
        category: str | None = None,
        updated_after: str | None = None,
        include: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.TaskPage, types.Task]:
        """List tasks.

        By `position` where the provider has one, then by id. Subtasks are in the list, too.

        Needs the scope `tasks.read`.

        Args:
            q: Words in title, notes, steps, categories or assignees; case and accents do not
                matter.
            status: needsAction, inProgress, completed, waiting, deferred or cancelled.
            open: `true`: neither completed nor cancelled; `false`: one of the two.
            due_after: Only tasks due on this day or later.
            due_before: Only tasks due before this day.
            parent_id: Only subtasks of this task.
            category: Only tasks of this category.
            updated_after: Only tasks changed at or after this instant.
            include: `providerData` adds what the model has no field for.
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

    async def get(
        self,
        task_list_id: str,
        task_id: str,
        *,
        include: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.Task:
        """Read a task.

        Needs the scope `tasks.read`.

        Args:
            include: `providerData` adds what the model has no field for.
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

        A JSON merge patch. `status: completed` stamps `completedAt`, another status clears it.

        Needs the scope `tasks.write`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks/{segment(task_id)}"
        answer: types.Task = await self._json("PATCH", path, None, body, options)
        return answer

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
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

        400 `capability_not_supported` where the provider has none.

        Needs the scope `tasks.write`.
        """
        path = f"/v1/task-lists/{segment(task_list_id)}/tasks/{segment(task_id)}/checklist-items"
        answer: types.WrittenChecklistItem = await self._json("POST", path, None, body, options)
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
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

        Either `url` or `resourceId`, which names an event or a contact that the key may read: 403
        `insufficient_scope` without `calendar.read` or `contacts.read`. 400
        `capability_not_supported` if the provider has no links.

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


class AsyncUsage(AsyncResource):
    """Operations `usage`."""

    async def get(
        self,
        *,
        start: str | None = None,
        end: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> types.Usage:
        """What the application used.

        By default the current month, UTC. Figures of the last seconds may be missing, those of
        providers' quotas of the last minute.

        Needs the scope `usage.read`.

        Args:
            start: First day, `YYYY-MM-DD`, UTC.
            end: Last day, `YYYY-MM-DD`, UTC; at most 366 days after `start`.
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

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.WebhookSubscriptionPage, types.WebhookSubscription]:
        """List subscriptions.

        To a key that is bound to connections: those that are told of these connections alone.

        Needs the scope `webhooks.read`.

        Args:
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
        """
        path = "/v1/webhooks"
        query = {"limit": limit, "cursor": cursor}
        return self._pages(path, query, options)

    async def create(
        self,
        body: types.NewWebhookSubscription,
        **options: Unpack[WriteOptions],
    ) -> types.WebhookSubscription:
        """Subscribe to notifications.

        The answer holds `secret`, this once; an idempotent replay shows it again. The webhook gets
        every event from then on. Event types need the scopes that read what they are about (403
        `insufficient_scope` names the missing one), and a key that is bound to connections
        subscribes to these alone. The URL must lead to a public address, which is checked again for
        every attempt; if its host cannot be looked up now, it is accepted with a warning. The
        webhook ends with the API key or access token that creates it (`keyId`): it is then disabled
        with `key_ended`, unless the key was rotated (see `DELETE /v1/api-keys/{keyId}`). If that
        key expires, the warning `ends_with_key` says when. The values of `headers` are sent to the
        receiver and never shown: every answer has `********` instead. An application has at most
        10,000.

        Needs the scope `webhooks.write`.
        """
        path = "/v1/webhooks"
        answer: types.WebhookSubscription = await self._json("POST", path, None, body, options)
        return answer

    async def delete(
        self,
        webhook_id: str,
        **options: Unpack[ChangeOptions],
    ) -> None:
        """Delete a subscription.

        Nothing more is sent. An attempt that is under way may still arrive.

        Needs the scope `webhooks.write`.
        """
        path = f"/v1/webhooks/{segment(webhook_id)}"
        await self._nothing("DELETE", path, None, None, options)

    async def get(
        self,
        webhook_id: str,
        **options: Unpack[ReadOptions],
    ) -> types.WebhookSubscription:
        """Read a subscription.

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
        """Change, pause or resume a subscription, or rotate its secret.

        `paused` keeps the position: `active` continues where it stopped, as far back as events are
        kept. `disabled` discards what waits, and `active` then begins from now. A change applies to
        everything that was not attempted yet. With `rotateSecret`, or a `secret` of your own, the
        answer holds the new one, this once; the old one also signs for `secretGraceSeconds`. With
        `0` all earlier secrets end at once, even if you send that alone. To change what is sent, or
        where, your key needs the same scopes as for a new webhook. A webhook gets more event types
        only if the request names `url` or `eventTypes`: it then belongs to the key of the request
        (`keyId`), and gets what that key may read. A change of any other field removes what the key
        of the request may not read, and adds no event types; if it lets more through
        (`connectionIds`, `includeBackfill`, `payloadMode`) and that key ends earlier, the webhook
        then belongs to that key. In `headers` a masked value keeps the stored one; if you change
        `url` to another server, send the values again, since stored ones are not sent there.

        Needs the scope `webhooks.write`.
        """
        path = f"/v1/webhooks/{segment(webhook_id)}"
        answer: types.WebhookSubscription = await self._json("PATCH", path, None, body, options)
        return answer

    async def replay(
        self,
        webhook_id: str,
        body: types.NewWebhookReplay | None = None,
        **options: Unpack[WriteOptions],
    ) -> types.WrittenWebhookReplay:
        """Send events once more.

        1 to 1,000 events by their ids (`eventIds`), or all that happened from `from` on and before
        `to`, whether they arrived before or not. `eventTypes` and `onlyFailed` narrow both. They
        are sent in the order of the log with the same `webhook-id` and the same body, and with
        `webhook-replay`, as the subscription asks for them when they are sent; tests of the webhook
        are sent again by their ids only. What fails is tried again as any delivery is, and does not
        count against the endpoint. An id that is no event of the application gives 400 with its
        place in `param`, and all such places in `details`; an event that is left out is told with a
        warning. A `from` before the oldest event that is kept gives 400 `invalid_time_range`, and
        the message says from when on events are kept. A range may be of any length: at most about
        1,000 of its events wait at a time. The first 10,000 events of the log in it are counted for
        the answer; with `counted` false `eventCount` goes on growing while they are sent. 409
        `invalid_state` while the subscription is paused or disabled; 429 while 100 replays of it
        are under way, or 100,000 deliveries of its replays wait, with those that a pause has left.
        When it is paused later, a replay whose events do not all wait already is `failed`
        (`webhook_paused`): those that wait are sent when it is resumed, and `continueFrom` is the
        `from` of a replay of the others. When it is disabled, replays are `failed`
        (`webhook_disabled`), and what waited is given up.

        Needs the scope `webhooks.write`.
        """
        path = f"/v1/webhooks/{segment(webhook_id)}/replay"
        answer: types.WrittenWebhookReplay = await self._json("POST", path, None, body, options)
        return answer

    async def test(
        self,
        webhook_id: str,
        **options: Unpack[WriteOptions],
    ) -> types.Delivery:
        """Send a test event.

        Sends the event `webhook.test` to this subscription alone, whatever it asks for, and waits
        up to 16 seconds for the first attempt. 200 with the delivery, also when the attempt failed:
        `attempts` says what the endpoint answered. A delivery without an attempt is still under
        way: the endpoint is slow, or has asked to be left alone for a while. A failed test is tried
        again, and counts for the endpoint, as any delivery. 409 `invalid_state` while the
        subscription is paused or disabled.

        Needs the scope `webhooks.write`.
        """
        path = f"/v1/webhooks/{segment(webhook_id)}/test"
        answer: types.Delivery = await self._json("POST", path, None, None, options)
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
        status: str | None = None,
        event_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[ReadOptions],
    ) -> AsyncPages[types.DeliveryPage, types.Delivery]:
        """List deliveries.

        What became of events at the subscription, newest event first, and of one event its replays
        first. An event that was not tried yet has no delivery here, unless it is of a replay or a
        test. Those that arrived are kept for 72 hours, those that were given up (`failed`,
        `discarded`) as long as events. A page can be shorter than `limit`, or empty, and not the
        last: `next_cursor` alone says whether the list goes on.

        Needs the scope `webhooks.read`.

        Args:
            status: Only these: `pending`, `delivered`, `failed` or `discarded`.
            event_id: Only deliveries of this event (`webhook-id`).
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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
        """List replays.

        Who asked for which events, and how far they got, newest first. A replay is kept as long as
        events after it has ended.

        Needs the scope `webhooks.read`.

        Args:
            limit: Page size; above 200 is taken as 200. A page is shorter where its items have more
                than 4 MiB: `next_cursor` alone tells whether it is the last.
            cursor: `next_cursor` of the page before.
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

        How far it is. Kept as long as events after it has ended.

        Needs the scope `webhooks.read`.
        """
        path = f"/v1/webhooks/{segment(webhook_id)}/replays/{segment(replay_id)}"
        answer: types.WebhookReplay = await self._json("GET", path, None, None, options)
        return answer
