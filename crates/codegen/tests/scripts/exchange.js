// Reads payloads and writes them again: see mod.rs beside this file.

import { readFileSync } from "node:fs";
import { REGISTRY } from "./torture/index.js";
import { StructFrameError } from "./torture/runtime/index.js";

for (const line of readFileSync(0, "utf8").split("\n").slice(0, -1)) {
  const [id, layout, digits] = line.split(" ");
  try {
    const payload = Uint8Array.from(Buffer.from(digits, "hex"));
    const message = REGISTRY.messageType(Number(id)).decode(payload, layout);
    console.log(Buffer.from(message.encode(layout)).toString("hex"));
  } catch (fault) {
    if (!(fault instanceof StructFrameError)) throw fault;
    console.log(`error ${fault.code}`);
  }
}
