// One WebAssembly memory for all hashes of a thread. hash-wasm creates one of 19 MiB for each, which costs as much as the
// hash: the kernel clears its pages one fault at a time, and V8 frees it with a full garbage collection only.

declare global {
  /** The part of https://webassembly.github.io/spec/js-api/ that is used here. TypeScript has it in its DOM types only. */
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

/** The exports that only the argon2 module of the library has. */
const argon2Exports = ['memory', 'Hash_GetBuffer', 'Hash_SetMemorySize'];

/** The memory of a thread that hashes one password at a time: two hashes at once would overwrite each other. */
export class Argon2Memory {
  #instance: Promise<WebAssembly.Instance> | undefined;

  /** Makes the library reuse one instance instead of creating one for each hash. */
  constructor() {
    const instantiate = WebAssembly.instantiate;
    WebAssembly.instantiate = (module, imports) => {
      if (!isArgon2(module)) return instantiate(module, imports);
      this.#instance ??= instantiate(module, imports);
      return this.#instance;
    };
  }

  /** Clears the memory after a hash, because the next one expects it to be all zeros like a new one. */
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
