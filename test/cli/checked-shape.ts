import * as z from 'zod/mini';
import { shapes } from './shapes/shapes.ts';

type Ended = { readonly code: number | undefined; readonly out: string };

/** Throws if a command printed another JSON value than docs/schemas says. Returns what it was given. */
export function checkedShape<T extends Ended>(argv: readonly string[], ended: T): T {
  if (!argv.includes('--json') || ended.out === '') return ended;
  const value: unknown = JSON.parse(ended.out);
  const words = [argv.slice(0, 2).join(' '), argv[0] ?? ''].find((each) => each in shapes) ?? '';
  const isFailure =
    typeof value === 'object' && value !== null && 'error' in value && Object.keys(value).length === 1;
  const shape = shapes[isFailure ? 'error' : words];
  if (shape === undefined) throw new Error(`${argv.join(' ')}: expected a shape for it, got none`);
  const { error } = z.safeParse(shape, value);
  if (error === undefined) return ended;
  throw new Error(`${argv.join(' ')}: not what docs/schemas says:\n${z.prettifyError(error)}\n${ended.out}`);
}
