/** Maximum number of tries while an input is made smaller. */
const MAX_TRIES = 3_000;

/**
 * Finds a smaller input that breaks the same property: shortens texts and lists and removes members for as long as
 * `breaks` returns true.
 */
export async function reduce(
  input: unknown,
  breaks: (candidate: unknown) => Promise<boolean>,
  mostMs = 60_000,
): Promise<unknown> {
  const untilMs = performance.now() + mostMs;
  let smallest = input;
  let tries = 0;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const candidate of simpler(smallest)) {
      tries += 1;
      if (tries > MAX_TRIES || performance.now() > untilMs) return smallest;
      if (!(await breaks(candidate))) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

/** Simpler versions of a JSON value, those that leave out most first. */
function* simpler(value: unknown): Generator<unknown> {
  if (typeof value === 'string') {
    yield* shorter(value.length, (from, to) => value.slice(0, from) + value.slice(to));
    if (value.length <= 60) yield* plainer(value);
  } else if (Array.isArray(value)) {
    yield* shorter(value.length, (from, to) => value.toSpliced(from, to - from));
    for (const [index, each] of value.entries())
      for (const part of simpler(each)) yield value.with(index, part);
  } else if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value);
    for (const [name] of members) yield Object.fromEntries(members.filter(([other]) => other !== name));
    for (const [name, each] of members) for (const part of simpler(each)) yield { ...value, [name]: part };
  } else if (value === true) yield false;
  else if (typeof value === 'number' && value > 0) yield* [0, Math.floor(value / 2), value - 1];
}

/** Variants with a half, a quarter and so on cut out, down to single items. */
function* shorter<T>(length: number, without: (from: number, to: number) => T): Generator<T> {
  for (let size = length; size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < length; from += size) yield without(from, Math.min(length, from + size));
  }
}

/** Variants in which one character is replaced by a simpler one. */
function* plainer(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (!/[a0]/.test(character))
      yield `${text.slice(0, at)}${/\d/.test(character) ? '0' : 'a'}${text.slice(at + 1)}`;
  }
}
