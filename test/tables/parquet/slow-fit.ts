import { parseColumnType, type TableColumns } from '../../../lib/tables/parquet/hive-type.ts';

type ColumnType = ReturnType<typeof parseColumnType>;

/** A JSON value with its source text, read with exact numbers and with all members of the same name. */
type Node = { readonly raw: string } & (
  | { readonly kind: 'null' | 'boolean' | 'number' | 'text' }
  | { readonly kind: 'array'; readonly elements: readonly Node[] }
  | { readonly kind: 'object'; readonly members: readonly Member[] }
);
type Member = { readonly name: string; readonly raw: string; readonly value: Node };

const TOKEN = /\s*([[\]{}:,]|"(?:[^"\\]|\\.)*"|[^\s[\]{}:,"]+)/gy;

/** Reads a JSON text that is known to be valid. */
function readNode(text: string): Node {
  const tokens = [...text.matchAll(TOKEN)].map((match) => ({
    token: match[1] ?? '',
    end: match.index + match[0].length,
  }));
  let next = 0;
  const peek = () => tokens[next]?.token;
  const start = () => (tokens[next]?.end ?? 0) - (peek()?.length ?? 0);
  const end = () => tokens[next - 1]?.end ?? 0;

  function value(): Node {
    const from = start();
    const token = peek() ?? '';
    next += 1;
    if (token === '[') {
      const elements: Node[] = [];
      while (peek() !== ']') {
        elements.push(value());
        if (peek() === ',') next += 1;
      }
      next += 1;
      return { kind: 'array', elements, raw: text.slice(from, end()) };
    }
    if (token === '{') {
      const members: Member[] = [];
      while (peek() !== '}') {
        const at = start();
        const name = JSON.parse(peek() ?? '') as string;
        next += 2;
        const member = value();
        members.push({ name, value: member, raw: text.slice(at, end()) });
        if (peek() === ',') next += 1;
      }
      next += 1;
      return { kind: 'object', members, raw: text.slice(from, end()) };
    }
    const kind =
      token === 'null' ? 'null' : /^[tf]/.test(token) ? 'boolean' : token[0] === '"' ? 'text' : 'number';
    return { kind, raw: token };
  }

  return value();
}

/** A value that fits its type, as in JSON but with exact integers; `{ fits: false }` if any part of it does not fit. */
type Fitted = { readonly value: unknown; readonly fits: boolean };

const UNFIT: Fitted = { value: null, fits: false };

function fitNode(node: Node, type: ColumnType): Fitted {
  if (node.kind === 'null') return { value: null, fits: true };
  switch (type.kind) {
    case 'string': {
      if (node.kind === 'number') return { value: node.raw, fits: true };
      if (node.kind !== 'text') return UNFIT;
      const text = JSON.parse(node.raw) as string;
      return { value: text.replaceAll(/\p{Surrogate}/gu, '?'), fits: text.isWellFormed() };
    }
    case 'boolean':
      return node.kind === 'boolean' ? { value: node.raw === 'true', fits: true } : UNFIT;
    case 'bigint': {
      const value = node.kind === 'number' ? integer(node.raw) : undefined;
      return value === undefined ? UNFIT : { value, fits: true };
    }
    case 'array': {
      if (node.kind !== 'array') return UNFIT;
      const elements = node.elements.map((element) => fitNode(element, type.element));
      return { value: elements.map(({ value }) => value), fits: elements.every(({ fits }) => fits) };
    }
    case 'map': {
      if (node.kind !== 'object') return UNFIT;
      const last = lastOfEach(node.members);
      const entries = last.filter(({ name }) => name.isWellFormed());
      const values = new Map(entries.map(({ name, value }) => [name, fitNode(value, type.value)]));
      return {
        value: Array.from(values, ([key, { value }]) => ({ key, value })),
        fits: entries.length === last.length && [...values.values()].every(({ fits }) => fits),
      };
    }
    case 'struct': {
      if (node.kind !== 'object') return UNFIT;
      const members = lastOfEach(node.members);
      const fitted = type.fields.map(({ name, type: field }) => {
        const member = members.find((each) => each.name === name);
        return {
          name,
          ...(member === undefined ? { value: null, fits: true } : fitNode(member.value, field)),
        };
      });
      const isKnown = members.every(({ name }) => type.fields.some((field) => field.name === name));
      return {
        value: Object.fromEntries(fitted.map(({ name, value }) => [name.toLowerCase(), value])),
        fits: isKnown && fitted.every(({ fits }) => fits),
      };
    }
    default:
      throw new TypeError(type.kind);
  }
}

/** Keeps the last of the members with one name. */
const lastOfEach = (members: readonly Member[]): readonly Member[] =>
  members.filter((member) => members.findLast(({ name }) => name === member.name) === member);

const repeatsIn = (node: Node): boolean => {
  if (node.kind === 'array') return node.elements.some(repeatsIn);
  if (node.kind !== 'object') return false;
  return (
    new Set(node.members.map(({ name }) => name)).size < node.members.length ||
    node.members.some(({ value }) => repeatsIn(value))
  );
};

function printLast(node: Node): string {
  if (node.kind === 'array') return `[${node.elements.map(printLast).join(',')}]`;
  if (node.kind !== 'object') return node.raw;
  const members = lastOfEach(node.members).map(
    ({ raw, value }) => `${raw.slice(0, raw.length - value.raw.length)}${printLast(value)}`,
  );
  return `{${members.join(',')}}`;
}

/** Returns the JSON unchanged, unless an object repeats a name: then only the last member of each name stays. */
function lastAlone(text: string): string {
  const node = readNode(text);
  return repeatsIn(node) ? printLast(node) : text;
}

/** Parses an integer in any notation: digits, a fraction of zeros, an exponent. */
function integer(source: string): bigint | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(source) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '').replace(/0+$/, '');
  const zeros = /0*$/.exec(`${whole}${fraction}`)?.[0].length ?? 0;
  const power = zeros - fraction.length + Number(exponent);
  if (digits === '') return 0n;
  if (power < 0 || power > 20) return undefined;
  const value = BigInt(`${sign}${digits}${'0'.repeat(power)}`);
  return value < -(2n ** 63n) || value >= 2n ** 63n ? undefined : value;
}

/** The row of a line, and the number of members in `_other`: `createLineFitter` in a simple and slow form. */
export function fitSlowly(line: string, table: TableColumns) {
  const node = readNode(line);
  const row: Record<string, unknown> = Object.fromEntries(
    Object.keys(table).map((name) => [name.toLowerCase(), null]),
  );
  if (node.kind !== 'object') return { row: { ...row, _other: lastAlone(node.raw) }, others: 1 };
  const fields = Object.entries(table)
    .filter(([name, type]) => name !== '_other' && type !== 'timestamp')
    .map(([name, type]) => ({ name, type: parseColumnType(type) }));
  const others = lastOfEach(node.members).filter((member) => {
    const { name, value } = member;
    const field = fields.find((each) => each.name === name);
    if (field === undefined) return true;
    const fitted = fitNode(value, field.type);
    row[name.toLowerCase()] = fitted.value;
    return !fitted.fits;
  });
  for (const [name, type] of Object.entries(table)) {
    const ms = row[name.toLowerCase().replace(/_at$/, '')];
    const isMoment = type === 'timestamp' && typeof ms === 'bigint';
    if (isMoment && ms >= BigInt(Date.UTC(1, 0) - YEAR_1901_MS) && ms < BigInt(Date.UTC(10_000, 0)))
      row[name.toLowerCase()] = ms;
  }
  if (others.length > 0) row['_other'] = lastAlone(`{${others.map(({ raw }) => raw).join(',')}}`);
  return { row, others: others.length };
}

/** `Date.UTC(1, 0)` is in 1901. */
const YEAR_1901_MS = Date.UTC(1901, 0) - Date.parse('0001-01-01T00:00:00Z');
