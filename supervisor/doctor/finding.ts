// Makes findings.
import type { Finding } from './protocol.ts';

/** A check that found nothing wrong. */
export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message, advice: null };
}

/** A check that found what the server can live with. */
export function warning(check: string, message: string, advice: string): Finding {
  return { check, status: 'warning', message, advice };
}

/** A check that found what keeps the server from its work. */
export function failed(check: string, message: string, advice: string): Finding {
  return { check, status: 'failed', message, advice };
}
