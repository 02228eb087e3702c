/** A statement of a policy in a template. */
export type Statement = {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
};

/** A logical id without its hash. */
export const nameOf = (id: string) => id.replace(/[0-9A-F]{8}$/, '');

/** A resource in short: the joined parts of its ARN, with names for values that are known only at deployment. */
export function placeOf(resource: unknown): string {
  if (typeof resource === 'string') return resource;
  const [[kind, of] = ['', undefined]] = Object.entries(resource as object);
  if (kind === 'Fn::GetAtt') return nameOf((of as string[])[0] ?? '');
  if (kind === 'Fn::Join') return (of as [string, unknown[]])[1].map(placeOf).join('');
  return nameOf(String(of)).replace(/^AWS::/, '');
}

/** A statement as one readable line. */
export function lineOf({ Action, Resource, Condition }: Statement): string {
  const on = [Resource].flat().map(placeOf).toSorted().join(', ');
  const only = Condition === undefined ? '' : ` if ${JSON.stringify(Condition)}`;
  return `${[Action].flat().join(', ')} on ${on}${only}`;
}
