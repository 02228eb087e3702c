import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package that is installed with platform-sync, directly or as a dependency of another package. */
export type Licensed = {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression; undefined if the package states none. */
  readonly licence: string | undefined;
  readonly isAllowed: boolean;
};

/** Licences that only require their text in redistributed copies. */
const ALLOWED: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',

  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
]);

/**
 * The production dependencies and the peers of the package in a folder, with what these need, sorted by name, each with
 * the licence that its own `package.json` states; for a package that is not installed because it is for another
 * platform, the licence is that in the lockfile. Needs no network. Throws if a required package is not installed.
 */
export function licencesIn(folder: string): readonly Licensed[] {
  const lock = readJson(join(folder, 'package-lock.json'));
  const packages = Object.entries(membersOf(lock['packages'])).map(
    ([path, entry]) => [path, membersOf(entry)] as const,
  );
  const ofPeers = reachedFromPeers(new Map(packages));
  return packages
    .filter(([path, entry]) => path !== '' && (entry['dev'] !== true || ofPeers.has(path)))
    .map(([path, entry]) => licensed(folder, path, entry))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** The paths of the peers, which a checkout has only for its tests, and of their dependencies. */
function reachedFromPeers(packages: ReadonlyMap<string, Members>): ReadonlySet<string> {
  const reached = new Set<string>();
  const visit = (from: string, names: unknown) => {
    for (const name of Object.keys(membersOf(names))) {
      const path = pathOf(name, from, packages);
      const entry = packages.get(path);
      if (entry === undefined || reached.has(path)) continue;
      reached.add(path);
      for (const kind of ['dependencies', 'optionalDependencies']) visit(path, entry[kind]);
    }
  };
  visit('', packages.get('')?.['peerDependencies']);
  return reached;
}

/** The folder from which a package imports another one: in its own node_modules, or in the nearest ones above. */
function pathOf(name: string, from: string, packages: ReadonlyMap<string, Members>): string {
  const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
  if (packages.has(path) || from === '') return path;
  const above = from.lastIndexOf('/node_modules/');
  return pathOf(name, above < 0 ? '' : from.slice(0, above), packages);
}

function licensed(folder: string, path: string, entry: Members): Licensed {
  const isOptional = entry['optional'] === true || entry['devOptional'] === true;
  const stated = isOptional ? entry : readJson(join(folder, path, 'package.json'));
  const licence = licenceOf(stated['license']);
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  return { name, version: String(entry['version']), licence, isAllowed: isAllowed(licence) };
}

/** Very old packages have an object with a `type`. */
function licenceOf(stated: unknown): string | undefined {
  const licence = typeof stated === 'string' ? stated : membersOf(stated)['type'];
  return typeof licence === 'string' ? licence : undefined;
}

/** Whether one alternative of an SPDX expression is allowed, with all licences joined to it by AND. */
const isAllowed = (licence = ''): boolean =>
  licence
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((name) => ALLOWED.has(name.trim())));

type Members = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};

const readJson = (path: string): Members => membersOf(JSON.parse(readFileSync(path, 'utf8')));
