// Turns TypeScript into JavaScript in which every position is the author's.
import type { SourceMapPayload } from 'node:module';

/** The parts of `node:module` that the runner uses. */
export type ModuleApi = Pick<
  typeof import('node:module'),
  'registerHooks' | 'SourceMap' | 'stripTypeScriptTypes'
>;

const mapComment = '//# sourceMappingURL=data:application/json;base64,';
const positionPattern = /stripTypeScriptTypes\.ts:(\d+):(\d+)/;
/** An import that may be of types alone, which blanking would leave: nothing exports a type. */
const valueImportPattern = /\bimport\s*(?!type\b)[\w$*{]/;

/** A text that is no TypeScript; `line` and `column` count from 1. */
export class TypeScriptError extends Error {
  readonly line: number | null;
  readonly column: number | null;

  constructor(message: string, line: number | null, column: number | null) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

/** What came of a TypeScript file; with a source map where positions are not the author's. */
interface JavaScript {
  readonly code: string;
  readonly map: SourceMapPayload | null;
}

/**
 * The JavaScript of a TypeScript file. Types are blanked out, so that positions stay. What needs more than that (enums,
 * namespaces, parameter properties, imports that turn out to be of types) is rewritten, with a source map that Deno
 * applies to stacks.
 *
 * @throws NotTypeScript
 */
export function stripTypes(source: string, url: string, api: ModuleApi): JavaScript {
  try {
    if (!valueImportPattern.test(source)) return { code: api.stripTypeScriptTypes(source), map: null };
  } catch (error) {
    // It says only that there is something it cannot blank out; the other mode knows what and where.
    if (!(error instanceof SyntaxError)) throw error;
  }
  try {
    return nameSource(transformTypes(source, api), url);
  } catch (error) {
    throw toTypeScriptError(error);
  }
}

/** Deno has a second mode, which Node and so its types have not. */
function transformTypes(source: string, api: ModuleApi): string {
  const options = { mode: 'transform', sourceMap: true };
  return String(Reflect.apply(api.stripTypeScriptTypes, api, [source, options]));
}

function toTypeScriptError(error: unknown): TypeScriptError {
  const message = error instanceof Error ? error.message : String(error);
  const [, line, column] = positionPattern.exec(message) ?? [];
  const [first = ''] = message.split('\n');
  return new TypeScriptError(first, toNumber(line), toNumber(column));
}

function toNumber(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

/** Names the real file in the inline source map, which else names the same one for all. */
function nameSource(code: string, url: string): JavaScript {
  const at = code.lastIndexOf(mapComment);
  if (at === -1) return { code, map: null };
  const bytes = Uint8Array.fromBase64(code.slice(at + mapComment.length).trim());
  const map: SourceMapPayload = JSON.parse(new TextDecoder().decode(bytes));
  const text = JSON.stringify({ ...map, sources: [url], sourcesContent: undefined });
  const comment = `${mapComment}${new TextEncoder().encode(text).toBase64()}`;
  return { code: `${code.slice(0, at)}${comment}`, map };
}
