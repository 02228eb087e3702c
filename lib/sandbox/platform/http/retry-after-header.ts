/** How a 429 says when to retry. */
export type RetryAfterForm = 'seconds' | 'date' | 'absent';

/** The form for refusal `number` (1 is the first): the given one, or all three in turn. */
export function retryAfterForm(form: RetryAfterForm | 'mixed', number: number): RetryAfterForm {
  return form === 'mixed' ? (TURN[(number - 1) % TURN.length] ?? 'absent') : form;
}

/** The header's value, or undefined to leave it out. Seconds and dates are rounded up: waiting that long is enough. */
export function retryAfterHeader(form: RetryAfterForm, waitMs: number, nowMs: number): string | undefined {
  switch (form) {
    case 'seconds':
      return String(Math.max(1, Math.ceil(waitMs / 1000)));
    case 'date':
      return new Date(Math.ceil((nowMs + waitMs) / 1000) * 1000).toUTCString();
    case 'absent':
      return undefined;
    default:
      return form satisfies never;
  }
}

const TURN: readonly RetryAfterForm[] = ['seconds', 'date', 'absent'];
