/** Signatures of webhooks, as Standard Webhooks describe them. */
import type { Notification } from "./generated/types.js";

const PREFIX = "whsec_";
const DEFAULT_TOLERANCE_S = 300;
const HMAC = { name: "HMAC", hash: "SHA-256" };

/** Headers of a request: those of `fetch`, or of Node's `http`. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/** Why a request is not authentic: a header is missing, its time is too far away, no signature matches, or the secret cannot be used. */
export type SignatureFault = "header" | "timestamp" | "signature" | "secret";

/** A request that does not come from the server, or is too old. */
export class SignatureError extends Error {
  constructor(
    readonly reason: SignatureFault,
    message: string,
  ) {
    super(message);
    this.name = "SignatureError";
  }
}

/** Settings of `verify`. */
export interface VerifyOptions {
  /** How far the time of the request may be from the clock, in seconds; 300 by default. */
  toleranceS?: number | undefined;
  /** The time, in seconds since 1970; the clock's by default. */
  now?: number | undefined;
}

/**
 * Returns the notification in a request, or throws a `SignatureError`. `rawBody` is the body as it came, before anything parses it. Pass
 * several secrets while you rotate one.
 */
export async function verify(
  secret: string | string[],
  headers: WebhookHeaders,
  rawBody: string | Uint8Array,
  { toleranceS = DEFAULT_TOLERANCE_S, now = Date.now() / 1000 }: VerifyOptions = {},
): Promise<Notification> {
  if (typeof rawBody !== "string" && !(rawBody instanceof Uint8Array)) {
    throw new TypeError("rawBody must be the body as text or bytes, before it is parsed");
  }
  const keys = await Promise.all([secret].flat().map((text) => importKey(text, "verify")));
  if (keys.length === 0) throw new SignatureError("secret", "no secret was given");
  const [id, at, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => header(headers, name));
  if (!id || !at || !signatures) {
    throw new SignatureError("header", "webhook-id, webhook-timestamp or webhook-signature is missing");
  }
  if (!/^\d+$/.test(at) || !(Math.abs(now - Number(at)) <= toleranceS)) {
    throw new SignatureError("timestamp", `webhook-timestamp is not within ${toleranceS} s of the clock`);
  }
  const signed = signedBytes(id, at, rawBody);
  const given = signatures.split(" ").filter((entry) => entry.startsWith("v1,")).map((entry) => decode(entry.slice(3)));
  for (const key of keys) {
    for (const bytes of given) {
      // WebCrypto compares in constant time.
      if (bytes && (await crypto.subtle.verify(HMAC, key, bytes, signed))) {
        return JSON.parse(typeof rawBody === "string" ? rawBody : new TextDecoder().decode(rawBody));
      }
    }
  }
  throw new SignatureError("signature", "no signature matches the body and the secret");
}

/** Returns the headers with which the server would send a body: for tests of your receiver. */
export async function sign(
  secret: string,
  { id, timestamp, body }: { id: string; timestamp: number; body: string | Uint8Array },
): Promise<Record<string, string>> {
  const at = String(Math.floor(timestamp));
  const bytes = await crypto.subtle.sign(HMAC, await importKey(secret, "sign"), signedBytes(id, at, body));
  const signature = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": `v1,${signature}` };
}

function signedBytes(id: string, at: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const [head, tail] = [encoder.encode(`${id}.${at}.`), typeof body === "string" ? encoder.encode(body) : body];
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

async function importKey(secret: string, usage: "sign" | "verify"): Promise<CryptoKey> {
  const text = secret.trim();
  const bytes = decode(text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text);
  if (!bytes?.length) throw new SignatureError("secret", "the secret is not whsec_ and base64");
  return crypto.subtle.importKey("raw", bytes, HMAC, false, [usage]);
}

/** Returns the bytes of a base64 text; null for anything else. */
function decode(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

function isHeaders(headers: WebhookHeaders): headers is Headers {
  return typeof headers.get === "function";
}

function header(headers: WebhookHeaders, name: string): string | undefined {
  // Also headers of another implementation of `fetch`.
  if (isHeaders(headers)) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1];
  return Array.isArray(found) ? found[0] : found;
}
