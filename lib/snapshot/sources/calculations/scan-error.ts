/** The rows are not in the requested order, or the scan makes no progress: what was read may be incomplete. */
export class ScanError extends Error {
  override readonly name: string = 'ScanError';
}

/** A response contradicts the requested order. The rows can still be read, without an order. */
export class OrderError extends ScanError {
  override readonly name = 'OrderError';
}
