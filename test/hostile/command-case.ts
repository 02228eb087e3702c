import type { Reply } from '../platform/scripted-server.ts';

/**
 * One hostile command line, and how it must end. In arguments and settings, `{folder}` is the folder of the case and
 * `{server}` the address of its server.
 */
export type CommandCase = {
  readonly name: string;
  readonly argv: readonly string[];
  /**
   * Settings in addition to the address of a platform that is not running, a token, and a store in the folder. An empty
   * text removes a setting.
   */
  readonly settings?: Readonly<Record<string, string>>;
  /** Files in the folder, by their paths. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  /** The server's response to every request. */
  readonly reply?: Reply;
  /** The server is a proxy that rejects CONNECT with this status line. */
  readonly proxyRefuses?: string;
  /** The number of requests that the server must receive. Default: 0. */
  readonly requests?: number;
  readonly code: 0 | 1 | 2 | 3;
  /** Matches the first line on standard error, or the beginning of the text if the fault is in the second line. */
  readonly says: RegExp;
  /** Maximum seconds on a busy machine. Default: 10. */
  readonly maxSeconds?: number;
  /** Maximum megabytes of memory that it may add to the process. Default: that of its group. */
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
