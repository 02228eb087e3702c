import { minio } from '../engines/minio.ts';
import { motoObjects } from '../engines/moto.ts';
import { versitygw } from '../engines/versitygw.ts';
import type { Suite } from './suite.ts';

const FILES = [
  'test/store/s3.test.ts',
  'test/store/open.test.ts',
  'test/cli/snapshot-s3.test.ts',
  'test/cli/forget-s3.test.ts',
];

/**
 * Objects, conditional writes, uploads in parts and lists, with and without versions.
 */
export const s3: Suite = [
  { engines: [motoObjects], files: FILES },
  { engines: [versitygw], files: FILES },
  { engines: [minio], files: [...FILES, 'test/infra/role-policies.conformance.ts'] },
];
