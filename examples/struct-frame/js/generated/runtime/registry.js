/** Messages of several packages, by id. */
import { decodePayload } from "./message.js";
/** Messages of any number of packages by their effective id. When an id occurs twice, the package given first wins. */
export class Registry {
    types = new Map();
    constructor(...packages) {
        for (const type of packages.flat()) {
            if (type.info !== null && !this.types.has(type.info.id)) {
                this.types.set(type.info.id, type);
            }
        }
    }
    /** Sizes and seeds of a message. */
    messageInfo(id) {
        return this.types.get(id)?.info ?? undefined;
    }
    /** The class of a message. */
    messageType(id) {
        return this.types.get(id);
    }
    /** The message in a frame; `undefined` when its id is unknown. Throws `DecodeError` when it is damaged. */
    decode(framing, frame) {
        const type = this.types.get(frame.id);
        return type === undefined ? undefined : decodePayload(type, frame.payload, framing.layout);
    }
}
