import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import type { Finished } from './promises.ts';

/** What a text's row in the table says as far as it is checked. */
const rowSchema = z.object({ textHash: z.string(), sends: z.number() });

/** **No send is repeated blindly**: a text is paid for once, and the cache counts every call that may have been paid. */
export async function checkTexts({ scene, broken }: Finished) {
  const rows = new Map(
    (await Array.fromAsync(scene.table.rows.scan('score#'))).map(({ row }) => {
      const { textHash, sends } = rowSchema.parse(row);
      return [textHash, sends] as const;
    }),
  );
  const calls = scene.platform.texts();
  const texts = new Set(calls.map(({ subject }) => subject));
  let again = 0;
  for (const text of texts) {
    const own = calls.filter(({ subject }) => subject === text);
    const sends = rows.get(hash('sha256', text));
    again += own.length - 1;
    if (sends === undefined) broken(`A text is paid for once: ${text} was scored, and has no row`);
    else if (sends < own.length)
      broken(
        `A text is paid for once: ${text} was scored ${own.length} times, and the cache counted ${sends}`,
      );
    // A response that reached a process without any trouble since it was sent is never paid for again; while a process
    // stands still, its claim of a text ends.
    const sound = own.filter(
      ({ isKnown, process, troublesBefore }) => isKnown && process.troubles === troublesBefore,
    );
    if (sound.length > 1)
      broken(`A text is paid for once: ${text} was scored ${sound.length} times without any fault`);
  }
  return { texts: texts.size, paidAgain: again };
}
