/**
 * Every fault that the sandbox can inject, and whether it strikes before the work or after it: a fault after the work
 * leaves a change behind that the client does not hear of.
 */
export const faults = {
  /** 500 with the platform's usual body. */
  'error-platform': 'before',
  /** 503 with `{message}`. */
  'error-message': 'before',
  /** 500 with a bare JSON string. */
  'error-text': 'before',
  /** 502 with an HTML page, as from a gateway. */
  'error-page': 'before',
  /** 500 with the platform's usual body, although the work was done. */
  'error-after': 'after',
  /** The connection is reset before anything is done. */
  'reset-before': 'before',
  /** The connection is reset when the work is done: a lost response. */
  'reset-after': 'after',
  /** The work is done, and half of the response body arrives before the connection breaks. */
  'cut-body': 'after',
  /** An HTML login page with status 200. */
  'login-page': 'before',
  /** 303 to an HTML login page. */
  'login-redirect': 'before',
} as const satisfies Readonly<Record<string, 'before' | 'after'>>;

export type FaultKind = keyof typeof faults;

export const faultKinds = Object.keys(faults) as [FaultKind, ...FaultKind[]];
