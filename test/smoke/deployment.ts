import type { Store } from '../../lib/store/store.ts';

/** A deployed stack, or one on this machine, as far as the smoke test needs it. */
export type Deployment = {
  readonly store: Store;
  /** Puts a job on the queue of jobs of all types. */
  send(job: object): Promise<void>;
  /** Puts an event on the bus, and returns its id. */
  emit(event: SmokeEvent): Promise<string>;
  /** The rows that a query finds; undefined where there is no Athena. */
  readonly query: ((sql: string) => Promise<number>) | undefined;
  /** The alarms that are red; undefined where there is no CloudWatch. */
  readonly redAlarms: (() => Promise<readonly string[]>) | undefined;
  /** Lets what was started go on while something is waited for. */
  wait(): Promise<void>;
};

type SmokeEvent = {
  readonly source: string;
  readonly detailType: string;
  readonly detail: Readonly<Record<string, unknown>>;
};

/** What only the operator knows: without it, the step is skipped. */
export type SmokeInputs = {
  /** The job of a code function that does no harm: package, version, name and input. */
  readonly job?: Readonly<Record<string, unknown>> | undefined;
  /** An event that a rule of the stack takes. */
  readonly event?: SmokeEvent | undefined;
};
