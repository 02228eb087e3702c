import { type Table, TableError } from '../../../lib/table/index.ts';
import type { Dice } from '../../proofs/dice.ts';
import type { Fault } from './faults.ts';

/** The options of a client in one history. */
export type ClientOptions = {
  readonly history: string;
  readonly dice: Dice;
  readonly fault: Fault | undefined;
  readonly table: Table;
  /** A folder that all clients share, for staged outcomes. */
  readonly folder: string;
  /** Epoch milliseconds by this client's clock. */
  readonly nowMs: () => number;
  readonly newId: () => string;
  readonly record: (line: {
    readonly id: string;
    readonly in?: object;
    readonly late?: object;
    readonly out?: object;
  }) => void;
};

/** Takes one step, and records its call and its response. Returns undefined if the table did not respond. */
export async function recorded<Answer>(
  { record, newId }: ClientOptions,
  asked: object,
  act: (id: string) => Promise<Answer>,
  outOf: (answer: Answer) => object,
): Promise<{ readonly id: string; readonly answer: Answer } | undefined> {
  const id = newId();
  record({ id, in: asked });
  try {
    const answer = await act(id);
    record({ id, out: outOf(answer) });
    return { id, answer };
  } catch (error) {
    // The write may take effect anyway, now or later.
    if (error instanceof TableError) return undefined;
    throw error;
  }
}
