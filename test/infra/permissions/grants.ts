import { sources } from '../../../lib/contract.ts';
import type { Call } from '../../local-aws/permissions/access.ts';
import { matchesPattern } from '../../local-aws/permissions/conditions.ts';
import { identityOf } from '../../local-aws/permissions/policies.ts';
import type { Statement } from '../../local-aws/permissions/statement.ts';
import type { Template } from '../../local-aws/stack/template.ts';
import { templateValues } from '../../local-aws/stack/template-values.ts';
import { full, minimal, packageId, resourcesOf, templateOf } from '../instances.ts';
import { nameOf } from '../statement-lines.ts';

/**
 * An action that a role or a managed policy allows on resources that match a pattern. Names are without their hashes.
 * Grants that differ only in the source are one grant on `SOURCE`, with a pattern for each source.
 */
export type Grant = { readonly who: string; readonly action: string; readonly on: string };
export type Granted = Grant & { readonly patterns: readonly string[] };

/** An instance with all features. It has no key and no network, whose statements are taken from AWS's documentation. */
const instance = {
  ...minimal,
  functionsQueue: true,
  textsQueue: true,
  allow: {
    types: ['run-function', 'update-formula', 'score', 'data-files', 'snapshot'],
    packages: [packageId],
  },
  schedules: [
    { source: 'calculations', cron: '0 2 * * ? *', digest: true },
    { source: 'cards' },
    { source: 'files', cron: '0 3 * * ? *', filesets: full.schedules[2]?.filesets },
    { source: 'data-files', cron: '0 6 * * ? *', ids: ['17'] },
  ],
  functions: full.functions,
  eventRules: full.eventRules,
  alarms: { email: 'night@example.com' },
};

/** Each grant in the template of an instance with all features, once. */
export function readGrants(): readonly Granted[] {
  const synthesized = templateOf(instance);
  const template = synthesized.toJSON() as Template;
  const resolve = templateValues(template, { endpoint: 'http://127.0.0.1' });
  const all = resourcesOf(synthesized)
    .filter(([, { Type }]) => Type === 'AWS::IAM::Role' || Type === 'AWS::IAM::ManagedPolicy')
    .flatMap(([id]) =>
      identityOf(id, { template, resolve })
        .statements.filter(({ Effect }) => Effect === 'Allow')
        .flatMap((statement) => allowedBy(nameOf(id), statement)),
    );
  const byGrant = Map.groupBy(all, ({ pattern, ...grant }) =>
    JSON.stringify({ ...grant, on: pattern.replace(SOURCE, 'SOURCE') }),
  );
  return [...byGrant].map(([grant, same]) => ({
    ...JSON.parse(grant),
    patterns: same.map(({ pattern }) => pattern),
  }));
}

const allowedBy = (who: string, { Action, Resource = '*' }: Statement) =>
  [Action]
    .flat()
    .flatMap((action) => [Resource].flat().map((arn) => ({ who, action, pattern: shortOf(arn) })));

/** A source's name in the name of a folder or a table. */
const SOURCE = new RegExp(`(?<=/|stored_)(${sources.map((each) => each.replace('-', '[-_]')).join('|')})`);

/** Whether a call is allowed by a grant, perhaps among others. */
export const isUse = ({ who, action, patterns }: Granted, call: Call): boolean =>
  who === nameOf(call.by) &&
  matchesPattern(call.action, action) &&
  patterns.some((pattern) => matchesPattern(shortOf(call.resource), pattern));

/** A resource without the parts that differ from stack to stack. */
const shortOf = (arn: string): string =>
  arn
    .replace(/^arn:aws:[^:]*:[^:]*:[^:]*:/, '')
    .replace(/^((?:function:|secret:|log-group:|table\/|role\/)?[A-Za-z]+?)[0-9A-Fa-f]{8}(?=$|[/:-])/, '$1')
    .replace(/platformsync\w+?_catalog_[0-9a-f]{8}/, 'DATABASE')
    .replace(/platformsync\w+?-catalog-[0-9a-f]{8}/, 'WORKGROUP')
    .replace(/^stack\/[\w-]+\//, 'stack/STACK/');
