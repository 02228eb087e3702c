import type { Engines } from '../../base/aws/engines.ts';

/** Where an engine is fetched to, and by what. */
export type Fetching = {
  /** An empty folder; all that the engine needs must be in it afterwards. */
  readonly folder: string;
  /** For what a client downloads on its way; it survives a fetch that failed, so that the next one resumes. */
  readonly downloads: string;
  /** Runs a program to its end, quietly. Throws with the end of its output if it fails; ends it when time is up. */
  readonly run: (command: readonly [string, ...string[]], options?: RunOptions) => Promise<void>;
};

type RunOptions = { readonly folder?: string; readonly environment?: Readonly<Record<string, string>> };

/** Where an engine is started. */
type Place = {
  /** What was fetched; it must not be changed. */
  readonly fetched: string;
  /** A temporary folder, removed after the run. */
  readonly scratch: string;
  /** A free port of 127.0.0.1. */
  readonly port: number;
};

/** How an engine is started, and what the tests need to know of it. */
export type Launch = {
  /** The program that serves; none if the tests start the tool themselves. */
  readonly command?: readonly [string, ...string[]];
  readonly environment?: Readonly<Record<string, string>>;
  /** The URL that responds, with any status, as soon as the engine is ready; its port's root if absent. */
  readonly respondsAt?: string;
  /** How long it may take to respond. Default: a minute. */
  readonly startMs?: number;
  /** Makes it do what tests ask of it, where it is slow at first and they have limits of time. */
  readonly warmUp?: () => Promise<void>;
  readonly engines: Engines;
};

/** Something that others wrote and that behaves as AWS does. One file and one line in a suite add one. */
export type Engine = {
  readonly name: string;
  /** Fixed: a new version is another folder in the cache. */
  readonly version: string;
  /** The oldest Java that runs it; none if absent. */
  readonly java?: number;
  readonly fetch: (fetching: Fetching) => Promise<void>;
  /** Throws where a registry that its tests download from, each time that they run, cannot be reached. */
  readonly reach?: () => Promise<unknown>;
  readonly start: (place: Place) => Launch | Promise<Launch>;
};
