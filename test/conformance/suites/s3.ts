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
 * Objects, conditional writes, uploads in parts and lists, with and without versions. The stricter engines are compiled,
 * which takes minutes: CI has moto.
 */
export const s3: Suite = [
  { engines: [motoObjects], quick: true, files: FILES },
  { engines: [versitygw], quick: false, files: FILES },
  { engines: [minio], quick: false, files: [...FILES, 'test/infra/role-policies.conformance.ts'] },
];
