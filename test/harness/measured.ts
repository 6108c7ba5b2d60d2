// Tests of how quick something is.

/** Options of such a test: a busy machine is slow now and then, a slow server each time. */
export const measured = { retry: 2 };
