import type { Reply } from '../platform/scripted-server.ts';

/**
 * One hostile command line, and how it must end. In arguments and settings, `{folder}` is the case's own folder and
 * `{server}` the address of its server.
 */
export type CommandCase = {
  readonly name: string;
  readonly argv: readonly string[];
  /** Besides a platform at which nobody listens, a token, and a store in the folder. An empty text removes a setting. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Files in the folder, by their paths. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  /** What the server responds to every request. */
  readonly reply?: Reply;
  /** The server is a proxy that refuses to connect, with this status line. */
  readonly proxyRefuses?: string;
  /** How many requests the server must receive. Default: none. */
  readonly requests?: number;
  readonly code: 0 | 1 | 2 | 3;
  /** What the first line on standard error is, or the beginning of the text where the fault is in the second. */
  readonly says: RegExp;
  /** Seconds that it may take on a busy machine. Default: 10. */
  readonly maxSeconds?: number;
  /** Megabytes of memory that it may add to what the process has. Default: that of its group. */
  readonly maxMb?: number;
};

/** How a command line ended. */
export type CommandEnd = {
  readonly name: string;
  readonly code: number;
  /** The beginning of standard error. */
  readonly said: string;
  /** All characters of standard error. */
  readonly length: number;
  readonly requests: number;
  readonly seconds: number;
  /** The highest memory of the process, in MB: before the command, and while it ran. */
  readonly beforeMb: number;
  readonly peakMb: number;
};
