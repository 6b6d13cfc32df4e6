// of clients.json sha256:935d2093306c4cfe11360a74a74d63783e1380d00afac74d5453aa44079a8053
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
   * In the order in which they were made; those of one organization are sorted by name.
   *
   * Needs the scope `admin.read`.
   */
  list(query?: T.AdminApplicationsListQuery, options?: RequestOptions): Pages<T.AdminApplicationPage, T.AdminApplication> {
    return this.$list("/v1/admin/applications", query, options);
  }

  /**
   * Make an application.
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
   * `redirectUris` replaces all addresses. Errors are those of `POST /v1/admin/applications`, and then nothing is changed. With `requestLog` `off`, full bodies that an operator had recorded for a time are no longer recorded either.
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
   * The oldest one first, revoked keys included, without access tokens.
   *
   * Needs the scope `admin.read`.
   */
  list(applicationId: string, query?: T.AdminApplicationsApiKeysListQuery, options?: RequestOptions): Pages<T.ApiKeyPage, T.ApiKey> {
    return this.$list(path`/v1/admin/applications/${applicationId}/api-keys`, query, options);
  }

  /**
   * Create an API key of an application.
   *
   * The answer holds `key`, this once; an idempotent replay shows it again. It can have every scope but those of administration (400 `invalid_parameter`).
   *
   * Needs the scope `admin.write`.
   */
  create(applicationId: string, body: T.NewApiKey, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenCreatedApiKey> {
    return this.$write("POST", path`/v1/admin/applications/${applicationId}/api-keys`, query, body, options);
  }

  /**
   * Give an API key of an application a new secret.
   *
   * As `POST /v1/api-keys/{keyId}/rotate`, for every key of the application. 409 `invalid_state`: the key is revoked or expired, it is an access token, or the overlap of an earlier rotation is not over and another one is asked for.
   *
   * Needs the scope `admin.write`.
   */
  rotate(applicationId: string, keyId: string, body?: T.KeyRotation, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenRotatedApiKey> {
    return this.$write("POST", path`/v1/admin/applications/${applicationId}/api-keys/${keyId}/rotate`, query, body, options);
  }

  /**
   * Revoke an API key of an application.
   *
   * As `DELETE /v1/api-keys/{keyId}`, for every key of the application.
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
   * By name. A provider at which the application has no registration has `clientId` null; its `callbackUrl` is the address to enter when you register there.
   *
   * Needs the scope `admin.read`.
   */
  list(applicationId: string, query?: T.AdminApplicationsProvidersListQuery, options?: RequestOptions): Pages<T.AdminProviderPage, T.AdminProvider> {
    return this.$list(path`/v1/admin/applications/${applicationId}/providers`, query, options);
  }

  /**
   * Register the application's OAuth client at a provider.
   *
   * Replaces the registration as a whole, but for the secret: without `clientSecret` the stored one stays. With `If-Match` it is only replaced if it still has that version. Addresses in `endpoints` are called under the same rules as all others: without leave of the host's settings none leads into a private network. Connections stay, and use the new registration.
   *
   * Needs the scope `admin.write`.
   */
  replace(applicationId: string, provider: string, body: T.NewAdminProvider, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenAdminProvider> {
    return this.$write("PUT", path`/v1/admin/applications/${applicationId}/providers/${provider}`, query, body, options);
  }

  /**
   * Remove a registration.
   *
   * 409 `not_empty` while accounts of the provider are connected, whose tokens could then not be renewed any more.
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
   * The newest first. Every write and every error is logged, and one in a while of the other requests; each appears about a second after it was answered.
   *
   * Needs the scope `admin.read`.
   */
  list(applicationId: string, query?: T.AdminApplicationsRequestsListQuery, options?: RequestOptions): Pages<T.AdminLoggedRequestPage, T.AdminLoggedRequest> {
    return this.$list(path`/v1/admin/applications/${applicationId}/requests`, query, options);
  }

  /**
   * Read a logged request.
   *
   * Bodies need the scope `admin.write` too, and reading them is an entry of the audit log (`request_bodies_seen`). What an application's settings do not allow to be logged is not there.
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
   * What operators, keys of the administration and commands have done, the newest entry first. Entries are kept for 400 days. `actor_id` and `organization_id` exclude each other (400 `conflicting_fields`).
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
   * As the host sees it that answers: its checks, its connections to the database, and the jobs and hosts of the whole installation. For probes of load balancers use `GET /readyz`, which needs no key.
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
   * A host is a process that works on the database. One that stopped without saying so is shown until another one has taken over its jobs.
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
   * The answer holds `url`, this once: a link that works for 7 days, by which the invited person chooses a name and a password, or joins with the account that they have. An idempotent replay shows it again. No mail is sent. Open invitations can be withdrawn in the panel. 409 `invalid_state` if an organization has 100 open ones.
   *
   * Needs the scope `admin.operators`.
   */
  create(body: T.NewAdminInvitation, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenAdminInvitationLink> {
    return this.$write("POST", "/v1/admin/invitations", query, body, options);
  }
}

export class AdminJobs extends Resource {
  /**
   * List jobs in the background.
   *
   * Jobs that wait for a time come first by that time, jobs that ended come last first. Jobs that are done are removed, and jobs that wait to be woken are in no list. With `kind` or `application_id` a page can have fewer jobs than `limit`, even none, while `next_cursor` leads on.
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
   * For a job that waits or has failed. 409 `invalid_state` while it runs, when it is cancelled already, and for kinds that cannot be cancelled by themselves: the message says what to do instead.
   *
   * Needs the scope `admin.write`.
   */
  cancel(jobId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("POST", path`/v1/admin/jobs/${jobId}/cancel`, query, undefined, options);
  }
}

export class AdminOperators extends Resource {
  /**
   * List the people who may sign in to the panel.
   *
   * In the order in which they were created. Disabled operators are listed too: operators are never deleted, because the audit log names them.
   *
   * Needs the scope `admin.read`.
   */
  list(query?: T.AdminOperatorsListQuery, options?: RequestOptions): Pages<T.AdminOperatorPage, T.AdminOperator> {
    return this.$list("/v1/admin/operators", query, options);
  }

  /**
   * Create an operator.
   *
   * The answer holds `url`, this once: a link by which the operator sets a password, within an hour. An idempotent replay shows it again. No mail is sent. 409 `already_exists` if an operator has the address. To let people choose their own name, and to give rights to someone who has an account already, create an invitation (`POST /v1/admin/invitations`).
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
   * All changes of a request happen together or not at all, and hold for the operator's next request. 409 `invalid_state` for a change that leaves the installation without an administrator who is not disabled (`last_admin`) or an organization without an owner (`last_owner`).
   *
   * Needs the scope `admin.operators`.
   */
  update(operatorId: string, body: T.AdminOperatorPatch, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenAdminOperator> {
    return this.$write("PATCH", path`/v1/admin/operators/${operatorId}`, query, body, options);
  }

  /**
   * Disable an operator.
   *
   * The operator's sessions end, and they cannot sign in any more. The operator stays in lists, with `disabledAt`; `PATCH` with `disabled: false` lets them sign in again. 409 `invalid_state` for the last administrator and the last owner of an organization.
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
   * Sorted by name. The organization that the keys of the administration belong to is not listed.
   *
   * Needs the scope `admin.read`.
   */
  list(query?: T.AdminOrganizationsListQuery, options?: RequestOptions): Pages<T.AdminOrganizationPage, T.AdminOrganization> {
    return this.$list("/v1/admin/organizations", query, options);
  }

  /**
   * Make an organization.
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
   * The answer holds `key`, this once; an idempotent replay shows it again. It can do no more than the key that makes it: its scopes are among those, and every restriction of that key (domains, addresses, connections, rate, expiry) holds for it too, or is narrowed. To replace a key's secret, rotate it (`POST /v1/api-keys/{keyId}/rotate`).
   *
   * Needs the scope `api_keys.write`.
   */
  create(body: T.NewApiKey, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenCreatedApiKey> {
    return this.$write("POST", "/v1/api-keys", query, body, options);
  }

  /**
   * List the application's API keys.
   *
   * To a key that is bound to connections: itself, and the keys that descend from it. Access tokens are listed by themselves, until an hour after they expire.
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
   * The key and its access tokens are refused everywhere within a second, and event streams that they opened end. Its webhooks pass to the newest valid key that was created later and has exactly its scopes and connections, so that a newer key can replace this one. If there is none, they are disabled (`key_ended`); webhooks of its access tokens always are. The key stays in lists, with `revokedAt`.
   *
   * Needs the scope `api_keys.write`.
   */
  delete(keyId: string, query?: T.ApiKeysDeleteQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/api-keys/${keyId}`, query, undefined, options);
  }

  /**
   * Give an API key a new secret.
   *
   * The answer holds the new secret in `key`, this once; an idempotent replay shows it again. The key keeps its id, and with it its scopes, restrictions, usage, webhooks, access tokens and the keys that it made. The old secret works until `previousExpiresAt`, `overlapSeconds` from now, so that clients can switch one after the other. Then it is refused everywhere within a second (401 `expired_api_key`), and event streams that it opened end. With `0` it ends at once, as does one left by an earlier rotation. 409 `invalid_state`: the key is revoked or expired, it is an access token, or the overlap of an earlier rotation is not over and another one is asked for. A key can rotate itself, and keys that may do no more than it: one with a scope that it lacks is 403 `insufficient_scope`, one that is less restricted 403 `forbidden`.
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
   * Send the user to `authorizationUrl`; it works for ten minutes and once. With `codeChallenge`, the account is connected when you exchange its code. "Connecting by OAuth" above describes every step.
   *
   * Needs the scope `connections.write`.
   */
  authorize(provider: string, body: T.NewAuthorization, query?: NoQuery, options?: RequestOptions): Promise<T.Authorization> {
    return this.$write("POST", path`/v1/auth/connectors/${provider}/authorize`, query, body, options);
  }

  /**
   * Where the provider sends the user back.
   *
   * Redirects to the application's `redirectUri` with `connection_id`, `status` and `state`, or with `error`. `status` is `active`. After an authorization with `codeChallenge` it is `pending` and comes with a `code`: exchange it at `POST /v1/oauth/token` within 60 seconds to connect the account. Authenticated by `state`, which works once. With an API key (scope `connections.write`), or with `Accept: application/json`, the answer is JSON. If the request cannot be redirected, the user sees a page.
   */
  callback(provider: string, query?: T.AuthConnectorsCallbackQuery, options?: RequestOptions): Promise<T.AuthorizationResult> {
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
   * `notify` says whom the provider tells. Where it cannot tell exactly those, the event is written all the same, with the warning `notify_not_supported`; with `strict=true` it is refused.
   *
   * Needs the scope `calendar.write`.
   */
  create(calendarId: string, body: T.NewCalendarEvent, query?: NoQuery, options?: RequestOptions): Promise<T.CalendarEvent> {
    return this.$write("POST", path`/v1/calendars/${calendarId}/events`, query, body, options);
  }

  /**
   * Read an event.
   *
   * Of a series also one instance: its id is the series' id, `_`, and the original start.
   *
   * Needs the scope `calendar.read`.
   */
  get(calendarId: string, eventId: string, query?: T.CalendarsEventsGetQuery, options?: RequestOptions): Promise<T.CalendarEvent> {
    return this.$read("GET", path`/v1/calendars/${calendarId}/events/${eventId}`, query, undefined, options);
  }

  /**
   * Change an event.
   *
   * A JSON merge patch. `recurrenceScope` says which instances are meant: `this` (default with the id of an instance), `thisAndFollowing`, `all` (default with the id of a series). Whom the provider tells is as for creating one.
   *
   * Needs the scope `calendar.write`.
   */
  update(calendarId: string, eventId: string, body: T.CalendarEventPatch, query?: NoQuery, options?: RequestOptions): Promise<T.CalendarEvent> {
    return this.$write("PATCH", path`/v1/calendars/${calendarId}/events/${eventId}`, query, body, options);
  }

  /**
   * Delete an event.
   *
   * Where there is something to warn of, such as `notify_not_supported`, the answer is 200 with `warnings`.
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
   * Up to 50 targets over at most 92 days. A target that is named twice is answered once, with the warning `duplicate_target`. Each target is answered for itself: one that failed has `status` `error`, is never reported as free, and makes `complete` false. `includeDetails` needs the scope `calendar.read`.
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
   * From now on the service follows the calendar by itself. Starting again changes nothing and answers 200.
   *
   * Needs the scope `calendar.read`.
   */
  start(calendarId: string, body?: T.SyncStart, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", path`/v1/calendars/${calendarId}/sync/start`, query, body, options);
  }

  /**
   * Read what changed.
   *
   * Without `cursor` the feed begins with every event there is. Read until `next_cursor` is null, keep `sync_cursor`, and pass it as `cursor` next time.
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
   * The channel is renewed behind the answer, which tells how it stands now; one that was renewed within the last minute is left as it is. `unsupported` where the provider has none: the calendar is then polled.
   *
   * Needs the scope `calendar.read`.
   */
  renew(calendarId: string, query?: NoQuery, options?: RequestOptions): Promise<T.Watch> {
    return this.$write("POST", path`/v1/calendars/${calendarId}/sync/renew`, query, undefined, options);
  }

  /**
   * Read everything again.
   *
   * `soft` keeps cursors valid and tells only true differences; `hard` ends them and tells everything anew.
   *
   * Needs the scope `calendar.read`.
   */
  reset(calendarId: string, body?: T.SyncReset, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", path`/v1/calendars/${calendarId}/sync/reset`, query, body, options);
  }

  /**
   * How the sync stands.
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
   * The credentials are tried at the provider before anything is stored; they are sealed at once and never shown again. 409 `already_exists` if the application has a connection of the same account already, at the same server; `details` has its id. Connections that need new credentials (`reauth_required`) don't count, nor does any with `allow_duplicate=true`.
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
   * Stops its sync and removes its credentials and the local copy. Nothing of the account changes at the provider; tokens of OAuth that no other connection needs are revoked there.
   *
   * Needs the scope `connections.write`.
   */
  delete(connectionId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/connections/${connectionId}`, query, undefined, options);
  }

  /**
   * Try the credentials again.
   *
   * Tokens of OAuth are renewed first, unless they are younger than 30 seconds. 409 `reauth_required` when the provider refuses them; 503 `provider_unavailable` with `Retry-After` when it does not answer, which changes nothing.
   *
   * Needs the scope `connections.write`.
   */
  refresh(connectionId: string, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenConnection> {
    return this.$write("POST", path`/v1/connections/${connectionId}/refresh`, query, undefined, options);
  }
}

export class ConnectionsCapabilities extends Resource {
  /**
   * What a connection can do, on every surface.
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
   * One that holds contacts gives 409 `not_empty` without `force`.
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
   * `bookId` says where; without it, in the default book of `connectionId`. Members are contacts of the same book.
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
   * `contactIds` replaces the members; of a group with more than 500 the members are changed by their `groupIds`.
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
   * By `displayName` without regard to case, then by id.
   *
   * Needs the scope `contacts.read`.
   */
  list(query?: T.ContactsListQuery, options?: RequestOptions): Pages<T.ContactPage, T.Contact> {
    return this.$list("/v1/contacts", query, options);
  }

  /**
   * Create a contact.
   *
   * At least one of a name, an e-mail address, a phone number and an organization. `bookId` says where; without it, in the default book of `connectionId`.
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
   * A JSON merge patch. What another client wrote into the record and the patch does not name stays as it is.
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
   * Only suggestions: nothing is changed. An equal e-mail address, number or profile gives a score of at least 0.9, an equal name with an equal organization 0.7 to 0.85, a name alone at most 0.6. No evidence are role addresses (`info@`), numbers on more than three contacts, and what people share whose names contradict each other: a household's line, an office's. The best first, then by id; `limit` and `cursor` stand in the body.
   *
   * Needs the scope `contacts.read`.
   */
  query(body?: T.MergeSuggestionQuery, query?: T.ContactsMergeSuggestionsQueryQuery, options?: RequestOptions): Promise<T.MergeSuggestionPage> {
    return this.$read("POST", "/v1/contacts/merge-suggestions/query", query, body, options);
  }
}

export class ContactsPhoto extends Resource {
  /**
   * Read the picture that a contact's record holds.
   *
   * JSON with the picture in base64, or its bytes with `Accept: application/octet-stream` or `format=raw`. A picture elsewhere is at `photo.url`.
   *
   * Needs the scope `contacts.read`.
   */
  get(contactId: string, query?: NoQuery, options?: RequestOptions): Promise<T.ContactPicture> {
    return this.$read("GET", path`/v1/contacts/${contactId}/photo`, query, undefined, options);
  }

  /**
   * Read the picture that a contact's record holds.
   *
   * JSON with the picture in base64, or its bytes with `Accept: application/octet-stream` or `format=raw`. A picture elsewhere is at `photo.url`.
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
   * From now on the service follows all contact books of `connectionId` by itself. Starting again changes nothing and answers 200.
   *
   * Needs the scope `contacts.read`.
   */
  start(body?: T.SyncStart, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", "/v1/contacts/sync/start", query, body, options);
  }

  /**
   * Read what changed in contacts, groups and books.
   *
   * Without `cursor` the feed begins with everything there is. Read until `next_cursor` is null, keep `sync_cursor`, and pass it as `cursor` next time. `resourceType` tells `contact`, `contact_group` and `contact_book` apart.
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
   * `soft` keeps cursors valid and tells only true differences; `hard` ends them and tells everything anew.
   *
   * Needs the scope `contacts.read`.
   */
  reset(body?: T.SyncReset, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", "/v1/contacts/sync/reset", query, body, options);
  }

  /**
   * How the sync stands.
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
   * 202 with the message as it stands: `delivery` and its events show how far it got. It is sent once, however often you repeat the request with its Idempotency-Key, and whatever fails in between; if it is unknown whether the provider accepted it, `delivery.error` says `outcome_unknown`. With `sendAt` it is sent at that time; DELETE of the message cancels it until the provider gets it, and answers 409 `already_sent` from then on. `replyToMessageId` and `attachmentRef` read a message: a key without `email.read` gets 403 `insufficient_scope`, and `param` names the field.
   *
   * Needs the scope `email.send`.
   */
  send(body: T.SendMessage, query?: NoQuery, options?: RequestOptions): Promise<T.EmailMessage> {
    return this.$write("POST", "/v1/email/send", query, body, options);
  }
}

export class EmailCapabilities extends Resource {
  /**
   * What a mailbox connection can do.
   *
   * Also tells of its calendars, contacts and tasks. Everything that it cannot do stands in `missing`, with the reason.
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
   * It is stored in the drafts folder of the account, where other clients see it too.
   *
   * Needs the scope `email.write`.
   */
  create(body: T.NewDraft, query?: NoQuery, options?: RequestOptions): Promise<T.Draft> {
    return this.$write("POST", "/v1/email/drafts", query, body, options);
  }

  /**
   * List drafts, newest first.
   *
   * Without their texts. Those that were sent are no longer listed.
   *
   * Needs the scope `email.read`.
   */
  list(query?: T.EmailDraftsListQuery, options?: RequestOptions): Pages<T.DraftPage, T.Draft> {
    return this.$list("/v1/email/drafts", query, options);
  }

  /**
   * Read a draft.
   *
   * Needs the scope `email.read`.
   */
  get(draftId: string, query?: T.EmailDraftsGetQuery, options?: RequestOptions): Promise<T.Draft> {
    return this.$read("GET", path`/v1/email/drafts/${draftId}`, query, undefined, options);
  }

  /**
   * Change a draft.
   *
   * A JSON merge patch. Needs the etag, because editors that save by themselves race. Files that are not named stay; a file in the list can be one that is there, by its `id`.
   *
   * Needs the scope `email.write`.
   */
  update(draftId: string, body: T.DraftPatch, query?: NoQuery, options?: RequestOptions): Promise<T.Draft> {
    return this.$write("PATCH", path`/v1/email/drafts/${draftId}`, query, body, options);
  }

  /**
   * Destroy a draft.
   *
   * Needs the scope `email.write`.
   */
  delete(draftId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/email/drafts/${draftId}`, query, undefined, options);
  }

  /**
   * Send a draft.
   *
   * The key needs `email.read` too, because sending a draft reads it. A draft is sent once: a second call gives 409 `draft_already_sent`. With `sendAt`, in the draft or here, it is sent at that time; DELETE of the returned message cancels it until the provider gets it, and answers 409 `already_sent` from then on.
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
   * With their roles, and how many messages the provider counts in them.
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
   * Empty for providers that have none: `features.labels` of the capabilities tells.
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
   * By `receivedAt`, then by id, both downwards. A mailbox that was just connected is read from new to old while it is listed: a page may then be short, and only a null `next_cursor` is the end.
   *
   * Needs the scope `email.read`.
   */
  list(query?: T.EmailMessagesListQuery, options?: RequestOptions): Pages<T.EmailMessagePage, T.EmailMessage> {
    return this.$list("/v1/email/messages", query, options);
  }

  /**
   * Put a message into a folder, without sending it.
   *
   * The whole message in `rawBase64`, or its parts. Into the inbox where `folderIds` is empty.
   *
   * Needs the scope `email.write`.
   */
  create(body: T.NewMessage, query?: NoQuery, options?: RequestOptions): Promise<T.EmailMessage> {
    return this.$write("POST", "/v1/email/messages", query, body, options);
  }

  /**
   * Read a message.
   *
   * `html` is as the sender wrote it: show `safeHtml`. A draft can be read here too, by its id.
   *
   * Needs the scope `email.read`.
   */
  get(messageId: string, query?: T.EmailMessagesGetQuery, options?: RequestOptions): Promise<T.EmailMessage> {
    return this.$read("GET", path`/v1/email/messages/${messageId}`, query, undefined, options);
  }

  /**
   * Change flags, folders and labels of a message.
   *
   * A JSON merge patch. `folderIds` moves it: all folders that it is to be in, one where the provider has no more. It keeps its id.
   *
   * Needs the scope `email.write`.
   */
  update(messageId: string, body: T.MessagePatch, query?: NoQuery, options?: RequestOptions): Promise<T.EmailMessage> {
    return this.$write("PATCH", path`/v1/email/messages/${messageId}`, query, body, options);
  }

  /**
   * Move a message to the trash, or destroy it.
   *
   * A message that is in the trash already is destroyed. One that waits to be sent is taken back: with 204 nobody gets it, and with 409 `already_sent` it was sent, or is being sent. What is kept here of a sent message without a copy at the provider goes with `permanent` alone.
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
   * JSON with `contentBase64` up to 10 MiB; the bytes of any size with `Accept: application/octet-stream` or `format=raw`, where `Range` works.
   *
   * Needs the scope `email.read`.
   */
  get(messageId: string, attachmentId: string, query?: NoQuery, options?: RequestOptions): Promise<T.Attachment> {
    return this.$read("GET", path`/v1/email/messages/${messageId}/attachments/${attachmentId}`, query, undefined, options);
  }

  /**
   * Fetch an attachment.
   *
   * JSON with `contentBase64` up to 10 MiB; the bytes of any size with `Accept: application/octet-stream` or `format=raw`, where `Range` works.
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
   * From now on the service follows the mailbox of `connectionId` by itself, and reads all of it, newest messages first. Starting again changes nothing and answers 200.
   *
   * Needs the scope `email.read`.
   */
  start(body?: T.SyncStart, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", "/v1/email/sync/start", query, body, options);
  }

  /**
   * Read what changed in a mailbox.
   *
   * Without `cursor` the feed begins with everything there is. Read until `next_cursor` is null, keep `sync_cursor`, and pass it as `cursor` next time. `resourceType` tells `email.message`, `email.draft`, `email.folder` and `email.label` apart. While the mailbox is read for the first time (`sync_status` is `initial`) older messages follow.
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
   * Read everything again.
   *
   * `soft` keeps cursors valid and tells only true differences; `hard` ends them and tells everything anew.
   *
   * Needs the scope `email.read`.
   */
  reset(body?: T.SyncReset, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", "/v1/email/sync/reset", query, body, options);
  }

  /**
   * How the sync stands.
   *
   * Needs the scope `email.read`.
   */
  status(connectionId: string, query?: NoQuery, options?: RequestOptions): Promise<T.SyncState> {
    return this.$read("GET", path`/v1/email/sync/status/${connectionId}`, query, undefined, options);
  }
}

export class EmailThreads extends Resource {
  /**
   * List threads, by their newest message.
   *
   * A thread is listed when one of its messages is what the filters ask for.
   *
   * Needs the scope `email.read`.
   */
  list(query?: T.EmailThreadsListQuery, options?: RequestOptions): Pages<T.EmailThreadPage, T.EmailThread> {
    return this.$list("/v1/email/threads", query, options);
  }

  /**
   * Read a thread.
   *
   * Messages oldest first. The id of a thread that became part of another one shows that one, with `mergedInto`.
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
   * What became known of a sent message: opens, clicks, replies, bounces, complaints. `human` counts what nothing speaks against: pictures that a mail program fetches unseen and links that a scanner follows are told apart in `events`. Opens and clicks need a public address of this service, replies and bounces a mailbox that is followed (`sync/start`).
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
   * Every event of the application in the order of `sequence`, oldest first, as far back as events are kept: 30 days, or what the operator says. Each is the body that a webhook with full payloads receives. A key is shown events of the families that its scopes read (`calendar.read` for `calendar.*`), and, if it is bound to connections, of these alone. A page may be short, or empty, while `next_cursor` is set: read until it is null. `last_sequence` then tells up to where the log was read; pass it as `after_sequence` to go on later. Numbers are missing where nothing was to be told. 409 `sync_reset_required` where events after the position are not kept any more.
   *
   * Needs the scope `events.read`.
   */
  list(query?: T.EventsListQuery, options?: RequestOptions): Pages<T.NotificationPage, T.Notification> {
    return this.$list("/v1/events", query, options);
  }

  /**
   * Read an event.
   *
   * By the `id` that is also its `webhook-id`, as long as it is kept.
   *
   * Needs the scope `events.read`.
   */
  get(eventId: string, query?: NoQuery, options?: RequestOptions): Promise<T.Notification> {
    return this.$read("GET", path`/v1/events/${eventId}`, query, undefined, options);
  }

  /**
   * Receive events as they happen.
   *
   * Server-sent events: `id` is the `sequence`, `event` the type, and `data` what a webhook with full payloads receives, in one line. The stream begins with the events after `Last-Event-ID` or `after_sequence`, and without either with those that come from now on. A comment comes every 15 seconds; an `id` without an event shows how far the log was read. The stream ends after an hour, or when the host is stopped, and its client opens another one with `Last-Event-ID`, as `EventSource` does by itself; it ends for good within a second when its API key or access token is revoked or expires. A client that reads nothing for 30 seconds is disconnected. `event: sync_reset_required`, the last of a stream, says that events after the position are no longer kept; a stream that is opened there is answered with 409. 429 while the key has 10 streams open at the host, its application 250, or the host 1,000.
   *
   * Needs the scope `events.read`.
   */
  follow(options?: StreamOptions): AsyncGenerator<T.Notification, void, undefined> {
    return followEvents(this.transport, "/v1/events/stream", options);
  }
}

export class Oauth extends Resource {
  /**
   * Token endpoint (RFC 6749).
   *
   * Answers and errors have the shapes of RFC 6749, not the envelope. The API key authenticates the client: in `X-Api-Key`, as a `Bearer` token, or as the password of `Basic`. `authorization_code` exchanges the `code` of an authorization, once and within a minute, for tokens of its connection, and connects the account; a code that is not exchanged, or that a wrong request uses up, connects no account. `refresh_token` renews them, and each refresh token works once: used again, it ends all tokens of its grant, so repeat a request whose answer was lost with the same `Idempotency-Key`. `client_credentials` makes a token of the key itself, with fewer scopes, connections and domains, for at most an hour. A token works wherever a key does, within the key's budget, and ends with the key.
   */
  token(body: T.TokenRequest, query?: NoQuery, options?: RequestOptions): Promise<T.Token> {
    return this.$write("POST", "/v1/oauth/token", query, body, options);
  }
}

export class Providers extends Resource {
  /**
   * Where providers post their notifications.
   *
   * For providers, not for clients. A notification is a hint that something has changed, authenticated by the secret of its watch: what changed is read from the provider. 202 whether or not the watches are known and the secrets right; 401 without any. A provider that signs a JSON Web Token for each request sends it as a `Bearer` token: 401 for one that it did not make for this address, and 503 while its keys cannot be read. 200 for a handshake, whose value comes back as text. 503 over 200 requests of the provider in a second from one network or 2,000 from all, for far more than 2 notifications of a watch in a second, and when the database does not answer within 2 seconds: the provider repeats it. At most 256 KiB and 1,000 notifications.
   */
  notifications(provider: string, query?: NoQuery, options?: RequestOptions): Promise<T.NotificationsTaken> {
    return this.$write("POST", path`/v1/providers/${provider}/notifications`, query, undefined, options);
  }

  /**
   * Where providers with several kinds of notifications post those of one kind.
   *
   * For providers, not for clients. As `POST /v1/providers/{provider}/notifications`, for the kind that the connector's manifest gives this name.
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
   * Slots begin on a grid that starts with each window of the schedule; neither the range nor a busy time moves it. What is offered can be booked: both go by the same rules. Buffers are kept free of busy times and need not be open. A host whose calendars cannot be read is not free; where none could be read the answer is 503 `availability_unknown`. Who hosts are is told to keys with `scheduling.read` alone: to others `hostIds` is null. `limit` (at most 1,000) and `cursor` stand in the body.
   *
   * Needs the scope `scheduling.book`.
   */
  query(body: T.SlotQuery, query?: NoQuery, options?: RequestOptions): Promise<T.SlotAnswer> {
    return this.$read("POST", "/v1/scheduling/availability/query", query, body, options);
  }
}

export class SchedulingBookingLinks extends Resource {
  /**
   * What a booking page shows.
   *
   * Never a host's address, calendars or reasons for being busy. What is not there, inactive or expired has the same answer: 404.
   *
   * Needs the scope `scheduling.book`.
   */
  get(slug: string, query?: NoQuery, options?: RequestOptions): Promise<T.BookingLink> {
    return this.$read("GET", path`/v1/scheduling/booking-links/${slug}`, query, undefined, options);
  }
}

export class SchedulingBookings extends Resource {
  /**
   * List bookings by when they begin.
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
   * A 400 names every fault of the body in `details`, at most 20. Exactly one of several requests for the same slot succeeds; the others get 409 `slot_unavailable`, and so does every start that the search for slots does not offer. 409 `booking_limit_reached`: the address already has as many upcoming bookings as the event type allows. `slug` names the link that the invitee came by: one that is good for a single booking is used up with it, and one that is not of this event type, is expired or used up is 404. The event is written to the host's calendar right after the answer; `calendarEvents` shows how far it has got. An event that invites the invitee and guests has none of the invitee's notes, answers and phone number, because providers send it to them: its description links hosts to a page that shows these. Only keys with `scheduling.read` see who the hosts are. A key without it, such as one for web pages, cannot set `metadata` (400). With such a key an email address gets three bookings an hour in the application, as invitee or as guest, including those of the booking page, however it is written and whatever its `+tag`; the next one is 429 `rate_limited` with `Retry-After`, and `param` is `inviteeEmail` or `guests[0].email`.
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
   * Change your notes on a booking, or say who did not come.
   *
   * A JSON merge patch of `metadata` and `noShow`; for everything else there are operations. `noShow` is of bookings that are confirmed or completed and have begun: 409 `invalid_state` for others. It names the invitee or guests by their addresses.
   *
   * Needs the scope `scheduling.write`.
   */
  update(bookingId: string, body: T.BookingPatch, query?: NoQuery, options?: RequestOptions): Promise<T.Booking> {
    return this.$write("PATCH", path`/v1/scheduling/bookings/${bookingId}`, query, body, options);
  }

  /**
   * Confirm a booking that is pending.
   *
   * Hosts can do the same without a key, by the links in the email that asks them. Of several who confirm or reject at the same time one succeeds, the others get 409 `invalid_state`. Where the event type does not block slots of pending bookings, the time is reserved now: 409 `slot_unavailable` when it is taken, 503 `availability_unknown` when the hosts' calendars cannot be read.
   *
   * Needs the scope `scheduling.write`.
   */
  confirm(bookingId: string, query?: NoQuery, options?: RequestOptions): Promise<T.Booking> {
    return this.$write("POST", path`/v1/scheduling/bookings/${bookingId}/confirm`, query, undefined, options);
  }

  /**
   * Reject a booking that is pending.
   *
   * Its time is free with the answer. 409 `invalid_state` for a booking that is not pending.
   *
   * Needs the scope `scheduling.write`.
   */
  reject(bookingId: string, body?: T.BookingRejection, query?: NoQuery, options?: RequestOptions): Promise<T.Booking> {
    return this.$write("POST", path`/v1/scheduling/bookings/${bookingId}/reject`, query, body, options);
  }

  /**
   * Cancel a booking.
   *
   * Its time is free with the answer; its event goes from the host's calendar right after that. A key without `scheduling.write` needs the invitee's `manageToken`, and what the event type's `cancellation` says holds: 403 `forbidden` where invitees may not cancel, 409 `invalid_state` where it is too late. Without a `manageToken` a key that may write is bound by neither. 409 `invalid_state` for a booking that was ended before.
   *
   * Needs the scope `scheduling.book`.
   */
  cancel(bookingId: string, body?: T.BookingCancellation, query?: NoQuery, options?: RequestOptions): Promise<T.Booking> {
    return this.$write("POST", path`/v1/scheduling/bookings/${bookingId}/cancel`, query, body, options);
  }

  /**
   * Move a booking to another slot.
   *
   * The booking keeps its id, and while its organizer stays its `iCalUid`; `sequence` goes up. Its old time is free and its new one taken with the answer; the event is moved right after that. 409 `slot_unavailable` for a `start` that the search for slots with this `rescheduleBookingId` does not offer, 409 `invalid_state` for a booking that is not confirmed. A key without `scheduling.write` needs the invitee's `manageToken`, and what the event type's `reschedule` says holds: 403 `forbidden` where invitees may not move, 409 `invalid_state` where it is too late or was done too often; where bookings need a confirmation this one is pending again. Without a `manageToken` a key that may write is bound by none of that.
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
   * It acts with the rights of the key that saves it: keys and visitors that book need no rights to the hosts' calendars. So the key must be allowed to use the connection of every host, and both the key and the connection need `calendar.write`. To send email the key needs `email.send`: for `notifications.connectionId`, for hosts whose connections were granted it, and to turn on `notifications.invitee` or `notifications.hosts`. 403 `insufficient_scope` names each field in `details`. If a key without `email.send` leaves both out and no host could send, both are false, with the warning `notification_unavailable`. Without `calendarId` bookings are written to the account's default calendar; without `conflictCalendarIds` all calendars make the host busy that count in availability, with them these and the one that bookings are written to. `slug` is unique within the application (409 `already_exists`). At most 100 hosts, each connection once. `assignment`: `fixed`, all hosts with the role `required` meet; `collective`, all but `optional` ones; `roundRobin`, the required ones and one of those with the role `rotation`, by `roundRobinStrategy`; `priority`, the same with the smallest `priority` that is free. Optional hosts get the event and never block a slot. Hours are in `schedule`, or in a shared one that `scheduleId` names. A new event type without either, whose hosts have no hours of their own, is open Monday to Friday from 9:00 to 17:00 in the time zone of its first host: that of the account's primary calendar, else of the account; else in UTC, with the warning `default_time_zone`. A new host without `displayName` gets the account's name; an empty one shows no name. `seatsPerSlot`: so many bookings share one meeting. With `requiresConfirmation` bookings are `pending` until they are confirmed, and hold their time if `pendingBlocksSlot` says so. A `googleMeet` or `teams` location without a link needs calendars that make such conferences (400 `capability_not_supported`).
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
   * Existing bookings stay as they are. To change its hosts, conferences or notifications, your key needs the rights for what is new, as for a new event type; to change other fields it needs none of these.
   *
   * Needs the scope `scheduling.write`.
   */
  update(eventTypeId: string, body: T.SchedulingEventTypePatch, query?: NoQuery, options?: RequestOptions): Promise<T.SchedulingEventType> {
    return this.$write("PATCH", path`/v1/scheduling/event-types/${eventTypeId}`, query, body, options);
  }

  /**
   * Delete an event type; its bookings stay.
   *
   * Its slug is free at once.
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
   * Its own slug, and the links that were made besides, in the order of their slugs. `active` is false for one that is expired or used up.
   *
   * Needs the scope `scheduling.read`.
   */
  list(eventTypeId: string, query?: T.SchedulingEventTypesLinksListQuery, options?: RequestOptions): Pages<T.BookingLinkPage, T.BookingLink> {
    return this.$list(path`/v1/scheduling/event-types/${eventTypeId}/links`, query, options);
  }

  /**
   * Make a further booking link.
   *
   * Its slug cannot be guessed. One with `singleUse` is good for one booking, one with `expiresAt` until then; after that it has the same answer as one that never was: 404. A booking that is made through the API uses the link that its `slug` names.
   *
   * Needs the scope `scheduling.write`.
   */
  create(eventTypeId: string, body: T.NewBookingLink, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenBookingLink> {
    return this.$write("POST", path`/v1/scheduling/event-types/${eventTypeId}/links`, query, body, options);
  }

  /**
   * End a booking link.
   *
   * Bookings that were made by it stay. The event type's own slug is no further link: 409 `invalid_state`.
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
   * Event types use it by `scheduleId`, and have its hours from the moment on at which they change.
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
   * Existing bookings stay as they are. 403 `forbidden` if your key may not use every host of the event types that use it: a change would set the hours of others.
   *
   * Needs the scope `scheduling.write`.
   */
  update(scheduleId: string, body: T.SharedSchedulePatch, query?: NoQuery, options?: RequestOptions): Promise<T.SharedSchedule> {
    return this.$write("PATCH", path`/v1/scheduling/schedules/${scheduleId}`, query, body, options);
  }

  /**
   * Delete a schedule.
   *
   * 409 `invalid_state` while an event type uses it; 403 `forbidden` if your key may not use all hosts of that event type.
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
   * The account's default list stays: 409 `invalid_state`.
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
   * From now on the service follows the list by itself. Starting again changes nothing and answers 200.
   *
   * Needs the scope `tasks.read`.
   */
  start(taskListId: string, body?: T.SyncStart, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", path`/v1/task-lists/${taskListId}/sync/start`, query, body, options);
  }

  /**
   * Read what changed in a task list.
   *
   * Without `cursor` the feed begins with every task there is. Read until `next_cursor` is null, keep `sync_cursor`, and pass it as `cursor` next time.
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
   * `soft` keeps cursors valid and tells only true differences; `hard` ends them and tells everything anew.
   *
   * Needs the scope `tasks.read`.
   */
  reset(taskListId: string, body?: T.SyncReset, query?: NoQuery, options?: RequestOptions): Promise<T.WrittenSyncState> {
    return this.$write("POST", path`/v1/task-lists/${taskListId}/sync/reset`, query, body, options);
  }

  /**
   * How the sync of a task list stands.
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
   * By `position` where the provider has one, then by id. Subtasks are in the list, too.
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
   * A JSON merge patch. `status: completed` stamps `completedAt`, another status clears it.
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
   * 400 `capability_not_supported` where the provider has none.
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
   * Either `url` or `resourceId`, which names an event or a contact that the key may read: 403 `insufficient_scope` without `calendar.read` or `contacts.read`. 400 `capability_not_supported` if the provider has no links.
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

export class Usage extends Resource {
  /**
   * What the application used.
   *
   * By default the current month, UTC. Figures of the last seconds may be missing, those of providers' quotas of the last minute.
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
   * Subscribe to notifications.
   *
   * The answer holds `secret`, this once; an idempotent replay shows it again. The webhook gets every event from then on. Event types need the scopes that read what they are about (403 `insufficient_scope` names the missing one), and a key that is bound to connections subscribes to these alone. The URL must lead to a public address, which is checked again for every attempt; if its host cannot be looked up now, it is accepted with a warning. The webhook ends with the API key or access token that creates it (`keyId`): it is then disabled with `key_ended`, unless the key was rotated (see `DELETE /v1/api-keys/{keyId}`). If that key expires, the warning `ends_with_key` says when. The values of `headers` are sent to the receiver and never shown: every answer has `********` instead. An application has at most 10,000.
   *
   * Needs the scope `webhooks.write`.
   */
  create(body: T.NewWebhookSubscription, query?: NoQuery, options?: RequestOptions): Promise<T.WebhookSubscription> {
    return this.$write("POST", "/v1/webhooks", query, body, options);
  }

  /**
   * List subscriptions.
   *
   * To a key that is bound to connections: those that are told of these connections alone.
   *
   * Needs the scope `webhooks.read`.
   */
  list(query?: T.WebhooksListQuery, options?: RequestOptions): Pages<T.WebhookSubscriptionPage, T.WebhookSubscription> {
    return this.$list("/v1/webhooks", query, options);
  }

  /**
   * Read a subscription.
   *
   * Needs the scope `webhooks.read`.
   */
  get(webhookId: string, query?: NoQuery, options?: RequestOptions): Promise<T.WebhookSubscription> {
    return this.$read("GET", path`/v1/webhooks/${webhookId}`, query, undefined, options);
  }

  /**
   * Change, pause or resume a subscription, or rotate its secret.
   *
   * `paused` keeps the position: `active` continues where it stopped, as far back as events are kept. `disabled` discards what waits, and `active` then begins from now. A change applies to everything that was not attempted yet. With `rotateSecret`, or a `secret` of your own, the answer holds the new one, this once; the old one also signs for `secretGraceSeconds`. With `0` all earlier secrets end at once, even if you send that alone. To change what is sent, or where, your key needs the same scopes as for a new webhook. A webhook gets more event types only if the request names `url` or `eventTypes`: it then belongs to the key of the request (`keyId`), and gets what that key may read. A change of any other field removes what the key of the request may not read, and adds no event types; if it lets more through (`connectionIds`, `includeBackfill`, `payloadMode`) and that key ends earlier, the webhook then belongs to that key. In `headers` a masked value keeps the stored one; if you change `url` to another server, send the values again, since stored ones are not sent there.
   *
   * Needs the scope `webhooks.write`.
   */
  update(webhookId: string, body: T.WebhookSubscriptionPatch, query?: NoQuery, options?: RequestOptions): Promise<T.WebhookSubscription> {
    return this.$write("PATCH", path`/v1/webhooks/${webhookId}`, query, body, options);
  }

  /**
   * Delete a subscription.
   *
   * Nothing more is sent. An attempt that is under way may still arrive.
   *
   * Needs the scope `webhooks.write`.
   */
  delete(webhookId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {
    return this.$end("DELETE", path`/v1/webhooks/${webhookId}`, query, undefined, options);
  }

  /**
   * Send a test event.
   *
   * Sends the event `webhook.test` to this subscription alone, whatever it asks for, and waits up to 16 seconds for the first attempt. 200 with the delivery, also when the attempt failed: `attempts` says what the endpoint answered. A delivery without an attempt is still under way: the endpoint is slow, or has asked to be left alone for a while. A failed test is tried again, and counts for the endpoint, as any delivery. 409 `invalid_state` while the subscription is paused or disabled.
   *
   * Needs the scope `webhooks.write`.
   */
  test(webhookId: string, query?: NoQuery, options?: RequestOptions): Promise<T.Delivery> {
    return this.$write("POST", path`/v1/webhooks/${webhookId}/test`, query, undefined, options);
  }

  /**
   * Send events once more.
   *
   * 1 to 1,000 events by their ids (`eventIds`), or all that happened from `from` on and before `to`, whether they arrived before or not. `eventTypes` and `onlyFailed` narrow both. They are sent in the order of the log with the same `webhook-id` and the same body, and with `webhook-replay`, as the subscription asks for them when they are sent; tests of the webhook are sent again by their ids only. What fails is tried again as any delivery is, and does not count against the endpoint. An id that is no event of the application gives 400 with its place in `param`, and all such places in `details`; an event that is left out is told with a warning. A `from` before the oldest event that is kept gives 400 `invalid_time_range`, and the message says from when on events are kept. A range may be of any length: at most about 1,000 of its events wait at a time. The first 10,000 events of the log in it are counted for the answer; with `counted` false `eventCount` goes on growing while they are sent. 409 `invalid_state` while the subscription is paused or disabled; 429 while 100 replays of it are under way, or 100,000 deliveries of its replays wait, with those that a pause has left. When it is paused later, a replay whose events do not all wait already is `failed` (`webhook_paused`): those that wait are sent when it is resumed, and `continueFrom` is the `from` of a replay of the others. When it is disabled, replays are `failed` (`webhook_disabled`), and what waited is given up.
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
   * List deliveries.
   *
   * What became of events at the subscription, newest event first, and of one event its replays first. An event that was not tried yet has no delivery here, unless it is of a replay or a test. Those that arrived are kept for 72 hours, those that were given up (`failed`, `discarded`) as long as events. A page can be shorter than `limit`, or empty, and not the last: `next_cursor` alone says whether the list goes on.
   *
   * Needs the scope `webhooks.read`.
   */
  list(webhookId: string, query?: T.WebhooksDeliveriesListQuery, options?: RequestOptions): Pages<T.DeliveryPage, T.Delivery> {
    return this.$list(path`/v1/webhooks/${webhookId}/deliveries`, query, options);
  }
}

export class WebhooksReplays extends Resource {
  /**
   * List replays.
   *
   * Who asked for which events, and how far they got, newest first. A replay is kept as long as events after it has ended.
   *
   * Needs the scope `webhooks.read`.
   */
  list(webhookId: string, query?: T.WebhooksReplaysListQuery, options?: RequestOptions): Pages<T.WebhookReplayPage, T.WebhookReplay> {
    return this.$list(path`/v1/webhooks/${webhookId}/replays`, query, options);
  }

  /**
   * Read a replay.
   *
   * How far it is. Kept as long as events after it has ended.
   *
   * Needs the scope `webhooks.read`.
   */
  get(webhookId: string, replayId: string, query?: NoQuery, options?: RequestOptions): Promise<T.WebhookReplay> {
    return this.$read("GET", path`/v1/webhooks/${webhookId}/replays/${replayId}`, query, undefined, options);
  }
}
