// Reads codes that people type: in the digits of any script, with spaces and line ends anywhere.

/** The code in ASCII digits and without white space. Other characters stay, and make the code a wrong one. */
export function readTypedCode(text: string): string {
  return text.replaceAll(/\s/g, '').replaceAll(/\p{Nd}/gu, asciiDigit);
}

/** Unicode has the decimal digits of a script in runs of ten, from zero on: https://www.unicode.org/reports/tr44/#Numeric_Type */
function asciiDigit(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let zero = point;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return String((point - zero) % 10);
}
