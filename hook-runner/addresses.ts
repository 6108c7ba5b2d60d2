// The URLs that hook files are loaded from. They name files in memory: nothing is read from disk.

/** The start of every hook file's URL. Messages for authors leave it out. */
export const urlPrefix = 'file:///hooks/';

/** The URL of a hook file. */
export function fileUrl(file: string): string {
  return `${urlPrefix}${encodeURIComponent(file)}`;
}

/** The name of the hook file at a URL, or null when the URL is no hook file's. */
export function fileNameAt(url: string): string | null {
  if (!url.startsWith(urlPrefix)) return null;
  try {
    return decodeURIComponent(url.slice(urlPrefix.length));
  } catch {
    return null; // a malformed percent-encoding
  }
}
