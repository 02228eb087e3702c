import { STATUS_CODES } from 'node:http';
import { printJson } from '../../../base/index.ts';
import { randomFor } from '../records/random.ts';

/** What an error response is built from. `number` is the request's: the reference is derived from it and the seed. */
export type ErrorContext = {
  readonly seed: number;
  readonly number: number;
  readonly path: string;
  readonly operation: string | undefined;
  readonly errors: ErrorShapes;
};

export function errorResponse(context: ErrorContext, status: number, message: string): PlainResponse {
  const { usual, forbidden } = context.errors;
  const shape = status === 403 ? forbidden : usual;
  if (status === 401 || shape === 'PlatformError') return platformErrorResponse(context, status, message);
  if (shape === 'CodeError') return jsonResponse({ errorCode: `E${status}`, errorMessage: message }, status);
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

/** `{status, statusReason, path, message, toe}`, `{errorCode, errorMessage}`, `{message}`, or a bare JSON string. */
export const errorShapes = ['PlatformError', 'CodeError', 'MessageError', 'TextError'] as const;

type ErrorShape = (typeof errorShapes)[number];

/** The shapes of an operation's errors. A 401 is a `PlatformError` everywhere. */
export type ErrorShapes = { readonly usual: ErrorShape; readonly forbidden: ErrorShape };

export const usualErrors: ErrorShapes = { usual: 'PlatformError', forbidden: 'PlatformError' };

/** A response before it becomes bytes on a connection. */
export type PlainResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer>;
};

/** A JSON response; bigints are printed as integers with all their digits. */
export function jsonResponse(value: unknown, status = 200): PlainResponse {
  return jsonTextResponse(printJson(value), status);
}

export function jsonTextResponse(body: string | Uint8Array<ArrayBuffer>, status = 200): PlainResponse {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body };
}

export function htmlResponse(title: string, status = 200): PlainResponse {
  const body = `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`;
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}
