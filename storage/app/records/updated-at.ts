// The time of a record's last change.

/**
 * Sets it in an update to the time of the request, which is `$2`. An earlier request may write later, so it never goes
 * back: whoever compares two states of a record by this time keeps the newer one.
 */
export const setUpdatedAt = '"updated_at" = greatest("updated_at", $2::text::timestamptz)';
