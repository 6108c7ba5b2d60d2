// Hashes of passwords as they are stored: the PHC string format of argon2
// (https://github.com/P-H-C/phc-string-format/blob/master/phc-sf-spec.md), version 1.3 of it.

/** A hash, and all that it was made with but the password. */
export interface PhcString {
  algorithm: 'argon2d' | 'argon2i' | 'argon2id';
  memoryKib: number;
  passes: number;
  lanes: number;
  salt: Uint8Array;
  tag: Uint8Array;
}

const pattern =
  /^\$(argon2d|argon2i|argon2id)\$v=19\$m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,8})\$([\w+/]{11,86})\$([\w+/]{11,86})$/;
const algorithms = ['argon2d', 'argon2i', 'argon2id'] as const;

/** Throws `TypeError` for what is none. */
export function parsePhc(text: string): PhcString {
  const [, name, memory, passes, lanes, salt, tag] = pattern.exec(text) ?? [];
  const algorithm = algorithms.find((known) => known === name);
  if (algorithm === undefined || salt === undefined || tag === undefined) {
    throw new TypeError('the hash of a password is not a PHC string of argon2');
  }
  return {
    algorithm,
    memoryKib: Number(memory),
    passes: Number(passes),
    lanes: Number(lanes),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

/** The other way round. */
export function renderPhc({ algorithm, memoryKib, passes, lanes, salt, tag }: PhcString): string {
  return `$${algorithm}$v=19$m=${memoryKib},t=${passes},p=${lanes}$${base64Of(salt)}$${base64Of(tag)}`;
}

/** Without padding, as the format wants it. */
function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}
