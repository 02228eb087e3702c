import { STATUS_CODES } from 'node:http';
import { randomFor } from '../records/random.ts';
import { type Answer, jsonAnswer } from './answer.ts';

/** What an error answer is made from. `number` is the request's: the reference follows from it and the seed. */
export type ErrorContext = {
  readonly seed: number;
  readonly number: number;
  readonly path: string;
  /** The operation's name, or undefined where the path belongs to none. */
  readonly operation: string | undefined;
};

/**
 * An error in the shape that its place has in practice: `{message}` for code functions, a bare JSON string for the
 * 403 of AI and files, `{status, statusReason, path, message, toe}` for everything else, every 401 among it.
 */
export function errorAnswer(context: ErrorContext, status: number, message: string): Answer {
  if (status === 403 && (context.operation === 'analyzeSentiment' || context.operation === 'searchFiles')) {
    return jsonAnswer(message, status);
  }
  if (context.operation === 'runFunction' && status !== 401) return jsonAnswer({ message }, status);
  return platformErrorAnswer(context, status, message);
}

/** The platform's usual error body. `toe` is its reference: text like `D2RFR14QKK-0FWIV-QTGGZ`. */
export function platformErrorAnswer(context: ErrorContext, status: number, message: string): Answer {
  const body = {
    status,
    statusReason: STATUS_CODES[status] ?? 'Unknown',
    path: context.path,
    message,
    toe: errorReference(context.seed, context.number),
  };
  return jsonAnswer(body, status);
}

function errorReference(seed: number, number: number): string {
  const random = randomFor(seed, 'toe', number);
  const part = (length: number) => Array.from({ length }, () => random.pick([...TOE_LETTERS])).join('');
  return `${part(10)}-${part(5)}-${part(5)}`;
}

const TOE_LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
