import { createServer, type Socket } from 'node:net';
import { listening } from '../listening.ts';

/** Starts a server that accepts connections but sends nothing on them, unless `onConnection` does. */
export const startMute = (onConnection: (socket: Socket) => void = () => {}) =>
  listening(createServer((socket) => onConnection(socket.on('error', () => {}))));
