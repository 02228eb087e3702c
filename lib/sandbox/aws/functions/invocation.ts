/** What is asked of a runner: one invocation, with what its context tells. */
export type Invocation = {
  readonly id: string;
  readonly event: unknown;
  /** When the time is up, epoch milliseconds. */
  readonly deadlineMs: number;
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMb: number;
};

/** An error as Lambda answers it. */
export type ThrownError = {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace: readonly string[];
};

/** What a runner sends: once that it is ready (`id` is `startId`), then one reply an invocation. */
export type Reply =
  | { readonly id: string; readonly kind: 'answer'; readonly answer: unknown }
  | { readonly id: string; readonly kind: 'threw'; readonly error: ThrownError };

/** Stands for the loading of the handler, where replies name invocations. */
export const startId = 'start';
