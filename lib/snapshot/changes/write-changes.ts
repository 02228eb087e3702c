import { once } from 'node:events';
import { createGzip } from 'node:zlib';
import type { Store } from '../../store/store.ts';
import { printChange } from './change.ts';
import type { ComparisonStep } from './comparison.ts';
import { type ChangeCounts, createChangeCounter } from './count-changes.ts';

/** The file name of a run's changes against the run published before. */
export const CHANGES_NAME = '_changes.ndjson.gz';

export type WriteChangesOptions = {
  readonly store: Store;
  readonly key: string;
  /** The steps that `compareRuns` yields. */
  readonly changes: AsyncIterable<ComparisonStep>;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Writes changes as gzipped lines under a key and returns their counts. The same changes give the same bytes.
 * Memory holds the compressed object: it is stored once it is complete, and not at all if the comparison fails.
 */
export async function writeChanges(options: WriteChangesOptions): Promise<ChangeCounts> {
  const { store, key, changes, signal } = options;
  const counter = createChangeCounter();
  let lines = openLines();
  try {
    for await (const step of changes) {
      signal?.throwIfAborted();
      counter.add(step);
      if (step.change !== 'restart') await lines.write(printChange(step));
      else {
        lines.discard();
        lines = openLines();
      }
    }
    await store.put(key, await lines.end(), signal === undefined ? {} : { signal });
    return counter.counts();
  } finally {
    lines.discard();
  }
}

/** The number of characters that are buffered before they are given to the compressor. */
const BUFFERED = 65_536;

function openLines() {
  const compressor = createGzip({ level: 6 });
  const chunks: Buffer[] = [];
  compressor.on('data', (chunk: Buffer) => chunks.push(chunk));
  let buffered: string[] = [];
  let characters = 0;
  const flush = async () => {
    const text = buffered.join('');
    [buffered, characters] = [[], 0];
    if (text !== '' && !compressor.write(text)) await once(compressor, 'drain');
  };
  return {
    async write(line: string): Promise<void> {
      buffered.push(line, '\n');
      characters += line.length + 1;
      if (characters >= BUFFERED) await flush();
    },
    async end(): Promise<Buffer> {
      await flush();
      const ended = once(compressor, 'end');
      compressor.end();
      await ended;
      return Buffer.concat(chunks);
    },
    discard: () => void compressor.destroy(),
  };
}
