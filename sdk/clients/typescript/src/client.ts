/** The client. */
import type { ApiRequest, ClientOptions, RequestOptions } from "./core/options.js";
import { newKey, Transport } from "./core/transport.js";
import { Resources } from "./generated/resources.js";

/** A client of a Switchboard server. One client can serve a whole program. */
export class Switchboard extends Resources {
  constructor(options: ClientOptions) {
    super(new Transport(options));
  }

  /** Sends a request by method and path, with the same retries and errors as the methods. */
  request<T = unknown>(request: ApiRequest, options?: RequestOptions): Promise<T> {
    const isRead = ["GET", "HEAD"].includes(request.method.toUpperCase());
    return this.transport.json(request, isRead ? options : { ...options, idempotencyKey: options?.idempotencyKey ?? newKey() });
  }
}
