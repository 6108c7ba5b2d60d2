// Tests of how quick something is.

/**
 * Options of a test of nothing else: a busy machine is slow now and then, a slow server each time. What must never happen is
 * no such test's business, as it would have three tries.
 */
export const measured = { retry: 2 };
