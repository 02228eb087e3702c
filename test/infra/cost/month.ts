import { counts, HOURS, NIGHTS } from './counts.ts';
import { countIn, type InTemplate } from './in-template.ts';
import { freeEachMonth, type Priced, prices } from './prices.ts';
import type { Load, Size } from './sizes.ts';

/** How much of everything a month takes. */
type Amounts = Readonly<Record<Priced, number>>;

export type Month = {
  readonly template: InTemplate;
  readonly amounts: Amounts;
  /** US dollars of an amount on demand, and of what is left of it after what AWS gives every account. */
  readonly usd: (names: readonly Priced[]) => { readonly onDemand: number; readonly afterFree: number };
};

/** Computes a month from the synthesized template and the measured counts. */
export function monthOf({ instance, load }: Size): Month {
  const template = countIn(instance);
  const amounts = amountsOf(template, load, instance.rate);
  const usdOf = (free: boolean) => (name: Priced) =>
    prices[name] * Math.max(0, amounts[name] - (free ? (freeEachMonth[name] ?? 0) : 0));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    template,
    amounts,
    usd: (names) => ({ onDemand: sum(names.map(usdOf(false))), afterFree: sum(names.map(usdOf(true))) }),
  };
}

function amountsOf(template: InTemplate, load: Load, rate: number): Amounts {
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
  // All processes that take jobs share the rate, so each of them takes as long as all texts do.
  const textSeconds = (texts / rate) * template.workers;
  const tableNights = template.nightlyFunctions * NIGHTS;
  // Each result and part is read once for the tables.
  const tableObjects = template.nightlyFunctions * (jobs + 2 * chunks);
  const tableSeconds = tableNights * counts.tables.seconds + tableObjects * counts.tables.secondsOfObject;
  const reportLooks = template.reportFunctions * HOURS * 6;
  const reports = template.reportFunctions * NIGHTS * template.times;
  const reportObjects =
    Math.min(jobs, counts.writtenReport.mostResults) + Math.min(chunks, counts.writtenReport.mostParts);
  const reportSeconds =
    reportLooks * counts.report.seconds +
    reports *
      (counts.writtenReport.seconds +
        records * counts.writtenReport.secondsOfRecord +
        reportObjects * counts.writtenReport.secondsOfObject);
  const puts =
    parts * counts.putsInPart +
    runs * counts.putsInRun +
    jobs * counts.job.puts +
    chunks * counts.putsInChunk +
    template.hourlyFunctions * NIGHTS +
    tableNights * counts.tables.puts +
    reports * counts.writtenReport.puts;
  const looks = template.hourlyFunctions * HOURS;
  const rows = jobs + 3 * texts;
  return {
    alarmMetric: template.alarmMetrics,
    customMetric: ((load.jobsPerDay > 0 ? NIGHTS : 0) * counts.problem.hours) / HOURS,
    logGb:
      (jobs * counts.job.logBytes +
        texts * counts.text.logBytes +
        runs * counts.logBytesInRun +
        looks * counts.look.logBytes +
        tableNights * counts.tables.logBytes +
        reportLooks * counts.report.logBytes) /
      1e9,
    secret: template.secrets,
    lambdaGbSecond:
      snapshotSeconds * memoryGb('Takes snapshots') +
      jobs * counts.job.lambdaSeconds * memoryGb('Runs jobs of all types') +
      textSeconds * (memoryGb('Runs jobs of texts') || memoryGb('Runs jobs of all types')) +
      (chunks / 100) * memoryGb('Splits requests') +
      looks * counts.look.seconds * memoryGb('Looks for snapshots') +
      tableSeconds * memoryGb('Writes tables') +
      reportSeconds * memoryGb('Writes the report'),
    lambdaRequest:
      jobs + chunks + 2 * runs + snapshotSeconds / counts.sliceSeconds + looks + tableNights + reportLooks,
    durableOperation: snapshotSeconds / counts.sliceSeconds + runs * counts.operationsInRun,
    sqsRequest: template.mappings * counts.pollsInMonth + (jobs + chunks + runs) * counts.job.sqsRequests,
    dynamoWrite:
      requests * counts.snapshotRequest.writes +
      jobs * (counts.job.writes + paceWrites) +
      texts * (counts.text.writes + paceWrites) +
      chunks * counts.scoredInDay.writes,
    dynamoRead: texts * counts.text.reads + chunks * counts.scoredInDay.reads,
    dynamoGb: (rows * counts.bytesInRow) / 1e9,
    recoveryGb: (rows * counts.bytesInRow) / 1e9,
    // A listing costs as much as a write.
    s3Write:
      puts + tableNights * counts.tables.lists + template.reportFunctions * HOURS * counts.report.listsInHour,
    s3Read:
      parts * 2 +
      chunks * 2 +
      looks * (counts.look.reads + counts.look.readsOfPlace * template.schedules) +
      tableObjects +
      reportLooks * (counts.report.reads + counts.report.readsOfPlace * template.schedules) +
      reports * (counts.writtenReport.reads + reportObjects + parts / NIGHTS),
    s3Gb: (records * NIGHTS * counts.bytesInRecord) / 1e9,
    event: puts + jobs * counts.job.events + chunks,
  };
}

/** Requests of the platform a night. */
const requestsOf = ({ nightly: { calculations, files, datasets } }: Load) =>
  Math.ceil(calculations / counts.pageRecords.calculations) +
  Math.ceil(files / counts.pageRecords.files) +
  datasets;
