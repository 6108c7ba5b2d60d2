// Sends the collections of a project, `bulkhead/schema/<collection>.json`, to its app.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, systemErrorCode } from '../errors.ts';
import type { RemoteClient } from '../remote/client.ts';
import { CommandFailed } from '../remote/failure.ts';
import { isMembers, memberOf, textMember } from '../remote/members.ts';

/** The folder of the collections in a project. */
const schemaFolder = join('bulkhead', 'schema');

/** A collection as its file has it. */
export interface SchemaFile {
  filename: string;
  id: string;
  schema: Readonly<Record<string, unknown>>;
  rules: Readonly<Record<string, unknown>>;
}

/** Reads all files; none where there is no folder. Throws `CommandFailed`. */
export function readSchemaFiles(): SchemaFile[] {
  try {
    const names = readdirSync(schemaFolder).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
    return names.sort().map(readSchemaFile);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function readSchemaFile(filename: string): SchemaFile {
  const path = join(schemaFolder, filename);
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isMembers(value)) throw new Error('it must be a JSON object');
    const { rules = {}, ...schema } = value;
    const id = filename.replace(/\.json$/, '');
    if ((schema['id'] ?? id) !== id) throw new Error(`its id must be "${id}", as the file is called`);
    if (!isMembers(rules)) throw new Error('rules must be an object');
    return { filename, id, schema: { ...schema, id }, rules };
  } catch (error) {
    throw new CommandFailed('refused', `${path}: ${messageOf(error)}`);
  }
}

/** Sends the files to the app with this path: new collections in an order in which their relations find each other. */
export async function pushSchema(
  client: RemoteClient,
  { app, files }: { app: string; files: readonly SchemaFile[] },
): Promise<void> {
  let waiting = [...files];
  while (waiting.length > 0) {
    const failures: unknown[] = [];
    const failed: SchemaFile[] = [];
    for (const file of waiting) {
      await pushOne(client, app, file).catch((error: unknown) => {
        failures.push(error);
        failed.push(file);
      });
    }
    if (failed.length === waiting.length) throw failures[0];
    waiting = failed;
  }
}

async function pushOne(
  client: RemoteClient,
  app: string,
  { filename, id, schema, rules }: SchemaFile,
): Promise<void> {
  try {
    const at = `${app}/collections/${encodeURIComponent(id)}`;
    const { status } = await client.request(at, { accept: [404] });
    if (status === 404) await client.request(`${app}/collections`, { method: 'POST', body: { schema } });
    else await client.request(at, { method: 'PATCH', body: { schema } });
    await pushRules(client, at, rules);
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    // The server's advice is for requests.
    const message = error.message.replace(
      /; to drop it and its data, add \?confirm=drop/,
      ', and this drops no data: put it back, or drop it with PATCH and ?confirm=drop',
    );
    throw new CommandFailed('refused', `${join(schemaFolder, filename)}: ${message}`, error.code);
  }
}

/** Only rules that are others than those in effect. */
async function pushRules(
  client: RemoteClient,
  at: string,
  rules: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { body } = await client.request(`${at}/access_rules`, { query: { per_page: '200' } });
  const items = memberOf(body, 'items');
  const known = new Map(
    (Array.isArray(items) ? items : []).map((item) => [textMember(item, 'action'), item]),
  );
  for (const [action, rule] of Object.entries(rules)) {
    const there = known.get(action);
    const isSame = (name: string) => (textMember(there, name) ?? '') === (textMember(rule, name) ?? '');
    if (there !== undefined && isSame('template') && isSame('filter')) continue;
    await client.request(`${at}/access_rules/${encodeURIComponent(action)}`, { method: 'PUT', body: rule });
  }
}
