// HTTP header fields, as code hands them on before they are sent.

/** A header field. */
export type Header = readonly [name: string, value: string];

/** Header fields in their order; a name may come again, as `Set-Cookie` does (RFC 9110, section 5.3). */
export type HeaderList = readonly Header[];
