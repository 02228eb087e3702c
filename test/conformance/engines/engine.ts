import type { Engines } from '../../base/aws/engines.ts';

/** The folders and the program runner that an engine's `fetch` uses. */
export type Fetching = {
  /** An empty folder, into which `fetch` puts everything that the engine needs. */
  readonly folder: string;
  /** A folder for downloads of package managers. It survives a failed fetch, so that the next one resumes. */
  readonly downloads: string;
  /** Runs a program quietly to its end. Throws with the end of its output if it fails; stops it on timeout. */
  readonly run: (command: readonly [string, ...string[]], options?: RunOptions) => Promise<void>;
};

type RunOptions = { readonly folder?: string; readonly environment?: Readonly<Record<string, string>> };

/** Where an engine is started. */
type Place = {
  /** The folder with the fetched engine, which must not be changed. */
  readonly fetched: string;
  /** A temporary folder, removed after the run. */
  readonly scratch: string;
  /** A free port of 127.0.0.1. */
  readonly port: number;
};

/** How an engine is started, and what the tests need to know to use it. */
export type Launch = {
  /** The server program. Absent if the tests start the tool themselves. */
  readonly command?: readonly [string, ...string[]];
  readonly environment?: Readonly<Record<string, string>>;
  /** A URL that responds, with any status, once the engine is ready. Default: the root of its port. */
  readonly respondsAt?: string;
  /** How long the engine may take to start. Default: a minute. */
  readonly startMs?: number;
  /** Sends typical requests before the tests, for an engine whose slow first responses would exceed the tests' timeouts. */
  readonly warmUp?: () => Promise<void>;
  readonly engines: Engines;
};

/** A third-party program that behaves like AWS. To add one, write a file here and a line in a suite. */
export type Engine = {
  readonly name: string;
  /** The pinned version. Each version has its own folder in the cache. */
  readonly version: string;
  /** The oldest Java version that runs it. Absent: it needs no Java. */
  readonly java?: number;
  readonly fetch: (fetching: Fetching) => Promise<void>;
  /** Throws if a registry from which its tests download on each run cannot be reached. */
  readonly reach?: () => Promise<unknown>;
  readonly start: (place: Place) => Launch | Promise<Launch>;
};
