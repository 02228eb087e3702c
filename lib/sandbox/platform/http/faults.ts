import { drawFor, randomFor } from '../records/random.ts';
import {
  type ErrorContext,
  htmlResponse,
  jsonResponse,
  type PlainResponse,
  platformErrorResponse,
} from './responses.ts';

/** Every fault, and whether it strikes before or after the work: then the client does not hear of a change. */
export const faults = {
  'error-platform': 'before',
  'error-message': 'before',
  'error-text': 'before',
  'error-page': 'before',
  'error-after': 'after',
  'reset-before': 'before',
  'reset-after': 'after',
  'cut-body': 'after',
  'login-page': 'before',
  'login-redirect': 'before',
} as const satisfies Readonly<Record<string, 'before' | 'after'>>;

export type FaultKind = keyof typeof faults;

export const faultKinds = Object.keys(faults) as [FaultKind, ...FaultKind[]];

export type Delivery =
  | { readonly kind: 'whole'; readonly response: PlainResponse }
  | { readonly kind: 'cut'; readonly response: PlainResponse }
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

export function anomalyFor(
  seed: number,
  { anomalies, anomalyKinds: kinds, plannedAnomalies }: AnomalyOptions,
  number: number,
): AnomalyKind | undefined {
  if (plannedAnomalies[number] !== undefined) return plannedAnomalies[number];
  if (drawFor(seed, 'anomaly', number) >= anomalies) return undefined;
  return randomFor(seed, 'anomaly kind', number).pick(kinds);
}
