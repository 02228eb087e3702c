import { randomUUID } from 'node:crypto';
import { ACCOUNT, REGION } from '../identity.ts';

export type CreatedObject = {
  readonly bucket: string;
  readonly key: string;
  readonly sizeBytes: number;
  readonly etag: string;
};

/** The event that S3 sends through EventBridge for a new object, with all its fields. */
export const objectCreated = ({ bucket, key, sizeBytes: size, etag }: CreatedObject) => ({
  version: '0',
  id: randomUUID(),
  'detail-type': 'Object Created',
  source: 'aws.s3',
  account: ACCOUNT,
  time: new Date().toISOString().replace(/\.\d+/, ''),
  region: REGION,
  resources: [`arn:aws:s3:::${bucket}`],
  detail: {
    version: '0',
    bucket: { name: bucket },
    object: { key, size, etag, 'version-id': 'null', sequencer: '00617F08299329D189' },
    'request-id': 'N4N7GDK58NMKJ12R',
    requester: ACCOUNT,
    'source-ip-address': '127.0.0.1',
    reason: 'PutObject',
  },
});
