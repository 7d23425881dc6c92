/** Messages of several packages, by id. */

import type { Framing, MessageInfo } from "./framing.js";
import { decodePayload, type Message, type MessageType } from "./message.js";
import type { Frame, Lookup } from "./reader.js";

/** Messages of any number of packages by their effective id. When an id occurs twice, the package given first wins. */
export class Registry implements Lookup {
  private readonly types = new Map<number, MessageType>();

  constructor(...packages: readonly (readonly MessageType[])[]) {
    for (const type of packages.flat()) {
      if (type.info !== null && !this.types.has(type.info.id)) {
        this.types.set(type.info.id, type);
      }
    }
  }

  /** Sizes and seeds of a message. */
  messageInfo(id: number): MessageInfo | undefined {
    return this.types.get(id)?.info ?? undefined;
  }

  /** The class of a message. */
  messageType(id: number): MessageType | undefined {
    return this.types.get(id);
  }

  /** The message in a frame; `undefined` when its id is unknown. Throws `DecodeError` when it is damaged. */
  decode(framing: Framing, frame: Frame): Message | undefined {
    const type = this.types.get(frame.id);
    return type === undefined ? undefined : decodePayload(type, frame.payload, framing.layout);
  }
}
