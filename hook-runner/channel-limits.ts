// Limits that the API tells a runner, as types only.

/** The limits that the API enforces. The runner keeps within them, so that an honest one is never ended for them. */
export interface ChannelLimits {
  /** Text of a `result`, `response`, `chunk` or `loaded`, in bytes. */
  readonly result_bytes: number;
  /** Text of a `call`, in bytes. */
  readonly call_bytes: number;
  /** Text of a `log`, in bytes; longer messages are cut. */
  readonly log_bytes: number;
  /** Bytes of a response body that may be under way before the first `credit`. */
  readonly window_bytes: number;
  /** Handlers of one app: all record hooks, routes and jobs together. */
  readonly registrations: number;
  /** Top-level code of a file that has not finished after so many milliseconds is a fault of that file alone. */
  readonly load_ms: number;
}
