// Loads the database driver, postgres.js, with the patches that README.md lists.
import { registerHooks } from 'node:module';
import type driver from 'postgres';
import { patched } from './patches.ts';

/** Loads the driver. A file whose text the patches do not fit is loaded as it is, and named. */
async function load(): Promise<{ postgres: typeof driver; unpatchedFiles: readonly string[] }> {
  const unpatchedFiles: string[] = [];
  const hooks = registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const file = /\/postgres\/src\/(\w+\.js)$/.exec(url)?.[1];
      if (file === undefined || !loaded.source) return loaded;
      const source = typeof loaded.source === 'string'
        ? loaded.source
        : new TextDecoder().decode(loaded.source);
      const text = patched(file, source);
      if (text === undefined) unpatchedFiles.push(file);
      return { ...loaded, source: text ?? source };
    },
  });
  try {
    return { postgres: (await import('postgres')).default, unpatchedFiles };
  } finally {
    hooks.deregister();
  }
}

const loaded = await load();

/** Opens a client. Every use of the driver goes through this one, since nothing else may load it before. */
export const postgres = loaded.postgres;

/** The files of the driver that the patches do not fit; README.md says what that costs. */
export const unpatchedFiles = loaded.unpatchedFiles;
