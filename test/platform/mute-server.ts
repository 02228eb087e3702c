import { createServer, type Socket } from 'node:net';
import { listening } from '../listening.ts';

/** Accepts connections and sends nothing on them, unless `onConnection` does. */
export const startMute = (onConnection: (socket: Socket) => void = () => {}) =>
  listening(createServer((socket) => onConnection(socket.on('error', () => {}))));
