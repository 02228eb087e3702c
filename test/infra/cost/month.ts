import { counts, HOURS, NIGHTS } from './counts.ts';
import { countIn, type InTemplate } from './in-template.ts';
import { freeEachMonth, type Priced, prices } from './prices.ts';
import type { Load, Size } from './sizes.ts';

/** The amount of each priced item in a month. */
type Amounts = Readonly<Record<Priced, number>>;

export type Month = {
  readonly template: InTemplate;
  readonly amounts: Amounts;
  /** US dollars for these items on demand, and after the free tier of an account is subtracted. */
  readonly usd: (names: readonly Priced[]) => { readonly onDemand: number; readonly afterFree: number };
};

/**
 * Computes a month from the synthesized template and the measured counts: the first one, or a later one (`months`),
 * when more is stored.
 */
export function monthOf({ instance, load }: Size, months = 1): Month {
  const template = countIn(instance);
  const amounts = amountsOf(template, load, { rate: instance.rate, months });
  const usdOf = (free: boolean) => (name: Priced) =>
    prices[name] * Math.max(0, amounts[name] - (free ? (freeEachMonth[name] ?? 0) : 0));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    template,
    amounts,
    usd: (names) => ({ onDemand: sum(names.map(usdOf(false))), afterFree: sum(names.map(usdOf(true))) }),
  };
}

type When = { readonly rate: number; readonly months: number };

function amountsOf(template: InTemplate, load: Load, { rate, months }: When): Amounts {
  const { memoryGb } = template;
  const jobs = load.jobsPerDay * NIGHTS;
  const texts = load.textsPerMonth;
  const chunks = texts / counts.textsInChunk;
  const requests = NIGHTS * requestsOf(load);
  const { seconds, most } = counts.callsInBlock;
  const paceWrites = 1 / Math.min(most, Math.max(1, Math.floor(rate * seconds)));
  const snapshotSeconds = requests / rate;
  const runs = NIGHTS * template.schedules;
  const parts = snapshotSeconds / counts.partSeconds + runs;
  const records = load.nightly.calculations + load.nightly.files + load.nightly.datasets;
  // All processes that run jobs share the rate, so each of them runs for as long as all texts take together.
  const textSeconds = (texts / rate) * template.workers;
  const tableNights = template.nightlyFunctions * NIGHTS;
  // Each result and part is read once for the tables.
  const tableObjects = template.nightlyFunctions * (jobs + 2 * chunks);
  const tableSeconds =
    tableNights * counts.tables.seconds +
    tableObjects * counts.tables.secondsOfObject +
    tableNights * records * counts.tables.secondsOfRecord;
  const reportLooks = template.reportFunctions * HOURS * 6;
  const reports = template.reportFunctions * NIGHTS * template.times;
  const reportObjects =
    Math.min(jobs, counts.writtenReport.maxResults) + Math.min(chunks, counts.writtenReport.maxParts);
  const reportSeconds =
    reportLooks * counts.report.seconds +
    reports *
      (counts.writtenReport.seconds +
        records * counts.writtenReport.secondsOfRecord +
        reportObjects * counts.writtenReport.secondsOfObject);
  const puts =
    parts * (counts.putsInPart + template.nightlyFunctions * counts.tables.putsInPart) +
    runs * counts.putsInRun +
    jobs * counts.job.puts +
    chunks * counts.putsInChunk +
    template.hourlyFunctions * NIGHTS +
    tableNights * counts.tables.puts +
    reports * counts.writtenReport.puts;
  const looks = template.hourlyFunctions * HOURS;
  const moves = template.idleFunctions * HOURS;
  const rows = jobs + 3 * texts;
  const failures = load.jobsPerDay > 0 ? NIGHTS : 0;
  const lambdaRequest =
    jobs +
    chunks +
    3 * runs +
    snapshotSeconds / counts.sliceSeconds +
    looks +
    moves +
    tableNights +
    reportLooks;
  const durableOperation = snapshotSeconds / counts.sliceSeconds + runs * counts.operationsInRun;
  const durableGb = (durableOperation * counts.durableBytes) / 1e9;
  // Each process that calls the platform reads the token again after some minutes. An idle process does not.
  const keyUses = Math.min(
    jobs + chunks + 3 * runs + snapshotSeconds / counts.sliceSeconds,
    ((HOURS * 60) / counts.minutesOfKey) * template.workers,
  );
  const logGb =
    (jobs * counts.job.logBytes +
      texts * counts.text.logBytes +
      runs * counts.logBytesInRun +
      looks * counts.look.logBytes +
      moves * counts.move.logBytes +
      tableNights * counts.tables.logBytes +
      reportLooks * counts.report.logBytes) /
    1e9;
  // A list request costs as much as a write.
  const s3Write =
    puts + tableNights * counts.tables.lists + template.reportFunctions * HOURS * counts.report.listsInHour;
  const s3Read =
    parts * 2 +
    chunks * 2 +
    looks * (counts.look.reads + counts.look.readsOfPlace * template.schedules) +
    tableObjects +
    reportLooks * (counts.report.reads + counts.report.readsOfPlace * template.schedules) +
    reports * (counts.writtenReport.reads + reportObjects + parts / NIGHTS);
  return {
    alarmMetric: template.alarmMetrics + (failures * counts.problem.hoursInQuery) / HOURS,
    customMetric: (failures * counts.problem.hours) / HOURS,
    dashboard: template.dashboards,
    logGb,
    logStoredGb: logGb,
    secret: template.secrets,
    secretRequest: template.secrets * keyUses,
    kmsRequest: keyUses * (template.secrets === 0 ? 2 : 1),
    scheduleRun: template.scheduleRuns,
    email: failures * counts.problem.emails,
    lambdaGbSecond:
      snapshotSeconds * memoryGb('Takes snapshots') +
      jobs *
        counts.job.lambdaSeconds *
        (memoryGb('Runs jobs of code functions') || memoryGb('Runs jobs of all types')) +
      textSeconds * (memoryGb('Runs jobs of texts') || memoryGb('Runs jobs of all types')) +
      (chunks / 100) * memoryGb('Splits requests') +
      looks * counts.look.seconds * memoryGb('Looks for missing snapshots') +
      moves * counts.move.seconds * memoryGb('Moves jobs') +
      tableSeconds * memoryGb('Writes tables') +
      reportSeconds * memoryGb('Writes the report'),
    lambdaRequest,
    durableOperation,
    durableWrittenGb: durableGb,
    durableStoredGb: durableGb / 4,
    sqsRequest:
      template.mappings * counts.pollsInMonth +
      (jobs + chunks + runs) * counts.job.sqsRequests +
      moves * counts.move.sqsRequests,
    dynamoWrite:
      requests * counts.snapshotRequest.writes +
      jobs * (counts.job.writes + paceWrites) +
      texts * (counts.text.writes + paceWrites) +
      chunks * counts.scoredInDay.writes,
    dynamoRead: texts * counts.text.reads + chunks * counts.scoredInDay.reads,
    dynamoGb: (rows * counts.bytesInRow) / 1e9,
    recoveryGb: (rows * counts.bytesInRow) / 1e9,
    s3Write,
    s3Read,
    ...stored(template, months, {
      runs: records * NIGHTS * counts.bytesInRecord,
      checkpoints: parts * counts.bytesInCheckpoint,
      reports: reports * counts.bytesInReport,
      results: jobs * counts.bytesInResult,
      texts: texts * counts.bytesOfText,
      accesses: (s3Write + s3Read) * counts.bytesOfAccess,
    }),
    tierObject: template.isTiered ? parts * (1 + counts.tables.putsInPart) * months : 0,
    tierMove: template.isTiered ? parts * (1 + counts.tables.putsInPart) : 0,
    event: puts * counts.eventsOfObject + jobs * counts.job.events + chunks,
    glueObject: template.glueTables + runs * counts.tables.partitionsInRun * months,
    glueRequest: runs * counts.tables.glueRequestsInRun,
    natHour: template.natGateways * HOURS,
    natGb: template.natGateways === 0 ? 0 : (records * NIGHTS * counts.bytesOnWire) / 1e9 + logGb,
    addressHour: template.addresses * HOURS,
    endpointHour: template.endpointZones * HOURS,
  };
}

/** Bytes that are written in a month, by kind of object. */
type Bytes = Readonly<Record<'runs' | 'checkpoints' | 'reports' | 'results' | 'texts' | 'accesses', number>>;

/** Gigabytes in S3 after this number of months. An expired object stays as an old version for a while. */
function stored({ monthsOf, oldMonths, isTiered }: InTemplate, months: number, bytes: Bytes) {
  const staying = (folder: string) => Math.min(months, (monthsOf(folder) ?? months) + oldMonths);
  const published = (bytes.runs * (1 + counts.shareInParquet)) / 1e9;
  const others =
    (bytes.runs + bytes.checkpoints) * staying('work/') +
    bytes.reports * Math.min(months, oldMonths) +
    bytes.results * staying('results/') +
    bytes.texts * (staying('inbox/') + staying('scores/')) +
    bytes.accesses * Math.min(months, ACCESS_MONTHS);
  return {
    s3Gb: others / 1e9 + published * (isTiered ? Math.min(months, 1) : months),
    tierSecondGb: isTiered ? published * Math.min(2, Math.max(0, months - 1)) : 0,
    tierThirdGb: isTiered ? published * Math.max(0, months - 3) : 0,
  };
}

/** Access logs are stored for 90 days (infra/storage.ts). */
const ACCESS_MONTHS = 3;

/** The number of requests to the platform a night. */
const requestsOf = ({ nightly: { calculations, files, datasets } }: Load) =>
  Math.ceil(calculations / counts.pageRecords.calculations) +
  Math.ceil(files / counts.pageRecords.files) +
  datasets;
