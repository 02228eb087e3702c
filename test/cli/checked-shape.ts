import { existsSync, readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

type Ended = { readonly code: number | undefined; readonly out: string };

const fileOf = (words: string) => `docs/schemas/${words.replaceAll(' ', '-')}.json`;

const ajv = new Ajv2020({ allErrors: true });
const shapes = new Map<string, ValidateFunction>();

/** The validator of a command's schema. Other readers must accept members that a schema lacks; this one does not. */
export function shapeOf(words: string): ValidateFunction {
  const shape = shapes.get(words) ?? ajv.compile(withoutMore(readFileSync(fileOf(words), 'utf8')));
  shapes.set(words, shape);
  return shape;
}

/** The schema, changed to reject members that it does not name. */
const withoutMore = (schema: string): object =>
  JSON.parse(schema, (_name, value: unknown) =>
    isRecord(value) && value['type'] === 'object' && 'properties' in value
      ? { additionalProperties: false, ...value }
      : value,
  ) as object;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Throws if the JSON that a command printed does not match its schema in `docs/schemas`. Returns `ended`. */
export function checkedShape<T extends Ended>(argv: readonly string[], ended: T): T {
  if (!argv.includes('--json') || ended.out === '') return ended;
  const value: unknown = JSON.parse(ended.out);
  const words = [argv.slice(0, 2).join(' '), argv[0] ?? ''].find((each) => existsSync(fileOf(each)));
  const isFailure = isRecord(value) && 'error' in value && Object.keys(value).length === 1;
  if (words === undefined) throw new Error(`${argv.join(' ')}: expected a schema for it, got none`);
  const shape = shapeOf(isFailure ? 'error' : words);
  if (shape(value)) return ended;
  throw new Error(
    `${argv.join(' ')}: not what docs/schemas says:\n${ajv.errorsText(shape.errors, { separator: '\n' })}\n${ended.out}`,
  );
}
