// Which Chromium the browser tests drive.

/** Where Debian's package `chromium` puts it. */
export const chromiumPath = '/usr/bin/chromium';
