import type { Holder, JobRow } from './job-row.ts';
import type { Decision } from './transitions.ts';

/** A row, and the token of the write that stored it. */
export type FoundRow = { readonly row: JobRow; readonly token: string };

/** The row that was stored, or the one that is there instead. */
type Written =
  | { readonly kind: 'stored'; readonly stored: FoundRow }
  | { readonly kind: 'other'; readonly current: FoundRow | undefined };

export type StepParts = {
  readonly read: (id: string) => Promise<FoundRow | undefined>;
  /** Writes a row over the one with the token `expected`; null: where there is none. */
  readonly write: (id: string, row: JobRow, expected: string | null) => Promise<Written>;
};

export type StepOptions = {
  /** Whose step it is: the row that the holder stored last is taken for the current one. */
  readonly holder?: Holder;
  /** Whether the job most likely has no row yet. */
  readonly isNew?: boolean;
};

type Decide<Answer> = (row: JobRow | undefined) => Decision<Answer>;

/**
 * Takes a step of a job: decides from its row, and writes what was decided over that row.
 *
 * The row is not read if it is known: a holder stored it, or nobody has yet. That is safe, although others may have
 * changed it since, because a write succeeds only over the very row that it was decided from. A decision from a
 * remembered row that writes nothing is made again from the row that is there. After a lost race the step is decided
 * again from the row that won: each retry is somebody else's progress.
 */
export function createSteps({ read, write }: StepParts) {
  const remembered = new WeakMap<Holder, FoundRow>();

  const firstGuess = ({
    holder,
    isNew = false,
  }: StepOptions): { readonly row: FoundRow | undefined } | undefined => {
    const row = holder && remembered.get(holder);
    return row !== undefined || isNew ? { row } : undefined;
  };

  return async <Answer>(id: string, decide: Decide<Answer>, options: StepOptions = {}): Promise<Answer> => {
    const guess = firstGuess(options);
    let isCurrent = guess === undefined;
    let found = guess === undefined ? await read(id) : guess.row;
    for (;;) {
      const decision = decide(found?.row);
      if (decision.write !== undefined) {
        const written = await write(id, decision.write, found?.token ?? null);
        if (written.kind === 'stored') {
          // The answer holds the row that was written: it proves a claim as well as the holder does.
          for (const holder of [decision.write, options.holder])
            if (holder) remembered.set(holder, written.stored);
          return decision.answer;
        }
        found = written.current;
      } else if (isCurrent) {
        return decision.answer;
      } else {
        found = await read(id);
      }
      isCurrent = true;
    }
  };
}
