/**
 * Text as UTF-8. Bytes that are no UTF-8 become lone surrogates (U+DC80 to U+DCFF) and go out again as they came, so that
 * forwarding a message changes nothing.
 */
/** Reads text. */
export declare function decodeText(bytes: Uint8Array, begin: number, end: number): string;
/** Writes text of at most `limit` bytes at `begin` and returns where it ends. What lies behind may be overwritten. */
export declare function encodeText(bytes: Uint8Array, begin: number, text: string, limit: number, field: string): number;
