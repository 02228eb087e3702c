import * as z from 'zod/mini';
import { filledText, nearestName } from '../../../base/index.ts';

/** The fields that a search of calculations filters by, as far as they are known; each also with `not` before it. */
const FILTER_FIELDS = [
  'active',
  'archived',
  'card',
  'column',
  'created',
  'dataset',
  'datatype',
  'function',
  'global',
  'inactive',
  'legacyid',
  'link',
  'locked',
  'modified',
  'name',
  'nested',
  'owner',
  'status',
  'variable',
] as const;

const NOT = /^not[ _-]?/;

function isKnown(text: string): boolean {
  const name = text.trim().toLowerCase();
  const plain = name.replace(NOT, '');
  return FILTER_FIELDS.some((field) => field === name || field === plain);
}

function expected(text: unknown): string {
  const fields = `a filter field (${FILTER_FIELDS.join(', ')}; or one with not before it, as notarchived)`;
  if (typeof text !== 'string') return fields;
  const name = text.trim().toLowerCase();
  const nearest = nearestName(name.replace(NOT, ''), FILTER_FIELDS);
  return nearest === undefined ? fields : `${fields}, such as ${NOT.exec(name)?.[0] ?? ''}${nearest}`;
}

/** A field to filter by. The platform refuses others with 400, so they are refused before anything is sent. */
export const filterField = filledText.check(
  z.refine((text) => isKnown(String(text)), { error: ({ input }) => expected(input) }),
);
