/** What can go wrong. Every error has a stable `code`. */
/** Base of all errors of this runtime. */
export declare class StructFrameError extends Error {
    readonly code: string;
    constructor(code: string, message: string);
}
/** A value does not fit its field, or a framing cannot carry a message. */
export declare class EncodeError extends StructFrameError {
}
/** A payload ends within its base, or contradicts itself. */
export declare class DecodeError extends StructFrameError {
}
