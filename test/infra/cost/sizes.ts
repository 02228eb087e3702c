/** The work of an instance. */
export type Load = {
  /** Records in each night's snapshots; each card list and each data file takes a separate request. */
  readonly nightly: { readonly calculations: number; readonly files: number; readonly datasets: number };
  readonly jobsPerDay: number;
  readonly textsPerMonth: number;
};

export type Size = {
  readonly name: string;
  readonly instance: { readonly name: string; readonly rate: number } & Readonly<Record<string, unknown>>;
  readonly load: Load;
  /** Maximum monthly cost on demand. */
  readonly maxUsd: number;
};

const nightly = { calculations: 20_000, files: 100_000, datasets: 400 };

export const FILESET = '5f0d1c2b-3a49-4857-9665-748392a1b0c9';

const readme = {
  name: 'acme',
  baseUrl: 'https://acme.example.com',
  tokenParameter: '/platform-sync/acme/token',
  rate: 2,
  compression: 'zstd',
  schedules: [
    { source: 'calculations', cron: '0 2 * * ? *' },
    { source: 'cards' },
    { source: 'files', cron: '0 3 * * ? *', filesets: [FILESET] },
  ],
  alarms: { email: 'data@acme.example.com' },
};

/** Ten schedules: those of the README, and one for the files of each of seven FileSets. */
const TEN = [
  ...readme.schedules,
  ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((as) => ({
    source: 'files',
    as,
    cron: '0 4 * * ? *',
    filesets: [FILESET],
  })),
];

/** The sizes that docs/cost.md shows. */
export const sizes: readonly Size[] = [
  {
    name: 'Nothing happens',
    instance: { ...readme, schedules: [] },
    load: { nightly: { calculations: 0, files: 0, datasets: 0 }, jobsPerDay: 0, textsPerMonth: 0 },
    maxUsd: 1.25,
  },
  {
    name: 'Nightly snapshots only',
    instance: readme,
    load: { nightly, jobsPerDay: 0, textsPerMonth: 0 },
    maxUsd: 1.5,
  },
  {
    name: 'Typical',
    instance: readme,
    load: { nightly, jobsPerDay: 1_000, textsPerMonth: 100_000 },
    maxUsd: 5,
  },
  {
    name: 'Large',
    instance: { ...readme, rate: 20, functionsQueue: true, textsQueue: true, schedules: TEN },
    load: {
      nightly: { calculations: 100_000, files: 1_000_000, datasets: 2_000 },
      jobsPerDay: 10_000,
      textsPerMonth: 1_000_000,
    },
    maxUsd: 15,
  },
];

/** Nightly snapshots from within networks, whose components are priced by the hour. */
export const networks: readonly Size[] = [
  {
    name: 'Nightly snapshots from a fixed address',
    instance: { ...readme, fixedAddress: true },
    load: { nightly, jobsPerDay: 0, textsPerMonth: 0 },
    maxUsd: 40,
  },
  {
    name: 'Nightly snapshots in a private network of two zones, with the endpoints that they need',
    instance: {
      ...readme,
      vpc: { id: 'vpc-0a1b2c3d4e5f60718', subnets: ['subnet-0a1b2c3d4e5f60718', 'subnet-0a1b2c3d4e5f60719'] },
      endpoints: ['sqs', 'lambda', 'events', 'glue', 'ssm'],
    },
    load: { nightly, jobsPerDay: 0, textsPerMonth: 0 },
    maxUsd: 75,
  },
];
