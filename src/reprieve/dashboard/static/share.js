// A what-if as an address: the manifest, packed into the part after #, which no browser sends anywhere.
import { thousands } from "./lib.js";

export const LONGEST = 12000; // characters: what chats and mails still pass on as one link

const toText = (bytes) => btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const toBytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

export async function pack(manifest) {
  const squeezed = new Blob([manifest]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const packed = toText(new Uint8Array(await new Response(squeezed).arrayBuffer()));
  if (packed.length > LONGEST) throw new Error(`this is too long for a link: ${thousands(packed.length)} characters when packed, and links hold ${thousands(LONGEST)}`);
  return packed;
}

// What a stranger's link holds may be anything: it is unpacked up to a limit, and only ever shown as text.
const MOST_TEXT = 200000;

export async function unpack(packed) {
  if (packed.length > LONGEST) throw new Error("this link is longer than any that this page makes");
  try {
    const reader = new Blob([toBytes(packed)]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const parts = [];
    let size = 0;
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      size += read.value.length;
      if (size > MOST_TEXT) { await reader.cancel(); throw new Error("too long"); }
      parts.push(read.value);
    }
    return new TextDecoder().decode(await new Blob(parts).arrayBuffer());
  } catch {
    throw new Error("this link is damaged: a part of it is missing, or it was not made by this page");
  }
}
