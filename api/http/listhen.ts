// Loads listhen without the library that it makes certificates with: nobody asks it for HTTPS here.
import { registerHooks } from 'node:module';

/** 865 kB of code, which would take 1.5 MiB of each API process. */
const unused = 'node-forge';

/** listhen's function that opens a port. */
export async function loadListhen(): Promise<typeof import('listhen')['listen']> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === unused
        ? { url: 'data:text/javascript,export default {};', shortCircuit: true }
        : next(specifier, context),
  });
  try {
    return (await import('listhen')).listen;
  } finally {
    hooks.deregister();
  }
}
