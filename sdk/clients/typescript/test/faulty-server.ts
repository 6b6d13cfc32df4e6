/** A server that answers by script: one answer for each request, with faults. */
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The time between two spaces of a drip. */
const DRIP_MS = 20;

/** An answer of the script; see `about` in cases.json. */
export interface ScriptedAnswer {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  text?: string;
  fault?: "reset" | "stall" | "drip" | "cut";
  chunks?: string[];
  splitBytes?: number;
  generate?: { prefix: string; from: number; count: number; nextCursor: string | null };
  /** Writes the body itself. */
  write?: (response: ServerResponse) => Promise<void>;
}

/** A request as the server got it. */
export interface SeenRequest {
  method: string;
  path: string;
  headers: Record<string, string | undefined>;
  body: string;
}

export class FaultyServer {
  readonly requests: SeenRequest[] = [];
  readonly url: string;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(script: ScriptedAnswer[]): Promise<FaultyServer> {
    const answers = [...script];
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const started = new FaultyServer(server);
    server.on("request", async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      started.requests.push(seen(request, Buffer.concat(chunks).toString()));
      await answer(answers.shift(), response);
    });
    return started;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function seen(request: IncomingMessage, body: string): SeenRequest {
  const headers = request.headers as Record<string, string | undefined>;
  return { method: request.method ?? "", path: request.url ?? "", headers, body };
}

async function answer(next: ScriptedAnswer | undefined, response: ServerResponse): Promise<void> {
  if (next === undefined) {
    response.writeHead(599).end("the script has no further answer");
    return;
  }
  if (next.fault === "stall") return;
  if (next.fault === "drip") {
    response.writeHead(200);
    const drip = setInterval(() => response.write(" "), DRIP_MS);
    response.on("close", () => clearInterval(drip));
    return;
  }
  if (next.fault === "reset") {
    response.socket?.destroy();
    return;
  }
  const headers = Object.fromEntries(Object.entries(next.headers ?? {}).map(([name, value]) => [name, dated(value)]));
  const text = next.text ?? JSON.stringify(next.generate ? page(next.generate) : next.json);
  if (next.write) {
    response.writeHead(next.status ?? 200, headers);
    await next.write(response);
  } else if (next.chunks) {
    response.writeHead(next.status ?? 200, headers);
    for (const piece of pieces(next)) await new Promise((resolve) => response.write(piece, resolve));
    if (next.fault === "cut") response.socket?.destroy();
    else response.end();
  } else if (next.fault === "cut") {
    response.writeHead(next.status ?? 200, { "content-length": text.length + 100, ...headers });
    response.write(text, () => response.socket?.destroy());
  } else {
    response.writeHead(next.status ?? 200, { "content-type": "application/json", ...headers }).end(text);
  }
}

function pieces({ chunks = [], splitBytes }: ScriptedAnswer): Buffer[] {
  if (!splitBytes) return chunks.map((chunk) => Buffer.from(chunk));
  const whole = Buffer.from(chunks.join(""));
  const count = Math.ceil(whole.length / splitBytes);
  return Array.from({ length: count }, (_, at) => whole.subarray(at * splitBytes, (at + 1) * splitBytes));
}

function page({ prefix, from, count, nextCursor }: NonNullable<ScriptedAnswer["generate"]>): object {
  const data = Array.from({ length: count }, (_, at) => ({ id: `${prefix}${from + at}` }));
  return { data, next_cursor: nextCursor };
}

/** `{in 20 s}` is an HTTP date. */
function dated(value: string): string {
  return value.replace(/\{in (\d+) s\}/, (_, s: string) => new Date(Date.now() + Number(s) * 1000).toUTCString());
}
