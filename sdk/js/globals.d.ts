/** What a connector's engine has beside the language (`engine.ts`); `lib` of TypeScript knows these in browsers alone. */

declare const console: {
  debug(...parts: unknown[]): void;
  log(...parts: unknown[]): void;
  info(...parts: unknown[]): void;
  warn(...parts: unknown[]): void;
  error(...parts: unknown[]): void;
};

/** The host's clock, as `Date.now`. */
declare const performance: { now(): number };

declare class TextEncoder {
  readonly encoding: string;
  encode(text?: string): Uint8Array;
}

/** UTF-8 alone, without streams. */
declare class TextDecoder {
  readonly encoding: string;
  constructor(label?: string);
  decode(bytes?: Uint8Array | ArrayBuffer): string;
}

declare function atob(text: string): string;
declare function btoa(text: string): string;

/** A name of other engines that a connector's engine lacks. Its use is an error of the type checker, which shows the advice. */
interface NotInConnectors<Advice extends string> {
  readonly "not in connectors": Advice;
}

/** @deprecated A connector sends requests with `context.send()`. */
declare var fetch: NotInConnectors<"a connector sends requests with context.send()">;
/** @deprecated A connector sends requests with `context.send()`. */
declare var XMLHttpRequest: NotInConnectors<"a connector sends requests with context.send()">;
/** @deprecated `url()` of `#switchboard` makes addresses. */
declare var URL: NotInConnectors<"url() of #switchboard makes addresses">;
/** @deprecated `url()` of `#switchboard` makes addresses. */
declare var URLSearchParams: NotInConnectors<"url() of #switchboard makes addresses">;
/** @deprecated `context.randomBytes()` gives randomness. */
declare var crypto: NotInConnectors<"context.randomBytes() gives randomness">;
/** @deprecated A connector does not wait: the host calls it again. */
declare var setTimeout: NotInConnectors<"a connector does not wait: the host calls it again">;
/** @deprecated A connector does not wait: the host calls it again. */
declare var setInterval: NotInConnectors<"a connector does not wait: the host calls it again">;
/** @deprecated A connector does not wait: the host calls it again. */
declare var setImmediate: NotInConnectors<"a connector does not wait: the host calls it again">;
/** @deprecated `encode()`, `decode()`, `toBase64()` and `fromBase64()` of `#switchboard` work on bytes. */
declare var Buffer: NotInConnectors<"encode(), decode(), toBase64() and fromBase64() of #switchboard work on bytes">;
/** @deprecated Settings of the connection have what the user gives. */
declare var process: NotInConnectors<"settings of the connection have what the user gives">;
/** @deprecated A connector has no modules of Node. */
declare var require: NotInConnectors<"a connector has no modules of Node">;
