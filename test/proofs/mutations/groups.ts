/** Code that is mutated together, and the tests that must notice the changes. Both are globs relative to the project root. */
export type Group = { readonly mutate: readonly string[]; readonly tests: readonly string[] };

/** The groups. Their tests start no processes or engines and never wait, since each mutant runs all tests that reach it. */
export const groups = {
  pace: {
    mutate: ['lib/pace/*.ts'],
    tests: [
      'test/pace/{gated-pace,fleet-slots,fleet-slots-steps,table-clock,clocks,wrong-dates,recovery}.test.ts',
      'test/pace/{enqueue,clock,gcra,budget,stored-budget,reserve-block}.test.ts',
      'test/pace/{fleet-breaker,acceptance-tracker,budget-view,gcra,fair-queue,fleet-pace,local-pace,breaker}.test.ts',
      'test/pace/{fleet,outage,throttle-state,token-mark,operations}.test.ts',
    ],
  },
  page: {
    mutate: ['lib/snapshot/page/*.ts'],
    tests: [
      'test/snapshot/page/*.test.ts',
      'test/snapshot/sources/{calculations/pages,cards/scan,data-files/scan}.test.ts',
    ],
  },
  scan: {
    mutate: [
      'lib/snapshot/sources/{rereading,source-definition}.ts',
      'lib/snapshot/sources/calculations/!(definition|scan).ts',
    ],
    tests: [
      'test/snapshot/sources/{rereading,resumable,odd-members}.test.ts',
      'test/snapshot/sources/calculations/*.test.ts',
    ],
  },
  sources: {
    mutate: [
      'lib/snapshot/sources/fan-out.ts',
      'lib/snapshot/sources/calculations/scan.ts',
      'lib/snapshot/sources/{cards,files,data-files}/!(definition).ts',
    ],
    tests: [
      'test/snapshot/sources/{read-ahead,fan-out,resumable,odd-members}.test.ts',
      'test/snapshot/sources/cards/*.test.ts',
      'test/snapshot/sources/data-files/scan.test.ts',
      'test/snapshot/sources/files/*.test.ts',
      'test/snapshot/sources/calculations/*.test.ts',
    ],
  },
  ledger: {
    mutate: ['lib/jobs/ledger/*.ts', 'lib/jobs/{handle-message,delivery,record-end}.ts'],
    tests: [
      'test/jobs/ledger/*.test.ts',
      'test/jobs/{delivery,lease-until,handle-message,record-end,cancel-under-way}.test.ts',
      'test/jobs/{simulation-found,unnamed-message,result,redrive,requeue,killed-while-waiting,thrown-error}.test.ts',
    ],
  },
  retry: {
    mutate: [
      'lib/jobs/after-failure.ts',
      'lib/platform/{retry,call,outage}.ts',
      'lib/platform/http/error-body.ts',
      'lib/base/async.ts',
    ],
    tests: [
      'test/jobs/after-failure.test.ts',
      'test/{base/{backoff,once,sleep,inputs},snapshot/sources/read-ahead}.test.ts',
      'test/platform/http/{error-body,retry-after,transport}.test.ts',
      'test/platform/{retry,outage,shape-faults,private-texts,records}.test.ts',
      'test/platform/{call,client}.test.ts',
    ],
  },
  texts: {
    mutate: ['lib/jobs/texts/**/*.ts', 'lib/jobs/results/*.ts'],
    tests: [
      'test/jobs/texts/**/*.test.ts',
      'test/jobs/{types/score/runner,cancel-under-way,job-storage}.test.ts',
      'test/jobs/results/*.test.ts',
      'test/cli/{jobs-results,run}.test.ts',
    ],
  },
  jobs: {
    mutate: [
      'lib/jobs/{redrive,open-redrive,cancel,result,send-context,work,send-jobs,split-inbox}.ts',
      'lib/jobs/{allow,allow-lists,event-bridge,job-advice}.ts',
      'lib/jobs/{message,types,file}/**/*.ts',
    ],
    tests: [
      'test/jobs/{redrive,redrive-batch,cancel-under-way,result,work,handle-message,record-end,send-jobs}.test.ts',
      'test/jobs/{allow,event-bridge,job-advice,inbox-request,ids-in-keys,platform-outage,requeue}.test.ts',
      'test/jobs/{thrown-error,unnamed-message}.test.ts',
      'test/jobs/{message,types,file}/**/*.test.ts',
      'test/cli/{work,run,submit,formula-apply,formula-log,jobs}.test.ts',
      'test/hostile/messages.test.ts',
    ],
  },
  run: {
    mutate: ['lib/snapshot/{run,durable,frames}/*.ts', 'lib/snapshot/{keys,manifest,missing-snapshots}.ts'],
    tests: [
      'test/snapshot/{run,durable,frames,changes,history}/*.test.ts',
      'test/functions/snapshot.test.ts',
      'test/snapshot/{keys,missing-snapshots}.test.ts',
      'test/snapshot/publish/{publish,resumed}.test.ts',
      'test/jobs/types/snapshot/*.test.ts',
    ],
  },
  publish: {
    mutate: ['lib/snapshot/{publish,history}/*.ts'],
    tests: [
      'test/snapshot/{history/*,publish/!(publish-races|two-publishers|resumed)}.test.ts',
      'test/cli/prune.test.ts',
      'test/cli/runs.test.ts',
      'test/snapshot/publish/publish-races.test.ts',
      'test/tables/build/tag-runs.test.ts',
    ],
  },
  changes: {
    mutate: ['lib/snapshot/changes/*.ts'],
    tests: ['test/snapshot/{changes,publish}/*.test.ts', 'test/cli/diff*.test.ts'],
  },
  model: {
    mutate: ['lib/model/**/*.ts'],
    tests: [
      'test/model/{closure,compute-model,rules,stored-model,read-columns}.test.ts',
      'test/report/where-used.test.ts',
    ],
  },
  table: {
    mutate: ['lib/table/{check-row,dynamo-table,sqlite-table,store-table}.ts', 'lib/locations.ts'],
    tests: [
      'test/table/{table,lost-responses,dynamo-refusals,dynamo-table,sqlite-table,store-table}.test.ts',
      'test/{locations,settings,base/aws/{client-attempts,missing-settings}}.test.ts',
    ],
  },
  store: {
    mutate: ['lib/store/{key,error,stored-json,update-object,open,boundary}.ts'],
    tests: [
      'test/{store/{make-folder,id-in-key,stored-json,until,open,memory-store,directory},base/aws/missing-settings}.test.ts',
    ],
  },
} as const satisfies Record<string, Group>;

export type GroupName = keyof typeof groups;

export const groupNames = Object.keys(groups) as readonly GroupName[];
