import { idDigits } from '../../platform/id.ts';
import type { Description, FindableKind } from './used-thing.ts';

/** Where the records of each kind say what the thing is. */
const fields: Readonly<Record<FindableKind, { name?: string; type?: string; owner?: string }>> = {
  dataset: {},
  calculation: { name: 'name', type: 'status', owner: 'owner' },
  card: { name: 'title', type: 'type', owner: 'ownerId' },
  fileset: {},
  file: { name: 'path', type: 'fileType', owner: 'createdBy' },
  'data-file': { name: 'name', owner: 'responsibleUserId' },
};

export const notDescribed: Description = { name: null, type: null, owner: null };

/** What a record, parsed, says of the thing that it is. */
export function describe(kind: FindableKind, record: unknown): Description {
  const { name, type, owner } = fields[kind];
  const at = (field: string | undefined) => textOf(field === undefined ? undefined : memberOf(record, field));
  return { name: at(name), type: at(type) ?? scanStateOf(kind, record), owner: at(owner) };
}

/** A member of any value; undefined if it has none of that name. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

const scanStateOf = (kind: FindableKind, record: unknown): string | null =>
  kind === 'data-file' ? textOf(memberOf(memberOf(record, 'currentRevision'), 'scanState')) : null;

const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? value : (idDigits(value) ?? null);
