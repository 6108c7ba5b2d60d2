// Strips the types of TypeScript files, and keeps or maps the positions of the author's text.
import type { SourceMapPayload } from 'node:module';

/** The parts of `node:module` that the runner uses. */
export type ModuleApi = Pick<
  typeof import('node:module'),
  'registerHooks' | 'SourceMap' | 'stripTypeScriptTypes'
>;

const mapComment = '//# sourceMappingURL=data:application/json;base64,';
const positionPattern = /stripTypeScriptTypes\.ts:(\d+):(\d+)/;
/** An import that may be of types alone. Blanking would leave it, and it would fail, as nothing exports a type. */
const valueImportPattern = /\bimport\s*(?!type\b)[\w$*{]/;

/** A text that does not parse as TypeScript. `line` and `column` count from 1. */
export class TypeScriptError extends Error {
  readonly line: number | null;
  readonly column: number | null;

  constructor(message: string, line: number | null, column: number | null) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

/** The JavaScript of a TypeScript file, with a source map when positions have changed. */
interface JavaScript {
  readonly code: string;
  readonly map: SourceMapPayload | null;
}

/**
 * Converts a TypeScript file to JavaScript. Types are blanked out, so that positions stay. Files that need more (enums,
 * namespaces, parameter properties, imports that may be of types) are rewritten with a source map, which Deno applies to
 * stacks.
 *
 * @throws TypeScriptError
 */
export function stripTypes(source: string, url: string, api: ModuleApi): JavaScript {
  try {
    if (!valueImportPattern.test(source)) return { code: api.stripTypeScriptTypes(source), map: null };
  } catch (error) {
    // The error says only that something cannot be blanked out. The other mode reports what and where.
    if (!(error instanceof SyntaxError)) throw error;
  }
  try {
    return nameSource(transformTypes(source, api), url);
  } catch (error) {
    throw toTypeScriptError(error);
  }
}

/** Uses the mode `transform`, which Deno has and the types of Node do not declare. */
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

/** Sets the file's URL in the inline source map, where Deno writes the same name for all files. */
function nameSource(code: string, url: string): JavaScript {
  const at = code.lastIndexOf(mapComment);
  if (at === -1) return { code, map: null };
  const bytes = Uint8Array.fromBase64(code.slice(at + mapComment.length).trim());
  const map: SourceMapPayload = JSON.parse(new TextDecoder().decode(bytes));
  const text = JSON.stringify({ ...map, sources: [url], sourcesContent: undefined });
  const comment = `${mapComment}${new TextEncoder().encode(text).toBase64()}`;
  return { code: `${code.slice(0, at)}${comment}`, map };
}
