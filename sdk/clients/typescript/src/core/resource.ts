/** The base of the classes that are generated from the API's description. */
import type { ApiRequest, RequestOptions } from "./options.js";
import { Pages, type Page } from "./pages.js";
import { newKey, type Transport } from "./transport.js";

/** A part of the API. */
export class Resource {
  constructor(protected readonly transport: Transport) {}

  /** Sends a request that changes nothing. */
  protected $read<T>(method: string, path: string, query?: object, body?: unknown, options?: RequestOptions): Promise<T> {
    return this.transport.json({ method, path, query, body }, options);
  }

  /** Sends a request that changes something and answers a body: with an idempotency key, so that it can be repeated. */
  protected $write<T>(method: string, path: string, query?: object, body?: unknown, options?: RequestOptions): Promise<T> {
    return this.transport.json({ method, path, query, body }, keyed(options));
  }

  /** Sends a request that changes something and answers no body. */
  protected $end(method: string, path: string, query?: object, body?: unknown, options?: RequestOptions): Promise<void> {
    return this.transport.none({ method, path, query, body }, keyed(options));
  }

  /** A list in pages. */
  protected $list<P extends Page<T>, T>(path: string, query?: object, options?: RequestOptions): Pages<P, T> {
    const request: ApiRequest = { method: "GET", path };
    return new Pages((cursor) =>
      this.transport.json({ ...request, query: cursor === undefined ? query : { ...query, cursor } }, options),
    );
  }

  /** Sends a request whose answer is bytes. */
  protected $bytes(path: string, accept: string, query?: object, options?: RequestOptions): Promise<Response> {
    const headers = { accept, ...options?.headers };
    return this.transport.raw({ method: "GET", path, query }, { ...options, headers });
  }
}

function keyed(options?: RequestOptions): RequestOptions {
  return { ...options, idempotencyKey: options?.idempotencyKey ?? newKey() };
}
