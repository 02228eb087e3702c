import { STATUS_CODES } from 'node:http';
import { randomFor } from '../records/random.ts';
import type { ErrorShapes } from './error-shapes.ts';
import { jsonResponse, type PlainResponse } from './plain-response.ts';

/** What an error response is built from. `number` is the request's: the reference is derived from it and the seed. */
export type ErrorContext = {
  readonly seed: number;
  readonly number: number;
  readonly path: string;
  /** The operation's name, or undefined if the path belongs to none. */
  readonly operation: string | undefined;
  readonly errors: ErrorShapes;
};

/** An error in the shape that the operation uses in practice. */
export function errorResponse(context: ErrorContext, status: number, message: string): PlainResponse {
  const { usual, forbidden } = context.errors;
  const shape = status === 403 ? forbidden : usual;
  if (status === 401 || shape === 'PlatformError') return platformErrorResponse(context, status, message);
  return jsonResponse(shape === 'TextError' ? message : { message }, status);
}

/** The platform's usual error body. `toe` is its reference: text like `D2RFR14QKK-0FWIV-QTGGZ`. */
export function platformErrorResponse(context: ErrorContext, status: number, message: string): PlainResponse {
  const body = {
    status,
    statusReason: STATUS_CODES[status] ?? 'Unknown',
    path: context.path,
    message,
    toe: errorReference(context.seed, context.number),
  };
  return jsonResponse(body, status);
}

function errorReference(seed: number, number: number): string {
  const random = randomFor(seed, 'toe', number);
  const part = (length: number) => Array.from({ length }, () => random.pick([...TOE_LETTERS])).join('');
  return `${part(10)}-${part(5)}-${part(5)}`;
}

const TOE_LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
