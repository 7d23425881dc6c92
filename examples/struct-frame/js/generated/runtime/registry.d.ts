/** Messages of several packages, by id. */
import type { Framing, MessageInfo } from "./framing.js";
import { type Message, type MessageType } from "./message.js";
import type { Frame, Lookup } from "./reader.js";
/** Messages of any number of packages by their effective id. When an id occurs twice, the package given first wins. */
export declare class Registry implements Lookup {
    private readonly types;
    constructor(...packages: readonly (readonly MessageType[])[]);
    /** Sizes and seeds of a message. */
    messageInfo(id: number): MessageInfo | undefined;
    /** The class of a message. */
    messageType(id: number): MessageType | undefined;
    /** The message in a frame; `undefined` when its id is unknown. Throws `DecodeError` when it is damaged. */
    decode(framing: Framing, frame: Frame): Message | undefined;
}
