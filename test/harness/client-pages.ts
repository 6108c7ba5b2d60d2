// Pages in a browser that use the client: nothing but a script, and what the test runs in them.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import type { Pages } from './browser.ts';

const root = join(import.meta.dirname, '../..');

/** The script of a module, with all that it imports. */
async function bundled(input: string): Promise<string> {
  const bundle = await rolldown({
    input: join(root, input),
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  });
  const { output: [{ code }] } = await bundle.generate({ format: 'esm', codeSplitting: false });
  return code;
}

/** Serves pages whose script has what the modules export as `modules[0]`, `modules[1]` and so on, on a free port. */
export async function serveClientPages(...inputs: string[]): Promise<Pages> {
  const scripts = await Promise.all(inputs.map(bundled));
  const imports = inputs.map((_, index) => `import(new URL('/${index}.js', location.origin))`).join(', ');
  const page = `<!doctype html><title>client</title><div id="root"></div>
    <script>window.modules = Promise.all([${imports}]);</script>`;
  const server = createServer(({ url = '/' }, response) => {
    const script = scripts[Number(/^\/(\d+)\.js$/.exec(url)?.[1] ?? -1)];
    response.setHeader('Content-Type', script === undefined ? 'text/html' : 'text/javascript').end(
      script ?? page,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    origin: `http://localhost:${port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
