// The headers of a part of a form (RFC 7578, RFC 2046), and the boundary that its Content-Type names.
import { isUtf8 } from 'node:buffer';
import { fail } from '../../errors.ts';

/** What the headers of a part say. */
export interface PartHeaders {
  /** The name of the form field. */
  name: string;
  /** Undefined for a part that is no file. */
  filename: string | undefined;
  /** Its `Content-Type`, if it has one. */
  type: string | undefined;
}

const maxHeaders = 20;
const formType = /^multipart\/form-data[ \t]*(?:;|$)/i;
/** RFC 2046 section 5.1.1: at most 70 characters, the last of which is no space. */
const boundary =
  /;[ \t]*boundary=(?:"([\w'()+,./:=? -]{0,69}[\w'()+,./:=?-])"|([\w'+.-]{1,70}))[ \t]*(?:;|$)/i;
const header = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/s;
const parameter = /;[ \t]*([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^";\s]+))[ \t]*/sy;

/** True for the type of forms that may have files. */
export function isFormType(contentType: string | undefined): boolean {
  return contentType !== undefined && formType.test(contentType);
}

/** The boundary between the parts of a form. Throws `422 deserialization`. */
export function readBoundary(contentType: string | undefined): string {
  const [, quoted, plain] = boundary.exec(contentType ?? '') ?? [];
  return quoted ?? plain ?? fail('deserialization', 'the Content-Type of a form must have a boundary');
}

/** Reads the headers of a part, without the line end after the last one. Throws `422 deserialization`. */
export function readPartHeaders(bytes: Buffer): PartHeaders {
  if (!isUtf8(bytes)) fail('deserialization', 'the headers of a part of the form are not UTF-8');
  const headers = new Map<string, string>();
  const lines = bytes.length === 0 ? [] : bytes.toString().split('\r\n');
  if (lines.length > maxHeaders) fail('deserialization', 'a part of the form has too many headers');
  for (const line of lines) {
    const [, name = '', value = ''] = header.exec(line) ?? [];
    // oxlint-disable-next-line no-control-regex
    if (name === '' || headers.has(name.toLowerCase()) || /[\0\r\n]/.test(value)) {
      fail('deserialization', 'a part of the form has a wrong header');
    }
    headers.set(name.toLowerCase(), value.trim());
  }
  if (!/^(?:7bit|8bit|binary)?$/i.test(headers.get('content-transfer-encoding') ?? '')) {
    fail(
      'deserialization',
      'the parts of a form must be sent as they are, without a Content-Transfer-Encoding',
    );
  }
  const type = headers.get('content-type');
  if (type?.toLowerCase().startsWith('multipart/') === true) {
    fail('deserialization', 'a part of a form must not be a form itself');
  }
  return { ...readDisposition(headers.get('content-disposition') ?? ''), type };
}

function readDisposition(text: string): Pick<PartHeaders, 'name' | 'filename'> {
  const parameters = /^form-data[ \t]*(?=;)/i.exec(text)?.[0].length;
  const found = parameters === undefined ? undefined : readParameters(text, parameters);
  const name = found?.get('name');
  if (found === undefined || name === undefined) {
    fail('deserialization', 'each part of a form must have a Content-Disposition of form-data, with a name');
  }
  return { name, filename: found.get('filename') };
}

/** The parameters of a header; undefined when something is wrong with them. */
function readParameters(text: string, start: number): Map<string, string> | undefined {
  const found = new Map<string, string>();
  for (parameter.lastIndex = start; parameter.lastIndex < text.length;) {
    const [whole, name = '', quoted, plain = ''] = parameter.exec(text) ?? [];
    if (whole === undefined || found.has(name.toLowerCase())) return undefined;
    found.set(name.toLowerCase(), quoted === undefined ? plain : unquoted(quoted));
  }
  return found;
}

/** Browsers write `%22`, `%0D` and `%0A`, other clients a backslash (https://html.spec.whatwg.org/#multipart-form-data). */
function unquoted(text: string): string {
  return text.replace(
    /\\(["\\])|%(22|0D|0A)/gi,
    (_, escaped: string | undefined, code: string) =>
      escaped ?? String.fromCharCode(Number.parseInt(code, 16)),
  );
}
