import { type Hide, MOST_READ, parseJson } from '../../base/index.ts';

/** What an error body says: the platform's message and its reference (`toe`). */
export type ErrorBody = { readonly detail?: string; readonly reference?: string };

const LONGEST_DETAIL = 300;

/** What no private text looks like. */
const REFERENCE = /^[A-Z0-9]+(?:-[A-Z0-9]+)+$/;

/**
 * Reads `{status, statusReason, path?, message, toe}`, `{message}`, a bare JSON string, an HTML page, plain text, or nothing.
 * Never throws. `hideToken` is for the reference if that looks like one.
 */
export function readErrorBody(
  text: string,
  { hide, hideToken }: { readonly hide: Hide; readonly hideToken: Hide },
): ErrorBody {
  const worded = (words: string): ErrorBody => ({
    detail: shorten(hide(words.slice(0, MOST_READ)), LONGEST_DETAIL),
  });
  const title = pageTitle(text, hide);
  if (title !== undefined) return { detail: `a page titled “${title}”` };
  const value = tryParse(text);
  if (typeof value === 'string') return worded(value);
  if (typeof value !== 'object' || value === null) return {};
  const { message, statusReason, toe } = value as Readonly<Record<string, unknown>>;
  const words = [message, statusReason].find((each) => typeof each === 'string' && each !== '');
  return {
    ...(typeof words === 'string' ? worded(words) : {}),
    ...(typeof toe === 'string' && toe !== ''
      ? { reference: shorten((REFERENCE.test(toe) ? hideToken : hide)(toe), 100) }
      : {}),
  };
}

/** The title of an HTML page, `untitled` if it has no complete title, or undefined for anything else. */
export function pageTitle(text: string, hide: Hide): string | undefined {
  if (!/^\s*(<!doctype html|<html|<head|<body)/i.test(text)) return undefined;
  const title = /<title[^>]*>([^<]*)</i.exec(text)?.[1]?.trim();
  return title ? shorten(hide(title.slice(0, MOST_READ)), 100) : 'untitled';
}

function shorten(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text.trim() === '' ? undefined : text;
  }
}

/** Milliseconds of a `Retry-After` header (RFC 9110, 10.2.3); 0 for a date in the past, undefined for anything else. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const value = header.trim();
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  const date = /^[A-Za-z]{3,9},? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
