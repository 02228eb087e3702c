import { printJson } from '../../../base/index.ts';

/** A response before it becomes bytes on a connection. */
export type PlainResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or the same as UTF-8. */
  readonly body: string | Uint8Array<ArrayBuffer>;
};

/** A JSON response; bigints are printed as integers with all their digits. */
export function jsonResponse(value: unknown, status = 200): PlainResponse {
  return jsonTextResponse(printJson(value), status);
}

/** A response whose JSON is already printed. */
export function jsonTextResponse(body: string | Uint8Array<ArrayBuffer>, status = 200): PlainResponse {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body };
}

export function htmlResponse(title: string, status = 200): PlainResponse {
  const body = `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`;
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}
