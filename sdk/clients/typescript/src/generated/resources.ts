// of clients.json sha256:e8d8ad44471c4383f46116cbf09a95335af565ea52f3c3453d7c3d234a00cc3a
/** The operations of the API as methods: one class for each part of the paths. */
import { type FollowOptions, type StreamOptions, followChanges, followEvents } from "../core/feeds.js";
import { type Change, type ModifyOptions, modify } from "../core/modify.js";
import type { NoQuery, RequestOptions } from "../core/options.js";
import type { Pages } from "../core/pages.js";
import { path } from "../core/path.js";
import { Resource } from "../core/resource.js";
import type * as T from "./types.js";

/** The version of the API that the methods are of. */
export const API_VERSION = "1.0.0";

/** All parts of the API. */
export class Resources extends Resource {
  readonly admin = new Admin(this.transport);
  readonly apiKeys = new ApiKeys(this.transport);
  readonly auth = new Auth(this.transport);
  readonly calendars = new Calendars(this.transport);
  readonly connections = new Connections(this.transport);
  readonly contactBooks = new ContactBooks(this.transport);
  readonly contactGroups = new ContactGroups(this.transport);
  readonly contacts = new Contacts(this.transport);
  readonly email = new Email(this.transport);
  readonly events = new Events(this.transport);
  readonly oauth = new Oauth(this.transport);
  readonly providers = new Providers(this.transport);
  readonly scheduling = new Scheduling(this.transport);
  readonly taskLists = new TaskLists(this.transport);
  readonly test = new Test(this.transport);
  readonly usage = new Usage(this.transport);
  readonly webhooks = new Webhooks(this.transport);
}

export class Admin extends Resource {
  readonly applications = new AdminApplications(this.transport);
  readonly auditLog = new AdminAuditLog(this.transport);
  readonly health = new AdminHealth(this.transport);
  readonly hosts = new AdminHosts(this.transport);
  readonly invitations = new AdminInvitations(this.transport);
  readonly jobs = new AdminJobs(this.transport);
  readonly operators = new AdminOperators(this.transport);
  readonly organizations = new AdminOrganizations(this.transport);
}

export class AdminApplications extends Resource {
  readonly apiKeys = new AdminApplicationsApiKeys(this.transport);
  readonly providers = new AdminApplicationsProviders(this.transport);
  readonly requests = new AdminApplicationsRequests(this.transport);

  /**
   * List applications.
   *
   * In the order of their creation; those of one organization are sorted by name.
   *
   * Needs the scope `admin.read`.
   */
  list(query?: T.AdminApplicationsListQuery, options?: RequestOptions): Pages<T.AdminApplicationPage, T.AdminApplication> {
    return this.$list("/v1/admin/applications", query, options);
  }

  /**
   * Create an application.
   *
   * 409 `already_exists`: `error.param` says whether the name or the handle is taken. 400 `invalid_url`: `error.param` names the address.
   *
   * Needs the scope `admin.write`.
   */
  create(body: T.NewAdminApplication, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenAdminApplication> {
    return this.$write("POST", "/v1/admin/applications", query, body, options);
  }

  /**
   * Read an application.
   *
   * Needs the scope `admin.read`.
   */
  get(applicationId: string, query?: NoQuery, options?: RequestOptions): Promise<T.AdminApplication> {
    return this.$read("GET", path`/v1/admin/applications/${applicationId}`, query, undefined, options);
  }

  /**
   * Change an application.
   *
   * `redirectUris` replaces all addresses. Errors are those of `POST /v1/admin/applications`, and then nothing is changed. With `requestLog` `off`, full bodies that an operator had turned on for a time are no longer recorded either.
   *
   * Needs the scope `admin.write`.
   */
  update(applicationId: string, body: T.AdminApplicationPatch, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenAdminApplication> {
    return this.$write("PATCH", path`/v1/admin/applications/${applicationId}`, query, body, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(applicationId: string, change: Change<T.AdminApplication, T.AdminApplicationPatch>, options: ModifyOptions = {}): Promise<T.AdminApplication | T.WrittenAdminApplication> {
    return modify((o) => this.get(applicationId, undefined, o), (patch: T.AdminApplicationPatch, o) => this.update(applicationId, patch, undefined, o), change, options);
  }
}

export class AdminApplicationsApiKeys extends Resource {
  /**
   * List an application's API keys.
   *
   * The oldest key first, including revoked keys and without access tokens.
   *
   * Needs the scope `admin.read`.
   */
  list(applicationId: string, query?: T.AdminApplicationsApiKeysListQuery, options?: RequestOptions): Pages<T.ApiKeyPage, T.ApiKey> {
    return this.$list(path`/v1/admin/applications/${applicationId}/api-keys`, query, options);
  }

  /**
   * Create an API key of an application.
   *
   * The answer holds the secret in `key`. It is shown only once; an idempotent replay shows it again. The key can have every scope except those of administration (400 `invalid_parameter`).
   *
   * Needs the scope `admin.write`.
   */
  create(applicationId: string, body: T.NewApiKey, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenCreatedApiKey> {
    return this.$write("POST", path`/v1/admin/applications/${applicationId}/api-keys`, query, body, options);
  }

  /**
   * Give an API key of an application a new secret.
   *
   * The same as `POST /v1/api-keys/{keyId}/rotate`, for every key of the application. 409 `invalid_state`: the key is revoked or expired, it is an access token, or the overlap of an earlier rotation is not over and another overlap is requested.
   *
   * Needs the scope `admin.write`.
   */
  rotate(applicationId: string, keyId: string, body?: T.KeyRotation, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenRotatedApiKey> {
    return this.$write("POST", path`/v1/admin/applications/${applicationId}/api-keys/${keyId}/rotate`, query, body, options);
  }

  /**
   * Revoke an API key of an application.
   *
   * The same as `DELETE /v1/api-keys/{keyId}`, for every key of the application.
   *
   * Needs the scope `admin.write`.
   */
  delete(applicationId: string, keyId: string, query?: T.AdminApplicationsApiKeysDeleteQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/admin/applications/${applicationId}/api-keys/${keyId}`, query, undefined, options);
  }
}

export class AdminApplicationsProviders extends Resource {
  /**
   * List providers with OAuth, and the application's registrations.
   *
   * Sorted by name. If the application has no registration at a provider, its `clientId` is null; enter its `callbackUrl` when you register there.
   *
   * Needs the scope `admin.read`.
   */
  list(applicationId: string, query?: T.AdminApplicationsProvidersListQuery, options?: RequestOptions): Pages<T.AdminProviderPage, T.AdminProvider> {
    return this.$list(path`/v1/admin/applications/${applicationId}/providers`, query, options);
  }

  /**
   * Register the application's OAuth client at a provider.
   *
   * Replaces the registration as a whole, except for the secret: without `clientSecret` the stored one stays. With `If-Match` it is only replaced if it still has that version. Addresses in `endpoints` are called under the same rules as all others: unless the host's settings allow it, none may lead into a private network. Connections stay, and use the new registration.
   *
   * Needs the scope `admin.write`.
   */
  replace(applicationId: string, provider: string, body: T.NewAdminProvider, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenAdminProvider> {
    return this.$write("PUT", path`/v1/admin/applications/${applicationId}/providers/${provider}`, query, body, options);
  }

  /**
   * Remove a registration.
   *
   * 409 `not_empty` while accounts of the provider are connected, because their tokens could no longer be renewed. `force=true` removes it all the same.
   *
   * Needs the scope `admin.write`.
   */
  delete(applicationId: string, provider: string, query?: T.AdminApplicationsProvidersDeleteQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/admin/applications/${applicationId}/providers/${provider}`, query, undefined, options);
  }
}

export class AdminApplicationsRequests extends Resource {
  /**
   * List the logged requests of an application.
   *
   * The newest request first. Every write and every error is logged, and a sample of the other requests; each appears about a second after it was answered.
   *
   * Needs the scope `admin.read`.
   */
  list(applicationId: string, query?: T.AdminApplicationsRequestsListQuery, options?: RequestOptions): Pages<T.AdminLoggedRequestPage, T.AdminLoggedRequest> {
    return this.$list(path`/v1/admin/applications/${applicationId}/requests`, query, options);
  }

  /**
   * Read a logged request.
   *
   * Bodies also need the scope `admin.write`, and reading them adds an entry to the audit log (`request_bodies_seen`). Parts that the application's settings do not allow to be logged are missing.
   *
   * Needs the scope `admin.read`.
   */
  get(applicationId: string, requestId: string, query?: T.AdminApplicationsRequestsGetQuery, options?: RequestOptions): Promise<T.AdminRequestDetail> {
    return this.$read("GET", path`/v1/admin/applications/${applicationId}/requests/${requestId}`, query, undefined, options);
  }
}

export class AdminAuditLog extends Resource {
  /**
   * List entries of the audit log.
   *
   * The acts of operators, keys of the administration and commands, the newest first. Entries are kept for 400 days. `actor_id` and `organization_id` exclude each other (400 `conflicting_fields`).
   *
   * Needs the scope `admin.read`.
   */
  list(query?: T.AdminAuditLogListQuery, options?: RequestOptions): Pages<T.AdminAuditEntryPage, T.AdminAuditEntry> {
    return this.$list("/v1/admin/audit-log", query, options);
  }
}

export class AdminHealth extends Resource {
  /**
   * Read the state of the installation.
   *
   * The state as seen by the host that answers: its checks, its connections to the database, and the jobs and hosts of the whole installation. For probes of load balancers use `GET /readyz`, which needs no key.
   *
   * Needs the scope `admin.read`.
   */
  get(query?: NoQuery, options?: RequestOptions): Promise<T.AdminHealth> {
    return this.$read("GET", "/v1/admin/health", query, undefined, options);
  }
}

export class AdminHosts extends Resource {
  /**
   * Read the hosts of the installation.
   *
   * A host is a process that works on the database. A host that stopped without notice is shown until another one has taken over its jobs.
   *
   * Needs the scope `admin.read`.
   */
  get(query?: NoQuery, options?: RequestOptions): Promise<T.AdminHosts> {
    return this.$read("GET", "/v1/admin/hosts", query, undefined, options);
  }
}

export class AdminInvitations extends Resource {
  /**
   * Invite someone to the panel.
   *
   * The answer holds `url`, a link that works for 7 days, by which the invited person chooses a name and a password, or joins with the account that they have. It is shown only once; an idempotent replay shows it again. No email is sent. Open invitations can be withdrawn in the panel. 409 `invalid_state` if an organization has 100 open ones.
   *
   * Needs the scope `admin.operators`.
   */
  create(body: T.NewAdminInvitation, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenAdminInvitationLink> {
    return this.$write("POST", "/v1/admin/invitations", query, body, options);
  }
}

export class AdminJobs extends Resource {
  /**
   * List background jobs.
   *
   * Jobs that wait for a time are sorted by that time; jobs that ended are listed with the last one first. Jobs that succeeded are removed, and jobs that wait to be woken are in no list. With `kind` or `application_id` a page can have fewer jobs than `limit`, or none, while `next_cursor` is set.
   *
   * Needs the scope `admin.read`.
   */
  list(query: T.AdminJobsListQuery, options?: RequestOptions): Pages<T.AdminJobPage, T.AdminJob> {
    return this.$list("/v1/admin/jobs", query, options);
  }

  /**
   * Read a job.
   *
   * Needs the scope `admin.read`.
   */
  get(jobId: string, query?: NoQuery, options?: RequestOptions): Promise<T.AdminJob> {
    return this.$read("GET", path`/v1/admin/jobs/${jobId}`, query, undefined, options);
  }

  /**
   * Run a job now.
   *
   * The job is due at once, whether it waits, failed or was cancelled, and its earlier attempts no longer count. 409 `invalid_state` while it runs.
   *
   * Needs the scope `admin.write`.
   */
  retry(jobId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("POST", path`/v1/admin/jobs/${jobId}/retry`, query, undefined, options);
  }

  /**
   * Cancel a job.
   *
   * For a job that waits or has failed. 409 `invalid_state` while it runs, if it is already cancelled, and for kinds that cannot be cancelled by themselves: the message says what to do instead.
   *
   * Needs the scope `admin.write`.
   */
  cancel(jobId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("POST", path`/v1/admin/jobs/${jobId}/cancel`, query, undefined, options);
  }
}

export class AdminOperators extends Resource {
  /**
   * List operators.
   *
   * The people who may sign in to the panel, in the order of their creation. Disabled operators are listed too: operators are never deleted, because the audit log names them.
   *
   * Needs the scope `admin.read`.
   */
  list(query?: T.AdminOperatorsListQuery, options?: RequestOptions): Pages<T.AdminOperatorPage, T.AdminOperator> {
    return this.$list("/v1/admin/operators", query, options);
  }

  /**
   * Create an operator.
   *
   * The answer holds `url`, a link by which the operator sets a password within an hour. It is shown only once; an idempotent replay shows it again. No email is sent. 409 `already_exists` if an operator has the address. To let people choose their own name, and to give rights to someone who already has an account, create an invitation (`POST /v1/admin/invitations`).
   *
   * Needs the scope `admin.operators`.
   */
  create(body: T.NewAdminOperator, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenAdminCreatedOperator> {
    return this.$write("POST", "/v1/admin/operators", query, body, options);
  }

  /**
   * Read an operator.
   *
   * Needs the scope `admin.read`.
   */
  get(operatorId: string, query?: NoQuery, options?: RequestOptions): Promise<T.AdminOperator> {
    return this.$read("GET", path`/v1/admin/operators/${operatorId}`, query, undefined, options);
  }

  /**
   * Change an operator's name or rights, disable or enable them.
   *
   * All changes of a request are made together or not at all, and apply to the operator's next request. 409 `invalid_state` for a change that leaves the installation without an administrator who is not disabled (`last_admin`) or an organization without an owner (`last_owner`).
   *
   * Needs the scope `admin.operators`.
   */
  update(operatorId: string, body: T.AdminOperatorPatch, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenAdminOperator> {
    return this.$write("PATCH", path`/v1/admin/operators/${operatorId}`, query, body, options);
  }

  /**
   * Disable an operator.
   *
   * The operator's sessions end, and they can no longer sign in. The operator stays in lists, with `disabledAt`; `PATCH` with `disabled: false` lets them sign in again. 409 `invalid_state` for the last administrator and the last owner of an organization.
   *
   * Needs the scope `admin.operators`.
   */
  delete(operatorId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/admin/operators/${operatorId}`, query, undefined, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(operatorId: string, change: Change<T.AdminOperator, T.AdminOperatorPatch>, options: ModifyOptions = {}): Promise<T.AdminOperator | T.WrittenAdminOperator> {
    return modify((o) => this.get(operatorId, undefined, o), (patch: T.AdminOperatorPatch, o) => this.update(operatorId, patch, undefined, o), change, options);
  }
}

export class AdminOrganizations extends Resource {
  /**
   * List organizations.
   *
   * Sorted by name. The organization of the administration's own keys is not listed.
   *
   * Needs the scope `admin.read`.
   */
  list(query?: T.AdminOrganizationsListQuery, options?: RequestOptions): Pages<T.AdminOrganizationPage, T.AdminOrganization> {
    return this.$list("/v1/admin/organizations", query, options);
  }

  /**
   * Create an organization.
   *
   * Needs the scope `admin.write`.
   */
  create(body: T.NewAdminOrganization, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenAdminOrganization> {
    return this.$write("POST", "/v1/admin/organizations", query, body, options);
  }

  /**
   * Read an organization.
   *
   * Needs the scope `admin.read`.
   */
  get(organizationId: string, query?: NoQuery, options?: RequestOptions): Promise<T.AdminOrganization> {
    return this.$read("GET", path`/v1/admin/organizations/${organizationId}`, query, undefined, options);
  }

  /**
   * Rename an organization.
   *
   * Needs the scope `admin.write`.
   */
  update(organizationId: string, body: T.AdminOrganizationPatch, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenAdminOrganization> {
    return this.$write("PATCH", path`/v1/admin/organizations/${organizationId}`, query, body, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(organizationId: string, change: Change<T.AdminOrganization, T.AdminOrganizationPatch>, options: ModifyOptions = {}): Promise<T.AdminOrganization | T.WrittenAdminOrganization> {
    return modify((o) => this.get(organizationId, undefined, o), (patch: T.AdminOrganizationPatch, o) => this.update(organizationId, patch, undefined, o), change, options);
  }
}

export class ApiKeys extends Resource {
  /**
   * Create an API key.
   *
   * The answer holds the secret in `key`. It is shown only once; an idempotent replay shows it again. The new key can do no more than the key that creates it: its scopes are among those of that key, and every restriction of that key (domains, addresses, connections, rate, expiry, policy for assistants) applies to it too, or is narrower. To replace a key's secret, rotate it (`POST /v1/api-keys/{keyId}/rotate`).
   *
   * Needs the scope `api_keys.write`.
   */
  create(body: T.NewApiKey, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenCreatedApiKey> {
    return this.$write("POST", "/v1/api-keys", query, body, options);
  }

  /**
   * List the application's API keys.
   *
   * A key that is bound to connections sees itself and the keys that descend from it. Access tokens are listed with `kind=access_token`, until an hour after they expire.
   *
   * Needs the scope `api_keys.write`.
   */
  list(query?: T.ApiKeysListQuery, options?: RequestOptions): Pages<T.ApiKeyPage, T.ApiKey> {
    return this.$list("/v1/api-keys", query, options);
  }

  /**
   * Read an API key.
   *
   * Needs the scope `api_keys.write`.
   */
  get(keyId: string, query?: NoQuery, options?: RequestOptions): Promise<T.ApiKey> {
    return this.$read("GET", path`/v1/api-keys/${keyId}`, query, undefined, options);
  }

  /**
   * Revoke an API key.
   *
   * The key and its access tokens are refused everywhere within a second, and event streams that they opened end. Its webhooks pass to the newest valid key that was created later and has exactly its scopes and connections, so that a newer key can replace this one. If there is none, they are disabled (`key_ended`); webhooks of its access tokens are always disabled. The key stays in lists, with `revokedAt`.
   *
   * Needs the scope `api_keys.write`.
   */
  delete(keyId: string, query?: T.ApiKeysDeleteQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/api-keys/${keyId}`, query, undefined, options);
  }

  /**
   * Give an API key a new secret.
   *
   * The answer holds the new secret in `key`. It is shown only once; an idempotent replay shows it again. The key keeps its id, and with it its scopes, restrictions, usage, webhooks, access tokens and the keys that it created. The old secret works until `previousExpiresAt`, `overlapSeconds` from now, so that clients can switch one after the other. Then it is refused everywhere within a second (401 `expired_api_key`), and event streams that it opened end. With `0` it ends at once, and so does one that an earlier rotation left. 409 `invalid_state`: the key is revoked or expired, it is an access token, or the overlap of an earlier rotation is not over and another overlap is requested. A key can rotate itself and keys that may do no more than it: for a key with a scope that it lacks the answer is 403 `insufficient_scope`, for a less restricted one 403 `forbidden`.
   *
   * Needs the scope `api_keys.write`.
   */
  rotate(keyId: string, body?: T.KeyRotation, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenRotatedApiKey> {
    return this.$write("POST", path`/v1/api-keys/${keyId}/rotate`, query, body, options);
  }
}

export class Auth extends Resource {
  readonly connectors = new AuthConnectors(this.transport);
}

export class AuthConnectors extends Resource {
  /**
   * Start connecting an account.
   *
   * Send the user to `authorizationUrl`, which works once and for ten minutes. With `codeChallenge`, the account is connected when you exchange its code. If the application already has a connection by OAuth of the same account at the same server, that connection gets the new credentials and the scopes of this authorization, and keeps its id and its tags, unless it works and would lose scopes; `allow_duplicate=true` makes another connection instead. "Connecting by OAuth" above describes every step.
   *
   * Needs the scope `connections.write`.
   */
  authorize(provider: string, body: T.NewAuthorization, query?: T.AuthConnectorsAuthorizeQuery, options?: RequestOptions): Promise<T.Authorization> {
    return this.$write("POST", path`/v1/auth/connectors/${provider}/authorize`, query, body, options);
  }

  /**
   * Return from the provider.
   *
   * For browsers: the provider redirects the user here, and the answer redirects them to the application's `redirectUri` with `connection_id`, `status` and `state`, or with `error`. `status` is `active`. After an authorization with `codeChallenge` it is `pending` and comes with a `code`: exchange it at `POST /v1/oauth/token` within 60 seconds to connect the account. `state` authenticates the request and works once. With an API key (scope `connections.write`), or with `Accept: application/json`, the answer is JSON. If the request cannot be redirected, the user sees a page.
   */
  callback(provider: string, query: T.AuthConnectorsCallbackQuery, options?: RequestOptions): Promise<T.AuthorizationResult> {
    return this.$read("GET", path`/v1/auth/connectors/${provider}/callback`, query, undefined, options);
  }
}

export class Calendars extends Resource {
  readonly availability = new CalendarsAvailability(this.transport);
  readonly events = new CalendarsEvents(this.transport);
  readonly freebusy = new CalendarsFreebusy(this.transport);
  readonly sync = new CalendarsSync(this.transport);

  /**
   * List calendars.
   *
   * Needs the scope `calendar.read`.
   */
  list(query?: T.CalendarsListQuery, options?: RequestOptions): Pages<T.CalendarPage, T.Calendar> {
    return this.$list("/v1/calendars", query, options);
  }

  /**
   * Create a calendar.
   *
   * Needs the scope `calendar.write`.
   */
  create(body: T.NewCalendar, query?: NoQuery, options?: RequestOptions): Promise<T.Calendar> {
    return this.$write("POST", "/v1/calendars", query, body, options);
  }

  /**
   * Read a calendar.
   *
   * Needs the scope `calendar.read`.
   */
  get(calendarId: string, query?: T.CalendarsGetQuery, options?: RequestOptions): Promise<T.Calendar> {
    return this.$read("GET", path`/v1/calendars/${calendarId}`, query, undefined, options);
  }

  /**
   * Change a calendar.
   *
   * Needs the scope `calendar.write`.
   */
  update(calendarId: string, body: T.CalendarPatch, query?: NoQuery, options?: RequestOptions): Promise<T.Calendar> {
    return this.$write("PATCH", path`/v1/calendars/${calendarId}`, query, body, options);
  }

  /**
   * Delete a calendar and everything in it.
   *
   * Needs the scope `calendar.write`.
   */
  delete(calendarId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/calendars/${calendarId}`, query, undefined, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(calendarId: string, change: Change<T.Calendar, T.CalendarPatch>, options: ModifyOptions = {}): Promise<T.Calendar> {
    return modify((o) => this.get(calendarId, undefined, o), (patch: T.CalendarPatch, o) => this.update(calendarId, patch, undefined, o), change, options);
  }
}

export class CalendarsAvailability extends Resource {
  /**
   * Ask when people can meet.
   *
   * Every group of `participants` must be satisfied. Slots begin on a grid that starts with each window of open hours, or at midnight in `timeZone`; a busy time does not move it. Buffers are kept free of busy times and need not be open. A member that could not be asked counts as busy, is named in `unavailable`, and makes `complete` false.
   *
   * Needs the scope `calendar.freebusy`.
   */
  query(body: T.AvailabilityQuery, query?: NoQuery, options?: RequestOptions): Promise<T.AvailabilityAnswer> {
    return this.$read("POST", "/v1/calendars/availability/query", query, body, options);
  }
}

export class CalendarsEvents extends Resource {
  /**
   * List events.
   *
   * Stored events (single ones, series, exceptions) by start; with `expand=true` the instances of series take their place. A series that cannot be expanded stays, with the warning `recurrence_not_expanded`.
   *
   * Needs the scope `calendar.read`.
   */
  list(calendarId: string, query?: T.CalendarsEventsListQuery, options?: RequestOptions): Pages<T.CalendarEventPage, T.CalendarEvent> {
    return this.$list(path`/v1/calendars/${calendarId}/events`, query, options);
  }

  /**
   * Create an event.
   *
   * `notify` says which attendees the provider notifies. If it cannot notify exactly these, the event is written all the same, with the warning `notify_not_supported`; with `strict=true` the write is refused.
   *
   * Needs the scope `calendar.write`.
   */
  create(calendarId: string, body: T.NewCalendarEvent, query?: NoQuery, options?: RequestOptions): Promise<T.CalendarEvent> {
    return this.$write("POST", path`/v1/calendars/${calendarId}/events`, query, body, options);
  }

  /**
   * Read an event.
   *
   * Also reads one instance of a series: its id is the id of the series, `_`, and the original start.
   *
   * Needs the scope `calendar.read`.
   */
  get(calendarId: string, eventId: string, query?: T.CalendarsEventsGetQuery, options?: RequestOptions): Promise<T.CalendarEvent> {
    return this.$read("GET", path`/v1/calendars/${calendarId}/events/${eventId}`, query, undefined, options);
  }

  /**
   * Change an event.
   *
   * A JSON merge patch. `recurrenceScope` says which instances change: `this` (default with the id of an instance), `thisAndFollowing`, `all` (default with the id of a series). `notify` has the meaning that it has when an event is created.
   *
   * Needs the scope `calendar.write`.
   */
  update(calendarId: string, eventId: string, body: T.CalendarEventPatch, query?: NoQuery, options?: RequestOptions): Promise<T.CalendarEvent> {
    return this.$write("PATCH", path`/v1/calendars/${calendarId}/events/${eventId}`, query, body, options);
  }

  /**
   * Delete an event.
   *
   * The answer is 204, or 200 with `warnings` if there are any, such as `notify_not_supported`.
   *
   * Needs the scope `calendar.write`.
   */
  delete(calendarId: string, eventId: string, query?: T.CalendarsEventsDeleteQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/calendars/${calendarId}/events/${eventId}`, query, undefined, options);
  }

  /**
   * Accept an invitation.
   *
   * Needs the scope `calendar.write`.
   */
  accept(calendarId: string, eventId: string, body?: T.Rsvp, query?: NoQuery, options?: RequestOptions): Promise<T.CalendarEvent> {
    return this.$write("POST", path`/v1/calendars/${calendarId}/events/${eventId}/accept`, query, body, options);
  }

  /**
   * Accept an invitation tentatively.
   *
   * Needs the scope `calendar.write`.
   */
  tentative(calendarId: string, eventId: string, body?: T.Rsvp, query?: NoQuery, options?: RequestOptions): Promise<T.CalendarEvent> {
    return this.$write("POST", path`/v1/calendars/${calendarId}/events/${eventId}/tentative`, query, body, options);
  }

  /**
   * Decline an invitation.
   *
   * Needs the scope `calendar.write`.
   */
  decline(calendarId: string, eventId: string, body?: T.Rsvp, query?: NoQuery, options?: RequestOptions): Promise<T.CalendarEvent> {
    return this.$write("POST", path`/v1/calendars/${calendarId}/events/${eventId}/decline`, query, body, options);
  }

  /**
   * Add a conference.
   *
   * 400 `capability_not_supported` where the provider has none. An event that has a conference keeps it.
   *
   * Needs the scope `calendar.write`.
   */
  conference(calendarId: string, eventId: string, body?: T.NewConference, query?: NoQuery, options?: RequestOptions): Promise<T.CalendarEvent> {
    return this.$write("POST", path`/v1/calendars/${calendarId}/events/${eventId}/conference`, query, body, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(calendarId: string, eventId: string, change: Change<T.CalendarEvent, T.CalendarEventPatch>, options: ModifyOptions = {}): Promise<T.CalendarEvent> {
    return modify((o) => this.get(calendarId, eventId, undefined, o), (patch: T.CalendarEventPatch, o) => this.update(calendarId, eventId, patch, undefined, o), change, options);
  }
}

export class CalendarsFreebusy extends Resource {
  /**
   * Ask when people are busy.
   *
   * Up to 50 targets over at most 92 days. A target that is named twice is answered once, with the warning `duplicate_target`. A target that failed has `status` `error`, is never reported as free, and makes `complete` false; the others are answered all the same. `includeDetails` needs the scope `calendar.read`.
   *
   * Needs the scope `calendar.freebusy`.
   */
  query(body: T.FreeBusyQuery, query?: NoQuery, options?: RequestOptions): Promise<T.FreeBusyAnswer> {
    return this.$read("POST", "/v1/calendars/freebusy/query", query, body, options);
  }
}

export class CalendarsSync extends Resource {
  /**
   * Start incremental sync.
   *
   * From now on the service keeps its copy of the calendar up to date. Starting the sync again changes nothing and answers 200.
   *
   * Needs the scope `calendar.read`.
   */
  start(calendarId: string, body?: T.SyncStart, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", path`/v1/calendars/${calendarId}/sync/start`, query, body, options);
  }

  /**
   * Read what changed.
   *
   * Without `cursor`, the feed begins with all events. Read until `next_cursor` is null, store `sync_cursor`, and pass it as `cursor` next time.
   *
   * Needs the scope `calendar.read`.
   */
  changes(calendarId: string, query?: T.CalendarsSyncChangesQuery, options?: RequestOptions): Promise<T.SyncChanges> {
    return this.$read("GET", path`/v1/calendars/${calendarId}/sync/changes`, query, undefined, options);
  }

  /**
   * Read what changed, and follow what comes.
   *
   * Yields changes as they come, from the stored cursor on. The cursor of a page is stored when its last change was processed and the next one is asked for, so a change can come twice after a crash and is never lost.
   */
  follow(calendarId: string, options?: FollowOptions & Omit<T.CalendarsSyncChangesQuery, "cursor">): AsyncGenerator<T.Change, void, undefined> {
    return followChanges(this.transport, path`/v1/calendars/${calendarId}/sync/changes`, options);
  }

  /**
   * Renew the provider's push channel.
   *
   * The channel is renewed after the answer, which has its present state. A channel that was renewed within the last minute stays as it is. `unsupported` means that the provider has no channels: the service then polls the calendar.
   *
   * Needs the scope `calendar.read`.
   */
  renew(calendarId: string, query?: NoQuery, options?: RequestOptions): Promise<T.Watch> {
    return this.$write("POST", path`/v1/calendars/${calendarId}/sync/renew`, query, undefined, options);
  }

  /**
   * Read everything again.
   *
   * With `soft`, cursors stay valid and the feed reports only differences. With `hard`, earlier cursors become invalid and the feed reports everything again.
   *
   * Needs the scope `calendar.read`.
   */
  reset(calendarId: string, body?: T.SyncReset, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", path`/v1/calendars/${calendarId}/sync/reset`, query, body, options);
  }

  /**
   * Read the state of the sync.
   *
   * Needs the scope `calendar.read`.
   */
  status(calendarId: string, query?: NoQuery, options?: RequestOptions): Promise<T.SyncState> {
    return this.$read("GET", path`/v1/calendars/${calendarId}/sync/status`, query, undefined, options);
  }
}

export class Connections extends Resource {
  readonly capabilities = new ConnectionsCapabilities(this.transport);

  /**
   * Connect an account by credentials.
   *
   * The credentials are tried at the provider before anything is stored. They are encrypted at once and never shown again. 409 `already_exists` if the application already has a connection of the same account at the same server; `details` has its id. Connections that need new credentials (`reauth_required`) do not count, and `allow_duplicate=true` allows another connection.
   *
   * Needs the scope `connections.write`.
   */
  create(body: T.NewConnection, query?: T.ConnectionsCreateQuery, options?: RequestOptions): Promise<T.WrittenConnection> {
    return this.$write("POST", "/v1/connections", query, body, options);
  }

  /**
   * List connections.
   *
   * Needs the scope `connections.read`.
   */
  list(query?: T.ConnectionsListQuery, options?: RequestOptions): Pages<T.ConnectionPage, T.Connection> {
    return this.$list("/v1/connections", query, options);
  }

  /**
   * Read a connection.
   *
   * Needs the scope `connections.read`.
   */
  get(connectionId: string, query?: NoQuery, options?: RequestOptions): Promise<T.Connection> {
    return this.$read("GET", path`/v1/connections/${connectionId}`, query, undefined, options);
  }

  /**
   * Disconnect an account.
   *
   * Stops the sync and removes the credentials and the local copy. Nothing changes in the account at the provider. OAuth tokens that no other connection needs are revoked there.
   *
   * Needs the scope `connections.write`.
   */
  delete(connectionId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/connections/${connectionId}`, query, undefined, options);
  }

  /**
   * Try the credentials again.
   *
   * OAuth tokens are renewed first, unless they are younger than 30 seconds. 409 `reauth_required` if the provider refuses them. 503 `provider_unavailable` with `Retry-After` if the provider does not answer; nothing is changed then.
   *
   * Needs the scope `connections.write`.
   */
  refresh(connectionId: string, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenConnection> {
    return this.$write("POST", path`/v1/connections/${connectionId}/refresh`, query, undefined, options);
  }
}

export class ConnectionsCapabilities extends Resource {
  /**
   * Read what a connection can do.
   *
   * Needs the scope `connections.read`.
   */
  get(connectionId: string, query?: NoQuery, options?: RequestOptions): Promise<T.Capabilities> {
    return this.$read("GET", path`/v1/connections/${connectionId}/capabilities`, query, undefined, options);
  }
}

export class ContactBooks extends Resource {
  /**
   * List contact books.
   *
   * Needs the scope `contacts.read`.
   */
  list(query?: T.ContactBooksListQuery, options?: RequestOptions): Pages<T.ContactBookPage, T.ContactBook> {
    return this.$list("/v1/contact-books", query, options);
  }

  /**
   * Create a contact book.
   *
   * Needs the scope `contacts.write`.
   */
  create(body: T.NewContactBook, query?: NoQuery, options?: RequestOptions): Promise<T.ContactBook> {
    return this.$write("POST", "/v1/contact-books", query, body, options);
  }

  /**
   * Read a contact book.
   *
   * Needs the scope `contacts.read`.
   */
  get(bookId: string, query?: T.ContactBooksGetQuery, options?: RequestOptions): Promise<T.ContactBook> {
    return this.$read("GET", path`/v1/contact-books/${bookId}`, query, undefined, options);
  }

  /**
   * Change a contact book.
   *
   * Needs the scope `contacts.write`.
   */
  update(bookId: string, body: T.ContactBookPatch, query?: NoQuery, options?: RequestOptions): Promise<T.ContactBook> {
    return this.$write("PATCH", path`/v1/contact-books/${bookId}`, query, body, options);
  }

  /**
   * Delete a contact book.
   *
   * A book that holds contacts answers 409 `not_empty` without `force`.
   *
   * Needs the scope `contacts.write`.
   */
  delete(bookId: string, query?: T.ContactBooksDeleteQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/contact-books/${bookId}`, query, undefined, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(bookId: string, change: Change<T.ContactBook, T.ContactBookPatch>, options: ModifyOptions = {}): Promise<T.ContactBook> {
    return modify((o) => this.get(bookId, undefined, o), (patch: T.ContactBookPatch, o) => this.update(bookId, patch, undefined, o), change, options);
  }
}

export class ContactGroups extends Resource {
  /**
   * List contact groups, by name.
   *
   * Needs the scope `contacts.read`.
   */
  list(query?: T.ContactGroupsListQuery, options?: RequestOptions): Pages<T.ContactGroupPage, T.ContactGroup> {
    return this.$list("/v1/contact-groups", query, options);
  }

  /**
   * Create a contact group.
   *
   * The group is created in the book `bookId`; without `bookId`, in the default book of `connectionId`. Its members are contacts of the same book.
   *
   * Needs the scope `contacts.write`.
   */
  create(body: T.NewContactGroup, query?: NoQuery, options?: RequestOptions): Promise<T.ContactGroup> {
    return this.$write("POST", "/v1/contact-groups", query, body, options);
  }

  /**
   * Read a contact group.
   *
   * Needs the scope `contacts.read`.
   */
  get(groupId: string, query?: T.ContactGroupsGetQuery, options?: RequestOptions): Promise<T.ContactGroup> {
    return this.$read("GET", path`/v1/contact-groups/${groupId}`, query, undefined, options);
  }

  /**
   * Change a contact group.
   *
   * `contactIds` replaces the members. To change the members of a group with more than 500, change the `groupIds` of the contacts.
   *
   * Needs the scope `contacts.write`.
   */
  update(groupId: string, body: T.ContactGroupPatch, query?: NoQuery, options?: RequestOptions): Promise<T.ContactGroup> {
    return this.$write("PATCH", path`/v1/contact-groups/${groupId}`, query, body, options);
  }

  /**
   * Delete a contact group; its contacts stay.
   *
   * Needs the scope `contacts.write`.
   */
  delete(groupId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/contact-groups/${groupId}`, query, undefined, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(groupId: string, change: Change<T.ContactGroup, T.ContactGroupPatch>, options: ModifyOptions = {}): Promise<T.ContactGroup> {
    return modify((o) => this.get(groupId, undefined, o), (patch: T.ContactGroupPatch, o) => this.update(groupId, patch, undefined, o), change, options);
  }
}

export class Contacts extends Resource {
  readonly mergeSuggestions = new ContactsMergeSuggestions(this.transport);
  readonly photo = new ContactsPhoto(this.transport);
  readonly sync = new ContactsSync(this.transport);

  /**
   * Search and list contacts, by name.
   *
   * The contacts are sorted by `displayName` without regard to case, then by id.
   *
   * Needs the scope `contacts.read`.
   */
  list(query?: T.ContactsListQuery, options?: RequestOptions): Pages<T.ContactPage, T.Contact> {
    return this.$list("/v1/contacts", query, options);
  }

  /**
   * Create a contact.
   *
   * A contact needs at least one of a name, an email address, a phone number and an organization. It is created in the book `bookId`; without `bookId`, in the default book of `connectionId`.
   *
   * Needs the scope `contacts.write`.
   */
  create(body: T.NewContact, query?: NoQuery, options?: RequestOptions): Promise<T.Contact> {
    return this.$write("POST", "/v1/contacts", query, body, options);
  }

  /**
   * Read a contact.
   *
   * Needs the scope `contacts.read`.
   */
  get(contactId: string, query?: T.ContactsGetQuery, options?: RequestOptions): Promise<T.Contact> {
    return this.$read("GET", path`/v1/contacts/${contactId}`, query, undefined, options);
  }

  /**
   * Change a contact.
   *
   * The body is a JSON merge patch (RFC 7396). Fields that it does not name stay as they are, with everything that other programs wrote into the record.
   *
   * Needs the scope `contacts.write`.
   */
  update(contactId: string, body: T.ContactPatch, query?: NoQuery, options?: RequestOptions): Promise<T.Contact> {
    return this.$write("PATCH", path`/v1/contacts/${contactId}`, query, body, options);
  }

  /**
   * Delete a contact.
   *
   * Needs the scope `contacts.write`.
   */
  delete(contactId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/contacts/${contactId}`, query, undefined, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(contactId: string, change: Change<T.Contact, T.ContactPatch>, options: ModifyOptions = {}): Promise<T.Contact> {
    return modify((o) => this.get(contactId, undefined, o), (patch: T.ContactPatch, o) => this.update(contactId, patch, undefined, o), change, options);
  }
}

export class ContactsMergeSuggestions extends Resource {
  /**
   * Find contacts that seem to be the same.
   *
   * The suggestions change nothing. An equal email address, phone number or profile gives a score of at least 0.9, an equal name at an equal organization 0.7 to 0.85, an equal name alone at most 0.6. Role addresses (`info@`), numbers on more than three contacts, and values shared by contacts whose names contradict each other (a household, an office) do not count. The suggestions are sorted by score, the highest first, then by id. `limit` and `cursor` are fields of the body.
   *
   * Needs the scope `contacts.read`.
   */
  query(body?: T.MergeSuggestionQuery, query?: NoQuery, options?: RequestOptions): Promise<T.MergeSuggestionPage> {
    return this.$read("POST", "/v1/contacts/merge-suggestions/query", query, body, options);
  }
}

export class ContactsPhoto extends Resource {
  /**
   * Read the picture that a contact's record holds.
   *
   * The answer is JSON with the picture in base64, or the bytes of the picture with `Accept: application/octet-stream` or `format=raw`. A picture that the record only links to is at `photo.url`; it answers 404 here.
   *
   * Needs the scope `contacts.read`.
   */
  get(contactId: string, query?: NoQuery, options?: RequestOptions): Promise<T.ContactPicture> {
    return this.$read("GET", path`/v1/contacts/${contactId}/photo`, query, undefined, options);
  }

  /**
   * Read the picture that a contact's record holds.
   *
   * The answer is JSON with the picture in base64, or the bytes of the picture with `Accept: application/octet-stream` or `format=raw`. A picture that the record only links to is at `photo.url`; it answers 404 here.
   *
   * Needs the scope `contacts.read`.
   */
  getRaw(contactId: string, query?: NoQuery, options?: RequestOptions): Promise<Response> {
    return this.$bytes(path`/v1/contacts/${contactId}/photo`, "application/octet-stream", query, options);
  }
}

export class ContactsSync extends Resource {
  /**
   * Start incremental sync of contacts.
   *
   * From now on the service keeps its copy of all contact books of `connectionId` up to date. Starting the sync again changes nothing and answers 200.
   *
   * Needs the scope `contacts.read`.
   */
  start(body: T.ConnectionSyncStart, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", "/v1/contacts/sync/start", query, body, options);
  }

  /**
   * Read what changed in contacts, groups and books.
   *
   * Without `cursor`, the feed begins with everything that exists. Read until `next_cursor` is null, store `sync_cursor`, and pass it as `cursor` next time. `resourceType` is `contact`, `contact_group` or `contact_book`.
   *
   * Needs the scope `contacts.read`.
   */
  changes(query: T.ContactsSyncChangesQuery, options?: RequestOptions): Promise<T.SyncChanges> {
    return this.$read("GET", "/v1/contacts/sync/changes", query, undefined, options);
  }

  /**
   * Read what changed in contacts, groups and books, and follow what comes.
   *
   * Yields changes as they come, from the stored cursor on. The cursor of a page is stored when its last change was processed and the next one is asked for, so a change can come twice after a crash and is never lost.
   */
  follow(options: FollowOptions & Omit<T.ContactsSyncChangesQuery, "cursor">): AsyncGenerator<T.Change, void, undefined> {
    return followChanges(this.transport, "/v1/contacts/sync/changes", options);
  }

  /**
   * Read everything again.
   *
   * With `soft`, cursors stay valid and the feed reports only differences. With `hard`, earlier cursors become invalid and the feed reports everything again.
   *
   * Needs the scope `contacts.read`.
   */
  reset(body: T.ConnectionSyncReset, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", "/v1/contacts/sync/reset", query, body, options);
  }

  /**
   * Read the state of the sync.
   *
   * Needs the scope `contacts.read`.
   */
  status(connectionId: string, query?: NoQuery, options?: RequestOptions): Promise<T.SyncState> {
    return this.$read("GET", path`/v1/contacts/sync/status/${connectionId}`, query, undefined, options);
  }
}

export class Email extends Resource {
  readonly capabilities = new EmailCapabilities(this.transport);
  readonly drafts = new EmailDrafts(this.transport);
  readonly folders = new EmailFolders(this.transport);
  readonly labels = new EmailLabels(this.transport);
  readonly messages = new EmailMessages(this.transport);
  readonly sync = new EmailSync(this.transport);
  readonly threads = new EmailThreads(this.transport);
  readonly tracking = new EmailTracking(this.transport);

  /**
   * Send a message.
   *
   * Answers 202 with the message; `delivery` and the events about it show the progress. The message is sent once, however often you repeat the request with its Idempotency-Key. If it is unknown whether the provider accepted it, `delivery.error.code` is `outcome_unknown`. With `sendAt`, the message is sent at that time: DELETE of the message cancels it until the provider gets it, and answers 409 `already_sent` from then on. `replyToMessageId` and `attachmentRef` read a message: a key without `email.read` gets 403 `insufficient_scope`, and `param` names the field.
   *
   * Needs the scope `email.send`.
   */
  send(body: T.SendMessage, query?: NoQuery, options?: RequestOptions): Promise<T.EmailMessage> {
    return this.$write("POST", "/v1/email/send", query, body, options);
  }
}

export class EmailCapabilities extends Resource {
  /**
   * Read what a mailbox connection can do.
   *
   * The answer also covers the calendars, contacts and tasks of the account. `missing` lists what the connection cannot do, with the reasons.
   *
   * Needs the scope `email.read`.
   */
  get(connectionId: string, query?: NoQuery, options?: RequestOptions): Promise<T.Capabilities> {
    return this.$read("GET", path`/v1/email/capabilities/${connectionId}`, query, undefined, options);
  }
}

export class EmailDrafts extends Resource {
  /**
   * Create a draft.
   *
   * The draft is stored in the drafts folder of the account, where other mail programs see it too.
   *
   * Needs the scope `email.write`.
   */
  create(body: T.NewDraft, query?: NoQuery, options?: RequestOptions): Promise<T.Draft> {
    return this.$write("POST", "/v1/email/drafts", query, body, options);
  }

  /**
   * List drafts, newest first.
   *
   * Drafts are listed without their text. A draft that was sent is no longer listed.
   *
   * Needs the scope `email.read`.
   */
  list(query?: T.EmailDraftsListQuery, options?: RequestOptions): Pages<T.DraftPage, T.Draft> {
    return this.$list("/v1/email/drafts", query, options);
  }

  /**
   * Read a draft.
   *
   * Returns the draft with its text and header fields. After the draft was sent, `sentMessageId` has the id of the message.
   *
   * Needs the scope `email.read`.
   */
  get(draftId: string, query?: T.EmailDraftsGetQuery, options?: RequestOptions): Promise<T.Draft> {
    return this.$read("GET", path`/v1/email/drafts/${draftId}`, query, undefined, options);
  }

  /**
   * Change a draft.
   *
   * A JSON merge patch. It needs the etag, because mail programs save drafts by themselves. Without `attachments`, the files stay; with it, the list replaces them, and `{"id": …}` in the list keeps a file that the draft has.
   *
   * Needs the scope `email.write`.
   */
  update(draftId: string, body: T.DraftPatch, query?: NoQuery, options?: RequestOptions): Promise<T.Draft> {
    return this.$write("PATCH", path`/v1/email/drafts/${draftId}`, query, body, options);
  }

  /**
   * Destroy a draft.
   *
   * The draft does not go to the trash. While it is scheduled or being sent, it cannot be destroyed: delete the message with the id `sentMessageId` first, to cancel it.
   *
   * Needs the scope `email.write`.
   */
  delete(draftId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/email/drafts/${draftId}`, query, undefined, options);
  }

  /**
   * Send a draft.
   *
   * The key needs `email.read` too, because sending a draft reads it. A draft is sent once: a second call answers 409 `draft_already_sent`. With `sendAt`, in the draft or in the request, the message is sent at that time: DELETE of the returned message cancels it until the provider gets it, and answers 409 `already_sent` from then on.
   *
   * Needs the scope `email.send`.
   */
  send(draftId: string, body?: T.SendDraft, query?: NoQuery, options?: RequestOptions): Promise<T.EmailMessage> {
    return this.$write("POST", path`/v1/email/drafts/${draftId}/send`, query, body, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(draftId: string, change: Change<T.Draft, T.DraftPatch>, options: ModifyOptions = {}): Promise<T.Draft> {
    return modify((o) => this.get(draftId, undefined, o), (patch: T.DraftPatch, o) => this.update(draftId, patch, undefined, o), change, options);
  }
}

export class EmailFolders extends Resource {
  /**
   * List folders.
   *
   * Each folder has its role and the number of messages that the provider counts in it.
   *
   * Needs the scope `email.read`.
   */
  list(query?: T.EmailFoldersListQuery, options?: RequestOptions): Pages<T.FolderPage, T.Folder> {
    return this.$list("/v1/email/folders", query, options);
  }
}

export class EmailLabels extends Resource {
  /**
   * List labels.
   *
   * The list is empty if the provider has no labels (`features.labels` of the capabilities).
   *
   * Needs the scope `email.read`.
   */
  list(query?: T.EmailLabelsListQuery, options?: RequestOptions): Pages<T.LabelPage, T.Label> {
    return this.$list("/v1/email/labels", query, options);
  }
}

export class EmailMessages extends Resource {
  readonly attachments = new EmailMessagesAttachments(this.transport);

  /**
   * Search and list messages, newest first.
   *
   * Sorted by `receivedAt` and id, both descending. While a new mailbox is synced for the first time, a page may be short or empty: only a null `next_cursor` is the end.
   *
   * Needs the scope `email.read`.
   */
  list(query?: T.EmailMessagesListQuery, options?: RequestOptions): Pages<T.EmailMessagePage, T.EmailMessage> {
    return this.$list("/v1/email/messages", query, options);
  }

  /**
   * Put a message into a folder without sending it.
   *
   * Takes the whole message in `rawBase64`, or its parts in the other fields. If `folderIds` is empty, the message goes to the inbox.
   *
   * Needs the scope `email.write`.
   */
  create(body: T.NewMessage, query?: NoQuery, options?: RequestOptions): Promise<T.EmailMessage> {
    return this.$write("POST", "/v1/email/messages", query, body, options);
  }

  /**
   * Read a message.
   *
   * `body.html` is as the sender wrote it: show `body.safeHtml` instead. A draft can be read here too, by its id.
   *
   * Needs the scope `email.read`.
   */
  get(messageId: string, query?: T.EmailMessagesGetQuery, options?: RequestOptions): Promise<T.EmailMessage> {
    return this.$read("GET", path`/v1/email/messages/${messageId}`, query, undefined, options);
  }

  /**
   * Change flags, folders and labels of a message.
   *
   * A JSON merge patch. Another folder in `folderIds` moves the message; it keeps its id. Providers without `features.multiFolder` take one folder.
   *
   * Needs the scope `email.write`.
   */
  update(messageId: string, body: T.MessagePatch, query?: NoQuery, options?: RequestOptions): Promise<T.EmailMessage> {
    return this.$write("PATCH", path`/v1/email/messages/${messageId}`, query, body, options);
  }

  /**
   * Move a message to the trash, or destroy it.
   *
   * A message that is already in the trash is destroyed. A message that waits to be sent is cancelled: 204 means that it is not sent, 409 `already_sent` that it was sent or is being sent. A sent message of which the provider has no copy is deleted only with `permanent`.
   *
   * Needs the scope `email.write`.
   */
  delete(messageId: string, query?: T.EmailMessagesDeleteQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/email/messages/${messageId}`, query, undefined, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(messageId: string, change: Change<T.EmailMessage, T.MessagePatch>, options: ModifyOptions = {}): Promise<T.EmailMessage> {
    return modify((o) => this.get(messageId, undefined, o), (patch: T.MessagePatch, o) => this.update(messageId, patch, undefined, o), change, options);
  }
}

export class EmailMessagesAttachments extends Resource {
  /**
   * Fetch an attachment.
   *
   * Answers JSON with `contentBase64` for a file of up to 10 MiB. With `format=raw` or `Accept: application/octet-stream`, answers the bytes of a file of any size, or a part of them with `Range`.
   *
   * Needs the scope `email.read`.
   */
  get(messageId: string, attachmentId: string, query?: NoQuery, options?: RequestOptions): Promise<T.Attachment> {
    return this.$read("GET", path`/v1/email/messages/${messageId}/attachments/${attachmentId}`, query, undefined, options);
  }

  /**
   * Fetch an attachment.
   *
   * Answers JSON with `contentBase64` for a file of up to 10 MiB. With `format=raw` or `Accept: application/octet-stream`, answers the bytes of a file of any size, or a part of them with `Range`.
   *
   * Needs the scope `email.read`.
   */
  getRaw(messageId: string, attachmentId: string, query?: NoQuery, options?: RequestOptions): Promise<Response> {
    return this.$bytes(path`/v1/email/messages/${messageId}/attachments/${attachmentId}`, "application/octet-stream", query, options);
  }
}

export class EmailSync extends Resource {
  /**
   * Start incremental sync of a mailbox.
   *
   * From now on the service keeps its copy of the mailbox of `connectionId` up to date. It reads all messages, newest first. Starting the sync again changes nothing and answers 200.
   *
   * Needs the scope `email.read`.
   */
  start(body: T.ConnectionSyncStart, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", "/v1/email/sync/start", query, body, options);
  }

  /**
   * Read what changed in a mailbox.
   *
   * Without `cursor`, the feed begins with everything in the mailbox. Read until `next_cursor` is null, store `sync_cursor`, and pass it as `cursor` next time. `resourceType` is `email.message`, `email.draft`, `email.folder` or `email.label`. During the first sync of the mailbox (`sync_status` is `initial`), older messages follow.
   *
   * Needs the scope `email.read`.
   */
  changes(query: T.EmailSyncChangesQuery, options?: RequestOptions): Promise<T.SyncChanges> {
    return this.$read("GET", "/v1/email/sync/changes", query, undefined, options);
  }

  /**
   * Read what changed in a mailbox, and follow what comes.
   *
   * Yields changes as they come, from the stored cursor on. The cursor of a page is stored when its last change was processed and the next one is asked for, so a change can come twice after a crash and is never lost.
   */
  follow(options: FollowOptions & Omit<T.EmailSyncChangesQuery, "cursor">): AsyncGenerator<T.Change, void, undefined> {
    return followChanges(this.transport, "/v1/email/sync/changes", options);
  }

  /**
   * Read the mailbox again.
   *
   * With `soft`, cursors stay valid and the feed reports only differences. With `hard`, earlier cursors become invalid and the feed reports everything again.
   *
   * Needs the scope `email.read`.
   */
  reset(body: T.ConnectionSyncReset, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", "/v1/email/sync/reset", query, body, options);
  }

  /**
   * Read the state of the sync of a mailbox.
   *
   * Returns how far the copy of the mailbox is, when it was last updated, and the last error.
   *
   * Needs the scope `email.read`.
   */
  status(connectionId: string, query?: NoQuery, options?: RequestOptions): Promise<T.SyncState> {
    return this.$read("GET", path`/v1/email/sync/status/${connectionId}`, query, undefined, options);
  }
}

export class EmailThreads extends Resource {
  /**
   * List threads, newest message first.
   *
   * A thread is listed if one of its messages matches all filters.
   *
   * Needs the scope `email.read`.
   */
  list(query?: T.EmailThreadsListQuery, options?: RequestOptions): Pages<T.EmailThreadPage, T.EmailThread> {
    return this.$list("/v1/email/threads", query, options);
  }

  /**
   * Read a thread.
   *
   * `messageIds` has its messages, oldest first. If the thread was merged into another one, the answer is that other thread, and `mergedInto` has its id.
   *
   * Needs the scope `email.read`.
   */
  get(threadId: string, query?: NoQuery, options?: RequestOptions): Promise<T.EmailThread> {
    return this.$read("GET", path`/v1/email/threads/${threadId}`, query, undefined, options);
  }
}

export class EmailTracking extends Resource {
  /**
   * Read a tracking record.
   *
   * Returns the opens, clicks, replies, bounces and complaints of a message that was sent through the API. `human` leaves out the hits of image proxies and scanners; `events` shows how each hit was classified. Opens and clicks need a public address of this service. Replies, bounces and complaints need sync of the mailbox (`POST /v1/email/sync/start`).
   *
   * Needs the scope `email.track`.
   */
  get(trackingId: string, query?: NoQuery, options?: RequestOptions): Promise<T.TrackingRecord> {
    return this.$read("GET", path`/v1/email/tracking/${trackingId}`, query, undefined, options);
  }
}

export class Events extends Resource {
  /**
   * Read the event log.
   *
   * Every event of the application in the order of `sequence`, oldest first, as far back as events are kept: 30 days, or as the operator configured. Each is the body that a webhook with full payloads receives. A key sees events of the families that its scopes read (`calendar.read` for `calendar.*`), and if it is bound to connections, only theirs. A page may be short, or empty, while `next_cursor` is set: read until it is null. `last_sequence` then says up to where the log was read; pass it as `after_sequence` to continue later. The sequence has gaps. 409 `sync_reset_required` if events after the position are no longer kept.
   *
   * Needs the scope `events.read`.
   */
  list(query?: T.EventsListQuery, options?: RequestOptions): Pages<T.NotificationPage, T.Notification> {
    return this.$list("/v1/events", query, options);
  }

  /**
   * Read an event.
   *
   * The id is also the event's `webhook-id`. An event can be read as long as it is kept.
   *
   * Needs the scope `events.read`.
   */
  get(eventId: string, query?: NoQuery, options?: RequestOptions): Promise<T.Notification> {
    return this.$read("GET", path`/v1/events/${eventId}`, query, undefined, options);
  }

  /**
   * Receive events as they happen.
   *
   * Server-sent events: `id` is the `sequence`, `event` the type, and `data` what a webhook with full payloads receives, in one line. The stream begins with the events after `Last-Event-ID` or `after_sequence`, and without either with events from now on. A comment comes every 15 seconds; an `id` without an event shows how far the log was read. The stream ends after an hour, or when the host is stopped; its client then opens another one with `Last-Event-ID`, as `EventSource` does by itself. It ends for good within a second when its API key or access token is revoked or expires. A client that reads nothing for 30 seconds is disconnected. `event: sync_reset_required`, the last of a stream, says that events after the position are no longer kept; a stream that is opened there is answered with 409. 429 while the key has 10 streams open at the host, its application 250, or the host 1,000.
   *
   * Needs the scope `events.read`.
   */
  follow(options?: StreamOptions): AsyncGenerator<T.Notification, void, undefined> {
    return followEvents(this.transport, "/v1/events/stream", options);
  }
}

export class Oauth extends Resource {
  /**
   * Get a token (RFC 6749).
   *
   * Answers and errors have the shapes of RFC 6749, not the envelope. The API key authenticates the client: in `X-Api-Key`, as a `Bearer` token, or as the password of `Basic`. `authorization_code` exchanges the `code` of an authorization, once and within a minute, for tokens of its connection, and connects the account; a code that is not exchanged, or that a wrong request uses up, connects no account. `refresh_token` renews them, and each refresh token works once: if it is used again, all tokens of its grant end, so repeat a request whose answer was lost with the same `Idempotency-Key`. `client_credentials` issues a token of the key itself, with fewer scopes, connections and domains, for at most an hour. A token works wherever a key does, within the key's rate limit, and ends with the key.
   */
  token(body: T.TokenRequest, query?: NoQuery, options?: RequestOptions): Promise<T.Token> {
    return this.$write("POST", "/v1/oauth/token", query, body, options);
  }
}

export class Providers extends Resource {
  /**
   * List providers.
   *
   * The connectors of this installation, sorted by name, as their manifests describe them. Any key may read them: they hold nothing of an application, apart from `oauthRegistered`.
   */
  list(query?: T.ProvidersListQuery, options?: RequestOptions): Pages<T.ProviderPage, T.Provider> {
    return this.$list("/v1/providers", query, options);
  }

  /**
   * Read a provider.
   *
   * What you need to connect an account: the ways to authenticate, the scopes, and JSON Schemas of `settings` and `credentials`. What a connected account can do is at `GET /v1/connections/{connectionId}/capabilities`. With `serve --sandbox`, the provider `sandbox` has test accounts.
   */
  get(provider: string, query?: NoQuery, options?: RequestOptions): Promise<T.Provider> {
    return this.$read("GET", path`/v1/providers/${provider}`, query, undefined, options);
  }

  /**
   * Receive a provider's notifications.
   *
   * For providers, not for clients. A notification is a hint that something has changed, authenticated by the secret of its watch; changes are then read from the provider. The answer is 202 whether or not the watches are known and the secrets right, and 401 without any secret. A provider that signs a JSON Web Token for each request sends it as a `Bearer` token: 401 for a token that was not made for this address, and 503 while the provider's keys cannot be read. 200 for a handshake, whose value is returned as text. 503 above 200 requests of the provider in a second from one network or 2,000 from all, for far more than 2 notifications of a watch in a second, and if the database does not answer within 2 seconds: the provider then repeats the request. A request has at most 256 KiB and 1,000 notifications.
   */
  notifications(provider: string, query?: NoQuery, options?: RequestOptions): Promise<T.NotificationsTaken> {
    return this.$write("POST", path`/v1/providers/${provider}/notifications`, query, undefined, options);
  }

  /**
   * Receive a provider's notifications of one kind.
   *
   * For providers, not for clients. The same as `POST /v1/providers/{provider}/notifications`, for the kind of notification that has this name in the connector's manifest.
   */
  notificationsOfKind(provider: string, name: string, query?: NoQuery, options?: RequestOptions): Promise<T.NotificationsTaken> {
    return this.$write("POST", path`/v1/providers/${provider}/notifications/${name}`, query, undefined, options);
  }
}

export class Scheduling extends Resource {
  readonly availability = new SchedulingAvailability(this.transport);
  readonly bookingLinks = new SchedulingBookingLinks(this.transport);
  readonly bookings = new SchedulingBookings(this.transport);
  readonly eventTypes = new SchedulingEventTypes(this.transport);
  readonly schedules = new SchedulingSchedules(this.transport);
}

export class SchedulingAvailability extends Resource {
  /**
   * Find slots.
   *
   * Slots lie on a grid that starts with each window of the schedule; neither the range nor a busy time moves it. Every slot in the answer can be booked: search and booking use the same rules. Buffers are kept free of busy times and need not be within opening hours. A host whose calendars cannot be read counts as busy; if none could be read, the answer is 503 `availability_unknown`. Only keys with `scheduling.read` see who the hosts are: for others `hostIds` is null. `limit` and `cursor` are fields of the body.
   *
   * Needs the scope `scheduling.book`.
   */
  query(body: T.SlotQuery, query?: NoQuery, options?: RequestOptions): Promise<T.SlotAnswer> {
    return this.$read("POST", "/v1/scheduling/availability/query", query, body, options);
  }
}

export class SchedulingBookingLinks extends Resource {
  /**
   * Read a booking link.
   *
   * The data that a booking page shows, without the hosts' addresses, calendars and reasons for being busy. 404 for a link that does not exist, is inactive, expired or used up.
   *
   * Needs the scope `scheduling.book`.
   */
  get(slug: string, query?: NoQuery, options?: RequestOptions): Promise<T.BookingLink> {
    return this.$read("GET", path`/v1/scheduling/booking-links/${slug}`, query, undefined, options);
  }
}

export class SchedulingBookings extends Resource {
  /**
   * List bookings by their start.
   *
   * A key that is bound to connections sees the bookings that name no other connection, neither as a host nor in `calendarEvents`. With several filters a page can be short: only a null `next_cursor` marks the end.
   *
   * Needs the scope `scheduling.read`.
   */
  list(query?: T.SchedulingBookingsListQuery, options?: RequestOptions): Pages<T.BookingPage, T.Booking> {
    return this.$list("/v1/scheduling/bookings", query, options);
  }

  /**
   * Book a slot.
   *
   * A 400 names every fault of the body in `details`, at most 20. Exactly one of several requests for the same slot succeeds; the others get 409 `slot_unavailable`, and so does every start that the slot search does not offer. 409 `booking_limit_reached`: the address already has as many upcoming bookings as the event type allows. `slug` names the link that the invitee came by: a link for a single booking is used up with it; one that belongs to another event type, is expired or used up gives 404. The event is written to the host's calendar right after the answer; `calendarEvents` shows the progress. An event that invites the invitee and guests has none of the invitee's notes, answers and phone number, because providers send it to them: its description links hosts to a page that shows these. Only keys with `scheduling.read` see who the hosts are. A key without it, such as one for web pages, cannot set `metadata` (400). With such a key an email address gets three bookings an hour in the application, as invitee or as guest, including those of the booking page, in any spelling and with any `+tag`; the next one gets 429 `rate_limited` with `Retry-After`, and `param` is `inviteeEmail` or `guests[0].email`.
   *
   * Needs the scope `scheduling.book`.
   */
  create(body: T.NewBooking, query?: NoQuery, options?: RequestOptions): Promise<T.Booking> {
    return this.$write("POST", "/v1/scheduling/bookings", query, body, options);
  }

  /**
   * Read a booking.
   *
   * Changes that the organizer makes to the event in their own calendar change the booking. A new time reschedules it, and the invitation asks the invitee to accept. A declined or deleted event cancels it; a deleted one only after a minute, in which the other calendars of the account are searched for it. If the event was moved to one of them, the booking stays, `calendarEvents` names the new calendar, and `booking.updated` is logged. If the event becomes an all-day event, the booking keeps its time: `calendarEvents[].error` says so, `booking.updated` is logged, and an email asks the host for a time.
   *
   * Needs the scope `scheduling.read`.
   */
  get(bookingId: string, query?: NoQuery, options?: RequestOptions): Promise<T.Booking> {
    return this.$read("GET", path`/v1/scheduling/bookings/${bookingId}`, query, undefined, options);
  }

  /**
   * Change your notes on a booking, or record who did not come.
   *
   * A JSON merge patch of `metadata` and `noShow`; other changes have operations of their own. `noShow` can be set once a confirmed or completed booking has begun: 409 `invalid_state` for others. It names the invitee and guests by their email addresses.
   *
   * Needs the scope `scheduling.write`.
   */
  update(bookingId: string, body: T.BookingPatch, query?: NoQuery, options?: RequestOptions): Promise<T.Booking> {
    return this.$write("PATCH", path`/v1/scheduling/bookings/${bookingId}`, query, body, options);
  }

  /**
   * Confirm a pending booking.
   *
   * Hosts can do the same without a key, by the links in the email that asks them. If several confirm or reject at the same time, one succeeds and the others get 409 `invalid_state`. If the event type does not block slots of pending bookings, the time is reserved now: 409 `slot_unavailable` if it is taken, 503 `availability_unknown` if the hosts' calendars cannot be read.
   *
   * Needs the scope `scheduling.write`.
   */
  confirm(bookingId: string, query?: NoQuery, options?: RequestOptions): Promise<T.Booking> {
    return this.$write("POST", path`/v1/scheduling/bookings/${bookingId}/confirm`, query, undefined, options);
  }

  /**
   * Reject a pending booking.
   *
   * The time of the booking is free again as soon as the answer arrives. 409 `invalid_state` for a booking that is not pending.
   *
   * Needs the scope `scheduling.write`.
   */
  reject(bookingId: string, body?: T.BookingRejection, query?: NoQuery, options?: RequestOptions): Promise<T.Booking> {
    return this.$write("POST", path`/v1/scheduling/bookings/${bookingId}/reject`, query, body, options);
  }

  /**
   * Cancel a booking.
   *
   * The time of the booking is free again as soon as the answer arrives; its event is deleted from the host's calendar right after that. A key without `scheduling.write` needs the invitee's `manageToken`, and the event type's `cancellation` rules apply: 403 `forbidden` if invitees may not cancel, 409 `invalid_state` if it is too late. Neither applies to a key with `scheduling.write` that sends no `manageToken`. 409 `invalid_state` for a booking that has already ended.
   *
   * Needs the scope `scheduling.book`.
   */
  cancel(bookingId: string, body?: T.BookingCancellation, query?: NoQuery, options?: RequestOptions): Promise<T.Booking> {
    return this.$write("POST", path`/v1/scheduling/bookings/${bookingId}/cancel`, query, body, options);
  }

  /**
   * Reschedule a booking.
   *
   * The booking keeps its id, and its `iCalUid` as long as its organizer is the same; `sequence` goes up. Its old time is free and its new time taken as soon as the answer arrives; the calendar event is moved right after that. 409 `slot_unavailable` for a `start` that the slot search with this `rescheduleBookingId` does not offer, 409 `invalid_state` for a booking that is not confirmed. A key without `scheduling.write` needs the invitee's `manageToken`, and the event type's `reschedule` rules apply: 403 `forbidden` if invitees may not reschedule, 409 `invalid_state` if it is too late or was done too often; if bookings need a confirmation, this one is pending again. None of that applies to a key with `scheduling.write` that sends no `manageToken`.
   *
   * Needs the scope `scheduling.book`.
   */
  reschedule(bookingId: string, body: T.BookingMove, query?: NoQuery, options?: RequestOptions): Promise<T.Booking> {
    return this.$write("POST", path`/v1/scheduling/bookings/${bookingId}/reschedule`, query, body, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(bookingId: string, change: Change<T.Booking, T.BookingPatch>, options: ModifyOptions = {}): Promise<T.Booking> {
    return modify((o) => this.get(bookingId, undefined, o), (patch: T.BookingPatch, o) => this.update(bookingId, patch, undefined, o), change, options);
  }
}

export class SchedulingEventTypes extends Resource {
  readonly links = new SchedulingEventTypesLinks(this.transport);

  /**
   * List event types.
   *
   * A key that is bound to connections sees the event types that use no other connection, neither as a host nor in `notifications.connectionId`.
   *
   * Needs the scope `scheduling.read`.
   */
  list(query?: T.SchedulingEventTypesListQuery, options?: RequestOptions): Pages<T.SchedulingEventTypePage, T.SchedulingEventType> {
    return this.$list("/v1/scheduling/event-types", query, options);
  }

  /**
   * Create an event type.
   *
   * The event type acts with the rights of the key that saves it: keys and visitors that book need no rights to the hosts' calendars. So the key must be allowed to use the connection of every host, and both the key and the connection need `calendar.write`. To send email the key needs `email.send`: for `notifications.connectionId`, for hosts whose connections were granted it, and to turn on `notifications.invitee` or `notifications.hosts`. 403 `insufficient_scope` names each field in `details`. If a key without `email.send` leaves both out and no host could send, both are false, with the warning `notification_unavailable`. Without `calendarId` bookings are written to the account's default calendar. Without `conflictCalendarIds` the host is busy in all calendars that count in availability; with them, in these and in the one that bookings are written to. `slug` is unique within the application (409 `already_exists`). There are at most 100 hosts, each connection once. `assignment`: with `fixed` all hosts with the role `required` meet; with `collective` all but `optional` ones; with `roundRobin` the required ones and one with the role `rotation`, by `roundRobinStrategy`; with `priority` the same, and the one with the smallest `priority` who is free. Optional hosts are invited and never block a slot. Hours are in `schedule`, or in a shared one that `scheduleId` names. A new event type without either, whose hosts have no hours of their own, is open Monday to Friday from 9:00 to 17:00 in the time zone of its first host: that of the account's primary calendar, or else of the account, or else UTC, with the warning `default_time_zone`. A new host without `displayName` gets the account's name; an empty one shows no name. With `seatsPerSlot`, that many bookings share one meeting. With `requiresConfirmation`, bookings are `pending` until they are confirmed; `pendingBlocksSlot` says whether they block their time until then. A `googleMeet` or `teams` location without a link needs calendars that create such conferences (400 `capability_not_supported`).
   *
   * Needs the scope `scheduling.write`.
   */
  create(body: T.NewSchedulingEventType, query?: NoQuery, options?: RequestOptions): Promise<T.SchedulingEventType> {
    return this.$write("POST", "/v1/scheduling/event-types", query, body, options);
  }

  /**
   * Read an event type.
   *
   * Needs the scope `scheduling.read`.
   */
  get(eventTypeId: string, query?: NoQuery, options?: RequestOptions): Promise<T.SchedulingEventType> {
    return this.$read("GET", path`/v1/scheduling/event-types/${eventTypeId}`, query, undefined, options);
  }

  /**
   * Change an event type.
   *
   * Existing bookings stay as they are. To change hosts, conferences or notifications, your key needs the same rights for the new values as for a new event type. To change other fields it needs none of these.
   *
   * Needs the scope `scheduling.write`.
   */
  update(eventTypeId: string, body: T.SchedulingEventTypePatch, query?: NoQuery, options?: RequestOptions): Promise<T.SchedulingEventType> {
    return this.$write("PATCH", path`/v1/scheduling/event-types/${eventTypeId}`, query, body, options);
  }

  /**
   * Delete an event type.
   *
   * Its bookings stay. Its slug can be used again at once.
   *
   * Needs the scope `scheduling.write`.
   */
  delete(eventTypeId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/scheduling/event-types/${eventTypeId}`, query, undefined, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(eventTypeId: string, change: Change<T.SchedulingEventType, T.SchedulingEventTypePatch>, options: ModifyOptions = {}): Promise<T.SchedulingEventType> {
    return modify((o) => this.get(eventTypeId, undefined, o), (patch: T.SchedulingEventTypePatch, o) => this.update(eventTypeId, patch, undefined, o), change, options);
  }
}

export class SchedulingEventTypesLinks extends Resource {
  /**
   * List the booking links of an event type.
   *
   * The event type's own slug, and further links, sorted by slug. `active` is false for a link that is expired or used up.
   *
   * Needs the scope `scheduling.read`.
   */
  list(eventTypeId: string, query?: T.SchedulingEventTypesLinksListQuery, options?: RequestOptions): Pages<T.BookingLinkPage, T.BookingLink> {
    return this.$list(path`/v1/scheduling/event-types/${eventTypeId}/links`, query, options);
  }

  /**
   * Create a booking link.
   *
   * The slug of the new link cannot be guessed. A link with `singleUse` is valid for one booking, one with `expiresAt` until that time; after that it answers 404, as if it had never existed. A booking that is made through the API uses the link that its `slug` names. The body is optional.
   *
   * Needs the scope `scheduling.write`.
   */
  create(eventTypeId: string, body?: T.NewBookingLink, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenBookingLink> {
    return this.$write("POST", path`/v1/scheduling/event-types/${eventTypeId}/links`, query, body, options);
  }

  /**
   * Delete a booking link.
   *
   * Bookings that were made by it stay. The event type's own slug cannot be deleted: 409 `invalid_state`.
   *
   * Needs the scope `scheduling.write`.
   */
  delete(eventTypeId: string, slug: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/scheduling/event-types/${eventTypeId}/links/${slug}`, query, undefined, options);
  }
}

export class SchedulingSchedules extends Resource {
  /**
   * List schedules.
   *
   * A key that is bound to connections sees the schedules that keys for these connections created, and those of event types whose hosts are all among them.
   *
   * Needs the scope `scheduling.read`.
   */
  list(query?: T.SchedulingSchedulesListQuery, options?: RequestOptions): Pages<T.SharedSchedulePage, T.SharedSchedule> {
    return this.$list("/v1/scheduling/schedules", query, options);
  }

  /**
   * Create a schedule.
   *
   * Event types use a schedule by `scheduleId`. A change of its hours applies to them at once.
   *
   * Needs the scope `scheduling.write`.
   */
  create(body: T.NewSharedSchedule, query?: NoQuery, options?: RequestOptions): Promise<T.SharedSchedule> {
    return this.$write("POST", "/v1/scheduling/schedules", query, body, options);
  }

  /**
   * Read a schedule.
   *
   * Needs the scope `scheduling.read`.
   */
  get(scheduleId: string, query?: NoQuery, options?: RequestOptions): Promise<T.SharedSchedule> {
    return this.$read("GET", path`/v1/scheduling/schedules/${scheduleId}`, query, undefined, options);
  }

  /**
   * Change a schedule.
   *
   * Existing bookings stay as they are. 403 `forbidden` if your key may not use every host of the event types that use the schedule, because the change would set the hours of others.
   *
   * Needs the scope `scheduling.write`.
   */
  update(scheduleId: string, body: T.SharedSchedulePatch, query?: NoQuery, options?: RequestOptions): Promise<T.SharedSchedule> {
    return this.$write("PATCH", path`/v1/scheduling/schedules/${scheduleId}`, query, body, options);
  }

  /**
   * Delete a schedule.
   *
   * 409 `invalid_state` while an event type uses the schedule; 403 `forbidden` if your key may not use all hosts of that event type.
   *
   * Needs the scope `scheduling.write`.
   */
  delete(scheduleId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/scheduling/schedules/${scheduleId}`, query, undefined, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(scheduleId: string, change: Change<T.SharedSchedule, T.SharedSchedulePatch>, options: ModifyOptions = {}): Promise<T.SharedSchedule> {
    return modify((o) => this.get(scheduleId, undefined, o), (patch: T.SharedSchedulePatch, o) => this.update(scheduleId, patch, undefined, o), change, options);
  }
}

export class TaskLists extends Resource {
  readonly sync = new TaskListsSync(this.transport);
  readonly tasks = new TaskListsTasks(this.transport);

  /**
   * List task lists.
   *
   * Needs the scope `tasks.read`.
   */
  list(query?: T.TaskListsListQuery, options?: RequestOptions): Pages<T.TaskListPage, T.TaskList> {
    return this.$list("/v1/task-lists", query, options);
  }

  /**
   * Create a task list.
   *
   * Needs the scope `tasks.write`.
   */
  create(body: T.NewTaskList, query?: NoQuery, options?: RequestOptions): Promise<T.TaskList> {
    return this.$write("POST", "/v1/task-lists", query, body, options);
  }

  /**
   * Read a task list.
   *
   * Needs the scope `tasks.read`.
   */
  get(taskListId: string, query?: T.TaskListsGetQuery, options?: RequestOptions): Promise<T.TaskList> {
    return this.$read("GET", path`/v1/task-lists/${taskListId}`, query, undefined, options);
  }

  /**
   * Change a task list.
   *
   * Needs the scope `tasks.write`.
   */
  update(taskListId: string, body: T.TaskListPatch, query?: NoQuery, options?: RequestOptions): Promise<T.TaskList> {
    return this.$write("PATCH", path`/v1/task-lists/${taskListId}`, query, body, options);
  }

  /**
   * Delete a task list with its tasks.
   *
   * The account's default list cannot be deleted: 409 `invalid_state`.
   *
   * Needs the scope `tasks.write`.
   */
  delete(taskListId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/task-lists/${taskListId}`, query, undefined, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(taskListId: string, change: Change<T.TaskList, T.TaskListPatch>, options: ModifyOptions = {}): Promise<T.TaskList> {
    return modify((o) => this.get(taskListId, undefined, o), (patch: T.TaskListPatch, o) => this.update(taskListId, patch, undefined, o), change, options);
  }
}

export class TaskListsSync extends Resource {
  /**
   * Start incremental sync of a task list.
   *
   * From now on the service keeps its copy of the list up to date. Starting the sync again changes nothing and answers 200.
   *
   * Needs the scope `tasks.read`.
   */
  start(taskListId: string, body?: T.SyncStart, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", path`/v1/task-lists/${taskListId}/sync/start`, query, body, options);
  }

  /**
   * Read what changed in a task list.
   *
   * Without `cursor`, the feed begins with every task that exists. Read until `next_cursor` is null, store `sync_cursor`, and pass it as `cursor` next time.
   *
   * Needs the scope `tasks.read`.
   */
  changes(taskListId: string, query?: T.TaskListsSyncChangesQuery, options?: RequestOptions): Promise<T.SyncChanges> {
    return this.$read("GET", path`/v1/task-lists/${taskListId}/sync/changes`, query, undefined, options);
  }

  /**
   * Read what changed in a task list, and follow what comes.
   *
   * Yields changes as they come, from the stored cursor on. The cursor of a page is stored when its last change was processed and the next one is asked for, so a change can come twice after a crash and is never lost.
   */
  follow(taskListId: string, options?: FollowOptions & Omit<T.TaskListsSyncChangesQuery, "cursor">): AsyncGenerator<T.Change, void, undefined> {
    return followChanges(this.transport, path`/v1/task-lists/${taskListId}/sync/changes`, options);
  }

  /**
   * Read a task list from the beginning.
   *
   * With `soft`, cursors stay valid and the feed reports only differences. With `hard`, earlier cursors become invalid and the feed reports everything again.
   *
   * Needs the scope `tasks.read`.
   */
  reset(taskListId: string, body?: T.SyncReset, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", path`/v1/task-lists/${taskListId}/sync/reset`, query, body, options);
  }

  /**
   * Read the state of the sync of a task list.
   *
   * Needs the scope `tasks.read`.
   */
  status(taskListId: string, query?: NoQuery, options?: RequestOptions): Promise<T.SyncState> {
    return this.$read("GET", path`/v1/task-lists/${taskListId}/sync/status`, query, undefined, options);
  }
}

export class TaskListsTasks extends Resource {
  readonly checklistItems = new TaskListsTasksChecklistItems(this.transport);
  readonly links = new TaskListsTasksLinks(this.transport);

  /**
   * List tasks.
   *
   * The tasks are sorted by `position` if the provider has one, then by id. Subtasks are in the list, too.
   *
   * Needs the scope `tasks.read`.
   */
  list(taskListId: string, query?: T.TaskListsTasksListQuery, options?: RequestOptions): Pages<T.TaskPage, T.Task> {
    return this.$list(path`/v1/task-lists/${taskListId}/tasks`, query, options);
  }

  /**
   * Create a task.
   *
   * Needs the scope `tasks.write`.
   */
  create(taskListId: string, body: T.NewTask, query?: NoQuery, options?: RequestOptions): Promise<T.Task> {
    return this.$write("POST", path`/v1/task-lists/${taskListId}/tasks`, query, body, options);
  }

  /**
   * Read a task.
   *
   * Needs the scope `tasks.read`.
   */
  get(taskListId: string, taskId: string, query?: T.TaskListsTasksGetQuery, options?: RequestOptions): Promise<T.Task> {
    return this.$read("GET", path`/v1/task-lists/${taskListId}/tasks/${taskId}`, query, undefined, options);
  }

  /**
   * Change or complete a task.
   *
   * The body is a JSON merge patch (RFC 7396). Setting `status` to `completed` sets `completedAt`; another status clears it.
   *
   * Needs the scope `tasks.write`.
   */
  update(taskListId: string, taskId: string, body: T.TaskPatch, query?: NoQuery, options?: RequestOptions): Promise<T.Task> {
    return this.$write("PATCH", path`/v1/task-lists/${taskListId}/tasks/${taskId}`, query, body, options);
  }

  /**
   * Delete a task.
   *
   * Needs the scope `tasks.write`.
   */
  delete(taskListId: string, taskId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/task-lists/${taskListId}/tasks/${taskId}`, query, undefined, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(taskListId: string, taskId: string, change: Change<T.Task, T.TaskPatch>, options: ModifyOptions = {}): Promise<T.Task> {
    return modify((o) => this.get(taskListId, taskId, undefined, o), (patch: T.TaskPatch, o) => this.update(taskListId, taskId, patch, undefined, o), change, options);
  }
}

export class TaskListsTasksChecklistItems extends Resource {
  /**
   * List the checklist items of a task.
   *
   * Needs the scope `tasks.read`.
   */
  list(taskListId: string, taskId: string, query?: T.TaskListsTasksChecklistItemsListQuery, options?: RequestOptions): Pages<T.ChecklistItemPage, T.ChecklistItem> {
    return this.$list(path`/v1/task-lists/${taskListId}/tasks/${taskId}/checklist-items`, query, options);
  }

  /**
   * Add a checklist item.
   *
   * A provider without checklists answers 400 `capability_not_supported`.
   *
   * Needs the scope `tasks.write`.
   */
  create(taskListId: string, taskId: string, body: T.NewChecklistItem, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenChecklistItem> {
    return this.$write("POST", path`/v1/task-lists/${taskListId}/tasks/${taskId}/checklist-items`, query, body, options);
  }

  /**
   * Change or tick a checklist item.
   *
   * Needs the scope `tasks.write`.
   */
  update(taskListId: string, taskId: string, itemId: string, body: T.ChecklistItemPatch, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenChecklistItem> {
    return this.$write("PATCH", path`/v1/task-lists/${taskListId}/tasks/${taskId}/checklist-items/${itemId}`, query, body, options);
  }

  /**
   * Delete a checklist item.
   *
   * Needs the scope `tasks.write`.
   */
  delete(taskListId: string, taskId: string, itemId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/task-lists/${taskListId}/tasks/${taskId}/checklist-items/${itemId}`, query, undefined, options);
  }
}

export class TaskListsTasksLinks extends Resource {
  /**
   * List the links of a task.
   *
   * Needs the scope `tasks.read`.
   */
  list(taskListId: string, taskId: string, query?: T.TaskListsTasksLinksListQuery, options?: RequestOptions): Pages<T.TaskLinkPage, T.TaskLink> {
    return this.$list(path`/v1/task-lists/${taskListId}/tasks/${taskId}/links`, query, options);
  }

  /**
   * Link a task to a message, an event, a contact or a page.
   *
   * The link has either `url` or `resourceId`, the id of an event or a contact that the key may read. A key without `calendar.read` or `contacts.read` gets 403 `insufficient_scope`. A provider without links answers 400 `capability_not_supported`. Links to messages cannot be created yet.
   *
   * Needs the scope `tasks.write`.
   */
  create(taskListId: string, taskId: string, body: T.NewTaskLink, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenTaskLink> {
    return this.$write("POST", path`/v1/task-lists/${taskListId}/tasks/${taskId}/links`, query, body, options);
  }

  /**
   * Delete a link.
   *
   * Needs the scope `tasks.write`.
   */
  delete(taskListId: string, taskId: string, linkId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/task-lists/${taskListId}/tasks/${taskId}/links/${linkId}`, query, undefined, options);
  }
}

export class Test extends Resource {
  readonly faults = new TestFaults(this.transport);

  /**
   * Deliver a message to a sandbox mailbox.
   *
   * The message comes from `tester@sandbox.test` and is in the inbox of the account at once; `email.message.created` follows when the connection is synced. All applications of the server share the accounts of the sandbox.
   *
   * Needs the scope `connections.write`.
   */
  deliver(body: T.NewTestMessage, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenTestItem> {
    return this.$write("POST", "/v1/test/deliver", query, body, options);
  }

  /**
   * Make an event happen in the sandbox.
   *
   * Adds an item to the account of a connection, as another program would; the event follows when the connection is synced. All applications of the server share the accounts of the sandbox.
   *
   * Needs the scope `connections.write`.
   */
  trigger(body: T.NewTestEvent, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenTestItem> {
    return this.$write("POST", "/v1/test/trigger", query, body, options);
  }
}

export class TestFaults extends Resource {
  /**
   * Make calls of the sandbox fail.
   *
   * Plans a failure for the next calls of a connection to the sandbox, at most 50 at a time for each account. It affects only calls of your application, and is lost when the server restarts. Calls that read or change data fail; connecting an account and renewing tokens do not.
   *
   * Needs the scope `connections.write`.
   */
  create(body: T.TestFault, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenTestFault> {
    return this.$write("POST", "/v1/test/faults", query, body, options);
  }
}

export class Usage extends Resource {
  /**
   * Read the application's usage.
   *
   * By default for the current month, in UTC. Figures of the last seconds may be missing, and those of providers' quotas of the last minute.
   *
   * Needs the scope `usage.read`.
   */
  get(query?: T.UsageGetQuery, options?: RequestOptions): Promise<T.Usage> {
    return this.$read("GET", "/v1/usage", query, undefined, options);
  }
}

export class Webhooks extends Resource {
  readonly deliveries = new WebhooksDeliveries(this.transport);
  readonly replays = new WebhooksReplays(this.transport);

  /**
   * Create a webhook.
   *
   * The answer holds `secret`. It is shown only once; an idempotent replay shows it again. The webhook receives every event from then on. Event types need the scopes that read their resources (403 `insufficient_scope` names the missing one), and a key that is bound to connections subscribes to their events only. The URL must lead to a public address, which is checked again for every attempt. If its host cannot be resolved now, the URL is accepted with a warning. The webhook ends with the API key or access token that creates it (`keyId`): it is then disabled with `key_ended`, unless the key was replaced (see `DELETE /v1/api-keys/{keyId}`). If that key expires, the warning `ends_with_key` says when. The values of `headers` are sent to the receiver and never shown: every answer has `********` instead. An application has at most 10,000 webhooks.
   *
   * Needs the scope `webhooks.write`.
   */
  create(body: T.NewWebhookSubscription, query?: NoQuery, options?: RequestOptions): Promise<T.WebhookSubscription> {
    return this.$write("POST", "/v1/webhooks", query, body, options);
  }

  /**
   * List webhooks.
   *
   * A key that is bound to connections sees the webhooks that receive events of these connections only.
   *
   * Needs the scope `webhooks.read`.
   */
  list(query?: T.WebhooksListQuery, options?: RequestOptions): Pages<T.WebhookSubscriptionPage, T.WebhookSubscription> {
    return this.$list("/v1/webhooks", query, options);
  }

  /**
   * Read a webhook.
   *
   * Needs the scope `webhooks.read`.
   */
  get(webhookId: string, query?: NoQuery, options?: RequestOptions): Promise<T.WebhookSubscription> {
    return this.$read("GET", path`/v1/webhooks/${webhookId}`, query, undefined, options);
  }

  /**
   * Change, pause or resume a webhook, or rotate its secret.
   *
   * `paused` keeps the position: `active` continues where it stopped, as far back as events are kept. `disabled` discards waiting deliveries, and `active` then starts with new events. A change applies to everything that was not attempted yet. With `rotateSecret`, or a `secret` of your own, the answer holds the new secret, which is shown only once; the old one also signs for `secretGraceSeconds`. With `0` all earlier secrets end at once, even if you send that alone. To change what is sent, or where, your key needs the same scopes as for a new webhook. A webhook gets more event types only if the request names `url` or `eventTypes`: it then belongs to the key of the request (`keyId`), and receives what that key may read. A change of any other field removes what the key of the request may not read, and adds no event types; if it lets more through (`connectionIds`, `includeBackfill`, `payloadMode`) and that key ends earlier, the webhook then belongs to that key. In `headers` a masked value keeps the stored one. If you change `url` to another server, send the values again: stored ones are not sent there.
   *
   * Needs the scope `webhooks.write`.
   */
  update(webhookId: string, body: T.WebhookSubscriptionPatch, query?: NoQuery, options?: RequestOptions): Promise<T.WebhookSubscription> {
    return this.$write("PATCH", path`/v1/webhooks/${webhookId}`, query, body, options);
  }

  /**
   * Delete a webhook.
   *
   * No further notifications are sent. An attempt that is under way may still arrive.
   *
   * Needs the scope `webhooks.write`.
   */
  delete(webhookId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/webhooks/${webhookId}`, query, undefined, options);
  }

  /**
   * Send a test event.
   *
   * Sends the event `webhook.test` to this webhook alone, whatever its event types are, and waits up to 16 seconds for the first attempt. The answer is 200 with the delivery even if the attempt failed: `attempts` says what the endpoint answered. A delivery without an attempt is still under way, because the endpoint is slow or asked for a pause. A failed test is retried and counts as a failure of the endpoint, like any delivery. 409 `invalid_state` while the webhook is paused or disabled.
   *
   * Needs the scope `webhooks.write`.
   */
  test(webhookId: string, query?: NoQuery, options?: RequestOptions): Promise<T.Delivery> {
    return this.$write("POST", path`/v1/webhooks/${webhookId}/test`, query, undefined, options);
  }

  /**
   * Start a replay.
   *
   * Sends events once more: 1 to 1,000 by their ids (`eventIds`), or all that happened from `from` on and before `to`, whether they arrived before or not. `eventTypes` and `onlyFailed` narrow both. They are sent in the order of the log with the same `webhook-id` and the same body, and with `webhook-replay`, in the form that the webhook asks for when they are sent. Tests of the webhook are sent again by their ids only. Failed attempts are retried as usual and do not count against the endpoint. An id that is no event of the application gives 400 with its place in `param`, and all such places in `details`; a warning names events that are left out. A `from` before the oldest event that is kept gives 400 `invalid_time_range`, and the message says from when on events are kept. A range may be of any length: at most about 1,000 of its events wait at a time. The first 10,000 events of the log in it are counted for the answer; while `counted` is false, `eventCount` grows as events are sent. 409 `invalid_state` while the webhook is paused or disabled. 429 while 100 replays of it are running, or 100,000 deliveries of its replays are waiting, including those that a pause has left. If the webhook is paused later, a replay with events that are not waiting yet becomes `failed` (`webhook_paused`): waiting ones are sent when the webhook is resumed, and `continueFrom` is the `from` of a replay of the others. If the webhook is disabled, replays become `failed` (`webhook_disabled`), and waiting deliveries are given up.
   *
   * Needs the scope `webhooks.write`.
   */
  replay(webhookId: string, body?: T.NewWebhookReplay, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenWebhookReplay> {
    return this.$write("POST", path`/v1/webhooks/${webhookId}/replay`, query, body, options);
  }

  /**
   * Change the newest version.
   *
   * Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.
   */
  modify(webhookId: string, change: Change<T.WebhookSubscription, T.WebhookSubscriptionPatch>, options: ModifyOptions = {}): Promise<T.WebhookSubscription> {
    return modify((o) => this.get(webhookId, undefined, o), (patch: T.WebhookSubscriptionPatch, o) => this.update(webhookId, patch, undefined, o), change, options);
  }
}

export class WebhooksDeliveries extends Resource {
  /**
   * List a webhook's deliveries.
   *
   * The newest event comes first, and of one event its replays come first. An event that was not attempted yet has no delivery here, unless it belongs to a replay or a test. Deliveries that arrived are kept for 72 hours, those that were given up (`failed`, `discarded`) as long as events. A page can be shorter than `limit`, or empty, without being the last one: only a null `next_cursor` marks the end.
   *
   * Needs the scope `webhooks.read`.
   */
  list(webhookId: string, query?: T.WebhooksDeliveriesListQuery, options?: RequestOptions): Pages<T.DeliveryPage, T.Delivery> {
    return this.$list(path`/v1/webhooks/${webhookId}/deliveries`, query, options);
  }
}

export class WebhooksReplays extends Resource {
  /**
   * List a webhook's replays.
   *
   * The newest replay comes first. A replay is kept as long as events after it has ended.
   *
   * Needs the scope `webhooks.read`.
   */
  list(webhookId: string, query?: T.WebhooksReplaysListQuery, options?: RequestOptions): Pages<T.WebhookReplayPage, T.WebhookReplay> {
    return this.$list(path`/v1/webhooks/${webhookId}/replays`, query, options);
  }

  /**
   * Read a replay.
   *
   * Shows how far the replay has got. A replay is kept as long as events after it has ended.
   *
   * Needs the scope `webhooks.read`.
   */
  get(webhookId: string, replayId: string, query?: NoQuery, options?: RequestOptions): Promise<T.WebhookReplay> {
    return this.$read("GET", path`/v1/webhooks/${webhookId}/replays/${replayId}`, query, undefined, options);
  }
}
