import type { DeclaredType } from './types.ts';

/** An input of a code function; inputs are passed by position, in the order of their declaration. */
export type FunctionInput = DeclaredType & { readonly name: string };

/** A function of a package: `source` is one JavaScript function expression, which may be async. */
export type CodeFunction = {
  readonly name: string;
  readonly inputs: readonly FunctionInput[];
  readonly output: DeclaredType;
  readonly source: string;
};

export function codeFunction(
  inputs: Readonly<Record<string, DeclaredType>>,
  output: DeclaredType,
  source: string,
): CodeFunction {
  const [, name = ''] = /^(?:async )?function (\w+)/.exec(source) ?? [];
  return {
    name,
    inputs: Object.entries(inputs).map(([input, type]) => ({ name: input, ...type })),
    output,
    source,
  };
}

/** A version of a package. Only a released one can be run. */
type CodePackageVersion = {
  readonly version: string;
  readonly released: boolean;
  readonly functions: readonly CodeFunction[];
};

export type CodePackage = {
  readonly id: string;
  readonly name: string;
  readonly versions: readonly CodePackageVersion[];
};

/** The case of the id does not matter. */
export type FunctionAddress = {
  readonly packageId: string;
  readonly version: string;
  readonly functionName: string;
};

type FunctionLookup =
  | { readonly kind: 'found'; readonly packageId: string; readonly definition: CodeFunction }
  | { readonly kind: 'not-found'; readonly message: string };

/** Finds a function that can be run. An unreleased version is not found, as on the platform. */
export function findFunction(packages: readonly CodePackage[], address: FunctionAddress): FunctionLookup {
  const { packageId, version, functionName } = address;
  const found = packages.find(({ id }) => id === packageId.toLowerCase());
  if (!found) return notFound(`No code package ${packageId}`);

  const release = found.versions.find((candidate) => candidate.version === version);
  if (!release) return notFound(`Code package ${found.id} has no version ${version}`);
  if (!release.released) return notFound(`Version ${version} of code package ${found.id} is not released`);

  const definition = release.functions.find(({ name }) => name === functionName);
  if (!definition)
    return notFound(`Version ${version} of code package ${found.id} has no function ${functionName}`);
  return { kind: 'found', packageId: found.id, definition };
}

function notFound(message: string): FunctionLookup {
  return { kind: 'not-found', message };
}
