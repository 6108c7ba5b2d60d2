// Files: uploads that say how far they are, and links.
import type { RequestOptions, Transport } from './transport.ts';

/** A file of the app. */
export interface FileInfo {
  id: string;
  filename: string;
  mime: string;
  size: number;
  created_at: string;
}

/** How to upload. */
export interface UploadOptions {
  /** Default: the name of a `File`. */
  filename?: string | undefined;
  /** Called with the bytes that were sent, and with all that there are. */
  onProgress?: ((sent: number, total: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** The files of an app. */
export interface Files {
  /** Stores a file. Put its id into a record, so that others may read it. */
  upload(file: Blob, options?: UploadOptions): Promise<FileInfo>;
  meta(id: string): Promise<FileInfo>;
  /** The response with the content of a file. */
  download(id: string, options?: RequestOptions): Promise<Response>;
  /** A URL with which anybody may read the file until it expires: after five minutes, or `expiresIn` seconds. */
  link(id: string, options?: { expiresIn?: number }): Promise<string>;
  delete(id: string): Promise<void>;
}

/** Makes `client.files`. */
export function createFiles(transport: Transport, home: string): Files {
  const at = (id: string, more = '') => `${home}/files/${encodeURIComponent(id)}${more}`;
  return {
    upload: async (file, { filename, onProgress, signal } = {}) => {
      const name = filename ?? ('name' in file ? String(file.name) : 'file');
      return await transport.json('POST', `${home}/files`, {
        body: file,
        headers: {
          'content-type': file.type || 'application/octet-stream',
          'x-filename': encodeURIComponent(name),
        },
        signal,
        fetch: onProgress && (await import('./progress.ts')).withProgress(onProgress),
      });
    },
    meta: (id) => transport.json('GET', at(id, '/meta')),
    download: (id, options) => transport.fetch('GET', at(id), options),
    link: async (id, { expiresIn } = {}) => {
      const { url } = await transport.json<{ url: string }>('POST', at(id, '/link'), {
        body: { expires_in: expiresIn },
      });
      return transport.url(url);
    },
    delete: async (id) => void await transport.json('DELETE', at(id)),
  };
}
