import { drawFor, itemsOf, randomFor } from './random.ts';

/** Someone who owns things. Groups own cards, never calculations. */
export type Person = { readonly id: number; readonly displayName: string };

const USERS = 120;
const GROUPS = 12;

export function userAt(seed: number, index: number): Person {
  const number = index % USERS;
  const random = randomFor(seed, 'user', number);
  const id = userIdAt(seed, number);
  return { id, displayName: `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}` };
}

export function userIdAt(seed: number, index: number): number {
  const number = index % USERS;
  return 100_000_000 + number * 7_301 + Math.floor(drawFor(seed, 'user id', number) * 7_000);
}

/** The number of the user that owns a record; a few users own many records. */
export function ownerFor(seed: number, stream: string, index: number): number {
  return Math.floor(drawFor(seed, stream, index) ** 2 * USERS);
}

export function groupAt(seed: number, index: number): Person {
  const number = index % GROUPS;
  const id = 900_000_000 + number * 911 + randomFor(seed, 'group', number).below(900);
  return { id, displayName: GROUP_NAMES[number % GROUP_NAMES.length] ?? 'Group' };
}

const FIRST_NAMES = itemsOf`Aisha|Ana|Björn|Chloé|Dmitri|Elif|Fatima|Grace|Hiroshi|Ingrid|João|Katarzyna|Liam|María|Noor|
  Olga|Priya|Quentin|Rui|Søren|Thảo|Uma|Víctor|Wanjiru|莉|健`;

const LAST_NAMES = itemsOf`Andersson|Bauer|Chen|Díaz|Ekström|Fernández|García|Haddad|Ivanova|Jørgensen|Kowalska|Lefèvre|
  Müller|Nguyễn|O'Brien|Patel|Quispe|Rossi|Smith|Tanaka|Ünal|Van der Berg|山田`;

const GROUP_NAMES = itemsOf`Finance|Sales Ops|Marketing EMEA|Data Platform|Executives|Supply Chain|Customer Success|HR|
  Product Analytics|Ventas LATAM|Qualité|Field & Partners`;
