// Media types that a browser would run.

/**
 * Types that a browser or its helper programs would run, or read as markup with scripts. `isActive` also matches suffixes
 * (RFC 6839) and patterns. PDF can have scripts.
 */
const running = new Set([
  'text/html',
  // Unregistered types that some programs use.
  'application/xhtml',
  'image/svg',
  'text/xml',
  'application/xml',
  'application/xml-dtd',
  'text/xml-external-parsed-entity',
  'application/xml-external-parsed-entity',
  'text/xsl',
  'text/jscript',
  'text/livescript',
  'text/vbscript',
  'text/x-component',
  'application/hta',
  'application/java-archive',
  'application/x-java-applet',
  'application/x-shockwave-flash',
  'application/pdf',
  'application/x-pdf',
  'text/pdf',
  'multipart/related',
  'multipart/x-mixed-replace',
  'message/rfc822',
  'application/x-mimearchive',
  'text/cache-manifest',
]);

/** True when a browser could run a `Content-Type`. Of several types with commas between them, browsers take one. */
export function isActive(types: string): boolean {
  return types.split(',').some(isActiveType);
}

function isActiveType(type: string): boolean {
  const essence = type.split(';')[0]?.trim().toLowerCase() ?? '';
  return running.has(essence) || essence.endsWith('+xml') ||
    /^(?:text|application)\/(?:x-)?(?:java|ecma)script[0-9.]*$/.test(essence);
}
