// The files with which `bulkhead init` begins a project.
import { readFileSync } from 'node:fs';

/** A file to write, by its path in the project. */
export interface ProjectFile {
  path: string;
  text: string;
}

/** The declarations of what hooks can use, in the order of the server. */
const declarations = ['hooks', 'numbers', 'lists', 'modifiers', 'records', 'users'];

/** The files of a project whose app is in a workspace. */
export function projectFiles({ workspace, app }: { workspace: string; app: string }): ProjectFile[] {
  return [
    { path: 'bulkhead.config.ts', text: configFile },
    { path: 'bulkhead/project.json', text: json({ workspace, app }) },
    { path: 'bulkhead/schema/posts.json', text: posts },
    { path: 'bulkhead/hooks/posts.ts', text: hooks },
    { path: 'bulkhead/hooks/tsconfig.json', text: json({ compilerOptions }) },
    { path: 'bulkhead/hooks/hooks.d.ts', text: declareHooks() },
    { path: '.gitignore', text: 'node_modules/\ndata/\n' },
  ];
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

const configFile =
  `// Settings of the server of this project, which the environment (BULKHEAD_HTTP__PORT) and flags (--http-port) override.
// \`bulkhead config\` prints all of them with their meaning.
export default {
  data_dir: './data',
  http: { host: '127.0.0.1', port: 8080 },
};
`;

const posts = `{
  "id": "posts",
  "kind": "base",
  "fields": [
    { "name": "title", "kind": "text", "required": true, "max": 100 },
    { "name": "body", "kind": "text" }
  ],
  "rules": {
    "list": { "template": "any" },
    "get": { "template": "any" },
    "create": { "template": "auth" }
  }
}
`;

const hooks = `// Runs in the server. \`bulkhead dev\` sends this file when it is saved.

onRecordBeforeCreate('posts', (e) => {
  if (e.record.fields.title.trim() === '') throw new FieldError('title', 'a post needs a title');
});

routerAdd('GET', '/hello/:name', (e) => ({ hello: e.params.name }));
`;

const compilerOptions = {
  strict: true,
  noEmit: true,
  target: 'esnext',
  lib: ['esnext', 'webworker'],
  types: [],
  moduleDetection: 'force',
  allowImportingTsExtensions: true,
};

/** What the server declares for an app that has the first collection. A server sends the whole of it for its own. */
function declareHooks(): string {
  const texts = declarations.map((name) =>
    readFileSync(new URL(`../../hook-runner/${name}.d.ts`, import.meta.url), 'utf8')
  );
  return `${texts.join('\n')}
/** The collections of this app. */
interface HookCollections {
  posts: {
    title: string;
    body: string | null;
  };
}
`;
}
