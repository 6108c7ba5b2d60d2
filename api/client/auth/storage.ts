// Where a session is kept between pages and starts, and what of the browser the client uses for it.

/** A place for texts, such as `localStorage`, `sessionStorage` or the `AsyncStorage` of React Native. */
export interface TextStorage {
  getItem(key: string): string | null | Promise<string | null>;
  setItem(key: string, text: string): void | Promise<void>;
  removeItem(key: string): void | Promise<void>;
}

/** The parts of a browser that other runtimes lack. Those that are there have these types. */
export interface BrowserParts {
  document?: unknown;
  localStorage?: TextStorage;
  sessionStorage?: {
    getItem(key: string): string | null;
    setItem(key: string, text: string): void;
    removeItem(key: string): void;
  };
  location?: { href: string; origin: string; assign(url: string): void };
  history?: { replaceState(state: unknown, title: string, url: string): void };
  open?: (
    url: string,
    name: string,
    features: string,
  ) => { location: { href: string }; close(): void } | null;
  close?: () => void;
  navigator?: {
    locks?: {
      request<R>(name: string, options: { signal: AbortSignal }, work: () => Promise<R>): Promise<R>;
    };
  };
  addEventListener?: (type: 'online', listener: () => void) => void;
}

/** The global object, as the browser's. */
export const browser: BrowserParts = globalThis as BrowserParts;

/** A storage that ends with the page or the program. */
export function memoryStorage(): TextStorage {
  const texts = new Map<string, string>();
  return {
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, text) => void texts.set(key, text),
    removeItem: (key) => void texts.delete(key),
  };
}

/** What all tabs of a page's origin share; undefined where there is none, or the user has turned it off. */
export function sharedStorage(): TextStorage | undefined {
  try {
    return browser.document === undefined ? undefined : browser.localStorage;
  } catch {
    return undefined;
  }
}

/** The data of a message of a channel. Only this client writes to its channels. */
export function dataOf<D>(message: unknown): D {
  return (message as { data: D }).data;
}
