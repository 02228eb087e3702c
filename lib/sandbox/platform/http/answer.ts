import { printJson } from '../../../json/json.ts';

/** An answer before it becomes bytes on a connection. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or its UTF-8. */
  readonly body: string | Uint8Array<ArrayBuffer>;
};

/** A JSON answer; bigints are printed as integers with all their digits. */
export function jsonAnswer(value: unknown, status = 200): Answer {
  return jsonTextAnswer(printJson(value), status);
}

/** An answer whose JSON is printed already. */
export function jsonTextAnswer(body: string | Uint8Array<ArrayBuffer>, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body };
}

export function htmlAnswer(title: string, status = 200): Answer {
  const body = `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`;
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}
