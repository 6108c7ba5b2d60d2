// How long it must be remembered that a workspace or an app of this id is gone.

/** A year: longer than any access token lives that a policy may allow. */
const milliseconds = 31_536_000_000;

/** When the last token of something that ends now will have expired. */
export function revocationEnd(now: Date): Date {
  return new Date(now.getTime() + milliseconds);
}
