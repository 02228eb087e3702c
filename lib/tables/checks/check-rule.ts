import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { errorText, shortened } from '../../base/index.ts';
import {
  ifUnchanged,
  parseStored,
  printStored,
  type Store,
  StoreError,
  unlessDamaged,
} from '../../store/index.ts';
import type { ExactValue } from '../duckdb/exact-value.ts';
import type { QueryResult } from '../duckdb/open-query.ts';
import type { Tables } from '../duckdb/open-tables.ts';
import { onlyQuery, QueryError } from '../duckdb/query-text.ts';

/** What a user's rule found. A rule is SQL, whose rows are violations. */
export type CheckedRule = {
  readonly file: string;
  /** The first comment of the file; its name if it has no comment, or could not be read as a rule. */
  readonly title: string;
  readonly severity: (typeof severities)[number] | null;
  readonly status: 'passed' | 'violated' | 'not-run';
  /** Why the rule was not run, or did not see all data. */
  readonly fault: string | null;
  readonly columns: readonly string[];
  readonly rows: number | null;
  /**
   * How many rows are new since the last check, and how many are `gone`: they were in the last check only. Null if
   * unknown.
   */
  readonly new: number | null;
  readonly gone: number | null;
  /** When the last check was made, ISO 8601; null for the first check. */
  readonly since: string | null;
  readonly notes: readonly string[];
  /** Some of the rows, new ones first. */
  readonly listed: readonly { readonly new: boolean; readonly row: Readonly<Record<string, ExactValue>> }[];
  readonly seconds: number;
};

const severities = ['error', 'warn'] as const;

type RuleToCheck = NonNullable<Parameters<Tables['query']>[1]> & {
  /** The names of its folder and file, by which the next check recognizes the rule. */
  readonly name: string;
  readonly file: string;
  readonly read: () => Promise<string>;
  readonly store: Pick<Store, 'get' | 'put'>;
  readonly tables: Pick<Tables, 'query'>;
  readonly now: () => number;
  /** Maximum rows to list. All rows are counted. */
  readonly maxListed: number;
};

/**
 * Runs a rule, and compares its rows with the last check's. Memory holds at most the keys of 100,000 rows, and
 * the listed rows. Returns what it found (`checked`), and `save`, which stores the rows' keys for the next check,
 * unless another check has stored its own since then. Both throw `StoreError`.
 */
export async function checkRule(options: RuleToCheck) {
  const { file, read, store, tables, now, maxListed, signal } = options;
  const startMs = now();
  const none = { columns: [], rows: null, new: null, gone: null, since: null, notes: [], listed: [] };
  let rule: Pick<CheckedRule, 'title' | 'severity'> = { title: file, severity: null };
  let found: Omit<CheckedRule, 'file' | 'title' | 'severity' | 'seconds'>;
  let save = async () => {};
  try {
    const { key: named, sql, sha256, ...stated } = parseRule(file, await read());
    rule = stated;
    const path = keyOfRule(options);
    const stored = await store.get(path);
    const parsed = Promise.try(() => stored && parseStored(path, stored.body, storedCheck));
    const before = await parsed.catch(unlessDamaged());
    await using result = await tables.query(sql, options);
    const { rows, faults } = result;
    const key = keyColumns(named, result);
    const known = before?.key.join() === key.join() ? keysIn(before.keys) : undefined;
    const { keys, ...compared } = await compareRows(result, { key, known, maxListed });
    const notes = [...result.notes, ...notesOn(before, key, sha256)];
    const about = { columns: namesOf(result), rows, since: before?.checkedAt ?? null, notes };
    const status = rows === 0 ? 'passed' : 'violated';
    found = { ...about, ...compared, status, fault: null };
    // If data is missing, the keys are not stored: rows that are missing because of that would be new in the next
    // check.
    if (faults.length > 0)
      found = { ...found, status: 'not-run', fault: `not in the result: ${faults.join('; ')}` };
    else
      save = async () => {
        const checkedAt = new Date(startMs).toISOString();
        const body = printStored({ version: 1, rule: options.name, checkedAt, sha256, key, rows, keys });
        await store.put(path, body, { condition: ifUnchanged(stored?.etag) });
      };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof StoreError) throw error;
    found = { ...none, status: 'not-run', fault: errorText(error) };
  }
  const seconds = Math.max(0, now() - startMs) / 1_000;
  return { checked: { file, ...rule, ...found, seconds } satisfies CheckedRule, save };
}

/** Matches the comments before the SQL. */
const COMMENTS = /^(?:\s*(?:--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/))*/;

/**
 * Parses the file of a rule. The comments at its start contain its title, and may contain `severity: error|warn`
 * (default: error) and `key: COLUMN, …`, the columns that identify a row. Throws `QueryError` unless the rest is one
 * SELECT.
 */
function parseRule(file: string, text: string) {
  const [comments = ''] = COMMENTS.exec(text) ?? [];
  let title = '';
  let stated = 'error';
  let key: readonly string[] = [];
  for (const line of comments.split('\n')) {
    const words = line.replace(/^\s*(?:--+|\/\*+|\*(?!\/))?/, '').replace(/\*\/\s*$/, '');
    const [, before = words, severity = stated] = /^(.*?)\bseverity\s*:\s*(.*?)[\s.)]*$/i.exec(words) ?? [];
    stated = severity;
    const [, columns] = /^\s*key\s*:(.*)$/i.exec(before) ?? [];
    if (columns !== undefined) key = columns.split(',').map((column) => column.trim());
    else title ||= before.replace(/[\s;,(]+$/, '').trim();
  }
  const severity = severities.find((each) => each === stated.toLowerCase());
  if (severity === undefined)
    throw ruleError(`severity: expected ${severities.join(' or ')}, got ${quoted(stated)}`);
  const sha256 = hash('sha256', text.slice(comments.length));
  return { title: title || file, severity, key, sql: onlyQuery(text), sha256 };
}

const ruleError = (message: string) => new QueryError(message, { kind: 'sql' });
const quoted = (text: string) => JSON.stringify(shortened(text, 100));

/** Schema of what is stored of the last check of a rule. */
const storedCheck = z.object({
  version: z.literal(1),
  rule: z.string(),
  /** When the rule was checked, ISO 8601. */
  checkedAt: z.string(),
  /** The SHA-256 of its SQL, without the comments at its start. */
  sha256: z.string(),
  /** The columns that identify its rows. */
  key: z.array(z.string()),
  rows: z.number(),
  /** Eight bytes for each row: the hash of its key; null if there were more than `MAX_KEYS` rows. */
  keys: z.nullable(z.base64()),
});

const MAX_KEYS = 100_000;
const HEX_DIGITS = 16;

/**
 * The key under which the last check of a rule is stored. It contains a hash, since a file's name may have any
 * characters. The same name in another Unicode form has the same key.
 */
const keyOfRule = ({ name }: Pick<RuleToCheck, 'name'>) =>
  `checks/${hash('sha256', name.normalize('NFC')).slice(0, 32)}.json`;

function* notesOn(before: z.infer<typeof storedCheck> | undefined, key: readonly string[], sha256: string) {
  if (before === undefined) return;
  if (before.key.join() !== key.join())
    yield `it is unknown which rows are new: the last check identified rows by ${before.key.join(', ')}, this check by ${key.join(', ')}`;
  else if (before.keys === null)
    yield `it is unknown which rows are new: the last check had more than ${MAX_KEYS.toLocaleString('en')} rows`;
  else if (before.sha256 !== sha256)
    yield 'its SQL has changed since the last check, so a new row may be an old violation';
}

const namesOf = ({ columns }: QueryResult) => columns.map(({ name }) => name);

/**
 * The columns that identify a row: those in the rule's `key`, or else all columns of ids, or else all columns. Throws
 * `QueryError`.
 */
function keyColumns(named: readonly string[], result: QueryResult): readonly string[] {
  const names = namesOf(result);
  for (const each of named)
    if (!names.includes(each))
      throw ruleError(`key: expected columns of the rule (${names.join(', ')}), got ${quoted(each)}`);
  const ids = names.filter((name) => /(?:^|_)id$/i.test(name));
  return [named, ids, names].find(({ length }) => length > 0) ?? [];
}

const keysIn = (keys: string | null): ReadonlySet<string> | undefined =>
  keys === null ? undefined : new Set(Buffer.from(keys, 'base64').toString('hex').match(/.{16}/g));

async function compareRows(
  result: QueryResult,
  options: Pick<RuleToCheck, 'maxListed'> & {
    readonly key: readonly string[];
    /** The keys of the last check; undefined if they are not known. */
    readonly known: ReadonlySet<string> | undefined;
  },
) {
  const { key, known, maxListed } = options;
  const names = namesOf(result);
  const positions = key.map((name) => names.indexOf(name));
  const isSmall = result.rows <= MAX_KEYS;
  const keys = new Set<string>();
  const gone = new Set(known);
  const lists: Record<'added' | 'others', CheckedRule['listed'][number][]> = { added: [], others: [] };
  let added = 0;
  for await (const batch of result.batches())
    for (const values of batch) {
      const digest = hash('sha256', JSON.stringify(positions.map((position) => values[position]))).slice(
        0,
        HEX_DIGITS,
      );
      if (isSmall) keys.add(digest);
      gone.delete(digest);
      const isAdded = known !== undefined && !known.has(digest);
      if (isAdded) added += 1;
      const list = lists[isAdded ? 'added' : 'others'];
      if (list.length < maxListed)
        list.push({
          new: isAdded,
          row: Object.fromEntries(names.map((name, at) => [name, values[at] ?? null])),
        });
    }
  return {
    keys: isSmall ? Buffer.from([...keys].sort().join(''), 'hex').toString('base64') : null,
    new: known === undefined ? null : added,
    gone: known === undefined ? null : gone.size,
    listed: [...lists.added, ...lists.others].slice(0, maxListed),
  };
}
