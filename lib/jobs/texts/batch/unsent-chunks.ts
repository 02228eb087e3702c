import { AwsError } from '../../../base/index.ts';
import { unsentOf } from '../../queue/unsent-error.ts';
import type { ScoreJob } from '../../types/score/message.ts';

/** Some chunks of a batch have no message on the queue; all others were split. The batch can be split again. */
class UnsentChunksError extends Error {
  override readonly name = 'UnsentChunksError';
}

/** How many chunks an error names. */
const MOST_NAMED = 20;

export type UnsentChunks = {
  /** Sends the messages of some chunks. Throws if the queue cannot be used at all. */
  send(messages: readonly ScoreJob[]): Promise<void>;
  /** Throws `UnsentChunksError`, with the reason for the first chunk, if any message was not sent. */
  check(): void;
};

/** Sends the messages of a batch, so that a chunk whose message cannot be sent does not stop the others. */
export function createUnsentChunks(
  batch: string,
  send: (messages: readonly ScoreJob[]) => Promise<void>,
): UnsentChunks {
  const named: number[] = [];
  let count = 0;
  let cause: unknown;
  return {
    async send(messages) {
      const unsent = await unsentOf(() => send(messages));
      const chunks = unsent.flatMap(({ index }) => messages[index]?.chunk ?? []);
      if (count === 0) cause = unsent[0]?.cause;
      count += unsent.length;
      named.push(...chunks.slice(0, MOST_NAMED - named.length));
    },
    check() {
      if (count === 0) return;
      const rest = count > named.length ? ` and ${count - named.length} more` : '';
      const { message } = new AwsError('the first', cause);
      throw new UnsentChunksError(
        `batch ${batch}: the messages of chunks ${named.join(', ')}${rest} were not sent, those of all others were; ${message}. Split the batch again`,
        { cause },
      );
    },
  };
}
