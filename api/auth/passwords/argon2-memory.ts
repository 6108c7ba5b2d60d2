// One memory for all hashes of a thread. hash-wasm makes a new one of 19 MiB for each, which is as much work as the hash:
// the kernel clears its pages one fault at a time, and V8 has to collect all garbage to let go of it.

declare global {
  /** What is used of it here (https://webassembly.github.io/spec/js-api/); TypeScript knows it of browsers only. */
  namespace WebAssembly {
    class Module {
      private constructor();
      static exports(module: Module): { name: string }[];
    }
    class Memory {
      readonly buffer: ArrayBuffer;
    }
    interface Instance {
      readonly exports: Readonly<Record<string, unknown>>;
    }
    let instantiate: (module: Module, imports?: object) => Promise<Instance>;
  }
}

/** Names that the library's argon2 exports, and no other module of its that hashes for it. */
const argon2Exports = ['memory', 'Hash_GetBuffer', 'Hash_SetMemorySize'];

/** For a thread that hashes one password at a time, and does nothing else: two hashes at once would spoil each other. */
export class Argon2Memory {
  #instance: Promise<WebAssembly.Instance> | undefined;

  /** From now on the library gets the same instance whenever it asks for a new one. */
  constructor() {
    const instantiate = WebAssembly.instantiate;
    WebAssembly.instantiate = (module, imports) => {
      if (!isArgon2(module)) return instantiate(module, imports);
      this.#instance ??= instantiate(module, imports);
      return this.#instance;
    };
  }

  /** To be called after each hash: the next one takes its memory to be all zeros, as a new one is. */
  async wipe(): Promise<void> {
    const exported = (await this.#instance)?.exports;
    if (exported === undefined) return;
    const { memory, Hash_GetBuffer: begin } = exported;
    if (!(memory instanceof WebAssembly.Memory) || typeof begin !== 'function') {
      throw new Error("hash-wasm's argon2 does not export what it did");
    }
    new Uint8Array(memory.buffer, Number(begin())).fill(0);
  }
}

function isArgon2(module: WebAssembly.Module): boolean {
  const names = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  return argon2Exports.every((name) => names.has(name));
}
