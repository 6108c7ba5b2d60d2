// Text frames of a WebSocket server (RFC 6455 section 5.2). They are unmasked, so all clients can share their bytes.

const finalText = 0x81;
const length16 = 126;
const length64 = 127;

/** One unfragmented text frame of parts that together are UTF-8. The parts are not copied. */
export function textFrame(...parts: readonly Buffer[]): readonly Buffer[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return [header(length), ...parts];
}

function header(length: number): Buffer {
  if (length < length16) return Buffer.from([finalText, length]);
  if (length < 65_536) {
    const bytes = Buffer.from([finalText, length16, 0, 0]);
    bytes.writeUInt16BE(length, 2);
    return bytes;
  }
  const bytes = Buffer.alloc(10);
  bytes[0] = finalText;
  bytes[1] = length64;
  bytes.writeBigUInt64BE(BigInt(length), 2);
  return bytes;
}
