import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { printJson } from '../../lib/base/json/json.ts';
import { listening } from '../listening.ts';

/** A request as the server saw it; `connection` numbers the sockets from 1. */
export type SeenRequest = {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly connection: number;
};

/** Responds to one request in any way, or breaks the connection. */
export type Reply = (response: ServerResponse, request: SeenRequest) => void;

export type ScriptedServer = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly SeenRequest[];
};

/** A real HTTP server on a free port of 127.0.0.1 that gives its replies in turn, and the last one forever. */
export async function startServer(...replies: readonly Reply[]): Promise<ScriptedServer> {
  const requests: SeenRequest[] = [];
  const connections = new Map<unknown, number>();
  const server = createServer(async (request, response) => {
    const { method = '', url: target = '', headers, socket } = request;
    const connection = connections.get(socket) ?? 0;
    const seen = { method, target, headers, body: await text(request), connection };
    requests.push(seen);
    const reply = replies[requests.length - 1] ?? replies.at(-1);
    reply?.(response, seen);
  });
  server.on('connection', (socket) => connections.set(socket, connections.size + 1));
  const served = await listening(server);
  return { ...served, url: `http://127.0.0.1:${served.port}`, requests };
}

type Headers = Readonly<Record<string, string>>;

/** JSON with the correct content type; bigints are printed as integers. */
export const json =
  (value: unknown, status = 200, headers: Headers = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(printJson(value));
  };

/** A response with any bytes and headers. */
export const bytes =
  (body: string | Uint8Array, headers: Headers = {}, status = 200): Reply =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };

export const page = (title: string, status = 200): Reply =>
  bytes(
    `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body>…</body></html>`,
    { 'content-type': 'text/html; charset=utf-8' },
    status,
  );

export const redirect = (status: number, location: string): Reply => bytes('', { location }, status);

/** Accepts the request and never responds. */
export const silence: Reply = () => {};

/** Resets the connection before any response. */
export const reset: Reply = (response) => {
  response.socket?.resetAndDestroy();
};

/** Sends the head and some of the body, then resets the connection. */
export const resetMidBody: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"results":[', () => response.socket?.resetAndDestroy());
};

/** Sends the head immediately and then a byte every few milliseconds, forever. */
export const trickle: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 10);
  response.on('close', () => clearInterval(timer));
};

/** Sends the head and part of the body, and then nothing more. */
export const unended =
  (status: number): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).write('{"message":');
  };

/** Writes endlessly, as fast as the body is read. */
export const flood: Reply = (response) => {
  const chunk = Buffer.alloc(65_536, 0x20);
  const pour = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.on('drain', pour);
  pour();
};

/** Bytes written straight to the connection, regardless of HTTP's rules. */
export const rawBytes =
  (text: string): Reply =>
  (response) => {
    response.socket?.end(text);
  };
