/** UTF-8 and base64, which the engine of a connector does not bring. */

/** Bytes of a piece: an argument list must not become too long. */
const PIECE = 32_768;

/** The text of UTF-8 bytes. What is not UTF-8 becomes U+FFFD, as WHATWG's decoder does it; a byte order mark in front is left out. */
export function decode(bytes: Uint8Array): string {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const pieces: string[] = [];
  let units: number[] = [];
  for (let at = start; at < bytes.length; ) {
    const [point, next] = decodePoint(bytes, at);
    at = next;
    if (point > 0xffff) {
      units.push(0xd7c0 + (point >> 10), 0xdc00 + (point & 0x3ff));
    } else {
      units.push(point);
    }
    if (units.length >= PIECE) {
      pieces.push(String.fromCharCode.apply(null, units));
      units = [];
    }
  }
  pieces.push(String.fromCharCode.apply(null, units));
  return pieces.join("");
}

/** The character at `at`, and where the next one begins. */
function decodePoint(bytes: Uint8Array, at: number): [number, number] {
  const first = bytes[at] as number;
  if (first < 0x80) return [first, at + 1];
  const more = first >= 0xf0 && first <= 0xf4 ? 3 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xc2 && first < 0xe0 ? 1 : 0;
  if (more === 0) return [0xfffd, at + 1];
  // What may follow the first byte: no overlong forms, no surrogates, nothing above U+10FFFF (RFC 3629, section 4).
  let [low, high] = [0x80, 0xbf];
  if (first === 0xe0) low = 0xa0;
  if (first === 0xed) high = 0x9f;
  if (first === 0xf0) low = 0x90;
  if (first === 0xf4) high = 0x8f;
  let point = first & (0x3f >> more);
  for (let n = 1; n <= more; n++) {
    const byte = bytes[at + n];
    if (byte === undefined || byte < low || byte > high) return [0xfffd, at + n];
    point = (point << 6) | (byte & 0x3f);
    [low, high] = [0x80, 0xbf];
  }
  return [point, at + more + 1];
}

/** The UTF-8 bytes of a text. A surrogate without its other half becomes U+FFFD. */
export function encode(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3);
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    let point = text.codePointAt(at) as number;
    if (point > 0xffff) at++;
    if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
    if (point < 0x80) {
      bytes[end++] = point;
    } else if (point < 0x800) {
      bytes[end++] = 0xc0 | (point >> 6);
      bytes[end++] = 0x80 | (point & 0x3f);
    } else if (point < 0x1_0000) {
      bytes[end++] = 0xe0 | (point >> 12);
      bytes[end++] = 0x80 | ((point >> 6) & 0x3f);
      bytes[end++] = 0x80 | (point & 0x3f);
    } else {
      bytes[end++] = 0xf0 | (point >> 18);
      bytes[end++] = 0x80 | ((point >> 12) & 0x3f);
      bytes[end++] = 0x80 | ((point >> 6) & 0x3f);
      bytes[end++] = 0x80 | (point & 0x3f);
    }
  }
  return bytes.slice(0, end);
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Base64 with padding (RFC 4648, section 4). */
export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 3) {
    const [a, b, c] = [bytes[at] as number, bytes[at + 1], bytes[at + 2]];
    const bits = (a << 16) | ((b ?? 0) << 8) | (c ?? 0);
    const digit = (shift: number): string => ALPHABET.charAt((bits >> shift) & 0x3f);
    pieces.push(digit(18), digit(12), b === undefined ? "=" : digit(6), c === undefined ? "=" : digit(0));
  }
  return pieces.join("");
}

/** The bytes of base64 or base64url, with padding or without; undefined where it is neither. */
export function fromBase64(text: string): Uint8Array | undefined {
  const digits = text.replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/");
  if (digits.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let [bits, count, end] = [0, 0, 0];
  for (const digit of digits) {
    const value = ALPHABET.indexOf(digit);
    if (value < 0) return undefined;
    bits = ((bits << 6) | value) & 0xff_ffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes[end++] = (bits >> count) & 0xff;
    }
  }
  return bytes;
}
