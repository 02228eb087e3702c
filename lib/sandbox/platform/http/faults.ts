import { drawFor, randomFor } from '../records/random.ts';
import {
  type ErrorContext,
  htmlResponse,
  jsonResponse,
  type PlainResponse,
  platformErrorResponse,
} from './responses.ts';

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

/** What the sandbox can do to a page of records, so that the list is not whole although nothing failed. */
export const anomalyKinds = [
  /** A file is renamed to another place in the order of paths, just before the page. Files only. */
  'rename',
  /** The page has no rows, and a new cursor. Files only. */
  'empty-page',
  /** The page begins with the last row of the page before. Files only. */
  'repeat',
  /** A row of the page is missing from this response, as if it were being updated; the total counts it. */
  'vanish',
] as const;

export type AnomalyKind = (typeof anomalyKinds)[number];

/** The share of requests from 0 to 1, which faults, and the faults that are planned by the number of the request. */
type FaultOptions = {
  readonly faults: number;
  readonly faultKinds: readonly FaultKind[];
  readonly plannedFaults: Readonly<Record<string, FaultKind>>;
};

type AnomalyOptions = {
  readonly anomalies: number;
  readonly anomalyKinds: readonly AnomalyKind[];
  readonly plannedAnomalies: Readonly<Record<string, AnomalyKind>>;
};

/** The fault that request `number` hits (1 is the first), or undefined. It depends only on the arguments. */
export function faultFor(seed: number, options: FaultOptions, number: number): FaultKind | undefined {
  if (options.plannedFaults[number] !== undefined) return options.plannedFaults[number];
  if (drawFor(seed, 'fault', number) >= options.faults) return undefined;
  return randomFor(seed, 'fault kind', number).pick(options.faultKinds);
}

/** The anomaly of the page that request `number` gets, likewise. */
export function anomalyFor(
  seed: number,
  { anomalies, anomalyKinds: kinds, plannedAnomalies }: AnomalyOptions,
  number: number,
): AnomalyKind | undefined {
  if (plannedAnomalies[number] !== undefined) return plannedAnomalies[number];
  if (drawFor(seed, 'anomaly', number) >= anomalies) return undefined;
  return randomFor(seed, 'anomaly kind', number).pick(kinds);
}
