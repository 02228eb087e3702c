import { STATUS_CODES } from 'node:http';
import { randomFor } from '../records/random.ts';
import { jsonResponse, type PlainResponse } from './plain-response.ts';

/** What an error response is built from. `number` is the request's: the reference is derived from it and the seed. */
export type ErrorContext = {
  readonly seed: number;
  readonly number: number;
  readonly path: string;
  /** The operation's name, or undefined if the path belongs to none. */
  readonly operation: string | undefined;
};

/**
 * An error in the shape that the operation uses in practice: `{message}` for code functions, a bare JSON string for the
 * 403 of AI and files, `{status, statusReason, path, message, toe}` for everything else, including every 401.
 */
export function errorResponse(context: ErrorContext, status: number, message: string): PlainResponse {
  if (status === 403 && (context.operation === 'analyzeSentiment' || context.operation === 'searchFiles')) {
    return jsonResponse(message, status);
  }
  if (context.operation === 'runFunction' && status !== 401) return jsonResponse({ message }, status);
  return platformErrorResponse(context, status, message);
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
