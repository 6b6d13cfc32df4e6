/** The host's interface (`wit/*.wit`) as the engine shows it. */

declare module "switchboard:connector/http@1.0.0" {
  export interface Header {
    name: string;
    value: Uint8Array;
  }
  export type Segment = { tag: "bytes"; val: Uint8Array } | { tag: "blob" | "blob-base64" | "blob-base64url"; val: string };
  export interface Req {
    method: string;
    url: string;
    headers: Header[];
    body: Segment[];
    auth: string | null;
    timeoutMs: number | null;
    maxBytes: number | null;
    extra: [string, string][];
  }
  export interface Res {
    status: number;
    headers: Header[];
    body: Uint8Array;
    truncated: boolean;
    extra: [string, string][];
  }
  export interface Err {
    code: string;
    message: string;
    retryAfterMs?: number | null;
  }
  export interface BlobInfo {
    id: string;
    size?: number | null;
    contentType?: string | null;
    status: number;
    headers: Header[];
  }
  /** Throws an error whose `payload` is an `Err`. */
  export function send(request: Req): Res;
  export function sendMany(requests: Req[], maxConcurrent: number): ({ tag: "ok"; val: Res } | { tag: "err"; val: Err })[];
  /** Throws an error whose `payload` is an `Err`. */
  export function sendToBlob(request: Req, decode: string, maxBytes: number): BlobInfo;
}

declare module "switchboard:connector/log@1.0.0" {
  export function log(level: string, message: string, fields: [string, string][]): void;
}

declare module "switchboard:connector/clock@1.0.0" {
  export function nowMs(): number;
}

declare module "switchboard:connector/random@1.0.0" {
  export function bytes(length: number): Uint8Array;
}

declare module "switchboard:connector/blob@1.0.0" {
  export function size(id: string): number | null | undefined;
  export function read(id: string, offset: number, length: number): Uint8Array | null | undefined;
  export function create(content: Uint8Array, contentType: string | null): string | null | undefined;
}

declare module "switchboard:connector/progress@1.0.0" {
  export function reached(step: string): void;
}

declare module "switchboard:connector/time-zones@1.0.0" {
  export interface LocalTime {
    dateTime: string;
    offset: string;
  }
  /** Throws an error whose `payload` is `{ code, message }`. */
  export function instant(local: string, zone: string): number;
  /** Throws an error whose `payload` is `{ code, message }`. */
  export function local(instantMs: number, zone: string): LocalTime;
}
