import { parseJson } from '../../json/json.ts';
import { type LineReader, readLines } from '../../snapshot/changes/line-reader.ts';
import type { Manifest } from '../../snapshot/manifest.ts';
import type { Store } from '../../store/store.ts';
import { damageIn } from './damage.ts';
import { type Members, membersOf } from './values.ts';

/** Takes a record and its number in the run, from 0: the same each time the run is read. */
type Visit = (record: Members, number: number) => void;

/** Whether a record is wanted when its run is read again. Others may be visited all the same. */
type Wants = (number: number) => boolean;

/** The records of a published run, which may be read more than once. */
export type RunRecords = {
  readonly manifest: Manifest;
  /**
   * Reads all records. What cannot be read becomes a fault, once, and the rest is read all the same: a part that is
   * missing or damaged, a line that is no record. Throws the store's own errors, and the signal's reason.
   */
  readonly read: (visit: Visit, wants?: Wants) => Promise<void>;
};

export type RunToRead = {
  readonly store: Store;
  readonly manifest: Manifest;
  readonly addFault: (fault: string) => void;
  readonly signal: AbortSignal;
};

export function openRun({ store, manifest, addFault, signal }: RunToRead): RunRecords {
  /** How many records each part had when it was read first. */
  const found: number[] = [];
  /** Whether all of its lines were records: then those that nobody wants need not be parsed. */
  const isSound: boolean[] = [];
  const addOnce = createFaults(manifest.source, addFault);
  async function readPart(at: number, first: number, { visit, wants }: Reading): Promise<void> {
    const part = manifest.parts[at];
    if (part === undefined) return;
    // If the part has changed since, the other records still have their numbers.
    const most = found[at] ?? Number.POSITIVE_INFINITY;
    const reader = readLines({ store, parts: [part], signal });
    const odd: { lines: number; first: string | undefined } = { lines: 0, first: undefined };
    let records = 0;
    try {
      for (let next = reader.next(); typeof next === 'boolean' ? next : await next; next = reader.next()) {
        if (isSound[at] && !wants(first + records)) {
          reader.release();
          records += 1;
          continue;
        }
        const record = recordIn(reader);
        if (record === undefined) {
          odd.lines += 1;
          odd.first ??= reader.place();
        } else if (records < most) {
          visit(record, first + records);
          records += 1;
        }
      }
    } catch (error) {
      addOnce(`${damageIn(error)}; ${inWords(records, 'record')} of it are in the report`);
    } finally {
      await reader.close();
      found[at] ??= records;
      isSound[at] ??= odd.lines === 0;
    }
    if (odd.first !== undefined)
      addOnce(
        `${odd.first}: expected a record, got something else; ${inWords(odd.lines, 'such line')} left out`,
      );
  }
  return {
    manifest,
    async read(visit, wants = () => true) {
      let first = 0;
      for (const at of manifest.parts.keys()) {
        signal.throwIfAborted();
        await readPart(at, first, { visit, wants });
        first += found[at] ?? 0;
      }
    },
  };
}

/** Makes a function that adds each fault once, however often the run is read. */
function createFaults(source: string, addFault: (fault: string) => void): (fault: string) => void {
  const known = new Set<string>();
  return (fault) => {
    if (!known.has(fault)) addFault(`${source}: ${fault}`);
    known.add(fault);
  };
}

type Reading = { readonly visit: Visit; readonly wants: Wants };

const inWords = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

function recordIn(reader: LineReader): Members | undefined {
  const { json, start, end } = reader.line;
  const text = json.bytes.toString('utf8', start, end);
  // Nothing of what was read before is used any more.
  reader.release();
  try {
    const value = parseJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? membersOf(value)
      : undefined;
  } catch {
    return undefined;
  }
}
