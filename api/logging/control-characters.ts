// Characters that make whoever reads a text see another one, or do something to the program that shows it.

/** C0 and C1 controls, line and paragraph separators, and the marks that turn the direction of text. */
// deno-lint-ignore no-control-regex
const deceptive = /[\u0000-\u001f\u007f-\u009f\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The text with `replacement` in the place of each of them. */
export function replaceControlCharacters(text: string, replacement: (character: string) => string): string {
  return text.replace(deceptive, replacement);
}
