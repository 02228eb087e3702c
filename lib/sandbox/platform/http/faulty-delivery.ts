import { type ErrorContext, platformErrorResponse } from './error-response.ts';
import type { FaultKind } from './fault-kinds.ts';
import { htmlResponse, jsonResponse, type PlainResponse } from './plain-response.ts';

/** What is finally sent on the connection. */
export type Delivery =
  | { readonly kind: 'whole'; readonly response: PlainResponse }
  /** Half of the body, then the connection breaks. */
  | { readonly kind: 'cut'; readonly response: PlainResponse }
  /** The connection is reset without a response. */
  | { readonly kind: 'reset' };

/** What a fault does to a request. `worked` is the response of the work, for faults that strike after it. */
export function faultyDelivery(
  kind: FaultKind,
  context: ErrorContext,
  worked: PlainResponse | undefined,
): Delivery {
  switch (kind) {
    case 'error-platform':
    case 'error-after':
      return whole(platformErrorResponse(context, 500, 'An unexpected error occurred'));
    case 'error-message':
      return whole(jsonResponse({ message: 'Service temporarily unavailable' }, 503));
    case 'error-text':
      return whole(jsonResponse('Internal error', 500));
    case 'error-page':
      return whole(htmlResponse('502 Bad Gateway', 502));
    case 'login-page':
      return whole(htmlResponse('Sign in', 200));
    case 'login-redirect': {
      const page = htmlResponse('See other', 303);
      return whole({ ...page, headers: { ...page.headers, location: '/auth/login' } });
    }
    case 'cut-body':
      return worked === undefined ? { kind: 'reset' } : { kind: 'cut', response: worked };
    case 'reset-before':
    case 'reset-after':
      return { kind: 'reset' };
    default:
      return kind satisfies never;
  }
}

const whole = (response: PlainResponse): Delivery => ({ kind: 'whole', response });
