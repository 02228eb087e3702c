/* Complete records, as defined by the contract. Each is a new object with the changes that a test needs. */

type Change = Readonly<Record<string, unknown>>;

export const calculationRow = (change: Change = {}) => ({
  id: 17,
  name: 'Revenue',
  owner: 5,
  lastModified: 1_700_000_000_000,
  created: 1_600_000_000_000,
  global: false,
  locked: false,
  legacyId: 'calculation_17',
  status: 'VALID',
  links: [
    {
      resource: { type: 'DATA_SOURCE', id: 'b5d3d62f-2a44-4b4c-9fd3-2c9e1c0f7a11' },
      visible: true,
      active: true,
      valid: 'VALID',
    },
  ],
  archived: false,
  activeLinks: { DATA_SOURCE: ['b5d3d62f-2a44-4b4c-9fd3-2c9e1c0f7a11'] },
  ...change,
});

export const calculation = (change: Change = {}) => ({
  ...calculationRow(),
  expression: 'SUM(`Amount`)',
  checkSum: '1c2f9c2f4a3b1f0e9d8c7b6a5f4e3d2c1b0a9f8e',
  aggregated: true,
  analytic: false,
  nonAggregatedColumns: [],
  dataType: 'DECIMAL',
  cacheWindow: 'day',
  columnPositions: [{ columnName: '`Amount`', columnPosition: 4 }],
  functions: ['SUM'],
  functionTemplateDependencies: [],
  hidden: false,
  variable: false,
  ...change,
});

export const calculations = (...results: readonly unknown[]) => ({
  totalHits: results.length,
  results,
  hasMore: false,
  degraded: false,
});

export const file = (change: Change = {}) => ({
  id: '3f0c9a52-77a1-4a0c-8f0e-6d9b3f1f2a01',
  path: 'reports/q1.pdf',
  name: 'q1.pdf',
  fileType: 'DOCUMENT',
  contentType: 'application/pdf',
  size: 1024,
  created: '2026-01-02T03:04:05Z',
  createdBy: 5,
  hash: 'abc',
  hashAlgorithm: 'SHA_256_HEX',
  downloadUrl: 'https://platform.invalid/q1',
  connectorKey: null,
  indexStatus: 'COMPLETED',
  indexReason: null,
  ...change,
});

export const files = (next: unknown, ...rows: readonly unknown[]) => ({
  files: rows,
  pageContext: { next, offset: 0, limit: 100, total: rows.length },
});

export const card = (change: Change = {}) => ({
  id: 31,
  urn: '31',
  type: 'kpi',
  chartType: 'badge_line',
  title: 'Revenue by month',
  ownerId: 5,
  owners: [{ id: '5', type: 'USER', displayName: 'Ada' }],
  access: true,
  datasourceId: 'b5d3d62f-2a44-4b4c-9fd3-2c9e1c0f7a11',
  ...change,
});

export const execution = (change: Change = {}) => ({
  executionId: '9a1b',
  packageId: '0d5d6f3e-41c5-4f0c-9b3c-0c1d2e3f4a5b',
  version: '1.2.0',
  functionName: 'score',
  status: 'SUCCESS',
  settings: { getLogs: true },
  startedOn: '2026-01-02T03:04:05Z',
  startedBy: '5',
  completedOn: '2026-01-02T03:04:06Z',
  result: 42,
  stdout: { log: ['hello'] },
  stderr: { log: [] },
  ...change,
});

export const sentiment = (change: Change = {}) => ({
  type: 'TARGETED',
  topicSentiments: { price: 'NEGATIVE', service: 'NOT_APPLICABLE' },
  model: 'text-1',
  isCustomerModel: false,
  sessionId: '6b9f1f9e-3d1b-4f0e-8c55-0f8d1f6a7b01',
  requestId: '6b9f1f9e-3d1b-4f0e-8c55-0f8d1f6a7b02',
  modelProviderUsage: { inputTokens: 10, outputTokens: 2, totalTokens: 12, reasoningTokens: 0 },
  ...change,
});

export const dataFile = (change: Change = {}) => ({
  dataFileId: 12,
  name: 'sales.csv',
  responsibleUserId: 5,
  datetimeCreated: 1_700_000_000_000,
  existing: true,
  ...change,
});

export const revision = (change: Change = {}) => ({
  dataFileRevisionId: 900,
  dataFileId: 12,
  contentType: 'text/csv',
  uploadUserId: 5,
  sizeBytes: 2048,
  uploadTimeMillis: 1_700_000_000_000,
  md5Hash: 'ABC',
  datetimeUploaded: 1_700_000_000_000,
  scanState: 'SAFE',
  sha256HashValue: 'DEF',
  ...change,
});
