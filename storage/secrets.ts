// The secrets that depend on the master key: passwords of database roles, and sealed values.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** The purposes of sealed values. Each has a key of its own. */
export type SealPurpose =
  | 'signing-key'
  | 'refresh-token'
  | 'totp'
  | 'mail'
  | 'oauth-client-secret'
  | 'hook-environment'
  | 'list-cursor';

/** The owner that the variable of an app's hooks is sealed for. */
export function variableOwner(schema: string, name: string): string {
  return `${schema}/${name}`;
}

/** The owner that the secret of an OAuth client is sealed for: one workspace, one provider. */
export function clientSecretOwner(database: string, provider: string): string {
  return `${database}/${provider}`;
}

/** The error of a sealed value that this master key does not open, for this purpose and owner. */
export class UnsealError extends Error {
  constructor(purpose: SealPurpose) {
    super(`a sealed ${purpose} cannot be opened: wrong master key, wrong owner, or changed`);
    this.name = 'UnsealError';
  }
}

const masterKeyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
/** First byte of a sealed value, so that the format can change. */
const formatVersion = 1;

/** Keys derived from the master key (HKDF-SHA-256, RFC 5869), one for each purpose. */
export class Secrets {
  readonly #masterKey: Buffer;
  readonly #keys = new Map<string, Buffer>();

  /** `masterKey` has 32 bytes. Throws `RangeError` otherwise. */
  constructor(masterKey: Buffer) {
    if (masterKey.length !== masterKeyBytes) {
      throw new RangeError(`the master key must have ${masterKeyBytes} bytes`);
    }
    this.#masterKey = masterKey;
  }

  /** The password of a tenant's database role: 256 bits that are stored nowhere. */
  derivePassword(role: string): string {
    return createHmac('sha256', this.#key('role-password')).update(role).digest('base64url');
  }

  /** A hash of a secret that is too short to be hashed without a key. `owner` keeps equal secrets apart. */
  keyedHash(owner: string, secret: string): Buffer {
    return createHmac('sha256', this.#key('short-secret')).update(`${owner}\0${secret}`).digest();
  }

  /** The signature of a link to a file. `text` names the file and the time. */
  linkSignature(text: string): Buffer {
    return createHmac('sha256', this.#key('file-link')).update(text).digest();
  }

  /** The signature in the cookie of a client that has signed in. `text` names the client and whom it signed in as. */
  clientSignature(text: string): Buffer {
    return createHmac('sha256', this.#key('known-client')).update(text).digest();
  }

  /** The seal of a row of an audit log, which covers the seal before it. `chain` keeps the logs of an installation apart. */
  auditSeal(chain: string, previous: Buffer, text: string): Buffer {
    const seal = createHmac('sha256', this.#key('audit-seal')).update(`${chain}\0${previous.length}\0`);
    return seal.update(previous).update(text).digest();
  }

  /** A value that only this master key makes. The control database keeps it, so that a wrong key is noticed at once. */
  keyCheck(): Buffer {
    return createHmac('sha256', this.#key('key-check')).update('bulkhead').digest();
  }

  /** True when the stored check value came from this master key. */
  matches(keyCheck: Buffer): boolean {
    const own = this.keyCheck();
    return own.length === keyCheck.length && timingSafeEqual(own, keyCheck);
  }

  /**
   * Encrypts with AES-256-GCM. `owner` (an id) must be repeated to open the value, so that values cannot be swapped.
   */
  seal(purpose: SealPurpose, owner: string, plaintext: Buffer): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key(`seal:${purpose}`), nonce);
    cipher.setAAD(associatedData(purpose, owner));
    const encrypted = Buffer.concat([cipher.update(plaintext), cipher.final()]);
    return Buffer.concat([Buffer.of(formatVersion), nonce, cipher.getAuthTag(), encrypted]);
  }

  /** Opens a value that `seal` made. Throws `UnsealError`. */
  open(purpose: SealPurpose, owner: string, sealed: Buffer): Buffer {
    const start = 1 + nonceBytes + tagBytes;
    if (sealed.length < start || sealed[0] !== formatVersion) throw new UnsealError(purpose);
    const nonce = sealed.subarray(1, 1 + nonceBytes);
    const key = this.#key(`seal:${purpose}`);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(associatedData(purpose, owner));
    decipher.setAuthTag(sealed.subarray(1 + nonceBytes, start));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(start)), decipher.final()]);
    } catch {
      throw new UnsealError(purpose);
    }
  }

  /** The same for a value that anybody may have made: undefined when it cannot be opened. */
  tryOpen(purpose: SealPurpose, owner: string, sealed: Buffer): Buffer | undefined {
    try {
      return this.open(purpose, owner, sealed);
    } catch (error) {
      if (error instanceof UnsealError) return undefined;
      throw error;
    }
  }

  #key(purpose: string): Buffer {
    const known = this.#keys.get(purpose);
    if (known !== undefined) return known;
    const key = Buffer.from(hkdfSync('sha256', this.#masterKey, '', `bulkhead/${purpose}`, 32));
    this.#keys.set(purpose, key);
    return key;
  }
}

/** Unambiguous, since no purpose holds a NUL. */
function associatedData(purpose: SealPurpose, owner: string): Buffer {
  return Buffer.from(`${purpose}\0${owner}`);
}
