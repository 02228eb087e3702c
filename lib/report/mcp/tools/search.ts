import * as z from 'zod/mini';
import { sources } from '../../../snapshot/sources/sources.ts';
import { createRoom } from '../bounds.ts';
import { cursorInput, cursorOf, limitInput, listEnd, readCursor } from '../cursor.ts';
import { findMatches, isModelled, type Match, matchPosition, SEARCHED, wordsOf } from '../find-matches.ts';
import { publishedOf } from '../stored-records.ts';
import { withinTime } from '../time-limit.ts';
import { defineTool, READS } from '../tool.ts';

const input = z.strictObject({
  text: z
    .string({ error: 'text of at most 500 characters' })
    .check(z.maxLength(500, { error: 'text of at most 500 characters' }))
    .check(
      z.describe(
        'words that all occur in the name, title, path or id; upper and lower case are the same; "" finds all',
      ),
    ),
  source: z.optional(
    z.enum(SEARCHED, { error: `one of ${SEARCHED.join(', ')}` }).check(z.describe('only one source')),
  ),
  limit: limitInput(100, 20),
  cursor: cursorInput,
});

/** Of more places, the others are searched too. */
const MOST_PLACES = 50;

/** `search`: records by the text that people know them by. */
export const search = defineTool({
  title: 'Search names and ids',
  description:
    'Finds calculations, files, cards, data files, datasets and owners of the last published snapshots by name, title, path or id; of datasets and owners also what the model counts. The keys that it returns are for get and where_used. Formulas are not searched: the platform lists none.',
  annotations: READS,
  input,
  output: z.object({
    data: z.object({
      matches: z.array(
        z.object({
          source: z.enum(SEARCHED),
          place: z.string(),
          key: z.string(),
          label: z.string(),
          counts: z.optional(
            z
              .record(z.string(), z.number())
              .check(z.describe('how many use a dataset, or what an owner has and what is wrong with it')),
          ),
        }),
      ),
      faults: z.array(z.string()).check(z.describe('what is damaged and was not searched')),
    }),
    searched: z.array(z.object({ place: z.string(), run: z.string(), records: z.number() })),
    ...listEnd,
  }),
  async run({ text, source, limit, cursor }, call) {
    const store = await call.store();
    const wanted = sources.filter((each) => isModelled(source) || each === (source ?? each));
    const { runs, faults } = await publishedOf(store, wanted);
    const searched = runs.slice(0, MOST_PLACES).map(({ place, manifest }) => ({
      place,
      run: manifest.run,
      records: manifest.records,
    }));
    const from = cursor === undefined ? undefined : readCursor(cursor, matchPosition);
    const room = createRoom({ data: { matches: [], faults }, searched, nextCursor: 'x'.repeat(400) }, limit);
    const matches: Match[] = [];
    return await withinTime(
      call.signal,
      async (signal) => {
        const search = { store, runs, source, from, words: wordsOf(text), now: call.now, signal };
        for await (const { match, position } of findMatches(search)) {
          if (match === undefined || !room.takes(match))
            return {
              data: { matches, faults: [...faults] },
              searched,
              isCut: true,
              nextCursor: cursorOf(position),
            };
          matches.push(match);
        }
        return { data: { matches, faults: [...faults] }, searched, isCut: false };
      },
      { instead: 'search one source, or use the tool query' },
    );
  },
});
