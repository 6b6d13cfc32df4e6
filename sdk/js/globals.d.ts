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
