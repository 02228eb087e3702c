import { minio } from '../engines/minio.ts';
import { versitygw } from '../engines/versitygw.ts';
import type { Suite } from './suite.ts';

const STORE = ['test/store/s3.test.ts', 'test/store/open.test.ts'];

/** Objects, conditional writes, uploads in parts and lists, with and without versions. */
export const s3: Suite = [
  { engines: [versitygw], quick: true, files: STORE },
  { engines: [minio], quick: false, files: STORE },
];
