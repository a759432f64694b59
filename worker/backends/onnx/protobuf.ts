/**
 * Protocol buffers at the level of the wire: a message is a list of fields, and fields that nobody looks into keep
 * their bytes. So a model file of gigabytes can be edited without a copy of its weights in between.
 * https://protobuf.dev/programming-guides/encoding/
 */
export interface Field {
  number: number;
  /** The value of a varint field, as far as 53 bits go; 0 for other fields. */
  integer: number;
  /** The content of a length-delimited field; empty for other fields. */
  content: Uint8Array;
  /** The whole field with its tag, as it stands in the message. */
  whole: Uint8Array;
}

const empty = new Uint8Array(0);

/**
 * The fields of a message, in order.
 *
 * @throws Error when the bytes end within a field or have a wire type that is not in use
 */
export function fieldsOf(message: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) throw new Error('A protocol buffer ends within a number.');
      value |= BigInt(byte & 0x7f) << shift;
      // Ten groups of seven bits hold 64.
      if (shift > 63n) throw new Error('A protocol buffer has a number of more than 64 bits.');
      if (byte < 0x80) return Number(BigInt.asIntN(64, value));
    }
  };
  while (at < message.length) {
    const start = at;
    const tag = varint();
    const number = Math.floor(tag / 8);
    let integer = 0;
    let content: Uint8Array = empty;
    switch (tag % 8) {
      case 0:
        integer = varint();
        break;
      case 1:
        at += 8;
        break;
      case 2: {
        const length = varint();
        // It would lead back to bytes that were read, again and again.
        if (length < 0) throw new Error('A protocol buffer has a field of a negative length.');
        content = message.subarray(at, at + length);
        at += length;
        break;
      }
      case 5:
        at += 4;
        break;
      default:
        throw new Error(`A protocol buffer has the unknown wire type ${tag % 8}.`);
    }
    if (at > message.length) throw new Error('A protocol buffer ends within a field.');
    fields.push({ number, integer, content, whole: message.subarray(start, at) });
  }
  return fields;
}

/** A varint field. */
export function integerField(number: number, value: number): Uint8Array {
  return Uint8Array.from([...varintBytes(number * 8), ...varintBytes(value)]);
}

/** A length-delimited field: text, or the parts of its content. */
export function contentField(number: number, content: string | readonly Uint8Array[]): Uint8Array {
  const parts = typeof content === 'string' ? [new TextEncoder().encode(content)] : content;
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return join([Uint8Array.from([...varintBytes(number * 8 + 2), ...varintBytes(length)]), ...parts]);
}

/** The tag and length that stand before `length` bytes of content. */
export function contentHead(number: number, length: number): Uint8Array {
  return Uint8Array.from([...varintBytes(number * 8 + 2), ...varintBytes(length)]);
}

export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function varintBytes(value: number): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) + 128);
  bytes.push(Number(rest));
  return bytes;
}
