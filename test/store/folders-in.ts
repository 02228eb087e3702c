/** The folders of these keys directly below a prefix. For fakes of a store. */
export function foldersIn(keys: Iterable<string>, prefix: string): ReadonlySet<string> {
  const depth = prefix.split('/').length;
  return new Set(
    [...keys]
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.split('/'))
      .filter((names) => names.length > depth)
      .map((names) => names.slice(0, depth).join('/')),
  );
}
