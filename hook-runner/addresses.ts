// The addresses that hook files are loaded from. Nothing is ever read there.

/** Begins the address of every hook file; author-facing texts leave it out. */
export const urlPrefix = 'file:///hooks/';

/** The address of a file. */
export function fileUrl(file: string): string {
  return `${urlPrefix}${encodeURIComponent(file)}`;
}

/** The file at an address; null when it is none of a hook file. */
export function fileNameAt(url: string): string | null {
  if (!url.startsWith(urlPrefix)) return null;
  try {
    return decodeURIComponent(url.slice(urlPrefix.length));
  } catch {
    return null; // a `%` that encodes nothing
  }
}
