// Control characters, which change how a text is shown, or affect the program that shows it.

/** C0 and C1 controls, line and paragraph separators, and the marks that change the direction of text. */
// deno-lint-ignore no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Replaces each control character of a text. */
export function replaceControlCharacters(text: string, replacement: (character: string) => string): string {
  return text.replace(control, replacement);
}
