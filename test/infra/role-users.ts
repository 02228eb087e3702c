import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { enginesOf } from '../base/aws/engines.ts';
import { minimal, resourcesOf, templateOf } from './instances.ts';
import { nameOf, type Statement } from './statement-lines.ts';

const run = promisify(execFile);

/** Every user's password: MinIO requires one. */
const secretAccessKey = 'conformance-secret';

/** The credentials of a role's user, as settings of the SDK. The user has the role's name. */
export const settingsOfRole = (role: string): Readonly<Record<string, string>> => ({
  AWS_ACCESS_KEY_ID: role,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
});

/**
 * Creates a user of MinIO for each role of the stack that has statements on the bucket, with exactly these statements,
 * for this bucket instead of the stack's. Returns the roles' names.
 */
export async function createRoleUsers(bucket: string): Promise<readonly string[]> {
  const { s3, mc } = enginesOf(process.env);
  if (s3 === undefined || mc === undefined) throw new Error('expected MinIO with its command line');
  await using folder = await mkdtempDisposable(join(tmpdir(), 'role-users-'));
  const { host } = new URL(s3.endpoint);
  const MC_HOST_engine = `http://${s3.accessKeyId}:${s3.secretAccessKey}@${host}`;
  const admin = (...words: readonly string[]) =>
    run(mc.command, ['--config-dir', folder.path, 'admin', ...words], {
      env: { ...process.env, MC_HOST_engine },
    });
  const roles = Object.entries(statementsByRole(bucket));
  for (const [role, statements] of roles) {
    const file = join(folder.path, `${role}.json`);
    await writeFile(file, JSON.stringify({ Version: '2012-10-17', Statement: statements }));
    await admin('policy', 'create', 'engine', role, file);
    await admin('user', 'add', 'engine', role, secretAccessKey);
    await admin('policy', 'attach', 'engine', role, '--user', role);
  }
  return roles.map(([role]) => role);
}

/** The statements on objects of each role, by its logical id without its hash. */
function statementsByRole(bucket: string): Readonly<Record<string, readonly Statement[]>> {
  const schedules = [{ source: 'calculations', cron: '0 2 * * ? *' }];
  const allow = { types: ['run-function', 'update-formula', 'score', 'data-files', 'snapshot'] };
  const template = templateOf({ ...minimal, functionsQueue: true, allow, schedules });
  const byRole: Record<string, Statement[]> = {};
  for (const [, { Type, Properties }] of resourcesOf(template)) {
    if (Type !== 'AWS::IAM::Policy') continue;
    const { Roles, PolicyDocument } = Properties as unknown as {
      readonly Roles: readonly { readonly Ref: string }[];
      readonly PolicyDocument: { readonly Statement: readonly Statement[] };
    };
    const onObjects = PolicyDocument.Statement.filter(({ Action }) =>
      [Action].flat().every((action) => action.startsWith('s3:')),
    ).map((statement) => ({
      ...statement,
      Resource: [statement.Resource].flat().map((on) => arnOf(on, bucket)),
    }));
    if (onObjects.length === 0) continue;
    for (const { Ref } of Roles) byRole[nameOf(Ref)] = [...(byRole[nameOf(Ref)] ?? []), ...onObjects];
  }
  return byRole;
}

/** A resource with the ARN of the given bucket instead of the stack's. Throws for any other resource. */
function arnOf(resource: unknown, bucket: string): string {
  if (typeof resource === 'string') return resource;
  const [[kind, of] = ['', undefined]] = Object.entries(resource as object);
  if (kind === 'Fn::Join') return (of as [string, unknown[]])[1].map((part) => arnOf(part, bucket)).join('');
  if (kind === 'Fn::GetAtt' && nameOf(String((of as string[])[0])) === 'StorageBucket')
    return `arn:aws:s3:::${bucket}`;
  throw new Error(`expected the stack's bucket, got ${JSON.stringify(resource)}`);
}
