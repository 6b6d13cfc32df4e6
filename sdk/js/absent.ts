/**
 * What other engines have and a connector's engine lacks, or has without the locales and time zones that it needs, and what to write
 * instead. `globals.d.ts` says the same to the type checker.
 */

/** Names that are not defined: of a `ReferenceError` of the engine. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/\b(fetch|XMLHttpRequest)\b/, "a connector sends requests with context.send()"],
  [/\b(URL|URLSearchParams)\b/, "url() of #switchboard makes addresses"],
  [/\bcrypto\b/, "context.randomBytes() gives randomness"],
  [/\b(setTimeout|setInterval|setImmediate)\b/, "a connector does not wait: the host calls it again"],
  [/\bIntl\b/, "context.localTime(instant, zone) and context.instant(local, zone) convert times; there are no locales in a connector"],
  [/\bBuffer\b/, "encode(), decode(), toBase64() and fromBase64() of #switchboard work on bytes"],
  [/\bprocess\b/, "settings of the connection have what the user gives"],
  [/\brequire\b/, "a connector has no modules of Node"],
];

const OF_DATES = "toISOString() writes UTC, context.localTime(instant, zone) gives the time in a time zone";
const OF_NUMBERS = "String(value) writes the digits; there are no locales in a connector";
const OF_LISTS = "join() writes the elements; there are no locales in a connector";
const OF_ORDER = "compare with < and >, for example sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)); there are no locales in a connector";

/** Thrown by a function that the engine could only answer wrongly. */
export class AbsentError extends Error {
  /** What to write instead. */
  readonly help: string;

  constructor(what: string, help: string) {
    super(`${what} is not available in a connector: ${help}`);
    this.name = "AbsentError";
    this.help = help;
  }
}

/** What to write instead of what has failed so, where that is known. */
export function helpFor(error: unknown): string | undefined {
  if (error instanceof AbsentError) return error.help;
  return error instanceof ReferenceError ? NAMES.find(([name]) => name.test(error.message))?.[1] : undefined;
}

/** Makes the functions throw that depend on locales and time zones: the engine would answer in UTC and for no locale. */
export function refuseLocales(): void {
  for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) refuse("Date", Date.prototype, name, OF_DATES);
  refuse("Number", Number.prototype, "toLocaleString", OF_NUMBERS);
  refuse("BigInt", BigInt.prototype, "toLocaleString", OF_NUMBERS);
  refuse("Array", Array.prototype, "toLocaleString", OF_LISTS);
  refuse("TypedArray", Object.getPrototypeOf(Uint8Array.prototype) as object, "toLocaleString", OF_LISTS);
  refuse("String", String.prototype, "localeCompare", OF_ORDER);
  refuseWithLocale("toLocaleUpperCase", "toUpperCase");
  refuseWithLocale("toLocaleLowerCase", "toLowerCase");
}

function refuse(owner: string, prototype: object, name: string, help: string): void {
  const value = (): never => {
    throw new AbsentError(`${owner}.prototype.${name}`, help);
  };
  Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
}

/** Without a locale it is the function of every language. */
function refuseWithLocale(name: string, plain: "toUpperCase" | "toLowerCase"): void {
  const value = function (this: string, locales?: unknown): string {
    if (locales !== undefined) {
      throw new AbsentError(`String.prototype.${name} with a locale`, `${plain}() is the same for all languages; there are no locales in a connector`);
    }
    return String.prototype[plain].call(this);
  };
  Object.defineProperty(String.prototype, name, { value, configurable: true, writable: true });
}
