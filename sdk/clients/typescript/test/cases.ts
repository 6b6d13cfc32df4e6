/** The cases that both clients share. */
import { readFileSync } from "node:fs";
import type { ScriptedAnswer } from "./faulty-server.js";

export interface ExpectedRequest {
  method?: string;
  path?: string;
  json?: unknown;
  headers?: Record<string, string | null>;
}

export interface ExpectedError {
  class: string;
  detailField?: string;
  [member: string]: unknown;
}

interface Call {
  name: string;
  call: string;
  arguments: unknown[];
  query?: object;
  options?: object;
  answers: ScriptedAnswer[];
  requests?: ExpectedRequest[];
  waitsMs?: [number, number][];
  sameIdempotencyKey?: boolean;
  result?: unknown;
  response?: object;
  error?: ExpectedError;
}

interface FeedCase {
  name: string;
  cursor: string | null;
  query?: object;
  take: number;
  answers: ScriptedAnswer[];
  sequences: number[];
  stored: string[];
  resets?: number;
  handlesReset?: boolean;
  error?: ExpectedError;
}

interface WebhookCase {
  name: string;
  secret: string | string[];
  headers: Record<string, string>;
  body: string;
  now: number;
  toleranceS?: number;
  sequence?: number;
  reason?: string;
}

export interface Cases {
  calls: Call[];
  pages: Call & { paths: string[]; count: number; pages: number; limited: { limit: number; requests: number } };
  modify: {
    arguments: string[];
    path: string;
    suffix: string;
    cases: (Call & { attempts?: number; change?: null })[];
  };
  feed: Call & { path: string; feed: string; cases: (FeedCase & { pollMs?: number; queries: string[]; waitsMs?: [number, number][] })[] };
  stream: Call & { path: string; feed: string; cases: (FeedCase & { lastEventIds: (string | null)[] })[] };
  raw: Call & { path: string; bytes: number; maxChunkBytes: number; accept: string; error: ExpectedError & { answers: ScriptedAnswer[] } };
  webhooks: {
    sign: { secret: string; id: string; timestamp: number; body: string; headers: Record<string, string> };
    verify: WebhookCase[];
  };
}

export const cases: Cases = JSON.parse(readFileSync(new URL("../../../cases.json", import.meta.url), "utf8"));
