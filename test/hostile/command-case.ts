/** One hostile command line, and how it must end. `{folder}` in arguments and settings is the case's own folder. */
export type CommandCase = {
  readonly name: string;
  readonly argv: readonly string[];
  /** Besides a platform at which nobody listens, a token, and a store in the folder. An empty text removes a setting. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Files in the folder, by their paths. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  readonly code: 0 | 1 | 2 | 3;
  /** What the first line on standard error is, or the beginning of the text where the fault is in the second. */
  readonly says: RegExp;
  /** Seconds that it may take on a busy machine. Default: 10. */
  readonly mostSeconds?: number;
};

/** How a command line ended. */
export type CommandEnd = {
  readonly name: string;
  readonly code: number;
  /** The beginning of standard error. */
  readonly said: string;
  /** All characters of standard error. */
  readonly length: number;
  readonly seconds: number;
  /** The highest memory of the process until then, in MB. */
  readonly peakMb: number;
};
