/** What can go wrong. Every error has a stable `code`. */
/** Base of all errors of this runtime. */
export class StructFrameError extends Error {
    code;
    constructor(code, message) {
        super(message);
        this.name = new.target.name;
        this.code = code;
    }
}
/** A value does not fit its field, or a framing cannot carry a message. */
export class EncodeError extends StructFrameError {
}
/** A payload ends within its base, or contradicts itself. */
export class DecodeError extends StructFrameError {
}
