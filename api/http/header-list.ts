// HTTP headers on their way out.

/** Headers in their order; a name may come again, as Set-Cookie does (RFC 9110, section 5.3). */
export type HeaderList = readonly (readonly [name: string, value: string])[];
