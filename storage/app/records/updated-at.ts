// When a record was changed last.

/**
 * Sets it in an update to the time of its request, which is `$2`. That request may have arrived before another one whose change
 * came first: whoever keeps the latest of two states by this time keeps the right one.
 */
export const setUpdatedAt = '"updated_at" = greatest("updated_at", $2::text::timestamptz)';
