import { type Answer, htmlAnswer, jsonAnswer } from './answer.ts';
import { type ErrorContext, platformErrorAnswer } from './error-answers.ts';
import type { FaultKind } from './fault-kinds.ts';

/** What goes out on the connection at last. */
export type Delivery =
  | { readonly kind: 'whole'; readonly answer: Answer }
  /** Half of the body, and then the end of the connection. */
  | { readonly kind: 'cut'; readonly answer: Answer }
  /** The connection is reset without an answer. */
  | { readonly kind: 'reset' };

/** What a fault makes of a request. `worked` is the answer that the work gave, for faults that strike after it. */
export function faultyDelivery(kind: FaultKind, context: ErrorContext, worked: Answer | undefined): Delivery {
  switch (kind) {
    case 'error-platform':
    case 'error-after':
      return whole(platformErrorAnswer(context, 500, 'An unexpected error occurred'));
    case 'error-message':
      return whole(jsonAnswer({ message: 'Service temporarily unavailable' }, 503));
    case 'error-text':
      return whole(jsonAnswer('Internal error', 500));
    case 'error-page':
      return whole(htmlAnswer('502 Bad Gateway', 502));
    case 'login-page':
      return whole(htmlAnswer('Sign in', 200));
    case 'login-redirect': {
      const page = htmlAnswer('See other', 303);
      return whole({ ...page, headers: { ...page.headers, location: '/auth/login' } });
    }
    case 'cut-body':
      return worked === undefined ? { kind: 'reset' } : { kind: 'cut', answer: worked };
    case 'reset-before':
    case 'reset-after':
      return { kind: 'reset' };
    default:
      return kind satisfies never;
  }
}

const whole = (answer: Answer): Delivery => ({ kind: 'whole', answer });
