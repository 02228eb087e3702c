import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export type Resource = { readonly Type: string; readonly Properties: Readonly<Record<string, unknown>> };

/** The part of a CloudFormation template that is read here. */
export type Template = {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown; readonly Description?: string }>>;
};

/** A stack as it would be deployed: its template, and the folders of its assets by the object keys of their archives. */
export type StackToRun = { readonly template: Template; readonly assets: ReadonlyMap<string, string> };

type Manifest = {
  readonly files: Readonly<
    Record<
      string,
      {
        readonly source: { readonly path: string };
        readonly destinations: Readonly<Record<string, { readonly objectKey: string }>>;
      }
    >
  >;
};

/** Reads the template and the assets that `cdk synth` wrote for one stack. */
export async function readStack(folder: string): Promise<StackToRun> {
  const files = await readdir(folder);
  const [name, ...others] = files.filter((file) => file.endsWith(ENDING));
  if (name === undefined || others.length > 0)
    throw new Error(`${folder}: expected one template, got ${others.length + (name === undefined ? 0 : 1)}`);
  const read = async (file: string) => JSON.parse(await readFile(join(folder, file), 'utf8'));
  const { files: assets } = (await read(name.replace(ENDING, '.assets.json'))) as Manifest;
  return {
    template: await read(name),
    assets: new Map(
      Object.values(assets).flatMap(({ source, destinations }) =>
        Object.values(destinations).map(({ objectKey }) => [objectKey, join(folder, source.path)] as const),
      ),
    ),
  };
}

const ENDING = '.template.json';

/** The resources of a type, by their logical ids. */
export const resourcesOf = (
  { Resources }: Template,
  type: string,
): readonly (readonly [string, Resource])[] =>
  Object.entries(Resources).filter(([, { Type }]) => Type === type);
